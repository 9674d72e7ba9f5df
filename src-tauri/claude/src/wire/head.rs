//! The fields of a message that decide how it is parsed.

use serde::Deserialize;
use std::borrow::Cow;

/// The fields that decide which struct to parse; in `result`, `type` is the nineteenth key.
#[derive(Deserialize)]
pub(super) struct Head<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub subtype: Option<Cow<'a, str>>,
}

//! What decides how a message is read.

use serde::Deserialize;
use std::borrow::Cow;

/// Only what decides which struct to read; on `result`, `type` is the nineteenth key.
#[derive(Deserialize)]
pub(super) struct Head<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub subtype: Option<Cow<'a, str>>,
}

//! The fields of a message that decide how it is parsed.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The fields that decide which struct to parse; in `result`, `type` is the nineteenth key.
#[derive(Deserialize)]
pub(super) struct Head<'a> {
    #[serde(borrow, default, rename = "type", deserialize_with = "text")]
    pub kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub subtype: Option<Cow<'a, str>>,
}

/// A text. Another value counts as absent: the end of a turn is one whatever its other fields are.
fn text<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'a, str>>, D::Error> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    let value = <&'de RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str::<Text<'a>>(value.get()).ok().map(|text| text.0))
}

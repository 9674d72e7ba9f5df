//! JSON as it was written: the entries of an object keep their order, and a repeated key appears repeatedly. It depends
//! on the reader which of the repeated entries counts, so all of them are checked.
//!
//! This parser accepts more than the CLI, which ignores a file with a comment in it: it is better to show what another
//! version might read than to skip it. Everything unusual is named.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Number;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// A value, with every entry of its objects.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A string as it is, anything else as JSON.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            _ => self.written(),
        }
    }

    /// The value as JSON.
    pub fn written(&self) -> String {
        serde_json::to_string(self).expect("keys are strings, and no value refuses")
    }
}

/// All values of a key: one, unless the key is repeated.
pub(super) fn values<'a>(entries: &'a [(String, Json)], key: &str) -> impl Iterator<Item = &'a Json> {
    entries.iter().filter(move |(name, _)| name == key).map(|(_, value)| value)
}

/// Returns whether a key is repeated.
pub(super) fn has_repeated(entries: &[(String, Json)]) -> bool {
    let mut seen = HashSet::new();
    !entries.iter().all(|(key, _)| seen.insert(key))
}

/// A file's text, and the unusual properties of its bytes.
pub struct Decoded<'a> {
    pub text: Cow<'a, str>,
    pub oddities: Vec<&'static str>,
}

/// Decodes bytes as the CLI does, and as it might: drops a byte order mark, accepts UTF-16, and replaces invalid text
/// with U+FFFD.
pub fn decode(bytes: &[u8]) -> Decoded<'_> {
    // 2.1.329 runs the hooks of a settings file in UTF-16.
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
        Decoded { text: String::from_utf16_lossy(&units).into(), oddities: vec!["is in UTF-16"] }
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => return utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => return utf16(rest, u16::from_be_bytes),
        _ => {}
    }
    let mut oddities = Vec::new();
    let rest = bytes.strip_prefix(b"\xEF\xBB\xBF");
    if rest.is_some() {
        oddities.push("begins with a byte order mark");
    }
    let text = String::from_utf8_lossy(rest.unwrap_or(bytes));
    if matches!(text, Cow::Owned(_)) {
        oddities.push("has bytes that are not UTF-8");
    }
    Decoded { text, oddities }
}

/// A parsed file.
pub struct Document {
    pub root: Json,
    pub oddities: Vec<String>,
}

/// Parses a text. If it is not valid JSON, parses it again without comments and trailing commas.
pub fn parse(text: &str) -> Result<Document, String> {
    let mut oddities = Vec::new();
    let root = match serde_json::from_str(text) {
        Ok(root) => root,
        Err(error) => {
            let root = relaxed(text).and_then(|relaxed| serde_json::from_str(&relaxed).ok());
            oddities.push("has comments or trailing commas".to_owned());
            root.ok_or_else(|| error.to_string())?
        }
    };
    let mut repeated = Vec::new();
    find_repeated(&root, &mut Vec::new(), &mut repeated);
    oddities.extend(repeated.into_iter().map(|key| format!("has the key {key} twice")));
    Ok(Document { root, oddities })
}

/// The text with spaces in place of comments and of commas before a closing bracket; `None` if there are none.
fn relaxed(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    // The position of the last comma, if only whitespace followed it.
    let mut comma = None;
    let mut rest = text.as_bytes();
    let mut changed = false;
    while let Some((&byte, after)) = rest.split_first() {
        let length = match byte {
            b'"' => string_length(rest),
            b'/' if after.starts_with(b"/") => {
                rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
            }
            b'/' if after.starts_with(b"*") => {
                rest.windows(2).skip(2).position(|pair| pair == b"*/").map_or(rest.len(), |at| at + 4)
            }
            _ => 1,
        };
        let (piece, next) = rest.split_at(length);
        rest = next;
        if byte == b'/' && length > 1 {
            changed = true;
            out.push(b' ');
            continue;
        }
        if matches!(byte, b']' | b'}')
            && let Some(at) = comma
        {
            changed = true;
            out[at] = b' ';
        }
        if byte == b',' {
            comma = Some(out.len());
        } else if !byte.is_ascii_whitespace() {
            comma = None;
        }
        out.extend_from_slice(piece);
    }
    String::from_utf8(out).ok().filter(|_| changed)
}

/// The length of the string that begins here, including its quotes.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Lists the paths of keys that an object has more than once.
fn find_repeated<'a>(json: &'a Json, path: &mut Vec<&'a str>, repeated: &mut Vec<String>) {
    match json {
        Json::List(items) => items.iter().for_each(|item| find_repeated(item, path, repeated)),
        Json::Object(entries) => {
            let mut seen = HashSet::new();
            for (key, value) in entries {
                path.push(key);
                if !seen.insert(key) {
                    repeated.push(path.join("."));
                }
                find_repeated(value, path, repeated);
                path.pop();
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Json::Object(entries))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => value.serialize(serializer),
            Self::Text(value) => serializer.serialize_str(value),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str, oddities: &[&str]) {
        let document = parse(text).unwrap();
        assert_eq!(document.root.text(), expected);
        assert_eq!(document.oddities, oddities);
    }

    #[test]
    fn a_repeated_key_is_kept_and_named() {
        check(
            r#"{"a":{"b":1,"b":{"c":2}},"a":[3.5,-4,"\u0061"]}"#,
            r#"{"a":{"b":1,"b":{"c":2}},"a":[3.5,-4,"a"]}"#,
            &["has the key a.b twice", "has the key a twice"],
        );
    }

    #[test]
    fn comments_and_trailing_commas_are_read_and_named() {
        let odd = "has comments or trailing commas";
        check("// x\n{\"a\": 1, /* , } */ }", r#"{"a":1}"#, &[odd]);
        check(r#"{"a":["//",",]",],}"#, r#"{"a":["//",",]"]}"#, &[odd]);
        check(r#"{"a":"\"/*",/**/"b":2}//"#, r#"{"a":"\"/*","b":2}"#, &[odd]);
    }

    #[test]
    fn what_is_no_json_stays_so() {
        for text in ["{", "{} x", "/*", "/* {}", "\"", "\"\\", "{'a':1}", "{\"a\":1,,}"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn any_encoding_is_text() {
        let check = |bytes: &[u8], text: &str, oddities: &[&str]| {
            let decoded = decode(bytes);
            assert_eq!((&*decoded.text, &decoded.oddities[..]), (text, oddities));
        };
        check(b"{}", "{}", &[]);
        check(b"\xEF\xBB\xBF{}", "{}", &["begins with a byte order mark"]);
        check(b"\xFF\xFE{\0}\0", "{}", &["is in UTF-16"]);
        check(b"\xFE\xFF\0{\0}", "{}", &["is in UTF-16"]);
        check(b"\"\xE9\"", "\"\u{FFFD}\"", &["has bytes that are not UTF-8"]);
    }
}

//! Lossless JSON text. Number spellings, duplicate keys, lone surrogates and the order of fields, which parsed values
//! lose, stay as the agent wrote them.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// A JSON object: its exact text, and its value as far as it can be parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    text: String,
    value: Value,
}

impl Input {
    /// Parses one object; `text` is kept byte for byte.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        let value: Value = read_leniently(text)?;
        if !value.is_object() {
            return Err(serde::de::Error::custom("its input is not an object"));
        }
        Ok(Self { text: text.to_owned(), value })
    }

    /// Exactly what the agent wrote, on one line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// For reading fields: numbers may have lost their spelling, and of duplicate keys only the last is kept.
    pub fn value(&self) -> &Value {
        &self.value
    }
}

impl Default for Input {
    fn default() -> Self {
        Self::from(Value::Object(serde_json::Map::new()))
    }
}

impl From<Value> for Input {
    fn from(value: Value) -> Self {
        Self { text: value.to_string(), value }
    }
}

/// A JSON token: a string with its quotes, a number or word, or a single sign.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    range: Range<usize>,
    /// `"` for a string, `0` for a number or word, otherwise the sign itself.
    kind: u8,
}

/// The tokens of a text that is known to be valid JSON.
fn tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let start = at;
        let kind = *bytes.get(at)?;
        at += 1;
        match kind {
            b'"' => {
                while let Some(byte) = bytes.get(at) {
                    at += 1;
                    match byte {
                        b'\\' => at += 1,
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            b'{' | b'}' | b'[' | b']' | b',' | b':' => {}
            _ => {
                let goes_on = |byte: &u8| !byte.is_ascii_whitespace() && !b"{}[],:\"".contains(byte);
                while bytes.get(at).is_some_and(goes_on) {
                    at += 1;
                }
            }
        }
        let kind = if b"\"{}[],:".contains(&kind) { kind } else { b'0' };
        Some(Token { range: start..at.min(bytes.len()), kind })
    })
}

/// Parses JSON that Rust values cannot represent exactly: a lone surrogate becomes U+FFFD, and a number out of range
/// becomes a string with its spelling.
pub fn read_leniently<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| {
        let repaired = representable(text).ok_or(error)?;
        serde_json::from_str(&repaired)
    })
}

/// JSON whose values Rust can represent, by the rules of [`read_leniently`]; `None` if the text is that already, or is
/// not JSON.
pub fn representable(text: &str) -> Option<String> {
    serde_json::from_str::<&RawValue>(text).ok()?;
    repaired(text)
}

/// Reads a parsed value, as text: if it were read from the value itself, the program would have a second copy of the code
/// that reads each of these types.
pub fn read_value<T: DeserializeOwned>(value: &Value) -> Result<T, serde_json::Error> {
    serde_json::from_slice(&serde_json::to_vec(value)?)
}

fn repaired(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    for token in tokens(text) {
        let source = &text[token.range.clone()];
        let repaired = match token.kind {
            b'"' => without_lone_surrogates(source),
            b'0' => (serde_json::from_str::<Value>(source).is_err()).then(|| format!("\"{source}\"")),
            _ => None,
        };
        if let Some(repaired) = repaired {
            out.push_str(&text[copied..token.range.start]);
            out.push_str(&repaired);
            copied = token.range.end;
        }
    }
    (copied > 0).then(|| out + &text[copied..])
}

/// The range and code unit of each lone surrogate escape in a text.
fn lone_surrogates(text: &str) -> Vec<(Range<usize>, u32)> {
    let bytes = text.as_bytes();
    let unit = |at: usize| -> Option<u32> {
        (bytes.get(at..at + 2)? == b"\\u").then_some(())?;
        u32::from_str_radix(text.get(at + 2..at + 6)?, 16).ok()
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let Some(high) = unit(at) else {
            at += 2;
            continue;
        };
        let is_pair = (0xD800..0xDC00).contains(&high) && matches!(unit(at + 6), Some(0xDC00..0xE000));
        if !is_pair && (0xD800..0xE000).contains(&high) {
            found.push((at..at + 6, high));
        }
        at += if is_pair { 12 } else { 6 };
    }
    found
}

fn replaced(text: &str, found: &[(Range<usize>, u32)], with: impl Fn(u32) -> String) -> String {
    let mut out = String::new();
    let mut copied = 0;
    for (range, unit) in found {
        out.push_str(&text[copied..range.start]);
        out.push_str(&with(*unit));
        copied = range.end;
    }
    out + &text[copied..]
}

/// Replaces each lone surrogate escape by that of U+FFFD; `None` if there is none.
pub fn without_lone_surrogates(text: &str) -> Option<String> {
    let found = lone_surrogates(text);
    (!found.is_empty()).then(|| replaced(text, &found, |_| "\\ufffd".to_owned()))
}

/// A string in a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The unescaped text. A lone surrogate is written as `\u{D83D}`, since no Rust string can contain it.
    pub text: String,
    /// Number of lone surrogates.
    pub n_broken: usize,
    /// The string is a key.
    pub is_key: bool,
}

/// All strings in a text that is known to be valid JSON, including keys, in order.
pub fn strings(text: &str) -> Vec<Held> {
    let mut found: Vec<Held> = Vec::new();
    let mut last_was_string = false;
    for token in tokens(text) {
        if token.kind == b':'
            && last_was_string
            && let Some(key) = found.last_mut()
        {
            key.is_key = true;
        }
        last_was_string = token.kind == b'"';
        if last_was_string {
            found.push(unquoted(&text[token.range]));
        }
    }
    found
}

fn unquoted(literal: &str) -> Held {
    let broken = lone_surrogates(literal);
    let whole: Cow<'_, str> = if broken.is_empty() {
        literal.into()
    } else {
        replaced(literal, &broken, |unit| format!("\\\\u{{{unit:04X}}}")).into()
    };
    let text = serde_json::from_str(&whole).unwrap_or_else(|_| literal.to_owned());
    Held { text, n_broken: broken.len(), is_key: false }
}

/// The string value of an object's field. Of duplicate keys the last one counts, as in the agent's parser.
pub fn string_field(text: &str, name: &str) -> Option<String> {
    let value = &text[fields(text).into_iter().rev().find(|field| field.name == name)?.value];
    value.starts_with('"').then(|| unquoted(value).text)
}

/// The place of the value at these keys, in a text that is known to be valid JSON. Of duplicate keys the last one counts,
/// as in the agent's parser.
pub fn value_at(text: &str, keys: &[&str]) -> Option<Range<usize>> {
    let mut place = 0..text.len();
    for key in keys {
        let inner = &text[place.clone()];
        if !inner.trim_start().starts_with('{') {
            return None;
        }
        let field = fields(inner).into_iter().rev().find(|field| field.name == *key)?;
        place = place.start + field.value.start..place.start + field.value.end;
    }
    Some(place)
}

/// The places of an array's elements, in a text that is that array.
pub fn elements(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut element: Option<Range<usize>> = None;
    for token in tokens(text) {
        if matches!(token.kind, b'}' | b']') {
            depth = depth.saturating_sub(1);
        }
        let is_end = depth == 0 || (depth == 1 && token.kind == b',');
        if is_end {
            found.extend(element.take());
        } else {
            element = Some(element.map_or(token.range.start, |element| element.start)..token.range.end);
        }
        if matches!(token.kind, b'{' | b'[') {
            depth += 1;
        }
    }
    found
}

/// The text of a string with its quotes, as in [`strings`]; `None` if it is another value.
pub fn string(literal: &str) -> Option<String> {
    literal.starts_with('"').then(|| unquoted(literal).text)
}

struct Field {
    name: String,
    value: Range<usize>,
}

/// The fields of the outermost object.
fn fields(text: &str) -> Vec<Field> {
    let mut found: Vec<Field> = Vec::new();
    let mut depth = 0_usize;
    let mut name: Option<String> = None;
    let mut start: Option<usize> = None;
    let mut end = 0;
    for token in tokens(text) {
        match token.kind {
            b'{' | b'[' => {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_end = (depth == 0 && token.kind == b'}') || (depth == 1 && token.kind == b',');
        if is_end {
            if let (Some(name), Some(start)) = (name.take(), start.take()) {
                found.push(Field { name, value: start..end });
            }
            continue;
        }
        if depth == 1 && token.kind == b':' {
            continue;
        }
        match (&name, start) {
            (None, _) if token.kind == b'"' => name = Some(unquoted(&text[token.range.clone()]).text),
            (Some(_), None) => start = Some(token.range.start),
            _ => {}
        }
        end = token.range.end;
    }
    found
}

/// Keys that occur more than once in the same object, at any depth.
pub fn duplicate_keys(text: &str) -> Vec<String> {
    let mut objects: Vec<Vec<String>> = Vec::new();
    let mut found: Vec<String> = Vec::new();
    let mut last: Option<String> = None;
    for token in tokens(text) {
        match token.kind {
            b'{' => objects.push(Vec::new()),
            b'}' => drop(objects.pop()),
            b':' => {
                if let (Some(key), Some(keys)) = (last.take(), objects.last_mut()) {
                    if keys.contains(&key) && !found.contains(&key) {
                        found.push(key.clone());
                    }
                    keys.push(key);
                }
            }
            _ => {}
        }
        last = (token.kind == b'"').then(|| unquoted(&text[token.range]).text);
    }
    found
}

/// Sets a field of an object: replaces the last field of that name, or adds one at the end. Everything else stays as it
/// was written.
pub fn with_field(text: &str, name: &str, value: &str) -> String {
    let fields = fields(text);
    if let Some(field) = fields.iter().rev().find(|field| field.name == name) {
        return format!("{}{value}{}", &text[..field.value.start], &text[field.value.end..]);
    }
    let end = text.rfind('}').unwrap_or(text.len());
    let comma = if fields.is_empty() { "" } else { "," };
    format!("{}{comma}{}:{value}{}", text[..end].trim_end(), Value::from(name), &text[end..])
}

/// The same tokens on one line, because a newline ends a line of the protocol. Fails if the text is not an object.
pub fn one_line(text: &str) -> Result<String, serde_json::Error> {
    Input::read(text.trim())?;
    Ok(tokens(text).map(|token| &text[token.range]).collect())
}

/// The same tokens with one field per line.
pub fn indented(text: &str) -> String {
    let tokens: Vec<Token> = tokens(text).collect();
    let mut out = String::new();
    let mut depth = 0_usize;
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    for (nr, token) in tokens.iter().enumerate() {
        let before = nr.checked_sub(1).map(|nr| tokens[nr].kind);
        let opens = |kind: Option<u8>| matches!(kind, Some(b'{' | b'['));
        if matches!(token.kind, b'}' | b']') {
            depth = depth.saturating_sub(1);
            if !opens(before) {
                line(&mut out, depth);
            }
        } else if opens(before) || before == Some(b',') {
            line(&mut out, depth);
        }
        out.push_str(&text[token.range.clone()]);
        match token.kind {
            b'{' | b'[' => depth += 1,
            b':' => out.push(' '),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ODD: &str =
        r#"{"n":1e400,"f":1.0,"big":12345678901234567890123,"s":"a\ud83d\u0041","k":1,"\u006b":{"x":[]}}"#;

    #[test]
    fn what_no_value_can_hold_is_kept_in_the_text() {
        let input = Input::read(ODD).unwrap();
        assert_eq!(input.text(), ODD);
        assert_eq!(input.value()["n"], "1e400");
        assert_eq!(input.value()["s"], "a\u{fffd}A");
        assert_eq!(one_line(&indented(ODD)).unwrap(), ODD);
        assert_eq!(duplicate_keys(ODD), ["k"]);
        assert_eq!(string_field(ODD, "s").unwrap(), "a\\u{D83D}A");
    }

    #[test]
    fn one_field_changes_and_nothing_else() {
        assert_eq!(
            with_field(r#"{ "a":1.0, "b" : [ {"a":2} ] }"#, "a", "3"),
            r#"{ "a":3, "b" : [ {"a":2} ] }"#
        );
        assert_eq!(with_field(r#"{"a":1,"a":2}"#, "a", "3"), r#"{"a":1,"a":3}"#);
        assert_eq!(with_field(r#"{"b":{"a":1}}"#, "a", "3"), r#"{"b":{"a":1},"a":3}"#);
        assert_eq!(with_field("{ }", "a", "3"), r#"{"a":3}"#);
    }

    #[test]
    fn values_and_elements_are_found_by_their_places() {
        let text = r#"{"a": 1, "p": [0], "p": { "q" : [ "x\"]", [1, {"y": 2}] , {}, 3 ] }}"#;
        let list = &text[value_at(text, &["p", "q"]).unwrap()];
        let found: Vec<&str> = elements(list).into_iter().map(|place| &list[place]).collect();
        assert_eq!(found, [r#""x\"]""#, r#"[1, {"y": 2}]"#, "{}", "3"]);
        assert_eq!(string(found[0]).as_deref(), Some("x\"]"));
        assert_eq!(string(found[3]), None);
        assert_eq!(elements("[]"), []);
        assert_eq!((value_at(text, &["p", "r"]), value_at(text, &["a", "b"])), (None, None));
        assert_eq!(value_at("[]", &["a"]), None);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["[]", "1", "{", "{} {}", "{\"a\":\"\n\"}", "{'a':1}", ""] {
            assert!(one_line(text).is_err(), "{text}");
        }
        assert_eq!(one_line(" {\n\t\"a\" : \"b c\" }\n").unwrap(), r#"{"a":"b c"}"#);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn another_layout_says_the_same(value in any_json()) {
            let text = value.to_string();
            prop_assert_eq!(serde_json::from_str::<Value>(&indented(&text)).unwrap(), value);
        }

        #[test]
        fn another_field_says_the_same_but_for_it(
            value in any_json().prop_filter("an object", Value::is_object),
            name in any::<String>(),
            new in any_json(),
        ) {
            let mut expected = value.clone();
            expected[&name] = new.clone();
            let text = with_field(&indented(&value.to_string()), &name, &new.to_string());
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
        }
    }
}

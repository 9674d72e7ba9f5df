//! Lines that are not whole: a secret without its start or its end does not look like one.

use super::streamed::{place, text_in};
use serde_json::{Value, json};

/// The first lines that are left of a streamed text. Everything is hidden until the end of a line, and from there each
/// line that is a single word, as those of a private key are.
#[derive(Default)]
pub(super) struct LostStart {
    is_hiding: bool,
    /// The block that the text belongs to.
    place: Option<Value>,
    has_line_end: bool,
    has_word: bool,
}

impl LostStart {
    pub(super) fn new() -> Self {
        Self { is_hiding: true, ..Self::default() }
    }

    /// Hides the text of this line as far as it may continue a secret.
    pub(super) fn hide(&mut self, line: &mut Value) {
        if !self.is_hiding {
            return;
        }
        let now = place(line).map(|(parent, index, field)| json!([parent, index, field]));
        if now.is_none() || self.place.as_ref().is_some_and(|place| Some(place) != now.as_ref()) {
            self.is_hiding = false;
            return;
        }
        self.place = now;
        if let Some(text) = text_in(line) {
            *text = self.shown(text).to_owned();
        }
    }

    fn shown<'a>(&mut self, text: &'a str) -> &'a str {
        for (at, letter) in text.char_indices() {
            if letter == '\n' {
                (self.has_line_end, self.has_word) = (true, false);
            } else if !letter.is_whitespace() {
                self.has_word = true;
            } else if self.has_line_end && self.has_word {
                self.is_hiding = false;
                return &text[at..];
            }
        }
        ""
    }
}

/// The start of a line whose end was not kept, up to a place that is in no word.
pub(super) fn without_end(start: &str) -> Value {
    if !start.trim_start().starts_with('{') {
        let end = start.rfind(char::is_whitespace).unwrap_or_default();
        return Value::from(&start[..end]);
    }
    let last = last_place(start.as_bytes());
    let completed = start[..last.end].to_owned() + &last.closing();
    serde_json::from_str(&completed).unwrap_or_else(|_| Value::from("{ (this long line could not be read)"))
}

/// A place in JSON at which it can be ended.
#[derive(Clone, Default)]
struct Place {
    end: usize,
    is_in_text: bool,
    /// The brackets that are open.
    open: Vec<u8>,
}

impl Place {
    fn closing(&self) -> String {
        let brackets = self.open.iter().rev().map(|open| if *open == b'{' { '}' } else { ']' });
        self.is_in_text.then_some('"').into_iter().chain(brackets).collect()
    }
}

/// The last place at which these bytes can be ended without cutting a word.
fn last_place(bytes: &[u8]) -> Place {
    let mut scan = Scan::default();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escaped = bytes.get(at + 1).filter(|_| *byte == b'\\');
        let end = match (scan.is_in_text, escaped) {
            (true, Some(escaped)) => {
                let is_blank = [b'n', b'r', b't'].contains(escaped);
                // `\u0020`, or two characters.
                at += if *escaped == b'u' { 5 } else { 1 };
                (is_blank && !scan.is_name).then_some(at + 1)
            }
            (true, None) => scan.in_text(*byte, at),
            (false, _) => scan.outside(*byte, at),
        };
        if let Some(end) = end {
            scan.last = Place { end, is_in_text: scan.is_in_text, open: scan.open.clone() };
        }
        at += 1;
    }
    scan.last
}

/// JSON as far as it was read.
#[derive(Default)]
struct Scan {
    last: Place,
    open: Vec<u8>,
    is_in_text: bool,
    /// The text is the name of a field, or will be.
    is_name: bool,
}

impl Scan {
    /// Where the JSON can be ended because of this character of a text.
    fn in_text(&mut self, byte: u8, at: usize) -> Option<usize> {
        self.is_in_text = byte != b'"';
        ([b'"', b' '].contains(&byte) && !self.is_name).then_some(at + 1)
    }

    /// The same for a character that is in no text.
    fn outside(&mut self, byte: u8, at: usize) -> Option<usize> {
        match byte {
            b'"' => {
                self.is_in_text = true;
                return (!self.is_name).then_some(at + 1);
            }
            b'{' | b'[' => {
                self.open.push(byte);
                self.is_name = byte == b'{';
            }
            b'}' | b']' => drop(self.open.pop()),
            b',' => {
                self.is_name = self.open.last() == Some(&b'{');
                return Some(at);
            }
            _ => {
                self.is_name &= byte != b':';
                return None;
            }
        }
        Some(at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_can_be_ended_everywhere() {
        let line = r#"{"a b":"one two\n\"three","c":[1,2.5,{"d":null,"e f":{}},"x y"],"g":{"h":true},"i":"\ud83d\ude00 z"}"#;
        for end in 1..line.len() {
            let value = without_end(&line[..end]);
            assert!(value.is_object(), "{}: {value}", &line[..end]);
        }
        assert_eq!(without_end(r#"{"a":"one two thr"#), json!({"a": "one two "}));
        assert_eq!(without_end(r#"{"a":{"b":[1,2,3"#), json!({"a": {"b": [1, 2]}}));
        assert_eq!(without_end(r#"{"a":{"b":["x","y"#), json!({"a": {"b": ["x", ""]}}));
        assert_eq!(without_end("one two thr"), json!("one two"));
    }
}

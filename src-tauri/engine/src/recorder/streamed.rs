//! Redaction of streamed text: a secret may be split between two deltas, and neither half looks like a secret.
//!
//! So the end of a delta is held back until it ends at a word, or at a line if a word announces a secret. It is written
//! with the next delta, or before the next line of another kind. Each line keeps its position and its time.

use super::redact::may_announce;
pub(super) use crate::wire::kept::{place, text_in};
use serde_json::Value;

/// Maximum number of bytes held back.
const MOST: usize = 64 * 1024;

/// The held-back end of the last delta.
#[derive(Default)]
pub(super) struct Streamed(Option<Held>);

struct Held {
    /// The delta that the text came from; the text is written in a copy of it.
    line: Value,
    text: String,
}

impl Streamed {
    /// Returns the lines to write for this line.
    pub(super) fn pass(&mut self, mut line: Value) -> Vec<Value> {
        let mut lines = Vec::new();
        if self
            .0
            .as_ref()
            .is_some_and(|held| place(&held.line).is_none() || place(&held.line) != place(&line))
        {
            lines.extend(self.end());
        }
        let Some(text) = text_in(&mut line) else {
            lines.push(line);
            return lines;
        };
        let mut whole = self.0.take().map_or_else(String::new, |held| held.text);
        whole.push_str(text);
        let rest = whole.split_off(end_of_words(&whole));
        *text = whole;
        if !rest.is_empty() {
            self.0 = Some(Held { line: line.clone(), text: rest });
        }
        lines.push(line);
        lines
    }

    /// Takes the text that is still held back.
    pub(super) fn end(&mut self) -> Option<Value> {
        let Held { mut line, text } = self.0.take()?;
        *text_in(&mut line)? = text;
        Some(line)
    }
}

/// The position up to which no following text can complete a secret.
fn end_of_words(text: &str) -> usize {
    if text.len() > MOST {
        return text.len();
    }
    let line = text.rfind('\n').map_or(0, |at| at + 1);
    let blank = |(at, c): (usize, char)| at + c.len_utf8();
    let end = if may_announce(&text[line..]) {
        line
    } else {
        text.char_indices().rfind(|(_, c)| c.is_whitespace()).map_or(0, blank)
    };
    // A private key spans several lines.
    match text.rfind("-----BEGIN") {
        Some(begin) if begin < end && !is_ended(&text[begin..end]) => begin,
        _ => end,
    }
}

fn is_ended(key: &str) -> bool {
    key.split_once("-----END").is_some_and(|(_, end)| end.contains("-----"))
}

#[cfg(test)]
mod tests {
    use super::super::redact::redacted;
    use super::*;
    use serde_json::json;

    fn piece(text: &str) -> Value {
        json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 0,
               "delta": {"type": "text_delta", "text": text}}})
    }

    /// The redacted texts written for these deltas, followed by one other line.
    fn written(pieces: &[&str]) -> Vec<String> {
        let mut streamed = Streamed::default();
        let end = json!({"type": "stream_event", "event": {"type": "content_block_stop", "index": 0}});
        let lines = pieces.iter().map(|text| piece(text)).chain([end.clone()]);
        let written: Vec<Value> = lines.flat_map(|line| streamed.pass(line)).map(redacted).collect();
        assert_eq!(written.last(), Some(&end), "in their order");
        let texts = written[..written.len() - 1].iter();
        texts.map(|line| line["event"]["delta"]["text"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_secret_is_found_however_it_is_cut() {
        for (text, expected) in [
            ("use sk-ant-api03-0123456789abcdef now", "use <key> now"),
            ("say Bearer abcdef0123456789 twice\nor once", "say Bearer <token> twice\nor once"),
            ("export PASSWORD = hunter2hunter2\n", "export PASSWORD = <secret>\n"),
            ("in /home/someone/x it is", "in /home/user/x it is"),
            ("a\n-----BEGIN PRIVATE KEY-----\nMII\nMII\n-----END PRIVATE KEY-----\nb", "a\n<private key>\nb"),
        ] {
            for n in 1..=text.len() {
                let pieces: Vec<&str> =
                    (0..text.len()).step_by(n).map(|at| &text[at..text.len().min(at + n)]).collect();
                assert_eq!(written(&pieces).concat(), expected, "in pieces of {n}");
            }
        }
    }

    #[test]
    fn ordinary_words_stream_as_they_came() {
        assert_eq!(written(&["One ", "two thr", "ee ", "four"]), ["One ", "two ", "three ", "", "four"]);
        assert_eq!(written(&["", "a"]), ["", "", "a"]);
    }
}

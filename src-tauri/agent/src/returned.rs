//! What a call returns besides text, and how its command ended.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The end of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    pub code: Option<i64>,
    pub signal: Option<String>,
}

impl Exit {
    /// Whether the command failed, or was ended by a signal.
    pub fn is_failure(&self) -> bool {
        self.signal.is_some() || self.code.is_some_and(|code| code != 0)
    }

    /// “exit code 3”.
    pub fn words(&self) -> String {
        match (&self.signal, self.code) {
            (Some(signal), _) => format!("ended by the signal {}", shown(signal)),
            (None, Some(code)) => format!("exit code {code}"),
            (None, None) => "exit code not known".to_owned(),
        }
    }
}

/// A description of content that is not text, such as an image. Unknown parts are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartDescription<'a> {
    /// “Image”.
    pub kind: &'a str,
    pub media_type: Option<&'a str>,
    pub n_bytes: Option<u64>,
    pub source: Option<&'a str>,
}

impl PartDescription<'_> {
    /// “Image (image/png, 70 bytes): file:///a.png”, on one line.
    pub fn words(&self) -> String {
        let media_type = self.media_type.filter(|media_type| !media_type.is_empty()).map(shown);
        let n_bytes = self.n_bytes.map(|n_bytes| format!("{n_bytes} bytes"));
        let facts: Vec<String> = media_type.into_iter().chain(n_bytes).collect();
        let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
        let source = self.source.filter(|source| !source.is_empty());
        let source = source.map(|source| format!(": {}", line(source, LONGEST_SOURCE))).unwrap_or_default();
        format!("{}{facts}{source}", self.kind)
    }
}

/// The longest name of a source in characters.
const LONGEST_SOURCE: usize = 1_000;

fn shown(text: &str) -> String {
    line(text, 80).into_owned()
}

/// The beginning of a text, without control characters.
fn line(text: &str, most: usize) -> Cow<'_, str> {
    let is_plain = text.len() <= most && !text.contains(char::is_control);
    if is_plain { text.into() } else { text.chars().filter(|c| !c.is_control()).take(most).collect() }
}

/// The decoded size of base64 data in bytes, without decoding it.
pub fn n_bytes_of_base64(data: &str) -> u64 {
    let n_digits = data.trim_end_matches('=').len();
    (n_digits / 4 * 3 + n_digits % 4 * 3 / 4) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_said_in_one_line() {
        let all = PartDescription {
            kind: "Image",
            media_type: Some("image/png"),
            n_bytes: Some(70),
            source: Some("file:///a\n.png"),
        };
        assert_eq!(all.words(), "Image (image/png, 70 bytes): file:///a.png");
        assert_eq!(PartDescription { kind: "Link", ..PartDescription::default() }.words(), "Link");
        let long = "é".repeat(2_000);
        let source = PartDescription { source: Some(&long), ..all }.words();
        assert_eq!(source.chars().filter(|c| *c == 'é').count(), LONGEST_SOURCE);
    }

    #[test]
    fn the_size_is_that_of_the_decoded_data() {
        for (data, n_bytes) in [("", 0), ("QQ==", 1), ("QUI=", 2), ("QUJD", 3), ("QQ", 1)] {
            assert_eq!(n_bytes_of_base64(data), n_bytes, "{data}");
        }
    }

    #[test]
    fn an_exit_is_a_failure_unless_its_code_is_0() {
        let exit = |code: Option<i64>, signal: Option<&str>| Exit { code, signal: signal.map(str::to_owned) };
        assert!(!exit(Some(0), None).is_failure());
        assert!(exit(Some(3), None).is_failure() && exit(None, Some("SIGKILL")).is_failure());
        assert_eq!(exit(Some(3), None).words(), "exit code 3");
        assert_eq!(exit(None, Some("SIGKILL")).words(), "ended by the signal SIGKILL");
    }
}

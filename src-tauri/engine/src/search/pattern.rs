//! The patterns of a word: one for text, and one for the JSON that the text is stored in.

use regex::{Regex, RegexBuilder, bytes};
use std::fmt::Write;

/// White space in a JSON string, escaped or not. A line of the file ends with a newline that is not escaped.
const SPACE_IN_JSON: &str =
    r"(?:[^\S\n]|\\[nrtf]|\\u(?:00(?:09|0[a-d]|20|85|a0)|1680|20(?:0[0-9a]|2[89f]|5f)|3000))+";

/// Matches the word in text, without case. Any run of white space stands for any other.
pub fn in_text(word: &str) -> Option<Regex> {
    let mut pattern = String::new();
    each(word, &mut pattern, r"\s+", |c, pattern| {
        pattern.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])))
    });
    // A word that is too long for a pattern is found nowhere.
    RegexBuilder::new(&pattern).case_insensitive(true).build().ok()
}

/// Matches the word in JSON, written as it is or with escapes. It also matches names of keys and data: what it finds is
/// read as JSON and compared with [`in_text`].
///
/// ASCII letters and digits are expected as they are: JSON's writers escape none of them.
pub fn in_json(word: &str) -> Option<bytes::Regex> {
    let mut pattern = String::new();
    each(word, &mut pattern, SPACE_IN_JSON, escaped);
    bytes::RegexBuilder::new(&pattern).case_insensitive(true).build().ok()
}

fn each(word: &str, pattern: &mut String, space: &str, add: impl Fn(char, &mut String)) {
    let mut was_space = false;
    for c in word.chars() {
        let is_space = c.is_whitespace();
        if !is_space {
            add(c, pattern);
        } else if !was_space {
            pattern.push_str(space);
        }
        was_space = is_space;
    }
}

fn escaped(c: char, pattern: &mut String) {
    if c.is_ascii_alphanumeric() {
        return pattern.push(c);
    }
    let plain = match c {
        // Unescaped they would be JSON's own.
        '"' => Some(r#"\\""#.to_owned()),
        '\\' => Some(r"\\\\".to_owned()),
        '/' => Some(r"\\?/".to_owned()),
        '\u{8}' => Some(r"\\b".to_owned()),
        c if c.is_control() => None,
        c => Some(regex::escape(c.encode_utf8(&mut [0; 4]))),
    };
    // The pattern ignores case, but not that of an escaped letter.
    let variants = std::iter::once(c).chain(c.to_lowercase()).chain(c.to_uppercase());
    let escapes = variants.map(|variant| {
        variant.encode_utf16(&mut [0; 2]).iter().fold(String::new(), |mut escape, unit| {
            // Writing to a string cannot fail.
            let _ = write!(escape, r"\\u{unit:04x}");
            escape
        })
    });
    let alternatives: Vec<String> = plain.into_iter().chain(escapes).collect();
    let _ = write!(pattern, "(?:{})", alternatives.join("|"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_in_json(word: &str, json: &str) -> bool {
        in_json(word).unwrap().is_match(json.as_bytes())
    }

    #[test]
    fn a_word_is_found_however_it_is_escaped() {
        for json in ["ü", "Ü", r"\u00fc", r"\u00FC", r"\u00dc"] {
            assert!(is_in_json("ü", json), "{json}");
        }
        assert!(
            is_in_json("😀", r"\ud83d\ude00") && is_in_json("😀", r"\uD83D\uDE00") && is_in_json("😀", "😀")
        );
        assert!(is_in_json("say \"hi\"", r#"Say\n\"HI\""#) && !is_in_json("\"", r#"{"a":1}"#));
        assert!(is_in_json("\"", r"\u0022") && is_in_json("<b>", r"\u003cb\u003e"));
        assert!(
            is_in_json(r"a\b", r"a\\b") && is_in_json(r"a\b", r"a\u005cb") && !is_in_json(r"a\b", r"a\b")
        );
        assert!(is_in_json("a/b", "a/b") && is_in_json("a/b", r"a\/b"));
        assert!(
            is_in_json("a b", "a \t  b") && is_in_json("a b", r"a\r\n\u0020b") && !is_in_json("a b", "a\nb")
        );
        assert!(is_in_json("a.b", "A.B") && !is_in_json("a.b", "axb"));
    }

    proptest! {
        /// Whatever a JSON writer made of a text, its words are found in it.
        #[test]
        fn a_word_of_a_text_is_found_in_its_json(
            before in r#"[ab ü"\\\n]{0,6}"#,
            word in r#"[a-zA-Zäöü界😀"\\/<.*\[({+?^$|-]{1,8}( |\n\t)?[a-z"]{0,3}"#,
            after in r#"[ab ü"\\\n]{0,6}"#,
            ascii in any::<bool>(),
        ) {
            let text = format!("{before}{word}{after}");
            let mut json = serde_json::to_string(&text).unwrap();
            if ascii {
                let units = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
                json = json.chars().map(|c| if c.is_ascii() { c.to_string() } else { units(c) }).collect();
            }
            prop_assert!(is_in_json(&word, &json), "{} in {}", word, json);
            prop_assert!(in_text(&word).unwrap().is_match(&text));
            prop_assert!(in_text(&word.to_uppercase()).is_some());
        }
    }
}

//! A text as it is meant: without the marks of colours, and with written-out characters (`\n`, `\"`, `%3D`) as
//! themselves. A rule that finds no word's start behind `[31m` or `\n` in the raw text finds it here.

use std::ops::Range;

const ESC: u8 = 0x1b;

/// What a terminal's command becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Commands {
    /// A blank, so that a word ends at it.
    Blank,
    /// Nothing: `grep --color` marks a part of a word.
    Nothing,
}

/// A decoded text, and where each part of it comes from.
pub(super) struct Decoded {
    pub text: String,
    parts: Vec<Part>,
    pub has_commands: bool,
}

/// A part that was copied, or the one character that stands for `source`.
struct Part {
    at: usize,
    source: Range<usize>,
    is_copy: bool,
}

impl Decoded {
    /// `None`: the text is as it is meant.
    pub fn of(text: &str, commands: Commands) -> Option<Self> {
        let bytes = text.as_bytes();
        let is_mark = |byte: u8| matches!(byte, ESC | b'\\' | b'%' | b'^' | 0xc2 | 0x07);
        let mut decoded = Self { text: String::new(), parts: Vec::new(), has_commands: false };
        let (mut at, mut copied) = (0, 0);
        while let Some(ahead) = bytes[at..].iter().position(|byte| is_mark(*byte)) {
            at += ahead;
            let (n_bytes, meant) = meant(&bytes[at..]);
            let Some(meant) = meant else {
                at += n_bytes;
                continue;
            };
            decoded.copy(text, copied..at);
            match meant {
                Meant::Command => {
                    decoded.has_commands = true;
                    if commands == Commands::Blank {
                        decoded.stand_for(' ', at..at + n_bytes);
                    }
                }
                Meant::Character(c) => decoded.stand_for(c, at..at + n_bytes),
            }
            at += n_bytes;
            copied = at;
        }
        if copied == 0 && decoded.parts.is_empty() && !decoded.has_commands {
            return None;
        }
        decoded.copy(text, copied..text.len());
        Some(decoded)
    }

    fn copy(&mut self, text: &str, source: Range<usize>) {
        if !source.is_empty() {
            let at = self.text.len();
            self.text.push_str(&text[source.clone()]);
            self.parts.push(Part { at, source, is_copy: true });
        }
    }

    fn stand_for(&mut self, c: char, source: Range<usize>) {
        let at = self.text.len();
        self.text.push(c);
        self.parts.push(Part { at, source, is_copy: false });
    }

    /// The bytes of the original that this span of the text stands for.
    pub fn source(&self, span: &Range<usize>) -> Range<usize> {
        let part = |at: usize| &self.parts[self.parts.partition_point(|part| part.at <= at) - 1];
        if span.is_empty() || self.parts.is_empty() {
            return 0..0;
        }
        let (first, last) = (part(span.start), part(span.end - 1));
        let start = first.source.start + if first.is_copy { span.start - first.at } else { 0 };
        let end = if last.is_copy { last.source.start + span.end - last.at } else { last.source.end };
        start..end
    }
}

enum Meant {
    Command,
    Character(char),
}

/// Returns the length in bytes of the first sequence, and what it stands for; `None` if it stands for itself.
fn meant(bytes: &[u8]) -> (usize, Option<Meant>) {
    let character = |n_bytes, byte: u8| (n_bytes, Some(Meant::Character(char::from(byte))));
    match bytes {
        [ESC, rest @ ..] => (1 + command(rest).unwrap_or(0), Some(Meant::Command)),
        // The same in one character, and the end of a title.
        [0xc2, 0x9b, rest @ ..] => (2 + parameters(rest), Some(Meant::Command)),
        [0x07, ..] => (1, Some(Meant::Command)),
        [b'^', b'[', rest @ ..] => match command(rest) {
            Some(n_bytes) => (2 + n_bytes, Some(Meant::Command)),
            None => (2, None),
        },
        [b'%', high, low, ..] => match hexadecimal(&[*high, *low]) {
            Some(byte) => character(3, byte),
            None => (1, None),
        },
        [b'\\', ..] => {
            // JSON in JSON doubles it.
            let n_slashes = bytes.iter().take_while(|byte| **byte == b'\\').count();
            let rest = &bytes[n_slashes..];
            let (n_bytes, byte) = match rest {
                [b'n' | b'r' | b't' | b'f' | b'v' | b'b' | b'a', ..] => (1, Some(b' ')),
                [c @ (b'"' | b'\'' | b'`' | b'/'), ..] => (1, Some(*c)),
                [b'u', b'0', b'0', high, low, ..] => (5, hexadecimal(&[*high, *low])),
                [b'x', high, low, ..] => (3, hexadecimal(&[*high, *low])),
                [b'0', b'3', b'3', ..] => (3, Some(ESC)),
                [b'e', ..] => (1, Some(ESC)),
                _ => (0, None),
            };
            match byte {
                Some(ESC) => match command(&rest[n_bytes..]) {
                    Some(of_command) => (n_slashes + n_bytes + of_command, Some(Meant::Command)),
                    None => (n_slashes, None),
                },
                Some(b'\r' | b'\t') => character(n_slashes + n_bytes, b' '),
                Some(byte) => character(n_slashes + n_bytes, byte),
                None => (n_slashes, None),
            }
        }
        _ => (1, None),
    }
}

/// An ASCII character that is written as two digits.
fn hexadecimal(digits: &[u8; 2]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_hexdigit))?;
    u8::from_str_radix(text, 16).ok().filter(u8::is_ascii)
}

/// The length of a terminal's command after ESC. The text of a title or link is not a part of it.
fn command(rest: &[u8]) -> Option<usize> {
    match rest {
        [b'[', rest @ ..] => Some(1 + parameters(rest)),
        [b'(' | b')', b'0' | b'A' | b'B', ..] => Some(2),
        [b']' | b'\\' | b'=' | b'>' | b'7' | b'8' | b'c' | b'M', ..] => Some(1),
        _ => None,
    }
}

/// The parameters of a command and its last letter.
fn parameters(rest: &[u8]) -> usize {
    let n_bytes = rest.iter().take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
    n_bytes + usize::from(rest.get(n_bytes).is_some_and(|byte| matches!(byte, 0x40..=0x7e)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(text: &str, commands: Commands) -> String {
        Decoded::of(text, commands).map_or_else(|| text.to_owned(), |decoded| decoded.text)
    }

    #[test]
    fn a_text_is_read_as_it_is_meant() {
        for (text, blank, nothing) in [
            ("plain \u{fc} 100% ^", "plain \u{fc} 100% ^", "plain \u{fc} 100% ^"),
            ("a\u{1b}[01;31m\u{1b}[Kb\u{1b}[m", "a  b ", "ab"),
            (r"a\u001b[1mb\\n\\\tc\x1b[0m\033[0m\e[2K", "a b  c   ", "ab  c"),
            (r#"{\"k\":\\\"v\\\"}"#, r#"{"k":"v"}"#, r#"{"k":"v"}"#),
            ("k%3Dv%zz%", "k=v%zz%", "k=v%zz%"),
            ("^[[31mx", " x", "x"),
            ("\u{1b}]8;;https://a.b/\u{1b}\\x\u{7}", " 8;;https://a.b/ x ", "8;;https://a.b/x"),
            (r"C:\Users\home", r"C:\Users\home", r"C:\Users\home"),
            ("\u{9b}1mx", " x", "x"),
        ] {
            assert_eq!(meant(text, Commands::Blank), blank);
            assert_eq!(meant(text, Commands::Nothing), nothing);
        }
    }

    #[test]
    fn each_part_is_traced_to_its_source() {
        let text = "\u{fc}\u{1b}[31mabc\\nd%3D\\u001b[0m";
        for commands in [Commands::Blank, Commands::Nothing] {
            let decoded = Decoded::of(text, commands).unwrap();
            let at = decoded.text.find("abc").unwrap();
            assert_eq!(&text[decoded.source(&(at..at + 3))], "abc");
            assert_eq!(&text[decoded.source(&(at + 1..at + 5))], "bc\\nd");
            let at = decoded.text.find('=').unwrap();
            assert_eq!(&text[decoded.source(&(at..at + 1))], "%3D");
        }
    }
}

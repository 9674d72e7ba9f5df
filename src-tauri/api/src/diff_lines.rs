//! The lines of a hunk in JSON. Plain lines with consecutive numbers are strings: as objects they would take several
//! times the bytes of the change.

use super::diff::{DiffKind, DiffLine, DiffPart};
use super::document::TokenStyle;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The numbers of the next line in both versions, if known.
#[derive(Default)]
struct NextNumbers {
    old: Option<u32>,
    new: Option<u32>,
}

impl NextNumbers {
    /// The numbers of a line of this kind.
    fn of(&self, kind: DiffKind) -> (Option<u32>, Option<u32>) {
        match kind {
            DiffKind::Context => (self.old, self.new),
            DiffKind::Added => (None, self.new),
            DiffKind::Removed => (self.old, None),
        }
    }

    fn pass(&mut self, line: &DiffLine) {
        let next = |number: u32| number.saturating_add(1);
        self.old = line.old_line.map(next).or(self.old);
        self.new = line.new_line.map(next).or(self.new);
    }
}

fn sign(kind: DiffKind) -> char {
    match kind {
        DiffKind::Context => ' ',
        DiffKind::Added => '+',
        DiffKind::Removed => '-',
    }
}

fn kind_of(sign: char) -> Option<DiffKind> {
    [DiffKind::Context, DiffKind::Added, DiffKind::Removed].into_iter().find(|kind| self::sign(*kind) == sign)
}

fn plain_part(text: String) -> DiffPart {
    DiffPart { text, strong: false, style: TokenStyle::Plain }
}

/// The text of a plain line.
fn plain_text(line: &DiffLine) -> Option<&str> {
    match line.parts.as_slice() {
        [DiffPart { text, strong: false, style: TokenStyle::Plain }] => Some(text),
        _ => None,
    }
}

struct SignedText<'a>(char, &'a str);

impl Serialize for SignedText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(sign, text) = self;
        serializer.collect_str(&format_args!("{sign}{text}"))
    }
}

pub fn serialize<S: Serializer>(lines: &[DiffLine], serializer: S) -> Result<S::Ok, S::Error> {
    let mut next = NextNumbers::default();
    let mut sequence = serializer.serialize_seq(Some(lines.len()))?;
    for line in lines {
        let is_next = next.of(line.kind) == (line.old_line, line.new_line);
        match plain_text(line).filter(|_| is_next) {
            Some(text) => sequence.serialize_element(&SignedText(sign(line.kind), text))?,
            None => sequence.serialize_element(line)?,
        }
        next.pass(line);
    }
    sequence.end()
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<DiffLine>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Line(DiffLine),
    }
    let mut next = NextNumbers::default();
    let mut read = |written: Written| {
        let line = match written {
            Written::Line(line) => line,
            Written::Text(text) => {
                let mut content = text.chars();
                let kind = content.next().and_then(kind_of);
                let kind = kind.ok_or_else(|| serde::de::Error::custom("a line of a diff without a sign"))?;
                let (old_line, new_line) = next.of(kind);
                DiffLine { kind, old_line, new_line, parts: vec![plain_part(content.as_str().to_owned())] }
            }
        };
        next.pass(&line);
        Ok(line)
    };
    Vec::<Written>::deserialize(deserializer)?.into_iter().map(&mut read).collect()
}

#[cfg(test)]
mod tests {
    use super::super::diff::Hunk;
    use super::*;
    use serde_json::json;

    fn line(kind: DiffKind, numbers: (Option<u32>, Option<u32>), text: &str) -> DiffLine {
        let parts = vec![plain_part(text.to_owned())];
        DiffLine { kind, old_line: numbers.0, new_line: numbers.1, parts }
    }

    fn read_again(lines: Vec<DiffLine>) -> serde_json::Value {
        let hunk = Hunk { lines };
        let written = serde_json::to_value(&hunk).unwrap();
        assert_eq!(serde_json::from_value::<Hunk>(written.clone()).unwrap(), hunk);
        written["lines"].clone()
    }

    #[test]
    fn plain_lines_with_the_next_numbers_are_texts() {
        let first = line(DiffKind::Context, (Some(4), Some(5)), "a");
        let written = read_again(vec![
            first.clone(),
            line(DiffKind::Removed, (Some(5), None), "b"),
            line(DiffKind::Added, (None, Some(6)), ""),
            line(DiffKind::Context, (Some(6), Some(7)), " c\n+"),
        ]);
        assert_eq!(written, json!([first, "-b", "+", "  c\n+"]));
    }

    #[test]
    fn lines_without_numbers_are_texts() {
        let none = (None, None);
        let written = read_again(vec![line(DiffKind::Removed, none, "a"), line(DiffKind::Added, none, "b")]);
        assert_eq!(written, json!(["-a", "+b"]));
    }

    #[test]
    fn other_lines_are_objects() {
        let strong = DiffLine {
            parts: vec![DiffPart { text: "x".to_owned(), strong: true, style: TokenStyle::Keyword }],
            ..line(DiffKind::Added, (None, Some(2)), "")
        };
        let lines = vec![
            line(DiffKind::Added, (None, Some(1)), "first"),
            strong,
            // The rest of a cut line, a gap, and the largest number.
            line(DiffKind::Added, (None, None), "rest"),
            line(DiffKind::Added, (None, Some(3)), "next"),
            line(DiffKind::Added, (None, Some(u32::MAX)), "gap"),
            line(DiffKind::Context, (Some(1), Some(u32::MAX)), "both"),
            DiffLine { parts: Vec::new(), ..line(DiffKind::Removed, (Some(2), None), "") },
        ];
        let written = read_again(lines);
        let kinds: Vec<bool> = written.as_array().unwrap().iter().map(serde_json::Value::is_string).collect();
        assert_eq!(kinds, [false, false, false, true, false, false, false]);
    }

    #[test]
    fn a_text_without_a_sign_is_an_error() {
        for text in ["", "x"] {
            assert!(serde_json::from_value::<Hunk>(json!({"lines": [text]})).is_err(), "{text}");
        }
    }
}

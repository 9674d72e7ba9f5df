//! The text of a request where it is shown whole or not at all: in a dialog, which neither scrolls far nor marks.

use crate::api::{Diff, DiffKind, RequestKind};
use crate::permission::notice;
use crate::wire::CanUseTool;
use crate::wire::json;
use serde_json::Value;

/// More than this is for the card, which scrolls and marks.
const MOST_CHARACTERS: usize = 600;
const MOST_LINES: usize = 14;

/// The whole of it, if it is short and every character of it is what it seems.
///
/// Only ASCII and Latin letters are: other scripts have letters that look like them, and a dialog cannot mark which is
/// which. That sends an honest command with a Greek file name to the card as well, which costs one click.
pub fn plain(request: &CanUseTool, kind: &RequestKind, subject: &str, diff: Option<&Diff>) -> Option<String> {
    let text = whole(request, kind, subject, diff)?;
    let fits = text.chars().count() <= MOST_CHARACTERS && text.lines().count() <= MOST_LINES;
    // A blank at the end of a line cannot be seen, and a tab not told from blanks.
    let is_seen = |line: &str| !line.ends_with(' ') && !line.contains('\t');
    (fits && text.chars().all(is_plain) && text.split('\n').all(is_seen)).then_some(text)
}

fn whole(request: &CanUseTool, kind: &RequestKind, subject: &str, diff: Option<&Diff>) -> Option<String> {
    let input = request.input.value();
    match kind {
        // Whatever else the input asks for, such as running unsandboxed, has to be seen too.
        RequestKind::Command if only(input, &["command", "description", "timeout"]) => {
            Some(subject.to_owned())
        }
        RequestKind::Fetch if only(input, &["url", "prompt"]) => {
            let prompt = input.get("prompt").and_then(Value::as_str).unwrap_or("");
            Some(format!("{subject}\n\n{prompt}").trim_end_matches('\n').to_owned())
        }
        RequestKind::Edit if only(input, &["file_path", "content", "old_string", "new_string"]) => {
            let lines = diff?.hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| {
                let mark = match line.kind {
                    DiffKind::Context => ' ',
                    DiffKind::Added => '+',
                    DiffKind::Removed => '-',
                };
                let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
                // The mark's own blank stands at the end of an empty line.
                format!("{mark} {text}").trim_end_matches(if text.is_empty() { ' ' } else { '\n' }).to_owned()
            });
            Some(std::iter::once(subject.to_owned()).chain(lines).collect::<Vec<_>>().join("\n"))
        }
        _ => Some(json::indented(request.input.text())),
    }
}

/// Does the input hold these fields and no others?
pub fn only(input: &Value, keys: &[&str]) -> bool {
    input.as_object().is_some_and(|input| input.keys().all(|key| keys.contains(&key.as_str())))
}

fn is_plain(character: char) -> bool {
    matches!(character, ' '..='~' | '\n' | '\u{a1}'..='\u{17f}') && notice::oddity(character).is_none()
}

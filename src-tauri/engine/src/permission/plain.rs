//! The plain text of a request for a dialog. A dialog shows it in full or not at all, because it has little room to
//! scroll and no marks.

use crate::agent::ToolRequest;
use crate::agent::json;
use crate::api::{Diff, DiffKind, RequestKind};
use crate::misleading::oddity;

/// A longer text is shown only in the card, which scrolls and marks.
const MOST_CHARACTERS: usize = 600;
const MOST_LINES: usize = 14;

/// The complete text, if it is short and contains no misleading character.
///
/// Only ASCII and Latin letters qualify: other scripts have letters that look like them, and a dialog cannot mark the
/// difference. So an honest command with a Greek file name is also shown only in the card, which costs one click.
pub fn plain(
    request: &ToolRequest,
    kind: &RequestKind,
    subject: &str,
    diff: Option<&Diff>,
) -> Option<String> {
    let text = whole(request, kind, subject, diff)?;
    let fits = text.chars().count() <= MOST_CHARACTERS && text.lines().count() <= MOST_LINES;
    // A blank at the end of a line is invisible, and a tab cannot be distinguished from blanks.
    let is_seen = |line: &str| !line.ends_with(' ') && !line.contains('\t');
    (fits && text.chars().all(is_plain) && text.split('\n').all(is_seen)).then_some(text)
}

fn whole(request: &ToolRequest, kind: &RequestKind, subject: &str, diff: Option<&Diff>) -> Option<String> {
    match (kind, &request.asked.fetch_prompt) {
        (RequestKind::Command, _) if request.asked.is_only_action => Some(subject.to_owned()),
        (RequestKind::Fetch, Some(prompt)) => {
            Some(format!("{subject}\n\n{prompt}").trim_end_matches('\n').to_owned())
        }
        (RequestKind::Edit, _) if request.asked.is_only_action => {
            let lines = diff?.hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| {
                let mark = match line.kind {
                    DiffKind::Context => ' ',
                    DiffKind::Added => '+',
                    DiffKind::Removed => '-',
                };
                let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
                // The blank of the mark itself is at the end of an empty line.
                format!("{mark} {text}").trim_end_matches(if text.is_empty() { ' ' } else { '\n' }).to_owned()
            });
            Some(std::iter::once(subject.to_owned()).chain(lines).collect::<Vec<_>>().join("\n"))
        }
        _ => Some(json::indented(request.input.text())),
    }
}

fn is_plain(character: char) -> bool {
    matches!(character, ' '..='~' | '\n' | '\u{a1}'..='\u{17f}') && oddity(character).is_none()
}

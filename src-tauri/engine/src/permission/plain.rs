//! The plain text of a request for a dialog. A dialog shows it in full or not at all, because it has little room to
//! scroll and no marks.

use crate::agent::ToolRequest;
use crate::agent::json;
use crate::api::{Diff, DiffKind, PermissionRequest, RequestKind, Suggestion};
use crate::misleading::{oddity, written_out};

/// Most characters of a plain text. A longer one is shown only in the card, which scrolls and marks.
pub const MOST_CHARACTERS: usize = 600;
/// Most lines of a plain text.
pub const MOST_LINES: usize = 14;

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

/// The complete text of a request that may be allowed where only this text is shown; `None` if that would hide something.
/// Another machine sends the text of its requests, so it is checked here again.
pub fn plain_subject(request: &PermissionRequest) -> Option<&str> {
    request.plain.as_deref().filter(|plain| plain.split('\n').all(|line| written_out(line) == line))
}

/// Whether a text is one line without characters that look like others.
pub fn is_plain_line(text: &str) -> bool {
    !text.contains('\n') && !text.ends_with(' ') && text.chars().all(is_plain)
}

/// A longer rule is shown only where the user chooses it.
const MOST_OF_A_RULE: usize = 200;

/// The suggestion that one click or key may choose: the only one, if its rule is short and every character of it is seen.
pub fn only_suggestion(suggestions: &[Suggestion]) -> Option<&Suggestion> {
    let [only] = suggestions else { return None };
    let rule = &only.rule;
    let is_plain = is_plain_line(rule) && !rule.contains("  ");
    let is_short = (1..=MOST_OF_A_RULE).contains(&rule.chars().count());
    let place = &only.kept_in;
    let is_place_plain = written_out(place) == *place && place.chars().count() <= MOST_OF_A_RULE;
    (is_plain && is_short && is_place_plain).then_some(only)
}

fn is_plain(character: char) -> bool {
    matches!(character, ' '..='~' | '\n' | '\u{a1}'..='\u{17f}') && oddity(character).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestion(rule: &str, kept_in: &str) -> Suggestion {
        Suggestion {
            id: "s0".to_owned(),
            label: String::new(),
            rule: rule.to_owned(),
            kept_in: kept_in.to_owned(),
            raw: serde_json::Value::Null,
            folder_rules: Vec::new(),
        }
    }

    #[test]
    fn only_one_short_and_plain_rule_is_given_in_one_step() {
        let here = "For this session only";
        let plain = suggestion("Bash(npm test:*)", here);
        assert_eq!(only_suggestion(std::slice::from_ref(&plain)), Some(&plain));
        assert_eq!(only_suggestion(&[]), None);
        assert_eq!(only_suggestion(&[plain.clone(), plain]), None);
        let long = "x".repeat(MOST_OF_A_RULE + 1);
        for rule in ["", &long, "Bash(c\u{430}t:*)", "Bash(a\nb)", "Bash(a\u{202e}b)", "Bash(a   b)", "Bash "]
        {
            assert_eq!(only_suggestion(&[suggestion(rule, here)]), None, "{rule:?}");
        }
        assert_eq!(only_suggestion(&[suggestion("Bash(ls)", "in \u{202e}here")]), None);
        assert_eq!(only_suggestion(&[suggestion("Bash(ls)", &long)]), None);
    }
}

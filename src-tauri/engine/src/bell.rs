//! The words of notifications, and what the user's own command is given.

use crate::api::{BellKind, BellSettings, PermissionRequest, Settings};
use crate::permission::wants;
use crate::title::Title;
use unicode_segmentation::UnicodeSegmentation;

/// Longest text of a notification, in characters. Desktops show two to four lines.
const LONGEST: usize = 200;
/// Longest description of a subagent in it.
const LONGEST_SUBAGENT: usize = 60;

/// An event that the user may be called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BellEvent {
    Finished,
    Failed,
    NeedsYou,
}

impl BellEvent {
    /// All events, the most urgent first.
    pub const ALL: [Self; 3] = [Self::NeedsYou, Self::Failed, Self::Finished];

    /// Its name in the settings, and in the environment of the user's command.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::NeedsYou => "needsYou",
        }
    }

    /// What the user wants for it.
    pub fn settings(self, settings: &Settings) -> &BellKind {
        let BellSettings { finished, failed, needs_you, .. } = &settings.bell;
        match self {
            Self::Finished => finished,
            Self::Failed => failed,
            Self::NeedsYou => needs_you,
        }
    }

    /// The first line of an answer, without the marks of Markdown; `None` if it has no text.
    pub fn words_of_answer(answer: &str) -> Option<String> {
        let is_mark = |c: char| c.is_whitespace() || "#*_`>-~".contains(c);
        let mut lines = answer.lines().map(|line| line.trim_start_matches(is_mark).trim_end_matches(is_mark));
        let line = lines.find(|line| !line.is_empty())?;
        let line = Title::one_line(&line.replace("**", "").replace('`', ""), LONGEST);
        (!line.is_empty()).then_some(line)
    }

    /// A permission request in one line, with its command or its file. What is too long is cut in its middle, because both
    /// ends matter: `rm -rf … ~/notes`.
    pub fn words_of_request(request: &PermissionRequest) -> String {
        let wants = Title::one_line(&asker_wants(request), LONGEST);
        // Nothing is shown that a dialog would not show as it is.
        let subject =
            request.plain.as_deref().map(|plain| middle_cut(plain, LONGEST - wants.len().min(LONGEST / 2)));
        match subject.filter(|subject| !subject.is_empty()) {
            Some(subject) => format!("{wants}: {subject}"),
            None => wants,
        }
    }
}

/// “Wants to run a command”, or for a subagent: “The subagent “Explore the parser” wants to run a command”.
fn asker_wants(request: &PermissionRequest) -> String {
    let wants = wants(request);
    let Some(subagent) = &request.subagent else { return wants };
    // All of them begin with a verb.
    let wants: String =
        wants.chars().take(1).map(|first| first.to_ascii_lowercase()).chain(wants.chars().skip(1)).collect();
    match Title::one_line(&subagent.description, LONGEST_SUBAGENT).as_str() {
        "" => format!("A subagent {wants}"),
        description => format!("The subagent “{description}” {wants}"),
    }
}

/// A text in one line of at most `longest` characters, with `…` in place of its middle if it is longer.
pub(crate) fn middle_cut(text: &str, longest: usize) -> String {
    // Cut first: a text of a million characters costs no more than a long line.
    let most = longest * 16;
    let start = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    let end = text.char_indices().rev().nth(most).map_or(0, |(at, _)| at);
    let is_whole = end <= start;
    let first = Title::one_line(if is_whole { text } else { &text[..start] }, usize::MAX / 1024);
    let last = if is_whole { first.clone() } else { Title::one_line(&text[end..], usize::MAX / 1024) };
    let n = first.graphemes(true).count();
    if is_whole && n <= longest {
        return first;
    }
    let kept = longest.saturating_sub(1);
    let head: String = first.graphemes(true).take(kept.div_ceil(2)).collect();
    let mut tail: Vec<&str> = last.graphemes(true).rev().take(kept / 2).collect();
    tail.reverse();
    format!("{}…{}", head.trim_end(), tail.concat().trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_an_answer_has_no_marks() {
        let line = |answer: &str| BellEvent::words_of_answer(answer);
        assert_eq!(line("\n\n## **Done.** It works\n\nMore").as_deref(), Some("Done. It works"));
        assert_eq!(line("---\n> *Fixed*").as_deref(), Some("Fixed"));
        assert_eq!(line("a \u{202e}b\u{200b}c").as_deref(), Some("a bc"));
        assert_eq!(line("```\n\n***"), None);
        assert_eq!(line(&"x".repeat(500)).map(|line| line.chars().count()), Some(201));
    }

    #[test]
    fn a_subagent_that_asks_is_named_before_what_it_wants() {
        let input = serde_json::json!({"command": "make (asked by the agent)"});
        let request = crate::agent::ToolRequest {
            tool_name: "Bash".into(),
            input: input.into(),
            ..crate::agent::ToolRequest::default()
        };
        let request = crate::claude::request::read(request, Vec::new());
        let mut view = crate::permission::view(crate::api::RequestId::new("r"), &request, 0);
        assert_eq!(BellEvent::words_of_request(&view), "Wants to run a command: make (asked by the agent)");
        let mut words = |description: &str| {
            view.subagent = Some(crate::api::Subagent {
                agent_id: "a1".to_owned(),
                description: description.to_owned(),
                item_id: None,
                words: String::new(),
            });
            BellEvent::words_of_request(&view)
        };
        assert_eq!(
            words("Explore the parser"),
            "The subagent “Explore the parser” wants to run a command: make (asked by the agent)"
        );
        assert_eq!(words(""), "A subagent wants to run a command: make (asked by the agent)");
        let long = words(&"x".repeat(120));
        assert!(long.ends_with("wants to run a command: make (asked by the agent)"), "{long}");
    }

    #[test]
    fn a_long_text_is_cut_in_its_middle() {
        assert_eq!(middle_cut("make\n  test", 20), "make test");
        assert_eq!(middle_cut("0123456789", 10), "0123456789");
        assert_eq!(middle_cut("0123456789abc", 9), "0123…9abc");
        let long = format!("begin {} end", "x".repeat(1_000_000));
        let cut = middle_cut(&long, 21);
        assert_eq!(cut, "begin xxxx…xxxxxx end");
        assert_eq!(middle_cut("", 5), "");
    }
}

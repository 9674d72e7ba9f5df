//! Open requests on the board: their excerpts, and the answers that may be given there.

use crate::api::{
    BoardAnswer, BoardRequest, BoardRequestKind, Decision, EditedLines, PermissionRequest, Question,
    QuestionOption, RequestKind,
};
use crate::misleading::written_out;
use crate::permission::{MOST_CHARACTERS, MOST_LINES, is_plain_line, plain_subject};
use crate::title::Title;
use std::collections::{BTreeMap, HashSet};

/// Most choices of a question that is answered on the board.
const MOST_CHOICES: usize = 4;
/// Longest label of such a choice, in characters.
const LONGEST_CHOICE: usize = 40;
/// Longest text of such a question, in characters.
const LONGEST_QUESTION: usize = 300;
/// Longest description of a subagent, in user-perceived characters.
const LONGEST_ASKER: usize = 120;

/// The agent reads it if the user skips a question.
const SKIPPED: &str = "The user skipped the question.";

/// The oldest of the open requests of a session.
pub(super) fn request(requests: &[PermissionRequest]) -> Option<BoardRequest> {
    let (request, others) = requests.split_first()?;
    let plain = allowable(request);
    let whole = plain.or_else(|| whole(request)).unwrap_or_default();
    let (text, n_more_lines) = if plain.is_some() { (whole.to_owned(), 0) } else { beginning(whole) };
    Some(BoardRequest {
        id: request.id.clone(),
        shown: request.shown.clone(),
        kind: kind(&request.kind),
        text,
        n_more_lines,
        can_allow: plain.is_some(),
        choices: choices(request).iter().map(|choice| (*choice).to_owned()).collect(),
        edited: request.diff.as_ref().map(|diff| EditedLines { added: diff.added, removed: diff.removed }),
        asked_by: request
            .subagent
            .as_ref()
            .map(|subagent| Title::one_line(&written_out(&subagent.words), LONGEST_ASKER)),
        n_more: u32::try_from(others.len()).unwrap_or(u32::MAX),
    })
}

/// The decision of an answer that was given on the board; `None` if this request may not be answered so there.
pub fn decision(request: &PermissionRequest, answer: BoardAnswer) -> Option<Decision> {
    match answer {
        BoardAnswer::AllowOnce => allowable(request).map(|_| Decision::AllowOnce { updated_input: None }),
        BoardAnswer::Deny => {
            let is_question = matches!(request.kind, RequestKind::Questions { .. });
            let message = if is_question { SKIPPED } else { "" };
            Some(Decision::Deny { message: message.to_owned(), interrupt: false })
        }
        BoardAnswer::Choose { choice } => {
            let label = *choices(request).get(usize::try_from(choice).ok()?)?;
            let question = only_question(request)?;
            let answers = BTreeMap::from([(question.text.clone(), label.to_owned())]);
            Some(Decision::Answer { answers })
        }
    }
}

/// The whole request, if it may be allowed where only that is shown: a command or an address that is the only action, by the
/// rule of the native dialogs. Not an edit, whose lines need their colours; not another tool, whose name is not in the text;
/// and not a call that the agent reports only in part.
fn allowable(request: &PermissionRequest) -> Option<&str> {
    let plain = plain_subject(request)?;
    // Otherwise the text is the input as JSON, without the name of the tool.
    let rest = plain.strip_prefix(request.subject.as_str())?;
    let is_action = request.subject != request.input_text
        && match request.kind {
            RequestKind::Command => rest.is_empty(),
            // What the agent asks about the page follows its address.
            RequestKind::Fetch => rest.is_empty() || rest.starts_with("\n\n"),
            _ => false,
        };
    (is_action && request.unreported.is_none()).then_some(plain)
}

/// What the request is about.
fn whole(request: &PermissionRequest) -> Option<&str> {
    match &request.kind {
        RequestKind::Questions { questions } => questions.first().map(|question| question.text.as_str()),
        RequestKind::Form { form } => Some(form.message.as_str()),
        RequestKind::Plan { .. } => None,
        _ => Some(request.subject.as_str()),
    }
}

/// As much of the beginning as a plain subject may have, and the number of lines that are left out.
fn beginning(text: &str) -> (String, u32) {
    let mut kept = String::new();
    let mut left = MOST_CHARACTERS;
    let mut n_more = 0_u32;
    for (nr, line) in text.lines().enumerate() {
        if nr >= MOST_LINES || left == 0 {
            n_more = n_more.saturating_add(1);
            continue;
        }
        let part: String = line.chars().take(left).collect();
        left -= part.chars().count();
        n_more = n_more.saturating_add(u32::from(part.len() < line.len()));
        if nr > 0 {
            kept.push('\n');
        }
        kept.push_str(&part);
    }
    (kept, n_more)
}

fn kind(kind: &RequestKind) -> BoardRequestKind {
    match kind {
        RequestKind::Command => BoardRequestKind::Command,
        RequestKind::Edit => BoardRequestKind::Edit,
        RequestKind::Fetch => BoardRequestKind::Fetch,
        RequestKind::Other => BoardRequestKind::Other,
        RequestKind::Questions { .. } => BoardRequestKind::Question,
        RequestKind::Plan { .. } => BoardRequestKind::Plan,
        RequestKind::Form { .. } => BoardRequestKind::Form,
    }
}

fn only_question(request: &PermissionRequest) -> Option<&Question> {
    let RequestKind::Questions { questions } = &request.kind else { return None };
    let [question] = questions.as_slice() else { return None };
    Some(question)
}

/// The choices of a question that may be answered on the board: one question with one answer, whose few choices are short,
/// plain, different and without a description or a preview, and which is whole on the board.
fn choices(request: &PermissionRequest) -> Vec<&str> {
    let Some(question) = only_question(request) else { return Vec::new() };
    let is_seen = |text: &str, longest: usize| {
        !text.trim().is_empty() && text.chars().count() <= longest && written_out(text) == text
    };
    let labels: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
    let is_short = (1..=MOST_CHOICES).contains(&labels.len())
        && labels.iter().all(|label| is_seen(label, LONGEST_CHOICE) && is_plain_line(label))
        && labels.iter().collect::<HashSet<_>>().len() == labels.len();
    let has_more = |option: &QuestionOption| option.preview.is_some() || !option.description.is_empty();
    let is_whole = !question.options.iter().any(has_more);
    let is_plain = is_seen(&question.text, LONGEST_QUESTION) && question.text.lines().count() == 1;
    if is_short && is_plain && is_whole && !question.multi_select { labels } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::ToolRequest;
    use crate::api::RequestId;
    use serde_json::{Value, json};

    fn asked(tool: &str, input: Value) -> PermissionRequest {
        let request =
            ToolRequest { tool_name: tool.to_owned(), input: input.into(), ..ToolRequest::default() };
        let request = crate::claude::request::read(request, Vec::new());
        crate::permission::view(RequestId::new("r"), &request, 0)
    }

    fn command(command: &str) -> PermissionRequest {
        asked("Bash", json!({ "command": command }))
    }

    fn question(options: Value) -> PermissionRequest {
        asked(
            "AskUserQuestion",
            json!({"questions": [{"question": "Which colour?", "header": "Bell", "multiSelect": false,
                "options": options}]}),
        )
    }

    fn labels(labels: &[&str]) -> Value {
        labels.iter().map(|label| json!({"label": label, "description": ""})).collect()
    }

    fn row(one: &PermissionRequest) -> BoardRequest {
        request(std::slice::from_ref(one)).unwrap()
    }

    #[test]
    fn a_command_is_allowed_only_if_it_is_whole_and_plain() {
        let allow = Some(Decision::AllowOnce { updated_input: None });
        let plain = command("cargo test -p ledger");
        assert_eq!(row(&plain).text, "cargo test -p ledger");
        assert!(row(&plain).can_allow);
        assert_eq!(decision(&plain, BoardAnswer::AllowOnce), allow);
        let long = "echo one\n".repeat(40);
        for command in [
            command("echo \u{202e}lepmis"),
            command("echo a\u{200b}b"),
            command("\u{435}cho"),
            command(&long),
            command(&"x".repeat(700)),
            asked("Bash", json!({"command": "make", "run_in_background": true, "x": "\u{202e}"})),
            // The text is JSON without the name of the tool.
            asked("Bash", json!({"command": "make", "run_in_background": true})),
            asked("Bash", json!({"script": "make"})),
            asked("mcp__x__drop", json!({"id": 3})),
            asked("WebSearch", json!({"query": "tides"})),
            asked("WebFetch", json!({"url": "https://tides.example/", "prompt": "Read it", "depth": 3})),
            asked("Write", json!({"file_path": "/p/a.txt", "content": "one\n"})),
            asked("ExitPlanMode", json!({"plan": "1. Look\n"})),
            question(labels(&["Red", "Blue"])),
        ] {
            assert!(!row(&command).can_allow, "{command:?}");
            assert_eq!(decision(&command, BoardAnswer::AllowOnce), None, "{command:?}");
            let denied = decision(&command, BoardAnswer::Deny);
            assert!(matches!(denied, Some(Decision::Deny { interrupt: false, .. })));
        }
        let fetch = asked("WebFetch", json!({"url": "https://tides.example/", "prompt": "Read it"}));
        assert_eq!(row(&fetch).text, "https://tides.example/\n\nRead it");
        assert_eq!(decision(&fetch, BoardAnswer::AllowOnce), allow);
        let left_out =
            PermissionRequest { unreported: Some("The agent left out the input".to_owned()), ..plain };
        assert!(!row(&left_out).can_allow);
    }

    #[test]
    fn a_text_is_bounded_and_says_how_much_is_left_out() {
        let many = row(&command(&"echo one\n".repeat(40)));
        assert_eq!((many.text.lines().count(), many.n_more_lines), (14, 26));
        let wide = row(&command(&"x".repeat(100_000)));
        assert_eq!((wide.text.chars().count(), wide.n_more_lines), (600, 1));
        let edit = row(&asked("Write", json!({"file_path": "/p/a.txt", "content": "one\ntwo\n"})));
        assert_eq!((edit.kind, edit.text.as_str()), (BoardRequestKind::Edit, "/p/a.txt"));
        assert_eq!(edit.edited, Some(EditedLines { added: 2, removed: 0 }));
        assert_eq!(request(&[]), None);
        assert_eq!(request(&[command("ls"), command("make")]).unwrap().n_more, 1);
    }

    #[test]
    fn a_question_is_answered_only_if_its_choices_are_few_short_and_plain() {
        let simple = question(labels(&["Red", "Blue"]));
        assert_eq!((row(&simple).text.as_str(), row(&simple).choices.len()), ("Which colour?", 2));
        let answers = BTreeMap::from([("Which colour?".to_owned(), "Blue".to_owned())]);
        let chosen = |choice| decision(&simple, BoardAnswer::Choose { choice });
        assert_eq!(chosen(1), Some(Decision::Answer { answers }));
        assert_eq!(chosen(2), None);
        let preview = json!([{"label": "Red", "description": "", "preview": "====="}]);
        let described = json!([{"label": "Red", "description": "Deletes the blue ones"}]);
        let long = "x".repeat(41);
        for other in [
            question(labels(&["1", "2", "3", "4", "5"])),
            question(labels(&["Red", "Red"])),
            question(labels(&["Red", &long])),
            question(labels(&["Red", "\u{202e}Blue"])),
            question(labels(&["Red", "\u{412}lue"])),
            question(labels(&["Red", "Blue "])),
            question(preview),
            question(described),
            command("ls"),
        ] {
            assert_eq!(row(&other).choices, [] as [&str; 0], "{other:?}");
            assert_eq!(decision(&other, BoardAnswer::Choose { choice: 0 }), None);
        }
    }
}

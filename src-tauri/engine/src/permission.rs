//! Permission requests: their presentation to the user, and the answers that are sent to the agent.
//!
//! The subject shown is the raw input, never the agent's own description of it.

mod address;
#[cfg(test)]
mod corpus;
mod dialogs;
mod form;
mod kept;
mod lines;
#[cfg(test)]
mod model;
mod notice;
mod open;
mod plain;
pub(crate) mod repeats;
mod subagents;

pub use dialogs::{AlwaysAllow, DialogEffect, DialogId, DialogRequest, DialogResponse, Dialogs, WindowView};
pub(crate) use open::{Asking, Closed, OpenRequests, Refusal};
pub(crate) use plain::{MOST_CHARACTERS, MOST_LINES, is_plain_line, plain_subject};
pub use repeats::leave_out_repeats;
pub(crate) use subagents::Subagents;

use crate::agent::tool::{RawInput, ToolKind};
use crate::agent::{
    AgentCommand, AnswerOption, Grant, HELD_MESSAGE, Input, NO_REASON, OptionKind, OptionScope, SavedIn,
    ToolRequest, json as text_of,
};
use crate::api::*;
use crate::document;
use crate::misleading::{oddity, written_out};
use crate::server_tool::ServerTool;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What a decision sends to the agent, and how the request is resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub command: AgentCommand,
    pub resolution: Resolution,
    /// The input as the user edited it, if it differs from the requested one.
    pub changed: Option<RawInput>,
}

impl Dialogs {
    /// The view of a request, as its dialog and its card show it.
    pub fn view(id: RequestId, request: &ToolRequest, asked_at: u64) -> PermissionRequest {
        view(id, request, asked_at)
    }
}

/// Builds the view of a request. Who asks is not in the request itself: [`OpenRequests::ask`] adds it.
pub(crate) fn view(id: RequestId, request: &ToolRequest, asked_at: u64) -> PermissionRequest {
    let kind = kind(request);
    let tool = written_out(&request.tool_name);
    let subject = subject(request);
    let diff = diff(request);
    let notices = notice::notices(request, &kind, &subject);
    let suggestions = suggestions(request);
    let plain = plain::plain(request, &kind, &subject, diff.as_ref()).filter(|_| notices.is_empty());
    PermissionRequest {
        question: question(&kind, request, &tool),
        host: asks_for_address(request).then(|| address::host(&subject)).flatten(),
        has_more: request.asked.has_more,
        always: plain::only_suggestion(&suggestions)
            .filter(|_| notices.is_empty())
            .map(|only| only.id.clone()),
        suggestions,
        item_id: request.tool_use_id.clone().map(ItemId),
        reason: reason(request),
        unreported: request.unreported.clone(),
        input_text: text_of::indented(request.input.text()),
        shown: shown(&id, request),
        server_tool: server_tool(request).map(|named| format!("{}: {}", named.server, named.both_names())),
        id,
        tool,
        subject,
        notices,
        plain,
        kind,
        diff,
        subagent: None,
        asked_at,
    }
}

/// A one-line summary for the session list and the notification.
pub(crate) fn wants(request: &PermissionRequest) -> String {
    match &request.kind {
        RequestKind::Command => "Wants to run a command".to_owned(),
        RequestKind::Edit => "Wants to change a file".to_owned(),
        RequestKind::Fetch => "Wants to access the network".to_owned(),
        RequestKind::Questions { .. } | RequestKind::Form { .. } => "Has a question".to_owned(),
        RequestKind::Plan { .. } => "Proposes a plan".to_owned(),
        RequestKind::Other if request.tool == HELD_MESSAGE => "Holds a message for you".to_owned(),
        RequestKind::Other => {
            format!("Wants to use {}", request.server_tool.as_ref().unwrap_or(&request.tool))
        }
    }
}

/// Returns a hash of a request and everything that is shown of it. Requests that differ in one byte have different
/// hashes.
pub(crate) fn shown(id: &RequestId, request: &ToolRequest) -> String {
    let mut hash = Sha256::new();
    let mut field = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    field(id.as_str().as_bytes());
    field(request.agent_id.as_deref().unwrap_or_default().as_bytes());
    field(request.tool_name.as_bytes());
    field(request.display_name.as_deref().unwrap_or_default().as_bytes());
    field(request.mcp_server.as_deref().unwrap_or_default().as_bytes());
    field(request.input.text().as_bytes());
    for option in &request.options {
        field(option.raw.to_string().as_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Builds the answer for a decision. Returns an error if the decision does not fit the request, or was made for another
/// one.
pub(crate) fn answer(
    view: &PermissionRequest,
    request: &ToolRequest,
    shown: Option<&str>,
    decision: Decision,
) -> Result<Answer, String> {
    let needs_none = matches!(decision, Decision::Deny { .. }) && shown.is_none();
    if !needs_none && shown != Some(&view.shown) {
        return Err(match shown {
            Some(_) => "The request changed after it was shown, so your answer was not sent.",
            None => "The answer does not include the “shown” value of the request, so it was not sent.",
        }
        .to_owned());
    }
    if let Some(asked) = &request.asked.form {
        return form::answer(&view.id, asked, decision);
    }
    let allow = |input: &str, grant| {
        let (request_id, input) = (view.id.to_string(), input.to_owned());
        AgentCommand::Allow { request_id, input, grant }
    };
    Ok(match decision {
        Decision::AllowOnce { .. } if request.takes_only_options && request.allow_once().is_none() => {
            return Err(
                "The agent offers no way to allow this once. Choose one of its own answers.".to_owned()
            );
        }
        Decision::AllowOnce { updated_input: Some(_) } if request.takes_only_options => {
            return Err("This agent runs only what it asked for: its input cannot be changed.".to_owned());
        }
        Decision::AllowOnce { updated_input } => {
            let given = updated_input.map(|change| changed(&request.input, &change)).transpose()?;
            Answer {
                command: allow(given.as_deref().unwrap_or(request.input.text()), None),
                resolution: Resolution::Allowed { always: None },
                changed: given.and_then(|given| another(&request.input, &given)),
            }
        }
        Decision::AllowAlways { suggestion } => {
            let chosen = view
                .suggestions
                .iter()
                .find(|known| names(&suggestion, known))
                .ok_or("The request has no such suggestion.")?;
            let option = request.options.iter().find(|option| option.id == chosen.id);
            let option = option.ok_or("The request has no such suggestion.")?;
            Answer {
                command: allow(request.input.text(), Some(Grant::Option(Box::new(option.clone())))),
                resolution: Resolution::Allowed {
                    always: Some(format!("{} · {}", written_out(&chosen.rule), chosen.kept_in)),
                },
                changed: None,
            }
        }
        Decision::Deny { message, interrupt } => {
            let given = message.trim();
            let message = if given.is_empty() { NO_REASON } else { given };
            Answer {
                command: AgentCommand::Deny {
                    request_id: view.id.to_string(),
                    message: message.to_owned(),
                    interrupt,
                },
                resolution: Resolution::Denied { message: message.to_owned() },
                changed: None,
            }
        }
        Decision::ApprovePlan { accept_edits: edits_unasked } => {
            let RequestKind::Plan { .. } = view.kind else {
                return Err("The request is not a plan.".to_owned());
            };
            // Without it the agent asks for permission for each edit (2.1.329).
            let also = edits_unasked.then_some(Grant::AcceptEdits);
            let always = edits_unasked.then(|| "Edits are accepted (this session)".to_owned());
            Answer {
                command: allow(request.input.text(), also),
                resolution: Resolution::Allowed { always },
                changed: None,
            }
        }
        Decision::Fill { .. } => return Err("The request is no form.".to_owned()),
        Decision::Answer { answers } => {
            let RequestKind::Questions { .. } = view.kind else {
                return Err("The request asks no questions.".to_owned());
            };
            let (request_id, input) = (view.id.to_string(), request.input.text().to_owned());
            Answer {
                command: AgentCommand::Answer { request_id, input, answers },
                resolution: Resolution::Answered,
                changed: None,
            }
        }
    })
}

/// The edited input on one line. Its tokens stay as the user wrote them.
fn changed(input: &Input, change: &InputChange) -> Result<String, String> {
    match change {
        InputChange::Whole { json } => text_of::one_line(json)
            .map_err(|error| format!("The edited input is not a JSON object: {error}.")),
        InputChange::Field { name, text } if text_of::string_field(input.text(), name).is_some() => {
            Ok(text_of::with_field(input.text(), name, &json!(text).to_string()))
        }
        InputChange::Field { name, .. } => Err(format!("The input has no text named {name}.")),
    }
}

/// Returns the given input if it differs from the requested one.
fn another(asked: &Input, given: &str) -> Option<RawInput> {
    let is_same = text_of::one_line(asked.text()).is_ok_and(|asked| asked == given);
    // It was parsed before it was given.
    Input::read(given).ok().filter(|_| !is_same).map(|given| given.value().clone().into())
}

/// Returns whether `given` identifies this suggestion: by its id, or by its value, as shown or as the agent sent it.
fn names(given: &Value, known: &Suggestion) -> bool {
    #[derive(Deserialize)]
    struct Shown<'a> {
        id: &'a str,
    }
    let id = given.as_str().or_else(|| Some(Shown::deserialize(given).ok()?.id));
    id == Some(&known.id) || *given == known.raw
}

fn kind(request: &ToolRequest) -> RequestKind {
    let asked = &request.asked;
    if let Some(asked) = &asked.form {
        return RequestKind::Form { form: form::shown(asked) };
    }
    match asked.kind {
        ToolKind::Command => RequestKind::Command,
        kind if kind.changes_files() => RequestKind::Edit,
        ToolKind::Fetch | ToolKind::SearchWeb => RequestKind::Fetch,
        ToolKind::Questions => match asked.questions.clone().filter(|questions| !questions.is_empty()) {
            Some(questions) => RequestKind::Questions { questions },
            None => RequestKind::Other,
        },
        ToolKind::Plan => RequestKind::Plan { blocks: document::markdown(&asked.plan) },
        _ => RequestKind::Other,
    }
}

fn question(kind: &RequestKind, request: &ToolRequest, tool: &str) -> String {
    match kind {
        RequestKind::Command => "Run this command?".to_owned(),
        RequestKind::Edit => {
            let verb = if request.asked.kind == ToolKind::Write { "Write" } else { "Edit" };
            let name = file_name(request);
            format!("{verb} {}?", name.as_deref().unwrap_or("this file"))
        }
        RequestKind::Fetch if request.asked.kind == ToolKind::SearchWeb => {
            "Search the web for this?".to_owned()
        }
        RequestKind::Fetch => "Fetch this page?".to_owned(),
        RequestKind::Questions { questions } if questions.len() > 1 => {
            format!("The agent has {} questions", questions.len())
        }
        RequestKind::Questions { .. } => "The agent has a question".to_owned(),
        RequestKind::Plan { .. } => "Approve this plan?".to_owned(),
        RequestKind::Form { form } => form::question(form),
        RequestKind::Other if request.asked.kind == ToolKind::Message => {
            "Let in this message of another session?".to_owned()
        }
        RequestKind::Other => match server_tool(request) {
            Some(named) => format!("Let {} run {}?", named.server, named.both_names()),
            None => format!("Allow {tool}?"),
        },
    }
}

/// The subject is an address that would be contacted.
fn asks_for_address(request: &ToolRequest) -> bool {
    request.asked.kind == ToolKind::Fetch
        || request.asked.form.as_ref().is_some_and(|form| form.url.is_some())
}

fn server_tool(request: &ToolRequest) -> Option<ServerTool> {
    request.server_tool.as_ref().map(ServerTool::of)
}

/// Maximum length of a file name in a question, in characters.
const MOST_OF_A_NAME: usize = 60;

/// The name of the file that is edited. Only a name that cannot be read as words of the question: one without spaces,
/// punctuation or misleading characters. The subject shows the whole path in any case.
fn file_name(request: &ToolRequest) -> Option<String> {
    let path = request.asked.action.as_deref()?;
    let name = path.rsplit(['/', '\\']).next()?;
    let is_plain = |character: char| {
        character == '-' || character == '_' || (character.is_alphanumeric() && oddity(character).is_none())
    };
    let is_named = name.contains(is_plain) && name.chars().all(|one| one == '.' || is_plain(one));
    let is_ended = !name.ends_with('.') && name.chars().count() <= MOST_OF_A_NAME;
    (is_named && is_ended).then(|| name.to_owned())
}

/// The raw text of the action, never the agent's description of it.
fn subject(request: &ToolRequest) -> String {
    request.asked.action.clone().unwrap_or_else(|| text_of::indented(request.input.text()))
}

fn diff(request: &ToolRequest) -> Option<Diff> {
    let change = request.asked.change.as_ref()?;
    // A write replaces the whole file: the old text is the present file.
    let is_whole = request.asked.kind == ToolKind::Write;
    let diff = if is_whole { document::diff } else { document::diff_unplaced };
    Some(diff(&change.path, &change.old, &change.new))
}

fn reason(request: &ToolRequest) -> Option<String> {
    let blocked = request.blocked_path.as_ref().map(|path| format!("Accesses {path}"));
    let said = request.reason.clone();
    // The reason may contain terminal colours.
    blocked.or(said).or_else(|| replaced(request)).map(|reason| written_out(&reason))
}

/// The extent of the file that a write replaces.
fn replaced(request: &ToolRequest) -> Option<String> {
    let change = request.asked.change.as_ref()?;
    let is_replaced = request.asked.kind == ToolKind::Write && !change.old.is_empty();
    is_replaced.then(|| match change.old.lines().count() {
        1 => "Replaces 1 line".to_owned(),
        n_lines => format!("Replaces {n_lines} lines"),
    })
}

/// The options that allow more than the one call. One that is not understood is never offered.
fn suggestions(request: &ToolRequest) -> Vec<Suggestion> {
    let always = request.options.iter().filter(|option| option.kind == OptionKind::AllowAlways);
    let suggestion = |option: &AnswerOption| {
        let (label, rule, saved) = option_words(option);
        let kept_in = match saved {
            Some(SavedIn::Session) => "For this session only",
            Some(SavedIn::FolderLocal { file }) => &format!("Saved for you in this project ({file})"),
            Some(SavedIn::Folder { file }) => &format!("Saved for everyone in this project ({file})"),
            Some(SavedIn::User) => "Saved for you in all projects (your own settings)",
            Some(SavedIn::Other(other)) => &format!("Saved in {other}"),
            None => OWN_WORDS,
        };
        Suggestion {
            id: option.id.clone(),
            label: written_out(&label),
            rule,
            kept_in: written_out(kept_in),
            raw: option.raw.clone(),
            folder_rules: option.folder_rules.clone(),
        }
    };
    always.map(suggestion).collect()
}

/// What is said of an option that has no rule.
const OWN_WORDS: &str = "The agent’s own words, and all that it says about this answer";

/// The label of an option, its exact rule, and the place where it is saved.
fn option_words(option: &AnswerOption) -> (String, String, Option<&SavedIn>) {
    match &option.scope {
        OptionScope::Rules { rules, saved } => {
            let rules = rules.join(", ");
            (format!("Always allow {rules}"), rules, Some(saved))
        }
        OptionScope::Folders { folders, saved } => {
            let folders = folders.join(", ");
            let label = format!("Let the agent work in {folders}");
            (label, format!("additional folder {folders}"), Some(saved))
        }
        OptionScope::Mode { mode, saved } => {
            let label = match mode {
                PermissionMode::AcceptEdits => "Accept edits from now on".to_owned(),
                mode => format!("Switch to the permission mode {mode}"),
            };
            (label, format!("mode {mode}"), Some(saved))
        }
        OptionScope::Unnamed => {
            let label = option.name.clone().unwrap_or_else(|| "Always allow".to_owned());
            // There is no rule, and the words may say what it would be.
            (label.clone(), label, None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{AgentEvent, AgentRequest};
    use crate::claude::request::read;

    fn bash() -> ToolRequest {
        let request = ToolRequest {
            tool_name: "Bash".into(),
            input: json!({"command": "touch b.txt", "description": "harmless"}).into(),
            tool_use_id: Some("toolu_1".into()),
            ..ToolRequest::default()
        };
        read(request, suggested())
    }

    fn suggested() -> Vec<Value> {
        vec![
            json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch b.txt"}], "behavior": "allow", "destination": "localSettings"}),
            json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"}),
        ]
    }

    fn sent(decision: Decision) -> Result<Value, String> {
        let request = bash();
        let view = view(RequestId::new("r"), &request, 0);
        let answer = answer(&view, &request, Some(&view.shown), decision)?;
        let line: Value = serde_json::from_str(&crate::wire::line(&answer.command)).unwrap();
        assert_eq!(line["response"]["request_id"], "r");
        Ok(line["response"]["response"].clone())
    }

    #[test]
    fn a_question_names_the_file_or_the_server_and_nothing_that_reads_as_its_own_words() {
        let asked = |tool: &str, input: Value| {
            let request =
                ToolRequest { tool_name: tool.into(), input: input.into(), ..ToolRequest::default() };
            let view = view(RequestId::new("r"), &read(request, Vec::new()), 0);
            let wants = wants(&view);
            (view.question, wants)
        };
        let written = |path: &str| asked("Write", json!({"file_path": path, "content": ""})).0;
        assert_eq!(written("/p/notes/todo.md"), "Write todo.md?");
        assert_eq!(written("/p/.env"), "Write .env?");
        for path in ["/p/a? It is safe", "/p/a b", "/p/a\u{202e}b", "/p/", "/p/..", "/p/a.", &"a".repeat(61)]
        {
            assert_eq!(written(path), "Write this file?", "{path}");
        }
        assert_eq!(
            asked("Edit", json!({"file_path": "a.rs", "old_string": "", "new_string": ""})).0,
            "Edit a.rs?"
        );
        assert_eq!(asked("WebFetch", json!({"url": "https://docs.rs", "prompt": ""})).0, "Fetch this page?");
        assert_eq!(asked("WebSearch", json!({"query": "x"})).0, "Search the web for this?");
        let (question, wants) = asked("mcp__tracker__create_issue", json!({}));
        assert_eq!(question, "Let tracker run create_issue?");
        assert_eq!(wants, "Wants to use tracker: create_issue");
        assert_eq!(asked("mcp__", json!({})).0, "Allow mcp__?");
    }

    /// The server chooses the display name: the tool's own name is said too, and a name that changes is another request.
    #[test]
    fn a_servers_tool_is_asked_for_by_both_its_names() {
        let line = |name: &str| {
            let request = json!({"subtype": "can_use_tool", "tool_name": "mcp__tracker__rm", "input": {},
                "display_name": name, "mcp_server": {"name": "tracker", "source": "dynamic"}});
            json!({"type": "control_request", "request_id": "r", "request": request}).to_string()
        };
        let asked = |name: &str| match crate::claude::wire::parse(line(name).as_bytes()) {
            AgentEvent::Request { request: AgentRequest::Tool(request), .. } => {
                view(RequestId::new("r"), &request, 0)
            }
            other => panic!("{other:?}"),
        };
        let view = asked("List\u{202e} issues");
        assert_eq!(view.question, "Let tracker run List\\u{202E} issues (rm)?");
        assert_eq!(wants(&view), "Wants to use tracker: List\\u{202E} issues (rm)");
        assert_eq!(view.server_tool.as_deref(), Some("tracker: List\\u{202E} issues (rm)"));
        assert_eq!(view.tool, "mcp__tracker__rm");
        assert_ne!(view.shown, asked("List issues").shown);
        // Names of another form say nothing.
        let odd = line("x")
            .replace(r#""display_name":"x""#, r#""display_name":7"#)
            .replace(r#"{"name":"tracker","source":"dynamic"}"#, "[]");
        let odd = crate::claude::wire::parse(odd.as_bytes());
        assert!(matches!(odd, AgentEvent::Request { request: AgentRequest::Tool(_), .. }), "{odd:?}");
    }

    #[test]
    fn the_subject_is_what_would_run_not_what_is_said_of_it() {
        let view = view(RequestId::new("r"), &bash(), 0);
        assert_eq!(view.subject, "touch b.txt");
        assert_eq!(view.suggestions[0].rule, "Bash(touch b.txt)");
        assert_eq!(
            view.suggestions[0].kept_in,
            "Saved for you in this project (.claude/settings.local.json)"
        );
    }

    #[test]
    fn always_applies_one_suggestion_and_no_other() {
        let answer = sent(Decision::AllowAlways { suggestion: json!("s0") }).unwrap();
        let kept = suggested().remove(0);
        let mut for_session = kept.clone();
        for_session["destination"] = json!("session");
        assert_eq!(answer["updatedPermissions"], json!([kept, for_session]));
        let mode = sent(Decision::AllowAlways { suggestion: json!("s1") }).unwrap();
        assert_eq!(mode["updatedPermissions"], json!([suggested()[1]]));
        let same = sent(Decision::AllowAlways { suggestion: suggested().remove(0) }).unwrap();
        assert_eq!(answer, same);
        let shown = view(RequestId::new("r"), &bash(), 0).suggestions.remove(0);
        let shown = serde_json::to_value(shown).unwrap();
        assert_eq!(answer, sent(Decision::AllowAlways { suggestion: shown }).unwrap());
        assert!(
            sent(Decision::AllowAlways { suggestion: json!({"type": "setMode", "mode": "plan"}) }).is_err()
        );
    }

    const ODD: &str =
        r#"{"n":1e400,"f":1.0,"big":12345678901234567890123,"command":"a\ud83d\u0041","k":1, "k":2}"#;

    fn line_for(decision: Decision) -> Result<String, String> {
        let request = ToolRequest { input: Input::read(ODD).unwrap(), ..bash() };
        let view = view(RequestId::new("r"), &request, 0);
        answer(&view, &request, Some(&view.shown), decision).map(|answer| crate::wire::line(&answer.command))
    }

    #[test]
    fn what_was_shown_is_what_is_sent() {
        let answer = sent(Decision::AllowOnce { updated_input: None }).unwrap();
        assert_eq!(answer, json!({"behavior": "allow", "updatedInput": bash().input.value()}));
        for decision in
            [Decision::AllowOnce { updated_input: None }, Decision::AllowAlways { suggestion: json!("s1") }]
        {
            let line = line_for(decision).unwrap();
            assert!(line.contains(&format!(r#""updatedInput":{ODD}"#)), "{line}");
        }
    }

    #[test]
    fn an_edited_input_goes_as_it_was_written() {
        let edit = |change| line_for(Decision::AllowOnce { updated_input: Some(change) });
        let json = "{\n  \"command\": \"ls\\ud83d\",\n  \"n\": 1e400\n}".to_owned();
        let line = edit(InputChange::Whole { json }).unwrap();
        assert!(line.contains(r#""updatedInput":{"command":"ls\ud83d","n":1e400}}"#), "{line}");
        let line = edit(InputChange::Field { name: "command".into(), text: "ls\n-l".into() }).unwrap();
        let expected = ODD.replace(r#""a\ud83d\u0041""#, r#""ls\n-l""#);
        assert!(line.contains(&format!(r#""updatedInput":{expected}"#)), "{line}");
        assert!(!line.contains('\n'));
        for change in [
            InputChange::Whole { json: "[]".into() },
            InputChange::Whole { json: "{} {}".into() },
            InputChange::Whole { json: "{\"a\":1".into() },
            InputChange::Field { name: "n".into(), text: "1".into() },
            InputChange::Field { name: "other".into(), text: "1".into() },
        ] {
            assert!(edit(change.clone()).is_err(), "{change:?}");
        }
    }

    #[test]
    fn an_answer_to_something_else_is_refused() {
        let request = bash();
        let here = view(RequestId::new("r"), &request, 0);
        let other_input = ToolRequest { input: json!({"command": "touch c.txt"}).into(), ..bash() };
        let other_rules = ToolRequest { options: Vec::new(), ..bash() };
        let other_agent = ToolRequest { agent_id: Some("a1".to_owned()), ..bash() };
        let others = [
            view(RequestId::new("q"), &request, 0).shown,
            view(RequestId::new("r"), &other_input, 0).shown,
            view(RequestId::new("r"), &other_rules, 0).shown,
            view(RequestId::new("r"), &other_agent, 0).shown,
            String::new(),
        ];
        let allow = || Decision::AllowOnce { updated_input: None };
        let always = || Decision::AllowAlways { suggestion: json!("s0") };
        for decision in [allow(), always()] {
            for shown in others.iter().map(|shown| Some(shown.as_str())).chain([None]) {
                assert!(answer(&here, &request, shown, decision.clone()).is_err(), "{shown:?}");
            }
        }
        let denied =
            answer(&here, &request, None, Decision::Deny { message: String::new(), interrupt: false });
        assert!(denied.is_ok());
    }

    #[test]
    fn a_plan_is_approved_as_it_is_shown_with_edits_asked_for_or_accepted() {
        let request = ToolRequest {
            tool_name: "ExitPlanMode".into(),
            input: json!({"plan": "1. Do it"}).into(),
            ..bash()
        };
        let request = read(request, Vec::new());
        let view = view(RequestId::new("r"), &request, 0);
        let approved = |accept_edits| {
            let answer =
                answer(&view, &request, Some(&view.shown), Decision::ApprovePlan { accept_edits }).unwrap();
            serde_json::from_str::<Value>(&crate::wire::line(&answer.command)).unwrap()["response"]["response"].clone()
        };
        assert_eq!(approved(false), json!({"behavior": "allow", "updatedInput": {"plan": "1. Do it"}}));
        let mode = json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]);
        assert_eq!(approved(true)["updatedPermissions"], mode);
        assert!(sent(Decision::ApprovePlan { accept_edits: true }).is_err(), "a command is no plan");
    }

    /// As an agent of another protocol offers them: by kind and name, without a scope.
    #[test]
    fn an_option_without_a_scope_is_chosen_by_its_id_and_claims_no_scope() {
        let option = |id: &str, kind, name: &str| AnswerOption {
            id: id.to_owned(),
            kind,
            name: Some(name.to_owned()),
            ..AnswerOption::default()
        };
        let options = vec![
            option("once", OptionKind::AllowOnce, "Yes"),
            option("a", OptionKind::AllowAlways, "Yes, all of `git`"),
            option("b", OptionKind::AllowAlways, "Yes\u{202e}, everything"),
            option("c", OptionKind::RejectAlways, "Never"),
            option("d", OptionKind::Unknown, "Yes, and more"),
        ];
        let request = ToolRequest { options, ..bash() };
        let view = view(RequestId::new("r"), &request, 0);
        let labels: Vec<[&str; 2]> =
            view.suggestions.iter().map(|known| [known.id.as_str(), &known.label]).collect();
        assert_eq!(labels, [["a", "Yes, all of `git`"], ["b", "Yes\\u{202E}, everything"]]);
        assert_eq!(view.suggestions[0].kept_in, OWN_WORDS);
        let always = |id: &str| {
            let decision = Decision::AllowAlways { suggestion: json!(id) };
            answer(&view, &request, Some(&view.shown), decision).map(|answer| answer.command)
        };
        match always("b") {
            Ok(AgentCommand::Allow { grant: Some(Grant::Option(chosen)), .. }) => {
                assert_eq!(*chosen, request.options[2]);
            }
            other => panic!("{other:?}"),
        }
        for id in ["once", "c", "d", "s0"] {
            assert!(always(id).is_err(), "{id}");
        }
    }

    #[test]
    fn a_denial_always_has_a_message() {
        let answer = sent(Decision::Deny { message: "  ".into(), interrupt: true }).unwrap();
        assert_eq!(answer, json!({"behavior": "deny", "message": "The user said no.", "interrupt": true}));
    }
}

//! Output lines of the simulated agent.

use super::End;
use crate::chance::Chance;
use crate::claude::limits::LimitReport;
use crate::wire::*;
use serde_json::{Value, json};
use std::sync::Arc;

pub fn init(session_id: &str, mode: &str, model: &str, reports_prompts: bool) -> Inbound {
    Inbound::Init(Box::new(Init {
        capabilities: reports_prompts.then(|| vec![json!("msg_lifecycle_v1")]),
        session_id: session_id.to_owned(),
        model: Some(model.to_owned()),
        permission_mode: Some(mode.to_owned()),
        claude_code_version: Some("2.1.329".to_owned()),
        ..Init::default()
    }))
}

pub fn context_usage() -> Value {
    let messages = json!({"name": "Messages", "tokens": 7, "kind": "used"});
    json!({"categories": [messages], "totalTokens": 7, "maxTokens": 200_000})
}

pub fn initialized(mode: &str) -> Value {
    json!({
        "commands": [{"name": "compact", "description": "", "argumentHint": ""}],
        "models": [
            {"value": "opus", "resolvedModel": "claude-opus", "supportedEffortLevels": ["low", "high"]},
            {"value": "sonnet", "resolvedModel": "claude-sonnet", "supportedEffortLevels": ["low", "high"]},
            {"value": "haiku", "resolvedModel": "claude-haiku"},
        ],
        "current_permission_mode": mode,
        "claude_code_version": "2.1.329",
    })
}

pub fn mode_changed(mode: &str) -> Inbound {
    Inbound::Status { status: None, permission_mode: Some(mode.to_owned()) }
}

pub fn start_failure(words: &str) -> Inbound {
    Inbound::Result(Box::new(TurnResult {
        subtype: "error_during_execution".to_owned(),
        is_error: true,
        errors: vec![words.to_owned()],
        ..TurnResult::default()
    }))
}

pub fn failed_reply() -> Inbound {
    Inbound::Assistant(Box::new(Assistant { error: Some("server_error".to_owned()), ..Assistant::default() }))
}

pub fn task_ended() -> Inbound {
    Inbound::TaskEnded {
        task_id: "task".to_owned(),
        tool_use_id: None,
        status: "completed".to_owned(),
        summary: "done".to_owned(),
        report: None,
    }
}

pub fn task_stopped(task_id: String) -> Inbound {
    Inbound::TaskEnded {
        task_id,
        tool_use_id: None,
        status: "stopped".to_owned(),
        summary: "stopped".to_owned(),
        report: None,
    }
}

pub fn tasks(n: usize) -> Inbound {
    let task = |nr| Task { id: format!("task {nr}"), ..Task::default() };
    Inbound::BackgroundTasks { tasks: (0..n).map(task).collect() }
}

/// Content of a result line.
pub struct Said<'a> {
    pub end: End,
    pub session_id: &'a str,
    pub cost_usd: f64,
    pub unasked: bool,
    /// Absent on 2.1.197.
    pub prompts: Option<&'a Vec<String>>,
}

pub fn result(said: &Said<'_>, chance: &mut Chance) -> Inbound {
    let mut result = TurnResult {
        subtype: "success".to_owned(),
        session_id: Some(said.session_id.to_owned()),
        total_cost_usd: Some(said.cost_usd),
        user_message_uuids: said.prompts.cloned(),
        origin: said.unasked.then(|| Origin { kind: Some("task-notification".to_owned()) }),
        ..TurnResult::default()
    };
    match said.end {
        End::Done => result.result = Some("done".to_owned()),
        End::Failed => {
            result.is_error = true;
            let (subtype, status, words) = *chance
                .pick(&[
                    ("success", Some(529), "overloaded"),
                    ("success", None, "Not logged in"),
                    ("success", Some(400), "Prompt is too long"),
                    ("error_max_turns", None, "turns"),
                ])
                .unwrap();
            result.subtype = subtype.to_owned();
            result.api_error_status = status;
            result.result = Some(words.to_owned());
        }
        End::Aborted => {
            result.is_error = true;
            result.subtype = "error_during_execution".to_owned();
            result.terminal_reason = Some("aborted_streaming".to_owned());
            result.errors = vec!["[ede_diagnostic] aborted".to_owned()];
        }
    }
    Inbound::Result(Box::new(result))
}

/// A reply with a text, whole or streamed. A stream may break off at any point.
pub fn reply(id: &str, chance: &mut Chance) -> Vec<Inbound> {
    const PIECES: [&str; 6] = ["Some ", "*text*", ".\n\n", "```rs\nlet a = 1;\n", "```\n", "- one\n- two\n"];
    let pieces: Vec<&str> = (0..=chance.below(5)).filter_map(|_| chance.pick(&PIECES).copied()).collect();
    let whole = assistant(id, ContentBlock::Text { text: pieces.concat() });
    if chance.one_in(2) {
        return vec![whole];
    }
    let stream = |event| Inbound::Stream(Box::new(Stream { event, parent_tool_use_id: None }));
    let block = ContentBlock::Text { text: String::new() };
    let mut lines = vec![
        stream(StreamEvent::MessageStart { message_id: id.to_owned() }),
        stream(StreamEvent::BlockStart { index: 0, block }),
    ];
    let delta = |text: &str| stream(StreamEvent::TextDelta { index: 0, text: text.to_owned() });
    lines.extend(pieces.iter().map(|piece| delta(piece)));
    if chance.one_in(3) {
        return lines;
    }
    lines.extend([whole, stream(StreamEvent::BlockStop { index: 0 }), stream(StreamEvent::MessageStop)]);
    lines
}

/// A call of a tool that needs no permission, and its result.
pub fn tool_call(id: &str, chance: &mut Chance) -> Vec<Inbound> {
    let tool_use_id = format!("toolu-{id}");
    let input = json!({"file_path": "/project/a.rs"});
    let call =
        ContentBlock::ToolUse { id: tool_use_id.clone(), name: "Read".to_owned(), input: input.into() };
    let content = json!("1 fn main() {}");
    let result = ContentBlock::ToolResult { tool_use_id, content, is_error: chance.one_in(4) };
    let message = UserMessage { content: vec![result] };
    let mut lines = vec![assistant(id, call)];
    if !chance.one_in(4) {
        lines.push(Inbound::User(Box::new(User { message, ..User::default() })));
    }
    lines
}

fn assistant(id: &str, block: ContentBlock) -> Inbound {
    let message = AssistantMessage { id: id.to_owned(), content: vec![block], ..AssistantMessage::default() };
    Inbound::Assistant(Box::new(Assistant { message, ..Assistant::default() }))
}

/// A permission request with a random tool and random suggestions.
pub fn can_use_tool(chance: &mut Chance, id: &str) -> ControlRequest {
    let (tool, input) = match chance.below(12) {
        0 => ("Edit", json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"})),
        1 => (
            "AskUserQuestion",
            json!({"questions": [{"question": "Which?", "header": "", "options": [{"label": "A", "description": ""}], "multiSelect": false}]}),
        ),
        2 => ("ExitPlanMode", json!({"plan": "do it"})),
        3 => ("Read", json!({"file_path": "/etc/hosts"})),
        4 => ("mcp__server__tool", json!({"x": 1})),
        _ => ("Bash", json!({"command": "touch b.txt"})),
    };
    let suggestions = match chance.below(3) {
        0 => Vec::new(),
        1 => vec![json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"})],
        _ => vec![
            json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch b.txt"}], "behavior": "allow", "destination": "localSettings"}),
            json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"}),
        ],
    };
    ControlRequest::CanUseTool(Arc::new(CanUseTool {
        tool_name: tool.to_owned(),
        input: input.into(),
        tool_use_id: chance.one_in(2).then(|| format!("toolu-{id}")),
        permission_suggestions: suggestions,
        ..CanUseTool::default()
    }))
}

/// A control request that Deskbell does not support or cannot parse.
pub fn odd_request(chance: &mut Chance) -> ControlRequest {
    if chance.one_in(2) {
        ControlRequest::Unknown { subtype: "elicitation".to_owned() }
    } else {
        ControlRequest::MalformedCanUseTool { error: "its input is not an object".to_owned() }
    }
}

/// A message about a closed or unknown request or prompt.
pub fn stale(closed: &[String], ghosts: &[String], chance: &mut Chance) -> Inbound {
    let unheard_of = || "unheard-of".to_owned();
    match chance.below(3) {
        0 => Inbound::ControlCancel { request_id: chance.pick(closed).cloned().unwrap_or_else(unheard_of) },
        1 => Inbound::ControlResponse {
            request_id: chance.pick(ghosts).cloned().unwrap_or_else(unheard_of),
            outcome: if chance.one_in(2) { Ok(json!({"mode": "plan"})) } else { Err("late".to_owned()) },
        },
        _ => Inbound::Lifecycle { uuid: unheard_of(), state: "cancelled".to_owned() },
    }
}

/// A line that must not affect the session's lifecycle.
pub fn noise(chance: &mut Chance) -> Inbound {
    match chance.below(10) {
        0 => Inbound::Unreadable { line: "Warning".to_owned(), error: "expected value".to_owned() },
        1 => Inbound::Unknown { kind: "brand_new".to_owned() },
        2 => Inbound::ApiRetry(Retry { attempt: 1, max_retries: 10, ..Retry::default() }),
        3 => Inbound::RateLimit(LimitReport::read(
            &json!({"status": "allowed_warning", "rateLimitType": "five_hour"}),
        )),
        4 => Inbound::Hook {
            event: "Stop".to_owned(),
            name: "hook".to_owned(),
            outcome: None,
            exit_code: None,
            output: String::new(),
            message: None,
        },
        5 => Inbound::CompactBoundary { trigger: "auto".to_owned(), pre_tokens: None, post_tokens: None },
        6 => Inbound::Title { title: format!("Title {}", chance.below(3)) },
        7 => Inbound::User(Box::default()),
        8 => Inbound::Assistant(Box::new(Assistant {
            message: AssistantMessage {
                usage: Some(TokenUsage { input_tokens: chance.below(9), ..TokenUsage::default() }),
                ..AssistantMessage::default()
            },
            ..Assistant::default()
        })),
        _ => Inbound::Status { status: Some("requesting".to_owned()), permission_mode: None },
    }
}

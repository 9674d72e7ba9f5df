//! Output lines of the simulated agent.

use super::turn::ChildEnd;
use crate::agent::*;
use crate::api::Form;
use crate::chance::Chance;
use serde_json::{Value, json};
use std::sync::Arc;

pub fn init(session_id: &str, mode: &str, model: &str, reports_prompts: bool) -> AgentEvent {
    AgentEvent::Init(Box::new(Init {
        reports_prompts,
        session_id: session_id.to_owned(),
        model: Some(model.to_owned()),
        permission_mode: Some(mode.to_owned()),
        version: Some("2.1.329".to_owned()),
        ..Init::default()
    }))
}

pub fn context_usage() -> Value {
    let messages = json!({"name": "Messages", "tokens": 7, "kind": "used"});
    json!({"categories": [messages], "totalTokens": 7, "maxTokens": 200_000})
}

pub fn servers() -> Value {
    json!({"mcpServers": [{"name": "good", "status": "connected", "tools": [{"name": "add"}]},
                          {"name": "bad", "status": "failed", "error": "Connection closed"}]})
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

pub fn mode_changed(mode: &str) -> AgentEvent {
    AgentEvent::Status { status: None, permission_mode: Some(mode.to_owned()) }
}

pub fn conversation_lost(words: &str) -> AgentEvent {
    AgentEvent::TurnEnded(Box::new(TurnResult {
        is_error: true,
        broke_off: true,
        is_conversation_lost: true,
        words: Some(words.to_owned()),
        ..TurnResult::default()
    }))
}

pub fn failed_reply() -> AgentEvent {
    AgentEvent::Assistant(Box::new(Assistant { error: Some(ReplyError::Api), ..Assistant::default() }))
}

pub fn task_ended() -> AgentEvent {
    AgentEvent::TaskEnded {
        task_id: "task".to_owned(),
        tool_use_id: None,
        status: "completed".to_owned(),
        summary: "done".to_owned(),
        report: None,
    }
}

pub fn task_stopped(task_id: String) -> AgentEvent {
    AgentEvent::TaskEnded {
        task_id,
        tool_use_id: None,
        status: "stopped".to_owned(),
        summary: "stopped".to_owned(),
        report: None,
    }
}

pub fn tasks(n: usize) -> AgentEvent {
    let task = |nr| Task { id: format!("task {nr}"), ..Task::default() };
    AgentEvent::BackgroundTasks { tasks: (0..n).map(task).collect() }
}

/// Content of a result line.
pub struct Said<'a> {
    pub end: ChildEnd,
    pub session_id: &'a str,
    pub cost_usd: f64,
    pub unasked: bool,
    /// Absent on 2.1.197.
    pub prompts: Option<&'a Vec<String>>,
}

pub fn result(said: &Said<'_>, chance: &mut Chance) -> AgentEvent {
    let mut result = TurnResult {
        session_id: Some(said.session_id.to_owned()),
        total_cost_usd: Some(said.cost_usd),
        prompts: said.prompts.cloned(),
        is_unasked: said.unasked,
        ..TurnResult::default()
    };
    match said.end {
        ChildEnd::Done => result.words = Some("done".to_owned()),
        ChildEnd::Failed => {
            result.is_error = true;
            let (reason, status, words) = *chance
                .pick(&[
                    (None, Some(529), "overloaded"),
                    (None, None, "Not logged in"),
                    (Some(EndReason::ContextExceeded), Some(400), "Prompt is too long"),
                    (Some(EndReason::MaxTurns), None, "turns"),
                ])
                .unwrap();
            result.reason = reason;
            result.api_error_status = status;
            result.words = Some(words.to_owned());
        }
        ChildEnd::Aborted => {
            result.is_error = true;
            result.broke_off = true;
            result.reason = Some(EndReason::Interrupted);
        }
    }
    AgentEvent::TurnEnded(Box::new(result))
}

/// Pieces of a text. A long one is in several rows of a window.
fn pieces(chance: &mut Chance) -> Vec<String> {
    const PIECES: [&str; 6] = ["Some ", "*text*", ".\n\n", "```rs\nlet a = 1;\n", "```\n", "- one\n- two\n"];
    let n_times = if chance.one_in(40) { 200 } else { 1 };
    let n_pieces = chance.below(5) + 1;
    (0..n_pieces).filter_map(|_| chance.pick(&PIECES).map(|piece| piece.repeat(n_times))).collect()
}

/// A reply with a text, whole or streamed. A stream may break off at any point.
pub fn reply(id: &str, chance: &mut Chance) -> Vec<AgentEvent> {
    let pieces = pieces(chance);
    let whole = assistant(id, ContentBlock::Text { text: pieces.concat() });
    if chance.one_in(2) {
        return vec![whole];
    }
    let stream = |event| AgentEvent::Stream(Box::new(Stream { event, parent_tool_use_id: None }));
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

/// A call of a tool that needs no permission, and its result. Some servers use the id again for each call.
pub fn tool_call(id: &str, chance: &mut Chance) -> Vec<AgentEvent> {
    let tool_use_id = if chance.one_in(3) { "call_0".to_owned() } else { format!("toolu-{id}") };
    let input = json!({"file_path": "/project/a.rs"});
    let call = Box::new(crate::claude::tool::call("Read".to_owned(), input.into()));
    let call = ContentBlock::ToolUse { id: tool_use_id.clone(), call };
    let text = "1 fn main() {}".to_owned();
    let is_error = chance.one_in(4);
    let result = ToolResult { tool_use_id, raw: json!(text), text, is_error, ..ToolResult::default() };
    let result = ContentBlock::ToolResult(Box::new(result));
    let message = UserMessage { content: vec![result] };
    let mut lines = vec![assistant(id, call)];
    if !chance.one_in(4) {
        lines.push(AgentEvent::User(Box::new(User { message, ..User::default() })));
    }
    lines
}

fn assistant(id: &str, block: ContentBlock) -> AgentEvent {
    let message = AssistantMessage { id: id.to_owned(), content: vec![block], ..AssistantMessage::default() };
    AgentEvent::Assistant(Box::new(Assistant { message, uuid: Some(id.to_owned()), ..Assistant::default() }))
}

/// A permission request with a random tool and random suggestions.
pub fn can_use_tool(chance: &mut Chance, id: &str) -> AgentRequest {
    if chance.one_in(12) {
        return form();
    }
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
    let request = ToolRequest {
        tool_name: tool.to_owned(),
        input: input.into(),
        tool_use_id: chance.one_in(2).then(|| format!("toolu-{id}")),
        ..ToolRequest::default()
    };
    AgentRequest::Tool(Arc::new(crate::claude::request::read(request, suggestions)))
}

/// A server asks the user for a colour.
fn form() -> AgentRequest {
    let schema =
        json!({"required": ["colour"], "properties": {"colour": {"type": "string", "enum": ["A", "B"]}}});
    let fields = form::fields(&schema, &[]).unwrap_or_default();
    let form = Form { server: Some("server".to_owned()), fields, ..Form::default() };
    let asked = AskedCall { form: Some(form), ..AskedCall::default() };
    let tool_name = "Elicitation".to_owned();
    AgentRequest::Tool(Arc::new(ToolRequest {
        tool_name,
        input: schema.into(),
        asked,
        ..ToolRequest::default()
    }))
}

/// A control request that Deskbell does not support or cannot parse.
pub fn odd_request(chance: &mut Chance) -> AgentRequest {
    if chance.one_in(2) {
        AgentRequest::Unknown { name: "dance".to_owned() }
    } else {
        AgentRequest::Malformed { error: "its input is not an object".to_owned() }
    }
}

/// A message about a closed or unknown request or prompt.
pub fn stale(closed: &[String], ghosts: &[String], chance: &mut Chance) -> AgentEvent {
    let unheard_of = || "unheard-of".to_owned();
    match chance.below(3) {
        0 => AgentEvent::RequestWithdrawn {
            request_id: chance.pick(closed).cloned().unwrap_or_else(unheard_of),
        },
        1 => AgentEvent::Response {
            request_id: chance.pick(ghosts).cloned().unwrap_or_else(unheard_of),
            outcome: match chance.one_in(2) {
                true => Ok(Answer::Done),
                false => Err(Refused { message: "late".to_owned(), is_unknown: false }),
            },
        },
        _ => AgentEvent::PromptState { uuid: unheard_of(), state: "cancelled".to_owned() },
    }
}

/// A line that must not affect the session's lifecycle.
pub fn noise(chance: &mut Chance, now: u64) -> AgentEvent {
    match chance.below(10) {
        0 => AgentEvent::Unreadable { line: "Warning".to_owned(), error: "expected value".to_owned() },
        1 => AgentEvent::Unknown { kind: "brand_new".to_owned() },
        2 => AgentEvent::ApiRetry(Retry { attempt: 1, max_retries: 10, ..Retry::default() }),
        3 => {
            let status = chance.pick(&["allowed_warning", "rejected"]).copied();
            let resets_at = now / 1000 + chance.below(600);
            AgentEvent::RateLimit(crate::claude::limits::read(
                &json!({"status": status, "rateLimitType": "five_hour", "resetsAt": resets_at}),
            ))
        }
        4 => AgentEvent::Hook(Box::new(HookRun {
            id: format!("hook{}", chance.below(3)),
            event: "Stop".to_owned(),
            name: "hook".to_owned(),
            stage: match chance.below(3) {
                0 => HookStage::Began,
                1 => HookStage::Printed,
                _ => HookStage::Ended(HookEnd::default()),
            },
            output: if chance.one_in(2) { "printed".to_owned() } else { String::new() },
        })),
        5 => AgentEvent::Compacted { trigger: "auto".to_owned(), pre_tokens: None, post_tokens: None },
        6 => AgentEvent::Title { title: format!("Title {}", chance.below(3)) },
        7 => AgentEvent::User(Box::default()),
        8 => AgentEvent::Assistant(Box::new(Assistant {
            message: AssistantMessage {
                usage: Some(TokenUsage { input_tokens: chance.below(9), ..TokenUsage::default() }),
                ..AssistantMessage::default()
            },
            ..Assistant::default()
        })),
        _ => AgentEvent::Status { status: Some("requesting".to_owned()), permission_mode: None },
    }
}

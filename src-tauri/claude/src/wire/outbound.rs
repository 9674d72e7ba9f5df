//! Commands as lines, each complete and without its newline.

use super::dialog::KINDS;
use crate::request::{permissions, with_answers};
use deskbell_agent::{AgentCommand, HostRequest, SideExchange};
use deskbell_api::Attachment;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The line of a command.
pub fn line(command: &AgentCommand) -> String {
    match command {
        AgentCommand::Prompt { uuid, text, attachments } => user(uuid, text, attachments),
        AgentCommand::Request { request_id, request } => {
            json!({"type": "control_request", "request_id": request_id, "request": body(request)}).to_string()
        }
        AgentCommand::Allow { request_id, input, grant } => {
            allow(request_id, input, &grant.as_ref().map(permissions).unwrap_or_default())
        }
        AgentCommand::Answer { request_id, input, answers } => {
            allow(request_id, &with_answers(input, answers), &[])
        }
        AgentCommand::Fill { request_id, values } => fill(request_id, values.as_ref()),
        AgentCommand::Deny { request_id, message, interrupt } => deny(request_id, message, *interrupt),
        // 2.1.332 then answers the request with an error, and 2.1.197 not at all.
        AgentCommand::CancelRequest { request_id } => {
            json!({"type": "control_cancel_request", "request_id": request_id}).to_string()
        }
        AgentCommand::Refuse { request_id, error } => refuse(request_id, error),
    }
}

/// A prompt. Results refer to it by `uuid`. `origin` marks it as written by a person (2.1.329).
fn user(uuid: &str, text: &str, attachments: &[Attachment]) -> String {
    let message = Message { role: "user", content: content(text, attachments) };
    json_text(&Prompt { r#type: "user", uuid, origin: Origin { kind: "human" }, message })
}

/// The text and the attachments are borrowed: they can be large.
#[derive(Serialize)]
struct Prompt<'a> {
    r#type: &'static str,
    uuid: &'a str,
    origin: Origin,
    message: Message<'a>,
}

#[derive(Serialize)]
struct Origin {
    kind: &'static str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Blocks(Vec<Block<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Image {
        source: Source<'a>,
    },
    /// The model sees the title (2.1.197 and 2.1.329 send the block as it is).
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
    Text {
        text: &'a str,
    },
}

#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

fn content<'a>(text: &'a str, attachments: &'a [Attachment]) -> Content<'a> {
    if attachments.is_empty() {
        return Content::Text(text);
    }
    let blocks = attachments.iter().map(|one| {
        let r#type = if one.media_type == "text/plain" { "text" } else { "base64" };
        let source = Source { r#type, media_type: &one.media_type, data: &one.data };
        if one.is_image() {
            Block::Image { source }
        } else {
            Block::Document { source, title: (!one.name.is_empty()).then_some(&one.name) }
        }
    });
    // The API rejects an empty text.
    let text = (!text.is_empty()).then_some(Block::Text { text });
    Content::Blocks(blocks.chain(text).collect())
}

/// Texts and lists of them can always be written.
fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The body of a request.
fn body(request: &HostRequest) -> Value {
    match request {
        HostRequest::Initialize { renews_system_prompt } => {
            let mut body = json!({
                "subtype": "initialize",
                "supportedDialogKinds": KINDS,
                // An interrupt ends the turn only: without the field it also ends every subagent in the background
                // (2.1.329 and 2.1.332).
                "perTaskStopAffordance": true,
                // The words and thoughts of subagents (2.1.197 and 2.1.332), and the calls of a subagent's subagent
                // (2.1.332): without the fields only the first subagents' calls arrive, and a reopened conversation shows
                // more than the live one.
                "forwardSubagentText": true,
                "forwardNestedSubagentToolCalls": true,
            });
            if *renews_system_prompt {
                // 2.1.329 sends the system prompt that a conversation began with until it is compacted, whatever later
                // processes are started with; 2.1.197 does not, and ignores the field.
                body["systemPromptSnapshot"] = json!(false);
            }
            body
        }
        HostRequest::Interrupt => json!({"subtype": "interrupt"}),
        // The response is `{"cancelled": bool}` (2.1.329).
        HostRequest::CancelPrompt(uuid) => json!({"subtype": "cancel_async_message", "message_uuid": uuid}),
        HostRequest::SetMode(mode) => json!({"subtype": "set_permission_mode", "mode": mode.name()}),
        HostRequest::SetModel(model) => json!({"subtype": "set_model", "model": model}),
        // For this process only, like a flag; no file is written. The agent accepts any value (2.1.329).
        HostRequest::SetEffort(level) => {
            json!({"subtype": "apply_flag_settings", "settings": {"effortLevel": level}})
        }
        // Held messages then come with their text, and wait for an answer (2.1.332).
        HostRequest::ShowHeldMessages => json!({"subtype": "set_peer_delivery", "shows_held_messages": true}),
        // `null` leaves it to the user's own settings again (2.1.332).
        HostRequest::SetMessages { are_received } => {
            let value = if *are_received { Value::Null } else { json!("refuse") };
            json!({"subtype": "apply_flag_settings", "settings": {"crossSessionInbound": value}})
        }
        // Rules that ask count before rules that allow, whatever their source, and from the next call on; `null` takes them
        // back. The lists of `--settings` stay in force. A rule that cannot be read is ignored (2.1.197 and 2.1.332).
        HostRequest::SuspendRules(rules) => {
            let permissions = if rules.is_empty() { Value::Null } else { json!({"ask": rules}) };
            json!({"subtype": "apply_flag_settings", "settings": {"permissions": permissions}})
        }
        // Claude Code offers no such settings, so it is sent none. It would refuse the request.
        HostRequest::SetOption { id, value } => {
            json!({"subtype": "set_config_option", "id": id, "value": value})
        }
        // 0 thinking tokens disables thinking; `null` restores the model's default (2.1.329).
        HostRequest::SetThinking(on) => {
            let tokens = if *on { Value::Null } else { json!(0) };
            json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": tokens})
        }
        // The response is a success for an unknown id too (2.1.329).
        HostRequest::StopTask(id) => json!({"subtype": "stop_task", "task_id": id}),
        // The response is a success if nothing runs, too (2.1.197 and 2.1.332).
        HostRequest::MoveToBackground => json!({"subtype": "background_tasks"}),
        // 2.1.197 responds with an error.
        HostRequest::ListRules => json!({"subtype": "list_permission_rules"}),
        // `get_session_cost` rounds it.
        HostRequest::ReadUsage => json!({"subtype": "get_usage"}),
        // 2.1.197 and 2.1.329.
        HostRequest::ReadContext => json!({"subtype": "get_context_usage"}),
        // The agent has checkpoints if it was started with `CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING` (2.1.197 and
        // 2.1.329).
        HostRequest::RewindFiles { uuid, is_dry } => {
            json!({"subtype": "rewind_files", "user_message_id": uuid, "dry_run": is_dry})
        }
        // 2.1.197 and 2.1.329, like the next four that concern servers, plugins and extensions.
        HostRequest::ReadServers => json!({"subtype": "mcp_status"}),
        HostRequest::ReconnectServer(server) => json!({"subtype": "mcp_reconnect", "serverName": server}),
        // The agent saves it as `disabledMcpServers` of the folder in its own `.claude.json`.
        HostRequest::SetServerEnabled { server, enabled } => {
            json!({"subtype": "mcp_toggle", "serverName": server, "enabled": enabled})
        }
        HostRequest::ReloadPlugins => json!({"subtype": "reload_plugins"}),
        // No other answer has the paths of skills and subagents, or the memory files.
        HostRequest::ReadExtensions => json!({"subtype": "get_context_usage"}),
        // 2.1.197 responds with an error.
        HostRequest::ReadHooks => json!({"subtype": "get_hooks_listing"}),
        HostRequest::ReadSettings => json!({"subtype": "get_settings"}),
        // The agent saves it in its transcript (2.1.329).
        HostRequest::Rename(title) => json!({"subtype": "rename_session", "title": title, "source": "host"}),
        // This is a call of the model; the agent saves the title (2.1.329).
        HostRequest::GenerateTitle(text) => {
            json!({"subtype": "generate_session_title", "description": text, "persist": true})
        }
        // One call of the model without tools, also while a turn runs; nothing of it is in the transcript (2.1.197 and
        // 2.1.332).
        HostRequest::AskSide { question, history } => {
            let mut body = json!({"subtype": "side_question", "question": question});
            if !history.is_empty() {
                // 2.1.197 ignores it.
                body["history"] = history
                    .iter()
                    .map(
                        |SideExchange { question, answer }| json!({"question": question, "response": answer}),
                    )
                    .collect();
            }
            body
        }
    }
}

/// Allows a tool call with exactly this input, one line of JSON that is sent byte for byte, and adds these rules.
fn allow(request_id: &str, input: &str, rules: &[Value]) -> String {
    let rules =
        if rules.is_empty() { String::new() } else { format!(r#","updatedPermissions":{}"#, json!(rules)) };
    let answer = format!(r#"{{"behavior":"allow","updatedInput":{input}{rules}}}"#);
    let id = json!(request_id);
    format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":{id},"response":{answer}}}}}"#
    )
}

/// The answer to an elicitation, as MCP has it; the CLI passes it on to the server (2.1.329).
fn fill(request_id: &str, values: Option<&Map<String, Value>>) -> String {
    let answer = match values {
        Some(values) => json!({"action": "accept", "content": values}),
        None => json!({"action": "decline"}),
    };
    json!({
        "type": "control_response",
        "response": {"subtype": "success", "request_id": request_id, "response": answer},
    })
    .to_string()
}

/// The message is required: without one the agent treats the answer as malformed (2.1.329).
fn deny(request_id: &str, message: &str, interrupt: bool) -> String {
    let mut answer = json!({"behavior": "deny", "message": message});
    if interrupt {
        answer["interrupt"] = json!(true);
    }
    json!({
        "type": "control_response",
        "response": {"subtype": "success", "request_id": request_id, "response": answer},
    })
    .to_string()
}

fn refuse(request_id: &str, error: &str) -> String {
    json!({"type": "control_response", "response": {"subtype": "error", "request_id": request_id, "error": error}})
        .to_string()
}

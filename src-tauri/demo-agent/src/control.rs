//! The host's control requests.

use serde_json::{Value, json};

use crate::agent::{DemoAgent, DemoState, Hearing};
use crate::environment::cwd;
use crate::{catalogue, configuration, switches, usage, wire};

/// Answers one control request.
pub fn answer(agent: &DemoAgent, line: &Value) {
    let id = line.get("request_id").cloned().unwrap_or_default();
    let request = line.get("request").cloned().unwrap_or_default();
    let text = |key: &str| request.get(key).and_then(Value::as_str);
    let done = |body: Option<Value>| agent.output.line(&wire::success(&id, body));
    match text("subtype").unwrap_or_default() {
        "initialize" => initialize(agent, &id),
        "interrupt" => interrupt(agent, &id, request.get("cancel_queued") == Some(&Value::Bool(true))),
        "set_permission_mode" | "set_model" | "set_max_thinking_tokens"
            if agent.environment.has("stubborn") =>
        {
            agent.output.line(&wire::error(&id, "not today", "refused"));
        }
        "set_permission_mode" => set_mode(agent, &id, text("mode").unwrap_or_default()),
        "set_model" => set_model(agent, &id, text("model").unwrap_or("default")),
        "cancel_async_message" => {
            let uuid = text("message_uuid").unwrap_or_default();
            let cancelled = agent.change(|state| {
                let place = state.queue.iter().position(|prompt| prompt.uuid == uuid);
                let cancelled = place.and_then(|place| state.queue.remove(place)).is_some();
                if !state.busy() {
                    state.turn_over();
                }
                cancelled
            });
            done(Some(json!({"cancelled": cancelled})));
            if cancelled {
                agent.tell_life(uuid, "cancelled");
            }
        }
        "mcp_status" => done(Some(configuration::servers(&agent.lock()))),
        "mcp_reconnect" => {
            let outcome = configuration::reconnect(&agent.lock(), text("serverName").unwrap_or_default());
            match outcome {
                Ok(()) => done(None),
                Err(error) => agent.output.line(&wire::error(&id, &error, "failed")),
            }
        }
        "mcp_toggle" => {
            let is_on = request.get("enabled") == Some(&Value::Bool(true));
            let server = text("serverName").unwrap_or_default();
            match agent.change(|state| configuration::toggle(state, server, is_on)) {
                Ok(()) => done(None),
                Err(error) => agent.output.line(&wire::error(&id, &error, "failed")),
            }
        }
        "get_hooks_listing" if !agent.old() => done(Some(configuration::hooks())),
        "reload_plugins" => done(Some(configuration::reloaded(&agent.lock()))),
        "get_context_usage" if !agent.environment.has("no-context") => {
            done(Some(context_usage(&agent.lock())))
        }
        "get_session_cost" => {
            let cost = usage::cost(&agent.lock().usage);
            done(Some(json!({"text": format!("Estimated cost:        ${cost:.4}")})));
        }
        "get_usage" => {
            let session = {
                let state = agent.lock();
                let (cost, models) = (usage::cost(&state.usage), usage::model_usage(&state.usage));
                json!({"total_cost_usd": cost, "model_usage": models})
            };
            done(Some(json!({"session": session})));
        }
        "get_binary_version" => done(Some(json!({"version": agent.environment.version()}))),
        "get_settings" => done(Some(switches::settings(&agent.lock()))),
        "list_permission_rules" if !agent.old() => done(Some(switches::rules(&agent.lock(), &cwd()))),
        "apply_flag_settings" => {
            switches::apply_flags(agent, &id, request.get("settings").unwrap_or(&Value::Null));
        }
        "list_models" => done(Some(json!({"models": catalogue::models()}))),
        "rename_session" => {
            let title = text("title").unwrap_or_default();
            rename(agent, title);
            done(None);
        }
        "generate_session_title" => {
            let title = title_from(text("description").unwrap_or_default());
            if request.get("persist") == Some(&Value::Bool(true)) {
                agent.lock().store.title("ai-title", "aiTitle", &title);
            }
            done(Some(json!({"title": title})));
        }
        "side_question" if !agent.environment.has("no-side-questions") => {
            side_question(agent, &id, text("question").unwrap_or_default());
        }
        "end_session" => {
            done(None);
            let busy = agent.change(|state| {
                state.ended = true;
                state.running
            });
            if busy {
                agent.lock().store.close();
                agent.exit(0);
            }
        }
        "set_max_thinking_tokens" | "stop_task" | "background_tasks" => done(None),
        unknown => agent.output.line(&wire::error(
            &id,
            &format!("Unsupported control request subtype: {unknown}"),
            "unsupported_request",
        )),
    }
}

/// A side question that begins with `HANG` waits until the host cancels it, one that begins with `FAIL` has no answer, and one
/// that begins with `SAY` has the rest as its answer.
fn side_question(agent: &DemoAgent, id: &Value, question: &str) {
    if !agent.old() {
        agent.send(wire::request_progress(id));
    }
    let (words, is_own) = match question.split_once(' ').unwrap_or((question, "")) {
        ("HANG", _) => return,
        ("FAIL", _) => ("(API error: 529 The demo agent was told to fail)".to_owned(), true),
        ("SAY", words) => (words.to_owned(), false),
        _ => {
            let asked = question.lines().next().unwrap_or_default();
            (
                format!("The demo agent has **no model**, so it only repeats what you asked:\n\n> {asked}"),
                false,
            )
        }
    };
    agent.output.line(&wire::success(id, Some(json!({"response": words, "synthetic": is_own}))));
}

/// The host cancels side questions only.
pub fn cancel(agent: &DemoAgent, line: &Value) {
    if !agent.old() {
        let id = line.get("request_id").cloned().unwrap_or_default();
        agent.output.line(&wire::error(&id, "Side question cancelled", "cancelled"));
    }
}

fn initialize(agent: &DemoAgent, id: &Value) {
    if agent.environment.has("never-initialize") {
        return;
    }
    let state = agent.lock();
    let mut body = json!({
        "commands": catalogue::commands(),
        "agents": catalogue::agents(),
        "output_style": "default",
        "available_output_styles": ["default"],
        "models": catalogue::models(),
        "account": {"tokenSource": "demo", "apiKeySource": "demo", "apiProvider": "firstParty"},
        "pid": std::process::id(),
    });
    if !agent.old() {
        let more = json!({
            "claude_code_version": agent.environment.version(),
            "current_permission_mode": state.mode,
            "feedback_mode": {"kind": "disabled"},
            "analytics_disabled": true,
            "fast_mode_state": "off",
            "session_state": session_state(&state),
            "capabilities": ["ui_surface_v1"],
        });
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
    }
    let mut reply = wire::success(id, Some(body));
    if !agent.old() {
        let open: Vec<&str> = state.open.iter().map(|open| open.id.as_str()).collect();
        reply["response"]["pending_permission_requests"] = json!(open);
        reply["response"]["pending_user_dialog_requests"] = json!([]);
    }
    agent.output.line(&reply);
    drop(state);
    if agent.environment.has("exit-after-init") {
        eprintln!("the demo agent was told to exit after it is initialized");
        agent.exit(1);
    }
}

fn session_state(state: &DemoState) -> &'static str {
    match (state.busy(), state.open.is_empty()) {
        (false, _) => "idle",
        (true, true) => "running",
        (true, false) => "requires_action",
    }
}

/// Writes the withdrawals first, then the receipt, then the output of the turn, which only wakes when the lock is free.
fn interrupt(agent: &DemoAgent, id: &Value, cancel_queued: bool) {
    agent.change(|state| {
        if state.hearing == Hearing::Deaf {
            return;
        }
        let mut cancelled = Vec::new();
        if cancel_queued {
            cancelled =
                state.queue.drain(..).filter(|prompt| prompt.named).map(|prompt| prompt.uuid).collect();
        }
        let ends = state.busy() && state.hearing == Hearing::Normal;
        if ends {
            for open in state.open.drain(..) {
                agent.output.line(&wire::cancel_request(&open.id));
            }
        }
        // The prompts of a turn that is about to begin are interrupted too, and so no longer queued.
        let taken = if state.running { 0 } else { state.next_count() };
        let queued = state.queue.iter().skip(taken).filter(|prompt| prompt.named);
        let queued: Vec<_> = queued.map(|prompt| &prompt.uuid).collect();
        let body = if agent.old() {
            None
        } else if cancel_queued {
            Some(json!({"still_queued": queued, "cancelled": cancelled}))
        } else {
            Some(json!({"still_queued": queued}))
        };
        agent.output.line(&wire::success(id, body));
        for uuid in cancelled {
            agent.tell_life_in(state, &uuid, "cancelled");
        }
        state.interrupted = ends;
    });
}

fn set_mode(agent: &DemoAgent, id: &Value, mode: &str) {
    let mode = if mode == "manual" { "default" } else { mode };
    if !agent.old() && !catalogue::MODES.contains(&mode) {
        let error = format!("Cannot set permission mode: must be one of {}", catalogue::MODES.join(", "));
        return agent.output.line(&wire::error(id, &error, "invalid_mode"));
    }
    if mode == "bypassPermissions" && !agent.options.bypass_allowed {
        let error = "Cannot set permission mode to bypassPermissions because the session was not launched with \
                     --dangerously-skip-permissions";
        return agent.output.line(&wire::error(id, error, "bypass_not_launched"));
    }
    agent.change(|state| state.mode = mode.to_owned());
    agent.output.line(&wire::success(id, Some(json!({"mode": mode}))));
    agent.send(wire::mode_changed(mode));
}

fn set_model(agent: &DemoAgent, id: &Value, model: &str) {
    let Some(full) = catalogue::resolve_model(model) else {
        let mut reply = wire::error(id, &format!("Model '{model}' not found"), "not_found");
        reply["response"]["model"] = agent.lock().model.clone().into();
        return agent.output.line(&reply);
    };
    agent.change(|state| state.model = full.to_owned());
    let said =
        if model == full || model == "default" { full.to_owned() } else { format!("{model} ({full})") };
    agent.send(json!({
        "type": "user",
        "message": {
            "role": "user",
            "content": format!("<local-command-stdout>Set model to `{said}`</local-command-stdout>"),
        },
        "parent_tool_use_id": null,
        "timestamp": crate::clock::timestamp(),
        "isReplay": true,
    }));
    agent.output.line(&wire::success(id, Some(json!({"model": full}))));
}

/// Sets a title that the user chose.
pub fn rename(agent: &DemoAgent, title: &str) {
    agent.change(|state| {
        state.title = Some(title.to_owned());
        state.store.title("custom-title", "customTitle", title);
    });
    agent.send(wire::title_changed(title));
}

/// The first words of the description, formatted as a title.
fn title_from(description: &str) -> String {
    let words: Vec<&str> = description.split_whitespace().take(6).collect();
    let title = words.join(" ");
    let mut letters = title.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().collect::<String>() + letters.as_str(),
        None => "Demo session".to_owned(),
    }
}

fn context_usage(state: &DemoState) -> Value {
    const WINDOW: u64 = 1_000_000;
    const BUFFER: u64 = 33_000;
    let (prompt, tools) = (2_000, 6_800);
    let used = prompt + tools + state.context;
    let category = |id: &str, name: &str, tokens: u64, color: &str, kind: &str| json!({"id": id, "name": name, "tokens": tokens, "color": color, "kind": kind});
    json!({
        "categories": [
            category("system_prompt", "System prompt", prompt, "promptBorder", "used"),
            category("system_tools", "System tools", tools, "inactive", "used"),
            category("messages", "Messages", state.context, "purple_FOR_SUBAGENTS_ONLY", "used"),
            category("autocompact_buffer", "Autocompact buffer", BUFFER, "inactive", "buffer"),
            category("free_space", "Free space", WINDOW.saturating_sub(used + BUFFER), "promptBorder", "free"),
        ],
        "totalTokens": used,
        "maxTokens": WINDOW,
        "rawMaxTokens": WINDOW,
        "autocompactSource": "model-default",
        "percentage": used * 100 / WINDOW,
        "model": state.model,
        "memoryFiles": [{"path": "CLAUDE.md", "type": "Project", "tokens": 120}],
        "agents": [{"agentType": "reviewer", "source": "projectSettings", "tokens": 4}],
        "skills": {"skillFrontmatter": [{"name": "ship", "source": "projectSettings", "tokens": 5}]},
    })
}

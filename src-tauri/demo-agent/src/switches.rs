//! What the host can switch and ask about while the agent lives: effort, settings, the rules in force.

use serde_json::{Value, json};

use crate::agent::{Agent, State};
use crate::{catalogue, wire};

/// The effort unless another is asked for.
const DEFAULT_EFFORT: &str = "medium";

/// Takes settings as flags; an effort that does not exist is passed over, and answered with success all the same.
pub fn apply_flags(agent: &Agent, id: &Value, settings: &Value) {
    if !agent.environment.has("stubborn") {
        agent.change(|state| match settings.get("effortLevel") {
            Some(Value::String(level)) if catalogue::EFFORT_LEVELS.contains(&level.as_str()) => {
                state.effort = Some(level.clone());
            }
            Some(Value::Null) => state.effort = None,
            _ => {}
        });
    }
    agent.output.line(&wire::success(id, Some(json!({}))));
}

/// What counts now.
pub fn settings(state: &State) -> Value {
    let effort = state.effort.as_deref().unwrap_or(DEFAULT_EFFORT);
    json!({
        "effective": {},
        "sources": [],
        "applied": {"model": state.model, "effort": effort},
    })
}

/// Every rule in force. This agent reads no settings: all of them came with a flag, or with an answer in this session.
pub fn rules(state: &State, folder: &str) -> Value {
    let rules: Vec<Value> = state
        .rules
        .iter()
        .map(|rule| {
            let source = if rule.is_flag { "cliArg" } else { "session" };
            json!({"behavior": "allow", "source": source, "rule": rule.to_string(), "editability": "session"})
        })
        .collect();
    json!({"state": {"rules": rules, "workspaceDirectories": [], "originalCwd": folder, "managedOnly": false}})
}

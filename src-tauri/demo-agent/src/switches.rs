//! Control requests about effort, settings and rules while the agent runs.

use serde_json::{Value, json};

use crate::agent::{DemoAgent, DemoState};
use crate::{catalogue, wire};

/// The default effort.
const DEFAULT_EFFORT: &str = "medium";

/// Applies settings given as flags. An unknown effort is ignored, but still answered with success.
pub fn apply_flags(agent: &DemoAgent, id: &Value, settings: &Value) {
    if !agent.environment.has("stubborn") {
        agent.change(|state| match settings.get("effortLevel") {
            Some(Value::String(level)) if catalogue::EFFORT_LEVELS.contains(&level.as_str()) => {
                state.effort = Some(level.clone());
            }
            Some(Value::Null) => state.effort = None,
            _ => {}
        });
    }
    if let Some(permissions) = settings.get("permissions") {
        let rules = permissions.get("ask").and_then(Value::as_array).into_iter().flatten();
        let rules = rules.filter_map(Value::as_str).map(str::to_owned).collect();
        agent.change(|state| state.suspended = rules);
    }
    agent.output.line(&wire::success(id, Some(json!({}))));
}

/// The current settings.
pub fn settings(state: &DemoState) -> Value {
    let effort = state.effort.as_deref().unwrap_or(DEFAULT_EFFORT);
    json!({
        "effective": {},
        "sources": [],
        "applied": {"model": state.model, "effort": effort},
    })
}

/// Every active rule. This agent reads no settings: each rule is from a flag, or from an answer in this session.
pub fn rules(state: &DemoState, folder: &str) -> Value {
    let rules: Vec<Value> = state
        .rules
        .iter()
        .map(|rule| {
            let source = if rule.is_flag { "cliArg" } else { "session" };
            json!({"behavior": "allow", "source": source, "rule": rule.to_string(), "editability": "session"})
        })
        .chain(state.suspended.iter().map(
            |rule| json!({"behavior": "ask", "source": "flagSettings", "rule": rule, "editability": "readonly"}),
        ))
        .collect();
    json!({"state": {"rules": rules, "workspaceDirectories": [], "originalCwd": folder, "managedOnly": false}})
}

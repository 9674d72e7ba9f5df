//! The agent's answers to control requests. A field that is missing or has another type is absent.

use crate::api::{Model, SlashCommand, Tokens};
use serde_json::{Map, Value};

/// The answer to `initialize`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Initialized {
    pub models: Vec<Model>,
    pub commands: Vec<SlashCommand>,
    pub version: Option<String>,
    pub permission_mode: Option<String>,
}

impl Initialized {
    /// `prefix` is that of the commands of the folder's copy.
    pub fn read(response: &Value, prefix: &str) -> Self {
        Self {
            models: models(response),
            commands: commands(response, prefix),
            version: text(response, "claude_code_version").map(str::to_owned),
            permission_mode: text(response, "current_permission_mode").map(str::to_owned),
        }
    }
}

/// The answer to `interrupt`: the wire ids of the prompts that are still in the agent's own queue.
pub fn still_queued(response: &Value) -> Vec<&str> {
    list(response, "still_queued").filter_map(Value::as_str).collect()
}

/// The answer to `cancel_async_message`: whether the agent gave the prompt back.
pub fn is_cancelled(response: &Value) -> bool {
    flag(response, "cancelled")
}

/// The answer to `set_model`: the full name of the model.
pub fn resolved_model(response: &Value) -> Option<&str> {
    text(response, "model")
}

/// The answer to `get_usage`: the agent's counter in dollars.
pub fn total_dollars(response: &Value) -> Option<f64> {
    response.pointer("/session/total_cost_usd")?.as_f64()
}

/// The answer to `get_usage`: the agent's counters by model, as in `modelUsage` of a result.
pub fn model_usage(response: &Value) -> Option<&Map<String, Value>> {
    response.pointer("/session/model_usage")?.as_object()
}

/// One model in `modelUsage`: its cost in dollars and its tokens. `None` if the cost is not a number; a number of tokens
/// that is missing counts as 0.
pub fn model_cost(usage: &Value) -> Option<(f64, Tokens)> {
    let tokens = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
    let tokens = Tokens {
        input: tokens("inputTokens"),
        output: tokens("outputTokens"),
        cache_read: tokens("cacheReadInputTokens"),
        cache_write: tokens("cacheCreationInputTokens"),
    };
    Some((usage.get("costUSD")?.as_f64()?, tokens))
}

/// Whether the agent refused a request because it does not know it.
pub fn is_unknown_request(problem: &str) -> bool {
    problem.starts_with("Unsupported control request")
}

/// The answer to `get_settings`: the effort level in force.
pub fn effort(settings: &Value) -> Option<&str> {
    settings.pointer("/applied/effort")?.as_str()
}

/// The answer to `get_settings`: whether a hook may allow a tool call without a request.
pub fn has_allowing_hooks(settings: &Value) -> bool {
    let hooks = settings.pointer("/effective/hooks").and_then(Value::as_object);
    hooks.is_some_and(|hooks| hooks.contains_key("PreToolUse") || hooks.contains_key("PermissionRequest"))
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn models(response: &Value) -> Vec<Model> {
    let string = |value: &Value, key: &str| text(value, key).unwrap_or("").to_owned();
    let levels = |model: &Value| {
        let levels = list(model, "supportedEffortLevels");
        levels.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    list(response, "models")
        .map(|model| Model {
            name: string(model, "value"),
            label: string(model, "displayName"),
            description: string(model, "description"),
            resolved: text(model, "resolvedModel").map(str::to_owned),
            effort_levels: levels(model),
            can_stop_thinking: flag(model, "supportsThinkingOff"),
            can_decide: flag(model, "supportsAutoMode"),
        })
        .filter(|model| !model.name.is_empty())
        .collect()
}

/// The name of a command without the prefix of the folder's copy. 2.1.329 lists these commands as `project:name`, and
/// runs them by `name` as well.
fn own_name(command: &Value, name: String, prefix: &str) -> String {
    let own = name.strip_prefix(prefix);
    let own = own.filter(|own| list(command, "aliases").any(|alias| alias == *own));
    own.map(str::to_owned).unwrap_or(name)
}

fn commands(response: &Value, prefix: &str) -> Vec<SlashCommand> {
    let string = |value: &Value, key: &str| text(value, key).unwrap_or("").to_owned();
    list(response, "commands")
        .map(|command| SlashCommand {
            name: own_name(command, string(command, "name"), prefix),
            description: string(command, "description"),
            argument_hint: string(command, "argumentHint"),
        })
        .filter(|command| !command.name.is_empty())
        .collect()
}

/// The title in the answer to `generate_session_title`.
pub fn generated_title(response: &Value) -> Option<&str> {
    response.get("title").and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_command_of_the_folders_copy_has_its_own_name() {
        let response = json!({"commands": [
            {"name": "project:ship", "aliases": ["ship"]},
            {"name": "project:db:reset"},
            {"name": "project:x", "aliases": ["y"]},
            {"name": "other:z", "aliases": ["z"]},
        ]});
        let commands = Initialized::read(&response, "project:").commands;
        let names: Vec<String> = commands.into_iter().map(|command| command.name).collect();
        assert_eq!(names, ["ship", "project:db:reset", "project:x", "other:z"]);
    }

    #[test]
    fn an_answer_of_another_form_says_nothing() {
        for odd in
            [json!(null), json!("text"), json!([1]), json!({"models": {}, "commands": [7], "session": 1})]
        {
            assert_eq!(Initialized::read(&odd, "project:"), Initialized::default(), "{odd}");
            assert_eq!((total_dollars(&odd), effort(&odd), resolved_model(&odd)), (None, None, None));
            assert!(still_queued(&odd).is_empty() && !is_cancelled(&odd) && !has_allowing_hooks(&odd));
        }
    }
}

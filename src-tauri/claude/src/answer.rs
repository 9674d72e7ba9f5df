//! The agent's answers to control requests. A field that is missing or has another type is absent.

use crate::api::{Model, SlashCommand, Tokens};
use crate::{configuration, context, rules};
use deskbell_agent::{
    Answer, HostRequest, Initialized, ModelUsage, Refused, ReloadReport, RewindReport, SettingsReport,
    SideAnswer, UsageReport,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What a request asks for, as far as its answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Initialize,
    Interrupt,
    CancelPrompt,
    SetModel,
    ListRules,
    Usage,
    Context,
    Settings,
    Servers,
    Hooks,
    Extensions,
    Reload,
    Rewind,
    Title,
    Side,
}

impl Asked {
    /// `None`: the answer says nothing but that it was done.
    pub fn of(request: &HostRequest) -> Option<Self> {
        Some(match request {
            HostRequest::Initialize { .. } => Self::Initialize,
            HostRequest::Interrupt => Self::Interrupt,
            HostRequest::CancelPrompt(_) => Self::CancelPrompt,
            HostRequest::SetModel(_) => Self::SetModel,
            HostRequest::ListRules => Self::ListRules,
            HostRequest::ReadUsage => Self::Usage,
            HostRequest::ReadContext => Self::Context,
            HostRequest::ReadSettings => Self::Settings,
            HostRequest::ReadServers => Self::Servers,
            HostRequest::ReadHooks => Self::Hooks,
            HostRequest::ReadExtensions => Self::Extensions,
            HostRequest::ReloadPlugins => Self::Reload,
            HostRequest::RewindFiles { .. } => Self::Rewind,
            HostRequest::GenerateTitle(_) => Self::Title,
            HostRequest::AskSide { .. } => Self::Side,
            HostRequest::SetMode(_)
            | HostRequest::SetEffort(_)
            | HostRequest::SetThinking(_)
            | HostRequest::SetOption { .. }
            | HostRequest::ShowHeldMessages
            | HostRequest::SetMessages { .. }
            | HostRequest::SuspendRules(_)
            | HostRequest::StopTask(_)
            | HostRequest::MoveToBackground
            | HostRequest::ReconnectServer(_)
            | HostRequest::SetServerEnabled { .. }
            | HostRequest::Rename(_) => return None,
        })
    }

    /// Reads the answer. `prefix` is that of the commands of the folder's copy.
    pub fn read(self, response: &Value, prefix: &str) -> Answer {
        let read = match self {
            Self::Initialize => Some(Answer::Initialized(Box::new(initialized(response, prefix)))),
            Self::Interrupt => Some(Answer::StillQueued(still_queued(response))),
            Self::CancelPrompt => Some(Answer::Cancelled(flag(response, "cancelled"))),
            Self::SetModel => text(response, "model").map(|model| Answer::Model(model.to_owned())),
            Self::ListRules => rules::listed(response).map(Answer::Rules),
            Self::Usage => Some(Answer::Usage(usage(response))),
            Self::Context => context::report(response).map(Answer::Context),
            Self::Settings => Some(Answer::Settings(Box::new(settings(response)))),
            Self::Servers => configuration::servers(response).map(Answer::Servers),
            Self::Hooks => configuration::hooks(response).map(|hooks| Answer::Hooks(Box::new(hooks))),
            Self::Extensions => {
                configuration::extensions(response, prefix).map(|all| Answer::Extensions(Box::new(all)))
            }
            Self::Reload => Some(Answer::Reloaded(Box::new(reloaded(response, prefix)))),
            Self::Rewind => Some(Answer::Rewind(rewind(response))),
            Self::Title => text(response, "title").map(|title| Answer::Title(title.to_owned())),
            Self::Side => side(response).map(Answer::Side),
        };
        read.unwrap_or(Answer::Done)
    }
}

/// An error as answer.
pub(crate) fn refused(message: String) -> Refused {
    let is_unknown = message.starts_with("Unsupported control request");
    Refused { message, is_unknown }
}

fn initialized(response: &Value, prefix: &str) -> Initialized {
    Initialized {
        models: models(response),
        commands: commands(response, prefix),
        subagents: configuration::subagents(response, prefix).unwrap_or_default(),
        version: text(response, "claude_code_version").map(str::to_owned),
        permission_mode: text(response, "current_permission_mode").map(str::to_owned),
        // They depend on its version, and are the crate's.
        capabilities: None,
    }
}

/// `synthetic` marks words of the CLI itself, in parentheses (2.1.332). 2.1.197 marks only some of them: a failed call of the
/// model is an answer there that begins with “API Error: ”.
fn side(response: &Value) -> Option<SideAnswer> {
    let words = match response.get("response")? {
        Value::Null => return Some(SideAnswer::Nothing),
        words => words.as_str()?,
    };
    let is_problem = flag(response, "synthetic") || words.starts_with("API Error: ");
    let own = words.strip_prefix('(').and_then(|words| words.strip_suffix(')')).unwrap_or(words);
    Some(match is_problem {
        _ if words.trim().is_empty() => SideAnswer::Nothing,
        true => SideAnswer::Problem(own.to_owned()),
        false => SideAnswer::Text(words.to_owned()),
    })
}

/// The wire ids of the prompts that are still in the agent's own queue.
fn still_queued(response: &Value) -> Vec<String> {
    list(response, "still_queued").filter_map(Value::as_str).map(str::to_owned).collect()
}

fn usage(response: &Value) -> UsageReport {
    let models = response.pointer("/session/model_usage").and_then(Value::as_object);
    UsageReport {
        dollars: response.pointer("/session/total_cost_usd").and_then(Value::as_f64),
        models: models.map(model_usage).unwrap_or_default(),
    }
}

fn reloaded(response: &Value, prefix: &str) -> ReloadReport {
    ReloadReport {
        plugins: response.get("plugins").and_then(configuration::plugins),
        subagents: configuration::subagents(response, prefix),
        commands: response.get("commands").is_some_and(Value::is_array).then(|| commands(response, prefix)),
        n_errors: response.get("error_count").and_then(Value::as_u64).unwrap_or(0),
    }
}

fn rewind(response: &Value) -> RewindReport {
    let problem = || text(response, "error").unwrap_or_default().to_owned();
    RewindReport {
        files: list(response, "filesChanged").filter_map(Value::as_str).map(str::to_owned).collect(),
        problem: (!flag(response, "canRewind")).then(problem),
    }
}

fn settings(response: &Value) -> SettingsReport {
    let hooks = response.pointer("/effective/hooks").and_then(Value::as_object);
    let allow = |hooks: &Map<String, Value>| {
        hooks.contains_key("PreToolUse") || hooks.contains_key("PermissionRequest")
    };
    SettingsReport {
        effort: response.pointer("/applied/effort").and_then(Value::as_str).map(str::to_owned),
        has_allowing_hooks: hooks.is_some_and(allow),
        rules: rules::from_settings(response),
    }
}

/// `modelUsage` of a result. A number of tokens that is missing counts as 0.
pub fn model_usage(models: &Map<String, Value>) -> BTreeMap<String, ModelUsage> {
    let of_model = |(model, usage): (&String, &Value)| {
        let number = |key: &str| usage.get(key).and_then(Value::as_u64);
        let tokens = Tokens {
            input: number("inputTokens").unwrap_or(0),
            output: number("outputTokens").unwrap_or(0),
            cache_read: number("cacheReadInputTokens").unwrap_or(0),
            cache_write: number("cacheCreationInputTokens").unwrap_or(0),
        };
        let dollars = usage.get("costUSD").and_then(Value::as_f64);
        (model.clone(), ModelUsage { dollars, tokens, context_window: number("contextWindow") })
    };
    models.iter().map(of_model).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_rewind_says_which_files_change_or_why_not() {
        let can = rewind(&json!({"canRewind": true, "filesChanged": ["/a", 7, "/b"], "insertions": 1}));
        assert_eq!(can, RewindReport { files: vec!["/a".to_owned(), "/b".to_owned()], problem: None });
        let cannot = rewind(&json!({"canRewind": false, "error": "No file checkpoint found"}));
        assert_eq!(cannot.problem.as_deref(), Some("No file checkpoint found"));
        assert_eq!(rewind(&json!(null)).problem.as_deref(), Some(""), "it does not say why");
    }

    /// The answers of 2.1.332 and 2.1.197.
    #[test]
    fn an_answer_to_a_side_question_is_told_from_the_agents_own_words() {
        let read = |words: Value, synthetic: bool| side(&json!({"response": words, "synthetic": synthetic}));
        assert_eq!(read(json!("(an aside)"), false), Some(SideAnswer::Text("(an aside)".to_owned())));
        let problem = |words: &str| Some(SideAnswer::Problem(words.to_owned()));
        assert_eq!(
            read(json!("(API error: 400 bad (really))"), true),
            problem("API error: 400 bad (really)")
        );
        assert_eq!(read(json!("API Error: 400 bad"), false), problem("API Error: 400 bad"));
        for nothing in [json!(null), json!(""), json!(" \n")] {
            assert_eq!(read(nothing, false), Some(SideAnswer::Nothing));
        }
        assert_eq!((read(json!(7), false), side(&json!({}))), (None, None));
    }

    #[test]
    fn a_command_of_the_folders_copy_has_its_own_name() {
        let response = json!({"commands": [
            {"name": "project:ship", "aliases": ["ship"]},
            {"name": "project:db:reset"},
            {"name": "project:x", "aliases": ["y"]},
            {"name": "other:z", "aliases": ["z"]},
        ]});
        let commands = initialized(&response, "project:").commands;
        let names: Vec<String> = commands.into_iter().map(|command| command.name).collect();
        assert_eq!(names, ["ship", "project:db:reset", "project:x", "other:z"]);
    }

    #[test]
    fn settings_are_read_with_the_hooks_that_may_allow() {
        let read =
            settings(&json!({"applied": {"effort": "high"}, "effective": {"hooks": {"PreToolUse": []}}}));
        assert!(read.has_allowing_hooks && read.effort.as_deref() == Some("high"));
        assert!(!settings(&json!({"effective": {"hooks": {"Stop": []}}})).has_allowing_hooks);
        let used = json!({"session": {"total_cost_usd": 0.5, "model_usage": {"opus": {"costUSD": 0.5}}}});
        let used = usage(&used);
        assert_eq!((used.dollars, used.models["opus"].dollars), (Some(0.5), Some(0.5)));
    }

    #[test]
    fn an_answer_of_another_form_says_nothing() {
        for odd in
            [json!(null), json!("text"), json!([1]), json!({"models": {}, "commands": [7], "session": 1})]
        {
            assert_eq!(initialized(&odd, "project:"), Initialized::default(), "{odd}");
            let settings = settings(&odd);
            assert_eq!((usage(&odd), settings.effort), (UsageReport::default(), None));
            assert!(!settings.has_allowing_hooks && settings.rules.rules.is_empty());
            let answers = [
                (Asked::Interrupt, Answer::StillQueued(Vec::new())),
                (Asked::CancelPrompt, Answer::Cancelled(false)),
                (Asked::SetModel, Answer::Done),
                (Asked::ListRules, Answer::Done),
                (Asked::Context, Answer::Done),
                (Asked::Title, Answer::Done),
                (Asked::Side, Answer::Done),
            ];
            for (asked, answer) in answers {
                assert_eq!(asked.read(&odd, "project:"), answer, "{odd}");
            }
        }
    }
}

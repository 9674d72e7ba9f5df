//! The settings that a folder's copy may have, each with the form of its values.
//!
//! The CLI ignores a whole file with one value of a wrong form, deny rules included (2.1.197 and 2.1.332), and a key
//! that is not here may run or send something. So the copy has nothing else.

use super::json::Json;

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Switch,
    Number,
    Texts,
    Word(&'static [&'static str]),
    /// Texts by their names.
    Variables,
    /// `{ "type": "command", "command": … }`
    Command,
    /// Events with lists of groups; the groups are checked one by one.
    Hooks,
    Permissions,
    /// Names with `true`, `false` or a list of versions.
    Plugins,
    Marketplaces,
    /// A text for commits and one for pull requests.
    Attribution,
    /// With a wrong value the CLI does not start, and says why: it never widens anything.
    Sandbox,
}

/// The settings that run, send or allow something, or narrow it. The page shows each in its own words.
const JUDGED: &[(&str, Form)] = &[
    ("agent", Form::Text),
    ("apiKeyHelper", Form::Text),
    ("awsAuthRefresh", Form::Text),
    ("awsCredentialExport", Form::Text),
    ("disabledMcpjsonServers", Form::Texts),
    ("enableAllProjectMcpServers", Form::Switch),
    ("enabledMcpjsonServers", Form::Texts),
    ("enabledPlugins", Form::Plugins),
    ("env", Form::Variables),
    ("extraKnownMarketplaces", Form::Marketplaces),
    ("fileSuggestion", Form::Command),
    ("gcpAuthRefresh", Form::Text),
    ("hooks", Form::Hooks),
    ("model", Form::Text),
    ("otelHeadersHelper", Form::Text),
    ("outputStyle", Form::Text),
    ("permissions", Form::Permissions),
    ("proxyAuthHelper", Form::Text),
    ("sandbox", Form::Sandbox),
    ("statusLine", Form::Command),
    ("subagentStatusLine", Form::Command),
];

/// The settings that run, send and allow nothing: how something looks, or that less is possible.
const HARMLESS: &[(&str, Form)] = &[
    ("$schema", Form::Text),
    ("alwaysThinkingEnabled", Form::Switch),
    ("attribution", Form::Attribution),
    ("autoCompactEnabled", Form::Switch),
    ("companyAnnouncements", Form::Texts),
    ("disableAgentView", Form::Switch),
    ("disableArtifact", Form::Switch),
    ("disableAutoMode", Form::Word(&["disable"])),
    ("disableBundledSkills", Form::Switch),
    ("disableClaudeAiConnectors", Form::Switch),
    ("disableRemoteControl", Form::Switch),
    ("disableSkillShellExecution", Form::Switch),
    ("disableWorkflows", Form::Switch),
    ("effortLevel", Form::Word(&["low", "medium", "high", "xhigh"])),
    ("emojiCompletionEnabled", Form::Switch),
    ("feedbackSurveyRate", Form::Number),
    ("includeCoAuthoredBy", Form::Switch),
    ("includeGitInstructions", Form::Switch),
    ("language", Form::Text),
    ("prefersReducedMotion", Form::Switch),
    ("promptSuggestionEnabled", Form::Switch),
    ("respectGitignore", Form::Switch),
    ("showMessageTimestamps", Form::Switch),
    ("showThinkingSummaries", Form::Switch),
    ("showTurnDuration", Form::Switch),
    ("spinnerTipsEnabled", Form::Switch),
    ("syntaxHighlightingDisabled", Form::Switch),
    ("terminalTitleFromRename", Form::Switch),
    ("theme", Form::Text),
    ("timeZone", Form::Text),
    ("todoFeatureEnabled", Form::Switch),
    ("verbose", Form::Switch),
    ("viewMode", Form::Word(&["default", "verbose", "focus"])),
];

/// Modes that a folder may choose. The CLI does not take the others from a folder, and takes them from `--settings`,
/// because they ask for no permission (2.1.197 and 2.1.329).
pub(super) const MODES: &[&str] = &["acceptEdits", "default", "dontAsk", "manual", "plan"];

/// The form of a setting that the copy may have.
pub(super) fn form(key: &str) -> Option<Form> {
    JUDGED.iter().chain(HARMLESS).find(|(known, _)| *known == key).map(|(_, form)| *form)
}

pub(super) fn is_harmless(key: &str) -> bool {
    HARMLESS.iter().any(|(known, _)| *known == key)
}

/// Settings that copies leave out even if the user names them: Deskbell decides about asking and messages itself, or
/// reads the setting itself.
const NEVER: &[&str] = &[
    "autoMode",
    "crossSessionInbound",
    "disableAllHooks",
    "mcpServers",
    "skipAutoPermissionPrompt",
    "skipDangerousModePermissionPrompt",
    "useAutoModeDuringPlan",
];

/// Whether the user may name this setting, so that the copy has it despite its unknown effects.
pub(super) fn can_be_named(key: &str) -> bool {
    !is_copied(key) && !NEVER.contains(&key)
}

/// Whether the copy of a folder's settings may have this setting.
pub fn is_copied(key: &str) -> bool {
    form(key).is_some()
}

/// Returns the part of a value that the CLI accepts, and adds the places of all other parts, each with its text.
pub(super) fn accepted(key: &str, value: &Json, refused: &mut Vec<(String, String)>) -> Option<Json> {
    let Some(form) = form(key) else {
        refused.push((key.to_owned(), value.text()));
        return None;
    };
    let mut check = Check { refused };
    check.value(form, key, value)
}

struct Check<'a> {
    refused: &'a mut Vec<(String, String)>,
}

impl Check<'_> {
    fn refuse(&mut self, place: &str, value: &Json) -> Option<Json> {
        self.refused.push((place.to_owned(), value.text()));
        None
    }

    fn value(&mut self, form: Form, place: &str, value: &Json) -> Option<Json> {
        let fits = match (form, value) {
            (Form::Text, Json::Text(_)) | (Form::Switch, Json::Bool(_)) | (Form::Number, Json::Number(_)) => {
                true
            }
            (Form::Word(words), Json::Text(text)) => words.contains(&text.as_str()),
            (Form::Sandbox, Json::Object(_)) => true,
            (Form::Texts, Json::List(_)) => return self.list(place, value, Form::Text),
            (Form::Variables, Json::Object(entries)) => {
                return Some(self.entries(place, entries, |check, place, _, value| match value {
                    // 2.1.332 turns a number or a switch into its text.
                    Json::Text(_) | Json::Number(_) | Json::Bool(_) => Some(value.clone()),
                    _ => check.refuse(place, value),
                }));
            }
            (Form::Command, Json::Object(entries)) => {
                let has = |key: &str, of: Option<&str>| {
                    let text = super::json::values(entries, key).last().and_then(Json::as_str);
                    text.is_some_and(|text| of.is_none_or(|of| of == text))
                };
                if !has("type", Some("command")) || !has("command", None) {
                    return self.refuse(place, value);
                }
                return Some(self.entries(place, entries, |check, place, key, value| match key {
                    "type" | "command" => check.value(Form::Text, place, value),
                    "padding" => check.value(Form::Number, place, value),
                    _ => check.refuse(place, value),
                }));
            }
            (Form::Hooks, Json::Object(events)) => {
                return Some(
                    self.entries(place, events, |check, place, _, groups| check.groups(place, groups)),
                );
            }
            (Form::Permissions, Json::Object(entries)) => {
                return Some(self.entries(place, entries, |check, place, key, value| match key {
                    "allow" | "ask" | "deny" | "additionalDirectories" => {
                        check.list(place, value, Form::Text)
                    }
                    "defaultMode" => check.value(Form::Word(MODES), place, value),
                    "disableBypassPermissionsMode" | "disableAutoMode" => {
                        check.value(Form::Word(&["disable"]), place, value)
                    }
                    _ => check.refuse(place, value),
                }));
            }
            (Form::Plugins, Json::Object(entries)) => {
                return Some(self.entries(place, entries, |check, place, _, value| match value {
                    Json::Bool(_) => Some(value.clone()),
                    Json::List(_) => check.list(place, value, Form::Text),
                    _ => check.refuse(place, value),
                }));
            }
            (Form::Marketplaces, Json::Object(entries)) => {
                return Some(self.entries(place, entries, |check, place, _, value| {
                    if is_local_marketplace(value) {
                        return None;
                    }
                    if is_marketplace(value) { Some(value.clone()) } else { check.refuse(place, value) }
                }));
            }
            (Form::Attribution, Json::Object(entries)) => {
                return Some(self.entries(place, entries, |check, place, key, value| match key {
                    "commit" | "pr" => check.value(Form::Text, place, value),
                    _ => check.refuse(place, value),
                }));
            }
            _ => false,
        };
        if fits { Some(value.clone()) } else { self.refuse(place, value) }
    }

    /// The last one of entries with the same key counts.
    fn entries(
        &mut self,
        place: &str,
        entries: &[(String, Json)],
        accept: impl Fn(&mut Self, &str, &str, &Json) -> Option<Json>,
    ) -> Json {
        let mut accepted: Vec<(String, Json)> = Vec::new();
        for (key, value) in entries {
            let value = accept(self, &format!("{place}.{key}"), key, value);
            accepted.retain(|(known, _)| known != key);
            accepted.extend(value.map(|value| (key.clone(), value)));
        }
        Json::Object(accepted)
    }

    fn list(&mut self, place: &str, value: &Json, form: Form) -> Option<Json> {
        let Json::List(items) = value else { return self.refuse(place, value) };
        let item = |item| self.value(form, place, item);
        Some(Json::List(items.iter().filter_map(item).collect()))
    }

    /// The groups of hooks of one event. An unknown key in them is ignored by the CLI.
    fn groups(&mut self, place: &str, groups: &Json) -> Option<Json> {
        let Json::List(groups) = groups else { return self.refuse(place, groups) };
        let mut accepted = Vec::new();
        for group in groups {
            let Json::Object(entries) = group else {
                self.refuse(place, group);
                continue;
            };
            let value = |key: &str| super::json::values(entries, key).last();
            let (matcher, hooks) = (value("matcher"), value("hooks"));
            let (None | Some(Json::Text(_)), Some(Json::List(hooks))) = (matcher, hooks) else {
                self.refuse(place, group);
                continue;
            };
            let mut kept = Vec::new();
            for hook in hooks {
                if is_hook(hook) {
                    kept.push(hook.clone());
                } else {
                    self.refuse(place, hook);
                }
            }
            let mut group: Vec<(String, Json)> = Vec::new();
            group.extend(matcher.map(|matcher| ("matcher".to_owned(), matcher.clone())));
            group.push(("hooks".to_owned(), Json::List(kept)));
            accepted.push(Json::Object(group));
        }
        Some(Json::List(accepted))
    }
}

/// A hook with the fields of its kind, each in its form.
fn is_hook(hook: &Json) -> bool {
    let Json::Object(entries) = hook else { return false };
    let value = |key: &str| super::json::values(entries, key).last();
    let subject = match value("type").and_then(Json::as_str) {
        Some("command") => "command",
        Some("http") => "url",
        Some("prompt" | "agent") => "prompt",
        Some("mcp_tool") => "tool",
        _ => return false,
    };
    let fits = |(key, value): &(String, Json)| match key.as_str() {
        "timeout" => {
            matches!(value, Json::Number(number) if number.as_f64().is_some_and(|number| number > 0.0))
        }
        "async" | "asyncRewake" | "once" => matches!(value, Json::Bool(_)),
        "args" | "allowedEnvVars" => {
            matches!(value, Json::List(items) if items.iter().all(|item| item.as_str().is_some()))
        }
        "headers" => {
            matches!(value, Json::Object(entries) if entries.iter().all(|(_, value)| value.as_str().is_some()))
        }
        "input" => matches!(value, Json::Object(_)),
        "shell" => matches!(value.as_str(), Some("bash" | "powershell")),
        _ => value.as_str().is_some(),
    };
    value(subject).and_then(Json::as_str).is_some_and(|text| !text.is_empty()) && entries.iter().all(fits)
}

/// Sources of a marketplace that is on this computer.
pub(super) const LOCAL_SOURCES: &[&str] = &["directory", "file"];

/// Whether a marketplace is on this computer: it can be a part of the folder, whose plugins would then be loaded from there,
/// without a copy (2.1.197 and 2.1.332). No check of the path is certain, because of links and of paths like `/proc/self/cwd`.
pub(super) fn is_local_marketplace(value: &Json) -> bool {
    let of = |value: &Json| match value {
        Json::Object(entries) => super::json::values(entries, "source").last().cloned(),
        _ => None,
    };
    let kind = of(value).and_then(|source| of(&source));
    kind.is_some_and(|kind| kind.as_str().is_some_and(|kind| LOCAL_SOURCES.contains(&kind)))
}

/// A marketplace of a kind that every version knows (2.1.197 and 2.1.332).
fn is_marketplace(value: &Json) -> bool {
    let Json::Object(entries) = value else { return false };
    let source = match super::json::values(entries, "source").last() {
        Some(Json::Object(source)) => source,
        _ => return false,
    };
    let text = |key: &str| super::json::values(source, key).last().and_then(Json::as_str);
    let place = match text("source") {
        Some("url" | "git") => "url",
        Some("github") => "repo",
        Some("npm") => "package",
        Some("file" | "directory") => "path",
        _ => return false,
    };
    let all_texts = source.iter().all(|(_, value)| value.as_str().is_some());
    let fits = |(key, value): &(String, Json)| match key.as_str() {
        "source" => true,
        "autoUpdate" => matches!(value, Json::Bool(_)),
        _ => value.as_str().is_some(),
    };
    text(place).is_some() && all_texts && entries.iter().all(fits)
}

//! The permission rules in force in an agent: its own list if it provides one, otherwise the rules in its settings and
//! in this session.
//!
//! 2.1.329 lists its rules (`list_permission_rules`), and that list is authoritative: it omits rules that are in a file
//! but not applied, such as an allow rule of a project's own settings. 2.1.197 only reports the settings it loaded.

use crate::api::{Rule, RuleEffect, RuleOrigin, RulesBasis, RulesInForce};
use deskbell_agent::with_rules;
use serde_json::Value;

/// Parses the agent's own list. `None` if the response has none.
pub(crate) fn listed(response: &Value) -> Option<RulesInForce> {
    let state = response.get("state")?;
    let rules = state.get("rules")?.as_array()?.iter().filter_map(|rule| {
        Some(Rule {
            effect: effect(rule.get("behavior")?.as_str()?)?,
            rule: rule.get("rule")?.as_str()?.to_owned(),
            origin: origin(rule.get("source").and_then(Value::as_str).unwrap_or_default()),
        })
    });
    let folders = state.get("workspaceDirectories").and_then(Value::as_array);
    // 2.1.329 reports the wrong file as their source, so the source is left out.
    let directories = folders.into_iter().flatten().filter_map(|folder| folder.get("path")?.as_str());
    Some(with_rules(
        RulesInForce {
            basis: RulesBasis::Agent,
            rules: rules.collect(),
            directories: directories.map(str::to_owned).collect(),
        },
        &[],
    ))
}

/// Collects the rules from the settings that the agent loaded.
pub(crate) fn from_settings(response: &Value) -> RulesInForce {
    let mut rules = Vec::new();
    let mut directories = Vec::new();
    for source in response.get("sources").and_then(Value::as_array).into_iter().flatten() {
        let origin = origin(source.get("source").and_then(Value::as_str).unwrap_or_default());
        let Some(permissions) = source.pointer("/settings/permissions") else { continue };
        let strings = |key: &str| {
            let list = permissions.get(key).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)
        };
        for key in ["deny", "ask", "allow"] {
            let Some(effect) = effect(key) else { continue };
            rules.extend(strings(key).map(|rule| Rule { effect, rule, origin }));
        }
        directories.extend(strings("additionalDirectories"));
    }
    with_rules(RulesInForce { basis: RulesBasis::Settings, rules, directories }, &[])
}

/// The rules that an answer added to the session: its `updatedPermissions`.
pub(crate) fn given(permissions: &[Value]) -> Vec<Rule> {
    let mut rules = Vec::new();
    for permission in permissions {
        let field = |key: &str| permission.get(key).and_then(Value::as_str);
        if field("type") != Some("addRules") || field("destination") != Some("session") {
            continue;
        }
        let Some(effect) = field("behavior").and_then(effect) else { continue };
        for rule in permission.get("rules").and_then(Value::as_array).into_iter().flatten() {
            let Some(rule) = written(rule) else { continue };
            rules.push(Rule { effect, rule, origin: RuleOrigin::Session });
        }
    }
    rules
}

/// A rule as it is saved. Brackets and backslashes in its content are escaped with a backslash.
pub(crate) fn written(rule: &Value) -> Option<String> {
    let text = |key: &str| rule.get(key).and_then(Value::as_str);
    let tool = text("toolName")?;
    Some(match text("ruleContent") {
        Some(content) => {
            let content = content.replace('\\', r"\\").replace('(', r"\(").replace(')', r"\)");
            format!("{tool}({content})")
        }
        None => tool.to_owned(),
    })
}

fn effect(behavior: &str) -> Option<RuleEffect> {
    match behavior {
        "allow" => Some(RuleEffect::Allow),
        "ask" => Some(RuleEffect::Ask),
        "deny" => Some(RuleEffect::Deny),
        _ => None,
    }
}

fn origin(source: &str) -> RuleOrigin {
    match source {
        "session" => RuleOrigin::Session,
        "localSettings" => RuleOrigin::Local,
        "projectSettings" => RuleOrigin::Project,
        "userSettings" => RuleOrigin::User,
        "policySettings" => RuleOrigin::Policy,
        // Only the copy of the folder's settings is passed as `--settings`.
        "flagSettings" => RuleOrigin::Folder,
        "cliArg" | "command" => RuleOrigin::Arguments,
        _ => RuleOrigin::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rule(effect: RuleEffect, rule: &str, origin: RuleOrigin) -> Rule {
        Rule { effect, rule: rule.to_owned(), origin }
    }

    #[test]
    fn the_agents_list_is_taken_as_it_is() {
        // From 2.1.329.
        let response = json!({"state": {
            "rules": [
                {"behavior": "allow", "source": "userSettings", "rule": "Bash(echo user:*)", "editability": "persistent"},
                {"behavior": "allow", "source": "session", "rule": "Bash(touch a.txt)", "editability": "session"},
                {"behavior": "deny", "source": "userSettings", "rule": "Read(./secret)", "editability": "persistent"},
                {"behavior": "allow", "source": "somewhere", "rule": "Edit"},
                {"behavior": "perhaps", "source": "session", "rule": "Write"},
            ],
            "workspaceDirectories": [{"path": "/elsewhere", "source": "localSettings"}],
            "originalCwd": "/project", "managedOnly": false,
        }});
        let found = listed(&response).unwrap();
        assert_eq!(found.basis, RulesBasis::Agent);
        assert_eq!(
            found.rules,
            [
                rule(RuleEffect::Allow, "Bash(touch a.txt)", RuleOrigin::Session),
                rule(RuleEffect::Deny, "Read(./secret)", RuleOrigin::User),
                rule(RuleEffect::Allow, "Bash(echo user:*)", RuleOrigin::User),
                rule(RuleEffect::Allow, "Edit", RuleOrigin::Other),
            ]
        );
        assert_eq!(found.directories, ["/elsewhere"]);
        assert_eq!(listed(&json!({"rules": []})), None);
    }

    #[test]
    fn without_a_list_the_loaded_settings_and_the_session_speak() {
        // From 2.1.197.
        let response = json!({"effective": {}, "sources": [
            {"source": "userSettings", "settings": {"permissions": {"allow": ["Bash(ls:*)"], "deny": ["WebFetch"]}}},
            {"source": "policySettings", "settings": {"model": "opus"}},
        ]});
        let given = given(&[
            json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch *"}], "behavior": "allow", "destination": "session"}),
            json!({"type": "addRules", "rules": [{"toolName": "Edit"}], "behavior": "allow", "destination": "localSettings"}),
            json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"}),
        ]);
        let found = with_rules(from_settings(&response), &given);
        assert_eq!(found.basis, RulesBasis::Settings);
        assert_eq!(
            found.rules,
            [
                rule(RuleEffect::Allow, "Bash(touch *)", RuleOrigin::Session),
                rule(RuleEffect::Deny, "WebFetch", RuleOrigin::User),
                rule(RuleEffect::Allow, "Bash(ls:*)", RuleOrigin::User),
            ]
        );
    }
}

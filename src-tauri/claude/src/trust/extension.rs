//! Skills, agents and commands: instructions for the model that can also bring hooks, servers and permissions.

use super::json::{Json, values};
use super::{Findings, Role, frontmatter, hooks, servers};
use crate::api::{FindingKind, Severity};
use sha2::{Digest, Sha256};

/// The keys that are judged one by one. All others are details of the first finding.
const JUDGED: &[&str] = &["hooks", "allowed-tools", "mcpServers", "permissionMode"];

/// Adds findings for a skill, an agent or a command.
pub(super) fn find(found: &mut Findings, text: &str, role: &Role) {
    let document = frontmatter::split(text);
    let entries = match frontmatter::entries(document.yaml.unwrap_or_default()) {
        Ok(entries) => entries,
        Err(error) => {
            found.raw(
                "Has settings that are not valid YAML, so it is left out",
                document.yaml.unwrap_or_default(),
            );
            found.detail("error", error);
            Vec::new()
        }
    };
    let own_name = values(&entries, "name").last().map(Json::text);
    let (title, name) = match role {
        Role::Skill { name } => ("Adds a skill", own_name.unwrap_or_else(|| name.clone())),
        Role::Command { name } => ("Adds a slash command", name.clone()),
        Role::Agent | Role::Settings | Role::Servers | Role::Schedule => {
            ("Adds a subagent", own_name.unwrap_or_default())
        }
    };
    found.add(FindingKind::Setting, Severity::Changes, title, name);
    found.rest(&entries, &[JUDGED, &["name"]].concat());
    // The instructions are not shown, because they run nothing. A change in them is shown.
    found.detail("instructions", format!("{} bytes, SHA-256 {}", document.body.len(), digest(document.body)));
    for (key, value) in &entries {
        match key.as_str() {
            "hooks" => hooks::find(found, value),
            "allowed-tools" => each_tool(found, value),
            "mcpServers" => servers::find(found, value),
            "permissionMode" => {
                let is_narrow = matches!(value.as_str(), Some("default" | "manual" | "plan"));
                let severity = if is_narrow { Severity::Changes } else { Severity::Allows };
                found.add(
                    FindingKind::Mode,
                    severity,
                    "Sets what a subagent may do without asking",
                    value.text(),
                );
            }
            _ => {}
        }
    }
    if *role == Role::Agent {
        let mut refused = Vec::new();
        let is_left_out = crate::trust::snapshot::agent::accepted(&entries, &mut refused).is_none();
        for (place, text) in refused {
            found.odd("Is not understood by the agent, so it is left out", format!("{place} = {text}"));
        }
        if is_left_out {
            let text = "Without this part it could use more tools.".to_owned();
            found.odd("The subagent is left out", text);
        }
    }
    for command in commands(document.body) {
        found.add(FindingKind::Hook, Severity::Runs, "Runs when it is used", command);
    }
}

fn each_tool(found: &mut Findings, value: &Json) {
    let title = "Allows without asking while it is used";
    match value {
        Json::List(items) => {
            for item in items {
                found.add(FindingKind::AllowRule, Severity::Allows, title, item.text());
            }
        }
        _ => found.add(FindingKind::AllowRule, Severity::Allows, title, value.text()),
    }
}

/// The commands in a body that the CLI runs before the model reads it: `` !`command` `` and blocks that begin with ``
/// ```! ``.
fn commands(body: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (start, end) in [("```!", "```"), ("!`", "`")] {
        let mut rest = body;
        while let Some((_, after)) = rest.split_once(start) {
            let (command, behind) = after.split_once(end).unwrap_or((after, ""));
            found.push(command.trim());
            rest = behind;
        }
    }
    found.retain(|command| !command.is_empty());
    found
}

fn digest(body: &str) -> String {
    Sha256::digest(body).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

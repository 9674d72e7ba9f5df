//! Skills, agents and commands: instructions for the model that can also bring hooks, servers and permissions.

use super::json::{Json, values};
use super::snapshot::{agent, plugin};
use super::{Findings, Role, frontmatter, hooks, servers};
use crate::api::{FindingKind, Severity};
use sha2::{Digest, Sha256};

/// The keys that are judged one by one. All others are details of the first finding.
const JUDGED: &[&str] = &["hooks", "allowed-tools", "mcpServers", "permissionMode"];

/// Maximum size of the displayed text of a document that is left out, in bytes.
const MOST_BEGINNING: usize = 2000;

/// Adds findings for a skill, an agent or a command.
pub(super) fn find(found: &mut Findings, text: &str, role: &Role) {
    let (entries, body) = match frontmatter::read(text) {
        Ok(read) => read,
        Err(error) => {
            // It is not loaded, so its first lines are enough to recognize it.
            let beginning = &text[..text.floor_char_boundary(MOST_BEGINNING)];
            let title = "Has settings that cannot be read with certainty, so it is left out";
            found.unreadable(title, beginning.to_owned());
            found.detail("error", error);
            return;
        }
    };
    let own_name = values(&entries, "name").last().map(Json::text);
    let (title, name) = match role {
        Role::Skill { name } => ("Adds a skill", own_name.unwrap_or_else(|| name.clone())),
        Role::Command { name } => ("Adds a slash command", name.clone()),
        Role::Agent | Role::Settings | Role::Servers | Role::Schedule | Role::NotLoaded { .. } => {
            ("Adds a subagent", own_name.unwrap_or_default())
        }
    };
    found.add(FindingKind::Setting, Severity::Changes, title, name);
    found.rest(&entries, &[JUDGED, &["name"]].concat());
    // The instructions are not shown, because they run nothing. A change in them is shown.
    found.detail("instructions", format!("{} bytes, SHA-256 {}", body.len(), digest(body)));
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
    let mut refused = Vec::new();
    let (accepted, left_out) = match role {
        Role::Agent => (agent::accepted(&entries, &mut refused), "The subagent is left out"),
        _ => (plugin::accepted(&entries, &mut refused), "The document is left out"),
    };
    for (place, text) in refused {
        found.odd("Is not understood, so it is left out", format!("{place} = {text}"));
    }
    if accepted.is_none() {
        found.odd(left_out, "Without this part it could do more.".to_owned());
    }
    for command in commands(body) {
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
///
/// The CLI skips some of them, depending on the text before the exclamation mark (2.1.332), and versions differ. So
/// this searches for a command at each mark, also inside another command.
fn commands(body: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (start, end) in [("```!", "```"), ("!`", "`")] {
        for (at, _) in body.match_indices(start) {
            let after = &body[at + start.len()..];
            let command = after.split_once(end).map_or(after, |(command, _)| command).trim();
            if !command.is_empty() && !found.contains(&command) {
                found.push(command);
            }
        }
    }
    found
}

fn digest(body: &str) -> String {
    Sha256::digest(body).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

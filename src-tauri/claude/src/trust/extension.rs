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
    let mut refused = Vec::new();
    let accepted = match role {
        Role::Agent => agent::accepted(&entries, &mut refused),
        _ => plugin::accepted(&entries, &mut refused),
    };
    let own_name = |entries: &[(String, Json)]| values(entries, "name").last().map(Json::text);
    let (title, name) = match role {
        Role::Skill { name } => {
            ("Adds a skill", accepted.as_deref().and_then(own_name).unwrap_or_else(|| name.clone()))
        }
        Role::Command { name } => ("Adds a slash command", name.clone()),
        Role::Agent | Role::Settings | Role::Servers | Role::Schedule | Role::NotLoaded { .. } => {
            ("Adds a subagent", own_name(&entries).unwrap_or_default())
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
    // What is wrong with a whole entry and with a part of it is the same.
    refused.dedup();
    for (place, text) in refused {
        found.odd("Is not understood, so it is left out", format!("{place} = {text}"));
    }
    let is_agent = *role == Role::Agent;
    let left_out = if is_agent { "The subagent is left out" } else { "The document is left out" };
    if accepted.is_none() {
        found.odd(left_out, "Without this part it could do more.".to_owned());
    } else if is_agent && agent::read(text).is_none() {
        found.odd(left_out, "It needs a name, a description and instructions.".to_owned());
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The titles and texts of the findings without the document's own details.
    fn shown(text: &str, role: &Role) -> Vec<String> {
        let mut found = Findings::new("x.md".to_owned(), None);
        super::super::judge(&mut found, text.as_bytes(), role);
        found.list.iter().map(|finding| format!("{}: {}", finding.title, finding.text)).collect()
    }

    #[test]
    fn a_skill_is_shown_by_the_name_that_every_version_uses() {
        let skill = Role::Skill { name: "folder".to_owned() };
        let shown = |name: &str| shown(&format!("---\nname: {name}\n---\nbody"), &skill);
        assert_eq!(shown("doc"), ["Adds a skill: doc"]);
        assert_eq!(shown("\"d\\u00f3c, 2: a/b\""), ["Adds a skill: d\u{f3}c, 2: a/b"]);
        for name in ["\"a\\u200bb\"", "\" a\"", "<a>", "\"a\\nb\"", "true", &"a".repeat(65)] {
            assert_eq!(shown(name)[0], "Adds a skill: folder", "{name}");
            assert!(shown(name)[1].starts_with("Is not understood, so it is left out: name = "), "{name}");
        }
    }

    #[test]
    fn a_skill_and_a_command_without_a_text_are_shown() {
        assert_eq!(shown("", &Role::Skill { name: "folder".to_owned() }), ["Adds a skill: folder"]);
        assert_eq!(
            shown(" \n", &Role::Command { name: "typed".to_owned() }),
            ["Adds a slash command: typed"]
        );
        assert!(shown("", &Role::Agent).is_empty());
    }

    #[test]
    fn a_subagent_that_is_not_loaded_is_said_to_be_left_out() {
        let is_left_out = |text: &str| {
            shown(text, &Role::Agent).iter().any(|line| line.starts_with("The subagent is left out"))
        };
        assert!(!is_left_out("---\nname: a\ndescription: d\n---\nbody"));
        for text in ["body", "---\nname: a\n---\nbody", "---\nname: a\ndescription: d\n---\n"] {
            assert!(is_left_out(text), "{text}");
        }
    }

    #[test]
    fn a_wrong_value_is_named_once() {
        let shown = shown("---\nhooks: x\n---\n", &Role::Command { name: "typed".to_owned() });
        let n_named = shown.iter().filter(|line| line.ends_with(": hooks = x")).count();
        assert_eq!(n_named, 1, "{shown:?}");
    }
}

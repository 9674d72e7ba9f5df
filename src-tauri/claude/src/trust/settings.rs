//! A settings file or a `.mcp.json`, key by key. Keys that Deskbell does not know are shown too, and judged by their
//! values.

use super::json::Json;
use super::{Findings, environment, hooks, keys, servers};
use crate::api::{FindingKind, Severity};

use FindingKind as Kind;
use Severity::{Allows, Changes, Runs};

/// Adds findings for a settings file.
pub(super) fn find(found: &mut Findings, entries: &[(String, Json)]) {
    for (key, value) in entries {
        match key.as_str() {
            "hooks" => hooks::find(found, value),
            "env" => environment::find(found, value),
            "permissions" => find_permissions(found, value),
            // Not read from here by 2.1.329.
            "mcpServers" => servers::find(found, value),
            "apiKeyHelper" => found.add(Kind::Helper, Runs, "Runs to get your API key", value.text()),
            "awsAuthRefresh" => found.add(Kind::Helper, Runs, "Runs to log in to AWS", value.text()),
            "awsCredentialExport" => {
                found.add(Kind::Helper, Runs, "Runs to get AWS credentials", value.text())
            }
            "gcpAuthRefresh" => found.add(Kind::Helper, Runs, "Runs to log in to Google Cloud", value.text()),
            "otelHeadersHelper" => {
                found.add(Kind::Helper, Runs, "Runs to log in for telemetry", value.text())
            }
            "proxyAuthHelper" => found.add(Kind::Helper, Runs, "Runs to log in to a proxy", value.text()),
            "statusLine" => find_command(found, "Runs to draw the status line", value),
            "subagentStatusLine" => find_command(found, "Runs to draw a subagent's status line", value),
            "fileSuggestion" => find_command(found, "Runs to suggest files", value),
            "enabledPlugins" => find_plugins(found, value),
            "extraKnownMarketplaces" => find_marketplaces(found, value),
            "enableAllProjectMcpServers" => found.add(
                Kind::ServerApproval,
                if *value == Json::Bool(false) { Changes } else { Allows },
                "Approves every server of the folder",
                value.text(),
            ),
            "enabledMcpjsonServers" => each(found, value, Kind::ServerApproval, Allows, "Approves a server"),
            "disabledMcpjsonServers" => {
                each(found, value, Kind::ServerApproval, Changes, "Turns off a server")
            }
            "sandbox" => found.add(Kind::Sandbox, Allows, "Changes the limits of commands", value.text()),
            "model" => found.add(Kind::Setting, Changes, "Chooses the model", value.text()),
            "outputStyle" => found.add(Kind::Setting, Changes, "Changes the output style", value.text()),
            "agent" => found.add(Kind::Setting, Changes, "Replaces the agent's instructions", value.text()),
            "disableAllHooks" => {
                found.add(Kind::Setting, Changes, "Turns off the folder's hooks; yours stay on", value.text())
            }
            _ if keys::is_harmless(key) => {
                found.add(Kind::Setting, Changes, "Another setting", value.text());
                found.name(key);
            }
            _ => {
                let title = match keys::can_be_named(key) {
                    true => "May run or send something, so it is left out unless you name it",
                    false => "May run or send something, so it is left out",
                };
                found.add(Kind::Setting, Runs, title, value.text());
                found.name(key);
            }
        }
        find_refused(found, key, value);
    }
}

/// Adds a finding for each part of a setting that the copy leaves out, because the CLI does not accept it.
fn find_refused(found: &mut Findings, key: &str, value: &Json) {
    if !keys::is_copied(key) {
        return;
    }
    let mut refused = Vec::new();
    keys::accepted(key, value, &mut refused);
    for (place, text) in refused {
        // A mode that only the user can choose has a finding of its own.
        if place != "permissions.defaultMode" {
            found.odd("Is not understood by the agent, so it is left out", format!("{place} = {text}"));
        }
    }
}

/// Adds findings for a `.mcp.json`.
pub(super) fn find_servers(found: &mut Findings, entries: &[(String, Json)]) {
    for (key, value) in entries {
        match key.as_str() {
            "mcpServers" => servers::find(found, value),
            _ => find_other(found, key, value),
        }
    }
}

/// Adds a finding for a key that the copy does not have.
fn find_other(found: &mut Findings, key: &str, value: &Json) {
    found.add(Kind::Setting, Changes, "Another setting, which is left out", value.text());
    found.name(key);
}

fn has_command(value: &Json) -> bool {
    match value {
        Json::Object(entries) => entries.iter().any(|(key, value)| {
            let key = key.to_ascii_lowercase();
            key.contains("command") || key.ends_with("helper") || key == "script" || has_command(value)
        }),
        Json::List(items) => items.iter().any(has_command),
        _ => false,
    }
}

fn find_permissions(found: &mut Findings, permissions: &Json) {
    let Json::Object(entries) = permissions else {
        found.add(Kind::AllowRule, Allows, "Sets permissions, in an unknown form", permissions.text());
        return;
    };
    for (key, value) in entries {
        match key.as_str() {
            "defaultMode" => {
                let is_narrow = matches!(value.as_str(), Some("default" | "manual" | "plan"));
                let severity = if is_narrow { Changes } else { Allows };
                found.add(Kind::Mode, severity, "Sets what the agent may do without asking", value.text());
            }
            "allow" => each(found, value, Kind::AllowRule, Allows, "Allows without asking"),
            "additionalDirectories" => {
                each(found, value, Kind::Directory, Allows, "Gives access to another folder")
            }
            "ask" => each(found, value, Kind::NarrowingRule, Changes, "Always asks"),
            "deny" => each(found, value, Kind::NarrowingRule, Changes, "Always denies"),
            _ => {
                found.add(Kind::Setting, Allows, "Another setting", value.text());
                found.name(format!("permissions.{key}"));
            }
        }
    }
}

/// One finding for each entry of a list.
fn each(found: &mut Findings, value: &Json, kind: Kind, severity: Severity, title: &str) {
    match value {
        Json::List(items) => {
            for item in items {
                found.add(kind, severity, title, item.text());
            }
        }
        _ => found.add(kind, severity, title, value.text()),
    }
}

/// `{ "type": "command", "command": … }`
fn find_command(found: &mut Findings, title: &str, value: &Json) {
    let commands: Vec<&str> = match value {
        Json::Object(entries) => super::json::values(entries, "command").filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    match (&commands[..], value) {
        ([command], Json::Object(entries)) => {
            found.add(Kind::StatusLine, Runs, title, *command);
            found.rest(entries, &["type", "command"]);
        }
        _ => found.add(Kind::StatusLine, Runs, title, value.text()),
    }
}

fn find_plugins(found: &mut Findings, plugins: &Json) {
    let Json::Object(plugins) = plugins else {
        found.add(Kind::Plugin, Runs, "Turns on plugins, in an unknown form", plugins.text());
        return;
    };
    for (plugin, is_on) in plugins {
        match is_on {
            Json::Bool(false) => found.add(Kind::Plugin, Changes, "Turns off a plugin", plugin),
            Json::Bool(true) => found.add(Kind::Plugin, Runs, "Turns on a plugin", plugin),
            _ => {
                found.add(Kind::Plugin, Runs, "Turns on a plugin", plugin);
                found.detail("version", is_on.text());
            }
        }
    }
}

fn find_marketplaces(found: &mut Findings, marketplaces: &Json) {
    let Json::Object(marketplaces) = marketplaces else {
        found.add(Kind::Plugin, Allows, "Adds plugin marketplaces", marketplaces.text());
        return;
    };
    for (name, marketplace) in marketplaces {
        let severity = if has_command(marketplace) { Runs } else { Allows };
        let title = match keys::is_local_marketplace(marketplace) {
            true => "Adds a plugin marketplace of this computer, whose plugins are left out",
            false => "Adds a plugin marketplace",
        };
        found.add(Kind::Plugin, severity, title, marketplace.text());
        found.name(name);
    }
}

//! MCP servers: programs that the CLI starts, or addresses that it connects to, when it starts.

use super::Findings;
use super::json::{Json, has_repeated, values};
use super::typed::{arguments, quoted};
use crate::api::{FindingKind, Severity};

/// Adds findings for the servers in the value of `mcpServers`.
pub(super) fn find(found: &mut Findings, servers: &Json) {
    let Json::Object(servers) = servers else {
        found.add(FindingKind::Server, Severity::Runs, "Starts servers, in an unknown form", servers.text());
        return;
    };
    for (name, server) in servers {
        let Json::Object(server) = server else {
            found.add(
                FindingKind::Server,
                Severity::Runs,
                "Starts a server, in an unknown form",
                server.text(),
            );
            found.name(name);
            continue;
        };
        add(found, name, server);
    }
}

fn add(found: &mut Findings, name: &str, server: &[(String, Json)]) {
    let command = values(server, "command").last();
    let url = values(server, "url").last();
    let (title, severity, text, said) = match (command, url) {
        (Some(command), None) if !has_repeated(server) => {
            let arguments = values(server, "args").last().map(arguments).unwrap_or_default();
            let text = quoted(&command.text()) + &arguments;
            ("Starts a server", Severity::Runs, text, &["command", "args", "env", "headersHelper"][..])
        }
        (None, Some(url)) if !has_repeated(server) => {
            ("Connects to a server", Severity::Redirects, url.text(), &["url", "env", "headersHelper"][..])
        }
        // Both, neither, or one of them twice: it is unknown which one the CLI uses.
        _ => {
            let keys: Vec<&str> = server.iter().map(|(key, _)| key.as_str()).collect();
            found.add(
                FindingKind::Server,
                Severity::Runs,
                "Starts a server",
                Json::Object(server.to_vec()).text(),
            );
            found.name(name);
            return find_beside(found, name, server, &keys);
        }
    };
    found.add(FindingKind::Server, severity, title, text);
    found.name(name);
    find_beside(found, name, server, said);
}

/// Adds the entries of a server that are not in `said`, and anything else that it runs.
fn find_beside(found: &mut Findings, name: &str, server: &[(String, Json)], said: &[&str]) {
    found.rest(server, said);
    for env in values(server, "env") {
        match env {
            Json::Object(variables) => {
                for (variable, value) in variables {
                    found.detail(variable, value.text());
                }
            }
            _ => found.detail("env", env.text()),
        }
    }
    for helper in values(server, "headersHelper") {
        found.add(FindingKind::Helper, Severity::Runs, "Runs to log in to a server", helper.text());
        found.name(name);
    }
}

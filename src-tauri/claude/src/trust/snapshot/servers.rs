//! MCP servers, for `--mcp-config`.

use serde_json::{Map, Value, json};
use std::path::Path;

/// The servers of a folder. If two have the same name, the nearest one counts.
///
/// `files` are the objects of the files of servers, the nearest first.
pub fn of_folder(
    files: impl Iterator<Item = Map<String, Value>>,
    turned_off: &[String],
) -> Map<String, Value> {
    let mut servers = Map::new();
    for mut object in files {
        let Some(Value::Object(named)) = object.remove("mcpServers") else { continue };
        for (name, server) in named {
            if is_valid(&server) && !turned_off.contains(&name) && !servers.contains_key(&name) {
                servers.insert(name, server);
            }
        }
    }
    servers
}

/// The servers that the user added for these folders alone, from the text of the CLI's own file. If two have the same
/// name, that of the first folder counts.
pub fn of_user<'a>(state: &[u8], folders: impl Iterator<Item = &'a Path>) -> Map<String, Value> {
    let document: Value = serde_json::from_slice(state).unwrap_or_default();
    let mut servers = Map::new();
    for folder in folders {
        let key = folder.display().to_string().replace('\\', "/");
        let named = document["projects"][key]["mcpServers"].as_object();
        for (name, server) in named.into_iter().flatten() {
            servers.entry(name.clone()).or_insert_with(|| server.clone());
        }
    }
    servers
}

/// The file with these servers.
pub fn document(servers: Map<String, Value>) -> Vec<u8> {
    json!({ "mcpServers": servers }).to_string().into_bytes()
}

/// Returns whether a server is well-formed. With one that is not, the CLI starts no session if it comes from
/// `--mcp-config`; if it comes from a folder, the CLI leaves it out.
pub(super) fn is_valid(server: &Value) -> bool {
    let texts = |value: &Value| match value {
        Value::Null => true,
        Value::Object(entries) => entries.values().all(Value::is_string),
        _ => false,
    };
    let arguments = match &server["args"] {
        Value::Null => true,
        Value::Array(arguments) => arguments.iter().all(Value::is_string),
        _ => false,
    };
    let has_place = server["command"].is_string() || server["url"].is_string();
    has_place && arguments && texts(&server["env"]) && texts(&server["headers"])
}

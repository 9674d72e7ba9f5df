//! MCP servers, for `--mcp-config`.

use super::super::files::{self, Found, Role};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The servers of a folder. If two have the same name, the nearest one counts.
pub(super) fn of_folder(files: &[Found], turned_off: &[String]) -> Map<String, Value> {
    let mut servers = Map::new();
    for (_, mut object) in super::objects(files, &Role::Servers) {
        let Some(Value::Object(named)) = object.remove("mcpServers") else { continue };
        for (name, server) in named {
            if is_valid(&server) && !turned_off.contains(&name) && !servers.contains_key(&name) {
                servers.insert(name, server);
            }
        }
    }
    servers
}

/// The servers that the user added for this folder alone. They are in the CLI's own file, under the folder or the root
/// of its repository.
pub(super) fn of_user(project: &Path) -> Map<String, Value> {
    let document = state_file().and_then(|path| files::read_state(&path));
    let document: Option<Value> = document.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let mut servers = Map::new();
    let mut folders = files::extension_folders(project).into_iter().map(|(_, folder)| folder);
    let root = folders.next_back().filter(|root| *root != project);
    for folder in [Some(project), root].into_iter().flatten() {
        let key = folder.display().to_string().replace('\\', "/");
        let named =
            document.as_ref().and_then(|document| document["projects"][key]["mcpServers"].as_object());
        for (name, server) in named.into_iter().flatten() {
            servers.entry(name.clone()).or_insert_with(|| server.clone());
        }
    }
    servers
}

pub(super) fn document(servers: Map<String, Value>) -> Vec<u8> {
    json!({ "mcpServers": servers }).to_string().into_bytes()
}

fn state_file() -> Option<PathBuf> {
    let folder = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    Some(folder.or_else(dirs::home_dir)?.join(".claude.json"))
}

/// Returns whether a server is well-formed. With one that is not, the CLI starts no session if it comes from
/// `--mcp-config`; if it comes from a folder, the CLI leaves it out.
fn is_valid(server: &Value) -> bool {
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

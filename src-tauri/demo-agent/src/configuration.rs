//! What is configured for the demo agent: two servers of which one fails, a hook, a plugin. None of it runs anything.

use serde_json::{Value, json};

use crate::agent::DemoState;
use crate::catalogue;

const FAILURE: &str = "Connection closed";

/// `(name, whether it connects)`.
const SERVERS: [(&str, bool); 2] = [("tracker", true), ("database", false)];

fn server(state: &DemoState, name: &str, connects: bool) -> Value {
    let mut server = json!({
        "name": name,
        "config": {"type": "stdio", "command": "demo-server", "args": [name]},
        "transport": "stdio",
        "scope": "project",
        "source": "project",
    });
    if state.servers_off.iter().any(|off| off == name) {
        server["status"] = json!("disabled");
    } else if connects {
        server["status"] = json!("connected");
        server["serverInfo"] = json!({"name": name, "version": "1.0"});
        server["tools"] = json!([
            {"name": "list_issues", "annotations": {"readOnly": true}},
            {"name": "create_issue", "annotations": {}},
        ]);
    } else {
        server["status"] = json!("failed");
        server["error"] = json!(FAILURE);
    }
    server
}

/// The answer to `mcp_status`.
pub fn servers(state: &DemoState) -> Value {
    let servers: Vec<Value> =
        SERVERS.into_iter().map(|(name, connects)| server(state, name, connects)).collect();
    json!({ "mcpServers": servers })
}

fn find(name: &str) -> Result<bool, String> {
    let found = SERVERS.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, connects)| connects).ok_or_else(|| format!("Server not found: {name}"))
}

/// Connects to a server again.
pub fn reconnect(state: &DemoState, name: &str) -> Result<(), String> {
    let connects = find(name)?;
    if state.servers_off.iter().any(|off| off == name) {
        return Err(format!("MCP server {name} is disabled"));
    }
    if connects { Ok(()) } else { Err(FAILURE.to_owned()) }
}

/// Turns a server on or off.
pub fn toggle(state: &mut DemoState, name: &str, is_on: bool) -> Result<(), String> {
    find(name)?;
    state.servers_off.retain(|off| off != name);
    if !is_on {
        state.servers_off.push(name.to_owned());
    }
    Ok(())
}

/// The answer to `get_hooks_listing`.
pub fn hooks() -> Value {
    json!({
        "hooks": [{
            "event": "PreToolUse",
            "matcher": "Bash",
            "source": "projectSettings",
            "sourceLabel": "Project settings (.claude/settings.json)",
            "type": "command",
            "displayText": "./scripts/check.sh",
            "commandText": "./scripts/check.sh",
            "timeout": 5,
        }],
        "policy": {"disabledByPolicy": false, "managedOnly": false, "allDisabled": false},
    })
}

/// The answer to `reload_plugins`.
pub fn reloaded(state: &DemoState) -> Value {
    let mut answer = servers(state);
    answer["commands"] = catalogue::commands();
    answer["agents"] = catalogue::agents();
    answer["plugins"] = json!([{"name": "demo-plugin", "path": "builtin", "source": "demo-plugin@builtin"}]);
    answer["error_count"] = json!(0);
    answer
}

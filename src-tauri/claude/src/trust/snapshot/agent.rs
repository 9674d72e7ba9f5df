//! A subagent, for `--agents`.

use crate::trust::frontmatter;
use crate::trust::json::Json;
use serde_json::{Map, Value};

/// Keys of a subagent that `--agents` accepts. An unknown key would make the CLI leave out all subagents.
const KEYS: &[&str] = &[
    "description",
    "tools",
    "disallowedTools",
    "model",
    "permissionMode",
    "mcpServers",
    "hooks",
    "maxTurns",
    "skills",
    "memory",
    "effort",
    "background",
];

/// Keys whose values are lists, which a document may write with commas.
const LISTS: &[&str] = &["tools", "disallowedTools", "skills"];

/// Reads a document as a subagent: its name, and the subagent. `None` without a name or a description, because the CLI
/// leaves such a document out.
pub fn read(text: &str) -> Option<(String, Value)> {
    let document = frontmatter::split(text);
    let mut name = None;
    let mut agent = Map::new();
    for (key, value) in frontmatter::entries(document.yaml?).ok()? {
        let value = plain(&value)?;
        match key.as_str() {
            "name" => name = value.as_str().map(str::to_owned),
            // This mode asks for no permission; only the user may choose it.
            "permissionMode" if value == "bypassPermissions" => {}
            "tools" if value == "*" => {}
            key if LISTS.contains(&key) => {
                agent.insert(key.to_owned(), list(value));
            }
            key if KEYS.contains(&key) => {
                agent.insert(key.to_owned(), value);
            }
            _ => {}
        }
    }
    agent.get("description")?.as_str()?;
    agent.insert("prompt".to_owned(), document.body.trim().into());
    Some((name?, Value::Object(agent)))
}

fn plain(value: &Json) -> Option<Value> {
    serde_json::from_str(&value.written()).ok()
}

fn list(value: Value) -> Value {
    match value {
        Value::String(text) => split_list(&text).into_iter().map(Value::from).collect(),
        value => value,
    }
}

/// `Read, Bash(a, b)` has two entries.
fn split_list(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

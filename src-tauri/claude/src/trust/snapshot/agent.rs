//! A subagent, for `--agents`.

use crate::trust::json::{Json, values};
use crate::trust::{frontmatter, hooks, keys};
use serde_json::{Map, Value};

/// Reads a document as a subagent: its name, and the subagent. `None` if the CLI would leave it out, or if it would have
/// more tools than it says.
///
/// With one value of a wrong form in `--agents`, 2.1.332 starts no session and 2.1.197 has none of the subagents.
pub fn read(text: &str) -> Option<(String, Value)> {
    let (entries, body) = frontmatter::read(text).ok()?;
    let name = values(&entries, "name").last()?.as_str()?.to_owned();
    let body = body.trim();
    if name.is_empty() || name == "__proto__" || body.is_empty() {
        return None;
    }
    let mut agent = Map::new();
    for (key, value) in accepted(&entries, &mut Vec::new())? {
        agent.insert(key, serde_json::to_value(&value).ok()?);
    }
    agent.get("description")?;
    agent.insert("prompt".to_owned(), body.into());
    Some((name, Value::Object(agent)))
}

/// A subagent's document for a plugin. `None` as in [`read`].
pub fn document(text: &str) -> Option<String> {
    read(text)?;
    let (entries, body) = frontmatter::read(text).ok()?;
    let name = values(&entries, "name").last()?.clone();
    let mut kept = vec![("name".to_owned(), name)];
    kept.extend(accepted(&entries, &mut Vec::new())?);
    Some(frontmatter::written(&kept, body))
}

/// The entries of a subagent that the CLI accepts. All others are added to `refused`, each with its text. `None` if
/// without them the subagent could do more.
pub(in crate::trust) fn accepted(
    entries: &[(String, Json)],
    refused: &mut Vec<(String, String)>,
) -> Option<Vec<(String, Json)>> {
    let mut accepted = Vec::new();
    let mut widens = false;
    for (key, value) in entries {
        let value = match (key.as_str(), value) {
            ("name", _) => continue,
            ("tools", Json::Text(text)) if text == "*" => continue,
            ("tools" | "disallowedTools" | "skills", Json::Text(text)) => {
                Some(Json::List(split_list(text).into_iter().map(Json::Text).collect()))
            }
            ("tools" | "disallowedTools" | "skills", Json::List(items)) => {
                items.iter().all(|item| item.as_str().is_some()).then(|| value.clone())
            }
            ("description" | "model", Json::Text(text)) => (!text.trim().is_empty()).then(|| value.clone()),
            // The others ask for no permission, so only the user may choose them.
            ("permissionMode", Json::Text(mode)) => MODES.contains(&mode.as_str()).then(|| value.clone()),
            ("maxTurns", Json::Number(turns)) => {
                turns.as_u64().is_some_and(|turns| turns > 0).then(|| value.clone())
            }
            ("memory", Json::Text(memory)) => {
                ["user", "project", "local"].contains(&memory.as_str()).then(|| value.clone())
            }
            ("effort", Json::Text(effort)) => {
                ["low", "medium", "high", "max"].contains(&effort.as_str()).then(|| value.clone())
            }
            ("background", Json::Bool(_)) => Some(value.clone()),
            ("hooks", _) => keys::accepted("hooks", value, refused).map(known_events),
            ("mcpServers", Json::List(items)) => items.iter().all(is_server).then(|| value.clone()),
            // An unknown key has no effect.
            (key, _) if !KEYS.contains(&key) => continue,
            _ => None,
        };
        match value {
            Some(value) => accepted.push((key.clone(), value)),
            None => {
                let text = values(entries, key).last().map(Json::text).unwrap_or_default();
                refused.push((key.clone(), text));
                widens |= ["tools", "disallowedTools"].contains(&key.as_str());
            }
        }
    }
    (!widens).then_some(accepted)
}

/// Keys of a subagent that `--agents` accepts and that are read here.
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

/// The modes of a subagent that every version knows.
const MODES: &[&str] = &["acceptEdits", "default", "dontAsk", "plan"];

/// `--agents` refuses an event that it does not know; a settings file may have one.
fn known_events(hooks: Json) -> Json {
    let Json::Object(mut events) = hooks else { return hooks };
    events.retain(|(event, _)| hooks::is_event(event));
    Json::Object(events)
}

/// The name of a server, or one server with its name.
fn is_server(item: &Json) -> bool {
    match item {
        Json::Text(_) => true,
        Json::Object(servers) => match &servers[..] {
            [(_, server)] => {
                serde_json::to_value(server).is_ok_and(|server| super::servers::is_valid(&server))
            }
            _ => false,
        },
        _ => false,
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

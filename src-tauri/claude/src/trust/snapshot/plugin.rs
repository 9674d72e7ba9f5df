//! The documents of a plugin, for `--plugin-dir`.

use crate::trust::json::{Json, values};
use crate::trust::{frontmatter, keys};
use serde_json::json;

/// The prefix that distinguishes the folder's skills and commands from others with the same name.
const NAME: &str = "project";

/// Maximum length of a skill's name, in characters.
const MOST_NAME: usize = 64;

/// The file `.claude-plugin/plugin.json`.
pub fn manifest() -> String {
    json!({ "name": NAME, "version": "1.0.0" }).to_string()
}

/// Rewrites a skill's document. It gets this name if it has none. Returns `None` if the document is ambiguous, or if
/// dropping a malformed entry would allow more.
pub fn skill(text: &str, name: &str) -> Option<String> {
    let (entries, body) = frontmatter::read(text).ok()?;
    let mut kept = accepted(&entries, &mut Vec::new())?;
    if values(&kept, "name").next().is_none() {
        kept.insert(0, ("name".to_owned(), Json::Text(name.to_owned())));
    }
    Some(frontmatter::written(&kept, body))
}

/// Rewrites a slash command's document, as a skill with this name or as a command. Returns `None` as [`skill`] does.
pub fn command(text: &str, name: Option<&str>) -> Option<String> {
    let (entries, body) = frontmatter::read(text).ok()?;
    let mut kept = accepted(&entries, &mut Vec::new())?;
    kept.retain(|(key, _)| key != "name");
    if let Some(name) = name {
        kept.insert(0, ("name".to_owned(), Json::Text(name.to_owned())));
    }
    Some(frontmatter::written(&kept, body))
}

/// Returns the entries of a skill or a command that a copy may have. Adds all others to `refused`, with their text: a
/// skill can also declare servers, settings, monitors and other plugin parts (2.1.332), and later versions may add
/// more. Returns `None` if dropping a malformed entry would allow more.
pub(in crate::trust) fn accepted(
    entries: &[(String, Json)],
    refused: &mut Vec<(String, String)>,
) -> Option<Vec<(String, Json)>> {
    let mut accepted = Vec::new();
    let mut widens = false;
    for (key, value) in entries {
        let value = match (key.as_str(), value) {
            // An entry without a value.
            (_, Json::Null) => continue,
            ("name", Json::Text(name)) => is_name(name).then(|| value.clone()),
            ("description" | "argument-hint" | "when_to_use" | "model" | "agent", Json::Text(_)) => {
                Some(value.clone())
            }
            ("version" | "effort", Json::Text(_) | Json::Number(_)) => Some(value.clone()),
            ("argument-hint", Json::List(_)) if is_texts(value) => Some(Json::Text(value.text())),
            ("allowed-tools" | "arguments" | "paths", _) if is_texts(value) => Some(value.clone()),
            ("disallowed-tools" | "disallowedTools", _) if is_texts(value) => Some(value.clone()),
            ("disable-model-invocation" | "user-invocable", Json::Bool(_)) => Some(value.clone()),
            ("shell", Json::Text(shell)) => {
                ["bash", "powershell"].contains(&shell.as_str()).then(|| value.clone())
            }
            ("context", Json::Text(context)) => (context == "fork").then(|| value.clone()),
            ("hooks", _) => keys::accepted("hooks", value, refused),
            // They only describe the document.
            (key, _) if DESCRIPTIONS.contains(&key) => continue,
            _ => None,
        };
        match value {
            Some(value) => accepted.push((key.clone(), value)),
            None => {
                refused.push((key.clone(), value_of(entries, key)));
                widens |= NARROWING.contains(&key.as_str());
            }
        }
    }
    (!widens).then_some(accepted)
}

/// Whether every version of the CLI uses this name: instead of another one 2.1.332 uses the name of the folder, and 2.1.197
/// the name itself.
fn is_name(name: &str) -> bool {
    // Of the invisible characters, those that are letters or marks.
    let is_hidden = |c: char| {
        matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}'
            | '\u{ffa0}' | '\u{feff}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    let is_plain =
        |c: char| c == ' ' || !(c.is_control() || c.is_whitespace() || is_hidden(c) || "<>".contains(c));
    name == name.trim() && name.chars().count() <= MOST_NAME && name.chars().all(is_plain)
}

fn value_of(entries: &[(String, Json)], key: &str) -> String {
    values(entries, key).last().map(Json::text).unwrap_or_default()
}

/// A text, or a list of texts.
fn is_texts(value: &Json) -> bool {
    match value {
        Json::Text(_) => true,
        Json::List(items) => items.iter().all(|item| item.as_str().is_some()),
        _ => false,
    }
}

/// Entries that only describe a document.
const DESCRIPTIONS: &[&str] =
    &["author", "compatibility", "homepage", "keywords", "license", "metadata", "repository"];

/// Entries that only restrict the document.
const NARROWING: &[&str] = &["disable-model-invocation", "disallowed-tools", "disallowedTools"];

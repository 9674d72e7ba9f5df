//! The documents of a plugin, for `--plugin-dir`.

use crate::trust::frontmatter;
use serde_json::json;

/// The prefix that distinguishes the folder's skills and commands from others with the same name.
const NAME: &str = "project";

/// The file `.claude-plugin/plugin.json`.
pub fn manifest() -> String {
    json!({ "name": NAME, "version": "1.0.0" }).to_string()
}

/// A skill's document. It gets this name if it has none.
pub fn skill(text: &str, name: &str) -> String {
    let document = frontmatter::split(text);
    let entries = document.yaml.map(frontmatter::entries).and_then(Result::ok).unwrap_or_default();
    let has_name = entries.iter().any(|(key, value)| key == "name" && value.as_str().is_some());
    if has_name { text.to_owned() } else { frontmatter::named(text, name) }
}

/// The document of a slash command with this name, as a skill.
pub fn command(text: &str, name: &str) -> String {
    frontmatter::named(text, name)
}

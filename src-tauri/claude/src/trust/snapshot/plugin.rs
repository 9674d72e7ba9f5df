//! The documents of a plugin, for `--plugin-dir`.

use crate::trust::frontmatter;
use serde_json::json;

/// The prefix that distinguishes the folder's skills and commands from others with the same name.
const NAME: &str = "project";

/// The file `.claude-plugin/plugin.json`.
pub fn manifest() -> String {
    json!({ "name": NAME, "version": "1.0.0" }).to_string()
}

/// A skill's document. It gets this name if it has none. `None` if its YAML cannot be read.
pub fn skill(text: &str, name: &str) -> Option<String> {
    let document = frontmatter::split(text);
    let entries = document.yaml.map(frontmatter::entries).and_then(Result::ok).unwrap_or_default();
    let has_name = entries.iter().any(|(key, value)| key == "name" && value.as_str().is_some());
    frontmatter::rewritten(text, (!has_name).then_some(name))
}

/// The document of a slash command, as a skill with this name, or as a command of its own. `None` if its YAML cannot be
/// read.
pub fn command(text: &str, name: Option<&str>) -> Option<String> {
    frontmatter::rewritten(text, name)
}

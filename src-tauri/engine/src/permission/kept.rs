//! Which rules an answer has the agent keep in the folder's own settings. Whoever trusts the folder chose them, so that
//! they are no reason to ask about it again.

use crate::api::PermissionRequest;
use serde_json::Value;

/// The rules, as the agent writes them to `.claude/settings.local.json`, if this suggestion of the request is taken.
pub fn kept_locally(request: &PermissionRequest, suggestion: &Value) -> Vec<String> {
    let chosen = request.suggestions.iter().find(|known| super::names(suggestion, known));
    chosen.map(|known| rules_kept_locally(&known.raw)).unwrap_or_default()
}

/// The same of a suggestion as the agent sent it.
pub fn rules_kept_locally(raw: &Value) -> Vec<String> {
    if raw["type"] != "addRules" || raw["behavior"] != "allow" || raw["destination"] != "localSettings" {
        return Vec::new();
    }
    let rules = raw["rules"].as_array().into_iter().flatten();
    rules.filter_map(written).collect()
}

/// `Bash(touch b.txt)`, or the tool alone. Brackets and backslashes in a rule's content are written with a backslash.
fn written(rule: &Value) -> Option<String> {
    let tool = rule["toolName"].as_str()?;
    Some(match rule["ruleContent"].as_str() {
        Some(content) => {
            let content = content.replace('\\', r"\\").replace('(', r"\(").replace(')', r"\)");
            format!("{tool}({content})")
        }
        None => tool.to_owned(),
    })
}

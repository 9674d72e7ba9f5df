//! The rules that an answer makes the agent save in the folder's own settings. The user chose them, so they are no
//! reason to ask about the folder's trust again.

use crate::api::PermissionRequest;
use serde_json::Value;

/// The rules that the agent writes to `.claude/settings.local.json` if this suggestion of the request is chosen.
pub fn kept_locally(request: &PermissionRequest, suggestion: &Value) -> Vec<String> {
    let chosen = request.suggestions.iter().find(|known| super::names(suggestion, known));
    chosen.map(|known| rules_kept_locally(&known.raw)).unwrap_or_default()
}

/// The same for a suggestion as the agent sent it.
pub fn rules_kept_locally(raw: &Value) -> Vec<String> {
    if raw["type"] != "addRules" || raw["behavior"] != "allow" || raw["destination"] != "localSettings" {
        return Vec::new();
    }
    let rules = raw["rules"].as_array().into_iter().flatten();
    rules.filter_map(written).collect()
}

/// `Bash(touch b.txt)`, or the tool alone. Brackets and backslashes in a rule's content are escaped with a backslash.
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

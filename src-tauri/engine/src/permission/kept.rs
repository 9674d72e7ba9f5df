//! The rules that an answer makes the agent save in the folder's own settings. The user chose them, so they are no
//! reason to ask about the folder's trust again.

use crate::api::PermissionRequest;
use crate::claude::request::rules_kept_locally;
use serde_json::Value;

/// The rules that the agent writes to `.claude/settings.local.json` if this suggestion of the request is chosen.
pub fn kept_locally(request: &PermissionRequest, suggestion: &Value) -> Vec<String> {
    let chosen = request.suggestions.iter().find(|known| super::names(suggestion, known));
    chosen.map(|known| rules_kept_locally(&known.raw)).unwrap_or_default()
}

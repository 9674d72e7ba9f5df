//! The rules that an answer makes the agent save in the folder's own settings. The user chose them, so they are no
//! reason to ask about the folder's trust again.

use super::Dialogs;
use crate::api::PermissionRequest;
use serde_json::Value;

impl Dialogs {
    /// The rules that the agent writes to the folder's local settings if this suggestion of the request is chosen.
    pub fn kept_locally(request: &PermissionRequest, suggestion: &Value) -> Vec<String> {
        let chosen = request.suggestions.iter().find(|known| super::names(suggestion, known));
        chosen.map(|known| known.folder_rules.clone()).unwrap_or_default()
    }
}

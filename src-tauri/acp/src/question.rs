//! Questions of the agent: forms with fields.

use crate::read::text;
use crate::rpc::shortened;
use deskbell_agent::form;
use deskbell_api::FormField;
use serde_json::Value;

/// A question: its call, its words and its fields. Fails for a question of another kind than a form, which this side
/// does not offer.
pub fn read(params: &Value) -> Result<(Option<String>, String, Vec<FormField>), String> {
    if params.get("mode").is_some_and(|mode| mode != "form") {
        return Err(format!("questions of the mode {} are not offered", params["mode"]));
    }
    let fields = params.get("requestedSchema").and_then(|schema| form::fields(schema, &[]));
    let fields = fields.ok_or_else(|| {
        format!(
            "the question is no form: {}",
            params.get("requestedSchema").map(shortened).unwrap_or_default()
        )
    })?;
    Ok((text(params, "toolCallId"), text(params, "message").unwrap_or_default(), fields))
}

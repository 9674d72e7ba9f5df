//! Dialogs of the agent itself (`request_user_dialog`), as forms with one choice.
//!
//! The agent sends only the kinds that `initialize` declares; without a declaration the turn ends where it would ask
//! (2.1.329). 2.1.197 ignores the declaration. The answer is one of the values that the agent's own schema of a kind lists.

use deskbell_agent::json::Input;
use deskbell_agent::{AskedCall, ToolRequest};
use deskbell_api::{FieldKind, Form, FormChoice, FormField};
use serde_json::{Map, Value, json};

/// The model declined a message, and another model could continue.
const REFUSAL: &str = "refusal_fallback_prompt";
/// The auto mode needs another service to judge calls, or costs more than before.
const AUTO_MODE: &str = "auto_mode_server_fallback";

/// The kinds that Deskbell declares. The others need an account (the use of credits) or Remote Control.
pub(super) const KINDS: [&str; 2] = [REFUSAL, AUTO_MODE];

/// The name of the tool in the request of a dialog.
pub const DIALOG: &str = "Dialog";

/// The name of the field with the choice.
const CHOICE: &str = "choice";

/// Reads a dialog. `None` for one that was not declared or cannot be read: the agent ignores a refusal of it, and cancels
/// it when its time is over.
pub(super) fn read(text: &str) -> Option<ToolRequest> {
    let input = Input::read(text).ok()?;
    let payload = input.value().get("payload")?;
    let text = |key: &str| payload.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (message, choices) = match input.value().get("dialog_kind")?.as_str()? {
        REFUSAL => {
            let (declined, other) = (text("originalModel")?, text("fallbackModel")?);
            let category = text("apiRefusalCategory").map_or_else(String::new, |word| format!(" ({word})"));
            let mut message =
                format!("{declined} declined to answer: its safeguards flagged the conversation{category}.");
            if let Some(guidance) = text("guidanceText") {
                message = format!("{message}\n\n{guidance}");
            }
            let go_on = format!("The session uses {other} from now on.");
            let choices = vec![
                choice("retry_fallback", &format!("Continue with {other}"), &go_on),
                choice("edit_prompt", "Stop here", "You can change the prompt and send it again."),
            ];
            (message, choices)
        }
        AUTO_MODE => {
            let paragraphs = payload.get("paragraphs")?.as_array()?.iter().filter_map(Value::as_str);
            let parts = text("title").into_iter().chain(paragraphs).chain(text("helpUrl"));
            let choices = vec![
                choice("continue", "Continue", "The turn goes on in the auto mode."),
                choice("interrupt", "Stop here", "The turn ends."),
            ];
            (parts.collect::<Vec<_>>().join("\n\n"), choices)
        }
        _ => return None,
    };
    let field = FormField {
        name: CHOICE.to_owned(),
        label: "How to continue".to_owned(),
        description: None,
        is_required: true,
        kind: FieldKind::One { choices, default: None },
    };
    let form = Form { server: None, message, url: None, fields: vec![field] };
    let asked = AskedCall { form: Some(form), ..AskedCall::default() };
    Some(ToolRequest { tool_name: DIALOG.to_owned(), input, asked, ..ToolRequest::default() })
}

fn choice(value: &str, label: &str, description: &str) -> FormChoice {
    FormChoice { value: value.to_owned(), label: label.to_owned(), description: Some(description.to_owned()) }
}

/// The answer to a dialog. Without values it was dismissed, which the agent takes as its own default.
pub fn answer(request_id: &str, values: Option<&Map<String, Value>>) -> String {
    let answer = match values.and_then(|values| values.get(CHOICE)) {
        Some(choice) => json!({"behavior": "completed", "result": choice}),
        None => json!({"behavior": "cancelled"}),
    };
    json!({
        "type": "control_response",
        "response": {"subtype": "success", "request_id": request_id, "response": answer},
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: &str, payload: Value) -> Option<Form> {
        let request = json!({"subtype": "request_user_dialog", "dialog_kind": kind, "payload": payload});
        super::read(&request.to_string())?.asked.form
    }

    fn values(form: &Form) -> Vec<&str> {
        let FieldKind::One { choices, .. } = &form.fields[0].kind else { panic!("{form:?}") };
        choices.iter().map(|choice| choice.value.as_str()).collect()
    }

    #[test]
    fn a_declared_dialog_is_a_form_with_one_choice() {
        let payload = json!({"originalModel": "fable", "fallbackModel": "opus", "apiRefusalCategory": "bio",
            "retractedMessageUuids": ["a"]});
        let form = read(REFUSAL, payload).unwrap();
        assert_eq!(form.message, "fable declined to answer: its safeguards flagged the conversation (bio).");
        assert_eq!((form.server.as_deref(), form.fields.len()), (None, 1));
        assert!(form.fields[0].is_required);
        assert_eq!(values(&form), ["retry_fallback", "edit_prompt"]);
        let payload =
            json!({"title": "T", "paragraphs": ["one", 2, "three"], "helpUrl": "https://h.example"});
        let form = read(AUTO_MODE, payload).unwrap();
        assert_eq!(form.message, "T\n\none\n\nthree\n\nhttps://h.example");
        assert_eq!(values(&form), ["continue", "interrupt"]);
        assert!(KINDS.iter().all(|kind| read(kind, json!(null)).is_none()));
        for (kind, payload) in [
            (REFUSAL, json!({"originalModel": "fable"})),
            (REFUSAL, json!({"originalModel": 1, "fallbackModel": "opus"})),
            (AUTO_MODE, json!({"paragraphs": "one"})),
            ("enum_prompt", json!({"title": "T", "paragraphs": []})),
        ] {
            assert_eq!(read(kind, payload.clone()), None, "{kind} {payload}");
        }
    }

    #[test]
    fn the_answer_is_the_choice_or_a_dismissal() {
        let chosen = json!({"choice": "edit_prompt"});
        assert_eq!(
            answer("r", chosen.as_object()),
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"completed","result":"edit_prompt"}}}"#
        );
        assert!(answer("r", None).contains(r#"{"behavior":"cancelled"}"#));
    }
}

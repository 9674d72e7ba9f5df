//! Forms: their presentation to the user, and the answers to them.

use super::Answer;
use crate::agent::{AgentCommand, form};
use crate::api::*;
use crate::misleading::written_out;

/// The form as it is shown: misleading characters are written out. The names of fields and the values of choices stay,
/// because the answer refers to them.
pub fn shown(form: &Form) -> Form {
    let lines = |text: &str| text.split('\n').map(written_out).collect::<Vec<_>>().join("\n");
    Form {
        server: form.server.as_deref().map(written_out),
        message: lines(&form.message),
        url: form.url.as_deref().map(written_out),
        fields: form.fields.iter().map(shown_field).collect(),
    }
}

fn shown_field(field: &FormField) -> FormField {
    let written = |text: &Option<String>| text.as_deref().map(written_out);
    let each = |choices: &[FormChoice]| -> Vec<FormChoice> {
        choices
            .iter()
            .map(|choice| FormChoice {
                value: choice.value.clone(),
                label: written_out(&choice.label),
                description: written(&choice.description),
            })
            .collect()
    };
    FormField {
        label: written_out(&field.label),
        description: written(&field.description),
        kind: match field.kind.clone() {
            FieldKind::One { choices, default } => FieldKind::One { choices: each(&choices), default },
            FieldKind::Many { choices, default, minimum, maximum } => {
                FieldKind::Many { choices: each(&choices), default, minimum, maximum }
            }
            FieldKind::Text { default, format, min_length, max_length } => {
                FieldKind::Text { default, format: written(&format), min_length, max_length }
            }
            FieldKind::Unknown { schema } => FieldKind::Unknown { schema: written_out(&schema) },
            kind @ (FieldKind::Number { .. } | FieldKind::Switch { .. }) => kind,
        },
        ..field.clone()
    }
}

/// The question of a form as it is shown, in one line.
pub fn question(form: &Form) -> String {
    let who = form.server.as_deref().unwrap_or("The agent");
    match (&form.url, form.fields.as_slice()) {
        (Some(_), _) => format!("{who} asks you to open a page"),
        (None, [FormField { kind: FieldKind::One { .. }, .. }]) => format!("{who} asks you to choose"),
        (None, _) => format!("{who} asks you to fill in a form"),
    }
}

/// The answer for a decision about a form. Fails if the decision does not fit it.
pub fn answer(id: &RequestId, asked: &Form, decision: Decision) -> Result<Answer, String> {
    let filled = |values| AgentCommand::Fill { request_id: id.to_string(), values };
    let (command, resolution) = match decision {
        Decision::Fill { values } => {
            let content = form::filled(&asked.fields, values).map_err(|name| unfit(asked, &name))?;
            (filled(Some(content)), Resolution::Answered)
        }
        Decision::Deny { message, interrupt: false } => {
            (filled(None), Resolution::Denied { message: message.trim().to_owned() })
        }
        Decision::Deny { interrupt: true, .. } => {
            return Err("Declining a form does not end the turn. Stop the session instead.".to_owned());
        }
        _ => return Err("The request is a form: fill it in, or decline it.".to_owned()),
    };
    Ok(Answer { command, resolution, changed: None })
}

fn unfit(form: &Form, name: &str) -> String {
    match form.fields.iter().find(|field| field.name == name) {
        Some(field) => format!("“{}” has no value that the form accepts.", written_out(&field.label)),
        None => format!("The form has no field “{}”.", written_out(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{AskedCall, ToolRequest};
    use crate::permission::{OpenRequests, view, wants};
    use serde_json::json;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    fn request(url: Option<&str>) -> ToolRequest {
        let schema =
            json!({"required": ["a"], "properties": {"a": {"type": "string", "title": "A\u{202e}"}}});
        let fields = if url.is_some() { Vec::new() } else { form::fields(&schema, &[]).unwrap() };
        let message = "Which\u{202e}?\nSay.".to_owned();
        let form = Form { server: Some("desk".to_owned()), message, url: url.map(str::to_owned), fields };
        let asked = AskedCall { action: form.url.clone(), form: Some(form), ..AskedCall::default() };
        ToolRequest {
            tool_name: "Elicitation".to_owned(),
            asked,
            input: schema.into(),
            ..ToolRequest::default()
        }
    }

    fn decided(request: &ToolRequest, decision: Decision) -> Result<AgentCommand, String> {
        let view = view(RequestId::new("r"), request, 0);
        crate::permission::answer(&view, request, Some(&view.shown), decision).map(|answer| answer.command)
    }

    fn fill(values: serde_json::Value) -> Decision {
        Decision::Fill {
            values: serde_json::from_value::<BTreeMap<String, serde_json::Value>>(values).unwrap(),
        }
    }

    #[test]
    fn a_form_is_shown_without_misleading_characters() {
        let view = view(RequestId::new("r"), &request(None), 0);
        let RequestKind::Form { form } = &view.kind else { panic!("{:?}", view.kind) };
        assert_eq!(form.message, "Which\\u{202E}?\nSay.");
        assert_eq!((form.fields[0].name.as_str(), form.fields[0].label.as_str()), ("a", "A\\u{202E}"));
        assert_eq!(view.question, "desk asks you to fill in a form");
        assert_eq!(wants(&view), "Has a question");
    }

    #[test]
    fn a_form_with_one_choice_asks_to_choose() {
        let schema = json!({"properties": {"a": {"type": "string", "enum": ["x", "y"]}}});
        let form = Form { fields: form::fields(&schema, &[]).unwrap(), ..Form::default() };
        assert_eq!(question(&form), "The agent asks you to choose");
        assert_eq!(question(&Form { fields: Vec::new(), ..form }), "The agent asks you to fill in a form");
    }

    #[test]
    fn a_page_shows_its_host_and_what_is_odd_about_its_address() {
        let request = request(Some("https://bank.example@evil.example/login"));
        let view = view(RequestId::new("r"), &request, 0);
        assert_eq!(view.question, "desk asks you to open a page");
        assert_eq!(view.host.as_deref(), Some("evil.example"));
        assert!(view.notices.iter().any(|notice| notice.kind == NoticeKind::Address), "{:?}", view.notices);
        let agreed = AgentCommand::Fill { request_id: "r".to_owned(), values: Some(serde_json::Map::new()) };
        assert_eq!(decided(&request, fill(json!({}))), Ok(agreed));
    }

    #[test]
    fn only_values_that_fit_are_sent_and_nothing_else_allows_it() {
        let request = request(None);
        let content = json!({"a": "x"}).as_object().cloned();
        let filled = AgentCommand::Fill { request_id: "r".to_owned(), values: content };
        assert_eq!(decided(&request, fill(json!({"a": "x"}))), Ok(filled));
        let declined = AgentCommand::Fill { request_id: "r".to_owned(), values: None };
        let deny = |interrupt| Decision::Deny { message: String::new(), interrupt };
        assert_eq!(decided(&request, deny(false)), Ok(declined));
        for decision in [
            fill(json!({})),
            fill(json!({"a": 1})),
            fill(json!({"a": "x", "b": "y"})),
            Decision::AllowOnce { updated_input: None },
            Decision::AllowAlways { suggestion: json!("s0") },
            Decision::ApprovePlan { accept_edits: false },
            Decision::Answer { answers: BTreeMap::new() },
            deny(true),
        ] {
            assert!(decided(&request, decision.clone()).is_err(), "{decision:?}");
        }
        let unfit = decided(&request, fill(json!({"a": 1}))).unwrap_err();
        assert_eq!(unfit, "“A\\u{202E}” has no value that the form accepts.");
    }

    #[test]
    fn a_form_that_nobody_can_answer_any_more_is_declined() {
        let mut open = OpenRequests::default();
        open.ask(RequestId::new("r"), Arc::new(request(None)), None, 0).unwrap();
        let closed = open.deny_all("It ends.");
        let declined = AgentCommand::Fill { request_id: "r".to_owned(), values: None };
        assert_eq!(closed[0].command, Some(declined));
    }
}

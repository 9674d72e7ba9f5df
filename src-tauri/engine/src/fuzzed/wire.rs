//! Fuzz target for the protocol: any line can be read, and any line that we write can be read back.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::agent::{
    AgentCommand, AgentEvent, AgentRequest, AnswerOption, Assistant, ContentBlock, Grant, HostRequest,
    TokenUsage, User,
};
use crate::api::Attachment;
use crate::wire;

/// Parses the bytes as a line, and uses them in every field of our own lines.
pub fn wire(data: &[u8]) {
    read(data);
    let text = String::from_utf8_lossy(data);
    user(&text);
    asked(data);
    if let Ok(value) = serde_json::from_slice::<Value>(data) {
        control(&text, &value);
    }
    control(&text, &json!({ &*text: [&*text] }));
}

fn read(line: &[u8]) {
    let inbound = wire::parse(line);
    let around = [b" \t", line, b"\r "].concat();
    // Compared as text, because a cost may be NaN.
    assert_eq!(
        format!("{inbound:?}"),
        format!("{:?}", wire::parse(&around)),
        "blanks around a line mean nothing"
    );
    match inbound {
        AgentEvent::Unreadable { line, .. } => assert!(line.len() <= 4096),
        AgentEvent::TurnEnded(result) => {
            result.context_window(None);
            result.usage.iter().for_each(counted);
        }
        AgentEvent::Assistant(assistant) => {
            let Assistant { message, .. } = *assistant;
            message.usage.iter().for_each(counted);
        }
        _ => {}
    }
}

fn counted(usage: &TokenUsage) {
    assert!(usage.context_tokens() >= usage.input_tokens.max(usage.output_tokens));
}

/// The reader of our lines is another program, for which only a line feed ends a line.
#[track_caller]
fn read_back(line: &str) -> AgentEvent {
    assert!(!line.contains('\n'), "{line:?}");
    wire::parse(line.as_bytes())
}

/// The input that is shown and allowed equals the agent's input byte for byte.
fn asked(data: &[u8]) {
    let Ok(input) = std::str::from_utf8(data) else { return };
    let is_object = serde_json::from_str::<&RawValue>(input).is_ok() && input.trim_ascii().starts_with('{');
    if !is_object || input.contains('\n') {
        return;
    }
    let request = format!(r#"{{"subtype":"can_use_tool","tool_name":"T","input":{input}}}"#);
    let line = format!(r#"{{"type":"control_request","request_id":"r","request":{request}}}"#);
    let AgentEvent::Request { request: AgentRequest::Tool(asked), .. } = read_back(&line) else {
        panic!("{input:?} was not taken for an input: {:?}", read_back(&line))
    };
    assert_eq!(asked.input.text(), input.trim_ascii());
    let answer = wire::line(&AgentCommand::Allow {
        request_id: "r".to_owned(),
        input: asked.input.text().to_owned(),
        grant: None,
    });
    assert!(answer.contains(&format!(r#""updatedInput":{}"#, input.trim_ascii())));
}

fn user(text: &str) {
    let image =
        Attachment { media_type: "image/png".to_owned(), data: text.to_owned(), ..Attachment::default() };
    for images in [&[][..], &[image]] {
        let AgentEvent::User(user) = read_back(&wire::line(&AgentCommand::Prompt {
            uuid: text.to_owned(),
            text: text.to_owned(),
            attachments: images.to_vec(),
        })) else {
            panic!("{text:?}")
        };
        let User { message, uuid, .. } = *user;
        assert_eq!(uuid.as_deref(), Some(text));
        let texts = message.content.iter().filter_map(|block| match block {
            ContentBlock::Text { text } => Some(text.as_str()),
            _ => None,
        });
        // With images, an empty text is left out, because the API rejects it.
        let expected = (images.is_empty() || !text.is_empty()).then_some(text);
        assert_eq!(texts.collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
        assert_eq!(
            message.content.iter().filter(|block| **block == ContentBlock::Image).count(),
            images.len()
        );
    }
}

fn control(text: &str, value: &Value) {
    let request_id = || text.to_owned();
    let answer = |command: AgentCommand| {
        let line = wire::line(&command);
        let AgentEvent::Response { request_id, .. } = read_back(&line) else { panic!("{line}") };
        assert_eq!(request_id, text);
        let line: Value = serde_json::from_str(&line).expect("it was read");
        line["response"].clone()
    };
    let option = AnswerOption { raw: value.clone(), ..AnswerOption::default() };
    let grant = Some(Grant::Option(Box::new(option)));
    let allowed = answer(AgentCommand::Allow { request_id: request_id(), input: value.to_string(), grant });
    let allowed = &allowed["response"];
    assert_eq!(allowed["behavior"], "allow");
    assert_eq!(allowed["updatedInput"], *value, "a tool runs with exactly the input that was allowed");
    assert_eq!(allowed["updatedPermissions"][0], *value);
    let message = request_id();
    let denied = answer(AgentCommand::Deny { request_id: request_id(), message, interrupt: true });
    assert_eq!(denied["response"], json!({"behavior": "deny", "message": text, "interrupt": true}));
    let refused = answer(AgentCommand::Refuse { request_id: request_id(), error: request_id() });
    assert_eq!((&refused["subtype"], &refused["error"]), (&json!("error"), &json!(text)));
    let request = HostRequest::Rename(text.to_owned());
    let asked = wire::line(&AgentCommand::Request { request_id: request_id(), request });
    let AgentEvent::Request { request_id, .. } = read_back(&asked) else { panic!("{asked}") };
    assert_eq!(request_id, text);
}

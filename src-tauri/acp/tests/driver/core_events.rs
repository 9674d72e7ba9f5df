//! The recordings as events of the core.

use super::player::{names, play};
use deskbell_acp::AcpEvent;
use deskbell_acp::agents::CommandPlace;
use deskbell_acp::event::Content;
use deskbell_acp::seam::{CoreEvents, request_id, request_key};
use deskbell_agent::{AgentEvent, AgentRequest, ContentBlock, EndReason, StreamEvent};
use std::collections::BTreeMap;

fn translated(events: Vec<AcpEvent>) -> Vec<AgentEvent> {
    let mut core = CoreEvents::default();
    events.into_iter().flat_map(|event| core.take(event)).collect()
}

fn recorded(name: &str) -> Vec<AgentEvent> {
    translated(play(name, CommandPlace::Title).events)
}

#[test]
fn a_reply_is_complete_and_is_what_was_streamed() {
    for name in names() {
        let (mut open, mut streamed, mut whole) = (None, String::new(), String::new());
        let mut ids = Vec::new();
        let mut events = play(&name, CommandPlace::Title).events;
        // What follows ends the last message, which a repeated conversation leaves open.
        events.push(AcpEvent::TurnStarted);
        for event in translated(events) {
            match event {
                AgentEvent::Stream(stream) => match stream.event {
                    StreamEvent::MessageStart { message_id } => {
                        assert_eq!(open, None, "{name}: a message begins in another");
                        assert!(!ids.contains(&message_id), "{name}: {message_id} begins twice");
                        ids.push(message_id.clone());
                        open = Some(message_id);
                    }
                    StreamEvent::TextDelta { text, .. } | StreamEvent::ThinkingDelta { text, .. } => {
                        streamed.push_str(&text);
                    }
                    StreamEvent::MessageStop => assert!(open.take().is_some(), "{name}"),
                    _ => {}
                },
                AgentEvent::Assistant(reply) => {
                    for block in reply.message.content {
                        if let (ContentBlock::Text { text }, Some(id)) = (block, &open) {
                            assert_eq!(*id, reply.message.id, "{name}");
                            whole.push_str(&text);
                        }
                    }
                }
                _ => {}
            }
        }
        assert_eq!((open, &streamed), (None, &whole), "{name}");
    }
}

#[test]
fn each_call_has_its_input_and_one_result_in_its_turn() {
    let mut n_calls = 0;
    for name in names() {
        let mut open: BTreeMap<String, usize> = BTreeMap::new();
        for event in recorded(&name) {
            match event {
                AgentEvent::Assistant(reply) => {
                    for block in reply.message.content {
                        if let ContentBlock::ToolUse { id, call } = block {
                            assert!(!call.name.is_empty(), "{id}");
                            open.entry(id).or_default();
                        }
                    }
                }
                AgentEvent::User(user) => {
                    for block in user.message.content {
                        if let ContentBlock::ToolResult(result) = block {
                            *open.entry(result.tool_use_id).or_default() += 1;
                        }
                    }
                }
                AgentEvent::TurnEnded(_) => {
                    n_calls += open.len();
                    assert!(open.values().all(|n| *n == 1), "{name}: {open:?}");
                    open.clear();
                }
                _ => {}
            }
        }
    }
    assert!(n_calls >= 15, "{n_calls}");
}

#[test]
fn each_prompt_has_one_end() {
    for name in names() {
        let events = play(&name, CommandPlace::Title).events;
        let n_turns = events.iter().filter(|event| matches!(event, AcpEvent::TurnStarted)).count();
        let ends: Vec<_> = translated(events)
            .into_iter()
            .filter_map(|event| match event {
                AgentEvent::TurnEnded(end) => Some(end),
                _ => None,
            })
            .collect();
        assert_eq!(ends.len(), n_turns, "{name}");
        if name == "gemini" {
            assert_eq!(ends[3].reason, Some(EndReason::Interrupted));
            assert!(!ends[3].is_error && !ends[0].is_error);
        }
    }
}

#[test]
fn a_request_names_its_call_and_its_input() {
    let requests: Vec<_> = recorded("gemini-nofs")
        .into_iter()
        .filter_map(|event| match event {
            AgentEvent::Request { request_id, request: AgentRequest::Tool(request) } => {
                Some((request_id, request))
            }
            _ => None,
        })
        .collect();
    let [(edit, _), (_, shell)] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!(shell.input.text(), r#"{"command":"echo two; sleep 1; echo three"}"#);
    let other =
        shell.options.iter().filter(|option| option.kind == deskbell_agent::OptionKind::AllowAlways).count();
    assert!(shell.allow_once().is_some() && other == 1, "{:?}", shell.options);
    // It has no input: the command is the title of its call, which the card says. An edit has its diff.
    assert!(shell.unreported.as_deref().is_some_and(|words| words.contains("titled the call")), "{shell:?}");
    assert_eq!(requests[0].1.unreported, None);
    for name in ["opencode", "copilot", "codex-acp-zed", "claude-acp"] {
        let asked = recorded(name).into_iter().filter_map(|event| match event {
            AgentEvent::Request { request: AgentRequest::Tool(request), .. } => {
                Some(request.unreported.clone())
            }
            _ => None,
        });
        assert_eq!(asked.flatten().collect::<Vec<_>>(), [""; 0], "{name}");
    }
    let key = request_key(edit).unwrap();
    assert_eq!(request_id(key), *edit);
    assert_eq!(request_key("deskbell-1"), None);
}

#[test]
fn a_text_of_the_user_in_a_history_is_no_reply() {
    let texts = |events: &[AcpEvent]| {
        let is_text = |event: &&AcpEvent| {
            matches!(
                event,
                AcpEvent::Said { content: Content::Text(_), voice: deskbell_acp::event::Voice::User, .. }
            )
        };
        events.iter().filter(is_text).count()
    };
    let events = play("gemini-load", CommandPlace::Title).events;
    let n_texts = texts(&events);
    let users = translated(events).into_iter().filter(|event| matches!(event, AgentEvent::User(_))).count();
    assert!(n_texts > 0 && users >= n_texts, "{n_texts} {users}");
}

//! Tests of the items and events of a transcript when replies start again, fail, or continue in the background.

use super::{Transcript, TranscriptEvent};
use crate::api::*;
use crate::wire::{Assistant, AssistantMessage, ContentBlock, Inbound, Retry, Stream, StreamEvent};
use std::path::Path;

/// A text block restarts as a thinking block: the content of the first must not hide the second.
#[test]
fn a_block_that_begins_again_as_another_kind_is_of_that_kind() {
    let stream = |event| Inbound::Stream(Box::new(Stream { event, parent_tool_use_id: None }));
    let block = |block| stream(StreamEvent::BlockStart { index: 0, block });
    let mut transcript = Transcript::new(Path::new("/project"));
    let mut shown = Vec::new();
    for batch in [
        vec![
            stream(StreamEvent::MessageStart { message_id: "m".into() }),
            block(ContentBlock::Text { text: String::new() }),
            block(ContentBlock::Thinking { text: String::new() }),
        ],
        vec![
            stream(StreamEvent::TextDelta { index: 0, text: "a".into() }),
            stream(StreamEvent::ThinkingDelta { index: 0, text: "b".into() }),
        ],
    ] {
        batch.into_iter().for_each(|inbound| transcript.line(0, inbound));
        transcript.take_events().iter().for_each(|event| crate::patch::apply(&mut shown, event));
        assert!(shown.iter().eq(transcript.items()), "{shown:?}");
    }
    assert!(matches!(&shown[0].body, Body::Thinking { text, .. } if text == "b"), "{shown:?}");
}

/// A reply starts again under its own id, with a notice after its first copy.
#[test]
fn what_goes_and_comes_again_at_once_stands_where_it_came() {
    let stream = |event| Inbound::Stream(Box::new(Stream { event, parent_tool_use_id: None }));
    let begin = || stream(StreamEvent::MessageStart { message_id: "m".into() });
    let block = || {
        let block = ContentBlock::Thinking { text: String::new() };
        stream(StreamEvent::BlockStart { index: 0, block })
    };
    let retry = Inbound::ApiRetry(Retry { attempt: 1, max_retries: 10, ..Retry::default() });
    let mut transcript = Transcript::new(Path::new("/project"));
    let mut shown = Vec::new();
    for batch in [vec![begin(), block(), retry], vec![begin(), block()]] {
        batch.into_iter().for_each(|inbound| transcript.line(0, inbound));
        transcript.take_events().iter().for_each(|event| crate::patch::apply(&mut shown, event));
        assert!(shown.iter().eq(transcript.items()), "{shown:?}");
    }
    assert_eq!(shown.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["notice.1", "m.0"]);
}

fn parsed(line: serde_json::Value) -> Inbound {
    crate::wire::parse(line.to_string().as_bytes())
}

fn own_words(words: &str) -> Inbound {
    let content = serde_json::json!([{"type": "text", "text": words}]);
    let message = serde_json::json!({"id": words, "model": "<synthetic>", "content": content});
    parsed(serde_json::json!({"type": "assistant", "message": message}))
}

fn ended(outcome: Outcome, words: &str) -> TranscriptEvent {
    let (words, prompt_ids) = (words.to_owned(), Vec::new());
    TranscriptEvent::TurnEnded(TurnEnd {
        outcome,
        words,
        prompt_ids,
        duration_ms: 1,
        output_tokens: 0,
        cost_usd: None,
        timing: TurnTiming::default(),
    })
}

fn bodies(transcript: &Transcript) -> Vec<&str> {
    let kind = |item: &Item| match item.body {
        Body::Text { .. } => "text",
        Body::Notice { .. } => "notice",
        Body::TurnEnd(_) => "end",
        _ => "other",
    };
    transcript.items().map(kind).collect()
}

/// The CLI reports a failure both in the model's name and as the result of the turn.
#[test]
fn the_words_of_a_failure_are_said_once() {
    let failed = Outcome::ApiError { status: Some(529) };
    let cases = [
        ("API Error: 529", failed.clone(), "API Error: 529", &["end"][..]),
        ("Prompt is too long", Outcome::ContextExceeded, "It no longer fits", &["text", "end"]),
        ("Total cost: $1", Outcome::Done, "Total cost: $1", &["text", "end"]),
    ];
    for (said, outcome, words, expected) in cases {
        let mut transcript = Transcript::new(Path::new("/project"));
        transcript.line(1, own_words(said));
        transcript.apply(2, ended(outcome, words));
        assert_eq!(bodies(&transcript), expected, "{said}");
    }
    // A later turn end with the same text does not remove the item.
    let mut transcript = Transcript::new(Path::new("/project"));
    transcript.line(1, own_words("API Error: 529"));
    transcript.apply(2, ended(Outcome::Done, "Done"));
    transcript.apply(3, ended(failed, "API Error: 529"));
    assert_eq!(bodies(&transcript), ["text", "end", "end"]);
}

/// A subagent that the turn waits for ends with its call. A background task ends only with this message.
#[test]
fn only_the_end_of_what_ran_in_the_background_is_told_by_itself() {
    let call = serde_json::json!([{"type": "tool_use", "id": "t", "name": "Agent", "input": {}}]);
    let message = serde_json::json!({"id": "m", "content": call});
    let called = serde_json::json!({"type": "assistant", "message": message});
    let result = serde_json::json!([{"type": "tool_result", "tool_use_id": "t", "content": "begun"}]);
    let answered = serde_json::json!({"type": "user", "message": {"content": result}});
    let over = serde_json::json!({"type": "system", "subtype": "task_notification", "task_id": "a",
                                  "tool_use_id": "t", "status": "completed", "summary": "found"});
    for (lines, expected) in [
        ([&called, &over, &answered], &["other", "text"][..]),
        ([&called, &answered, &over], &["other", "text", "notice"]),
    ] {
        let mut transcript = Transcript::new(Path::new("/project"));
        lines.into_iter().for_each(|line| transcript.line(1, parsed(line.clone())));
        assert_eq!(bodies(&transcript), expected);
    }
}

/// The session's task never colours code: code is plain at first, and colours arrive as a later change of the same
/// items.
#[test]
fn code_is_plain_at_once_and_coloured_later() {
    let stream =
        |event: serde_json::Value| parsed(serde_json::json!({"type": "stream_event", "event": event}));
    let delta = |text: &str| {
        let delta = serde_json::json!({"type": "text_delta", "text": text});
        stream(serde_json::json!({"type": "content_block_delta", "index": 0, "delta": delta}))
    };
    let text = "```js\na  /* open\nlet b;\n```\n";
    let input = serde_json::json!({"file_path": "/project/a.rs"});
    let read = serde_json::json!({"type": "tool_use", "id": "t", "name": "Read", "input": input});
    let mut transcript = Transcript::new(Path::new("/project"));
    let mut shown = Vec::new();
    let mut step = |transcript: &mut Transcript, inbound: Option<Inbound>| {
        inbound.into_iter().for_each(|inbound| transcript.line(0, inbound));
        transcript.take_events().iter().for_each(|event| crate::patch::apply(&mut shown, event));
        assert!(shown.iter().eq(transcript.items()), "{shown:?}");
        serde_json::to_string(&shown).unwrap()
    };
    let lines = [
        stream(serde_json::json!({"type": "message_start", "message": {"id": "m"}})),
        stream(
            serde_json::json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        ),
        delta(&text[..12]),
        delta(&text[12..]),
        parsed(
            serde_json::json!({"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": text}, read]}}),
        ),
        parsed(
            serde_json::json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t",
            "content": "fn a() {}"}]}, "tool_use_result": {"file": {"content": "fn a() {}"}}}),
        ),
        parsed(
            serde_json::json!({"type": "assistant", "message": {"id": "n", "content": [{"type": "text", "text": text}]}}),
        ),
    ];
    let mut late = None;
    for (nr, line) in lines.into_iter().enumerate() {
        let shown = step(&mut transcript, Some(line));
        assert!(!shown.contains("keyword") && !shown.contains("comment"), "{nr}: {shown}");
        // One job is in progress all the time, for a text that has grown since.
        late = late.or_else(|| transcript.uncoloured());
    }
    transcript.colour(late.unwrap().colour());
    let mut n_jobs = 0;
    while let Some(job) = transcript.uncoloured() {
        transcript.colour(job.colour());
        step(&mut transcript, None);
        n_jobs += 1;
    }
    let shown = step(&mut transcript, None);
    assert!(n_jobs <= 4, "{n_jobs} jobs");
    assert_eq!(shown.matches("comment").count(), 2 * 2, "{shown}");
    assert_eq!(shown.matches("keyword").count(), 1, "{shown}");
}

#[test]
fn a_long_text_is_moved_and_not_copied() {
    let text = "x".repeat(1024 * 1024);
    let at = text.as_ptr();
    let content = vec![ContentBlock::Text { text }];
    let message = AssistantMessage { id: "m".to_owned(), content, ..AssistantMessage::default() };
    let mut transcript = Transcript::new(Path::new("/project"));
    transcript.line(1, Inbound::Assistant(Box::new(Assistant { message, ..Assistant::default() })));
    assert_eq!(transcript.sources[&ItemId::new("m.0")].as_ptr(), at);
}

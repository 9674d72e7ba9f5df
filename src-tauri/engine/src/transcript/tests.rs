//! What a transcript keeps and tells when replies begin again, fail, or go on in the background.

use super::Transcript;
use crate::api::*;
use crate::session::machine::Note;
use crate::wire::{ContentBlock, Inbound, Retry, Stream, StreamEvent};
use std::path::Path;

/// A text becomes a thought: what came for the text must not hide what comes for the thought.
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
        batch.into_iter().for_each(|mut inbound| transcript.line(0, &mut inbound));
        transcript.take_events().iter().for_each(|event| crate::patch::apply(&mut shown, event));
        assert!(shown.iter().eq(transcript.items()), "{shown:?}");
    }
    assert!(matches!(&shown[0].body, Body::Thinking { text, .. } if text == "b"), "{shown:?}");
}

/// A reply begins again under its own id while a notice stands behind its first copy.
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
        batch.into_iter().for_each(|mut inbound| transcript.line(0, &mut inbound));
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

fn ended(outcome: Outcome, words: &str) -> Note {
    let (words, prompt_ids) = (words.to_owned(), Vec::new());
    Note::TurnEnded(TurnEnd {
        outcome,
        words,
        prompt_ids,
        duration_ms: 1,
        output_tokens: 0,
        cost_usd: 0.0,
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

/// The program says a failure in the model's place and as the turn's result.
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
        transcript.line(1, &mut own_words(said));
        transcript.note(2, ended(outcome, words));
        assert_eq!(bodies(&transcript), expected, "{said}");
    }
    // What a later turn's end repeats is not its own.
    let mut transcript = Transcript::new(Path::new("/project"));
    transcript.line(1, &mut own_words("API Error: 529"));
    transcript.note(2, ended(Outcome::Done, "Done"));
    transcript.note(3, ended(failed, "API Error: 529"));
    assert_eq!(bodies(&transcript), ["text", "end", "end"]);
}

/// A subagent that the turn waits for ends with its call; a task in the background has no other end than this.
#[test]
fn only_the_end_of_what_ran_in_the_background_is_told_by_itself() {
    let call = serde_json::json!([{"type": "tool_use", "id": "t", "name": "Agent", "input": {}}]);
    let message = serde_json::json!({"id": "m", "content": call});
    let called = serde_json::json!({"type": "assistant", "message": message});
    let result = serde_json::json!([{"type": "tool_result", "tool_use_id": "t", "content": "begun"}]);
    let answered = serde_json::json!({"type": "user", "message": {"content": result}});
    let over = serde_json::json!({"type": "system", "subtype": "task_notification", "task_id": "a",
                                  "tool_use_id": "t", "status": "completed", "summary": "found"});
    for (lines, expected) in
        [([&called, &over, &answered], &["other"][..]), ([&called, &answered, &over], &["other", "notice"])]
    {
        let mut transcript = Transcript::new(Path::new("/project"));
        lines.into_iter().for_each(|line| transcript.line(1, &mut parsed(line.clone())));
        assert_eq!(bodies(&transcript), expected);
    }
}

//! Tests of the items and events of a transcript when replies start again, fail, or continue in the background.

use super::{Transcript, TranscriptEvent};
use crate::agent::ToolResult;
use crate::agent::{AgentEvent, Assistant, AssistantMessage, ContentBlock, Retry, Stream, StreamEvent};
use crate::api::*;
use serde_json::{Value, json};
use std::path::Path;

/// A result as Claude Code's driver reads it.
pub(super) fn result(text: &str, structured: Option<Value>, is_error: bool) -> ToolResult {
    let block = json!({"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": is_error});
    let line = json!({"type": "user", "message": {"content": [block]}, "tool_use_result": structured});
    match crate::wire::parse(line.to_string().as_bytes()) {
        AgentEvent::User(user) => user.results().next().expect("the message has a result").clone(),
        other => panic!("{other:?}"),
    }
}

/// A text block restarts as a thinking block: the content of the first must not hide the second.
#[test]
fn a_block_that_begins_again_as_another_kind_is_of_that_kind() {
    let stream = |event| AgentEvent::Stream(Box::new(Stream { event, parent_tool_use_id: None }));
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

/// Each piece of a thought is published once, and its end as a whole.
#[test]
fn a_thought_is_published_as_it_grows() {
    let stream = |event| AgentEvent::Stream(Box::new(Stream { event, parent_tool_use_id: None }));
    let begin = StreamEvent::BlockStart { index: 0, block: ContentBlock::Thinking { text: String::new() } };
    let piece = |text: &str| stream(StreamEvent::ThinkingDelta { index: 0, text: text.into() });
    let mut transcript = Transcript::new(Path::new("/project"));
    let mut shown = Vec::new();
    let mut published = Vec::new();
    for batch in [
        vec![stream(StreamEvent::MessageStart { message_id: "m".into() }), stream(begin)],
        vec![piece("One ")],
        vec![piece("d\u{e9}j\u{e0} "), piece("vu. ")],
        vec![piece("Two.")],
        vec![stream(StreamEvent::MessageStop)],
    ] {
        batch.into_iter().for_each(|inbound| transcript.line(0, inbound));
        for event in transcript.take_events() {
            crate::patch::apply(&mut shown, &event);
            published.push(match event {
                Event::ItemAdded { .. } => "added".to_owned(),
                Event::ItemChanged { .. } => "changed".to_owned(),
                Event::ThoughtGrew { keep, text, .. } => format!("{keep}: {text}"),
                other => panic!("{other:?}"),
            });
        }
        assert!(shown.iter().eq(transcript.items()), "{shown:?}");
    }
    assert_eq!(published, ["added", "0: One ", "4: d\u{e9}j\u{e0} vu. ", "15: Two.", "changed"]);
}

/// A reply starts again under its own id, with a notice after its first copy.
#[test]
fn what_goes_and_comes_again_at_once_stands_where_it_came() {
    let stream = |event| AgentEvent::Stream(Box::new(Stream { event, parent_tool_use_id: None }));
    let begin = || stream(StreamEvent::MessageStart { message_id: "m".into() });
    let block = || {
        let block = ContentBlock::Thinking { text: String::new() };
        stream(StreamEvent::BlockStart { index: 0, block })
    };
    let retry = AgentEvent::ApiRetry(Retry { attempt: 1, max_retries: 10, ..Retry::default() });
    let mut transcript = Transcript::new(Path::new("/project"));
    let mut shown = Vec::new();
    for batch in [vec![begin(), block(), retry], vec![begin(), block()]] {
        batch.into_iter().for_each(|inbound| transcript.line(0, inbound));
        transcript.take_events().iter().for_each(|event| crate::patch::apply(&mut shown, event));
        assert!(shown.iter().eq(transcript.items()), "{shown:?}");
    }
    assert_eq!(shown.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["notice.1", "m.0"]);
}

fn parsed(line: serde_json::Value) -> AgentEvent {
    crate::wire::parse(line.to_string().as_bytes())
}

fn own_words(words: &str) -> AgentEvent {
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
        tokens: None,
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
    let mut step = |transcript: &mut Transcript, inbound: Option<AgentEvent>| {
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
    transcript.line(1, AgentEvent::Assistant(Box::new(Assistant { message, ..Assistant::default() })));
    assert_eq!(transcript.items[0].source().unwrap().as_ptr(), at);
}

fn notices(transcript: &Transcript) -> Vec<(&str, Option<&str>)> {
    let words = transcript.items.iter().filter_map(|item| match &item.body {
        Body::Notice { text, detail, .. } => Some((text.as_str(), detail.as_deref())),
        _ => None,
    });
    words.collect()
}

fn folded(lines: &[serde_json::Value]) -> Transcript {
    let mut transcript = Transcript::new(Path::new("/project"));
    lines.iter().for_each(|line| transcript.line(1, parsed(line.clone())));
    transcript
}

/// 2.1.329 reports the limits with every turn.
#[test]
fn a_limit_that_is_near_is_noticed_once_for_each_window() {
    let limit = |status: &str, used: f64, resets_at: u64| {
        let five_hour = serde_json::json!({"utilization": used, "resetsAt": resets_at, "status": "allowed"});
        let info = serde_json::json!({"status": status, "rateLimitType": "five_hour",
                                      "unifiedWindows": {"five_hour": five_hour}});
        serde_json::json!({"type": "rate_limit_event", "rate_limit_info": info})
    };
    let transcript = folded(&[
        limit("allowed", 0.5, 9),
        limit("allowed", 0.91, 9),
        limit("allowed", 0.93, 9),
        limit("rejected", 1.0, 9),
        limit("allowed", 0.1, 20),
        limit("allowed_warning", 0.8, 20),
    ]);
    let expected = [
        ("91 % of the five-hour limit is used", None),
        ("The five-hour limit is reached", None),
        ("80 % of the five-hour limit is used", None),
    ];
    assert_eq!(notices(&transcript), expected);
    let until = transcript.items.iter().filter_map(|item| match item.body {
        Body::Notice { until_at, .. } => until_at,
        _ => None,
    });
    assert_eq!(until.collect::<Vec<_>>(), [9_000, 9_000, 20_000]);
}

/// The lines of 2.1.329 for `/compact`, in their order.
#[test]
fn a_compaction_is_seen_while_it_runs_and_unfolds_to_its_summary() {
    let status =
        |status: Option<&str>| serde_json::json!({"type": "system", "subtype": "status", "status": status});
    let mut transcript = folded(&[status(Some("compacting"))]);
    assert_eq!(transcript.activity(), "Compacting the conversation");
    let metadata = serde_json::json!({"trigger": "auto", "pre_tokens": 2584, "post_tokens": 3112});
    let summary = serde_json::json!({"role": "user", "content": "The word was banana."});
    for line in [
        status(None),
        serde_json::json!({"type": "system", "subtype": "compact_boundary", "compact_metadata": metadata}),
        serde_json::json!({"type": "user", "message": summary, "isSynthetic": true}),
        serde_json::json!({"type": "user", "message": {"role": "user", "content": "other"}, "isSynthetic": true}),
    ] {
        transcript.line(2, parsed(line));
    }
    assert_eq!(transcript.activity(), "Working");
    let text = "The conversation was compacted automatically: from 2,584 to 3,112 tokens";
    assert_eq!(notices(&transcript), [(text, Some("The word was banana."))]);

    let failed = serde_json::json!({"type": "system", "subtype": "status", "status": null,
                                    "compact_result": "failed", "compact_error": "no model"});
    let transcript = folded(&[status(Some("compacting")), failed]);
    assert_eq!(transcript.activity(), "Working");
    assert_eq!(notices(&transcript), [("The conversation could not be compacted", Some("no model"))]);
    // A turn that was cut off compacts no longer.
    let mut transcript = folded(&[status(Some("compacting"))]);
    transcript.apply(2, ended(Outcome::Interrupted, "Interrupted"));
    assert_eq!(transcript.activity(), "Working");
}

#[test]
fn a_message_of_the_agent_outside_of_a_reply_is_shown() {
    let line = |level: &str, text: &str| serde_json::json!({"type": "system", "subtype": "informational", "level": level, "content": text});
    let switched = serde_json::json!({"type": "system", "subtype": "model_fallback", "content": "Switched"});
    let lines = [line("notice", "continuing once"), line("warning", " "), switched, line("error", "bad")];
    let transcript = folded(&lines);
    assert_eq!(notices(&transcript), [("continuing once", None), ("Switched", None), ("bad", None)]);
    let last = &transcript.items.last().unwrap().body;
    assert!(matches!(last, Body::Notice { level: Level::Error, .. }), "{last:?}");
}

/// A turn has one line for all its retries, and none of them waits when it is over.
#[test]
fn retries_are_one_line_that_ends_with_its_turn() {
    let retry = |attempt: u32| {
        serde_json::json!({"type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": 10,
            "retry_delay_ms": 500, "error_status": 529, "error": "overloaded"})
    };
    let started = serde_json::json!({"type": "stream_event", "event": {"type": "message_start", "message": {"id": "m"}}});
    let waiting = |n: u32| format!("The API answered 529 (overloaded); trying again in 0.5 s ({n} of 10)");
    let over = "The API answered 529 (overloaded); tried again ";
    let mut transcript = folded(&[retry(1)]);
    assert_eq!(notices(&transcript), [(&*waiting(1), None)]);
    transcript.line(2, parsed(started));
    assert_eq!(notices(&transcript), [(&*format!("{over}once"), None)]);
    transcript.line(3, parsed(retry(2)));
    assert_eq!(notices(&transcript), [(&*waiting(2), None)], "the same line");
    transcript.apply(4, ended(Outcome::ApiError { status: Some(529) }, "overloaded"));
    assert_eq!(notices(&transcript), [(&*format!("{over}2 times"), None)]);
    // The next turn has a line of its own.
    transcript.line(5, parsed(retry(1)));
    assert_eq!(notices(&transcript).len(), 2);
    transcript.apply(6, TranscriptEvent::ProcessEnded);
    assert_eq!(notices(&transcript)[1].0, format!("{over}once"));
}

fn one_call(
    name: &str,
    input: serde_json::Value,
    more: serde_json::Value,
    result: serde_json::Value,
) -> Transcript {
    let content = serde_json::json!([{"type": "tool_use", "id": "t1", "name": name, "input": input}]);
    let mut line = serde_json::json!({"type": "assistant", "message": {"id": "m1", "content": content}});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let content = serde_json::json!([{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]);
    let mut transcript = Transcript::new(Path::new("/project"));
    transcript.line(0, parsed(line));
    transcript.line(
        0,
        parsed(
            serde_json::json!({"type": "user", "message": {"content": content}, "tool_use_result": result}),
        ),
    );
    transcript
}

#[test]
fn a_servers_tool_is_called_by_its_display_name() {
    let meta = serde_json::json!({"tool_use_meta": [
        {"id": "other", "display_name": "Another"},
        {"id": "t1", "display_name": "Create\u{202e} issue", "server_display_name": "tracker", "tool_name": "create"},
    ]});
    let none = serde_json::json!({});
    let named = one_call("mcp__tracker__create", none.clone(), meta.clone(), none.clone());
    let copied = named.text_of("T", &CopyOf::Conversation).unwrap();
    assert_eq!(copied, "# T\n\nUsed `tracker: Create\\u{202E} issue`\n");
    // Without the names, and of a tool that is not a server's.
    let plain = one_call("mcp__tracker__create", none.clone(), none.clone(), none.clone());
    assert!(plain.text_of("T", &CopyOf::Conversation).unwrap().ends_with("Used `tracker: create`\n"));
    let own = one_call("Bash", serde_json::json!({"command": "ls"}), meta, none);
    assert!(own.text_of("T", &CopyOf::Conversation).unwrap().ends_with("Ran `ls`\n"));
}

#[test]
fn questions_are_copied_with_their_answers() {
    let option = |label: &str| serde_json::json!({"label": label, "description": ""});
    let question = |text: &str| serde_json::json!({"question": text, "header": "", "options": [option("Red"), option("Blue")]});
    let input = serde_json::json!({"questions": [question("Which\ncolour?"), question("And then?"), question("Why?")]});
    let answers = serde_json::json!({"answers": {"Which\ncolour?": "Blue", "And then?": "as before"}});
    let asked = one_call("AskUserQuestion", input, serde_json::json!({}), answers);
    let text = asked.text_of("T", &CopyOf::Conversation).unwrap();
    let expected = "- Which colour? **Blue**\n- And then? **as before**\n- Why? **not answered**\n";
    assert!(text.ends_with(expected), "{text}");
}

/// A long input is published with its item. Later events of the call do not repeat it, and readers that apply them have
/// the transcript's state.
#[test]
fn a_long_input_is_published_once() {
    for (tool, input) in [
        ("Bash", json!({"command": format!("echo {}", "x".repeat(5_000))})),
        ("Write", json!({"file_path": "/p/a.txt", "content": "a line\n".repeat(1_000)})),
        ("mcp__notes__save", json!({"text": "x".repeat(5_000)})),
    ] {
        let mut transcript = Transcript::new(Path::new("/p"));
        let mut items = Vec::new();
        let mut publish = |transcript: &mut Transcript| {
            let events = transcript.take_events();
            events.iter().for_each(|event| crate::patch::apply(&mut items, event));
            assert!(transcript.items().eq(&items), "{tool}");
            serde_json::to_string(&events).unwrap()
        };
        let id = "toolu_1";
        let content = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        transcript.fold(1, parsed(json!({"type": "assistant", "message": {"id": "m1", "content": content}})));
        assert!(publish(&mut transcript).contains("itemAdded"), "{tool}");
        transcript.apply(2, TranscriptEvent::Asked { tool_use_id: Some(id.to_owned()) });
        let asked = publish(&mut transcript);
        let result =
            json!([{"type": "tool_result", "tool_use_id": id, "content": "done", "is_error": false}]);
        transcript.fold(3, parsed(json!({"type": "user", "message": {"content": result}})));
        let ended = publish(&mut transcript);
        for events in [asked, ended] {
            assert!(events.contains("callChanged") && !events.contains("itemChanged"), "{tool}: {events}");
            assert!(events.len() < 1_000, "{tool}: {events}");
        }
    }
}

use super::*;
use crate::api::Body;
use crate::patch::{self, Pending};
use crate::transcript::News;
use crate::wire;
use serde_json::{Value, json};
use std::path::Path;

fn stream(event: Value) -> Value {
    json!({"type": "stream_event", "event": event, "parent_tool_use_id": null})
}

/// What a window holds of an answer that streams in pieces, and how many bytes it was sent.
fn window(piece: &str, n: usize) -> (Item, Transcript, usize) {
    let message = json!({"id": "m", "role": "assistant", "content": []});
    let mut lines = vec![
        stream(json!({"type": "message_start", "message": message})),
        stream(
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        ),
    ];
    let delta = json!({"type": "text_delta", "text": piece});
    let delta = stream(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    lines.extend(std::iter::repeat_n(delta, n));
    let text = json!({"type": "text", "text": piece.repeat(n)});
    lines.push(json!({"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [text]}}));
    let (mut transcript, mut sight, mut shown) =
        (Transcript::new(Path::new("/p")), Sight::default(), Vec::new());
    let mut sent = 0;
    for (nr, line) in lines.iter().enumerate() {
        transcript.line(0, &mut wire::parse(line.to_string().as_bytes()));
        let mut pending = Pending::default();
        for event in transcript.take_news().into_iter().flat_map(News::into_patch) {
            sight.event(event, &transcript).into_iter().for_each(|event| pending.push(event, None));
        }
        for event in pending.take_from(0) {
            sent += serde_json::to_string(&event).unwrap().len();
            patch::apply(&mut shown, &event);
        }
        if nr % 10 == 0
            && let Some(item) = shown.first()
        {
            assert!(parts::fits(&item.body) || item.parts == 1);
        }
    }
    (shown.remove(0), transcript, sent)
}

#[test]
fn a_window_holds_the_first_part_of_a_long_answer() {
    let pieces = ["A paragraph of *some* words.\n\n".repeat(100), "x".repeat(3_000), "word ".repeat(600)];
    for piece in pieces {
        let (held, transcript, sent) = window(&piece, 600_000 / piece.len());
        let whole = &transcript.items()[0];
        assert!(held.parts > 1);
        assert_eq!(Some((held.body.clone(), held.parts)), parts::part(&whole.body, 0));
        // What is behind the first part is not sent again and again.
        assert!(sent < 30_000_000, "{sent} bytes for 600,000");
    }
}

#[test]
fn an_answer_that_fits_is_held_whole() {
    let (held, transcript, _) = window(&"A paragraph of *some* words.\n\n".repeat(50), 60);
    assert_eq!(held, transcript.items()[0]);
    assert!(matches!(held.body, Body::Text { streaming: false, .. }));
}

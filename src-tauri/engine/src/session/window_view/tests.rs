use super::*;
use crate::api::Span;
use crate::patch::{self, Pending};
use crate::transcript::TranscriptChange;
use crate::transcript::{Transcript, parts, words};
use crate::wire;
use serde_json::{Value, json};
use std::path::Path;

fn stream(event: Value) -> Value {
    json!({"type": "stream_event", "event": event, "parent_tool_use_id": null})
}

fn letters(body: &Body) -> String {
    let mut all = String::new();
    words::shown(body, &mut all);
    all.retain(char::is_alphanumeric);
    all
}

/// An answer that streams in pieces, and a window.
struct Stage {
    transcript: Transcript,
    window_view: WindowView,
    held: Vec<Item>,
    /// Bytes sent to the window.
    sent: usize,
}

impl Stage {
    fn new() -> Self {
        let transcript = Transcript::new(Path::new("/p"));
        let mut stage = Self { transcript, window_view: WindowView::default(), held: Vec::new(), sent: 0 };
        let message = json!({"id": "m", "role": "assistant", "content": []});
        stage.line(&stream(json!({"type": "message_start", "message": message})));
        let block = json!({"type": "text", "text": ""});
        stage.line(&stream(json!({"type": "content_block_start", "index": 0, "content_block": block})));
        stage
    }

    fn line(&mut self, line: &Value) {
        self.transcript.line(0, wire::parse(line.to_string().as_bytes()));
        let mut pending = Pending::default();
        for event in self.transcript.drain_changes().into_iter().flat_map(TranscriptChange::into_patch) {
            let events = self.window_view.events(event, &self.transcript);
            events.into_iter().for_each(|event| pending.push(event, None));
        }
        for event in pending.take_from(0) {
            self.sent += serde_json::to_string(&event).unwrap().len();
            patch::apply(&mut self.held, &event);
        }
    }

    fn piece(&mut self, piece: &str) {
        let delta = json!({"type": "text_delta", "text": piece});
        self.line(&stream(json!({"type": "content_block_delta", "index": 0, "delta": delta})));
    }

    fn end(&mut self, text: &str) {
        let text = json!({"type": "text", "text": text});
        self.line(
            &json!({"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [text]}}),
        );
    }

    fn held(&self) -> &Item {
        &self.held[0]
    }

    fn whole(&self) -> &Item {
        self.transcript.items().next().unwrap()
    }
}

/// Texts that may stream without end.
fn sources() -> Vec<(&'static str, String, String)> {
    let prose = "A paragraph of *some* words, the NR th.\n\n".repeat(100);
    let code = "let NR = \"a\"; // a line\n".repeat(300);
    vec![
        ("prose", String::new(), prose),
        ("code", "```rust\n".to_owned(), code),
        ("much before code", format!("{}```\n", "Before.\n\n".repeat(5_000)), "let NR = 1;\n".repeat(20)),
        ("a list", String::new(), "- one *item* NR\n".repeat(400)),
        ("a quote", "> ".to_owned(), "quoted NR words ".repeat(120)),
        ("one line", String::new(), "wordNR ".repeat(250)),
        ("one line of code", "```\n".to_owned(), "yNR ".repeat(400)),
    ]
}

#[test]
fn a_window_follows_the_end_of_a_long_answer_and_is_sent_no_more_than_a_share_of_it() {
    for (name, before, piece) in sources() {
        let mut stage = Stage::new();
        let mut text = before.clone();
        stage.piece(&before);
        let mut sent = Vec::new();
        let (mut nr, mut most) = (0, 0);
        for bytes in [300_000, 450_000, 600_000] {
            while text.len() < bytes {
                nr += 1;
                let piece = piece.replace("NR", &nr.to_string());
                text.push_str(&piece);
                stage.piece(&piece);
                if nr % 8 == 0 && text.len() > 280_000 {
                    let (held, whole) = (letters(&stage.held().body), letters(&stage.whole().body));
                    most = most.max(held.len());
                    let behind = whole.rfind(&held[held.len() - 100..]).map(|at| whole.len() - at - 100);
                    // The lag of one block, plus the lag of measuring.
                    assert!(
                        behind.is_some_and(|behind| behind <= 2 * parts::ALWAYS_FITS + bytes / 64),
                        "{name}: {behind:?}"
                    );
                }
            }
            sent.push(stage.sent);
        }
        assert!(most <= 128 * 1024 + 3 * parts::ALWAYS_FITS, "{name}: {} bytes held", most);
        // Twice the text costs twice as much, not more.
        let (one, two) = (sent[1] - sent[0], sent[2] - sent[1]);
        assert!(two < 2 * one, "{name}: {sent:?}");
        // The blocks are about four times the size of their text. Removed beginnings are sent as a number only.
        assert!(two < 8 * 150_000, "{name}: {sent:?}");

        let before = stage.sent;
        stage.end(&text);
        if ["prose", "code", "a list"].contains(&name) {
            assert!(
                stage.sent - before < 1_000,
                "{name}: {} bytes tell again what was told",
                stage.sent - before
            );
        }
        let (held, whole) = (stage.held(), stage.whole());
        assert!(held.part > 0 && held.parts > held.part, "{name}");
        assert_eq!(parts::last(&whole.body), Some((held.body.clone(), held.part, held.parts)), "{name}");
        let earlier = (0..held.part).map(|nr| letters(&parts::part(&whole.body, nr).unwrap().0));
        let all: String = earlier.chain([letters(&held.body)]).collect();
        assert!(all == letters(&whole.body), "{name}: parts and end are not the whole");
    }
}

#[test]
fn an_answer_that_fits_is_held_whole() {
    let piece = "A paragraph of *some* words.\n\n".repeat(50);
    let mut stage = Stage::new();
    (0..25).for_each(|_| stage.piece(&piece));
    stage.end(&piece.repeat(25));
    assert_eq!(stage.held(), stage.whole());
    assert!(matches!(stage.held().body, Body::Text { streaming: false, .. }));
}

/// A later window has the same items as earlier ones, and continues with the same events.
#[test]
fn a_window_that_comes_while_an_answer_streams_has_its_end() {
    let piece = "A paragraph.\n\n".repeat(200);
    let mut stage = Stage::new();
    (0..200).for_each(|_| stage.piece(&piece));
    assert!(stage.held().part > 0);
    assert_eq!(stage.window_view.of(stage.whole()), *stage.held());

    let mut alone = WindowView::default();
    alone.begin(&stage.transcript);
    let late = alone.of(stage.whole());
    assert!(late.part > 0 && letters(&late.body).ends_with("Aparagraph"), "{}", late.part);
    (stage.window_view, stage.held) = (alone, vec![late]);
    stage.piece("The very end.");
    assert!(letters(&stage.held().body).ends_with("Theveryend"));
}

/// A link definition at the end changes words far above it: the tail then begins elsewhere.
#[test]
fn an_answer_whose_beginning_changes_is_cut_anew() {
    let text = format!("{}\n\n[x]: https://example.org/\n", "A [x] paragraph.\n\n".repeat(40_000));
    let mut stage = Stage::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.len().min(5_000));
        stage.piece(piece);
        rest = behind;
    }
    stage.end(&text);
    let (held, whole) = (stage.held(), stage.whole());
    assert_eq!(parts::last(&whole.body), Some((held.body.clone(), held.part, held.parts)));
}

/// A user who unfolds a growing thought sees its end.
#[test]
fn a_long_thought_shows_its_end() {
    let thought = |text: String, streaming| Body::Thinking { text, streaming, duration_ms: None };
    let item =
        |body| Item { id: ItemId::new("t"), parent: None, row: 0, nr: 0, at: 0, part: 0, parts: 1, body };
    let (mut sight, transcript) = (WindowView::default(), Transcript::default());
    let text = format!("{}end", "thinking ".repeat(20_000));
    for (event, is_end) in [
        (Event::ItemChanged { item: item(thought(text.clone(), true)) }, true),
        (Event::ItemChanged { item: item(thought(text.clone(), false)) }, true),
        (Event::ItemChanged { item: item(thought(text, false)) }, false),
    ] {
        let [Event::ItemChanged { item }] = &sight.events(event, &transcript)[..] else { panic!("no item") };
        let Body::Thinking { text, .. } = &item.body else { panic!("no thought") };
        assert_eq!((text.ends_with("end"), item.part > 0), (is_end, is_end));
        assert!(text.len() <= 64 * 1024);
    }
}

/// The elements that a window draws for blocks. Runs of text are none.
fn elements(blocks: &[Block]) -> usize {
    let of_spans = |spans: &[Span]| spans.iter().filter(|span| !matches!(span, Span::Text { .. })).count();
    let of_block = |block: &Block| match block {
        Block::Paragraph { spans } | Block::Heading { spans, .. } => of_spans(spans),
        Block::Code { lines, .. } => lines.iter().map(|line| 1 + line.tokens.len()).sum(),
        Block::Quote { blocks } | Block::Footnote { blocks, .. } => elements(blocks),
        Block::List { items, .. } => items.iter().map(|item| 1 + elements(&item.blocks)).sum(),
        Block::Table { head, rows, .. } => {
            let cells = head.iter().chain(rows.iter().flatten());
            rows.len() + cells.map(|cell| 1 + of_spans(&cell.spans)).sum::<usize>()
        }
        Block::Rule => 0,
    };
    blocks.iter().map(|block| 1 + of_block(block)).sum()
}

/// A text is measured again after 16 KiB, and so few bytes can be many elements. Its length before that varies, so that
/// it is measured when it only just fits.
#[test]
fn dense_texts_make_no_more_elements_than_a_window_can_draw() {
    let dense = [
        ("a narrow table", "|a|\n|-|\n".to_owned(), "|1|\n".to_owned()),
        ("a table", "|a|b|c|d|\n|-|-|-|-|\n".to_owned(), "|1|2|3|4|\n".to_owned()),
        ("a wide table", format!("{}|\n{}|\n", "|a".repeat(100), "|-".repeat(100)), "|1".repeat(100) + "|\n"),
        ("a list", String::new(), "- a\n".to_owned()),
        ("code in words", String::new(), "`a` ".repeat(50) + "\n"),
    ];
    for (name, head, line) in dense {
        for n_before in 0..8 {
            let mut stage = Stage::new();
            stage.piece(&"Some words before.\n\n".repeat(n_before * 100));
            stage.piece(&head);
            let piece = line.repeat(1_000 / line.len());
            let mut most = 0;
            for _ in 0..60 {
                stage.piece(&piece);
                let Body::Text { blocks, .. } = &stage.held().body else { panic!("no text") };
                most = most.max(elements(blocks));
            }
            assert!(most < 16_000, "{name} after {n_before}: {most} elements");
            assert!(stage.held().part > 0, "{name} after {n_before}: never cut");
        }
    }
}

use super::*;
use crate::api::{CopyOf, Level, PromptState, Span};
use crate::history::{Additions, Kept};
use crate::patch::{self, Pending};
use crate::transcript::TranscriptChange;
use crate::transcript::{Transcript, TranscriptEvent, words};
use crate::wire;
use proptest::prelude::*;
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

/// An answer that streams in pieces, and a window that has all rows.
struct Stage {
    transcript: Transcript,
    window_view: WindowView,
    held: Vec<Item>,
    /// Bytes sent to the window.
    sent: usize,
}

impl Stage {
    fn new() -> Self {
        Self::begun(json!({"type": "text", "text": ""}))
    }

    /// A message whose first block begins.
    fn begun(block: Value) -> Self {
        let transcript = Transcript::new(Path::new("/p"));
        let mut stage = Self { transcript, window_view: WindowView::default(), held: Vec::new(), sent: 0 };
        let message = json!({"id": "m", "role": "assistant", "content": []});
        stage.line(&stream(json!({"type": "message_start", "message": message})));
        stage.line(&stream(json!({"type": "content_block_start", "index": 0, "content_block": block})));
        stage
    }

    fn line(&mut self, line: &Value) {
        self.transcript.line(0, wire::parse(line.to_string().as_bytes()));
        self.publish();
    }

    fn publish(&mut self) {
        let mut pending = Pending::default();
        for event in self.transcript.drain_changes().into_iter().flat_map(TranscriptChange::into_patch) {
            let events = self.window_view.events(event, &self.transcript);
            events.into_iter().for_each(|(event, row)| pending.push(event, row));
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

    fn whole(&self) -> &Item {
        self.transcript.items().next().unwrap()
    }

    /// What the window draws, row by row.
    fn drawn(&self) -> String {
        self.held.iter().map(|item| letters(&item.body)).collect()
    }

    /// The window has what a later one would get.
    fn check(&self, name: &str) {
        let now: Vec<Item> = self.window_view.items(&self.transcript, 0, u32::MAX).collect();
        assert!(self.held == now, "{name}: the window has other rows");
        let mut alone = WindowView::default();
        alone.begin(&self.transcript, &HashSet::new());
        let late: Vec<Item> = alone.items(&self.transcript, 0, u32::MAX).collect();
        assert!(self.held == late, "{name}: a later window has other rows");
        assert!(self.drawn() == letters(&self.whole().body), "{name}: the rows are not the text");
        for item in &self.held {
            let Body::Text { blocks, .. } = &item.body else { panic!("no text") };
            let n = elements(blocks);
            assert!(n <= 1_300, "{name}: {n} elements in a row");
            assert!(letters(&item.body).len() <= 16 * 1024, "{name}: a row is too long");
        }
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
        ("a narrow table", "|a|\n|-|\n".to_owned(), "|NR|\n".repeat(250)),
        ("a wide table", format!("{}|\n{}|\n", "|a".repeat(50), "|-".repeat(50)), "|1".repeat(50) + "|\n"),
        ("code in words", String::new(), "`NR` ".repeat(200) + "\n"),
    ]
}

#[test]
fn an_answer_of_any_length_is_in_rows_that_are_never_long_and_is_sent_about_once() {
    for (name, before, piece) in sources() {
        let mut stage = Stage::new();
        let mut text = before.clone();
        stage.piece(&before);
        let mut sent = Vec::new();
        let mut nr = 0_u32;
        for bytes in [60_000, 120_000, 180_000] {
            while text.len() < bytes {
                nr += 1;
                let piece = piece.replace("NR", &nr.to_string());
                text.push_str(&piece);
                stage.piece(&piece);
                if nr.is_power_of_two() || nr.is_multiple_of(100) {
                    assert_eq!(stage.drawn(), letters(&stage.whole().body), "{name}");
                }
            }
            stage.check(name);
            sent.push(stage.sent);
        }
        // Twice the text costs twice as much, not more.
        let (one, two) = (sent[1] - sent[0], sent[2] - sent[1]);
        assert!(two < 2 * one, "{name}: {sent:?}");
        // A block that grows is sent again, as much of it as is in the last slice.
        let whole = serde_json::to_string(stage.whole()).unwrap().len();
        assert!(stage.sent < 5 * whole, "{name}: {sent:?} of {whole}");
        let before = stage.sent;
        stage.end(&text);
        stage.check(name);
        // The slices of a list are sent once more: its size is known now.
        if ["prose", "code"].contains(&name) {
            assert!(stage.sent - before < 50_000, "{name}: {} bytes at the end", stage.sent - before);
        }
        assert!(stage.held.len() > 8, "{name}: {} rows", stage.held.len());
    }
}

#[test]
fn a_row_leads_to_its_item_whatever_characters_an_agent_has_in_its_ids() {
    let own = ItemId::new("call\u{1f}1");
    let body = Body::Notice { level: Level::Info, text: String::new(), detail: None, until_at: None };
    let mut row = Item::new(own.as_str(), body);
    assert_eq!(item_of_row(&row), &own);
    row.id = slice_id(&own, 2);
    row.slice = Some(Slice {
        of: own.clone(),
        nr: 2,
        is_last: true,
        block: 0,
        continues: false,
        is_continued: false,
        n_before: 0,
        n_in_first: None,
        n_in_last: None,
    });
    assert_eq!(item_of_row(&row), &own);
}

/// The places of the entries or rows in a text with one list or table, in the order of the slices. Each slice that has a
/// part of it says how many are before it, and how many there are in all.
fn hold_places(stage: &Stage, n: Option<u32>) -> u32 {
    let mut next = 0;
    for item in &stage.held {
        let (Some(slice), Body::Text { blocks, .. }) = (&item.slice, &item.body) else { panic!("no slice") };
        for (i, block) in blocks.iter().enumerate() {
            let n_here = match block {
                Block::List { items, .. } => items.len(),
                Block::Table { rows, .. } => rows.len(),
                _ => continue,
            };
            if slice.continues && i == 0 {
                // A row may be cut between its cells: both slices have a part of it.
                let is_next = slice.n_before == next || slice.n_before + 1 == next;
                assert!(is_next && slice.n_in_first == n, "{slice:?} after {next}");
                next = slice.n_before;
            }
            if slice.is_continued && i + 1 == blocks.len() {
                assert_eq!(slice.n_in_last, n, "slice {}", slice.nr);
            }
            next += n_here as u32;
        }
    }
    next
}

#[test]
fn the_parts_of_a_list_or_table_say_where_they_are_and_how_many_there_are_once_that_is_known() {
    let table = format!("|a|b|\n|-|-|\n{}", "|one|two|\n".repeat(2_000));
    for (text, n) in [(table, 2_000), ("- one item\n".repeat(3_000), 3_000)] {
        let text = format!("Before.\n\n{text}");
        let grown = || {
            let mut stage = Stage::new();
            stage.piece(&text);
            assert!(stage.held.len() > 3);
            hold_places(&stage, None);
            stage
        };
        let mut followed = grown();
        followed.piece("\nAfter it.\n\n");
        assert_eq!(hold_places(&followed, Some(n)), n);
        followed.check("followed by words");
        let mut ended = grown();
        ended.end(&text);
        assert_eq!(hold_places(&ended, Some(n)), n);
        ended.check("at the end");
    }
}

#[test]
fn a_short_answer_is_one_row() {
    let piece = "A paragraph of *some* words.\n\n".repeat(10);
    let mut stage = Stage::new();
    (0..5).for_each(|_| stage.piece(&piece));
    stage.end(&piece.repeat(5));
    assert_eq!(stage.held, [stage.whole().clone()]);
    assert!(matches!(stage.held[0].body, Body::Text { streaming: false, .. }));
}

/// Only the last slice streams, and says that it is the last.
#[test]
fn each_slice_says_which_one_it_is() {
    let mut stage = Stage::new();
    stage.piece(&"A paragraph.\n\n".repeat(2_000));
    let n = stage.held.len();
    assert!(n > 3);
    for (nr, item) in stage.held.iter().enumerate() {
        let slice = item.slice.as_ref().unwrap();
        let is_last = nr + 1 == n;
        assert_eq!((slice.nr as usize, slice.is_last, slice.of.as_str()), (nr, is_last, "m.0"));
        assert_eq!(item.row as usize, nr);
        assert!(matches!(item.body, Body::Text { streaming, .. } if streaming == is_last));
    }
}

/// A window that comes while an answer streams continues with the same events.
#[test]
fn a_window_that_comes_while_an_answer_streams_goes_on_like_the_others() {
    let piece = "A paragraph.\n\n".repeat(200);
    let mut stage = Stage::new();
    (0..20).for_each(|_| stage.piece(&piece));
    let mut alone = WindowView::default();
    alone.begin(&stage.transcript, &HashSet::new());
    stage.held = alone.items(&stage.transcript, 0, u32::MAX).collect();
    stage.window_view = alone;
    stage.piece("The very end.");
    stage.check("a later window");
    assert!(stage.drawn().ends_with("Theveryend"));
}

/// A link definition at the end changes words in every row above it.
#[test]
fn an_answer_whose_beginning_changes_is_sent_again() {
    let text = format!("{}\n\n[x]: https://example.org/\n", "A [x] paragraph.\n\n".repeat(10_000));
    let mut stage = Stage::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.len().min(5_000));
        stage.piece(piece);
        rest = behind;
    }
    stage.end(&text);
    stage.check("links");
    let first = serde_json::to_string(&stage.held[0]).unwrap();
    assert!(first.contains("https://example.org/"));
}

/// An answer grows although another row follows it: its new rows come before that one, and windows start over.
#[test]
fn rows_below_a_growing_answer_get_other_numbers_and_windows_start_over() {
    let mut stage = Stage::new();
    stage.piece("The beginning.\n\n");
    let notice = TranscriptEvent::Notice { level: Level::Info, text: "a notice".to_owned(), detail: None };
    stage.transcript.apply(0, notice);
    stage.publish();
    assert!(!stage.window_view.take_renumbered());
    stage.piece(&"A paragraph.\n\n".repeat(2_000));
    assert!(stage.window_view.take_renumbered());
    let rows: Vec<Item> = stage.window_view.items(&stage.transcript, 0, u32::MAX).collect();
    let numbers: Vec<u32> = rows.iter().map(|item| item.row).collect();
    assert_eq!(numbers, (0..rows.len() as u32).collect::<Vec<_>>());
    assert!(matches!(rows.last().unwrap().body, Body::Notice { .. }));
    assert_eq!(stage.window_view.n_rows().all, rows.len() as u32);
}

/// Colours arrive after the text, and change no boundary.
#[test]
fn colours_of_a_long_answer_arrive_in_its_rows() {
    let code = "let a = \"b\"; // a line of code\n".repeat(2_000);
    let text = format!("```rust\n{code}```\n");
    let mut stage = Stage::new();
    stage.piece(&text);
    stage.end(&text);
    let n_rows = stage.held.len();
    assert!(n_rows > 10);
    let n_tokens = |stage: &Stage| {
        let lines = |item: &Item| match &item.body {
            Body::Text { blocks, .. } => blocks
                .iter()
                .filter_map(|block| match block {
                    Block::Code { lines, .. } => {
                        Some(lines.iter().map(|line| line.tokens.len()).sum::<usize>())
                    }
                    _ => None,
                })
                .sum(),
            _ => 0,
        };
        stage.held.iter().map(lines).sum::<usize>()
    };
    let before = n_tokens(&stage);
    while let Some(job) = stage.transcript.uncoloured() {
        stage.transcript.colour(job.colour());
        stage.publish();
    }
    stage.check("colours");
    assert_eq!(stage.held.len(), n_rows);
    assert!(n_tokens(&stage) > 2 * before, "{before} tokens became {}", n_tokens(&stage));
}

/// A thought that grows in a transcript, and what a window has of it: nothing is sent twice.
#[test]
fn a_long_thought_is_one_row_until_it_is_unfolded() {
    let line = "A line of a thought.\n";
    let mut stage = Stage::begun(json!({"type": "thinking", "thinking": ""}));
    let think = |stage: &mut Stage, text: &str| {
        let delta = json!({"type": "thinking_delta", "thinking": text});
        stage.line(&stream(json!({"type": "content_block_delta", "index": 0, "delta": delta})));
    };
    (0..20).for_each(|_| think(&mut stage, &line.repeat(100)));
    assert_eq!(stage.held.len(), 1);
    assert!(stage.held[0].slice.as_ref().is_some_and(|slice| !slice.is_last));
    let before = stage.sent;
    think(&mut stage, line);
    assert_eq!(stage.sent, before, "the part that is folded is not sent");

    let unfolded = HashSet::from([stage.whole().id.clone()]);
    stage.window_view.unfold(&stage.transcript, &unfolded);
    stage.held = stage.window_view.items(&stage.transcript, 0, u32::MAX).collect();
    let whole = line.repeat(2_001);
    assert_eq!(plain(&stage.held), whole);
    assert!(
        stage.held.len() > 4
            && stage.held.iter().all(|item| plain(std::slice::from_ref(item)).len() <= 8 * 1024)
    );
    (0..20).for_each(|_| think(&mut stage, line));
    assert_eq!(plain(&stage.held), whole + &line.repeat(20));
    assert!(stage.sent - before < 200_000, "{} bytes", stage.sent - before);

    stage.window_view.unfold(&stage.transcript, &HashSet::new());
    let folded: Vec<Item> = stage.window_view.items(&stage.transcript, 0, u32::MAX).collect();
    assert_eq!(folded, stage.held[..1]);
    assert_eq!(stage.window_view.n_rows().all, 1);
}

/// The row of a search hit in a long thought that is folded or unfolded.
#[test]
fn a_place_in_a_folded_thought_is_a_slice_of_its_row() {
    let mut transcript = Transcript::new(Path::new("/p"));
    let thinking = json!({"type": "thinking", "thinking": "A line of a thought.\n".repeat(2_000)});
    let message = json!({"id": "m", "role": "assistant", "content": [thinking]});
    transcript.line(0, wire::parse(json!({"type": "assistant", "message": message}).to_string().as_bytes()));
    let thought = transcript.items().next().unwrap().clone();
    let mut window_view = WindowView::default();
    window_view.begin(&transcript, &HashSet::new());
    assert_eq!(window_view.place(&thought, 3, &transcript), (0, 3));
    window_view.unfold(&transcript, &HashSet::from([thought.id.clone()]));
    assert_eq!(window_view.place(&thought, 3, &transcript), (3, 0));
}

/// A long prompt is in rows, also after its state changed.
#[test]
fn a_long_prompt_is_in_rows() {
    let text = "A line of a prompt.\n".repeat(2_000);
    let prompt = |state| {
        let text = text.clone();
        Item::new("p", Body::Prompt { text, n_images: 0, n_documents: 0, state })
    };
    let (mut window_view, transcript) = (WindowView::default(), Transcript::default());
    let mut held = Vec::new();
    for (event, n_rows) in [
        (Event::ItemAdded { item: prompt(PromptState::Queued) }, 5),
        (Event::ItemChanged { item: prompt(PromptState::Done) }, 5),
        (Event::ItemChanged { item: prompt(PromptState::Done) }, 0),
    ] {
        let events = window_view.events(event, &transcript);
        assert_eq!(events.len(), n_rows);
        events.iter().for_each(|(event, _)| patch::apply(&mut held, event));
        assert_eq!(plain(&held), text);
    }
    let is_done = |item: &Item| matches!(item.body, Body::Prompt { state: PromptState::Done, .. });
    assert!(held.iter().all(is_done));
}

fn plain(items: &[Item]) -> String {
    let text = |item: &Item| match &item.body {
        Body::Prompt { text, .. } | Body::Thinking { text, .. } => text.clone(),
        _ => panic!("no plain text"),
    };
    items.iter().map(text).collect()
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

/// Calls, some of them inside of others, and a window that opens and folds them.
struct Agents {
    transcript: Transcript,
    window_view: WindowView,
    held: Vec<Item>,
    calls: Vec<String>,
    unfolded: HashSet<ItemId>,
    /// How often the window had to start over because rows got other numbers.
    n_renumbered: usize,
}

impl Agents {
    fn new() -> Self {
        let transcript = Transcript::new(Path::new("/p"));
        let (held, calls, unfolded) = (Vec::new(), Vec::new(), HashSet::new());
        Self { transcript, window_view: WindowView::default(), held, calls, unfolded, n_renumbered: 0 }
    }

    /// The agent, or the subagent of a call, says or does something.
    fn message(&mut self, parent: Option<usize>, content: &Value) {
        let parent = parent.and_then(|nr| self.calls.get(nr));
        let id = format!("m{}", self.transcript.items().len());
        let message = json!({"id": id, "role": "assistant", "content": [content]});
        let line = json!({"type": "assistant", "parent_tool_use_id": parent, "message": message});
        self.transcript.line(0, wire::parse(line.to_string().as_bytes()));
        self.publish();
    }

    fn call(&mut self, parent: Option<usize>) {
        let id = format!("c{}", self.calls.len());
        let call = json!({"type": "tool_use", "id": id, "name": "Task", "input": {"description": id}});
        self.message(parent, &call);
        self.calls.push(id);
    }

    fn text(&mut self, parent: Option<usize>, n_lines: usize) {
        self.message(parent, &json!({"type": "text", "text": "A paragraph.\n\n".repeat(n_lines)}));
    }

    fn end(&mut self, call: usize) {
        let Some(id) = self.calls.get(call) else { return };
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": "done"});
        let line = json!({"type": "user", "message": {"role": "user", "content": [result]}});
        self.transcript.line(0, wire::parse(line.to_string().as_bytes()));
        self.publish();
    }

    fn toggle(&mut self, call: usize) {
        let Some(id) = self.calls.get(call).map(ItemId::new) else { return };
        if !self.unfolded.remove(&id) {
            self.unfolded.insert(id);
        }
        self.window_view.unfold(&self.transcript, &self.unfolded);
        self.held = self.items();
    }

    fn items(&self) -> Vec<Item> {
        self.window_view.items(&self.transcript, 0, u32::MAX).collect()
    }

    fn publish(&mut self) {
        let changes = self.transcript.drain_changes().into_iter().flat_map(TranscriptChange::into_patch);
        for event in changes.collect::<Vec<_>>() {
            for (event, row) in self.window_view.events(event, &self.transcript) {
                if let Event::ItemAdded { item } | Event::ItemChanged { item } = &event {
                    assert_eq!(Some(item.row), row);
                }
                patch::apply(&mut self.held, &event);
            }
        }
        if self.window_view.take_renumbered() {
            self.n_renumbered += 1;
            self.held = self.items();
        }
    }

    /// The window has the items that are in no folded call, in the order of a tree, and each row has an item.
    fn check(&self) {
        let mut held = self.held.clone();
        held.sort_by_key(|item| item.row);
        assert_eq!(held, self.items());
        let rows: Vec<u32> = held.iter().map(|item| item.row).collect();
        assert_eq!(rows, (0..self.window_view.n_rows().all).collect::<Vec<_>>());
        let mut late = WindowView::default();
        late.begin(&self.transcript, &self.unfolded);
        assert_eq!(held, late.items(&self.transcript, 0, u32::MAX).collect::<Vec<_>>());
        let mut above: Vec<&ItemId> = Vec::new();
        for item in held.iter().filter(|item| item.slice.as_ref().is_none_or(|slice| slice.nr == 0)) {
            above.truncate(item.depth as usize);
            assert_eq!(item.parent.as_ref(), above.last().copied());
            above.push(&item.id);
        }
        for item in self.transcript.items() {
            let calls =
                std::iter::successors(item.parent.as_ref(), |id| self.transcript.item(id)?.parent.as_ref());
            let first_folded = calls.filter(|id| !self.unfolded.contains(*id)).last();
            let is_held = held.iter().any(|one| one.id == item.id);
            assert_eq!(is_held, first_folded.is_none(), "{}", item.id);
            // What is folded is in the row of the call that is.
            let (row, _) = self.window_view.place(item, 0, &self.transcript);
            let wanted = first_folded.unwrap_or(&item.id);
            assert_eq!(held.iter().find(|one| one.row == row).map(|one| &one.id), Some(wanted));
        }
    }
}

/// An open subagent at the end gets rows; below its call, they move those that follow.
#[test]
fn an_open_subagent_has_a_row_for_each_of_its_items() {
    let mut agents = Agents::new();
    agents.call(None);
    (0..3).for_each(|_| agents.call(Some(0)));
    assert_eq!(agents.held.len(), 1, "it is folded");
    agents.toggle(0);
    agents.text(Some(0), 2_000);
    agents.check();
    assert!(agents.held.len() > 8 && agents.n_renumbered == 0);
    let n_rows = agents.window_view.n_rows();
    assert_eq!(n_rows.all - n_rows.continued, 1, "they count as one entry");
    agents.text(None, 1);
    agents.call(Some(0));
    agents.check();
    assert_eq!(agents.n_renumbered, 1);
    agents.toggle(0);
    agents.check();
    assert_eq!(agents.held.len(), 2);
}

/// A call that is opened before its subagent begins.
#[test]
fn a_call_that_is_open_gets_its_first_item() {
    let mut agents = Agents::new();
    agents.call(None);
    agents.toggle(0);
    agents.text(Some(0), 1);
    agents.check();
    assert_eq!(agents.held.len(), 2);
}

/// Adding a step to an open subagent costs the same, however many it has made.
#[test]
fn an_open_subagent_of_ten_thousand_steps_grows_as_fast_as_a_short_one() {
    let mut agents = Agents::new();
    agents.call(None);
    agents.toggle(0);
    (0..10_000).for_each(|_| agents.call(Some(0)));
    assert_eq!((agents.held.len(), agents.n_renumbered), (10_001, 0));
    let some: Vec<u32> =
        agents.window_view.items(&agents.transcript, 5_000, 5_100).map(|item| item.nr).collect();
    assert_eq!(some, (5_000..5_100).collect::<Vec<_>>());
}

/// Another process may report items that are inside of each other.
#[test]
fn items_inside_of_each_other_are_shown_once() {
    let item = |id: &str, parent: &str, nr| {
        let body = Body::Notice { level: Level::Info, text: String::new(), detail: None, until_at: None };
        Item { parent: Some(ItemId::new(parent)), nr, ..Item::new(id, body) }
    };
    let mut mirror = Transcript::new(Path::new("/p"));
    for item in [item("call", "b", 0), item("a", "b", 1), item("b", "a", 2), item("c", "c", 3)] {
        mirror.mirror_event(&Event::ItemAdded { item });
    }
    let ids = ["call", "a", "b", "c"].map(ItemId::new);
    let mut window_view = WindowView::default();
    window_view.begin(&mirror, &HashSet::from(ids.clone()));
    let held: Vec<Item> = window_view.items(&mirror, 0, u32::MAX).collect();
    assert_eq!(held.iter().map(|item| &item.id).collect::<Vec<_>>(), ids.iter().collect::<Vec<_>>());
    window_view.unfold(&mirror, &HashSet::new());
    assert_eq!(window_view.place(mirror.item(&ids[2]).unwrap(), 0, &mirror), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_window_of_open_and_folded_calls_has_what_it_shows(
        steps in prop::collection::vec((0..8u8, 0..12usize), 1..60),
    ) {
        let mut agents = Agents::new();
        for (step, nr) in steps {
            match step {
                0 => agents.call(None),
                1 | 2 => agents.call(Some(nr)),
                3 => agents.text(Some(nr), 1),
                4 => agents.text(Some(nr), 1_000),
                5 => agents.end(nr),
                _ => agents.toggle(nr),
            }
            agents.check();
        }
    }
}

/// Opening a long conversation costs little: most of it is never looked at.
#[test]
fn documents_and_excerpts_are_made_only_for_the_rows_that_a_window_gets() {
    const N: usize = 2_000;
    let line = |nr: usize| {
        let parent = nr.checked_sub(1).map(|parent| format!("u{parent}"));
        let (kind, block) = match nr % 3 {
            0 => ("assistant", json!({"type": "text", "text": format!("The *sum* of {nr} is in `total`.")})),
            1 => {
                let input = json!({"command": format!("cargo test total_{nr}")});
                (
                    "assistant",
                    json!({"type": "tool_use", "id": format!("t{nr}"), "name": "Bash", "input": input}),
                )
            }
            _ => {
                let output = format!("test total_{nr} ... ok\n").repeat(50);
                (
                    "user",
                    json!({"type": "tool_result", "tool_use_id": format!("t{}", nr - 1), "content": output}),
                )
            }
        };
        let message = json!({"id": format!("m{nr}"), "role": kind, "content": [block]});
        json!({"type": kind, "uuid": format!("u{nr}"), "parentUuid": parent, "message": message})
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, (0..3 * N).map(|nr| format!("{}\n", line(nr))).collect::<String>()).unwrap();
    let kept = Kept::load(&path).unwrap();
    let transcript = kept.transcript_with_last_colours(Path::new("/p"), &Additions::default());
    assert_eq!((transcript.n_rows() as usize, transcript.n_late()), (2 * N, 2 * N));
    let mut window_view = WindowView::default();
    window_view.begin(&transcript, &HashSet::new());
    let n_rows = window_view.n_rows().all;
    assert_eq!(transcript.n_late(), 2 * N, "counting rows needs no document");
    let drawn: Vec<Item> = window_view.items(&transcript, n_rows - 60, n_rows).collect();
    assert_eq!((drawn.len(), transcript.n_late()), (60, 2 * N - 60));
    let copied = transcript.text_of("T", &CopyOf::Conversation).unwrap();
    assert!(
        copied.contains("The *sum* of 0 is") && transcript.n_late() == 2 * N - 60,
        "copying needs no document"
    );
    let whole = kept.transcript(Path::new("/p"), &Additions::default());
    assert_eq!(whole.n_late(), 0);
    assert!(transcript.items().eq(whole.items()));
}

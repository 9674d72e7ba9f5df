use super::*;
use crate::api::{Body, ItemId, Level};
use crate::patch;
use proptest::prelude::*;

fn item(row: u32, text: &str) -> Item {
    let body = Body::Notice { level: Level::Info, text: text.to_owned(), detail: None, until_at: None };
    Item { row, ..Item::new(format!("i{row}"), body) }
}

/// A transcript with one item per row, and a window that is subscribed to it.
struct Stage {
    items: Vec<Item>,
    seq: u64,
    feed: Feed,
    held: Vec<Item>,
    rows: RowRange,
    known: u64,
}

impl Stage {
    fn new(n_rows: u32, show: Viewport) -> Self {
        let items: Vec<Item> = (0..n_rows).map(|row| item(row, "as it was")).collect();
        let feed = Feed::new(SessionId::new("s"), show, Vec::new());
        let rows = feed.begin(0, RowCount { all: n_rows, continued: 0 });
        let held = items[rows.first as usize..rows.end as usize].to_vec();
        Self { items, seq: 0, feed, held, rows, known: 0 }
    }

    fn tell(&mut self, event: Event, row: Option<u32>) {
        self.seq += 1;
        self.feed.pass(self.seq, RowCount { all: self.items.len() as u32, continued: 0 });
        self.feed.push(event, row);
    }

    fn add(&mut self) {
        let row = self.items.len() as u32;
        self.items.push(item(row, "new"));
        self.tell(Event::ItemAdded { item: item(row, "new") }, Some(row));
    }

    fn change(&mut self, row: u32, text: &str) {
        self.items[row as usize] = item(row, text);
        self.tell(Event::ItemChanged { item: item(row, text) }, Some(row));
    }

    fn show(&self, first: Option<u32>, count: u32) {
        let items = &self.items;
        self.feed.show(Viewport { first, count, request_id: 1 }, |from, to| {
            items[from as usize..to as usize].iter().cloned()
        });
    }

    /// The window takes a pending batch as its page would. Returns `false` if the batch has a gap.
    fn hear(&mut self) -> bool {
        let Some(batch) = self.feed.take() else { return true };
        if batch.after != self.known {
            return false;
        }
        self.known = batch.seq;
        self.rows = batch.rows;
        let in_sight = |item: &Item| (batch.rows.first..batch.rows.end).contains(&item.row);
        self.held.retain(in_sight);
        for event in &batch.events {
            patch::apply(&mut self.held, event);
        }
        self.held.retain(in_sight);
        self.held.sort_by_key(|item| item.row);
        true
    }

    fn in_sight(&self) -> &[Item] {
        &self.items[self.rows.first as usize..self.rows.end as usize]
    }
}

const END: Viewport = Viewport { first: None, count: 10, request_id: 0 };

#[test]
fn a_window_at_the_end_begins_with_the_last_rows() {
    let stage = Stage::new(100_000, END);
    assert_eq!(
        stage.rows,
        RowRange { first: 99_990, end: 100_000, total: 100_000, n_continued: 0, request_id: 0 }
    );
}

#[test]
fn what_is_out_of_sight_is_not_told() {
    let mut stage = Stage::new(100, END);
    stage.change(3, "changed");
    assert!(stage.feed.take().is_none());
    stage.change(95, "changed");
    assert_eq!(stage.feed.take().unwrap().events.len(), 1);
}

#[test]
fn rows_that_come_out_of_sight_are_only_counted() {
    let mut stage = Stage::new(100, Viewport { first: Some(0), count: 10, request_id: 0 });
    (0..500).for_each(|_| stage.add());
    let batch = stage.feed.take().unwrap();
    assert_eq!((batch.after, batch.seq, batch.events.len()), (0, 500, 0));
    assert_eq!(batch.rows, RowRange { first: 0, end: 10, total: 600, n_continued: 0, request_id: 0 });
}

#[test]
fn a_flood_at_the_end_leaves_the_last_rows_and_no_gap() {
    let mut stage = Stage::new(0, END);
    (0..50_000).for_each(|_| {
        stage.add();
        assert!(stage.feed.lock().pending.len() <= BOUND);
    });
    assert!(stage.hear());
    assert_eq!(stage.held, stage.in_sight());
    assert_eq!(
        stage.rows,
        RowRange { first: 49_990, end: 50_000, total: 50_000, n_continued: 0, request_id: 0 }
    );
}

#[test]
fn more_than_can_wait_is_a_gap_at_once() {
    let mut stage = Stage::new(1, END);
    for seq in 0..=BOUND as u64 {
        let prompt_ids = vec![crate::api::PromptId(seq.to_string())];
        stage.tell(Event::TurnStarted { prompt_ids }, None);
    }
    assert!(!stage.hear());
}

#[test]
fn what_goes_is_told_wherever_it_stood() {
    let mut stage = Stage::new(20, END);
    stage.change(19, "changed");
    stage.tell(Event::ItemRemoved { item_id: ItemId::new("i19") }, None);
    assert!(stage.hear());
    assert_eq!(stage.held, stage.items[10..19]);
    assert_eq!(stage.rows.total, 20);
}

#[test]
fn a_window_holds_no_more_than_it_may() {
    let stage = Stage::new(100_000, Viewport { first: Some(7), count: u32::MAX, request_id: 3 });
    assert_eq!(
        stage.rows,
        RowRange { first: 7, end: 7 + MOST_ROWS, total: 100_000, n_continued: 0, request_id: 3 }
    );
}

#[derive(Clone, Debug)]
enum Act {
    Add,
    Change(u32),
    Show(Option<u32>, u32),
    Hear,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => Just(Act::Add),
        4 => any::<u32>().prop_map(Act::Change),
        2 => (prop::option::of(0u32..60), 1u32..20).prop_map(|(first, count)| Act::Show(first, count)),
        2 => Just(Act::Hear),
    ]
}

proptest! {
    /// However a window scrolls while the transcript changes, it has exactly the rows in its viewport.
    #[test]
    fn a_window_holds_the_rows_it_shows(n_rows in 0u32..40, acts in prop::collection::vec(act(), 0..60)) {
        let mut stage = Stage::new(n_rows, END);
        for (nr, act) in acts.into_iter().enumerate() {
            match act {
                Act::Add => stage.add(),
                Act::Change(row) if !stage.items.is_empty() => {
                    stage.change(row % stage.items.len() as u32, &nr.to_string());
                }
                Act::Change(_) => {}
                Act::Show(first, count) => stage.show(first, count),
                Act::Hear => prop_assert!(stage.hear()),
            }
        }
        prop_assert!(stage.hear());
        prop_assert_eq!(&stage.held, stage.in_sight());
    }
}

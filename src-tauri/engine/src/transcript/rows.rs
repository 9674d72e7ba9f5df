//! Rows of a transcript: grouping of items into the rows that the window draws, and their order.
//!
//! A run of reads and searches folds into one row, and so does a run of task updates. The items of a subagent are in
//! the row of its call. Every other item has its own row.
//!
//! A row keeps its number forever: a row whose items were removed stays, empty.

use crate::api::{Body, ToolIcon};

/// Maximum number of calls that a row folds: they are sent with it, and it must stay small.
const FOLDED: usize = 50;

/// The items of each row, by their index in the transcript.
#[derive(Default)]
pub struct Index {
    rows: Vec<Row>,
}

struct Row {
    /// `None` in an empty row.
    first: Option<u32>,
    /// The other items, in order. Most rows have none.
    more: Vec<u32>,
    /// The kind of calls that the row folds, if any.
    fold: Option<Fold>,
    /// Number of folded calls.
    n_folded: usize,
    /// Number of items ever added to the row.
    n_added: u32,
}

/// Kinds of calls that share a row with adjacent calls of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    /// Reads and searches.
    Lookups,
    /// Updates of the task list, which the side panel shows.
    Tasks,
}

impl Row {
    /// The other items that are drawn in the row itself: calls that it folds.
    fn folded(&self) -> &[u32] {
        if self.fold.is_some() { &self.more } else { &[] }
    }
}

impl Index {
    pub fn count(&self) -> u32 {
        self.rows.len() as u32
    }

    /// Assigns an item appended at index `place` to a row. Returns the row and the item's number in it.
    pub fn add(&mut self, place: usize, row_of_parent: Option<u32>, body: &Body) -> (u32, u32) {
        let place = place as u32;
        if let Some(row) = row_of_parent {
            let of_parent = &mut self.rows[row as usize];
            of_parent.more.push(place);
            of_parent.n_added += 1;
            return (row, of_parent.n_added - 1);
        }
        let fold = fold_of(body);
        match self.rows.last_mut() {
            Some(last) if fold.is_some() && last.fold == fold && last.n_folded < FOLDED => {
                last.more.push(place);
                let nr = last.n_added;
                last.n_folded += 1;
                last.n_added += 1;
                (self.count() - 1, nr)
            }
            _ => {
                self.rows.push(Row { first: Some(place), more: Vec::new(), fold, n_folded: 1, n_added: 1 });
                (self.count() - 1, 0)
            }
        }
    }

    /// Puts an item appended at index `place` into the row that it has in another process, as item number `nr` of it.
    pub fn put(&mut self, place: usize, row: u32, nr: u32, body: &Body) {
        self.extend(row + 1);
        let place = place as u32;
        let of_item = &mut self.rows[row as usize];
        if of_item.n_added == 0 {
            of_item.first = Some(place);
            of_item.fold = fold_of(body);
        } else {
            of_item.more.push(place);
        }
        of_item.n_added = of_item.n_added.max(nr.saturating_add(1));
    }

    /// Adds empty rows until there are `count`.
    pub fn extend(&mut self, count: u32) {
        let empty = || Row { first: None, more: Vec::new(), fold: None, n_folded: 0, n_added: 0 };
        let count = (count as usize).max(self.rows.len());
        self.rows.resize_with(count, empty);
    }

    /// The index of the first item of a row.
    pub fn head(&self, row: u32) -> Option<usize> {
        Some(self.rows.get(row as usize)?.first? as usize)
    }

    /// Whether the row folds a run of calls.
    pub fn is_run(&self, row: u32) -> bool {
        self.rows.get(row as usize).is_some_and(|row| row.fold.is_some())
    }

    /// The indices of all items of a row except the first.
    pub fn inside(&self, row: u32) -> &[u32] {
        self.rows.get(row as usize).map(|row| row.more.as_slice()).unwrap_or_default()
    }

    /// Removes the item at `place` from its row and decrements the indices of all later items.
    pub fn remove(&mut self, place: usize, row: u32) {
        let place = place as u32;
        let of_item = &mut self.rows[row as usize];
        if of_item.first == Some(place) {
            of_item.first = (!of_item.more.is_empty()).then(|| of_item.more.remove(0));
        } else {
            of_item.more.retain(|known| *known != place);
        }
        for row in &mut self.rows {
            let behind = row.first.iter_mut().chain(&mut row.more).filter(|known| **known > place);
            behind.for_each(|known| *known -= 1);
        }
    }

    /// The indices of the items in the rows `first..end`, without those of subagents.
    pub fn places(&self, first: u32, end: u32) -> impl Iterator<Item = usize> {
        let end = (end as usize).min(self.rows.len());
        let rows = &self.rows[(first as usize).min(end)..end];
        rows.iter().flat_map(|row| row.first.iter().chain(row.folded()).map(|place| *place as usize))
    }
}

fn fold_of(body: &Body) -> Option<Fold> {
    let Body::ToolCall(call) = body else { return None };
    match call.icon {
        ToolIcon::Read | ToolIcon::Search => Some(Fold::Lookups),
        ToolIcon::Todo => Some(Fold::Tasks),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Item, ItemId, Level, ToolCall, ToolDetail, ToolState};

    fn item(id: &str, parent: Option<&str>, body: Body) -> Item {
        Item { parent: parent.map(ItemId::new), ..Item::new(id, body) }
    }

    fn notice() -> Body {
        Body::Notice { level: Level::Info, text: String::new(), detail: None, until_at: None }
    }

    fn call(icon: ToolIcon) -> Body {
        Body::ToolCall(Box::new(ToolCall {
            tool: String::new(),
            icon,
            verb: String::new(),
            subject: String::new(),
            state: ToolState::Succeeded,
            note: None,
            in_background: false,
            original_input: None,
            duration_ms: None,
            n_images: 0,
            detail: ToolDetail::Todos { todos: Vec::new() },
        }))
    }

    /// The row of each item, added one by one.
    fn rows(items: &[Item]) -> (Index, Vec<u32>) {
        let mut index = Index::default();
        let mut rows: Vec<u32> = Vec::new();
        for (place, item) in items.iter().enumerate() {
            let parent = items[..place].iter().position(|known| Some(&known.id) == item.parent.as_ref());
            let row = index.add(place, parent.map(|place| rows[place]), &item.body);
            rows.push(row.0);
        }
        (index, rows)
    }

    fn places(index: &Index, first: u32, end: u32) -> Vec<usize> {
        index.places(first, end).collect()
    }

    #[test]
    fn reads_and_searches_in_a_row_share_it() {
        let items = [
            item("a", None, call(ToolIcon::Search)),
            item("b", None, call(ToolIcon::Read)),
            item("c", None, call(ToolIcon::Edit)),
            item("d", None, call(ToolIcon::Read)),
        ];
        assert_eq!(rows(&items).1, [0, 0, 1, 2]);
    }

    #[test]
    fn changes_to_the_tasks_share_a_row_and_no_other_call_is_in_it() {
        let items = [
            item("a", None, call(ToolIcon::Todo)),
            item("b", None, call(ToolIcon::Todo)),
            item("c", None, call(ToolIcon::Read)),
            item("d", None, call(ToolIcon::Todo)),
        ];
        assert_eq!(rows(&items).1, [0, 0, 1, 2]);
    }

    #[test]
    fn a_fold_ends_before_it_is_too_large() {
        let items: Vec<Item> = (0..120).map(|nr| item(&nr.to_string(), None, call(ToolIcon::Read))).collect();
        let (index, rows) = rows(&items);
        assert_eq!(index.count(), 3);
        assert_eq!((rows[49], rows[50]), (0, 1));
    }

    #[test]
    fn the_items_of_subagents_are_in_the_rows_of_their_calls() {
        let items = [
            item("one", None, call(ToolIcon::Agent)),
            item("two", None, call(ToolIcon::Agent)),
            item("a", Some("one"), call(ToolIcon::Agent)),
            item("b", Some("two"), notice()),
            item("c", Some("a"), call(ToolIcon::Read)),
            item("d", None, notice()),
            item("lost", Some("nobody"), notice()),
        ];
        let (index, rows) = rows(&items);
        assert_eq!(rows, [0, 1, 0, 1, 0, 2, 3]);
        assert_eq!((places(&index, 0, 1), index.inside(0)), (vec![0], [2, 4].as_slice()));
        assert_eq!((places(&index, 1, 9), index.inside(1)), (vec![1, 5, 6], [3].as_slice()));
        assert_eq!(places(&index, 7, 9), [0; 0]);
    }

    #[test]
    fn a_row_keeps_its_number_when_others_go() {
        let items = [
            item("a", None, notice()),
            item("b", None, call(ToolIcon::Read)),
            item("c", None, call(ToolIcon::Read)),
            item("d", None, notice()),
        ];
        let (mut index, _) = rows(&items);
        index.remove(0, 0);
        index.remove(0, 1);
        assert_eq!(
            (places(&index, 0, 1), places(&index, 1, 2), places(&index, 2, 3)),
            (vec![], vec![0], vec![1])
        );
        assert_eq!(index.add(2, None, &notice()), (3, 0));
    }
}

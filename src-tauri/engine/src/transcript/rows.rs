//! The rows of a transcript: what is drawn in one line, and where it stands. A run of reads and searches folds into
//! one row, and the items of a subagent are in the row of its call; everything else has a row of its own.
//!
//! A row keeps its number for good: one whose items are gone stays, empty.

use crate::api::{Body, ToolIcon};

/// Reads and searches that fold into one row: a row must stay small enough to be sent.
const FOLDED: usize = 50;

/// What windows are told of a subagent without asking: the last of its items.
const INSIDE: usize = 50;

/// Which items each row has, by their places in the transcript.
#[derive(Default)]
pub struct Index {
    rows: Vec<Row>,
}

struct Row {
    /// `None` in an empty row.
    first: Option<u32>,
    /// The other items, in their order; none in most rows.
    more: Vec<u32>,
    /// How many reads and searches the row folds; 0 in any other row.
    n_lookups: usize,
    /// How many items ever came into it.
    n_added: u32,
}

impl Row {
    /// The other items that are told with the row.
    fn told(&self) -> &[u32] {
        let is_fold = self.n_lookups > 0;
        let n_untold = if is_fold { 0 } else { self.more.len().saturating_sub(INSIDE) };
        &self.more[n_untold..]
    }
}

impl Index {
    pub fn count(&self) -> u32 {
        self.rows.len() as u32
    }

    /// Finds the row of an item that comes to the end of the transcript, at `place`, and its number in it.
    pub fn add(&mut self, place: usize, row_of_parent: Option<u32>, body: &Body) -> (u32, u32) {
        let place = place as u32;
        if let Some(row) = row_of_parent {
            let of_parent = &mut self.rows[row as usize];
            of_parent.more.push(place);
            of_parent.n_added += 1;
            return (row, of_parent.n_added - 1);
        }
        let n_lookups = usize::from(is_lookup(body));
        match self.rows.last_mut() {
            Some(last) if n_lookups > 0 && (1..FOLDED).contains(&last.n_lookups) => {
                last.more.push(place);
                let nr = last.n_added;
                last.n_lookups += 1;
                last.n_added += 1;
                (self.count() - 1, nr)
            }
            _ => {
                self.rows.push(Row { first: Some(place), more: Vec::new(), n_lookups, n_added: 1 });
                (self.count() - 1, 0)
            }
        }
    }

    /// The places of all items of a row but its first.
    pub fn inside(&self, row: u32) -> &[u32] {
        self.rows.get(row as usize).map(|row| row.more.as_slice()).unwrap_or_default()
    }

    /// Takes the item at `place` out of its row; those behind it move up in the transcript.
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

    /// The places of the items in the rows from `first` up to `end`, of a subagent's the last ones.
    pub fn places(&self, first: u32, end: u32) -> impl Iterator<Item = usize> {
        let end = (end as usize).min(self.rows.len());
        let rows = &self.rows[(first as usize).min(end)..end];
        rows.iter().flat_map(|row| row.first.iter().chain(row.told()).map(|place| *place as usize))
    }
}

fn is_lookup(body: &Body) -> bool {
    matches!(body, Body::ToolCall(call) if matches!(call.icon, ToolIcon::Read | ToolIcon::Search))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Item, ItemId, Level, ToolCall, ToolDetail, ToolState};

    fn item(id: &str, parent: Option<&str>, body: Body) -> Item {
        Item {
            id: ItemId::new(id),
            parent: parent.map(ItemId::new),
            row: 0,
            nr: 0,
            at: 0,
            part: 0,
            parts: 1,
            body,
        }
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
            duration_ms: None,
            detail: ToolDetail::Todos { todos: Vec::new() },
        }))
    }

    /// The items' rows, as they come one by one.
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
        assert_eq!(places(&index, 0, 1), [0, 2, 4]);
        assert_eq!(places(&index, 1, 9), [1, 3, 5, 6]);
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

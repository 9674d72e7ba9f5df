//! The rows of an open call: its own, and below it those of the items that its subagent made, in the order of a tree.

use crate::api::{Item, ItemId};
use crate::transcript::Transcript;
use std::collections::{HashMap, HashSet};

/// The items of one row of the transcript that windows draw in rows of their own.
pub struct OpenCall {
    /// The call, and the shown items of its subagent. Never empty.
    entries: Vec<Entry>,
    places: HashMap<ItemId, usize>,
}

struct Entry {
    id: ItemId,
    depth: u32,
    /// Its first row, counted from that of the call.
    first: u32,
    n_rows: u32,
}

impl OpenCall {
    /// The open call of a row of the transcript; `None` if that row has no call with items inside, or it is folded.
    /// `n_rows` returns the number of rows of an item.
    pub fn of(
        transcript: &Transcript,
        row: u32,
        unfolded: &HashSet<ItemId>,
        mut n_rows: impl FnMut(&Item) -> u32,
    ) -> Option<Self> {
        let call = transcript.head_of(row).filter(|call| unfolded.contains(&call.id))?;
        let mut inside = transcript.inside(row).peekable();
        inside.peek()?;
        let mut known = HashSet::from([&call.id]);
        let mut children: HashMap<&ItemId, Vec<&Item>> = HashMap::new();
        for item in inside {
            // An item whose own call is not known is one of the subagent's.
            let parent = item.parent.as_ref().filter(|parent| known.contains(parent));
            children.entry(parent.unwrap_or(&call.id)).or_default().push(item);
            known.insert(&item.id);
        }
        let mut open = Self { entries: Vec::new(), places: HashMap::new() };
        let mut waiting = vec![(call, 0)];
        while let Some((item, depth)) = waiting.pop() {
            open.push(item.id.clone(), depth, n_rows(item));
            if unfolded.contains(&item.id) {
                let inside = children.remove(&item.id).unwrap_or_default();
                waiting.extend(inside.into_iter().rev().map(|item| (item, depth + 1)));
            }
        }
        Some(open)
    }

    pub fn has(&self, id: &ItemId) -> bool {
        self.places.contains_key(id)
    }

    pub fn n_rows(&self) -> u32 {
        self.entries.last().map_or(0, |last| last.first + last.n_rows)
    }

    /// The first row of an item, counted from that of the call, and its depth.
    pub fn place(&self, id: &ItemId) -> Option<(u32, u32)> {
        let entry = self.entries.get(*self.places.get(id)?)?;
        Some((entry.first, entry.depth))
    }

    /// The items with a row in `first..end`, counted from that of the call.
    pub fn in_rows(&self, first: u32, end: u32) -> impl Iterator<Item = &ItemId> {
        let start = self.entries.partition_point(|entry| entry.first + entry.n_rows <= first);
        self.entries[start..].iter().take_while(move |entry| entry.first < end).map(|entry| &entry.id)
    }

    /// Adds an item that the subagent made, unless its own call is folded. Returns whether rows got other numbers.
    pub fn add(
        &mut self,
        item: &Item,
        is_known: impl Fn(&ItemId) -> bool,
        unfolded: &HashSet<ItemId>,
    ) -> bool {
        let parent = item.parent.as_ref().filter(|parent| is_known(parent));
        let parent = parent.map_or(Some(0), |parent| self.places.get(parent).copied());
        let Some(parent) = parent.filter(|place| unfolded.contains(&self.entries[*place].id)) else {
            return false;
        };
        let depth = self.entries[parent].depth + 1;
        let later = &self.entries[parent + 1..];
        let n_inside = match parent {
            0 => later.len(),
            _ => later.iter().take_while(|entry| entry.depth >= depth).count(),
        };
        let place = parent + 1 + n_inside;
        let is_last = place == self.entries.len();
        let moved = self.entries.split_off(place);
        self.push(item.id.clone(), depth, 1);
        moved.into_iter().for_each(|entry| self.push(entry.id, entry.depth, entry.n_rows));
        !is_last
    }

    fn push(&mut self, id: ItemId, depth: u32, n_rows: u32) {
        self.places.insert(id.clone(), self.entries.len());
        self.entries.push(Entry { id, depth, first: self.n_rows(), n_rows });
    }

    /// Makes room for `n` rows of an item. It keeps the rows that it has. Returns whether rows got other numbers.
    pub fn make_room(&mut self, id: &ItemId, n: u32) -> bool {
        let Some(place) = self.places.get(id).copied() else { return false };
        let more = n.saturating_sub(self.entries[place].n_rows);
        self.entries[place].n_rows += more;
        let later = &mut self.entries[place + 1..];
        later.iter_mut().for_each(|entry| entry.first += more);
        more > 0 && !later.is_empty()
    }
}

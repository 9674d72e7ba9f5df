//! The view that windows have of a transcript: its rows, each of a length that a window draws at once.
//!
//! A text of the main thread has a row for each of its slices. Any other long item is drawn in parts: its first part,
//! or its last ones while a thought grows.

mod rows;

use super::feed::RowCount;
use crate::api::{Block, Body, ChangedFile, Event, Item, ItemId, Slice};
use crate::transcript::slices::{Kept, ONE_SLICE, Slices, has_long_line};
use crate::transcript::{Transcript, parts};
use rows::WindowRows;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// An event for windows, and the row of its item.
pub type Placed = (Event, Option<u32>);

/// What windows have of the items that they do not draw as one row.
#[derive(Default)]
pub struct WindowView {
    rows: WindowRows,
    /// Texts that stream, and texts of more than one slice.
    texts: HashMap<ItemId, Text>,
    /// Thoughts that stream.
    thoughts: HashSet<ItemId>,
    /// Rows got other numbers: windows have to start over.
    is_renumbered: bool,
}

struct Text {
    slices: Slices,
    /// The hash of each slice that was sent; `None` if the slice has changed since then.
    sent: Vec<Option<u64>>,
    /// Whether the last slice in windows has the blocks and lines of the text one to one, so that changes of the text
    /// can be sent as they are.
    is_aligned: bool,
}

impl Text {
    fn of(blocks: &[Block]) -> Self {
        let slices = Slices::of(blocks);
        let is_aligned = slices.content(blocks, slices.count() - 1).1;
        Self { slices, sent: Vec::new(), is_aligned }
    }

    /// Notes what windows get of a slice. Returns whether they have it already.
    fn send(&mut self, piece: &Item, nr: u32) -> bool {
        let Body::Text { blocks, .. } = &piece.body else { return false };
        let mut hasher = DefaultHasher::new();
        (blocks, &piece.slice).hash(&mut hasher);
        let now = Some(hasher.finish());
        self.sent.resize(self.slices.count() as usize, None);
        let Some(known) = self.sent.get_mut(nr as usize) else { return false };
        std::mem::replace(known, now) == now
    }

    /// The last slice was changed in windows without being sent.
    fn patched(&mut self) {
        self.sent.resize(self.slices.count() as usize, None);
        if let Some(last) = self.sent.last_mut() {
            *last = None;
        }
    }
}

impl WindowView {
    /// Starts over with a transcript that no window has yet.
    pub fn begin(&mut self, transcript: &Transcript) {
        *self = Self::default();
        self.rows.extend(transcript.n_rows());
        for item in transcript.items().filter(|item| transcript.source_bytes(&item.id) >= ONE_SLICE) {
            self.look(item);
        }
        for item in transcript.streams().filter_map(|id| transcript.item(id)) {
            self.look(item);
        }
        self.is_renumbered = false;
    }

    pub fn n_rows(&self) -> RowCount {
        self.rows.count()
    }

    /// The row of part `part` of an item, and the part of that row. The parts of a text with slices are rows.
    pub fn place(&self, item: &Item, part: u32) -> (u32, u32) {
        let first = self.rows.first(item.row);
        match self.texts.get(&item.id) {
            Some(text) => (first + part.min(text.slices.count() - 1), 0),
            None => (first, if is_sliced(item) { 0 } else { part }),
        }
    }

    /// Rows got other numbers since the last call.
    pub fn take_renumbered(&mut self) -> bool {
        std::mem::take(&mut self.is_renumbered)
    }

    /// Replaces the row of its last edit by that of windows.
    pub fn place_file(&self, file: &mut ChangedFile) {
        file.row = self.rows.first(file.row);
    }

    /// The items of the rows `first..end`, as windows draw them.
    pub fn items<'a>(
        &'a self,
        transcript: &'a Transcript,
        first: u32,
        end: u32,
    ) -> impl Iterator<Item = Item> + 'a {
        let end = end.min(self.n_rows().all);
        let of_transcript =
            if first < end { self.rows.inner(first)..self.rows.inner(end - 1) + 1 } else { 0..0 };
        let items = transcript.items_of(of_transcript.start, of_transcript.end);
        // A text that became shorter has rows without an item.
        items
            .flat_map(move |item| self.drawn(item, first, end))
            .filter(move |item| (first..end).contains(&item.row))
    }

    /// An item as windows draw it: those of its slices that are in the rows `first..end`, or the item.
    fn drawn(&self, item: &Item, first: u32, end: u32) -> Vec<Item> {
        let (Body::Text { blocks, .. }, Some(text)) = (&item.body, self.texts.get(&item.id)) else {
            return vec![self.unsliced(item)];
        };
        let start = self.rows.first(item.row);
        let slices = first.saturating_sub(start)..end.saturating_sub(start).min(text.slices.count());
        slices.map(|nr| self.slice(item, blocks, text, nr).0).collect()
    }

    /// An item that has no slices, as windows draw it.
    pub fn unsliced(&self, item: &Item) -> Item {
        let row = self.rows.first(item.row);
        let is_sliced = is_sliced(item);
        let (body, part, parts) = match &item.body {
            body @ Body::Text { .. } if is_sliced => (body.clone(), 0, 1),
            body @ Body::Thinking { streaming: true, .. } => end_of(body),
            body => parts::part(body, 0)
                .map_or_else(|| (body.clone(), 0, 1), |(body, n_parts)| (body, 0, n_parts)),
        };
        Item { row, ..with(item, part, parts, body) }
    }

    fn slice(&self, item: &Item, whole: &[Block], text: &Text, nr: u32) -> (Item, bool) {
        let n_slices = text.slices.count();
        let is_last = nr + 1 == n_slices;
        let streaming = is_last && matches!(item.body, Body::Text { streaming: true, .. });
        let (blocks, is_aligned) = text.slices.content(whole, nr);
        let slice = (n_slices > 1).then(|| {
            let (block, continues) = text.slices.beginning(whole, nr);
            let is_continued = !is_last && text.slices.beginning(whole, nr + 1).1;
            Slice { of: item.id.clone(), nr, is_last, block, continues, is_continued }
        });
        let row = self.rows.first(item.row) + nr;
        let id = slice_id(&item.id, nr);
        let piece = Item { id, row, slice, ..with(item, 0, 1, Body::Text { blocks, streaming }) };
        (piece, is_aligned)
    }

    /// Returns the events for windows; none if nothing that they draw changes.
    pub fn events(&mut self, event: Event, transcript: &Transcript) -> Vec<Placed> {
        #[cfg(test)]
        crate::stages::passed(module_path!(), &event);
        match event {
            Event::ItemAdded { item } => {
                self.rows.extend(item.row + 1);
                self.sent(&item, true)
            }
            Event::ItemChanged { item } => self.sent(&item, false),
            Event::BlocksChanged { ref item_id, keep, .. } => {
                let item_id = item_id.clone();
                self.grew(&item_id, Kept::Blocks(keep), event, transcript)
            }
            Event::CodeGrew { ref item_id, keep, .. } => {
                let item_id = item_id.clone();
                self.grew(&item_id, Kept::Lines(keep), event, transcript)
            }
            Event::TextFinished { item_id } => self.finished(&item_id, transcript),
            Event::ItemRemoved { item_id } => self.removed(item_id),
            Event::FileChanged { mut file } => {
                self.place_file(&mut file);
                vec![(Event::FileChanged { file }, None)]
            }
            event => vec![(event, None)],
        }
    }

    /// An item that was added, or replaced as a whole.
    fn sent(&mut self, item: &Item, is_new: bool) -> Vec<Placed> {
        let was_thought = self.thoughts.remove(&item.id);
        if let Body::Thinking { streaming, .. } = &item.body {
            if *streaming {
                self.thoughts.insert(item.id.clone());
            } else if was_thought {
                // A window that followed the end of the thought stays there.
                let (body, part, parts) = end_of(&item.body);
                return vec![changed(Item {
                    row: self.rows.first(item.row),
                    ..with(item, part, parts, body)
                })];
            }
        }
        let n_before = if is_new { 0 } else { self.n_slices(&item.id) };
        self.look(item);
        match (&item.body, self.texts.get(&item.id)) {
            (Body::Text { blocks, .. }, Some(_)) => self.sent_from(item, blocks, 0, n_before),
            _ => {
                let gone = (1..n_before).map(|nr| removed(slice_id(&item.id, nr)));
                let item = self.unsliced(item);
                let event = if is_new { added(item) } else { changed(item) };
                std::iter::once(event).chain(gone).collect()
            }
        }
    }

    fn n_slices(&self, id: &ItemId) -> u32 {
        self.texts.get(id).map_or(1, |text| text.slices.count())
    }

    /// Finds the slices of a text that windows get as a whole, and makes room for their rows.
    fn look(&mut self, item: &Item) {
        self.texts.remove(&item.id);
        let Body::Text { blocks, streaming } = &item.body else { return };
        if !is_sliced(item) {
            return;
        }
        let text = Text::of(blocks);
        let count = text.slices.count();
        if *streaming || count > 1 {
            self.texts.insert(item.id.clone(), text);
            self.make_room(item, count);
        }
    }

    fn make_room(&mut self, item: &Item, n_slices: u32) {
        self.is_renumbered |= self.rows.make_room(item.row, n_slices);
    }

    /// The slices of a text from `first` on; windows had `n_before` of all.
    fn sent_from(&mut self, item: &Item, blocks: &[Block], first: u32, n_before: u32) -> Vec<Placed> {
        let Some(mut text) = self.texts.remove(&item.id) else { return Vec::new() };
        let count = text.slices.count();
        let mut events = Vec::new();
        for nr in first..count {
            let (piece, is_aligned) = self.slice(item, blocks, &text, nr);
            text.is_aligned = is_aligned;
            let is_known = text.send(&piece, nr);
            if nr >= n_before {
                events.push(added(piece));
            } else if !is_known {
                events.push(changed(piece));
            }
        }
        events.extend((count..n_before).map(|nr| removed(slice_id(&item.id, nr))));
        self.texts.insert(item.id.clone(), text);
        events
    }

    /// A text grew, or got colours.
    fn grew(&mut self, id: &ItemId, kept: Kept, event: Event, transcript: &Transcript) -> Vec<Placed> {
        let Some(item) = transcript.item(id) else { return Vec::new() };
        let Body::Text { blocks, .. } = &item.body else { return Vec::new() };
        let Some(text) = self.texts.get_mut(id) else {
            // Colours of a finished text. A window that has a part of it gets them with the next part.
            let is_whole = is_sliced(item) || parts::fits(&item.body);
            return if is_whole { vec![(event, Some(self.rows.first(item.row)))] } else { Vec::new() };
        };
        let n_before = text.slices.count();
        let first = text.slices.change(blocks, kept);
        let count = text.slices.count();
        if (first + 1, count) == (n_before, n_before)
            && text.is_aligned
            && !has_long_code(&event)
            && let Some(own) = text.slices.kept_of_last(kept, blocks.len())
        {
            text.patched();
            let row = self.rows.first(item.row) + first;
            return vec![(of_slice(event, slice_id(id, first), own), Some(row))];
        }
        self.make_room(item, count);
        self.sent_from(item, blocks, first, n_before)
    }

    /// A text is complete.
    fn finished(&mut self, id: &ItemId, transcript: &Transcript) -> Vec<Placed> {
        let Some(item) = transcript.item(id) else { return Vec::new() };
        let last = self.n_slices(id) - 1;
        if last == 0 {
            self.texts.remove(id);
        }
        let row = self.rows.first(item.row) + last;
        vec![(Event::TextFinished { item_id: slice_id(id, last) }, Some(row))]
    }

    fn removed(&mut self, id: ItemId) -> Vec<Placed> {
        let n_slices = self.n_slices(&id);
        self.texts.remove(&id);
        self.thoughts.remove(&id);
        (0..n_slices).map(|nr| removed(slice_id(&id, nr))).collect()
    }
}

/// Whether an item is drawn in slices, if it is long: a text in a row of its own. A subagent does not stream.
fn is_sliced(item: &Item) -> bool {
    matches!(item.body, Body::Text { .. }) && item.parent.is_none()
}

/// The id of a slice. The first has the id of its text.
fn slice_id(id: &ItemId, nr: u32) -> ItemId {
    if nr == 0 { id.clone() } else { ItemId(format!("{id}\u{1f}{nr}")) }
}

/// The last parts of a body: their content, the first of them and the number of all.
fn end_of(body: &Body) -> (Body, u32, u32) {
    parts::last(body).unwrap_or_else(|| (body.clone(), 0, 1))
}

fn with(item: &Item, part: u32, parts: u32, body: Body) -> Item {
    Item {
        id: item.id.clone(),
        parent: item.parent.clone(),
        row: item.row,
        nr: item.nr,
        at: item.at,
        part,
        parts,
        slice: None,
        body,
    }
}

fn added(item: Item) -> Placed {
    let row = item.row;
    (Event::ItemAdded { item }, Some(row))
}

fn changed(item: Item) -> Placed {
    let row = item.row;
    (Event::ItemChanged { item }, Some(row))
}

fn removed(item_id: ItemId) -> Placed {
    (Event::ItemRemoved { item_id }, None)
}

/// The event for a slice, with `keep` counted from its beginning.
fn of_slice(event: Event, item_id: ItemId, keep: u32) -> Event {
    match event {
        Event::BlocksChanged { blocks, .. } => Event::BlocksChanged { item_id, keep, blocks },
        Event::CodeGrew { lines, .. } => Event::CodeGrew { item_id, keep, lines },
        event => event,
    }
}

fn has_long_code(event: &Event) -> bool {
    match event {
        Event::CodeGrew { lines, .. } => has_long_line(lines),
        Event::BlocksChanged { blocks, .. } => {
            blocks.iter().any(|block| matches!(block, Block::Code { lines, .. } if has_long_line(lines)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;

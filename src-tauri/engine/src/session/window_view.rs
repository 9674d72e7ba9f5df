//! The view that windows have of a transcript: its rows, each of a length that a window draws at once.
//!
//! A text has a row for each of its slices, and so have long details of a notice and a long input of a call. What is folded
//! has one. The items of a call's subagent are rows below it if the user opened it.

mod open;
mod rows;
mod text;

use super::feed::RowCount;
use crate::api::{Block, Body, ChangedFile, Event, Item, ItemId, Slice};
use crate::transcript::Transcript;
use crate::transcript::slices::body::BodySlices;
use crate::transcript::slices::{Kept, Parts, has_long_line};
use open::OpenCall;
use rows::WindowRows;
use std::collections::{BTreeSet, HashMap, HashSet};
use text::{Text, is_folded};

/// An event for windows, and the row of its item.
pub type Placed = (Event, Option<u32>);

/// What windows have of the items that they do not draw as one row.
#[derive(Default)]
pub struct WindowView {
    rows: WindowRows,
    /// Texts that stream, and items of more than one slice.
    texts: HashMap<ItemId, Text>,
    /// Calls that are open, by the row of the transcript that they and the items of their subagents have.
    open: HashMap<u32, OpenCall>,
    /// Items that the user unfolded.
    unfolded: HashSet<ItemId>,
    /// Rows got other numbers: windows have to start over.
    is_renumbered: bool,
}

impl WindowView {
    /// Starts over with a transcript that no window has yet. `unfolded`: the items that the user unfolded.
    pub fn begin(&mut self, transcript: &Transcript, unfolded: &HashSet<ItemId>) {
        *self = Self { unfolded: unfolded.clone(), ..Self::default() };
        self.rows.extend(transcript.n_rows());
        self.lay_out_around(transcript, unfolded.iter());
        for item in transcript.items_that_may_be_long() {
            self.look(item, transcript);
        }
        for item in transcript.streams().filter_map(|id| transcript.item(id)) {
            self.look(item, transcript);
        }
        self.is_renumbered = false;
    }

    /// Unfolds these items and folds all others, for a window that starts over.
    pub fn unfold(&mut self, transcript: &Transcript, unfolded: &HashSet<ItemId>) {
        let before = std::mem::replace(&mut self.unfolded, unfolded.clone());
        for id in before.symmetric_difference(unfolded) {
            let (Some(text), Some(item)) = (self.texts.get_mut(id), transcript.item(id)) else { continue };
            text.is_folded = is_folded(item, unfolded);
            text.sent.clear();
            if !self.open.contains_key(&item.row) {
                self.rows.set(item.row, text.n_rows());
            }
        }
        self.lay_out_around(transcript, before.symmetric_difference(unfolded));
    }

    /// Finds the rows of the calls that have or had one of these items inside.
    fn lay_out_around<'a>(&mut self, transcript: &Transcript, ids: impl Iterator<Item = &'a ItemId>) {
        let rows = ids.filter_map(|id| transcript.row_of(id));
        let rows: BTreeSet<u32> = rows.filter(|row| transcript.inside(*row).next().is_some()).collect();
        rows.into_iter().for_each(|row| self.lay_out(transcript, row));
    }

    /// Finds the rows of a call and of the items of its subagent.
    fn lay_out(&mut self, transcript: &Transcript, row: u32) {
        let was_open = self.open.remove(&row).is_some();
        let (texts, unfolded) = (&mut self.texts, &self.unfolded);
        let open = OpenCall::of(transcript, row, unfolded, |item| {
            if !texts.contains_key(&item.id)
                && let Some(text) = Text::in_rows(item, unfolded)
            {
                texts.insert(item.id.clone(), text);
            }
            texts.get(&item.id).map_or(1, Text::n_rows)
        });
        if was_open || open.is_some() {
            let is_shown = |id: &ItemId| open.as_ref().is_some_and(|open| open.has(id));
            transcript.inside(row).filter(|item| !is_shown(&item.id)).for_each(|item| {
                texts.remove(&item.id);
            });
        }
        match open {
            Some(open) => {
                self.rows.set(row, open.n_rows());
                self.open.insert(row, open);
            }
            None if was_open => {
                let n_rows = transcript.head_of(row).map_or(1, |head| self.n_rows_of(&head.id));
                self.rows.set(row, n_rows);
            }
            None => {}
        }
    }

    /// Whether windows draw an item: those of a subagent only while its call is open.
    fn is_shown(&self, item: &Item, transcript: &Transcript) -> bool {
        match self.open.get(&item.row) {
            Some(open) => open.has(&item.id),
            None => item.parent.is_none() || !transcript.is_inside_call(item),
        }
    }

    /// The first row of an item that is shown.
    fn first_row(&self, item: &Item) -> u32 {
        self.rows.first(item.row) + self.place_in_call(item).0
    }

    /// Its first row, counted from that of the call it is inside of, and its depth.
    fn place_in_call(&self, item: &Item) -> (u32, u32) {
        self.open.get(&item.row).and_then(|open| open.place(&item.id)).unwrap_or_default()
    }

    pub fn n_rows(&self) -> RowCount {
        self.rows.count()
    }

    /// The row of slice `part` of an item, and the slice of that row. A folded item has rows for its slices only when it is
    /// unfolded. An item inside a folded call is in the row of that call.
    pub fn place(&self, item: &Item, part: u32, transcript: &Transcript) -> (u32, u32) {
        if !self.is_shown(item, transcript) {
            let open = self.open.get(&item.row);
            let calls = std::iter::successors(Some(item), |item| transcript.item(item.parent.as_ref()?));
            // Another process may report calls that are inside of each other.
            let n_most = transcript.inside(item.row).count();
            let call = calls.take(n_most + 1).find(|call| open.is_some_and(|open| open.has(&call.id)));
            return (call.map_or(self.rows.first(item.row), |call| self.first_row(call)), part);
        }
        let first = self.first_row(item);
        match self.texts.get(&item.id) {
            Some(text) if text.is_folded => (first, part),
            Some(text) => (first + part.min(text.slices.count() - 1), 0),
            None => (first, 0),
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
        // A text that became shorter has rows without an item.
        of_transcript
            .flat_map(move |row| self.items_of(transcript, row, first, end))
            .flat_map(move |item| self.drawn(item, first, end))
            .filter(move |item| (first..end).contains(&item.row))
    }

    /// The items of one row of the transcript that have rows in `first..end`.
    fn items_of<'a>(&self, transcript: &'a Transcript, row: u32, first: u32, end: u32) -> Vec<&'a Item> {
        let Some(open) = self.open.get(&row) else { return transcript.items_of(row, row + 1).collect() };
        let start = self.rows.first(row);
        let ids = open.in_rows(first.saturating_sub(start), end.saturating_sub(start));
        ids.filter_map(|id| transcript.item(id)).collect()
    }

    /// An item as windows draw it: those of its slices that are in the rows `first..end`, or the item.
    fn drawn(&self, item: &Item, first: u32, end: u32) -> Vec<Item> {
        let Some(text) = self.texts.get(&item.id) else { return vec![self.unsliced(item)] };
        let start = self.first_row(item);
        let slices = first.saturating_sub(start)..end.saturating_sub(start).min(text.n_rows());
        slices.map(|nr| self.slice(item, text, nr).0).collect()
    }

    /// An item that has no slices, as windows draw it.
    fn unsliced(&self, item: &Item) -> Item {
        let slices = if is_text(&item.body) { None } else { BodySlices::of(&item.body) };
        self.with(item, slices.map_or_else(|| item.body.clone(), |slices| slices.only_piece(&item.body)))
    }

    fn with(&self, item: &Item, body: Body) -> Item {
        let (nr_in_call, depth) = self.place_in_call(item);
        Item {
            id: item.id.clone(),
            parent: item.parent.clone(),
            row: self.rows.first(item.row) + nr_in_call,
            nr: item.nr,
            depth,
            at: item.at,
            slice: None,
            body,
        }
    }

    fn slice(&self, item: &Item, text: &Text, nr: u32) -> (Item, bool) {
        let n_slices = text.slices.count();
        let is_last = nr + 1 == n_slices;
        let (body, is_aligned) = text.slices.piece(&item.body, nr);
        let slice = (n_slices > 1).then(|| {
            let (block, continues) = text.slices.beginning(&item.body, nr);
            let is_continued = !is_last && text.slices.beginning(&item.body, nr + 1).1;
            let Parts { n_before, n_in_first, n_in_last } = text.slices.parts(&item.body, nr);
            let of = item.id.clone();
            Slice { of, nr, is_last, block, continues, is_continued, n_before, n_in_first, n_in_last }
        });
        let whole = self.with(item, body);
        (Item { id: slice_id(&item.id, nr), row: whole.row + nr, slice, ..whole }, is_aligned)
    }

    /// Returns the events for windows; none if nothing that they draw changes.
    pub fn events(&mut self, event: Event, transcript: &Transcript) -> Vec<Placed> {
        #[cfg(test)]
        crate::stages::passed(module_path!(), &event);
        match event {
            Event::ItemAdded { item } => {
                self.rows.extend(item.row + 1);
                self.added_inside(&item, transcript);
                self.sent(&item, true, transcript)
            }
            Event::ItemChanged { item } => self.sent(&item, false, transcript),
            Event::BlocksChanged { ref item_id, keep, .. } => {
                let item_id = item_id.clone();
                self.grew(&item_id, Kept::Blocks(keep), event, transcript)
            }
            Event::CodeGrew { ref item_id, keep, .. } => {
                let item_id = item_id.clone();
                self.grew(&item_id, Kept::Lines(keep), event, transcript)
            }
            Event::EntriesGrew { ref item_id, keep, .. } => {
                let item_id = item_id.clone();
                self.grew(&item_id, Kept::Entries(keep), event, transcript)
            }
            // Their slices are sent again where they changed.
            Event::ThoughtGrew { item_id, .. } | Event::CallChanged { item_id, .. } => {
                match transcript.item(&item_id) {
                    Some(item) => self.sent(item, false, transcript),
                    None => Vec::new(),
                }
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

    /// An item that was added: if a subagent made it and its call is open, it gets a row.
    fn added_inside(&mut self, item: &Item, transcript: &Transcript) {
        if item.parent.is_none() || !transcript.is_inside_call(item) {
            return;
        }
        let Some(open) = self.open.get_mut(&item.row) else {
            // The first item inside a call that the user opened before.
            return self.lay_out_and_move(transcript, item.row);
        };
        let is_known = |id: &ItemId| transcript.row_of(id) == Some(item.row) && *id != item.id;
        if !open.has(&item.id) {
            self.is_renumbered |= open.add(item, is_known, &self.unfolded);
            let n_rows = open.n_rows();
            self.is_renumbered |= self.rows.make_room(item.row, n_rows);
        }
    }

    fn lay_out_and_move(&mut self, transcript: &Transcript, row: u32) {
        self.lay_out(transcript, row);
        // Its other rows are not sent one by one.
        self.is_renumbered |= self.open.contains_key(&row) && row + 1 < transcript.n_rows();
    }

    /// An item that was added, or replaced as a whole.
    fn sent(&mut self, item: &Item, is_new: bool, transcript: &Transcript) -> Vec<Placed> {
        if !self.is_shown(item, transcript) {
            return Vec::new();
        }
        let before = if is_new { None } else { self.texts.remove(&item.id) };
        let n_before = if is_new { 0 } else { before.as_ref().map_or(1, Text::n_rows) };
        self.look(item, transcript);
        let Some(text) = self.texts.get_mut(&item.id) else {
            let gone = (1..n_before).map(|nr| removed(slice_id(&item.id, nr)));
            let item = self.unsliced(item);
            let event = if is_new { added(item) } else { changed(item) };
            return std::iter::once(event).chain(gone).collect();
        };
        text.sent = before.map(|text| text.sent).unwrap_or_default();
        self.sent_from(item, 0, n_before)
    }

    fn n_rows_of(&self, id: &ItemId) -> u32 {
        self.texts.get(id).map_or(1, Text::n_rows)
    }

    /// Finds the slices of a text that windows get as a whole, and makes room for their rows.
    fn look(&mut self, item: &Item, transcript: &Transcript) {
        self.texts.remove(&item.id);
        if transcript.is_run(item.row) || !self.is_shown(item, transcript) {
            return;
        }
        if let Some(text) = Text::in_rows(item, &self.unfolded) {
            let n_rows = text.n_rows();
            self.texts.insert(item.id.clone(), text);
            self.make_room(item, n_rows);
        }
    }

    fn make_room(&mut self, item: &Item, n_rows: u32) {
        let mut n_all = n_rows;
        if let Some(open) = self.open.get_mut(&item.row) {
            self.is_renumbered |= open.make_room(&item.id, n_rows);
            n_all = open.n_rows();
        }
        self.is_renumbered |= self.rows.make_room(item.row, n_all);
    }

    /// The slices of a text from `first` on; windows had `n_before` of all.
    fn sent_from(&mut self, item: &Item, first: u32, n_before: u32) -> Vec<Placed> {
        let Some(mut text) = self.texts.remove(&item.id) else { return Vec::new() };
        let count = text.n_rows();
        let mut events = Vec::new();
        for nr in first..count {
            let (piece, is_aligned) = self.slice(item, &text, nr);
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
        if !self.is_shown(item, transcript) {
            return Vec::new();
        }
        let row = self.first_row(item);
        let Some(text) = self.texts.get_mut(id) else { return vec![(event, Some(row))] };
        let BodySlices::Document(slices) = &mut text.slices else { return Vec::new() };
        let n_before = slices.count();
        let first = slices.change(blocks, kept);
        let count = slices.count();
        let kept_of_last = slices.kept_of_last(kept, blocks.len());
        let settled = text.settled(&item.body);
        if (first + 1, count) == (n_before, n_before)
            && settled.is_none()
            && text.is_aligned
            && !has_long_code(&event)
            && let Some(own) = kept_of_last
        {
            text.patched();
            return vec![(of_slice(event, slice_id(id, first), own), Some(row + first))];
        }
        self.make_room(item, count);
        self.sent_from(item, settled.map_or(first, |settled| settled.min(first)), n_before)
    }

    /// A text is complete.
    fn finished(&mut self, id: &ItemId, transcript: &Transcript) -> Vec<Placed> {
        let Some(item) = transcript.item(id) else { return Vec::new() };
        let n_rows = self.n_rows_of(id);
        let last = n_rows - 1;
        let settled = self.texts.get_mut(id).and_then(|text| text.settled(&item.body));
        if last == 0 {
            self.texts.remove(id);
        }
        if !self.is_shown(item, transcript) {
            return Vec::new();
        }
        let mut events = settled.map(|first| self.sent_from(item, first, n_rows)).unwrap_or_default();
        let row = self.first_row(item) + last;
        events.push((Event::TextFinished { item_id: slice_id(id, last) }, Some(row)));
        events
    }

    fn removed(&mut self, id: ItemId) -> Vec<Placed> {
        let n_rows = self.n_rows_of(&id);
        self.texts.remove(&id);
        (0..n_rows).map(|nr| removed(slice_id(&id, nr))).collect()
    }
}

/// Whether a text is drawn whole if it has one slice.
fn is_text(body: &Body) -> bool {
    matches!(body, Body::Text { .. } | Body::Prompt { .. } | Body::Message { .. } | Body::Thinking { .. })
}

/// The id of a slice. The first has the id of its text.
fn slice_id(id: &ItemId, nr: u32) -> ItemId {
    if nr == 0 { id.clone() } else { ItemId(format!("{id}\u{1f}{nr}")) }
}

/// The id of the item that a row of a window shows, or a slice of it.
pub fn item_of_row(row: &Item) -> &ItemId {
    row.slice.as_ref().map_or(&row.id, |slice| &slice.of)
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
        Event::EntriesGrew { entries, .. } => Event::EntriesGrew { item_id, keep, entries },
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

//! The view that windows have of long items: their first part, or the last parts while a text streams.

use crate::api::{Block, Body, Event, Item, ItemId};
use crate::transcript::tail::{Kept, Moved, Tail};
use crate::transcript::{Transcript, parts};
use std::collections::HashMap;

/// Returns the first part of an item, if it has more than one.
fn first_part(item: &Item) -> Option<Item> {
    let (body, parts) = parts::part(&item.body, 0)?;
    Some(with(item, 0, parts, body))
}

/// Returns the last parts of an item, if it has more than one.
fn last_parts(item: &Item) -> Option<Item> {
    let (body, part, parts) = parts::last(&item.body)?;
    Some(with(item, part, parts, body))
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
        body,
    }
}

/// The state of growing items in windows.
#[derive(Default)]
pub struct WindowView {
    growing: HashMap<ItemId, Growing>,
}

#[derive(Clone, Default)]
struct Growing {
    /// Its length when it was last measured, in bytes.
    bytes: usize,
    /// The tail that windows have, if they do not have the whole text.
    tail: Option<Tail>,
}

impl WindowView {
    /// Starts over for the first window: no item has been sent yet.
    pub fn begin(&mut self, transcript: &Transcript) {
        self.growing.clear();
        let items = transcript.streams().filter_map(|id| transcript.item(id));
        for item in items {
            self.look(item, transcript.streamed(&item.id));
        }
    }

    /// Returns the item as windows have it, or as a window draws it that has not received it.
    pub fn of(&self, item: &Item) -> Item {
        let whole_or = |cut: Option<Item>| cut.unwrap_or_else(|| item.clone());
        match (&item.body, self.growing.get(&item.id)) {
            (Body::Text { blocks, streaming }, Some(Growing { tail: Some(tail), .. })) => {
                match tail.blocks(blocks) {
                    Some(blocks) => {
                        let body = Body::Text { blocks, streaming: *streaming };
                        with(item, tail.part(), tail.n_parts, body)
                    }
                    None => whole_or(last_parts(item)),
                }
            }
            (Body::Text { streaming: true, .. }, _) => item.clone(),
            (Body::Thinking { streaming: true, .. }, _) => whole_or(last_parts(item)),
            _ => whole_or(first_part(item)),
        }
    }

    /// Returns the events for windows; none if nothing that they draw changes.
    pub fn events(&mut self, event: Event, transcript: &Transcript) -> Vec<Event> {
        #[cfg(test)]
        crate::stages::passed(module_path!(), &event);
        match event {
            Event::ItemAdded { item } => vec![Event::ItemAdded { item: self.said(item, transcript) }],
            Event::ItemChanged { item } => vec![Event::ItemChanged { item: self.said(item, transcript) }],
            Event::BlocksChanged { ref item_id, .. } | Event::CodeGrew { ref item_id, .. } => {
                let item_id = item_id.clone();
                match self.growing.get(&item_id) {
                    // Colours of a finished text. A window that has a part of it gets them with the next part.
                    None if transcript.item(&item_id).is_some_and(|item| !parts::fits(&item.body)) => {
                        Vec::new()
                    }
                    Some(Growing { tail: Some(_), .. }) => self.tail_grew(&item_id, event, transcript),
                    _ => self.whole_grew(&item_id, event, transcript),
                }
            }
            Event::TextFinished { ref item_id } => {
                let tail = self.growing.remove(item_id).and_then(|growing| growing.tail);
                let Some(item) = transcript.item(item_id) else { return Vec::new() };
                match (tail, &item.body) {
                    (Some(tail), Body::Text { blocks, .. }) if tail.is_told(blocks) => vec![event],
                    // Sends what was held back while the text grew, or arrived with its end.
                    (Some(mut tail), Body::Text { blocks, .. }) => {
                        let mut events = moved_on(None, &mut tail, item, blocks);
                        events.push(event);
                        events
                    }
                    _ => vec![last_parts(item).map_or(event, |item| Event::ItemChanged { item })],
                }
            }
            Event::ItemRemoved { ref item_id } => {
                self.growing.remove(item_id);
                vec![event]
            }
            event => vec![event],
        }
    }

    /// Returns an item as windows receive it in full.
    fn said(&mut self, item: Item, transcript: &Transcript) -> Item {
        let was_growing = self.growing.remove(&item.id).is_some();
        match &item.body {
            Body::Text { streaming: true, .. } => self.look(&item, transcript.streamed(&item.id)),
            Body::Thinking { streaming: true, .. } => {
                self.growing.insert(item.id.clone(), Growing::default());
            }
            // A window that followed the end of the text stays there.
            Body::Text { .. } | Body::Thinking { .. } if was_growing => {
                return last_parts(&item).unwrap_or(item);
            }
            _ => {}
        }
        self.of(&item)
    }

    /// Measures a streaming text and cuts it if it is too long.
    fn look(&mut self, item: &Item, bytes: usize) {
        let tail = match &item.body {
            Body::Text { blocks, .. } if !parts::fits(&item.body) => Some(Tail::of(blocks)),
            _ => None,
        };
        self.growing.insert(item.id.clone(), Growing { bytes, tail });
    }

    /// Handles growth of a text that windows have in full.
    fn whole_grew(&mut self, id: &ItemId, event: Event, transcript: &Transcript) -> Vec<Event> {
        let bytes = transcript.streamed(id);
        let known = self.growing.get(id).map_or(0, |growing| growing.bytes);
        // Measuring reads the whole text, which is short: at most as often as it can have outgrown what fits.
        if bytes < known + parts::ALWAYS_FITS {
            return vec![event];
        }
        let Some(item) = transcript.item(id) else { return Vec::new() };
        let tail = Some(Tail::whole()).filter(|_| !parts::fits(&item.body));
        let growing = Growing { bytes, tail };
        let growing = self.growing.entry(id.clone()).insert_entry(growing).into_mut();
        match (&mut growing.tail, &item.body) {
            (Some(tail), Body::Text { blocks, .. }) => moved_on(Some(event), tail, item, blocks),
            _ => vec![event],
        }
    }

    /// Handles growth of a text whose tail windows have.
    fn tail_grew(&mut self, id: &ItemId, event: Event, transcript: &Transcript) -> Vec<Event> {
        let bytes = transcript.streamed(id);
        let Some(item) = transcript.item(id) else { return Vec::new() };
        let Some(growing) = self.growing.get_mut(id) else { return Vec::new() };
        let Some(tail) = growing.tail.as_mut() else { return Vec::new() };
        let Body::Text { blocks, .. } = &item.body else { return Vec::new() };
        let grown = bytes.saturating_sub(growing.bytes);
        let kept = match &event {
            Event::CodeGrew { keep, .. } => Kept::Lines(*keep),
            Event::BlocksChanged { keep, .. } => Kept::Blocks(*keep),
            _ => return Vec::new(),
        };
        let own = tail.kept(kept, blocks.len()).map(|own| kept_of_its_own(event, own));
        if own.is_none() {
            // Send all of it again: a text of one block, or with a line that is shown as several.
            tail.reaches_back(kept, blocks.len());
            tail.miss();
        }
        // The tail may grow by as much as always fits before it is cut again.
        if grown < parts::ALWAYS_FITS {
            return own.into_iter().collect();
        }
        growing.bytes = bytes;
        if tail.is_told(blocks) {
            return own.into_iter().collect();
        }
        moved_on(own, tail, item, blocks)
    }
}

/// Returns the event with `keep` counted from the beginning of the tail.
fn kept_of_its_own(event: Event, keep: u32) -> Event {
    match event {
        Event::BlocksChanged { item_id, blocks, .. } => Event::BlocksChanged { item_id, keep, blocks },
        Event::CodeGrew { item_id, lines, .. } => Event::CodeGrew { item_id, keep, lines },
        event => event,
    }
}

/// Moves the tail to the current last parts. The growth event comes first, if windows can apply it.
fn moved_on(grew: Option<Event>, tail: &mut Tail, item: &Item, blocks: &[Block]) -> Vec<Event> {
    match tail.move_on(blocks) {
        Moved::On(gone) => {
            let (item_id, part, parts) = (item.id.clone(), tail.part(), tail.n_parts);
            let gone = Event::BeginningGone { item_id, part, parts, gone };
            grew.into_iter().chain([gone]).collect()
        }
        Moved::Anew(blocks) => {
            let streaming = matches!(item.body, Body::Text { streaming: true, .. });
            let body = Body::Text { blocks, streaming };
            vec![Event::ItemChanged { item: with(item, tail.part(), tail.n_parts, body) }]
        }
    }
}

#[cfg(test)]
mod tests;

//! What windows are told of items: those that are too long for one are told by their first part, and while a text
//! streams by its last ones.

use crate::api::{Block, Body, Event, Item, ItemId};
use crate::transcript::tail::{Kept, Moved, Tail};
use crate::transcript::{Transcript, parts};
use std::collections::HashMap;

/// A text that grows is looked at again after so many bytes, and after this part of its length: to look is to go through
/// what is told of it.
const LOOK_EVERY: usize = 4 * 1024;
const LOOK_AFTER: usize = 16;
/// What is told of the end of a text may grow by so much before it is looked at again.
const TAIL_GROWS: usize = 16 * 1024;

/// The first part of an item, if it has more than one.
fn first_part(item: &Item) -> Option<Item> {
    let (body, parts) = parts::part(&item.body, 0)?;
    Some(with(item, 0, parts, body))
}

/// The last parts of an item, if it has more than one.
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

/// What windows know of items that grow.
#[derive(Default)]
pub struct Sight {
    growing: HashMap<ItemId, Growing>,
}

#[derive(Clone, Default)]
struct Growing {
    /// How long it was when it was looked at.
    bytes: usize,
    /// Its end, if that is what windows have.
    tail: Option<Tail>,
}

impl Sight {
    /// Begins anew: nobody has been told anything.
    pub fn begin(&mut self, transcript: &Transcript) {
        self.growing.clear();
        let items = transcript.streams().filter_map(|id| transcript.item(id));
        for item in items {
            self.look(item, transcript.streamed(&item.id));
        }
    }

    /// The item as windows have it, or as one that has not seen it draws it.
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

    /// The events for windows; none if it changes nothing that they draw.
    pub fn events(&mut self, event: Event, transcript: &Transcript) -> Vec<Event> {
        match event {
            Event::ItemAdded { item } => vec![Event::ItemAdded { item: self.said(item, transcript) }],
            Event::ItemChanged { item } => vec![Event::ItemChanged { item: self.said(item, transcript) }],
            Event::BlocksChanged { ref item_id, .. } | Event::CodeGrew { ref item_id, .. } => {
                let item_id = item_id.clone();
                match self.growing.get(&item_id) {
                    Some(Growing { tail: Some(_), .. }) => self.tail_grew(&item_id, event, transcript),
                    _ => self.whole_grew(&item_id, event, transcript),
                }
            }
            Event::TextFinished { ref item_id } => {
                let tail = self.growing.remove(item_id).and_then(|growing| growing.tail);
                let Some(item) = transcript.item(item_id) else { return Vec::new() };
                match (tail, &item.body) {
                    (Some(tail), Body::Text { blocks, .. }) if tail.is_told(blocks) => vec![event],
                    // What was left out while it grew, or comes with its end.
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

    /// An item that is told anew.
    fn said(&mut self, item: Item, transcript: &Transcript) -> Item {
        let was_growing = self.growing.remove(&item.id).is_some();
        match &item.body {
            Body::Text { streaming: true, .. } => self.look(&item, transcript.streamed(&item.id)),
            Body::Thinking { streaming: true, .. } => {
                self.growing.insert(item.id.clone(), Growing::default());
            }
            // Whoever followed its end stays there.
            Body::Text { .. } | Body::Thinking { .. } if was_growing => {
                return last_parts(&item).unwrap_or(item);
            }
            _ => {}
        }
        self.of(&item)
    }

    /// Sees how long a text is that streams, and cuts it if it has to be.
    fn look(&mut self, item: &Item, bytes: usize) {
        let tail = match &item.body {
            Body::Text { blocks, .. } if !parts::fits(&item.body) => Some(Tail::of(blocks)),
            _ => None,
        };
        self.growing.insert(item.id.clone(), Growing { bytes, tail });
    }

    /// A text grew that windows have whole.
    fn whole_grew(&mut self, id: &ItemId, event: Event, transcript: &Transcript) -> Vec<Event> {
        let bytes = transcript.streamed(id);
        let known = self.growing.get(id).map_or(0, |growing| growing.bytes);
        if bytes < parts::ALWAYS_FITS || bytes < known + LOOK_EVERY.max(known / LOOK_AFTER) {
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

    /// A text grew of which windows have the end.
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
            // All of it has to be told again: a text of one block, or with a line that is shown as several.
            tail.reaches_back(kept, blocks.len());
            tail.miss();
        }
        if grown < TAIL_GROWS {
            return own.into_iter().collect();
        }
        growing.bytes = bytes;
        if tail.is_told(blocks) {
            return own.into_iter().collect();
        }
        moved_on(own, tail, item, blocks)
    }
}

/// The event with what it keeps of a text counted from where the tail begins.
fn kept_of_its_own(event: Event, keep: u32) -> Event {
    match event {
        Event::BlocksChanged { item_id, blocks, .. } => Event::BlocksChanged { item_id, keep, blocks },
        Event::CodeGrew { item_id, lines, .. } => Event::CodeGrew { item_id, keep, lines },
        event => event,
    }
}

/// Tells what are the last parts of an item now: behind the event that says how it grew, if windows can follow it.
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

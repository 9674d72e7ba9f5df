//! What windows are told of items: those that are too long for one are told by their first part.

use crate::api::{Event, Item, ItemId};
use crate::transcript::{Transcript, parts};
use std::collections::HashMap;

/// A text that grows is looked at again after so many bytes, and after this part of its length: to look is to go through
/// all of it.
const LOOK_EVERY: usize = 4 * 1024;
const LOOK_AFTER: usize = 16;

/// The item as a window draws it.
pub fn of(item: &Item) -> Item {
    first_part(item).unwrap_or_else(|| item.clone())
}

/// The first part of an item, if it has more than one.
pub fn first_part(item: &Item) -> Option<Item> {
    let (body, parts) = parts::part(&item.body, 0)?;
    Some(Item { id: item.id.clone(), parent: item.parent.clone(), row: item.row, at: item.at, parts, body })
}

/// What windows know of items that grow.
#[derive(Default)]
pub struct Sight {
    texts: HashMap<ItemId, Text>,
}

#[derive(Clone, Copy, Default)]
struct Text {
    /// How long it was when it was looked at.
    bytes: usize,
    /// How many parts were told then; 0 while it is told whole.
    n_parts: u32,
}

impl Sight {
    /// The event for windows; `None` if it changes nothing that they draw.
    pub fn event(&mut self, event: Event, transcript: &Transcript) -> Option<Event> {
        match event {
            Event::ItemAdded { item } => {
                self.texts.remove(&item.id);
                Some(Event::ItemAdded { item: whole_or_first(item) })
            }
            Event::ItemChanged { item } => {
                self.texts.remove(&item.id);
                Some(Event::ItemChanged { item: whole_or_first(item) })
            }
            Event::BlocksChanged { ref item_id, .. } | Event::CodeGrew { ref item_id, .. } => {
                let bytes = transcript.streamed(item_id);
                let known = self.texts.get(item_id).copied().unwrap_or_default();
                if bytes < parts::ALWAYS_FITS
                    || bytes < known.bytes + LOOK_EVERY.max(known.bytes / LOOK_AFTER)
                {
                    return (known.n_parts == 0).then_some(event);
                }
                let item = transcript.item(item_id)?;
                let first = first_part(item);
                let n_parts = first.as_ref().map_or(0, |first| first.parts);
                self.texts.insert(item_id.clone(), Text { bytes, n_parts });
                match (known.n_parts, n_parts) {
                    (0, 0) => Some(event),
                    // The first part is full: what comes is behind it.
                    (before, now) if before == now && now > 1 => None,
                    _ => Some(Event::ItemChanged { item: first.unwrap_or_else(|| item.clone()) }),
                }
            }
            Event::TextFinished { ref item_id } => {
                // What was left out while it grew, or comes with its end.
                self.texts.remove(item_id);
                let first = first_part(transcript.item(item_id)?);
                Some(first.map_or(event, |item| Event::ItemChanged { item }))
            }
            Event::ItemRemoved { ref item_id } => {
                self.texts.remove(item_id);
                Some(event)
            }
            event => Some(event),
        }
    }
}

fn whole_or_first(item: Item) -> Item {
    first_part(&item).unwrap_or(item)
}

#[cfg(test)]
mod tests;

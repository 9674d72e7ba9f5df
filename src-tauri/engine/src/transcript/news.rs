//! What is new in a transcript and was not told yet: each item once, however often it changed.

use super::Transcript;
use crate::api::*;
use crate::document::{Change, Stream as Document};
use std::sync::Arc;

/// Something that happened.
pub enum News {
    Event(Event),
    /// A text that was streamed is whole: its last change, and that nothing more comes.
    Finished {
        item_id: ItemId,
        last: Option<Event>,
    },
}

impl News {
    /// To whoever has all that was told before: no more than what is new.
    pub fn into_patch(self) -> Vec<Event> {
        match self {
            Self::Event(event) => vec![event],
            Self::Finished { item_id, last } => {
                last.into_iter().chain([Event::TextFinished { item_id }]).collect()
            }
        }
    }

    /// To everybody else, in one event; `transcript` is the one it came from.
    pub fn whole(&self, transcript: &Transcript) -> Option<Event> {
        match self {
            Self::Event(event) => Some(event.clone()),
            Self::Finished { item_id, .. } => {
                transcript.item(item_id).map(|item| Event::ItemChanged { item: item.clone() })
            }
        }
    }
}

/// What became of an item since it was told last.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dirty {
    Added,
    Changed,
    Grown,
    /// A text that was streamed is whole.
    Finished,
    Removed,
}

impl Transcript {
    /// What happened since this was asked last: one event for each item, in the order of their first change.
    pub fn take_events(&mut self) -> Vec<Event> {
        let news = self.take_news();
        let whole = |news| match news {
            News::Event(event) => Some(event),
            news => news.whole(self),
        };
        news.into_iter().filter_map(whole).collect()
    }

    /// The same, in as little as there is to tell.
    pub fn take_news(&mut self) -> Vec<News> {
        self.dirty_index.clear();
        let mut all = Vec::new();
        for (id, dirty) in std::mem::take(&mut self.dirty) {
            let last = self.last_changes.remove(&id);
            if dirty == Dirty::Finished {
                all.push(News::Finished { last: last.map(|change| told(id.clone(), change)), item_id: id });
            } else {
                all.extend(self.event(id, dirty).map(News::Event));
            }
        }
        all.extend(self.news.drain(..).map(News::Event));
        all
    }

    fn event(&mut self, id: ItemId, dirty: Dirty) -> Option<Event> {
        if dirty == Dirty::Removed {
            return Some(Event::ItemRemoved { item_id: id });
        }
        let item_idx = *self.index.get(&id)?;
        let change = self.documents.get_mut(&id).and_then(Document::take_change);
        if let Body::Text { blocks, .. } = &mut Arc::make_mut(&mut self.items[item_idx]).body
            && let Some(change) = &change
        {
            apply(blocks, change.clone());
        }
        match (dirty, change) {
            (Dirty::Added, _) => Some(Event::ItemAdded { item: Item::clone(&self.items[item_idx]) }),
            (Dirty::Changed, _) => Some(Event::ItemChanged { item: Item::clone(&self.items[item_idx]) }),
            (Dirty::Grown, Some(change)) => Some(told(id, change)),
            (Dirty::Grown, None) if matches!(self.items[item_idx].body, Body::Text { .. }) => None,
            (Dirty::Grown, None) => Some(Event::ItemChanged { item: Item::clone(&self.items[item_idx]) }),
            // Told as what they are.
            (Dirty::Finished | Dirty::Removed, _) => None,
        }
    }

    /// Notes that an item has something to tell.
    pub(super) fn touch(&mut self, id: &ItemId, dirty: Dirty) {
        match self.dirty_index.get(id) {
            // Added again, it stands behind what came in between: it goes, then it comes.
            Some(at) if (self.dirty[*at].1, dirty) != (Dirty::Removed, Dirty::Added) => {
                let known = &mut self.dirty[*at].1;
                *known = match (*known, dirty) {
                    (_, Dirty::Removed) => Dirty::Removed,
                    (Dirty::Added, _) => Dirty::Added,
                    (_, Dirty::Changed) | (Dirty::Changed, _) => Dirty::Changed,
                    (_, dirty) => dirty,
                };
            }
            _ => {
                self.dirty_index.insert(id.clone(), self.dirty.len());
                self.dirty.push((id.clone(), dirty));
            }
        }
    }
}

fn told(item_id: ItemId, change: Change) -> Event {
    match change {
        Change::Blocks { keep, blocks } => Event::BlocksChanged { item_id, keep: keep as u32, blocks },
        Change::Code { keep_lines, lines } => Event::CodeGrew { item_id, keep: keep_lines as u32, lines },
    }
}

/// Brings the blocks of a text to where its document is.
pub(super) fn apply(blocks: &mut Vec<Block>, change: Change) {
    match change {
        Change::Blocks { keep, blocks: new } => {
            blocks.truncate(keep);
            blocks.extend(new);
        }
        Change::Code { keep_lines, lines: new } => {
            if let Some(Block::Code { lines, .. }) = blocks.last_mut() {
                lines.truncate(keep_lines);
                lines.extend(new);
            }
        }
    }
}

//! Unpublished changes of a transcript: one entry per item, however often it changed.

use super::Transcript;
use crate::api::*;
use crate::document::{DocumentChange, Stream as Document};
use std::sync::Arc;

/// A change to publish.
#[derive(Debug)]
pub enum TranscriptChange {
    Event(Event),
    /// A streamed text is complete. `last` is its final change, if any.
    Finished {
        item_id: ItemId,
        last: Option<Event>,
    },
}

impl TranscriptChange {
    /// The change as small events, for a subscriber that received all earlier events.
    pub fn into_patch(self) -> Vec<Event> {
        match self {
            Self::Event(event) => vec![event],
            Self::Finished { item_id, last } => {
                last.into_iter().chain([Event::TextFinished { item_id }]).collect()
            }
        }
    }

    /// The same change as one event with the whole item, for every other subscriber. `transcript` is the one that the
    /// change came from.
    pub fn whole(&self, transcript: &Transcript) -> Option<Event> {
        match self {
            Self::Event(event) => Some(event.clone()),
            Self::Finished { item_id, .. } => {
                transcript.item(item_id).map(|item| Event::ItemChanged { item: item.clone() })
            }
        }
    }
}

/// How an item changed since its last publication.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeKind {
    Added,
    Changed,
    /// A call changed, but not its long input.
    Progressed,
    Grown,
    /// A streamed text is complete.
    Finished,
    /// A complete text got colours.
    Coloured,
    Removed,
}

impl Transcript {
    /// Drains the changes since the last call: one event per item, in the order of their first change.
    pub fn take_events(&mut self) -> Vec<Event> {
        let change = self.drain_changes();
        let whole = |change| match change {
            TranscriptChange::Event(event) => Some(event),
            change => change.whole(self),
        };
        change.into_iter().filter_map(whole).collect()
    }

    /// Drains the changes since the last call, in their smallest form.
    pub fn drain_changes(&mut self) -> Vec<TranscriptChange> {
        self.dirty_index.clear();
        let mut all = Vec::new();
        for (id, dirty) in std::mem::take(&mut self.dirty) {
            let last = self.last_changes.remove(&id);
            if dirty == ChangeKind::Finished {
                all.push(TranscriptChange::Finished {
                    last: last.map(|change| told(id.clone(), change)),
                    item_id: id,
                });
            } else {
                all.extend(self.event(id, dirty).map(TranscriptChange::Event));
            }
        }
        all.extend(self.change.drain(..).map(TranscriptChange::Event));
        all
    }

    fn event(&mut self, id: ItemId, dirty: ChangeKind) -> Option<Event> {
        if dirty == ChangeKind::Removed {
            return Some(Event::ItemRemoved { item_id: id });
        }
        let item_idx = *self.index.get(&id)?;
        let repainted = self.wanted.repainted.remove(&id);
        let change = self.documents.get_mut(&id).and_then(Document::take_change);
        if let Body::Text { blocks, .. } = Arc::make_mut(&mut self.items[item_idx]).body_mut()
            && let Some(change) = &change
        {
            change.clone().apply(blocks);
        }
        if let (ChangeKind::Coloured, Body::Text { blocks, .. }) = (dirty, &self.items[item_idx].body) {
            let keep = repainted?;
            let blocks = blocks.get(keep..)?.to_vec();
            return Some(Event::BlocksChanged { item_id: id, keep: keep as u32, blocks });
        }
        match (dirty, change) {
            (ChangeKind::Added, _) => Some(Event::ItemAdded { item: self.publish_whole(id, item_idx) }),
            (ChangeKind::Changed, _) => Some(Event::ItemChanged { item: self.publish_whole(id, item_idx) }),
            (ChangeKind::Progressed, _) => Some(self.progressed(id, item_idx)),
            (ChangeKind::Grown, Some(change)) => Some(told(id, change)),
            (ChangeKind::Grown, None) if matches!(self.items[item_idx].head().body, Body::Text { .. }) => {
                None
            }
            (ChangeKind::Grown, None) => Some(self.grown(id, item_idx)),
            // These kinds are published by the caller.
            (ChangeKind::Finished | ChangeKind::Coloured | ChangeKind::Removed, _) => None,
        }
    }

    /// Returns the progress of a call.
    fn progressed(&mut self, item_id: ItemId, item_idx: usize) -> Event {
        let item: &Item = &self.items[item_idx];
        match &item.body {
            Body::ToolCall(call) => Event::CallChanged { item_id, call: Box::new(call.progress()) },
            _ => Event::ItemChanged { item: self.publish_whole(item_id, item_idx) },
        }
    }

    /// Returns the item, to publish it as a whole.
    fn publish_whole(&mut self, id: ItemId, item_idx: usize) -> Item {
        let item: &Item = &self.items[item_idx];
        match &item.body {
            Body::Thinking { text, streaming: true, .. } => self.published_thoughts.insert(id, text.len()),
            _ => self.published_thoughts.remove(&id),
        };
        item.clone()
    }

    /// Returns the growth of a thought since it was last published. Other items are published as a whole.
    fn grown(&mut self, item_id: ItemId, item_idx: usize) -> Event {
        if let Body::Thinking { text, .. } = &self.items[item_idx].head().body
            && let Some(published) = self.published_thoughts.get_mut(&item_id)
            && let Some(new) = text.get(*published..)
        {
            let keep = std::mem::replace(published, text.len());
            return Event::ThoughtGrew { item_id, keep: keep as u32, text: new.to_owned() };
        }
        Event::ItemChanged { item: self.publish_whole(item_id, item_idx) }
    }

    /// A stored conversation of about `n_items` items is read from here to `end_reading`. Changes are not recorded: it is
    /// published as a whole.
    pub fn begin_reading(&mut self, n_items: usize) {
        self.is_reading = true;
        self.index.reserve(n_items);
        self.items.reserve(n_items);
    }

    /// From here on changes are recorded.
    pub fn end_reading(&mut self) {
        self.is_reading = false;
        // An incomplete text gets its last blocks when its change is drained.
        for id in self.documents.keys().cloned().collect::<Vec<_>>() {
            self.touch(&id, ChangeKind::Grown);
        }
        self.drain_changes();
        self.last_changes.clear();
        self.wanted.repainted.clear();
    }

    /// The number of changes that are not published yet.
    #[cfg(test)]
    pub fn n_unpublished(&self) -> usize {
        self.dirty.len() + self.last_changes.len() + self.wanted.repainted.len() + self.change.len()
    }

    /// Records that an item changed.
    pub(super) fn touch(&mut self, id: &ItemId, dirty: ChangeKind) {
        if self.is_reading {
            return;
        }
        let known = self.dirty_index.get(id);
        // A text that grows once more before its changes are published is wanted already.
        if dirty != ChangeKind::Removed && (known.is_none() || dirty != ChangeKind::Grown) {
            self.wanted.add(id);
        }
        match known {
            // An item that was removed and then added again gets a second entry: the removal is published first, the
            // addition after the changes in between.
            Some(at) if (self.dirty[*at].1, dirty) != (ChangeKind::Removed, ChangeKind::Added) => {
                let known = &mut self.dirty[*at].1;
                *known = match (*known, dirty) {
                    (_, ChangeKind::Removed) => ChangeKind::Removed,
                    (ChangeKind::Added, _) => ChangeKind::Added,
                    (_, ChangeKind::Changed) | (ChangeKind::Changed, _) => ChangeKind::Changed,
                    (ChangeKind::Finished, ChangeKind::Coloured) => ChangeKind::Changed,
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

fn told(item_id: ItemId, change: DocumentChange) -> Event {
    match change {
        DocumentChange::Blocks { keep, blocks } => {
            Event::BlocksChanged { item_id, keep: keep as u32, blocks }
        }
        DocumentChange::Code { keep_lines, lines } => {
            Event::CodeGrew { item_id, keep: keep_lines as u32, lines }
        }
        DocumentChange::Entries { keep, entries } => {
            Event::EntriesGrew { item_id, keep: keep as u32, entries }
        }
    }
}

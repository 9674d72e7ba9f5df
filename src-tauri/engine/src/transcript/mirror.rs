//! A transcript that mirrors the one of another process: made from a snapshot, changed by its events.
//!
//! Its items have the same ids and rows. It lacks what events do not contain: sources of texts and whole outputs.

use super::Transcript;
use super::facts::Facts;
use super::lazy::LazyItem;
use crate::api::*;
use crate::document::DocumentChange;
use crate::patch;
use std::path::Path;
use std::sync::Arc;

/// A row above this number is of no transcript: an agent that writes a row each millisecond takes hours to reach it.
const MOST_ROWS: u32 = 10_000_000;

impl Transcript {
    /// Copies the transcript in a snapshot that has all items, and takes them out of it.
    pub fn mirror(project: &Path, snapshot: &mut Snapshot) -> Self {
        let (files, tasks) = (std::mem::take(&mut snapshot.files), std::mem::take(&mut snapshot.tasks));
        let facts = Facts::copied(files, tasks, &snapshot.prompts);
        Self::mirror_of(project, std::mem::take(&mut snapshot.items), facts, snapshot.rows.total)
    }

    /// A mirror of these items, in a transcript of `n_rows` rows.
    fn mirror_of(project: &Path, items: Vec<Item>, facts: Facts, n_rows: u32) -> Self {
        let mut mirror = Self { facts, ..Self::new(project) };
        for item in items {
            mirror.put(item);
        }
        mirror.rows.extend(n_rows.min(MOST_ROWS));
        mirror
    }

    /// Copies a transcript that replaces this one.
    pub fn mirror_again(&mut self, items: Vec<Item>, files: Vec<ChangedFile>, tasks: Vec<Todo>) {
        let prompts: Vec<String> = items
            .iter()
            .filter_map(|item| match &item.body {
                Body::Prompt { text, .. } => Some(text.clone()),
                _ => None,
            })
            .collect();
        *self = Self::mirror_of(&self.project, items, Facts::copied(files, tasks, &prompts), 0);
    }

    /// Applies an event of the other process.
    pub fn mirror_event(&mut self, event: &Event) {
        match event {
            Event::ItemAdded { item } | Event::ItemChanged { item } => {
                if let (Body::Prompt { text, .. }, false) = (&item.body, self.index.contains_key(&item.id)) {
                    self.facts.prompted(text);
                }
                self.put(item.clone());
            }
            Event::ItemRemoved { item_id } => {
                self.remove(item_id);
                self.mirrored.remove(item_id);
                // It is published as the event that it came from.
                self.dirty.clear();
                self.dirty_index.clear();
            }
            Event::BlocksChanged { item_id, keep, blocks } => {
                let keep = *keep as usize;
                self.grow(item_id, DocumentChange::Blocks { keep, blocks: blocks.clone() });
            }
            Event::CodeGrew { item_id, keep, lines } => {
                let keep_lines = *keep as usize;
                self.grow(item_id, DocumentChange::Code { keep_lines, lines: lines.clone() });
            }
            Event::EntriesGrew { item_id, keep, entries } => {
                let keep = *keep as usize;
                self.grow(item_id, DocumentChange::Entries { keep, entries: entries.clone() });
            }
            Event::ThoughtGrew { item_id, keep, text } => {
                if let Some(body) = self.body(item_id) {
                    patch::grow_thought(body, *keep, text);
                }
            }
            Event::CallChanged { item_id, call } => {
                if let Some(body) = self.body(item_id) {
                    patch::change_call(body, (**call).clone());
                }
            }
            event => self.facts.copy(event),
        }
    }

    fn put(&mut self, item: Item) {
        // Of a server that is not ours: it must not cost memory.
        if item.row >= MOST_ROWS {
            return;
        }
        match &item.body {
            Body::Text { streaming: true, .. } => self.mirrored.insert(item.id.clone()),
            _ => self.mirrored.remove(&item.id),
        };
        match self.index.get(&item.id) {
            Some(at) => self.items[*at] = Arc::new(LazyItem::new(item)),
            None => {
                self.rows.put(self.items.len(), item.row, item.nr, &item.body);
                self.index.insert(item.id.clone(), self.items.len());
                self.items.push(Arc::new(LazyItem::new(item)));
            }
        }
    }

    fn grow(&mut self, id: &ItemId, change: DocumentChange) {
        if let Some(Body::Text { blocks, .. }) = self.body(id) {
            if !change.fits(blocks) {
                tracing::warn!(item = %id, "a server sent a change for another state of a document");
            }
            change.apply(blocks);
        }
    }
}

#[cfg(test)]
impl Transcript {
    /// A mirror of another transcript, for the simulation.
    pub fn mirrored(of: &Self) -> Self {
        let facts = Facts::copied(of.files().to_vec(), of.tasks().to_vec(), &of.prompts());
        Self::mirror_of(&of.project, of.items().cloned().collect(), facts, of.n_rows())
    }
}

//! Syntax colours of code: finds the items that need them and applies the results.
//!
//! The transcript never colours code itself. It returns one [`Uncoloured`] job at a time and accepts the result as a
//! later change of the item. The caller decides where the job runs.

use super::changes::ChangeKind;
use super::lazy::LazyItem;
use super::output::Source;
use super::{Transcript, tool};
use crate::api::*;
use crate::document::{self, Painting, Repainted};
use crate::parallel;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// The code of a stored conversation that gets colours while it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colouring {
    All,
    /// The last code. Colours are most of the work of opening a long conversation, and most of it is never looked at: the
    /// rest gets them when a window comes near it.
    End,
}

/// Jobs for the code at the end of a conversation: it is shown with its colours at once.
const MOST_AT_END: usize = 12;

/// Items at the end that are looked at for code.
const MOST_ITEMS_AT_END: usize = 240;

/// Code of one item that needs colours.
#[derive(Debug)]
pub struct Uncoloured {
    id: ItemId,
    code: Code,
}

#[derive(Debug)]
enum Code {
    Document(document::Uncoloured),
    Output(Source),
    Diff(Diff),
}

/// The result of an [`Uncoloured`].
#[derive(Debug)]
pub struct Coloured {
    id: ItemId,
    colours: Colours,
}

#[derive(Debug)]
enum Colours {
    Document(document::Coloured),
    Output { source: Source, lines: Vec<CodeLine> },
    Diff { plain: Diff, coloured: Diff },
}

impl Uncoloured {
    /// Runs the job. The work is bounded but may take a fraction of a second.
    pub fn colour(self) -> Coloured {
        let colours = match self.code {
            Code::Document(code) => Colours::Document(code.colour()),
            Code::Output(source) => {
                let lines = source.coloured_beginning();
                Colours::Output { source, lines }
            }
            Code::Diff(plain) => Colours::Diff { coloured: document::coloured_diff(plain.clone()), plain },
        };
        Coloured { id: self.id, colours }
    }

    /// The result for a job that failed: the code stays plain.
    pub fn failed(&self) -> Coloured {
        let colours = match &self.code {
            Code::Document(code) => Colours::Document(code.failed()),
            Code::Output(source) => Colours::Output { source: source.clone(), lines: Vec::new() },
            Code::Diff(plain) => Colours::Diff { plain: plain.clone(), coloured: plain.clone() },
        };
        Coloured { id: self.id.clone(), colours }
    }
}

/// Items whose code needs colours.
#[derive(Default)]
pub(super) struct Wanted {
    /// Each id once, the item that changed first at the front.
    order: VecDeque<ItemId>,
    known: HashSet<ItemId>,
    /// Finished texts with code that has no colours yet.
    pub(super) paintings: HashMap<ItemId, Painting>,
    /// For each finished text that got colours: index of the first block that changed, until it is published.
    pub(super) repainted: HashMap<ItemId, usize>,
}

impl Wanted {
    pub(super) fn add(&mut self, id: &ItemId) {
        if self.known.insert(id.clone()) {
            self.order.push_back(id.clone());
        }
    }

    /// Adds it before the others: the user looks at it now.
    fn add_first(&mut self, id: &ItemId) {
        if self.known.insert(id.clone()) {
            self.order.push_front(id.clone());
        }
    }

    /// Nothing is wanted at present.
    fn clear(&mut self) {
        self.order.clear();
        self.known.clear();
    }

    pub(super) fn forget(&mut self, id: &ItemId) {
        self.paintings.remove(id);
        self.repainted.remove(id);
    }
}

/// The diff that an item shows.
fn diff_of(item: &Item) -> Option<&Diff> {
    let Body::ToolCall(call) = &item.body else { return None };
    match &call.detail {
        ToolDetail::Edit(diff) | ToolDetail::Notebook { diff, .. } => Some(diff),
        _ => None,
    }
}

/// The item with all colours of its text or of its diff; `None` if it has neither code nor a diff.
pub fn coloured(item: &Item) -> Option<Arc<LazyItem>> {
    let has_code = matches!(&item.body, Body::Text { blocks, .. } if !Painting::of(blocks).is_complete());
    if !has_code && diff_of(item).is_none() {
        return None;
    }
    let mut coloured = item.clone();
    match &mut coloured.body {
        Body::Text { blocks, .. } => document::colour_all(blocks),
        Body::ToolCall(call) => {
            if let ToolDetail::Edit(diff) | ToolDetail::Notebook { diff, .. } = &mut call.detail {
                *diff = document::coloured_diff(diff.clone());
            }
        }
        _ => {}
    }
    Some(Arc::new(LazyItem::new(coloured)))
}

impl Transcript {
    /// The next job; `None` if no code needs colours.
    pub fn uncoloured(&mut self) -> Option<Uncoloured> {
        while let Some(id) = self.wanted.order.pop_front() {
            self.wanted.known.remove(&id);
            if let Some(job) = self.job_of(&id) {
                return Some(job);
            }
        }
        None
    }

    fn job_of(&mut self, id: &ItemId) -> Option<Uncoloured> {
        let code = self.uncoloured_of(id)?;
        Some(Uncoloured { id: id.clone(), code })
    }

    /// These items came near a window: their code gets colours, that of the last item first.
    pub fn want_colours<'a>(&mut self, ids: impl Iterator<Item = &'a ItemId>) {
        for id in ids {
            let is_plain = |call: &tool::Call| call.uncoloured().is_some() || call.has_plain_diff;
            self.look_for_code(id);
            if self.wanted.paintings.contains_key(id) || self.tools.get(id).is_some_and(is_plain) {
                self.wanted.add_first(id);
            }
        }
    }

    /// All code gets colours.
    pub fn want_all_colours(&mut self) {
        self.want_colours(self.ids().iter());
    }

    fn ids(&self) -> Vec<ItemId> {
        self.items.iter().map(|item| item.head().id.clone()).collect()
    }

    /// Finds the code of a text whose document is made late.
    fn look_for_code(&mut self, id: &ItemId) {
        if !self.lazy(id).is_some_and(|item| item.is_plain) {
            return;
        }
        let Some(item) = self.lazy_mut(id) else { return };
        item.is_plain = false;
        // Only code in fences has a language.
        if !item.source().is_some_and(|source| source.contains("```") || source.contains("~~~")) {
            return;
        }
        let Body::Text { blocks, .. } = &item.body else { return };
        let painting = Painting::of(blocks);
        if !painting.is_complete() {
            self.wanted.paintings.insert(id.clone(), painting);
        }
    }

    fn uncoloured_of(&mut self, id: &ItemId) -> Option<Code> {
        self.look_for_code(id);
        if let Some(document) = self.documents.get_mut(id) {
            return document.uncoloured().map(Code::Document);
        }
        if let Some(painting) = self.wanted.paintings.get_mut(id) {
            let item = self.index.get(id).and_then(|place| self.items.get(*place))?;
            let Body::Text { blocks, .. } = &item.body else { return None };
            let code = painting.uncoloured(blocks, blocks.len(), None).map(Code::Document);
            if painting.is_complete() {
                self.wanted.paintings.remove(id);
            }
            return code;
        }
        let call = self.tools.get(id)?;
        let diff = call.has_plain_diff.then(|| self.head(id).and_then(diff_of)).flatten();
        diff.cloned().map(Code::Diff).or_else(|| call.uncoloured().cloned().map(Code::Output))
    }

    /// Applies a result, unless the item's code has changed in the meantime.
    pub fn colour(&mut self, coloured: Coloured) {
        let Coloured { id, colours } = coloured;
        match colours {
            Colours::Document(colours) => self.colour_text(&id, colours),
            Colours::Output { source, lines } => self.colour_call(&id, |call, view| {
                let is_wanted = call.uncoloured().is_some_and(|wanted| wanted.is_same(&source));
                is_wanted && call.colour(lines, view)
            }),
            Colours::Diff { plain, coloured } => self.colour_call(&id, |call, view| {
                let (ToolDetail::Edit(diff) | ToolDetail::Notebook { diff, .. }) = &mut view.detail else {
                    return false;
                };
                if !call.has_plain_diff || *diff != plain {
                    return false;
                }
                call.has_plain_diff = false;
                *diff = coloured;
                true
            }),
        }
    }

    fn colour_call(&mut self, id: &ItemId, colour: impl FnOnce(&mut tool::Call, &mut ToolCall) -> bool) {
        let Some(call) = self.tools.get_mut(id) else { return };
        let Some(place) = self.index.get(id) else { return };
        let Body::ToolCall(view) = Arc::make_mut(&mut self.items[*place]).body_mut() else { return };
        if colour(call, view) {
            self.touch(id, ChangeKind::Changed);
        } else {
            self.wanted.add(id);
        }
    }

    fn colour_text(&mut self, id: &ItemId, colours: document::Coloured) {
        if let Some(document) = self.documents.get_mut(id) {
            if document.colour(colours) {
                self.touch(id, ChangeKind::Grown);
            } else {
                self.wanted.add(id);
            }
            return;
        }
        let Some(mut painting) = self.wanted.paintings.remove(id) else { return };
        let Some(Body::Text { blocks, .. }) = self.body(id) else { return };
        let repainted = painting.apply(blocks, colours);
        self.wanted.paintings.insert(id.clone(), painting);
        match repainted {
            Some(Repainted { block, .. }) => {
                let first = self.wanted.repainted.entry(id.clone()).or_insert(block);
                *first = block.min(*first);
                self.touch(id, ChangeKind::Coloured);
            }
            None => self.wanted.add(id),
        }
    }

    /// Colours a stored conversation that was read. Each job has a bound; all of them together have none.
    pub fn colour_stored(&mut self, colouring: Colouring) {
        match colouring {
            Colouring::All => {
                // What needs all colours needs all items.
                parallel::map(&self.items, |item| item.make());
                for id in self.ids() {
                    while let Some(job) = self.job_of(&id) {
                        self.colour(job.colour());
                    }
                }
            }
            Colouring::End => {
                let mut left = MOST_AT_END;
                let last = self.items.iter().rev().take(MOST_ITEMS_AT_END).map(|item| item.head().id.clone());
                for id in last.collect::<Vec<_>>() {
                    while let Some(job) = (left > 0).then(|| self.job_of(&id)).flatten() {
                        left -= 1;
                        self.colour(job.colour());
                    }
                }
            }
        }
        self.wanted.clear();
    }
}

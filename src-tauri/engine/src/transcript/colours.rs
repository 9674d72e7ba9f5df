//! Syntax colours of code: finds the items that need them and applies the results.
//!
//! The transcript never colours code itself. It returns one [`Uncoloured`] job at a time and accepts the result as a
//! later change of the item. The caller decides where the job runs.

use super::changes::ChangeKind;
use super::output::Source;
use super::{Transcript, tool};
use crate::api::*;
use crate::document::{self, Painting, Repainted};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

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
        };
        Coloured { id: self.id, colours }
    }

    /// The result for a job that failed: the code stays plain.
    pub fn failed(&self) -> Coloured {
        let colours = match &self.code {
            Code::Document(code) => Colours::Document(code.failed()),
            Code::Output(source) => Colours::Output { source: source.clone(), lines: Vec::new() },
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

    /// Adds it without looking whether it is there, unless it was the last one that was added. One that is there twice
    /// costs a second look when colours are made.
    pub(super) fn add_again(&mut self, id: &ItemId) {
        if self.order.back() != Some(id) {
            self.order.push_back(id.clone());
        }
    }

    pub(super) fn forget(&mut self, id: &ItemId) {
        self.paintings.remove(id);
        self.repainted.remove(id);
    }
}

impl Transcript {
    /// The next job; `None` if no code needs colours.
    pub fn uncoloured(&mut self) -> Option<Uncoloured> {
        while let Some(id) = self.wanted.order.pop_front() {
            self.wanted.known.remove(&id);
            if let Some(code) = self.uncoloured_of(&id) {
                return Some(Uncoloured { id, code });
            }
        }
        None
    }

    fn uncoloured_of(&mut self, id: &ItemId) -> Option<Code> {
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
        self.tools.get(id)?.uncoloured().cloned().map(Code::Output)
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
        }
    }

    fn colour_call(&mut self, id: &ItemId, colour: impl FnOnce(&mut tool::Call, &mut ToolCall) -> bool) {
        let Some(call) = self.tools.get_mut(id) else { return };
        let Some(place) = self.index.get(id) else { return };
        let Body::ToolCall(view) = &mut Arc::make_mut(&mut self.items[*place]).body else { return };
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

    /// Colours everything now, for callers that have time. Each block has a bound; the total has none.
    pub fn colour_all(&mut self) {
        while let Some(job) = self.uncoloured() {
            self.colour(job.colour());
        }
    }
}

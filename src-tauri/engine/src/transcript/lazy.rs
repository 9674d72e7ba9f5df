//! An item of a transcript. In a stored conversation its document, or the excerpt of its output, is made when it is first
//! needed: most of a long conversation is never looked at.

use super::output::{Part, Source};
use crate::api::{Body, Item};
use crate::document;
use std::ops::Deref;
use std::sync::OnceLock;

/// The source of a longer text is not stored; only its document is.
pub const SOURCE_LIMIT: usize = 1024 * 1024;

/// Dereferences to the whole item, which may have to be made for it.
#[derive(Clone, Debug)]
pub struct LazyItem {
    /// Lacks the part that `late` names.
    head: Item,
    /// A finished text as the agent wrote it.
    source: Option<Box<str>>,
    late: Option<Late>,
    whole: OnceLock<Box<Item>>,
    /// No colours were made for the code of this text.
    pub is_plain: bool,
}

/// What is made when it is first needed.
#[derive(Clone, Debug)]
pub enum Late {
    /// The document of the source.
    Document,
    /// This part of a call's output.
    Output(Source, Part),
}

impl LazyItem {
    pub fn new(item: Item) -> Self {
        Self { head: item, source: None, late: None, whole: OnceLock::new(), is_plain: false }
    }

    /// The item as far as it is there at once: it may lack the blocks of a text and the output of a call.
    pub fn head(&self) -> &Item {
        &self.head
    }

    /// A text as the agent wrote it; `None` if it is not finished or too long to be kept.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Makes the late part now. Any thread may call it.
    pub fn make(&self) {
        let _: &Item = self;
    }

    /// The body, made whole.
    pub fn body_mut(&mut self) -> &mut Body {
        if let Some(late) = self.late.take() {
            match self.whole.take() {
                Some(whole) => self.head = *whole,
                None => late.fill(&mut self.head.body, self.source.as_deref()),
            }
        }
        &mut self.head.body
    }

    /// Keeps the source of the text, unless it is too long.
    pub fn keep_source(&mut self, source: Box<str>) {
        self.source = Some(source).filter(|source| source.len() <= SOURCE_LIMIT);
    }

    /// Replaces the body by one that lacks this part.
    pub fn put(&mut self, body: Body, late: Option<Late>) {
        self.whole = OnceLock::new();
        (self.head.body, self.late) = (body, late);
    }

    /// Whether a part of it has not been needed so far.
    #[cfg(test)]
    pub fn is_late(&self) -> bool {
        self.late.is_some() && self.whole.get().is_none()
    }
}

impl Deref for LazyItem {
    type Target = Item;

    fn deref(&self) -> &Item {
        let Some(late) = &self.late else { return &self.head };
        self.whole.get_or_init(|| {
            let mut whole = Box::new(self.head.clone());
            late.fill(&mut whole.body, self.source());
            whole
        })
    }
}

impl Late {
    fn fill(&self, body: &mut Body, source: Option<&str>) {
        match (self, body) {
            (Self::Document, Body::Text { blocks, .. }) => {
                *blocks = document::markdown(source.unwrap_or_default());
            }
            (Self::Output(source, part), Body::ToolCall(call)) => {
                if let Some(output) = call.detail.output_mut() {
                    *output = source.excerpt(*part);
                }
            }
            _ => {}
        }
    }
}

//! The slices of an item's text: a document of the agent, or the plain text of a prompt or a thought.

use super::Slices;
use super::plain::PlainSlices;
use crate::api::Body;

#[derive(Debug)]
pub enum BodySlices {
    Document(Slices),
    Plain(PlainSlices),
}

impl BodySlices {
    /// `None` if the item is not a text.
    pub fn of(body: &Body) -> Option<Self> {
        match body {
            Body::Text { blocks, .. } => Some(Self::Document(Slices::of(blocks))),
            Body::Prompt { text, .. } | Body::Thinking { text, .. } => {
                Some(Self::Plain(PlainSlices::of(text)))
            }
            Body::ToolCall(_) | Body::Notice { .. } | Body::TurnEnd(_) => None,
        }
    }

    /// At least 1.
    pub fn count(&self) -> u32 {
        match self {
            Self::Document(slices) => slices.count(),
            Self::Plain(slices) => slices.count(),
        }
    }

    /// Slice `nr` as a body, and whether it has the blocks and lines of the text from its beginning on, one to one.
    pub fn piece(&self, body: &Body, nr: u32) -> (Body, bool) {
        let is_last = nr + 1 == self.count();
        match (self, body) {
            (Self::Document(slices), Body::Text { blocks, streaming }) => {
                let (blocks, is_aligned) = slices.content(blocks, nr);
                (Body::Text { blocks, streaming: is_last && *streaming }, is_aligned)
            }
            (Self::Plain(slices), Body::Prompt { text, n_images, n_documents, state }) => {
                let text = slices.content(text, nr).to_owned();
                let (n_images, n_documents, state) = (*n_images, *n_documents, *state);
                (Body::Prompt { text, n_images, n_documents, state }, true)
            }
            (Self::Plain(slices), Body::Thinking { text, streaming, duration_ms }) => {
                let text = slices.content(text, nr).to_owned();
                // The first slice has the head of the thought. The others do not change with it.
                let (streaming, duration_ms) =
                    if nr == 0 { (*streaming, *duration_ms) } else { (false, None) };
                (Body::Thinking { text, streaming, duration_ms }, true)
            }
            // The slices are those of another body.
            _ => (body.clone(), false),
        }
    }

    /// The block in which slice `nr` begins, and whether the block began before. A plain text is one block.
    pub fn beginning(&self, body: &Body, nr: u32) -> (u32, bool) {
        match (self, body) {
            (Self::Document(slices), Body::Text { blocks, .. }) => slices.beginning(blocks, nr),
            _ => (0, nr > 0),
        }
    }
}

//! What windows have of one item that they do not draw as one row.

use crate::api::{Body, Item, ItemId};
use crate::transcript::slices::body::BodySlices;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

pub struct Text {
    pub slices: BodySlices,
    /// Windows draw the first slice only.
    pub is_folded: bool,
    /// The hash of each slice that was sent; `None` if the slice has changed since then.
    pub sent: Vec<Option<u64>>,
    /// The first slice of a list or table that is cut and whose size windows do not know yet, because it grows.
    growing_from: Option<u32>,
    /// Whether the last slice in windows has the blocks and lines of the text one to one, so that changes of the text
    /// can be sent as they are.
    pub is_aligned: bool,
}

impl Text {
    fn of(body: &Body, is_folded: bool) -> Option<Self> {
        let slices = BodySlices::of(body)?;
        let is_aligned = slices.piece(body, slices.count() - 1).1;
        let growing_from = slices.growing_from(body);
        Some(Self { slices, is_folded, sent: Vec::new(), growing_from, is_aligned })
    }

    /// What windows have of a text that streams or has more than one slice.
    pub fn in_rows(item: &Item, unfolded: &HashSet<ItemId>) -> Option<Self> {
        let text = Self::of(&item.body, is_folded(item, unfolded))?;
        (is_streaming(&item.body) || text.slices.count() > 1).then_some(text)
    }

    pub fn n_rows(&self) -> u32 {
        if self.is_folded { 1 } else { self.slices.count() }
    }

    /// Notes what windows get of a slice. Returns whether they have it already.
    pub fn send(&mut self, piece: &Item, nr: u32) -> bool {
        let now = Some(hash_of(piece));
        self.sent.resize(self.slices.count() as usize, None);
        let Some(known) = self.sent.get_mut(nr as usize) else { return false };
        std::mem::replace(known, now) == now
    }

    /// Finds the list or table that grows. Returns the first slice of the one that has its size now.
    pub fn settled(&mut self, body: &Body) -> Option<u32> {
        let before = std::mem::replace(&mut self.growing_from, self.slices.growing_from(body));
        before.filter(|_| self.growing_from != before)
    }

    /// The last slice was changed in windows without being sent.
    pub fn patched(&mut self) {
        self.sent.resize(self.slices.count() as usize, None);
        if let Some(last) = self.sent.last_mut() {
            *last = None;
        }
    }
}

fn hash_of(piece: &Item) -> u64 {
    let mut hasher = DefaultHasher::new();
    piece.slice.hash(&mut hasher);
    match &piece.body {
        Body::Text { blocks, streaming } => (blocks, streaming).hash(&mut hasher),
        Body::Prompt { text, n_images, n_documents, state } => {
            (text, n_images, n_documents, std::mem::discriminant(state)).hash(&mut hasher);
        }
        Body::Message { sender, text } => (sender, text).hash(&mut hasher),
        Body::Thinking { text, streaming, duration_ms } => (text, streaming, duration_ms).hash(&mut hasher),
        Body::ToolCall(_) | Body::Notice { .. } | Body::TurnEnd(_) => {
            format!("{:?}", piece.body).hash(&mut hasher)
        }
    }
    hasher.finish()
}

pub fn is_folded(item: &Item, unfolded: &HashSet<ItemId>) -> bool {
    let is_foldable = matches!(item.body, Body::Thinking { .. } | Body::Notice { .. } | Body::ToolCall(_));
    is_foldable && !unfolded.contains(&item.id)
}

fn is_streaming(body: &Body) -> bool {
    matches!(body, Body::Text { streaming: true, .. } | Body::Thinking { streaming: true, .. })
}

//! The images of a conversation, from the agent's own transcript. An item has only their number.

use super::ExportedItem;
use crate::api::Attachment;
use crate::attachment;
use crate::claude::stored::StoredLine;
use crate::history::Kept;
use std::collections::HashMap;
use std::sync::Arc;

/// The images by the id of their prompt or of their tool call.
#[derive(Clone, Debug, Default)]
pub struct Images(HashMap<String, Vec<Attachment>>);

impl Images {
    /// Collects the images of a transcript file. Data that is not an image is left out, whatever its type says.
    pub fn of(kept: &Kept) -> Self {
        let mut images = Self::default();
        for line in kept.lines().filter(|line| StoredLine::may_have_image(line)) {
            let Some(line) = StoredLine::read(line) else { continue };
            for (id, data) in line.images() {
                if let Ok(image) = attachment::image_of_base64("", data) {
                    images.0.entry(id.to_owned()).or_default().push(image);
                }
            }
        }
        images
    }

    /// Adds the images that are kept with the conversation.
    pub(super) fn add(&mut self, items: &[ExportedItem]) {
        for one in items.iter().filter(|one| !one.images.is_empty()) {
            self.0.entry(one.stored_id.clone()).or_insert_with(|| valid_images(&one.images));
        }
    }

    /// The images of an item, by its id in the transcript.
    pub fn at(&self, stored_id: &str) -> &[Attachment] {
        self.0.get(stored_id).map_or(&[], Vec::as_slice)
    }
}

/// Decodes base64 data and keeps what is an image by its bytes.
pub fn valid_images(images: &[Arc<str>]) -> Vec<Attachment> {
    images.iter().filter_map(|data| attachment::image_of_base64("", data).ok()).collect()
}

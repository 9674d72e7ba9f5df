//! A prompt and its ids on the wire.

use crate::api::{Attachment, Delivery, PromptId};
use serde::{Deserialize, Serialize};

/// An accepted prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    pub id: PromptId,
    pub text: String,
    /// Files of earlier versions say `images`.
    #[serde(default, alias = "images")]
    pub attachments: Vec<Attachment>,
    /// Sent only when the user says so.
    #[serde(default)]
    pub held: bool,
    #[serde(default)]
    pub delivery: Delivery,
    /// It is held until this time, in milliseconds since 1970.
    #[serde(default)]
    pub sends_at: Option<u64>,
    /// It was sent, and its turn was cut off.
    #[serde(default)]
    pub cut_off: bool,
    /// The time of each release, in milliseconds since 1970. Each one makes a new id on the wire.
    #[serde(default)]
    pub renamed_at: Vec<u64>,
}

impl Prompt {
    /// The numbers of its images and of its documents.
    pub fn n_attachments(&self) -> (u32, u32) {
        let n_images = self.attachments.iter().filter(|one| one.is_image()).count();
        (n_images as u32, (self.attachments.len() - n_images) as u32)
    }

    pub fn new(id: PromptId, text: String, attachments: Vec<Attachment>, delivery: Delivery) -> Self {
        Self {
            id,
            text,
            attachments,
            held: false,
            delivery,
            sends_at: None,
            cut_off: false,
            renamed_at: Vec::new(),
        }
    }

    /// The current id on the wire. The agent ignores a prompt with an id that it already has on disk (2.1.197 and
    /// 2.1.329), so each send uses a new id.
    pub fn wire_id(&self) -> String {
        wire_id(&self.id, self.renamed_at.last().copied())
    }

    /// All ids that the prompt ever had on the wire.
    pub fn wire_ids(&self) -> impl Iterator<Item = String> {
        std::iter::once(None).chain(self.renamed_at.iter().copied().map(Some)).map(|at| wire_id(&self.id, at))
    }

    /// Holds the prompt: only the user can send it now.
    pub fn hold(&mut self) {
        self.held = true;
        self.sends_at = None;
        self.delivery = Delivery::AfterTurn;
    }

    /// Holds the prompt until a time, or until the user sends it.
    pub fn hold_until(&mut self, at: u64) {
        self.hold();
        self.sends_at = Some(at);
    }

    /// Releases the prompt under a new wire id. The id is unique even if the last one could not be saved.
    pub fn release(&mut self, now: u64) {
        self.held = false;
        self.sends_at = None;
        let last = self.renamed_at.last().copied().unwrap_or(0);
        self.renamed_at.push(now.max(last + 1));
    }
}

fn wire_id(id: &PromptId, renamed_at: Option<u64>) -> String {
    match (renamed_at, uuid::Uuid::try_parse(id.as_str())) {
        (None, _) => id.to_string(),
        (Some(at), Ok(uuid)) => uuid::Uuid::from_u128(uuid.as_u128().wrapping_add(at.into())).to_string(),
        (Some(at), Err(_)) => format!("{id}.{at}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_it_is_sent_it_has_another_name() {
        let id = PromptId::new("00000000-0000-4000-8000-0000000000ff");
        let mut prompt = Prompt::new(id, "fix it".to_owned(), Vec::new(), Delivery::Now);
        assert_eq!(prompt.wire_id(), prompt.id.as_str());
        prompt.hold();
        assert_eq!(prompt.delivery, Delivery::AfterTurn, "it does not end a turn of another day");
        prompt.release(1);
        let first = prompt.wire_id();
        assert_eq!(first, "00000000-0000-4000-8000-000000000100");
        // A clock that goes back must not produce the same id twice.
        prompt.release(0);
        assert_eq!(prompt.wire_id(), "00000000-0000-4000-8000-000000000101");
        let names: Vec<_> = prompt.wire_ids().collect();
        assert_eq!(names, [prompt.id.to_string(), first, prompt.wire_id()]);
    }

    #[test]
    fn a_journal_of_before_is_read() {
        let prompt: Prompt = serde_json::from_str(r#"{"id": "a", "text": "b", "held": true}"#).unwrap();
        assert!(prompt.held && prompt.renamed_at.is_empty() && prompt.delivery == Delivery::AfterTurn);
    }
}

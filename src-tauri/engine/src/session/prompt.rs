//! A prompt on its way, and the names under which the agent gets to know it.

use crate::api::{Delivery, Image, PromptId};
use serde::{Deserialize, Serialize};

/// An accepted prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    pub id: PromptId,
    pub text: String,
    #[serde(default)]
    pub images: Vec<Image>,
    /// Goes only when the user says so.
    #[serde(default)]
    pub held: bool,
    #[serde(default)]
    pub delivery: Delivery,
    /// It was sent, and its turn had no end.
    #[serde(default)]
    pub cut_off: bool,
    /// How often it was sent again.
    #[serde(default)]
    pub n_resends: u32,
}

impl Prompt {
    pub fn new(id: PromptId, text: String, images: Vec<Image>, delivery: Delivery) -> Self {
        Self { id, text, images, held: false, delivery, cut_off: false, n_resends: 0 }
    }

    /// Its name on the wire. The agent says nothing to a prompt whose name it has on disk already (2.1.197 and
    /// 2.1.329), so each time it is sent it has another.
    pub fn wire_id(&self) -> String {
        wire_id(&self.id, self.n_resends)
    }

    /// All names it ever had on the wire.
    pub fn wire_ids(&self) -> impl Iterator<Item = String> {
        (0..=self.n_resends).map(|n| wire_id(&self.id, n))
    }

    /// Nothing but the user sends it now.
    pub fn hold(&mut self) {
        self.held = true;
        self.delivery = Delivery::AfterTurn;
    }

    /// It may go again, under another name.
    pub fn release(&mut self) {
        self.held = false;
        self.n_resends += 1;
    }
}

fn wire_id(id: &PromptId, n_resends: u32) -> String {
    match (n_resends, uuid::Uuid::try_parse(id.as_str())) {
        (0, _) => id.to_string(),
        (n, Ok(uuid)) => uuid::Uuid::from_u128(uuid.as_u128().wrapping_add(n.into())).to_string(),
        (n, Err(_)) => format!("{id}.{n}"),
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
        prompt.release();
        assert_eq!(prompt.wire_id(), "00000000-0000-4000-8000-000000000100");
        let names: Vec<_> = prompt.wire_ids().collect();
        assert_eq!(names, [prompt.id.to_string(), prompt.wire_id()]);
    }

    #[test]
    fn a_journal_of_before_is_read() {
        let prompt: Prompt = serde_json::from_str(r#"{"id": "a", "text": "b", "held": true}"#).unwrap();
        assert!(prompt.held && prompt.n_resends == 0 && prompt.delivery == Delivery::AfterTurn);
    }
}

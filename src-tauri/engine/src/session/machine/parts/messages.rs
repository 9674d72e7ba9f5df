//! Messages of other sessions since the user's last prompt. Sessions that write to each other would go on without an end.

use std::collections::HashMap;

/// This many are received in a row. The CLI's own limits are for each sender (2.1.332).
pub const MOST_IN_A_ROW: u32 = 20;

/// This many of them are received of one sender, so that two sessions end sooner than many.
pub const MOST_OF_ONE: u32 = 10;

/// A limit of messages in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageLimit {
    OfAll,
    OfOne,
}

#[derive(Debug, Default)]
pub struct Messages {
    n_in_a_row: u32,
    /// By the process of the sender; `None` if the agent does not name it.
    n_of_sender: HashMap<Option<u32>, u32>,
    are_refused: bool,
}

impl Messages {
    /// No more are received until the user sends a prompt.
    pub fn are_refused(&self) -> bool {
        self.are_refused
    }

    /// One arrived. Returns the limit that it reached: it is the last one that is received.
    pub fn on_message(&mut self, sender: Option<u32>) -> Option<MessageLimit> {
        // More can be on their way.
        if self.are_refused {
            return None;
        }
        self.n_in_a_row += 1;
        let n_of_sender = self.n_of_sender.entry(sender).or_default();
        *n_of_sender += 1;
        let limit = match (self.n_in_a_row, *n_of_sender) {
            (MOST_IN_A_ROW, _) => Some(MessageLimit::OfAll),
            (_, MOST_OF_ONE) => Some(MessageLimit::OfOne),
            _ => None,
        };
        self.are_refused = limit.is_some();
        limit
    }

    /// The user sends a prompt. Returns whether messages were refused before.
    pub fn on_prompt(&mut self) -> bool {
        let were_refused = self.are_refused;
        *self = Self::default();
        were_refused
    }
}

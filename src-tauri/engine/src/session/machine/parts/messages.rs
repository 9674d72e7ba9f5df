//! Messages of other sessions since the user's last prompt. Sessions that write to each other would go on without an end.

/// This many are received in a row. The CLI's own limits are for each sender (2.1.332).
pub const MOST_IN_A_ROW: u32 = 20;

#[derive(Debug, Default)]
pub struct Messages {
    n_in_a_row: u32,
}

impl Messages {
    /// No more are received until the user sends a prompt.
    pub fn are_refused(&self) -> bool {
        self.n_in_a_row >= MOST_IN_A_ROW
    }

    /// One arrived. Returns whether it was the last one that is received.
    pub fn on_message(&mut self) -> bool {
        self.n_in_a_row = self.n_in_a_row.saturating_add(1);
        self.n_in_a_row == MOST_IN_A_ROW
    }

    /// The user sends a prompt. Returns whether messages were refused before.
    pub fn on_prompt(&mut self) -> bool {
        let were_refused = self.are_refused();
        self.n_in_a_row = 0;
        were_refused
    }
}

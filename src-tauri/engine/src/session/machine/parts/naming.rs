//! What the agent still has to be asked for about the conversation's title.

#[derive(Clone, Debug)]
pub struct Naming {
    /// The agent does not have the user's title yet.
    is_outdated: bool,
    /// The user wants a title for this text.
    wanted_for: Option<String>,
}

impl Naming {
    pub fn new(is_outdated: bool) -> Self {
        Self { is_outdated, wanted_for: None }
    }

    /// Whether the agent does not have the user's title yet.
    pub fn is_outdated(&self) -> bool {
        self.is_outdated
    }

    /// The user named the conversation.
    pub fn on_rename(&mut self) {
        self.is_outdated = true;
    }

    /// The agent has the title that is shown.
    pub fn on_taken(&mut self) {
        self.is_outdated = false;
    }

    /// The user wants a title for a text.
    pub fn on_wanted(&mut self, text: String) {
        self.wanted_for = Some(text);
    }

    pub fn take_wanted(&mut self) -> Option<String> {
        self.wanted_for.take()
    }

    /// A title that was not generated is not wanted from the next process.
    pub fn on_exit(&mut self) {
        self.wanted_for = None;
    }
}

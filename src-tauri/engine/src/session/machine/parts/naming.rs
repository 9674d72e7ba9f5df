//! What the agent still has to be asked for about the conversation's title.

#[derive(Clone, Debug)]
pub struct Naming {
    /// The agent does not have the user's title yet.
    is_outdated: bool,
    /// The user wants a title for this text.
    wanted_for: Option<String>,
    /// The title is the beginning of the first prompt, and no other was asked for.
    is_of_prompt: bool,
    /// The user named the conversation after the last request for a title.
    is_overtaken: bool,
}

impl Naming {
    pub fn new(is_outdated: bool) -> Self {
        Self { is_outdated, wanted_for: None, is_of_prompt: false, is_overtaken: false }
    }

    /// Whether the agent does not have the user's title yet.
    pub fn is_outdated(&self) -> bool {
        self.is_outdated
    }

    /// Whether the title is the beginning of the first prompt, and no other was asked for.
    pub fn is_of_prompt(&self) -> bool {
        self.is_of_prompt
    }

    /// The first prompt named the conversation.
    pub fn on_prompt_title(&mut self) {
        self.is_of_prompt = true;
    }

    /// The user or the agent named the conversation.
    pub fn on_named(&mut self) {
        self.is_of_prompt = false;
    }

    /// The user named the conversation, and the agent keeps titles itself. No generated title replaces this one.
    pub fn on_rename(&mut self) {
        self.is_outdated = true;
        self.wanted_for = None;
        self.is_overtaken = true;
    }

    /// Whether the user named the conversation after the last request for a title.
    pub fn is_overtaken(&self) -> bool {
        self.is_overtaken
    }

    /// The agent has the title that is shown.
    pub fn on_taken(&mut self) {
        self.is_outdated = false;
    }

    /// The user wants a title for a text.
    pub fn on_wanted(&mut self, text: String) {
        self.wanted_for = Some(text);
        self.is_of_prompt = false;
        self.is_overtaken = false;
    }

    pub fn take_wanted(&mut self) -> Option<String> {
        self.wanted_for.take()
    }

    /// A title that was not generated is not wanted from the next process.
    pub fn on_exit(&mut self) {
        self.wanted_for = None;
    }
}

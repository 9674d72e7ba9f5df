//! The agent's conversation: its id, whether the agent can resume it, what it is a copy of, and its title.

use crate::launch::{Fork, Launch};
use crate::rewind::ConversationBefore;
use crate::title::Title;

#[derive(Debug, Default)]
pub struct Conversation {
    id: Option<String>,
    /// The agent has it on disk: a turn of it ended.
    is_resumable: bool,
    title: Option<Title>,
    /// What the conversation begins as a copy of, until the agent can resume it.
    fork: Option<Fork>,
    /// The next process resumes it at this message, until a turn has ended there. What follows the message is another
    /// branch.
    resume_at: Option<String>,
}

impl Conversation {
    /// Restores what a session saved. Saved sessions are files, so bad values are dropped.
    pub fn restore(
        id: Option<String>,
        is_resumable: bool,
        title: Option<&str>,
        fork: Option<Fork>,
        resume_at: Option<String>,
    ) -> Self {
        let id = id.filter(|id| Launch::is_conversation_id(id));
        let is_resumable = is_resumable && id.is_some();
        Self {
            is_resumable,
            id,
            title: title.and_then(Title::new),
            fork: fork.filter(Fork::is_valid),
            resume_at: resume_at.filter(|id| Launch::is_conversation_id(id)),
        }
    }

    pub fn fork(&self) -> Option<&Fork> {
        self.fork.as_ref()
    }

    /// The message that the next process resumes at.
    pub fn resume_at(&self) -> Option<&str> {
        self.resume_at.as_deref().filter(|_| self.is_resumable)
    }

    /// Continues after this message; with `None` in a new conversation. Returns the place before, if there is one.
    pub fn rewind(&mut self, until: Option<String>) -> Option<ConversationBefore> {
        let id = self.id.clone()?;
        let before = ConversationBefore { id, resume_at: self.resume_at.take() };
        if until.is_none() {
            self.on_lost();
        }
        self.resume_at = until;
        Some(before)
    }

    /// Continues again where it did before a rewind.
    pub fn return_to(&mut self, before: ConversationBefore) {
        self.id = Some(before.id).filter(|id| Launch::is_conversation_id(id));
        self.is_resumable = self.id.is_some();
        self.resume_at = before.resume_at;
    }

    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    pub fn is_resumable(&self) -> bool {
        self.is_resumable
    }

    /// The id of the conversation that the next process resumes.
    pub fn resumes(&self) -> Option<String> {
        self.id.clone().filter(|_| self.is_resumable)
    }

    pub fn title(&self) -> Option<&Title> {
        self.title.as_ref()
    }

    /// The user or the agent named it.
    pub fn on_title(&mut self, title: Title) {
        self.title = Some(title);
    }

    /// The first prompt names it.
    pub fn on_prompt(&mut self, text: &str) {
        if self.title.is_none() {
            self.title = Title::of_prompt(text);
        }
    }

    /// The process is in this conversation. Returns whether it is another one than before.
    pub fn on_init(&mut self, id: &str) -> bool {
        let is_new = self.id.as_deref() != Some(id) && Launch::is_conversation_id(id);
        if is_new {
            self.id = Some(id.to_owned());
            self.is_resumable = false;
            self.resume_at = None;
        }
        is_new
    }

    /// A turn of this conversation ended, so the agent can resume it.
    pub fn on_result(&mut self, id: Option<&str>) {
        if let Some(id) = id.filter(|id| Launch::is_conversation_id(id)) {
            self.id = Some(id.to_owned());
            self.is_resumable = true;
            self.fork = None;
            self.resume_at = None;
        }
    }

    /// The agent no longer has it. The title stays.
    pub fn on_lost(&mut self) {
        self.id = None;
        self.is_resumable = false;
        self.resume_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_resumed_only_after_a_turn_of_it_ended() {
        let mut conversation =
            Conversation::restore(Some("--evil".to_owned()), true, Some("kept"), None, None);
        assert_eq!((conversation.id(), conversation.is_resumable()), (None, false), "not an id");
        assert_eq!(conversation.title().map(Title::as_str), Some("kept"));
        assert!(conversation.on_init("a"));
        assert_eq!((conversation.id(), conversation.resumes()), (Some("a"), None));
        conversation.on_result(Some("a"));
        assert!(!conversation.on_init("a"));
        assert_eq!(conversation.resumes().as_deref(), Some("a"));
        assert!(conversation.on_init("b"), "cleared");
        assert_eq!(conversation.resumes(), None);
        assert!(!conversation.on_init("--evil"));
        conversation.on_lost();
        assert_eq!(conversation.id(), None);
    }
}

//! The agent's conversation: its id, whether the agent can resume it, what it is a copy of, and its title.

use crate::launch::{Fork, Launch};
use crate::rewind::ConversationBefore;
use crate::title::Title;

#[derive(Debug, Default)]
pub struct OwnConversation {
    id: Option<String>,
    /// The agent has it on disk: a turn of it ended.
    is_resumable: bool,
    title: Option<Title>,
    /// What the conversation begins as a copy of, until the agent can resume it.
    fork: Option<Fork>,
    /// The next process resumes it at this message, until a turn has ended there. What follows the message is another
    /// branch.
    resume_at: Option<String>,
    past: PastState,
}

/// The state of the messages before the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PastState {
    /// Deskbell has them, or will never have them.
    #[default]
    Settled,
    Lacking,
    /// The running agent repeats them.
    Requested,
}

impl OwnConversation {
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
            past: PastState::Settled,
        }
    }

    /// Deskbell has no copy of the earlier messages. Returns whether there is a conversation that can be continued.
    pub fn on_past_lacking(&mut self) -> bool {
        if self.is_resumable {
            self.past = PastState::Lacking;
        }
        self.is_resumable
    }

    pub fn on_past_requested(&mut self) {
        if self.past == PastState::Lacking {
            self.past = PastState::Requested;
        }
    }

    /// They came, or will never come. Returns whether they were missing until now.
    pub fn on_past_over(&mut self) -> bool {
        std::mem::take(&mut self.past) != PastState::Settled
    }

    /// The process ended. Returns whether it was repeating them.
    pub fn on_past_interrupted(&mut self) -> bool {
        let was_requested = self.past == PastState::Requested;
        if was_requested {
            self.past = PastState::Lacking;
        }
        was_requested
    }

    pub fn lacks_past(&self) -> bool {
        self.past != PastState::Settled
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

    /// The first prompt names it. Returns whether this one did.
    pub fn on_prompt(&mut self, text: &str) -> bool {
        if self.title.is_some() {
            return false;
        }
        self.title = Title::of_prompt(text);
        self.title.is_some()
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
            OwnConversation::restore(Some("--evil".to_owned()), true, Some("kept"), None, None);
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

    #[test]
    fn earlier_messages_are_lacking_until_they_came_or_were_given_up() {
        let known =
            |is_resumable| OwnConversation::restore(Some("a".to_owned()), is_resumable, None, None, None);
        assert!(!known(false).on_past_lacking(), "nothing would be continued");
        let mut conversation = known(true);
        assert!(!conversation.on_past_over() && conversation.on_past_lacking());
        conversation.on_past_requested();
        assert!(conversation.on_past_interrupted() && conversation.lacks_past(), "they are requested again");
        assert!(!conversation.on_past_interrupted());
        conversation.on_past_requested();
        assert!(conversation.on_past_over() && !conversation.lacks_past());
        assert!(!conversation.on_past_over() && !conversation.on_past_interrupted());
    }
}

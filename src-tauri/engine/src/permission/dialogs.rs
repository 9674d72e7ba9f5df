//! Which dialog is shown, which wait, and what a reaction to one means. It shows nothing itself: what is to be done
//! comes out, in order.
//!
//! A dialog is one face of a request; the card is the other. Whoever answers first wins: the session takes one answer,
//! tells that the request is over, and the dialog goes.

use super::written_out;
use crate::api::{Decision, PermissionRequest, RequestId, RequestKind, Session, SessionId};
use std::collections::HashMap;
use std::collections::VecDeque;

/// Two agents may name their requests alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DialogId {
    pub session_id: SessionId,
    pub request_id: RequestId,
}

/// What a dialog says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    pub id: DialogId,
    pub project: String,
    pub session_title: String,
    pub tool: String,
    pub question: String,
    /// The request's own `shown`.
    pub shown: String,
    /// Everything that would happen; `None` if a dialog cannot show it whole and plain.
    pub subject: Option<String>,
    /// Why it cannot, as far as something in it is odd.
    pub notices: Vec<String>,
}

impl Ask {
    /// What a dialog says of a request; `None` for questions and plans, which are not to be answered with yes or no
    /// and are for the card alone.
    pub fn of(project: &str, session: &Session, request: PermissionRequest) -> Option<Self> {
        if matches!(request.kind, RequestKind::Questions { .. } | RequestKind::Plan { .. }) {
            return None;
        }
        Some(Self {
            id: DialogId { session_id: session.id.clone(), request_id: request.id },
            // A folder or a title can be named to mislead as well.
            project: written_out(project),
            session_title: written_out(&session.title),
            tool: request.tool,
            question: request.question,
            shown: request.shown,
            subject: request.plain,
            notices: request.notices.into_iter().map(|notice| notice.words).collect(),
        })
    }
}

/// What a person did with a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    AllowOnce,
    Deny {
        reason: String,
    },
    Review,
    /// Closed: it answers nothing, the card stays.
    Dismissed,
}

/// Something to be done for a window.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Show { window: String, ask: Ask },
    Withdraw { id: DialogId },
    Decide { id: DialogId, shown: String, decision: Decision },
    BringUp { window: String, id: DialogId },
}

/// The dialogs of all windows: one shown at a time in each, since two would hide each other, and the rest in line.
#[derive(Debug, Default)]
pub struct Dialogs(HashMap<String, VecDeque<Ask>>);

impl Dialogs {
    /// A request comes in: it is shown, or waits in its window's line.
    pub fn asked(&mut self, window: &str, ask: Ask) -> Vec<Act> {
        let line = self.0.entry(window.to_owned()).or_default();
        line.push_back(ask.clone());
        match line.len() {
            1 => vec![Act::Show { window: window.to_owned(), ask }],
            _ => Vec::new(),
        }
    }

    /// A request is over: answered elsewhere, or withdrawn.
    pub fn resolved(&mut self, id: &DialogId) -> Vec<Act> {
        let Some(window) = self.window_of(id) else { return Vec::new() };
        let was_shown = self.shown(&window).is_some_and(|ask| ask.id == *id);
        let withdrawn = was_shown.then(|| Act::Withdraw { id: id.clone() });
        withdrawn.into_iter().chain(self.leave(&window, id)).collect()
    }

    /// A person did something with a dialog, which is gone with that. What comes from one that is not shown, since it
    /// was withdrawn at that moment, counts for nothing: an agent may have given its name to another request by then.
    pub fn reacted(&mut self, id: &DialogId, shown: &str, reaction: Reaction) -> Vec<Act> {
        let Some(window) = self.window_of(id) else { return Vec::new() };
        let Some(ask) = self.shown(&window).filter(|ask| ask.id == *id && ask.shown == shown).cloned() else {
            return Vec::new();
        };
        let decide = |decision| Act::Decide { id: id.clone(), shown: ask.shown.clone(), decision };
        let act = match reaction {
            // What was not shown cannot have been allowed.
            Reaction::AllowOnce if ask.subject.is_some() => {
                Some(decide(Decision::AllowOnce { updated_input: None }))
            }
            Reaction::AllowOnce | Reaction::Dismissed => None,
            Reaction::Deny { reason } => Some(decide(Decision::Deny { message: reason, interrupt: false })),
            Reaction::Review => Some(Act::BringUp { window: window.clone(), id: id.clone() }),
        };
        act.into_iter().chain(self.leave(&window, id)).collect()
    }

    /// A window is gone, and its dialogs with it.
    pub fn window_gone(&mut self, window: &str) -> Vec<Act> {
        let line = self.0.remove(window).unwrap_or_default();
        line.into_iter().take(1).map(|ask| Act::Withdraw { id: ask.id }).collect()
    }

    /// The dialog of a window.
    pub fn shown(&self, window: &str) -> Option<&Ask> {
        self.0.get(window)?.front()
    }

    fn window_of(&self, id: &DialogId) -> Option<String> {
        let found = self.0.iter().find(|(_, line)| line.iter().any(|ask| ask.id == *id));
        found.map(|(window, _)| window.clone())
    }

    /// Takes a request out of its line; the next is shown.
    fn leave(&mut self, window: &str, id: &DialogId) -> Option<Act> {
        let line = self.0.get_mut(window)?;
        let was_shown = line.front().is_some_and(|ask| ask.id == *id);
        line.retain(|ask| ask.id != *id);
        let next = line.front().filter(|_| was_shown)?.clone();
        Some(Act::Show { window: window.to_owned(), ask: next })
    }
}

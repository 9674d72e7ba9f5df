//! The state of the permission dialogs: which dialog is shown, which ones wait, and the effect of a response. This
//! module shows nothing itself; it returns the effects to carry out, in order.
//!
//! A request has a dialog and a card. The first answer counts: the session accepts one answer and emits an event that
//! the request is over, and the dialog closes.

use super::plain::{only_suggestion, plain_subject};
use crate::api::{Decision, PermissionRequest, RequestId, RequestKind, Session, SessionId};
use crate::misleading::written_out;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

/// The session is part of the id, because two agents may use the same request id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DialogId {
    pub session_id: SessionId,
    pub request_id: RequestId,
}

/// The contents of a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialogRequest {
    pub id: DialogId,
    pub project: String,
    pub session_title: String,
    pub tool: String,
    pub question: String,
    /// The subagent that asks, in words; `None` for the agent itself.
    pub asked_by: Option<String>,
    /// What the agent does not say about the call; `None` if it says what would run.
    pub unreported: Option<String>,
    /// The request's own `shown`.
    pub shown: String,
    /// The complete subject; `None` if a dialog cannot show it in full and as plain text.
    pub subject: Option<String>,
    /// The rule that *Always allow* saves; `None` if the user has to choose one in the card.
    pub always: Option<AlwaysAllow>,
    /// The oddities in the request that keep the dialog from showing it.
    pub notices: Vec<String>,
}

/// The one rule that a dialog can save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlwaysAllow {
    /// The id of the suggestion.
    pub suggestion: String,
    /// The exact rule, and the place where it is saved.
    pub scope: String,
}

impl DialogRequest {
    /// Builds the dialog of a request. `None` for questions, forms and plans: they cannot be answered with yes or no, so they
    /// are shown only in the card.
    pub fn of(project: &str, session: &Session, request: PermissionRequest) -> Option<Self> {
        if matches!(
            request.kind,
            RequestKind::Questions { .. } | RequestKind::Form { .. } | RequestKind::Plan { .. }
        ) {
            return None;
        }
        let only = request.always.is_some().then(|| only_suggestion(&request.suggestions)).flatten();
        let always = only.map(|only| AlwaysAllow {
            suggestion: only.id.clone(),
            scope: format!("{} · {}", only.rule, only.kept_in),
        });
        Some(Self {
            always,
            subject: plain_subject(&request).map(str::to_owned),
            id: DialogId { session_id: session.id.clone(), request_id: request.id },
            // A folder or a title may have a misleading name too.
            project: written_out(project),
            session_title: written_out(&session.title),
            // Another machine sends all of these, so they are checked here again.
            tool: written_out(&request.tool),
            question: written_out(&request.question),
            asked_by: request.subagent.map(|subagent| written_out(&subagent.words)),
            unreported: request.unreported.as_deref().map(written_out),
            shown: request.shown,
            notices: request.notices.iter().map(|notice| written_out(&notice.words)).collect(),
        })
    }
}

/// The user's response to a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialogResponse {
    AllowOnce,
    AlwaysAllow,
    Deny {
        reason: String,
    },
    Review,
    /// Closed: it answers nothing, and the card stays.
    Dismissed,
}

/// An effect for the shell to carry out.
#[derive(Clone, Debug, PartialEq)]
pub enum DialogEffect {
    Show {
        window: String,
        ask: DialogRequest,
    },
    Withdraw {
        id: DialogId,
    },
    Decide {
        id: DialogId,
        shown: String,
        decision: Decision,
    },
    BringUp {
        window: String,
        id: DialogId,
    },
    /// Call [`Dialogs::waited`] with this number after [`Dialogs::CARD_TIME`].
    Wait {
        window: String,
        number: u64,
    },
}

/// The part of a window's state that the user sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowView {
    /// The window has the keyboard focus, so it is in front.
    pub focused: bool,
    /// The sessions that are open in it: one, or two side by side.
    pub open: Vec<SessionId>,
    /// The requests whose cards are visible in its page.
    pub cards: HashSet<DialogId>,
    /// The user wants no dialog while the window is in front.
    pub only_away: bool,
}

/// The place where a request is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Its card is visible: a dialog would only cover it.
    Card,
    /// The card of another request is visible, and a dialog would cover that card. The request waits.
    Later,
    /// Its session is open, so its card may become visible; if it does not, a dialog is shown.
    CardSoon,
    /// Another window of the app has the keyboard, and a dialog would appear over it. That window shows a notice.
    Notice,
    /// No card of it is visible.
    Dialog,
}

impl WindowView {
    /// Returns where to show a request while the window has this view. `other_focused`: another window of the app has the
    /// keyboard focus.
    pub fn placement(&self, id: &DialogId, other_focused: bool) -> Placement {
        if !self.focused {
            if other_focused { Placement::Notice } else { Placement::Dialog }
        } else if self.only_away || self.cards.contains(id) {
            Placement::Card
        } else if !self.cards.is_empty() {
            Placement::Later
        } else if self.open.contains(&id.session_id) {
            Placement::CardSoon
        } else {
            Placement::Dialog
        }
    }
}

/// The dialogs of all windows. Each window shows one dialog at a time, because two would cover each other; the others
/// are queued. While a window of the app has the keyboard focus, the other windows show none.
#[derive(Debug, Default)]
pub struct Dialogs {
    lines: HashMap<String, Line>,
    n_waits: u64,
}

/// The requests of one window, oldest first.
#[derive(Debug, Default)]
struct Line {
    asks: VecDeque<DialogRequest>,
    shown: Option<DialogId>,
    view: WindowView,
    /// Requests that had no dialog because of a card. They get one only after a wait.
    held: HashSet<DialogId>,
    /// The number of the wait in progress.
    wait: Option<u64>,
}

impl Line {
    /// Withdraws the dialog that would cover a card, and shows the first dialog that would not.
    fn settle(
        &mut self,
        window: &str,
        n_waits: &mut u64,
        other_focused: bool,
        has_waited: bool,
    ) -> Vec<DialogEffect> {
        let mut acts = Vec::new();
        let placement = |view: &WindowView, id: &DialogId| view.placement(id, other_focused);
        for ask in &self.asks {
            let hidden = [Placement::Card, Placement::Later, Placement::Notice];
            if hidden.contains(&placement(&self.view, &ask.id)) {
                self.held.insert(ask.id.clone());
                if self.shown.as_ref() == Some(&ask.id) {
                    self.shown = None;
                    acts.push(DialogEffect::Withdraw { id: ask.id.clone() });
                }
            }
        }
        let is_out_of_sight = |placement| matches!(placement, Placement::Dialog | Placement::CardSoon);
        let next = self.asks.iter().find(|ask| is_out_of_sight(placement(&self.view, &ask.id)));
        let Some(next) = next.filter(|_| self.shown.is_none()).cloned() else {
            self.wait = None;
            return acts;
        };
        let is_at_once =
            !self.held.contains(&next.id) && placement(&self.view, &next.id) == Placement::Dialog;
        if is_at_once || has_waited {
            self.wait = None;
            self.shown = Some(next.id.clone());
            acts.push(DialogEffect::Show { window: window.to_owned(), ask: next });
        } else if self.wait.is_none() {
            *n_waits += 1;
            self.wait = Some(*n_waits);
            acts.push(DialogEffect::Wait { window: window.to_owned(), number: *n_waits });
        }
        acts
    }

    fn remove(&mut self, id: &DialogId) {
        self.asks.retain(|ask| ask.id != *id);
        self.held.remove(id);
        self.shown.take_if(|shown| shown == id);
    }
}

impl Dialogs {
    /// A request whose card may become visible, or was visible a moment ago, gets no dialog for this long: the page
    /// takes some time to draw, and a menu may take the focus for a moment.
    pub const CARD_TIME: Duration = Duration::from_millis(1500);

    /// Adds a request: it is shown, or waits in its window's queue. It takes the place of an earlier one with its id, whose
    /// dialog closes.
    pub fn asked(&mut self, window: &str, ask: DialogRequest) -> Vec<DialogEffect> {
        let replaced = self.resolved(&ask.id);
        self.lines.entry(window.to_owned()).or_default().asks.push_back(ask);
        replaced.into_iter().chain(self.settle(window, false)).collect()
    }

    /// Updates the view of a window, of a window without sessions too.
    pub fn view_changed(&mut self, window: &str, change: impl FnOnce(&mut WindowView)) -> Vec<DialogEffect> {
        let view = &mut self.lines.entry(window.to_owned()).or_default().view;
        let was_focused = view.focused;
        change(view);
        if view.focused == was_focused { self.settle(window, false) } else { self.settle_all() }
    }

    /// [`Dialogs::CARD_TIME`] has passed since [`DialogEffect::Wait`] with this number.
    pub fn waited(&mut self, window: &str, number: u64) -> Vec<DialogEffect> {
        let runs = self.lines.get(window).is_some_and(|line| line.wait == Some(number));
        if runs { self.settle(window, true) } else { Vec::new() }
    }

    /// Removes a request that was answered elsewhere or withdrawn.
    pub fn resolved(&mut self, id: &DialogId) -> Vec<DialogEffect> {
        let Some(window) = self.window_of(id) else { return Vec::new() };
        let was_shown = self.shown(&window).is_some_and(|ask| ask.id == *id);
        let withdrawn = was_shown.then(|| DialogEffect::Withdraw { id: id.clone() });
        withdrawn.into_iter().chain(self.leave(&window, id)).collect()
    }

    /// The user opened the card without using the dialog, which is no longer needed.
    pub fn reviewed(&mut self, id: &DialogId) -> Vec<DialogEffect> {
        self.resolved(id)
    }

    /// Handles the user's response to a dialog, which is closed by it. A response to a dialog that is not shown is
    /// ignored: it was withdrawn at that moment, and an agent may have used its id for another request since.
    pub fn reacted(&mut self, id: &DialogId, shown: &str, reaction: DialogResponse) -> Vec<DialogEffect> {
        let Some(window) = self.window_of(id) else { return Vec::new() };
        let Some(ask) = self.shown(&window).filter(|ask| ask.id == *id && ask.shown == shown).cloned() else {
            return Vec::new();
        };
        let shown = ask.shown.clone();
        let decide = |decision| DialogEffect::Decide { id: id.clone(), shown, decision };
        let act = match reaction {
            // A subject that was not shown cannot have been allowed.
            DialogResponse::AllowOnce if ask.subject.is_some() => {
                Some(decide(Decision::AllowOnce { updated_input: None }))
            }
            DialogResponse::AlwaysAllow if ask.subject.is_some() => ask
                .always
                .map(|always| decide(Decision::AllowAlways { suggestion: always.suggestion.into() })),
            DialogResponse::AllowOnce | DialogResponse::AlwaysAllow | DialogResponse::Dismissed => None,
            DialogResponse::Deny { reason } => {
                Some(decide(Decision::Deny { message: reason, interrupt: false }))
            }
            DialogResponse::Review => Some(DialogEffect::BringUp { window: window.clone(), id: id.clone() }),
        };
        act.into_iter().chain(self.leave(&window, id)).collect()
    }

    /// Removes a closed window and its dialogs.
    pub fn window_gone(&mut self, window: &str) -> Vec<DialogEffect> {
        let shown = self.lines.remove(window).and_then(|line| line.shown);
        let withdrawn = shown.into_iter().map(|id| DialogEffect::Withdraw { id });
        withdrawn.collect::<Vec<_>>().into_iter().chain(self.settle_all()).collect()
    }

    /// The dialog that is shown in a window.
    pub fn shown(&self, window: &str) -> Option<&DialogRequest> {
        let line = self.lines.get(window)?;
        line.asks.iter().find(|ask| Some(&ask.id) == line.shown.as_ref())
    }

    fn window_of(&self, id: &DialogId) -> Option<String> {
        let found = self.lines.iter().find(|(_, line)| line.asks.iter().any(|ask| ask.id == *id));
        found.map(|(window, _)| window.clone())
    }

    /// Removes a request from its queue; the next one is shown.
    fn leave(&mut self, window: &str, id: &DialogId) -> Vec<DialogEffect> {
        if let Some(line) = self.lines.get_mut(window) {
            line.remove(id);
        }
        self.settle(window, false)
    }

    fn settle(&mut self, window: &str, has_waited: bool) -> Vec<DialogEffect> {
        let other_focused = self.lines.iter().any(|(other, line)| other != window && line.view.focused);
        let line = self.lines.get_mut(window);
        line.map(|line| line.settle(window, &mut self.n_waits, other_focused, has_waited)).unwrap_or_default()
    }

    fn settle_all(&mut self) -> Vec<DialogEffect> {
        let mut windows: Vec<String> = self.lines.keys().cloned().collect();
        windows.sort();
        windows.iter().flat_map(|window| self.settle(window, false)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: &str = "window";

    fn id(session: &str, request: &str) -> DialogId {
        DialogId { session_id: SessionId::new(session), request_id: RequestId::new(request) }
    }

    fn ask(session: &str, request: &str) -> DialogRequest {
        DialogRequest {
            id: id(session, request),
            project: "lighthouse".to_owned(),
            session_title: session.to_owned(),
            tool: "Bash".to_owned(),
            question: "Run this command?".to_owned(),
            asked_by: None,
            unreported: None,
            shown: format!("hash of {request}"),
            subject: Some("true".to_owned()),
            always: None,
            notices: Vec::new(),
        }
    }

    fn view<'a>(
        focused: bool,
        open: impl IntoIterator<Item = &'a str>,
        cards: &[(&str, &str)],
    ) -> WindowView {
        let cards = cards.iter().map(|(session, request)| id(session, request)).collect();
        let open = open.into_iter().map(SessionId::new).collect();
        WindowView { focused, open, cards, only_away: false }
    }

    #[test]
    fn where_a_request_is_shown() {
        use Placement::*;
        // In the rows the request is `r` of session `a`.
        for (focused, open, cards, expected) in [
            (false, None, &[][..], Dialog),
            (false, Some("a"), &[], Dialog),
            // The page keeps its cards when the user is elsewhere.
            (false, Some("a"), &[("a", "r")], Dialog),
            (false, Some("b"), &[("b", "s")], Dialog),
            (true, None, &[], Dialog),
            (true, Some("b"), &[], Dialog),
            (true, Some("b"), &[("b", "s")], Later),
            // Another agent may use the same request id.
            (true, Some("b"), &[("b", "r")], Later),
            (true, Some("a"), &[], CardSoon),
            (true, Some("a"), &[("a", "q")], Later),
            (true, Some("a"), &[("a", "r")], Card),
            (true, Some("a"), &[("a", "q"), ("a", "r")], Card),
        ] {
            let view = view(focused, open, cards);
            assert_eq!(view.placement(&id("a", "r"), false), expected, "{view:?}");
            // Two windows cannot both have the focus.
            let beside = if focused { expected } else { Notice };
            assert_eq!(view.placement(&id("a", "r"), true), beside, "{view:?}");
        }
    }

    #[test]
    fn a_request_of_each_of_two_sessions_side_by_side_waits_for_its_card() {
        let view = view(true, ["b", "a"], &[]);
        let placed = ["a", "b", "c"].map(|session| view.placement(&id(session, "r"), false));
        assert_eq!(placed, [Placement::CardSoon, Placement::CardSoon, Placement::Dialog]);
    }

    /// The effects as text: `show r`, `withdraw r`, `wait`.
    fn words(acts: &[DialogEffect]) -> String {
        let word = |act: &DialogEffect| match act {
            DialogEffect::Show { ask, .. } => format!("show {}", ask.id.request_id.as_str()),
            DialogEffect::Withdraw { id } => format!("withdraw {}", id.request_id.as_str()),
            DialogEffect::Wait { .. } => "wait".to_owned(),
            other => format!("{other:?}"),
        };
        acts.iter().map(word).collect::<Vec<_>>().join("; ")
    }

    fn set(dialogs: &mut Dialogs, to: WindowView) -> String {
        words(&dialogs.view_changed(WINDOW, |view| *view = to))
    }

    #[test]
    fn a_dialog_never_appears_over_another_window_of_the_app() {
        const OTHER: &str = "other";
        let mut dialogs = Dialogs::default();
        let focus = |dialogs: &mut Dialogs, window: &str, focused| {
            words(&dialogs.view_changed(window, |view| view.focused = focused))
        };
        assert_eq!(focus(&mut dialogs, OTHER, true), "");
        assert_eq!(words(&dialogs.asked(WINDOW, ask("a", "r"))), "", "the other window has the focus");
        // The focus goes from one window of the app to another: there is a moment in which none has it.
        assert_eq!(focus(&mut dialogs, OTHER, false), "wait");
        assert_eq!(focus(&mut dialogs, "board", true), "");
        assert_eq!(words(&dialogs.waited(WINDOW, 1)), "");
        // The user goes to another program: now the dialog is what gets attention.
        assert_eq!(focus(&mut dialogs, "board", false), "wait");
        assert_eq!(words(&dialogs.waited(WINDOW, 2)), "show r");
        assert_eq!(focus(&mut dialogs, OTHER, true), "withdraw r", "the user comes back to the app");
        // A window that is gone has no focus.
        assert_eq!(words(&dialogs.window_gone(OTHER)), "wait");
        assert_eq!(words(&dialogs.waited(WINDOW, 3)), "show r");
        assert_eq!(words(&dialogs.window_gone(WINDOW)), "withdraw r");
    }

    #[test]
    fn a_user_who_wants_dialogs_only_when_away_gets_them_only_then() {
        let only_away = |focused| WindowView { only_away: true, ..view(focused, Some("b"), &[]) };
        let mut dialogs = Dialogs::default();
        assert_eq!(set(&mut dialogs, only_away(true)), "");
        assert_eq!(words(&dialogs.asked(WINDOW, ask("a", "r"))), "");
        // The window loses the focus: after a moment the dialog is shown, and is gone when the window has it again.
        assert_eq!(set(&mut dialogs, only_away(false)), "wait");
        assert_eq!(words(&dialogs.waited(WINDOW, 1)), "show r");
        assert_eq!(set(&mut dialogs, only_away(true)), "withdraw r");
        assert_eq!(set(&mut dialogs, view(true, Some("b"), &[])), "wait", "the user wants dialogs again");
    }

    #[test]
    fn a_request_whose_card_is_in_sight_has_no_dialog() {
        let mut dialogs = Dialogs::default();
        assert_eq!(set(&mut dialogs, view(true, Some("a"), &[])), "");
        assert_eq!(words(&dialogs.asked(WINDOW, ask("a", "r"))), "wait");
        assert_eq!(set(&mut dialogs, view(true, Some("a"), &[("a", "r")])), "");
        assert_eq!(words(&dialogs.waited(WINDOW, 1)), "", "the card came into sight");
        // The user leaves: after a moment the dialog is shown.
        assert_eq!(set(&mut dialogs, view(false, Some("a"), &[("a", "r")])), "wait");
        assert_eq!(words(&dialogs.waited(WINDOW, 2)), "show r");
        // The user comes back.
        assert_eq!(set(&mut dialogs, view(true, Some("a"), &[("a", "r")])), "withdraw r");
        assert!(dialogs.shown(WINDOW).is_none());
        assert_eq!(words(&dialogs.resolved(&id("a", "r"))), "", "it is not shown");
    }

    #[test]
    fn a_card_that_stays_out_of_sight_gets_its_dialog() {
        let mut dialogs = Dialogs::default();
        set(&mut dialogs, view(true, Some("a"), &[]));
        assert_eq!(words(&dialogs.asked(WINDOW, ask("a", "r"))), "wait");
        assert_eq!(words(&dialogs.waited(WINDOW, 1)), "show r");
        assert_eq!(words(&dialogs.waited(WINDOW, 1)), "", "once");
        // The user scrolls to it.
        assert_eq!(set(&mut dialogs, view(true, Some("a"), &[("a", "r")])), "withdraw r");
    }

    #[test]
    fn a_dialog_of_one_session_never_covers_the_card_of_another() {
        let mut dialogs = Dialogs::default();
        set(&mut dialogs, view(true, Some("a"), &[]));
        dialogs.asked(WINDOW, ask("a", "r"));
        set(&mut dialogs, view(true, Some("a"), &[("a", "r")]));
        assert_eq!(words(&dialogs.asked(WINDOW, ask("b", "s"))), "");
        // The card is answered; now the other request may have a dialog, once the page has settled.
        assert_eq!(words(&dialogs.resolved(&id("a", "r"))), "");
        assert_eq!(set(&mut dialogs, view(true, Some("a"), &[])), "wait");
        assert_eq!(words(&dialogs.waited(WINDOW, 2)), "show s");
        // A card that becomes visible withdraws the dialog of another session.
        dialogs.asked(WINDOW, ask("a", "t"));
        assert_eq!(set(&mut dialogs, view(true, Some("a"), &[("a", "t")])), "withdraw s");
    }

    #[test]
    fn what_is_asked_out_of_sight_is_asked_at_once_and_in_order() {
        let mut dialogs = Dialogs::default();
        assert_eq!(words(&dialogs.asked(WINDOW, ask("a", "r"))), "show r");
        assert_eq!(words(&dialogs.asked(WINDOW, ask("b", "s"))), "");
        assert_eq!(words(&dialogs.reviewed(&id("a", "r"))), "withdraw r; show s");
        // In front, but another session is open, and it has no requests.
        let mut dialogs = Dialogs::default();
        set(&mut dialogs, view(true, Some("a"), &[]));
        assert_eq!(words(&dialogs.asked(WINDOW, ask("b", "s"))), "show s");
    }

    #[test]
    fn a_request_that_is_replaced_has_no_dialog_that_could_allow_it() {
        let mut dialogs = Dialogs::default();
        assert_eq!(words(&dialogs.asked(WINDOW, ask("a", "r"))), "show r");
        let other = DialogRequest { shown: "another hash".to_owned(), ..ask("a", "r") };
        assert_eq!(words(&dialogs.asked(WINDOW, other)), "withdraw r; show r");
        // The button of the first dialog was pressed at that moment.
        assert_eq!(dialogs.reacted(&id("a", "r"), "hash of r", DialogResponse::AllowOnce), []);
        let reaction = dialogs.reacted(&id("a", "r"), "another hash", DialogResponse::AllowOnce);
        assert!(matches!(&reaction[..], [DialogEffect::Decide { shown, .. }] if shown == "another hash"));
        // One that waits is replaced in its queue.
        dialogs.asked(WINDOW, ask("a", "r"));
        dialogs.asked(WINDOW, ask("b", "s"));
        assert_eq!(words(&dialogs.asked(WINDOW, ask("b", "s"))), "");
        assert_eq!(words(&dialogs.resolved(&id("a", "r"))), "withdraw r; show s");
        assert_eq!(words(&dialogs.resolved(&id("b", "s"))), "withdraw s");
    }

    #[test]
    fn a_wait_that_was_for_nothing_shows_nothing() {
        let mut dialogs = Dialogs::default();
        set(&mut dialogs, view(true, Some("a"), &[]));
        assert_eq!(words(&dialogs.asked(WINDOW, ask("a", "r"))), "wait");
        assert_eq!(words(&dialogs.resolved(&id("a", "r"))), "");
        assert_eq!(words(&dialogs.asked(WINDOW, ask("a", "q"))), "wait");
        assert_eq!(words(&dialogs.waited(WINDOW, 1)), "", "that of the request before");
        assert_eq!(words(&dialogs.window_gone(WINDOW)), "");
        assert_eq!(words(&dialogs.waited(WINDOW, 2)), "", "the window is gone");
    }
}

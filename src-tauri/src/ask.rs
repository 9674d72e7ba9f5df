//! Native permission dialogs: how the app gets your attention. The card in the window is the other face of the same
//! request; whoever answers first wins, and the other goes away.
//!
//! A dialog decides nothing by itself: its default is *Review…*, closing it answers nothing, and what it cannot show
//! whole and plain cannot be allowed there.

#[cfg(target_os = "linux")]
mod gtk;
#[cfg(not(target_os = "linux"))]
mod rfd;

#[cfg(target_os = "linux")]
use self::gtk as system;
#[cfg(not(target_os = "linux"))]
use self::rfd as system;

use crate::shell::Shell;
use crate::windows;
use deskbell_engine::api::*;
use deskbell_engine::permission::written_out;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tauri::{AppHandle, Manager};

/// *Allow once* is armed this long after the dialog is shown: a click that was meant for something else decides
/// nothing.
const ARMED_AFTER: Duration = Duration::from_millis(700);

/// What a dialog says.
#[derive(Clone, Debug)]
pub struct Ask {
    pub request_id: RequestId,
    pub session_id: SessionId,
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

/// The dialogs in line, one line for each window: two at once would hide each other.
#[derive(Default)]
pub struct Asking(Mutex<HashMap<String, VecDeque<Ask>>>);

impl Asking {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Ask>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a request in its window's line. Questions and plans are for the card alone: they are not to be answered
    /// with yes or no.
    pub fn ask(
        &self,
        app: &AppHandle,
        label: &str,
        project: &str,
        session: &Session,
        request: PermissionRequest,
    ) {
        if matches!(request.kind, RequestKind::Questions { .. } | RequestKind::Plan { .. }) {
            return;
        }
        let ask = Ask {
            subject: request.plain,
            notices: request.notices.into_iter().map(|notice| notice.words).collect(),
            shown: request.shown,
            request_id: request.id,
            session_id: session.id.clone(),
            // A folder or a title can be named to mislead as well.
            project: written_out(project),
            session_title: written_out(&session.title),
            tool: request.tool,
            question: request.question,
        };
        let is_first = {
            let mut lines = self.lock();
            let line = lines.entry(label.to_owned()).or_default();
            line.push_back(ask.clone());
            line.len() == 1
        };
        if is_first {
            show(app, label, ask);
        }
    }

    /// Takes a dialog away: the request was answered elsewhere, or is withdrawn.
    pub fn resolved(&self, app: &AppHandle, request_id: &RequestId) {
        let label = {
            let lines = self.lock();
            let found = lines.iter().find(|(_, line)| line.iter().any(|ask| ask.request_id == *request_id));
            found.map(|(label, _)| label.clone())
        };
        if let Some(label) = label {
            self.leave(app, &label, request_id);
        }
    }

    /// Takes a request out of its line; the next in line is shown.
    fn leave(&self, app: &AppHandle, label: &str, request_id: &RequestId) {
        let (was_shown, next) = {
            let mut lines = self.lock();
            let Some(line) = lines.get_mut(label) else { return };
            let was_shown = line.front().is_some_and(|ask| ask.request_id == *request_id);
            line.retain(|ask| ask.request_id != *request_id);
            (was_shown, line.front().cloned())
        };
        if was_shown {
            system::withdraw(app, request_id);
            if let Some(next) = next {
                show(app, label, next);
            }
        }
    }

    pub fn window_gone(&self, label: &str) {
        self.lock().remove(label);
    }

    /// Is a dialog of this window what the user has before them?
    pub fn is_in_front(&self, label: &str) -> bool {
        let shown = self.lock().get(label).and_then(|line| line.front().map(|ask| ask.request_id.clone()));
        shown.is_some_and(|request_id| system::is_in_front(&request_id))
    }
}

fn show(app: &AppHandle, label: &str, ask: Ask) {
    let (app_then, label_then, asked) = (app.clone(), label.to_owned(), ask.clone());
    let shown =
        system::show(app, label, ask, move |reaction| react(&app_then, &label_then, &asked, reaction));
    if let Err(error) = shown {
        // The card is there all the same.
        tracing::error!(%error, "a permission dialog could not be shown");
    }
}

fn react(app: &AppHandle, label: &str, ask: &Ask, reaction: Reaction) {
    let shell = app.state::<Shell>();
    let decision = match reaction {
        Reaction::AllowOnce if ask.subject.is_some() => Some(Decision::AllowOnce { updated_input: None }),
        Reaction::AllowOnce | Reaction::Dismissed => None,
        Reaction::Deny { reason } => Some(Decision::Deny { message: reason, interrupt: false }),
        Reaction::Review => {
            let (session_id, request_id) = (ask.session_id.clone(), Some(ask.request_id.clone()));
            windows::bring_up(app, label);
            windows::tell(app, label, &WindowEvent::Show { session_id, request_id });
            None
        }
    };
    shell.asking.leave(app, label, &ask.request_id);
    let Some(decision) = decision else { return };
    let (app, ask) = (app.clone(), ask.clone());
    tauri::async_runtime::spawn(async move {
        let desk = app.state::<Shell>();
        let Some((project, _)) = desk.desk().known(&ask.session_id) else { return };
        let decide = Command::Decide { request_id: ask.request_id, shown: Some(ask.shown), decision };
        let decided = desk.desk().command(&project, &ask.session_id, decide).await;
        match decided {
            // The card was quicker: one answer is all there is.
            Err(CommandError { code: ErrorCode::NoSuchRequest, .. }) | Ok(()) => {}
            Err(error) => tracing::error!(%error, "a decision could not be delivered"),
        }
    });
}

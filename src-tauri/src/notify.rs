//! Desktop notifications: one when a turn ends, fails or waits for the user, unless its window is in front; and
//! the user's own command for the same events.

use crate::ask;
use crate::emit;
use crate::windows::{self, Windows};
#[cfg(target_os = "linux")]
use deskbell_desktop::activation;
use deskbell_dialogs::permission::{DialogController, Outcome};
use deskbell_engine::api::{
    BellKind, BellTest, CommandError, Decision, ErrorCode, PermissionRequest, ProjectRef, RemoteMachine,
    RequestId, RequestKind, Session, SessionId, UserCommand, WindowEvent,
};
use deskbell_engine::bell::BellEvent;
use deskbell_engine::permission::DialogId;
use deskbell_engine::title::Title;
use deskbell_engine::user_command::{Facts, UserCommands};
use deskbell_notifications::{CLICK, DesktopNotification, NotificationAnswer, Notifier, SessionBus};
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::settings::CurrentSettings;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tauri::{AppHandle, Manager};

/// The buttons of a notification about a request.
const DENY: &str = "deny";
const REVIEW: &str = "review";

/// Maximum wait, when the app ends, for notifications to be withdrawn: a daemon may be slow or hang.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Maximum length of a notification's first line, in characters.
const SUMMARY: usize = 200;

/// Number of sessions that the notification of many names.
const NAMED: usize = 5;

/// What a notification is about.
pub struct Ring<'a> {
    pub event: BellEvent,
    pub project: &'a ProjectRef,
    pub session: &'a Session,
    /// What happened, in one line.
    pub words: String,
    /// The request that waits.
    pub request: Option<&'a PermissionRequest>,
}

/// The notification shown for each session; a newer one replaces it.
pub struct Bell {
    notifier: Notifier<Target>,
    /// Number of sessions in the notification of many.
    n_named: AtomicUsize,
    commands: Arc<UserCommands>,
}

/// Opens the window of a project that works in the background, with this session.
type Reopen = Box<dyn Fn(&AppHandle, &ProjectRef, Option<SessionId>) + Send + Sync>;

/// A notification as it is shown.
struct Notice {
    /// The session that it belongs to, or [`many`].
    key: SessionId,
    summary: String,
    words: String,
    kind: BellKind,
    target: Target,
}

/// What a click on a notification brings up.
#[derive(Clone)]
struct Target {
    project: ProjectRef,
    /// `None`: the project, whichever session is open in it.
    session_id: Option<SessionId>,
    request_id: Option<RequestId>,
    /// The request's hash; `None` if it cannot be denied from the notification.
    deniable: Option<String>,
}

/// The key of the one notification that stands for many. No session has an empty id.
fn many() -> SessionId {
    SessionId::new("")
}

/// The key of the notification about a machine. No session has a space in its id.
fn lost(machine: &RemoteMachine) -> SessionId {
    SessionId::new(format!("connection to {machine}"))
}

/// The key of the notification about a project. No session has a path as its id.
fn in_background(project: &ProjectRef) -> SessionId {
    SessionId::new(project.to_string())
}

/// The key of the test notification of an event. No session has a space in its id.
fn tested(event: BellEvent) -> String {
    format!("test of {}", event.name())
}

fn words_of_test(event: BellEvent) -> &'static str {
    match event {
        BellEvent::NeedsYou => "This is how a session that needs you calls.",
        BellEvent::Failed => "This is how a session that fails calls.",
        BellEvent::Finished => "This is how a session that finishes calls.",
    }
}

impl Bell {
    /// `reopen` opens the window of a project that has none.
    pub fn new(
        app: &AppHandle,
        reopen: impl Fn(&AppHandle, &ProjectRef, Option<SessionId>) + Send + Sync + 'static,
    ) -> Self {
        let app = app.clone();
        let reopen: Reopen = Box::new(reopen);
        let (notifier, carry_out) =
            Notifier::new(SessionBus::Own, move |answer| carry_out_answer(&app, answer, &reopen));
        tauri::async_runtime::spawn(carry_out);
        let commands = Arc::new(UserCommands::new(UserCommands::DEADLINE));
        Self { notifier, n_named: AtomicUsize::default(), commands }
    }

    /// Says that the sessions of a project go on without its window, and how it comes back.
    pub fn say_background(&self, project: &ProjectRef, sessions: &[Session]) {
        let n = sessions.iter().filter(|session| session.alive).count();
        let sessions =
            if n == 1 { "1 session continues".to_owned() } else { format!("{n} sessions continue") };
        let target = Target { project: project.clone(), session_id: None, request_id: None, deniable: None };
        self.show(Notice {
            key: in_background(project),
            summary: Title::one_line(&format!("{} works in the background", project.name()), SUMMARY),
            words: format!("{sessions}. Click here, or start Deskbell again, to open the window."),
            kind: BellKind::default(),
            target,
        });
    }

    /// Calls the user for an event of a session whose window is not in front: by a notification, and by the user's own
    /// command. A click brings its window up and shows the session and the request.
    pub fn ring(&self, app: &AppHandle, ring: Ring<'_>) {
        let Ring { event, project, session, words, request } = ring;
        if is_before_user(app, project, &session.id) {
            return;
        }
        let settings = app.state::<Arc<CurrentSettings>>().get();
        let kind = event.settings(&settings).clone();
        if let Some(command) = kind.command.clone() {
            self.run(
                app,
                command,
                Facts {
                    event,
                    project: project.to_string(),
                    session: session.id.as_str().to_owned(),
                    title: session.title.clone(),
                    text: words.clone(),
                },
            );
        }
        if !kind.on {
            return;
        }
        let waiting = if event == BellEvent::NeedsYou { waiting(app, project, session) } else { Vec::new() };
        if waiting.len() > settings.bell.fold_above as usize {
            waiting.iter().for_each(|(_, session)| self.quiet(&session.id));
            self.n_named.store(waiting.len(), Ordering::Relaxed);
            return self.show(folded(&waiting, kind, target(project, session, request)));
        }
        let summary = Title::one_line(&format!("{} · {}", project.name(), session.title), SUMMARY);
        let (key, target) = (session.id.clone(), target(project, session, request));
        self.show(Notice { key, summary, words, kind, target });
    }

    /// Shows a notification for each event that has one, with its sound and its urgency. No command of the user is run.
    pub async fn test(&self, app: &AppHandle, project: &ProjectRef) -> Vec<BellTest> {
        let settings = app.state::<Arc<CurrentSettings>>().get();
        let mut tests = Vec::new();
        for event in BellEvent::ALL {
            let kind = event.settings(&settings);
            if !kind.on {
                continue;
            }
            let notification = DesktopNotification {
                summary: "Test of Deskbell".to_owned(),
                body: words_of_test(event).to_owned(),
                urgency: kind.urgency,
                has_sound: kind.sound,
                buttons: Vec::new(),
            };
            let target =
                Target { project: project.clone(), session_id: None, request_id: None, deniable: None };
            tests.push((event, self.notifier.show_and_hear(&tested(event), notification, target)));
        }
        let mut results = Vec::new();
        for (event, is_accepted) in tests {
            results.push(BellTest { event: event.name().to_owned(), is_accepted: is_accepted.await });
        }
        results
    }

    /// Runs the user's command. Its first failure is shown in the windows.
    fn run(&self, app: &AppHandle, command: UserCommand, facts: Facts) {
        let (app, commands) = (app.clone(), self.commands.clone());
        tauri::async_runtime::spawn(async move {
            let Some(failure) = commands.run(&command, &facts).await else { return };
            let error = CommandError {
                code: ErrorCode::Internal,
                message: format!("{} did not work.", command.program),
                detail: Some(format!("bell.{}.command: {failure}", facts.event.name())),
            };
            for label in app.state::<Windows>().labels() {
                let what = "Your notification command failed".to_owned();
                emit::to_window(&app, &label, WindowEvent::Failed { what, error: error.clone() });
            }
        });
    }

    fn show(&self, notice: Notice) {
        let Notice { key, summary, words, kind, target } = notice;
        let mut buttons = Vec::new();
        if target.request_id.is_some() {
            if target.deniable.is_some() {
                buttons.push((DENY, "Deny"));
            }
            buttons.push((REVIEW, "Review…"));
        }
        let notification = DesktopNotification {
            summary,
            body: words,
            urgency: kind.urgency,
            has_sound: kind.sound,
            buttons,
        };
        self.notifier.show(key.as_str(), notification, target);
    }

    /// Updates the notification of many when fewer sessions wait, without a sound, and withdraws it with the last one.
    /// Those that still wait have no other notification.
    pub fn settle(&self, app: &AppHandle) {
        if !self.notifier.has(many().as_str()) {
            return;
        }
        let waiting = app.state::<SessionRegistry>().waiting();
        let n_named = self.n_named.swap(waiting.len(), Ordering::Relaxed);
        match waiting.first() {
            None => self.quiet(&many()),
            Some((project, session)) if waiting.len() < n_named => {
                let needs_you = app.state::<Arc<CurrentSettings>>().get().bell.needs_you.clone();
                let kind = BellKind { sound: false, ..needs_you };
                self.show(folded(&waiting, kind, target(project, session, None)));
            }
            Some(_) => {}
        }
    }

    /// Calls the user because the connection to a machine does not come back and these sessions worked or waited there.
    /// Sessions whose window is in front are left out: it shows the state of the connection.
    pub fn say_lost(&self, app: &AppHandle, machine: &RemoteMachine, waiting: &[(ProjectRef, Session)]) {
        let out_of_sight: Vec<_> =
            waiting.iter().filter(|(project, session)| !is_before_user(app, project, &session.id)).collect();
        let Some((project, session)) = out_of_sight.first() else { return };
        let kind = BellEvent::Failed.settings(&app.state::<Arc<CurrentSettings>>().get()).clone();
        let words = words_of_lost(&session.title, out_of_sight.len() - 1);
        if let Some(command) = kind.command.clone() {
            let facts = Facts {
                event: BellEvent::Failed,
                project: project.to_string(),
                session: session.id.as_str().to_owned(),
                title: session.title.clone(),
                text: words.clone(),
            };
            self.run(app, command, facts);
        }
        if kind.on {
            let summary = Title::one_line(&format!("The connection to {machine} is lost"), SUMMARY);
            let target = target(project, session, None);
            self.show(Notice { key: lost(machine), summary, words, kind, target });
        }
    }

    /// Withdraws what [`Self::say_lost`] said, because the connection is back.
    pub fn quiet_lost(&self, machine: &RemoteMachine) {
        self.quiet(&lost(machine));
    }

    /// Withdraws what [`Self::say_background`] said, because the window is open again.
    pub fn quiet_background(&self, project: &ProjectRef) {
        self.quiet(&in_background(project));
    }

    /// Withdraws a session's notification, because the user has seen or answered its cause.
    pub fn quiet(&self, session_id: &SessionId) {
        self.notifier.withdraw(session_id.as_str());
    }

    /// Called when the app ends: withdraws every notification, including those that a daemon is about to show. Takes at
    /// most [`LAST_WORDS`]. No notification is shown afterwards.
    pub fn end(&self) {
        if !self.notifier.end(LAST_WORDS) {
            tracing::warn!("the notification daemon is slow: a notification may outlive the app");
        }
    }
}

/// Whether the user sees the window of the session, or a dialog of it.
fn is_before_user(app: &AppHandle, project: &ProjectRef, session: &SessionId) -> bool {
    let Some(label) = app.state::<Windows>().label_showing(project, session) else { return false };
    windows::is_focused(app, &label) || app.state::<DialogController>().is_in_front(&label)
}

/// The sessions that wait for the user, out of sight. `session` is about to be one of them.
fn waiting(app: &AppHandle, project: &ProjectRef, session: &Session) -> Vec<(ProjectRef, Session)> {
    let mut waiting = app.state::<SessionRegistry>().waiting();
    if waiting.iter().all(|(_, known)| known.id != session.id) {
        waiting.push((project.clone(), session.clone()));
    }
    waiting.retain(|(project, session)| !is_before_user(app, project, &session.id));
    waiting
}

fn target(project: &ProjectRef, session: &Session, request: Option<&PermissionRequest>) -> Target {
    let is_yes_or_no = |request: &&PermissionRequest| {
        !matches!(
            request.kind,
            RequestKind::Questions { .. } | RequestKind::Form { .. } | RequestKind::Plan { .. }
        )
    };
    Target {
        project: project.clone(),
        session_id: Some(session.id.clone()),
        request_id: request.map(|request| request.id.clone()),
        deniable: request.filter(is_yes_or_no).map(|request| request.shown.clone()),
    }
}

/// What a notification about a lost connection says: the session that was at work last, and how many others were.
fn words_of_lost(title: &str, n_more: usize) -> String {
    let who = match n_more {
        0 => format!("“{title}” was"),
        1 => format!("“{title}” and 1 other session were"),
        n => format!("“{title}” and {n} other sessions were"),
    };
    format!("{who} working or waiting for you there, and may continue. Deskbell keeps trying to connect.")
}

/// One notification for many sessions.
fn folded(waiting: &[(ProjectRef, Session)], kind: BellKind, target: Target) -> Notice {
    let name = |(project, session): &(ProjectRef, Session)| {
        Title::one_line(&format!("{} · {}", project.name(), session.title), SUMMARY)
    };
    let mut names: Vec<String> = waiting.iter().take(NAMED).map(name).collect();
    if waiting.len() > NAMED {
        names.push(format!("and {} more", waiting.len() - NAMED));
    }
    Notice {
        key: many(),
        summary: match waiting.len() {
            1 => "1 session waits for you".to_owned(),
            n => format!("{n} sessions wait for you"),
        },
        words: names.join("\n"),
        kind,
        // It is about many requests, so none of them is denied from it.
        target: Target { deniable: None, ..target },
    }
}

/// Does what the user chose in a notification.
fn carry_out_answer(app: &AppHandle, answer: NotificationAnswer<Target>, reopen: &Reopen) {
    match answer.action.as_str() {
        CLICK | REVIEW => {
            #[cfg(target_os = "linux")]
            if let Some(token) = answer.activation_token {
                activation::expect(app, token);
            }
            bring_up(app, answer.subject, reopen);
        }
        DENY => deny(app, answer.subject),
        other => tracing::warn!(action = other, "a notification was answered with an unknown action"),
    }
}

/// Brings up the window with the session and the request.
fn bring_up(app: &AppHandle, target: Target, reopen: &Reopen) {
    let Target { project, session_id, request_id, .. } = target;
    let windows = app.state::<Windows>();
    let label = session_id
        .as_ref()
        .map_or_else(|| windows.label_of(&project), |id| windows.label_showing(&project, id));
    let Some(label) = label else {
        return reopen(app, &project, session_id);
    };
    windows::bring_up(app, &label);
    let Some(session_id) = session_id else { return };
    if let Some(request_id) = request_id.clone() {
        app.state::<DialogController>().reviewed(&DialogId { session_id: session_id.clone(), request_id });
    }
    emit::to_window(app, &label, WindowEvent::Show { session_id, request_id, item_id: None });
}

/// Denies the request, as its dialog would.
fn deny(app: &AppHandle, Target { session_id, request_id, deniable, .. }: Target) {
    if let (Some(session_id), Some(request_id), Some(shown)) = (session_id, request_id, deniable) {
        let decision = Decision::Deny { message: String::new(), interrupt: false };
        ask::carry_out(app, Outcome::Decide { id: DialogId { session_id, request_id }, shown, decision });
    }
}

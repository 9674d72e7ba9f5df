//! Desktop notifications: one when a turn ends, fails or waits for the user, unless its window is in front; and
//! the user's own command for the same events.
//!
//! Each notification has its own thread: a daemon that never answers blocks `show` for over a minute (notify-rust
//! 4.19), and some desktops remove a notification when the connection that sent it is closed.

#[cfg(all(unix, not(target_os = "macos")))]
mod answers;
mod shown;

#[cfg(all(unix, not(target_os = "macos")))]
use self::answers::Answers;
use self::shown::Shown;
use crate::ask::{self, DialogController, Outcome};
use crate::emit;
use crate::registry::SessionRegistry;
use crate::settings::CurrentSettings;
use crate::windows::{self, Windows};
use deskbell_engine::api::{
    BellKind, BellUrgency, CommandError, Decision, ErrorCode, PermissionRequest, RequestId, RequestKind,
    Session, SessionId, UserCommand, WindowEvent,
};
use deskbell_engine::bell::BellEvent;
use deskbell_engine::permission::DialogId;
use deskbell_engine::projects::KnownProject;
use deskbell_engine::title::Title;
use deskbell_engine::user_command::{Facts, UserCommands};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tauri::{AppHandle, Manager};

/// Maximum number of threads that wait for a daemon or a click. Further notifications are not shown.
const WAITING: usize = 16;

/// Maximum wait, when the app ends, for notifications to be withdrawn: a daemon may be slow or hang.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Maximum length of a notification's first line, in characters.
const SUMMARY: usize = 200;

/// Number of sessions that the notification of many names.
const NAMED: usize = 5;

/// What a notification is about.
pub struct Ring<'a> {
    pub event: BellEvent,
    pub project: &'a Path,
    pub session: &'a Session,
    /// What happened, in one line.
    pub words: String,
    /// The request that waits.
    pub request: Option<&'a PermissionRequest>,
}

/// The notification shown for each session; a newer one replaces it.
pub struct Bell {
    shown: Arc<Shown>,
    n_waiting: Arc<AtomicUsize>,
    /// Number of sessions in the notification of many.
    n_named: AtomicUsize,
    commands: Arc<UserCommands>,
    reopen: Reopen,
}

/// Opens the window of a project that works in the background, with this session.
type Reopen = Arc<dyn Fn(&AppHandle, &Path, Option<SessionId>) + Send + Sync>;

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
    project: PathBuf,
    /// `None`: the project, whichever session is open in it.
    session_id: Option<SessionId>,
    request_id: Option<RequestId>,
    /// The request's hash; `None` if it cannot be denied from the notification.
    deniable: Option<String>,
}

/// The user's answer to a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(all(unix, not(target_os = "macos"))),
    expect(dead_code, reason = "macOS and Windows report no answer")
)]
enum Answer {
    None,
    Show,
    Deny,
}

/// The key of the one notification that stands for many. No session has an empty id.
fn many() -> SessionId {
    SessionId::new("")
}

/// The key of the notification about a machine. No session has a space in its id.
fn lost(machine: &str) -> SessionId {
    SessionId::new(format!("connection to {machine}"))
}

/// The key of the notification about a project. No session has a path as its id.
fn in_background(project: &Path) -> SessionId {
    SessionId::new(KnownProject::shown(project))
}

impl Bell {
    /// `reopen` opens the window of a project that has none.
    pub fn new(reopen: impl Fn(&AppHandle, &Path, Option<SessionId>) + Send + Sync + 'static) -> Self {
        let commands = Arc::new(UserCommands::new(UserCommands::DEADLINE));
        let (shown, n_waiting, n_named) = (Arc::default(), Arc::default(), AtomicUsize::default());
        Self { shown, n_waiting, n_named, commands, reopen: Arc::new(reopen) }
    }

    /// Says that the sessions of a project go on without its window, and how it comes back.
    pub fn say_background(&self, app: &AppHandle, project: &Path, sessions: &[Session]) {
        let n = sessions.iter().filter(|session| session.alive).count();
        let sessions =
            if n == 1 { "1 session continues".to_owned() } else { format!("{n} sessions continue") };
        let target =
            Target { project: project.to_owned(), session_id: None, request_id: None, deniable: None };
        self.show(
            app,
            Notice {
                key: in_background(project),
                summary: Title::one_line(
                    &format!("{} works in the background", windows::name_of(project)),
                    SUMMARY,
                ),
                words: format!("{sessions}. Click here, or start Deskbell again, to open the window."),
                kind: BellKind::default(),
                target,
            },
        );
    }

    /// Calls the user for an event of a session whose window is not in front: by a notification, and by the user's own
    /// command. A click brings its window up and shows the session and the request.
    pub fn ring(&self, app: &AppHandle, ring: Ring<'_>) {
        let Ring { event, project, session, words, request } = ring;
        if is_before_user(app, project) {
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
                    project: KnownProject::shown(project),
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
            return self.show(app, folded(&waiting, kind, target(project, session, request)));
        }
        let summary = Title::one_line(&format!("{} · {}", windows::name_of(project), session.title), SUMMARY);
        let (key, target) = (session.id.clone(), target(project, session, request));
        self.show(app, Notice { key, summary, words, kind, target });
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

    fn show(&self, app: &AppHandle, notice: Notice) {
        if self.n_waiting.fetch_add(1, Ordering::Relaxed) >= WAITING {
            self.n_waiting.fetch_sub(1, Ordering::Relaxed);
            tracing::warn!("too many notifications are waiting already");
            return;
        }
        let (shown, n_waiting, reopen) = (self.shown.clone(), self.n_waiting.clone(), self.reopen.clone());
        // Before the thread starts, so that a withdrawal from now on finds the notification.
        let key = notice.key.clone();
        let number = shown.begin(&key);
        let app = app.clone();
        let thread = std::thread::Builder::new().name("notification".to_owned()).spawn(move || {
            let answer = show(&shown, number, &notice);
            shown.end_of(&notice.key, number);
            n_waiting.fetch_sub(1, Ordering::Relaxed);
            match answer {
                Ok(Answer::Show) => bring_up(&app, notice.target, &reopen),
                Ok(Answer::Deny) => deny(&app, notice.target),
                Ok(Answer::None) => {}
                Err(error) => tracing::warn!(%error, "could not show the notification"),
            }
        });
        if let Err(error) = thread {
            self.shown.end_of(&key, number);
            self.n_waiting.fetch_sub(1, Ordering::Relaxed);
            tracing::warn!(%error, "could not start a thread for a notification");
        }
    }

    /// Updates the notification of many when fewer sessions wait, without a sound, and withdraws it with the last one.
    /// Those that still wait have no other notification.
    pub fn settle(&self, app: &AppHandle) {
        if !self.shown.has(&many()) {
            return;
        }
        let waiting = app.state::<SessionRegistry>().waiting();
        let n_named = self.n_named.swap(waiting.len(), Ordering::Relaxed);
        match waiting.first() {
            None => self.quiet(&many()),
            Some((project, session)) if waiting.len() < n_named => {
                let needs_you = app.state::<Arc<CurrentSettings>>().get().bell.needs_you.clone();
                let kind = BellKind { sound: false, ..needs_you };
                self.show(app, folded(&waiting, kind, target(project, session, None)));
            }
            Some(_) => {}
        }
    }

    /// Calls the user because the connection to a machine does not come back and these sessions worked or waited there.
    /// Sessions whose window is in front are left out: it shows the state of the connection.
    pub fn say_lost(&self, app: &AppHandle, machine: &str, waiting: &[(PathBuf, Session)]) {
        let out_of_sight: Vec<_> =
            waiting.iter().filter(|(project, _)| !is_before_user(app, project)).collect();
        let Some((project, session)) = out_of_sight.first() else { return };
        let kind = BellEvent::Failed.settings(&app.state::<Arc<CurrentSettings>>().get()).clone();
        let words = words_of_lost(&session.title, out_of_sight.len() - 1);
        if let Some(command) = kind.command.clone() {
            let facts = Facts {
                event: BellEvent::Failed,
                project: KnownProject::shown(project),
                session: session.id.as_str().to_owned(),
                title: session.title.clone(),
                text: words.clone(),
            };
            self.run(app, command, facts);
        }
        if kind.on {
            let summary = Title::one_line(&format!("The connection to {machine} is lost"), SUMMARY);
            let target = target(project, session, None);
            self.show(app, Notice { key: lost(machine), summary, words, kind, target });
        }
    }

    /// Withdraws what [`Self::say_lost`] said, because the connection is back.
    pub fn quiet_lost(&self, machine: &str) {
        self.quiet(&lost(machine));
    }

    /// Withdraws what [`Self::say_background`] said, because the window is open again.
    pub fn quiet_background(&self, project: &Path) {
        self.quiet(&in_background(project));
    }

    /// Withdraws a session's notification, because the user has seen or answered its cause.
    pub fn quiet(&self, session_id: &SessionId) {
        if let Some(id) = self.shown.withdraw(session_id) {
            self.close(id);
        }
    }

    /// Withdraws a notification, on a separate thread, because the daemon may be slow.
    fn close(&self, id: u32) {
        let call = self.shown.call();
        let thread = std::thread::Builder::new().name("notification".to_owned());
        let started = thread.spawn(move || {
            close(id);
            drop(call);
        });
        if let Err(error) = started {
            tracing::warn!(%error, "could not start a thread to withdraw a notification");
        }
    }

    /// Called when the app ends: withdraws every notification, including those that a daemon is about to show. Takes at
    /// most [`LAST_WORDS`]. No notification is shown afterwards.
    pub fn end(&self) {
        self.shown.end().into_iter().for_each(|id| self.close(id));
        if !self.shown.wait_for_end(LAST_WORDS) {
            tracing::warn!("the notification daemon is slow: a notification may outlive the app");
        }
    }
}

/// The daemon's name and interface, and its object.
#[cfg(all(unix, not(target_os = "macos")))]
const DAEMON: &str = "org.freedesktop.Notifications";
#[cfg(all(unix, not(target_os = "macos")))]
const PATH: &str = "/org/freedesktop/Notifications";

/// Withdraws a notification; the thread that waits for its click then ends.
fn close(id: u32) {
    #[cfg(all(unix, not(target_os = "macos")))]
    {
        // Blocking is allowed: every call to the daemon runs on its own thread.
        let closed: zbus::Result<_> = tauri::async_runtime::block_on(async {
            let bus = zbus::Connection::session().await?;
            bus.call_method(Some(DAEMON), PATH, Some(DAEMON), "CloseNotification", &id).await
        });
        if let Err(error) = closed {
            tracing::debug!(%error, "the notification was gone already");
        }
    }
    // The other systems return no number by which a notification could be withdrawn (notify-rust 4.19).
    #[cfg(not(all(unix, not(target_os = "macos"))))]
    let _ = id;
}

/// Whether the user sees the project's window, or a dialog of it.
fn is_before_user(app: &AppHandle, project: &Path) -> bool {
    let Some(label) = app.state::<Windows>().label_of(project) else { return false };
    windows::is_focused(app, &label) || app.state::<DialogController>().is_in_front(&label)
}

/// The sessions that wait for the user, out of sight. `session` is about to be one of them.
fn waiting(app: &AppHandle, project: &Path, session: &Session) -> Vec<(PathBuf, Session)> {
    let mut waiting = app.state::<SessionRegistry>().waiting();
    if waiting.iter().all(|(_, known)| known.id != session.id) {
        waiting.push((project.to_owned(), session.clone()));
    }
    waiting.retain(|(project, _)| !is_before_user(app, project));
    waiting
}

fn target(project: &Path, session: &Session, request: Option<&PermissionRequest>) -> Target {
    let is_yes_or_no = |request: &&PermissionRequest| {
        !matches!(
            request.kind,
            RequestKind::Questions { .. } | RequestKind::Form { .. } | RequestKind::Plan { .. }
        )
    };
    Target {
        project: project.to_owned(),
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
fn folded(waiting: &[(PathBuf, Session)], kind: BellKind, target: Target) -> Notice {
    let name = |(project, session): &(PathBuf, Session)| {
        Title::one_line(&format!("{} · {}", windows::name_of(project), session.title), SUMMARY)
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

/// Brings up the window with the session and the request.
fn bring_up(app: &AppHandle, target: Target, reopen: &Reopen) {
    let Target { project, session_id, request_id, .. } = target;
    let Some(label) = app.state::<Windows>().label_of(&project) else {
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

/// Shows it and waits until it is answered or closed.
fn show(shown: &Arc<Shown>, number: u64, notice: &Notice) -> notify_rust::error::Result<Answer> {
    let Notice { key, summary, words, kind, target } = notice;
    let mut notification = notify_rust::Notification::new();
    notification.appname("Deskbell").summary(summary).action("default", "Show");
    if kind.sound {
        notification.sound_name(SOUND);
    }
    #[cfg(all(unix, not(target_os = "macos")))]
    {
        let capabilities = notify_rust::get_capabilities()?;
        let can = |name: &str| capabilities.iter().any(|capability| capability == name);
        notification.body(&if can("body-markup") { escaped(words) } else { words.to_owned() });
        notification.icon("deskbell").hint(notify_rust::Hint::DesktopEntry("Deskbell".to_owned()));
        notification.urgency(match kind.urgency {
            BellUrgency::Low => notify_rust::Urgency::Low,
            BellUrgency::Normal => notify_rust::Urgency::Normal,
            BellUrgency::Critical => notify_rust::Urgency::Critical,
        });
        if target.request_id.is_some() && can("actions") {
            if target.deniable.is_some() {
                notification.action("deny", "Deny");
            }
            notification.action("review", "Review…");
        }
        // A notification that was withdrawn before it is shown is not sent at all.
        let Some((before, call)) = shown.about_to_show(key, number) else { return Ok(Answer::None) };
        before.into_iter().for_each(close);
        // Blocking is allowed: every notification has its own thread.
        let answers = tauri::async_runtime::block_on(Answers::listen());
        let handle = notification.show()?;
        if shown.appeared(key, number, handle.id()) == shown::Outcome::Withdrawn {
            // It was withdrawn while the daemon processed the call.
            close(handle.id());
            return Ok(Answer::None);
        }
        drop(call);
        let action = match answers {
            Ok(answers) => tauri::async_runtime::block_on(answers.to(handle.id())),
            Err(error) => {
                tracing::warn!(%error, "a click on a notification will not be heard");
                None
            }
        };
        Ok(match action.as_deref() {
            Some("default" | "review") => Answer::Show,
            Some("deny") => Answer::Deny,
            _ => Answer::None,
        })
    }
    #[cfg(not(all(unix, not(target_os = "macos"))))]
    {
        // These systems have no urgency here and no answers (notify-rust 4.19).
        let _: (BellUrgency, &Target) = (kind.urgency, target);
        if shown.about_to_show(key, number).is_none() {
            return Ok(Answer::None);
        }
        notification.body(words);
        notification.show()?;
        Ok(Answer::None)
    }
}

/// The desktop's sound for a message.
#[cfg(all(unix, not(target_os = "macos")))]
const SOUND: &str = "message-new-instant";
#[cfg(target_os = "macos")]
const SOUND: &str = "default";
#[cfg(windows)]
const SOUND: &str = "Default";

/// Escapes the body, because some daemons interpret it as markup: text from the agent must stay text.
#[cfg(all(unix, not(target_os = "macos")))]
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

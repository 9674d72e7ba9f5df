//! The board: a window with the sessions of all projects that work, wait for the user or have just finished.

use crate::emit::{self, Channels};
use crate::lifecycle;
use crate::start::StartPage;
use crate::windows::{BOARD, bring_up};
use anyhow::Context;
use deskbell_dialogs::permission::DialogController;
use deskbell_engine::api::*;
use deskbell_engine::board::Board;
use deskbell_engine::disk;
use deskbell_engine::projects::Change;
use deskbell_engine::stored::{Follower, Located};
use deskbell_sessions::board_costs::Costs;
use deskbell_sessions::checkouts::{self, Checkouts};
use deskbell_sessions::hidden::HiddenSessions;
use deskbell_sessions::open_questions::OpenQuestions;
use deskbell_sessions::opener::now_ms;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::settings::CurrentSettings;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tauri::{AppHandle, Manager, WindowEvent as TauriEvent};
use tokio::sync::Notify;
use tokio::task::JoinSet;

const TITLE: &str = "All projects — Deskbell";
/// Thirty rows fit into it.
const SIZE: (f64, f64) = (1100.0, 800.0);

/// Delay between a change of a session and a new view. While an answer streams there are many changes.
const TOGETHER: Duration = Duration::from_millis(200);

/// The state of the board.
#[derive(Default)]
pub struct BoardPage {
    board: Mutex<Board>,
    /// A new view will be sent soon.
    is_pending: AtomicBool,
    /// The conversations that live processes of the agent have open. They are followed while the board is open.
    live: Mutex<Live>,
    checkouts: Mutex<Checkouts>,
    costs: Costs,
    /// The machines that were asked and those of the listed projects, with the time of the last use. Read when a page
    /// connects.
    used_machines: Mutex<BTreeMap<RemoteMachine, u64>>,
    /// The board may have changed. The tray waits for it.
    changed: Notify,
    /// The file with the failures and the cleared rows, in Deskbell's folder. One write at a time.
    file: tokio::sync::Mutex<PathBuf>,
}

impl BoardPage {
    /// Reads the file with the failures of earlier runs from Deskbell's folder.
    pub fn open(data: &Path) -> Self {
        let file = data.join("board.json");
        let board = Mutex::new(Board::open(&file));
        Self { board, file: tokio::sync::Mutex::new(file), ..Self::default() }
    }
}

#[derive(Default)]
struct Live {
    follower: Option<Follower>,
    conversations: Vec<Located>,
}

/// Opens the board, or brings it up.
pub fn open(app: &AppHandle) -> anyhow::Result<()> {
    if app.get_webview_window(BOARD).is_some() {
        bring_up(app, BOARD);
        return Ok(());
    }
    let window = lifecycle::new_window(app, BOARD, TITLE, SIZE).context("opening the board")?;
    let app = app.clone();
    window.on_window_event(move |event| match event {
        TauriEvent::Focused(focused) => {
            // No dialog of a project may appear over the board.
            app.state::<DialogController>().view_changed(BOARD, |view| view.focused = *focused);
        }
        TauriEvent::Destroyed => {
            app.state::<Channels>().close(BOARD);
            app.state::<DialogController>().window_gone(BOARD);
            // A connection that waits for an answer ends.
            app.state::<OpenQuestions>().window_gone(BOARD);
            *live(&app.state::<BoardPage>()) = Live::default();
        }
        _ => {}
    });
    Ok(())
}

fn live(page: &BoardPage) -> MutexGuard<'_, Live> {
    page.live.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Follows the conversations that other programs have open, with each profile, until the board is closed.
pub fn follow_live(app: &AppHandle) {
    let (follower, mut changes) = Follower::live(app.state::<Arc<CurrentSettings>>().stores());
    // An earlier page's follower ends here.
    live(&app.state::<BoardPage>()).follower = Some(follower);
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        while changes.changed().await.is_ok() {
            let conversations = changes.borrow_and_update().clone();
            live(&app.state::<BoardPage>()).conversations = conversations;
            refresh(&app);
        }
    });
}

/// The first view of a page that connects.
pub async fn connect(app: &AppHandle) -> BoardConnection {
    let event = app.state::<Channels>().open(BOARD);
    let used = app.state::<StartPage>().machines().await;
    *app.state::<BoardPage>().used_machines.lock().unwrap_or_else(PoisonError::into_inner) = used;
    // Other clients may have begun sessions there since. A machine without a link is not asked.
    app.state::<SessionRegistry>().list_far();
    refresh(app);
    BoardConnection { event, board: view(app), settings: app.state::<Arc<CurrentSettings>>().view() }
}

/// A machine answered the user: the board lists it from now on, whether or not a project there is opened.
pub async fn used_machine(app: &AppHandle, machine: RemoteMachine) {
    let at = now_ms();
    let asked = Change::Asked { machine: machine.clone(), at };
    app.state::<BoardPage>().used_machines.lock().unwrap_or_else(PoisonError::into_inner).insert(machine, at);
    if let Err(error) = app.state::<StartPage>().change(asked).await {
        tracing::warn!(%error, "could not remember that a machine was asked");
    }
    refresh(app);
}

/// Returns when the board may have changed since the last call. For one caller.
pub async fn changed(app: &AppHandle) {
    app.state::<BoardPage>().changed.notified().await;
}

/// The board as it is now.
pub fn view(app: &AppHandle) -> BoardView {
    let registry = app.state::<SessionRegistry>();
    let page = app.state::<BoardPage>();
    let hidden = app.state::<HiddenSessions>();
    let mut conversations = live(&page).conversations.clone();
    registry.hide_own_processes(conversations.iter_mut().map(|one| &mut one.session));
    conversations.retain(|one| one.session.live.is_some());
    conversations.retain(|one| !hidden.hides(&one.session.agent_session_id, one.session.changed_at));
    let mut board = page.board.lock().unwrap_or_else(PoisonError::into_inner);
    // Read while the board is locked: a session that was forgotten is not among them.
    let sessions = registry.all();
    let mut view = board.view(&sessions, &conversations, now_ms());
    drop(board);
    for row in view.rows.iter_mut().filter(|row| row.other_pid.is_none()) {
        row.machine = registry.machine_of(&row.session_id);
    }
    known_checkouts(&page).show(&mut view.rows);
    page.costs.show(&sessions, &mut view.rows);
    let used = page.used_machines.lock().unwrap_or_else(PoisonError::into_inner);
    view.machines = registry.far_machines(&used);
    view
}

fn known_checkouts(page: &BoardPage) -> MutexGuard<'_, Checkouts> {
    page.checkouts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The board without the conversations of other programs, which are known only while the board is open.
pub fn own(app: &AppHandle) -> BoardView {
    let mut board = view(app);
    board.rows.retain(|row| row.other_pid.is_none());
    board
}

/// A session changed: remembers since when it is in its state, keeps or forgets its failure, and shows it soon.
pub fn session_changed(app: &AppHandle, project: &ProjectRef, session: &Session) {
    let page = app.state::<BoardPage>();
    let mut board = page.board.lock().unwrap_or_else(PoisonError::into_inner);
    // One that was removed meanwhile is forgotten.
    if app.state::<SessionRegistry>().has(&session.id) {
        board.learn(session, project.here().is_some(), now_ms());
    }
    drop(board);
    save(app);
    refresh(app);
}

/// The user removed a session, which the registry no longer has.
pub fn session_removed(app: &AppHandle, id: &SessionId) {
    let page = app.state::<BoardPage>();
    page.board.lock().unwrap_or_else(PoisonError::into_inner).forget(id);
    save(app);
    refresh(app);
}

/// Removes the rows of these sessions from the board, where they are over.
pub fn clear(app: &AppHandle, ids: &[SessionId]) {
    let shown = view(app);
    let page = app.state::<BoardPage>();
    page.board.lock().unwrap_or_else(PoisonError::into_inner).clear(&shown, ids);
    save(app);
    refresh(app);
}

/// Shows cleared rows again.
pub fn restore(app: &AppHandle, ids: &[SessionId]) {
    let page = app.state::<BoardPage>();
    page.board.lock().unwrap_or_else(PoisonError::into_inner).restore(ids);
    save(app);
    refresh(app);
}

/// The folder of a session that failed in an earlier run, as the board shows it.
pub fn failed_in(app: &AppHandle, id: &SessionId) -> Option<PathBuf> {
    let page = app.state::<BoardPage>();
    let board = page.board.lock().unwrap_or_else(PoisonError::into_inner);
    board.failed_in(id).map(PathBuf::from)
}

/// Writes the failures and the cleared rows, if they changed. What cannot be written is in force until the app ends.
fn save(app: &AppHandle) {
    let page = app.state::<BoardPage>();
    if !page.board.lock().unwrap_or_else(PoisonError::into_inner).is_unsaved() {
        return;
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let page = app.state::<BoardPage>();
        // The content is taken after the earlier write, so that the last one is the newest.
        let file = page.file.lock().await;
        let unsaved = page.board.lock().unwrap_or_else(PoisonError::into_inner).take_unsaved();
        let Some(bytes) = unsaved else { return };
        let (path, folder) = (file.clone(), file.clone());
        let write = move || disk::write_atomically(&path, &bytes?);
        let written = disk::run(&folder, disk::DEADLINE, write).await;
        if let Err(error) = written.map_err(std::io::Error::from).and_then(|written| written) {
            tracing::warn!(%error, "could not save the failures of the board");
        }
    });
}

/// A turn of a session ended: its row has the outcome.
pub fn turn_ended(app: &AppHandle, id: &SessionId, turn: &TurnEnd) {
    let page = app.state::<BoardPage>();
    page.board.lock().unwrap_or_else(PoisonError::into_inner).turn_ended(id, turn);
    save(app);
    refresh(app);
}

/// The first line of the answer that ended the last turn of a session.
pub fn answered(app: &AppHandle, id: &SessionId, words: &str) {
    let page = app.state::<BoardPage>();
    page.board.lock().unwrap_or_else(PoisonError::into_inner).answered(id, words);
    refresh(app);
}

/// Sends the board soon, if it is open, and wakes the tray.
pub fn refresh(app: &AppHandle) {
    let page = app.state::<BoardPage>();
    page.changed.notify_one();
    if app.get_webview_window(BOARD).is_none() || page.is_pending.swap(true, Ordering::Relaxed) {
        return;
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        tokio::time::sleep(TOGETHER).await;
        app.state::<BoardPage>().is_pending.store(false, Ordering::Relaxed);
        app.state::<BoardPage>().costs.measure_here().await;
        let board = view(&app);
        let due = known_checkouts(&app.state::<BoardPage>()).due(&board.rows, Instant::now());
        let rows = board.rows.clone();
        emit::to_window(&app, BOARD, WindowEvent::BoardChanged { board });
        save(&app);
        // The board was sent before these reads, which a slow disk or another machine may delay.
        let checkouts = async {
            let read = checkouts::read_all(due).await;
            if known_checkouts(&app.state::<BoardPage>()).take(read, Instant::now()) {
                emit::to_window(&app, BOARD, WindowEvent::BoardChanged { board: view(&app) });
            }
        };
        let costs = async {
            let registry = app.state::<SessionRegistry>();
            if app.state::<BoardPage>().costs.ask_there(&registry, &rows).await {
                emit::to_window(&app, BOARD, WindowEvent::BoardChanged { board: view(&app) });
            }
        };
        tokio::join!(checkouts, costs);
    });
}

/// A conversation of the board that another program has open, by the agent's id.
pub fn elsewhere(app: &AppHandle, id: &str) -> Option<Located> {
    let page = app.state::<BoardPage>();
    live(&page).conversations.iter().find(|one| one.session.agent_session_id == id).cloned()
}

/// Answers a request of a session, whichever its project is. Refuses an answer that the board may not give, and one to
/// anything but the request that its row showed.
pub async fn answer(
    app: &AppHandle,
    session_id: &SessionId,
    request_id: RequestId,
    shown: String,
    answer: BoardAnswer,
) -> Result<(), CommandError> {
    let registry = app.state::<SessionRegistry>();
    let (project, session) = registry.known(session_id).ok_or_else(already_answered)?;
    let request = session.requests.iter().find(|request| request.id == request_id);
    let request = request.filter(|request| request.shown == shown).ok_or_else(already_answered)?;
    let decision = deskbell_engine::board::decision(request, answer).ok_or_else(|| CommandError {
        code: ErrorCode::BadCommand,
        message: "This request cannot be answered on the board. Open it to answer it.".to_owned(),
        detail: None,
    })?;
    let decide = Command::Decide { request_id, shown: Some(shown), decision };
    registry.command(&project, session_id, decide).await
}

fn already_answered() -> CommandError {
    CommandError {
        code: ErrorCode::NoSuchRequest,
        message: "Already answered in the window.".to_owned(),
        detail: None,
    }
}

/// Stops the agents of these sessions, at once, in windows and in the server. One that cannot be stopped does not keep
/// the others running; then this fails, and names how many there are.
pub async fn stop_sessions(app: &AppHandle, ids: Vec<SessionId>) -> Result<(), CommandError> {
    let n_sessions = ids.len();
    let mut stops = JoinSet::new();
    for id in ids {
        let app = app.clone();
        stops.spawn(async move {
            let registry = app.state::<SessionRegistry>();
            // One that was removed meanwhile has no agent any more.
            let Some((project, _)) = registry.known(&id) else { return Ok(()) };
            registry.command(&project, &id, Command::Stop).await
        });
    }
    let mut failures = Vec::new();
    while let Some(stopped) = stops.join_next().await {
        match stopped {
            Ok(Ok(())) => {}
            Ok(Err(error)) => failures.push(error.message),
            Err(error) => failures.push(error.to_string()),
        }
    }
    if failures.is_empty() {
        return Ok(());
    }
    Err(CommandError {
        code: ErrorCode::Internal,
        message: format!("{} of {n_sessions} sessions were not stopped.", failures.len()),
        detail: Some(failures.join("\n")),
    })
}

//! The commands that a window may call. Every command acts for the window that called it, and only on its project's
//! sessions.

pub mod board;
pub mod changes;
pub mod commit;
pub mod far;
pub mod first_run;
pub mod link;
pub mod menu;
pub mod options;
pub mod other_agents;
pub mod projects;
pub mod recording;
pub mod rules;
pub mod search;
pub mod stored;
pub mod transcript;
pub mod usage;
pub mod worktrees;

use crate::emit::Channels;
use crate::notify::Bell;
use crate::opening::not_opened;
use crate::windows::{ProjectWindow, Windows};
use crate::{apply_settings, emit, lifecycle, project, showing, waiting, worktree_uses, zoom};
use deskbell_cli::logs;
use deskbell_desktop::places::PlacesStore;
use deskbell_desktop::{clipboard, editor, gpu, links};
use deskbell_dialogs::permission::DialogController;
use deskbell_engine::api::*;
use deskbell_engine::attachment::CheckedAttachment;
use deskbell_engine::disk;
use deskbell_engine::files::Files;
use deskbell_engine::permission::DialogId;
use deskbell_engine::settings::SettingsFile;
use deskbell_sessions::folder_watches::FolderWatches;
use deskbell_sessions::folders;
use deskbell_sessions::hidden::HiddenSessions;
use deskbell_sessions::orphans::OrphanProcesses;
use deskbell_sessions::queries::QuerySources;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::registry::far::{not_here, taking_files};
use deskbell_sessions::settings::CurrentSettings;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tauri::ipc::Response;
use tauri::{AppHandle, Manager, WebviewWindow};

/// The longest time that the stages of a stop take, also for an agent that ignores all but the last.
const ENDING: Duration = Duration::from_secs(60);

type Answer<T> = Result<T, CommandError>;

fn project_of(app: &AppHandle, window: &WebviewWindow) -> Answer<ProjectRef> {
    app.state::<Windows>().with(window.label(), |window| window.project.clone())
}

/// The folder of the window's project, for what reads its files: a folder on another machine is refused.
fn project_here(app: &AppHandle, window: &WebviewWindow) -> Answer<PathBuf> {
    here(project_of(app, window)?)
}

/// Refuses a folder on another machine.
fn here(project: ProjectRef) -> Answer<PathBuf> {
    match project {
        ProjectRef::Here(folder) => Ok(folder),
        ProjectRef::There(_) => Err(not_here()),
    }
}

/// The first call of a page: returns the project and the settings. From then on the window's events use a new name.
#[tauri::command]
pub async fn connect(app: AppHandle, window: WebviewWindow) -> Answer<Connection> {
    app.state::<Windows>().with(window.label(), |window| {
        window.first.clear();
        window.second.clear();
    })?;
    let event = app.state::<Channels>().open(window.label());
    // The page is new and draws its cards again.
    app.state::<DialogController>().view_changed(window.label(), |view| view.cards.clear());
    reopen(&app, &window).await?;
    give_way_if_gone(&app, &window).await?;
    let project = project::view(&app, window.label()).await?;
    let windows = app.state::<Windows>();
    let (show_item, own_session) =
        windows.with(window.label(), |window| (window.show_item.take(), window.own_session.clone()))?;
    let settings = app.state::<Arc<CurrentSettings>>().view();
    let (places, folder) = (app.state::<PlacesStore>(), project_of(&app, &window)?);
    let is_here = |id: &SessionId| windows.shows(window.label(), &folder, id);
    let (panels, second) = (places.panels(&folder), places.second_session(&folder).filter(is_here));
    let own_windows = windows.own_sessions(&folder);
    let waiting = waiting::connect(&app, window.label());
    Ok(Connection { event, project, settings, show_item, panels, second, own_session, own_windows, waiting })
}

/// Timeout of a window's start for an agent's store that does not respond.
const REOPEN: Duration = Duration::from_secs(2);

/// Opens the sessions that were last shown and are only in the agent's store.
async fn reopen(app: &AppHandle, window: &WebviewWindow) -> Answer<()> {
    let (windows, registry, hidden) =
        (app.state::<Windows>(), app.state::<SessionRegistry>(), app.state::<HiddenSessions>());
    let (project, open) =
        windows.with(window.label(), |window| (window.project.clone(), window.open_session.clone()))?;
    if project.there().is_some() {
        return Ok(());
    }
    let second = app.state::<PlacesStore>().second_session(&project);
    let is_unknown = |id: &SessionId| !registry.has(id) && !hidden.was_removed(id.as_str());
    for id in [open, second].into_iter().flatten().filter(is_unknown) {
        let opening = registry.open_stored(&project, id.as_str());
        match tokio::time::timeout(REOPEN, opening).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::debug!(%error, "a session that was shown last is gone"),
            Err(_) => {
                tracing::warn!("the agent's store does not respond: the sessions shown last are not opened");
                break;
            }
        }
    }
    Ok(())
}

/// Opens the project's window in place of the own window of a session that is gone: nothing could be shown there. A
/// session on another machine is known only when the machine was reached.
async fn give_way_if_gone(app: &AppHandle, window: &WebviewWindow) -> Answer<()> {
    let of_window =
        |window: &mut ProjectWindow| (window.project.clone(), window.own_session.clone(), window.demo);
    let (project, own_session, demo) = app.state::<Windows>().with(window.label(), of_window)?;
    let Some(id) = own_session.filter(|_| project.here().is_some()) else { return Ok(()) };
    if app.state::<SessionRegistry>().known_in(&project, &id).is_none() {
        lifecycle::open(app, &project, demo).map_err(not_opened)?;
        lifecycle::own::close_own(app, &project, &id);
    }
    Ok(())
}

/// Returns the prompt that a second start named, once.
#[tauri::command]
pub fn take_draft(app: AppHandle, window: WebviewWindow) -> Answer<Option<NamedDraft>> {
    app.state::<Windows>().with(window.label(), |window| window.draft.take())
}

/// Creates a session with the chosen agent, or with the window's own. `without_asking` only if the user chose it for
/// this session.
#[tauri::command]
pub async fn create_session(
    app: AppHandle,
    window: WebviewWindow,
    agent: Option<AgentKind>,
    without_asking: Option<bool>,
) -> Answer<Session> {
    let (project, usual) = usual_agent(&app, &window)?;
    // An agent that the user names is meant without the profile of the project.
    let is_named = agent.is_some();
    let agent = agent.unwrap_or(usual);
    if agent == AgentKind::Acp {
        return Err(CommandError {
            code: ErrorCode::BadCommand,
            message: "Name the agent: “create_session_with” takes its id.".to_owned(),
            detail: None,
        });
    }
    let registry = app.state::<SessionRegistry>();
    let profile = if is_named { None } else { registry.profile_of(&project, agent) };
    registry.create(&project, agent, profile, without_asking.unwrap_or(false)).await
}

/// Returns the session that `create_session` would create with the window's own agent. Nothing is created.
#[tauri::command]
pub async fn planned_session(app: AppHandle, window: WebviewWindow) -> Answer<Option<Session>> {
    let (project, agent) = usual_agent(&app, &window)?;
    app.state::<SessionRegistry>().planned(&project, agent).await
}

/// The project of a window, and the agent of its new sessions.
fn usual_agent(app: &AppHandle, window: &WebviewWindow) -> Answer<(ProjectRef, AgentKind)> {
    let of_window = |window: &mut ProjectWindow| (window.project.clone(), window.demo);
    let (project, demo) = app.state::<Windows>().with(window.label(), of_window)?;
    Ok((project, if demo { AgentKind::Demo } else { AgentKind::Claude }))
}

/// Starts the agent of a session in the mode without permission requests, if the user chose it for this start.
#[tauri::command]
pub async fn start_without_asking(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
) -> Answer<()> {
    let project = project_of(&app, &window)?;
    app.state::<SessionRegistry>().start_without_asking(&project, &session_id).await
}

#[tauri::command]
pub async fn remove_session(app: AppHandle, window: WebviewWindow, session_id: SessionId) -> Answer<()> {
    let project = project_of(&app, &window)?;
    let registry = app.state::<SessionRegistry>();
    let session = registry.take_out(&project, &session_id)?;
    // An agent that does not react to the stop takes half a minute to end. The session is gone for the user meanwhile.
    let hidden = app.state::<HiddenSessions>();
    // A machine may name any conversation, also one of this machine.
    let agent_session_id = session.agent_session_id.filter(|_| project.here().is_some());
    app.state::<QuerySources>().prompts.forget(&session_id);
    if own_window(&app, &window)?.as_ref() == Some(&session_id) {
        // The project's window takes its place.
        let demo = app.state::<Windows>().with(window.label(), |window| window.demo)?;
        lifecycle::open(&app, &project, demo).map_err(not_opened)?;
    }
    lifecycle::own::close_own(&app, &project, &session_id);
    // The agent's own record stays, and would be listed in its place. The agent may write to it until it has ended.
    let removed = agent_session_id.iter().cloned().collect();
    let change = StoredChange { removed, ..StoredChange::default() };
    for label in app.state::<Windows>().labels_of(&project) {
        if !change.removed.is_empty() {
            emit::to_window(&app, &label, WindowEvent::StoredChanged { change: change.clone() });
        }
        let session_id = session_id.clone();
        emit::to_window(&app, &label, WindowEvent::SessionRemoved { session_id });
        lifecycle::retitle(&app, &label, &project);
    }
    let bell = app.state::<Bell>();
    bell.quiet(&session_id);
    bell.settle(&app);
    crate::start::sessions_changed(&app);
    crate::board::session_removed(&app, &session_id);
    crate::keep_awake::sessions_changed(&app);
    if let Some(id) = &agent_session_id {
        hidden.hide(id.clone(), ENDING).await;
    }
    let removed = registry.remove(&session_id).await;
    worktree_uses::changed(&app);
    if let Some(id) = agent_session_id {
        hidden.hide_on(id).await;
    }
    removed
}

/// The session whose own window this is.
fn own_window(app: &AppHandle, window: &WebviewWindow) -> Answer<Option<SessionId>> {
    app.state::<Windows>().with(window.label(), |window| window.own_session.clone())
}

/// Shows a session of this window's project in the window that it belongs to.
#[tauri::command]
pub async fn show_session(app: AppHandle, window: WebviewWindow, session_id: SessionId) -> Answer<()> {
    let (project, session) = listed(&app, &window, &session_id)?;
    showing::in_window(&app, &project, session, None).await
}

/// Gives a session of this window's project a window of its own, or puts it back into the window of the project.
#[tauri::command]
pub async fn place_session(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    in_own_window: bool,
) -> Answer<()> {
    let (project, session) = listed(&app, &window, &session_id)?;
    let placed = if in_own_window {
        let demo = session.agent == AgentKind::Demo;
        lifecycle::own::open_own(&app, &project, demo, &session_id).map(drop)
    } else {
        lifecycle::own::put_back(&app, &project, &session)
    };
    placed.map_err(not_opened)
}

/// A session of this window's project, with the project.
fn listed(app: &AppHandle, window: &WebviewWindow, id: &SessionId) -> Answer<(ProjectRef, Session)> {
    let project = project_of(app, window)?;
    let known = app.state::<SessionRegistry>().known_in(&project, id);
    let session = known.ok_or_else(|| CommandError {
        code: ErrorCode::NoSuchSession,
        message: "There is no such session in this project.".to_owned(),
        detail: None,
    })?;
    Ok((project, session))
}

/// Brings back a session that was removed since the app started. Waits until its agent has ended.
#[tauri::command]
pub async fn restore_session(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    agent_session_id: Option<String>,
) -> Answer<Session> {
    let project = project_of(&app, &window)?;
    let registry = app.state::<SessionRegistry>();
    let session = registry.restore(&project, &session_id, agent_session_id.as_deref()).await?;
    if let Some(id) = agent_session_id {
        app.state::<HiddenSessions>().show(id).await;
    }
    crate::start::sessions_changed(&app);
    crate::board::refresh(&app);
    lifecycle::retitle(&app, window.label(), &project);
    Ok(session)
}

/// Returns an event that this window was notified to fetch.
#[tauri::command]
pub fn waiting_event(app: AppHandle, window: WebviewWindow, nr: u32) -> Answer<Response> {
    let event = app.state::<Channels>().take(window.label(), nr);
    event.map(Response::new).ok_or_else(|| CommandError {
        code: ErrorCode::Internal,
        message: "This event does not exist.".to_owned(),
        detail: None,
    })
}

/// Returns the events of a session that wait for this window, whose page has everything up to event `after`; `None` if
/// there are none. Then the next one is announced. Runs in the order of the page's calls, because a batch is for the page
/// that subscribed last.
#[tauri::command]
pub fn next_batch(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    after: u64,
) -> Answer<Option<Batch>> {
    app.state::<Windows>()
        .with(window.label(), |window| window.forward_of(&session_id).and_then(|forward| forward.take(after)))
}

/// Answers a query about a session of this window's project. It changes nothing.
#[tauri::command]
pub async fn ask(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    query: SessionQuery,
) -> Answer<Response> {
    let (project, sources) = (project_of(&app, &window)?, app.state::<QuerySources>());
    let answer = app.state::<SessionRegistry>().answer(&project, &session_id, query, &sources).await?;
    Ok(Response::new(answer))
}

/// Carries out a command on a session of this window's project.
#[tauri::command]
pub async fn command(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    command: Command,
) -> Answer<()> {
    let project = project_of(&app, &window)?;
    match (&project, &command) {
        (ProjectRef::Here(folder), Command::Prompt { text, .. }) => {
            app.state::<Arc<FolderWatches>>().look(folder);
            app.state::<QuerySources>().prompts.take(folder, &session_id, text);
        }
        (ProjectRef::There(there), Command::Start) => {
            crate::far::agents::check(&app, window.label(), there, &session_id).await?;
        }
        (_, Command::SetOptions { options }) => {
            confirm_options(&app, &window, &project, &session_id, options).await?;
        }
        _ => {}
    }
    app.state::<SessionRegistry>().command(&project, &session_id, command).await
}

/// Asks in a native dialog if the agent would start other programs with these options.
async fn confirm_options(
    app: &AppHandle,
    window: &WebviewWindow,
    project: &ProjectRef,
    id: &SessionId,
    options: &SessionOptions,
) -> Answer<()> {
    let sessions = app.state::<SessionRegistry>().sessions(project);
    let before = sessions.into_iter().find(|session| session.id == *id).map(|session| session.options);
    let settings = app.state::<Arc<CurrentSettings>>().get();
    let changes = SettingsFile::program_changes(&before.unwrap_or_default(), options, &settings)?;
    if changes.is_empty() { Ok(()) } else { apply_settings::confirm(window, &changes).await }
}

/// Changes one setting in the file. `null` is its default. A native dialog confirms changes of programs.
#[tauri::command]
pub async fn set_setting(
    app: AppHandle,
    window: WebviewWindow,
    key: String,
    value: serde_json::Value,
) -> Answer<()> {
    let edit = move |file: &SettingsFile, confirmed: &[String]| -> Answer<Vec<String>> {
        Ok(file.set_for_page(&key, &value, confirmed)?)
    };
    apply_settings::change(&app, &window, edit).await
}

/// Makes the content of the calling window larger or smaller, for its project.
#[tauri::command]
pub async fn zoom_window(app: AppHandle, window: WebviewWindow, step: ZoomStep) -> Answer<()> {
    let project = project_of(&app, &window)?;
    zoom::step(&app, &window, &project, step).await.map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The zoom of this window was not changed.".to_owned(),
        detail: Some(format!("{error:#}")),
    })
}

/// Remembers the panels of the calling window, for its project.
#[tauri::command]
pub async fn keep_panels(app: AppHandle, window: WebviewWindow, panels: SidePanels) -> Answer<()> {
    let places = app.state::<PlacesStore>();
    // The own window of a session has no list, and its panels are not those of the project.
    if own_window(&app, &window)?.is_some() {
        return Ok(());
    }
    if !places.remember_panels(&project_of(&app, &window)?, panels) {
        return Ok(());
    }
    places.save(&app).await.map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The panels of this window were not remembered.".to_owned(),
        detail: Some(format!("{error:#}")),
    })
}

/// Ends the app, with one question for the work of all windows.
#[tauri::command]
pub async fn quit(app: AppHandle, window: WebviewWindow) -> Answer<()> {
    lifecycle::quit(&app, &window).await.map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "Deskbell could not ask before quitting.".to_owned(),
        detail: Some(format!("{error:#}")),
    })
}

/// Shows a notification of each kind. Resolves to those that the desktop accepted and those that it did not.
#[tauri::command]
pub async fn test_bell(app: AppHandle, window: WebviewWindow) -> Answer<Vec<BellTest>> {
    let project = project_of(&app, &window)?;
    Ok(app.state::<Bell>().test(&app, &project).await)
}

/// Opens the settings file in the user's editor. It is created if it is missing.
#[tauri::command]
pub async fn open_settings_file(app: AppHandle) -> Answer<()> {
    let file = app.state::<Arc<CurrentSettings>>().file().clone();
    let folder = file.folder().to_owned();
    let open = move || {
        file.prepare()?;
        tauri_plugin_opener::open_path(file.path(), None::<&str>).map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: format!("{} could not be opened.", file.path().display()),
            detail: Some(error.to_string()),
        })
    };
    disk::run(&folder, disk::DEADLINE, open).await?
}

/// Tests the agent: reports which program it is, and whether it asks before it acts.
#[tauri::command]
pub async fn check_agent(app: AppHandle) -> Answer<Checkup> {
    Ok(app.state::<SessionRegistry>().check_agent(gpu::draws()).await)
}

/// The last lines of the log, for a bug report.
#[tauri::command]
pub async fn last_log_lines() -> Answer<String> {
    Ok(logs::last_lines(&folders::data()).await)
}

/// Stores whether the folder is trusted. Trusting it requires the fingerprint of the settings that were shown. `agent`
/// is the id of the other agent that the window asked about; without it the decision is for Claude Code. `load` names the
/// settings with unknown effects to load.
#[tauri::command]
pub async fn decide_trust(
    app: AppHandle,
    window: WebviewWindow,
    decision: TrustDecision,
    fingerprint: Option<String>,
    agent: Option<String>,
    load: BTreeSet<String>,
) -> Answer<()> {
    let project = project_of(&app, &window)?;
    let folder = match &project {
        ProjectRef::Here(folder) => folder.clone(),
        ProjectRef::There(there) => {
            let decided =
                crate::far::decide(&app, window.label(), there, decision, fingerprint, agent, load).await;
            project::send_to_window(&app, window.label()).await;
            return decided;
        }
    };
    let asked = app.state::<Windows>().with(window.label(), |window| window.trust_agent.clone())?;
    let gate = app.state::<SessionRegistry>().gate().clone();
    let about = asked.filter(|asked| agent.as_deref().is_some_and(|id| gate.is_about(asked, id)));
    if agent.is_some() && about.is_none() {
        return Err(CommandError {
            code: ErrorCode::BadCommand,
            message: "The question is about another agent now; review it again.".to_owned(),
            detail: None,
        });
    }
    let (of, decided_about) = (folder.clone(), about.clone());
    let decide = move || gate.decide(&of, decided_about.as_ref(), decision, fingerprint.as_deref(), load);
    let decided = disk::run(&folder, disk::DEADLINE, decide).await;
    if matches!(decided, Ok(Ok(()))) {
        app.state::<Windows>().with(window.label(), |window| match &about {
            Some(_) => window.trust_agent = None,
            None => window.start_refused = false,
        })?;
        if decision != TrustDecision::Keep {
            app.state::<SessionRegistry>().reload(&project, about.as_ref()).await;
        }
    }
    // Also after a refusal: the files then differ from those that were shown, and the window shows the current ones.
    project::send_to_window(&app, window.label()).await;
    decided?
}

/// The files of this window's project that match the query. Another machine is asked for its own, through a session there.
#[tauri::command]
pub async fn find_files(app: AppHandle, window: WebviewWindow, query: String) -> Answer<FoundFiles> {
    let (project, files, open) = app.state::<Windows>().with(window.label(), |window| {
        (window.project.clone(), window.files.clone(), window.open_session.clone())
    })?;
    match project {
        ProjectRef::Here(folder) => files.unwrap_or_else(|| Files::of(&folder)).offered(query).await,
        ProjectRef::There(there) => {
            app.state::<SessionRegistry>().session_there(&there, open)?.query(FilesQuery { query }).await
        }
    }
}

/// Checks a file that was pasted or chosen. Returns it with the type that its bytes have, or the reason why it cannot be
/// attached to a prompt.
#[tauri::command]
pub async fn check_attachment(name: String, data: String) -> Answer<Attachment> {
    Attachment::of_base64(&name, &data)
}

/// The image on the clipboard, if the page cannot read it itself; `null` if there is none, or if the page can.
#[tauri::command]
pub async fn clipboard_image(app: AppHandle) -> Answer<Option<Attachment>> {
    clipboard::image(&app).await
}

/// The files that were copied in a file manager, as if they had been dropped; empty if there are none, or if the page can
/// read them itself.
#[tauri::command]
pub async fn clipboard_files(app: AppHandle, window: WebviewWindow) -> Answer<Vec<Dropped>> {
    let paths = clipboard::files(&app).await?;
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let folder = match taking_files(project_of(&app, &window)?) {
        Ok(folder) => folder,
        Err(refused) => return Ok(vec![refused]),
    };
    let of = folder.clone();
    Ok(disk::run(&folder, disk::DEADLINE, move || Files::dropped(&of, &paths)).await?)
}

/// Ends processes of an earlier run: only those that were shown and still exist.
#[tauri::command]
pub async fn end_orphans(app: AppHandle, pids: Vec<u32>) -> Answer<()> {
    let ended = app.state::<OrphanProcesses>().end(&pids).await;
    project::send_to_all_windows(&app).await;
    ended
}

/// Permanently stops offering to end the processes of an earlier run.
#[tauri::command]
pub async fn leave_orphans(app: AppHandle) -> Answer<()> {
    app.state::<OrphanProcesses>().leave().await;
    project::send_to_all_windows(&app).await;
    Ok(())
}

/// Maximum number of characters of a page's error in the log.
const MOST_LOGGED: usize = 4_000;

/// Writes an error of the page to the log. `Debug` keeps each error on one line.
#[tauri::command]
pub fn report_page_error(window: WebviewWindow, place: String, error: String) {
    let bounded = |text: String| text.chars().take(MOST_LOGGED).collect::<String>();
    let (place, error) = (bounded(place), bounded(error));
    tracing::error!(window = window.label(), ?place, ?error, "a part of the page failed");
}

/// Reports which permission requests of a session have a visible card in this window; they get no dialog.
///
/// Not `async`: on the main thread two calls keep their order, and the last one counts.
#[tauri::command]
pub fn cards_in_sight(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    request_ids: Vec<RequestId>,
) -> Answer<()> {
    app.state::<SessionRegistry>().session(&project_of(&app, &window)?, &session_id)?;
    let card = |request_id| DialogId { session_id: session_id.clone(), request_id };
    let cards: Vec<DialogId> = request_ids.into_iter().map(card).collect();
    let shown = app.state::<Windows>().with(window.label(), |window| window.shown_sessions())?;
    app.state::<DialogController>().view_changed(window.label(), |view| {
        // Those of a session beside this one stay in sight.
        view.cards.retain(|card| card.session_id != session_id && shown.contains(&card.session_id));
        view.cards.extend(cards);
    });
    Ok(())
}

/// Opens a link in the user's browser: only https, http and mailto.
#[tauri::command]
pub fn open_link(url: String) -> Answer<()> {
    let url = links::outward(&url)?;
    tauri_plugin_opener::open_url(url.as_str(), None::<&str>).map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The link could not be opened.".to_owned(),
        detail: Some(error.to_string()),
    })
}

/// Shows a file of this window's project in the file manager. Refuses files outside the project. The disk or the file
/// manager may be slow.
#[tauri::command]
pub async fn reveal_path(app: AppHandle, window: WebviewWindow, path: String) -> Answer<()> {
    let project = project_here(&app, &window)?;
    let of = project.clone();
    let show = move || {
        let file = links::inside(&of, &path)?;
        tauri_plugin_opener::reveal_item_in_dir(file).map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The file could not be shown.".to_owned(),
            detail: Some(error.to_string()),
        })
    };
    disk::run(&project, disk::DEADLINE, show).await?
}

/// Opens a file of this window's project in the user's editor, at a line counted from 1. Refuses files outside the project.
/// A file of another machine is opened by an editor that connects there itself.
#[tauri::command]
pub async fn open_in_editor(
    app: AppHandle,
    window: WebviewWindow,
    path: String,
    line: Option<u32>,
) -> Answer<()> {
    let project = project_of(&app, &window)?;
    let chosen = app.state::<Arc<CurrentSettings>>().get().editor;
    let line = line.filter(|&line| line > 0);
    let folder = match project {
        ProjectRef::Here(folder) => folder,
        ProjectRef::There(RemoteProject { machine, folder }) => {
            return editor::elsewhere::open(chosen, &machine, &folder, &path, line).await;
        }
    };
    let of = folder.clone();
    let file = disk::run(&folder, disk::DEADLINE, move || links::inside(&of, &path)).await??;
    editor::open(chosen, file, line).await
}

//! The app: its start, the handling of session events, and its end.

use crate::ask;
use crate::background::Background;
use crate::emit::Channels;
use crate::notify::{Bell, Ring};
use crate::opening;
use crate::start::{self, StartPage};
use crate::windows::Windows;
use crate::{
    apply_settings, board, commands, emit, keep_awake, keep_running, lifecycle, project, starting, tray,
    waiting, worktree_uses,
};
use anyhow::Context;
use deskbell_cli::args::Args;
use deskbell_cli::logs;
use deskbell_cli::signals;
use deskbell_desktop::places::{self, PlacesStore, SavedPlaces};
#[cfg(all(unix, not(target_os = "macos")))]
use deskbell_desktop::second_start::{self, SecondStart};
#[cfg(target_os = "linux")]
use deskbell_desktop::webkit;
use deskbell_desktop::{autostart, menu_bar};
use deskbell_dialogs::permission::{self, DialogController};
use deskbell_engine::api::*;
use deskbell_engine::bell::BellEvent;
use deskbell_engine::disk::{self, SetAside};
use deskbell_engine::projects::ProjectStore;
use deskbell_engine::search::Absent;
use deskbell_engine::settings::SettingsFile;
use deskbell_engine::stored::MarkStore;
use deskbell_engine::trust::TrustStore;
use deskbell_sessions::folder_watches::FolderWatches;
use deskbell_sessions::folders;
use deskbell_sessions::hidden::HiddenSessions;
use deskbell_sessions::open_questions::OpenQuestions;
use deskbell_sessions::orphans::OrphanProcesses;
use deskbell_sessions::queries::QuerySources;
use deskbell_sessions::registry::{self, SessionRegistry};
use deskbell_sessions::running_commits::RunningCommits;
use deskbell_sessions::settings::CurrentSettings;
use deskbell_sessions::trust;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tauri::{AppHandle, Manager, RunEvent};
use tokio::sync::mpsc;

/// Runs the app until its last window is closed.
pub fn run(args: Args) -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    if std::env::var_os("DISPLAY").is_none() && std::env::var_os("WAYLAND_DISPLAY").is_none() {
        anyhow::bail!("there is no display to open a window on; `deskbell relay` works without one");
    }
    #[cfg(target_os = "linux")]
    let drawing = webkit::DrawingChoice::make();
    #[cfg(all(unix, not(target_os = "macos")))]
    match tauri::async_runtime::block_on(second_start::hand_over())? {
        SecondStart::First => {}
        SecondStart::HandedOver => return Ok(()),
        SecondStart::SilentBus => {
            eprintln!(
                "deskbell: the session bus does not answer, so there are no notifications and no tray icon"
            );
            return Err(second_start::without_bus());
        }
    }
    let opened: Arc<Mutex<Option<anyhow::Result<Opened>>>> = Arc::default();
    let says_failures = args.says_failures();
    let app = tauri::Builder::default()
        .on_menu_event(|app, event| {
            if let Some((label, id)) = menu_bar::chosen(&event) {
                emit::to_window(app, label, WindowEvent::MenuChosen { id: id.to_owned() });
            }
        })
        .plugin(tauri_plugin_single_instance::init(starting::again))
        .plugin(places::plugin())
        .invoke_handler(tauri::generate_handler![
            commands::connect,
            commands::create_session,
            commands::planned_session,
            commands::other_agents::machine_agents,
            commands::other_agents::create_session_with,
            commands::other_agents::create_session_with_profile,
            commands::other_agents::review_agent_trust,
            commands::link::retry_link,
            commands::far::ssh_hosts,
            commands::far::far_folders,
            commands::far::open_far,
            commands::far::retry_far,
            commands::far::answer_connection,
            commands::start_without_asking,
            commands::remove_session,
            commands::restore_session,
            commands::stored::follow_stored,
            commands::stored::open_stored,
            commands::stored::export_session,
            commands::stored::fork_session,
            commands::stored::mark_session,
            commands::stored::open_terminal,
            commands::transcript::subscribe,
            commands::transcript::subscribe_second,
            commands::transcript::leave_second,
            commands::transcript::show_rows,
            commands::recording::record_session,
            commands::recording::stop_recording,
            commands::recording::recording_of,
            commands::recording::reveal_recording,
            commands::recording::remove_recording,
            commands::usage::usage,
            commands::usage::export_usage,
            commands::changes::revert_change,
            commands::changes::undo_revert,
            commands::rules::rule_files,
            commands::rules::saved_rules,
            commands::rules::remove_rule,
            commands::rules::restore_rule,
            commands::commit::commit_state,
            commands::commit::commit,
            commands::commit::stop_commit,
            commands::commit::undo_commit,
            commands::waiting_event,
            commands::menu::set_menu,
            commands::next_batch,
            commands::ask,
            commands::command,
            commands::set_setting,
            commands::zoom_window,
            commands::keep_panels,
            commands::show_session,
            commands::place_session,
            commands::options::set_presets,
            commands::options::change_profile,
            commands::open_settings_file,
            commands::test_bell,
            commands::quit,
            commands::decide_trust,
            commands::check_agent,
            commands::last_log_lines,
            commands::first_run::check_readiness,
            commands::first_run::open_login,
            commands::first_run::choose_agent,
            commands::report_page_error,
            commands::open_link,
            commands::reveal_path,
            commands::open_in_editor,
            commands::find_files,
            commands::check_attachment,
            commands::clipboard_files,
            commands::clipboard_image,
            commands::end_orphans,
            commands::leave_orphans,
            commands::cards_in_sight,
            commands::take_draft,
            commands::projects::set_keep_running,
            commands::projects::connect_start,
            commands::projects::recent_projects,
            commands::projects::choose_folder,
            commands::projects::open_recent,
            commands::projects::answer_folder_question,
            commands::projects::open_demo,
            commands::projects::open_start_page,
            commands::projects::pin_project,
            commands::projects::forget_project,
            commands::projects::forget_all_projects,
            commands::projects::move_project,
            commands::search::search_sessions,
            commands::search::stop_search,
            commands::search::open_found,
            commands::search::locate_item,
            commands::search::open_sender,
            commands::worktrees::worktrees,
            commands::worktrees::plan_worktree,
            commands::worktrees::add_worktree,
            commands::worktrees::open_worktree,
            commands::worktrees::review_worktree,
            commands::worktrees::remove_worktree,
            commands::board::open_board,
            commands::board::show_waiting,
            commands::board::connect_board,
            commands::board::open_board_session,
            commands::board::stop_board_sessions,
            commands::board::answer_board_request,
            commands::board::clear_board_rows,
            commands::board::restore_board_rows,
            commands::board::machine_sessions,
            commands::board::open_machine_session,
            commands::board::stop_machine,
        ])
        .setup({
            let opened = opened.clone();
            move |app| {
                let opened = opened.lock().unwrap_or_else(PoisonError::into_inner).take();
                // An error that is returned from here ends the app with a panic.
                let set_up = opened
                    .context("nothing was opened")
                    .flatten()
                    .and_then(|opened| setup(app.handle(), args, opened));
                if let Err(error) = set_up {
                    eprintln!("deskbell: {error:#}");
                    if says_failures {
                        deskbell_dialogs::say_failure("Deskbell could not start", &format!("{error:#}"));
                    }
                    app.handle().exit(1);
                }
                Ok(())
            }
        })
        .build(context())
        .context("starting the app")?;
    #[cfg(target_os = "linux")]
    drawing.apply();
    // Not earlier: a second start has handed over to the first by now, and changes nothing.
    let data = folders::data();
    let (reading, handle) = (data.clone(), app.handle().clone());
    let read = disk::run(&data, disk::DEADLINE, move || Opened::read(&handle, reading));
    let read = tauri::async_runtime::block_on(read).context("opening Deskbell's folder").flatten();
    *opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
    app.run(|app, event| {
        let (Some(bell), Some(registry)) = (app.try_state::<Bell>(), app.try_state::<SessionRegistry>())
        else {
            return;
        };
        match event {
            RunEvent::Exit => {
                // Every exit path passes through here, so that no agent outlives the app.
                bell.end();
                tauri::async_runtime::block_on(registry.end());
                tauri::async_runtime::block_on(registry.connections().close());
                logs::end();
            }
            // Its last window is gone, or the desktop asks it to quit. A code means that the app itself ends.
            RunEvent::ExitRequested { code: None, api, .. } => {
                if lifecycle::goes_on(app) {
                    api.prevent_exit();
                    tauri::async_runtime::spawn(lifecycle::end_when_idle(app.clone()));
                } else if cfg!(target_os = "macos")
                    && let Some((_, window)) = app.webview_windows().into_iter().next()
                {
                    // The menu's Quit. Elsewhere the last window is gone.
                    api.prevent_exit();
                    let app = app.clone();
                    tauri::async_runtime::spawn(async move {
                        if let Err(error) = lifecycle::quit(&app, &window).await {
                            tracing::warn!(error = format!("{error:#}"), "could not ask before quitting");
                            lifecycle::end(&app).await;
                        }
                    });
                }
            }
            _ => {}
        }
    });
    Ok(())
}

/// The data that is compiled into the app: its pages, its policies, its icon.
fn context() -> tauri::Context {
    #[allow(unused_mut, reason = "only a debug build changes it")]
    let mut context = tauri::generate_context!();
    // The tests of hostile output also run without the policy, to prove that the output is safe without it. It is
    // switched off at run time, because a separate build would not be the app under test; and only in debug builds, so
    // that it cannot ship.
    #[cfg(debug_assertions)]
    if std::env::var_os("DESKBELL_TEST_NO_CSP").is_some_and(|value| value == "1") {
        context.config_mut().app.security.csp = None;
    }
    context
}

/// The files of the app's folder that are read before a window opens. Read off the main thread, with a deadline.
struct Opened {
    data: PathBuf,
    places: SavedPlaces,
    settings: CurrentSettings,
    decisions: TrustStore,
    orphans: OrphanProcesses,
    hidden: HiddenSessions,
    files: registry::Files,
    /// A file in place of the list of projects that could not be read.
    unread_projects: Option<SetAside>,
}

impl Opened {
    fn read(app: &AppHandle, data: PathBuf) -> anyhow::Result<Self> {
        disk::own_folder(&data)
            .with_context(|| format!("the app's folder {} could not be made", data.display()))?;
        let places = SavedPlaces::read(app, &data)?;
        let file = SettingsFile::new(&folders::config());
        let read = file.read(&Settings::default());
        let settings = CurrentSettings::new(file, read);
        let decisions = trust::open_store(&data).context("opening the folder of trust decisions")?;
        let orphans = OrphanProcesses::open(&data).context("opening the folder of runs")?;
        let hidden = HiddenSessions::open(&data);
        let files = registry::Files::read(&data)?;
        let unread_projects = places.list_projects(&data).context("opening the list of projects")?;
        Ok(Self { data, places, settings, decisions, orphans, hidden, files, unread_projects })
    }

    fn unread_files(&self) -> Vec<UnreadFile> {
        let unread = |kind| {
            move |aside: &SetAside| UnreadFile {
                kind,
                path: aside.path.display().to_string(),
                problem: aside.problem.clone(),
                moved_to: aside.moved_to.as_ref().ok().map(|path| path.display().to_string()),
            }
        };
        let places = self.places.unread.iter().map(unread(UnreadKind::Places));
        let projects = self.unread_projects.iter().map(unread(UnreadKind::Projects));
        let sessions = self.files.sessions.set_aside.iter().map(unread(UnreadKind::Session));
        places.chain(projects).chain(sessions).collect()
    }
}

fn setup(app: &AppHandle, args: Args, opened: Opened) -> anyhow::Result<()> {
    let unread_files = opened.unread_files();
    let Opened { data, places, settings, decisions, orphans, hidden, files, unread_projects: _ } = opened;
    let settings = Arc::new(settings);
    let data_folder = data.clone();
    let kept = PlacesStore::new(data.clone(), places);
    let (gate, refused) = trust::TrustGate::new(decisions);
    let (watches, changes) = FolderWatches::new();
    let (registry, told) = tauri::async_runtime::block_on(SessionRegistry::open(
        data,
        files,
        settings.clone(),
        gate,
        keep_running::SERVER,
    ))?;
    let asking = DialogController::new(permission::native(app), {
        let app = app.clone();
        move |outcome| ask::carry_out(&app, outcome)
    });
    // The state that lives as long as the app, each part by its type. All of it is there before a window opens.
    app.manage(Windows::default());
    app.manage(Channels::default());
    app.manage(QuerySources::default());
    app.manage(OpenQuestions::default());
    app.manage(RunningCommits::default());
    app.manage(kept);
    app.manage(settings);
    app.manage(project::UnreadFiles(unread_files));
    app.manage(asking);
    app.manage(Bell::new(app, reopen));
    app.manage(Background::default());
    app.manage(board::BoardPage::open(&data_folder));
    app.manage(menu_bar::MenuBar::default());
    app.manage(worktree_uses::ListedWorktrees::default());
    app.manage(waiting::WaitingLists::default());
    app.manage(Arc::<Absent>::default());
    app.manage(orphans);
    app.manage(hidden);
    app.manage(MarkStore::new(&data_folder));
    app.manage(Arc::new(watches));
    app.manage(registry);
    app.manage(StartPage::new(ProjectStore::new(&data_folder)));
    let (folders, dropped) = lifecycle::FoldersToOpen::new();
    app.manage(folders);
    keep_awake::begin(app);
    starting::is_ready();
    lifecycle::apply_theme(app);
    logs::set_level(app.state::<Arc<CurrentSettings>>().get().log);
    tauri::async_runtime::spawn(listen(app.clone(), told, args.prompt.is_some()));
    tauri::async_runtime::spawn(keep_running::follow(app.clone()));
    tauri::async_runtime::spawn(project::ask_trust(app.clone(), refused));
    tauri::async_runtime::spawn(project::follow(app.clone(), changes));
    tauri::async_runtime::spawn(project::look_for_orphans(app.clone()));
    tauri::async_runtime::spawn(project::ask_login_shell(app.clone()));
    tauri::async_runtime::spawn(apply_settings::follow(app.clone()));
    tauri::async_runtime::spawn(tray::follow(app.clone()));
    #[cfg(windows)]
    tauri::async_runtime::spawn(start::follow_jump_list(app.clone()));
    let (starting, is_wanted) = (app.clone(), app.state::<Arc<CurrentSettings>>().get().autostart);
    tauri::async_runtime::spawn(async move {
        apply_settings::start_at_login(&starting, is_wanted, autostart::When::AtStart).await;
    });
    tauri::async_runtime::spawn(opening::open_dropped(app.clone(), dropped));
    tauri::async_runtime::spawn(folders::remove_leftovers(data_folder));
    #[cfg(target_os = "linux")]
    if let Some(screen) = gtk::gdk::Screen::default() {
        let moved = app.clone();
        screen.connect_monitors_changed(move |_| lifecycle::bring_back_on_screen(&moved));
    }
    let ending = app.clone();
    tauri::async_runtime::spawn(async move {
        signals::received().await;
        lifecycle::end(&ending).await;
    });
    starting::open_windows(app, args)
}

/// Opens the window of a project that works in the background.
fn reopen(app: &AppHandle, project: &ProjectRef, session_id: Option<SessionId>) {
    let (app, project) = (app.clone(), project.clone());
    tauri::async_runtime::spawn(async move {
        let known = app.state::<Background>().all().into_iter().find(|(known, _)| *known == project);
        let demo = known.is_some_and(|(_, demo)| demo);
        let opened = lifecycle::open(&app, &project, demo).and_then(|label| {
            let windows = app.state::<Windows>();
            // The page reads it when it connects.
            Ok(windows
                .with(&label, |window| window.open_session = session_id.or(window.open_session.take()))?)
        });
        if let Err(error) = opened {
            tracing::error!(error = format!("{error:#}"), "could not open a window again");
        }
    });
}

/// Receives the events of all sessions, and updates the lists, the dialogs and the notifications.
/// `reports_demo` reports the progress of the demo on stdout: `cargo xtask run` waits for it where there is no display.
async fn listen(app: AppHandle, mut told: mpsc::UnboundedReceiver<Envelope>, reports_demo: bool) {
    while let Some(Envelope { session_id, event, .. }) = told.recv().await {
        let (registry, notices) = (app.state::<SessionRegistry>(), app.state::<Bell>());
        let asking = app.state::<DialogController>();
        registry.learn(&session_id, &event);
        let Some((project, session)) = registry.known(&session_id) else {
            // The user removed it. The requests that it withdraws as it ends still have dialogs and notifications.
            if let Event::PermissionResolved { request_id, .. } = event {
                asking.resolved(&session_id, &request_id);
                notices.quiet(&session_id);
                notices.settle(&app);
            }
            waiting::sessions_changed(&app);
            keep_awake::sessions_changed(&app);
            continue;
        };
        match event {
            Event::SessionChanged { .. } => {
                // A session waits until here: the answer to its request was reported before.
                notices.settle(&app);
                start::sessions_changed(&app);
                board::session_changed(&app, &project, &session);
                worktree_uses::changed(&app);
                waiting::sessions_changed(&app);
                keep_awake::sessions_changed(&app);
                for label in app.state::<Windows>().labels_of(&project) {
                    lifecycle::retitle(&app, &label, &project);
                    let session = Box::new(session.clone());
                    emit::to_window(&app, &label, WindowEvent::SessionListed { session });
                }
            }
            Event::PermissionRequested { request, .. } => {
                if reports_demo {
                    println!("deskbell: demo: permission waits");
                }
                let words = BellEvent::words_of_request(&request);
                let (event, request_of) = (BellEvent::NeedsYou, Some(&*request));
                let ring = Ring { event, project: &project, session: &session, words, request: request_of };
                notices.ring(&app, ring);
                ask::ask(&app, &project, &session, *request);
            }
            Event::PermissionResolved { request_id, .. } => {
                asking.resolved(&session_id, &request_id);
                notices.quiet(&session_id);
            }
            Event::TurnEnded { turn } => {
                if let Some(folder) = project.here() {
                    app.state::<Arc<FolderWatches>>().look(folder);
                }
                if reports_demo {
                    println!("deskbell: demo: turn ended");
                }
                board::turn_ended(&app, &session.id, &turn);
                match turn.status().and_then(|status| status.state()) {
                    Some(BoardState::Finished) => {
                        generate_title(&app, &project, &session);
                        let app = app.clone();
                        tauri::async_runtime::spawn(async move {
                            ring_finished(&app, &project, &session, turn.words).await;
                        });
                    }
                    Some(BoardState::Failed) => ring_failed(&app, &project, &session, turn.words),
                    Some(BoardState::NeedsInput | BoardState::Working) | None => {}
                }
            }
            // During a turn, the end of the turn reports it.
            Event::AgentExited { report } if !report.expected && session.turn_started_at.is_none() => {
                ring_failed(&app, &project, &session, "The agent stopped unexpectedly".to_owned());
            }
            _ => {}
        }
    }
}

/// Asks the agent for a title of a session that only its first prompt has named, if the user wants titles. The session
/// says no longer that it has none once it was asked.
fn generate_title(app: &AppHandle, project: &ProjectRef, session: &Session) {
    let is_wanted = app.state::<Arc<CurrentSettings>>().get().agent.generate_titles;
    if !is_wanted || !session.has_prompt_title || session.agent == AgentKind::Acp {
        return;
    }
    // It was removed meanwhile.
    let Ok(handle) = app.state::<SessionRegistry>().session(project, &session.id) else { return };
    tauri::async_runtime::spawn(async move {
        if let Err(error) = handle.command(Command::GenerateTitle).await {
            tracing::warn!(%error, "no title was asked for");
        }
    });
}

/// Calls the user with the first line of the answer, or with the outcome if there is none.
async fn ring_finished(app: &AppHandle, project: &ProjectRef, session: &Session, outcome: String) {
    let answer = match app.state::<SessionRegistry>().session(project, &session.id) {
        Ok(handle) => handle.query(LastAnswerQuery {}).await.ok().flatten(),
        // It was removed meanwhile.
        Err(_) => return,
    };
    let words = answer.as_deref().and_then(BellEvent::words_of_answer);
    if let Some(words) = &words {
        board::answered(app, &session.id, words);
    }
    let words = words.unwrap_or(outcome);
    app.state::<Bell>()
        .ring(app, Ring { event: BellEvent::Finished, project, session, words, request: None });
}

fn ring_failed(app: &AppHandle, project: &ProjectRef, session: &Session, words: String) {
    app.state::<Bell>().ring(app, Ring { event: BellEvent::Failed, project, session, words, request: None });
}

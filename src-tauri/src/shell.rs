//! The app: its start, the handling of session events, and its end.

use crate::args::{self, Args, Mode};
use crate::ask::{self, DialogController};
use crate::emit::Channels;
use crate::notify::Bell;
use crate::orphans::OrphanProcesses;
use crate::preferences::{PreferencesStore, Settings};
use crate::registry::{self, SessionRegistry};
use crate::watch::FolderWatches;
use crate::windows::{self, Windows};
use crate::{commands, emit, lifecycle, project, relay, trust};
use anyhow::Context;
use deskbell_engine::api::*;
use deskbell_engine::disk::{self, SetAside};
use deskbell_engine::permission::DialogRequest;
use deskbell_engine::trust::TrustStore;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tauri::{AppHandle, Manager, RunEvent, Wry};
use tokio::sync::{Semaphore, mpsc};

/// Runs the app until its last window is closed.
pub fn run(args: Args) -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    if std::env::var_os("DISPLAY").is_none() && std::env::var_os("WAYLAND_DISPLAY").is_none() {
        anyhow::bail!("there is no display to open a window on; `deskbell relay` works without one");
    }
    let opened: Arc<Mutex<Option<Opened>>> = Arc::default();
    let app = tauri::Builder::default()
        .plugin(tauri_plugin_single_instance::init(second_start))
        .plugin(tauri_plugin_store::Builder::default().build())
        .invoke_handler(tauri::generate_handler![
            commands::connect,
            commands::create_session,
            commands::start_without_asking,
            commands::remove_session,
            commands::transcript::subscribe,
            commands::transcript::show_rows,
            commands::transcript::show_earlier,
            commands::transcript::find_words,
            commands::transcript::copy_text,
            commands::transcript::output_lines,
            commands::transcript::item_part,
            commands::waiting_event,
            commands::acknowledge,
            commands::command,
            commands::set_preferences,
            commands::decide_trust,
            commands::check_agent,
            commands::report_page_error,
            commands::open_link,
            commands::reveal_path,
            commands::find_files,
            commands::check_image,
            commands::clipboard_image,
            commands::end_orphans,
            commands::leave_orphans,
            commands::cards_in_sight,
        ])
        .setup({
            let opened = opened.clone();
            move |app| {
                let opened = opened.lock().unwrap_or_else(PoisonError::into_inner).take();
                // An error that is returned from here ends the app with a panic.
                let set_up =
                    opened.context("nothing was opened").and_then(|opened| setup(app.handle(), args, opened));
                if let Err(error) = set_up {
                    eprintln!("deskbell: {error:#}");
                    app.handle().exit(1);
                }
                Ok(())
            }
        })
        .build(context())
        .context("starting the app")?;
    // Not earlier: a second start has handed over to the first by now, and changes nothing.
    let data = registry::data_folder();
    let reading = data.clone();
    let read = disk::run(&data, disk::DEADLINE, move || Opened::read(reading));
    let read = tauri::async_runtime::block_on(read).context("opening Deskbell's folder")??;
    *opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
    app.run(|app, event| {
        if let RunEvent::Exit = event
            && let (Some(bell), Some(registry)) =
                (app.try_state::<Bell>(), app.try_state::<SessionRegistry>())
        {
            // Every exit path passes through here, so that no agent outlives the app.
            bell.end();
            tauri::async_runtime::block_on(registry.end());
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
    settings: Settings,
    decisions: TrustStore,
    orphans: OrphanProcesses,
    files: registry::Files,
}

impl Opened {
    fn read(data: PathBuf) -> anyhow::Result<Self> {
        std::fs::create_dir_all(&data).with_context(|| format!("making the folder {}", data.display()))?;
        let settings = Settings::read(&data);
        let decisions = trust::open_store(&data).context("opening the folder of trust decisions")?;
        let orphans = OrphanProcesses::open(&data).context("opening the folder of runs")?;
        let files = registry::Files::read(&data)?;
        Ok(Self { data, settings, decisions, orphans, files })
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
        let settings = self.settings.unread.iter().map(unread(UnreadKind::Preferences));
        settings.chain(self.files.sessions.set_aside.iter().map(unread(UnreadKind::Session))).collect()
    }
}

fn setup(app: &AppHandle, args: Args, opened: Opened) -> anyhow::Result<()> {
    let unread_files = opened.unread_files();
    let Opened { data, settings, decisions, orphans, files } = opened;
    let kept = PreferencesStore::open(app, data.clone(), settings).context("opening the preferences")?;
    let (gate, refused) = trust::TrustGate::new(decisions);
    let (watches, changes) = FolderWatches::new();
    let (registry, told) =
        tauri::async_runtime::block_on(SessionRegistry::open(data, files, kept.current.clone(), gate))?;
    let asking = DialogController::new(ask::native(app), {
        let app = app.clone();
        move |outcome| ask::carry_out(&app, outcome)
    });
    // The state that lives as long as the app, each part by its type. All of it is there before a window opens.
    app.manage(Windows::default());
    app.manage(Channels::default());
    app.manage(kept);
    app.manage(project::UnreadFiles(unread_files));
    app.manage(asking);
    app.manage(Bell::default());
    app.manage(orphans);
    app.manage(Arc::new(watches));
    app.manage(registry);
    IS_OPEN.add_permits(1);
    lifecycle::apply_theme(app);
    tauri::async_runtime::spawn(listen(app.clone(), told, args.prompt.is_some()));
    tauri::async_runtime::spawn(project::ask_trust(app.clone(), refused));
    tauri::async_runtime::spawn(project::follow(app.clone(), changes));
    tauri::async_runtime::spawn(project::look_for_orphans(app.clone()));
    let ending = app.clone();
    tauri::async_runtime::spawn(async move {
        relay::ended_by_signal().await;
        lifecycle::remember_all(&ending).await;
        ending.state::<SessionRegistry>().close(None).await;
        ending.exit(0);
    });
    open_windows(app, args)
}

/// Opens the remembered windows, and the requested one.
fn open_windows(app: &AppHandle, args: Args) -> anyhow::Result<()> {
    for known in
        app.state::<PreferencesStore<Wry>>().windows().into_iter().rev().filter(|known| !known.closed)
    {
        lifecycle::open(app, &known.project, known.demo)?;
    }
    let nothing_open = app.state::<Windows>().len() == 0;
    match args.folder {
        Some(folder) => show(app, folder, args.demo, args.prompt),
        None if nothing_open || args.demo || args.prompt.is_some() => {
            let folder = std::env::current_dir().context("finding the current folder")?;
            let place = folder.clone();
            let real = disk::run(&place, disk::DEADLINE, move || dunce::canonicalize(folder));
            show(app, tauri::async_runtime::block_on(real)??, args.demo, args.prompt)
        }
        None => Ok(()),
    }
}

/// Opens a project's window, and sends the first prompt if there is one.
fn show(app: &AppHandle, folder: PathBuf, demo: bool, prompt: Option<String>) -> anyhow::Result<()> {
    let demo = demo || std::env::var_os("DESKBELL_AGENT").is_some_and(|agent| agent == "demo");
    let label = lifecycle::open(app, &folder, demo)?;
    let Some(text) = prompt else { return Ok(()) };
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        if let Err(error) = first_prompt(&app, &label, &folder, demo, text).await {
            tracing::error!(%error, "could not send the first prompt");
            eprintln!("deskbell: {error}");
        }
    });
    Ok(())
}

async fn first_prompt(
    app: &AppHandle,
    label: &str,
    folder: &Path,
    demo: bool,
    text: String,
) -> Result<(), CommandError> {
    let registry = app.state::<SessionRegistry>();
    let agent = if demo { AgentKind::Demo } else { AgentKind::Claude };
    // The prompt starts it. If no agent may start here yet, the prompt stays with the session.
    let session = registry.begin(folder, agent, false).await?;
    app.state::<Windows>().with(label, |window| window.open_session = Some(session.id.clone()))?;
    // A window that was already open does not know it yet.
    emit::to_window(app, label, WindowEvent::SessionListed { session: Box::new(session.clone()) });
    emit::to_window(app, label, WindowEvent::Show { session_id: session.id.clone(), request_id: None });
    let prompt = Command::Prompt { text, images: Vec::new(), delivery: Delivery::AfterTurn };
    registry.command(folder, &session.id, prompt).await
}

/// Gets a permit once the state of the app is there. A second start may come earlier.
static IS_OPEN: Semaphore = Semaphore::const_new(0);

/// A second start of the app passes its arguments to this one and exits.
fn second_start(app: &AppHandle, argv: Vec<String>, cwd: String) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        if let Err(error) = open_second(&app, argv, cwd).await {
            tracing::error!(
                error = format!("{error:#}"),
                "could not open the window that a second start requested"
            );
        }
    });
}

async fn open_second(app: &AppHandle, argv: Vec<String>, cwd: String) -> anyhow::Result<()> {
    let _is_open = IS_OPEN.acquire().await?;
    let place = PathBuf::from(&cwd);
    let asked = disk::run(&place, disk::DEADLINE, move || {
        let argv: Vec<_> = argv.into_iter().skip(1).map(Into::into).collect();
        match args::parse(&argv, Path::new(&cwd)) {
            Ok(Mode::Window(mut args)) => {
                let folder = args.folder.take().map_or_else(|| dunce::canonicalize(&cwd), Ok)?;
                anyhow::Ok(Some((folder, args)))
            }
            // The second start has printed the result itself.
            Ok(_) | Err(_) => Ok(None),
        }
    });
    match asked.await?? {
        Some((folder, args)) => show(app, folder, args.demo, args.prompt),
        None => Ok(()),
    }
}

/// Receives the events of all sessions, and updates the lists, the dialogs and the notifications.
/// `tells_demo` reports the progress of the demo on stdout: `cargo xtask run` waits for it where there is no display.
async fn listen(app: AppHandle, mut told: mpsc::UnboundedReceiver<Envelope>, tells_demo: bool) {
    while let Some(Envelope { session_id, event, .. }) = told.recv().await {
        let (registry, bell) = (app.state::<SessionRegistry>(), app.state::<Bell>());
        let asking = app.state::<DialogController>();
        let Some((project, session)) = registry.known(&session_id) else { continue };
        let label = app.state::<Windows>().label_of(&project);
        match event {
            Event::SessionChanged { session } => {
                registry.learn(&session);
                let Some(label) = label else { continue };
                lifecycle::retitle(&app, &label, &project);
                emit::to_window(&app, &label, WindowEvent::SessionListed { session });
            }
            Event::PermissionRequested { request } => {
                if tells_demo {
                    println!("deskbell: demo: permission waits");
                }
                let words = deskbell_engine::permission::wants(&request);
                bell.ring(&app, &project, &session, &words, Some(request.id.clone()));
                if let Some(label) = label
                    && app.state::<PreferencesStore<Wry>>().current.get().ask_by == AskBy::DialogAndCard
                    && let Some(ask) = DialogRequest::of(&windows::name_of(&project), &session, *request)
                {
                    asking.ask(&label, ask);
                }
            }
            Event::PermissionResolved { request_id, .. } => {
                asking.resolved(&session_id, &request_id);
                bell.quiet(&session_id);
            }
            Event::TurnEnded { turn } => {
                app.state::<Arc<FolderWatches>>().look(&project);
                if tells_demo {
                    println!("deskbell: demo: turn ended");
                }
                if !matches!(turn.outcome, Outcome::Interrupted | Outcome::Unavailable) {
                    bell.ring(&app, &project, &session, &turn.words, None);
                }
            }
            // During a turn, the end of the turn reports it.
            Event::AgentExited { report } if !report.expected && session.turn_started_at.is_none() => {
                bell.ring(&app, &project, &session, "The agent stopped unexpectedly", None);
            }
            _ => {}
        }
    }
}

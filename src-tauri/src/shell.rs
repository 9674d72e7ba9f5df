//! The app itself: its start, what the sessions tell it, its end.

use crate::args::{self, Args, Mode};
use crate::ask::{self, Asking};
use crate::desk::{self, Desk};
use crate::notify::Bell;
use crate::preferences::Kept;
use crate::survivors::{self, Survivors};
use crate::windows::{self, Windows};
use crate::{commands, project, relay, tell, trust};
use anyhow::Context;
use deskbell_engine::api::*;
use deskbell_engine::permission::Ask;
use std::path::{Path, PathBuf};
use tauri::{AppHandle, Manager, RunEvent, Wry};
use tokio::sync::mpsc;

/// Everything that lives as long as the app.
pub struct Shell {
    pub windows: Windows,
    pub kept: Kept<Wry>,
    pub asking: Asking,
    pub bell: Bell,
    pub survivors: Survivors,
    desk: Desk,
    /// Tell on stdout how the demo goes: `cargo xtask run` waits for it where there is no display.
    tells_demo: bool,
}

impl Shell {
    pub fn desk(&self) -> &Desk {
        &self.desk
    }
}

/// Runs the app until its last window is closed.
pub fn run(args: Args) -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    if std::env::var_os("DISPLAY").is_none() && std::env::var_os("WAYLAND_DISPLAY").is_none() {
        anyhow::bail!("there is no display to open a window on; `deskbell relay` works without one");
    }
    let app = tauri::Builder::default()
        .plugin(tauri_plugin_single_instance::init(second_start))
        .plugin(tauri_plugin_store::Builder::default().build())
        .invoke_handler(tauri::generate_handler![
            commands::hello,
            commands::create_session,
            commands::start_without_asking,
            commands::remove_session,
            commands::transcript::snapshot,
            commands::transcript::show_rows,
            commands::transcript::show_earlier,
            commands::transcript::find_words,
            commands::transcript::text_of,
            commands::transcript::output_lines,
            commands::transcript::item_part,
            commands::waiting_event,
            commands::acknowledge,
            commands::command,
            commands::set_preferences,
            commands::decide_trust,
            commands::check_agent,
            commands::open_link,
            commands::reveal_path,
            commands::find_files,
            commands::check_image,
            commands::end_survivors,
            commands::leave_survivors,
        ])
        .setup(move |app| Ok(setup(app.handle(), args)?))
        .build(context())
        .context("starting the app")?;
    app.run(|app, event| {
        if let RunEvent::Exit = event
            && let Some(shell) = app.try_state::<Shell>()
        {
            // Every way out leads through here, and no agent outlives it.
            tauri::async_runtime::block_on(shell.desk.end());
        }
    });
    Ok(())
}

/// What is compiled into the app: its pages, its policies, its icon.
fn context() -> tauri::Context {
    #[allow(unused_mut, reason = "only a debug build changes it")]
    let mut context = tauri::generate_context!();
    // The tests of hostile output also run without the policy, to see that nothing but it holds. At run time, since a build
    // of its own would be of another app than the one that is tested; in debug builds alone, so that it cannot ship.
    #[cfg(debug_assertions)]
    if std::env::var_os("DESKBELL_TEST_NO_CSP").is_some_and(|value| value == "1") {
        context.config_mut().app.security.csp = None;
    }
    context
}

fn setup(app: &AppHandle, args: Args) -> anyhow::Result<()> {
    let data = desk::data_folder();
    std::fs::create_dir_all(&data).with_context(|| format!("making the folder {}", data.display()))?;
    let kept = Kept::open(app, &data).context("opening the preferences")?;
    let store = trust::open_store(&data).context("opening the folder of trust decisions")?;
    let (gate, refused) = trust::Gate::new(store);
    let survivors = Survivors::open(&data).context("opening the folder of runs")?;
    let (desk, told) = tauri::async_runtime::block_on(Desk::open(data, kept.preferred.clone(), gate))?;
    app.manage(Shell {
        windows: Windows::default(),
        kept,
        asking: Asking::new(ask::native(app), {
            let app = app.clone();
            move |outcome| ask::carry_out(&app, outcome)
        }),
        bell: Bell::default(),
        survivors,
        desk,
        tells_demo: args.prompt.is_some(),
    });
    apply_theme(app);
    tauri::async_runtime::spawn(listen(app.clone(), told));
    tauri::async_runtime::spawn(ask_trust(app.clone(), refused));
    tauri::async_runtime::spawn(survivors::look(app.clone()));
    let ending = app.clone();
    tauri::async_runtime::spawn(async move {
        relay::ended_by_signal().await;
        windows::remember_all(&ending);
        ending.state::<Shell>().desk.close(None).await;
        ending.exit(0);
    });
    open_windows(app, args)
}

/// The windows that were open, and the one that was asked for.
fn open_windows(app: &AppHandle, args: Args) -> anyhow::Result<()> {
    let shell = app.state::<Shell>();
    for known in shell.kept.windows().into_iter().rev().filter(|known| !known.closed) {
        windows::open(app, &known.project, known.demo)?;
    }
    let nothing_open = shell.windows.is_empty();
    match args.folder {
        Some(folder) => show(app, folder, args.demo, args.prompt),
        None if nothing_open || args.demo || args.prompt.is_some() => {
            let folder = std::env::current_dir().context("finding the current folder")?;
            show(app, dunce::canonicalize(folder)?, args.demo, args.prompt)
        }
        None => Ok(()),
    }
}

/// Opens a project's window, with a first prompt if one was given.
fn show(app: &AppHandle, folder: PathBuf, demo: bool, prompt: Option<String>) -> anyhow::Result<()> {
    let demo = demo || std::env::var_os("DESKBELL_AGENT").is_some_and(|agent| agent == "demo");
    let label = windows::open(app, &folder, demo)?;
    let Some(text) = prompt else { return Ok(()) };
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        if let Err(error) = first_prompt(&app, &label, &folder, demo, text).await {
            tracing::error!(%error, "the first prompt could not be sent");
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
    let shell = app.state::<Shell>();
    let agent = if demo { AgentKind::Demo } else { AgentKind::Claude };
    // The prompt starts it. If nothing may start here yet, the prompt is kept with the session.
    let session = shell.desk.add_new(folder, agent).await?;
    shell.windows.with(label, |window| window.open_session = Some(session.id.clone()))?;
    // A window that is there already has not heard of it.
    tell::tell(app, label, WindowEvent::SessionListed { session: Box::new(session.clone()) });
    tell::tell(app, label, WindowEvent::Show { session_id: session.id.clone(), request_id: None });
    let prompt = Command::Prompt { text, images: Vec::new(), delivery: Delivery::AfterTurn };
    shell.desk.command(folder, &session.id, prompt).await
}

/// Another start of the app hands over what it was asked for, and ends.
fn second_start(app: &AppHandle, argv: Vec<String>, cwd: String) {
    let argv: Vec<_> = argv.into_iter().skip(1).map(Into::into).collect();
    let opened = match args::parse(&argv, Path::new(&cwd)) {
        Ok(Mode::Window(args)) => {
            let folder = args.folder.map_or_else(|| dunce::canonicalize(&cwd), Ok);
            folder.map_err(Into::into).and_then(|folder| show(app, folder, args.demo, args.prompt))
        }
        // The second start has said so itself.
        Ok(_) | Err(_) => Ok(()),
    };
    if let Err(error) = opened {
        tracing::error!(%error, "what a second start asked for could not be opened");
    }
}

/// All windows follow the preference.
pub fn apply_theme(app: &AppHandle) {
    let theme = match app.state::<Shell>().kept.preferred.get().theme {
        Theme::System => None,
        Theme::Light => Some(tauri::Theme::Light),
        Theme::Dark => Some(tauri::Theme::Dark),
    };
    app.set_theme(theme);
}

/// Where a start was refused, the window asks whether the folder is trusted.
async fn ask_trust(app: AppHandle, mut refused: mpsc::UnboundedReceiver<PathBuf>) {
    while let Some(folder) = refused.recv().await {
        let shell = app.state::<Shell>();
        let Some(label) = shell.windows.label_of(&folder) else { continue };
        if shell.windows.with(&label, |window| window.asks_trust = true).is_ok() {
            project::tell(&app, &label);
        }
    }
}

/// What the sessions tell, one by one: to the lists, the dialogs and the bell.
async fn listen(app: AppHandle, mut told: mpsc::UnboundedReceiver<Envelope>) {
    while let Some(Envelope { session_id, event, .. }) = told.recv().await {
        let shell = app.state::<Shell>();
        let Some((project, session)) = shell.desk.known(&session_id) else { continue };
        let label = shell.windows.label_of(&project);
        match event {
            Event::SessionChanged { session } => {
                shell.desk.learn(&session);
                let Some(label) = label else { continue };
                windows::retitle(&app, &label, &project, &shell.desk.sessions(&project));
                tell::tell(&app, &label, WindowEvent::SessionListed { session });
            }
            Event::PermissionRequested { request } => {
                if shell.tells_demo {
                    println!("deskbell: demo: permission waits");
                }
                let words = deskbell_engine::permission::wants(&request);
                shell.bell.ring(&app, &project, &session, &words, Some(request.id.clone()));
                if let Some(label) = label
                    && shell.kept.preferred.get().ask_by == AskBy::DialogAndCard
                    && let Some(ask) = Ask::of(&windows::name_of(&project), &session, *request)
                {
                    shell.asking.ask(&label, ask);
                }
            }
            Event::PermissionResolved { request_id, .. } => {
                shell.asking.resolved(&session_id, &request_id);
                shell.bell.quiet(&session_id);
            }
            Event::TurnEnded { turn } => {
                if shell.tells_demo {
                    println!("deskbell: demo: turn ended");
                }
                if turn.outcome != Outcome::Interrupted {
                    shell.bell.ring(&app, &project, &session, &turn.words, None);
                }
            }
            // In a turn, the turn's end says it.
            Event::AgentExited { report } if !report.expected && session.turn_started_at.is_none() => {
                shell.bell.ring(&app, &project, &session, "The agent ended", None);
            }
            _ => {}
        }
    }
}

//! Opening what the arguments of a start name: of the first start, or of a second one that passes them on.

use crate::background::Background;
use crate::opening::{self, Confirmed};
use crate::windows::Windows;
use crate::{emit, lifecycle, project, showing, start};
use anyhow::Context;
use deskbell_cli::args::{self, Args, Mode, Problem};
use deskbell_desktop::places::PlacesStore;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::projects::ProjectStore;
use deskbell_sessions::registry::SessionRegistry;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tauri::{AppHandle, Manager};
use tokio::sync::Semaphore;

/// The windows of the last run are open, or were opened.
static IS_RESTORED: AtomicBool = AtomicBool::new(false);

/// Opens the remembered windows, and the requested one. A start at login opens none; the next start opens them.
pub fn open_windows(app: &AppHandle, args: Args) -> anyhow::Result<()> {
    if args.hidden {
        return Ok(());
    }
    restore(app)?;
    let asks_nothing = args.folder.is_none() && !args.demo && args.prompt.is_none();
    if asks_nothing && app.state::<Windows>().len() > 0 {
        return Ok(());
    }
    let cwd = std::env::current_dir().context("finding the current folder")?;
    tauri::async_runtime::block_on(open_requested(app, args, &cwd, Prompt::Send))
}

/// Opens the windows of the last run, once.
fn restore(app: &AppHandle) -> anyhow::Result<()> {
    if IS_RESTORED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    for known in app.state::<PlacesStore>().windows().into_iter().rev().filter(|known| !known.closed) {
        match &known.own_session {
            Some(id) => lifecycle::own::open_own(app, &known.project, known.demo, id)?,
            None => lifecycle::open(app, &known.project, known.demo)?,
        };
    }
    Ok(())
}

/// What becomes of the prompt that the arguments name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prompt {
    Send,
    /// The user sees it as a draft and may send it.
    Draft,
}

/// Opens what the arguments request: a project's window, with the first prompt if there is one, or the start page.
async fn open_requested(app: &AppHandle, args: Args, cwd: &Path, prompt: Prompt) -> anyhow::Result<()> {
    let demo = args.demo || std::env::var_os("DESKBELL_AGENT").is_some_and(|agent| agent == "demo");
    if let (Some(folder), Some(id)) = (&args.folder, &args.session) {
        return match show_linked(app, folder, &SessionId::new(id.as_str())).await {
            Ok(()) => Ok(()),
            Err(problem) => start::show_problem(app, problem).await,
        };
    }
    let opened = match folder_of(&args, cwd).await? {
        Some(folder) => opening::open(app, &folder, demo, Confirmed::No).await,
        None if args.demo => opening::open_demo(app).await.map(Some),
        // What this process prints is not seen by the user of a second start.
        None if args.prompt.is_some() && prompt == Prompt::Draft => {
            let message = "The prompt was not taken: a second start named no folder for it.".to_owned();
            let detail = Some(Problem::PromptWithoutFolder.to_string());
            let problem = CommandError { code: ErrorCode::BadCommand, message, detail };
            return start::show_problem(app, problem).await;
        }
        None if args.prompt.is_some() => return Err(Problem::PromptWithoutFolder.into()),
        None => return start::open(app),
    };
    let (project, label) = match opened {
        Ok(Some(opened)) => opened,
        Ok(None) => return Ok(()),
        // It may have gone since the arguments were read.
        Err(problem) => return start::show_problem(app, problem).await,
    };
    let Some(text) = args.prompt else { return Ok(()) };
    if prompt == Prompt::Draft {
        app.state::<Windows>()
            .with(&label, |window| window.draft = Some(NamedDraft { text, asked: None }))?;
        project::send_to_window(app, &label).await;
        return Ok(());
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        if let Err(error) = first_prompt(&app, &label, &project, demo, text).await {
            tracing::error!(%error, "could not send the first prompt");
            eprintln!("deskbell: {error}");
        }
    });
    Ok(())
}

/// Shows the session of a link in its project's window. Nothing opens if it is not in the folder of the link.
async fn show_linked(app: &AppHandle, folder: &Path, id: &SessionId) -> Result<(), CommandError> {
    let project = ProjectRef::from(folder);
    let known = app.state::<SessionRegistry>().known_in(&project, id);
    let session = known.ok_or_else(|| CommandError {
        code: ErrorCode::NoSuchSession,
        message: "The session of the link is not in its folder. It may have been removed.".to_owned(),
        detail: Some(folder.display().to_string()),
    })?;
    showing::in_window(app, &project, session, None).await
}

/// The folder to open: the one that was named, else the current one. `None` if a launcher started the app, or if it
/// started in the user's home folder: that is where a launcher or a new terminal is, not a project.
async fn folder_of(args: &Args, cwd: &Path) -> anyhow::Result<Option<PathBuf>> {
    if let Some(folder) = &args.folder {
        return Ok(Some(folder.clone()));
    }
    if args.launcher {
        return Ok(None);
    }
    let here = cwd.to_owned();
    let find = move || {
        let home = dirs::home_dir().and_then(|home| dunce::canonicalize(home).ok());
        let here = dunce::canonicalize(here)?;
        Ok::<_, std::io::Error>(Some(here).filter(|here| !ProjectStore::contains_home(here, home.as_deref())))
    };
    Ok(disk::run(cwd, disk::DEADLINE, find).await??)
}

async fn first_prompt(
    app: &AppHandle,
    label: &str,
    project: &ProjectRef,
    demo: bool,
    text: String,
) -> Result<(), CommandError> {
    let registry = app.state::<SessionRegistry>();
    let agent = if demo { AgentKind::Demo } else { AgentKind::Claude };
    // The prompt starts it. If no agent may start here yet, the prompt stays with the session.
    let session = registry.begin(project, agent).await?;
    app.state::<Windows>().with(label, |window| window.open_session = Some(session.id.clone()))?;
    // A window that was already open does not know it yet.
    emit::to_window(app, label, WindowEvent::SessionListed { session: Box::new(session.clone()) });
    emit::to_window(
        app,
        label,
        WindowEvent::Show { session_id: session.id.clone(), request_id: None, item_id: None },
    );
    let prompt = Command::Prompt { text, attachments: Vec::new(), delivery: Delivery::AfterTurn };
    registry.command(project, &session.id, prompt).await
}

/// Gets a permit once the state of the app is there. A second start may come earlier.
static IS_OPEN: Semaphore = Semaphore::const_new(0);

/// The state of the app is there.
pub fn is_ready() {
    IS_OPEN.add_permits(1);
}

/// A second start of the app passes its arguments to this one and exits.
pub fn again(app: &AppHandle, argv: Vec<String>, cwd: String) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let Err(error) = open_second(&app, argv, cwd).await else { return };
        tracing::error!(
            error = format!("{error:#}"),
            "could not open the window that a second start requested"
        );
        let problem = CommandError {
            code: ErrorCode::Internal,
            message: "What a second start requested could not be opened.".to_owned(),
            detail: Some(format!("{error:#}")),
        };
        if let Err(error) = start::show_problem(&app, problem).await {
            tracing::error!(error = format!("{error:#}"), "the start page did not open either");
        }
    });
}

/// The arguments of a second start come from any program of this user: they open at most a folder, which is then
/// subject to the trust page. Nothing is sent to an agent; a prompt becomes a draft.
async fn open_second(app: &AppHandle, argv: Vec<String>, cwd: String) -> anyhow::Result<()> {
    let _is_open = IS_OPEN.acquire().await?;
    let cwd = PathBuf::from(cwd);
    let from = cwd.clone();
    let parse = move || {
        let argv: Vec<_> = argv.into_iter().skip(1).map(Into::into).collect();
        args::parse(&argv, &from)
    };
    match disk::run(&cwd, disk::DEADLINE, parse).await? {
        // A second start at login.
        Ok(Mode::Window(args)) if args.hidden => Ok(()),
        Ok(Mode::Window(args)) => {
            let is_first = !IS_RESTORED.load(Ordering::Relaxed);
            restore(app)?;
            let in_background = app.state::<Background>().all();
            for (project, demo) in &in_background {
                lifecycle::open(app, project, *demo)?;
            }
            let asks_nothing = args.folder.is_none() && !args.demo && args.prompt.is_none();
            // A launcher names nothing: the windows are what the user wants.
            let has_windows = !in_background.is_empty() || (is_first && app.state::<Windows>().len() > 0);
            if asks_nothing && args.launcher && has_windows {
                return Ok(());
            }
            open_requested(app, args, &cwd, Prompt::Draft).await
        }
        // The second start has printed the result itself.
        Ok(_) => Ok(()),
        // The folder has gone since the second start found it.
        Err(Problem::Folder(problem)) => start::show_problem(app, problem.into()).await,
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_current_folder_is_opened_unless_it_contains_the_home_folder() {
        let project = tempfile::tempdir().unwrap();
        let real = project.path().canonicalize().unwrap();
        let of = async |args: &Args, cwd: &Path| folder_of(args, cwd).await.unwrap();
        assert_eq!(of(&Args::default(), &real).await, Some(real.clone()));
        assert_eq!(of(&Args::default(), Path::new("/")).await, None);
        let home = dirs::home_dir().unwrap();
        assert_eq!(of(&Args::default(), &home).await, None);
        let launcher = Args { launcher: true, ..Args::default() };
        assert_eq!(of(&launcher, &real).await, None, "a launcher starts anywhere");
        let named = Args { folder: Some(home.clone()), ..Args::default() };
        assert_eq!(of(&named, &real).await, Some(home), "a folder that is named is asked about later");
    }
}

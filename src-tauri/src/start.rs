//! The start page: a window without a project. It lists the projects that were opened earlier, shows why a folder was
//! not opened, and asks before the home folder is.

use crate::emit::{self, Channels};
use crate::lifecycle;
use crate::windows::{Windows, bring_up};
use anyhow::Context;
use deskbell_dialogs::permission::DialogController;
use deskbell_engine::api::*;
use deskbell_engine::disk::{self, SetAside};
use deskbell_engine::projects::{Change, KnownProject, ProjectFolders, ProjectStore, Projects};
use deskbell_engine::title::Title;
use deskbell_sessions::checkouts;
use deskbell_sessions::open_questions::OpenQuestions;
use deskbell_sessions::opener::now_ms;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::settings::CurrentSettings;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tauri::{AppHandle, DragDropEvent, Manager, WindowEvent as TauriEvent};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// The label of its window.
pub const LABEL: &str = "start";

const TITLE: &str = "Open a project — Deskbell";
const SIZE: (f64, f64) = (860.0, 680.0);

/// Timeout of the check whether a listed folder exists.
const CHECK: Duration = Duration::from_secs(2);
/// Number of folders that are checked at once. After as many that do not respond, the others are not checked: each of
/// them keeps a thread.
const AT_ONCE: usize = 8;

/// Delay between a change of a session and a new view. While an answer streams there are many changes.
const TOGETHER: Duration = Duration::from_millis(200);

/// Maximum length of a displayed name or place, in characters.
const LONGEST: usize = 300;

/// The state of the start page and of the list of projects.
pub struct StartPage {
    store: ProjectStore,
    state: Mutex<State>,
    /// A new view will be sent soon.
    is_pending: AtomicBool,
    list_changes: Notify,
}

#[derive(Default)]
struct State {
    /// The folder that is opened only if the user confirms it.
    question: Option<PathBuf>,
    problem: Option<CommandError>,
    /// Each listed folder as it was found by the last check.
    checked: HashMap<PathBuf, Checked>,
    /// Files in place of the list that could not be read.
    unread: Vec<UnreadFile>,
    /// The number of views that were begun. Only the last one is sent.
    n_views: u64,
}

/// A folder as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Checked {
    folder: FolderState,
    checkout: Checkout,
}

impl StartPage {
    pub fn new(store: ProjectStore) -> Self {
        Self {
            store,
            state: Mutex::default(),
            is_pending: AtomicBool::new(false),
            list_changes: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the folder in question, and asks no more.
    pub fn take_question(&self) -> Option<PathBuf> {
        self.lock().question.take()
    }

    pub fn clear_problem(&self) {
        self.lock().problem = None;
    }

    async fn known(&self) -> Result<Vec<KnownProject>, CommandError> {
        Ok(self.noted(self.load().await?))
    }

    async fn load(&self) -> Result<Projects, CommandError> {
        let store = self.store.clone();
        disk::run(self.store.place(), disk::DEADLINE, move || store.load()).await.map_err(CommandError::from)
    }

    /// A project's folder, with those that it was earlier.
    pub async fn folders(&self, project: &Path) -> ProjectFolders {
        let (store, folder) = (self.store.clone(), project.to_owned());
        let read = disk::run(self.store.place(), disk::DEADLINE, move || store.folders(&folder)).await;
        read.unwrap_or_else(|error| {
            tracing::warn!(%error, "the earlier folders of a project could not be read");
            project.into()
        })
    }

    /// The paths that a folder had before it was renamed, if the list of projects does not have that move yet.
    pub async fn renamed_from(&self, project: &Path) -> Result<Vec<PathBuf>, CommandError> {
        let (store, folder) = (self.store.clone(), project.to_owned());
        let read = move || store.load().renamed_from(&folder);
        Ok(disk::run(self.store.place(), disk::DEADLINE, read).await?)
    }

    /// Changes the list of projects.
    pub async fn change(&self, change: Change) -> Result<(), CommandError> {
        let store = self.store.clone();
        let changed = disk::run(self.store.place(), disk::DEADLINE, move || store.change(&[change])).await?;
        let projects = changed.map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The list of projects was not saved.".to_owned(),
            detail: Some(error.to_string()),
        })?;
        self.noted(projects);
        self.list_changes.notify_one();
        Ok(())
    }

    fn noted(&self, projects: Projects) -> Vec<KnownProject> {
        self.lock().unread.extend(projects.set_aside.as_ref().map(unread_list));
        projects.known
    }

    /// The other machines that were asked and those of the listed projects, with the time of the last use.
    pub async fn machines(&self) -> BTreeMap<RemoteMachine, u64> {
        let projects = match self.load().await {
            Ok(projects) => projects,
            Err(error) => {
                tracing::warn!(%error, "the machines of projects could not be listed");
                return BTreeMap::new();
            }
        };
        let mut machines = projects.machines.clone();
        for project in &self.noted(projects) {
            if let Some(machine) = project.project.machine() {
                let used = machines.entry(machine.clone()).or_insert(0);
                *used = project.last_used_at.max(*used);
            }
        }
        machines
    }

    /// Returns whether the project was opened earlier. A page may open no other one.
    pub async fn knows(&self, project: &ProjectRef) -> Result<bool, CommandError> {
        Ok(self.known().await?.iter().any(|known| known.project == *project))
    }
}

fn unread_list(aside: &SetAside) -> UnreadFile {
    UnreadFile {
        kind: UnreadKind::Projects,
        path: aside.path.display().to_string(),
        problem: aside.problem.clone(),
        moved_to: aside.moved_to.as_ref().ok().map(|path| path.display().to_string()),
    }
}

/// Remembers that a project was opened now.
pub async fn remember(app: &AppHandle, project: &ProjectRef) {
    let used = Change::Used { project: project.clone(), at: now_ms() };
    if let Err(error) = app.state::<StartPage>().change(used).await {
        tracing::warn!(%error, "could not remember that a project was opened");
    }
}

/// Opens the start page, or brings it up.
pub fn open(app: &AppHandle) -> anyhow::Result<()> {
    if app.get_webview_window(LABEL).is_some() {
        bring_up(app, LABEL);
        return Ok(());
    }
    let window = lifecycle::new_window(app, LABEL, TITLE, SIZE).context("opening the start page")?;
    let app = app.clone();
    let dragged = window.clone();
    window.on_window_event(move |event| match event {
        TauriEvent::Focused(focused) => {
            // No dialog of a project may appear over the start page.
            app.state::<DialogController>().view_changed(LABEL, |view| view.focused = *focused);
            if *focused {
                // A folder may have been made or removed in the meantime.
                refresh(&app);
            }
        }
        TauriEvent::DragDrop(event) => {
            let at = lifecycle::drag_point(&dragged, event);
            emit::to_window(&app, LABEL, WindowEvent::Dragging { at });
            let DragDropEvent::Drop { paths, .. } = event else { return };
            app.state::<lifecycle::FoldersToOpen>().request(paths.clone());
        }
        TauriEvent::Destroyed => {
            app.state::<Channels>().close(LABEL);
            app.state::<DialogController>().window_gone(LABEL);
            app.state::<OpenQuestions>().window_gone(LABEL);
            let page = app.state::<StartPage>();
            page.take_question();
            page.clear_problem();
        }
        _ => {}
    });
    Ok(())
}

/// Closes the start page, because a project was opened.
pub fn close(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(LABEL)
        && let Err(error) = window.destroy()
    {
        tracing::warn!(%error, "could not close the start page");
    }
}

/// Shows on the start page why a folder was not opened.
pub async fn show_problem(app: &AppHandle, problem: CommandError) -> anyhow::Result<()> {
    app.state::<StartPage>().lock().problem = Some(problem);
    open(app)?;
    send(app).await;
    Ok(())
}

/// Asks on the start page whether a folder is to be opened.
pub async fn ask(app: &AppHandle, folder: PathBuf) -> anyhow::Result<()> {
    app.state::<StartPage>().lock().question = Some(folder);
    open(app)?;
    send(app).await;
    Ok(())
}

/// The projects that were opened earlier, with what happens in them now.
pub async fn recent(app: &AppHandle) -> Result<Vec<RecentProject>, CommandError> {
    let page = app.state::<StartPage>();
    let known = page.known().await?;
    let checked = page.lock().checked.clone();
    let (windows, registry) = (app.state::<Windows>(), app.state::<SessionRegistry>());
    let home = dirs::home_dir();
    let project = |known: KnownProject| {
        let checked = known.project.here().and_then(|folder| checked.get(folder)).cloned();
        let (folder, checkout) =
            checked.map_or((FolderState::Unchecked, Checkout::default()), |one| (one.folder, one.checkout));
        let sessions = registry.sessions(&known.project);
        let n = |state: BoardState| {
            sessions.iter().filter(|session| session.status.state() == Some(state)).count() as u32
        };
        RecentProject {
            name: Title::one_line(&known.project.name(), LONGEST),
            place: Title::one_line(&known.place(home.as_deref()), LONGEST),
            last_used_at: known.last_used_at,
            pinned: known.pinned,
            folder,
            checkout,
            open: !windows.labels_of(&known.project).is_empty(),
            n_working: n(BoardState::Working),
            n_waiting: n(BoardState::NeedsInput),
            project: known.project,
        }
    };
    Ok(known.into_iter().map(project).collect())
}

/// The content of the start page.
pub async fn view(app: &AppHandle) -> Result<StartView, CommandError> {
    let projects = recent(app).await?;
    let mut unread_files = app.state::<crate::project::UnreadFiles>().0.clone();
    let page = app.state::<StartPage>();
    let state = page.lock();
    unread_files.extend(state.unread.iter().cloned());
    Ok(StartView {
        projects,
        question: state.question.as_ref().map(|folder| folder.display().to_string()),
        problem: state.problem.clone(),
        unread_files,
        app_version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// The first view of a page that connects. Its folders are checked next.
pub async fn connect(app: &AppHandle) -> Result<StartConnection, CommandError> {
    let event = app.state::<Channels>().open(LABEL);
    // The page is new, and what was asked there is closed.
    app.state::<OpenQuestions>().window_gone(LABEL);
    let start = view(app).await?;
    refresh(app);
    Ok(StartConnection { event, start, settings: app.state::<Arc<CurrentSettings>>().view() })
}

/// Sends the start page its current content, if it is open.
pub async fn send(app: &AppHandle) {
    if app.get_webview_window(LABEL).is_none() {
        return;
    }
    let page = app.state::<StartPage>();
    let nr = {
        let mut state = page.lock();
        state.n_views += 1;
        state.n_views
    };
    match view(app).await {
        Ok(start) if page.lock().n_views == nr => {
            emit::to_window(app, LABEL, WindowEvent::StartChanged { start: Box::new(start) });
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "could not send the start page its content"),
    }
}

/// Shows the projects in the jump list as long as the app runs, and again after each change by this app.
#[cfg(windows)]
pub async fn follow_jump_list(app: AppHandle) {
    let page = app.state::<StartPage>();
    loop {
        let shown = match page.known().await {
            Ok(known) => deskbell_desktop::jump_list::show(&known).await,
            Err(error) => Err(anyhow::anyhow!(error.message)),
        };
        if let Err(error) = shown {
            tracing::info!(error = format!("{error:#}"), "the jump list was not changed");
        }
        page.list_changes.notified().await;
    }
}

/// Checks which of the listed folders exist, and sends the result.
pub fn refresh(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let page = app.state::<StartPage>();
        match page.known().await {
            Ok(known) => {
                // A machine is asked only when its project is opened.
                let here = known.iter().filter_map(|known| known.project.here()).map(Path::to_owned);
                let checked = check(here.collect()).await;
                page.lock().checked = checked;
                send(&app).await;
            }
            Err(error) => tracing::warn!(%error, "could not check the folders of the start page"),
        }
    });
}

/// Checks folders, a few at once.
async fn check(paths: Vec<PathBuf>) -> HashMap<PathBuf, Checked> {
    let mut checked = HashMap::new();
    for some in paths.chunks(AT_ONCE) {
        let mut checks = JoinSet::new();
        for path in some.iter().cloned() {
            checks.spawn(async move {
                let folder = path.clone();
                let look = move || folder.is_dir().then(|| checkouts::read(&folder));
                let checked = match disk::run(&path, CHECK, look).await {
                    Ok(Some(checkout)) => Checked { folder: FolderState::Found, checkout },
                    Ok(None) => Checked { folder: FolderState::Missing, checkout: Checkout::default() },
                    Err(_) => Checked { folder: FolderState::Silent, checkout: Checkout::default() },
                };
                (path, checked)
            });
        }
        checked.extend(checks.join_all().await);
        if checked.values().filter(|one| one.folder == FolderState::Silent).count() >= AT_ONCE {
            break;
        }
    }
    checked
}

/// A session changed, or a window opened or closed: the start page shows it soon.
pub fn sessions_changed(app: &AppHandle) {
    if app.get_webview_window(LABEL).is_none()
        || app.state::<StartPage>().is_pending.swap(true, Ordering::Relaxed)
    {
        return;
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        tokio::time::sleep(TOGETHER).await;
        app.state::<StartPage>().is_pending.store(false, Ordering::Relaxed);
        send(&app).await;
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn folders_that_are_gone_are_found_out() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        std::fs::create_dir(path("a")).unwrap();
        std::fs::write(path("file"), "").unwrap();
        let many = (0..30).map(|n| path(&format!("gone-{n}")));
        let checked = check([path("a"), path("file")].into_iter().chain(many).collect()).await;
        assert_eq!(checked[&path("a")].folder, FolderState::Found);
        assert_eq!(checked[&path("file")].folder, FolderState::Missing);
        assert_eq!(checked.values().filter(|one| one.folder == FolderState::Missing).count(), 31);
    }

    #[tokio::test]
    async fn a_worktree_is_found_with_its_branch_and_its_repository() {
        let root = tempfile::tempdir().unwrap();
        let (main, linked) = (root.path().join("ledger"), root.path().join("ledger-fix"));
        std::fs::create_dir_all(main.join(".git/worktrees/fix")).unwrap();
        std::fs::create_dir(&linked).unwrap();
        std::fs::write(main.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(main.join(".git/worktrees/fix/HEAD"), "ref: refs/heads/fix/totals\n").unwrap();
        std::fs::write(linked.join(".git"), "gitdir: ../ledger/.git/worktrees/fix\n").unwrap();
        let paths = [main, linked, root.path().join("gone")];
        let checked = check(paths.to_vec()).await;
        let of = |branch: Option<&str>, repository: Option<&str>| Checkout {
            branch: branch.map(str::to_owned),
            worktree_of: repository.map(str::to_owned),
        };
        assert_eq!(checked[&paths[0]].checkout, of(Some("main"), None));
        assert_eq!(checked[&paths[1]].checkout, of(Some("fix/totals"), Some("ledger")));
        assert_eq!(checked[&paths[2]].checkout, of(None, None));
    }

    #[tokio::test]
    async fn an_unreadable_list_is_reported_and_the_next_change_is_kept() {
        let data = tempfile::tempdir().unwrap();
        std::fs::create_dir(data.path().join("projects.json")).unwrap();
        let page = StartPage::new(ProjectStore::new(data.path()));
        assert!(!page.knows(&"/a".into()).await.unwrap());
        assert_eq!(page.lock().unread[0].kind, UnreadKind::Projects);
        page.change(Change::Used { project: "/a".into(), at: 1 }).await.unwrap();
        assert!(page.knows(&"/a".into()).await.unwrap());
        assert_eq!(page.lock().unread.len(), 1);
    }
}

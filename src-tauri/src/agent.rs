//! Which agent a session runs: Claude Code where it is found, or the app itself as the demo agent.

use deskbell_engine::api::{AgentKind, AgentView, CommandError, ErrorCode};
use deskbell_engine::launch::Launch;
use deskbell_engine::locate::{Located, NotFound, Places, locate};
use deskbell_engine::process::guard::Guard;
use deskbell_engine::process::runs::Runs;
use deskbell_engine::session::Launcher;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The argument that makes this program the demo agent.
pub const DEMO_AGENT: &str = "demo-agent";

/// Marks this run of the app; each process it starts gets a number behind it.
#[derive(Clone)]
pub struct Run(Arc<RunParts>);

struct RunParts {
    token: String,
    n_started: AtomicU64,
    /// Where the run is noted; `None` if it could not be.
    runs: Option<Runs>,
    /// Ends what is left behind if the app is killed.
    _guard: Option<Guard>,
}

impl Run {
    /// Begins a run, with a guard over everything it will start, and notes it for the next.
    pub fn begin(data: &Path) -> Self {
        let token = uuid::Uuid::new_v4().to_string();
        // On Windows the job object of each agent ends with the app.
        let guard = if cfg!(windows) { None } else { guard(&token) };
        let runs = note(data, &token, guard.as_ref().map(Guard::pid));
        Self(Arc::new(RunParts { token, n_started: AtomicU64::new(0), runs, _guard: guard }))
    }

    /// Everything of this run was ended in order.
    pub fn end(&self) {
        let forgotten = self.0.runs.as_ref().map_or(Ok(()), |runs| runs.forget(&self.0.token));
        if let Err(error) = forgotten {
            tracing::warn!(%error, "the run's file could not be removed");
        }
    }

    fn next(&self) -> String {
        format!("{}.{}", self.0.token, self.0.n_started.fetch_add(1, Ordering::Relaxed))
    }
}

/// Where runs are noted.
pub fn open_runs(data: &Path) -> std::io::Result<Runs> {
    Runs::open(data.join("runs"))
}

fn note(data: &Path, token: &str, guard: Option<u32>) -> Option<Runs> {
    let noted = open_runs(data).and_then(|runs| runs.begin(token, guard).map(|()| runs));
    if let Err(error) = &noted {
        tracing::warn!(%error, "the run is not noted: what it leaves if it is killed will not be found");
    }
    noted.ok()
}

fn guard(token: &str) -> Option<Guard> {
    let guard = std::env::current_exe().and_then(|program| Guard::start(&program, token));
    if let Err(error) = &guard {
        tracing::warn!(%error, "no guard: if the app is killed, tools of its agents may live on");
    }
    guard.ok()
}

/// Where the agent keeps its own files: settings, transcripts.
pub fn config_folder(kind: AgentKind, data: &Path) -> PathBuf {
    match kind {
        AgentKind::Demo => data.join("demo"),
        AgentKind::Claude => std::env::var_os("CLAUDE_CONFIG_DIR")
            .map(PathBuf::from)
            .or_else(|| Some(dirs::home_dir()?.join(".claude")))
            .unwrap_or_default(),
    }
}

/// Says how to start an agent of this kind in this project, looking for it anew each time. `admit` says whether it may
/// start there, and whether restricted.
pub fn launcher(
    kind: AgentKind,
    project: PathBuf,
    data: PathBuf,
    chosen: impl Fn() -> Option<PathBuf> + Send + Sync + 'static,
    admit: impl Fn(&Path) -> Result<bool, CommandError> + Send + Sync + 'static,
    run: Run,
) -> Launcher {
    Arc::new(move || {
        let mut launch = Launch {
            kind,
            program: PathBuf::new(),
            first_args: Vec::new(),
            project: project.clone(),
            restricted: false,
            env: Vec::new(),
            run_token: run.next(),
        };
        match kind {
            AgentKind::Demo => {
                launch.program = std::env::current_exe().map_err(|error| CommandError {
                    code: ErrorCode::AgentNotFound,
                    message: "The demo agent was not found.".to_owned(),
                    detail: Some(error.to_string()),
                })?;
                launch.first_args = vec![DEMO_AGENT.into()];
                let config = config_folder(kind, &data);
                launch.env = vec![("CLAUDE_CONFIG_DIR".into(), Some(config.into()))];
            }
            AgentKind::Claude => {
                launch.program = find(chosen()).map_err(not_found)?.program;
                launch.restricted = !project.is_dir() || admit(&project)?;
            }
        }
        Ok(launch)
    })
}

fn find(chosen: Option<PathBuf>) -> Result<Located, NotFound> {
    locate(&Places::from_environment(chosen))
}

fn not_found(error: NotFound) -> CommandError {
    let tried: Vec<String> =
        error.tried.iter().map(|tried| format!("{} {}", tried.place, tried.problem)).collect();
    CommandError {
        code: ErrorCode::AgentNotFound,
        message: "The Claude Code CLI was not found.".to_owned(),
        detail: Some(tried.join("\n")),
    }
}

/// Which agent a new session would run, for people.
pub fn view(demo: bool, chosen: Option<PathBuf>) -> AgentView {
    if demo {
        let program = std::env::current_exe().unwrap_or_default().display().to_string();
        return AgentView::Found {
            kind: AgentKind::Demo,
            program,
            source: "the built-in demo agent".to_owned(),
        };
    }
    match find(chosen) {
        Ok(Located { program, source }) => {
            AgentView::Found { kind: AgentKind::Claude, program: program.display().to_string(), source }
        }
        Err(NotFound { tried }) => AgentView::Missing { tried },
    }
}

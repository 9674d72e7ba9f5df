//! The agent program of a session: Claude Code if it is found, or the app itself as the demo agent.

use crate::trust::Allowed;
use deskbell_engine::LocalHost;
use deskbell_engine::acp::{ChosenAgent, agents};
use deskbell_engine::api::{
    AgentKind, AgentView, CommandError, EnvironmentVariable, ErrorCode, Priority, Tried,
};
use deskbell_engine::disk;
use deskbell_engine::launch::Launch;
use deskbell_engine::locate::{Located, NotFound, Places};
use deskbell_engine::login_shell::{LoginShell, Variables};
use deskbell_engine::process::app_runs::{AppRuns, RunKind};
use deskbell_engine::process::guard::Guard;
use deskbell_engine::session::Launcher;
use deskbell_engine::trust::restricted_environment;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::OnceCell;

/// The first command-line argument that makes this program the demo agent.
pub const DEMO_AGENT: &str = "demo-agent";

/// Identifies this run of the app. Each process that the run starts gets the run's token with a number appended.
#[derive(Clone)]
pub struct Run(Arc<RunParts>);

struct RunParts {
    token: String,
    n_started: AtomicU64,
    /// The record of app runs. `None` if the run could not be recorded.
    runs: Option<AppRuns>,
    /// Ends the remaining processes if the app is killed.
    _guard: Option<Guard>,
}

impl Run {
    /// Begins a run: starts a guard for every process of the run, and records the run for the next start of the app.
    pub fn begin(data: &Path) -> Self {
        Self::begin_as(data, RunKind::App)
    }

    /// Begins a run of a server.
    pub fn begin_server(data: &Path) -> Self {
        Self::begin_as(data, RunKind::Server)
    }

    fn begin_as(data: &Path, kind: RunKind) -> Self {
        let token = uuid::Uuid::new_v4().to_string();
        // On Windows the job object of each agent ends with the app.
        let guard = if cfg!(windows) { None } else { guard(&token) };
        let runs = note(data, &token, guard.as_ref().map(Guard::pid), kind);
        Self(Arc::new(RunParts { token, n_started: AtomicU64::new(0), runs, _guard: guard }))
    }

    /// Removes the record of the run, after all its processes were ended in order.
    pub fn end(&self) {
        let forgotten = self.0.runs.as_ref().map_or(Ok(()), |runs| runs.forget(&self.0.token));
        if let Err(error) = forgotten {
            tracing::warn!(%error, "could not remove the file of this run");
        }
    }

    fn next(&self) -> String {
        format!("{}.{}", self.0.token, self.0.n_started.fetch_add(1, Ordering::Relaxed))
    }
}

/// Opens the record of app runs.
pub fn open_runs(data: &Path) -> std::io::Result<AppRuns> {
    AppRuns::open(data.join("runs"))
}

fn note(data: &Path, token: &str, guard: Option<u32>, kind: RunKind) -> Option<AppRuns> {
    let noted = open_runs(data).and_then(|runs| runs.begin(token, guard, kind).map(|()| runs));
    if let Err(error) = &noted {
        tracing::warn!(%error, "could not record this run: if it is killed, its orphans are not found");
    }
    noted.ok()
}

fn guard(token: &str) -> Option<Guard> {
    let guard = std::env::current_exe().and_then(|program| Guard::start(&program, token));
    if let Err(error) = &guard {
        tracing::warn!(%error, "no guard: if the app is killed, tools of its agents may keep running");
    }
    guard.ok()
}

/// The folder of the agent's own files: settings and transcripts.
pub fn config_folder(kind: AgentKind, data: &Path) -> PathBuf {
    match kind {
        AgentKind::Demo => data.join("demo"),
        // Such agents keep their files where they want to. Deskbell reads none of them.
        AgentKind::Acp => data.join("acp"),
        AgentKind::Claude => std::env::var_os("CLAUDE_CONFIG_DIR")
            .map(PathBuf::from)
            .or_else(|| Some(dirs::home_dir()?.join(".claude")))
            .unwrap_or_default(),
    }
}

/// What the user chose for the process of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Its program; `None` searches the usual places.
    pub program: Option<PathBuf>,
    /// Variables in addition to the inherited ones.
    pub environment: Vec<EnvironmentVariable>,
    pub priority: Priority,
}

/// Returns a function that decides how to start an agent of this kind in this project. It searches for the agent again
/// at each call. `check` returns an error if this agent must not start there.
pub fn launcher(
    kind: AgentKind,
    acp: Option<ChosenAgent>,
    project: PathBuf,
    data: PathBuf,
    chosen: impl Fn() -> Result<Chosen, CommandError> + Send + Sync + 'static,
    check: impl Fn(&Path, Option<&ChosenAgent>) -> Result<Allowed, CommandError> + Send + Sync + 'static,
    run: Run,
) -> Launcher {
    Arc::new(move || {
        let Chosen { program, environment, priority } = chosen()?;
        let mut launch = Launch {
            kind,
            acp: acp.clone(),
            program: PathBuf::new(),
            first_args: Vec::new(),
            project: project.clone(),
            restricted: false,
            snapshot: None,
            env: Vec::new(),
            run_token: run.next(),
            priority,
        };
        match kind {
            AgentKind::Demo => {
                (launch.program, launch.first_args) = demo_program()?;
                let config = config_folder(kind, &data);
                launch.env = vec![("CLAUDE_CONFIG_DIR".into(), Some(config.into()))];
            }
            AgentKind::Acp if acp.as_ref().is_some_and(is_demo) => {
                (launch.program, launch.first_args) = demo_program()?;
            }
            AgentKind::Acp => {
                launch.program = program.map_or_else(|| acp_program(acp.as_ref()), Ok)?;
                let variables = LOGIN_SHELL.get().into_iter().flatten().cloned();
                launch.env = variables.map(|(name, value)| (name, Some(value))).collect();
                let is_restricted =
                    !project.is_dir() || matches!(check(&project, acp.as_ref())?, Allowed::Restricted);
                launch.restricted = is_restricted;
            }
            AgentKind::Claude => {
                launch.program = find(program).map_err(not_found)?.program;
                let variables = LOGIN_SHELL.get().into_iter().flatten().cloned();
                launch.env = variables.map(|(name, value)| (name, Some(value))).collect();
                // If the folder does not exist, the session reports that itself.
                let allowed = if project.is_dir() { check(&project, None)? } else { Allowed::Restricted };
                if let Allowed::Trusted(snapshot) = allowed {
                    launch.snapshot = snapshot;
                }
                launch.restricted = launch.snapshot.is_none();
            }
        }
        if launch.restricted && project.is_dir() {
            let own = launch.env.clone();
            let inherited = |name: &str| match own.iter().rev().find(|(known, _)| known == name) {
                Some((_, value)) => value.clone(),
                None => std::env::var_os(name),
            };
            let variables = restricted_environment(&project, inherited);
            launch.env.extend(variables.into_iter().map(|(name, value)| (name, Some(value))));
        }
        let variables = environment.into_iter();
        launch.env.extend(variables.map(|one| (one.name.into(), Some(one.value.into()))));
        Ok(launch)
    })
}

/// Is it the demo agent, which needs no trust in a folder?
pub fn is_demo(agent: &ChosenAgent) -> bool {
    agent.facts().is_some_and(|row| row.id == agents::DEMO.id)
}

/// The demo agent is this program, with its first argument.
fn demo_program() -> Result<(PathBuf, Vec<OsString>), CommandError> {
    let program = std::env::current_exe().map_err(|error| CommandError {
        code: ErrorCode::AgentNotFound,
        message: "The demo agent was not found.".to_owned(),
        detail: Some(error.to_string()),
    })?;
    Ok((program, vec![DEMO_AGENT.into()]))
}

/// The program of Claude Code.
pub fn program(chosen: Option<PathBuf>) -> Result<PathBuf, CommandError> {
    find(chosen).map(|located| located.program).map_err(not_found)
}

/// The program of an agent that speaks ACP.
fn acp_program(agent: Option<&ChosenAgent>) -> Result<PathBuf, CommandError> {
    let missing = |message: String, detail: Option<String>| CommandError {
        code: ErrorCode::AgentNotFound,
        message,
        detail,
    };
    let agent =
        agent.ok_or_else(|| missing("The session does not say which agent it has.".to_owned(), None))?;
    let facts = agent.facts().ok_or_else(|| {
        missing(format!("This version of Deskbell does not know the agent “{}”.", agent.name()), None)
    })?;
    let names = match agent {
        ChosenAgent::Row { .. } => facts.programs.to_vec(),
        // A path, or the name of a program.
        ChosenAgent::Command { program, .. } if program.components().count() > 1 => {
            return Ok(program.clone());
        }
        ChosenAgent::Command { program, .. } => program.to_str().into_iter().collect(),
    };
    let found =
        Places::from_environment(None, login_path()).locate_named(&names).map(|located| located.program);
    if let Ok(program) = &found
        && let Some(other) = of_other_package(program, facts)
    {
        let message = format!("{} was not found: {} is of {other}.", agent.name(), program.display());
        return Err(missing(message, None));
    }
    found.map_err(|error| {
        let install = facts.package.map(|package| format!("Install it with: npm install -g {package}\n\n"));
        let detail = format!("{}{}", install.unwrap_or_default(), searched(&error));
        missing(format!("{} was not found.", agent.name()), Some(detail))
    })
}

/// The command line that logs in to an agent: its words with the path of their program. `chosen`: the agent's program, if
/// the settings or the profile name it.
pub fn login_line(
    agent: &ChosenAgent,
    words: Vec<String>,
    chosen: Option<PathBuf>,
) -> Result<Vec<OsString>, CommandError> {
    // Variables come first, if it has any.
    let is_program = |word: &String| word != "env" && !word.contains('=');
    let at = words.iter().position(is_program).unwrap_or_default();
    let Some(word) = words.get(at).cloned() else { return Ok(Vec::new()) };
    let program = if agent.program() == Some(&word) {
        chosen.map_or_else(|| acp_program(Some(agent)), Ok)?
    } else if Path::new(&word).is_absolute() {
        PathBuf::from(word)
    } else {
        let found = Places::from_environment(None, login_path()).locate_named(&[&word]);
        found.map(|located| located.program).map_err(|error| CommandError {
            code: ErrorCode::AgentNotFound,
            message: format!("The program {word}, which logs in to {}, was not found.", agent.name()),
            detail: Some(searched(&error)),
        })?
    };
    let mut line: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    line[at] = program.into();
    Ok(line)
}

/// PATH of the user's login shell.
fn login_path() -> Option<OsString> {
    let variables = LOGIN_SHELL.get().into_iter().flatten();
    variables.filter(|(name, _)| name == "PATH").map(|(_, path)| path.clone()).next()
}

/// The name of the agent that a program belongs to by its npm package, if that is another one: two adapters of Codex have
/// the same program name.
fn of_other_package(program: &Path, row: &agents::AcpAgent) -> Option<&'static str> {
    let real = dunce::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let is_in = |package: &str| {
        let names: Vec<&str> = package.split('/').collect();
        let folders: Vec<_> = real.iter().collect();
        folders.windows(names.len()).any(|part| part == names)
    };
    let others = agents::AGENTS.iter().filter(|other| other.id != row.id && other.programs == row.programs);
    let mut of = others.filter(|other| other.package.is_some_and(is_in));
    of.next().map(|other| other.name)
}

fn find(chosen: Option<PathBuf>) -> Result<Located, NotFound> {
    let variables = LOGIN_SHELL.get().into_iter().flatten();
    let path = variables.filter(|(name, _)| name == "PATH").map(|(_, path)| path.clone()).next();
    Places::from_environment(chosen, path).locate()
}

/// Variables that the user's login shell adds to the environment of agents. Unknown until the shell has answered; none if
/// Deskbell was started from a terminal, which has the environment of the shell.
static LOGIN_SHELL: OnceCell<Variables> = OnceCell::const_new();

/// Whether the answer of the user's login shell is known, or that it has none.
pub fn knows_login_shell() -> bool {
    LOGIN_SHELL.initialized()
}

/// Asks the user's login shell for its environment, once, for at most 5 s, unless Deskbell was started from a terminal.
/// Returns the names of the variables that it adds.
///
/// A window does not wait: until the shell answers, agents are found and started with the desktop's environment. Servers,
/// relays and commands that list agents wait, because their result is not updated later.
pub async fn ask_login_shell(run: &Run) -> Vec<String> {
    let added = LOGIN_SHELL.get_or_init(|| of_login_shell(run)).await;
    added.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
}

/// The environment of the programs that the user starts with Deskbell: its own, with what the login shell adds as far as
/// that is known.
pub fn user_environment() -> BTreeMap<OsString, OsString> {
    std::env::vars_os().chain(LOGIN_SHELL.get().into_iter().flatten().cloned()).collect()
}

async fn of_login_shell(run: &Run) -> Variables {
    // Every terminal sets TERM. SHLVL says less: bash sets it for a command of ssh too, which reads no file of a login.
    let from_terminal = std::env::var_os("TERM").is_some();
    let (shell, home) = (std::env::var_os("SHELL").filter(|shell| !shell.is_empty()), dirs::home_dir());
    let (Some(shell), Some(home)) = (shell, home) else { return Variables::new() };
    if cfg!(windows) || from_terminal {
        return Variables::new();
    }
    let ours: Variables = std::env::vars_os().collect();
    let asked = LoginShell { program: Path::new(&shell), home: &home };
    asked.additions(&LocalHost, ours, &run.next()).await.unwrap_or_else(|error| {
        tracing::info!(%error, ?shell, "the environment of the login shell is not known");
        Variables::new()
    })
}

fn not_found(error: NotFound) -> CommandError {
    CommandError {
        code: ErrorCode::AgentNotFound,
        message: "The Claude Code CLI was not found.".to_owned(),
        detail: Some(searched(&error)),
    }
}

/// Every place that was searched, one per line.
fn searched(error: &NotFound) -> String {
    let tried = error.tried.iter().map(|tried| format!("{} {}", tried.place, tried.problem));
    tried.collect::<Vec<_>>().join("\n")
}

/// The agent that a new session would run, for display. Folders of PATH may be on a disk that does not respond.
pub async fn view(demo: bool, chosen: Option<PathBuf>, deadline: Duration) -> AgentView {
    if demo {
        let program = std::env::current_exe().unwrap_or_default().display().to_string();
        return AgentView::Found {
            kind: AgentKind::Demo,
            program,
            source: "the built-in demo agent".to_owned(),
        };
    }
    match disk::run(Path::new("PATH"), deadline, move || find(chosen)).await {
        Ok(Ok(Located { program, source })) => {
            AgentView::Found { kind: AgentKind::Claude, program: program.display().to_string(), source }
        }
        Ok(Err(NotFound { tried })) => AgentView::Missing { tried },
        Err(unfinished) => AgentView::Missing {
            tried: vec![Tried { place: "PATH".to_owned(), problem: unfinished.to_string() }],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(agent: &ChosenAgent, words: &[&str], chosen: Option<&str>) -> Result<Vec<String>, String> {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let line = login_line(agent, words, chosen.map(PathBuf::from)).map_err(|error| error.message)?;
        Ok(line.into_iter().map(|word| word.into_string().unwrap()).collect())
    }

    #[test]
    fn a_login_is_run_by_the_program_of_the_session() {
        let qwen = ChosenAgent::row_of("qwen").unwrap();
        let own = Some("/opt/qwen");
        assert_eq!(line(&qwen, &["qwen", "a b"], own).unwrap(), ["/opt/qwen", "a b"]);
        let with_variable = line(&qwen, &["env", "A=b", "qwen", "login"], own).unwrap();
        assert_eq!(with_variable, ["env", "A=b", "/opt/qwen", "login"]);
        // Another program is not replaced by the agent's.
        assert_eq!(line(&qwen, &["/opt/other", "login"], own).unwrap(), ["/opt/other", "login"]);
        let missing = line(&qwen, &["no-such-program-here", "login"], own).unwrap_err();
        assert_eq!(missing, "The program no-such-program-here, which logs in to Qwen Code, was not found.");
    }
}

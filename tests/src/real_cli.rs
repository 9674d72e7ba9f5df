//! The real Claude Code CLI under test: where it is, and a world of its own to run it in.
//!
//! `DESKBELL_TEST_CLAUDE` names the native executable, `DESKBELL_TEST_CLAUDE_OLD` that of an older version which people
//! still have; no other place is searched, since a test must never run the CLI that somebody works with. A [`World`] gives it an empty home, an empty configuration, a project
//! folder and the mock API, so that no run sees what another left, or what belongs to the user.

mod child;
#[cfg(unix)]
pub mod process;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::mock_api::{MockApi, Request};
use crate::suite::{Body, Requirement};
use crate::wait::{LONG, eventually};

pub use child::CliChild;

/// Names the executable.
const VARIABLE: &str = "DESKBELL_TEST_CLAUDE";

/// Names that of the older version.
const OLD_VARIABLE: &str = "DESKBELL_TEST_CLAUDE_OLD";

tokio::task_local! {
    /// What a test runs on instead of the usual CLI.
    static CHOSEN: Cli;
}

/// Where [`World::long_command`] tells its process id.
const LONG_COMMAND: &str = "/long-command/";

/// The CLI's executable.
#[derive(Clone, Debug)]
pub struct Cli {
    pub program: PathBuf,
}

impl Cli {
    /// The CLI that this test runs on.
    pub fn find() -> Result<Self> {
        CHOSEN.try_with(Self::clone).or_else(|_| Self::named_by(VARIABLE))
    }

    /// The older version.
    pub fn find_old() -> Result<Self> {
        Self::named_by(OLD_VARIABLE)
    }

    fn named_by(variable: &str) -> Result<Self> {
        let Some(program) = env::var_os(variable).filter(|program| !program.is_empty()) else {
            bail!("{variable} does not name the Claude Code CLI");
        };
        let program = fs::canonicalize(&program).with_context(|| format!("{variable} is {program:?}"))?;
        Ok(Self { program })
    }

    /// Runs a test on this one. What the test spawns as tasks of its own is not included.
    pub fn run(self, test: Body) -> Body {
        Box::pin(CHOSEN.scope(self, test))
    }

    pub fn requirement() -> Requirement {
        Requirement::from(&Self::find().map(drop))
    }
}

/// All that a run of the CLI touches, in one temporary folder, and the API that it talks to.
pub struct World {
    pub cli: Cli,
    /// What a host is told to start: the CLI itself, if nothing else is said.
    pub agent: PathBuf,
    pub api: MockApi,
    /// An empty folder, not under version control.
    pub project: PathBuf,
    /// The CLI's configuration and its sessions.
    pub config: PathBuf,
    pub home: PathBuf,
    extra_env: Vec<(OsString, OsString)>,
    root: TempDir,
}

impl World {
    pub async fn new() -> Result<Self> {
        let cli = Cli::find()?;
        let api = MockApi::start().await?;
        // A short name: a socket's path, which the CLI makes below it, may have 103 bytes.
        let root = tempfile::Builder::new().prefix("db").tempdir().context("making a temporary folder")?;
        // The CLI resolves links in its working directory, and so must whoever compares paths with it.
        let path = fs::canonicalize(root.path())?;
        let folder = |name: &str| -> Result<PathBuf> {
            let folder = path.join(name);
            fs::create_dir(&folder).with_context(|| format!("making {}", folder.display()))?;
            Ok(folder)
        };
        let world = Self {
            agent: cli.program.clone(),
            cli,
            api,
            project: folder("project")?,
            config: folder("config")?,
            home: folder("home")?,
            extra_env: Vec::new(),
            root,
        };
        folder("tmp")?;
        folder("run")?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(path.join("run"), fs::Permissions::from_mode(0o700))?;
        }
        Ok(world)
    }

    /// Sets one more variable for every process of this world.
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.extra_env.push((name.into(), value.into()));
        self
    }

    /// Nobody is logged in: no key, and none in the configuration.
    pub fn without_login(self) -> Self {
        self.with_env("ANTHROPIC_API_KEY", "")
    }

    /// Logged in as a subscriber is, whose use is limited.
    pub fn with_subscription(self) -> Self {
        self.with_env("ANTHROPIC_API_KEY", "").with_env("CLAUDE_CODE_OAUTH_TOKEN", "dummy")
    }

    /// Nothing listens where the API should be.
    pub fn without_api(self) -> Result<Self> {
        // A port that was free a moment ago, and that nobody else is told of.
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        Ok(self.with_env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}")))
    }

    /// Gives the CLI more arguments than its host does.
    #[cfg(unix)]
    pub fn with_arguments(mut self, arguments: &[&str]) -> Result<Self> {
        use std::os::unix::fs::PermissionsExt as _;

        let wrapper = self.root.path().join("agent");
        let program = self.cli.program.display();
        let script = format!("#!/bin/sh\nexec '{program}' \"$@\" {}\n", arguments.join(" "));
        fs::write(&wrapper, script).context("writing the wrapper")?;
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
        self.agent = wrapper;
        Ok(self)
    }

    /// The folder that all of it is in.
    pub fn root(&self) -> &Path {
        self.config.parent().unwrap_or(self.root.path())
    }

    /// The path of a file in the project.
    pub fn file(&self, name: &str) -> PathBuf {
        self.project.join(name)
    }

    /// The variables that make this world of any process, the CLI's or Deskbell's.
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        let root = self.root();
        let path = |path: &Path| path.as_os_str().to_owned();
        let mut env: Vec<(OsString, OsString)> = vec![
            ("HOME".into(), path(&self.home)),
            ("CLAUDE_CONFIG_DIR".into(), path(&self.config)),
            // The CLI keeps a socket and its tools' output beside its configuration: here they go with the world.
            ("CLAUDE_CODE_TMPDIR".into(), path(&root.join("tmp"))),
            ("XDG_RUNTIME_DIR".into(), path(&root.join("run"))),
            ("ANTHROPIC_BASE_URL".into(), self.api.base_url().into()),
            ("ANTHROPIC_API_KEY".into(), "dummy".into()),
        ];
        for name in ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY"] {
            env.push((name.into(), "1".into()));
        }
        env.extend(self.extra_env.iter().cloned());
        env
    }

    /// A command in the project folder and with this world's environment, and none of the agent's settings that
    /// the test itself may have been started with.
    pub fn command(&self, program: &Path) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(program);
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if ["CLAUDE", "ANTHROPIC", "XDG_"].iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        command.envs(self.env()).current_dir(&self.project).kill_on_drop(true);
        command
    }

    /// A command that tells the mock API its process id, and then does not end by itself.
    pub fn long_command(&self) -> String {
        let tell = format!("GET {LONG_COMMAND}$$ HTTP/1.1\\r\\n\\r\\n");
        let address = self.api.address();
        let (host, port) = (address.ip(), address.port());
        format!("bash -c 'exec 3<>/dev/tcp/{host}/{port}; printf \"{tell}\" >&3; exec sleep 600'")
    }

    /// The process id of [`World::long_command`], as soon as it runs.
    pub async fn long_command_pid(&self, deadline: Duration) -> Result<u32> {
        let told = |request: &Request| request.path.strip_prefix(LONG_COMMAND)?.parse().ok();
        let requests = self
            .api
            .wait_for("the long command", deadline, |requests| requests.iter().any(|r| told(r).is_some()));
        requests.await?.iter().find_map(told).context("it told a moment ago")
    }

    /// The lines of a session's file, those that parse.
    pub fn session_file(&self, agent_session_id: &str) -> Result<Vec<serde_json::Value>> {
        let projects = self.config.join("projects");
        for folder in fs::read_dir(&projects).with_context(|| format!("reading {}", projects.display()))? {
            let file = folder?.path().join(format!("{agent_session_id}.jsonl"));
            if let Ok(lines) = fs::read_to_string(&file) {
                return Ok(lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect());
            }
        }
        bail!("there is no file of the session {agent_session_id} below {}", projects.display())
    }

    /// Waits until a session's file has `text` in an answer: the CLI writes it after it said `result`, 2.1.197 later
    /// than 2.1.329, and what a kill comes before is gone.
    pub async fn saved(&self, agent_session_id: &str, text: &str) -> Result<()> {
        let has_text = |line: &serde_json::Value| {
            line["type"] == "assistant" && line["message"]["content"].to_string().contains(text)
        };
        eventually(&format!("{text:?} in the session's file"), LONG, async || {
            Ok(self.session_file(agent_session_id)?.iter().any(has_text).then_some(()))
        })
        .await
    }
}

/// A test that fails leaves its processes in the middle of things: they end before their folder goes, or they would
/// write it anew.
#[cfg(target_os = "linux")]
impl Drop for World {
    fn drop(&mut self) {
        const GRACE: Duration = Duration::from_secs(5);
        for pid in process::running(&self.cli.program, &self.project) {
            if process::wait(pid, GRACE).is_err() {
                let killed = process::kill(pid).and_then(|()| process::wait(pid, GRACE));
                if let Err(error) = killed {
                    eprintln!("an agent outlived its test: {error:#}");
                }
            }
        }
    }
}

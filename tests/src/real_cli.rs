//! The real Claude Code CLI under test: its executable, and an isolated world to run it in.
//!
//! `DESKBELL_TEST_CLAUDE` names the native executable, `DESKBELL_TEST_CLAUDE_OLD` the executable of an older version
//! that is still in use. No other place is searched, because a test must never run the user's own CLI. A [`World`] has
//! an empty home, an empty configuration, a project folder and the mock API, so that no run sees files of another run
//! or of the user.

mod child;
#[cfg(unix)]
pub mod process;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use deskbell_claude::setup::{VERSION_ARGS, version_of};
use tempfile::TempDir;

use crate::mock_api::{MockApi, Request};
use crate::suite::Requirement;
use crate::wait::{LONG, eventually};

pub use child::CliChild;

/// The variable with the path of the executable.
const VARIABLE: &str = "DESKBELL_TEST_CLAUDE";

/// The variable with the path of the older version.
const OLD_VARIABLE: &str = "DESKBELL_TEST_CLAUDE_OLD";

tokio::task_local! {
    /// The CLI that a test runs on instead of the usual one.
    static CHOSEN: Cli;
}

/// The mock API's path for the process id of [`World::long_command`].
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

    /// Runs a test on this one. Tasks that the test spawns are not included.
    pub fn run<F: Future>(self, test: F) -> impl Future<Output = F::Output> {
        CHOSEN.scope(self, test)
    }

    /// The version that the program prints, as a session has it.
    pub async fn version(&self) -> Result<String> {
        let output = tokio::process::Command::new(&self.program).args(VERSION_ARGS).output().await?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let version = version_of(&printed);
        Ok(version.with_context(|| format!("no version in {printed:?}"))?.to_owned())
    }

    pub fn requirement() -> Requirement {
        Requirement::from(&Self::find().map(drop))
    }
}

/// Everything that a run of the CLI touches, in one temporary folder, and its API.
pub struct World {
    pub cli: Cli,
    /// The program that a host starts; by default the CLI itself.
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
        // A short name: the CLI makes a socket below it, whose path is limited to 103 bytes.
        let root = tempfile::Builder::new().prefix("db").tempdir().context("making a temporary folder")?;
        // The CLI resolves links in its working directory, so paths that are compared with it must be resolved, too.
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

    /// Not logged in: no key, and none in the configuration.
    pub fn without_login(self) -> Self {
        self.with_env("ANTHROPIC_API_KEY", "")
    }

    /// Logged in as a subscriber, with a rate limit.
    pub fn with_subscription(self) -> Self {
        self.with_env("ANTHROPIC_API_KEY", "").with_env("CLAUDE_CODE_OAUTH_TOKEN", "dummy")
    }

    /// Nothing listens where the API should be.
    pub fn without_api(self) -> Result<Self> {
        // A port that was free a moment ago and that no other process knows.
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        Ok(self.with_env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}")))
    }

    /// Appends arguments to those of the CLI's host.
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

    /// The folder that contains the whole world.
    pub fn root(&self) -> &Path {
        self.config.parent().unwrap_or(self.root.path())
    }

    /// The path of a file in the project.
    pub fn file(&self, name: &str) -> PathBuf {
        self.project.join(name)
    }

    /// The variables that put a process into this world, the CLI's or Deskbell's.
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        let root = self.root();
        let path = |path: &Path| path.as_os_str().to_owned();
        let mut env: Vec<(OsString, OsString)> = vec![
            ("HOME".into(), path(&self.home)),
            ("CLAUDE_CONFIG_DIR".into(), path(&self.config)),
            // The CLI keeps a socket and its tools' output next to its configuration: here they are removed with the
            // world.
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

    /// A command in the project folder and with this world's environment, without the agent settings in the test's
    /// own environment.
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

    /// A command that sends its process id to the mock API, and then does not end by itself.
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

    /// Waits until a session's file has `text` in an answer. The CLI writes it after it sent `result`, 2.1.197 later
    /// than 2.1.329, and a kill before that loses it.
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

/// A failing test leaves its processes running. They are ended before their folder is removed, because they would write
/// it again.
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

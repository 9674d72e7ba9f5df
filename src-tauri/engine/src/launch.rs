//! Launching an agent: its program, folder, arguments and environment. No other module decides these.

mod mode;

use crate::agent::Driver;
use crate::api::{AgentCapabilities, AgentKind, CommandError, ErrorCode, Priority, Rule, SessionOptions};
use crate::claude::{self, ClaudeDriver, options, other_sessions};
use crate::locate::usual_directories;
use crate::trust::snapshot::{self, Snapshot};
use deskbell_acp::agents::{Restriction, Variable};
use deskbell_acp::{AcpDriver, AcpSetup, ChosenAgent};
pub(crate) use mode::StartMode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The command that resumes a conversation in a terminal, for a POSIX shell; on Windows for PowerShell. `config`: the
/// agent's folder of configuration, if it is another one than usual.
pub(crate) fn resume_command(project: &Path, config: Option<&Path>, agent_session_id: &str) -> String {
    let (and, inner) = if cfg!(windows) { (";", "''") } else { (" &&", r"'\''") };
    let quoted = |path: &Path| format!("'{}'", path.to_string_lossy().replace('\'', inner));
    let variable = config.map_or_else(String::new, |config| match cfg!(windows) {
        true => format!("$env:CLAUDE_CONFIG_DIR={}; ", quoted(config)),
        false => format!("CLAUDE_CONFIG_DIR={} ", quoted(config)),
    });
    format!("cd {}{and} {variable}claude --resume {agent_session_id}", quoted(project))
}

/// Arguments that keep an agent from loading the folder's own settings. Without them, the folder's hooks, MCP servers
/// and key helper run at spawn, and its settings can send the API key elsewhere (2.1.329 and 2.1.197). An agent that
/// does not know these arguments exits at once, with an error that names them.
pub(crate) const RESTRICTIONS: [&str; 3] =
    ["--setting-sources=user", "--strict-mcp-config", other_sessions::WITHOUT_TOOLS];

/// Does the error output say that the agent does not know [`RESTRICTIONS`] or the arguments of a [`Snapshot`]?
pub(crate) fn knows_no_restrictions(stderr: &str) -> bool {
    let names = RESTRICTIONS.map(|flag| flag.split('=').next().unwrap_or(flag));
    let names: Vec<&str> = names.into_iter().chain(snapshot::FLAGS).collect();
    stderr.lines().any(|line| line.contains("unknown option") && names.iter().any(|name| line.contains(name)))
}

/// An agent program and the folder it works in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub kind: AgentKind,
    /// Which agent it is, if the kind is `Acp`.
    pub acp: Option<ChosenAgent>,
    pub program: PathBuf,
    /// Arguments before the agent's own: `demo-agent` when the app runs itself.
    pub first_args: Vec<OsString>,
    pub project: PathBuf,
    /// Ignore the folder's own settings, hooks and servers. True unless the user trusts the folder.
    pub restricted: bool,
    /// The settings that a trusted folder's agent loads instead of the folder's own files. `None` if the agent is
    /// restricted or loads nothing from the folder, like the demo agent.
    pub snapshot: Option<Snapshot>,
    /// Changes to the inherited environment; `None` removes a variable. A PATH is completed like the inherited one.
    pub env: Vec<(OsString, Option<OsString>)>,
    pub run_token: String,
    pub priority: Priority,
}

impl Launch {
    /// The environment variable that marks every process that Deskbell starts, directly or indirectly, so that none is
    /// left running.
    pub const RUN_TOKEN: &str = "DESKBELL_RUN";

    /// The reason why a model name is invalid, if it is.
    pub fn bad_model(name: &str) -> Option<&'static str> {
        options::bad_model(name)
    }

    /// Is `id` valid as a conversation id? It becomes an argument of the agent and a file name.
    pub fn is_conversation_id(id: &str) -> bool {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (1..=128).contains(&id.len()) && id.bytes().all(fits) && !id.starts_with('-')
    }

    /// Speaks the agent's protocol, for one process.
    pub fn driver(&self, start: &Start) -> Box<dyn Driver> {
        driver(self.acp.as_ref(), &self.project, start)
    }

    /// An agent that nothing keeps from running what is in a folder starts only in a trusted one.
    pub fn check(&self) -> Result<(), CommandError> {
        self.acp.as_ref().filter(|_| self.restricted).map_or(Ok(()), Self::check_restricted)
    }

    /// Returns an error if nothing keeps this agent from running what is in a folder.
    pub fn check_restricted(agent: &ChosenAgent) -> Result<(), CommandError> {
        let reason = match agent.facts().map(|row| row.restriction) {
            Some(Restriction::ByItself) => return Ok(()),
            Some(Restriction::TrustedOnly(reason)) => reason,
            None => "This version of Deskbell does not know this agent.",
        };
        Err(CommandError {
            code: ErrorCode::NotTrusted,
            message: format!("{} starts only in a folder that you trust.", agent.name()),
            detail: Some(reason.to_owned()),
        })
    }
}

/// The driver of an agent: `acp` says which one, and is `None` for Claude Code and the demo agent.
pub(crate) fn driver(acp: Option<&ChosenAgent>, project: &Path, start: &Start) -> Box<dyn Driver> {
    match acp {
        None => Box::<ClaudeDriver>::default(),
        Some(agent) => Box::new(AcpDriver::new(AcpSetup {
            agent: agent.clone(),
            folder: project.to_string_lossy().into_owned(),
            resume: start.resume.clone(),
            wants_past: start.wants_past,
        })),
    }
}

/// The agent's name for the user.
pub(crate) fn agent_name(kind: AgentKind, acp: Option<&ChosenAgent>) -> String {
    match (kind, acp) {
        (AgentKind::Demo, None) => "Demo agent".to_owned(),
        (_, Some(agent)) => agent.name(),
        (AgentKind::Claude, None) => "Claude Code".to_owned(),
        (AgentKind::Acp, None) => "Another agent".to_owned(),
    }
}

/// What a kind of agent can do at best. A process that lacks something of it says so.
pub(crate) fn capabilities(kind: AgentKind) -> AgentCapabilities {
    match kind {
        AgentKind::Claude => claude::capabilities(),
        // The demo agent changes no files and has no checkpoints of any.
        AgentKind::Demo => AgentCapabilities { rewind: false, ..claude::capabilities() },
        // It says itself what it can do, when it has started.
        AgentKind::Acp => AcpDriver::capabilities(),
    }
}

/// The rules of the options that allow without asking, which an agent may not report.
pub(crate) fn allowed_by(options: &SessionOptions) -> Vec<Rule> {
    options::allow_rules(options)
}

/// The argument of these options that the agent does not know, as its error output says.
pub(crate) fn unknown_option(options: &SessionOptions, stderr: &str) -> Option<String> {
    let argument = options::unknown_argument(stderr)?;
    let ours = options::args(options);
    ours.iter().any(|one| one.split('=').next() == Some(argument)).then(|| argument.to_owned())
}

/// The conversation that another one begins as a copy of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// The agent's id of the original, which the agent only reads.
    pub of: String,
    /// The last message to copy, by its uuid in the agent's transcript; `None` copies all.
    pub until: Option<String>,
}

impl Fork {
    pub fn is_valid(&self) -> bool {
        Launch::is_conversation_id(&self.of) && self.until.as_deref().is_none_or(Launch::is_conversation_id)
    }
}

/// Arguments that can differ between two starts of one session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    pub resume: Option<String>,
    /// With `resume`: Deskbell has no copy of the earlier messages. Only an agent that speaks ACP can repeat them.
    pub wants_past: bool,
    /// Begins a conversation as a copy of this one. Never with `resume`.
    pub fork: Option<Fork>,
    /// With `resume`: continues after this message, by its uuid.
    pub resume_at: Option<String>,
    pub model: Option<String>,
    pub mode: Option<StartMode>,
    /// Without model and effort, which are `model` and a request to the running agent.
    pub options: SessionOptions,
}

impl Launch {
    /// The command line arguments. Each value is joined to its flag with `=`, because a separate value that begins with
    /// a dash would be parsed as a flag. Prompts are never passed as arguments.
    pub fn args(&self, start: &Start) -> Vec<OsString> {
        let mut args = self.first_args.clone();
        if let Some(agent) = &self.acp {
            args.extend(agent.arguments().into_iter().map(OsString::from));
            return args;
        }
        let fixed = [
            "-p",
            "--input-format=stream-json",
            "--output-format=stream-json",
            "--verbose",
            "--include-partial-messages",
            // Reports each run of a hook. Without it only those of `SessionStart` are reported (2.1.197 and 2.1.329).
            "--include-hook-events",
            "--permission-prompt-tool=stdio",
        ];
        args.extend(fixed.map(OsString::from));
        let receives = start.options.receives_messages && !self.restricted;
        match &self.snapshot {
            Some(snapshot) if !self.restricted => args.extend(snapshot.args(receives)),
            _ => {
                if self.restricted {
                    args.extend(RESTRICTIONS.map(OsString::from));
                }
                if !receives {
                    let settings = Value::Object(other_sessions::settings());
                    args.push(format!("--settings={settings}").into());
                }
            }
        }
        args.extend(receives.then(|| other_sessions::WITH_MESSAGES.into()));
        let mut value = |flag: &str, value: &Option<String>| {
            args.extend(value.as_ref().map(|value| OsString::from(format!("{flag}={value}"))));
        };
        value("--resume", &start.resume);
        if start.resume.is_some() {
            // The conversation continues under its id, on a branch after this message; the agent's file keeps the other
            // one. The message must be on the newest branch (2.1.197 and 2.1.329).
            value("--resume-session-at", &start.resume_at);
        }
        if let Some(Fork { of, until }) = &start.fork {
            value("--resume", &Some(of.clone()));
            // Keeps the messages up to and including this one (2.1.329).
            value("--resume-session-at", until);
            args.push("--fork-session".into());
        }
        let mut value = |flag: &str, value: &Option<String>| {
            args.extend(value.as_ref().map(|value| OsString::from(format!("{flag}={value}"))));
        };
        value("--model", &start.model);
        value("--permission-mode", &start.mode.map(|mode| mode.name().to_owned()));
        args.extend(options::args(&start.options).into_iter().map(OsString::from));
        args
    }

    /// Returns whether a variable of the environment is meant only for Deskbell itself, its AppImage or the agent that
    /// started it. A program that inherits it would take itself for one that they started.
    pub fn is_private(name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        name.starts_with("CLAUDECODE")
            || claude::SESSION_VARIABLES.contains(&&*name)
            || OF_APP_IMAGE.contains(&&*name)
            || (name.starts_with("DESKBELL_") && !name.starts_with("DESKBELL_DEMO_"))
    }

    /// The environment of the child, derived from ours.
    pub fn environment(&self, ours: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
        let mut env: Vec<(OsString, OsString)> = ours
            .filter(|(name, _)| !Self::is_private(name))
            .filter(|(name, _)| !same(name, "PATH"))
            .collect();
        let other = self.env.iter().rev().find(|(name, _)| same(name, "PATH"));
        let path = other.map_or_else(|| std::env::var_os("PATH"), |(_, path)| path.clone());
        let path = completed_path(path.as_deref(), self.program.parent(), dirs::home_dir().as_deref());
        env.push(("PATH".into(), path));
        env.push((Self::RUN_TOKEN.into(), (&self.run_token).into()));
        match &self.acp {
            Some(agent) => adapt(&mut env, agent),
            None => env.extend(self.claude_variables()),
        }
        for (name, value) in self.env.iter().filter(|(name, _)| !same(name, "PATH")) {
            env.retain(|(known, _)| known != name);
            env.extend(value.clone().map(|value| (name.clone(), value)));
        }
        env
    }

    /// Variables of Claude Code and of the demo agent.
    fn claude_variables(&self) -> Vec<(OsString, OsString)> {
        let mut env: Vec<(OsString, OsString)> = Vec::new();
        // Emits the session states running, requires_action and idle, the best input for a status light (2.1.197 and
        // 2.1.329).
        env.push(("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS".into(), "1".into()));
        // Copies each file before it is edited, as the agent does in a terminal, so that it can be rewound (2.1.197 and
        // 2.1.329).
        env.push(("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING".into(), "true".into()));
        // The CLI joins the deltas of one frame: half the lines, the same characters (2.1.329).
        env.push(("CLAUDE_CODE_STREAM_EVENT_HOLD_MS".into(), "16".into()));
        if self.restricted {
            // The CLI starts turns for the prompts in the folder's `.claude/scheduled_tasks.json`, whatever settings it
            // loads (2.1.329 and 2.1.332). The variable also removes the agent's own tools for scheduled jobs.
            env.push(("CLAUDE_CODE_DISABLE_CRON".into(), "1".into()));
        } else {
            env.extend(self.snapshot.iter().flat_map(Snapshot::env));
        }
        env
    }
}

/// Sets and removes the variables that the agent's row names.
fn adapt(env: &mut Vec<(OsString, OsString)>, agent: &ChosenAgent) {
    let Some(row) = agent.facts() else { return };
    env.retain(|(name, _)| !row.environment.strip.iter().any(|stripped| same(name, stripped)));
    for (name, variable) in row.environment.set {
        env.retain(|(known, _)| !same(known, name));
        let value = match variable {
            Variable::Fixed(value) => (*value).to_owned(),
            Variable::Random => uuid::Uuid::new_v4().to_string(),
        };
        env.push(((*name).into(), value.into()));
    }
}

fn same(name: &OsStr, other: &str) -> bool {
    if cfg!(windows) { name.eq_ignore_ascii_case(other) } else { name == other }
}

/// What the runtime of an AppImage sets for the program in it, by Deskbell's own and by the one that started Deskbell: a
/// child would take itself for that program. zsh starts every command with the name in `ARGV0`.
const OF_APP_IMAGE: [&str; 4] = ["APPIMAGE", "APPDIR", "ARGV0", "OWD"];

/// PATH followed by the program's own folder, which may also have the Node that runs it, and by the usual program folders
/// that exist: the PATH of a desktop session is often short.
fn completed_path(path: Option<&OsStr>, own: Option<&Path>, home: Option<&Path>) -> OsString {
    let mut directories: Vec<PathBuf> =
        path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    let own = own.filter(|own| own.is_absolute()).map(Path::to_owned);
    for directory in own.into_iter().chain(usual_directories(home)) {
        if !directories.contains(&directory) && directory.is_dir() {
            directories.push(directory);
        }
    }
    std::env::join_paths(directories).unwrap_or_else(|_| path.unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::PermissionMode;
    use serde_json::json;

    fn launch() -> Launch {
        Launch {
            kind: AgentKind::Claude,
            acp: None,
            program: "claude".into(),
            first_args: Vec::new(),
            project: ".".into(),
            restricted: true,
            snapshot: None,
            env: vec![("EXTRA".into(), Some("1".into())), ("HOME".into(), None)],
            run_token: "token".into(),
            priority: Priority::Normal,
        }
    }

    #[test]
    fn values_are_joined_to_their_flags() {
        let start = Start {
            resume: Some("-x".into()),
            model: None,
            mode: Some(StartMode::Asking(PermissionMode::Plan)),
            options: SessionOptions { max_turns: Some(3), ..SessionOptions::default() },
            ..Start::default()
        };
        let args = launch().args(&start);
        assert!(args.contains(&"--resume=-x".into()));
        assert!(args.contains(&"--permission-mode=plan".into()));
        assert!(args.contains(&"--max-turns=3".into()));
    }

    #[test]
    fn a_fork_names_its_original_and_the_last_message_to_keep() {
        let fork = |until: Option<&str>| Fork { of: "a".into(), until: until.map(str::to_owned) };
        let args = |until| launch().args(&Start { fork: Some(fork(until)), ..Start::default() });
        let has = |until, flag: &str| args(until).contains(&flag.into());
        assert!(has(None, "--resume=a") && has(None, "--fork-session"));
        assert!(has(Some("b"), "--resume-session-at=b"));
        assert!(!args(None).iter().any(|arg| arg.to_string_lossy().contains("resume-session-at")));
        assert!(fork(Some("b")).is_valid() && !fork(Some("../b")).is_valid());
    }

    #[test]
    fn only_a_trusted_folder_has_its_settings_loaded() {
        let has = |launch: &Launch, flag: &str| launch.args(&Start::default()).contains(&flag.into());
        let trusted = Launch { restricted: false, ..launch() };
        for flag in RESTRICTIONS {
            assert!(has(&launch(), flag));
            assert!(!has(&trusted, flag));
        }
    }

    #[test]
    fn no_agent_gets_messages_and_a_restricted_one_neither_writes_any_nor_starts_scheduled_turns() {
        let settings = |launch: &Launch| {
            let args = launch.args(&Start::default());
            let given: Vec<_> =
                args.iter().filter_map(|arg| arg.to_str()?.strip_prefix("--settings=")).collect();
            assert_eq!(given.len(), 1, "{given:?}");
            serde_json::from_str::<Value>(given[0]).unwrap()
        };
        let cron = |launch: &Launch| {
            let name = OsString::from("CLAUDE_CODE_DISABLE_CRON");
            launch.environment(std::iter::empty()).contains(&(name, "1".into()))
        };
        let restricted = launch();
        let trusted = Launch { restricted: false, ..launch() };
        for launch in [&restricted, &trusted] {
            assert_eq!(settings(launch), json!({"crossSessionInbound": "refuse"}));
        }
        assert!(cron(&restricted) && !cron(&trusted));
    }

    #[test]
    fn messages_are_received_only_by_choice_and_never_in_a_restricted_folder() {
        let options = SessionOptions { receives_messages: true, ..SessionOptions::default() };
        let start = Start { options, ..Start::default() };
        let restricted = launch();
        let trusted = Launch { restricted: false, ..launch() };
        let says = |launch: &Launch, text: &str| {
            launch.args(&start).iter().any(|arg| arg.to_string_lossy().contains(text))
        };
        for (launch, receives) in [(&restricted, false), (&trusted, true)] {
            assert_eq!(says(launch, "crossSessionInbound"), !receives);
            // Without it a message would have neither a sender nor a text.
            assert_eq!(says(launch, "--replay-user-messages"), receives);
        }
    }

    #[test]
    fn an_id_that_would_leave_its_folder_is_none() {
        for id in ["s", "a_b-C9", "0c0f2a5e-5d2b-4e8e-9a6b-000000000000"] {
            assert!(Launch::is_conversation_id(id), "{id}");
        }
        let long = "a".repeat(129);
        for id in ["", "../x", "a/b", "a\\b", "-x", "a b", "a\0", "é", "a.jsonl", &long] {
            assert!(!Launch::is_conversation_id(id), "{id}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_the_resume_command_as_it_is_meant() {
        for name in ["plain", "two words", "it's", "$(touch x)`;\\\"", "-x\nnew line"] {
            let command = resume_command(Path::new(name), None, "id");
            let (folder, rest) = command.strip_prefix("cd ").unwrap().rsplit_once(" && ").unwrap();
            assert_eq!(rest, "claude --resume id");
            assert_eq!(folder.replace(r"'\''", "\u{0}").replace('\'', "").replace('\u{0}', "'"), name);
            assert!(folder.starts_with('\'') && folder.ends_with('\''), "{folder}");
        }
        let command = resume_command(Path::new("/p"), Some(Path::new("/its own")), "id");
        assert_eq!(command, "cd '/p' && CLAUDE_CONFIG_DIR='/its own' claude --resume id");
    }

    #[test]
    fn what_is_ours_stays_with_us() {
        let ours =
            ["APPIMAGE", "ARGV0", "CLAUDECODE", "DESKBELL_AGENT", "DESKBELL_DEMO_SPEED", "HOME", "LANG"]
                .map(|name| (OsString::from(name), OsString::from("x")));
        let env = launch().environment(ours.into_iter());
        let names: Vec<_> = env.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        let gone = ["APPIMAGE", "ARGV0", "CLAUDECODE", "DESKBELL_AGENT", "HOME"];
        assert!(!names.iter().any(|name| gone.contains(&name.as_str())));
        assert!(names.contains(&"DESKBELL_DEMO_SPEED".to_owned()));
        assert!(env.contains(&("EXTRA".into(), "1".into())));
        assert!(env.contains(&("DESKBELL_RUN".into(), "token".into())));
    }
}

//! Which program runs, where, with what arguments and environment: the one place that says so.

use crate::api::AgentKind;
use crate::locate::usual_directories;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The variable that marks every process we caused, directly or not, so that none is left behind.
pub const RUN_TOKEN: &str = "DESKBELL_RUN";

/// The mode that asks nothing. It is given at the start of a session that a person chose it for, and never asked for.
pub const BYPASS: &str = "bypassPermissions";

/// Modes that can be asked for; bypassing permissions is not one of them.
pub const MODES: &[&str] = &["default", "acceptEdits", "plan", "dontAsk", "auto"];

/// Without these, the folder's hooks, MCP servers and key helper run at spawn, and its settings can send the API key
/// elsewhere (2.1.329 and 2.1.197). An agent that does not know them ends at once, with an error that names them.
pub const RESTRICTIONS: [&str; 2] = ["--setting-sources=user", "--strict-mcp-config"];

/// Did an agent end because it does not know [`RESTRICTIONS`]? From its error output.
pub fn knows_no_restrictions(stderr: &str) -> bool {
    let names = RESTRICTIONS.map(|flag| flag.split('=').next().unwrap_or(flag));
    stderr.lines().any(|line| line.contains("unknown option") && names.iter().any(|name| line.contains(name)))
}

/// An agent program and the folder it works in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub kind: AgentKind,
    pub program: PathBuf,
    /// Before the agent's own arguments: `demo-agent` when the app runs itself.
    pub first_args: Vec<OsString>,
    pub project: PathBuf,
    /// Without the folder's own settings, hooks and servers: so it is unless its user trusts the folder.
    pub restricted: bool,
    /// On top of the inherited environment; `None` removes a variable.
    pub env: Vec<(OsString, Option<OsString>)>,
    pub run_token: String,
}

/// What may differ from one start of the same session to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    pub resume: Option<String>,
    pub model: Option<String>,
    pub mode: Option<String>,
}

impl Launch {
    /// The arguments. Values are joined to their flag: a value of its own that begins with a dash would be read as a
    /// flag. A prompt never travels here.
    pub fn args(&self, start: &Start) -> Vec<OsString> {
        let mut args = self.first_args.clone();
        let fixed = [
            "-p",
            "--input-format=stream-json",
            "--output-format=stream-json",
            "--verbose",
            "--include-partial-messages",
            "--permission-prompt-tool=stdio",
        ];
        args.extend(fixed.map(OsString::from));
        if self.restricted {
            args.extend(RESTRICTIONS.map(OsString::from));
        }
        let mut value = |flag: &str, value: &Option<String>| {
            args.extend(value.as_ref().map(|value| OsString::from(format!("{flag}={value}"))));
        };
        value("--resume", &start.resume);
        value("--model", &start.model);
        value("--permission-mode", &start.mode);
        args
    }

    /// The child's environment, from ours.
    pub fn environment(&self, ours: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
        let mut env: Vec<(OsString, OsString)> =
            ours.filter(|(name, _)| !is_private(name)).filter(|(name, _)| !same(name, "PATH")).collect();
        let path = std::env::var_os("PATH");
        env.push(("PATH".into(), completed_path(path.as_deref(), dirs::home_dir().as_deref())));
        env.push((RUN_TOKEN.into(), (&self.run_token).into()));
        // Running, requires_action, idle: the best input for a status light (2.1.197 and 2.1.329).
        env.push(("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS".into(), "1".into()));
        // Joins deltas of one frame in the CLI itself: half the lines, the same characters (2.1.329).
        env.push(("CLAUDE_CODE_STREAM_EVENT_HOLD_MS".into(), "16".into()));
        for (name, value) in &self.env {
            env.retain(|(known, _)| known != name);
            env.extend(value.clone().map(|value| (name.clone(), value)));
        }
        env
    }
}

fn same(name: &OsStr, other: &str) -> bool {
    if cfg!(windows) { name.eq_ignore_ascii_case(other) } else { name == other }
}

/// Variables that are between us and whoever started us: a child that saw them would take itself for another's.
fn is_private(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("CLAUDECODE") || (name.starts_with("DESKBELL_") && !name.starts_with("DESKBELL_DEMO_"))
}

/// PATH with the usual directories behind what is there: a desktop session's PATH is often short.
fn completed_path(path: Option<&OsStr>, home: Option<&Path>) -> OsString {
    let mut directories: Vec<PathBuf> =
        path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    for directory in usual_directories(home) {
        if !directories.contains(&directory) && directory.is_dir() {
            directories.push(directory);
        }
    }
    std::env::join_paths(directories).unwrap_or_else(|_| path.unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch() -> Launch {
        Launch {
            kind: AgentKind::Claude,
            program: "claude".into(),
            first_args: Vec::new(),
            project: ".".into(),
            restricted: true,
            env: vec![("EXTRA".into(), Some("1".into())), ("HOME".into(), None)],
            run_token: "token".into(),
        }
    }

    #[test]
    fn values_are_joined_to_their_flags() {
        let start = Start { resume: Some("-x".into()), model: None, mode: Some("plan".into()) };
        let args = launch().args(&start);
        assert!(args.contains(&"--resume=-x".into()));
        assert!(args.contains(&"--permission-mode=plan".into()));
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
    fn what_is_ours_stays_with_us() {
        let ours = ["CLAUDECODE", "DESKBELL_AGENT", "DESKBELL_DEMO_SPEED", "HOME", "LANG"]
            .map(|name| (OsString::from(name), OsString::from("x")));
        let env = launch().environment(ours.into_iter());
        let names: Vec<_> = env.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        assert!(!names.iter().any(|name| ["CLAUDECODE", "DESKBELL_AGENT", "HOME"].contains(&name.as_str())));
        assert!(names.contains(&"DESKBELL_DEMO_SPEED".to_owned()));
        assert!(env.contains(&("EXTRA".into(), "1".into())));
        assert!(env.contains(&("DESKBELL_RUN".into(), "token".into())));
    }
}

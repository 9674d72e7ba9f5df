//! The environment: the transcript's folder, the demo's speed, and the faults that a test requests.
//!
//! `DESKBELL_DEMO_SPEED` scales the demo's pauses: `1` is the natural pace, `2` twice as slow, `0` none at all. The
//! pauses of a script are literal.
//!
//! `DESKBELL_DEMO_FAULT` is a comma-separated list of:
//!
//! | Fault | Effect |
//! |---|---|
//! | `exit-at-start`, `exit-at-start:CODE` | prints the reason on stderr and exits before reading anything (code 1) |
//! | `garbage` | writes lines that are not JSON to the standard output before anything else |
//! | `stderr-flood` | writes 1 MiB to the standard error before anything else |
//! | `never-initialize` | never answers `initialize` |
//! | `exit-after-init` | exits with code 1 as soon as `initialize` is answered |
//! | `ignore-eof` | keeps running after its standard input is closed |
//! | `ignore-sigterm` | ignores SIGTERM |
//! | `late-store` | writes its transcript only when a turn ends, like a real agent that is killed early |
//! | `stubborn` | rejects every change of mode, model and thinking, and keeps its effort |
//! | `no-context` | does not know the request for what fills its context |
//! | `no-side-questions` | does not know the request that asks a side question |
//! | `never-asks` | runs tools that need permission in its mode without asking, though it reports that it would ask |
//! | `cannot-ask` | cannot ask for permission, whatever its flags are |
//! | `old` | behaves as 2.1.197 did: no capabilities, no `command_lifecycle`, no receipts |
//!
//! `DESKBELL_DEMO_HEARD` is a folder in which each agent keeps a file of every line that it read, by its process id. It writes
//! a line there before it reacts.
//!
//! With every fault, an agent whose host is gone exits within [`ORPHAN_LIFE`].

use std::path::PathBuf;
use std::time::Duration;

/// Maximum lifetime of an agent after its standard input is closed: long enough to test every stage of stopping it,
/// short enough that a test that died leaves no agent running.
pub const ORPHAN_LIFE: Duration = Duration::from_secs(60);

/// The settings from the environment.
pub struct DemoEnvironment {
    /// `CLAUDE_CONFIG_DIR`. Without it nothing at all is written to the disk.
    pub config_dir: Option<PathBuf>,
    /// `DESKBELL_DEMO_HEARD`: the folder for what this agent reads.
    pub heard: Option<PathBuf>,
    /// `CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS`: whether to send `session_state_changed`.
    pub state_events: bool,
    speed: f64,
    faults: Vec<String>,
}

impl DemoEnvironment {
    /// Reads the environment of this process.
    pub fn from_process() -> Self {
        let var = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            config_dir: std::env::var_os("CLAUDE_CONFIG_DIR")
                .filter(|dir| !dir.is_empty())
                .map(PathBuf::from),
            heard: var("DESKBELL_DEMO_HEARD").map(PathBuf::from),
            state_events: var("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS")
                .is_some_and(|v| v == "1" || v == "true"),
            speed: var("DESKBELL_DEMO_SPEED").and_then(|v| v.parse().ok()).unwrap_or(1.0),
            faults: var("DESKBELL_DEMO_FAULT")
                .map(|list| list.split(',').map(|fault| fault.trim().to_owned()).collect())
                .unwrap_or_default(),
        }
    }

    /// Whether a fault is requested.
    pub fn has(&self, fault: &str) -> bool {
        self.faults.iter().any(|asked| asked == fault)
    }

    /// The exit code of `exit-at-start`, if it is requested.
    pub fn exit_at_start(&self) -> Option<u8> {
        self.faults.iter().find_map(|fault| match fault.strip_prefix("exit-at-start")? {
            "" => Some(1),
            code => code.strip_prefix(':')?.parse().ok(),
        })
    }

    /// Whether to behave as the old version did.
    pub fn old(&self) -> bool {
        self.has("old")
    }

    /// The version of the CLI that this agent imitates.
    pub fn version(&self) -> &'static str {
        if self.old() { "2.1.197" } else { "2.1.329" }
    }

    /// A pause of the demo, scaled by the requested speed.
    pub fn paced(&self, millis: u64) -> Duration {
        Duration::from_millis(millis).mul_f64(self.speed.clamp(0.0, 100.0))
    }
}

/// The folder in which the agent works.
pub fn cwd() -> String {
    std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned()
}

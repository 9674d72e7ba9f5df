//! The environment: where the transcript goes, how fast the demo plays, and the faults a test asks for.
//!
//! `DESKBELL_DEMO_SPEED` scales the demo's pauses: `1` is the natural pace, `2` twice as slow, `0` none at all. The
//! pauses a script asks for are literal.
//!
//! `DESKBELL_DEMO_FAULT` is a comma-separated list of:
//!
//! | Fault | Effect |
//! |---|---|
//! | `exit-at-start`, `exit-at-start:CODE` | says why on the standard error and exits before reading anything (code 1) |
//! | `garbage` | writes lines that are not JSON to the standard output before anything else |
//! | `stderr-flood` | writes 1 MiB to the standard error before anything else |
//! | `never-initialize` | never answers `initialize` |
//! | `exit-after-init` | exits with code 1 as soon as `initialize` is answered |
//! | `ignore-eof` | goes on living after its standard input is closed |
//! | `ignore-sigterm` | ignores SIGTERM |
//! | `late-store` | writes its transcript only when a turn ends, as a real agent killed early would have |
//! | `stubborn` | refuses every other mode, model and way to think, and stays at its effort |
//! | `never-asks` | runs what it must ask for in the mode it is in, though it says that it would ask |
//! | `cannot-ask` | has nobody to ask, whatever its flags say |
//! | `old` | behaves as 2.1.197 did: no capabilities, no `command_lifecycle`, no receipts |
//!
//! Whatever the fault, an agent whose host is gone ends within [`ORPHAN_LIFE`].

use std::path::PathBuf;
use std::time::Duration;

/// How long an agent can outlive its standard input: long enough for every stop ladder to be tried on it, short
/// enough that none is left behind by a test that died.
pub const ORPHAN_LIFE: Duration = Duration::from_secs(60);

/// What the environment says.
pub struct Environment {
    /// `CLAUDE_CONFIG_DIR`. Without it nothing at all is written to the disk.
    pub config_dir: Option<PathBuf>,
    /// `CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS`: whether to send `session_state_changed`.
    pub state_events: bool,
    speed: f64,
    faults: Vec<String>,
}

impl Environment {
    /// Reads the process's own environment.
    pub fn from_process() -> Self {
        let var = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            config_dir: std::env::var_os("CLAUDE_CONFIG_DIR")
                .filter(|dir| !dir.is_empty())
                .map(PathBuf::from),
            state_events: var("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS")
                .is_some_and(|v| v == "1" || v == "true"),
            speed: var("DESKBELL_DEMO_SPEED").and_then(|v| v.parse().ok()).unwrap_or(1.0),
            faults: var("DESKBELL_DEMO_FAULT")
                .map(|list| list.split(',').map(|fault| fault.trim().to_owned()).collect())
                .unwrap_or_default(),
        }
    }

    /// Whether a fault is asked for.
    pub fn has(&self, fault: &str) -> bool {
        self.faults.iter().any(|asked| asked == fault)
    }

    /// The exit code of `exit-at-start`, if that is asked for.
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

    /// The version of the CLI that is spoken like.
    pub fn version(&self) -> &'static str {
        if self.old() { "2.1.197" } else { "2.1.329" }
    }

    /// A pause of the demo, at the asked-for pace.
    pub fn paced(&self, millis: u64) -> Duration {
        Duration::from_millis(millis).mul_f64(self.speed.clamp(0.0, 100.0))
    }
}

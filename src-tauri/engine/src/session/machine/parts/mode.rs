//! The permission mode: the one that the agent reported, the one that the user wants, and whether the process may run
//! without asking.

use crate::api::{BYPASS, PermissionMode};
use crate::launch::StartMode;

/// Requests to return to a mode that asks, before the process is stopped.
const ATTEMPTS: u32 = 2;

#[derive(Debug, Default)]
pub struct WantedMode {
    /// The mode in force. The agent may report one that cannot be requested.
    reported: Option<String>,
    wanted: Option<PermissionMode>,
    bypass: Bypass,
    /// Number of times this process ran without asking although the user had not chosen it.
    n_bypass_undone: u32,
}

/// The state of the bypass in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bypass {
    #[default]
    No,
    /// The user chose it for the process that is about to start.
    Chosen,
    Running,
    /// The last process ran in it. A notice follows when the next one starts.
    Over,
}

/// How a process starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeAtStart {
    pub mode: Option<StartMode>,
    /// The last process ran without asking, and this one asks again.
    pub asks_again: bool,
}

/// What the reported mode calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeCheck {
    Fine,
    /// A process that the user chose to run without asking asks again.
    AsksAgain,
    /// It runs without asking and was not chosen to: it has to return to this mode.
    SwitchBack(PermissionMode),
    /// It keeps running without asking.
    End,
}

impl WantedMode {
    pub fn restore(wanted: Option<PermissionMode>, bypassed: bool) -> Self {
        let bypass = if bypassed { Bypass::Over } else { Bypass::No };
        Self { wanted, bypass, ..Self::default() }
    }

    pub fn wanted(&self) -> Option<PermissionMode> {
        self.wanted
    }

    /// Whether the next start of the app has to report that the agent asks again.
    pub fn is_bypass_saved(&self) -> bool {
        self.bypass != Bypass::No
    }

    /// The mode in force, as the agent reported it. Before the process is ready, the mode that it will be asked for. A
    /// mode that was requested and not confirmed is not in force.
    pub fn shown(&self, is_ready: bool) -> Option<&str> {
        let reported = self.reported.as_deref();
        reported.filter(|_| is_ready).or(self.wanted.map(PermissionMode::name)).or(reported)
    }

    /// Only `default` asks for everything, and only while no other mode is requested.
    pub fn is_strict(&self, requested: Option<PermissionMode>) -> bool {
        self.reported.as_deref() == Some("default")
            && requested.is_none()
            && self.wanted.is_none_or(|mode| mode == PermissionMode::Default)
    }

    fn is_bypassing(&self) -> bool {
        self.reported.as_deref() == Some(BYPASS)
    }

    /// Whether the agent runs without asking although the user did not choose it.
    pub fn is_bypass_unchosen(&self) -> bool {
        self.is_bypassing() && self.bypass != Bypass::Running
    }

    /// The user chose to run the next process without asking.
    pub fn on_bypass_chosen(&mut self) {
        self.bypass = Bypass::Chosen;
        self.wanted = None;
    }

    pub fn on_spawn(&mut self) -> ModeAtStart {
        let (mode, asks_again) = match self.bypass {
            Bypass::Chosen => {
                self.bypass = Bypass::Running;
                (Some(StartMode::WithoutAsking), false)
            }
            Bypass::Over => {
                self.bypass = Bypass::No;
                (self.wanted.map(StartMode::Asking), true)
            }
            Bypass::No | Bypass::Running => (self.wanted.map(StartMode::Asking), false),
        };
        self.reported = mode.map(|mode| mode.name().to_owned());
        self.n_bypass_undone = 0;
        ModeAtStart { mode, asks_again }
    }

    /// The process has ended, or failed to start.
    pub fn on_exit(&mut self) {
        if matches!(self.bypass, Bypass::Running | Bypass::Chosen) {
            self.bypass = Bypass::Over;
        }
        if self.is_bypassing() {
            self.reported = None;
        }
    }

    /// The answer to `initialize`. Returns the mode that the agent has to be asked for.
    pub fn on_ready(&mut self, reported: Option<String>) -> Option<PermissionMode> {
        self.reported = reported.or(self.reported.take());
        self.wanted.filter(|mode| self.reported.as_deref() != Some(mode.name()))
    }

    /// The mode at the beginning of a turn. Returns whether the wanted mode changed.
    pub fn on_init(&mut self, mode: String, requested: Option<PermissionMode>) -> bool {
        if self.wanted.is_some() {
            return self.on_report(mode, requested);
        }
        self.reported = Some(mode);
        false
    }

    /// The agent reports its mode. A mode that was `requested` and not answered yet stays wanted. Returns whether the
    /// wanted mode changed.
    pub fn on_report(&mut self, mode: String, requested: Option<PermissionMode>) -> bool {
        // The agent may report a mode that cannot be requested.
        let wanted = requested.or_else(|| mode.parse().ok());
        self.reported = Some(mode);
        wanted.is_some() && self.want(wanted)
    }

    /// The agent reports a mode of its own.
    pub fn is_shown_as(&mut self, mode: String) {
        self.reported = Some(mode);
    }

    /// The user chose a mode. Returns whether it is another one.
    pub fn on_chosen(&mut self, mode: PermissionMode) -> bool {
        self.want(Some(mode))
    }

    /// The agent refused a mode: the one in force is wanted, unless another one is `requested`. Returns whether the
    /// wanted mode changed.
    pub fn on_refused(&mut self, requested: Option<PermissionMode>) -> bool {
        let reported = self.reported.as_deref().and_then(|mode| mode.parse().ok());
        self.want(requested.or(reported))
    }

    fn want(&mut self, mode: Option<PermissionMode>) -> bool {
        std::mem::replace(&mut self.wanted, mode) != mode
    }

    /// Compares the mode that the agent reported with the user's choice. `can_ask`: the agent can be asked for another
    /// mode, and was not asked for one already.
    pub fn check(&mut self, can_ask: bool) -> ModeCheck {
        match (self.is_bypassing(), self.bypass) {
            (false, Bypass::Running) => {
                self.bypass = Bypass::No;
                ModeCheck::AsksAgain
            }
            (true, Bypass::No | Bypass::Chosen | Bypass::Over) if can_ask => {
                self.n_bypass_undone += 1;
                if self.n_bypass_undone > ATTEMPTS {
                    ModeCheck::End
                } else {
                    ModeCheck::SwitchBack(self.wanted.unwrap_or(PermissionMode::Default))
                }
            }
            _ => ModeCheck::Fine,
        }
    }
}

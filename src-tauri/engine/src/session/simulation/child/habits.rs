//! Faults and quirks of one agent process, drawn when it starts.

use super::Ground;
use crate::chance::Chance;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Initialize {
    Answers,
    Refuses,
    Never,
}

/// The end of a process, or a pause in milliseconds of the clock.
pub enum Interruption {
    Exit { code: Option<i32>, signal: Option<i32>, stderr: &'static str },
    Pause { until: u64 },
}

#[derive(Clone)]
pub struct Habits {
    /// Answers all requests and does nothing else.
    pub is_calm: bool,
    /// 2.1.197: no prompt ids in results, no mode in the response to `initialize`, accepts any model.
    pub is_old: bool,
    pub reports_state: bool,
    pub initialize: Initialize,
    pub fails_to_start: bool,
    /// Keeps running when it cannot resume.
    pub lingers: bool,
    /// Closes its stdin at some point.
    pub closes_stdin: bool,
    pub deaf_to_interrupt: bool,
    pub deaf_to_end_of_input: bool,
    pub deaf_to_terminate: bool,
    /// Turns end only when they are interrupted.
    pub hangs: bool,
    /// Claims that the prompt to interrupt has not begun.
    pub denies_interrupt: bool,
    /// Switches to `bypassPermissions` by itself and stays there, whatever mode is requested.
    pub slips: bool,
    /// Does not respond to change requests.
    pub never_confirms: bool,
    /// Does not support the `auto` mode.
    pub lacks_auto: bool,
    /// Maximum pause; 0 means none.
    pub pause_ms: u64,
    /// Crash probability per action, as 1/n; 0 means never.
    pub crash_one_in: u64,
}

impl Habits {
    pub fn draw(chance: &mut Chance) -> Self {
        let is_good = chance.one_in(2);
        let mut quirk = |n: u64| !is_good && chance.one_in(n);
        let mut habits = Self {
            is_calm: false,
            is_old: quirk(3),
            reports_state: !quirk(3),
            initialize: Initialize::Answers,
            fails_to_start: quirk(8),
            lingers: quirk(4),
            closes_stdin: quirk(8),
            deaf_to_interrupt: quirk(6),
            deaf_to_end_of_input: quirk(4),
            deaf_to_terminate: quirk(4),
            hangs: quirk(6),
            denies_interrupt: quirk(8),
            slips: quirk(8),
            never_confirms: quirk(8),
            lacks_auto: quirk(3),
            pause_ms: 0,
            crash_one_in: 0,
        };
        if quirk(8) {
            habits.initialize = Initialize::Never;
        } else if quirk(8) {
            habits.initialize = Initialize::Refuses;
        }
        if quirk(3) {
            habits.crash_one_in = 40;
        }
        let pauses = quirk(3);
        if pauses {
            habits.pause_ms = *chance.pick(&[200, 5_000, 90_000]).unwrap();
        }
        habits
    }

    /// What happens to the process instead of its next action.
    pub fn interruption(&self, is_terminated: bool, ground: &mut Ground<'_>) -> Option<Interruption> {
        if is_terminated && !self.deaf_to_terminate {
            return Some(Interruption::Exit { code: Some(143), signal: None, stderr: "" });
        }
        if ground.chance.one_in(self.crash_one_in) {
            let (code, signal) =
                *ground.chance.pick(&[(Some(1), None), (Some(0), None), (None, Some(11))]).unwrap();
            return Some(Interruption::Exit { code, signal, stderr: "panicked\n\n" });
        }
        let pauses = self.pause_ms > 0 && ground.chance.one_in(12);
        pauses.then(|| Interruption::Pause { until: ground.now + ground.chance.below(self.pause_ms) })
    }

    /// The same process without its faults.
    pub fn calm(&self) -> Self {
        Self {
            is_calm: true,
            is_old: self.is_old,
            reports_state: self.reports_state,
            initialize: Initialize::Answers,
            fails_to_start: false,
            lingers: self.lingers,
            closes_stdin: false,
            deaf_to_interrupt: false,
            deaf_to_end_of_input: false,
            deaf_to_terminate: false,
            hangs: false,
            denies_interrupt: false,
            slips: false,
            never_confirms: false,
            lacks_auto: self.lacks_auto,
            pause_ms: 0,
            crash_one_in: 0,
        }
    }

    pub fn has_mode(&self, mode: &str) -> bool {
        mode != "auto" || !self.lacks_auto
    }
}

//! Running without asking: chosen before a process starts, by a person, for that process, and never any other way.
//!
//! A live switch cannot reach it, settings cannot, and a process that comes after that one (a crash, hibernation, the
//! next start of the app) asks again and says so. The CLI takes it as `--permission-mode=bypassPermissions`, without
//! `--dangerously-skip-permissions`; as root it refuses to start so (2.1.329). It also offers the way back to a process
//! that once ran so, which is not taken.

use super::{Asked, Step};
use crate::api::{ErrorCode, Level};
use crate::launch::BYPASS;
use crate::wire;

/// Where a session stands with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Bypass {
    #[default]
    No,
    /// For the process that is about to start.
    Chosen,
    Running,
    /// It ran so, and does not any more: to be said when the next process starts.
    Over,
}

impl Step<'_> {
    /// Starts a process as a person chose for it.
    pub(super) fn start_without_asking(&mut self) {
        if self.machine.process != super::Process::Absent {
            let message = "The agent runs, or is about to. Stop it first: to run without asking is chosen before it starts.";
            return self.refuse(ErrorCode::BadCommand, message);
        }
        self.machine.bypass = Bypass::Chosen;
        self.machine.wanted_mode = None;
        self.save();
        self.start();
    }

    /// The mode of the process that starts now.
    pub(super) fn mode_to_start_in(&mut self) -> Option<String> {
        match self.machine.bypass {
            Bypass::Chosen => {
                self.machine.bypass = Bypass::Running;
                return Some(BYPASS.to_owned());
            }
            Bypass::Over => {
                self.machine.bypass = Bypass::No;
                let text = "This session ran without asking. It asks again from here on: to run without asking is \
                            chosen before the agent starts, each time.";
                self.notice(Level::Warning, text, None);
                self.save();
            }
            Bypass::No | Bypass::Running => {}
        }
        self.machine.wanted_mode.clone()
    }

    /// The process is gone, or never came.
    pub(super) fn bypass_over(&mut self) {
        if matches!(self.machine.bypass, Bypass::Running | Bypass::Chosen) {
            self.machine.bypass = Bypass::Over;
        }
        if self.machine.mode.as_deref() == Some(BYPASS) {
            self.machine.mode = None;
        }
    }

    /// Holds what the agent says of its mode against what was chosen.
    pub(super) fn bypass_told(&mut self) {
        let is_bypassing = self.machine.mode.as_deref() == Some(BYPASS);
        match (is_bypassing, self.machine.bypass) {
            (false, Bypass::Running) => {
                self.machine.bypass = Bypass::No;
                self.save();
            }
            (true, Bypass::No | Bypass::Chosen | Bypass::Over) if self.machine.asked_mode().is_none() => {
                let text = "The agent was set to run without asking, though nobody chose that for this session. It was \
                            told to ask.";
                self.notice(Level::Warning, text, None);
                let mode = self.machine.wanted_mode.clone().unwrap_or_else(|| "default".to_owned());
                self.ask(Asked::Mode(mode.clone()), wire::set_permission_mode(&mode));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Effect, Input, Limits, Machine, Memory, Note};
    use super::*;
    use crate::api::{Command, ExitReport};
    use crate::wire::Inbound;
    use serde_json::{Value, json};

    fn machine(memory: Memory) -> Machine {
        Machine::new(memory, Limits::default())
    }

    fn mode_of_spawn(effects: &[Effect]) -> Option<&str> {
        effects.iter().find_map(|effect| match effect {
            Effect::Spawn(start) => start.mode.as_deref(),
            _ => None,
        })
    }

    fn says_so(effects: &[Effect]) -> bool {
        let is_warning =
            |effect: &Effect| matches!(effect, Effect::Note(Note::Notice { level: Level::Warning, .. }));
        effects.iter().any(is_warning)
    }

    fn modes_asked(effects: &[Effect]) -> Vec<Value> {
        let lines = effects.iter().filter_map(|effect| match effect {
            Effect::Write(line) => serde_json::from_str::<Value>(line).ok(),
            _ => None,
        });
        lines.filter(|line| line["request"]["subtype"] == "set_permission_mode").collect()
    }

    fn up(machine: &mut Machine, mode: &str) -> Vec<Effect> {
        machine.step(0, Input::Spawned);
        let outcome = Ok(json!({"current_permission_mode": mode}));
        let request_id = format!("deskbell-{}", machine.n_asked);
        machine.step(0, Input::Line(Inbound::ControlResponse { request_id, outcome }))
    }

    fn exit(machine: &mut Machine) {
        let report = ExitReport { code: Some(1), signal: None, expected: false, stderr: String::new() };
        machine.step(0, Input::Exited(report));
    }

    #[test]
    fn it_lasts_for_the_process_that_it_was_chosen_for() {
        let mut machine = machine(Memory::default());
        assert_eq!(mode_of_spawn(&machine.step(0, Input::StartWithoutAsking)), Some(BYPASS));
        assert!(modes_asked(&up(&mut machine, BYPASS)).is_empty());
        assert_eq!(machine.shown_mode(), Some(BYPASS));
        exit(&mut machine);
        assert_ne!(machine.shown_mode(), Some(BYPASS));
        let effects = machine.step(0, Input::Start);
        assert_eq!(mode_of_spawn(&effects), None);
        assert!(says_so(&effects));
    }

    #[test]
    fn a_session_that_exists_is_started_so_again_by_another_choice() {
        let mut machine = machine(Memory { mode: Some("plan".to_owned()), ..Memory::default() });
        machine.step(0, Input::Start);
        up(&mut machine, "plan");
        let refused = machine.step(0, Input::StartWithoutAsking);
        assert!(matches!(refused[..], [Effect::Refuse(_)]), "it runs: {refused:?}");
        exit(&mut machine);
        let effects = machine.step(0, Input::StartWithoutAsking);
        assert_eq!(mode_of_spawn(&effects), Some(BYPASS));
        assert!(!says_so(&effects));
        assert!(modes_asked(&up(&mut machine, BYPASS)).is_empty(), "an older wish is not held against it");
        exit(&mut machine);
        assert_eq!(mode_of_spawn(&machine.step(0, Input::StartWithoutAsking)), Some(BYPASS), "and once more");
        up(&mut machine, BYPASS);
        exit(&mut machine);
        let effects = machine.step(0, Input::Start);
        assert_eq!(mode_of_spawn(&effects), None);
        assert!(says_so(&effects));
    }

    #[test]
    fn it_does_not_outlive_the_app() {
        let mut before = machine(Memory::default());
        before.step(0, Input::StartWithoutAsking);
        up(&mut before, BYPASS);
        let memory = before.memory();
        assert_eq!(memory.mode, None);
        let mut after = machine(memory);
        let effects = after.step(0, Input::Start);
        assert_eq!(mode_of_spawn(&effects), None);
        assert!(says_so(&effects), "it is said once");
        assert!(!after.memory().bypassed, "and not again");
    }

    #[test]
    fn no_live_switch_leads_to_it_nor_back_to_it() {
        let mut machine = machine(Memory::default());
        machine.step(0, Input::StartWithoutAsking);
        up(&mut machine, BYPASS);
        let set = |mode: &str| Input::Command(Command::SetMode { mode: mode.to_owned() });
        let refused = machine.step(0, set(BYPASS));
        assert!(matches!(refused[..], [Effect::Refuse(_)]), "{refused:?}");
        assert_eq!(modes_asked(&machine.step(0, set("default"))).len(), 1);
        let line = |mode: &str| {
            Input::Line(Inbound::Status { status: None, permission_mode: Some(mode.to_owned()) })
        };
        let request_id = format!("deskbell-{}", machine.n_asked);
        let outcome = Ok(json!({}));
        machine.step(0, Input::Line(Inbound::ControlResponse { request_id, outcome }));
        machine.step(0, line("default"));
        assert!(!machine.memory().bypassed);
        let effects = machine.step(0, line(BYPASS));
        assert_eq!(modes_asked(&effects)[0]["request"]["mode"], "default", "the agent went back by itself");
    }

    #[test]
    fn settings_do_not_lead_to_it() {
        let mut machine = machine(Memory::default());
        machine.step(0, Input::Start);
        let effects = up(&mut machine, BYPASS);
        assert_eq!(modes_asked(&effects)[0]["request"]["mode"], "default");
        assert!(says_so(&effects));
    }
}

//! Running without permission requests: the user chooses it before a process starts, for that process only.
//!
//! No other way leads there: neither a live switch nor settings. The next process (after a crash, hibernation or a
//! restart of the app) asks again and shows a notice. The CLI flag is `--permission-mode=bypassPermissions`, without
//! `--dangerously-skip-permissions`; as root the CLI refuses to start with it (2.1.329). The CLI also offers a live
//! switch back to a process that ran in this mode before; Deskbell does not use it.

use super::parts::mode::{ModeAtStart, ModeCheck};
use super::{AfterExit, PendingRequest, Step};
use crate::agent::HostRequest;
use crate::api::{ErrorCode, Level};
use crate::launch::StartMode;

impl Step<'_> {
    /// Starts a process that skips all permission requests, as the user chose for it.
    pub(super) fn start_without_asking(&mut self) {
        if !self.machine.process.is_absent() {
            let message = "The agent is already running. Stop it first: “Skip all permissions” can only be \
                           chosen before it starts.";
            return self.refuse(ErrorCode::BadCommand, message);
        }
        self.machine.mode.on_bypass_chosen();
        self.save();
        self.start();
    }

    /// The mode for the process that starts now.
    pub(super) fn mode_to_start_in(&mut self) -> Option<StartMode> {
        let ModeAtStart { mode, asks_again } = self.machine.mode.on_spawn();
        if asks_again {
            let text = "This session skipped all permissions. From here on it asks again: “Skip all \
                        permissions” has to be chosen each time, before the agent starts.";
            self.notice(Level::Warning, text, None);
            self.save();
        }
        mode
    }

    /// Compares the mode that the agent reported with the user's choice.
    pub(super) fn mode_reported(&mut self) {
        let can_ask = self.listens() && !self.machine.control.awaits_mode();
        match self.machine.mode.check(can_ask) {
            ModeCheck::Fine => {}
            ModeCheck::AsksAgain => self.save(),
            ModeCheck::End => self.end_bypass(),
            ModeCheck::SwitchBack(mode) => {
                let text = "The agent skips all permissions, which you did not choose for this session. \
                            Deskbell instructed it to switch back, and sends no prompt until it has.";
                self.notice(Level::Warning, text, None);
                self.ask(PendingRequest::Mode(mode), HostRequest::SetMode(mode));
            }
        }
    }

    /// Stops an agent that does not return to a mode that asks.
    pub(super) fn end_bypass(&mut self) {
        let text = "The agent keeps skipping all permissions, which you did not choose for this session. It \
                    is being stopped. Queued prompts were not sent.";
        self.notice(Level::Error, text, None);
        self.hold_queue();
        self.save();
        self.advance_shutdown(AfterExit::Restart);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Effect, Input, Machine, SavedSession, Timeouts, TranscriptEvent};
    use super::*;
    use crate::agent::{AgentCommand, AgentEvent, Answer, Initialized, Refused};
    use crate::api::{BYPASS, Command, ExitReport, PermissionMode};
    use serde_json::json;

    fn machine(memory: SavedSession) -> Machine {
        Machine::new(memory, Timeouts::default())
    }

    fn mode_of_spawn(effects: &[Effect]) -> Option<&'static str> {
        effects.iter().find_map(|effect| match effect {
            Effect::Spawn(start) => start.mode.map(StartMode::name),
            _ => None,
        })
    }

    fn says_so(effects: &[Effect]) -> bool {
        let is_warning = |effect: &Effect| {
            matches!(effect, Effect::TranscriptEvent(TranscriptEvent::Notice { level: Level::Warning, .. }))
        };
        effects.iter().any(is_warning)
    }

    fn modes_asked(effects: &[Effect]) -> Vec<PermissionMode> {
        let lines = effects.iter().filter_map(|effect| match effect {
            Effect::Write(AgentCommand::Request { request: HostRequest::SetMode(mode), .. }) => Some(*mode),
            _ => None,
        });
        lines.collect()
    }

    fn up(machine: &mut Machine, mode: &str) -> Vec<Effect> {
        machine.step(0, Input::Spawned);
        let permission_mode = Some(mode.to_owned());
        let initialized = Initialized { permission_mode, ..Initialized::default() };
        let outcome = Ok(Answer::Initialized(Box::new(initialized)));
        let request_id = machine.control.last_id();
        machine.step(0, Input::Line(AgentEvent::Response { request_id, outcome }))
    }

    fn exit(machine: &mut Machine) {
        let report = ExitReport { code: Some(1), signal: None, expected: false, stderr: String::new() };
        machine.step(0, Input::Exited(report));
    }

    #[test]
    fn it_lasts_for_the_process_that_it_was_chosen_for() {
        let mut machine = machine(SavedSession::default());
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
        let mut machine =
            machine(SavedSession { mode: Some(PermissionMode::Plan), ..SavedSession::default() });
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
        let mut before = machine(SavedSession::default());
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
        let mut machine = machine(SavedSession::default());
        machine.step(0, Input::StartWithoutAsking);
        up(&mut machine, BYPASS);
        let set = Input::Command(Command::SetMode { mode: PermissionMode::Default });
        assert_eq!(modes_asked(&machine.step(0, set)).len(), 1);
        let line = |mode: &str| {
            Input::Line(AgentEvent::Status { status: None, permission_mode: Some(mode.to_owned()) })
        };
        let request_id = machine.control.last_id();
        let outcome = Ok(Answer::Done);
        machine.step(0, Input::Line(AgentEvent::Response { request_id, outcome }));
        machine.step(0, line("default"));
        assert!(!machine.memory().bypassed);
        let effects = machine.step(0, line(BYPASS));
        assert_eq!(modes_asked(&effects)[0], PermissionMode::Default, "the agent went back by itself");
    }

    #[test]
    fn settings_do_not_lead_to_it() {
        let mut machine = machine(SavedSession::default());
        machine.step(0, Input::Start);
        let effects = up(&mut machine, BYPASS);
        assert_eq!(modes_asked(&effects)[0], PermissionMode::Default);
        assert!(says_so(&effects));
    }

    fn told(mode: &str) -> Input {
        Input::Line(AgentEvent::Status { status: None, permission_mode: Some(mode.to_owned()) })
    }

    /// However often the agent reports that it runs without asking, it is asked twice to stop, and then stopped.
    #[test]
    fn an_agent_that_stays_in_it_is_ended() {
        let refused = Refused { message: "invalid_mode".to_owned(), is_unknown: false };
        for answers in [Ok(Answer::Done), Err(refused)] {
            let mut machine = machine(SavedSession::default());
            machine.step(0, Input::Start);
            up(&mut machine, "default");
            let (mut n_asked, mut ended) = (0, false);
            for _ in 0..1_000 {
                let mut effects = machine.step(0, told(BYPASS));
                ended |= effects.contains(&Effect::CloseStdin);
                assert!(ended || machine.shown_mode() == Some(BYPASS), "what is in force is shown");
                let request_id = machine.control.last_id();
                let answer = AgentEvent::Response { request_id, outcome: answers.clone() };
                effects.extend(machine.step(0, Input::Line(answer)));
                n_asked += modes_asked(&effects).len();
                ended |= effects.contains(&Effect::CloseStdin);
            }
            assert_eq!((n_asked, ended), (2, true));
        }
    }

    #[test]
    fn no_prompt_goes_to_an_agent_that_was_not_chosen_to_run_so() {
        let mut machine = machine(SavedSession::default());
        machine.step(0, Input::Start);
        up(&mut machine, BYPASS);
        let id = crate::api::PromptId::new("a");
        let prompt = super::super::Prompt::new(id.clone(), "go".into(), Vec::new(), Default::default());
        machine.step(0, Input::Prompt(prompt));
        let sent = |effects: &[Effect]| {
            effects.iter().any(|effect| matches!(effect, Effect::Write(AgentCommand::Prompt { .. })))
        };
        assert!(!sent(&machine.step(0, Input::Saved(id))));
        let effects = machine.step(20_000, Input::Timer(super::super::Timer::Switch));
        assert!(effects.contains(&Effect::CloseStdin) && !sent(&effects), "it did not answer: {effects:?}");
        assert!(machine.memory().prompts[0].held);
    }

    /// A request for another mode timed out. It is no reason to believe that the agent will still leave this one.
    #[test]
    fn an_agent_that_left_a_change_unanswered_is_asked_again() {
        let mut machine = machine(SavedSession::default());
        machine.step(0, Input::Start);
        up(&mut machine, "default");
        machine.step(0, Input::Command(Command::SetMode { mode: PermissionMode::Plan }));
        machine.step(20_000, Input::Timer(super::super::Timer::Switch));
        let status = AgentEvent::Status { status: None, permission_mode: Some(BYPASS.to_owned()) };
        let effects = machine.step(20_001, Input::Line(status));
        assert_eq!(modes_asked(&effects).len(), 1, "{effects:?}");
        let id = crate::api::PromptId::new("a");
        let prompt = super::super::Prompt::new(id.clone(), "go".into(), Vec::new(), Default::default());
        machine.step(20_002, Input::Prompt(prompt));
        let effects = machine.step(20_003, Input::Saved(id));
        let is_prompt = |effect: &Effect| matches!(effect, Effect::Write(AgentCommand::Prompt { .. }));
        assert!(!effects.iter().any(is_prompt), "{effects:?}");
    }

    /// Saved sessions are files: a mode in one is not a choice of the user.
    #[test]
    fn a_saved_session_does_not_lead_to_it() {
        for mode in [BYPASS, "nonsense", ""] {
            let saved = json!({"mode": mode, "title": "kept"});
            let memory: SavedSession = serde_json::from_value(saved).unwrap();
            assert_eq!((memory.mode, memory.title.as_deref()), (None, Some("kept")), "{mode}");
        }
        let memory: SavedSession = serde_json::from_value(json!({"mode": 7})).unwrap();
        assert_eq!(mode_of_spawn(&machine(memory).step(0, Input::Start)), None);
    }
}

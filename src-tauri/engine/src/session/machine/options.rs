//! The options that the agent is started with: choosing them, and the next start with them.

use super::{Effect, Machine, Step, Timer};
use crate::api::*;
use crate::launch::{Start, StartMode};
use crate::options::{problems, refused};

impl Machine {
    /// The next start, if the session had these options. Its mode is the one that is wanted: running without asking is
    /// chosen for one start.
    pub fn next_start(&self, options: SessionOptions) -> Start {
        let resume = self.conversation.resumes();
        Start {
            fork: self.conversation.fork().cloned().filter(|_| resume.is_none()),
            resume_at: self.conversation.resume_at().map(str::to_owned),
            wants_past: resume.is_some() && self.conversation.lacks_past(),
            resume,
            model: options.model.clone().or_else(|| self.options.wanted_model().map(str::to_owned)),
            mode: self.mode.wanted().map(StartMode::Asking),
            options: SessionOptions { model: None, effort: None, ..options },
        }
    }

    /// The agent runs with other options than the next one will.
    pub(super) fn options_wait(&self) -> bool {
        let at_start =
            |options: &SessionOptions| SessionOptions { hibernate_minutes: None, ..options.clone() };
        let (started, next) = (&self.process.started().options, self.options.for_start());
        self.process.is_alive() && at_start(started) != at_start(next)
    }

    /// The idle time until hibernation, in milliseconds; 0 means never.
    pub(super) fn hibernate_ms(&self) -> u64 {
        let own = self.options.for_start().hibernate_minutes;
        own.map_or(self.timeouts.hibernate_ms, |minutes| u64::from(minutes) * 60_000)
    }
}

impl Step<'_> {
    pub(super) fn set_options(&mut self, options: SessionOptions) {
        if let Err(error) = refused(&problems(&options)) {
            return self.push(Effect::Refuse(error));
        }
        if options.effort.as_deref() != self.machine.options.wanted_effort() {
            let n_effects = self.effects.len();
            self.set_effort(options.effort.clone());
            if self.effects[n_effects..].iter().any(|effect| matches!(effect, Effect::Refuse(_))) {
                return;
            }
        }
        match &options.model {
            model if model.as_deref() == self.machine.options.wanted_model() => {}
            Some(model) => self.set_model(model.clone()),
            None if self.machine.process.is_ready() => self.set_model("default".to_owned()),
            None => self.machine.options.on_default_model_for_start(),
        }
        let hibernates = self.machine.hibernate_ms();
        let has_begun = self.machine.conversation.id().is_some();
        self.machine.options.on_chosen(options, has_begun);
        if self.machine.hibernate_ms() != hibernates {
            self.push(Effect::Disarm(Timer::Hibernate));
            if self.machine.turn.is_none() {
                self.arm_hibernation();
            }
        }
        self.save();
        self.changed();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Input, SavedSession, Timeouts};
    use super::*;
    use crate::agent::{AgentCommand, HostRequest};

    fn options() -> SessionOptions {
        SessionOptions {
            system_prompt: Some(SystemPrompt { text: "Be brief.".to_owned(), replace: false }),
            max_turns: Some(3),
            ..SessionOptions::default()
        }
    }

    fn set(machine: &mut Machine, options: SessionOptions) -> Vec<Effect> {
        machine.step(0, Input::Command(Command::SetOptions { options: Box::new(options) }))
    }

    fn started(effects: &[Effect]) -> Option<&Start> {
        effects.iter().find_map(|effect| match effect {
            Effect::Spawn(start) => Some(start),
            _ => None,
        })
    }

    #[test]
    fn options_are_saved_and_in_every_start() {
        let mut machine = Machine::new(SavedSession::default(), Timeouts::default());
        let chosen = SessionOptions { model: Some("opus".to_owned()), ..options() };
        assert!(set(&mut machine, chosen.clone()).contains(&Effect::Save(None)));
        assert_eq!(machine.options.all(), chosen);
        let mut again = Machine::new(machine.memory(), Timeouts::default());
        for machine in [&mut machine, &mut again] {
            let effects = machine.step(0, Input::Start);
            let start = started(&effects).unwrap();
            assert_eq!((&start.options, start.model.as_deref()), (&options(), Some("opus")));
            assert!(!machine.options_wait());
        }
    }

    #[test]
    fn a_change_waits_for_the_next_start() {
        let mut machine = Machine::new(SavedSession::default(), Timeouts::default());
        machine.step(0, Input::Start);
        machine.step(0, Input::Spawned);
        set(&mut machine, options());
        assert!(machine.options_wait());
        set(&mut machine, SessionOptions::default());
        assert!(!machine.options_wait());
    }

    #[test]
    fn refused_options_change_nothing() {
        let mut machine = Machine::new(SavedSession::default(), Timeouts::default());
        set(&mut machine, options());
        let arguments = vec!["--dangerously-skip-permissions".to_owned()];
        let bad = SessionOptions { arguments, model: Some("haiku".to_owned()), ..SessionOptions::default() };
        let effects = set(&mut machine, bad);
        assert!(matches!(effects.as_slice(), [Effect::Refuse(_)]), "{effects:?}");
        assert_eq!(machine.options.all(), options());
    }

    #[test]
    fn a_new_system_prompt_of_a_conversation_is_sent_again() {
        let memory = SavedSession {
            agent_session_id: Some("a".to_owned()),
            resumable: true,
            options: options(),
            ..SavedSession::default()
        };
        let renews = |chosen: SessionOptions| {
            let mut machine = Machine::new(memory.clone(), Timeouts::default());
            set(&mut machine, chosen);
            let mut machine = Machine::new(machine.memory(), Timeouts::default());
            machine.step(0, Input::Start);
            let effects = machine.step(0, Input::Spawned);
            effects.iter().any(|effect| {
                matches!(
                    effect,
                    Effect::Write(AgentCommand::Request {
                        request: HostRequest::Initialize { renews_system_prompt: true },
                        ..
                    })
                )
            })
        };
        assert!(!renews(SessionOptions { max_turns: Some(9), ..options() }));
        assert!(renews(SessionOptions::default()));
    }

    #[test]
    fn the_sessions_own_hibernation_counts() {
        let timeouts = Timeouts { hibernate_ms: 5, ..Timeouts::default() };
        let mut machine = Machine::new(SavedSession::default(), timeouts);
        assert_eq!(machine.hibernate_ms(), 5);
        set(&mut machine, SessionOptions { hibernate_minutes: Some(0), ..SessionOptions::default() });
        assert_eq!(machine.hibernate_ms(), 0);
        set(&mut machine, SessionOptions { hibernate_minutes: Some(2), ..SessionOptions::default() });
        assert_eq!(machine.hibernate_ms(), 120_000);
    }
}

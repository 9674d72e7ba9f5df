//! Effort and thinking: the settings that can be changed while the agent runs, in addition to mode and model, if its
//! model supports them.
//!
//! The agent's own report is authoritative. 2.1.329 answers `success` to any effort, even an unknown one, so it is then
//! asked which one it applies. It also accepts turning off thinking for models that go on thinking, so that is offered
//! only if the model reports support for it.

use super::{PendingRequest, Step};
use crate::agent::{Answer, HostRequest, Refused};
use crate::api::*;

impl Step<'_> {
    pub(super) fn set_effort(&mut self, effort: Option<String>) {
        let before = match self.machine.options.on_effort_chosen(effort.clone()) {
            Ok(before) => before,
            Err(problem) => return self.refuse(ErrorCode::BadCommand, problem),
        };
        if self.machine.process.is_ready() {
            let request = HostRequest::SetEffort(effort.clone());
            self.ask(PendingRequest::Effort { wish: effort, before }, request);
        }
        self.save();
        self.changed();
    }

    pub(super) fn set_thinking(&mut self, on: bool) {
        if !self.machine.options.on_thinking_chosen(on) {
            return self.refuse(ErrorCode::BadCommand, "Thinking cannot be turned off for this model.");
        }
        if self.machine.process.is_ready() {
            self.ask(PendingRequest::Thinking { on }, HostRequest::SetThinking(on));
        }
        self.save();
        self.changed();
    }

    /// Changes a setting that the agent offers itself. It is valid for this process: the next one begins with its own.
    pub(super) fn set_agent_option(&mut self, id: String, value: String) {
        if !self.machine.process.is_ready() {
            let text = "The agent is not running. Its own settings can be changed while it runs.";
            return self.refuse(ErrorCode::BadCommand, text);
        }
        if !self.machine.options.agent_options().iter().any(|option| option.id == id) {
            return self.refuse(ErrorCode::BadCommand, "The agent does not offer this setting.");
        }
        self.ask(PendingRequest::AgentOption, HostRequest::SetOption { id, value });
        self.changed();
    }

    pub(super) fn agent_option_answered(&mut self, outcome: Result<&Answer, &Refused>) {
        if let Err(problem) = outcome {
            self.refused("The agent refused the setting.", &problem.message);
        }
    }

    /// Sends the saved settings to a process that is ready, and asks for the effort it applies.
    pub(super) fn switch_at_start(&mut self) {
        if let Some(level) = self.machine.options.wanted_effort() {
            let wish = Some(level.to_owned());
            let request = HostRequest::SetEffort(wish.clone());
            self.ask(PendingRequest::Effort { wish, before: None }, request);
        } else {
            self.ask_effort();
        }
        if self.machine.options.is_thinking_off() {
            self.ask(PendingRequest::Thinking { on: false }, HostRequest::SetThinking(false));
        }
    }

    /// Asks for the effort in force, because it depends on the model. Called after each change of either.
    pub(super) fn ask_effort(&mut self) {
        if self.machine.options.reports_effort() {
            self.ask(PendingRequest::Settings, HostRequest::ReadSettings);
        }
    }

    pub(super) fn effort_answered(
        &mut self,
        wish: &Option<String>,
        before: Option<String>,
        outcome: Result<&Answer, &Refused>,
    ) {
        match outcome {
            Ok(_) => self.ask_effort(),
            Err(problem) => {
                self.saves |= self.machine.options.on_effort_refused(wish.as_deref(), before);
                self.refused("The agent refused the effort level.", &problem.message);
            }
        }
        self.changed();
    }

    pub(super) fn thinking_answered(&mut self, on: bool, outcome: Result<&Answer, &Refused>) {
        let Err(problem) = outcome else { return };
        self.saves |= self.machine.options.on_thinking_refused(on);
        self.refused("The agent refused to turn thinking on or off.", &problem.message);
    }

    /// Handles the agent's report of the settings it applies.
    pub(super) fn settings_reported(&mut self, outcome: Result<&Answer, &Refused>) {
        // If the agent does not support the request, the wanted effort is shown.
        let Ok(settings) = outcome else { return };
        let told = match settings {
            Answer::Settings(settings) => settings.effort.clone(),
            _ => None,
        };
        let is_asking = self.machine.control.has(|asked| matches!(asked, PendingRequest::Effort { .. }));
        let problem = self.machine.options.on_effort(told, is_asking);
        self.changed();
        if let Some(problem) = problem {
            self.save();
            self.refused("The agent did not apply the effort level.", &problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Effect, Input, Machine, SavedSession, Timeouts};
    use super::*;
    use crate::agent::AgentCommand;
    use crate::claude::ClaudeDriver;
    use crate::session::tests::response;
    use serde_json::{Value, json};

    struct Agent {
        machine: Machine,
        driver: ClaudeDriver,
        n_answered: u64,
    }

    /// A machine whose agent is ready: `opus` has levels; `haiku` has none and can stop thinking.
    fn up(memory: SavedSession) -> (Agent, Vec<HostRequest>) {
        let machine = Machine::new(memory, Timeouts::default());
        let mut agent = Agent { machine, driver: ClaudeDriver::default(), n_answered: 0 };
        agent.step(Input::Start);
        agent.step(Input::Spawned);
        let models = json!([
            {"value": "default", "resolvedModel": "claude-opus", "supportedEffortLevels": ["low", "high"]},
            {"value": "opus", "resolvedModel": "claude-opus", "supportedEffortLevels": ["low", "high"]},
            {"value": "haiku", "resolvedModel": "claude-haiku", "supportsThinkingOff": true},
        ]);
        let asked = agent.answers(Ok(json!({"models": models})));
        (agent, asked)
    }

    impl Agent {
        /// Runs a step and returns the requests to the agent.
        fn step(&mut self, input: Input) -> Vec<HostRequest> {
            let mut asked = Vec::new();
            for effect in self.machine.step(0, input) {
                if let Effect::Write(command) = effect {
                    self.driver.line(&command);
                    let AgentCommand::Request { request, .. } = command else { panic!("{command:?}") };
                    asked.push(request);
                }
            }
            asked
        }

        /// Answers the oldest request.
        fn answers(&mut self, outcome: Result<Value, String>) -> Vec<HostRequest> {
            self.n_answered += 1;
            let line = response(&format!("deskbell-{}", self.n_answered), outcome);
            let event = self.driver.event(line.as_bytes());
            self.step(Input::Line(event))
        }

        fn applies(&mut self, effort: &str) -> Vec<HostRequest> {
            self.answers(Ok(json!({"applied": {"effort": effort}})))
        }

        fn effort(&mut self, level: &str) -> Vec<HostRequest> {
            self.step(Input::Command(Command::SetEffort { effort: Some(level.to_owned()) }))
        }

        fn is_refused(&mut self, command: Command) -> bool {
            let effects = self.machine.step(0, Input::Command(command));
            effects.iter().any(|effect| matches!(effect, Effect::Refuse(_)))
        }
    }

    #[test]
    fn an_effort_counts_once_the_agent_says_that_it_applies_it() {
        let (mut agent, asked) = up(SavedSession::default());
        assert_eq!(asked, [HostRequest::ReadSettings]);
        agent.applies("low");
        assert_eq!(agent.machine.shown_effort().as_deref(), Some("low"));

        assert_eq!(agent.effort("high"), [HostRequest::SetEffort(Some("high".to_owned()))]);
        assert_eq!(agent.machine.shown_effort().as_deref(), Some("high"), "the wish shows at once");
        assert_eq!(agent.answers(Ok(json!({}))), [HostRequest::ReadSettings]);
        agent.applies("high");
        assert_eq!(agent.machine.memory().effort.as_deref(), Some("high"));
        assert_eq!(agent.machine.shown_effort().as_deref(), Some("high"));
    }

    #[test]
    fn an_effort_that_is_refused_or_passed_over_goes_back() {
        let (mut agent, _) = up(SavedSession::default());
        agent.applies("low");
        agent.effort("high");
        agent.answers(Err("no".to_owned()));
        assert_eq!(agent.machine.shown_effort().as_deref(), Some("low"));
        assert_eq!(agent.machine.memory().effort, None);

        agent.effort("high");
        agent.answers(Ok(json!({})));
        agent.applies("low");
        assert_eq!(agent.machine.shown_effort().as_deref(), Some("low"));
        assert_eq!(agent.machine.memory().effort.as_deref(), Some("low"));
    }

    #[test]
    fn only_what_the_model_offers_can_be_asked_for() {
        let (mut agent, _) = up(SavedSession::default());
        assert!(agent.is_refused(Command::SetEffort { effort: Some("max".to_owned()) }));
        assert!(agent.is_refused(Command::SetThinking { on: false }));
        agent.machine.options.on_init(Some("claude-haiku".to_owned()));
        assert!(agent.is_refused(Command::SetEffort { effort: Some("low".to_owned()) }));
        assert_eq!(agent.machine.shown_effort(), None);
        let asked = agent.step(Input::Command(Command::SetThinking { on: false }));
        assert_eq!(asked, [HostRequest::SetThinking(false)]);
        assert!(!agent.machine.options.shown_thinking());
        agent.applies("low");
        agent.answers(Err("no".to_owned()));
        assert!(agent.machine.options.shown_thinking(), "a refused change goes back");
    }

    #[test]
    fn what_was_chosen_holds_for_the_next_process() {
        let memory =
            SavedSession { effort: Some("high".to_owned()), thinking_off: true, ..SavedSession::default() };
        let (mut agent, asked) = up(memory);
        assert_eq!(asked, [HostRequest::SetEffort(Some("high".to_owned())), HostRequest::SetThinking(false)]);
        assert_eq!(agent.machine.shown_effort().as_deref(), Some("high"));
        assert_eq!(agent.answers(Ok(json!({}))), [HostRequest::ReadSettings]);
    }
}

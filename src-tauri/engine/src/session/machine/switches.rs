//! Effort and thinking: the settings that can be changed while the agent runs, in addition to mode and model, if its
//! model supports them.
//!
//! The agent's own report is authoritative. 2.1.329 answers `success` to any effort, even an unknown one, so it is then
//! asked which one it applies. It also accepts turning off thinking for models that go on thinking, so that is offered
//! only if the model reports support for it.

use super::{PendingRequest, Step};
use crate::api::*;
use crate::wire;
use serde_json::Value;

impl Step<'_> {
    pub(super) fn set_effort(&mut self, effort: Option<String>) {
        let before = match self.machine.options.on_effort_chosen(effort.clone()) {
            Ok(before) => before,
            Err(problem) => return self.refuse(ErrorCode::BadCommand, problem),
        };
        if self.machine.process.is_ready() {
            let request = wire::set_effort(effort.as_deref());
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
            self.ask(PendingRequest::Thinking { on }, wire::set_thinking(on));
        }
        self.save();
        self.changed();
    }

    /// Sends the saved settings to a process that is ready, and asks for the effort it applies.
    pub(super) fn switch_at_start(&mut self) {
        if let Some(level) = self.machine.options.wanted_effort() {
            let wish = Some(level.to_owned());
            let request = wire::set_effort(wish.as_deref());
            self.ask(PendingRequest::Effort { wish, before: None }, request);
        } else {
            self.ask_effort();
        }
        if self.machine.options.is_thinking_off() {
            self.ask(PendingRequest::Thinking { on: false }, wire::set_thinking(false));
        }
    }

    /// Asks for the effort in force, because it depends on the model. Called after each change of either.
    pub(super) fn ask_effort(&mut self) {
        if self.machine.options.reports_effort() {
            self.ask(PendingRequest::Settings, wire::get_settings());
        }
    }

    pub(super) fn effort_answered(
        &mut self,
        wish: &Option<String>,
        before: Option<String>,
        outcome: Result<&Value, &String>,
    ) {
        match outcome {
            Ok(_) => self.ask_effort(),
            Err(problem) => {
                self.saves |= self.machine.options.on_effort_refused(wish.as_deref(), before);
                self.refused("The agent refused the effort level.", problem);
            }
        }
        self.changed();
    }

    pub(super) fn thinking_answered(&mut self, on: bool, outcome: Result<&Value, &String>) {
        let Err(problem) = outcome else { return };
        self.saves |= self.machine.options.on_thinking_refused(on);
        self.refused("The agent refused to turn thinking on or off.", problem);
    }

    /// Handles the agent's report of the settings it applies.
    pub(super) fn settings_reported(&mut self, outcome: Result<&Value, &String>) {
        // If the agent does not support the request, the wanted effort is shown.
        let Ok(settings) = outcome else { return };
        let told = crate::claude::answer::effort(settings).map(str::to_owned);
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
    use crate::wire::Inbound;
    use serde_json::json;

    struct Agent {
        machine: Machine,
        n_answered: u64,
    }

    /// A machine whose agent is ready: `opus` has levels; `haiku` has none and can stop thinking.
    fn up(memory: SavedSession) -> (Agent, Vec<Value>) {
        let mut agent = Agent { machine: Machine::new(memory, Timeouts::default()), n_answered: 0 };
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
        fn step(&mut self, input: Input) -> Vec<Value> {
            let effects = self.machine.step(0, input);
            let lines = effects.iter().filter_map(|effect| match effect {
                Effect::Write(line) => serde_json::from_str::<Value>(line).ok(),
                _ => None,
            });
            lines.map(|line| line["request"].clone()).collect()
        }

        /// Answers the oldest request.
        fn answers(&mut self, outcome: Result<Value, String>) -> Vec<Value> {
            self.n_answered += 1;
            let request_id = format!("deskbell-{}", self.n_answered);
            self.step(Input::Line(Inbound::ControlResponse { request_id, outcome }))
        }

        fn applies(&mut self, effort: &str) -> Vec<Value> {
            self.answers(Ok(json!({"applied": {"effort": effort}})))
        }

        fn effort(&mut self, level: &str) -> Vec<Value> {
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
        assert_eq!(asked, [wire::get_settings()]);
        agent.applies("low");
        assert_eq!(agent.machine.shown_effort().as_deref(), Some("low"));

        assert_eq!(agent.effort("high"), [wire::set_effort(Some("high"))]);
        assert_eq!(agent.machine.shown_effort().as_deref(), Some("high"), "the wish shows at once");
        assert_eq!(agent.answers(Ok(json!({}))), [wire::get_settings()]);
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
        assert_eq!(asked, [wire::set_thinking(false)]);
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
        assert_eq!(asked, [wire::set_effort(Some("high")), wire::set_thinking(false)]);
        assert_eq!(agent.machine.shown_effort().as_deref(), Some("high"));
        assert_eq!(agent.answers(Ok(json!({}))), [wire::get_settings()]);
    }
}

//! Model, effort and thinking: what the user wants, and what the agent reported. And the options that the agent is
//! started with.

use crate::agent::Choices;
use crate::api::{AgentOption, Model, SessionOptions};
use crate::launch::Launch;

#[derive(Debug, Default)]
pub struct WantedOptions {
    /// The agent's models; empty until it reported them.
    models: Vec<Model>,
    /// The models are those of an earlier run: the next may offer others.
    are_recalled: bool,
    /// The running agent has announced its models since `take_announced`.
    announced: bool,
    /// The model in force, as the agent names it.
    model: Option<String>,
    wanted_model: Option<String>,
    /// The last reported effort; `None` if the model has no levels or the agent does not report it.
    effort: Option<String>,
    wanted_effort: Option<String>,
    thinking_off: bool,
    /// Settings that the running agent offers itself.
    agent_options: Vec<AgentOption>,
    /// The options of the next start, without model and effort.
    for_start: SessionOptions,
    /// The system prompt is another one than the conversation began with.
    renews_system_prompt: bool,
}

impl WantedOptions {
    /// Restores what a session saved. Saved sessions are files, so bad values are dropped.
    pub fn restore(model: Option<String>, effort: Option<String>, thinking_off: bool) -> Self {
        let wanted_model = model.filter(|name| Launch::bad_model(name).is_none());
        Self { wanted_model, wanted_effort: effort, thinking_off, ..Self::default() }
    }

    /// Adds what a session saved of its options. They are checked at each start.
    pub fn with_start(self, for_start: SessionOptions, renews_system_prompt: bool) -> Self {
        Self { for_start, renews_system_prompt, ..self }
    }

    /// The options of the next start, without model and effort.
    pub fn for_start(&self) -> &SessionOptions {
        &self.for_start
    }

    /// All options, as the user sees them.
    pub fn all(&self) -> SessionOptions {
        SessionOptions {
            model: self.wanted_model.clone(),
            effort: self.wanted_effort.clone(),
            ..self.for_start.clone()
        }
    }

    pub fn renews_system_prompt(&self) -> bool {
        self.renews_system_prompt
    }

    /// The user chose other options. `has_begun`: the agent has the conversation already. Model and effort are changed
    /// like every other choice of them.
    pub fn on_chosen(&mut self, options: SessionOptions, has_begun: bool) {
        let options = SessionOptions { model: None, effort: None, ..options };
        self.renews_system_prompt |= has_begun && options.system_prompt != self.for_start.system_prompt;
        self.for_start = options;
    }

    /// The next process is started with the agent's default model.
    pub fn on_default_model_for_start(&mut self) {
        (self.model, self.wanted_model) = (None, None);
    }

    /// The models of an earlier run, until an agent runs.
    pub fn recall(&mut self, models: Vec<Model>) {
        (self.models, self.are_recalled) = (models, true);
    }

    fn announce(&mut self, models: Vec<Model>) {
        (self.models, self.are_recalled, self.announced) = (models, false, true);
    }

    /// Whether the running agent has announced its models since the last call.
    pub fn take_announced(&mut self) -> bool {
        std::mem::take(&mut self.announced)
    }

    /// The running agent says what can be chosen, and what is in force.
    pub fn on_choices(&mut self, choices: Choices) {
        self.announce(choices.models);
        self.model = choices.model.or(self.model.take());
        self.effort = choices.effort;
        self.agent_options = choices.options;
    }

    /// The settings that the running agent offers itself.
    pub fn agent_options(&self) -> &[AgentOption] {
        &self.agent_options
    }

    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The model in force.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    pub fn wanted_model(&self) -> Option<&str> {
        self.wanted_model.as_deref()
    }

    /// The model in force, or the wanted one until the agent reported it.
    pub fn shown_model(&self) -> Option<&str> {
        self.model().or(self.wanted_model())
    }

    pub fn wanted_effort(&self) -> Option<&str> {
        self.wanted_effort.as_deref()
    }

    pub fn is_thinking_off(&self) -> bool {
        self.thinking_off
    }

    /// `is_reported`: the process is ready and no other effort was requested from it.
    pub fn shown_effort(&self, is_reported: bool) -> Option<String> {
        self.current_model().filter(|model| !model.effort_levels.is_empty())?;
        let (wish, reported) = (self.wanted_effort.clone(), self.effort.clone());
        if is_reported { reported.or(wish) } else { wish.or(reported) }
    }

    pub fn shown_thinking(&self) -> bool {
        let can_stop = self.current_model().is_some_and(|model| model.can_stop_thinking);
        !(self.thinking_off && can_stop)
    }

    pub fn reports_effort(&self) -> bool {
        self.models.iter().any(|model| !model.effort_levels.is_empty())
    }

    /// The current model, from the agent's list.
    fn current_model(&self) -> Option<&Model> {
        let name = self.shown_model().unwrap_or("default");
        let resolved = |model: &&Model| model.resolved.as_deref() == Some(name);
        self.models.iter().find(|model| model.name == name).or_else(|| self.models.iter().find(resolved))
    }

    fn levels(&self) -> &[String] {
        self.current_model().map_or(&[], |model| &model.effort_levels)
    }

    /// The answer to `initialize`. The effort is asked for again. Returns the model that the agent has to be asked for,
    /// if it is not the one that the process was `started` with.
    pub fn on_ready(&mut self, models: Vec<Model>, started: Option<&str>) -> Option<String> {
        self.announce(models);
        self.effort = None;
        self.wanted_model.clone().filter(|model| started != Some(model))
    }

    pub fn on_init(&mut self, model: Option<String>) {
        self.model = model.or(self.model.take());
    }

    /// The next process is started with this model.
    pub fn on_model_for_start(&mut self, model: String) {
        self.model = None;
        self.wanted_model = Some(model);
    }

    /// The agent applied the `wanted` model, which it names `resolved`.
    pub fn on_model_applied(&mut self, wanted: String, resolved: String) {
        self.model = Some(resolved);
        self.wanted_model = Some(wanted);
    }

    /// The user chose an effort. Returns the one before, or why this one is not offered: the agent would accept any
    /// word.
    pub fn on_effort_chosen(&mut self, effort: Option<String>) -> Result<Option<String>, String> {
        if let Some(level) = &effort {
            let known = self.levels();
            if !known.is_empty() && !known.contains(level) && !self.are_recalled {
                let known = known.join(", ");
                return Err(format!("This model has no effort level “{level}”. Available: {known}."));
            }
            // Before the first start no levels are known, and the wanted effort is kept until then.
            if known.is_empty() && !self.models.is_empty() && !self.are_recalled {
                return Err("This model has no effort levels.".to_owned());
            }
        }
        Ok(std::mem::replace(&mut self.wanted_effort, effort))
    }

    /// The agent refused an effort. Returns whether the wanted effort changed.
    pub fn on_effort_refused(&mut self, refused: Option<&str>, before: Option<String>) -> bool {
        let is_wanted = self.wanted_effort.as_deref() == refused;
        if is_wanted {
            self.wanted_effort = before;
        }
        is_wanted
    }

    /// The agent reports the effort that it applies. `is_requesting`: another one was requested and is not answered.
    /// Returns the difference if a wanted effort, which the model offers, is not applied.
    pub fn on_effort(&mut self, reported: Option<String>, is_requesting: bool) -> Option<String> {
        self.effort.clone_from(&reported);
        let wish = self.wanted_effort.as_ref().filter(|_| !is_requesting)?;
        if !self.levels().contains(wish) || reported.as_ref() == Some(wish) {
            return None;
        }
        let applied = reported.as_deref().unwrap_or("its default level");
        let problem = format!("It uses {applied} instead of {wish}.");
        self.wanted_effort = reported;
        Some(problem)
    }

    /// The user turned thinking on or off. Returns `false` if the model goes on thinking.
    pub fn on_thinking_chosen(&mut self, on: bool) -> bool {
        let can_stop = self.current_model().is_some_and(|model| model.can_stop_thinking);
        let is_possible = on || can_stop || self.models.is_empty() || self.are_recalled;
        if is_possible {
            self.thinking_off = !on;
        }
        is_possible
    }

    /// The agent refused to turn thinking on or off. Returns whether that changes what is saved.
    pub fn on_thinking_refused(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.thinking_off, on) != on
    }
}

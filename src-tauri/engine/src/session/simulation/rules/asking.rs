//! Rules for control requests: bounded in number, confirmed before a prompt depends on them, and no prompt to a process
//! that runs without asking unless the user chose that.

use super::{RuleResult, Scene, hold};
use crate::agent::{AgentEvent, Answer};
use crate::api::BYPASS;
use crate::launch::{Start, StartMode};
use crate::session::machine::{AT_ONCE, Effect, Input, MORE_EACH_MS, Timer};
use serde_json::Value;
use std::collections::BTreeMap;

/// Control requests that change how a prompt is answered.
const CHANGES: [&str; 4] =
    ["set_permission_mode", "set_model", "apply_flag_settings", "set_max_thinking_tokens"];

/// State for one process.
#[derive(Default)]
pub struct ExpectedAsking {
    started_at: u64,
    n_user_inputs: u64,
    /// Requests written, by kind.
    n_asked: BTreeMap<String, u64>,
    /// Ids of unconfirmed changes, with the mode that each sets.
    unconfirmed: Vec<(String, Option<String>)>,
    /// The wait for confirmations ends with this step, unless the timer is armed again.
    gives_up: bool,
    /// The current mode according to the agent's output.
    mode: Option<String>,
    /// The user started this process to run without asking, and it still does.
    is_chosen: bool,
}

impl ExpectedAsking {
    pub fn is_unconfirmed(&self) -> bool {
        !self.unconfirmed.is_empty()
    }

    pub fn input(&mut self, scene: &Scene<'_>) {
        match scene.cause {
            Input::Start
            | Input::StartWithoutAsking
            | Input::Prompt(_)
            | Input::Command(_)
            | Input::GenerateTitle(_) => {
                self.n_user_inputs += 1;
            }
            Input::Timer(Timer::Switch) => self.gives_up = true,
            Input::Exited(_) => *self = Self::default(),
            Input::Line(line) => self.line(line),
            _ => {}
        }
    }

    fn line(&mut self, line: &AgentEvent) {
        match line {
            AgentEvent::Response { request_id, outcome } => {
                let known = self.unconfirmed.iter().position(|(id, _)| id == request_id);
                let set = known.and_then(|at| self.unconfirmed.remove(at).1);
                match outcome {
                    Ok(Answer::Initialized(initialized)) => {
                        self.works_in(set.or(initialized.permission_mode.clone()));
                    }
                    Ok(_) => self.works_in(set),
                    Err(_) => {}
                }
            }
            AgentEvent::Init(init) => self.works_in(init.permission_mode.clone()),
            AgentEvent::Status { permission_mode, .. } => self.works_in(permission_mode.clone()),
            _ => {}
        }
    }

    fn works_in(&mut self, mode: Option<String>) {
        if let Some(mode) = mode {
            self.is_chosen &= mode == BYPASS;
            self.mode = Some(mode);
        }
    }

    pub fn effect(&mut self, scene: &Scene<'_>, effect: &Effect, line: Option<&Value>) -> RuleResult {
        match effect {
            Effect::Spawn(start) => self.spawned(scene, start),
            Effect::Arm { timer: Timer::Switch, .. } => self.gives_up = false,
            Effect::CloseStdin => self.unconfirmed.clear(),
            Effect::Write(_) => {
                let line = line.unwrap_or(&Value::Null);
                match line["type"].as_str() {
                    Some("control_request") => return self.asked(scene, line),
                    Some("user") => return self.prompted(),
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub fn end_of_step(&mut self) {
        if std::mem::take(&mut self.gives_up) {
            self.unconfirmed.clear();
        }
    }

    fn spawned(&mut self, scene: &Scene<'_>, start: &Start) {
        *self = Self {
            started_at: scene.now,
            is_chosen: start.mode == Some(StartMode::WithoutAsking),
            mode: start.mode.map(|mode| mode.name().to_owned()),
            ..Self::default()
        };
    }

    fn asked(&mut self, scene: &Scene<'_>, line: &Value) -> RuleResult {
        let request = &line["request"];
        let kind = request["subtype"].as_str().unwrap_or_default();
        let n = self.n_asked.entry(kind.to_owned()).or_default();
        *n += 1;
        let most = u64::from(AT_ONCE)
            + self.n_user_inputs
            + scene.now.saturating_sub(self.started_at) / MORE_EACH_MS;
        hold!(*n <= most, Budget, "{kind} is asked {n} times, {most} may be");
        if CHANGES.contains(&kind) {
            let id = line["request_id"].as_str().unwrap_or_default().to_owned();
            self.unconfirmed.push((id, request["mode"].as_str().map(str::to_owned)));
        }
        Ok(())
    }

    fn prompted(&self) -> RuleResult {
        hold!(self.unconfirmed.is_empty(), Switches, "a prompt goes before {:?}", self.unconfirmed);
        let is_bypassing = self.mode.as_deref() == Some(BYPASS);
        hold!(!is_bypassing || self.is_chosen, Asking, "a prompt goes to an agent that asks nothing");
        Ok(())
    }
}

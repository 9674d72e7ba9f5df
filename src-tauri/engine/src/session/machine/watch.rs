//! What the agent may do unasked, and whether it asks for the rest: the machine's part of `rules` and `channel`.

use super::{Asked, Effect, Step};
use crate::api::*;
use crate::session::channel::{Channel, Finding, Suspicion};
use crate::session::rules;
use crate::wire::{self, Assistant, Init, User};
use serde_json::Value;

/// What is known of it in this process.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    pub(super) rules: Option<RulesInForce>,
    pub(super) fault: Option<ChannelFault>,
    channel: Channel,
    /// Given with answers in this process.
    given: Vec<Rule>,
    suspicions: Vec<Suspicion>,
}

impl Step<'_> {
    /// Another process knows nothing of what this one was given.
    pub(super) fn watch_anew(&mut self) {
        self.machine.watch = Watch::default();
    }

    /// What was found out of a process is gone with it.
    pub(super) fn watch_over(&mut self) {
        self.machine.watch.fault = None;
        self.machine.watch.suspicions.clear();
    }

    pub(super) fn list_rules(&mut self) {
        if self.machine.process == super::Process::Ready {
            self.ask(Asked::Rules, wire::list_permission_rules());
        } else {
            self.refuse(ErrorCode::BadCommand, "The agent does not run. It reads its rules when it starts.");
        }
    }

    pub(super) fn rules_told(&mut self, outcome: Result<Value, String>) {
        match outcome.ok().as_ref().and_then(rules::listed) {
            Some(listed) => {
                self.machine.watch.rules = Some(listed);
                self.changed();
            }
            // An agent that does not list them still tells which settings it loaded (2.1.197).
            None => self.ask(Asked::SettingsForRules, wire::get_settings()),
        }
    }

    /// The settings, for want of a list; and what is suspicious is held against them.
    pub(super) fn settings_for_rules(&mut self, outcome: Result<Value, String>) {
        let suspicions = std::mem::take(&mut self.machine.watch.suspicions);
        // Without an answer nothing is known, and nothing is claimed.
        let Ok(settings) = outcome else { return };
        let rules = rules::from_settings(&settings, &self.machine.watch.given);
        for suspicion in suspicions {
            if let Some(fault) = suspicion.judge(&rules, &settings) {
                self.faulty(fault);
            }
        }
        if self.machine.watch.rules.as_ref().is_none_or(|known| known.basis == RulesBasis::Settings) {
            self.machine.watch.rules = Some(rules);
        }
        self.changed();
    }

    /// An answer carried rules or a mode with it.
    pub(super) fn given(&mut self, line: &str) {
        let Ok(answer) = serde_json::from_str::<Value>(line) else { return };
        let Some(Value::Array(permissions)) = answer.pointer("/response/response/updatedPermissions") else {
            return;
        };
        self.machine.watch.given.extend(rules::given(permissions));
        self.machine.watch.channel.loosened();
        if self.machine.watch.rules.is_some() && self.machine.process == super::Process::Ready {
            self.list_rules();
        }
    }

    /// Only `default` asks for everything, and only if nothing else was wished for.
    fn is_strict(&self) -> bool {
        self.machine.mode.as_deref() == Some("default")
            && self.machine.asked_mode().is_none()
            && self.machine.wanted_mode.as_deref().is_none_or(|mode| mode == "default")
    }

    pub(super) fn watch_init(&mut self, init: &Init) {
        if let Some(fault) = self.machine.watch.channel.init(init) {
            self.faulty(fault);
        }
    }

    pub(super) fn watch_call(&mut self, assistant: &Assistant) {
        // A subagent may have a mode of its own.
        let strict = self.is_strict() && assistant.parent_tool_use_id.is_none();
        self.machine.watch.channel.called(&assistant.message.content, strict);
    }

    pub(super) fn watch_request(&mut self, tool_use_id: Option<&str>) {
        self.machine.watch.channel.asked(tool_use_id);
    }

    pub(super) fn watch_results(&mut self, user: &User) {
        if !self.is_strict() {
            self.machine.watch.channel.loosened();
        }
        match self.machine.watch.channel.results(user) {
            Some(Finding::Fault(fault)) => self.faulty(fault),
            Some(Finding::Suspicion(suspicion)) if self.machine.watch.fault.is_none() => {
                self.machine.watch.suspicions.push(suspicion);
                self.ask(Asked::SettingsForRules, wire::get_settings());
            }
            Some(Finding::Suspicion(_)) | None => {}
        }
    }

    pub(super) fn watch_turn_over(&mut self) {
        self.machine.watch.channel.turn_over();
    }

    /// Says it once; it shows for as long as the process lives.
    fn faulty(&mut self, fault: ChannelFault) {
        if self.machine.watch.fault.is_some() {
            return;
        }
        self.push(Effect::Note(super::Note::Notice {
            level: Level::Error,
            text: fault.words.clone(),
            detail: fault.subject.clone(),
        }));
        self.machine.watch.fault = Some(fault);
        self.changed();
    }
}

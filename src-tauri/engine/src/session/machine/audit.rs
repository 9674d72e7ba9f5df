//! The permission rules in force and the permission audit: the machine's part of `rules` and `permission_audit`.

use super::{Effect, PendingRequest, Step};
use crate::api::*;
use crate::session::permission_audit::{Finding, PermissionAudit, Suspicion};
use crate::session::rules;
use crate::wire::{self, Assistant, Init, User};
use serde_json::Value;

/// File changes that may wait for an explanation. One without an explanation is enough for a report.
const SUSPICIONS: usize = 16;

/// The rules and findings of the current process.
#[derive(Clone, Debug, Default)]
pub(super) struct AuditState {
    pub(super) rules: Option<RulesInForce>,
    pub(super) fault: Option<MissedPrompt>,
    permissions: PermissionAudit,
    /// Rules that the user gave with answers in this process.
    given: Vec<Rule>,
    suspicions: Vec<Suspicion>,
}

impl Step<'_> {
    /// Starts over with a new process, which does not have the rules given to the last one.
    pub(super) fn restart_audit(&mut self) {
        self.machine.audit = AuditState::default();
    }

    /// Drops the findings when the process ends.
    pub(super) fn end_audit(&mut self) {
        self.machine.audit.fault = None;
        self.machine.audit.suspicions.clear();
    }

    pub(super) fn list_rules(&mut self) {
        if self.machine.process == super::Process::Ready {
            self.ask(PendingRequest::Rules, wire::list_permission_rules());
        } else {
            self.refuse(
                ErrorCode::BadCommand,
                "The agent is not running. It loads its rules when it starts.",
            );
        }
    }

    pub(super) fn rules_reported(&mut self, outcome: Result<&Value, &String>) {
        match outcome.ok().and_then(rules::listed) {
            Some(listed) => {
                self.machine.audit.rules = Some(listed);
                self.changed();
            }
            // An agent without a rule list still reports the settings it loaded (2.1.197).
            None => self.ask(PendingRequest::SettingsForRules, wire::get_settings()),
        }
    }

    /// Derives the rules from the settings if the agent has no list, and judges suspicious changes by them.
    pub(super) fn settings_for_rules(&mut self, outcome: Result<&Value, &String>) {
        let suspicions = std::mem::take(&mut self.machine.audit.suspicions);
        // Without an answer, no rule is known and no fault is reported.
        let Ok(settings) = outcome else { return };
        let rules = rules::from_settings(settings, &self.machine.audit.given);
        for suspicion in suspicions {
            if let Some(fault) = suspicion.judge(&rules, settings) {
                self.faulty(fault);
            }
        }
        if self.machine.audit.rules.as_ref().is_none_or(|known| known.basis == RulesBasis::Settings) {
            self.machine.audit.rules = Some(rules);
        }
        self.changed();
    }

    /// Records the rules or the mode that an answer sent along.
    pub(super) fn given(&mut self, line: &str) {
        let Ok(answer) = serde_json::from_str::<Value>(line) else { return };
        let Some(Value::Array(permissions)) = answer.pointer("/response/response/updatedPermissions") else {
            return;
        };
        self.machine.audit.given.extend(rules::given(permissions));
        self.machine.audit.permissions.loosened();
        if self.machine.audit.rules.is_some() && self.machine.process == super::Process::Ready {
            self.list_rules();
        }
    }

    /// Only `default` asks for everything, and only while no other mode is requested.
    fn is_strict(&self) -> bool {
        self.machine.mode.as_deref() == Some("default")
            && self.machine.control.mode().is_none()
            && self.machine.wanted_mode.is_none_or(|mode| mode == PermissionMode::Default)
    }

    pub(super) fn watch_init(&mut self, init: &Init) {
        if let Some(fault) = self.machine.audit.permissions.init(init) {
            self.faulty(fault);
        }
    }

    pub(super) fn watch_call(&mut self, assistant: &Assistant) {
        // A subagent may have a mode of its own.
        let strict = self.is_strict() && assistant.parent_tool_use_id.is_none();
        self.machine.audit.permissions.called(&assistant.message.content, strict);
    }

    pub(super) fn watch_request(&mut self, tool_use_id: Option<&str>) {
        self.machine.audit.permissions.asked(tool_use_id);
    }

    pub(super) fn watch_results(&mut self, user: &User) {
        if !self.is_strict() {
            self.machine.audit.permissions.loosened();
        }
        match self.machine.audit.permissions.results(user) {
            Some(Finding::Fault(fault)) => self.faulty(fault),
            Some(Finding::Suspicion(suspicion)) if self.machine.audit.fault.is_none() => {
                // One answer judges all suspicions collected by then.
                if self.machine.audit.suspicions.len() < SUSPICIONS {
                    self.machine.audit.suspicions.push(suspicion);
                }
                let is_asking = self.machine.control.has(|asked| *asked == PendingRequest::SettingsForRules);
                if !is_asking {
                    self.ask(PendingRequest::SettingsForRules, wire::get_settings());
                }
            }
            Some(Finding::Suspicion(_)) | None => {}
        }
    }

    pub(super) fn watch_turn_over(&mut self) {
        self.machine.audit.permissions.turn_over();
    }

    /// Reports the first fault as a notice. It stays visible until the process ends.
    fn faulty(&mut self, fault: MissedPrompt) {
        if self.machine.audit.fault.is_some() {
            return;
        }
        self.push(Effect::TranscriptEvent(super::TranscriptEvent::Notice {
            level: Level::Error,
            text: fault.words.clone(),
            detail: fault.subject.clone(),
        }));
        self.machine.audit.fault = Some(fault);
        self.changed();
    }
}

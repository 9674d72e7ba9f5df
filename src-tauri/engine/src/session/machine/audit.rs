//! The permission rules in force and the permission audit: the machine's part of `rules` and `permission_audit`.

use super::parts::audit::AuditResult;
use super::{PendingRequest, Step};
use crate::api::*;
use crate::claude::rules;
use crate::wire::{self, Init, User};
use serde_json::Value;

impl Step<'_> {
    pub(super) fn list_rules(&mut self) {
        if self.machine.process.is_ready() {
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
                self.machine.audit.on_rules(listed);
                self.changed();
            }
            // An agent without a rule list still reports the settings it loaded (2.1.197).
            None => self.ask(PendingRequest::SettingsForRules, wire::get_settings()),
        }
    }

    pub(super) fn settings_for_rules(&mut self, outcome: Result<&Value, &String>) {
        let fault = self.machine.audit.on_settings(outcome.ok());
        self.report_fault(fault);
        self.changed_if(outcome.is_ok());
    }

    /// Records the rules or the mode that an answer sent along.
    pub(super) fn given(&mut self, line: &str) {
        let Some(given) = rules::given_by(line) else { return };
        let is_outdated = self.machine.audit.on_given(given);
        if is_outdated && self.machine.process.is_ready() {
            self.list_rules();
        }
    }

    pub(super) fn is_strict(&self) -> bool {
        self.machine.mode.is_strict(self.machine.control.mode())
    }

    pub(super) fn watch_init(&mut self, init: &Init) {
        let fault = self.machine.audit.on_init(init);
        self.report_fault(fault);
    }

    pub(super) fn watch_results(&mut self, user: &User) {
        let strict = self.is_strict();
        match self.machine.audit.on_results(user, strict) {
            AuditResult::Report(fault) => self.report_fault(Some(fault)),
            AuditResult::NeedsSettings => {
                let is_asking = self.machine.control.has(|asked| *asked == PendingRequest::SettingsForRules);
                if !is_asking {
                    self.ask(PendingRequest::SettingsForRules, wire::get_settings());
                }
            }
            AuditResult::Nothing => {}
        }
    }

    fn report_fault(&mut self, fault: Option<MissedPrompt>) {
        if let Some(fault) = fault {
            // A detail may be empty here, unlike in other notices.
            self.note(super::TranscriptEvent::Notice {
                level: Level::Error,
                text: fault.words,
                detail: fault.subject,
            });
            self.changed();
        }
    }
}

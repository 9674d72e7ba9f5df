//! The permission rules in force and the permission audit: the machine's part of `rules` and `permission_audit`.

use super::parts::audit::AuditResult;
use super::{PendingRequest, Step};
use crate::agent::{Answer, HostRequest, Init, Refused, User};
use crate::api::*;

impl Step<'_> {
    pub(super) fn list_rules(&mut self) {
        if self.machine.process.is_ready() {
            self.ask(PendingRequest::Rules, HostRequest::ListRules);
        } else {
            self.refuse(
                ErrorCode::BadCommand,
                "The agent is not running. It loads its rules when it starts.",
            );
        }
    }

    /// Has the agent ask about what these rules allow, or no longer.
    pub(super) fn suspend_rules(&mut self, rules: &[String], suspended: bool) {
        if !self.machine.process.is_ready() {
            return self.refuse(
                ErrorCode::BadCommand,
                "The agent is not running. It loads its rules when it starts.",
            );
        }
        let is_any_suspended = rules.iter().any(|rule| self.machine.audit.suspended().contains(rule));
        if !suspended && !is_any_suspended {
            return self.refuse(
                ErrorCode::BadCommand,
                "The agent has not suspended this rule. It loads its rules when it starts.",
            );
        }
        self.change_suspended(rules, suspended);
    }

    /// Sends the rules that are suspended from now on, if they are others.
    fn change_suspended(&mut self, rules: &[String], suspended: bool) {
        let Some(before) = self.machine.audit.suspend(rules, suspended) else { return };
        let now = self.machine.audit.suspended().to_vec();
        let is_sent = self
            .ask(PendingRequest::SuspendedRules { before: before.clone() }, HostRequest::SuspendRules(now));
        if !is_sent {
            self.machine.audit.on_suspension_refused(before);
            self.reload();
        }
    }

    pub(super) fn rules_suspended(&mut self, before: Vec<String>, outcome: Result<&Answer, &Refused>) {
        let is_suspension = |asked: &PendingRequest| matches!(asked, PendingRequest::SuspendedRules { .. });
        match outcome {
            Ok(_) if self.machine.control.has(is_suspension) => {}
            Ok(_) => self.machine.audit.on_suspended(),
            Err(problem) => {
                self.machine.audit.on_suspension_refused(before);
                self.refused("The agent did not suspend the rule.", &problem.message);
                // Its next process reads the files.
                self.reload();
            }
        }
        if self.machine.audit.rules().is_some() {
            self.list_rules();
        }
    }

    pub(super) fn rules_reported(&mut self, outcome: Result<&Answer, &Refused>) {
        match outcome {
            Ok(Answer::Rules(listed)) => {
                self.machine.audit.on_rules(listed.clone());
                self.changed();
            }
            // An agent without a rule list still reports the settings it loaded (2.1.197).
            _ => {
                self.ask(PendingRequest::SettingsForRules, HostRequest::ReadSettings);
            }
        }
    }

    pub(super) fn settings_for_rules(&mut self, outcome: Result<&Answer, &Refused>) {
        let settings = match outcome {
            Ok(Answer::Settings(settings)) => Some(&**settings),
            _ => None,
        };
        let fault = self.machine.audit.on_settings(settings);
        self.report_fault(fault);
        self.changed_if(outcome.is_ok());
    }

    /// Records the rules or the mode that an answer sent along.
    pub(super) fn given(&mut self, given: Option<Vec<Rule>>) {
        let Some(given) = given else { return };
        let allowing = given.iter().filter(|rule| rule.effect == RuleEffect::Allow);
        let allowing: Vec<String> = allowing.map(|rule| rule.rule.clone()).collect();
        let is_outdated = self.machine.audit.on_given(given);
        // A rule that asks would count before the one that was just given.
        if self.machine.process.is_ready() {
            self.change_suspended(&allowing, false);
        }
        if is_outdated && self.machine.process.is_ready() {
            self.list_rules();
        }
    }

    pub(super) fn is_strict(&self) -> bool {
        // Other agents do not report who allowed a call, and “always” in one of them allows later ones.
        self.machine.acp.is_none() && self.machine.mode.is_strict(self.machine.control.mode())
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
                    self.ask(PendingRequest::SettingsForRules, HostRequest::ReadSettings);
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

//! The rules that are in force in the current process, and what the permission audit found in it.

use crate::agent::{Assistant, Init, SettingsReport, User, with_rules};
use crate::api::{MissedPrompt, Rule, RuleEffect, RuleOrigin, RulesBasis, RulesInForce};
use crate::session::permission_audit::{Finding, PermissionAudit, Suspicion};

/// File changes that may wait for an explanation. One without an explanation is enough for a report.
const SUSPICIONS: usize = 16;

#[derive(Clone, Debug, Default)]
pub struct Audit {
    rules: Option<RulesInForce>,
    /// The first fault. It stays visible until the process ends.
    fault: Option<MissedPrompt>,
    permissions: PermissionAudit,
    /// Rules that the user gave at the start of this process, and with answers.
    given: Vec<Rule>,
    suspicions: Vec<Suspicion>,
    /// The agent asks about what these rules allow.
    suspended: Vec<String>,
}

/// What tool results call for.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditResult {
    Nothing,
    /// A fault to report. It is the first one of this process.
    Report(MissedPrompt),
    /// The agent's settings may explain a change.
    NeedsSettings,
}

impl Audit {
    pub fn rules(&self) -> Option<&RulesInForce> {
        self.rules.as_ref()
    }

    pub fn fault(&self) -> Option<&MissedPrompt> {
        self.fault.as_ref()
    }

    /// A new process does not have the rules that were given to the last one. It is started with `given`.
    pub fn on_spawn(&mut self, given: Vec<Rule>) {
        *self = Self { given, ..Self::default() };
    }

    pub fn on_exit(&mut self) {
        self.fault = None;
        self.suspicions.clear();
    }

    /// Returns a fault to report: the agent cannot ask.
    pub fn on_init(&mut self, init: &Init) -> Option<MissedPrompt> {
        let fault = self.permissions.init(init)?;
        self.first(fault)
    }

    /// `strict`: only the mode `default` is in force.
    pub fn on_call(&mut self, assistant: &Assistant, strict: bool) {
        // A subagent may have a mode of its own.
        let strict = strict && assistant.parent_tool_use_id.is_none();
        self.permissions.called(&assistant.message.content, strict);
    }

    pub fn on_request(&mut self, tool_use_id: Option<&str>) {
        self.permissions.asked(tool_use_id);
    }

    /// `strict`: only the mode `default` is in force.
    pub fn on_results(&mut self, user: &User, strict: bool) -> AuditResult {
        if !strict {
            self.permissions.loosened();
        }
        match self.permissions.results(user) {
            Some(Finding::Fault(fault)) => {
                self.first(fault).map_or(AuditResult::Nothing, AuditResult::Report)
            }
            Some(Finding::Suspicion(suspicion)) if self.fault.is_none() => {
                // One answer judges all suspicions collected by then.
                if self.suspicions.len() < SUSPICIONS {
                    self.suspicions.push(suspicion);
                }
                AuditResult::NeedsSettings
            }
            Some(Finding::Suspicion(_)) | None => AuditResult::Nothing,
        }
    }

    pub fn on_turn_ended(&mut self) {
        self.permissions.turn_over();
    }

    /// The agent listed its rules.
    pub fn on_rules(&mut self, listed: RulesInForce) {
        self.rules = Some(self.without_suspended(listed));
    }

    /// An answer sent these rules or a mode along. Returns whether the list of rules is out of date.
    pub fn on_given(&mut self, rules: Vec<Rule>) -> bool {
        self.given.extend(rules);
        self.permissions.loosened();
        self.rules.is_some()
    }

    /// Derives the rules from the settings if the agent has no list, and judges suspicious changes by them. `None`: the
    /// agent did not answer, so no rule is known and no fault is reported. Returns a fault to report.
    pub fn on_settings(&mut self, settings: Option<&SettingsReport>) -> Option<MissedPrompt> {
        let suspicions = std::mem::take(&mut self.suspicions);
        let settings = settings?;
        let rules = with_rules(settings.rules.clone(), &self.given);
        let fault = suspicions.into_iter().find_map(|suspicion| suspicion.judge(&rules, settings));
        if self.rules.as_ref().is_none_or(|known| known.basis == RulesBasis::Settings) {
            self.rules = Some(self.without_suspended(rules));
        }
        self.first(fault?)
    }

    pub fn suspended(&self) -> &[String] {
        &self.suspended
    }

    /// Suspends these rules, or no longer. Returns those that were suspended before; `None` if nothing changes.
    pub fn suspend(&mut self, rules: &[String], suspended: bool) -> Option<Vec<String>> {
        let before = self.suspended.clone();
        self.suspended.retain(|known| !rules.contains(known));
        if suspended {
            self.suspended.extend(rules.iter().cloned());
        }
        (self.suspended != before).then_some(before)
    }

    pub fn on_suspension_refused(&mut self, before: Vec<String>) {
        self.suspended = before;
    }

    /// A suspended rule allows nothing, so it is not in force. The agent lists it all the same, with one that asks, which
    /// lasts as long as the process.
    fn without_suspended(&self, mut rules: RulesInForce) -> RulesInForce {
        let is_suspended = |rule: &Rule| self.suspended.contains(&rule.rule);
        rules.rules.retain(|rule| rule.effect != RuleEffect::Allow || !is_suspended(rule));
        for rule in &mut rules.rules {
            if rule.effect == RuleEffect::Ask && rule.origin == RuleOrigin::Folder && is_suspended(rule) {
                rule.origin = RuleOrigin::Session;
            }
        }
        with_rules(rules, &[])
    }

    /// Only the first fault is reported.
    fn first(&mut self, fault: MissedPrompt) -> Option<MissedPrompt> {
        if self.fault.is_some() {
            return None;
        }
        self.fault = Some(fault.clone());
        Some(fault)
    }
}

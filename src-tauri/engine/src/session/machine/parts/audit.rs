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
    /// It has confirmed that. Until then a call can run by these rules.
    asks: bool,
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
        let all = with_rules(settings.rules.clone(), &self.given);
        let in_force = self.without_suspended(all.clone());
        let judging = if self.asks { &in_force } else { &all };
        let fault = suspicions.into_iter().find_map(|suspicion| suspicion.judge(judging, settings));
        if self.rules.as_ref().is_none_or(|known| known.basis == RulesBasis::Settings) {
            self.rules = Some(in_force);
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
        let is_changed = self.suspended != before;
        self.asks &= !is_changed;
        is_changed.then_some(before)
    }

    /// The agent has confirmed the last change. What ran before may have been allowed by these rules.
    pub fn on_suspended(&mut self) {
        self.asks = true;
        self.permissions.loosened();
        self.suspicions.clear();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::AgentEvent;
    use crate::wire::parse;
    use serde_json::{Value, json};

    /// A file is written, without a request or a reason.
    fn writes(audit: &mut Audit) -> AuditResult {
        calls(audit);
        ends(audit)
    }

    fn heard(line: &Value) -> AgentEvent {
        parse(line.to_string().as_bytes())
    }

    fn calls(audit: &mut Audit) {
        let call = json!({"type": "tool_use", "id": "t", "name": "Write", "input": {"file_path": "/p/a", "content": "x"}});
        let message = json!({"id": "m", "role": "assistant", "content": [call]});
        let AgentEvent::Assistant(said) = heard(&json!({"type": "assistant", "message": message})) else {
            panic!("not a message of the assistant")
        };
        audit.on_call(&said, true);
    }

    fn ends(audit: &mut Audit) -> AuditResult {
        let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "ok"});
        let line = json!({"type": "user", "message": {"role": "user", "content": [result]}});
        let AgentEvent::User(user) = heard(&line) else { panic!("not a user message") };
        audit.on_results(&user, true)
    }

    /// Judges by settings that allow every write.
    fn judged(audit: &mut Audit) -> Option<MissedPrompt> {
        let rule = Rule { effect: RuleEffect::Allow, rule: "Write".to_owned(), origin: RuleOrigin::User };
        let rules = RulesInForce { basis: RulesBasis::Settings, rules: vec![rule], directories: Vec::new() };
        audit.on_settings(Some(&SettingsReport { effort: None, has_allowing_hooks: false, rules }))
    }

    #[test]
    fn a_suspended_rule_explains_no_call_after_the_agent_confirmed_it() {
        let rules = ["Write".to_owned()];
        let mut audit = Audit::default();
        assert_eq!(writes(&mut audit), AuditResult::NeedsSettings);
        assert_eq!(judged(&mut audit), None);
        // What ended before the confirmation may have run by the rule, whenever the settings arrive.
        audit.suspend(&rules, true);
        writes(&mut audit);
        assert_eq!(judged(&mut audit), None);
        writes(&mut audit);
        calls(&mut audit);
        audit.on_suspended();
        assert_eq!(ends(&mut audit), AuditResult::Nothing);
        assert_eq!(judged(&mut audit), None);
        assert_eq!(writes(&mut audit), AuditResult::NeedsSettings);
        let fault = judged(&mut audit).unwrap();
        assert_eq!(fault.words, "The agent changed a file without asking.");
        // It explains calls again as soon as the agent may have it.
        let mut audit = Audit::default();
        audit.suspend(&rules, true);
        audit.on_suspended();
        audit.suspend(&rules, false);
        writes(&mut audit);
        assert_eq!(judged(&mut audit), None);
    }
}

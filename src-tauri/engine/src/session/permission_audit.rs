//! The permission audit: checks that the agent asks for permission where it must. The CLI flag that makes it ask is
//! hidden, and has been lost before.
//!
//! The audit runs nothing. The first `init` shows whether the agent can ask: if not, it offers its model neither
//! questions nor the approval of plans (2.1.329 and 2.1.197). After that, every tool call is evidence. A call needed a
//! request in two cases: the agent reports that the user allowed it (`user_temporary`); or it changed a file, ran a
//! command or reached the network in the mode `default`, and the agent's reason is that mode, or none. The audit
//! accepts any other reason (a rule, a hook, a harmless command) and a mode that changed meanwhile: a report must be
//! true, so doubt is no fault. Agents that give no reasons (2.1.197) are judged only by changes of files, because only
//! modes other than `default` allow them unasked, and only if no rule or hook could have allowed them.

use crate::agent::tool::ToolKind;
use crate::agent::{ContentBlock, DecidedBy, Init, SettingsReport, User};
use crate::api::{MissedPrompt, MissedPromptKind, Rule, RuleEffect, RulesInForce};
use std::collections::{HashMap, HashSet};

/// Evidence from the current turn.
#[derive(Clone, Debug, Default)]
pub struct PermissionAudit {
    calls: HashMap<String, Call>,
    asked: HashSet<String>,
    /// A request arrived without a tool call id.
    asked_unnamed: bool,
    /// The agent writes its own notes to these folders unasked, by design.
    own_folders: Vec<String>,
}

#[derive(Clone, Debug)]
struct Call {
    tool: String,
    kind: ToolKind,
    needs_request_by_default: bool,
    allowing_rules: &'static [&'static str],
    subject: String,
    /// Only the mode `default` was in force since the call was made.
    strict: bool,
}

/// The verdict on a tool result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    Fault(MissedPrompt),
    /// A fault, unless a rule or a hook explains it.
    Suspicion(Suspicion),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicion {
    fault: MissedPrompt,
    /// The beginnings of rules that may have allowed the call.
    allowing_rules: &'static [&'static str],
}

impl Suspicion {
    /// Returns the fault, unless a rule or a hook could have allowed the call.
    pub fn judge(self, rules: &RulesInForce, settings: &SettingsReport) -> Option<MissedPrompt> {
        let allows = |rule: &Rule| {
            let is_meant = self.allowing_rules.iter().any(|beginning| rule.rule.starts_with(beginning));
            rule.effect == RuleEffect::Allow && is_meant
        };
        let is_allowed = rules.rules.iter().any(allows) || settings.has_allowing_hooks;
        (!is_allowed).then_some(self.fault)
    }
}

impl PermissionAudit {
    /// Checks whether the agent can ask the user.
    pub fn init(&mut self, init: &Init) -> Option<MissedPrompt> {
        self.own_folders = init.own_folders.clone();
        init.cannot_ask.then(|| MissedPrompt {
            kind: MissedPromptKind::CannotAsk,
            words: "The agent cannot ask you for permission. What needs it is denied without being shown."
                .to_owned(),
            subject: None,
        })
    }

    /// Records tool calls. `strict`: only the mode `default` was in force.
    pub fn called(&mut self, content: &[ContentBlock], strict: bool) {
        for block in content {
            let ContentBlock::ToolUse { id, call } = block else { continue };
            let call = Call {
                tool: call.name.clone(),
                kind: call.kind,
                needs_request_by_default: call.needs_request_by_default,
                allowing_rules: call.allowing_rules,
                subject: call.subject().unwrap_or_default().to_owned(),
                strict,
            };
            self.calls.insert(id.clone(), call);
        }
    }

    pub fn asked(&mut self, tool_use_id: Option<&str>) {
        match tool_use_id {
            Some(id) => drop(self.asked.insert(id.to_owned())),
            None => self.asked_unnamed = true,
        }
    }

    /// Another mode is or may be in force: running calls may be allowed without a request.
    pub fn loosened(&mut self) {
        for call in self.calls.values_mut() {
            call.strict = false;
        }
    }

    /// Judges the results of tool calls.
    pub fn results(&mut self, user: &User) -> Option<Finding> {
        let mut found = None;
        for result in user.results() {
            let Some(call) = self.calls.remove(&result.tool_use_id) else { continue };
            if self.asked_unnamed || self.asked.contains(&result.tool_use_id) {
                continue;
            }
            found = found.or_else(|| self.judge(&call, result.is_error, result.decision));
        }
        found
    }

    /// The turn has ended. Calls that are still open run in the background and are not checked.
    pub fn turn_over(&mut self) {
        self.calls.clear();
        self.asked.clear();
        self.asked_unnamed = false;
    }

    fn judge(&self, call: &Call, is_error: bool, decision: Option<DecidedBy>) -> Option<Finding> {
        let changes = call.kind.changes_files();
        let fault = || MissedPrompt {
            kind: MissedPromptKind::Unasked,
            words: match call.kind {
                ToolKind::Command => "The agent ran a command without asking.".to_owned(),
                ToolKind::Fetch => "The agent accessed the network without asking.".to_owned(),
                _ if changes => "The agent changed a file without asking.".to_owned(),
                _ => format!("The agent used {} without asking.", call.tool),
            },
            subject: Some(call.subject.clone()).filter(|subject| !subject.is_empty()),
        };
        let Some(decision) = decision else {
            let is_own = self.own_folders.iter().any(|folder| call.subject.starts_with(folder.as_str()));
            let is_suspicious = call.strict && changes && !is_error && !is_own;
            return is_suspicious.then(|| {
                let allowing_rules = call.allowing_rules;
                Finding::Suspicion(Suspicion { fault: fault(), allowing_rules })
            });
        };
        let by_mode = || decision == DecidedBy::Mode && call.strict && call.needs_request_by_default;
        (decision == DecidedBy::User || by_mode()).then(|| Finding::Fault(fault()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::AgentEvent;
    use crate::api::RulesBasis;
    use crate::wire::parse;
    use serde_json::{Value, json};

    fn call(channel: &mut PermissionAudit, tool: &str, strict: bool) {
        let input = match tool {
            "Bash" => json!({"command": "touch a"}),
            _ => json!({"file_path": "/project/a"}),
        };
        let input = input.into();
        let call = Box::new(crate::claude::tool::call(tool.to_owned(), input));
        channel.called(&[ContentBlock::ToolUse { id: "t".into(), call }], strict);
    }

    fn result(decision: Value) -> User {
        let line = json!({
            "type": "user",
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]},
            "tool_result_meta": [{"id": "t", "permission_decision": decision}],
        });
        let AgentEvent::User(user) = parse(line.to_string().as_bytes()) else { panic!("not a user message") };
        *user
    }

    fn found(tool: &str, decision: Value) -> Option<Finding> {
        let mut channel = PermissionAudit::default();
        call(&mut channel, tool, true);
        channel.results(&result(decision))
    }

    fn accept(source: &str, reason: &str) -> Value {
        json!({"decision": "accept", "source": source, "reason_type": reason})
    }

    #[test]
    fn what_the_mode_alone_let_through_is_a_fault() {
        for tool in ["Bash", "Write", "Edit", "NotebookEdit", "WebFetch"] {
            let found = found(tool, accept("config", "mode"));
            assert!(matches!(found, Some(Finding::Fault(_))), "{tool}: {found:?}");
        }
        let user = found("Read", accept("user_temporary", ""));
        assert!(matches!(user, Some(Finding::Fault(_))), "nobody was asked: {user:?}");
    }

    #[test]
    fn a_reason_explains_it() {
        // Decisions as 2.1.329 reports them.
        for (tool, decision) in [
            ("Read", accept("config", "mode")),
            ("Bash", accept("config", "subcommandResults")),
            ("Bash", accept("config", "rule")),
            ("Bash", accept("user_temporary", "rule")),
            ("Bash", accept("hook", "hook")),
            ("Write", accept("config", "other")),
            ("Write", json!({"decision": "reject", "source": "config"})),
        ] {
            assert_eq!(found(tool, decision.clone()), None, "{tool} {decision}");
        }
    }

    #[test]
    fn what_was_asked_is_no_fault_nor_what_another_mode_allows() {
        let mode = || result(accept("config", "mode"));
        let mut channel = PermissionAudit::default();
        call(&mut channel, "Write", true);
        channel.asked(Some("t"));
        assert_eq!(channel.results(&result(accept("user_temporary", ""))), None);

        call(&mut channel, "Write", false);
        channel.turn_over();
        assert_eq!(channel.results(&mode()), None, "a call of another turn");
        call(&mut channel, "Write", false);
        assert_eq!(channel.results(&mode()), None, "made in another mode");
        call(&mut channel, "Write", true);
        channel.loosened();
        assert_eq!(channel.results(&mode()), None, "the mode changed meanwhile");
        call(&mut channel, "Write", true);
        channel.asked(None);
        assert_eq!(channel.results(&mode()), None, "perhaps it was this one that was asked");
    }

    #[test]
    fn without_reasons_a_rule_or_a_hook_may_explain_a_change() {
        let rules = |rules: &[&str]| RulesInForce {
            basis: RulesBasis::Settings,
            rules: rules
                .iter()
                .map(|rule| crate::api::Rule {
                    effect: RuleEffect::Allow,
                    rule: (*rule).to_owned(),
                    origin: crate::api::RuleOrigin::User,
                })
                .collect(),
            directories: Vec::new(),
        };
        let suspicion = || match found("Write", Value::Null) {
            Some(Finding::Suspicion(suspicion)) => suspicion,
            other => panic!("{other:?}"),
        };
        let plain = SettingsReport { effort: None, has_allowing_hooks: false, rules: rules(&[]) };
        assert!(suspicion().judge(&rules(&["Bash(touch:*)"]), &plain).is_some());
        assert!(suspicion().judge(&rules(&["Edit(/**)"]), &plain).is_none());
        let hooked = SettingsReport { has_allowing_hooks: true, ..plain };
        assert!(suspicion().judge(&rules(&[]), &hooked).is_none());
        assert_eq!(found("Bash", Value::Null), None, "a harmless command needs no answer");
    }

    #[test]
    fn the_agents_notes_are_its_own() {
        let mut channel = PermissionAudit::default();
        let init = json!({"type": "system", "subtype": "init", "session_id": "s", "tools": ["Write"],
            "memory_paths": {"auto": "/project/"}});
        let AgentEvent::Init(init) = parse(init.to_string().as_bytes()) else { panic!("not an init") };
        assert_eq!(channel.init(&init).map(|fault| fault.kind), Some(MissedPromptKind::CannotAsk));
        call(&mut channel, "Write", true);
        assert_eq!(channel.results(&result(Value::Null)), None);
        let asking = Init { cannot_ask: false, ..*init };
        assert_eq!(channel.init(&asking), None);
        assert_eq!(channel.init(&Init::default()), None, "it does not say");
    }
}

//! Rules that the user takes back while the agent runs: it asks again, and the list shows what is in force.

use super::life::{Life, resumable};
use super::*;
use serde_json::json;

fn suspends(life: &mut Life, rules: &[&str], suspended: bool) -> String {
    let rules = rules.iter().map(|rule| (*rule).to_owned()).collect();
    let effects = life.step(Input::Command(Command::SuspendRules { rules, suspended }));
    effects.first().cloned().unwrap_or_default()
}

#[test]
fn a_suspended_rule_is_asked_about_until_it_is_allowed_again() {
    let mut life = Life::new(resumable());
    assert!(suspends(&mut life, &["Bash(a *)"], true).starts_with("refuse"), "nothing runs");
    life.happens("start");
    life.happens("answer 1");
    assert_eq!(suspends(&mut life, &["Bash(a *)"], true), "ask apply_flag_settings");
    assert_eq!(suspends(&mut life, &["Bash(a *)"], true), "", "it is suspended already");
    assert_eq!(suspends(&mut life, &["Bash(b *)"], true), "ask apply_flag_settings");
    assert_eq!(life.machine.audit.suspended(), ["Bash(a *)", "Bash(b *)"]);
    assert_eq!(suspends(&mut life, &["Bash(a *)"], false), "ask apply_flag_settings");
    assert_eq!(life.machine.audit.suspended(), ["Bash(b *)"]);
    let twice = suspends(&mut life, &["Bash(a *)"], false);
    assert!(twice.starts_with("refuse"), "a new process has it only if the files had it: {twice}");
    // The next process reads the files.
    life.happens("exit 0");
    assert!(life.happens("start").join("; ").contains("spawn"));
    assert_eq!(life.machine.audit.suspended(), [""; 0]);
}

/// Allows a command always, with this rule for the session.
fn allows_always(life: &mut Life, request: &str, content: &str) -> Vec<String> {
    let suggestion = json!({"type": "addRules", "behavior": "allow", "destination": "localSettings",
        "rules": [{"toolName": "Bash", "ruleContent": content}]});
    let request_line = json!({"type": "control_request", "request_id": request, "request": {"subtype": "can_use_tool",
        "tool_name": "Bash", "input": {"command": "a"}, "permission_suggestions": [suggestion]}});
    life.hears(&request_line);
    let id = RequestId(request.to_owned());
    let shown = life.machine.requests().get(&id).map(|request| request.shown.clone());
    let decision = Decision::AllowAlways { suggestion: json!("s0") };
    life.step(Input::Command(Command::Decide { request_id: id, shown, decision }))
}

#[test]
fn always_allow_is_in_effect_for_a_rule_that_was_removed_before() {
    let mut life = Life::new(resumable());
    life.happens("start");
    life.happens("answer 1");
    suspends(&mut life, &["Bash(a *)", r"Bash(echo \(b\))"], true);
    let effects = allows_always(&mut life, "r1", "a *").join("; ");
    assert!(effects.contains("reply r1 allow; ask apply_flag_settings"), "{effects}");
    assert_eq!(life.machine.audit.suspended(), [r"Bash(echo \(b\))"]);
    // Another rule changes nothing, and one with brackets is recognized.
    let other = allows_always(&mut life, "r2", "other").join("; ");
    assert!(other.contains("reply r2 allow") && !other.contains("apply_flag_settings"), "{other}");
    allows_always(&mut life, "r3", "echo (b)");
    assert_eq!(life.machine.audit.suspended(), [""; 0]);
}

#[test]
fn a_prompt_waits_until_the_agent_has_confirmed_that_it_asks() {
    let mut life = Life::new(SavedSession::default());
    life.happens("start");
    life.happens("answer 1");
    suspends(&mut life, &["Bash(a *)"], true);
    assert!(!life.happens("prompt x").join("; ").contains("send x"));
    assert!(life.happens("answer 2").join("; ").contains("send x"));
}

#[test]
fn an_agent_that_refuses_or_does_not_answer_restarts_when_it_is_idle() {
    let ready = || {
        let mut life = Life::new(resumable());
        life.happens("start");
        life.happens("answer 1");
        life.happens("answer 2");
        life
    };
    // A refusal is said, and the rule is not taken for suspended.
    let mut life = ready();
    suspends(&mut life, &["Bash(a *)"], true);
    let refused = life.happens("answer 3 refused").join("; ");
    assert!(refused.starts_with("Warning; failed Refused; arm Hibernate +1000"), "{refused}");
    assert_eq!(life.machine.audit.suspended(), [""; 0]);
    let idle = |life: &mut Life| {
        life.happens("wait 1000");
        assert!(life.happens("timer Hibernate").contains(&"close".to_owned()));
        life.happens("exit 0").join("; ")
    };
    assert!(idle(&mut life).contains("spawn --resume=s"));

    let mut life = ready();
    suspends(&mut life, &["Bash(a *)"], true);
    life.happens("wait 20000");
    let given_up = life.happens("timer Switch").join("; ");
    assert!(given_up.contains("arm Hibernate +1000"), "{given_up}");
    assert!(idle(&mut life).contains("spawn --resume=s"));
}

#[test]
fn the_list_has_what_is_in_force() {
    let mut life = Life::new(resumable());
    life.happens("start");
    life.happens("answer 1");
    suspends(&mut life, &["Bash(a *)"], true);
    life.step(Input::Command(Command::ListRules));
    let id = life.machine.control.last_id();
    let rule = |behavior: &str, source: &str, rule: &str| json!({"behavior": behavior, "source": source, "rule": rule});
    life.hears(&json!({"type": "control_response", "response": {"subtype": "success", "request_id": id,
        "response": {"state": {"rules": [
            rule("allow", "session", "Bash(a *)"), rule("allow", "flagSettings", "Bash(a *)"),
            rule("ask", "flagSettings", "Bash(a *)"), rule("allow", "userSettings", "Bash(b *)")]}}}}));
    let rules = &life.machine.audit.rules().unwrap().rules;
    let shown: Vec<_> = rules.iter().map(|rule| (rule.effect, rule.rule.as_str(), rule.origin)).collect();
    assert_eq!(
        shown,
        [
            (RuleEffect::Ask, "Bash(a *)", RuleOrigin::Session),
            (RuleEffect::Allow, "Bash(b *)", RuleOrigin::User)
        ]
    );
}

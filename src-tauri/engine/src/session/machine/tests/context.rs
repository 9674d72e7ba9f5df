//! What fills the context window, and the limits of the plan, as the agent reports them.

use super::life::Life;
use super::*;
use serde_json::{Value, json};

fn ready() -> Life {
    let mut life = Life::new(SavedSession::default());
    life.happens("start");
    life.happens("answer 1");
    life
}

fn ask(life: &mut Life) -> Vec<String> {
    life.step(Input::Command(Command::ReadContext))
}

fn line(life: &mut Life, line: &Value) {
    life.hears(line);
}

fn reports(life: &mut Life, n: u32, tokens: u64) {
    let messages = json!({"name": "Messages", "tokens": tokens, "kind": "used"});
    let response = json!({"categories": [messages], "totalTokens": tokens, "maxTokens": 200_000});
    let answer = json!({"subtype": "success", "request_id": format!("deskbell-{n}"), "response": response});
    line(life, &json!({"type": "control_response", "response": answer}));
}

fn context(life: &Life) -> &ContextUsage {
    life.machine.context.usage()
}

fn total(life: &Life) -> Option<u64> {
    context(life).report.as_ref().map(|report| report.total_tokens)
}

const ASKS: [&str; 2] = ["ask get_context_usage", "arm Context +15000"];

#[test]
fn the_context_is_reported_on_request_while_the_agent_runs() {
    let mut life = Life::new(SavedSession::default());
    assert_eq!(ask(&mut life), ["refuse BadCommand"]);
    let mut life = ready();
    life.happens("wait 700");
    life.machine.take_changed();
    assert_eq!(ask(&mut life), ASKS);
    assert!(context(&life).is_pending && life.machine.take_changed());
    assert!(ask(&mut life).is_empty(), "one request at a time");
    life.happens("wait 30");
    reports(&mut life, 2, 40);
    assert_eq!(total(&life), Some(40));
    assert_eq!(context(&life).report.as_ref().map(|report| report.requested_at), Some(700));
    assert!(!context(&life).is_pending && life.machine.take_changed());
    // Of a new conversation nothing is known yet.
    line(&mut life, &json!({"type": "conversation_reset"}));
    assert_eq!(total(&life), None);
}

#[test]
fn a_report_that_does_not_come_is_said_and_one_that_comes_late_counts() {
    let mut life = ready();
    ask(&mut life);
    reports(&mut life, 2, 40);
    ask(&mut life);
    life.happens("timer Context");
    assert_eq!(context(&life).problem.as_deref(), Some("The agent did not answer within 15 s."));
    assert!(!context(&life).is_pending);
    assert_eq!(total(&life), Some(40), "the last report stays");
    assert_eq!(ask(&mut life), ASKS, "it can be requested again");
    assert_eq!(context(&life).problem, None);
    reports(&mut life, 3, 50);
    assert_eq!((total(&life), context(&life).is_pending), (Some(50), false));
    ask(&mut life);
    life.happens("exit 1");
    assert_eq!(context(&life).problem.as_deref(), Some("The agent stopped before it answered."));
    assert!(!context(&life).is_pending);
}

#[test]
fn an_agent_that_does_not_know_the_request_lacks_the_capability() {
    let capability = |life: &Life| life.machine.context.is_reported();
    let mut life = ready();
    ask(&mut life);
    life.happens("answer 2 no");
    let problem = context(&life).problem.clone().unwrap();
    assert_eq!((problem.ends_with(": no"), capability(&life)), (true, true), "{problem}");
    ask(&mut life);
    let error = "Unsupported control request subtype: get_context_usage";
    let answer = json!({"subtype": "error", "request_id": "deskbell-3", "error": error});
    line(&mut life, &json!({"type": "control_response", "response": answer}));
    assert!(!capability(&life));
    assert_eq!(ask(&mut life), ["refuse BadCommand"]);
    // The next process may be another version.
    life.happens("exit 0");
    life.happens("start");
    assert!(capability(&life));
}

/// An answer without categories is no report.
#[test]
fn an_empty_answer_is_a_problem() {
    let mut life = ready();
    ask(&mut life);
    life.happens("answer 2");
    assert!(context(&life).problem.is_some() && !context(&life).is_pending);
}

#[test]
fn the_last_report_of_each_limit_is_kept_also_when_it_is_allowed() {
    let mut life = ready();
    let limit = |window: &str, used: f64| {
        json!({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed", "rateLimitType": window,
               "overageStatus": "allowed",
               "unifiedWindows": {window: {"utilization": used, "resetsAt": 100, "status": "allowed"}}}})
    };
    life.machine.take_changed();
    line(&mut life, &limit("seven_day", 0.2));
    assert!(life.machine.take_changed());
    life.happens("wait 5");
    line(&mut life, &limit("five_hour", 0.5));
    line(&mut life, &limit("five_hour", 0.91));
    let limits = life.machine.limits.limits();
    let known: Vec<_> = limits
        .windows
        .iter()
        .map(|one| (one.id.as_str(), one.percent(), one.status, one.reported_at))
        .collect();
    let expected =
        [("seven_day", Some(20), LimitStatus::Allowed, 0), ("five_hour", Some(91), LimitStatus::Near, 5)];
    assert_eq!(known, expected);
    assert!(limits.overage.as_ref().is_some_and(|overage| overage.is_allowed && !overage.is_used));
    // They are those of the account, not of the process.
    life.happens("exit 0");
    assert_eq!(life.machine.limits.limits().windows.len(), 2);
    for n in 0..40 {
        line(&mut life, &limit(&format!("window {n}"), 0.1));
    }
    assert_eq!(life.machine.limits.limits().windows.len(), 16, "bounded");
}

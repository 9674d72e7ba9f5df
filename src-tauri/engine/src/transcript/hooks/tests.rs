//! Tests of hooks in a transcript, with the lines of Claude Code 2.1.329 and 2.1.197.

use super::*;
use crate::transcript::TranscriptEvent;
use serde_json::{Value, json};
use std::path::Path;

/// A line about a run of a hook.
fn line(subtype: &str, id: &str, name: &str, more: &Value) -> Value {
    let event = name.split(':').next();
    let mut line = json!({"type": "system", "subtype": subtype, "hook_id": id, "hook_name": name,
                          "hook_event": event});
    for (key, value) in more.as_object().into_iter().flatten() {
        line[key] = value.clone();
    }
    line
}

fn began(id: &str, name: &str) -> Value {
    line("hook_started", id, name, &json!({}))
}

fn printed(id: &str, name: &str, stdout: &str) -> Value {
    line("hook_progress", id, name, &json!({"stdout": stdout, "stderr": "", "output": stdout}))
}

fn ended(id: &str, name: &str, (outcome, code): (&str, i64), stdout: &str, stderr: &str) -> Value {
    let more = json!({"outcome": outcome, "exit_code": code, "stdout": stdout, "stderr": stderr,
                      "output": format!("{stdout}{stderr}")});
    line("hook_response", id, name, &more)
}

const GOOD: (&str, i64) = ("success", 0);

struct Life(Transcript);

impl Life {
    fn new() -> Self {
        Self(Transcript::new(Path::new("/project")))
    }

    fn hears(&mut self, at: u64, line: &Value) {
        self.0.line(at, crate::wire::parse(line.to_string().as_bytes()));
    }

    fn turn_ends(&mut self, at: u64) {
        self.0.apply(
            at,
            TranscriptEvent::TurnEnded(TurnEnd {
                outcome: Outcome::Done,
                words: "Done".to_owned(),
                prompt_ids: Vec::new(),
                duration_ms: 1,
                output_tokens: 0,
                cost_usd: None,
                tokens: None,
                timing: TurnTiming::default(),
            }),
        );
    }

    /// Notices as `level: text | detail`; other items by their kind.
    fn shown(&self) -> Vec<String> {
        let one = |item: &Item| match &item.body {
            Body::Notice { level, text, detail, .. } => {
                let detail = detail.as_ref().map(|detail| format!(" | {detail}")).unwrap_or_default();
                format!("{level:?}: {text}{detail}")
            }
            Body::TurnEnd(_) => "end".to_owned(),
            other => format!("{other:?}"),
        };
        self.0.items().map(one).collect()
    }
}

/// What is shown of one run that ended like this, within a turn.
fn shown_of(name: &str, end: (&str, i64), stdout: &str, stderr: &str) -> Vec<String> {
    let mut life = Life::new();
    life.hears(0, &began("h", name));
    life.hears(10, &ended("h", name, end, stdout, stderr));
    life.shown()
}

#[test]
fn a_run_that_failed_or_decided_something_is_shown_at_once() {
    let specific = |fields: &str| format!(r#"{{"hookSpecificOutput":{{{fields}}}}}"#);
    let denies = specific(r#""permissionDecision":"deny","permissionDecisionReason":"not here""#);
    let changes = specific(r#""permissionDecision":"allow","updatedInput":{"command":"ls"}"#);
    let asks = specific(r#""permissionDecision":"ask","permissionDecisionReason":"risky""#);
    let (denies, changes, asks) = (denies.as_str(), changes.as_str(), asks.as_str());
    let table = [
        (
            "PostToolUse:Bash",
            ("error", 1),
            "",
            "bad\n",
            "Warning: The hook PostToolUse:Bash failed (exit code 1)",
        ),
        (
            "PreToolUse:Bash",
            ("error", 2),
            "",
            "no",
            "Warning: The hook PreToolUse:Bash reported a blocking error (exit code 2)",
        ),
        ("Stop", ("cancelled", 1), "", "", "Warning: The hook Stop was cancelled, or reached its time limit"),
        ("PreToolUse:Bash", GOOD, denies, "", "Warning: The hook PreToolUse:Bash denied the call: not here"),
        (
            "PreToolUse:Bash",
            GOOD,
            changes,
            "",
            "Info: The hook PreToolUse:Bash changed the input of the call",
        ),
        ("PreToolUse:Bash", GOOD, asks, "", "Info: The hook PreToolUse:Bash requires your permission: risky"),
        (
            "Stop",
            GOOD,
            r#"{"decision":"block","reason":"test it"}"#,
            "",
            "Warning: The hook Stop sent the agent back: test it",
        ),
        (
            "PostToolUse:Bash",
            GOOD,
            r#"{"continue":false,"stopReason":"halt"}"#,
            "",
            "Warning: The hook PostToolUse:Bash stopped the agent: halt",
        ),
    ];
    for (name, end, stdout, stderr, text) in table {
        let output = format!("{stdout}{stderr}").trim().to_owned();
        let expected = if output.is_empty() { text.to_owned() } else { format!("{text} | {output}") };
        assert_eq!(shown_of(name, end, stdout, stderr), [expected]);
    }
}

#[test]
fn quiet_runs_share_one_notice_at_the_end_of_their_turn() {
    let mut life = Life::new();
    for n in 0..40 {
        let id = n.to_string();
        life.hears(n, &ended(&id, "PreToolUse:Bash", GOOD, "checked\n", ""));
        life.hears(n, &ended(&id, "PostToolUse:Bash", GOOD, "", ""));
        life.hears(n, &ended(&id, "PostToolUse:Edit", GOOD, "{}\n", ""));
    }
    life.hears(40, &ended("s", "Stop", GOOD, "all good\n", ""));
    assert!(life.shown().is_empty(), "{:?}", life.shown());
    life.turn_ends(41);
    let text =
        "Info: Hooks ran: PreToolUse:Bash (40 times), Stop | PreToolUse:Bash:\nchecked\n\nStop:\nall good";
    assert_eq!(life.shown(), [text, "end"]);
    // The next turn has its own.
    life.hears(42, &ended("u", "UserPromptSubmit", GOOD, "context", ""));
    life.turn_ends(43);
    assert_eq!(life.shown()[2..], ["Info: The hook UserPromptSubmit ran | context", "end"]);
    life.turn_ends(44);
    assert_eq!(life.shown()[4..], ["end"]);
}

#[test]
fn the_notice_of_quiet_runs_is_bounded() {
    let mut life = Life::new();
    for n in 0..200 {
        let output = format!("{n}{}", "x".repeat(10_000));
        life.hears(n, &ended("h", &format!("PreToolUse:Tool{n}"), GOOD, &output, ""));
    }
    life.turn_ends(200);
    let shown = life.shown();
    assert_eq!(shown.len(), 2);
    assert!(shown[0].len() < DETAIL_LIMIT + 1000, "{}", shown[0].len());
    assert!(shown[0].starts_with("Info: Hooks ran: PreToolUse:Tool0, PreToolUse:Tool1, "));
    assert!(shown[0].contains("PreToolUse:Tool4, 45 more | "), "{}", &shown[0][..300]);
}

#[test]
fn a_slow_hook_is_shown_with_its_time_and_what_it_prints() {
    let mut life = Life::new();
    life.hears(0, &began("h", "Stop"));
    assert_eq!(life.0.activity(), "Running the hook Stop");
    life.hears(1_000, &printed("h", "Stop", "test 1\n"));
    assert_eq!(life.shown(), ["Info: The hook Stop is running | test 1"]);
    life.hears(2_000, &printed("h", "Stop", "test 1\ntest 2\n"));
    assert_eq!(life.shown(), ["Info: The hook Stop is running | test 1\ntest 2"]);
    life.hears(12_400, &ended("h", "Stop", GOOD, "test 1\ntest 2\n", ""));
    assert_eq!(life.shown(), ["Info: The hook Stop took 12 s | test 1\ntest 2"]);
    assert_eq!(life.0.activity(), "Working");
    // Slow, but silent.
    life.hears(20_000, &began("i", "Stop"));
    life.hears(24_999, &ended("i", "Stop", GOOD, "", ""));
    life.hears(30_000, &began("j", "Stop"));
    life.hears(35_000, &ended("j", "Stop", GOOD, "", ""));
    assert_eq!(life.shown()[1..], ["Info: The hook Stop took 5 s"]);
}

#[test]
fn a_hook_without_an_end_is_no_activity_of_the_next_turn_and_ends_with_its_process() {
    let mut life = Life::new();
    life.hears(0, &began("h", "Stop"));
    life.hears(1, &printed("h", "Stop", "half"));
    life.turn_ends(2);
    assert_eq!(life.0.activity(), "Working");
    life.hears(3, &ended("q", "SessionEnd", GOOD, "bye", ""));
    life.0.apply(4, TranscriptEvent::ProcessEnded);
    let cut_off = "Warning: The hook Stop was cut off: the agent's process ended | half";
    assert_eq!(life.shown(), [cut_off, "end", "Info: The hook SessionEnd ran | bye"]);
}

#[test]
fn details_do_not_repeat_a_message() {
    let reports = "Info: The hook Stop reports: ";
    let message = |text: &str| json!({"systemMessage": text}).to_string();
    let table = [
        (message("Mind the gap"), "", "Mind the gap".to_owned()),
        (message("Mind the gap"), "why", "Mind the gap | why".to_owned()),
        (message(" Mind\nthe gap\n"), "", " Mind\nthe gap\n".to_owned()),
    ];
    for (stdout, stderr, shown) in table {
        assert_eq!(shown_of("Stop", GOOD, &stdout, stderr), [format!("{reports}{shown}")]);
    }
    // Other fields of the output are shown nowhere else.
    let more = r#"{"systemMessage":"Mind","decision":"block"}"#;
    assert_eq!(shown_of("Stop", GOOD, more, ""), [format!("Warning: The hook Stop reports: Mind | {more}")]);
    // The notice has the beginning of a long message, and the details have all of it.
    let long = "m".repeat(MESSAGE_LIMIT + 1);
    let expected = format!("{reports}{} | {long}", &long[..MESSAGE_LIMIT]);
    assert_eq!(shown_of("Stop", GOOD, &message(&long), ""), [expected]);
}

/// 2.1.329 repeats a hook's message, and both versions report a blocked prompt.
#[test]
fn what_the_agent_says_about_a_hook_is_shown_once() {
    let informational = |level: &str, text: &str| json!({"type": "system", "subtype": "informational", "level": level, "content": text});
    let mut life = Life::new();
    life.hears(0, &ended("h", "Stop", GOOD, r#"{"systemMessage":"all done"}"#, ""));
    life.hears(0, &informational("notice", "Stop says: all done"));
    life.hears(0, &informational("notice", "Stop says: something else"));
    let message = "Info: The hook Stop reports: all done";
    assert_eq!(life.shown(), [message, "Info: Stop says: something else"]);

    let blocked = "UserPromptSubmit operation blocked by hook:\nno\n\nOriginal prompt: hello";
    for (end, stdout) in [(("error", 2), ""), (GOOD, r#"{"decision":"block","reason":"no"}"#)] {
        let mut life = Life::new();
        life.hears(0, &ended("h", "UserPromptSubmit", end, stdout, "no"));
        life.hears(0, &informational("warning", blocked));
        life.turn_ends(1);
        assert_eq!(life.shown(), [format!("Warning: {blocked}"), "end".to_owned()]);
    }
}

#[test]
fn a_call_says_that_a_hook_allowed_or_denied_it() {
    let accept = json!({"decision": "accept", "source": "hook", "reason_type": "hook"});
    let reject = json!({"decision": "reject", "source": "hook", "reason_type": "hook"});
    let denied = json!({"id": "t", "non_execution_kind": "permission-rule", "permission_decision": reject});
    let allowed = json!({"id": "t", "permission_decision": accept});
    for (meta, is_error, state, note) in [
        (allowed, false, ToolState::Succeeded, "allowed by a hook"),
        (denied, true, ToolState::Denied, "denied by a hook"),
    ] {
        let mut life = Life::new();
        let call = json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]);
        life.hears(0, &json!({"type": "assistant", "message": {"id": "m", "content": call}}));
        let result =
            json!([{"type": "tool_result", "tool_use_id": "t", "content": "a", "is_error": is_error}]);
        life.hears(1, &json!({"type": "user", "message": {"content": result}, "tool_result_meta": [meta]}));
        let Some(Body::ToolCall(call)) = life.0.item(&ItemId::new("t")).map(|item| &item.body) else {
            panic!("{:?}", life.shown())
        };
        assert_eq!((call.state, call.note.as_deref()), (state, Some(note)));
    }
}

//! Hooks: the agent's reports on their runs, which `--include-hook-events` turns on for every event.

use deskbell_agent::{HookDecision, HookEnd, HookOutcome, HookRun, HookStage};
use serde_json::{Map, Value};

/// Fields of a hook's JSON output that change nothing when the hook does not ask the agent to stop.
const WITHOUT_EFFECT: [&str; 2] = ["continue", "suppressOutput"];

/// The field with a message for the user.
const MESSAGE: &str = "systemMessage";

/// Reads `hook_started`, `hook_progress` and `hook_response`.
pub(super) fn read_hook(subtype: &str, value: &Value) -> HookRun {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let printed = printed(&text("stdout"));
    let stage = match subtype {
        "hook_started" => HookStage::Began,
        "hook_progress" => HookStage::Printed,
        _ => HookStage::Ended(end(value, printed.as_ref())),
    };
    // JSON that holds nothing but a message is that message.
    let plain = printed.as_ref().filter(|printed| is_message_only(printed)).map(message_of);
    let is_empty = plain == Some(None);
    let stdout = plain.map_or_else(|| text("stdout"), Option::unwrap_or_default);
    let outputs = [stdout, text("stderr")].join("\n").trim().to_owned();
    let output = if outputs.is_empty() && !is_empty { text("output").trim().to_owned() } else { outputs };
    HookRun { id: text("hook_id"), event: text("hook_event"), name: text("hook_name"), stage, output }
}

/// The JSON object that a hook printed for the agent.
fn printed(stdout: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(stdout.trim()).ok()
}

fn is_message_only(printed: &Map<String, Value>) -> bool {
    let is_message = message_of(printed).is_some();
    let has_no_effect =
        |key: &String| WITHOUT_EFFECT.contains(&key.as_str()) || (is_message && key == MESSAGE);
    !is_stopped(printed) && printed.keys().all(has_no_effect)
}

fn message_of(printed: &Map<String, Value>) -> Option<String> {
    filled(printed.get(MESSAGE))
}

fn is_stopped(printed: &Map<String, Value>) -> bool {
    printed.get("continue").and_then(Value::as_bool) == Some(false)
}

fn end(value: &Value, printed: Option<&Map<String, Value>>) -> HookEnd {
    let outcome = match value.get("outcome").and_then(Value::as_str) {
        None | Some("success") => HookOutcome::Succeeded,
        Some("cancelled") => HookOutcome::Cancelled,
        Some(_) => HookOutcome::Failed,
    };
    let message = printed.and_then(message_of);
    let (decision, reason) = printed.map(decided).unwrap_or_default();
    HookEnd { outcome, exit_code: value.get("exit_code").and_then(Value::as_i64), message, decision, reason }
}

fn filled(value: Option<&Value>) -> Option<String> {
    value?.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// What a hook decided in its JSON output, and why.
fn decided(printed: &Map<String, Value>) -> (Option<HookDecision>, Option<String>) {
    if is_stopped(printed) {
        return (Some(HookDecision::Stopped), filled(printed.get("stopReason")));
    }
    let specific = printed.get("hookSpecificOutput");
    let field = |key: &str| specific.and_then(|specific| specific.get(key));
    // The answer of a `PermissionRequest` hook.
    let answer = |key: &str| field("decision").and_then(|decision| decision.get(key));
    let word = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let reason = filled(field("permissionDecisionReason"));
    let is_changed = field("updatedInput").or_else(|| answer("updatedInput")).is_some();
    match (word(field("permissionDecision")).as_str(), word(answer("behavior")).as_str()) {
        ("deny", _) => (Some(HookDecision::Denied), reason),
        (_, "deny") => (Some(HookDecision::Denied), filled(answer("message"))),
        ("ask", _) => (Some(HookDecision::Asks), reason),
        _ if word(printed.get("decision")) == "block" => {
            (Some(HookDecision::Blocked), filled(printed.get("reason")))
        }
        _ if is_changed => (Some(HookDecision::ChangedInput), reason),
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A line as 2.1.329 and 2.1.197 write it.
    fn run(subtype: &str, more: Value) -> HookRun {
        let mut line = json!({"type": "system", "subtype": subtype, "hook_id": "h",
            "hook_name": "PreToolUse:Bash", "hook_event": "PreToolUse", "session_id": "s", "uuid": "u"});
        let fields = more.as_object().cloned().unwrap_or_default();
        line.as_object_mut().expect("a line").extend(fields);
        match super::super::parse(line.to_string().as_bytes()) {
            deskbell_agent::AgentEvent::Hook(run) => *run,
            other => panic!("{other:?}"),
        }
    }

    fn ended(outcome: &str, code: i64, stdout: &str, stderr: &str) -> (HookEnd, String) {
        let output = format!("{stdout}{stderr}");
        let more = json!({"outcome": outcome, "exit_code": code, "stdout": stdout, "stderr": stderr,
                          "output": output});
        match run("hook_response", more) {
            HookRun { stage: HookStage::Ended(end), output, .. } => (end, output),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_stages_of_a_run_have_its_id_event_and_name() {
        let began = run("hook_started", json!({}));
        assert_eq!((&*began.id, &*began.event, &*began.name), ("h", "PreToolUse", "PreToolUse:Bash"));
        assert_eq!((began.stage, &*began.output), (HookStage::Began, ""));
        let outputs = json!({"stdout": "tick 1\n", "stderr": "", "output": "tick 1\n"});
        let printed = run("hook_progress", outputs);
        assert_eq!((printed.stage, &*printed.output), (HookStage::Printed, "tick 1"));
    }

    #[test]
    fn an_end_has_its_outcome_exit_code_and_outputs() {
        let (end, output) = ended("success", 0, "a\n", "b\n");
        assert_eq!((end, &*output), (HookEnd { exit_code: Some(0), ..HookEnd::default() }, "a\n\nb"));
        for (name, outcome) in [("error", HookOutcome::Failed), ("cancelled", HookOutcome::Cancelled)] {
            let (end, _) = ended(name, 1, "", "");
            assert_eq!((end.outcome, end.exit_code), (outcome, Some(1)), "{name}");
        }
    }

    #[test]
    fn decisions_are_read_with_their_reasons() {
        use HookDecision::*;
        let specific = |fields: &str| format!(r#"{{"hookSpecificOutput":{{{fields}}}}}"#);
        let table = [
            (
                specific(r#""permissionDecision":"deny","permissionDecisionReason":"no""#),
                Some((Denied, "no")),
            ),
            (
                specific(r#""permissionDecision":"ask","permissionDecisionReason":"risky""#),
                Some((Asks, "risky")),
            ),
            (specific(r#""decision":{"behavior":"deny","message":"never"}"#), Some((Denied, "never"))),
            (
                specific(r#""permissionDecision":"allow","permissionDecisionReason":"ok","updatedInput":{}"#),
                Some((ChangedInput, "ok")),
            ),
            (r#"{"decision":"block","reason":"run the tests"}"#.to_owned(), Some((Blocked, "run the tests"))),
            (r#"{"continue":false,"stopReason":"halt"}"#.to_owned(), Some((Stopped, "halt"))),
            (specific(r#""permissionDecision":"allow""#), None),
            (r#"{"decision":7,"hookSpecificOutput":[],"continue":"no"}"#.to_owned(), None),
            ("[1]".to_owned(), None),
        ];
        for (stdout, expected) in table {
            let (end, output) = ended("success", 0, &stdout, "");
            let decided = end.decision.map(|decision| (decision, end.reason.unwrap_or_default()));
            let expected = expected.map(|(decision, reason)| (decision, reason.to_owned()));
            assert_eq!(decided, expected, "{stdout}");
            assert_eq!(output, stdout);
        }
    }

    #[test]
    fn json_that_changes_nothing_is_no_output() {
        for stdout in ["{}\n", r#"{"continue":true}"#, r#"{"continue":true,"suppressOutput":true}"#] {
            assert_eq!(ended("success", 0, stdout, "").1, "", "{stdout}");
        }
        assert_eq!(ended("error", 1, "{}", "why").1, "why");
        let context = r#"{"hookSpecificOutput":{"additionalContext":"x"}}"#;
        assert_eq!(ended("success", 0, context, "").1, context);
    }

    #[test]
    fn json_with_nothing_but_a_message_is_that_message() {
        let cases = [
            (r#"{"systemMessage":"Mind the gap"}"#, Some("Mind the gap"), "Mind the gap"),
            (r#"{"systemMessage":"Mind the gap","continue":true}"#, Some("Mind the gap"), "Mind the gap"),
            (r#"{"systemMessage":" "}"#, None, r#"{"systemMessage":" "}"#),
            (r#"{"systemMessage":7}"#, None, r#"{"systemMessage":7}"#),
        ];
        for (stdout, message, output) in cases {
            let (end, shown) = ended("success", 0, stdout, "");
            assert_eq!((end.message.as_deref(), &*shown), (message, output), "{stdout}");
        }
        // Another field is shown nowhere else.
        let more = r#"{"systemMessage":"Mind the gap","hookSpecificOutput":{"additionalContext":"x"}}"#;
        assert_eq!(ended("success", 0, more, "").1, more);
        assert_eq!(ended("success", 0, r#"{"systemMessage":"m"}"#, "why").1, "m\nwhy");
    }
}

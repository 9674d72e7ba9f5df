//! Background work keeps its process running, and the user's changes of inputs are saved with the session.

use super::life::{Life, resumable};
use super::*;
use crate::agent::tool::RawInput;
use crate::transcript::changed_inputs::ChangedInput;
use serde_json::{Value, json};

fn ready() -> Life {
    let mut life = Life::new(resumable());
    life.happens("start");
    life.happens("answer 1");
    life.happens("answer 2");
    life
}

fn line(life: &mut Life, line: &Value) -> Vec<String> {
    life.hears(line)
}

fn n_background(life: &Life) -> u32 {
    life.machine.background.count() as u32
}

fn became_a_task(life: &mut Life, structured: Value) {
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "begun"});
    line(life, &json!({"type": "user", "message": {"content": [result]}, "tool_use_result": structured}));
}

/// 2.1.197 lists no tasks: they are counted by the results of their calls.
#[test]
fn an_agent_with_work_in_the_background_does_not_hibernate() {
    for structured in [json!({"backgroundTaskId": "b"}), json!({"status": "async_launched", "agentId": "b"})]
    {
        let mut life = ready();
        life.happens("prompt a");
        became_a_task(&mut life, structured);
        life.happens("result a");
        assert_eq!(n_background(&life), 1);
        assert_eq!(life.happens("timer Hibernate"), ["arm Hibernate +60000"]);
        line(
            &mut life,
            &json!({"type": "system", "subtype": "task_notification", "task_id": "b", "status": "completed"}),
        );
        assert_eq!(n_background(&life), 0);
        assert_eq!(life.happens("timer Hibernate")[0], "close");
    }
}

/// The lines of 2.1.329 for a subagent in the background: it is listed, reports its progress, is stopped.
#[test]
fn a_task_is_listed_with_its_progress_until_its_end_and_can_be_stopped() {
    let mut life = ready();
    life.happens("prompt a");
    let begun = json!({"type": "system", "subtype": "task_started", "task_id": "b", "tool_use_id": "t",
                       "description": "looks around", "task_type": "local_agent", "is_backgrounded": true});
    line(&mut life, &begun);
    assert!(life.machine.background.tasks().is_empty(), "it is not in the background yet");
    let listed = json!({"type": "system", "subtype": "background_tasks_changed",
                        "tasks": [{"task_id": "b", "task_type": "local_agent", "description": "looks around"}]});
    life.happens("wait 500");
    line(&mut life, &listed);
    life.happens("result a");
    assert_eq!(
        life.machine.status(""),
        Status::Background,
        "a session whose work continues is not completed"
    );
    let progress = json!({"type": "system", "subtype": "task_progress", "task_id": "b", "tool_use_id": "t",
                          "description": "Running cargo test", "usage": {"total_tokens": 2140, "tool_uses": 3}});
    line(&mut life, &progress);
    let expected = BackgroundTask {
        id: "b".to_owned(),
        item_id: Some(ItemId::new("t")),
        kind: TaskKind::Subagent,
        description: "looks around".to_owned(),
        started_at: 0,
        tokens: Some(2140),
        n_tool_uses: Some(3),
        activity: Some("Running cargo test".to_owned()),
        is_stopping: false,
    };
    assert_eq!(life.machine.background.tasks(), std::slice::from_ref(&expected));

    let stop = |id: &str| Input::Command(Command::StopTask { task_id: id.to_owned() });
    assert_eq!(life.step(stop("other")), ["refuse BadCommand"]);
    assert_eq!(life.step(stop("b")), ["ask stop_task b"]);
    assert!(life.step(stop("b")).is_empty(), "asked once");
    assert_eq!(life.machine.background.tasks(), [BackgroundTask { is_stopping: true, ..expected.clone() }]);
    life.happens("answer 3 no");
    assert_eq!(life.machine.background.tasks(), [expected], "the agent refused");
    assert_eq!(life.step(stop("b")), ["ask stop_task b"]);
    line(
        &mut life,
        &json!({"type": "system", "subtype": "task_notification", "task_id": "b", "status": "stopped"}),
    );
    assert_eq!(life.machine.status(""), Status::Completed);
    assert_eq!(life.step(stop("b")), ["refuse BadCommand"]);
    life.happens("exit 0");
    assert_eq!(life.step(stop("b")), ["refuse BadCommand"]);
}

/// If the agent lists its tasks, the list counts: a task can end before its call does.
#[test]
fn a_task_that_is_not_in_the_agents_list_does_not_run() {
    let mut life = ready();
    life.happens("prompt a");
    let list = |ids: &[&str]| {
        let tasks: Vec<Value> = ids.iter().map(|id| json!({"task_id": id})).collect();
        json!({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks})
    };
    line(&mut life, &list(&["b"]));
    assert_eq!(n_background(&life), 1);
    line(&mut life, &list(&[]));
    became_a_task(&mut life, json!({"backgroundTaskId": "b"}));
    assert_eq!(n_background(&life), 0);
    line(&mut life, &list(&["c"]));
    life.happens("exit 1");
    assert_eq!(n_background(&life), 0);
}

/// A heartbeat has no content, but a subscriber that measures the silence gets an event.
#[test]
fn a_heartbeat_is_a_sign_of_life() {
    let mut life = ready();
    life.happens("prompt a");
    life.machine.take_changed();
    line(
        &mut life,
        &json!({"type": "tool_progress", "tool_use_id": "t-heartbeat-1", "parent_tool_use_id": "t"}),
    );
    assert!(life.machine.take_changed());
}

/// To log in again does not help if the API refuses a key.
#[test]
fn a_refused_key_is_no_missing_login() {
    let ended = |source: &str, status: Option<u16>| {
        let mut life = ready();
        life.happens("prompt a");
        line(
            &mut life,
            &json!({"type": "system", "subtype": "init", "session_id": "s", "apiKeySource": source}),
        );
        line(
            &mut life,
            &json!({"type": "assistant", "error": "authentication_failed", "message": {"id": "m"}}),
        );
        let result = json!({"type": "result", "subtype": "success", "is_error": true, "result": "Failed",
                            "api_error_status": status, "terminal_reason": "api_error"});
        line(&mut life, &result)
    };
    let key = "ANTHROPIC_API_KEY";
    for (source, status, expected) in [
        (key, Some(401), "ApiError { status: Some(401) }"),
        (key, Some(403), "ApiError { status: Some(403) }"),
        (key, None, "NotLoggedIn"),
        ("none", Some(401), "NotLoggedIn"),
    ] {
        let effects = ended(source, status);
        let end = format!("end [a] {expected}");
        assert!(effects.contains(&end), "{source} {status:?}: {effects:?}");
    }
}

fn asked(life: &mut Life) -> Option<String> {
    let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "t",
                         "input": {"command": "touch original.txt"}});
    line(life, &json!({"type": "control_request", "request_id": "r", "request": request}));
    life.machine.requests().get(&RequestId::new("r")).map(|request| request.shown.clone())
}

#[test]
fn what_the_user_changed_is_kept_with_the_session() {
    let decided = |text: &str| {
        let mut life = ready();
        life.happens("prompt a");
        let shown = asked(&mut life);
        let change = InputChange::Field { name: "command".to_owned(), text: text.to_owned() };
        let decision = Decision::AllowOnce { updated_input: Some(change) };
        let command = Command::Decide { request_id: RequestId::new("r"), shown, decision };
        let effects = life.machine.step(0, Input::Command(command));
        let end = effects.iter().find_map(|effect| match effect {
            Effect::TranscriptEvent(TranscriptEvent::Answered { end, .. }) => Some(end.clone()),
            _ => None,
        });
        (end.unwrap(), effects.contains(&Effect::Save(None)), life.machine.memory().changed_inputs)
    };
    let changed: RawInput = json!({"command": "touch changed.txt"}).into();
    let (end, is_saved, kept) = decided("touch changed.txt");
    assert_eq!(end, RequestEnd::Allowed { changed: Some(changed.clone()) });
    assert!(is_saved);
    assert_eq!(kept, [ChangedInput { tool_use_id: "t".to_owned(), input: changed }]);
    // An edit that restores the original is no change.
    let (end, _, kept) = decided("touch original.txt");
    assert_eq!((end, kept), (RequestEnd::Allowed { changed: None }, Vec::new()));
}

/// `/login`: the agent reports that it is not available, and ends the turn as a success.
#[test]
fn a_command_that_is_not_available_is_no_turn_that_was_done() {
    let mut life = ready();
    life.happens("prompt a");
    let text = json!([{"type": "text", "text": "/login isn't available in this environment."}]);
    let message = json!({"id": "m", "model": "<synthetic>", "content": text});
    line(&mut life, &json!({"type": "assistant", "message": message}));
    let ended = life.happens("result a");
    assert!(ended.iter().any(|words| words == "end [a] Unavailable"), "{ended:?}");
    assert_eq!(life.machine.status(""), Status::Idle);
    // The next turn is a normal one.
    life.happens("prompt b");
    let ended = life.happens("result b");
    assert!(ended.iter().any(|words| words == "end [b] Done"), "{ended:?}");
    assert_eq!(life.machine.status(""), Status::Completed);
}

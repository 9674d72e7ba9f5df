//! Background work keeps its process running, and the user's changes of inputs are saved with the session.

use super::life::{Life, resumable};
use super::*;
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
    life.step(Input::Line(wire::parse(line.to_string().as_bytes())))
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
    let changed = json!({"command": "touch changed.txt"});
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

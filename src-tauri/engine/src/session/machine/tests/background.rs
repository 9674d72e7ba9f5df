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

#[test]
fn the_end_of_a_stopped_turn_says_what_goes_on() {
    for n_tasks in [0, 1, 2] {
        let mut life = ready();
        life.happens("prompt a");
        for id in ["b", "c"].iter().take(n_tasks) {
            became_a_task(&mut life, json!({"backgroundTaskId": id}));
        }
        life.happens("interrupt");
        life.happens("result a aborted");
        let expected = ["", " · 1 background task goes on", " · 2 background tasks go on"][n_tasks];
        assert_eq!(life.machine.background.going_on(), expected);
    }
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
        life.happens("wait 30000");
        assert_eq!(life.happens("timer Hibernate")[0], "close");
    }
}

/// The agent begins the turn a moment after it reported the end (`tests/recordings/background_shell.ndjson`).
#[test]
fn an_agent_whose_task_has_ended_does_not_hibernate_before_the_turn_that_this_begins() {
    let ended =
        json!({"type": "system", "subtype": "task_notification", "task_id": "b", "status": "completed"});
    let mut life = ready();
    life.happens("prompt a");
    became_a_task(&mut life, json!({"backgroundTaskId": "b"}));
    life.happens("result a");
    line(&mut life, &ended);
    life.happens("wait 430");
    assert_eq!(life.happens("timer Hibernate"), ["arm Hibernate +60000"]);
    let turn = line(&mut life, &json!({"type": "system", "subtype": "init", "session_id": "s"}));
    assert!(turn.contains(&"begin []".to_owned()), "{turn:?}");
    // After that turn, nothing keeps the process: no other turn is expected.
    life.happens("result unasked");
    assert_eq!(life.happens("timer Hibernate")[0], "close");
}

/// A task that the user stopped begins no turn.
#[test]
fn an_agent_that_begins_no_turn_hibernates_later() {
    let mut life = ready();
    life.happens("prompt a");
    became_a_task(&mut life, json!({"backgroundTaskId": "b"}));
    life.happens("result a");
    let ended =
        json!({"type": "system", "subtype": "task_notification", "task_id": "b", "status": "stopped"});
    line(&mut life, &ended);
    life.happens("wait 29999");
    assert_eq!(life.happens("timer Hibernate"), ["arm Hibernate +60000"]);
    life.happens("wait 1");
    assert_eq!(life.happens("timer Hibernate")[0], "close");
}

/// The output of a command is offered while it runs, from the result of its call, whichever comes first.
#[test]
fn a_command_shows_its_output_until_its_end() {
    let path = "/tmp/claude-1000/-p/1f0c/tasks/b.output";
    let result = |text: &str| {
        let result = json!({"type": "tool_result", "tool_use_id": "t", "content": text});
        json!({"type": "user", "message": {"content": [result]}, "tool_use_result": {"backgroundTaskId": "b"}})
    };
    let words =
        format!("Command running in background with ID: b. Output is being written to: {path}. You will be");
    let listed = json!({"type": "system", "subtype": "background_tasks_changed",
                        "tasks": [{"task_id": "b", "task_type": "local_bash", "description": "waits"}]});
    let ended =
        json!({"type": "system", "subtype": "task_notification", "task_id": "b", "status": "completed"});
    for lines in [[&listed, &result(&words)], [&result(&words), &listed]] {
        let mut life = ready();
        life.happens("prompt a");
        lines.iter().for_each(|one| drop(line(&mut life, one)));
        assert!(life.machine.background.tasks()[0].has_output);
        assert_eq!(life.machine.task_output("b"), Some(std::path::Path::new(path)));
        assert_eq!(life.machine.task_output("c"), None);
        line(&mut life, &ended);
        assert_eq!(life.machine.task_output("b"), None);
    }
    let mut life = ready();
    life.happens("prompt a");
    line(&mut life, &result("Output is being written to: /etc/passwd."));
    line(&mut life, &listed);
    assert!(!life.machine.background.tasks()[0].has_output);
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
        has_output: false,
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

/// The agent does nothing before it has reported the command as a task.
#[test]
fn what_a_turn_waits_for_is_moved_to_the_background_as_soon_as_the_agent_can() {
    let mut life = ready();
    let wish = || Input::Command(Command::MoveToBackground);
    assert_eq!(life.step(wish()), ["refuse BadCommand"], "no turn is running");
    life.happens("prompt a");
    assert_eq!(life.step(wish()), ["ask background_tasks"]);
    let started = |id: &str| json!({"type": "system", "subtype": "task_started", "task_id": id});
    assert_eq!(line(&mut life, &started("b")), ["ask background_tasks"]);
    line(
        &mut life,
        &json!({"type": "system", "subtype": "background_tasks_changed", "tasks": [{"task_id": "b"}]}),
    );
    assert!(line(&mut life, &started("c")).is_empty(), "the wish was about what ran then");
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

/// 2.1.329 ends the turn of a scheduled job with a result that names neither an origin nor a prompt.
#[test]
fn the_result_of_a_scheduled_job_leaves_a_prompt_in_flight() {
    let lifecycle = |state: &str, source: Value| {
        let uuid = "job";
        json!({"type": "command_lifecycle", "command_uuid": uuid, "state": state, "wakeup_source": source})
    };
    let mut life = ready();
    assert!(life.happens("prompt a").contains(&"begin [a]".to_owned()));
    line(&mut life, &lifecycle("started", json!("schedule_wakeup")));
    life.happens("init s");
    assert!(life.happens("result ?").is_empty(), "it is the end of the job's turn");
    line(&mut life, &lifecycle("completed", Value::Null));
    assert!(
        life.happens("result ?").contains(&"end [a] Done".to_owned()),
        "it is the end of the prompt's turn"
    );

    // A turn without a result does not take the next result with it.
    life.happens("prompt b");
    line(&mut life, &lifecycle("started", json!("loop_wakeup")));
    line(&mut life, &lifecycle("completed", Value::Null));
    assert!(life.happens("result ?").contains(&"end [b] Done".to_owned()));
}

/// 2.1.329 lists a monitor as a command, and reports nothing before the turns that it begins.
#[test]
fn a_turn_that_a_monitor_began_says_so() {
    let mut life = ready();
    let list = |life: &mut Life, ids: &[&str]| {
        let tasks: Vec<Value> = ids
            .iter()
            .map(|id| json!({"task_id": id, "task_type": "local_bash", "description": format!("log {id}")}))
            .collect();
        line(life, &json!({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks}));
    };
    let watches = |life: &mut Life, id: &str| {
        let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "Monitor started"});
        let data = json!({"taskId": id, "timeoutMs": 60_000, "persistent": false});
        line(life, &json!({"type": "user", "message": {"content": [result]}, "tool_use_result": data}));
    };
    let ends = |life: &mut Life, id: &str| {
        line(
            life,
            &json!({"type": "system", "subtype": "task_notification", "task_id": id, "status": "completed",
                    "summary": "it ended"}),
        );
    };
    // The words of the notice at the head of the next turn without a prompt, if it has one.
    let head = |life: &mut Life| -> Option<String> {
        let words = life.machine.background.waker();
        let did = life.happens("init s");
        life.happens("result ?");
        words.filter(|_| did.contains(&"Info".to_owned()))
    };
    life.happens("prompt a");
    list(&mut life, &["1", "2"]);
    watches(&mut life, "1");
    list(&mut life, &["1", "2"]);
    life.happens("result a");
    let tasks = life.machine.background.tasks();
    assert_eq!([tasks[0].kind, tasks[1].kind], [TaskKind::Monitor, TaskKind::Command]);
    for _ in 0..2 {
        assert_eq!(head(&mut life).as_deref(), Some("The monitor “log 1” started this turn"));
    }
    // The end of a task says so itself.
    ends(&mut life, "2");
    assert_eq!(head(&mut life), None);
    life.happens("prompt b");
    watches(&mut life, "3");
    list(&mut life, &["1", "3"]);
    life.happens("result b");
    assert_eq!(head(&mut life).as_deref(), Some("A monitor started this turn"));
    // A scheduled turn says so too.
    line(
        &mut life,
        &json!({"type": "command_lifecycle", "command_uuid": "u", "state": "started",
                "wakeup_source": "schedule_wakeup"}),
    );
    assert_eq!(head(&mut life), None);
    ends(&mut life, "1");
    assert_eq!(head(&mut life), None);
    ends(&mut life, "3");
    list(&mut life, &[]);
    assert_eq!(head(&mut life), None);
    assert_eq!(head(&mut life), None, "nothing is known about what woke it");
}

/// The result of a call that plans a turn has its times; the prompt is in the call only.
#[test]
fn a_scheduled_turn_has_the_prompt_of_its_call() {
    let mut life = ready();
    life.happens("prompt a");
    let calls = |life: &mut Life, id: &str, tool: &str, input: Value| {
        let call = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        line(life, &json!({"type": "assistant", "message": {"id": id, "content": [call]}}));
    };
    let results = |life: &mut Life, id: &str, data: Value| {
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": "done"});
        line(life, &json!({"type": "user", "message": {"content": [result]}, "tool_use_result": data}));
    };
    let prompts = |life: &Life| -> Vec<String> {
        life.machine.schedules.planned().into_iter().map(|turn| turn.prompt).collect()
    };
    calls(&mut life, "1", "CronCreate", json!({"cron": "* * * * *", "prompt": "look at\nthe build"}));
    calls(&mut life, "2", "ScheduleWakeup", json!({"delaySeconds": 60, "prompt": "get up", "reason": "x"}));
    results(&mut life, "2", json!({"scheduledFor": 9_000, "clampedDelaySeconds": 60, "wasClamped": false}));
    results(&mut life, "1", json!({"id": "job", "humanSchedule": "Every minute", "recurring": true}));
    assert_eq!(prompts(&life), ["get up", "look at the build"]);
    // One that was denied leaves nothing behind for another with its id.
    calls(&mut life, "3", "CronCreate", json!({"cron": "* * * * *", "prompt": "denied"}));
    results(&mut life, "3", json!("Error: denied"));
    results(&mut life, "3", json!({"id": "other", "humanSchedule": "Every minute", "recurring": true}));
    assert_eq!(prompts(&life), ["get up", "look at the build", ""]);
}

/// The results of 2.1.329 for CronCreate, ScheduleWakeup, CronList and CronDelete.
#[test]
fn an_agent_with_a_scheduled_turn_does_not_hibernate() {
    let minute = 60_000;
    let called = |life: &mut Life, data: Value| {
        let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "done"});
        line(life, &json!({"type": "user", "message": {"content": [result]}, "tool_use_result": data}));
    };
    let planned = |life: &Life| -> Vec<String> {
        life.machine.schedules.planned().into_iter().map(|turn| turn.id).collect()
    };
    let job = |id: &str, recurring: bool, at: u64| {
        let times = "Every 2 minutes";
        json!({"id": id, "humanSchedule": times, "recurring": recurring, "nextFireAt": at})
    };
    let woken = |life: &mut Life, source: &str| {
        line(
            life,
            &json!({"type": "command_lifecycle", "command_uuid": "u", "state": "started",
                    "wakeup_source": source}),
        );
        assert_eq!(life.happens("timer Hibernate")[0], "arm Hibernate +60000", "its turn has not begun yet");
        life.happens("init s");
        life.happens("result ?");
    };
    let awake = |life: &mut Life| life.happens("timer Hibernate") == ["arm Hibernate +60000"];
    let wake_up = |at: u64| json!({"scheduledFor": at, "clampedDelaySeconds": 60, "wasClamped": false});

    // A job that runs once.
    let mut life = ready();
    life.happens("prompt a");
    called(&mut life, job("once", false, 2 * minute));
    life.happens("result a");
    assert_eq!(life.machine.schedules.planned()[0].item_id, Some(ItemId::new("t")));
    assert!(awake(&mut life));
    life.happens("wait 120000");
    woken(&mut life, "schedule_wakeup");
    assert_eq!(planned(&life), [""; 0]);
    assert_eq!(life.happens("timer Hibernate")[0], "close");

    // A job that repeats stays until it is cancelled; a wake-up that is listed as a job is one entry.
    let mut life = ready();
    life.happens("prompt a");
    called(&mut life, job("often", true, minute));
    called(&mut life, wake_up(2 * minute));
    // 2.1.329 also lists the time of a wake-up as the number just below it.
    let mut listed_wake_up = job("loop", false, 2 * minute);
    listed_wake_up["nextFireAt"] = json!((2 * minute) as f64 - 0.75);
    let listed = json!({"jobs": [job("often", true, minute), listed_wake_up]});
    called(&mut life, listed);
    life.happens("result a");
    assert_eq!(planned(&life), ["often", "wake-up"]);
    life.happens("wait 120000");
    woken(&mut life, "schedule_wakeup");
    assert_eq!(planned(&life), ["often", "wake-up"]);
    assert_eq!(life.machine.schedules.planned()[0].next_at, None, "the agent does not report the next time");
    woken(&mut life, "loop_wakeup");
    assert_eq!(planned(&life), ["often"]);
    assert!(awake(&mut life));
    called(&mut life, json!({"id": "often"}));
    assert_eq!(life.happens("timer Hibernate")[0], "close");

    // A wake-up that never comes does not keep the process forever, and the end of the process ends all.
    let mut life = ready();
    life.happens("prompt a");
    called(&mut life, wake_up(minute));
    life.happens("result a");
    assert!(awake(&mut life));
    life.happens("wait 660001");
    assert_eq!(life.happens("timer Hibernate")[0], "close");
    life.happens("exit 0");
    assert_eq!(planned(&life), [""; 0]);
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

//! Tests of queueing, interrupting, and the end of an agent.

use serde_json::{Value, json};

use crate::support::{Setup, shapes, texts, tool_results};

fn interrupt() -> Value {
    json!({"subtype": "interrupt"})
}

#[test]
fn an_interrupt_cuts_a_text_off_and_keeps_what_is_there() {
    let mut agent = Setup::new().partials().start();
    agent.prompt("SLOW 1 100000 w");
    agent.until(|line| line.pointer("/event/delta/text").is_some_and(|text| text == "w10 "));
    agent.control(interrupt());
    let before = agent.until(|line| line["type"] == "control_response");
    let lines = agent.turn();
    assert_eq!(
        shapes(&lines),
        [
            "assistant/text",
            "user/text",
            "content_block_stop",
            "message_delta",
            "message_stop",
            "result/error_during_execution",
        ]
    );
    assert_eq!(before.last().unwrap()["response"]["response"], json!({"still_queued": []}));
    assert_eq!(lines[0]["aborted"], true);
    let last = before.iter().rev().find_map(|line| line.pointer("/event/delta/text").and_then(Value::as_str));
    let text = texts(&lines).remove(0);
    assert!(text.starts_with("w0 w1 w2 ") && text.ends_with(last.unwrap_or("w10 ")), "{text}");
    assert_eq!(lines[1]["message"]["content"][0]["text"], "[Request interrupted by user]");
    assert_eq!(lines[5]["terminal_reason"], "aborted_streaming");
    assert_eq!(texts(&agent.play("SAY alive")), ["alive"]);
    assert_eq!(agent.end().code(), Some(0));
}

#[test]
fn an_interrupt_stops_a_running_call() {
    let mut agent = Setup::new().arg("--allowedTools=Bash").start();
    agent.prompt("RUN 600000 Bash {\"command\":\"sleep 600\"}\nSAY no");
    agent.until(|line| line["type"] == "assistant");
    agent.control(interrupt());
    let lines = agent.turn();
    assert_eq!(
        shapes(&lines),
        ["control_response/success", "user/tool_result", "user/text", "result/error_during_execution"]
    );
    assert_eq!(lines[3]["terminal_reason"], "aborted_tools");
    assert_eq!(lines[3]["permission_denials"], json!([]));
    assert_eq!(agent.end().code(), Some(1), "as the last result was an error");
}

#[test]
fn an_interrupt_withdraws_what_is_asked() {
    let mut agent = Setup::new().start();
    agent.prompt("ASK_TWICE\nSAY no");
    let (first, second) = (agent.request(), agent.request());
    agent.control(interrupt());
    let lines = agent.turn();
    assert_eq!(
        shapes(&lines),
        [
            "control_cancel_request",
            "control_cancel_request",
            "control_response/success",
            "user/tool_result",
            "user/tool_result",
            "user/text",
            "result/error_during_execution",
        ]
    );
    assert_eq!(lines[0]["request_id"], first["request_id"]);
    assert_eq!(lines[1]["request_id"], second["request_id"]);
    assert_eq!(lines[6]["permission_denials"].as_array().unwrap().len(), 2);
    agent.allow(&first);
    assert_eq!(texts(&agent.play("SAY z")), ["z"], "a late answer changes nothing");
}

#[test]
fn an_interrupt_of_an_idle_agent_is_only_acknowledged() {
    let mut agent = Setup::new().start();
    agent.play("SAY x");
    let reply = agent.ask(interrupt());
    assert_eq!(reply["subtype"], "success");
    assert_eq!(shapes(&agent.play("SAY y")), ["system/init", "assistant/text", "result/success"]);
}

#[test]
fn an_interrupt_right_after_the_prompt_ends_its_turn() {
    let mut agent = Setup::new().start();
    for _ in 0..50 {
        agent.prompt("WAIT");
        agent.until(|line| line["subtype"] == "init");
        agent.control(interrupt());
        assert_eq!(agent.turn().last().unwrap()["subtype"], "error_during_execution");
    }
}

#[test]
fn interrupts_can_be_ignored() {
    let mut agent = Setup::new().start();
    agent.prompt("IGNORE_INTERRUPT\nTOOL Bash {}\nSAY went on");
    let request = agent.request();
    assert_eq!(agent.ask(interrupt())["subtype"], "success");
    agent.allow(&request);
    assert_eq!(texts(&agent.turn()), ["went on"]);

    agent.prompt("IGNORE_INTERRUPT silently\nTOOL Bash {}\nSAY went on");
    let request = agent.request();
    agent.control(interrupt());
    agent.allow(&request);
    let lines = agent.turn();
    assert!(lines.iter().all(|line| line["type"] != "control_response"));
    assert_eq!(texts(&lines), ["went on"]);
}

#[test]
fn prompts_written_to_a_busy_agent_are_merged() {
    let mut agent = Setup::new().start();
    agent.named_prompt(1, "TOOL Bash {}");
    let request = agent.request();
    let second = agent.named_prompt(2, "SAY second");
    let third = agent.named_prompt(3, "SAY third");
    let queued = |line: &Value| line["state"] == "queued" && line["command_uuid"] == *third;
    agent.until(queued);
    agent.allow(&request);
    // After a call's result they join the running turn.
    let lines = agent.turn();
    assert_eq!(texts(&lines), ["second", "third"]);
    assert_eq!(lines.last().unwrap()["user_message_uuids"].as_array().unwrap().len(), 3);

    // If the running turn has no call, they make a separate turn.
    agent.named_prompt(4, "PAUSE 1\nUNKNOWN_CONTROL");
    let request = agent.request();
    agent.named_prompt(5, "SAY second");
    agent.named_prompt(6, "SAY third");
    agent.until(|line| line["state"] == "queued" && line["command_uuid"].as_str().unwrap().ends_with('6'));
    agent.reply(&request, json!({}));
    assert_eq!(agent.turn().last().unwrap()["queued_turn_count"], 2);
    let lines = agent.turn();
    assert_eq!(texts(&lines), ["second", "third"]);
    let uuids = lines.last().unwrap()["user_message_uuids"].clone();
    assert_eq!(uuids.as_array().unwrap().len(), 2, "{uuids}, not {second}");
}

#[test]
fn a_queued_prompt_can_be_cancelled() {
    let mut agent = Setup::new().start();
    agent.prompt("TOOL Bash {}\nSAY done");
    let request = agent.request();
    let uuid = agent.named_prompt(2, "SAY never");
    agent.until(|line| line["state"] == "queued");
    let reply = agent.ask(json!({"subtype": "cancel_async_message", "message_uuid": uuid}));
    assert_eq!(reply["response"]["cancelled"], true);
    assert_eq!(agent.next()["state"], "cancelled");
    let reply = agent.ask(json!({"subtype": "cancel_async_message", "message_uuid": uuid}));
    assert_eq!(reply["response"]["cancelled"], false);
    agent.allow(&request);
    assert_eq!(texts(&agent.turn()), ["done"]);
}

#[test]
fn an_interrupt_can_take_the_queue_with_it() {
    let mut agent = Setup::new().start();
    agent.prompt("WAIT");
    agent.until(|line| line["subtype"] == "init");
    let kept = agent.named_prompt(2, "SAY kept");
    agent.until(|line| line["state"] == "queued");
    let reply = agent.ask(interrupt());
    assert_eq!(reply["response"]["still_queued"], json!([kept]));
    assert_eq!(agent.turn().last().unwrap()["is_error"], true);
    assert_eq!(texts(&agent.turn()), ["kept"]);

    agent.prompt("WAIT");
    agent.until(|line| line["subtype"] == "init");
    let gone = agent.named_prompt(3, "SAY gone");
    agent.until(|line| line["state"] == "queued");
    let reply = agent.ask(json!({"subtype": "interrupt", "cancel_queued": true}));
    assert_eq!(reply["response"], json!({"still_queued": [], "cancelled": [gone]}));
    assert_eq!(agent.next()["state"], "cancelled");
    agent.turn();
    assert!(agent.end().lines.is_empty());
}

#[test]
fn the_end_of_input_lets_the_turn_finish() {
    let mut agent = Setup::new().start();
    agent.prompt("PAUSE 100\nSAY to the end");
    let ended = agent.end();
    assert_eq!(ended.code(), Some(0));
    assert!(ended.lines.last().unwrap().contains("\"result\":\"to the end\""));
}

#[test]
fn the_end_of_input_at_an_open_request_is_a_denial() {
    let mut agent = Setup::new().start();
    agent.prompt("TOOL Bash {}\nSAY went on");
    agent.request();
    agent.close();
    let lines = agent.turn();
    let text = tool_results(&lines)[0]["content"].as_str().unwrap().to_owned();
    assert!(text.contains("stream closed before response"), "{text}");
    assert_eq!(agent.end().code(), Some(0));
}

#[test]
fn an_idle_agent_ends_with_its_input_and_at_end_session() {
    let mut agent = Setup::new().start();
    agent.play("SAY x");
    assert_eq!(agent.end().code(), Some(0));
    let mut agent = Setup::new().start();
    assert_eq!(agent.ask(json!({"subtype": "end_session"}))["subtype"], "success");
    assert_eq!(agent.wait().code(), Some(0));
}

#[test]
fn what_kills_the_real_agent_kills_this_one() {
    let fatal = [
        "{\"type\":\"user\",\"content\":\"hello\"}",
        "{\"type\":\"user\",\"message\":{\"content\":\"hello\"}}",
        "{\"type\":\"user\",\"message\":{\"role\":\"assistant\",\"content\":\"hello\"}}",
        "{\"type\":\"user\",\"message\":\"hello\"}",
        "{\"type\":\"user\",\"mess",
        "not JSON",
    ];
    for line in fatal {
        let mut agent = Setup::new().start();
        agent.write(line);
        let ended = agent.wait();
        assert_eq!(ended.code(), Some(1), "{line}");
        assert!(ended.lines.is_empty() && !ended.stderr.is_empty(), "{line}");
    }
}

#[test]
fn what_the_real_agent_ignores_is_ignored() {
    let mut agent = Setup::new().start();
    for line in ["", "[1]", "\"text\"", "{}", "{\"type\":\"keep_alive\"}", "{\"type\":\"assistant\"}", "\r"] {
        agent.write(line);
    }
    agent.write("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"SAY fine\"}}\r");
    assert_eq!(texts(&agent.turn()), ["fine"]);
}

#[cfg(unix)]
#[test]
fn sigterm_ends_it_at_once() {
    use std::os::unix::process::ExitStatusExt;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    let mut agent = Setup::new().start();
    agent.prompt("WAIT");
    agent.until(|line| line["subtype"] == "init");
    kill(Pid::from_raw(agent.pid() as i32), Signal::SIGTERM).unwrap();
    let ended = agent.wait();
    assert_eq!(ended.status.signal(), Some(Signal::SIGTERM as i32));
    assert!(ended.lines.is_empty(), "no result");
}

#[test]
fn an_interrupt_in_the_same_breath_as_the_prompt_cuts_it_off() {
    let mut agent = Setup::new().start();
    for number in 0..50 {
        agent.named_prompt(number, "WAIT");
        let reply = agent.ask(interrupt());
        assert_eq!(reply["response"]["still_queued"], json!([]));
        let lines = agent.until(|line| line["state"] == "completed");
        assert!(lines.iter().any(|line| line["subtype"] == "error_during_execution"));
    }
    assert_eq!(texts(&agent.play("SAY alive")), ["alive"]);
}

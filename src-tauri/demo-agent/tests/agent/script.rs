//! Tests of the script steps that are not covered by other tests.

use serde_json::{Value, json};

use crate::support::{Setup, session_of, shapes, texts, tool_results};

#[test]
fn an_agent_can_crash_in_mid_turn() {
    let mut agent = Setup::new().start();
    agent.prompt("SAY before\nCRASH 7\nSAY after");
    let ended = agent.wait();
    assert_eq!(ended.code(), Some(7));
    assert!(ended.lines.last().unwrap().contains("before"), "what was said is not lost");
}

#[cfg(unix)]
#[test]
fn an_agent_can_be_ended_by_a_signal() {
    use std::os::unix::process::ExitStatusExt;
    for (name, number) in [("SIGKILL", 9), ("SEGV", 11), ("6", 6)] {
        let mut agent = Setup::new().start();
        agent.prompt(&format!("SAY before\nKILL {name}"));
        let ended = agent.wait();
        assert_eq!(ended.status.signal(), Some(number), "{name}");
        assert_eq!(ended.lines.len(), 2);
    }
}

#[test]
fn garbage_is_a_line_of_its_own() {
    let mut agent = Setup::new().start();
    agent.prompt("GARBAGE {\"type\": \"assist\nSAY on");
    assert_eq!(agent.next()["subtype"], "init");
    assert_eq!(agent.raw().unwrap(), "{\"type\": \"assist");
    assert_eq!(texts(&agent.turn()), ["on"]);
}

#[test]
fn the_standard_error_can_be_flooded() {
    let mut agent = Setup::new().start();
    agent.play("STDERR one line\nSTDERR_FLOOD 300000");
    let stderr = agent.end().stderr;
    let (n_bytes, start): (usize, String) = (stderr.len(), stderr.chars().take(200).collect());
    assert!(start.starts_with("one line\n") && n_bytes > 300_000, "{n_bytes} bytes: {start}");
}

#[test]
fn a_line_can_be_huge() {
    let mut agent = Setup::new().start();
    agent.prompt("LINE 10000000\nSAY done");
    let mut lengths = Vec::new();
    let mut longest = String::new();
    loop {
        let line = agent.raw().unwrap();
        lengths.push(line.len());
        if line.len() > longest.len() {
            longest.clone_from(&line);
        }
        if line.contains("\"type\":\"result\"") {
            break;
        }
    }
    assert_eq!(lengths.iter().filter(|length| **length > 10_000_000).count(), 1);
    let line: Value = serde_json::from_str(&longest).unwrap();
    assert!(line["message"]["content"][0]["text"].as_str().unwrap().len() >= 10_000_000);
}

#[test]
fn deltas_can_be_many() {
    let mut agent = Setup::new().partials().start();
    let lines = agent.play("STREAM 2000 ab ");
    assert_eq!(lines.iter().filter(|line| line["event"]["delta"]["text"] == "ab").count(), 2000);
    assert_eq!(texts(&lines), ["ab".repeat(2000)]);
}

#[test]
fn what_does_not_exist_can_be_sent() {
    let mut agent = Setup::new().partials().start();
    let lines = agent.play("UNKNOWN_MESSAGE\nSAY on");
    assert!(lines.iter().any(|line| line["type"] == "holographic_event"));
    assert!(lines.iter().any(Value::is_array) && lines.iter().any(Value::is_string));
    assert!(lines.iter().any(|line| line["message"]["content"][0]["type"] == "smell"));

    agent.prompt("UNKNOWN_CONTROL");
    let request = agent.request();
    assert_eq!(request["request"]["subtype"], "tell_the_weather");
    let error = json!({"subtype": "error", "request_id": request["request_id"], "error": "no such thing"});
    agent.write(&json!({"type": "control_response", "response": error}).to_string());
    assert!(texts(&agent.turn())[0].contains("no such thing"));
}

#[test]
fn a_turn_can_begin_unasked() {
    let mut agent = Setup::new().start();
    let first = agent.play("UNASKED by the way\nSAY done");
    assert_eq!(texts(&first), ["done"]);
    let second = agent.turn();
    assert_eq!(
        shapes(&second),
        ["system/task_notification", "system/init", "assistant/text", "result/success"]
    );
    assert_eq!(texts(&second), ["by the way"]);
    assert_eq!(second.last().unwrap()["origin"]["kind"], "task-notification");
}

#[cfg(unix)]
#[test]
fn a_child_holds_the_standard_output_beyond_the_end() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::{Pid, getsid};

    let mut agent = Setup::new().start();
    let child: i32 = texts(&agent.play("CHILD 600"))[0].parse().unwrap();
    let child = Pid::from_raw(child);
    assert_eq!(getsid(Some(child)).unwrap(), child, "it is in a session of its own");
    agent.close();
    // The agent exits, but its output stays open until the child ends.
    kill(child, Signal::SIGKILL).unwrap();
    assert_eq!(agent.wait().code(), Some(0));
}

#[test]
fn an_agent_tells_where_it_is() {
    let setup = Setup::new().env("A_NAME", "a value");
    let mut agent = setup.start();
    let said = texts(&agent.play("PID\nENV A_NAME\nENV NO_SUCH_NAME\nCWD\nARGS\nRECALL\nnonsense"));
    assert_eq!(said[0], agent.pid().to_string());
    assert_eq!(said[1..3], ["a value", "(unset)"]);
    let told = std::path::Path::new(&said[3]).canonicalize().unwrap();
    assert_eq!(told, setup.folder().canonicalize().unwrap());
    let args: Vec<String> = serde_json::from_str(&said[4]).unwrap();
    assert!(args.contains(&"--permission-prompt-tool=stdio".to_owned()));
    assert_eq!(said[5..], ["(nothing)", "not a step: nonsense"]);
}

#[test]
fn a_conversation_can_be_cleared() {
    let mut agent = Setup::new().start();
    let before = session_of(&agent.play("SAY one"));
    let lines = agent.play("CLEAR");
    assert_eq!(
        shapes(&lines),
        ["conversation_reset", "system/background_tasks_changed", "system/init", "result/success"]
    );
    assert_eq!(lines[0]["session_id"], *before);
    let after = session_of(&lines);
    assert_ne!(after, before);
    assert_ne!(lines[0]["new_conversation_id"], *after, "as the real CLI has it");
    assert_eq!(lines[2]["session_id"], *after);
    assert_eq!(lines[3]["local_command"], "clear");
    assert_eq!(texts(&agent.play("RECALL")), ["(nothing)"]);
}

#[test]
fn a_context_can_be_summed_up() {
    let mut agent = Setup::new().start();
    agent.play("SAY one");
    let lines = agent.play("/compact");
    assert_eq!(
        shapes(&lines),
        [
            "system/status",
            "system/status",
            "system/init",
            "system/compact_boundary",
            "user/text",
            "user/text",
            "result/success",
        ]
    );
    assert_eq!(lines[0]["status"], "compacting");
    assert_eq!(lines[3]["compact_metadata"]["trigger"], "manual");
    assert_eq!(lines[6]["num_turns"], 0);
}

#[test]
fn limits_modes_and_lists_are_told() {
    let mut agent = Setup::new().start();
    let lines = agent.play("RATE_LIMIT\nRATE_LIMIT rejected\nMODE plan\nTASKS");
    let limits: Vec<&Value> = lines.iter().filter(|line| line["type"] == "rate_limit_event").collect();
    assert_eq!(limits[0]["rate_limit_info"]["status"], "allowed_warning");
    assert_eq!(limits[1]["rate_limit_info"]["status"], "rejected");
    assert!(lines.iter().any(|line| line["subtype"] == "status" && line["permissionMode"] == "plan"));
    assert_eq!(tool_results(&lines).len(), 3);
    assert_eq!(tool_results(&lines)[2]["content"], "Updated task #1 status");
}

#[test]
fn a_script_can_wait_for_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("open");
    let mut agent = Setup::new().start();
    agent.prompt(&format!("SAY before\nUNTIL {}\nSAY after", file.display()));
    agent.until(|line| line["message"]["content"][0]["text"] == "before");
    std::fs::write(&file, "").unwrap();
    assert_eq!(texts(&agent.turn()), ["after"]);

    // An interrupt ends the wait.
    agent.prompt(&format!("UNTIL {}", folder.path().join("never").display()));
    agent.until(|line| line["subtype"] == "init");
    agent.ask(json!({"subtype": "interrupt"}));
    assert_eq!(agent.turn().last().unwrap()["is_error"], true);
}

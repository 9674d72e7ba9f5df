//! Tests of the faults that the environment requests.

use serde_json::json;

use crate::support::{Setup, shapes, texts};

#[test]
fn exit_at_start() {
    for (fault, code) in [("exit-at-start", 1), ("exit-at-start:42", 42)] {
        let ended = Setup::new().fault(fault).start().wait();
        assert_eq!(ended.code(), Some(code));
        assert!(ended.lines.is_empty() && !ended.stderr.is_empty());
    }
}

#[test]
fn exit_after_init() {
    let mut agent = Setup::new().fault("exit-after-init").start();
    assert_eq!(agent.ask(json!({"subtype": "initialize"}))["subtype"], "success");
    assert_eq!(agent.wait().code(), Some(1));
}

#[test]
fn never_initialize() {
    let mut agent = Setup::new().fault("never-initialize").start();
    agent.control(json!({"subtype": "initialize"}));
    let lines = agent.play("SAY x");
    assert_eq!(shapes(&lines), ["system/init", "assistant/text", "result/success"]);
}

#[test]
fn garbage_comes_first() {
    let mut agent = Setup::new().fault("garbage").start();
    agent.prompt("SAY x");
    assert_eq!(agent.raw().unwrap(), "this line is not JSON");
    assert!(agent.raw().unwrap().starts_with("{\"type\":\"assist"));
    assert!(agent.raw().unwrap().ends_with("nor is this"));
    assert_eq!(texts(&agent.turn()), ["x"]);
}

#[test]
fn stderr_flood() {
    let mut agent = Setup::new().fault("stderr-flood").start();
    agent.play("SAY x");
    assert!(agent.end().stderr.len() >= 1 << 20);
}

#[cfg(unix)]
#[test]
fn ignore_eof_and_sigterm() {
    use std::os::unix::process::ExitStatusExt;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    let mut agent = Setup::new().fault("ignore-eof,ignore-sigterm").start();
    let pid = Pid::from_raw(agent.pid() as i32);
    agent.prompt("TOOL Bash {}\nPAUSE 50\nSAY x");
    agent.request();
    kill(pid, Signal::SIGTERM).unwrap();
    agent.close();
    assert_eq!(texts(&agent.turn()), ["x"], "it outlives both");
    kill(pid, None).expect("it is still there");
    kill(pid, Signal::SIGKILL).unwrap();
    assert_eq!(agent.wait().status.signal(), Some(9));
}

#[test]
fn old() {
    let mut agent = Setup::new().fault("old").env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1").start();
    let reply = agent.ask(json!({"subtype": "initialize"}));
    assert_eq!(reply["response"].as_object().unwrap().len(), 7);
    agent.named_prompt(1, "QUESTION");
    let lines = agent.until(|line| line["type"] == "control_request");
    assert!(lines.iter().all(|line| line["type"] != "command_lifecycle"));
    let init = lines.iter().find(|line| line["subtype"] == "init").unwrap();
    assert_eq!(init["claude_code_version"], "2.1.197");
    assert!(init.get("capabilities").is_none());
    let request = lines.last().unwrap();
    assert!(request["request"].get("requires_user_interaction").is_none());
    agent.control(json!({"subtype": "interrupt"}));
    let lines = agent.turn();
    let receipt = lines.iter().find(|line| line["type"] == "control_response").unwrap();
    assert!(receipt["response"].get("response").is_none(), "an empty receipt");
    let result = lines.last().unwrap();
    assert!(result.get("result_index").is_none() && result.get("queued_turn_count").is_none());
    let reply = agent.ask(json!({"subtype": "set_permission_mode", "mode": "nonsense"}));
    assert_eq!(reply["subtype"], "success", "any mode will do");
    agent.until(|line| line["permissionMode"] == "nonsense");
    agent.write("");
    assert_eq!(agent.wait().code(), Some(1), "a blank line is fatal");
}

#[test]
fn version_tells_who_it_is() {
    let output = |fault: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_deskbell-demo-agent"));
        let output = command.arg("--version").env("DESKBELL_DEMO_FAULT", fault).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(output(""), "2.1.329 (Deskbell demo agent)\n");
    assert_eq!(output("old"), "2.1.197 (Deskbell demo agent)\n");
}

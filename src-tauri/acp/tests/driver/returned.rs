//! What a call returned reaches the core, in whatever place and form the agent reports it.

use super::turns::in_turn;
use deskbell_acp::seam::CoreEvents;
use deskbell_agent::{AgentEvent, ToolResult};
use serde_json::{Value, json};

const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The last result of the only call, after these updates of it and the end of its turn.
fn returned(updates: &[Value]) -> ToolResult {
    let mut driver = in_turn();
    let mut core = CoreEvents::default();
    let mut last = None;
    let mut lines: Vec<Value> = updates.to_vec();
    for (nr, update) in lines.iter_mut().enumerate() {
        update["toolCallId"] = json!("c");
        update["sessionUpdate"] = json!(if nr == 0 { "tool_call" } else { "tool_call_update" });
        let params = json!({"sessionId": "s", "update": update});
        *update = json!({"method": "session/update", "params": params});
    }
    lines.push(json!({"id": 2, "result": {"stopReason": "end_turn"}}));
    for line in lines {
        for event in driver.line(line.to_string().as_bytes()).events {
            for told in core.take(event) {
                if let AgentEvent::User(user) = told {
                    last = user.results().next().cloned().or(last);
                }
            }
        }
    }
    last.expect("the call has a result")
}

fn content(blocks: Value) -> ToolResult {
    let blocks: Vec<Value> =
        blocks.as_array().unwrap().iter().map(|block| json!({"type": "content", "content": block})).collect();
    returned(&[json!({"title": "t", "kind": "other"}), json!({"status": "completed", "content": blocks})])
}

#[test]
fn every_kind_of_content_is_in_the_result() {
    let text = json!({"type": "text", "text": "OUT"});
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let audio = json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"});
    let link = json!({"type": "resource_link", "uri": "file:///l", "name": "N", "size": 9});
    let file =
        json!({"type": "resource", "resource": {"uri": "file:///r", "text": "R", "mimeType": "text/plain"}});
    let blob = json!({"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA"}});
    let picture =
        json!({"type": "resource", "resource": {"uri": "file:///p", "blob": PNG, "mimeType": "image/png"}});
    let all = content(json!([image, text, audio, link, file, blob, picture]));
    assert!(!all.is_error);
    assert_eq!(
        all.text,
        "OUT\nImage (image/png, 70 bytes)\nAudio (audio/wav, 3 bytes)\nLink (9 bytes): N file:///l\n\
         File (text/plain, 1 bytes): file:///r\nR\nFile (3 bytes): file:///b\nImage (image/png, 70 bytes): file:///p"
    );
    let malformed = content(json!([{"type": "image", "source": {"data": PNG}}, text]));
    assert!(malformed.text.starts_with("OUT\nContent of an unknown kind: "), "{}", malformed.text);
}

#[test]
fn text_next_to_a_terminal_and_output_of_another_form_stay() {
    let terminal = json!({"type": "terminal", "terminalId": "x"});
    let text = json!({"type": "content", "content": {"type": "text", "text": "OUT"}});
    let begun = json!({"title": "t", "kind": "execute", "status": "in_progress", "content": [terminal]});
    let after = json!({"status": "completed", "content": [terminal, text]});
    assert_eq!(returned(&[begun.clone(), after.clone()]).text, "OUT");
    let streamed = json!({"_meta": {"terminal_output_delta": {"data": "live\n"}}});
    assert_eq!(returned(&[begun.clone(), streamed.clone(), after]).text, "live\nOUT");
    let repeated = json!({"status": "completed",
        "content": [{"type": "content", "content": {"type": "text", "text": "```console\nlive\n```"}}]});
    assert_eq!(returned(&[begun, streamed, repeated]).text, "live\n");
    let raw = |output: Value| {
        returned(&[json!({"title": "t"}), json!({"status": "completed", "rawOutput": output})])
    };
    assert_eq!(raw(json!({"stdout": "x"})).text, "{\n  \"stdout\": \"x\"\n}");
    assert_eq!(raw(json!(["x"])).text, "[\n  \"x\"\n]");
    // The only text came before the call ran, or with a status that is not known.
    let described = json!({"title": "t", "status": "pending", "content": [text]});
    assert_eq!(returned(&[described.clone(), json!({"status": "completed"})]).text, "OUT");
    assert_eq!(returned(&[described, json!({"status": "exploded"})]).text, "OUT");
}

#[test]
fn how_a_command_ended_is_the_same_for_every_agent() {
    let ends = |update: Value| {
        let begun =
            json!({"title": "t", "kind": "execute", "status": "in_progress", "rawInput": {"command": "t"}});
        let result = returned(&[begun, update]);
        let exit = result.exit.as_ref().and_then(|exit| exit.code);
        (result.is_error, result.has_run, exit)
    };
    // Copilot CLI and opencode report a command that failed as completed.
    for status in ["completed", "failed"] {
        for code in [0, 3] {
            for place in [
                json!({"_meta": {"terminal_exit": {"exit_code": code}}}),
                json!({"rawOutput": {"output": "x", "exitCode": code}}),
                json!({"rawOutput": {"aggregated_output": "x", "exit_code": code}}),
                json!({"rawOutput": {"output": "x", "metadata": {"exit": code}}}),
                json!({"rawOutput": {"contents": [{"exitCode": code}]}}),
            ] {
                let mut update = place;
                update["status"] = json!(status);
                let is_error = status == "failed" || code != 0;
                assert_eq!(ends(update.clone()), (is_error, is_error, Some(code)), "{update}");
            }
        }
    }
    let killed = json!({"status": "failed", "_meta": {"terminal_exit": {"signal": "SIGKILL"}}});
    assert_eq!(ends(killed), (true, true, None));
    // kimi-code 2.1.0 has it in its text only.
    let in_text = |text: &str| json!({"status": "failed", "rawOutput": text});
    assert_eq!(ends(in_text("out\nCommand failed with exit code: 1.")), (true, true, Some(1)));
    assert_eq!(ends(in_text("no such tool")), (true, false, None));
    assert_eq!(
        ends(json!({"status": "completed", "rawOutput": "printed exit code 3"})),
        (false, false, None)
    );
}

#[test]
fn a_call_with_the_id_of_an_earlier_turns_call_is_another_one() {
    let mut driver = in_turn();
    let mut core = CoreEvents::default();
    let mut names = Vec::new();
    for (prompt, id) in [("p1", 2), ("p2", 3)] {
        core.prompted(prompt);
        if id == 3 {
            driver.command(super::turns::prompt("again")).unwrap();
        }
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": "call_0", "title": prompt, "status": "completed"});
        let end = json!({"id": id, "result": {"stopReason": "end_turn"}});
        for line in [json!({"method": "session/update", "params": {"sessionId": "s", "update": call}}), end] {
            for event in driver.line(line.to_string().as_bytes()).events {
                for told in core.take(event) {
                    if let AgentEvent::User(user) = told {
                        names.extend(user.results().map(|result| result.tool_use_id.clone()));
                    }
                }
            }
        }
    }
    assert_eq!(names, ["call_0@p1", "call_0@p2"]);
}

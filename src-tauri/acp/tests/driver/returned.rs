//! What a call returned reaches the core, in whatever place and form the agent reports it.

use super::double::Agent;
use super::turns::in_turn;
use deskbell_acp::seam::CoreEvents;
use deskbell_agent::driver::{Driver as _, Output};
use deskbell_agent::{AgentCommand, AgentEvent, HostRequest, ToolResult};
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
    assert_eq!((all.n_images, all.images), (2, vec![PNG.into(), PNG.into()]));
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

/// The usage of each turn. `sums`: the agent reports running totals of the session instead.
fn usages(sums: bool, turns: &[(&[u64], Option<Value>)]) -> Vec<Option<(u64, u64, u64)>> {
    let mut driver = super::turns::in_session();
    let mut core = CoreEvents::new(sums);
    let mut usages = Vec::new();
    for (nr, (requests, usage)) in turns.iter().enumerate() {
        core.prompted(&format!("p{nr}"));
        driver.command(super::turns::prompt("go")).unwrap();
        let request = |input: &u64| {
            let usage = json!({"inputTokens": input, "outputTokens": 1, "totalTokens": input + 1});
            let content = json!({"type": "text", "text": ""});
            let update = json!({"sessionUpdate": "agent_message_chunk", "content": content, "_meta": {"usage": usage}});
            json!({"method": "session/update", "params": {"sessionId": "s", "update": update}})
        };
        let end = json!({"id": nr + 2, "result": {"stopReason": "end_turn", "usage": usage}});
        for line in requests.iter().map(request).chain([end]) {
            for event in driver.line(line.to_string().as_bytes()).events {
                for told in core.take(event) {
                    if let AgentEvent::TurnEnded(result) = told {
                        let of = |usage: deskbell_agent::TokenUsage| {
                            (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens)
                        };
                        usages.push(result.usage.map(of));
                    }
                }
            }
        }
    }
    usages
}

#[test]
fn the_tokens_of_a_turn_are_its_own() {
    let usage = |input: u64, output: u64, cached: u64| {
        Some(json!({"inputTokens": input, "outputTokens": output, "totalTokens": input + output,
            "cachedReadTokens": cached}))
    };
    // Copilot CLI reports the sum of its process; the cache is a part of its input.
    let sums: [(&[u64], _); 3] =
        [(&[], usage(100, 10, 0)), (&[], usage(300, 30, 50)), (&[], usage(300, 30, 50))];
    assert_eq!(usages(true, &sums), [Some((100, 10, 0)), Some((150, 20, 50)), Some((0, 0, 0))]);
    assert_eq!(usages(false, &sums)[1..], [Some((250, 30, 50)), Some((250, 30, 50))]);
    // opencode has no cache, and qwen-code reports only each request.
    assert_eq!(usages(false, &[(&[7], usage(100, 10, 0)), (&[], None)]), [Some((100, 10, 0)), None]);
    assert_eq!(usages(false, &[(&[100, 20], None), (&[5], None)]), [Some((120, 2, 0)), Some((5, 1, 0))]);
}

#[test]
fn a_turn_that_failed_says_what_the_agent_says_of_it() {
    let ends = |error: Value| {
        let mut driver = in_turn();
        let mut core = CoreEvents::default();
        let line = json!({"id": 2, "error": error}).to_string();
        let events = driver.line(line.as_bytes()).events;
        let told: Vec<AgentEvent> = events.into_iter().flat_map(|event| core.take(event)).collect();
        let more = told
            .iter()
            .any(|told| matches!(told, AgentEvent::Informational { text, .. } if text.contains("second")));
        match told.into_iter().next_back() {
            Some(AgentEvent::TurnEnded(result)) => (result.words.unwrap(), more),
            other => panic!("{other:?}"),
        }
    };
    let error =
        |details: &str| json!({"code": -32603, "message": "Internal error", "data": {"details": details}});
    assert_eq!(ends(error("no such model")), ("Internal error: no such model".to_owned(), false));
    // The end of a turn has one line, so a longer text is a notice too.
    assert!(ends(error("first\nsecond")).1);
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

/// What is said after an interrupt of a turn in which a command and a read run.
fn said_after_interrupt(row: &str, mode: &str) -> Vec<String> {
    let modes = json!({"currentModeId": mode, "availableModes": [{"id": mode, "name": mode}]});
    let mut agent = Agent::with(row, json!({"modes": modes}));
    let mut out = Output::default();
    let prompt =
        AgentCommand::Prompt { uuid: "u".to_owned(), text: "go".to_owned(), attachments: Vec::new() };
    agent.driver.write(&prompt, &mut out);
    agent.take(out);
    for (id, kind, input) in [
        ("a", "execute", json!({"command": "sleep 60\necho late"})),
        ("b", "read", json!({"path": "x"})),
        ("c", "execute", json!({"command": "ls"})),
    ] {
        let update = json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": id, "kind": kind,
            "status": if id == "c" { "completed" } else { "in_progress" }, "rawInput": input});
        agent.says(json!({"method": "session/update", "params": {"sessionId": "s", "update": update}}));
    }
    agent.asks(HostRequest::Interrupt);
    agent.answers(2, json!({"stopReason": "cancelled"}));
    let said = agent.events.iter().filter_map(|event| match event {
        AgentEvent::Informational { text, .. } => Some(text.clone()),
        _ => None,
    });
    said.collect()
}

#[test]
fn a_command_that_an_interrupt_does_not_end_is_named() {
    assert_eq!(
        said_after_interrupt("codex", "workspace-write"),
        [
            "Codex does not end a command when you stop its turn, so “sleep 60” may go on. Stop the agent to end it."
        ]
    );
    assert_eq!(said_after_interrupt("qwen", "default"), [""; 0]);
}

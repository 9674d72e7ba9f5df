//! Tests of a turn's lines on the wire.

use serde_json::{Value, json};

use crate::support::{Setup, session_of, shapes, texts, tool_results};

#[test]
fn a_streamed_reply_comes_in_the_recorded_order() {
    let mut agent = Setup::new().partials().start();
    let lines =
        agent.play("THINK let me think about this for a moment | here is my answer to you in some words");
    assert_eq!(
        shapes(&lines),
        [
            "system/init",
            "system/status",
            "message_start",
            "content_block_start",
            "system/thinking_tokens",
            "delta thinking_delta",
            "delta signature_delta",
            "assistant/thinking",
            "content_block_stop",
            "content_block_start",
            "delta text_delta",
            "assistant/text",
            "content_block_stop",
            "message_delta",
            "message_stop",
            "result/success",
        ]
    );
    let deltas: String =
        lines.iter().filter_map(|line| line.pointer("/event/delta/text").and_then(Value::as_str)).collect();
    assert_eq!(texts(&lines), [deltas]);
    let ids: Vec<&Value> =
        lines.iter().filter(|line| line["type"] == "assistant").map(|line| &line["message"]["id"]).collect();
    let start = lines.iter().find(|line| line["event"]["type"] == "message_start").unwrap();
    assert_eq!(ids, [&start["event"]["message"]["id"]; 2], "blocks of a reply share its id");
}

#[test]
fn a_call_streams_its_input_and_its_result_follows_the_message() {
    let mut agent = Setup::new().partials().arg("--allowedTools=Bash").start();
    let lines = agent.play("TOOL Bash {\"command\":\"echo hi\",\"description\":\"say hi\"}\nSAY done");
    assert_eq!(
        shapes(&lines),
        [
            "system/init",
            "system/status",
            "message_start",
            "content_block_start",
            "delta input_json_delta",
            "assistant/tool_use",
            "content_block_stop",
            "message_delta",
            "message_stop",
            "user/tool_result",
            "system/status",
            "message_start",
            "content_block_start",
            "delta text_delta",
            "assistant/text",
            "content_block_stop",
            "message_delta",
            "message_stop",
            "result/success",
        ]
    );
    let parts =
        lines.iter().filter_map(|line| line.pointer("/event/delta/partial_json").and_then(Value::as_str));
    let input: Value = serde_json::from_str(&parts.collect::<String>()).unwrap();
    assert_eq!(input, json!({"command": "echo hi", "description": "say hi"}));
    assert_eq!(lines.last().unwrap()["num_turns"], 2);
}

#[test]
fn a_reply_without_partials_is_whole_blocks() {
    let mut agent = Setup::new().start();
    let lines = agent.play("SAY one");
    assert_eq!(shapes(&lines), ["system/init", "assistant/text", "result/success"]);
}

#[test]
fn a_result_has_the_recorded_keys_in_their_order() {
    let mut agent = Setup::new().start();
    agent.named_prompt(1, "SAY one");
    let lines = agent.turn();
    let result = lines.last().unwrap();
    let keys: Vec<&str> = result.as_object().unwrap().keys().map(String::as_str).collect();
    let recorded = [
        "duration_api_ms",
        "stop_reason",
        "session_id",
        "total_cost_usd",
        "usage",
        "modelUsage",
        "permission_denials",
        "terminal_reason",
        "fast_mode_state",
        "safety_stops",
        "is_error",
        "num_turns",
        "subtype",
        "api_error_status",
        "result",
        "ttft_ms",
        "type",
        "duration_ms",
        "uuid",
        "first_content_frame_ms",
        "user_message_uuid",
        "user_message_uuids",
        "queued_turn_count",
        "result_index",
        "model_usage_since_last_result",
    ];
    assert_eq!(keys, recorded);
    assert_eq!(result["result"], "one");
    assert_eq!(result["terminal_reason"], "completed");
}

#[test]
fn cost_adds_up_over_the_session_and_usage_is_of_the_turn() {
    let mut agent = Setup::new().start();
    let first = agent.play("SAY one").pop().unwrap();
    let second = agent.play("SAY two").pop().unwrap();
    assert!(second["total_cost_usd"].as_f64() > first["total_cost_usd"].as_f64());
    assert_eq!(second["usage"]["input_tokens"], first["usage"]["input_tokens"]);
    assert_eq!(second["modelUsage"]["claude-opus-5-5"]["inputTokens"], 200);
    assert_eq!((&first["result_index"], &second["result_index"]), (&json!(0), &json!(1)));
}

#[test]
fn every_turn_begins_with_init() {
    let mut agent = Setup::new().start();
    let turns = [agent.play("SAY one"), agent.play("SAY two")];
    assert!(turns.iter().all(|turn| turn[0]["subtype"] == "init"));
    assert_eq!(session_of(&turns[0]), session_of(&turns[1]));
}

#[test]
fn initialize_is_answered_before_anything_else() {
    let mut agent = Setup::new().arg("--permission-mode=plan").start();
    let reply = agent.ask(json!({"subtype": "initialize"}));
    let body = &reply["response"];
    for key in ["commands", "agents", "models"] {
        assert!(body[key].as_array().is_some_and(|list| !list.is_empty()), "{key}");
    }
    assert_eq!(body["pid"], agent.pid());
    assert_eq!(body["claude_code_version"], "2.1.329");
    assert_eq!(body["current_permission_mode"], "plan");
    assert_eq!(body["session_state"], "idle");
    assert!(body["capabilities"].is_array());
    assert!(reply["pending_permission_requests"].is_array());
}

#[test]
fn session_states_are_told_when_asked_for() {
    let mut agent = Setup::new().env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1").start();
    agent.prompt("TOOL Bash {\"command\":\"touch st\"}\nSAY done");
    let mut lines = agent.until(|line| line["type"] == "control_request");
    let request = lines.last().unwrap().clone();
    agent.allow(&request);
    lines.extend(agent.until(|line| line["state"] == "idle"));
    assert_eq!(
        shapes(&lines),
        [
            "system/running",
            "system/init",
            "assistant/tool_use",
            "system/requires_action",
            "control_request/can_use_tool",
            "system/running",
            "user/tool_result",
            "assistant/text",
            "result/success",
            "system/idle",
        ]
    );
}

#[test]
fn a_named_prompt_has_its_life_told() {
    let mut agent = Setup::new().start();
    let uuid = agent.named_prompt(1, "SAY one");
    let lines = agent.until(|line| line["state"] == "completed");
    assert_eq!(
        shapes(&lines),
        [
            "command_lifecycle/queued",
            "command_lifecycle/started",
            "system/init",
            "assistant/text",
            "result/success",
            "command_lifecycle/completed",
        ]
    );
    assert!(
        lines
            .iter()
            .filter(|line| line["type"] == "command_lifecycle")
            .all(|line| line["command_uuid"] == *uuid)
    );
    assert_eq!(lines[4]["user_message_uuids"], json!([uuid]));
}

#[test]
fn content_may_be_blocks_and_a_foreign_session_is_ignored() {
    let mut agent = Setup::new().start();
    let content = json!([{"type": "text", "text": "SAY from blocks"}]);
    let line = json!({
        "type": "user",
        "message": {"role": "user", "content": content},
        "session_id": "",
        "parent_tool_use_id": null,
    });
    agent.write(&line.to_string());
    assert_eq!(texts(&agent.turn()), ["from blocks"]);
}

#[test]
fn a_prompt_that_is_only_to_be_remembered_is_not_answered() {
    let mut agent = Setup::new().start();
    let line = json!({
        "type": "user",
        "message": {"role": "user", "content": "a note"},
        "shouldQuery": false,
    });
    agent.write(&line.to_string());
    let lines = agent.turn();
    assert_eq!(shapes(&lines), ["system/init", "result/success"]);
    assert_eq!(lines[1]["num_turns"], 0);
    assert_eq!(texts(&agent.play("RECALL")), ["a note"]);
}

#[test]
fn an_api_error_is_a_success_that_is_an_error() {
    let mut agent = Setup::new().start();
    let lines = agent.play("FAIL 529 overloaded\nSAY never");
    assert_eq!(shapes(&lines), ["system/init", "assistant/text", "result/success"]);
    assert_eq!(lines[1]["error"], "server_error");
    assert_eq!(lines[1]["message"]["model"], "<synthetic>");
    let result = &lines[2];
    assert_eq!(result["is_error"], true);
    assert_eq!(result["api_error_status"], 529);
    assert_eq!(result["terminal_reason"], "api_error");
    assert_eq!(agent.end().code(), Some(1), "as the last result was an error");
}

#[test]
fn a_dropped_reply_is_streamed_again_from_its_start() {
    let mut agent = Setup::new().partials().start();
    let lines = agent.play("RETRY 2");
    let starts: Vec<&Value> = lines.iter().filter(|line| line["event"]["type"] == "message_start").collect();
    assert_eq!(starts.len(), 2);
    let ids: Vec<&Value> = starts.iter().map(|start| &start["event"]["message"]["id"]).collect();
    assert_ne!(ids[0], ids[1]);
    let wholes: Vec<&Value> = lines.iter().filter(|line| line["type"] == "assistant").collect();
    assert_eq!(wholes.len(), 1);
    assert_eq!(&wholes[0]["message"]["id"], ids[1]);
    assert_eq!(lines.iter().filter(|line| line["subtype"] == "api_retry").count(), 2);
    assert_eq!(lines.last().unwrap()["num_turns"], 1);
}

#[test]
fn max_turns_ends_the_turn() {
    let mut agent = Setup::new().arg("--max-turns=1").start();
    let lines = agent.play("TOOL Read {\"file_path\":\"a\"}\nSAY never");
    assert_eq!(tool_results(&lines).len(), 1);
    let result = lines.last().unwrap();
    assert_eq!(result["subtype"], "error_max_turns");
    assert_eq!(result["is_error"], true);
}

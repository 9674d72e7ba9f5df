//! Tests of permission: requests, answers, rules, modes, questions and plans.

use serde_json::{Value, json};

use crate::support::{Setup, shapes, texts, tool_results};

const TOUCH: &str = "TOOL Bash {\"command\":\"touch b.txt\",\"description\":\"make it\"}\nSAY done";

#[test]
fn a_request_carries_what_a_dialog_needs() {
    let mut agent = Setup::new().start();
    agent.prompt(TOUCH);
    let lines = agent.until(|line| line["type"] == "control_request");
    assert_eq!(shapes(&lines), ["system/init", "assistant/tool_use", "control_request/can_use_tool"]);
    let request = &lines[2]["request"];
    assert_eq!(request["tool_name"], "Bash");
    assert_eq!(request["description"], "make it");
    assert_eq!(request["input"], json!({"command": "touch b.txt", "description": "make it"}));
    assert_eq!(request["tool_use_id"], lines[1]["message"]["content"][0]["id"]);
    let kinds: Vec<&Value> =
        request["permission_suggestions"].as_array().unwrap().iter().map(|option| &option["type"]).collect();
    assert_eq!(kinds, ["addRules", "addDirectories", "setMode"]);
    agent.allow(&lines[2]);
    let lines = agent.turn();
    assert_eq!(shapes(&lines), ["user/tool_result", "assistant/text", "result/success"]);
    assert_eq!(lines[0]["tool_result_meta"][0]["permission_decision"]["decision"], "accept");
    assert_eq!(lines[2]["permission_denials"], json!([]));
}

#[test]
fn a_bare_allow_runs_the_input_as_it_was_and_a_changed_one_runs_changed() {
    let mut agent = Setup::new().start();
    let lines = agent.play_answering(TOUCH, |_| json!({"behavior": "allow"}));
    assert_eq!(tool_results(&lines)[0]["content"], "ok");
    let lines = agent.play_answering(
        TOUCH,
        |_| json!({"behavior": "allow", "updatedInput": {"command": "touch changed.txt"}}),
    );
    let text = tool_results(&lines)[0]["content"].as_str().unwrap().to_owned();
    assert!(text.contains("touch changed.txt"), "{text}");
}

#[test]
fn a_denial_is_told_to_the_agent_and_the_turn_goes_on() {
    let mut agent = Setup::new().start();
    let lines = agent.play_answering(TOUCH, |_| json!({"behavior": "deny", "message": "The user said no."}));
    let result = &tool_results(&lines)[0];
    assert_eq!(result["content"], "The user said no.");
    assert_eq!(result["is_error"], true);
    assert_eq!(texts(&lines), ["done"]);
    let last = lines.last().unwrap();
    assert_eq!((&last["subtype"], &last["is_error"]), (&json!("success"), &json!(false)));
    assert_eq!(last["permission_denials"][0]["tool_input"]["command"], "touch b.txt");
}

#[test]
fn a_denial_can_end_the_turn() {
    let mut agent = Setup::new().start();
    agent.prompt(TOUCH);
    let request = agent.request();
    agent.reply(&request, json!({"behavior": "deny", "message": "Stop now.", "interrupt": true}));
    let lines = agent.turn();
    assert_eq!(shapes(&lines), ["user/tool_result", "user/text", "result/error_during_execution"]);
    assert_eq!(lines[1]["message"]["content"][0]["text"], "[Request interrupted by user for tool use]");
    assert_eq!(lines[2]["terminal_reason"], "aborted_tools");
    assert_eq!(lines[2]["permission_denials"].as_array().unwrap().len(), 1);
    assert_eq!(texts(&agent.play("SAY still alive")), ["still alive"]);
}

#[test]
fn what_is_no_answer_is_a_denial() {
    let mut agent = Setup::new().start();
    for answer in [json!({"behavior": "maybe"}), json!({"behavior": "deny"}), json!(null)] {
        let lines = agent.play_answering(TOUCH, |_| answer.clone());
        assert_eq!(tool_results(&lines)[0]["is_error"], true, "{answer}");
        assert_eq!(texts(&lines), ["done"]);
    }
    agent.prompt(TOUCH);
    let request = agent.request();
    let error = json!({"subtype": "error", "request_id": request["request_id"], "error": "host failed"});
    agent.write(&json!({"type": "control_response", "response": error}).to_string());
    let text = tool_results(&agent.turn())[0]["content"].clone();
    assert_eq!(text, "Tool permission request failed: Error: host failed");
}

#[test]
fn a_rule_lets_the_same_call_run_unasked_and_writes_nothing() {
    let setup = Setup::new();
    let mut agent = setup.start();
    agent.prompt(TOUCH);
    let request = agent.request();
    let rule = request["request"]["permission_suggestions"][0].clone();
    agent.reply(&request, json!({"behavior": "allow", "updatedPermissions": [rule]}));
    agent.turn();
    assert_eq!(tool_results(&agent.play(TOUCH)).len(), 1, "not asked again");
    agent.prompt("TOOL Bash {\"command\":\"touch other.txt\"}");
    let request = agent.request();
    agent.allow(&request);
    agent.turn();
    assert!(crate::support::files(setup.folder()).is_empty());
}

#[test]
fn accepting_edits_is_a_mode_that_is_told() {
    let mut agent = Setup::new().start();
    let write = "TOOL Write {\"file_path\":\"a.txt\",\"content\":\"x\"}\nSAY done";
    agent.prompt(write);
    let request = agent.request();
    assert_eq!(request["request"]["permission_suggestions"].as_array().unwrap().len(), 1);
    let option = request["request"]["permission_suggestions"][0].clone();
    agent.reply(&request, json!({"behavior": "allow", "updatedPermissions": [option]}));
    let lines = agent.turn();
    assert_eq!(lines[0]["permissionMode"], "acceptEdits", "told before the result of the call");
    let lines = agent.play(write);
    assert_eq!(lines[0]["permissionMode"], "acceptEdits");
    assert_eq!(tool_results(&lines).len(), 1);
}

#[test]
fn without_anyone_to_ask_a_call_is_denied() {
    let setup = Setup::new().arg("--permission-prompt-tool=none");
    let lines = setup.start().play(TOUCH);
    assert_eq!(
        shapes(&lines),
        [
            "system/init",
            "assistant/tool_use",
            "system/permission_denied",
            "user/tool_result",
            "assistant/text",
            "result/success",
        ]
    );
}

#[test]
fn questions_carry_their_answers_back() {
    let mut agent = Setup::new().start();
    agent.prompt("QUESTION");
    let request = agent.request();
    assert_eq!(request["request"]["requires_user_interaction"], true);
    assert!(request["request"].get("permission_suggestions").is_none());
    let mut input = request["request"]["input"].clone();
    input["answers"] = json!({"Which colour?": "Blue", "Which sizes?": "Small, Large"});
    agent.reply(&request, json!({"behavior": "allow", "updatedInput": input}));
    let lines = agent.turn();
    let text = tool_results(&lines)[0]["content"].as_str().unwrap().to_owned();
    assert!(text.contains("\"Which colour?\"=\"Blue\", \"Which sizes?\"=\"Small, Large\""), "{text}");
    assert_eq!(texts(&lines), ["answers: {\"Which colour?\":\"Blue\",\"Which sizes?\":\"Small, Large\"}"]);
}

#[test]
fn questions_can_be_skipped() {
    let mut agent = Setup::new().start();
    let lines = agent.play_answering("QUESTION", |_| json!({"behavior": "deny", "message": "skipped"}));
    assert_eq!(tool_results(&lines)[0]["is_error"], true);
    let lines = agent.play_answering("QUESTION", |_| json!({"behavior": "allow"}));
    assert_eq!(tool_results(&lines)[0]["content"], "The user did not answer the questions.");
}

#[test]
fn an_approved_plan_leaves_plan_mode() {
    let mut agent = Setup::new().arg("--permission-mode=plan").start();
    let lines = agent.play_answering("PLAN", |_| json!({"behavior": "deny", "message": "Change step 2."}));
    assert_eq!(tool_results(&lines)[0]["content"], "Change step 2.");
    assert_eq!(agent.play("SAY x")[0]["permissionMode"], "plan");
    agent.play_answering(
        "PLAN",
        |request| json!({"behavior": "allow", "updatedInput": request["request"]["input"]}),
    );
    assert_eq!(agent.play("SAY x")[0]["permissionMode"], "default");
}

#[test]
fn two_requests_can_be_open_and_answered_in_any_order() {
    let mut agent = Setup::new().start();
    agent.prompt("ASK_TWICE\nSAY done");
    let (first, second) = (agent.request(), agent.request());
    agent.deny(&second, "not this one");
    agent.allow(&first);
    let lines = agent.turn();
    let results = tool_results(&lines);
    assert_eq!(results[0]["tool_use_id"], second["request"]["tool_use_id"]);
    assert_eq!(results[0]["is_error"], true);
    assert_eq!(results[1]["tool_use_id"], first["request"]["tool_use_id"]);
    assert_eq!(results[1]["content"], "ok");
}

#[test]
fn a_request_can_be_withdrawn_by_the_agent_and_a_late_answer_is_ignored() {
    let mut agent = Setup::new().start();
    agent.prompt("WITHDRAW 1\nSAY done");
    let request = agent.request();
    let cancel = agent.until(|line| line["type"] == "control_cancel_request").pop().unwrap();
    assert_eq!(cancel["request_id"], request["request_id"]);
    agent.allow(&request);
    let lines = agent.turn();
    assert_eq!(tool_results(&lines)[0]["is_error"], true);
    assert_eq!(texts(&lines), ["done"]);
}

#[test]
fn modes_and_models_can_be_set() {
    let mut agent = Setup::new().start();
    let reply = agent.ask(json!({"subtype": "set_permission_mode", "mode": "acceptEdits"}));
    assert_eq!(reply["response"]["mode"], "acceptEdits");
    assert_eq!(agent.next()["permissionMode"], "acceptEdits");
    let reply = agent.ask(json!({"subtype": "set_permission_mode", "mode": "nonsense"}));
    assert_eq!(reply["error_code"], "invalid_mode");
    let reply = agent.ask(json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"}));
    assert_eq!(reply["error_code"], "bypass_not_launched");
    let reply = agent.ask(json!({"subtype": "set_model", "model": "haiku"}));
    assert_eq!(reply["response"]["model"], "claude-haiku-5-5");
    let reply = agent.ask(json!({"subtype": "set_model", "model": "no-such-model"}));
    assert_eq!((&reply["error_code"], &reply["model"]), (&json!("not_found"), &json!("claude-haiku-5-5")));
    let init = &agent.play("SAY x")[0];
    assert_eq!(init["model"], "claude-haiku-5-5");
    assert_eq!(init["permissionMode"], "acceptEdits");
    let reply = agent.ask(json!({"subtype": "set_color"}));
    assert_eq!(reply["error"], "Unsupported control request subtype: set_color");
    let usage = agent.ask(json!({"subtype": "get_context_usage"}))["response"].clone();
    assert!(usage["totalTokens"].as_u64() < usage["maxTokens"].as_u64());
}

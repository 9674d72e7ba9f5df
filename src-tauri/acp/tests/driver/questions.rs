//! Questions that an agent asks by a permission request, as qwen-code does.

use crate::double::Agent;
use deskbell_agent::driver::{Driver, Output};
use deskbell_agent::tool::ToolKind;
use deskbell_agent::{AgentCommand, AgentEvent, AgentRequest, ToolRequest};
use serde_json::{Value, json};
use std::sync::Arc;

/// A request of this row's agent, whose call has this tool and this input.
fn asked(row: &str, tool: &str, input: Value) -> (Agent, Arc<ToolRequest>) {
    let modes = json!({"currentModeId": "default", "availableModes": [{"id": "default", "name": "Default"}]});
    let mut agent = Agent::with(row, json!({"modes": modes}));
    let options = json!([{"optionId": "go", "name": "Submit", "kind": "allow_once"},
        {"optionId": "no", "name": "Cancel", "kind": "reject_once"}]);
    let call = json!({"toolCallId": "c", "title": "Ask user 1 question", "kind": "think", "rawInput": input,
        "_meta": {"toolName": tool}});
    agent.says(json!({"id": 7, "method": "session/request_permission",
        "params": {"sessionId": "s", "toolCall": call, "options": options}}));
    let request = agent.events.iter().rev().find_map(|event| match event {
        AgentEvent::Request { request: AgentRequest::Tool(request), .. } => Some(request.clone()),
        _ => None,
    });
    (agent, request.unwrap())
}

fn question() -> Value {
    let options = json!([{"label": "Red", "description": "Warm"}, {"label": "Blue", "description": "Cold"}]);
    json!({"question": "Which colour?", "header": "Colour", "multiSelect": true, "options": options})
}

fn answer(agent: &mut Agent, answers: &[(&str, &str)]) {
    let request_id = agent.events.iter().rev().find_map(|event| match event {
        AgentEvent::Request { request_id, .. } => Some(request_id.clone()),
        _ => None,
    });
    let answers = answers.iter().map(|(question, answer)| ((*question).to_owned(), (*answer).to_owned()));
    let command = AgentCommand::Answer {
        request_id: request_id.unwrap(),
        input: String::new(),
        answers: answers.collect(),
    };
    let mut out = Output::default();
    agent.driver.write(&command, &mut out);
    agent.take(out);
}

#[test]
fn they_are_shown_as_questions_and_the_answers_go_beside_the_option() {
    let second = json!({"question": "Why?", "options": []});
    let input = json!({"questions": [question(), second]});
    let (mut agent, request) = asked("qwen", "ask_user_question", input);
    let questions = request.asked.questions.as_ref().unwrap();
    assert_eq!((request.asked.kind, questions.len()), (ToolKind::Questions, 2));
    let first = &questions[0];
    assert_eq!(
        (first.text.as_str(), first.header.as_str(), first.multi_select),
        ("Which colour?", "Colour", true)
    );
    assert_eq!((first.options[1].label.as_str(), first.options[1].description.as_str()), ("Blue", "Cold"));
    answer(&mut agent, &[("Why?", "No reason")]);
    let expected =
        json!({"outcome": {"outcome": "selected", "optionId": "go"}, "answers": {"1": "No reason"}});
    let line = agent.written.last().unwrap();
    assert_eq!((&line["id"], &line["result"]), (&json!(7), &expected));
    // Once only.
    let n_lines = agent.written.len();
    answer(&mut agent, &[("Why?", "Again")]);
    assert_eq!(agent.written.len(), n_lines);
}

#[test]
fn whatever_else_is_asked_stays_a_request_and_an_answer_to_it_is_a_refusal() {
    let more = json!({"questions": [question()], "command": "touch a.txt"});
    for (row, tool, input) in [
        ("qwen", "ask_user_question", more),
        ("qwen", "ask_user_question", json!({"questions": []})),
        ("qwen", "ask_user_question", json!({"questions": [{"header": "no text"}]})),
        ("qwen", "run_shell_command", json!({"questions": [question()]})),
        ("gemini", "ask_user_question", json!({"questions": [question()]})),
    ] {
        let (mut agent, request) = asked(row, tool, input);
        assert_eq!(request.asked.questions, None, "{row} {tool}");
        answer(&mut agent, &[("Which colour?", "Red")]);
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": "no"}});
        assert_eq!(agent.written.last().unwrap()["result"], outcome, "{row} {tool}");
    }
}

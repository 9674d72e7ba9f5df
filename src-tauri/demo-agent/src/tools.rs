//! Tool calls with a structured result: questions, plans, task lists; for scripts and the demo.

use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::Cut;
use crate::call::PlayedCall;
use crate::permission::Permit;
use crate::turn::PlayedTurn;

/// Pretends to have run the call. The result shows whether the host changed the input.
pub fn run_tool(turn: &mut PlayedTurn<'_>, call: &PlayedCall, input: &Value, decision: &Value) {
    let text =
        if *input == call.input { "ok".to_owned() } else { format!("ok, with changed input: {input}") };
    let structured = structured_result(&call.name, input, &text);
    turn.tool_result(call, &text, structured, decision);
}

fn structured_result(name: &str, input: &Value, text: &str) -> Value {
    let part = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
    match name {
        "Bash" => {
            json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false})
        }
        "Read" => json!({
            "type": "text",
            "file": {
                "filePath": part("file_path"),
                "content": text,
                "numLines": 1,
                "startLine": 1,
                "totalLines": 1,
            },
        }),
        "Write" => json!({
            "type": "create",
            "filePath": part("file_path"),
            "content": part("content"),
            "structuredPatch": [],
            "originalFile": null,
            "userModified": false,
        }),
        "Edit" => {
            let removed: Vec<String> = part("old_string").lines().map(|line| format!("-{line}")).collect();
            let added: Vec<String> = part("new_string").lines().map(|line| format!("+{line}")).collect();
            let (old_lines, new_lines) = (removed.len(), added.len());
            let lines = [removed, added].concat();
            json!({
                "filePath": part("file_path"),
                "oldString": part("old_string"),
                "newString": part("new_string"),
                "originalFile": part("old_string"),
                "structuredPatch": [{
                    "oldStart": 1,
                    "oldLines": old_lines,
                    "newStart": 1,
                    "newLines": new_lines,
                    "lines": lines,
                }],
                "userModified": false,
                "replaceAll": false,
            })
        }
        _ => json!({}),
    }
}

/// Waits for the answers to a call's questions, and writes their result.
pub fn settle_questions(turn: &mut PlayedTurn<'_>, call: &PlayedCall) -> Result<Option<Value>, Cut> {
    let Permit::Run { input, decision } = turn.permit(call)? else { return Ok(None) };
    let asked = call.input["questions"].as_array().into_iter().flatten();
    let texts: Vec<&str> = asked.filter_map(|question| question["question"].as_str()).collect();
    let given = input.get("answers").and_then(Value::as_object);
    let answers: Vec<(&str, &str)> = texts
        .iter()
        .filter_map(|text| Some((*text, given?.get(*text)?.as_str().filter(|answer| !answer.is_empty())?)))
        .collect();
    if answers.is_empty() {
        turn.tool_result(call, "The user did not answer the questions.", input, &decision);
        return Ok(None);
    }
    let said: Vec<String> =
        answers.iter().map(|(question, answer)| format!("\"{question}\"=\"{answer}\"")).collect();
    let text = format!(
        "Your questions have been answered: {}. You can now continue with these answers in mind.",
        said.join(", ")
    );
    let answers =
        answers.into_iter().map(|(question, answer)| (question.to_owned(), answer.into())).collect();
    turn.tool_result(call, &text, input, &decision);
    Ok(Some(Value::Object(answers)))
}

/// Waits for the answer to a plan, and writes its result. Allowing it leaves plan mode.
pub fn settle_plan(turn: &mut PlayedTurn<'_>, call: &PlayedCall) -> Result<bool, Cut> {
    let before = turn.agent.lock().mode.clone();
    let Permit::Run { input, decision } = turn.permit(call)? else { return Ok(false) };
    let after = turn.agent.lock().mode.clone();
    if after == "plan" && before == "plan" {
        turn.set_mode("default");
    }
    let text = "User has approved exiting plan mode. You can now proceed.";
    turn.tool_result(call, text, json!({"plan": input.get("plan"), "isAgent": false}), &decision);
    Ok(true)
}

/// A change of the task list.
#[derive(Clone, Copy)]
pub enum TaskStep<'a> {
    Create { id: &'a str, subject: &'a str, doing: &'a str },
    Update { id: &'a str, from: &'a str, to: &'a str },
}

/// Calls the tool that makes the change, in a separate message.
pub fn task(turn: &mut PlayedTurn<'_>, step: TaskStep<'_>, pause: Duration) -> Result<(), Cut> {
    let (name, input) = match step {
        TaskStep::Create { subject, doing, .. } => {
            ("TaskCreate", json!({"subject": subject, "description": subject, "activeForm": doing}))
        }
        TaskStep::Update { id, to, .. } => ("TaskUpdate", json!({"taskId": id, "status": to})),
    };
    turn.open_message()?;
    let call = turn.tool_use(name, input, pause)?;
    turn.close_message("tool_use");
    let Permit::Run { decision, .. } = turn.permit(&call)? else { return Ok(()) };
    match step {
        TaskStep::Create { id, subject, .. } => {
            let structured = json!({"task": {"id": id, "subject": subject, "description": subject}});
            let text = format!("Task #{id} created successfully: {subject}");
            turn.tool_result(&call, &text, structured, &decision);
        }
        TaskStep::Update { id, from, to } => {
            let structured = json!({
                "success": true,
                "taskId": id,
                "updatedFields": ["status"],
                "statusChange": {"from": from, "to": to},
            });
            turn.tool_result(&call, &format!("Updated task #{id} status"), structured, &decision);
        }
    }
    Ok(())
}

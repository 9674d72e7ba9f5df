//! Questions that an agent asks by a permission request: its options can only say whether the call goes on, so the
//! questions are read from the input, and the answers are sent beside the option.

use crate::agents::Questions;
use deskbell_agent::tool::ToolKind;
use deskbell_agent::{AgentEvent, AgentRequest, AskedCall, ToolRequest};
use deskbell_api::{Question, QuestionOption};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The event, with the questions of a request of the agent's tool for them. A request whose input has none stays as it is.
pub fn in_request(questions: Questions, event: AgentEvent) -> AgentEvent {
    let (
        Questions::InRequests(tool),
        AgentEvent::Request { request_id, request: AgentRequest::Tool(request) },
    ) = (questions, &event)
    else {
        return event;
    };
    if request.tool_name != tool || request.allow_once().is_none() {
        return event;
    }
    let Some(questions) = read(request.input.text()) else { return event };
    let asked = AskedCall { kind: ToolKind::Questions, questions: Some(questions), ..AskedCall::default() };
    let request = ToolRequest { asked, ..(**request).clone() };
    AgentEvent::Request { request_id: request_id.clone(), request: AgentRequest::Tool(Arc::new(request)) }
}

/// The answers by the index of their question, and the option that lets the call go on; `None` if the request asks nothing.
pub fn answered(
    request: &ToolRequest,
    answers: &BTreeMap<String, String>,
) -> Option<(Vec<(usize, String)>, String)> {
    let questions = request.asked.questions.as_ref()?;
    let answer = |(at, question): (usize, &Question)| Some((at, answers.get(&question.text)?.clone()));
    let answers = questions.iter().enumerate().filter_map(answer).collect();
    Some((answers, request.allow_once()?.id.clone()))
}

fn read(input: &str) -> Option<Vec<Question>> {
    let input: Map<String, Value> = serde_json::from_str(input).ok()?;
    // Anything beside the questions would not be shown.
    input.keys().all(|field| field == "questions" || field == "metadata").then_some(())?;
    let text = |value: &Value, field: &str| value.get(field)?.as_str().map(str::to_owned);
    let option = |option: &Value| {
        let description = text(option, "description").unwrap_or_default();
        Some(QuestionOption { label: text(option, "label")?, description, preview: None })
    };
    let question = |question: &Value| {
        let options = question.get("options").and_then(Value::as_array);
        Some(Question {
            text: text(question, "question")?,
            header: text(question, "header").unwrap_or_default(),
            options: options.into_iter().flatten().filter_map(option).collect(),
            multi_select: question.get("multiSelect").and_then(Value::as_bool).unwrap_or_default(),
        })
    };
    let questions: Option<Vec<Question>> = input.get("questions")?.as_array()?.iter().map(question).collect();
    questions.filter(|questions| !questions.is_empty())
}

//! Control protocol, inbound: the agent's requests, such as permission requests, and its responses to the host's
//! requests.

use super::head::Head;
use super::json::{self, Input};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// A control request from the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlRequest {
    /// Shared, because its input can be large: the session keeps it until it is answered.
    CanUseTool(Arc<CanUseTool>),
    /// Unsupported request: answered with an error, never with an allow.
    Unknown { subtype: String },
    /// A permission request that cannot be parsed: answered with a denial.
    MalformedCanUseTool { error: String },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct CanUseTool {
    pub tool_name: String,
    pub input: Input,
    pub tool_use_id: Option<String>,
    pub permission_suggestions: Vec<Value>,
    pub blocked_path: Option<String>,
    pub decision_reason: Option<Value>,
    pub suppress_always_allow_rule: bool,
    /// The subagent that asks; `None` for the main agent. It is the id of its task.
    pub agent_id: Option<String>,
}

/// Parses a request and its id. Does not go through `Value`, because the input of a tool must be kept as it was
/// written.
pub(super) fn read_control_request(text: &str) -> Result<(String, ControlRequest), serde_json::Error> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        request_id: String,
        #[serde(borrow)]
        request: &'a RawValue,
    }
    let (request_id, request) = match serde_json::from_str::<Outer<'_>>(text) {
        Ok(Outer { request_id, request }) => (request_id, Ok(request.get())),
        Err(error) => {
            // The agent waits for a response. If the request has an id, it can be refused.
            let outer: Value = json::read_leniently(text)?;
            let Some(id) = outer.get("request_id").and_then(Value::as_str) else { return Err(error) };
            let subtype = outer.get("request").and_then(|request| request.get("subtype"));
            let subtype = subtype.and_then(Value::as_str).unwrap_or("").to_owned();
            (id.to_owned(), Err((subtype, error)))
        }
    };
    let request = match request {
        Ok(request) => {
            // Only the fields that decide: the agent waits for a response however deeply the rest is nested.
            let head = serde_json::from_str::<Head<'_>>(request);
            match head.as_ref().ok().and_then(|head| head.subtype.as_deref()).unwrap_or("") {
                "can_use_tool" => read_can_use_tool(request).map_or_else(
                    |error| ControlRequest::MalformedCanUseTool { error: error.to_string() },
                    |request| ControlRequest::CanUseTool(Arc::new(request)),
                ),
                subtype => ControlRequest::Unknown { subtype: subtype.to_owned() },
            }
        }
        Err((subtype, error)) if subtype == "can_use_tool" => {
            ControlRequest::MalformedCanUseTool { error: error.to_string() }
        }
        Err((subtype, _)) => ControlRequest::Unknown { subtype },
    };
    Ok((request_id, request))
}

fn read_can_use_tool(text: &str) -> Result<CanUseTool, serde_json::Error> {
    /// A duplicate field is an error, because it is unknown which one the agent means.
    #[derive(Deserialize)]
    struct Fields<'a> {
        #[serde(borrow)]
        tool_name: &'a RawValue,
        #[serde(borrow)]
        input: &'a RawValue,
        #[serde(borrow, default)]
        tool_use_id: Option<&'a RawValue>,
        #[serde(borrow, default)]
        permission_suggestions: Option<&'a RawValue>,
        #[serde(borrow, default)]
        blocked_path: Option<&'a RawValue>,
        #[serde(borrow, default)]
        decision_reason: Option<&'a RawValue>,
        #[serde(borrow, default)]
        suppress_always_allow_rule: Option<&'a RawValue>,
        #[serde(borrow, default)]
        agent_id: Option<&'a RawValue>,
    }
    fn optional<T: DeserializeOwned>(field: Option<&RawValue>) -> Result<Option<T>, serde_json::Error> {
        field.map_or(Ok(None), |field| json::read_leniently(field.get()))
    }
    let fields: Fields<'_> = serde_json::from_str(text)?;
    Ok(CanUseTool {
        tool_name: json::read_leniently(fields.tool_name.get())?,
        input: Input::read(fields.input.get())?,
        tool_use_id: optional(fields.tool_use_id)?,
        permission_suggestions: optional(fields.permission_suggestions)?.unwrap_or_default(),
        blocked_path: optional(fields.blocked_path)?,
        decision_reason: optional(fields.decision_reason)?,
        suppress_always_allow_rule: optional(fields.suppress_always_allow_rule)?.unwrap_or(false),
        agent_id: optional(fields.agent_id)?,
    })
}

/// Parses a response and the id of its request.
pub(super) fn read_control_response(
    text: &str,
) -> Result<(String, Result<Value, String>), serde_json::Error> {
    #[derive(Deserialize)]
    struct Outer {
        response: Inner,
    }
    #[derive(Deserialize)]
    struct Inner {
        subtype: String,
        request_id: String,
        #[serde(default)]
        response: Value,
        #[serde(default)]
        error: Option<Value>,
    }
    let Inner { subtype, request_id, response, error } = serde_json::from_str::<Outer>(text)?.response;
    let outcome = if subtype == "error" {
        Err(match error {
            Some(Value::String(error)) => error,
            Some(error) => error.to_string(),
            None => "no reason given".to_owned(),
        })
    } else {
        Ok(response)
    };
    Ok((request_id, outcome))
}

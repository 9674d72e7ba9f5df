//! Control protocol, inbound: the agent's requests, such as permission requests, and its responses to the host's
//! requests.

use super::dialog;
use super::head::Head;
use crate::request;
use deskbell_agent::json::{self, Input};
use deskbell_agent::{AgentRequest, AskedCall, ToolRequest, form};
use deskbell_api::Form;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// Parses a request and its id. Does not go through `Value`, because the input of a tool must be kept as it was
/// written.
pub(super) fn read_control_request(text: &str) -> Result<(String, AgentRequest), serde_json::Error> {
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
                    |error| AgentRequest::Malformed { error: error.to_string() },
                    |request| AgentRequest::Tool(Arc::new(request)),
                ),
                "elicitation" => read_elicitation(request).map_or_else(
                    || AgentRequest::Unknown { name: "elicitation".to_owned() },
                    |request| AgentRequest::Tool(Arc::new(request)),
                ),
                "request_user_dialog" => dialog::read(request).map_or_else(
                    || AgentRequest::Unknown { name: "request_user_dialog".to_owned() },
                    |request| AgentRequest::Tool(Arc::new(request)),
                ),
                subtype => AgentRequest::Unknown { name: subtype.to_owned() },
            }
        }
        Err((subtype, error)) if subtype == "can_use_tool" => {
            AgentRequest::Malformed { error: error.to_string() }
        }
        Err((subtype, _)) => AgentRequest::Unknown { name: subtype },
    };
    Ok((request_id, request))
}

/// An MCP server asks the user for values, or to open a page. `None` for a form that cannot be read: it is refused, and the
/// server gets a cancellation. The names of the fields are those of 2.1.197 and 2.1.329; `property_order` is new in the
/// second.
fn read_elicitation(text: &str) -> Option<ToolRequest> {
    let input = Input::read(text).ok()?;
    let named = |key: &str| input.value().get(key).and_then(Value::as_str).map(str::to_owned);
    let url = named("url").filter(|_| named("mode").is_some_and(|mode| mode == "url"));
    let fields = match &url {
        Some(url) if url.starts_with("https://") || url.starts_with("http://") => Vec::new(),
        Some(_) => return None,
        None => form::fields(input.value().get("requested_schema")?, &order(input.value()))?,
    };
    let server = named("mcp_server_name")?;
    let form =
        Form { server: Some(server.clone()), message: named("message").unwrap_or_default(), url, fields };
    let asked = AskedCall { action: form.url.clone(), form: Some(form), ..AskedCall::default() };
    let tool_name = "Elicitation".to_owned();
    Some(ToolRequest { tool_name, input, asked, mcp_server: Some(server), ..ToolRequest::default() })
}

fn order(request: &Value) -> Vec<String> {
    let order = request.get("property_order").and_then(Value::as_array).into_iter().flatten();
    order.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn read_can_use_tool(text: &str) -> Result<ToolRequest, serde_json::Error> {
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
        display_name: Option<&'a RawValue>,
        #[serde(borrow, default)]
        mcp_server: Option<&'a RawValue>,
        #[serde(borrow, default)]
        agent_id: Option<&'a RawValue>,
    }
    fn optional<T: DeserializeOwned>(field: Option<&RawValue>) -> Result<Option<T>, serde_json::Error> {
        field.map_or(Ok(None), |field| json::read_leniently(field.get()))
    }
    /// A field that only names something: in another form it is absent.
    fn name(field: Option<&RawValue>) -> Option<String> {
        json::read_leniently(field?.get()).ok()
    }
    let fields: Fields<'_> = serde_json::from_str(text)?;
    let suggestions: Vec<Value> = optional(fields.permission_suggestions)?.unwrap_or_default();
    let reason: Option<Value> = optional(fields.decision_reason)?;
    let is_suppressed: bool = optional(fields.suppress_always_allow_rule)?.unwrap_or(false);
    let request = ToolRequest {
        tool_name: json::read_leniently(fields.tool_name.get())?,
        input: Input::read(fields.input.get())?,
        tool_use_id: optional(fields.tool_use_id)?,
        blocked_path: optional(fields.blocked_path)?,
        reason: reason.and_then(|reason| reason.as_str().map(str::to_owned)),
        display_name: name(fields.display_name),
        mcp_server: fields.mcp_server.and_then(|server| {
            let server: Value = json::read_leniently(server.get()).ok()?;
            Some(server.get("name")?.as_str()?.to_owned())
        }),
        agent_id: optional(fields.agent_id)?,
        ..ToolRequest::default()
    };
    Ok(request::read(request, if is_suppressed { Vec::new() } else { suggestions }))
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(request: Value) -> AgentRequest {
        read_control_request(
            &json!({"type": "control_request", "request_id": "r", "request": request}).to_string(),
        )
        .unwrap()
        .1
    }

    fn elicitation() -> Value {
        let schema =
            json!({"type": "object", "properties": {"b": {"type": "boolean"}, "a": {"type": "string"}}});
        json!({"subtype": "elicitation", "mcp_server_name": "desk", "message": "Which?", "mode": "form",
            "requested_schema": schema, "property_order": ["a", "b"]})
    }

    fn with(changes: Value) -> Value {
        let mut request = elicitation();
        for (key, value) in changes.as_object().unwrap() {
            request[key] = value.clone();
        }
        request
    }

    #[test]
    fn a_servers_form_is_read_in_its_order() {
        let AgentRequest::Tool(request) = read(elicitation()) else { panic!() };
        let form = request.asked.form.as_ref().unwrap();
        assert_eq!((form.server.as_deref(), form.message.as_str()), (Some("desk"), "Which?"));
        let names: Vec<&str> = form.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(request.options.is_empty() && request.tool_use_id.is_none());
        assert_eq!(request.input.value()["requested_schema"], elicitation()["requested_schema"]);
        // 2.1.197 sends no order.
        assert!(matches!(read(with(json!({"property_order": null}))), AgentRequest::Tool(_)));
    }

    #[test]
    fn a_page_to_open_is_read() {
        let page = with(json!({"mode": "url", "url": "https://a.example/b", "requested_schema": null}));
        let AgentRequest::Tool(request) = read(page) else { panic!() };
        let form = request.asked.form.as_ref().unwrap();
        assert_eq!((form.url.as_deref(), form.fields.len()), (Some("https://a.example/b"), 0));
        assert_eq!(request.asked.action.as_deref(), Some("https://a.example/b"));
    }

    #[test]
    fn what_is_no_form_is_refused() {
        for changes in [
            json!({"mcp_server_name": null}),
            json!({"mcp_server_name": 1}),
            json!({"requested_schema": null}),
            json!({"requested_schema": "a"}),
            json!({"requested_schema": {"properties": []}}),
            json!({"mode": "url", "url": "javascript:alert(1)"}),
            json!({"mode": "url", "url": "file:///etc/passwd"}),
        ] {
            let unknown = AgentRequest::Unknown { name: "elicitation".to_owned() };
            assert_eq!(read(with(changes.clone())), unknown, "{changes}");
        }
    }
}

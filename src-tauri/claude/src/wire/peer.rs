//! Messages of other sessions of the user: those that arrived, and those that the CLI holds back until the user decides
//! (2.1.332).

use deskbell_agent::json::Input;
use deskbell_agent::tool::ToolKind;
use deskbell_agent::{
    AgentEvent, AgentRequest, AnswerOption, AskedCall, HELD_MESSAGE, OptionKind, SessionMessage, ToolRequest,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Prefix of the id of a request of a held message. The rest is the CLI's own handle.
const HELD_ID: &str = "held-";

/// Prefix of the id of a decision about a held message.
const DECISION_ID: &str = "decision-";

/// A message in a user line, by the line's `origin`. With several in one line the CLI names none of them. `text` is the
/// text of the line, which has more words of the CLI around the message.
pub fn message(origin: &Value, text: String) -> SessionMessage {
    let field = |key: &str| origin.get(key).and_then(Value::as_str).map(str::to_owned);
    SessionMessage {
        name: field("name"),
        pid: origin.get("verifiedPeerPid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok()),
        text: field("body").unwrap_or(text),
        ..SessionMessage::default()
    }
}

/// A report on a held message: a request to let it in, the end of that request, or a message for the user.
pub fn hold(report: &Value) -> AgentEvent {
    let text = |key: &str| report.get(key).and_then(Value::as_str);
    let name = text("from_name").unwrap_or("without a name");
    let request_id = text("hold_id").map(|id| format!("{HELD_ID}{id}"));
    let says = |words: String| AgentEvent::Informational { level: "warning".to_owned(), text: words };
    match (text("state"), request_id) {
        (Some("held"), Some(request_id)) => match request(report, name) {
            Some(request) => {
                AgentEvent::Request { request_id, request: AgentRequest::Tool(Arc::new(request)) }
            }
            None => says(format!(
                "A message of the session “{name}” is held back by a setting of Claude Code. It cannot be let in here."
            )),
        },
        (Some("released" | "dropped"), Some(request_id)) => AgentEvent::RequestWithdrawn { request_id },
        (Some("dropped"), None) => says(format!("A message of the session “{name}” was not delivered.")),
        _ => AgentEvent::Ignored,
    }
}

/// Builds the request from fields that are equal in every report on a message, so that a repeated report is the same request.
fn request(report: &Value, name: &str) -> Option<ToolRequest> {
    let preview = report.get("preview")?;
    let text = preview.get("text")?.as_str()?;
    report.get("can_deliver")?.as_bool()?.then_some(())?;
    let is_whole = preview.get("is_whole").and_then(Value::as_bool).unwrap_or(false);
    let unreported = "The agent shows only a part of this message, or left out characters of it.";
    Some(ToolRequest {
        tool_name: HELD_MESSAGE.to_owned(),
        input: Input::from(json!({"from": name, "text": text})),
        asked: AskedCall {
            kind: ToolKind::Message,
            action: Some(text.to_owned()),
            is_only_action: is_whole,
            ..AskedCall::default()
        },
        options: vec![AnswerOption {
            id: "deliver".to_owned(),
            kind: OptionKind::AllowOnce,
            ..AnswerOption::default()
        }],
        reason: Some(format!(
            "From the session that calls itself “{name}”, which asks in another way before it acts"
        )),
        unreported: (!is_whole).then(|| unreported.to_owned()),
        takes_only_options: true,
        ..ToolRequest::default()
    })
}

/// The line that lets a held message in or drops it.
pub fn decision(request_id: &str, is_let_in: bool) -> String {
    let id = request_id.strip_prefix(HELD_ID).unwrap_or(request_id);
    let decision = if is_let_in { "deliver" } else { "drop" };
    json!({
        "type": "control_request",
        "request_id": format!("{DECISION_ID}{id}"),
        "request": {"subtype": "decide_held_peer_message", "hold_id": id, "decision": decision},
    })
    .to_string()
}

/// What the user has to know of the answer to a decision.
pub fn undelivered(request_id: &str, response: &Value) -> Option<String> {
    request_id.strip_prefix(DECISION_ID)?;
    let outcome = response.get("outcome").and_then(Value::as_str).unwrap_or("unknown");
    let is_done = matches!(outcome, "delivered" | "waiting" | "denied");
    (!is_done).then(|| format!("The message of the other session was not delivered ({outcome})."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClaudeDriver;
    use deskbell_agent::AgentCommand;

    /// A line of 2.1.332.
    fn held(changes: &Value) -> Value {
        let mut line = json!({"type": "system", "subtype": "peer_message_hold", "state": "held",
            "message_uuid": "m", "lane": "socket", "from": "uds:/tmp/cc-socks/1.sock", "from_name": "p2-d1",
            "cause": "mode-mismatch", "hold_id": "h", "can_deliver": true, "always_scope": "mine",
            "session_class": "prompting", "verified_pid": 1,
            "preview": {"text": "SAY one", "total_chars": 7, "other_blocks": 0, "is_whole": true}});
        for (key, value) in changes.as_object().unwrap() {
            line[key] = value.clone();
        }
        line
    }

    fn heard(driver: &mut ClaudeDriver, line: &Value) -> AgentEvent {
        driver.event(line.to_string().as_bytes())
    }

    #[test]
    fn a_held_message_is_a_request_that_lets_it_in_or_drops_it() {
        let mut driver = ClaudeDriver::default();
        let AgentEvent::Request { request_id, request: AgentRequest::Tool(request) } =
            heard(&mut driver, &held(&json!({})))
        else {
            panic!("no request")
        };
        assert_eq!(request.asked.action.as_deref(), Some("SAY one"));
        assert_eq!(request.unreported, None);
        // The CLI reports it again when its cause changes.
        let again = heard(&mut driver, &held(&json!({"cause": "mode-unknown"})));
        let AgentEvent::Request { request: AgentRequest::Tool(again), .. } = again else { panic!() };
        assert_eq!(again, request);
        let allow =
            AgentCommand::Allow { request_id: request_id.clone(), input: "{}".to_owned(), grant: None };
        let line: Value = serde_json::from_str(&driver.line(&allow)).unwrap();
        let expected = json!({"subtype": "decide_held_peer_message", "hold_id": "h", "decision": "deliver"});
        assert_eq!((line["type"].as_str(), &line["request"]), (Some("control_request"), &expected));

        heard(&mut driver, &held(&json!({})));
        let deny =
            AgentCommand::Deny { request_id, message: "The user said no.".to_owned(), interrupt: false };
        let line: Value = serde_json::from_str(&driver.line(&deny)).unwrap();
        assert_eq!(line["request"]["decision"], "drop");
        let response = |outcome: &str| {
            json!({"type": "control_response", "response": {"subtype": "success", "request_id": "decision-h",
                "response": {"outcome": outcome}}})
        };
        assert!(matches!(heard(&mut driver, &response("denied")), AgentEvent::Response { .. }));
        let late = heard(&mut driver, &response("gone"));
        assert!(matches!(&late, AgentEvent::Informational { text, .. } if text.contains("gone")), "{late:?}");
    }

    #[test]
    fn only_a_request_of_a_held_message_is_answered_as_one() {
        let mut driver = ClaudeDriver::default();
        let deny = AgentCommand::Deny {
            request_id: "held-h".to_owned(),
            message: "The user said no.".to_owned(),
            interrupt: false,
        };
        assert!(driver.line(&deny).contains("\"behavior\":\"deny\""), "nothing is held");
    }

    #[test]
    fn what_cannot_be_let_in_is_said_and_what_is_over_is_withdrawn() {
        let mut driver = ClaudeDriver::default();
        let event = heard(&mut driver, &held(&json!({"can_deliver": false})));
        assert!(matches!(event, AgentEvent::Informational { .. }), "{event:?}");
        let cut = json!({"preview": {"text": "a", "total_chars": 900, "other_blocks": 0, "is_whole": false}});
        let AgentEvent::Request { request: AgentRequest::Tool(request), .. } =
            heard(&mut driver, &held(&cut))
        else {
            panic!("no request")
        };
        assert!(request.unreported.is_some());
        for state in ["released", "dropped"] {
            let event = heard(&mut driver, &held(&json!({"state": state})));
            assert_eq!(event, AgentEvent::RequestWithdrawn { request_id: "held-h".to_owned() });
        }
        let dropped = heard(&mut driver, &held(&json!({"state": "dropped", "hold_id": null})));
        assert!(matches!(dropped, AgentEvent::Informational { .. }), "{dropped:?}");
    }
}

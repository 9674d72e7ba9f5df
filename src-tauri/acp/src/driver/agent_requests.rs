//! What the agent requests: permission for a call, and values for a form. Everything else is refused at once.

use super::{AcpClient, ClientStep, MOST_OPEN};
use crate::event::{
    AcpEvent, AcpOptionKind, AcpQuestion, Permission, PermissionOption, RequestKey, Withdrawal,
};
use crate::read;
use crate::requests::{AskedRequest, cancelled};
use crate::rpc::{self, Id, shortened};
use agent_client_protocol_schema::v1;
use serde::Deserialize;
use serde_json::{Map, Value};

impl AcpClient {
    pub(super) fn request(&mut self, id: Id, method: String, params: Value, step: &mut ClientStep) {
        if let Some((request, asked)) = self.theirs.close_id(&id) {
            // An answer to this id could go to either request, so neither is allowed.
            self.was_denied(&asked);
            step.lines.push(rpc::answer(&id, &cancelled(&asked)));
            step.events.push(AcpEvent::Withdrawn { request, reason: Withdrawal::Repeated });
            let reason = "the id is that of a request that is open";
            step.lines.push(rpc::error(&id, rpc::INVALID_REQUEST, reason));
            step.events.push(refused(method, reason, &params));
            return;
        }
        let refusal = match method.as_str() {
            "session/request_permission" => self.permission(&id, &params, step),
            "elicitation/create" => self.question(&id, &params, step),
            // Vendors add requests of their own, and some wait for the answer before they go on.
            _ => Err((rpc::METHOD_NOT_FOUND, "Method not found".to_owned())),
        };
        if let Err((code, reason)) = refusal {
            step.lines.push(rpc::error(&id, code, &reason));
            step.events.push(refused(method, &reason, &params));
        }
    }

    fn permission(&mut self, id: &Id, params: &Value, step: &mut ClientStep) -> Result<(), (i64, String)> {
        let invalid = |reason: &str| (rpc::INVALID_PARAMS, reason.to_owned());
        let (options, unusable) = options(params.get("options"));
        if options.is_empty() {
            return Err(invalid("the request has no option that can be chosen"));
        }
        let asked = params.get("toolCall").and_then(|call| self.calls.asked(call));
        let (call, explanation, change, odd) = asked.ok_or_else(|| invalid("the request names no call"))?;
        self.push_call(change, odd, step);
        self.message = None;
        let allows = |kind| {
            matches!(kind, AcpOptionKind::AllowOnce | AcpOptionKind::AllowAlways | AcpOptionKind::Other)
        };
        let asked = AskedRequest::Permission {
            call: call.id.clone(),
            options: options.iter().map(|option| (option.id.clone(), allows(option.kind))).collect(),
        };
        let message = ("session/request_permission", params);
        let Some(request) = self.open(id, asked, message, step) else { return Ok(()) };
        let session = params.get("sessionId").and_then(Value::as_str);
        let session = session.filter(|id| self.is_foreign(id)).map(str::to_owned);
        let unusable = unusable.iter().map(shortened).collect();
        let permission = Permission { request, call, explanation, options, unusable, session };
        step.events.push(AcpEvent::Permission(Box::new(permission)));
        Ok(())
    }

    fn question(&mut self, id: &Id, params: &Value, step: &mut ClientStep) -> Result<(), (i64, String)> {
        let (call, message, fields) =
            crate::question::read(params).map_err(|reason| (rpc::INVALID_PARAMS, reason))?;
        let place = ("elicitation/create", params);
        let Some(request) = self.open(id, AskedRequest::Question(fields.clone()), place, step) else {
            return Ok(());
        };
        step.events.push(AcpEvent::Question(Box::new(AcpQuestion {
            request,
            call,
            message,
            fields,
            params: params.clone(),
        })));
        Ok(())
    }

    /// Opens a request, or cancels it at once where no answer of the user can count any more.
    fn open(
        &mut self,
        id: &Id,
        asked: AskedRequest,
        (method, params): (&str, &Value),
        step: &mut ClientStep,
    ) -> Option<RequestKey> {
        let reason = if self.is_stopping || (self.is_in_turn && self.is_interrupted) {
            "its turn was cancelled"
        } else if self.theirs.len() >= MOST_OPEN {
            "too many requests are open"
        } else {
            let request = self.theirs.next_key();
            self.theirs.open(request, id.clone(), asked);
            return Some(request);
        };
        self.was_denied(&asked);
        step.lines.push(rpc::answer(id, &cancelled(&asked)));
        step.events.push(refused(method.to_owned(), reason, params));
        None
    }
}

/// The options of a permission request, and those that cannot be chosen.
fn options(list: Option<&Value>) -> (Vec<PermissionOption>, Vec<Value>) {
    let (read, mut unusable) = read::items::<Map<String, Value>>(list);
    let mut options: Vec<(PermissionOption, Value)> = Vec::new();
    for option in read.into_iter().map(Value::Object) {
        match read::text(&option, "optionId") {
            Some(id) => {
                let name = read::text(&option, "name").unwrap_or_else(|| id.clone());
                let kind = option.get("kind").map(v1::PermissionOptionKind::deserialize);
                let kind = match kind {
                    Some(Ok(v1::PermissionOptionKind::AllowOnce)) => AcpOptionKind::AllowOnce,
                    Some(Ok(v1::PermissionOptionKind::AllowAlways)) => AcpOptionKind::AllowAlways,
                    Some(Ok(v1::PermissionOptionKind::RejectOnce)) => AcpOptionKind::RejectOnce,
                    Some(Ok(v1::PermissionOptionKind::RejectAlways)) => AcpOptionKind::RejectAlways,
                    _ => AcpOptionKind::Other,
                };
                options.push((PermissionOption { id, name, kind }, option));
            }
            None => unusable.push(option),
        }
    }
    // “Reject” with the id of “Allow” would allow: with an id that occurs twice the agent cannot know what was chosen.
    let mut n_uses = std::collections::HashMap::<String, usize>::new();
    options.iter().for_each(|(option, _)| *n_uses.entry(option.id.clone()).or_default() += 1);
    let (usable, repeated): (Vec<_>, Vec<_>) =
        options.into_iter().partition(|(option, _)| n_uses.get(&option.id) == Some(&1));
    unusable.extend(repeated.into_iter().map(|(_, json)| json));
    (usable.into_iter().map(|(option, _)| option).collect(), unusable)
}

fn refused(method: String, reason: &str, params: &Value) -> AcpEvent {
    AcpEvent::Refused { method, reason: reason.to_owned(), params: shortened(params) }
}

//! Tool calls: whether a call may run, with a request to the host if neither the mode nor a rule decides, and its
//! result.

use serde_json::{Value, json};

use crate::agent::Cut;
use crate::call::{AllowRule, PlayedCall};
use crate::turn::PlayedTurn;
use crate::{catalogue, wire};

/// Whether a call may run.
pub enum Permit {
    Run {
        /// The input as the host returned it.
        input: Value,
        /// The decision in the format of `tool_result_meta`.
        decision: Value,
    },
    /// The call already has its result.
    Denied,
}

impl PlayedTurn<'_> {
    /// Decides whether the call may run: by mode or rule, otherwise by asking the host.
    pub fn permit(&mut self, call: &PlayedCall) -> Result<Permit, Cut> {
        if let Some(decision) = self.allowed_unasked(call) {
            return Ok(Permit::Run { input: call.input.clone(), decision });
        }
        if !self.agent.options.can_ask || self.agent.lock().mode == "dontAsk" {
            self.deny_unasked(call);
            return Ok(Permit::Denied);
        }
        let id = self.ask(call);
        let answer = self.agent.answer(std::slice::from_ref(&id))?.map(|(_, answer)| answer);
        self.judge(call, answer)
    }

    fn allowed_unasked(&self, call: &PlayedCall) -> Option<Value> {
        let name = call.name.as_str();
        let state = self.agent.lock();
        if catalogue::ASKING_TOOLS.contains(&name) {
            return None;
        }
        if self.agent.environment.has("never-asks") {
            return Some(json!({"decision": "accept", "source": "config", "reason_type": "mode"}));
        }
        let edits = state.mode == "acceptEdits" && catalogue::EDIT_TOOLS.contains(&name);
        if edits || catalogue::HARMLESS_TOOLS.contains(&name) || state.mode == "bypassPermissions" {
            return Some(json!({"decision": "accept", "source": "config", "reason_type": "mode"}));
        }
        let ruled =
            state.rules.iter().any(|rule| rule.covers(call) && !state.suspended.contains(&rule.to_string()));
        ruled.then(|| json!({"decision": "accept", "source": "user_permanent", "reason_type": "rule"}))
    }

    fn deny_unasked(&mut self, call: &PlayedCall) {
        let message = format!("{} needs approval, and there is nobody to ask.", call.name);
        if !self.agent.old() {
            self.agent.send(json!({
                "type": "system",
                "subtype": "permission_denied",
                "tool_name": call.name,
                "tool_use_id": call.id,
                "message": message,
            }));
        }
        let decision = json!({"decision": "reject", "source": "config"});
        self.denied(call, &message, "user-rejected", decision);
    }

    /// Asks the host, and returns the request's id without waiting for the answer.
    pub fn ask(&mut self, call: &PlayedCall) -> String {
        let mut request = json!({
            "subtype": "can_use_tool",
            "tool_name": call.name,
            "display_name": call.name,
            "input": call.input,
        });
        let asks = catalogue::ASKING_TOOLS.contains(&call.name.as_str());
        if !asks {
            if let Some(description) = call.description() {
                request["description"] = description.into();
            }
            request["permission_suggestions"] = call.suggestions();
        }
        request["tool_use_id"] = call.id.clone().into();
        if asks && !self.agent.old() {
            request["requires_user_interaction"] = true.into();
        }
        if let Some(open) = self.calls.iter_mut().find(|open| open.id == call.id) {
            open.waiting = true;
        }
        self.agent.tell_state("requires_action");
        self.agent.request(request)
    }

    /// Applies the host's answer; no answer means that the host is gone.
    pub fn judge(&mut self, call: &PlayedCall, answer: Option<Value>) -> Result<Permit, Cut> {
        if let Some(open) = self.calls.iter_mut().find(|open| open.id == call.id) {
            open.waiting = false;
        }
        if self.agent.lock().open.is_empty() {
            self.agent.tell_state("running");
        }
        let reject = json!({"decision": "reject", "source": "user_reject"});
        let Some(answer) = answer else {
            let message = "Tool permission request failed: AbortError: Tool permission stream closed before response \
                           received";
            self.denied(call, message, "permission-rule", reject);
            return Ok(Permit::Denied);
        };
        if answer.get("subtype").and_then(Value::as_str) != Some("success") {
            let error = answer.get("error").and_then(Value::as_str).unwrap_or("unknown");
            let message = format!("Tool permission request failed: Error: {error}");
            self.denied(call, &message, "permission-rule", reject);
            return Ok(Permit::Denied);
        }
        let body = answer.get("response").cloned().unwrap_or_default();
        let behavior = body.get("behavior").and_then(Value::as_str);
        match (behavior, body.get("message").and_then(Value::as_str)) {
            (Some("allow"), _) => {
                self.apply(body.get("updatedPermissions"));
                let input = body.get("updatedInput").filter(|input| input.is_object());
                Ok(Permit::Run {
                    input: input.unwrap_or(&call.input).clone(),
                    decision: json!({"decision": "accept", "source": "user_temporary"}),
                })
            }
            (Some("deny"), Some(_)) if body.get("interrupt") == Some(&Value::Bool(true)) => {
                self.calls.retain(|open| open.id != call.id);
                self.denials.push(call.denial());
                Err(self.refuse(call))
            }
            (Some("deny"), Some(message)) => {
                self.denied(call, message, "permission-rule", reject);
                Ok(Permit::Denied)
            }
            _ => {
                let message = "The canUseTool callback returned an invalid permission result. Expected {behavior: \
                               'allow', updatedInput?: object} or {behavior: 'deny', message: string}.";
                self.denied(call, message, "permission-rule", reject);
                Ok(Permit::Denied)
            }
        }
    }

    /// Rules and modes apply to the session only: this agent writes no settings.
    fn apply(&self, permissions: Option<&Value>) {
        for permission in permissions.and_then(Value::as_array).into_iter().flatten() {
            match permission.get("type").and_then(Value::as_str) {
                Some("setMode") => {
                    if let Some(mode) = permission.get("mode").and_then(Value::as_str) {
                        self.set_mode(mode);
                    }
                }
                Some("addRules") if permission.get("behavior").and_then(Value::as_str) == Some("allow") => {
                    let rules = permission.get("rules").and_then(Value::as_array).into_iter().flatten();
                    self.agent.lock().rules.extend(rules.filter_map(AllowRule::from_wire));
                }
                _ => {}
            }
        }
    }

    /// Changes the permission mode and reports the change.
    pub fn set_mode(&self, mode: &str) {
        self.agent.lock().mode = mode.to_owned();
        self.agent.send(wire::mode_changed(mode));
    }

    fn denied(&mut self, call: &PlayedCall, message: &str, kind: &str, decision: Value) {
        self.denials.push(call.denial());
        self.calls.retain(|open| open.id != call.id);
        let content =
            json!([{"type": "tool_result", "content": message, "is_error": true, "tool_use_id": call.id}]);
        let meta = json!([{"id": call.id, "non_execution_kind": kind, "permission_decision": decision}]);
        self.user(content, json!({"tool_use_result": format!("Error: {message}"), "tool_result_meta": meta}));
        self.fold_queued();
    }

    /// The result of a call that succeeded, and its structured form.
    pub fn tool_result(&mut self, call: &PlayedCall, text: &str, structured: Value, decision: &Value) {
        let mut block = json!({"tool_use_id": call.id, "type": "tool_result", "content": text});
        if call.name == "Bash" {
            block["is_error"] = false.into();
        }
        self.settle(call, block, structured, decision);
    }

    /// The result of a call that ran and failed.
    pub fn tool_error(&mut self, call: &PlayedCall, text: &str, decision: &Value) {
        let block = json!({"type": "tool_result", "content": text, "is_error": true, "tool_use_id": call.id});
        self.settle(call, block, format!("Error: {text}").into(), decision);
    }

    fn settle(&mut self, call: &PlayedCall, block: Value, structured: Value, decision: &Value) {
        self.calls.retain(|open| open.id != call.id);
        let meta = json!([{"id": call.id, "permission_decision": decision}]);
        self.user(json!([block]), json!({"tool_use_result": structured, "tool_result_meta": meta}));
        self.fold_queued();
    }
}

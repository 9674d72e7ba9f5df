//! The end of a turn: open parts are cut off, then the `result` is written.

use serde_json::{Value, json};

use crate::agent::{Cut, DemoState};
use crate::call::PlayedCall;
use crate::turn::PlayedTurn;
use crate::usage::{self, TokenCounts};
use crate::{clock, wire};

const REFUSED_TOOL: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it \
                            was a file edit, the new_string was NOT written to the file). STOP what you are doing and \
                            wait for the user to tell you how to proceed.";
const STOPPED_TOOL: &str = " Correction to the text above: this call was stopped while running, not refused before it \
                            ran. It may have run in part or in full, and its changes may have been written. No \
                            permission prompt was involved.";

/// The outcome of a turn.
struct Ending {
    subtype: &'static str,
    is_error: bool,
    /// `None` for the agent's own work without a model.
    terminal_reason: Option<&'static str>,
    stop_reason: Option<&'static str>,
    extra_turns: u32,
    /// The fields between `subtype` and `type`.
    outcome: Value,
}

impl PlayedTurn<'_> {
    /// Ends the turn with its result, and returns whether that was an error.
    pub fn finish(mut self, outcome: Result<(), Cut>) -> bool {
        let ending = match outcome {
            Ok(()) => self.completed(),
            Err(Cut::Interrupted) => self.abort(),
            Err(Cut::Refused) => aborted("aborted_tools", Some("tool_use"), 2),
            Err(Cut::Failed { status, kind, text }) => self.fail(status, &kind, text),
            Err(Cut::OutOfTurns(limit)) => Ending {
                subtype: "error_max_turns",
                is_error: true,
                terminal_reason: Some("max_turns"),
                stop_reason: Some("tool_use"),
                extra_turns: 1,
                outcome: json!({"errors": [format!("Reached maximum number of turns ({limit})")]}),
            },
        };
        let is_error = ending.is_error;
        let agent = self.agent;
        // All of it under one lock: anything that the host sends after it has read the result belongs to the next turn.
        agent.change(|state| {
            let usage = state.usage.clone();
            state.store.turn_ended(&usage);
            for uuid in &self.folded_uuids {
                agent.tell_life_in(state, uuid, "completed");
            }
            let line = self.result(state, ending);
            agent.send_in(state, line);
            for uuid in self.uuids.iter().filter(|uuid| !self.folded_uuids.contains(uuid)) {
                agent.tell_life_in(state, uuid, "completed");
            }
            agent.tell_state_in(state, "idle");
            state.turn_over();
        });
        is_error
    }

    fn completed(&self) -> Ending {
        let asked = self.requests > 0;
        let mut outcome = json!({"result": self.text});
        if asked {
            outcome = json!({"api_error_status": null, "result": self.text, "ttft_ms": self.first_frame_ms});
        } else if let Some(command) = self.local_command {
            outcome["local_command"] = command.into();
        }
        Ending {
            subtype: "success",
            is_error: false,
            terminal_reason: asked.then_some("completed"),
            stop_reason: asked.then_some("end_turn"),
            extra_turns: 0,
            outcome,
        }
    }

    /// Cuts off the open parts: the partial message if there is one, otherwise the calls.
    fn abort(&mut self) -> Ending {
        if self.message.is_some() {
            self.cut_message(|turn| {
                turn.refuse_calls();
                turn.user(interruption("[Request interrupted by user]"), json!({}));
            });
            return aborted("aborted_streaming", None, 1);
        }
        if self.calls.is_empty() {
            self.user(interruption("[Request interrupted by user]"), json!({}));
            return aborted("aborted_streaming", None, 1);
        }
        self.refuse_calls();
        self.user(interruption("[Request interrupted by user for tool use]"), json!({}));
        aborted("aborted_tools", Some("tool_use"), 2)
    }

    fn refuse_calls(&mut self) {
        for call in std::mem::take(&mut self.calls) {
            let text = if call.waiting || self.agent.old() {
                REFUSED_TOOL.to_owned()
            } else {
                format!("{REFUSED_TOOL}{STOPPED_TOOL}")
            };
            if call.waiting {
                self.denials.push(call.denial());
            }
            self.user_rejected(&call, &text);
        }
    }

    /// The result of a call that the user did not allow to run or to finish.
    pub fn user_rejected(&self, call: &PlayedCall, text: &str) {
        let content =
            json!([{"type": "tool_result", "content": text, "is_error": true, "tool_use_id": call.id}]);
        let mut extra = json!({"tool_use_result": "User rejected tool use"});
        // 2.1.197 does not report whether the call had begun.
        if !self.agent.old() {
            extra["tool_result_meta"] = json!([{"id": call.id, "non_execution_kind": "user-rejected"}]);
        }
        self.user(content, extra);
    }

    /// Ends the turn as a denial that interrupts does; the call's result is part of it.
    pub fn refuse(&mut self, call: &PlayedCall) -> Cut {
        self.user_rejected(call, REFUSED_TOOL);
        self.user(interruption("[Request interrupted by user for tool use]"), json!({}));
        Cut::Refused
    }

    fn fail(&mut self, status: Option<u16>, kind: &str, text: String) -> Ending {
        let class = match kind {
            "overloaded" => "server_error",
            other => other,
        };
        let mut line = json!({
            "type": "assistant",
            "message": {
                "id": wire::uuid(),
                "model": "<synthetic>",
                "role": "assistant",
                "stop_reason": "stop_sequence",
                "stop_sequence": "",
                "type": "message",
                "usage": TokenCounts::default().of_result(),
                "content": [{"type": "text", "text": text}],
                "context_management": null,
            },
            "parent_tool_use_id": null,
        });
        let mut state = self.agent.lock();
        wire::stamp(&mut line, &state.session_id);
        line["timestamp"] = clock::timestamp().into();
        line["error"] = class.into();
        line["request_id"] = wire::short_id("req").into();
        line["is_api_error_message"] = true.into();
        line["api_error_status"] = json!(status);
        state.store.assistant(&line, TokenCounts::default().of_result(), "stop_sequence");
        self.agent.output.line(&line);
        drop(state);
        self.message = None;
        self.requests = self.requests.max(1);
        Ending {
            subtype: "success",
            is_error: true,
            terminal_reason: Some(if self.agent.old() { "completed" } else { "api_error" }),
            stop_reason: Some("stop_sequence"),
            extra_turns: 0,
            outcome: json!({"api_error_status": status, "api_error_type": kind, "result": text}),
        }
    }

    fn result(&mut self, state: &mut DemoState, ending: Ending) -> Value {
        let mut spent = TokenCounts::default();
        self.usage.values().for_each(|usage| spent.add(*usage));
        let duration = self.elapsed_ms();
        let index = state.results;
        state.results += 1;
        let mut line = json!({
            "duration_api_ms": if self.requests > 0 { duration } else { 0 },
            "stop_reason": ending.stop_reason,
            "session_id": state.session_id,
            "total_cost_usd": usage::cost(&state.usage),
            "usage": spent.of_result(),
            "modelUsage": usage::model_usage(&state.usage),
            "permission_denials": self.denials,
        });
        let queued = state.queue.iter().filter(|prompt| prompt.human).count();
        let mut put = |key: &str, value: Value| line[key] = value;
        if let Some(reason) = ending.terminal_reason {
            put("terminal_reason", reason.into());
        }
        put("fast_mode_state", "off".into());
        put("safety_stops", 0.into());
        put("is_error", ending.is_error.into());
        put("num_turns", (self.requests + ending.extra_turns).into());
        put("subtype", ending.subtype.into());
        if let Value::Object(outcome) = ending.outcome {
            outcome.into_iter().for_each(|(key, value)| put(&key, value));
        }
        put("type", "result".into());
        put("duration_ms", duration.into());
        put("uuid", wire::uuid().into());
        if let Some(first) = self.first_frame_ms {
            put("first_content_frame_ms", first.into());
        }
        if let Some(origin) = self.origin.take() {
            put("origin", origin);
        }
        if !self.agent.old() {
            if let Some(last) = self.uuids.last() {
                put("user_message_uuid", last.clone().into());
                put("user_message_uuids", json!(self.uuids));
            }
            put("queued_turn_count", queued.into());
            put("result_index", index.into());
            put("model_usage_since_last_result", usage::model_usage(&self.usage));
        }
        line
    }
}

fn aborted(terminal_reason: &'static str, stop_reason: Option<&'static str>, extra_turns: u32) -> Ending {
    let stop = stop_reason.unwrap_or("null");
    let diagnostic = format!("[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={stop}");
    Ending {
        subtype: "error_during_execution",
        is_error: true,
        terminal_reason: Some(terminal_reason),
        stop_reason,
        extra_turns,
        outcome: json!({"errors": [diagnostic]}),
    }
}

fn interruption(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

//! What the agent reads on its standard input: prompts, control requests and answers.

use serde_json::{Value, json};

use crate::agent::{AgentEvent, AgentRequest, Retry};
use crate::api::{BYPASS, PermissionMode};
use crate::session::tests::response;

use super::turn::ChildEnd;
use super::{Ground, Initialize, SimulatedChild, resolved, speech};

impl SimulatedChild {
    pub(super) fn read(&mut self, line: &Value, ground: &mut Ground<'_>) {
        match line["type"].as_str() {
            Some("user") => self.prompt(line, ground),
            Some("control_request") => self.asked(line, ground),
            Some("control_cancel_request") => self.cancelled(line),
            _ => self.answered(line, ground),
        }
    }

    fn prompt(&mut self, line: &Value, ground: &mut Ground<'_>) {
        let name = line["uuid"].as_str().unwrap().to_owned();
        if !ground.disk.heard.insert(name.clone()) {
            return;
        }
        let clears = line["message"]["content"] == "/clear";
        match &self.turn {
            None => self.begin(vec![name], false, clears),
            Some(_) => self.waiting.push(name),
        }
    }

    fn respond(&mut self, line: &Value, outcome: Result<Value, String>) {
        let request_id = line["request_id"].as_str().unwrap().to_owned();
        self.unanswered.retain(|id| *id != request_id);
        let answer = self.driver.event(response(&request_id, outcome).as_bytes());
        self.say(answer);
    }

    fn asked(&mut self, line: &Value, ground: &mut Ground<'_>) {
        let request = &line["request"];
        match request["subtype"].as_str().unwrap() {
            "initialize" => match self.habits.initialize {
                Initialize::Never => {}
                Initialize::Refuses => self.respond(line, Err("not now".to_owned())),
                Initialize::Answers if self.habits.is_old => self.respond(line, Ok(json!({"commands": []}))),
                Initialize::Answers => {
                    self.mode_reported = true;
                    let reply = speech::initialized(&self.mode);
                    self.respond(line, Ok(reply));
                }
            },
            "interrupt" => self.interrupted(line, ground),
            "cancel_async_message" => {
                let uuid = request["message_uuid"].as_str().unwrap().to_owned();
                let place = self.waiting.iter().position(|name| *name == uuid);
                let reply = Ok(json!({"cancelled": place.is_some()}));
                if let Some(place) = place {
                    self.waiting.remove(place);
                    self.say(AgentEvent::PromptState { uuid, state: "cancelled".to_owned() });
                }
                self.respond(line, reply);
            }
            "set_permission_mode" => {
                let mode = request["mode"].as_str().unwrap().to_owned();
                assert!(mode.parse::<PermissionMode>().is_ok(), "an unknown mode was asked for");
                if self.habits.never_confirms {
                    return;
                }
                if !self.habits.has_mode(&mode) {
                    return self.respond(line, Err("invalid_mode".to_owned()));
                }
                if self.habits.slips && self.mode == BYPASS {
                    // It confirms the change and stays in its mode.
                    self.respond(line, Ok(json!({"mode": mode})));
                    self.mode_reported = true;
                    return self.say(speech::mode_changed(BYPASS));
                }
                self.mode = mode;
                self.mode_reported = true;
                let status = speech::mode_changed(&self.mode);
                let reply = Ok(json!({"mode": self.mode}));
                // Both orders occur in practice.
                if ground.chance.one_in(2) {
                    self.say(status);
                    self.respond(line, reply);
                } else {
                    self.respond(line, reply);
                    self.say(status);
                }
            }
            "set_model" => {
                let model = request["model"].as_str().unwrap();
                if model == "unknown" && !self.habits.is_old {
                    return self.respond(line, Err("not_found".to_owned()));
                }
                self.model = resolved(model);
                self.model_reported = true;
                let reply = json!({"model": self.model});
                self.respond(line, Ok(reply));
            }
            "apply_flag_settings" => {
                if self.habits.never_confirms {
                    return;
                }
                if request["settings"].get("permissions").is_some() {
                    return match ground.chance.below(4) {
                        0 => self.respond(line, Err("not now".to_owned())),
                        _ => self.respond(line, Ok(json!({}))),
                    };
                }
                let level = request["settings"]["effortLevel"].as_str().map(str::to_owned);
                // The agent confirms any value.
                self.effort = level.filter(|level| level != "unknown");
                self.respond(line, Ok(json!({})));
            }
            "get_settings" => {
                let applied = json!({"applied": {"effort": self.effort.as_deref().unwrap_or("low")}});
                self.respond(line, Ok(applied));
            }
            "get_usage" if self.habits.is_old && ground.chance.one_in(2) => {
                self.respond(line, Err("Unsupported control request subtype".to_owned()));
            }
            "get_usage" => {
                let usage = json!({"session": {"total_cost_usd": self.cost_usd}});
                self.respond(line, Ok(usage));
            }
            "rename_session" if self.habits.is_old && ground.chance.one_in(2) => {
                self.respond(line, Err("Unsupported control request subtype".to_owned()));
            }
            "rename_session" => {
                let title = request["title"].as_str().unwrap().to_owned();
                self.respond(line, Ok(json!({})));
                self.say(AgentEvent::Title { title });
            }
            "get_context_usage" => match ground.chance.below(4) {
                0 => {}
                1 => self.respond(line, Err("Unsupported control request subtype".to_owned())),
                2 => self.respond(line, Ok(json!({"categories": 7}))),
                _ => self.respond(line, Ok(speech::context_usage())),
            },
            "rewind_files" => match ground.chance.below(6) {
                0 => {}
                1 => self.respond(line, Err("Unsupported control request subtype".to_owned())),
                2 => self.respond(line, Err("not now".to_owned())),
                3 => self.respond(line, Ok(json!({"canRewind": true, "filesChanged": []}))),
                _ => self.respond(line, Ok(json!({"canRewind": true, "filesChanged": ["/a"]}))),
            },
            "mcp_status" => match ground.chance.below(4) {
                0 => {}
                1 => self.respond(line, Err("not now".to_owned())),
                2 => self.respond(line, Ok(json!({"mcpServers": 7}))),
                _ => self.respond(line, Ok(speech::servers())),
            },
            "get_hooks_listing" if ground.chance.one_in(2) => {
                self.respond(line, Err("Unsupported control request subtype".to_owned()));
            }
            "get_hooks_listing" => self.respond(line, Ok(json!({"hooks": []}))),
            "mcp_reconnect" | "mcp_toggle" | "reload_plugins" => match ground.chance.below(3) {
                0 => {}
                1 => self.respond(line, Err("Connection closed".to_owned())),
                _ => self.respond(line, Ok(json!({"plugins": [], "error_count": 1}))),
            },
            "stop_task" if ground.chance.one_in(3) => {
                self.respond(line, Err("it is not to be stopped".to_owned()));
            }
            "stop_task" => {
                let task_id = request["task_id"].as_str().unwrap().to_owned();
                self.respond(line, Ok(json!({})));
                self.say(speech::task_stopped(task_id));
            }
            "background_tasks" => self.respond(line, Ok(json!({}))),
            "generate_session_title" => {
                let title = if ground.chance.one_in(3) { json!(null) } else { json!("Made") };
                self.respond(line, Ok(json!({ "title": title })));
            }
            "side_question" => self.asked_aside(line, ground),
            other => panic!("the machine asked for {other}"),
        }
    }

    fn asked_aside(&mut self, line: &Value, ground: &mut Ground<'_>) {
        if !self.habits.is_old {
            let request_id = line["request_id"].as_str().unwrap().to_owned();
            let retry = ground.chance.one_in(3).then(Retry::default);
            self.say(AgentEvent::RequestProgress { request_id, retry });
        }
        let reply = |words: Value, synthetic: bool| Ok(json!({"response": words, "synthetic": synthetic}));
        match ground.chance.below(8) {
            // It is cancelled, or waits until the time is over.
            0 | 1 => {}
            2 if self.habits.is_old => {
                self.respond(line, Err("Unsupported control request subtype".to_owned()))
            }
            2 => self.respond(line, Err("side_question_busy".to_owned())),
            3 => self.respond(line, reply(json!(null), false)),
            4 => self.respond(line, reply(json!("(API error: 529)"), true)),
            5 => self.respond(line, Ok(json!(7))),
            _ => self.respond(line, reply(json!("It is *42*."), false)),
        }
    }

    fn cancelled(&mut self, line: &Value) {
        let request_id = line["request_id"].as_str().unwrap();
        let is_known = self.unanswered.iter().any(|id| id == request_id);
        if is_known && !self.habits.is_old {
            self.respond(line, Err("Side question cancelled".to_owned()));
        }
    }

    fn interrupted(&mut self, line: &Value, ground: &mut Ground<'_>) {
        if self.habits.deaf_to_interrupt {
            if ground.chance.one_in(2) {
                self.respond(line, Ok(json!({"still_queued": []})));
            }
            return;
        }
        if self.habits.denies_interrupt {
            // It always claims that no prompt has begun.
            let turn = self.turn.iter().flat_map(|turn| turn.prompts.iter());
            let queued: Vec<&String> = turn.chain(&self.waiting).collect();
            let reply = Ok(json!({"still_queued": queued}));
            return self.respond(line, reply);
        }
        let mut still_queued: Vec<&str> = self.waiting.iter().map(String::as_str).collect();
        let is_begun = self.turn.as_ref().is_some_and(|turn| turn.begun);
        if let Some(turn) = self.turn.as_ref().filter(|turn| !turn.begun) {
            // The interrupt arrived directly after the prompt, and ends nothing.
            still_queued.extend(turn.prompts.iter().map(String::as_str));
        }
        let reply = Ok(json!({"still_queued": still_queued}));
        for (request_id, _) in std::mem::take(&mut self.asking) {
            self.take_back(request_id);
        }
        self.respond(line, reply);
        if is_begun {
            self.end(ChildEnd::Aborted, ground);
        }
    }

    fn answered(&mut self, line: &Value, ground: &mut Ground<'_>) {
        let response = &line["response"];
        let id = response["request_id"].as_str().unwrap();
        let Some(at) = self.asking.iter().position(|(known, _)| known == id) else { return };
        let (id, request) = self.asking.remove(at);
        self.closed.push(id);
        let answer = &response["response"];
        if answer["behavior"] == "allow" {
            let ends_plan =
                matches!(&request, AgentRequest::Tool(request) if request.tool_name == "ExitPlanMode");
            let sets = answer["updatedPermissions"][0]["mode"].as_str();
            // Sometimes a mode that `set_permission_mode` cannot request.
            let next = if ground.chance.one_in(4) { "manual" } else { "default" };
            if let Some(mode) = sets.or(ends_plan.then_some(next)) {
                self.mode = mode.to_owned();
                self.mode_reported = true;
                let status = speech::mode_changed(mode);
                self.say(status);
            }
        }
        if self.turn.is_none() {
            return;
        }
        if answer["interrupt"] == true {
            for (request_id, _) in std::mem::take(&mut self.asking) {
                self.take_back(request_id);
            }
            self.end(ChildEnd::Aborted, ground);
        } else {
            self.state("running");
        }
    }
}

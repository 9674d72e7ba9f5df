//! What the agent reports of its session, unasked.

use super::{AcpClient, ClientStep, unknown};
use crate::calls::Odd;
use crate::event::{AcpCall, AcpEvent, AcpUsage, Content, OptionValue, Voice};
use crate::read;
use agent_client_protocol_schema::v1;
use serde::Deserialize;
use serde_json::Value;

impl AcpClient {
    /// One `session/update`.
    pub(super) fn update(&mut self, update: &Value, step: &mut ClientStep) {
        let Some(kind) = update.get("sessionUpdate").and_then(Value::as_str) else {
            return step.events.push(unknown("session/update", update));
        };
        let known = match kind {
            "agent_message_chunk" => self.chunk(Voice::Agent, update, step),
            "agent_thought_chunk" => self.chunk(Voice::Thinking, update, step),
            "user_message_chunk" => self.chunk(Voice::User, update, step),
            "tool_call" | "tool_call_update" => match self.calls.update(update, kind == "tool_call") {
                Some((call, odd)) => {
                    self.message = None;
                    self.push_call(call, odd, step);
                    true
                }
                None => false,
            },
            "plan" => {
                let (entries, odd) = read::items::<v1::PlanEntry>(update.get("entries"));
                self.message = None;
                step.events.push(AcpEvent::Plan(entries.into_iter().map(read::plan_entry).collect()));
                step.events.extend(odd.iter().map(|odd| unknown("plan", odd)));
                true
            }
            "available_commands_update" => {
                let (commands, odd) = read::items::<v1::AvailableCommand>(update.get("availableCommands"));
                step.events.push(AcpEvent::Commands(commands.into_iter().map(read::command).collect()));
                step.events.extend(odd.iter().map(|odd| unknown("availableCommands", odd)));
                true
            }
            "current_mode_update" => match read::text(update, "currentModeId") {
                Some(id) => {
                    self.mode_is(id, step);
                    true
                }
                None => false,
            },
            "config_option_update" => {
                self.set_options(update.get("configOptions"), step);
                true
            }
            "session_info_update" => match update.get("title") {
                Some(Value::String(title)) => {
                    step.events.push(AcpEvent::Title(Some(title.clone())));
                    true
                }
                Some(Value::Null) => {
                    step.events.push(AcpEvent::Title(None));
                    true
                }
                // A time, or a vendor's own state.
                _ => false,
            },
            "usage_update" => match v1::UsageUpdate::deserialize(update) {
                Ok(usage) => {
                    step.events.push(AcpEvent::Usage(read::usage(usage)));
                    true
                }
                Err(_) => false,
            },
            "notice" => self.notice(update, step),
            "compaction_update" => self.compaction(update, step),
            _ => false,
        };
        if !known {
            step.events.push(unknown(kind, update));
        }
    }

    fn chunk(&mut self, voice: Voice, update: &Value, step: &mut ClientStep) -> bool {
        let Some(block) = update.get("content") else { return false };
        let content = read::content(block);
        let tokens = update.pointer("/_meta/usage").and_then(read::tokens);
        if let Some(tokens) = tokens {
            step.events.push(AcpEvent::Usage(AcpUsage { tokens: Some(tokens), ..AcpUsage::default() }));
        }
        // An empty text carries nothing but such figures.
        if content == Content::Text(String::new()) {
            return true;
        }
        let message = read::text(update, "messageId");
        let this = (voice, message.clone());
        let is_new = self.message.as_ref() != Some(&this);
        if is_new && voice == Voice::User && !self.is_in_turn {
            // The next prompt of a conversation that is repeated: the calls of the turn before it are over.
            self.settle(false, step);
        }
        self.message = Some(this);
        step.events.push(AcpEvent::Said { voice, message, is_new, content });
        true
    }

    fn notice(&self, update: &Value, step: &mut ClientStep) -> bool {
        let Some(title) = read::text(update, "title") else { return false };
        let severity = read::text(update, "severity").unwrap_or_default();
        let description = read::text(update, "description");
        step.events.push(AcpEvent::Notice { severity, title, description });
        true
    }

    fn compaction(&self, update: &Value, step: &mut ClientStep) -> bool {
        let Some(id) = read::text(update, "compactionId") else { return false };
        let Some(status) = read::text(update, "status") else { return false };
        step.events.push(AcpEvent::Compaction { id, status, error: read::text(update, "error") });
        true
    }

    pub(super) fn mode_is(&mut self, id: String, step: &mut ClientStep) {
        if let Some(session) = &mut self.session {
            session.mode = Some(id.clone());
        }
        step.events.push(AcpEvent::Mode { id });
    }

    pub(super) fn set_options(&mut self, list: Option<&Value>, step: &mut ClientStep) {
        let (options, odd) = read::config_options(list);
        step.events.extend(odd.iter().map(|odd| unknown("configOptions", odd)));
        let mode = options.iter().find(|option| read::is_mode(option)).map(|option| &option.value);
        if let Some(OptionValue::Choice { value, .. }) = mode {
            let is_new = self.session.as_ref().is_none_or(|session| session.mode.as_ref() != Some(value));
            if is_new {
                self.mode_is(value.clone(), step);
            }
        }
        if let Some(session) = &mut self.session {
            session.options.clone_from(&options);
        }
        step.events.push(AcpEvent::Options(options));
    }

    pub(super) fn push_call(&mut self, call: AcpCall, odd: Vec<Odd>, step: &mut ClientStep) {
        let is_empty = call == AcpCall { id: call.id.clone(), ..AcpCall::default() };
        if !is_empty {
            step.events.push(AcpEvent::Call(Box::new(call)));
        }
        step.events.extend(odd.iter().map(|(field, value)| unknown(&format!("tool_call.{field}"), value)));
    }
}

//! What the agent reads: requests, notifications and the answers to its own requests.

use super::{ACTS, ASKS, AcpChild, Ground, Turn, speech};
use crate::session::simulation::child::Initialize;
use serde_json::{Value, json};

impl AcpChild {
    pub(super) fn read(&mut self, message: &Value, ground: &mut Ground<'_>) {
        let id = message["id"].clone();
        let params = &message["params"];
        match message["method"].as_str() {
            None => self.answered(message),
            Some("initialize") => match self.habits.initialize {
                Initialize::Never => {}
                Initialize::Refuses => self.answer(&id, Err("not now")),
                Initialize::Answers => {
                    let able = speech::initialized(!self.habits.is_old);
                    self.answer(&id, Ok(able));
                }
            },
            Some("session/new") => {
                let session = ground.disk.name("conversation");
                let opened = speech::opened(Some(&session), &self.mode);
                self.session_id = Some(session);
                self.answer(&id, Ok(opened));
            }
            Some(method @ ("session/load" | "session/resume")) => {
                let session = params["sessionId"].as_str().unwrap().to_owned();
                if !ground.disk.conversations.contains(&session) {
                    return self.answer(&id, Err("Resource not found"));
                }
                self.session_id = Some(session);
                let repeats = method == "session/load";
                // Gemini CLI answers before it has repeated the conversation.
                let is_late = self.agent.facts().is_some_and(|facts| facts.repeats_late);
                let n_before = if is_late { ground.chance.below(3) } else { 3 };
                for n in 0..if repeats { 3 } else { 0 } {
                    if n == n_before {
                        self.answer(&id, Ok(speech::opened(None, &self.mode)));
                    }
                    self.update(speech::repeated(n));
                }
                if !repeats || n_before >= 3 {
                    self.answer(&id, Ok(speech::opened(None, &self.mode)));
                }
            }
            Some("session/list") => match ground.chance.below(3) {
                0 => {}
                1 => self.answer(&id, Err("not now")),
                _ => self.answer(&id, Ok(json!({"sessions": []}))),
            },
            Some("session/set_mode") => self.set_mode(&id, params["modeId"].as_str().unwrap(), ground),
            Some("session/set_model") if self.habits.never_confirms => {}
            Some("session/set_model") => self.answer(&id, Ok(json!({}))),
            Some("session/prompt") => {
                assert!(self.turn.is_none(), "a second prompt in a turn");
                let asks = self.mode == ASKS || self.has_slipped || self.agent.row_id().is_none();
                assert!(asks, "prompted in a mode that does not ask");
                self.turn = Some(Turn { id, is_cancelled: false, n_calls: 0 });
            }
            Some("session/cancel") if self.habits.deaf_to_interrupt || self.habits.denies_interrupt => {}
            Some("session/cancel") => {
                if let Some(turn) = &mut self.turn {
                    turn.is_cancelled = true;
                }
            }
            Some("session/close") => self.answer(&id, Ok(json!({}))),
            Some(other) => panic!("the driver asked for {other}"),
        }
    }

    fn set_mode(&mut self, id: &Value, mode: &str, ground: &mut Ground<'_>) {
        if self.habits.never_confirms {
            return;
        }
        if self.habits.lacks_auto && ground.chance.one_in(4) {
            return self.answer(id, Err("invalid mode"));
        }
        mode.clone_into(&mut self.mode);
        // Both orders occur in practice, and some report nothing.
        let told = json!({"sessionUpdate": "current_mode_update", "currentModeId": mode});
        match ground.chance.below(3) {
            0 => self.answer(id, Ok(json!({}))),
            1 => {
                self.update(told);
                self.answer(id, Ok(json!({})));
            }
            _ => {
                self.answer(id, Ok(json!({})));
                self.update(told);
            }
        }
        if self.habits.slips && ground.chance.one_in(4) && mode != ACTS {
            self.slip();
        }
    }

    /// An answer to a request of the agent: at most one for each, with an option that was offered.
    fn answered(&mut self, message: &Value) {
        let Some(id) = message["id"].as_str() else { panic!("an answer to nothing: {message}") };
        if !id.starts_with("request-") || message.get("error").is_some() {
            return;
        }
        if let Some(option) = message.pointer("/result/outcome/optionId") {
            let is_offered = option.as_str().is_some_and(|option| speech::OPTIONS.contains(&option));
            assert!(is_offered, "an option that was not offered: {message}");
        }
        if let Some(at) = self.asking.iter().position(|known| known == id) {
            let id = self.asking.remove(at);
            self.answered.push(id);
        } else {
            let cancels = message.pointer("/result/outcome/outcome") != Some(&json!("selected"));
            assert!(cancels || !self.answered.iter().any(|known| known == id), "answered twice: {message}");
        }
    }
}

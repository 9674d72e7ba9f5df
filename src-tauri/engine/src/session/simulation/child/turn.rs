//! What the agent does on its own: its turns, from their start to their end, and what happens between them.

use crate::agent::AgentEvent;
use crate::api::BYPASS;

use super::{Ground, Out, SimulatedChild, prompt_of, speech};

/// A turn of the agent, from when it has its prompts to its result.
pub struct ChildTurn {
    /// Prompt names on the wire.
    pub(super) prompts: Vec<String>,
    /// A background task started this turn, not a prompt.
    unasked: bool,
    /// The prompt is `/clear`.
    clears: bool,
    /// The agent has reported the start of the turn.
    pub(super) begun: bool,
}

/// How a turn ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ChildEnd {
    Done,
    Failed,
    Aborted,
}

impl SimulatedChild {
    /// At most one action between turns.
    pub(super) fn idle(&mut self, ground: &mut Ground<'_>) {
        if self.habits.is_calm {
            return;
        }
        if self.n_tasks > 0 && ground.chance.one_in(8) {
            self.n_tasks -= 1;
            self.say(speech::tasks(self.n_tasks));
            self.say(speech::task_ended());
            self.begin(Vec::new(), true, false);
        } else if self.habits.reports_state && ground.chance.one_in(60) {
            // The agent reports a state change without a turn.
            self.state("running");
            self.state("idle");
        } else if ground.chance.one_in(20) {
            let noise = speech::noise(ground.chance, ground.now);
            self.say(noise);
        }
    }

    /// Starts a turn, which is not reported yet.
    pub(super) fn begin(&mut self, prompts: Vec<String>, unasked: bool, clears: bool) {
        self.turn = Some(ChildTurn { prompts, unasked, clears, begun: false });
    }

    /// At most one action of the turn.
    pub(super) fn work(&mut self, ground: &mut Ground<'_>) {
        let Some(turn) = &mut self.turn else { return };
        if !turn.begun {
            turn.begun = true;
            let clears = turn.clears;
            self.state("running");
            if clears {
                self.say(AgentEvent::ConversationReset);
                self.session_id = ground.disk.name("conversation");
            }
            self.mode_reported = true;
            self.model_reported = true;
            return self.init();
        }
        let is_unasked = turn.unasked && turn.prompts.is_empty();
        let blocked = !self.asking.is_empty();
        match ground.chance.below(24) {
            0..5 if !blocked && !self.habits.hangs => self.end(ChildEnd::Done, ground),
            5 if !blocked && !self.habits.hangs && !self.habits.is_calm => self.end(ChildEnd::Failed, ground),
            6 | 7 if self.asking.len() < 4 && self.stdin_open => {
                for _ in 0..=ground.chance.below(3) {
                    let id = ground.disk.name("request");
                    let request = speech::can_use_tool(ground.chance, &id);
                    self.asking.push((id.clone(), request.clone()));
                    self.state("requires_action");
                    self.say(AgentEvent::Request { request_id: id, request });
                }
            }
            8 if blocked => {
                // A hook answered the request, or the subagent that sent it has ended.
                let at = ground.chance.below(self.asking.len() as u64) as usize;
                let (request_id, _) = self.asking.remove(at);
                self.take_back(request_id);
            }
            9 if blocked && ground.chance.one_in(4) => {
                // The turn ends while a background subagent still waits for its request.
                self.end(ChildEnd::Done, ground);
            }
            _ if self.habits.is_calm => {}
            9 if !blocked && is_unasked && self.habits.reports_state && ground.chance.one_in(2) => {
                // The turn ends without a result.
                self.turn = None;
                self.rest();
            }
            10 => {
                let request_id = ground.disk.name("odd");
                let request = speech::odd_request(ground.chance);
                self.say(AgentEvent::Request { request_id, request });
            }
            11 => {
                if let Some((id, request)) = ground.chance.pick(&self.asking).cloned() {
                    self.say(AgentEvent::Request { request_id: id, request });
                }
            }
            12 => {
                self.n_tasks = ground.chance.below(3) as usize;
                self.say(speech::tasks(self.n_tasks));
            }
            13 => {
                let stale = speech::stale(&self.closed, &self.ghosts, ground.chance);
                self.say(stale);
            }
            14 => self.init(),
            22 if self.habits.slips => {
                self.mode = BYPASS.to_owned();
                self.mode_reported = true;
                self.say(speech::mode_changed(BYPASS));
            }
            20 | 21 if !self.habits.is_old => self.take_up(ground),
            15..18 => {
                let noise = speech::noise(ground.chance, ground.now);
                self.say(noise);
            }
            18 | 19 => {
                let id = ground.disk.name("reply");
                speech::reply(&id, ground.chance).into_iter().for_each(|line| self.say(line));
            }
            23 => {
                let id = ground.disk.name("reply");
                speech::tool_call(&id, ground.chance).into_iter().for_each(|line| self.say(line));
            }
            _ => {}
        }
    }

    fn init(&mut self) {
        let init = speech::init(&self.session_id, &self.mode, &self.model, !self.habits.is_old);
        self.say(init);
    }

    /// After a tool's result: prompts that were written during the turn join it.
    fn take_up(&mut self, ground: &mut Ground<'_>) {
        let Some(turn) = &mut self.turn else { return };
        let waiting = std::mem::take(&mut self.waiting);
        turn.prompts.extend(waiting.iter().cloned());
        for uuid in waiting {
            // The result lists the prompt in any case.
            if !ground.chance.one_in(4) {
                self.say(AgentEvent::PromptState { uuid, state: "started".to_owned() });
            }
        }
    }

    pub(super) fn end(&mut self, end: ChildEnd, ground: &mut Ground<'_>) {
        let Some(turn) = self.turn.take() else { return };
        if !turn.begun {
            self.init();
        }
        self.cost_usd += 0.01;
        self.last_failed = !matches!(end, ChildEnd::Done);
        if matches!(end, ChildEnd::Failed) {
            self.say(speech::failed_reply());
        }
        let result = speech::Said {
            end,
            session_id: &self.session_id,
            cost_usd: self.cost_usd,
            unasked: turn.unasked,
            prompts: (!self.habits.is_old).then_some(&turn.prompts),
        };
        let inbound = speech::result(&result, ground.chance);
        ground.disk.conversations.insert(self.session_id.clone());
        let ended = turn.prompts.iter().map(|name| prompt_of(name)).collect();
        self.out.push_back(Out::Line { inbound, ended });
        self.rest();
    }

    /// Ends the turn. Prompts read during it start the next one.
    fn rest(&mut self) {
        if self.waiting.is_empty() {
            self.state("idle");
        } else {
            // All waiting prompts are merged into one turn.
            let waiting = std::mem::take(&mut self.waiting);
            self.begin(waiting, false, false);
        }
    }
}

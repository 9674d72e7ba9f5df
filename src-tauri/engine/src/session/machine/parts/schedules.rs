//! Scheduled turns: jobs and wake-ups with which the agent's process will begin a turn by itself.

use crate::agent::tool::ToolInput;
use crate::agent::{Assistant, ContentBlock, ScheduleReport, User, WokenBy};
use crate::api::{ItemId, ScheduleKind, ScheduledTurn};
use crate::title::Title;

/// Number of scheduled turns that are kept. 2.1.329 accepts 50 jobs.
const MOST: usize = 100;
/// Longest text of the agent about one of them, in user-perceived characters.
const LONGEST: usize = 200;
/// A turn is due if its time is at most this far away. 2.1.329 starts a job a few milliseconds after its time.
const EARLY_MS: u64 = 5_000;
/// An idle process is kept for a turn that is late by up to this time. After that the agent has forgotten the turn.
const LATE_MS: u64 = 10 * 60 * 1_000;

/// The scheduled turns of the current process.
#[derive(Debug, Default)]
pub struct Schedules {
    /// In the order in which they were reported.
    planned: Vec<ScheduledTurn>,
    /// The prompts in calls that have no result yet, by the ids of the calls. The results do not repeat them.
    prompts: Vec<(String, String)>,
    /// The prompt of one that has begun and has not ended: the next result is the end of that turn.
    begun: Option<String>,
}

/// Two results of the agent can give one time with different fractions.
fn is_same_time(one: Option<u64>, other: Option<u64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.abs_diff(other) <= 1,
        (one, other) => one == other,
    }
}

impl Schedules {
    pub fn planned(&self) -> Vec<ScheduledTurn> {
        self.planned.clone()
    }

    /// The process has to stay alive for one of them.
    pub fn keep_awake(&self, now: u64) -> bool {
        let is_expected = |turn: &ScheduledTurn| {
            turn.repeats || turn.next_at.is_none_or(|at| now < at.saturating_add(LATE_MS))
        };
        self.planned.iter().any(is_expected)
    }

    /// Reads the calls that plan one of them.
    pub fn on_reply(&mut self, assistant: &Assistant) {
        for block in &assistant.message.content {
            let ContentBlock::ToolUse { id, call } = block else { continue };
            let prompt = match call.typed() {
                ToolInput::ScheduleJob { prompt } | ToolInput::WakeUp { prompt, .. } => prompt,
                _ => None,
            };
            let Some(prompt) = prompt else { continue };
            // A call that is interrupted never has a result.
            if self.prompts.len() == MOST {
                self.prompts.remove(0);
            }
            self.prompts.push((id.clone(), Title::one_line(prompt, LONGEST)));
        }
    }

    /// The prompt of a call with a result.
    fn take_prompt(&mut self, user: &User) -> Option<String> {
        let ids: Vec<&str> = user.results().map(|result| result.tool_use_id.as_str()).collect();
        let mut ended = self.prompts.extract_if(.., |(call, _)| ids.contains(&call.as_str()));
        ended.by_ref().last().map(|(_, prompt)| prompt)
    }

    /// Reads the result of a call. Returns whether something changed.
    pub fn on_result(&mut self, user: &User) -> bool {
        let call = user.results().next().map(|result| ItemId::new(&result.tool_use_id));
        let prompt = self.take_prompt(user).unwrap_or_default();
        let before = self.planned.clone();
        match &user.schedule {
            None => return false,
            Some(ScheduleReport::Planned(turn)) => {
                self.add(ScheduledTurn { item_id: call, prompt, ..turn.clone() });
            }
            Some(ScheduleReport::Cancelled(id)) => self.planned.retain(|known| known.id != *id),
            Some(ScheduleReport::Listed(turns)) => self.listed(turns),
        }
        self.planned != before
    }

    fn add(&mut self, turn: ScheduledTurn) {
        let turn = ScheduledTurn {
            times: Title::one_line(&turn.times, LONGEST),
            prompt: Title::one_line(&turn.prompt, LONGEST),
            ..turn
        };
        match self.planned.iter().position(|known| known.id == turn.id) {
            Some(at) => self.planned[at] = turn,
            None if self.planned.len() < MOST => self.planned.push(turn),
            None => {}
        }
    }

    fn listed(&mut self, turns: &[ScheduledTurn]) {
        let before = std::mem::take(&mut self.planned);
        for turn in turns {
            // The list names a wake-up like a job, under an id that its own call did not report.
            let is_wake_up = |known: &&ScheduledTurn| {
                known.kind == ScheduleKind::WakeUp
                    && !turn.repeats
                    && is_same_time(known.next_at, turn.next_at)
            };
            let known = before.iter().find(|known| known.id == turn.id);
            match before.iter().find(is_wake_up) {
                Some(wake_up) => {
                    self.add(ScheduledTurn { prompt: turn.prompt.clone(), ..wake_up.clone() });
                }
                None => {
                    let item_id = known.and_then(|known| known.item_id.clone());
                    self.add(ScheduledTurn { item_id, ..turn.clone() });
                }
            }
        }
    }

    /// One of them began, with this prompt.
    pub fn on_woken(&mut self, by: WokenBy, prompt: &str, now: u64) {
        self.begun = Some(prompt.to_owned());
        match by {
            WokenBy::WakeUp => self.planned.retain(|known| known.kind != ScheduleKind::WakeUp),
            WokenBy::ScheduledJob => {
                let is_due = |known: &ScheduledTurn| {
                    known.kind == ScheduleKind::Job && known.next_at.is_some_and(|at| at <= now + EARLY_MS)
                };
                self.planned.retain(|known| known.repeats || !is_due(known));
                // The agent does not report when it runs again.
                for known in self.planned.iter_mut().filter(|known| is_due(known)) {
                    known.next_at = None;
                }
            }
        }
    }

    /// One of them has begun, and its turn has not ended.
    pub fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// The agent is done with a prompt, without a result.
    pub fn on_prompt_over(&mut self, prompt: &str) {
        self.begun.take_if(|begun| begun == prompt);
    }

    /// A turn has a result. Returns whether it was one of them.
    pub fn on_turn_end(&mut self) -> bool {
        self.begun.take().is_some()
    }

    /// They ended with their process.
    pub fn process_ended(&mut self) {
        *self = Self::default();
    }
}

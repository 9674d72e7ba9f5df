//! The current turn: its prompts, how far it is, how it was interrupted, and what it was waited for.

use crate::agent::{Assistant, ReplyError, TurnResult};
use crate::api::{Outcome, PromptId, TurnEnd, TurnTiming};
use crate::prompt::Prompt;
use crate::session::outcome;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunningTurn {
    /// The prompts that it answers; empty if the agent started it by itself.
    prompts: Vec<Prompt>,
    /// Prompts written into the turn but not yet accepted. They join it at its next step, or become the next turn.
    joining: Vec<Prompt>,
    /// By the wall clock.
    since: u64,
    /// By the clock for durations.
    began: u64,
    interrupting: bool,
    /// The user stopped it: prompts that were written into it but not accepted do not run either.
    halts: bool,
    /// The agent reported that it has accepted the prompts.
    has_begun: bool,
    /// The interrupt came before the turn began, and has to be sent again.
    interrupt_again: bool,
    is_given_back: bool,
    /// The prompt is a command that the agent runs only in a terminal.
    unavailable: bool,
    /// The error class of the last reply.
    reply_error: Option<ReplyError>,
    timing: TurnTiming,
}

/// The agent's report on a prompt that was written into the turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Joining {
    /// It is not about such a prompt, or says nothing new.
    Nothing,
    TakenUp,
    /// The agent gave it back because the user stopped the turn.
    GivenBack(Prompt),
    /// The agent dropped it.
    Dropped(Prompt),
}

/// A turn that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct EndedTurn {
    /// The prompts that it answered.
    pub prompts: Vec<Prompt>,
    /// Prompts that the agent has received and that this turn did not answer.
    pub sent: Vec<Prompt>,
    /// The user stopped it.
    pub halts: bool,
    duration_ms: u64,
    timing: TurnTiming,
}

impl EndedTurn {
    /// Describes the end without a cost: the agent reports it only with a `result`.
    pub fn describe(&self, outcome: Outcome, words: &str) -> TurnEnd {
        TurnEnd {
            outcome,
            words: words.to_owned(),
            prompt_ids: ids(&self.prompts),
            duration_ms: self.duration_ms,
            output_tokens: 0,
            cost_usd: None,
            tokens: None,
            timing: self.timing,
        }
    }
}

impl RunningTurn {
    /// `spawn_ms`: how long it waited for the process to be ready.
    pub fn new(prompts: Vec<Prompt>, now: u64, steady: u64, spawn_ms: Option<u64>) -> Self {
        let timing = TurnTiming { spawn_ms, ..TurnTiming::default() };
        Self { prompts, since: now, began: steady, timing, ..Self::default() }
    }

    /// Its prompts: the agent has them, and they have not ended.
    pub fn in_flight(&self) -> impl Iterator<Item = &Prompt> {
        self.prompts.iter().chain(&self.joining)
    }

    pub fn since(&self) -> u64 {
        self.since
    }

    /// The agent started it by itself.
    pub fn is_unasked(&self) -> bool {
        self.prompts.is_empty()
    }

    pub fn is_interrupting(&self) -> bool {
        self.interrupting
    }

    /// A prompt written now would join it.
    pub fn takes_prompts(&self) -> bool {
        self.has_begun && !self.interrupting
    }

    /// Adds a prompt that was written into it.
    pub fn join(&mut self, prompt: Prompt) {
        self.joining.push(prompt);
    }

    pub fn has_text(&self) -> bool {
        self.timing.first_text_ms.is_some()
    }

    /// Times a line of the agent. `has_text`: it has text for the user.
    pub fn on_line(&mut self, steady: u64, has_text: bool) {
        let waited = Some(steady.saturating_sub(self.began));
        self.timing.first_line_ms = self.timing.first_line_ms.or(waited);
        if has_text {
            self.timing.first_text_ms = self.timing.first_text_ms.or(waited);
        }
    }

    /// Notes what a reply says about how the turn ends.
    pub fn on_reply(&mut self, assistant: &Assistant) {
        self.unavailable |= assistant.unavailable_command.is_some();
        if assistant.parent_tool_use_id.is_none() && assistant.error.is_some() {
            self.reply_error = assistant.error;
        }
    }

    /// The agent has accepted the prompts. Returns whether an interrupt has to be sent again.
    pub fn on_begun(&mut self) -> bool {
        self.has_begun = true;
        std::mem::take(&mut self.interrupt_again)
    }

    /// The agent's report on a prompt that was written into it.
    pub fn on_lifecycle(&mut self, wire_id: &str, state: &str) -> Joining {
        match state {
            "started" => match self.take_joining(wire_id) {
                Some(prompt) => {
                    self.prompts.push(prompt);
                    Joining::TakenUp
                }
                None => Joining::Nothing,
            },
            // A prompt of its own that it had begun with was interrupted, and is not given back.
            "cancelled" if self.has_begun => self.not_taken_up(wire_id, Self::take_joining),
            "cancelled" => self.not_taken_up(wire_id, Self::take_back),
            _ => Joining::Nothing,
        }
    }

    fn not_taken_up(&mut self, wire_id: &str, take: impl Fn(&mut Self, &str) -> Option<Prompt>) -> Joining {
        match take(self, wire_id) {
            Some(prompt) if self.halts => Joining::GivenBack(prompt),
            Some(prompt) => Joining::Dropped(prompt),
            None => Joining::Nothing,
        }
    }

    /// Removes a prompt that was written into it and not accepted.
    pub fn take_joining(&mut self, wire_id: &str) -> Option<Prompt> {
        let at = self.joining.iter().position(|prompt| prompt.wire_id() == wire_id)?;
        Some(self.joining.remove(at))
    }

    /// Removes a prompt that the agent gave back, of those that were written into it or are its own. A turn that had begun
    /// goes on without it.
    pub fn take_back(&mut self, wire_id: &str) -> Option<Prompt> {
        if let Some(prompt) = self.take_joining(wire_id) {
            return Some(prompt);
        }
        let at = self.prompts.iter().position(|prompt| prompt.wire_id() == wire_id)?;
        let prompt = self.prompts.remove(at);
        self.is_given_back = self.prompts.is_empty() && !self.has_begun;
        Some(prompt)
    }

    /// The agent gave back all its prompts before it began: no result follows.
    pub fn is_given_back(&self) -> bool {
        self.is_given_back
    }

    /// The user stops it. `false`: that was known.
    pub fn on_halt(&mut self) -> bool {
        !std::mem::replace(&mut self.halts, true)
    }

    /// The wire ids of the prompts that were written into it but not accepted, last first: each goes to the front of the
    /// queue, so they keep their order.
    pub fn wire_ids_to_take_back(&self) -> Vec<String> {
        self.joining.iter().rev().map(Prompt::wire_id).collect()
    }

    /// The user interrupts it. `false`: that was known.
    pub fn on_interrupt(&mut self) -> bool {
        !std::mem::replace(&mut self.interrupting, true)
    }

    /// The answer to an interrupt: `is_queued` says whether a prompt is still in the agent's own queue. The interrupt
    /// has ended nothing then (2.1.329), and is sent again once the turn has begun. Returns whether that is now.
    pub fn on_interrupt_answered(&mut self, is_queued: impl Fn(&Prompt) -> bool) -> bool {
        let are_queued = |prompts: &[Prompt]| !prompts.is_empty() && prompts.iter().all(&is_queued);
        if !self.interrupting {
            return false;
        }
        if self.prompts.is_empty() {
            // This turn has no prompt. Either it ends with a result, or it was over without one and the prompts that
            // were written into it begin.
            self.interrupt_again = are_queued(&self.joining);
            return false;
        }
        let is_queued = are_queued(&self.prompts);
        if is_queued && self.has_begun {
            return true;
        }
        self.interrupt_again = is_queued;
        false
    }

    /// The outcome by the agent's `result`.
    pub fn outcome(&self, result: &TurnResult) -> Outcome {
        match outcome::of(result, self.interrupting, self.reply_error) {
            // The turn made no model call.
            Outcome::Done if self.unavailable && result.num_turns == 0 => Outcome::Unavailable,
            outcome => outcome,
        }
    }

    /// Ends it with the agent's `result`, for the prompts that the result answers. Returns the turn if it goes on: a turn
    /// without a prompt ended while its prompts are in the agent's own queue.
    pub fn on_result(self, steady: u64, result: &TurnResult) -> Result<EndedTurn, Box<Self>> {
        let answers = |prompt: &Prompt| outcome::answers(result, &prompt.wire_id());
        let names = |prompt: &Prompt| outcome::names(result, &prompt.wire_id());
        let goes_on =
            !self.prompts.is_empty() && !self.prompts.iter().any(answers) && !self.joining.iter().any(names);
        if goes_on {
            return Err(Box::new(self));
        }
        let ended = self.end(steady);
        let (mut prompts, mut sent): (Vec<_>, Vec<_>) = ended.prompts.into_iter().partition(answers);
        let (joined, joining): (Vec<_>, Vec<_>) = ended.sent.into_iter().partition(names);
        prompts.extend(joined);
        sent.extend(joining);
        Ok(EndedTurn { prompts, sent, ..ended })
    }

    /// Ends it.
    pub fn end(self, steady: u64) -> EndedTurn {
        EndedTurn {
            duration_ms: steady.saturating_sub(self.began),
            prompts: self.prompts,
            sent: self.joining,
            halts: self.halts,
            timing: self.timing,
        }
    }

    #[cfg(test)]
    pub fn timing(&self) -> TurnTiming {
        self.timing
    }
}

pub fn ids(prompts: &[Prompt]) -> Vec<PromptId> {
    prompts.iter().map(|prompt| prompt.id.clone()).collect()
}

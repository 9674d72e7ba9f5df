//! Turns: started by a prompt or by the agent itself, interrupted, and ended by the agent or with its process.

use super::*;
use crate::session::outcome;
use crate::wire::{Assistant, TurnResult};

/// The current turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Turn {
    /// The prompts that it answers; empty if the agent started it by itself.
    prompts: Vec<Prompt>,
    /// Prompts written into the turn but not yet accepted. They join it at its next step, or become the next turn.
    joining: Vec<Prompt>,
    since: u64,
    interrupting: bool,
    /// The user stopped it: prompts that were written into it but not accepted do not run either.
    halts: bool,
    /// The agent reported that it has accepted the prompts.
    has_begun: bool,
    /// The interrupt came before the turn began, and has to be sent again.
    interrupt_again: bool,
    /// The prompt is a command that the agent runs only in a terminal.
    unavailable: bool,
    /// The error class of the last reply.
    reply_error: Option<String>,
    timing: TurnTiming,
}

impl Turn {
    /// Its prompts: the agent has them, and they have not ended.
    pub(super) fn in_flight(&self) -> impl Iterator<Item = &Prompt> {
        self.prompts.iter().chain(&self.joining)
    }

    pub(super) fn since(&self) -> u64 {
        self.since
    }

    pub(super) fn is_interrupting(&self) -> bool {
        self.interrupting
    }

    /// A prompt written now would join it.
    pub(super) fn takes_prompts(&self) -> bool {
        self.has_begun && !self.interrupting
    }

    /// Adds a prompt that was written into it.
    pub(super) fn join(&mut self, prompt: Prompt) {
        self.joining.push(prompt);
    }

    /// Notes what a reply says about how the turn ends.
    pub(super) fn reply(&mut self, assistant: &Assistant) {
        self.unavailable |= assistant.unavailable_command().is_some();
        if assistant.parent_tool_use_id.is_none() && assistant.error.is_some() {
            self.reply_error.clone_from(&assistant.error);
        }
    }

    pub(super) fn has_text(&self) -> bool {
        self.timing.first_text_ms.is_some()
    }

    /// Times a line of the agent. `has_text`: it has text for the user.
    pub(super) fn time(&mut self, now: u64, has_text: bool) {
        let waited = Some(now.saturating_sub(self.since));
        self.timing.first_line_ms = self.timing.first_line_ms.or(waited);
        if has_text {
            self.timing.first_text_ms = self.timing.first_text_ms.or(waited);
        }
    }

    #[cfg(test)]
    pub(super) fn timing(&self) -> TurnTiming {
        self.timing
    }

    /// Removes a prompt that was written into it and not accepted.
    fn take_joining(&mut self, wire_id: &str) -> Option<Prompt> {
        let at = self.joining.iter().position(|prompt| prompt.wire_id() == wire_id)?;
        Some(self.joining.remove(at))
    }
}

impl Step<'_> {
    pub(super) fn begin(&mut self, prompts: Vec<Prompt>) {
        self.push(Effect::Disarm(Timer::Hibernate));
        self.emit(Event::TurnStarted { prompt_ids: ids(&prompts) });
        let timing = TurnTiming { spawn_ms: self.machine.spawn_ms.take(), ..TurnTiming::default() };
        self.machine.turn = Some(Turn { prompts, since: self.now, timing, ..Turn::default() });
        self.changed();
    }

    /// Starts a turn without a prompt: a background task woke the agent.
    pub(super) fn begin_unasked(&mut self) {
        if self.machine.turn.is_none() && self.machine.process == Process::Ready {
            self.begin(Vec::new());
        }
    }

    /// The agent reports that it is idle: a turn without a prompt ends without a result.
    pub(super) fn end_unasked(&mut self) {
        let Some(turn) = self.machine.turn.take_if(|turn| turn.prompts.is_empty()) else { return };
        self.push(Effect::Disarm(Timer::Interrupt));
        self.turn_ended(TurnEnd {
            outcome: Outcome::Done,
            words: "Done".to_owned(),
            prompt_ids: Vec::new(),
            duration_ms: self.now.saturating_sub(turn.since),
            output_tokens: 0,
            cost_usd: Some(0.0),
            timing: turn.timing,
        });
        self.go_on(turn.joining, turn.halts);
    }

    /// Continues after a turn. The agent starts the next turn at once with the prompts it has already received
    /// (`sent`). `halts`: the user stopped the last turn, so this one is interrupted at once.
    fn go_on(&mut self, sent: Vec<Prompt>, halts: bool) {
        if sent.is_empty() {
            return self.advance();
        }
        self.begin(sent);
        if halts {
            self.halt();
        }
    }

    /// The agent has accepted the prompts of the turn.
    pub(super) fn turn_begun(&mut self) {
        let Some(turn) = &mut self.machine.turn else { return };
        turn.has_begun = true;
        if std::mem::take(&mut turn.interrupt_again) {
            self.ask_interrupt();
        }
        self.changed();
        self.join();
    }

    /// Handles the agent's report on a prompt that was written into the turn.
    pub(super) fn lifecycle(&mut self, wire_id: &str, state: &str) {
        let Some(turn) = &mut self.machine.turn else { return };
        let Some(at) = turn.joining.iter().position(|prompt| prompt.wire_id() == wire_id) else { return };
        match state {
            "started" => {
                let prompt = turn.joining.remove(at);
                turn.prompts.push(prompt);
            }
            "cancelled" => {
                if turn.halts {
                    return self.taken_back(wire_id);
                }
                let prompt = turn.joining.remove(at);
                self.notice(
                    Level::Warning,
                    "The agent did not take up a prompt that was sent into the turn.",
                    None,
                );
                self.offer_again(vec![prompt], false);
            }
            _ => return,
        }
        self.save();
        self.changed();
    }

    /// The agent gave back a prompt that was written into the turn: it returns to the queue.
    pub(super) fn taken_back(&mut self, wire_id: &str) {
        let turn = self.machine.turn.as_mut();
        let Some(prompt) = turn.and_then(|turn| turn.take_joining(wire_id)) else { return };
        self.offer_again(vec![prompt], false);
        self.save();
        self.changed();
    }

    /// Puts prompts back at the front of the queue, held until the user sends them.
    fn offer_again(&mut self, prompts: Vec<Prompt>, cut_off: bool) {
        for prompt in &prompts {
            self.prompt_state(&prompt.id, PromptState::Held);
        }
        self.machine.queue.put_back(prompts, cut_off);
    }

    pub(super) fn turn_ended(&mut self, turn: TurnEnd) {
        self.watch_turn_over();
        self.saves |= self.machine.queue.turn_ended();
        self.note(TranscriptEvent::TurnEnded(turn.clone()));
        self.emit(Event::TurnEnded { turn });
        self.changed();
    }

    pub(super) fn cost_changed(&mut self) {
        self.machine.usage.cost_usd = self.machine.cost.total_dollars();
        self.changed();
    }

    pub(super) fn result(&mut self, result: &TurnResult) {
        let Some(mut turn) = self.machine.turn.take() else {
            return self.result_without_turn(result);
        };
        let (mut ended, mut sent): (Vec<_>, Vec<_>) = std::mem::take(&mut turn.prompts)
            .into_iter()
            .partition(|prompt| outcome::answers(result, &prompt.wire_id()));
        let (joined, joining): (Vec<_>, Vec<_>) = std::mem::take(&mut turn.joining)
            .into_iter()
            .partition(|prompt| outcome::names(result, &prompt.wire_id()));
        if ended.is_empty() && joined.is_empty() && !sent.is_empty() {
            // A turn without a prompt ended while our prompts are in the agent's own queue.
            let is_ours = turn.interrupting && outcome::of(result, true, None) == Outcome::Interrupted;
            self.machine.turn = Some(Turn { prompts: sent, joining, ..turn });
            if is_ours {
                // The interrupt for our turn ended the other one instead.
                self.ask_interrupt();
            }
            return;
        }
        ended.extend(joined);
        sent.extend(joining);
        let outcome = match outcome::of(result, turn.interrupting, turn.reply_error.as_deref()) {
            // The turn made no model call.
            Outcome::Done if turn.unavailable && result.num_turns == 0 => Outcome::Unavailable,
            outcome => outcome,
        };
        let failed = !matches!(outcome, Outcome::Done | Outcome::Unavailable | Outcome::Interrupted);
        let words = outcome::words(&outcome, result);
        let cost_usd = self.machine.cost.heard(result.total_cost_usd);
        self.cost_changed();
        let output_tokens = result.usage.as_ref().map_or(0, |usage| usage.output_tokens);
        self.machine.usage.output_tokens += output_tokens;
        let window = result.context_window(self.machine.model.as_deref());
        self.machine.usage.context_window = window.or(self.machine.usage.context_window);
        if let Some(id) = result.session_id.clone().filter(|id| is_conversation_id(id)) {
            self.machine.agent_session_id = Some(id);
            self.machine.resumable = true;
        }
        for prompt in &ended {
            self.prompt_state(&prompt.id, if failed { PromptState::Failed } else { PromptState::Done });
        }
        // A command that is not available needs no attention: the session keeps its last result.
        if outcome != Outcome::Unavailable {
            self.machine.last_result =
                if failed { LastResult::Failed(words.clone()) } else { LastResult::Completed };
        }
        self.turn_ended(TurnEnd {
            outcome,
            words,
            prompt_ids: ids(&ended),
            duration_ms: self.now.saturating_sub(turn.since),
            output_tokens,
            cost_usd,
            timing: turn.timing,
        });
        self.push(Effect::Disarm(Timer::Interrupt));
        self.save();
        self.go_on(sent, turn.halts);
    }

    /// A result before any turn: the agent reports why it cannot start, and exits.
    pub(super) fn result_without_turn(&mut self, result: &TurnResult) {
        let Some(words) = result.words().filter(|_| result.is_error) else { return };
        if self.machine.process == Process::Ready {
            return;
        }
        if self.machine.started.resume.is_some() && words.contains("No conversation found") {
            self.machine.agent_session_id = None;
            self.machine.resumable = false;
            self.machine.usage.context_tokens = 0;
            self.machine.cost.process_starts(false);
            self.save();
            self.hold_queue();
            self.notice(
                Level::Warning,
                "The agent no longer has this conversation. Your next prompt starts a new one, in which the \
                 agent does not know the messages above. Queued prompts wait until you send them.",
                Some(words),
            );
        } else {
            self.machine.start_error = Some(words);
        }
    }

    /// The agent reports an error of its own. It ends the turn, because no `result` follows.
    pub(super) fn error_line(&mut self, words: &str) {
        let first = words.lines().next().unwrap_or_default().trim();
        let first: String = first.chars().take(300).collect();
        let Some(turn) = self.machine.turn.take() else {
            if self.machine.process == Process::Starting {
                self.machine.start_error = Some(first);
            }
            return self.notice(Level::Error, "The agent reported an error.", Some(words.to_owned()));
        };
        if first != words {
            // The end of a turn shows only one line.
            self.notice(Level::Error, "The agent reported an error.", Some(words.to_owned()));
        }
        for prompt in &turn.prompts {
            self.prompt_state(&prompt.id, PromptState::Failed);
        }
        self.machine.last_result = LastResult::Failed(first.clone());
        self.push(Effect::Disarm(Timer::Interrupt));
        self.turn_ended(TurnEnd {
            outcome: Outcome::Failed,
            words: first,
            prompt_ids: ids(&turn.prompts),
            duration_ms: self.now.saturating_sub(turn.since),
            output_tokens: 0,
            // The agent did not report the cost.
            cost_usd: None,
            timing: turn.timing,
        });
        self.save();
        self.go_on(turn.joining, turn.halts);
    }

    /// Ends the turn when its process has ended. Its prompts are offered again, and never sent again automatically.
    pub(super) fn cut_off(&mut self, after: AfterExit, words: &str) {
        let Some(turn) = self.machine.turn.take() else { return };
        let outcome = match after {
            AfterExit::Stay => Outcome::Interrupted,
            AfterExit::Restart if turn.interrupting => Outcome::Interrupted,
            _ => Outcome::Crashed,
        };
        let prompt_ids = ids(&turn.prompts);
        let mut cut_off = turn.joining;
        if outcome == Outcome::Interrupted && after == AfterExit::Restart {
            // The user ended this turn; the agent had to be stopped to do so.
            for id in &prompt_ids {
                self.prompt_state(id, PromptState::Done);
            }
        } else {
            cut_off.splice(0..0, turn.prompts);
        }
        self.offer_again(cut_off, true);
        self.turn_ended(TurnEnd {
            outcome,
            words: words.to_owned(),
            prompt_ids,
            duration_ms: self.now.saturating_sub(turn.since),
            output_tokens: 0,
            // The agent did not report the cost.
            cost_usd: None,
            timing: turn.timing,
        });
    }

    /// Interrupts the turn and holds all waiting prompts: nothing runs until the user says so.
    pub(super) fn halt(&mut self) {
        self.hold_what_follows();
        self.interrupt();
    }

    /// Holds the prompts that would run after this turn.
    pub(super) fn hold_what_follows(&mut self) {
        if !self.machine.queue.is_held() {
            self.hold_queue();
            self.save();
            self.changed();
        }
        self.take_back_joining();
    }

    /// Asks the agent to give back prompts that were written into the turn but not accepted. Otherwise they become the
    /// next turn.
    fn take_back_joining(&mut self) {
        let listens = self.listens();
        let Some(turn) = &mut self.machine.turn else { return };
        if std::mem::replace(&mut turn.halts, true) || !listens {
            return;
        }
        // Last first: each goes to the front of the queue, so they keep their order.
        let joining: Vec<String> = turn.joining.iter().rev().map(Prompt::wire_id).collect();
        for wire_id in joining {
            let request = wire::cancel_prompt(&wire_id);
            self.ask(PendingRequest::CancelPrompt(wire_id), request);
        }
    }

    /// Interrupts the turn; the queue continues.
    pub(super) fn interrupt(&mut self) {
        // Without a turn this does nothing: it may have ended a moment ago, which is no error.
        if let Some(turn) = &mut self.machine.turn
            && !turn.interrupting
            && self.machine.process == Process::Ready
        {
            turn.interrupting = true;
            self.ask_interrupt();
            let at = self.now + self.machine.timeouts.interrupt_ms;
            self.push(Effect::Arm { timer: Timer::Interrupt, at });
            self.changed();
        }
    }

    pub(super) fn ask_interrupt(&mut self) {
        if self.listens() {
            self.ask(PendingRequest::Interrupt, wire::interrupt());
        }
    }

    /// Handles the answer to an interrupt. An interrupt sent right after a prompt may find it still in the agent's own
    /// queue. It then ends nothing (2.1.329) and is sent again once the turn has begun.
    pub(super) fn interrupt_answered(&mut self, response: &Value) {
        let Some(turn) = self.machine.turn.as_mut().filter(|turn| turn.interrupting) else { return };
        let queued = response.get("still_queued").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_queued = |prompt: &Prompt| queued.iter().any(|uuid| *uuid == *prompt.wire_id());
        let are_queued = |prompts: &[Prompt]| !prompts.is_empty() && prompts.iter().all(is_queued);
        if turn.prompts.is_empty() {
            // This turn has no prompt. Either it ends with a result, or it was over without one and the prompts that
            // were written into it begin.
            turn.interrupt_again = are_queued(&turn.joining);
        } else if are_queued(&turn.prompts) && turn.has_begun {
            self.ask_interrupt();
        } else {
            turn.interrupt_again = are_queued(&turn.prompts);
        }
    }
}

fn ids(prompts: &[Prompt]) -> Vec<PromptId> {
    prompts.iter().map(|prompt| prompt.id.clone()).collect()
}

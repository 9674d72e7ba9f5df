//! Turns: begun by a prompt or by nobody, interrupted, and ended as the agent says, or with its process.

use super::*;
use crate::session::outcome;
use crate::wire::TurnResult;

impl Step<'_> {
    pub(super) fn begin(&mut self, prompts: Vec<Prompt>) {
        self.push(Effect::Disarm(Timer::Hibernate));
        self.emit(Event::TurnStarted { prompt_ids: ids(&prompts) });
        let timing = TurnTiming { spawn_ms: self.machine.spawn_ms.take(), ..TurnTiming::default() };
        self.machine.turn = Some(Turn { prompts, since: self.now, timing, ..Turn::default() });
        self.changed();
    }

    /// A turn that nobody asked for: a background task woke the agent.
    pub(super) fn begin_unasked(&mut self) {
        if self.machine.turn.is_none() && self.machine.process == Process::Ready {
            self.begin(Vec::new());
        }
    }

    /// The agent says that nothing runs: what began unasked came to nothing, and has no result.
    pub(super) fn end_unasked(&mut self) {
        let Some(turn) = self.machine.turn.take_if(|turn| turn.prompts.is_empty()) else { return };
        self.push(Effect::Disarm(Timer::Interrupt));
        self.turn_ended(TurnEnd {
            outcome: Outcome::Done,
            words: "Done".to_owned(),
            prompt_ids: Vec::new(),
            duration_ms: self.now.saturating_sub(turn.since),
            output_tokens: 0,
            cost_usd: 0.0,
            timing: turn.timing,
        });
        self.go_on(turn.joining);
    }

    /// The turn is over. The agent begins the next one at once with what it was sent in the meantime.
    fn go_on(&mut self, sent: Vec<Prompt>) {
        if sent.is_empty() {
            self.advance();
        } else {
            self.begin(sent);
        }
    }

    /// The agent took up the prompts.
    pub(super) fn turn_begun(&mut self) {
        let Some(turn) = &mut self.machine.turn else { return };
        turn.has_begun = true;
        if std::mem::take(&mut turn.interrupt_again) {
            self.ask_interrupt();
        }
        self.changed();
        self.join();
    }

    /// What becomes of a prompt that was written into the turn.
    pub(super) fn lifecycle(&mut self, wire_id: &str, state: &str) {
        let Some(turn) = &mut self.machine.turn else { return };
        let Some(at) = turn.joining.iter().position(|prompt| prompt.wire_id() == wire_id) else { return };
        match state {
            "started" => {
                let prompt = turn.joining.remove(at);
                turn.prompts.push(prompt);
            }
            "cancelled" => {
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

    /// Puts prompts that were sent back in front of the queue, to go when the user says so.
    fn offer_again(&mut self, prompts: Vec<Prompt>, cut_off: bool) {
        for prompt in &prompts {
            self.prompt_state(&prompt.id, PromptState::Held);
        }
        for mut prompt in prompts.into_iter().rev() {
            prompt.hold();
            prompt.cut_off |= cut_off;
            self.machine.queue.push_front(prompt);
        }
    }

    pub(super) fn turn_ended(&mut self, turn: TurnEnd) {
        self.watch_turn_over();
        // The turn they were meant for is over: they go in their order.
        for prompt in self.machine.queue.iter_mut().filter(|prompt| prompt.delivery == Delivery::IntoTurn) {
            prompt.delivery = Delivery::AfterTurn;
            self.saves = true;
        }
        self.note(Note::TurnEnded(turn.clone()));
        self.emit(Event::TurnEnded { turn });
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
            // A turn that nobody asked for ended while our prompts wait their turn in the agent.
            let is_ours = turn.interrupting && outcome::of(result, true, None) == Outcome::Interrupted;
            self.machine.turn = Some(Turn { prompts: sent, joining, ..turn });
            if is_ours {
                // It took the interrupt that was meant for ours.
                self.ask_interrupt();
            }
            return;
        }
        ended.extend(joined);
        sent.extend(joining);
        let outcome = outcome::of(result, turn.interrupting, turn.reply_error.as_deref());
        let failed = !matches!(outcome, Outcome::Done | Outcome::Interrupted);
        let words = outcome::words(&outcome, result);
        let cost_usd = (result.total_cost_usd - self.machine.usage.cost_usd).max(0.0);
        let output_tokens = result.usage.as_ref().map_or(0, |usage| usage.output_tokens);
        self.machine.usage.cost_usd = self.machine.usage.cost_usd.max(result.total_cost_usd);
        self.machine.usage.output_tokens += output_tokens;
        let window = result.context_window(self.machine.model.as_deref());
        self.machine.usage.context_window = window.or(self.machine.usage.context_window);
        if let Some(id) = result.session_id.clone().filter(|id| !id.is_empty()) {
            self.machine.agent_session_id = Some(id);
            self.machine.resumable = true;
        }
        for prompt in &ended {
            self.prompt_state(&prompt.id, if failed { PromptState::Failed } else { PromptState::Done });
        }
        self.machine.verdict = if failed { Verdict::Failed(words.clone()) } else { Verdict::Completed };
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
        self.go_on(sent);
    }

    /// Before any turn: the agent says why it cannot begin, and ends.
    pub(super) fn result_without_turn(&mut self, result: &TurnResult) {
        let Some(words) = result.words().filter(|_| result.is_error) else { return };
        if self.machine.process == Process::Ready {
            return;
        }
        if self.machine.started.resume.is_some() && words.contains("No conversation found") {
            self.machine.agent_session_id = None;
            self.machine.resumable = false;
            self.save();
            self.hold_queue();
            self.notice(
                Level::Warning,
                "The agent does not know this conversation any more. The next prompt begins a new one, in which the \
                 agent does not know what is above; what waited is held until you send it.",
                Some(words),
            );
        } else {
            self.machine.start_error = Some(words);
        }
    }

    /// Ends the turn that the process took with it. Its prompts are offered again, never sent again by themselves.
    pub(super) fn cut_off(&mut self, then: Then, words: &str) {
        let Some(turn) = self.machine.turn.take() else { return };
        let outcome = match then {
            Then::Stay => Outcome::Interrupted,
            Then::Restart if turn.interrupting => Outcome::Interrupted,
            _ => Outcome::Crashed,
        };
        let prompt_ids = ids(&turn.prompts);
        let mut cut_off = turn.joining;
        if outcome == Outcome::Interrupted && then == Then::Restart {
            // The user ended this turn; only the agent took a harder push to do so.
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
            cost_usd: 0.0,
            timing: turn.timing,
        });
    }

    pub(super) fn interrupt(&mut self) {
        // Without a turn there is nothing to end: it may have ended a moment ago, which is no error.
        if let Some(turn) = &mut self.machine.turn
            && !turn.interrupting
            && self.machine.process == Process::Ready
        {
            turn.interrupting = true;
            self.ask_interrupt();
            let at = self.now + self.machine.limits.interrupt_ms;
            self.push(Effect::Arm { timer: Timer::Interrupt, at });
            self.changed();
        } else if self.machine.turn.is_none() && self.machine.process != Process::Ready {
            self.hold_next();
        }
    }

    pub(super) fn ask_interrupt(&mut self) {
        if self.listens() {
            self.ask(Asked::Interrupt, wire::interrupt());
        }
    }

    /// An interrupt right behind a prompt can find it still in the agent's own queue, and then ends nothing (2.1.329): it
    /// is given again once the turn has begun.
    pub(super) fn interrupt_answered(&mut self, response: &Value) {
        let Some(turn) = self.machine.turn.as_mut().filter(|turn| turn.interrupting) else { return };
        let queued = response.get("still_queued").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_queued = |prompt: &Prompt| queued.iter().any(|uuid| *uuid == *prompt.wire_id());
        let are_queued = |prompts: &[Prompt]| !prompts.is_empty() && prompts.iter().all(is_queued);
        if turn.prompts.is_empty() {
            // Nobody asked for this turn: either it ends with a result, or it was over without one, and what was
            // written into it begins.
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

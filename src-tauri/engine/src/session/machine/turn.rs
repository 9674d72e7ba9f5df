//! Turns: begun by a prompt or by nobody, interrupted, and ended as the agent says, or with its process.

use super::*;
use crate::session::outcome;
use crate::wire::TurnResult;

impl Step<'_> {
    pub(super) fn begin(&mut self, prompt: Option<Prompt>) {
        self.push(Effect::Disarm(Timer::Hibernate));
        let prompt_ids = prompt.iter().map(|prompt| prompt.id.clone()).collect();
        self.emit(Event::TurnStarted { prompt_ids });
        self.machine.turn = Turn::Running { prompt, since: self.now, interrupting: false };
        self.machine.has_begun = false;
        self.machine.interrupt_again = false;
        self.machine.reply_error = None;
        self.changed();
    }

    /// A turn that nobody asked for: a background task woke the agent.
    pub(super) fn begin_unasked(&mut self) {
        if self.machine.turn == Turn::None && self.machine.process == Process::Ready {
            self.begin(None);
        }
    }

    /// The agent says that nothing runs: what began unasked came to nothing, and has no result.
    pub(super) fn end_unasked(&mut self) {
        let Turn::Running { prompt: None, since, .. } = self.machine.turn else { return };
        self.machine.turn = Turn::None;
        self.push(Effect::Disarm(Timer::Interrupt));
        self.turn_ended(TurnEnd {
            outcome: Outcome::Done,
            words: "Done".to_owned(),
            prompt_ids: Vec::new(),
            duration_ms: self.now.saturating_sub(since),
            output_tokens: 0,
            cost_usd: 0.0,
        });
        self.advance();
    }

    /// The agent took up the prompt.
    pub(super) fn turn_begun(&mut self) {
        self.machine.has_begun = true;
        if std::mem::take(&mut self.machine.interrupt_again) {
            self.ask_interrupt();
        }
    }

    pub(super) fn turn_ended(&mut self, turn: TurnEnd) {
        self.note(Note::TurnEnded(turn.clone()));
        self.emit(Event::TurnEnded { turn });
        self.changed();
    }

    pub(super) fn result(&mut self, result: &TurnResult) {
        let Turn::Running { prompt, since, interrupting } = self.machine.turn.clone() else {
            return self.result_without_turn(result);
        };
        // A turn that nobody asked for may end while our prompt waits its turn in the agent.
        if let Some(prompt) = &prompt
            && !outcome::answers(result, prompt.id.as_str())
        {
            if interrupting && outcome::of(result, true, None) == Outcome::Interrupted {
                // The other turn took the interrupt that was meant for ours.
                self.ask_interrupt();
            }
            return;
        }
        let outcome = outcome::of(result, interrupting, self.machine.reply_error.take().as_deref());
        let failed = !matches!(outcome, Outcome::Done | Outcome::Interrupted);
        let words = outcome::words(&outcome, result);
        let cost_usd = (result.total_cost_usd - self.machine.usage.cost_usd).max(0.0);
        let output_tokens = result.usage.as_ref().map_or(0, |usage| usage.output_tokens);
        self.machine.usage.cost_usd = self.machine.usage.cost_usd.max(result.total_cost_usd);
        self.machine.usage.output_tokens += output_tokens;
        self.machine.usage.context_window = result.context_window().or(self.machine.usage.context_window);
        if let Some(id) = result.session_id.clone().filter(|id| !id.is_empty()) {
            self.machine.agent_session_id = Some(id);
            self.machine.resumable = true;
        }
        let turn = TurnEnd {
            outcome,
            words: words.clone(),
            prompt_ids: prompt.iter().map(|prompt| prompt.id.clone()).collect(),
            duration_ms: self.now.saturating_sub(since),
            output_tokens,
            cost_usd,
        };
        if let Some(prompt) = &prompt {
            self.prompt_state(&prompt.id, if failed { PromptState::Failed } else { PromptState::Done });
        }
        self.machine.turn = Turn::None;
        self.machine.verdict = if failed { Verdict::Failed(words) } else { Verdict::Completed };
        self.turn_ended(turn);
        self.push(Effect::Disarm(Timer::Interrupt));
        self.push(Effect::Save(None));
        self.advance();
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
            self.push(Effect::Save(None));
            self.notice(
                Level::Warning,
                "The agent does not know this conversation any more; it starts afresh and does not know what is above.",
                Some(words),
            );
        } else {
            self.machine.start_error = Some(words);
        }
    }

    /// Ends the turn that the process took with it. Its prompt is offered again, never sent again by itself.
    pub(super) fn cut_off(&mut self, then: Then, words: &str) {
        let Turn::Running { prompt, since, interrupting } =
            std::mem::replace(&mut self.machine.turn, Turn::None)
        else {
            return;
        };
        let outcome = match then {
            Then::Stay => Outcome::Interrupted,
            Then::Restart if interrupting => Outcome::Interrupted,
            _ => Outcome::Crashed,
        };
        let prompt_ids = prompt.iter().map(|prompt| prompt.id.clone()).collect();
        if let Some(prompt) = prompt {
            if outcome == Outcome::Interrupted && then == Then::Restart {
                // The user ended this turn; only the agent took a harder push to do so.
                self.prompt_state(&prompt.id, PromptState::Done);
            } else {
                self.prompt_state(&prompt.id, PromptState::Held);
                self.machine.queue.push_front(Prompt { held: true, ..prompt });
            }
        }
        let turn = TurnEnd {
            outcome,
            words: words.to_owned(),
            prompt_ids,
            duration_ms: self.now.saturating_sub(since),
            output_tokens: 0,
            cost_usd: 0.0,
        };
        self.turn_ended(turn);
    }

    pub(super) fn interrupt(&mut self) {
        // Without a turn there is nothing to end: it may have ended a moment ago, which is no error.
        if let Turn::Running { interrupting, .. } = &mut self.machine.turn
            && !*interrupting
            && self.machine.process == Process::Ready
        {
            *interrupting = true;
            self.ask_interrupt();
            let at = self.now + self.machine.limits.interrupt_ms;
            self.push(Effect::Arm { timer: Timer::Interrupt, at });
            self.changed();
        } else if self.machine.turn == Turn::None && self.machine.process != Process::Ready {
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
        let Turn::Running { prompt: Some(prompt), interrupting: true, .. } = &self.machine.turn else {
            return;
        };
        let queued = response.get("still_queued").and_then(Value::as_array);
        let missed = queued.is_some_and(|uuids| uuids.iter().any(|uuid| uuid == prompt.id.as_str()));
        if missed && self.machine.has_begun {
            self.ask_interrupt();
        } else {
            self.machine.interrupt_again = missed;
        }
    }
}

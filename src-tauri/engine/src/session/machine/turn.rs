//! Turns: started by a prompt or by the agent itself, interrupted, and ended by the agent or with its process.

use super::parts::spending::tokens_of_turn;
use super::parts::turn::{Joining, ids};
use super::*;
use crate::agent::TurnResult;
use crate::excerpt::excerpt;
use crate::session::outcome;

impl Step<'_> {
    pub(super) fn begin(&mut self, prompts: Vec<Prompt>) {
        self.push(Effect::Disarm(Timer::Hibernate));
        self.emit(Event::TurnStarted { prompt_ids: ids(&prompts) });
        self.rewind_outdated();
        self.machine.background.turn_begun();
        let spawn_ms = self.machine.process.take_spawn_ms();
        self.machine.turn = Some(RunningTurn::new(prompts, self.now, self.steady(), spawn_ms));
        self.changed();
    }

    /// Starts a turn without a prompt: a background task, a monitor or a scheduled turn woke the agent. For the others
    /// the transcript has said it.
    pub(super) fn begin_unasked(&mut self) {
        if self.machine.turn.is_none() && self.machine.process.is_ready() {
            let waker = self.machine.background.waker().filter(|_| !self.machine.schedules.has_begun());
            // A message may have done it, which its item says.
            let waker = waker.filter(|_| !self.receives_messages());
            if let Some(words) = waker {
                self.notice(Level::Info, words, None);
            }
            self.begin(Vec::new());
        }
    }

    /// The agent reports that it is idle: a turn without a prompt ends without a result.
    pub(super) fn end_unasked(&mut self) {
        let Some(turn) = self.machine.turn.take_if(|turn| turn.is_unasked()) else { return };
        let ended = turn.end(self.steady());
        self.push(Effect::Disarm(Timer::Interrupt));
        self.turn_ended(TurnEnd { cost_usd: Some(0.0), ..ended.describe(Outcome::Done, "Done") });
        self.go_on(ended.sent, ended.halts);
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
        if turn.on_begun() {
            self.ask_interrupt();
        }
        self.changed();
        self.join();
    }

    /// Handles the agent's report on a prompt that was written into the turn.
    pub(super) fn lifecycle(&mut self, wire_id: &str, state: &str) {
        let Some(turn) = &mut self.machine.turn else { return };
        match turn.on_lifecycle(wire_id, state) {
            Joining::Nothing => return,
            Joining::TakenUp => {}
            Joining::GivenBack(prompt) => self.offer_again(vec![prompt], false),
            Joining::Dropped(prompt) => {
                self.notice(
                    Level::Warning,
                    "The agent did not take up a prompt that was sent into the turn.",
                    None,
                );
                self.offer_again(vec![prompt], false);
            }
        }
        self.save();
        self.changed();
        self.end_given_back();
    }

    /// The agent gave back a prompt before it began with it: it returns to the queue.
    pub(super) fn taken_back(&mut self, wire_id: &str) {
        let turn = self.machine.turn.as_mut();
        let Some(prompt) = turn.and_then(|turn| turn.take_back(wire_id)) else { return };
        self.offer_again(vec![prompt], false);
        self.save();
        self.changed();
        self.end_given_back();
    }

    /// Ends a turn that never begins, because the agent gave back its prompts: a turn had ended before the agent read
    /// that they were cancelled, so they counted as the next one.
    fn end_given_back(&mut self) {
        let Some(turn) = self.machine.turn.take_if(|turn| turn.is_given_back()) else { return };
        let ended = turn.end(self.steady());
        self.push(Effect::Disarm(Timer::Interrupt));
        self.turn_ended(TurnEnd {
            cost_usd: Some(0.0),
            ..ended.describe(Outcome::Interrupted, "Interrupted")
        });
        self.go_on(ended.sent, ended.halts);
    }

    /// Puts prompts back at the front of the queue, held until the user sends them.
    fn offer_again(&mut self, prompts: Vec<Prompt>, cut_off: bool) {
        for prompt in &prompts {
            self.prompt_state(&prompt.id, PromptState::Held);
        }
        self.machine.queue.put_back(prompts, cut_off);
    }

    pub(super) fn turn_ended(&mut self, turn: TurnEnd) {
        self.machine.audit.on_turn_ended();
        self.machine.last_result.on_turn_ended(&turn);
        self.saves |= self.machine.queue.turn_ended();
        let closed = self.machine.requests.on_turn_end();
        self.resolved(closed);
        self.note(TranscriptEvent::TurnEnded(turn.clone()));
        self.emit(Event::TurnEnded { turn });
        self.changed();
    }

    pub(super) fn result(&mut self, result: &TurnResult) {
        // The result of a scheduled job or a wake-up names neither an origin nor a prompt (2.1.329). A prompt that was
        // written meanwhile is the next turn.
        let is_woken = self.machine.schedules.on_turn_end();
        let result = &TurnResult { is_unasked: result.is_unasked || is_woken, ..result.clone() };
        let Some(turn) = self.machine.turn.take() else {
            return self.result_without_turn(result);
        };
        let outcome = match turn.outcome(result) {
            // To log in would not help: the API refused the key.
            Outcome::NotLoggedIn
                if self.machine.capabilities.has_api_key() && result.api_error_status.is_some() =>
            {
                Outcome::ApiError { status: result.api_error_status }
            }
            outcome => outcome,
        };
        let is_interrupting = turn.is_interrupting();
        let ended = match turn.on_result(self.steady(), result) {
            Ok(ended) => ended,
            Err(turn) => {
                self.machine.turn = Some(*turn);
                if is_interrupting && outcome::of(result, true, None) == Outcome::Interrupted {
                    // The interrupt for our turn ended the other one instead.
                    self.ask_interrupt();
                }
                return;
            }
        };
        let is_limited = outcome == Outcome::RateLimited;
        let failed = !matches!(outcome, Outcome::Done | Outcome::Unavailable | Outcome::Interrupted);
        let mut words = outcome::words(&outcome, result, &self.machine.process.started().options);
        if outcome == Outcome::Interrupted {
            words.push_str(&self.machine.background.going_on());
        }
        let spent = self.machine.spending.on_result(self.now, result, self.machine.options.model());
        self.machine.conversation.on_result(result.session_id.as_deref());
        for prompt in &ended.prompts {
            self.prompt_state(&prompt.id, if failed { PromptState::Failed } else { PromptState::Done });
        }
        let tokens = tokens_of_turn(result).or_else(|| spent.and_then(|spent| spent.tokens));
        // `usage` lacks subagents and compactions (2.1.329).
        let of_usage = || result.usage.as_ref().map_or(0, |usage| usage.output_tokens);
        self.turn_ended(TurnEnd {
            output_tokens: tokens.map_or_else(of_usage, |tokens| tokens.output),
            cost_usd: spent.map(|spent| spent.cost.dollars()),
            tokens,
            ..ended.describe(outcome, &words)
        });
        self.push(Effect::Disarm(Timer::Interrupt));
        if is_limited {
            // The next ones would fail in the same way, one after the other.
            self.hold_queue();
        }
        self.save();
        self.go_on(ended.sent, ended.halts);
    }

    /// A result before any turn: the agent reports why it cannot start, and exits.
    pub(super) fn result_without_turn(&mut self, result: &TurnResult) {
        let Some(words) = result.words.clone().filter(|_| result.is_error) else { return };
        if self.machine.process.is_ready() {
            return;
        }
        if self.machine.process.started().resume.is_some() && result.is_conversation_lost {
            self.past_is_missing("The agent no longer has them.");
            self.machine.conversation.on_lost();
            self.machine.spending.on_lost();
            self.machine.context.on_cleared();
            // An undo would lead back to it.
            self.rewind_outdated();
            self.save();
            self.hold_queue();
            self.notice(
                Level::Warning,
                "The agent no longer has this conversation. Your next prompt starts a new one, in which the \
                 agent does not know the messages above. Queued prompts wait until you send them.",
                Some(words),
            );
        } else {
            if self.machine.process.started().fork.is_some() {
                // Another attempt would fail in the same way, and the prompts must go into no other conversation.
                self.hold_queue();
            }
            self.machine.process.on_start_error(words);
        }
    }

    /// The agent reports an error of its own. It ends the turn, because no `result` follows.
    pub(super) fn error_line(&mut self, words: &str) {
        let first = words.lines().next().unwrap_or_default().trim();
        let first = excerpt(first, 300);
        let Some(turn) = self.machine.turn.take() else {
            if self.machine.process.is_starting() {
                self.machine.process.on_start_error(first);
            }
            return self.notice(Level::Error, "The agent reported an error.", Some(words.to_owned()));
        };
        if first != words {
            // The end of a turn shows only one line.
            self.notice(Level::Error, "The agent reported an error.", Some(words.to_owned()));
        }
        let ended = turn.end(self.steady());
        for prompt in &ended.prompts {
            self.prompt_state(&prompt.id, PromptState::Failed);
        }
        self.push(Effect::Disarm(Timer::Interrupt));
        self.turn_ended(ended.describe(Outcome::Failed, &first));
        self.save();
        self.go_on(ended.sent, ended.halts);
    }

    /// Ends the turn when its process has ended. Its prompts are offered again, and never sent again automatically.
    pub(super) fn cut_off(&mut self, after: AfterExit, words: &str) {
        let Some(turn) = self.machine.turn.take() else { return };
        let outcome = match after {
            AfterExit::Stay => Outcome::Interrupted,
            AfterExit::Restart if turn.is_interrupting() => Outcome::Interrupted,
            _ => Outcome::Crashed,
        };
        let ended = turn.end(self.steady());
        let end = ended.describe(outcome.clone(), words);
        let mut cut_off = ended.sent;
        if outcome == Outcome::Interrupted && after == AfterExit::Restart {
            // The user ended this turn; the agent had to be stopped to do so.
            for id in &end.prompt_ids {
                self.prompt_state(id, PromptState::Done);
            }
        } else {
            cut_off.splice(0..0, ended.prompts);
        }
        self.offer_again(cut_off, true);
        self.turn_ended(end);
    }

    /// Interrupts the turn and holds all waiting prompts: nothing runs until the user says so.
    pub(super) fn halt(&mut self) {
        self.hold_what_follows();
        self.interrupt();
    }

    /// Holds the prompts that would run after this turn.
    pub(super) fn hold_what_follows(&mut self) {
        if !self.machine.queue.is_held() || self.machine.queue.sends_at().is_some() {
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
        if !turn.on_halt() || !listens {
            return;
        }
        for wire_id in turn.wire_ids_to_take_back() {
            let request = HostRequest::CancelPrompt(wire_id.clone());
            self.ask(PendingRequest::CancelPrompt(wire_id), request);
        }
    }

    /// Interrupts the turn; the queue continues.
    pub(super) fn interrupt(&mut self) {
        // Without a turn this does nothing: it may have ended a moment ago, which is no error.
        let is_ready = self.machine.process.is_ready();
        if self.machine.turn.as_mut().is_some_and(|turn| is_ready && turn.on_interrupt()) {
            self.ask_interrupt();
            let at = self.now + self.machine.timeouts.interrupt_ms;
            self.push(Effect::Arm { timer: Timer::Interrupt, at });
            self.changed();
        }
    }

    pub(super) fn ask_interrupt(&mut self) {
        if self.listens() {
            self.ask(PendingRequest::Interrupt, HostRequest::Interrupt);
        }
    }

    /// Handles the answer to an interrupt. An interrupt sent right after a prompt may find it still in the agent's own
    /// queue.
    pub(super) fn interrupt_answered(&mut self, queued: &[String]) {
        let is_queued = |prompt: &Prompt| queued.contains(&prompt.wire_id());
        let Some(turn) = &mut self.machine.turn else { return };
        if turn.on_interrupt_answered(is_queued) {
            self.ask_interrupt();
        }
    }
}

//! Rules for turns: started and ended in pairs, as the agent reports them.

use super::super::child::prompt_of;
use super::prompts::Prompts;
use super::{Phase, RuleResult, Scene, hold};
use crate::agent::{AgentEvent, ContentBlock, EndReason, StreamEvent};
use crate::api::*;
use crate::session::machine::{Effect, Input, Timer};
use crate::transcript::TranscriptEvent;
use serde_json::Value;

#[derive(Default)]
pub struct Turns {
    /// The prompts of the running turn.
    pub running: Option<Vec<PromptId>>,
    /// Prompts written after the turn started.
    joined: Vec<PromptId>,
    /// The agent has reported the start of the turn.
    begun: bool,
    /// The agent gave back all prompts of the turn before it began.
    is_given_back: bool,
    /// The agent reports prompts that join a turn.
    tells: bool,
    /// The user asked to interrupt the turn.
    pub interrupting: bool,
    /// The user stopped the turn, including prompts that had not joined it.
    halts: bool,
    noted: Option<TurnEnd>,
    /// The end of the last turn of this process that says how the session is.
    pub last_end: Option<TurnEnd>,
    has_ended: bool,
    /// A prompt was written in this step.
    has_prompted: bool,
    is_interrupt_due: bool,
    timing: Timing,
    /// No turn has begun in this process.
    is_first: bool,
}

/// What the user waited for, as seen from outside.
#[derive(Default)]
struct Timing {
    began_at: u64,
    has_spawned: bool,
    first_line_at: Option<u64>,
    first_text_at: Option<u64>,
}

impl Timing {
    fn line(&mut self, now: u64, inbound: &AgentEvent) {
        let has_text = match inbound {
            AgentEvent::Response { .. } | AgentEvent::RequestProgress { .. } => return,
            AgentEvent::Stream(stream) => {
                stream.parent_tool_use_id.is_none() && matches!(stream.event, StreamEvent::TextDelta { .. })
            }
            AgentEvent::Assistant(assistant) => {
                let is_text = |block: &ContentBlock| matches!(block, ContentBlock::Text { .. });
                assistant.parent_tool_use_id.is_none() && assistant.message.content.iter().any(is_text)
            }
            _ => false,
        };
        // Streamed lines without text are not looked at one by one.
        if has_text || !matches!(inbound, AgentEvent::Stream(_)) {
            self.first_line_at.get_or_insert(now);
        }
        if has_text {
            self.first_text_at.get_or_insert(now);
        }
    }

    fn expected(&self) -> (bool, Option<u64>, Option<u64>) {
        let waited = |at: u64| at - self.began_at;
        (self.has_spawned, self.first_line_at.map(waited), self.first_text_at.map(waited))
    }
}

impl Turns {
    /// `ends_turn`: the input makes the machine interrupt the turn to send a prompt.
    pub fn input(&mut self, scene: &Scene<'_>, phase: Phase, ends_turn: bool) {
        self.has_ended = false;
        self.has_prompted = false;
        if let Input::Line(inbound) = scene.cause
            && self.running.is_some()
        {
            self.timing.line(scene.now, inbound);
        }
        if let Input::Line(AgentEvent::Init(init)) = scene.cause {
            self.tells = init.reports_prompts;
            self.begun |= self.running.is_some();
        }
        let is_interrupt = ends_turn
            || matches!(scene.cause, Input::Command(Command::Interrupt | Command::InterruptAndContinue));
        self.is_interrupt_due =
            is_interrupt && phase == Phase::Ready && self.running.is_some() && !self.interrupting;
        self.interrupting |= self.is_interrupt_due;
        self.halts |= self.running.is_some() && matches!(scene.cause, Input::Command(Command::Interrupt));
    }

    /// The agent has the prompt and may not have begun with it, so it can give it back. Once the turn has begun, only the
    /// answer to the request says that a prompt of it was given back: others are reported as cancelled, too.
    pub fn can_be_given_back(&self, id: &PromptId, by_answer: bool) -> bool {
        let is_of_turn = || self.running.iter().flatten().any(|of_turn| of_turn == id);
        self.joined.contains(id) || (by_answer || !self.begun) && is_of_turn()
    }

    /// A prompt written now joins this turn or the next.
    pub fn takes_prompts(&self) -> bool {
        self.running.is_some() && self.begun && self.tells && !self.interrupting
    }

    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    pub fn effect(
        &mut self,
        scene: &Scene<'_>,
        effect: &Effect,
        line: Option<&Value>,
        phase: Phase,
    ) -> RuleResult {
        match effect {
            Effect::Emit(Event::TurnStarted { prompt_ids }) => {
                hold!(self.running.is_none(), Turns, "a turn begins in a turn");
                // During a shutdown, another turn may start with prompts that were written into the previous one.
                let goes_on = phase == Phase::Stopping && self.has_ended;
                hold!(
                    phase == Phase::Ready || goes_on,
                    Turns,
                    "a turn begins without an agent that is ready"
                );
                let has_spawned = std::mem::take(&mut self.is_first);
                self.timing = Timing { began_at: scene.now, has_spawned, ..Timing::default() };
                self.running = Some(prompt_ids.clone());
                self.is_given_back = false;
                self.joined.clear();
                self.begun = matches!(scene.cause, Input::Line(AgentEvent::Init(_)));
                // Prompts that had not joined a stopped turn are stopped, too.
                self.halts &= self.has_ended && !self.has_prompted;
                self.is_interrupt_due = self.halts && phase == Phase::Ready;
                self.interrupting = self.is_interrupt_due;
            }
            Effect::Emit(Event::PermissionResolved { resolution: Resolution::Denied { .. }, .. }) => {
                self.halts |= self.running.is_some()
                    && matches!(
                        scene.cause,
                        Input::Command(Command::Decide {
                            decision: Decision::Deny { interrupt: true, .. },
                            ..
                        })
                    );
            }
            Effect::TranscriptEvent(TranscriptEvent::PromptState { id, state: PromptState::Held })
                if matches!(scene.cause, Input::Line(_)) =>
            {
                self.joined.retain(|joined| joined != id);
                if let Some(running) = &mut self.running
                    && running.contains(id)
                {
                    running.retain(|of_turn| of_turn != id);
                    self.is_given_back = running.is_empty() && !self.begun;
                }
            }
            Effect::TranscriptEvent(TranscriptEvent::TurnEnded(turn)) => self.noted = Some(turn.clone()),
            Effect::Emit(Event::TurnEnded { turn }) => {
                hold!(
                    self.noted.take().as_ref() == Some(turn),
                    Turns,
                    "the transcript was told of another end"
                );
                let ran = self.running.as_ref().map_or(&[][..], Vec::as_slice);
                let is_of_it = |id: &PromptId| ran.contains(id) || self.joined.contains(id);
                let is_idle = ran.is_empty() || !turn.prompt_ids.is_empty();
                hold!(
                    self.running.is_some() && turn.prompt_ids.iter().all(is_of_it) && is_idle,
                    Turns,
                    "the turn of {:?} ends, but that of {ran:?} ran",
                    turn.prompt_ids
                );
                self.ended(scene, turn)?;
                let TurnTiming { spawn_ms, first_line_ms, first_text_ms } = turn.timing;
                let timing = (spawn_ms.is_some(), first_line_ms, first_text_ms);
                let expected = self.timing.expected();
                hold!(timing == expected, Timings, "the turn says {timing:?}, and it was {expected:?}");
                if turn.outcome != Outcome::Unavailable {
                    self.last_end = Some(turn.clone());
                }
                self.running = None;
                self.is_given_back = false;
                self.joined.clear();
                self.interrupting = false;
                self.has_ended = true;
            }
            Effect::Spawn(_) => (self.tells, self.is_first, self.last_end) = (false, true, None),
            Effect::Write(_) => {
                let user = line.filter(|line| line["type"] == "user");
                self.has_prompted |= user.is_some();
                if let Some(line) = user
                    && self.running.is_some()
                {
                    self.joined.push(prompt_of(line["uuid"].as_str().unwrap_or_default()));
                }
                let is_interrupt = line.is_some_and(|line| line["request"]["subtype"] == "interrupt");
                if is_interrupt {
                    // Sent once for the command, and again if the first one missed the turn.
                    let may_be_again = matches!(
                        scene.cause,
                        Input::Line(
                            AgentEvent::TurnEnded(_) | AgentEvent::Init(_) | AgentEvent::Response { .. }
                        )
                    );
                    let is_again = self.interrupting && may_be_again;
                    hold!(self.is_interrupt_due || is_again, Turns, "an interrupt that nobody asked for");
                    self.is_interrupt_due = false;
                }
            }
            Effect::Terminate if matches!(scene.cause, Input::Timer(Timer::Interrupt)) => {
                hold!(self.interrupting, Turns, "the agent is ended for an interrupt that nobody asked for");
            }
            _ => {}
        }
        Ok(())
    }

    fn ended(&self, scene: &Scene<'_>, turn: &TurnEnd) -> RuleResult {
        let is_right = match scene.cause {
            Input::Line(AgentEvent::TurnEnded(result)) => {
                let is_aborted = result.reason == Some(EndReason::Interrupted);
                match turn.outcome {
                    Outcome::Done => !result.is_error,
                    Outcome::Interrupted => is_aborted,
                    Outcome::Crashed => false,
                    _ => result.is_error && !is_aborted,
                }
            }
            // The agent reports that nothing runs: a turn without a prompt ended without a result.
            Input::Line(AgentEvent::SessionState { state }) => state == "idle" && turn.prompt_ids.is_empty(),
            Input::Line(AgentEvent::PromptState { .. } | AgentEvent::Response { .. }) => {
                self.is_given_back && turn.outcome == Outcome::Interrupted && turn.prompt_ids.is_empty()
            }
            Input::Exited(_) => matches!(turn.outcome, Outcome::Crashed | Outcome::Interrupted),
            _ => false,
        };
        hold!(is_right, Turns, "{:?} is not how {:?} ends a turn", turn.outcome, scene.cause);
        Ok(())
    }

    pub fn end_of_step(&mut self, scene: &Scene<'_>, prompts: &Prompts) -> RuleResult {
        hold!(!self.is_interrupt_due, Turns, "the interrupt is not passed on");
        hold!(self.noted.is_none(), Turns, "a turn is over in the transcript only");
        let mut in_flight: Vec<_> = prompts.in_flight.iter().collect();
        let mut of_turn: Vec<_> = self.running.iter().flatten().chain(&self.joined).collect();
        in_flight.sort();
        of_turn.sort();
        hold!(
            !self.is_given_back || self.running.is_none(),
            Turns,
            "a turn runs on whose prompts were given back"
        );
        hold!(in_flight == of_turn, Turns, "{in_flight:?} is in flight in the turn of {of_turn:?}");
        if matches!(scene.cause, Input::Exited(_)) {
            self.last_end = None;
            hold!(self.running.is_none(), Turns, "a turn runs on without a process");
        }
        Ok(())
    }
}

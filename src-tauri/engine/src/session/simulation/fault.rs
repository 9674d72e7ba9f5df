//! Planted faults: each violates one rule by changing the machine's inputs or effects, which proves that the rules
//! detect it.

use super::child::prompt_of;
use crate::agent::{AgentCommand, AgentEvent, Answer, HostRequest};
use crate::api::*;
use crate::launch::{Start, StartMode};
use crate::session::machine::{Effect, Input, Timer};
use crate::transcript::TranscriptChange;
use crate::transcript::TranscriptEvent;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    ForgetSave,
    SendTwice,
    SendAnother,
    LoseCutOff,
    EndTooSoon,
    AnswerWithdrawn,
    AllowForDeny,
    AnswerTwice,
    LeaveUnknown,
    CloseFirst,
    SecondProcess,
    StartStopped,
    SlowLadder,
    RestartAtOnce,
    ForgetRestart,
    ForgetTurnEnd,
    ForgetResolved,
    ForgetDisarm,
    KeepRefused,
    ForgetChange,
    KeepName,
    JoinUnasked,
    NowAfterwards,
    ForgetJoin,
    ForgetMove,
    AnotherConversation,
    SaveTwice,
    BypassAgain,
    GoOn,
    HoldForNow,
    ForgetContinue,
    AskAgain,
    SendUnconfirmed,
    /// The text of a reply is taken out of its message before the machine reads it.
    Hollow,
    LoseChange,
    FinishTooSoon,
}

impl Fault {
    /// Effects to use instead of passing this input to the machine, if this fault drops it.
    pub fn swallows(self, input: &Input) -> Option<Vec<Effect>> {
        match (self, input) {
            (Self::KeepRefused, Input::SaveFailed(..)) => {
                let error = CommandError { code: ErrorCode::Internal, message: String::new(), detail: None };
                Some(vec![Effect::Refuse(error)])
            }
            (Self::ForgetContinue, Input::Command(Command::ContinueQueue)) => Some(Vec::new()),
            (Self::ForgetMove, Input::Command(Command::Move { .. })) => Some(Vec::new()),
            _ => None,
        }
    }

    /// The input that the machine receives.
    pub fn changed(self, input: &Input) -> Input {
        match (self, input) {
            (Self::NowAfterwards, Input::Command(Command::Deliver { prompt_id, .. })) => {
                Input::Command(Command::Deliver {
                    prompt_id: prompt_id.clone(),
                    delivery: Delivery::AfterTurn,
                })
            }
            (Self::GoOn, Input::Command(Command::Interrupt)) => Input::Command(Command::InterruptAndContinue),
            (Self::HoldForNow, Input::Command(Command::InterruptAndContinue)) => {
                Input::Command(Command::Interrupt)
            }
            (Self::Hollow, Input::Line(AgentEvent::Assistant(assistant))) => {
                let mut assistant = assistant.clone();
                assistant.message.content.clear();
                Input::Line(AgentEvent::Assistant(assistant))
            }
            _ => input.clone(),
        }
    }

    /// Whether this change is not published.
    pub fn loses(self, change: &TranscriptChange) -> bool {
        self == Self::LoseChange && matches!(change, TranscriptChange::Event(Event::ItemChanged { .. }))
    }

    /// Forged responses to the machine's own change requests.
    pub fn pretended(self, effects: &[Effect]) -> Vec<AgentEvent> {
        if self != Self::SendUnconfirmed {
            return Vec::new();
        }
        let asked = effects.iter().filter_map(|effect| match effect {
            Effect::Write(AgentCommand::Request {
                request_id,
                request: HostRequest::SetMode(_) | HostRequest::SetModel(_) | HostRequest::SetThinking(_),
            }) => Some(request_id.clone()),
            _ => None,
        });
        let answered = |request_id| AgentEvent::Response { request_id, outcome: Ok(Answer::Done) };
        asked.map(answered).collect()
    }

    /// The prompt that the machine loses without an effect.
    pub fn forgets(self, cause: &Input, effects: &[Effect]) -> Option<PromptId> {
        if self != Self::LoseCutOff || !matches!(cause, Input::Exited(_)) {
            return None;
        }
        effects.iter().find_map(|effect| match effect {
            Effect::TranscriptEvent(TranscriptEvent::PromptState { id, state: PromptState::Held }) => {
                Some(id.clone())
            }
            _ => None,
        })
    }

    /// Changes the machine's effects before they are carried out.
    pub fn tamper(self, now: u64, cause: &Input, waiting: Option<PromptId>, effects: &mut Vec<Effect>) {
        match self {
            Self::SendTwice => repeat(effects, is_prompt),
            Self::AnswerTwice => repeat(effects, is_answer),
            Self::SecondProcess => repeat(effects, |effect| matches!(effect, Effect::Spawn(_))),
            Self::SendAnother => {
                if let Some(id) = waiting
                    && let Some(effect) = effects.iter_mut().find(|effect| is_prompt(effect))
                {
                    *effect = forged_prompt(&id);
                }
            }
            Self::EndTooSoon if matches!(cause, Input::Exited(_)) => {
                for effect in effects {
                    if let Effect::TranscriptEvent(TranscriptEvent::PromptState {
                        state: state @ PromptState::Held,
                        ..
                    }) = effect
                    {
                        *state = PromptState::Done;
                    }
                }
            }
            Self::AnswerWithdrawn => {
                if let Input::Line(AgentEvent::RequestWithdrawn { request_id }) = cause {
                    effects.push(forged_allow(request_id));
                }
            }
            Self::AllowForDeny => {
                for effect in effects {
                    if let Effect::Write(AgentCommand::Deny { request_id, .. }) = effect {
                        *effect = forged_allow(request_id);
                    }
                }
            }
            Self::LeaveUnknown => {
                if matches!(cause, Input::Line(AgentEvent::Request { .. })) {
                    effects.retain(|effect| !matches!(effect, Effect::Write(_)));
                }
            }
            Self::CloseFirst => {
                if let Some(at) = effects.iter().position(|effect| *effect == Effect::CloseStdin) {
                    let effect = effects.remove(at);
                    effects.insert(0, effect);
                }
            }
            // A session stopped without a process is the only case in which no restart follows.
            Self::StartStopped if effects.contains(&Effect::Disarm(Timer::Restart)) => {
                effects.push(Effect::Spawn(Start::default()));
            }
            Self::SlowLadder => arm(effects, Timer::Stop, |at| at + 600_000),
            Self::RestartAtOnce => arm(effects, Timer::Restart, |_| now),
            Self::ForgetRestart => {
                effects.retain(|effect| !matches!(effect, Effect::Arm { timer: Timer::Restart, .. }));
            }
            Self::ForgetTurnEnd => {
                effects.retain(|effect| !matches!(effect, Effect::Emit(Event::TurnEnded { .. })));
            }
            Self::ForgetResolved => {
                effects.retain(|effect| !matches!(effect, Effect::Emit(Event::PermissionResolved { .. })));
            }
            Self::KeepName => {
                for effect in effects {
                    if let Effect::Write(AgentCommand::Prompt { uuid, .. }) = effect {
                        *uuid = prompt_of(uuid).0;
                    }
                }
            }
            Self::JoinUnasked if matches!(cause, Input::Line(AgentEvent::Init(_))) => {
                if let Some(id) = waiting {
                    effects.push(forged_prompt(&id));
                }
            }
            Self::ForgetJoin if matches!(cause, Input::Line(AgentEvent::Init(_))) => {
                effects.retain(|effect| {
                    !is_prompt(effect)
                        && !matches!(effect, Effect::TranscriptEvent(TranscriptEvent::PromptState { .. }))
                });
            }
            Self::AnotherConversation if matches!(cause, Input::Line(AgentEvent::TurnEnded(_))) => {
                effects.retain(|effect| {
                    !matches!(
                        effect,
                        Effect::TranscriptEvent(TranscriptEvent::PromptState {
                            state: PromptState::Held,
                            ..
                        })
                    )
                });
            }
            Self::SaveTwice => repeat(effects, |effect| matches!(effect, Effect::Save(None))),
            Self::BypassAgain if !matches!(cause, Input::StartWithoutAsking) => {
                for effect in effects {
                    if let Effect::Spawn(start) = effect {
                        start.mode = Some(StartMode::WithoutAsking);
                    }
                }
            }
            Self::AskAgain => {
                let asks = |effect: &&Effect| {
                    matches!(effect, Effect::Write(AgentCommand::Request { request, .. })
                        if !matches!(request, HostRequest::Initialize { .. }))
                };
                let again: Vec<Effect> = effects.iter().filter(asks).cloned().collect();
                effects.extend(std::iter::repeat_n(again, 20).flatten());
            }
            Self::ForgetDisarm => effects.retain(|effect| *effect != Effect::Disarm(Timer::Interrupt)),
            _ => {}
        }
    }
}

fn is_prompt(effect: &Effect) -> bool {
    matches!(effect, Effect::Write(AgentCommand::Prompt { .. }))
}

fn is_answer(effect: &Effect) -> bool {
    use AgentCommand::{Allow, Answer, Deny, Refuse};
    matches!(effect, Effect::Write(Allow { .. } | Answer { .. } | Deny { .. } | Refuse { .. }))
}

fn forged_prompt(id: &PromptId) -> Effect {
    let (uuid, text, attachments) = (id.to_string(), "fix it".to_owned(), Vec::new());
    Effect::Write(AgentCommand::Prompt { uuid, text, attachments })
}

fn forged_allow(request_id: &str) -> Effect {
    let (request_id, input) = (request_id.to_owned(), "{}".to_owned());
    Effect::Write(AgentCommand::Allow { request_id, input, grant: None })
}

fn repeat(effects: &mut Vec<Effect>, is_it: impl Fn(&Effect) -> bool) {
    if let Some(at) = effects.iter().position(is_it) {
        effects.insert(at, effects[at].clone());
    }
}

fn arm(effects: &mut [Effect], which: Timer, when: impl Fn(u64) -> u64) {
    for effect in effects {
        if let Effect::Arm { timer, at } = effect
            && *timer == which
        {
            *at = when(*at);
        }
    }
}

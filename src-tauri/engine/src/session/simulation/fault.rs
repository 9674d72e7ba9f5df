//! Planted faults: each violates one rule by changing the machine's inputs or effects, which proves that the rules
//! detect it.

use super::child::prompt_of;
use crate::api::*;
use crate::launch::{Start, StartMode};
use crate::session::machine::{Effect, Input, Timer};
use crate::transcript::TranscriptChange;
use crate::transcript::TranscriptEvent;
use crate::wire::{self, Inbound};
use serde_json::Value;

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
            (Self::Hollow, Input::Line(Inbound::Assistant(assistant))) => {
                let mut assistant = assistant.clone();
                assistant.message.content.clear();
                Input::Line(Inbound::Assistant(assistant))
            }
            _ => input.clone(),
        }
    }

    /// Whether this change is not published.
    pub fn loses(self, change: &TranscriptChange) -> bool {
        self == Self::LoseChange && matches!(change, TranscriptChange::Event(Event::ItemChanged { .. }))
    }

    /// Forged responses to the machine's own change requests.
    pub fn pretended(self, effects: &[Effect]) -> Vec<Inbound> {
        if self != Self::SendUnconfirmed {
            return Vec::new();
        }
        let asked = effects.iter().filter_map(|effect| match effect {
            Effect::Write(line) if line.contains("\"set_") => serde_json::from_str::<Value>(line).ok(),
            _ => None,
        });
        let answer = |line: Value| Some(line["request_id"].as_str()?.to_owned());
        let answered = |request_id| Inbound::ControlResponse { request_id, outcome: Ok(Value::Null) };
        asked.filter_map(answer).map(answered).collect()
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
            Self::SendTwice => repeat(effects, |effect| is_written(effect, "user")),
            Self::AnswerTwice => repeat(effects, |effect| is_written(effect, "control_response")),
            Self::SecondProcess => repeat(effects, |effect| matches!(effect, Effect::Spawn(_))),
            Self::SendAnother => {
                if let Some(id) = waiting
                    && let Some(effect) = effects.iter_mut().find(|effect| is_written(effect, "user"))
                {
                    *effect = Effect::Write(wire::user(id.as_str(), "fix it", &[]));
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
                if let Input::Line(Inbound::ControlCancel { request_id }) = cause {
                    effects.push(Effect::Write(wire::allow(request_id, "{}", &[])));
                }
            }
            Self::AllowForDeny => {
                for effect in effects {
                    if let Effect::Write(line) = effect
                        && line.contains("\"behavior\":\"deny\"")
                    {
                        let line: Value = serde_json::from_str(line).unwrap();
                        let id = line["response"]["request_id"].as_str().unwrap();
                        *effect = Effect::Write(wire::allow(id, "{}", &[]));
                    }
                }
            }
            Self::LeaveUnknown => {
                if matches!(cause, Input::Line(Inbound::ControlRequest { .. })) {
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
                    if let Effect::Write(line) = effect
                        && let Ok(mut user) = serde_json::from_str::<Value>(line)
                        && let Some(name) = user["uuid"].as_str()
                    {
                        user["uuid"] = Value::from(prompt_of(name).0);
                        *line = user.to_string();
                    }
                }
            }
            Self::JoinUnasked if matches!(cause, Input::Line(Inbound::Init(_))) => {
                if let Some(id) = waiting {
                    effects.push(Effect::Write(wire::user(id.as_str(), "fix it", &[])));
                }
            }
            Self::ForgetJoin if matches!(cause, Input::Line(Inbound::Init(_))) => {
                effects.retain(|effect| {
                    !is_written(effect, "user")
                        && !matches!(effect, Effect::TranscriptEvent(TranscriptEvent::PromptState { .. }))
                });
            }
            Self::AnotherConversation if matches!(cause, Input::Line(Inbound::Result(_))) => {
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
                    is_written(effect, "control_request")
                        && !matches!(effect, Effect::Write(line) if line.contains("\"initialize\""))
                };
                let again: Vec<Effect> = effects.iter().filter(asks).cloned().collect();
                effects.extend(std::iter::repeat_n(again, 20).flatten());
            }
            Self::ForgetDisarm => effects.retain(|effect| *effect != Effect::Disarm(Timer::Interrupt)),
            _ => {}
        }
    }
}

fn is_written(effect: &Effect, kind: &str) -> bool {
    matches!(effect, Effect::Write(line) if line.contains(&format!("\"type\":\"{kind}\"")))
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

//! The outcome of a turn, from the agent's result.

use crate::agent::{EndReason, ReplyError, TurnResult};
use crate::api::{Outcome, SessionOptions};

/// Returns whether this result ends the turn of this prompt. A turn that the agent started by itself can end in
/// between.
pub fn answers(result: &TurnResult, prompt_uuid: &str) -> bool {
    match &result.prompts {
        Some(uuids) if !uuids.is_empty() => uuids.iter().any(|uuid| uuid == prompt_uuid),
        _ => !result.is_unasked,
    }
}

/// Returns whether the result lists this prompt as part of its turn.
pub fn names(result: &TurnResult, prompt_uuid: &str) -> bool {
    result.prompts.iter().flatten().any(|uuid| uuid == prompt_uuid)
}

/// Classifies the end of a turn. `reply_error` is the error class of the last reply.
pub fn of(result: &TurnResult, interrupting: bool, reply_error: Option<ReplyError>) -> Outcome {
    let reason = result.reason;
    if reason == Some(EndReason::Interrupted) || (interrupting && result.broke_off) {
        return Outcome::Interrupted;
    }
    if !result.is_error {
        return Outcome::Done;
    }
    match (reason, reply_error, result.api_error_status) {
        (Some(EndReason::MaxTurns), ..) => Outcome::MaxTurns,
        (Some(EndReason::BudgetExhausted), ..) => Outcome::BudgetExhausted,
        (Some(EndReason::ContextExceeded), ..) => Outcome::ContextExceeded,
        (_, Some(ReplyError::NotLoggedIn), _) => Outcome::NotLoggedIn,
        (_, Some(ReplyError::UnknownModel), _) => Outcome::UnknownModel,
        (_, Some(ReplyError::RateLimited), _) | (_, _, Some(429)) => Outcome::RateLimited,
        (_, _, Some(status)) => Outcome::ApiError { status: Some(status) },
        (_, Some(ReplyError::Api), None) | (Some(EndReason::ApiError), ..) => {
            Outcome::ApiError { status: None }
        }
        _ => Outcome::Failed,
    }
}

/// One line for the user: the agent's own words if it gave any.
/// `options`: those that the agent was started with, which explain a limit.
pub fn words(outcome: &Outcome, result: &TurnResult, options: &SessionOptions) -> String {
    let own = || result.words.as_deref().map(|words| words.lines().next().unwrap_or_default().to_owned());
    match outcome {
        Outcome::Done => "Done".to_owned(),
        Outcome::Unavailable => "Nothing was done".to_owned(),
        Outcome::Interrupted => "Interrupted".to_owned(),
        Outcome::MaxTurns => match options.max_turns {
            Some(1) => "Stopped after 1 turn of the model, the limit in this session's options".to_owned(),
            Some(most) => {
                format!("Stopped after {most} turns of the model, the limit in this session's options")
            }
            None => "The turn limit is reached".to_owned(),
        },
        Outcome::BudgetExhausted => match options.max_budget_usd {
            Some(budget) => {
                format!(
                    "The budget of ${budget} is used up: raise it in this session's options and restart the agent"
                )
            }
            None => "The budget is used up".to_owned(),
        },
        Outcome::ContextExceeded => {
            "The conversation is too long for the model: compact it, or start a new session".to_owned()
        }
        Outcome::NotLoggedIn => own().unwrap_or_else(|| "The agent is not logged in".to_owned()),
        Outcome::UnknownModel => own().unwrap_or_else(|| "The model is not available".to_owned()),
        Outcome::RateLimited => own().unwrap_or_else(|| "The rate limit is reached".to_owned()),
        Outcome::ApiError { status: Some(status) } => {
            own().unwrap_or_else(|| format!("The API answered {status}"))
        }
        Outcome::ApiError { status: None } => {
            own().unwrap_or_else(|| "The API could not be reached".to_owned())
        }
        Outcome::Crashed => "The agent stopped unexpectedly".to_owned(),
        Outcome::Failed => own().unwrap_or_else(|| "The turn failed".to_owned()),
    }
}

//! The outcome of a turn, from the agent's `result`. `is_error` is checked first, because an API failure arrives as
//! `subtype: success`.

use crate::api::Outcome;
use crate::wire::TurnResult;

/// Returns whether this result ends the turn of this prompt. A turn that the agent started by itself can end in
/// between.
pub fn answers(result: &TurnResult, prompt_uuid: &str) -> bool {
    let unasked =
        result.origin.as_ref().is_some_and(|origin| origin.kind.as_deref() == Some("task-notification"));
    match &result.user_message_uuids {
        Some(uuids) if !uuids.is_empty() => uuids.iter().any(|uuid| uuid == prompt_uuid),
        _ => !unasked,
    }
}

/// Returns whether the result lists this prompt as part of its turn.
pub fn names(result: &TurnResult, prompt_uuid: &str) -> bool {
    result.user_message_uuids.iter().flatten().any(|uuid| uuid == prompt_uuid)
}

/// Classifies the end of a turn. `reply_error` is the error class of the last reply.
pub fn of(result: &TurnResult, interrupting: bool, reply_error: Option<&str>) -> Outcome {
    let reason = result.terminal_reason.as_deref().unwrap_or("");
    if reason.starts_with("aborted") || (interrupting && result.subtype == "error_during_execution") {
        return Outcome::Interrupted;
    }
    if !result.is_error {
        return Outcome::Done;
    }
    let words = result.words().unwrap_or_default();
    match (result.subtype.as_str(), reply_error, result.api_error_status) {
        ("error_max_turns", ..) => Outcome::MaxTurns,
        ("error_max_budget_usd", ..) => Outcome::BudgetExhausted,
        _ if reason == "budget_exhausted" => Outcome::BudgetExhausted,
        _ if reason == "blocking_limit" => Outcome::ContextExceeded,
        _ if words.contains("Prompt is too long") || words.contains("Context length exceeded") => {
            Outcome::ContextExceeded
        }
        (_, Some("authentication_failed"), _) => Outcome::NotLoggedIn,
        (_, Some("model_not_found"), _) => Outcome::UnknownModel,
        (_, Some("rate_limit"), _) | (_, _, Some(429)) => Outcome::RateLimited,
        (_, _, Some(status)) => Outcome::ApiError { status: Some(status) },
        (_, Some("server_error"), None) => Outcome::ApiError { status: None },
        _ if reason == "api_error" => Outcome::ApiError { status: None },
        _ => Outcome::Failed,
    }
}

/// One line for the user: the agent's own words if it gave any.
pub fn words(outcome: &Outcome, result: &TurnResult) -> String {
    let own = || result.words().map(|words| words.lines().next().unwrap_or_default().to_owned());
    match outcome {
        Outcome::Done => "Done".to_owned(),
        Outcome::Unavailable => "Nothing was done".to_owned(),
        Outcome::Interrupted => "Interrupted".to_owned(),
        Outcome::MaxTurns => "The turn limit is reached".to_owned(),
        Outcome::BudgetExhausted => "The budget is used up".to_owned(),
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

//! `result`: the end of a turn.

use super::message::TokenCounts;
use crate::answer::model_usage;
use deskbell_agent::{EndReason, TurnResult};
use serde::Deserialize;
use serde_json::{Map, Value};

/// `is_error` says whether it failed, never `subtype` alone: an API failure arrives as `subtype: success`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ResultLine {
    subtype: String,
    is_error: bool,
    result: Option<String>,
    errors: Vec<String>,
    api_error_status: Option<u16>,
    terminal_reason: Option<String>,
    session_id: Option<String>,
    duration_ms: u64,
    num_turns: u64,
    total_cost_usd: Option<f64>,
    usage: Option<TokenCounts>,
    #[serde(rename = "modelUsage")]
    model_usage: Map<String, Value>,
    /// Absent on 2.1.197.
    user_message_uuids: Option<Vec<String>>,
    /// Absent on 2.1.197, and for scheduled jobs and wake-ups on 2.1.329. Deskbell's prompts are of the kind `human`;
    /// all other kinds, such as `task-notification`, `peer` and `auto-continuation`, are turns that nothing of Deskbell
    /// caused.
    origin: Option<Origin>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Origin {
    kind: Option<String>,
}

impl ResultLine {
    /// The agent's message about a failure, or its result text; internal diagnostics are skipped.
    fn words(&self) -> Option<String> {
        let errors = self.errors.iter().filter(|error| !error.starts_with("[ede_diagnostic]"));
        let text = self.result.iter().chain(errors).find(|text| !text.trim().is_empty());
        text.map(|text| text.trim().to_owned())
    }

    fn reason(&self, words: &str) -> Option<EndReason> {
        let reason = self.terminal_reason.as_deref().unwrap_or("");
        Some(match self.subtype.as_str() {
            _ if reason.starts_with("aborted") => EndReason::Interrupted,
            "error_max_turns" => EndReason::MaxTurns,
            "error_max_budget_usd" => EndReason::BudgetExhausted,
            _ if reason == "budget_exhausted" => EndReason::BudgetExhausted,
            _ if reason == "blocking_limit" => EndReason::ContextExceeded,
            _ if words.contains("Prompt is too long") || words.contains("Context length exceeded") => {
                EndReason::ContextExceeded
            }
            _ if reason == "api_error" => EndReason::ApiError,
            _ => return None,
        })
    }
}

impl From<ResultLine> for TurnResult {
    fn from(line: ResultLine) -> Self {
        let words = line.words();
        let is_conversation_lost =
            line.is_error && words.as_ref().is_some_and(|words| words.contains(CONVERSATION_LOST));
        Self {
            reason: line.reason(words.as_deref().unwrap_or_default()),
            words,
            is_error: line.is_error,
            broke_off: line.subtype == "error_during_execution",
            api_error_status: line.api_error_status,
            session_id: line.session_id,
            duration_ms: line.duration_ms,
            num_turns: line.num_turns,
            total_cost_usd: line.total_cost_usd,
            usage: line.usage.map(TokenCounts::into),
            models: model_usage(&line.model_usage),
            prompts: line.user_message_uuids,
            is_unasked: line.origin.and_then(|origin| origin.kind).is_some_and(|kind| kind != "human"),
            is_conversation_lost,
        }
    }
}

/// Before it exits, the CLI says this of the id after `--resume` (2.1.197 and 2.1.332).
const CONVERSATION_LOST: &str = "No conversation found";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn result(fields: Value) -> TurnResult {
        ResultLine::deserialize(fields).unwrap().into()
    }

    #[test]
    fn the_reason_of_an_end_is_in_one_of_three_fields() {
        let reason = |fields| result(fields).reason;
        assert_eq!(reason(json!({"terminal_reason": "aborted_streaming"})), Some(EndReason::Interrupted));
        assert_eq!(reason(json!({"subtype": "error_max_turns"})), Some(EndReason::MaxTurns));
        assert_eq!(reason(json!({"terminal_reason": "budget_exhausted"})), Some(EndReason::BudgetExhausted));
        assert_eq!(reason(json!({"terminal_reason": "api_error"})), Some(EndReason::ApiError));
        assert_eq!(reason(json!({"result": "Prompt is too long"})), Some(EndReason::ContextExceeded));
        assert_eq!(reason(json!({"subtype": "success"})), None);
        let broken = result(json!({"subtype": "error_during_execution"}));
        assert!(broken.broke_off && broken.reason.is_none());
    }

    #[test]
    fn a_lost_conversation_is_no_other_failure() {
        let words = json!({"is_error": true, "errors": ["No conversation found with session ID: s"]});
        assert!(result(words).is_conversation_lost);
        assert!(!result(json!({"is_error": true, "result": "The model is overloaded"})).is_conversation_lost);
        assert!(!result(json!({"is_error": false, "result": "No conversation found"})).is_conversation_lost);
    }

    #[test]
    fn a_turn_is_unasked_unless_its_origin_is_the_user() {
        for kind in ["task-notification", "peer", "auto-continuation", "channel", "a kind of tomorrow"] {
            assert!(result(json!({"origin": {"kind": kind}})).is_unasked, "{kind}");
        }
        for fields in [json!({"origin": {"kind": "human"}}), json!({"origin": {}}), json!({})] {
            assert!(!result(fields).is_unasked);
        }
    }

    #[test]
    fn the_words_are_the_first_that_are_meant_for_the_user() {
        let errors = json!(["[ede_diagnostic] aborted", " no "]);
        assert_eq!(result(json!({"errors": errors, "result": " "})).words.as_deref(), Some("no"));
        assert_eq!(result(json!({"errors": errors, "result": "yes"})).words.as_deref(), Some("yes"));
        assert_eq!(result(json!({"errors": ["[ede_diagnostic] aborted"]})).words, None);
    }
}

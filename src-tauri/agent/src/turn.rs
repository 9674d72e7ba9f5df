//! The end of a turn.

use crate::api::Tokens;
use crate::message::TokenUsage;
use std::collections::BTreeMap;

/// The end of a turn. Only `is_error` says whether it failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnResult {
    pub is_error: bool,
    pub reason: Option<EndReason>,
    /// It broke off while it worked. Some agents report an interrupt this way.
    pub broke_off: bool,
    /// The agent's message about a failure, or its result text.
    pub words: Option<String>,
    /// The status with which the agent's API failed.
    pub api_error_status: Option<u16>,
    pub session_id: Option<String>,
    pub duration_ms: u64,
    /// Requests to the model. 0: the agent did nothing but answer by itself.
    pub num_turns: u64,
    /// Total of the session in dollars, not of the turn.
    pub total_cost_usd: Option<f64>,
    pub usage: Option<TokenUsage>,
    /// Every model that the session used, including those of subagents and those used earlier.
    pub models: BTreeMap<String, ModelUsage>,
    /// The prompts that this turn included, if the agent says so.
    pub prompts: Option<Vec<String>>,
    /// The agent began the turn by itself.
    pub is_unasked: bool,
    /// It is no turn: the agent does not have the conversation that it was to continue.
    pub is_conversation_lost: bool,
}

/// Why a turn ended, if the agent has a word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    Interrupted,
    MaxTurns,
    BudgetExhausted,
    ContextExceeded,
    /// Its API could not be reached, or failed.
    ApiError,
}

/// What a session used of one model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelUsage {
    pub dollars: Option<f64>,
    pub tokens: Tokens,
    pub context_window: Option<u64>,
}

impl TurnResult {
    /// The context window of this model in tokens. If `model` is not listed, the largest window is returned.
    pub fn context_window(&self, model: Option<&str>) -> Option<u64> {
        let own = model.and_then(|model| self.models.get(model)).and_then(|usage| usage.context_window);
        own.or_else(|| self.models.values().filter_map(|usage| usage.context_window).max())
    }
}

//! Cost, tokens and context of a session.

pub use super::cost::Beginning;
use super::cost::{CostMeter, Report, TurnCost};
use crate::agent::{TurnResult, UsageReport};
use crate::api::{Tokens, Usage};
use crate::ledger::{LastCounters, Ledger};

#[derive(Debug)]
pub struct Spending {
    meter: CostMeter,
    context_tokens: u64,
    context_window: Option<u64>,
}

impl Spending {
    pub fn restore(total_dollars: f64, ledger: Ledger, counters: Option<LastCounters>) -> Self {
        let meter = CostMeter::new(total_dollars, ledger, counters);
        Self { meter, context_tokens: 0, context_window: None }
    }

    /// The last known counters of the agent, to be saved.
    pub fn counters(&self) -> Option<&LastCounters> {
        self.meter.last()
    }

    pub fn ledger(&self) -> &Ledger {
        self.meter.ledger()
    }

    pub fn total_dollars(&self) -> f64 {
        self.ledger().total().dollars()
    }

    pub fn usage(&self) -> Usage {
        let ledger = self.meter.shown();
        let by_model = ledger.usage();
        Usage {
            cost_usd: ledger.total().dollars(),
            output_tokens: by_model.iter().map(|model| model.tokens.output).fold(0, u64::saturating_add),
            by_model,
            context_tokens: self.context_tokens,
            context_window: self.context_window,
        }
    }

    pub fn on_spawn(&mut self, beginning: Beginning<'_>) {
        self.meter.process_starts(beginning);
    }

    /// The counters of a resumed process.
    pub fn on_counter(&mut self, usage: &UsageReport) {
        self.meter.resumed_at(usage);
    }

    /// The agent reported the size of the context.
    pub fn on_context(&mut self, tokens: u64) {
        self.context_tokens = tokens;
    }

    /// The agent reported the size of the context and of its window.
    pub fn on_context_of(&mut self, tokens: u64, window: u64) {
        self.context_tokens = tokens;
        self.context_window = Some(window).filter(|window| *window > 0).or(self.context_window);
    }

    /// The agent reported that the conversation was cleared.
    pub fn on_cleared(&mut self) {
        self.meter.cleared();
        self.context_tokens = 0;
    }

    /// The agent no longer has the conversation; the process begins a new one.
    pub fn on_lost(&mut self) {
        self.meter.process_starts(Beginning::New);
        self.context_tokens = 0;
    }

    /// A turn ended. `model`: the one in force. Returns what the turn spent; `None` if its share of the agent's counters
    /// is unknown.
    pub fn on_result(&mut self, now: u64, result: &TurnResult, model: Option<&str>) -> Option<TurnCost> {
        self.context_window = result.context_window(model).or(self.context_window);
        let (dollars, models) = (result.total_cost_usd, &result.models);
        let conversation = result.session_id.as_deref();
        let tokens = tokens_of_turn(result).map(|tokens| (model.unwrap_or_default(), tokens));
        self.meter.heard(now, Report { dollars, models, conversation, tokens })
    }
}

/// The tokens that the agent reports of this turn alone. An agent that counts by model reports more there: its `usage` lacks
/// subagents and compactions.
pub fn tokens_of_turn(result: &TurnResult) -> Option<Tokens> {
    let usage = result.usage.as_ref().filter(|_| result.models.is_empty())?;
    let tokens = Tokens {
        input: usage.input_tokens,
        output: usage.output_tokens,
        cache_read: usage.cache_read_input_tokens,
        cache_write: usage.cache_creation_input_tokens,
    };
    Some(tokens).filter(|tokens| *tokens != Tokens::default())
}

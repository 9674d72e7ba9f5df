//! The cost of turns, from the agent's own counter in dollars.
//!
//! The counter covers a conversation, not a turn. 2.1.329 saves it when a process exits cleanly, continues from the
//! saved value when it resumes (after a kill, that is less than the last report), and restarts at 0 with `/clear`.
//! 2.1.197 starts at 0 in every process and ignores `/clear`. So a resumed process is asked for its counter before its
//! first turn (`get_usage`, which both support), and a counter that goes back has restarted.

use serde_json::Value;

/// Picodollars per dollar. A price per million tokens has few decimals; this unit rounds away the agent's
/// floating-point error (0.0009400000000000001).
const PER_DOLLAR: f64 = 1e12;

/// The largest plausible amount, in dollars: a million.
const MOST: f64 = 1e6;

/// An amount of money, in picodollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Money(u64);

impl Money {
    /// Returns `None` for a negative number, NaN, or more than `MOST`.
    pub(super) fn from_dollars(dollars: f64) -> Option<Self> {
        (0.0..=MOST).contains(&dollars).then(|| Self((dollars * PER_DOLLAR).round() as u64))
    }

    pub(super) fn dollars(self) -> f64 {
        self.0 as f64 / PER_DOLLAR
    }
}

/// Follows the agent's counter.
#[derive(Clone, Debug, Default)]
pub(super) struct CostMeter {
    /// Cost of the whole session, over all its conversations and processes.
    total: Money,
    /// The last known value of the agent's counter; `None` if it is not known.
    counter: Option<Money>,
}

impl CostMeter {
    pub(super) fn new(total_dollars: f64) -> Self {
        Self { total: Money::from_dollars(total_dollars).unwrap_or_default(), counter: None }
    }

    pub(super) fn total_dollars(&self) -> f64 {
        self.total.dollars()
    }

    /// A process starts. The counter of a resumed one is not known yet.
    pub(super) fn process_starts(&mut self, resumes: bool) {
        self.counter = if resumes { None } else { Some(Money::default()) };
    }

    /// Sets the counter of a resumed process from its answer to `get_usage`.
    pub(super) fn resumed_at(&mut self, response: &Value) {
        let dollars = response.pointer("/session/total_cost_usd").and_then(Value::as_f64);
        let Some(counter) = dollars.and_then(Money::from_dollars) else { return };
        if self.counter.is_none() {
            self.counter = Some(counter);
            self.total = self.total.max(counter);
        }
    }

    /// The agent reported that the conversation was cleared. Only 2.1.329 does, and it restarts at 0.
    pub(super) fn cleared(&mut self) {
        self.counter = Some(Money::default());
    }

    /// Sets the counter at the end of a turn. Returns the cost in dollars since the last known value, if that is known.
    pub(super) fn heard(&mut self, dollars: Option<f64>) -> Option<f64> {
        let now = dollars.and_then(Money::from_dollars)?;
        let Some(before) = self.counter.replace(now) else {
            // It includes earlier turns of the conversation, so it is not billed to this one.
            self.total = self.total.max(now);
            return None;
        };
        let added = if now >= before { Money(now.0 - before.0) } else { now };
        self.total = Money(self.total.0.saturating_add(added.0));
        Some(added.dollars())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn usage(dollars: f64) -> Value {
        json!({"session": {"total_cost_usd": dollars}})
    }

    /// Values in the order in which 2.1.329 reported them.
    #[test]
    fn the_sum_over_turns_is_what_the_agent_says() {
        let mut meter = CostMeter::new(0.0);
        meter.process_starts(false);
        let turns: Vec<f64> = [0.010312, 0.02068, 0.07274800000000001, 0.086776]
            .map(|at| meter.heard(Some(at)).unwrap())
            .into();
        assert_eq!(turns, [0.010312, 0.010368, 0.052068, 0.014028], "no digit of a float's error");
        assert_eq!(meter.total_dollars(), 0.086776);
    }

    #[test]
    fn a_thousand_turns_add_up_to_the_last_digit() {
        let mut meter = CostMeter::new(0.0);
        meter.process_starts(false);
        let (mut said, mut sum) = (0.0, 0);
        for nr in 0..1_000_u32 {
            said += 0.000_1 * f64::from(nr % 7) + 0.000_000_3;
            let turn = meter.heard(Some(said)).unwrap();
            // Summed in decimals, as a reader would.
            sum += (turn * PER_DOLLAR).round() as u64;
        }
        assert_eq!(Money(sum), Money::from_dollars(said).unwrap());
        assert_eq!(meter.total, Money(sum));
    }

    #[test]
    fn a_cleared_conversation_counts_from_nothing() {
        // 2.1.329 reports the clear, and its result reports 0.
        let mut meter = CostMeter::new(0.0);
        meter.process_starts(false);
        assert_eq!(meter.heard(Some(0.010312)), Some(0.010312));
        meter.cleared();
        assert_eq!(meter.heard(Some(0.0)), Some(0.0));
        assert_eq!(meter.heard(Some(0.010716)), Some(0.010716));
        assert_eq!(meter.total_dollars(), 0.021028);
        // 2.1.197 goes on counting.
        let mut meter = CostMeter::new(0.0);
        meter.process_starts(false);
        assert_eq!(meter.heard(Some(0.005125)), Some(0.005125));
        assert_eq!(meter.heard(Some(0.005125)), Some(0.0));
        assert_eq!(meter.heard(Some(0.01025)), Some(0.005125));
    }

    #[test]
    fn a_resumed_conversation_bills_no_turn_for_its_past() {
        // Killed: the saved value is less than the last report.
        let mut meter = CostMeter::new(0.0);
        meter.process_starts(false);
        meter.heard(Some(0.0082));
        meter.heard(Some(0.0123));
        for (saved, said) in [(0.0082, 0.012300000000000002), (0.0, 0.0041)] {
            meter.process_starts(true);
            meter.resumed_at(&usage(saved));
            assert_eq!(meter.heard(Some(said)), Some(0.0041));
        }
        assert_eq!(meter.total_dollars(), 0.0205);
        // A conversation from elsewhere: its past cost belongs to the session, and to no turn.
        let mut meter = CostMeter::new(0.0);
        meter.process_starts(true);
        meter.resumed_at(&usage(0.5));
        assert_eq!(meter.total_dollars(), 0.5);
        assert_eq!(meter.heard(Some(0.51)), Some(0.01));
        // Without a counter, the cost of the first turn is not known; that of the next one is.
        let mut meter = CostMeter::new(0.0);
        meter.process_starts(true);
        meter.resumed_at(&json!({"session": {"total_cost_usd": "much"}}));
        assert_eq!(meter.heard(Some(0.51)), None);
        assert_eq!(meter.heard(Some(0.52)), Some(0.01));
        assert_eq!(meter.total_dollars(), 0.52);
    }

    #[test]
    fn what_is_no_amount_is_not_known() {
        let mut meter = CostMeter::new(f64::NAN);
        meter.process_starts(false);
        for no_amount in [None, Some(-1.0), Some(f64::NAN), Some(f64::INFINITY), Some(1e300)] {
            assert_eq!(meter.heard(no_amount), None);
        }
        assert_eq!(meter.heard(Some(0.25)), Some(0.25), "and spoils nothing");
    }
}

//! The cost of turns, from the agent's own counters of dollars and of each model's tokens.
//!
//! `usage` of a result is no sum of its turn: it lacks subagents and compactions (2.1.329). `modelUsage` has them.
//!
//! A counter covers a conversation, not a turn. 2.1.329 saves it when a process exits cleanly, continues from the
//! saved value when it resumes (after a kill, that is less than the last report), and restarts at 0 with `/clear`.
//! 2.1.197 starts at 0 in every process and ignores `/clear`. So a resumed process is asked for its counter before its
//! first turn (`get_usage`, which both support), and a counter that goes back has restarted.

use crate::agent::{ModelUsage, UsageReport};
use crate::api::Tokens;
use crate::ledger::{Counters, LastCounters, Ledger, Money, Tally, day};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a turn spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnCost {
    pub cost: Money,
    /// `None` if the agent reports no tokens by model.
    pub tokens: Option<Tokens>,
}

/// How the conversation of a process begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning<'a> {
    /// Empty: its counters are 0.
    New,
    /// The conversation with this id goes on. Its counters are not known yet.
    Resumed(&'a str),
    /// A copy of another conversation, which has the counters of its original (2.1.329). That past is not of this
    /// session.
    Forked,
}

/// What the agent reports at the end of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// `total_cost_usd`.
    pub dollars: Option<f64>,
    /// `modelUsage`.
    pub models: &'a BTreeMap<String, ModelUsage>,
    /// The id of the conversation.
    pub conversation: Option<&'a str>,
    /// The tokens of the turn and their model, of an agent that has no counters by model.
    pub tokens: Option<(&'a str, Tokens)>,
}

/// Follows the agent's counters, and keeps what was spent in the session's ledger.
#[derive(Clone, Debug, Default)]
pub struct CostMeter {
    /// The sums of the whole session, over all its conversations and processes.
    ledger: Ledger,
    /// The counters of the process; `None` if they are not known.
    counters: Option<Counters>,
    /// The last known counters, of the conversation that they belong to.
    last: Option<LastCounters>,
    /// What the resumed conversation cost elsewhere. It is added to the ledger with the first turn, when the session is
    /// saved: until then a restart finds it again.
    past: BTreeMap<String, Tally>,
    /// The id of the conversation that the process resumed.
    resumed: Option<String>,
    is_fork: bool,
}

impl CostMeter {
    /// `total_dollars`: what the session cost. A session that was saved without a ledger has it as spent earlier.
    pub fn new(total_dollars: f64, ledger: Ledger, last: Option<LastCounters>) -> Self {
        Self { ledger: ledger.or_earlier(total_dollars), last, ..Self::default() }
    }

    /// The sums to be saved.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The sums to be shown: with what was spent elsewhere, as soon as it is known.
    pub fn shown(&self) -> Cow<'_, Ledger> {
        if self.past.is_empty() {
            return Cow::Borrowed(&self.ledger);
        }
        let mut ledger = self.ledger.clone();
        self.past.iter().for_each(|(model, tally)| ledger.add_earlier(model, *tally));
        Cow::Owned(ledger)
    }

    /// The last known counters, to be saved with the ledger.
    pub fn last(&self) -> Option<&LastCounters> {
        self.last.as_ref()
    }

    pub fn process_starts(&mut self, beginning: Beginning<'_>) {
        self.past.clear();
        self.counters = (beginning == Beginning::New).then(Counters::default);
        self.resumed = if let Beginning::Resumed(id) = beginning { Some(id.to_owned()) } else { None };
        self.is_fork = beginning == Beginning::Forked;
    }

    /// Sets the counters of a resumed process, as it reports them.
    pub fn resumed_at(&mut self, usage: &UsageReport) {
        let Some(counters) = Counters::read(usage.dollars, &usage.models) else { return };
        if self.counters.is_none() {
            self.past = self.past_in(&counters);
            self.counters = Some(counters);
        }
    }

    /// The agent reported that the conversation was cleared. Only 2.1.329 does, and it restarts at 0.
    pub fn cleared(&mut self) {
        self.counters = Some(Counters::default());
    }

    /// Sets the counters at the end of a turn, at `now` in milliseconds since the epoch. Returns what was spent since the
    /// last known values, if those are known.
    pub fn heard(&mut self, now: u64, report: Report<'_>) -> Option<TurnCost> {
        let day = day(now);
        let (model, tokens) = report.tokens.unwrap_or_default();
        let of_turn = Tally { tokens, ..Tally::default() };
        let Some(counters) = Counters::read(report.dollars, report.models) else {
            self.ledger.add_turn(&day, model, of_turn);
            return None;
        };
        let before = self.counters.replace(counters.clone());
        if before.is_none() {
            // They include earlier turns of the conversation, so they are not billed to this one.
            self.past = self.past_in(&counters);
        }
        for (model, tally) in std::mem::take(&mut self.past) {
            self.ledger.add_earlier(&model, tally);
        }
        if let Some(id) = report.conversation {
            self.last = Some(LastCounters { conversation: id.to_owned(), counters: counters.clone() });
        }
        let added = counters.since(&before.clone().unwrap_or(counters.clone()));
        let cost = added.total();
        let mut models = added.by_model();
        if report.tokens.is_some() {
            let tally = models.entry(model.to_owned()).or_default();
            *tally = tally.plus(of_turn);
        }
        models.iter().for_each(|(model, tally)| self.ledger.add_turn(&day, model, *tally));
        before?;
        let is_known = cost == Money::default() || models.keys().any(|model| !model.is_empty());
        let tokens = models.values().fold(Tally::default(), |sum, tally| sum.plus(*tally)).tokens;
        Some(TurnCost { cost, tokens: is_known.then_some(tokens) })
    }

    /// What another process spent in a conversation with these counters. It belongs to no turn.
    fn past_in(&self, counters: &Counters) -> BTreeMap<String, Tally> {
        if self.is_fork {
            return BTreeMap::new();
        }
        let last = self.last.as_ref().filter(|last| Some(&last.conversation) == self.resumed.as_ref());
        // Of a conversation that is not the last one, only the sum over all of them is known.
        let known = last.map_or_else(|| Counters::of(&self.ledger), |last| last.counters.clone());
        if counters.total() <= known.total() {
            return BTreeMap::new();
        }
        counters.since(&known).by_model()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::claude::answer;
    use serde_json::{Map, Value, json};

    fn usage(dollars: f64) -> UsageReport {
        UsageReport { dollars: Some(dollars), ..UsageReport::default() }
    }

    fn meter() -> CostMeter {
        let mut meter = CostMeter::default();
        meter.process_starts(Beginning::New);
        meter
    }

    impl CostMeter {
        /// The end of a turn of an agent that reports only the sum.
        fn at(&mut self, dollars: impl Into<Option<f64>>) -> Option<f64> {
            self.at_in("a", dollars)
        }

        fn at_in(&mut self, conversation: &str, dollars: impl Into<Option<f64>>) -> Option<f64> {
            let (dollars, conversation) = (dollars.into(), Some(conversation));
            let report = Report { dollars, models: &BTreeMap::new(), conversation, tokens: None };
            self.heard(0, report).map(|turn| turn.cost.dollars())
        }

        fn total_dollars(&self) -> f64 {
            self.shown().total().dollars()
        }
    }

    /// An agent that speaks ACP reports the tokens of each turn, and the cost of the session or none.
    #[test]
    fn tokens_of_a_turn_without_counters_by_model_are_kept() {
        let tokens = Tokens { input: 100, output: 10, ..Tokens::default() };
        let mut meter = CostMeter::default();
        meter.process_starts(Beginning::Resumed("a"));
        let models = BTreeMap::new();
        let report = |dollars| Report {
            dollars,
            models: &models,
            conversation: Some("a"),
            tokens: Some(("m", tokens)),
        };
        assert_eq!(meter.heard(0, report(None)), None, "its cost is not known");
        assert_eq!(meter.heard(0, report(Some(0.5))), None, "the cost is that of earlier turns");
        let turn = meter.heard(0, report(Some(0.75))).unwrap();
        assert_eq!((turn.cost.dollars(), turn.tokens), (0.25, Some(tokens)));
        let sum = |of: fn(&Tokens) -> u64| {
            meter.ledger().usage().iter().map(|model| of(&model.tokens)).sum::<u64>()
        };
        assert_eq!((sum(|one| one.input), sum(|one| one.output)), (300, 30));
        let names: Vec<String> = meter.ledger().usage().into_iter().map(|model| model.model).collect();
        assert!(names.contains(&"m".to_owned()), "{names:?}");
    }

    /// Values in the order in which 2.1.329 reported them.
    #[test]
    fn the_sum_over_turns_is_what_the_agent_says() {
        let mut meter = meter();
        let turns: Vec<f64> =
            [0.010312, 0.02068, 0.07274800000000001, 0.086776].map(|at| meter.at(at).unwrap()).into();
        assert_eq!(turns, [0.010312, 0.010368, 0.052068, 0.014028], "no digit of a float's error");
        assert_eq!(meter.total_dollars(), 0.086776);
    }

    #[test]
    fn a_cleared_conversation_counts_from_nothing() {
        // 2.1.329 reports the clear, and its result reports 0.
        let mut first = meter();
        assert_eq!(first.at(0.010312), Some(0.010312));
        first.cleared();
        assert_eq!(first.at(0.0), Some(0.0));
        assert_eq!(first.at(0.010716), Some(0.010716));
        assert_eq!(first.total_dollars(), 0.021028);
        // 2.1.197 goes on counting.
        let mut second = meter();
        assert_eq!(second.at(0.005125), Some(0.005125));
        assert_eq!(second.at(0.005125), Some(0.0));
        assert_eq!(second.at(0.01025), Some(0.005125));
    }

    #[test]
    fn a_resumed_conversation_bills_no_turn_for_its_past() {
        // Killed: the saved value is less than the last report.
        let mut killed = meter();
        killed.at(0.0082);
        killed.at(0.0123);
        for (saved, said) in [(0.0082, 0.012300000000000002), (0.0, 0.0041)] {
            killed.process_starts(Beginning::Resumed("a"));
            killed.resumed_at(&usage(saved));
            assert_eq!(killed.at(said), Some(0.0041));
        }
        assert_eq!(killed.total_dollars(), 0.0205);
        // A conversation from elsewhere: its past cost belongs to the session, and to no turn.
        let mut foreign = CostMeter::default();
        foreign.process_starts(Beginning::Resumed("a"));
        foreign.resumed_at(&usage(0.5));
        assert_eq!(foreign.total_dollars(), 0.5);
        assert_eq!(foreign.at(0.51), Some(0.01));
        // Without a counter, the cost of the first turn is not known; that of the next one is.
        let mut silent = CostMeter::default();
        silent.process_starts(Beginning::Resumed("a"));
        silent.resumed_at(&UsageReport::default());
        assert_eq!(silent.at(0.51), None);
        assert_eq!(silent.at(0.52), Some(0.01));
        assert_eq!(silent.total_dollars(), 0.52);
    }

    #[test]
    fn the_past_of_a_fork_is_that_of_its_original() {
        let mut fork = CostMeter::default();
        fork.process_starts(Beginning::Forked);
        fork.resumed_at(&usage(0.5));
        assert_eq!(fork.at(0.51), Some(0.01));
        assert_eq!(fork.total_dollars(), 0.01);
        // It is resumed by its own id, after a restart of the app.
        let mut fork = CostMeter::new(0.01, fork.ledger().clone(), fork.last().cloned());
        fork.process_starts(Beginning::Resumed("a"));
        fork.resumed_at(&usage(0.51));
        assert_eq!(fork.at(0.53), Some(0.02));
        assert_eq!(fork.total_dollars(), 0.03);
        // Its counter was not reported: what its first turn cost is unknown.
        let mut silent = CostMeter::default();
        silent.process_starts(Beginning::Forked);
        assert_eq!((silent.at(0.51), silent.at(0.52)), (None, Some(0.01)));
        assert_eq!(silent.total_dollars(), 0.01);
    }

    #[test]
    fn what_another_process_spent_in_the_conversation_belongs_to_no_turn() {
        let mut meter = meter();
        meter.at(0.5);
        meter.cleared();
        meter.at_in("b", 0.01);
        // In a terminal it became 0.04, which is less than the session cost before `/clear`.
        meter.process_starts(Beginning::Resumed("b"));
        meter.resumed_at(&usage(0.04));
        assert_eq!(meter.at_in("b", 0.05), Some(0.01));
        // Resumed by another terminal, and again before its first turn: counted once.
        for _ in 0..2 {
            meter = CostMeter::new(meter.total_dollars(), meter.ledger().clone(), meter.last().cloned());
            meter.process_starts(Beginning::Resumed("b"));
            meter.resumed_at(&usage(0.05));
        }
        // `/clear` was cut off: the conversation before it goes on, and all of that is known.
        meter.process_starts(Beginning::Resumed("a"));
        meter.resumed_at(&usage(0.5));
        assert_eq!(meter.total_dollars(), 0.55);
        let days = meter.ledger().entries().iter().map(|entry| (entry.day.is_some(), entry.cost.dollars()));
        assert_eq!(days.collect::<Vec<_>>(), [(false, 0.03), (true, 0.52)]);
    }

    #[test]
    fn what_is_no_amount_is_not_known() {
        let mut meter = CostMeter::new(f64::NAN, Ledger::default(), None);
        meter.process_starts(Beginning::New);
        for no_amount in [None, Some(-1.0), Some(f64::NAN), Some(f64::INFINITY), Some(1e300)] {
            assert_eq!(meter.at(no_amount), None);
        }
        assert_eq!(meter.at(0.25), Some(0.25), "and spoils nothing");
    }

    /// Prices of two models in picodollars per token: input, output, read from the cache, written to it.
    const PRICES: [(&str, [u64; 4]); 2] = [
        ("claude-opus", [4_000_000, 20_000_000, 400_000, 5_000_000]),
        ("claude-haiku", [800_000, 4_000_000, 80_000, 1_000_000]),
    ];

    /// An agent that counts as 2.1.329 does: with floats, by model, and saved only when it exits cleanly.
    #[derive(Default)]
    struct Agent {
        conversation: u64,
        counters: BTreeMap<String, (f64, [u64; 4])>,
        saved: (u64, BTreeMap<String, (f64, [u64; 4])>),
    }

    impl Agent {
        fn spends(&mut self, model: usize, tokens: [u64; 4]) -> Money {
            let (name, prices) = PRICES[model];
            let dollars = |n: u64, price: u64| n as f64 * (price as f64 / 1e12);
            let counter = self.counters.entry(name.to_owned()).or_default();
            for (at, n) in tokens.into_iter().enumerate() {
                counter.0 += dollars(n, prices[at]);
                counter.1[at] += n;
            }
            let pico: u64 = tokens.iter().zip(prices).map(|(n, price)| n * price).sum();
            serde_json::from_value(json!(pico)).unwrap()
        }

        fn total(&self) -> f64 {
            self.counters.values().map(|counter| counter.0).sum()
        }

        fn model_usage(&self) -> Map<String, Value> {
            let usage = |(model, (cost, tokens)): (&String, &(f64, [u64; 4]))| {
                let [input, output, read, written] = tokens;
                let usage = json!({
                    "inputTokens": input, "outputTokens": output, "cacheReadInputTokens": read,
                    "cacheCreationInputTokens": written, "costUSD": cost,
                });
                (model.clone(), usage)
            };
            self.counters.iter().map(usage).collect()
        }
    }

    /// Whole lives: turns with both models, `/clear`, a clean exit, a kill, a restart of the app, and resuming.
    #[test]
    fn in_every_life_the_turns_add_up_to_the_last_digit() {
        for seed in 0..300 {
            let mut chance = Chance::new(seed);
            let (mut meter, mut agent) = (meter(), Agent::default());
            let (mut spent, mut billed) = (Money::default(), Money::default());
            let mut tokens: BTreeMap<&str, u64> = BTreeMap::new();
            for nr in 0..60_u64 {
                match chance.below(10) {
                    0 => {
                        agent.counters.clear();
                        agent.conversation = nr;
                        meter.cleared();
                    }
                    1 | 2 => {
                        if chance.one_in(2) {
                            agent.saved = (agent.conversation, agent.counters.clone());
                        }
                        (agent.conversation, agent.counters) = agent.saved.clone();
                        if chance.one_in(2) {
                            // The app restarts, too.
                            let saved = json!([meter.ledger(), meter.last()]);
                            let total = meter.ledger().total().dollars();
                            let (ledger, last) = serde_json::from_value(saved).unwrap();
                            meter = CostMeter::new(total, ledger, last);
                        }
                        meter.process_starts(Beginning::Resumed(&agent.conversation.to_string()));
                        let (total, models) = (agent.total(), agent.model_usage());
                        let models = answer::model_usage(&models);
                        meter.resumed_at(&UsageReport { dollars: Some(total), models });
                    }
                    _ => {
                        for _ in 0..=chance.below(2) {
                            let model = chance.below(2) as usize;
                            let n = [1_000, 500, 90_000, 4_000].map(|most| chance.below(most));
                            spent = spent.plus(agent.spends(model, n));
                            *tokens.entry(PRICES[model].0).or_default() += n[1];
                        }
                        let (models, id) = (agent.model_usage(), agent.conversation.to_string());
                        let dollars = Some(agent.total());
                        let models = answer::model_usage(&models);
                        let conversation = Some(id.as_str());
                        let report = Report { dollars, models: &models, conversation, tokens: None };
                        let turn = meter.heard(nr * 40_000_000, report);
                        billed = billed.plus(turn.unwrap().cost);
                    }
                }
            }
            assert_eq!(billed, spent, "seed {seed}");
            assert_eq!(meter.ledger().total(), spent, "seed {seed}");
            let written: BTreeMap<String, u64> = meter
                .ledger()
                .by_model()
                .into_iter()
                .map(|(model, sum)| (model, sum.tokens.output))
                .filter(|(_, n)| *n > 0)
                .collect();
            let expected: BTreeMap<String, u64> =
                tokens.into_iter().filter(|(_, n)| *n > 0).map(|(model, n)| (model.to_owned(), n)).collect();
            assert_eq!(written, expected, "seed {seed}");
        }
    }

    /// The recordings of the real CLI (2.1.329): each turn with its cost and tokens, and their sum.
    #[test]
    fn recorded_sessions_add_up() {
        macro_rules! recording {
            ($name:literal) => {
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../tests/recordings/",
                    $name,
                    ".ndjson"
                ))
            };
        }
        // The recording, cost by turn in millionths of a dollar, and all tokens: input and output.
        type Recorded = (&'static str, &'static [u64], [u64; 2]);
        let table: [Recorded; 4] = [
            (recording!("clear"), &[10_312, 0, 10_716], [5_222, 7]),
            // The tokens of the compaction itself are in no `usage`, only in `modelUsage`.
            (recording!("compact"), &[10_312, 10_368, 52_068, 14_028], [12_984, 1_742]),
            (recording!("interrupt"), &[10_356, 10_736, 11_080], [7_913, 26]),
            (recording!("subagent"), &[42_040], [10_220, 58]),
        ];
        for (text, costs, [input, output]) in table {
            let mut meter = meter();
            let mut seen = Vec::new();
            for line in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
                match line["line"]["type"].as_str() {
                    Some("conversation_reset") => meter.cleared(),
                    Some("result") => {
                        let models = answer::model_usage(line["line"]["modelUsage"].as_object().unwrap());
                        let dollars = line["line"]["total_cost_usd"].as_f64();
                        let turn = meter
                            .heard(0, Report { dollars, models: &models, conversation: None, tokens: None })
                            .unwrap();
                        seen.push((turn.cost.dollars() * 1e6).round() as u64);
                    }
                    _ => {}
                }
            }
            assert_eq!(seen, costs);
            let sum = meter.ledger().by_model().into_values().fold(Tally::default(), Tally::plus);
            assert_eq!((sum.tokens.input, sum.tokens.output), (input, output));
            assert_eq!((sum.cost.dollars() * 1e6).round() as u64, costs.iter().sum::<u64>());
        }
    }
}

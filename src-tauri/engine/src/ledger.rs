//! What sessions cost: exact sums of money and tokens, by day and model.
//!
//! A ledger is saved with its session. It has few entries: one for each day and model. The days are those of UTC, so
//! that they are the same on every machine.

mod counters;

pub use counters::{Counters, LastCounters};

use crate::api::{ModelUsage, Tokens};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Picodollars per dollar. A price per million tokens has few decimals; this unit rounds away the agent's
/// floating-point error (0.0009400000000000001).
const PER_DOLLAR: f64 = 1e12;
const DECIMALS: usize = 12;

/// The largest plausible amount, in dollars: a million.
const MOST: f64 = 1e6;

/// Entries of a ledger. Above this number the oldest ones lose their day.
const MOST_ENTRIES: usize = 500;

/// An amount of money, in picodollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Money(u64);

impl Money {
    /// Returns `None` for a negative number, NaN, or more than a million dollars.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        (0.0..=MOST).contains(&dollars).then(|| Self((dollars * PER_DOLLAR).round() as u64))
    }

    /// For display; sums are made of `Money`.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / PER_DOLLAR
    }

    /// The exact amount in dollars as a decimal number: `0.010312`.
    pub fn decimal(self) -> String {
        let digits = format!("{:0>width$}", self.0, width = DECIMALS + 1);
        let (whole, part) = digits.split_at(digits.len() - DECIMALS);
        let part = part.trim_end_matches('0');
        if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") }
    }

    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or nothing if the other is more.
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// Money and tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    pub cost: Money,
    pub tokens: Tokens,
}

impl Tally {
    pub fn plus(self, other: Self) -> Self {
        Self {
            cost: self.cost.plus(other.cost),
            tokens: combined(self.tokens, other.tokens, u64::saturating_add),
        }
    }

    /// What was added since `before`, of a counter that only grows.
    pub fn since(self, before: Self) -> Self {
        Self {
            cost: self.cost.minus(before.cost),
            tokens: combined(self.tokens, before.tokens, u64::saturating_sub),
        }
    }
}

fn combined(a: Tokens, b: Tokens, combine: impl Fn(u64, u64) -> u64) -> Tokens {
    Tokens {
        input: combine(a.input, b.input),
        output: combine(a.output, b.output),
        cache_read: combine(a.cache_read, b.cache_read),
        cache_write: combine(a.cache_write, b.cache_write),
    }
}

/// What one model cost on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// `2026-11-22`; `None` for what was spent before Deskbell knew, or so long ago that its day was dropped.
    pub day: Option<String>,
    /// As the agent names it; empty if it reported only the sum.
    pub model: String,
    /// Turns in which the model was used.
    pub turns: u64,
    /// In picodollars.
    pub cost: Money,
    pub tokens: Tokens,
}

/// The sums of one session, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger(Vec<Entry>);

impl Ledger {
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    pub fn total(&self) -> Money {
        self.0.iter().fold(Money::default(), |sum, entry| sum.plus(entry.cost))
    }

    /// The sums by model, in the order of their names.
    pub fn by_model(&self) -> BTreeMap<String, Tally> {
        let mut models: BTreeMap<String, Tally> = BTreeMap::new();
        for entry in &self.0 {
            let tally = Tally { cost: entry.cost, tokens: entry.tokens };
            let sum = models.entry(entry.model.clone()).or_default();
            *sum = sum.plus(tally);
        }
        models
    }

    /// The sums by model as clients see them.
    pub fn usage(&self) -> Vec<ModelUsage> {
        let usage = |(model, sum): (String, Tally)| ModelUsage {
            model,
            cost: sum.cost.decimal(),
            tokens: sum.tokens,
        };
        self.by_model().into_iter().map(usage).collect()
    }

    /// The ledger of a session that cost this much. A session that was saved without a ledger, by an earlier version, has
    /// all of it as spent earlier.
    pub fn or_earlier(mut self, total_dollars: f64) -> Self {
        if self.0.is_empty() {
            let cost = Money::from_dollars(total_dollars).unwrap_or_default();
            self.add_earlier("", Tally { cost, tokens: Tokens::default() });
        }
        self
    }

    /// Adds what a turn of this day spent.
    pub fn add_turn(&mut self, day: &str, model: &str, tally: Tally) {
        self.add(Some(day), model, 1, tally);
    }

    /// Adds what was spent before Deskbell knew.
    pub fn add_earlier(&mut self, model: &str, tally: Tally) {
        self.add(None, model, 0, tally);
    }

    fn add(&mut self, day: Option<&str>, model: &str, turns: u64, tally: Tally) {
        if tally == Tally::default() {
            return;
        }
        let is_same = |entry: &Entry| entry.day.as_deref() == day && entry.model == model;
        let at = self.0.iter().rposition(is_same).unwrap_or_else(|| {
            let at = if day.is_none() { 0 } else { self.0.len() };
            let (day, model) = (day.map(str::to_owned), model.to_owned());
            self.0.insert(at, Entry { day, model, ..Entry::default() });
            at
        });
        let entry = &mut self.0[at];
        let sum = Tally { cost: entry.cost, tokens: entry.tokens }.plus(tally);
        (entry.turns, entry.cost, entry.tokens) = (entry.turns + turns, sum.cost, sum.tokens);
        if self.0.len() > MOST_ENTRIES {
            self.forget_oldest_day();
        }
    }

    /// Drops the day of the oldest entry that has one, and keeps its sums.
    fn forget_oldest_day(&mut self) {
        let Some(at) = self.0.iter().position(|entry| entry.day.is_some()) else { return };
        let Entry { model, turns, cost, tokens, .. } = self.0.remove(at);
        self.add(None, &model, turns, Tally { cost, tokens });
    }
}

/// The day of a time in milliseconds since the epoch, in UTC: `2026-11-22`.
pub fn day(ms: u64) -> String {
    // Days from the epoch to a date: Howard Hinnant's algorithm, with the year beginning in March.
    let days = ms / 86_400_000 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(pico: u64) -> Tally {
        Tally { cost: Money(pico), tokens: Tokens { input: 1, output: 2, cache_read: 3, cache_write: 4 } }
    }

    #[test]
    fn an_amount_is_written_with_every_digit() {
        let written = |pico| Money(pico).decimal();
        assert_eq!(written(0), "0");
        assert_eq!(written(1), "0.000000000001");
        assert_eq!(written(10_312_000_000), "0.010312");
        assert_eq!(written(12_000_000_000_000), "12");
        assert_eq!(written(1_234_500_000_000_000), "1234.5");
        assert_eq!(Money::from_dollars(0.072_748_000_000_000_01).unwrap().decimal(), "0.072748");
    }

    #[test]
    fn days_are_those_of_utc() {
        let days: Vec<_> = [0, 951_782_399_999, 951_782_400_000, 1_795_348_700_000].map(day).into();
        assert_eq!(days, ["1970-01-01", "2000-02-28", "2000-02-29", "2026-11-22"]);
    }

    #[test]
    fn the_oldest_entries_lose_their_day_and_no_money() {
        let mut ledger = Ledger::default();
        for nr in 0..2_000_u64 {
            ledger.add_turn(&day(nr * 86_400_000), ["a", "b"][nr as usize % 2], tally(1));
        }
        assert_eq!(ledger.entries().len(), MOST_ENTRIES);
        assert_eq!(ledger.total(), Money(2_000));
        assert_eq!(ledger.by_model()["a"].tokens.cache_write, 4_000);
        assert_eq!(ledger.entries().iter().map(|entry| entry.turns).sum::<u64>(), 2_000);
        assert_eq!(ledger.entries().iter().filter(|entry| entry.day.is_none()).count(), 2);
        let saved = serde_json::to_string(&ledger).unwrap();
        assert_eq!(serde_json::from_str::<Ledger>(&saved).unwrap(), ledger);
    }
}

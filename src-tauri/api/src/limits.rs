//! Limits of the user's plan, as the agent reports them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The limits of the user's plan: the last report of each window. Empty for an agent that uses an API key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PlanLimits {
    pub windows: Vec<LimitWindow>,
    pub overage: Option<Overage>,
}

/// A limit for a window of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LimitWindow {
    /// The agent's name of it: `five_hour`.
    pub id: String,
    /// As shown: “five-hour limit”.
    pub name: String,
    pub status: LimitStatus,
    /// The share that is used: 0.91 is 91 %. `null` if the agent did not report it.
    pub used: Option<f64>,
    pub resets_at: Option<u64>,
    pub reported_at: u64,
}

impl LimitWindow {
    /// The share that is used, in whole percent. 100 only if all of it is used.
    pub fn percent(&self) -> Option<u64> {
        let hundredths = (self.used? * 10_000.0).round();
        let percent = (hundredths / 100.0).floor();
        Some(if self.used? < 1.0 { percent.min(99.0) } else { percent } as u64)
    }
}

/// How far a limit is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum LimitStatus {
    Allowed,
    /// The agent warns, or nine tenths are used.
    Near,
    /// Further turns are refused until it resets, except with overage.
    Reached,
}

/// Use beyond the limits of the plan, which is paid for separately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Overage {
    pub is_allowed: bool,
    /// The last turn used it.
    pub is_used: bool,
    /// Why it is not allowed, as a text to show.
    pub reason: Option<String>,
    pub resets_at: Option<u64>,
    pub reported_at: u64,
}

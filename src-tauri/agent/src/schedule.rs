//! Scheduled turns: the agent's reports on the jobs and wake-ups with which it will begin a turn by itself.

use crate::api::ScheduledTurn;

/// What a call reported. The calls of the turns are not known here: `item_id` is empty.
#[derive(Clone, Debug, PartialEq)]
pub enum ScheduleReport {
    Planned(ScheduledTurn),
    /// All that are planned.
    Listed(Vec<ScheduledTurn>),
    /// The one with this id is cancelled.
    Cancelled(String),
}

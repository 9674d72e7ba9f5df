//! The limits of the user's plan: the last report of each window.

use crate::agent::LimitReport;
use crate::api::{LimitStatus, LimitWindow, PlanLimits};

/// Windows that are kept; 2.1.329 knows six.
const MOST: usize = 16;

#[derive(Debug, Default)]
pub struct Limits {
    limits: PlanLimits,
}

impl Limits {
    pub fn limits(&self) -> &PlanLimits {
        &self.limits
    }

    /// The time at which every limit that is reached has reset, in milliseconds since 1970. `None`: none is reached, or a
    /// reset is not known.
    pub fn resets_at(&self, now: u64) -> Option<u64> {
        let reached = |window: &&LimitWindow| {
            window.status == LimitStatus::Reached && window.resets_at.is_none_or(|at| at > now)
        };
        let resets = self.limits.windows.iter().filter(reached).map(|window| window.resets_at);
        resets.collect::<Option<Vec<u64>>>()?.into_iter().max()
    }

    /// A report has the windows that the last answer of the API named; others are kept. Of too many the oldest is
    /// dropped.
    pub fn on_report(&mut self, now: u64, report: &LimitReport) {
        let PlanLimits { windows, overage } = report.limits(now);
        for window in windows {
            match self.limits.windows.iter_mut().find(|known| known.id == window.id) {
                Some(known) => *known = window,
                None => self.limits.windows.push(window),
            }
        }
        while self.limits.windows.len() > MOST {
            let oldest = self.limits.windows.iter().enumerate().min_by_key(|(_, window)| window.reported_at);
            let Some((oldest, _)) = oldest else { break };
            self.limits.windows.remove(oldest);
        }
        self.limits.overage = overage.or(self.limits.overage.take());
    }
}

//! Limits of the user's plan.

use crate::api::PlanLimits;

/// The windows in a report. Their time is not known yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitReport(PlanLimits);

impl LimitReport {
    /// `reported_at` of the windows does not matter: only the receiver knows the time.
    pub fn new(limits: PlanLimits) -> Self {
        Self(limits)
    }

    /// The limits as they were at this time.
    pub fn limits(&self, reported_at: u64) -> PlanLimits {
        let mut limits = self.0.clone();
        limits.windows.iter_mut().for_each(|window| window.reported_at = reported_at);
        limits.overage.iter_mut().for_each(|overage| overage.reported_at = reported_at);
        limits
    }
}

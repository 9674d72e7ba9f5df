//! Limits of the user's plan, in `rate_limit_event`.

use crate::api::{LimitStatus, LimitWindow, Overage, PlanLimits};
use serde_json::Value;

/// Windows that are read from one report, and the longest name of one. 2.1.329 knows six.
const MOST: usize = 16;
const LONGEST: usize = 64;
/// From this share on a limit is near, even if the agent does not warn: 2.1.329 reports 91 % as `allowed`.
const NEAR: f64 = 0.9;

/// The windows in a report. Their time is not known yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitReport {
    windows: Vec<Window>,
    overage: Option<OverageReport>,
}

#[derive(Clone, Debug, PartialEq)]
struct Window {
    id: String,
    status: LimitStatus,
    used: Option<f64>,
    resets_at: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
struct OverageReport {
    is_allowed: bool,
    is_used: bool,
    reason: Option<String>,
    resets_at: Option<u64>,
}

impl LimitReport {
    /// Reads `rate_limit_info`.
    pub fn read(info: &Value) -> Self {
        let windows = info.get("unifiedWindows").and_then(Value::as_object);
        let windows = windows.into_iter().flatten().filter(|(id, _)| id.len() <= LONGEST).take(MOST);
        let mut windows: Vec<Window> = windows.map(|(id, window)| Window::read(id, window)).collect();
        let overall = Window::read("", info);
        // The status of the whole is that of the window that decides: 2.1.329 reports `rejected` there first.
        let decides = info.get("rateLimitType").and_then(Value::as_str).filter(|id| id.len() <= LONGEST);
        let place = match decides {
            Some(id) => windows.iter().position(|window| window.id == id),
            None => (0..windows.len()).max_by(|a, b| windows[*a].share().total_cmp(&windows[*b].share())),
        };
        match place.map(|place| &mut windows[place]) {
            Some(window) => window.status = window.status.max(overall.status),
            None if decides.is_some() || overall.status > LimitStatus::Allowed => {
                windows.push(Window { id: decides.unwrap_or_default().to_owned(), ..overall });
            }
            None => {}
        }
        windows.sort_by_key(|window| order(&window.id));
        Self { windows, overage: OverageReport::read(info) }
    }

    /// The limits as they were at this time.
    pub fn limits(&self, reported_at: u64) -> PlanLimits {
        let windows = self.windows.iter().map(|window| LimitWindow {
            id: window.id.clone(),
            name: name(&window.id),
            status: window.status,
            used: window.used,
            resets_at: window.resets_at,
            reported_at,
        });
        let overage = self.overage.as_ref().map(|overage| Overage {
            is_allowed: overage.is_allowed,
            is_used: overage.is_used,
            reason: overage.reason.clone(),
            resets_at: overage.resets_at,
            reported_at,
        });
        PlanLimits { windows: windows.collect(), overage }
    }
}

impl Window {
    fn read(id: &str, value: &Value) -> Self {
        let used = value.get("utilization").and_then(Value::as_f64).filter(|used| *used >= 0.0);
        let said = match value.get("status").and_then(Value::as_str) {
            Some("rejected") => LimitStatus::Reached,
            Some("allowed_warning") => LimitStatus::Near,
            _ => LimitStatus::Allowed,
        };
        let is_near = used.is_some_and(|used| used >= NEAR);
        let status = if is_near { said.max(LimitStatus::Near) } else { said };
        Self { id: id.to_owned(), status, used, resets_at: millis(value, "resetsAt") }
    }

    fn share(&self) -> f64 {
        self.used.unwrap_or(0.0)
    }
}

impl OverageReport {
    /// `None` if the report says nothing of it.
    fn read(info: &Value) -> Option<Self> {
        let text = |key: &str| info.get(key).and_then(Value::as_str);
        let (status, why) = (text("overageStatus"), text("overageDisabledReason"));
        let is_used = info.get("isUsingOverage").and_then(Value::as_bool).unwrap_or(false);
        (status.is_some() || why.is_some() || is_used).then(|| Self {
            is_allowed: is_used || status.is_some_and(|status| status != "rejected"),
            is_used,
            reason: why.filter(|why| why.len() <= LONGEST).map(reason),
            resets_at: millis(info, "overageResetsAt"),
        })
    }
}

/// 2.1.329 sends seconds since the epoch.
fn millis(value: &Value, key: &str) -> Option<u64> {
    Some(value.get(key)?.as_u64()?.saturating_mul(1000))
}

fn order(id: &str) -> usize {
    let known = ["five_hour", "seven_day", "seven_day_opus", "seven_day_sonnet"];
    known.iter().position(|known| *known == id).unwrap_or(known.len())
}

/// The name of a window in a sentence.
fn name(id: &str) -> String {
    match id {
        "five_hour" => "five-hour limit".to_owned(),
        "seven_day" => "weekly limit".to_owned(),
        "seven_day_opus" => "weekly Opus limit".to_owned(),
        "seven_day_sonnet" => "weekly Sonnet limit".to_owned(),
        "overage" => "usage credit limit".to_owned(),
        "" => "usage limit".to_owned(),
        other => format!("{} limit", other.replace('_', " ")),
    }
}

fn reason(id: &str) -> String {
    match id {
        "org_level_disabled" => "turned off for your organisation".to_owned(),
        "out_of_credits" => "no credits left".to_owned(),
        other => other.replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn windows(info: Value) -> Vec<(String, LimitStatus, Option<f64>, Option<u64>)> {
        let limits = LimitReport::read(&info).limits(5).windows;
        assert!(limits.iter().all(|window| window.reported_at == 5));
        limits.into_iter().map(|one| (one.name, one.status, one.used, one.resets_at)).collect()
    }

    #[test]
    fn every_window_is_read_with_its_share_and_reset() {
        let info = json!({"status": "allowed", "resetsAt": 100, "rateLimitType": "five_hour", "unifiedWindows": {
            "seven_day_opus": {"utilization": 0.3, "resetsAt": 300, "status": "allowed"},
            "seven_day": {"utilization": 0.6, "resetsAt": 200, "status": "allowed_warning"},
            "five_hour": {"utilization": 0.91, "resetsAt": 100, "status": "allowed"},
        }});
        let expected = [
            // `allowed` at 91 % (2.1.329).
            ("five-hour limit".to_owned(), LimitStatus::Near, Some(0.91), Some(100_000)),
            ("weekly limit".to_owned(), LimitStatus::Near, Some(0.6), Some(200_000)),
            ("weekly Opus limit".to_owned(), LimitStatus::Allowed, Some(0.3), Some(300_000)),
        ];
        assert_eq!(windows(info), expected);
    }

    #[test]
    fn the_window_that_decides_has_the_status_of_the_whole() {
        let mut info = json!({"status": "rejected", "resetsAt": 9, "rateLimitType": "seven_day", "unifiedWindows": {
            "five_hour": {"utilization": 0.2, "status": "allowed"}, "seven_day": {"utilization": 0.5, "status": "allowed"},
        }});
        let statuses = |info: &Value| windows(info.clone()).into_iter().map(|one| one.1).collect::<Vec<_>>();
        assert_eq!(statuses(&info), [LimitStatus::Allowed, LimitStatus::Reached]);
        info["rateLimitType"] = json!(null);
        assert_eq!(statuses(&info), [LimitStatus::Allowed, LimitStatus::Reached], "the most used one");
        info["unifiedWindows"] = json!(null);
        assert_eq!(
            windows(info.clone()),
            [("usage limit".to_owned(), LimitStatus::Reached, None, Some(9_000))]
        );
        info["rateLimitType"] = json!("ninety_day");
        assert_eq!(windows(info)[0].0, "ninety day limit");
    }

    #[test]
    fn overage_is_read_with_why_it_is_off() {
        let info = json!({"status": "allowed", "overageStatus": "rejected",
                          "overageDisabledReason": "org_level_disabled", "isUsingOverage": false});
        let limits = LimitReport::read(&info).limits(1);
        assert!(limits.windows.is_empty(), "nothing is said of a window");
        let overage = limits.overage.unwrap();
        assert!(!overage.is_allowed && !overage.is_used);
        assert_eq!(overage.reason.as_deref(), Some("turned off for your organisation"));
        let used =
            LimitReport::read(&json!({"isUsingOverage": true, "overageResetsAt": 4})).limits(1).overage;
        let used = used.unwrap();
        assert_eq!((used.is_allowed, used.is_used, used.resets_at), (true, true, Some(4_000)));
    }

    #[test]
    fn a_report_of_another_form_is_bounded_and_never_fails() {
        for odd in [json!(null), json!("x"), json!({"unifiedWindows": [1], "resetsAt": "soon", "status": 7})]
        {
            assert_eq!(LimitReport::read(&odd).limits(1), PlanLimits::default(), "{odd}");
        }
        let many = (0..100).map(|n| (format!("w{n}"), json!({"utilization": n}))).collect();
        let info = json!({"unifiedWindows": Value::Object(many)});
        assert_eq!(LimitReport::read(&info).limits(1).windows.len(), MOST);
        let far = json!({"status": "rejected", "resetsAt": u64::MAX, "utilization": -1});
        assert_eq!(windows(far), [("usage limit".to_owned(), LimitStatus::Reached, None, Some(u64::MAX))]);
    }
}

//! Limits of the user's plan, in `rate_limit_event`.

use crate::api::{LimitStatus, LimitWindow, Overage, PlanLimits};
use deskbell_agent::LimitReport;
use serde_json::Value;

/// Windows that are read from one report, and the longest name of one. 2.1.329 knows six.
const MOST: usize = 16;
const LONGEST: usize = 64;
/// From this share on a limit is near, even if the agent does not warn: 2.1.329 reports 91 % as `allowed`.
const NEAR: f64 = 0.9;

/// Reads `rate_limit_info`.
pub fn read(info: &Value) -> LimitReport {
    let found = info.get("unifiedWindows").and_then(Value::as_object);
    let found = found.into_iter().flatten().filter(|(id, _)| id.len() <= LONGEST).take(MOST);
    let mut windows: Vec<LimitWindow> = found.map(|(id, found)| window(id, found)).collect();
    let overall = window("", info);
    // The status of the whole is that of the window that decides: 2.1.329 reports `rejected` there first.
    let decides = info.get("rateLimitType").and_then(Value::as_str).filter(|id| id.len() <= LONGEST);
    let share = |place: usize| windows[place].used.unwrap_or(0.0);
    let place = match decides {
        Some(id) => windows.iter().position(|window| window.id == id),
        None => (0..windows.len()).max_by(|a, b| share(*a).total_cmp(&share(*b))),
    };
    match place.map(|place| &mut windows[place]) {
        Some(window) => window.status = window.status.max(overall.status),
        None if decides.is_some() || overall.status > LimitStatus::Allowed => {
            let id = decides.unwrap_or_default();
            windows.push(LimitWindow { id: id.to_owned(), name: name(id), ..overall });
        }
        None => {}
    }
    windows.sort_by_key(|window| order(&window.id));
    LimitReport::new(PlanLimits { windows, overage: overage(info) })
}

fn window(id: &str, value: &Value) -> LimitWindow {
    let used = value.get("utilization").and_then(Value::as_f64).filter(|used| *used >= 0.0);
    let said = match value.get("status").and_then(Value::as_str) {
        Some("rejected") => LimitStatus::Reached,
        Some("allowed_warning") => LimitStatus::Near,
        _ => LimitStatus::Allowed,
    };
    let is_near = used.is_some_and(|used| used >= NEAR);
    let status = if is_near { said.max(LimitStatus::Near) } else { said };
    let resets_at = millis(value, "resetsAt");
    LimitWindow { id: id.to_owned(), name: name(id), status, used, resets_at, reported_at: 0 }
}

/// `None` if the report says nothing of it.
fn overage(info: &Value) -> Option<Overage> {
    let text = |key: &str| info.get(key).and_then(Value::as_str);
    let (status, why) = (text("overageStatus"), text("overageDisabledReason"));
    let is_used = info.get("isUsingOverage").and_then(Value::as_bool).unwrap_or(false);
    (status.is_some() || why.is_some() || is_used).then(|| Overage {
        is_allowed: is_used || status.is_some_and(|status| status != "rejected"),
        is_used,
        reason: why.filter(|why| why.len() <= LONGEST).map(reason),
        resets_at: millis(info, "overageResetsAt"),
        reported_at: 0,
    })
}

/// 2.1.329 sends seconds since the epoch. A time after the year 9999 is none: the page could not show it.
fn millis(value: &Value, key: &str) -> Option<u64> {
    let seconds = value.get(key)?.as_u64().filter(|seconds| *seconds < 253_402_300_800)?;
    Some(seconds * 1000)
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
        let limits = read(&info).limits(5).windows;
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
        let limits = read(&info).limits(1);
        assert!(limits.windows.is_empty(), "nothing is said of a window");
        let overage = limits.overage.unwrap();
        assert!(!overage.is_allowed && !overage.is_used);
        assert_eq!(overage.reason.as_deref(), Some("turned off for your organisation"));
        let used = read(&json!({"isUsingOverage": true, "overageResetsAt": 4})).limits(1).overage;
        let used = used.unwrap();
        assert_eq!((used.is_allowed, used.is_used, used.resets_at), (true, true, Some(4_000)));
    }

    #[test]
    fn a_report_of_another_form_is_bounded_and_never_fails() {
        for odd in [json!(null), json!("x"), json!({"unifiedWindows": [1], "resetsAt": "soon", "status": 7})]
        {
            assert_eq!(read(&odd).limits(1), PlanLimits::default(), "{odd}");
        }
        let many = (0..100).map(|n| (format!("w{n}"), json!({"utilization": n}))).collect();
        let info = json!({"unifiedWindows": Value::Object(many)});
        assert_eq!(read(&info).limits(1).windows.len(), MOST);
        let far = json!({"status": "rejected", "resetsAt": u64::MAX, "utilization": -1});
        assert_eq!(windows(far), [("usage limit".to_owned(), LimitStatus::Reached, None, None)]);
    }
}

//! Scheduled turns: the results of CronCreate, CronList, CronDelete and ScheduleWakeup.

use crate::api::{ScheduleKind, ScheduledTurn};
use deskbell_agent::ScheduleReport;
use serde_json::Value;

/// There is at most one wake-up, and its call reports no id.
const WAKE_UP: &str = "wake-up";

/// Reads the data of a result; `None` if it is the result of another tool.
pub(super) fn read_schedule(result: &Value) -> Option<ScheduleReport> {
    if let Some(jobs) = result.get("jobs").and_then(Value::as_array) {
        let jobs = jobs.iter().map(read_job).collect::<Option<_>>()?;
        return Some(ScheduleReport::Listed(jobs));
    }
    if let Some(job) = read_job(result) {
        return Some(ScheduleReport::Planned(job));
    }
    if result.get("clampedDelaySeconds").is_some() {
        // The time is 0 if the agent's loop is over, and always on 2.1.197 with `-p`.
        let Some(next_at) = time(result, "scheduledFor") else {
            return Some(ScheduleReport::Cancelled(WAKE_UP.to_owned()));
        };
        return Some(ScheduleReport::Planned(ScheduledTurn {
            id: WAKE_UP.to_owned(),
            item_id: None,
            kind: ScheduleKind::WakeUp,
            times: String::new(),
            prompt: String::new(),
            next_at: Some(next_at),
            repeats: false,
        }));
    }
    // The result of CronDelete has an id, and at most that it was the agent's loop.
    let fields = result.as_object()?;
    let id = fields.get("id").and_then(Value::as_str)?;
    let is_loop = fields.get("endedLoopWakeup").and_then(Value::as_bool) == Some(true);
    (fields.len() == 1 + usize::from(is_loop))
        .then(|| ScheduleReport::Cancelled(if is_loop { WAKE_UP } else { id }.to_owned()))
}

fn read_job(job: &Value) -> Option<ScheduledTurn> {
    let text = |key: &str| job.get(key).and_then(Value::as_str);
    Some(ScheduledTurn {
        id: text("id")?.to_owned(),
        item_id: None,
        kind: ScheduleKind::Job,
        times: text("humanSchedule")?.to_owned(),
        prompt: text("prompt").unwrap_or_default().to_owned(),
        next_at: time(job, "nextFireAt"),
        repeats: job.get("recurring").and_then(Value::as_bool) == Some(true),
    })
}

/// Milliseconds since the epoch; `None` for 0 and for times after the year 9999. 2.1.329 also sends fractions,
/// such as `.999` for a time that another result gives as the whole number above.
fn time(value: &Value, key: &str) -> Option<u64> {
    let at = value.get(key)?.as_f64()?;
    (1.0..253_402_300_800_000.0).contains(&at).then_some(at.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The results of 2.1.329. Those of 2.1.197 lack `nextFireAt`.
    #[test]
    fn the_results_of_the_four_tools_are_told_from_others() {
        let job = |prompt: &str, next_at| ScheduledTurn {
            id: "2838e6a7".to_owned(),
            item_id: None,
            kind: ScheduleKind::Job,
            times: "Every minute".to_owned(),
            prompt: prompt.to_owned(),
            next_at,
            repeats: true,
        };
        let created = json!({"id": "2838e6a7", "humanSchedule": "Every minute", "recurring": true,
                             "durable": false, "nextFireAt": 1_795_446_964_713.547});
        let planned = ScheduleReport::Planned(job("", Some(1_795_446_964_714)));
        assert_eq!(read_schedule(&created), Some(planned));
        let listed = json!({"jobs": [{"id": "2838e6a7", "cron": "* * * * *", "humanSchedule": "Every minute",
                                      "prompt": "tick", "recurring": true, "durable": false}]});
        assert_eq!(read_schedule(&listed), Some(ScheduleReport::Listed(vec![job("tick", None)])));
        let cancelled = |id: &str| Some(ScheduleReport::Cancelled(id.to_owned()));
        assert_eq!(read_schedule(&json!({"id": "2838e6a7"})), cancelled("2838e6a7"));
        assert_eq!(read_schedule(&json!({"id": "2838e6a7", "endedLoopWakeup": true})), cancelled(WAKE_UP));
        let wake_up = |at: Value| {
            read_schedule(&json!({"scheduledFor": at, "clampedDelaySeconds": 60, "wasClamped": false}))
        };
        let Some(ScheduleReport::Planned(planned)) = wake_up(json!(1_795_447_020_000_u64)) else { panic!() };
        assert_eq!((planned.kind, planned.next_at), (ScheduleKind::WakeUp, Some(1_795_447_020_000)));
        let near = wake_up(json!(1_795_447_019_999.999_8));
        assert_eq!(near, Some(ScheduleReport::Planned(planned)));
        for at in [json!(0), json!(-1), json!(1e300), json!("soon")] {
            assert_eq!(wake_up(at), cancelled(WAKE_UP));
        }
        for other in
            [json!({}), json!("x"), json!({"id": "a", "x": 1}), json!({"jobs": [{"id": 1}]}), json!([])]
        {
            assert_eq!(read_schedule(&other), None, "{other}");
        }
    }
}

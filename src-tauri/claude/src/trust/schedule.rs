//! A folder's schedule, `.claude/scheduled_tasks.json`: prompts for which the CLI starts turns by itself.

use super::Findings;
use crate::api::{FindingKind, Severity};
use serde_json::{Map, Value, json};

/// The fields of a task that the user decides about. The CLI changes the others after each turn (`lastFiredAt`).
const DECIDED: [&str; 3] = ["cron", "prompt", "recurring"];

/// The schedule without the notes of the CLI; unchanged if it is not a list of tasks.
pub fn without_notes(bytes: Vec<u8>) -> Vec<u8> {
    let Ok(Value::Object(document)) = serde_json::from_slice(&bytes) else { return bytes };
    let Some(Value::Array(tasks)) = document.get("tasks") else { return bytes };
    let decided = |task: &Value| match task {
        Value::Object(task) => {
            let fields =
                DECIDED.iter().filter_map(|name| Some(((*name).to_owned(), task.get(*name)?.clone())));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        other => other.clone(),
    };
    json!({"tasks": tasks.iter().map(decided).collect::<Vec<_>>()}).to_string().into_bytes()
}

/// Adds a finding for each task. `text` is the file without the CLI's notes.
pub(super) fn find(found: &mut Findings, text: &str) {
    let document = serde_json::from_str::<Value>(text).unwrap_or_default();
    let Some(tasks) = document["tasks"].as_array() else {
        return found.raw("Is no schedule that can be read, so it counts as dangerous", text);
    };
    for task in tasks {
        let prompt = task["prompt"].as_str().map_or_else(|| task.to_string(), str::to_owned);
        found.add(FindingKind::Setting, Severity::Runs, "Starts a turn by itself, with this prompt", prompt);
        found.detail("time", task["cron"].as_str().map_or_else(|| "unknown".to_owned(), str::to_owned));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::{Role, judge};

    fn judged(text: &str) -> Vec<(String, Severity)> {
        let mut found = Findings::new("scheduled_tasks.json".to_owned(), None);
        judge(&mut found, &without_notes(text.as_bytes().to_vec()), &Role::Schedule);
        found.list.into_iter().map(|finding| (finding.text, finding.severity)).collect()
    }

    #[test]
    fn each_prompt_is_shown_and_what_cannot_be_read_counts_as_dangerous() {
        let two =
            r#"{"tasks":[{"cron":"* * * * *","prompt":"push it"},{"cron":"7 3 * * *","prompt":"pull it"}]}"#;
        assert_eq!(
            judged(two),
            [("push it".to_owned(), Severity::Runs), ("pull it".to_owned(), Severity::Runs)]
        );
        assert!(judged(r#"{"tasks":[]}"#).is_empty());
        assert_eq!(judged(r#"{"tasks":[7]}"#), [("7".to_owned(), Severity::Runs)]);
        for text in ["not JSON", "[]", r#"{"tasks":{}}"#] {
            assert_eq!(judged(text), [(text.to_owned(), Severity::Runs)]);
        }
    }

    #[test]
    fn a_turn_that_ran_changes_nothing_that_was_decided() {
        let task = |rest: &str| {
            let text = format!(r#"{{"tasks":[{{"id":"a","cron":"* * * * *","prompt":"p"{rest}}}]}}"#);
            without_notes(text.into_bytes())
        };
        assert_eq!(task(""), task(r#","lastFiredAt":1795982840250"#));
        assert_ne!(task(""), task(r#","recurring":true"#));
    }
}

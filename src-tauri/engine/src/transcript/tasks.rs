//! The agent's task list, built from single `TaskCreate` and `TaskUpdate` calls, because no message contains the whole
//! list.

use super::outcome::Outcome;
use crate::api::{Todo, TodoState};
use serde_json::Value;

/// Tasks by id, in the order of their creation.
#[derive(Debug, Default)]
pub struct Tasks(Vec<(String, Todo)>);

impl Tasks {
    /// Applies the result of a call. Returns the whole list if it changed.
    pub fn learn(&mut self, tool: &str, input: &Value, outcome: &Outcome<'_>) -> Option<Vec<Todo>> {
        if outcome.is_error {
            return None;
        }
        let changed = match tool {
            "TaskCreate" => self.create(input, outcome),
            "TaskUpdate" => self.update(input),
            _ => None,
        };
        changed.map(|()| self.0.iter().map(|(_, task)| task.clone()).collect())
    }

    fn create(&mut self, input: &Value, outcome: &Outcome<'_>) -> Option<()> {
        let id = match outcome.field("task").and_then(|task| task.get("id")) {
            Some(id) => text_of(id)?,
            // “Task #1 created successfully: …” (2.1.197).
            None => outcome.text().split_once('#')?.1.chars().take_while(char::is_ascii_digit).collect(),
        };
        let text = input.get("subject")?.as_str()?.to_owned();
        self.0.retain(|(known, _)| *known != id);
        self.0.push((id, Todo { text, state: TodoState::Pending }));
        Some(())
    }

    fn update(&mut self, input: &Value) -> Option<()> {
        let id = text_of(input.get("taskId")?)?;
        let at = self.0.iter().position(|(known, _)| *known == id)?;
        match input.get("status").and_then(Value::as_str) {
            Some("deleted") => {
                self.0.remove(at);
                return Some(());
            }
            Some(status) => self.0[at].1.state = state(status),
            None => {}
        }
        if let Some(subject) = input.get("subject").and_then(Value::as_str) {
            self.0[at].1.text = subject.to_owned();
        }
        Some(())
    }
}

/// The state for the agent's status string.
pub fn state(status: &str) -> TodoState {
    match status {
        "completed" => TodoState::Completed,
        "in_progress" => TodoState::InProgress,
        _ => TodoState::Pending,
    }
}

/// The whole list, for a tool that passes it (`TodoWrite`).
pub fn whole_list(tool: &str, input: &Value) -> Option<Vec<Todo>> {
    let todos = input.get("todos").filter(|_| tool == "TodoWrite")?.as_array()?;
    let todo = |todo: &Value| {
        let state = state(todo.get("status").and_then(Value::as_str).unwrap_or_default());
        Some(Todo { text: todo.get("content")?.as_str()?.to_owned(), state })
    };
    todos.iter().map(todo).collect()
}

/// “3 of 5 done”.
pub fn progress(tasks: &[Todo]) -> String {
    let n_done = tasks.iter().filter(|task| task.state == TodoState::Completed).count();
    format!("{n_done} of {} done", tasks.len())
}

/// The subject of a call: the task that is created, or the new state of a task.
pub fn subject(input: &Value) -> String {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let id = input.get("taskId").and_then(text_of).map(|id| format!("task {id}"));
    let becomes = text("status").map(|status| match status {
        "completed" => "done",
        "in_progress" => "in progress",
        "pending" => "to do",
        "deleted" => "removed",
        other => other,
    });
    match (id, text("subject"), becomes) {
        (None, subject, _) => subject.unwrap_or("a task").to_owned(),
        (Some(id), _, Some(becomes)) => format!("{id}: {becomes}"),
        (Some(id), Some(subject), None) => format!("{id}: {subject}"),
        (Some(id), None, None) => id,
    }
}

fn text_of(id: &Value) -> Option<String> {
    match id {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn learn(tasks: &mut Tasks, tool: &str, input: Value, structured: Option<Value>) -> Option<Vec<Todo>> {
        let content = json!("Task #2 created successfully: second");
        let outcome =
            Outcome { content: &content, structured: structured.as_ref(), is_error: false, refusal: None };
        tasks.learn(tool, &input, &outcome)
    }

    #[test]
    fn a_list_is_made_of_single_changes() {
        let mut tasks = Tasks::default();
        let todo = |text: &str, state| Todo { text: text.to_owned(), state };
        let made = json!({"task": {"id": "1", "subject": "first"}});
        let list = learn(&mut tasks, "TaskCreate", json!({"subject": "first"}), Some(made));
        assert_eq!(list, Some(vec![todo("first", TodoState::Pending)]));
        // Without structured data, the text contains the id.
        learn(&mut tasks, "TaskCreate", json!({"subject": "second"}), None).unwrap();
        let list = learn(&mut tasks, "TaskUpdate", json!({"taskId": "2", "status": "in_progress"}), None);
        assert_eq!(
            list,
            Some(vec![todo("first", TodoState::Pending), todo("second", TodoState::InProgress)])
        );
        let list = learn(&mut tasks, "TaskUpdate", json!({"taskId": "1", "status": "deleted"}), None);
        assert_eq!(list, Some(vec![todo("second", TodoState::InProgress)]));
        let list = learn(&mut tasks, "TaskUpdate", json!({"taskId": 2, "subject": "other"}), None);
        assert_eq!(list, Some(vec![todo("other", TodoState::InProgress)]));
    }

    #[test]
    fn what_is_not_known_changes_nothing() {
        let mut tasks = Tasks::default();
        let update = json!({"taskId": "9", "status": "completed"});
        assert_eq!(learn(&mut tasks, "TaskUpdate", update, None), None);
        assert_eq!(learn(&mut tasks, "TaskList", json!({}), None), None);
        let failed = Outcome { content: &Value::Null, structured: None, is_error: true, refusal: None };
        assert_eq!(tasks.learn("TaskCreate", &json!({"subject": "x"}), &failed), None);
    }

    #[test]
    fn a_call_is_named_by_what_becomes_of_the_task() {
        assert_eq!(subject(&json!({"subject": "Write it"})), "Write it");
        assert_eq!(subject(&json!({"taskId": "1", "status": "completed"})), "task 1: done");
        assert_eq!(subject(&json!({"taskId": "1", "subject": "Other"})), "task 1: Other");
        assert_eq!(subject(&json!({})), "a task");
    }
}

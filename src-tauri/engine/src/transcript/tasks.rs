//! The agent's task list, built from single `TaskCreate` and `TaskUpdate` calls, because no message contains the whole
//! list.

use crate::agent::ToolResult;
use crate::agent::tool::{TaskInput, TaskStatus, ToolInput};
use crate::api::{Todo, TodoState};

/// Tasks by id, in the order of their creation.
#[derive(Debug, Default)]
pub struct Tasks(Vec<(String, Todo)>);

impl Tasks {
    /// Applies the result of a call. Returns the whole list if it changed.
    pub fn learn(&mut self, input: &ToolInput<'_>, outcome: &ToolResult) -> Option<Vec<Todo>> {
        if outcome.is_error {
            return None;
        }
        let changed = match input {
            ToolInput::CreateTask(task) => self.create(task, outcome),
            ToolInput::UpdateTask(task) => self.update(task),
            _ => None,
        };
        changed.map(|()| self.0.iter().map(|(_, task)| task.clone()).collect())
    }

    fn create(&mut self, task: &TaskInput<'_>, outcome: &ToolResult) -> Option<()> {
        let id = outcome.created_task.clone()?;
        let text = task.subject?.to_owned();
        self.0.retain(|(known, _)| *known != id);
        self.0.push((id, Todo { text, state: TodoState::Pending }));
        Some(())
    }

    fn update(&mut self, task: &TaskInput<'_>) -> Option<()> {
        let id = task.id.as_deref()?;
        let at = self.0.iter().position(|(known, _)| known == id)?;
        match task.status {
            Some(TaskStatus::Deleted) => {
                self.0.remove(at);
                return Some(());
            }
            Some(TaskStatus::State(state)) => self.0[at].1.state = state,
            Some(TaskStatus::Other(_)) => self.0[at].1.state = TodoState::Pending,
            None => {}
        }
        if let Some(subject) = task.subject {
            self.0[at].1.text = subject.to_owned();
        }
        Some(())
    }
}

/// The whole list, for a tool that passes it.
pub fn whole_list<'a>(input: &'a ToolInput<'_>) -> Option<&'a Vec<Todo>> {
    match input {
        ToolInput::TodoList { todos } => todos.as_ref(),
        _ => None,
    }
}

/// “3 of 5 done”.
pub fn progress(tasks: &[Todo]) -> String {
    let n_done = tasks.iter().filter(|task| task.state == TodoState::Completed).count();
    format!("{n_done} of {} done", tasks.len())
}

/// The subject of a call: the task that is created, or the new state of a task.
pub fn subject(task: &TaskInput<'_>) -> String {
    let id = task.id.as_ref().map(|id| format!("task {id}"));
    let becomes = task.status.map(|status| match status {
        TaskStatus::State(TodoState::Completed) => "done",
        TaskStatus::State(TodoState::InProgress) => "in progress",
        TaskStatus::State(TodoState::Pending) => "to do",
        TaskStatus::Deleted => "removed",
        TaskStatus::Other(other) => other,
    });
    match (id, task.subject, becomes) {
        (None, subject, _) => subject.unwrap_or("a task").to_owned(),
        (Some(id), _, Some(becomes)) => format!("{id}: {becomes}"),
        (Some(id), Some(subject), None) => format!("{id}: {subject}"),
        (Some(id), None, None) => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::tests::result;
    use serde_json::{Value, json};

    fn learn(tasks: &mut Tasks, tool: &str, input: Value, structured: Option<Value>) -> Option<Vec<Todo>> {
        let text = "Task #2 created successfully: second";
        tasks.learn(&crate::claude::tool::read_value(tool, &input), &result(text, structured, false))
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
        let failed = result("", None, true);
        let input = json!({"subject": "x"});
        assert_eq!(tasks.learn(&crate::claude::tool::read_value("TaskCreate", &input), &failed), None);
    }

    #[test]
    fn a_call_is_named_by_what_becomes_of_the_task() {
        let named = |input: Value| match crate::claude::tool::read_value("TaskUpdate", &input) {
            ToolInput::UpdateTask(task) => subject(&task),
            other => panic!("{other:?}"),
        };
        assert_eq!(named(json!({"subject": "Write it"})), "Write it");
        assert_eq!(named(json!({"taskId": "1", "status": "completed"})), "task 1: done");
        assert_eq!(named(json!({"taskId": "1", "status": "blocked"})), "task 1: blocked");
        assert_eq!(named(json!({"taskId": "1", "subject": "Other"})), "task 1: Other");
        assert_eq!(named(json!({})), "a task");
    }
}

//! Facts about a whole transcript: changed files, tasks and last prompts.

use super::tasks::Tasks;
use crate::agent::ToolResult;
use crate::agent::tool::ToolInput;
use crate::api::{Body, ChangedFile, Event, Item, Todo, ToolDetail, ToolState};
use std::collections::VecDeque;

/// Maximum number of recent prompts available to a window, and their maximum total size in bytes.
const PROMPTS: usize = 100;
const PROMPT_BYTES: usize = 64 * 1024;

#[derive(Default)]
pub struct Facts {
    files: Vec<ChangedFile>,
    tasks: Vec<Todo>,
    single_tasks: Tasks,
    prompts: VecDeque<String>,
    prompt_bytes: usize,
}

impl Facts {
    /// The changed files; the most recently changed one is last.
    pub fn files(&self) -> &[ChangedFile] {
        &self.files
    }

    pub fn tasks(&self) -> &[Todo] {
        &self.tasks
    }

    /// The last prompts, oldest first.
    pub fn prompts(&self) -> Vec<String> {
        self.prompts.iter().cloned().collect()
    }

    /// The facts of a transcript that another process has.
    pub fn copied(files: Vec<ChangedFile>, tasks: Vec<Todo>, prompts: &[String]) -> Self {
        let mut facts = Self { files, tasks, ..Self::default() };
        prompts.iter().for_each(|prompt| facts.prompted(prompt));
        facts
    }

    /// Takes over a changed fact as that process published it.
    pub fn copy(&mut self, event: &Event) {
        match event {
            Event::FileChanged { file } => {
                self.files.retain(|known| known.path != file.path);
                self.files.push(file.clone());
            }
            Event::TasksChanged { tasks } => self.tasks.clone_from(tasks),
            _ => {}
        }
    }

    pub fn prompted(&mut self, text: &str) {
        self.prompt_bytes += text.len();
        self.prompts.push_back(text.to_owned());
        while self.prompts.len() > PROMPTS || self.prompt_bytes > PROMPT_BYTES {
            let Some(oldest) = self.prompts.pop_front() else { break };
            self.prompt_bytes -= oldest.len();
        }
    }

    /// Applies the result of a call that changes one task. Returns an event if the tasks changed.
    pub fn task(&mut self, input: &ToolInput<'_>, outcome: &ToolResult) -> Option<Event> {
        self.tasks = self.single_tasks.learn(input, outcome)?;
        Some(Event::TasksChanged { tasks: self.tasks.clone() })
    }

    /// Applies the result of a tool call. Returns an event if a fact changed.
    pub fn learn(&mut self, item: &Item) -> Option<Event> {
        let Body::ToolCall(call) = &item.body else { return None };
        match &call.detail {
            ToolDetail::Todos { todos } if call.state == ToolState::Succeeded && *todos != self.tasks => {
                self.tasks.clone_from(todos);
                Some(Event::TasksChanged { tasks: todos.clone() })
            }
            ToolDetail::Edit(diff) | ToolDetail::Notebook { diff, .. }
                if call.state == ToolState::Succeeded =>
            {
                let known = self.files.iter().position(|file| file.path == diff.path);
                let known = known.map(|at| self.files.remove(at));
                let (added, removed) = known.map_or((0, 0), |file| (file.added, file.removed));
                let file = ChangedFile {
                    path: diff.path.clone(),
                    added: added.saturating_add(diff.added),
                    removed: removed.saturating_add(diff.removed),
                    item_id: item.id.clone(),
                    row: item.row,
                };
                self.files.push(file.clone());
                Some(Event::FileChanged { file })
            }
            _ => None,
        }
    }
}

//! Background tasks: commands and subagents that go on after their turn.

use crate::agent::{Task, User};
use crate::api::{BackgroundTask, ItemId, TaskKind};
use crate::title::Title;
use std::path::{Path, PathBuf};

/// Number of tasks whose details are shown. All of them are counted.
const SHOWN: usize = 100;
/// Number of reports kept of tasks that are not in the background; such a task may go there later.
const REPORTS: usize = 100;
/// Longest text of the agent about a task, in user-perceived characters.
const LONGEST: usize = 200;
/// An idle process is kept for the turn that the end of a task begins, for up to this time. 2.1.329 begins it 70 ms after
/// the end was reported, and writes its first line after 430 ms. A task that the user stopped begins none.
const TURN_MS: u64 = 30_000;

/// The tasks that run in the background of the current process.
#[derive(Debug, Default)]
pub struct RunningTasks {
    /// The files that receive the output of tasks, by the ids of the tasks, oldest first.
    outputs: Vec<(String, PathBuf)>,
    /// In the order in which they began.
    running: Vec<BackgroundTask>,
    /// Last reports on tasks that are not in the background, oldest first.
    reported: Vec<BackgroundTask>,
    /// The agent lists its tasks. Otherwise they are counted by the results of their calls.
    is_listed: bool,
    /// When a task ended, if no turn has begun since: the next one is about that end.
    ended_at: Option<u64>,
    /// The user wants what the turn waits for in the background, and nothing has gone there since.
    wants_move: bool,
}

impl RunningTasks {
    pub fn count(&self) -> usize {
        self.running.len()
    }

    /// The end of the words for a turn that the user stopped: an interrupt leaves the tasks in the background running.
    pub fn going_on(&self) -> String {
        match self.running.len() {
            0 => String::new(),
            1 => " · 1 background task goes on".to_owned(),
            n => format!(" · {n} background tasks go on"),
        }
    }

    /// The process has to stay alive for a task, or for the turn that the end of one begins.
    pub fn keep_awake(&self, now: u64) -> bool {
        let expects_turn = self.ended_at.is_some_and(|at| now < at.saturating_add(TURN_MS));
        !self.running.is_empty() || expects_turn
    }

    /// The tasks to show.
    pub fn tasks(&self) -> Vec<BackgroundTask> {
        let shown = self.running.iter().take(SHOWN).cloned();
        shown.map(|task| BackgroundTask { has_output: self.output(&task.id).is_some(), ..task }).collect()
    }

    /// The file that receives the output of a running task.
    pub fn output(&self, id: &str) -> Option<&Path> {
        let is_running = self.running.iter().any(|task| task.id == id);
        let output = self.outputs.iter().find(|(task, _)| task == id).filter(|_| is_running);
        output.map(|(_, path)| path.as_path())
    }

    /// What woke the agent, if neither a prompt, a scheduled turn nor the end of a task did: a monitor that runs. The
    /// agent does not say which.
    pub fn waker(&self) -> Option<String> {
        let mut monitors = self.running.iter().filter(|task| task.kind == TaskKind::Monitor);
        let first = monitors.next().filter(|_| self.ended_at.is_none())?;
        Some(match monitors.next() {
            None if !first.description.is_empty() => {
                format!("The monitor “{}” started this turn", first.description)
            }
            _ => "A monitor started this turn".to_owned(),
        })
    }

    pub fn turn_begun(&mut self) {
        self.ended_at = None;
        self.wants_move = false;
    }

    /// Notes the file of a task that a call became. Returns whether a task in the background changed.
    fn writes(&mut self, user: &User) -> bool {
        let (Some(id), Some(path)) = (&user.background_task, &user.background_output) else { return false };
        if self.outputs.iter().any(|(task, _)| task == id) {
            return false;
        }
        if self.outputs.len() == REPORTS {
            self.outputs.remove(0);
        }
        self.outputs.push((id.clone(), PathBuf::from(path)));
        self.output(id).is_some()
    }

    /// The agent lists its tasks. Returns whether they changed.
    pub fn listed(&mut self, tasks: &[Task], now: u64) -> bool {
        self.is_listed = true;
        let n_before = self.running.len();
        self.running.retain(|known| tasks.iter().any(|task| task.id == known.id));
        let mut has_changed = self.running.len() < n_before;
        for task in tasks {
            if !self.running.iter().any(|known| known.id == task.id) {
                self.begin(&task.id, now);
                has_changed = true;
            }
            has_changed |= self.reported(task, now);
        }
        has_changed
    }

    /// The user wants what the turn waits for in the background.
    pub fn want_move(&mut self) {
        self.wants_move = true;
    }

    /// Whether the user wants this task in the background, where it is not.
    pub fn is_to_move(&self, task: &Task) -> bool {
        self.wants_move && !self.running.iter().any(|known| known.id == task.id)
    }

    fn begin(&mut self, id: &str, now: u64) {
        self.wants_move = false;
        let at = self.reported.iter().position(|known| known.id == id);
        let task = at.map(|at| self.reported.remove(at));
        self.running.push(task.unwrap_or_else(|| new(id, now)));
    }

    /// The agent reports on a task. Returns whether a task in the background changed.
    pub fn reported(&mut self, task: &Task, now: u64) -> bool {
        if let Some(known) = self.running.iter_mut().find(|known| known.id == task.id) {
            let before = known.clone();
            learn(known, task);
            return *known != before;
        }
        if !self.reported.iter().any(|known| known.id == task.id) {
            if self.reported.len() == REPORTS {
                self.reported.remove(0);
            }
            self.reported.push(new(&task.id, now));
        }
        if let Some(known) = self.reported.iter_mut().find(|known| known.id == task.id) {
            learn(known, task);
        }
        false
    }

    /// Notes a task that a call became. Returns whether a task in the background is new, or can show its output.
    pub fn called(&mut self, user: &User, now: u64) -> bool {
        let is_new = self.counted(user, now);
        let is_monitor = self.is_monitor(user, now);
        self.writes(user) || is_monitor || is_new
    }

    /// Notes that a task is a monitor: the agent lists it as a command. Returns whether a task in the background changed.
    fn is_monitor(&mut self, user: &User, now: u64) -> bool {
        let Some(id) = user.background_task.as_ref().filter(|_| user.is_monitor) else { return false };
        let description = String::new();
        let task = Task { id: id.clone(), kind: Some(TaskKind::Monitor), description, ..Task::default() };
        self.reported(&task, now)
    }

    /// Counts a task that a call became. 2.1.197 sends no list, but the result of the call shows it. Returns whether it
    /// is new.
    fn counted(&mut self, user: &User, now: u64) -> bool {
        let task = user.background_task.as_deref().filter(|_| !self.is_listed);
        let Some(id) = task.filter(|id| !self.running.iter().any(|known| known.id == *id)) else {
            return false;
        };
        self.begin(id, now);
        true
    }

    /// A task has ended. Returns whether it was in the background.
    pub fn ended(&mut self, id: &str, now: u64) -> bool {
        let n_before = self.running.len();
        self.running.retain(|known| known.id != id);
        self.reported.retain(|known| known.id != id);
        self.outputs.retain(|(task, _)| task != id);
        self.ended_at = Some(now);
        self.running.len() < n_before
    }

    /// The user stops a task. Returns whether the agent has to be asked to; `None` if the task does not run.
    pub fn stop(&mut self, id: &str) -> Option<bool> {
        let task = self.running.iter_mut().find(|task| task.id == id)?;
        Some(!std::mem::replace(&mut task.is_stopping, true))
    }

    /// The agent refused to stop a task.
    pub fn not_stopped(&mut self, id: &str) {
        for task in self.running.iter_mut().filter(|task| task.id == id) {
            task.is_stopping = false;
        }
    }

    /// The tasks ended with their process.
    pub fn process_ended(&mut self) {
        *self = Self::default();
    }
}

fn new(id: &str, now: u64) -> BackgroundTask {
    BackgroundTask {
        id: id.to_owned(),
        item_id: None,
        kind: TaskKind::Other,
        description: String::new(),
        started_at: now,
        tokens: None,
        n_tool_uses: None,
        activity: None,
        has_output: false,
        is_stopping: false,
    }
}

fn learn(known: &mut BackgroundTask, task: &Task) {
    let words = Title::one_line(&task.description, LONGEST);
    // The progress of a subagent comes with what it does, in the field of its description.
    if known.description.is_empty() || task.tokens.is_none() {
        if !words.is_empty() {
            known.description = words;
        }
    } else if words != known.description {
        known.activity = Some(words).filter(|words| !words.is_empty());
    }
    // The agent reports a monitor as a command (2.1.329).
    if known.kind != TaskKind::Monitor {
        known.kind = task.kind.unwrap_or(known.kind);
    }
    known.item_id = task.tool_use_id.clone().map(ItemId).or(known.item_id.take());
    known.tokens = task.tokens.or(known.tokens);
    known.n_tool_uses = task.n_tool_uses.or(known.n_tool_uses);
}

//! Background tasks: commands and subagents that go on after their turn.

use crate::wire::User;
use std::collections::BTreeSet;

/// The tasks that run in the background of the current process.
#[derive(Debug, Default)]
pub(super) struct Background {
    ids: BTreeSet<String>,
    /// The agent lists its tasks. Otherwise they are counted by the results of their calls.
    is_listed: bool,
}

impl Background {
    pub(super) fn count(&self) -> usize {
        self.ids.len()
    }

    /// The agent lists its tasks. Returns whether they changed.
    pub(super) fn listed(&mut self, ids: &[String]) -> bool {
        self.is_listed = true;
        let ids = ids.iter().cloned().collect();
        std::mem::replace(&mut self.ids, ids) != self.ids
    }

    /// Counts a task that a call became. 2.1.197 sends no list, but the result of the call shows it. Returns whether it
    /// is new.
    pub(super) fn called(&mut self, user: &User) -> bool {
        let task = user.background_task().filter(|_| !self.is_listed);
        task.is_some_and(|task| self.ids.insert(task.to_owned()))
    }

    /// A task has ended. Returns whether it was known.
    pub(super) fn ended(&mut self, id: &str) -> bool {
        self.ids.remove(id)
    }

    /// The tasks ended with their process.
    pub(super) fn process_ended(&mut self) {
        *self = Self::default();
    }
}

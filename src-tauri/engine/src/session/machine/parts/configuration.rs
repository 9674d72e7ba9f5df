//! What is configured for the running agent: its last reports, the open requests for them, and changes of servers.

use crate::agent::{ExtensionsReport, HooksReport, Listed, ReloadReport};
use crate::api::{
    Configuration as View, ConfigurationPart, ConfigurationProblem, Extension, McpServer, Plugin,
    ServerFailure,
};
use std::collections::BTreeMap;

/// A change that the agent has not confirmed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigurationChange {
    /// A server is turned on or off, or connected to again.
    Server(String),
    Reload,
}

#[derive(Debug, Default)]
pub struct ConfigurationReports {
    view: View,
    /// The subagents with descriptions, as the agent listed them when it started.
    subagents: Vec<Extension>,
    /// The subagents with origins, as it listed them on request.
    located: Vec<Extension>,
    /// Entries that were left out of each part.
    left_out: BTreeMap<ConfigurationPart, u32>,
    /// Changes with the ends of the waits for them.
    changes: Vec<(ConfigurationChange, u64)>,
}

impl ConfigurationReports {
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Nothing is known of a new process.
    pub fn on_spawn(&mut self) {
        *self = Self::default();
    }

    /// The answer to `initialize`.
    pub fn on_ready(&mut self, subagents: Vec<Extension>) {
        self.subagents = subagents;
        self.merge_subagents();
    }

    pub fn on_plugins(&mut self, plugins: Option<Vec<Plugin>>) {
        self.view.plugins = plugins.or(self.view.plugins.take());
    }

    /// A request for a part begins. Returns whether none was pending.
    pub fn on_request(&mut self, part: ConfigurationPart) -> bool {
        let is_new = !self.view.pending.contains(&part);
        if is_new {
            self.view.pending.push(part);
        }
        is_new
    }

    pub fn on_requested(&mut self, now: u64) {
        self.view.requested_at = Some(now);
    }

    pub fn is_pending(&self) -> bool {
        !self.view.pending.is_empty()
    }

    fn on_answer(&mut self, part: ConfigurationPart) {
        self.view.pending.retain(|one| *one != part);
        self.view.problems.retain(|problem| problem.part != part);
    }

    fn on_left_out(&mut self, part: ConfigurationPart, n: u32) {
        self.left_out.insert(part, n);
        self.view.n_left_out = self.left_out.values().copied().fold(0, u32::saturating_add);
    }

    pub fn on_servers(&mut self, servers: Listed<McpServer>) {
        self.on_answer(ConfigurationPart::Servers);
        self.on_left_out(ConfigurationPart::Servers, servers.n_left_out);
        self.view.servers = Some(servers.list);
    }

    pub fn on_hooks(&mut self, report: HooksReport) {
        self.on_answer(ConfigurationPart::Hooks);
        self.on_left_out(ConfigurationPart::Hooks, report.n_left_out);
        self.view.hooks = Some(report.hooks);
    }

    pub fn on_extensions(&mut self, report: ExtensionsReport) {
        self.on_answer(ConfigurationPart::Extensions);
        self.on_left_out(ConfigurationPart::Extensions, report.n_left_out);
        self.view.skills = report.skills.or(self.view.skills.take());
        self.view.memory = report.memory.or(self.view.memory.take());
        self.located = report.subagents.unwrap_or_default();
        self.merge_subagents();
    }

    /// The descriptions are from the one list, the origins from the other.
    fn merge_subagents(&mut self) {
        let mut all = self.subagents.clone();
        for located in &self.located {
            match all.iter_mut().find(|known| known.name == located.name) {
                Some(known) => {
                    known.origin = located.origin.clone();
                    known.path = located.path.clone();
                }
                None => all.push(located.clone()),
            }
        }
        self.view.subagents = (!all.is_empty()).then_some(all);
    }

    /// A part could not be read. Its last report stays.
    pub fn on_failure(&mut self, part: ConfigurationPart, text: String) {
        self.on_answer(part);
        self.view.problems.push(ConfigurationProblem { part, text });
    }

    /// The parts that are pending could not be read.
    pub fn on_failure_of_all(&mut self, text: &str) {
        for part in std::mem::take(&mut self.view.pending) {
            self.on_failure(part, text.to_owned());
        }
    }

    /// Whether the running agent reported a server of this name.
    pub fn has_server(&self, name: &str) -> bool {
        self.view.servers.iter().flatten().any(|server| server.name == name)
    }

    pub fn is_changing(&self, change: &ConfigurationChange) -> bool {
        self.changes.iter().any(|(one, _)| one == change)
    }

    /// A change begins, and is waited for until `ends_at`.
    pub fn on_change(&mut self, change: ConfigurationChange, ends_at: u64) {
        match &change {
            ConfigurationChange::Server(name) => {
                self.view.failures.retain(|failure| failure.server != *name);
                self.view.changing.push(name.clone());
            }
            ConfigurationChange::Reload => {
                self.view.is_reloading = true;
                self.view.reload_problem = None;
            }
        }
        self.changes.push((change, ends_at));
    }

    /// The end of the first wait for a change.
    pub fn wait_ends_at(&self) -> Option<u64> {
        self.changes.iter().map(|(_, ends_at)| *ends_at).min()
    }

    /// The agent confirmed a change, or refused it. An answer after the end of the wait counts too.
    pub fn on_changed(&mut self, change: &ConfigurationChange, failure: Option<String>) {
        self.changes.retain(|(one, _)| one != change);
        match change {
            ConfigurationChange::Server(name) => {
                self.view.changing.retain(|one| one != name);
                self.view.failures.retain(|one| one.server != *name);
                let failure = failure.map(|text| ServerFailure { server: name.clone(), text });
                self.view.failures.extend(failure);
            }
            ConfigurationChange::Reload => {
                self.view.is_reloading = false;
                self.view.reload_problem = failure;
            }
        }
    }

    pub fn on_reloaded(&mut self, report: ReloadReport) {
        self.on_plugins(report.plugins);
        if let Some(subagents) = report.subagents {
            self.on_ready(subagents);
        }
    }

    /// Ends the waits that are over at this time.
    pub fn on_changes_over(&mut self, now: u64, text: &str) {
        let over = self.changes.iter().filter(|(_, ends_at)| *ends_at <= now);
        let over: Vec<ConfigurationChange> = over.map(|(change, _)| change.clone()).collect();
        for change in over {
            self.on_changed(&change, Some(text.to_owned()));
        }
    }
}

//! Requests for what is configured, and changes of MCP servers and plugins.

use super::*;
use crate::agent::{Answer, Refused};

/// For the reports, in milliseconds. 1 to 50 ms were measured, and 2.7 s for skills and memory files: the agent counts
/// their tokens with API calls.
const REPORTS_MS: u64 = 20_000;

/// For a change, in milliseconds. Both versions give a server 30 s to connect.
const CHANGE_MS: u64 = 45_000;

const PARTS: [ConfigurationPart; 3] =
    [ConfigurationPart::Servers, ConfigurationPart::Hooks, ConfigurationPart::Extensions];

/// Bytes of an agent's error that are shown.
const LONGEST_ERROR: usize = 4_000;

/// The part as the object of a sentence about the agent.
fn name(part: ConfigurationPart) -> &'static str {
    match part {
        ConfigurationPart::Servers => "its MCP servers",
        ConfigurationPart::Hooks => "its hooks",
        ConfigurationPart::Extensions => "its skills, subagents and memory files",
    }
}

impl Machine {
    /// The id of the conversation in the agent's store.
    pub fn conversation_id(&self) -> Option<&str> {
        self.conversation.id()
    }

    /// The id of the conversation, if the running agent reported an MCP server of this name.
    pub fn conversation_of_server(&self, server: &str) -> Option<&str> {
        self.conversation.id().filter(|_| self.configuration.has_server(server))
    }
}

impl Step<'_> {
    pub(super) fn read_configuration(&mut self) {
        if !self.machine.process.is_ready() {
            let text = "The agent is not running. It reports what is configured while it runs.";
            return self.refuse(ErrorCode::BadCommand, text);
        }
        self.machine.configuration.on_requested(self.now);
        for part in PARTS {
            self.read_part(part);
        }
        self.changed();
    }

    fn read_part(&mut self, part: ConfigurationPart) {
        if !self.machine.configuration.on_request(part) {
            return;
        }
        let request = match part {
            ConfigurationPart::Servers => HostRequest::ReadServers,
            ConfigurationPart::Hooks => HostRequest::ReadHooks,
            ConfigurationPart::Extensions => HostRequest::ReadExtensions,
        };
        self.ask(PendingRequest::Configuration(part), request);
        self.push(Effect::Arm { timer: Timer::Configuration, at: self.now + REPORTS_MS });
    }

    pub(super) fn part_reported(&mut self, part: ConfigurationPart, outcome: Result<&Answer, &Refused>) {
        let configuration = &mut self.machine.configuration;
        match outcome {
            Ok(Answer::Servers(servers)) => configuration.on_servers(servers.clone()),
            Ok(Answer::Hooks(hooks)) => configuration.on_hooks((**hooks).clone()),
            Ok(Answer::Extensions(report)) => {
                let mut report = (**report).clone();
                let commands = self.machine.capabilities.commands();
                for skill in report.skills.iter_mut().flatten() {
                    let described = commands.iter().find(|command| command.name == skill.name);
                    skill.description = described.map(|command| command.description.clone());
                }
                configuration.on_extensions(report);
            }
            Ok(_) => {
                let text = format!("The agent answered without {}.", name(part));
                configuration.on_failure(part, text);
            }
            Err(problem) if problem.is_unknown => {
                let text = format!("This version of the agent does not report {}.", name(part));
                configuration.on_failure(part, text);
            }
            Err(problem) => {
                let text = format!("The agent could not report {}: {}", name(part), cut(&problem.message));
                configuration.on_failure(part, text);
            }
        }
        if !self.machine.configuration.is_pending() {
            self.push(Effect::Disarm(Timer::Configuration));
        }
        self.changed();
    }

    /// A later answer still counts.
    pub(super) fn configuration_timed_out(&mut self) {
        let text = format!("The agent did not answer within {} s.", REPORTS_MS / 1000);
        self.machine.configuration.on_failure_of_all(&text);
        self.changed();
    }

    pub(super) fn change_server(&mut self, server: String, request: HostRequest) {
        if !self.machine.process.is_ready() {
            let text = "The agent is not running. Its servers can be changed while it runs.";
            return self.refuse(ErrorCode::BadCommand, text);
        }
        if !self.machine.configuration.has_server(&server) {
            return self.refuse(ErrorCode::BadCommand, "The agent has not reported a server of this name.");
        }
        self.change_configuration(ConfigurationChange::Server(server), request);
    }

    pub(super) fn reload_plugins(&mut self) {
        if !self.machine.process.is_ready() {
            let text = "The agent is not running. It loads its plugins when it starts.";
            return self.refuse(ErrorCode::BadCommand, text);
        }
        self.change_configuration(ConfigurationChange::Reload, HostRequest::ReloadPlugins);
    }

    fn change_configuration(&mut self, change: ConfigurationChange, request: HostRequest) {
        if self.machine.configuration.is_changing(&change) {
            return self.refuse(ErrorCode::BadCommand, "The agent is carrying out the last change.");
        }
        self.machine.configuration.on_change(change.clone(), self.now + CHANGE_MS);
        self.ask(PendingRequest::ConfigurationChange(change), request);
        self.wait_for_changes();
        self.changed();
    }

    /// Sets the timer to the first end of a wait.
    fn wait_for_changes(&mut self) {
        self.push(match self.machine.configuration.wait_ends_at() {
            Some(at) => Effect::Arm { timer: Timer::ConfigurationChange, at },
            None => Effect::Disarm(Timer::ConfigurationChange),
        });
    }

    pub(super) fn change_answered(
        &mut self,
        change: &ConfigurationChange,
        outcome: Result<&Answer, &Refused>,
    ) {
        let failure = match outcome {
            Ok(Answer::Reloaded(report)) => {
                self.machine.configuration.on_reloaded((**report).clone());
                if let Some(commands) = report.commands.clone() {
                    self.machine.capabilities.on_commands(commands);
                }
                match report.n_errors {
                    0 => None,
                    1 => Some("1 plugin could not be loaded.".to_owned()),
                    n => Some(format!("{n} plugins could not be loaded.")),
                }
            }
            Ok(_) => None,
            Err(problem) if problem.is_unknown => {
                Some("This version of the agent cannot do this while it runs.".to_owned())
            }
            Err(problem) => Some(format!("The agent could not do it: {}", cut(&problem.message))),
        };
        self.machine.configuration.on_changed(change, failure);
        self.wait_for_changes();
        match change {
            ConfigurationChange::Server(_) => self.read_part(ConfigurationPart::Servers),
            ConfigurationChange::Reload => {
                for part in PARTS {
                    self.read_part(part);
                }
            }
        }
        self.changed();
    }

    /// A later answer still counts.
    pub(super) fn changes_timed_out(&mut self) {
        let text = format!("The agent did not answer within {} s.", CHANGE_MS / 1000);
        self.machine.configuration.on_changes_over(self.now, &text);
        self.wait_for_changes();
        self.changed();
    }

    /// The process ended, and its answers will not come.
    pub(super) fn configuration_process_ended(&mut self) {
        let text = "The agent stopped before it answered.";
        let configuration = &mut self.machine.configuration;
        let (is_pending, is_changing) = (configuration.is_pending(), configuration.wait_ends_at().is_some());
        configuration.on_failure_of_all(text);
        configuration.on_changes_over(u64::MAX, text);
        if is_pending {
            self.push(Effect::Disarm(Timer::Configuration));
        }
        if is_changing {
            self.push(Effect::Disarm(Timer::ConfigurationChange));
        }
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_ERROR)]
}

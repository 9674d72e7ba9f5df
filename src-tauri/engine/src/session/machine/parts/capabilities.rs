//! What the agent reports of itself: its version, its commands, and whether it reports the prompts that it took up.

use crate::agent::Init;
use crate::api::{AgentCapabilities, SlashCommand};

#[derive(Debug, Default)]
pub struct Capabilities {
    version: Option<String>,
    commands: Vec<SlashCommand>,
    /// The running agent has announced its commands since `take_announced`.
    announced: bool,
    /// Names of commands that work only in a terminal, as the running process reported them.
    terminal_commands: Vec<String>,
    /// The agent reports which prompts it accepted, and when.
    reports_prompts: bool,
    /// The agent uses an API key instead of a login.
    has_api_key: bool,
    /// What the agent itself says that it can do.
    reported: Option<AgentCapabilities>,
}

impl Capabilities {
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    pub fn commands(&self) -> &[SlashCommand] {
        &self.commands
    }

    pub fn reports_prompts(&self) -> bool {
        self.reports_prompts
    }

    pub fn has_api_key(&self) -> bool {
        self.has_api_key
    }

    /// What the agent itself says that it can do; that of the last process until the new one says so.
    pub fn reported(&self) -> Option<&AgentCapabilities> {
        self.reported.as_ref()
    }

    pub fn on_reported(&mut self, capabilities: Option<AgentCapabilities>) {
        self.reported = capabilities.or(self.reported.take());
    }

    /// The version and the commands of the last process are shown until the new one reports its own.
    pub fn on_spawn(&mut self) {
        self.reports_prompts = false;
        self.terminal_commands.clear();
    }

    /// The answer to `initialize`.
    pub fn on_ready(&mut self, version: Option<String>, commands: Vec<SlashCommand>) {
        self.version = version.or(self.version.take());
        self.commands = commands;
        self.announced = true;
    }

    pub fn on_init(&mut self, init: &Init) {
        self.reports_prompts = init.reports_prompts;
        self.has_api_key = init.has_api_key;
        self.version = init.version.clone().or(self.version.take());
        self.terminal_commands = init.terminal_commands.clone();
        let commands = std::mem::take(&mut self.commands);
        self.on_commands(commands);
    }

    /// The agent listed its commands again.
    pub fn on_commands(&mut self, mut commands: Vec<SlashCommand>) {
        commands.retain(|command| !self.terminal_commands.contains(&command.name));
        self.commands = commands;
        self.announced = true;
    }

    /// The commands of an earlier run, until an agent runs.
    pub fn recall(&mut self, commands: Vec<SlashCommand>) {
        self.commands = commands;
    }

    /// Whether the running agent has announced its commands since the last call.
    pub fn take_announced(&mut self) -> bool {
        std::mem::take(&mut self.announced)
    }
}

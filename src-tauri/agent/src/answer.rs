//! Answers: how an agent responds to the host's requests.

use crate::api::{
    AgentCapabilities, ContextReport, Extension, Hooks, McpServer, MemoryFile, Model, Plugin, Rule,
    RulesInForce, SlashCommand,
};
use crate::turn::ModelUsage;
use std::collections::BTreeMap;

/// The answer to a request. What an agent leaves out or sends in another form is absent.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It was done. Nothing else was asked, or nothing else can be read.
    Done,
    Initialized(Box<Initialized>),
    /// To an interrupt: the prompts that are still in the agent's own queue.
    StillQueued(Vec<String>),
    /// To the cancellation of a prompt: whether the agent gave it back.
    Cancelled(bool),
    /// To a change of the model: its full name.
    Model(String),
    Settings(Box<SettingsReport>),
    Rules(RulesInForce),
    Usage(UsageReport),
    /// The time of the request is not known yet.
    Context(ContextReport),
    Servers(Listed<McpServer>),
    Hooks(Box<HooksReport>),
    Extensions(Box<ExtensionsReport>),
    Reloaded(Box<ReloadReport>),
    Rewind(RewindReport),
    Title(String),
    Side(SideAnswer),
}

/// An answer to a side question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideAnswer {
    /// The model's words.
    Text(String),
    /// The agent's own words, which say why the model gave no answer.
    Problem(String),
    Nothing,
}

/// A bounded list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    pub list: Vec<T>,
    /// How many entries were left out.
    pub n_left_out: u32,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { list: Vec::new(), n_left_out: 0 }
    }
}

/// The hooks that the agent loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HooksReport {
    pub hooks: Hooks,
    pub n_left_out: u32,
}

/// Skills, subagents of the user and memory files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtensionsReport {
    pub skills: Option<Vec<Extension>>,
    /// Without those of the agent itself.
    pub subagents: Option<Vec<Extension>>,
    pub memory: Option<Vec<MemoryFile>>,
    pub n_left_out: u32,
}

/// To a reload of plugins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReloadReport {
    pub plugins: Option<Vec<Plugin>>,
    pub subagents: Option<Vec<Extension>>,
    pub commands: Option<Vec<SlashCommand>>,
    /// How many plugins could not be loaded.
    pub n_errors: u64,
}

/// To a rewind of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RewindReport {
    /// The absolute paths of the files that change; only for a dry run.
    pub files: Vec<String>,
    /// Why it cannot, in the agent's words, which may be none.
    pub problem: Option<String>,
}

/// The agent did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub message: String,
    /// It does not know the request.
    pub is_unknown: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Initialized {
    pub models: Vec<Model>,
    pub commands: Vec<SlashCommand>,
    pub subagents: Vec<Extension>,
    pub version: Option<String>,
    pub permission_mode: Option<String>,
    /// What it can do, if it says so itself.
    pub capabilities: Option<AgentCapabilities>,
}

/// The settings that the agent loaded.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsReport {
    /// The effort level in force.
    pub effort: Option<String>,
    /// A hook may allow a tool call without a request.
    pub has_allowing_hooks: bool,
    pub rules: RulesInForce,
}

/// The agent's own counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageReport {
    pub dollars: Option<f64>,
    pub models: BTreeMap<String, ModelUsage>,
}

/// Adds rules that are given in the session. Sorts all by origin, then by effect (deny first), and otherwise keeps their
/// order.
pub fn with_rules(mut rules: RulesInForce, given: &[Rule]) -> RulesInForce {
    rules.rules.splice(..0, given.iter().cloned());
    rules.rules.sort_by_key(|rule| (rule.origin, rule.effect));
    rules.rules.dedup();
    rules
}

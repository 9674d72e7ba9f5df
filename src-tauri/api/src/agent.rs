//! The agent program: its location, its permission check, and the models and commands it offers.

use super::profile::Profile;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use ts_rs::TS;

/// The agent program of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AgentKind {
    Claude,
    Demo,
    /// Another agent, which speaks the Agent Client Protocol. `Session::agentName` says which.
    Acp,
}

/// The agent program that a new session would run, and where it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AgentView {
    Found {
        kind: AgentKind,
        program: String,
        source: String,
    },
    /// Not found: every place that was searched, and the problem there.
    Missing {
        tried: Vec<Tried>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    /// A path, or the name of an environment variable.
    pub place: String,
    pub problem: String,
}

/// Whether the agent of new sessions can work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Readiness {
    /// The program and its source, or the places that were searched.
    pub agent: AgentView,
    /// As the program reports it; `null` if it did not.
    pub version: Option<String>,
    /// The command that logs in, for a terminal.
    pub login: SetupCommand,
    pub state: ReadinessState,
}

/// The first obstacle to a session, in the order in which the user has to remove them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ReadinessState {
    Ready,
    /// No program was found.
    Missing {
        /// Ways to install it, the recommended one first.
        install: Vec<SetupCommand>,
    },
    /// The program was found and does not run.
    Broken {
        /// Its own error, or the system's.
        problem: String,
    },
    /// The program runs, and is not Claude Code.
    NotClaude {
        /// The first line that it printed for `--version`; empty if it printed nothing.
        answer: String,
    },
    /// The version is older than the oldest one that Deskbell is tested with.
    TooOld {
        oldest: String,
        update: SetupCommand,
    },
    NotLoggedIn,
}

/// What a new session can have instead of the usual agent, as a machine has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MachineAgents {
    pub agents: Vec<OtherAgent>,
    /// Those of the settings there, without the values of their variables.
    pub profiles: Vec<Profile>,
}

/// An agent that a new session can have instead of Claude Code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OtherAgent {
    /// Names it in `create_session_with`.
    pub id: String,
    /// “Gemini CLI”
    pub name: String,
    pub state: OtherAgentState,
    /// The reason why it starts only in a trusted folder; `null` if it can be restricted.
    pub trusted_only: Option<String>,
    /// Deskbell was never run with it.
    pub untested: bool,
    pub lacks: AgentLacks,
}

/// What an agent does not have, compared with Claude Code, in words for the user. What is not known is not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentLacks {
    /// What it does not report: “cost”, “exit codes”.
    pub reports: Vec<String>,
    /// What it does not offer: “rewind”.
    pub offers: Vec<String>,
}

/// Whether another agent can be started on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum OtherAgentState {
    /// A part of Deskbell.
    BuiltIn,
    Found {
        program: String,
        /// As the program reports it; `null` if it did not.
        version: Option<String>,
    },
    /// Its program was found and cannot run here.
    Broken {
        program: String,
        /// “Qwen Code needs Node 22 or newer, and this machine has v20.20.2.”
        problem: String,
    },
    Missing {
        /// The command that installs it; `null` if Deskbell knows none.
        install: Option<SetupCommand>,
    },
}

/// The command that logs the user in to an agent that speaks ACP, for a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentLogin {
    /// Program and arguments.
    pub words: Vec<String>,
    /// The agent could not begin its work without a login.
    pub needed: bool,
}

/// A command that the user runs in a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SetupCommand {
    /// In words: “Homebrew”.
    pub label: String,
    pub command: String,
}

/// A setting that the agent itself offers for its session, beyond model and effort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentOption {
    /// Names it in `setAgentOption`.
    pub id: String,
    pub name: String,
    pub description: String,
    pub kind: AgentOptionKind,
    /// The value in force, as the agent reported it: the id of a choice, or `true` or `false`.
    pub value: String,
    /// What it can be set to. Empty for a switch.
    pub choices: Vec<AgentChoice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AgentOptionKind {
    /// What the agent may do without asking. Only modes that are known to ask are among its choices.
    Mode,
    Choice,
    Switch,
}

/// A value of an [`AgentOption`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentChoice {
    pub id: String,
    pub name: String,
    pub description: String,
}

/// Result of the agent check (`deskbell doctor`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Checkup {
    /// The program and its source, or the places that were tried.
    pub agent: AgentView,
    pub version: Option<String>,
    pub channel: PermissionChannel,
    /// The agent can work: see [`Readiness`].
    pub ready: bool,
    /// The report, line by line. Keys, tokens and the user's name are left out.
    pub lines: Vec<ReportLine>,
    /// The same as text, to copy.
    pub report: String,
}

/// A fact in the doctor's report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReportLine {
    pub name: String,
    /// May have several lines.
    pub value: String,
    pub health: Health,
}

/// Whether a fact is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Health {
    Good,
    Bad,
    /// Neither, or not judged.
    Plain,
}

/// Whether an agent asks for permission before it acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PermissionChannel {
    Asks,
    /// It acted without asking where it must ask.
    NeverAsks,
    /// The check could not be completed; `reason` says why.
    Unknown {
        reason: String,
    },
}

/// What the doctor found out about another agent by starting it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentTrial {
    pub login: LoginState,
    /// `None`: it cannot be sent to a model on loopback.
    pub asks: Option<PermissionChannel>,
    /// The addresses on which it listened for TCP at the end of its starts; `None` if that was not measured.
    pub ports: Option<Vec<SocketAddr>>,
    /// What it wrote into an empty home: “.codex (59 files)”.
    pub writes: Vec<String>,
}

/// Whether an agent began a session without a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginState {
    NotAskedFor,
    Needed {
        /// For a terminal.
        command: String,
    },
    /// It could not be found out; `reason` says why.
    Unknown {
        reason: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// The value for `setModel`.
    pub name: String,
    pub label: String,
    pub description: String,
    /// The full model name for `name`, as in `Session::model` after the first turn has begun.
    pub resolved: Option<String>,
    /// From lowest to highest; empty if the model has none.
    pub effort_levels: Vec<String>,
    pub can_stop_thinking: bool,
    /// The model can decide by itself which calls need permission: the mode `auto`.
    pub can_decide: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SlashCommand {
    /// Without the slash.
    pub name: String,
    pub description: String,
    pub argument_hint: String,
}

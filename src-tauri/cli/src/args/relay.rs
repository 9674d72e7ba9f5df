//! The command line of `deskbell relay`: a session, or the server of a user and its clients.

use super::server::{ServerArgs, ServerMode};
use super::values::{conversation, mode, model};
use super::{Mode, Problem};
use clap::ValueHint;
use clap::builder::NonEmptyStringValueParser;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::{PermissionMode, Priority};
use deskbell_engine::launch::Launch;
use deskbell_engine::projects::ProjectStore;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelayOptions {
    pub project: PathBuf,
    /// A program path, or `demo`.
    pub agent: Option<PathBuf>,
    /// An agent that speaks ACP, instead of `agent`.
    pub acp: Option<ChosenAgent>,
    /// A profile of the settings, instead of both.
    pub profile: Option<String>,
    pub resume: Option<String>,
    /// Begins as a copy of this conversation.
    pub fork: Option<String>,
    /// The prompt before which that copy ends.
    pub before: Option<String>,
    pub model: Option<String>,
    pub mode: Option<PermissionMode>,
    /// A JSON file with the options that the agent is started with.
    pub options: Option<PathBuf>,
    /// A new file for the recording.
    pub record: Option<PathBuf>,
    /// Loads the folder's own settings in this run, whatever the user decided earlier.
    pub trust: bool,
    /// The priority of the agent, and of all that it starts.
    pub priority: Priority,
}

/// The arguments after `relay`.
#[derive(Debug, clap::Args)]
pub struct RelayArgs {
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    server: ServerArgs,
}

impl RelayArgs {
    pub fn checked(self, cwd: &Path) -> Result<Mode, Problem> {
        match self.server.mode() {
            Some(mode) => Ok(Mode::Server(mode)),
            None => self.session.checked(cwd).map(Mode::Relay),
        }
    }
}

#[derive(Debug, clap::Args)]
#[group(id = "session", conflicts_with = ServerMode::GROUP)]
struct SessionArgs {
    /// The agent's working folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present_any = ServerMode::OPTIONS)]
    project: Option<PathBuf>,
    /// The agent: the path of its program; `demo`, the built-in one; or the name of another one that speaks the Agent
    /// Client Protocol, as `deskbell agents` lists it. Without it the relay searches for Claude Code as the window does
    #[arg(long, value_name = "PATH|NAME", value_hint = ValueHint::FilePath)]
    agent: Option<PathBuf>,
    /// Any other agent that speaks this protocol: a path, or the name of a program. It starts only in a trusted folder
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::CommandName, conflicts_with = "agent")]
    agent_command: Option<PathBuf>,
    /// An argument of that program; can be repeated
    #[arg(long, value_name = "ARGUMENT", requires = "agent_command", conflicts_with_all = ["agent", "profile"], allow_hyphen_values = true)]
    agent_argument: Vec<String>,
    /// An agent with its program, configuration and choices, by its name in the setting agent.profiles
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), conflicts_with_all = ["agent", "agent_command"])]
    profile: Option<String>,
    /// Continue this conversation: the agentSessionId of an earlier run, for Claude Code a UUID
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    /// Begin a new conversation as a copy of this one, which is only read: another program may have it open
    #[arg(long, value_name = "ID", value_parser = conversation, conflicts_with = "resume")]
    fork: Option<String>,
    /// With --fork: the copy ends before the prompt with this id
    #[arg(long, value_name = "PROMPT", value_parser = conversation, requires = "fork", conflicts_with = "resume")]
    before: Option<String>,
    /// A model the agent knows
    #[arg(long, value_parser = model)]
    model: Option<String>,
    /// The permission mode; running without asking cannot be chosen here
    #[arg(long, value_parser = mode())]
    mode: Option<PermissionMode>,
    /// What to start the agent with, as a JSON object: system prompt, limits, tools and more
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    options: Option<PathBuf>,
    /// Record everything that happens to the session in a new file, without secrets, for a bug report
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    record: Option<PathBuf>,
    /// Load the folder's own settings, hooks and servers for this run; without it, a folder that is not trusted is opened
    /// restricted
    #[arg(long)]
    trust: bool,
    /// While the processors are busy, the agent and all that it starts get less of them than other programs
    #[arg(long)]
    low_priority: bool,
}

impl SessionArgs {
    fn checked(self, cwd: &Path) -> Result<RelayOptions, Problem> {
        let project =
            ProjectStore::check_folder(&cwd.join(self.project.as_deref().unwrap_or(Path::new(""))))?;
        let acp = self.acp(cwd);
        if acp.is_some() {
            self.check_claude_only()?;
        }
        let other_ids = acp.is_some() || self.profile.is_some();
        // Other agents have ids of other forms.
        let is_id = |id: &String| other_ids && Launch::is_conversation_id(id);
        let resume = self.resume.map(|id| if is_id(&id) { Ok(id) } else { conversation(&id) }).transpose()?;
        Ok(RelayOptions {
            project,
            agent: self.agent.filter(|_| acp.is_none()),
            acp,
            profile: self.profile,
            resume,
            fork: self.fork,
            before: self.before,
            model: self.model,
            mode: self.mode,
            options: self.options.map(|options| cwd.join(options)),
            record: self.record.map(|record| cwd.join(record)),
            trust: self.trust,
            priority: if self.low_priority { Priority::Low } else { Priority::default() },
        })
    }

    /// The agent that speaks ACP, if one was chosen.
    /// `cwd`: for a program that is a relative path.
    fn acp(&self, cwd: &Path) -> Option<ChosenAgent> {
        if let Some(command) = &self.agent_command {
            // A name without a folder is searched for.
            let is_path = command.components().count() > 1;
            let program = if is_path { cwd.join(command) } else { command.clone() };
            return Some(ChosenAgent::Command { program, arguments: self.agent_argument.clone() });
        }
        // A name of the table is no path: `./gemini` is.
        ChosenAgent::row_of(self.agent.as_ref()?.to_str()?)
    }

    fn check_claude_only(&self) -> Result<(), Problem> {
        let of_claude = [
            ("--fork", self.fork.is_some()),
            ("--mode", self.mode.is_some()),
            ("--options", self.options.is_some()),
        ];
        match of_claude.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Problem::OnlyClaude(option)),
            None => Ok(()),
        }
    }
}

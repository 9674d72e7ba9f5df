//! The agent that a relay runs: `--agent`, `--agent-command` and `--agent-argument`.

use super::{Problem, RelayOptions};
use deskbell_engine::acp::ChosenAgent;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The agent as the command line names it.
#[derive(Debug, Default)]
pub struct Named {
    pub agent: Option<OsString>,
    pub command: Option<OsString>,
    pub arguments: Vec<OsString>,
}

impl Named {
    pub fn is_given(&self) -> bool {
        self.agent.is_some() || self.command.is_some()
    }

    /// Puts the agent into the options.
    /// `cwd`: for a program that is a relative path.
    pub fn apply(self, options: &mut RelayOptions, cwd: &Path) -> Result<(), Problem> {
        let Self { agent, command, arguments } = self;
        if agent.is_some() && command.is_some() {
            return Err(Problem::AgentAndCommand);
        }
        if command.is_none() && !arguments.is_empty() {
            return Err(Problem::ArgumentWithoutCommand);
        }
        // A name of the table is no path: `./gemini` is.
        let row = agent.as_ref().and_then(|agent| ChosenAgent::row_of(agent.to_str()?));
        options.acp = row.or_else(|| {
            let arguments = arguments.iter().map(|one| one.to_string_lossy().into_owned()).collect();
            let command = command.map(PathBuf::from)?;
            // A name without a folder is searched for.
            let is_path = command.components().count() > 1;
            let program = if is_path { cwd.join(command) } else { command };
            Some(ChosenAgent::Command { program, arguments })
        });
        options.agent = agent.filter(|_| options.acp.is_none()).map(PathBuf::from);
        if options.acp.is_none() {
            return Ok(());
        }
        let of_claude = [
            ("--fork", options.fork.is_some()),
            ("--mode", options.mode.is_some()),
            ("--options", options.options.is_some()),
        ];
        match of_claude.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Problem::OnlyClaude(option)),
            None => Ok(()),
        }
    }
}

//! The command line of `deskbell on`.

use super::Problem;
use clap::ValueHint;
use deskbell_engine::api::RemoteMachine;
use std::path::{Path, PathBuf};

/// A command for another machine.
#[derive(Debug, PartialEq, Eq)]
pub struct OnOptions {
    pub machine: RemoteMachine,
    /// The program to copy there, instead of the one for its system that came with Deskbell.
    pub program: Option<PathBuf>,
    /// The arguments of Deskbell there. They have no line feed and no NUL.
    pub command: Vec<String>,
}

/// The most arguments of a command, and their bytes.
pub const MAX_ARGUMENTS: usize = 100;
pub const MAX_BYTES: usize = 100 << 10;

/// The arguments after `on`.
#[derive(Debug, clap::Args)]
pub struct OnArgs {
    /// Copy this program there
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    program: Option<PathBuf>,
    /// A host of your ssh, docker:NAME, podman:NAME, devcontainer:FOLDER, kubectl:NAMESPACE/POD or wsl:NAME; and the
    /// command of Deskbell there, `relay --attach` for example
    // One list: everything after the machine belongs to the command.
    #[arg(required = true, num_args = 2.., value_names = ["MACHINE", "COMMAND"], trailing_var_arg = true)]
    words: Vec<String>,
}

impl OnArgs {
    pub fn checked(self, cwd: &Path) -> Result<OnOptions, Problem> {
        let mut words = self.words.into_iter();
        let machine = words.next().unwrap_or_default().parse()?;
        let command: Vec<String> = words.collect();
        let n_bytes: usize = command.iter().map(String::len).sum();
        if command.len() > MAX_ARGUMENTS
            || n_bytes > MAX_BYTES
            || command.iter().any(|arg| arg.contains(['\n', '\r', '\0']))
        {
            return Err(Problem::BadArgument);
        }
        Ok(OnOptions { machine, program: self.program.map(|program| cwd.join(program)), command })
    }
}

//! The exit codes of every command.

use std::process::ExitCode;

/// How a command ended, as its exit code says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Success = 0,
    Failed = 1,
    Usage = 2,
    NotFound = 3,
    NoAgent = 4,
    TurnFailed = 5,
    NothingToAttach = 90,
    AlreadyRuns = 91,
    NoConnection = 255,
}

impl Exit {
    pub const ALL: [Self; 9] = [
        Self::Success,
        Self::Failed,
        Self::Usage,
        Self::NotFound,
        Self::NoAgent,
        Self::TurnFailed,
        Self::NothingToAttach,
        Self::AlreadyRuns,
        Self::NoConnection,
    ];

    pub fn code(self) -> u8 {
        self as u8
    }

    /// What it says, for the manual page.
    pub fn about(self) -> &'static str {
        match self {
            Self::Success => "Success.",
            Self::Failed => {
                "The command failed, or what it printed is not complete; standard error has the reason. Of sessions \
                 search: nothing was found."
            }
            Self::Usage => {
                "The command line was not understood, names a folder that cannot be opened, or is not available in \
                 this installation. Of sessions search: a part could not be searched."
            }
            Self::NotFound => {
                "What was to be pinned, removed, stopped or marked is not there: a project, a recording or a session."
            }
            Self::NoAgent => {
                "Of relay: the agent is missing, may not start in this folder, or could not be started."
            }
            Self::TurnFailed => "Of relay: the last turn failed.",
            Self::NothingToAttach => "There is nothing to attach to.",
            Self::AlreadyRuns => "A server of this version is already running.",
            Self::NoConnection => {
                "The link to the server or to the other machine could not be made, or broke."
            }
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// The error of a command whose object is not there.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotThere(pub String);

impl Exit {
    /// The exit code of a command that ended with this error.
    pub fn of(error: &anyhow::Error) -> Self {
        if error.is::<NotThere>() { Self::NotFound } else { Self::Failed }
    }
}

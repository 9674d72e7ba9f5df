//! Why a setting was not changed.

use crate::api::{CommandError, ErrorCode, SettingsProblem};
use std::io;
use std::path::PathBuf;

/// The reason why a setting was not changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("there is no setting “{0}”; `deskbell settings get` lists them")]
    UnknownKey(String),
    #[error("{0}")]
    BadValue(String),
    #[error("the file has no profile “{0}”")]
    NoProfile(String),
    /// The file is not valid JSON, so it cannot be edited without a risk for its contents.
    #[error("{} has an error{at}: {message}", path.display(), at = .problem.place(), message = .problem.message)]
    Invalid { path: PathBuf, problem: SettingsProblem },
    /// The edit would have changed something else too.
    #[error("{} is written in a way that cannot be edited safely; edit the file yourself", .0.display())]
    Unsafe(PathBuf),
    /// The user must confirm these changes outside the page first.
    #[error("the programs that Deskbell starts would change")]
    Unconfirmed(Vec<String>),
    /// A dialog cannot show all of the changes.
    #[error("the command and its variables are too long for the dialog that confirms them")]
    TooLong,
    #[error("could not write {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl From<SettingsError> for CommandError {
    fn from(error: SettingsError) -> Self {
        let message = match &error {
            SettingsError::UnknownKey(_) | SettingsError::BadValue(_) => "This setting has no such value.",
            SettingsError::Unconfirmed(_) => "You did not confirm the change.",
            SettingsError::TooLong => {
                "This is too long to be confirmed. Write it into settings.json; options of a session as a preset."
            }
            SettingsError::NoProfile(_) => {
                "The profile was renamed or removed in the settings file meanwhile."
            }
            SettingsError::Invalid { .. } | SettingsError::Unsafe(_) => {
                "The settings file has an error. Correct it first, with “Open settings.json”."
            }
            SettingsError::Io { .. } => "The settings could not be saved.",
        };
        let code = match error {
            SettingsError::Unconfirmed(_) | SettingsError::TooLong => ErrorCode::Refused,
            _ => ErrorCode::Internal,
        };
        Self { code, message: message.to_owned(), detail: Some(error.to_string()) }
    }
}

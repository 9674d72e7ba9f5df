//! The beginning of a fork: the part of a stored conversation that it copies.

use crate::api::{CommandError, ErrorCode};
use crate::disk::ReadError;
use crate::history::{Kept, PromptPlace, transcript_path};
use crate::launch::Fork;
use std::path::Path;

impl Fork {
    /// Returns the fork of a conversation that ends before one of its prompts, given by its id on disk. `None`: the prompt
    /// is the first one, so there is nothing to copy. Only reads the conversation's file.
    pub fn before(
        config: &Path,
        project: &Path,
        of: &str,
        prompt: &str,
    ) -> Result<Option<Self>, CommandError> {
        let refused = |message: &str, detail: Option<String>| CommandError {
            code: ErrorCode::NoSuchPrompt,
            message: message.to_owned(),
            detail,
        };
        let kept = Kept::load(&transcript_path(config, project, of)).map_err(|error: ReadError| {
            refused("The conversation could not be read.", Some(error.to_string()))
        })?;
        match kept.place_of(prompt) {
            Some(PromptPlace::After(until)) => Ok(Some(Self { of: of.to_owned(), until: Some(until) })),
            Some(PromptPlace::Beginning) => Ok(None),
            None => {
                Err(refused("The agent has not stored this prompt, so it cannot be forked from it.", None))
            }
        }
    }
}

//! The error of a start.

use std::path::PathBuf;

/// The program was found but could not be started.
#[derive(Debug, thiserror::Error)]
#[error("could not start {program}: {source}", program = program.display())]
pub struct SpawnError {
    pub program: PathBuf,
    pub source: std::io::Error,
}

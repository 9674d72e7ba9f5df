//! The error of an end that failed.

use std::io;

/// An orphan process could not be ended.
#[derive(Debug, thiserror::Error)]
#[error("process {pid} could not be ended: {source}")]
pub struct EndError {
    pub pid: u32,
    pub source: io::Error,
}

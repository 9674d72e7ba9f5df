//! The recording of a session, for a bug report.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A recording that is being written, or the last one, which has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RecordingState {
    pub path: String,
    pub is_running: bool,
    /// Bytes of whole lines in the file.
    pub n_bytes: u64,
    /// Why it ended by itself. The user stopped it, or it runs, if this is `null`.
    pub problem: Option<String>,
}

//! Orphans: processes left by an earlier run of the app.

use serde::Serialize;
use ts_rs::TS;

/// A process of an earlier run of the app that is still running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OrphanProcess {
    pub pid: u32,
    /// Its command line, with arguments separated by spaces.
    pub command: String,
    /// Its working directory.
    pub folder: Option<String>,
    pub started_at: u64,
}

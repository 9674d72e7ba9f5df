//! What an earlier run of the app left behind.

use serde::Serialize;
use ts_rs::TS;

/// A process of an earlier run of the app that is still there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Survivor {
    pub pid: u32,
    /// Its command line, the arguments parted by blanks.
    pub command: String,
    /// Where it works.
    pub folder: Option<String>,
    pub started_at: u64,
}

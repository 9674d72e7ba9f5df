//! A survey: what a folder would run, send or allow if it were trusted.

use crate::api::{Finding, Severity};
use std::path::PathBuf;

/// The effects of a folder if it is trusted, according to the current contents of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The folder, links resolved.
    pub project: PathBuf,
    /// The most dangerous first.
    pub findings: Vec<Finding>,
    /// Identifies exactly these files; `None` if one of them could not be read or shown in full, so that it matches no
    /// stored decision.
    pub fingerprint: Option<String>,
    /// The list of files is known to be the agent's own; otherwise the agent may load more.
    pub is_complete: bool,
}

impl Survey {
    /// Returns whether nothing in it runs, sends data elsewhere or widens the agent's permissions.
    pub fn nothing_to_run(&self) -> bool {
        self.is_complete && self.findings.iter().all(|finding| finding.severity == Severity::Changes)
    }
}

//! Folder trust: a survey of a folder's effects on its agent, and the user's decisions.
//!
//! In `-p` mode the CLI never asks for trust: a folder's settings run hooks, servers and helpers at spawn, and can send
//! the API key to another address (2.1.329 and 2.1.197). So Deskbell asks. [`survey`] reads the files that the CLI
//! would read and reports their contents; it runs nothing, follows links but names them, and never waits on a file.
//! Anything that it cannot judge counts as dangerous. [`TrustStore`] stores the decisions.

mod files;
mod fingerprint;
pub(crate) mod snapshot;
mod store;
mod watch;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod properties;

use crate::api::{Finding, Severity};
use crate::claude::{self, trust::Findings};
use files::{Content, Found, Role};
use std::path::{Path, PathBuf};

pub use snapshot::Snapshot;
pub use store::{Admission, TrustError, TrustState, TrustStore};
pub use watch::Watch;

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
}

impl Survey {
    /// Returns whether nothing in it runs, sends data elsewhere or widens the agent's permissions.
    pub fn nothing_to_run(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity == Severity::Changes)
    }
}

/// Reads the folder's files for the agent and reports their effects. Read-only.
#[cfg(test)]
pub(crate) fn survey(project: &Path) -> Survey {
    surveyed(project).0
}

/// The survey and its files, read once.
fn surveyed(project: &Path) -> (Survey, Vec<Found>) {
    let project = dunce::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    let files = files::read(&project);
    let mut findings = Vec::new();
    let mut all_shown = true;
    for file in &files {
        let mut found = Findings::new(file.place.label.clone(), link(file));
        judge(&mut found, &file.content, &file.place.role);
        all_shown &= !found.is_cut;
        findings.append(&mut found.list);
    }
    findings.sort_by_key(|finding| (finding.severity, finding.kind));
    let fingerprint = fingerprint::of(&files).filter(|_| all_shown);
    (Survey { project, findings, fingerprint }, files)
}

/// The target of a file that is a link.
fn link(file: &Found) -> Option<String> {
    file.link.as_ref().map(|link| link.display().to_string())
}

/// Adds the findings of one file.
fn judge(found: &mut Findings, content: &Content, role: &Role) {
    match content {
        Content::Bytes(bytes) => claude::trust::judge(found, bytes, role),
        Content::LeadsNowhere { target } => {
            found.odd("A link that leads nowhere", target.display().to_string());
        }
        Content::Unreadable(reason) => {
            found.unreadable("Cannot be read, so it counts as dangerous", reason.clone());
        }
    }
}

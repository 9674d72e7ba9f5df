//! Folder trust: a survey of a folder's effects on its agent, and the user's decisions.
//!
//! In `-p` mode the CLI never asks for trust: a folder's settings run hooks, servers and helpers at spawn, and can send
//! the API key to another address (2.1.329 and 2.1.197). So Deskbell asks. `survey` reads the files that the CLI
//! would read and reports their contents; it runs nothing, follows links but names them, and never waits on a file.
//! Anything that it cannot judge counts as dangerous. [`TrustStore`] stores the decisions.
//!
//! Other agents have files of their own, and each has a decision of its own: [`TrustStore::of_agent`].

mod agent_files;
mod files;
mod fingerprint;
mod git;
mod imports;
pub(crate) mod snapshot;
mod store;
mod survey;
mod watch;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod properties;

use crate::api::{Finding, TrustAgent};
use crate::claude::{self, trust::Findings};
use agent_files::AgentFile;
use deskbell_acp::ChosenAgent;
use deskbell_acp::agents::{Restriction, UNKNOWN};
use deskbell_acp::folder::FolderCheck;
use files::{Content, Found, Role};
use std::path::{Path, PathBuf};
use survey::Survey;

pub(crate) use files::{MOST_BYTES_OF_SETTINGS, settings_files};
pub use git::restricted_environment;
pub use snapshot::Snapshot;
pub use store::{Admission, TrustError, TrustState, TrustStore};
pub use watch::Watch;

/// Reads the folder's files for the agent and reports their effects. Read-only.
#[cfg(test)]
pub(crate) fn survey(project: &Path) -> Survey {
    surveyed(project, None).0
}

/// What a survey is based on, read once.
#[derive(Clone, Debug, Default)]
struct SurveyedFiles {
    /// Claude Code's.
    claude: Vec<Found>,
    /// Those of another agent.
    others: Vec<AgentFile>,
    /// What has a finding and is in none of these files: git's configuration, and outside files that instructions import.
    beyond: Vec<Finding>,
}

impl SurveyedFiles {
    fn read(project: &Path, agent: Option<&ChosenAgent>) -> Self {
        let folder = agent.map(|agent| agent.facts().unwrap_or(&UNKNOWN).folder);
        let claude =
            if folder.is_none_or(|folder| folder.claude) { files::read(project) } else { Vec::new() };
        let others = folder.map(|folder| agent_files::read(project, &folder)).unwrap_or_default();
        let mut beyond = git::findings(project);
        if folder.is_none_or(|folder| folder.claude) {
            beyond.append(&mut imports::findings(project));
        }
        Self { claude, others, beyond }
    }

    /// Reports their effects for this agent.
    fn judge(&self, project: PathBuf, agent: Option<&ChosenAgent>) -> Survey {
        let Self { claude, others, beyond } = self;
        let mut findings = Vec::new();
        let mut all_shown = true;
        for file in claude {
            let mut found = Findings::new(file.place.label.clone(), link(file));
            judge(&mut found, &file.content, &file.place.role);
            all_shown &= !found.is_cut;
            findings.append(&mut found.list);
        }
        let fingerprint = match agent {
            Some(agent) => {
                let (mut more, is_all) = agent_files::judge(others);
                findings.append(&mut more);
                all_shown &= is_all;
                fingerprint::of_agent(&decision_id(agent), claude, others, beyond)
            }
            None => fingerprint::of(claude, beyond),
        };
        findings.extend(beyond.iter().cloned());
        findings.sort_by_key(|finding| (finding.severity, finding.kind));
        let fingerprint = fingerprint.filter(|_| all_shown);
        let is_complete = agent.is_none_or(|agent| !view_of(agent).unchecked);
        Survey { project, findings, fingerprint, is_complete }
    }
}

/// The survey for an agent, and the files that it is based on. `None` is Claude Code.
fn surveyed(project: &Path, agent: Option<&ChosenAgent>) -> (Survey, SurveyedFiles) {
    let project = dunce::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    let files = SurveyedFiles::read(&project, agent);
    (files.judge(project, agent), files)
}

/// Names the decision about an agent, also as a folder's name. A row's id has only letters and dashes.
fn decision_id(agent: &ChosenAgent) -> String {
    match agent {
        ChosenAgent::Row { id } if deskbell_acp::agents::agent(id).is_some() => id.clone(),
        other => format!("command-{}", fingerprint::of_text(&format!("{other:?}"))),
    }
}

/// The agent of a decision, for a window.
fn view_of(agent: &ChosenAgent) -> TrustAgent {
    let row = agent.facts().unwrap_or(&UNKNOWN);
    let trusted_only = match row.restriction {
        Restriction::TrustedOnly(reason) => Some(reason.to_owned()),
        Restriction::ByItself => None,
    };
    let unchecked = row.folder.checked == FolderCheck::Documentation;
    TrustAgent { id: decision_id(agent), name: agent.name(), unchecked, trusted_only }
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

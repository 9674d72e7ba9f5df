//! Folder trust: a survey of a folder's effects on its agent, and the user's decisions.
//!
//! In `-p` mode the CLI never asks for trust: a folder's settings run hooks, servers and helpers at spawn, and can send
//! the API key to another address (2.1.329 and 2.1.197). So Deskbell asks. [`survey`] reads the files that the CLI
//! would read and reports their contents; it runs nothing, follows links but names them, and never waits on a file.
//! Anything that it cannot judge counts as dangerous. [`TrustStore`] stores the decisions.

mod environment;
mod extension;
mod files;
mod fingerprint;
mod frontmatter;
mod hooks;
mod json;
mod servers;
mod settings;
pub(crate) mod snapshot;
mod store;
mod typed;
mod watch;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod properties;

use crate::api::{Finding, FindingDetail, FindingKind, Severity};
use files::{Content, Found, Place, Role};
use json::Json;
use std::path::{Path, PathBuf};

pub use snapshot::Snapshot;
pub use store::{Admission, Difference, TrustError, TrustState, TrustStore};
pub use watch::Watch;

/// Maximum number of findings in one file; a longer list would not be read.
const MOST_FINDINGS: usize = 1000;

/// Maximum text of one file's findings in total, in bytes.
const MOST_TEXT: usize = 8 * 1024 * 1024;

/// Maximum length, in bytes, of the text shown of a file that cannot be read as settings.
const MOST_RAW_TEXT: usize = 64 * 1024;

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
pub fn survey(project: &Path) -> Survey {
    surveyed(project).0
}

/// The survey and its files, read once.
fn surveyed(project: &Path) -> (Survey, Vec<Found>) {
    let project = dunce::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    let files = files::read(&project);
    let mut findings = Vec::new();
    let mut all_shown = true;
    for file in &files {
        let mut found = Findings::new(&file.place, file.link.as_deref());
        judge(&mut found, &file.content, &file.place.role);
        all_shown &= !found.is_cut;
        findings.append(&mut found.list);
    }
    findings.sort_by_key(|finding| (finding.severity, finding.kind));
    let fingerprint = fingerprint::of(&files).filter(|_| all_shown);
    (Survey { project, findings, fingerprint }, files)
}

/// Adds the findings of one file.
fn judge(found: &mut Findings, content: &Content, role: &Role) {
    let bytes = match content {
        Content::Bytes(bytes) => bytes,
        Content::LeadsNowhere { target } => {
            found.odd("A link that leads nowhere", target.display().to_string());
            return;
        }
        Content::Unreadable(reason) => {
            found.unreadable("Cannot be read, so it counts as dangerous", reason.clone());
            return;
        }
    };
    let text = json::decode(bytes);
    for oddity in &text.oddities {
        found.odd("Is written in an unusual way", (*oddity).to_owned());
    }
    if text.text.trim().is_empty() {
        return;
    }
    if !matches!(role, Role::Settings | Role::Servers) {
        return extension::find(found, &text.text, role);
    }
    let document = match json::parse(&text.text) {
        Ok(document) => document,
        Err(error) => {
            found.raw("Is not valid JSON, so it counts as dangerous", &text.text);
            found.detail("error", error);
            return;
        }
    };
    for oddity in document.oddities {
        found.odd("Is written in an unusual way", oddity);
    }
    match (&document.root, role) {
        (Json::Object(entries), Role::Settings) => settings::find(found, entries),
        (Json::Object(entries), Role::Servers) => settings::find_servers(found, entries),
        _ => found.raw("Is no object of settings, so it counts as dangerous", &text.text),
    }
}

/// The findings of one file.
struct Findings {
    file: String,
    link: Option<String>,
    list: Vec<Finding>,
    n_bytes: usize,
    /// The list does not contain everything that is in the file.
    is_cut: bool,
}

impl Findings {
    fn new(place: &Place, link: Option<&Path>) -> Self {
        let link = link.map(|link| link.display().to_string());
        Self { file: place.label.clone(), link, list: Vec::new(), n_bytes: 0, is_cut: false }
    }

    fn add(
        &mut self,
        kind: FindingKind,
        severity: Severity,
        title: impl Into<String>,
        text: impl Into<String>,
    ) {
        let text = text.into();
        if self.has_room(text.len()) {
            self.push(kind, severity, title.into(), text);
        }
    }

    fn push(&mut self, kind: FindingKind, severity: Severity, title: String, text: String) {
        let (file, link) = (self.file.clone(), self.link.clone());
        self.list.push(Finding { kind, severity, file, link, title, name: None, text, details: Vec::new() });
    }

    /// Returns whether the list has room for this many more bytes. A small file can have many findings, so the list is
    /// limited, and a last finding says so.
    fn has_room(&mut self, n_bytes: usize) -> bool {
        self.n_bytes += n_bytes;
        if !self.is_cut && (self.list.len() == MOST_FINDINGS || self.n_bytes > MOST_TEXT) {
            self.is_cut = true;
            let title = "Says more than can be shown, so it counts as dangerous".to_owned();
            let text = format!("{} entries are shown, and there are more", self.list.len());
            self.push(FindingKind::Unreadable, Severity::Runs, title, text);
        }
        !self.is_cut
    }

    /// Sets the name of the last finding.
    fn name(&mut self, name: impl Into<String>) {
        let name = name.into();
        if self.has_room(name.len())
            && let Some(last) = self.list.last_mut()
        {
            last.name = Some(name);
        }
    }

    /// Adds a detail to the last finding.
    fn detail(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (name, value) = (name.into(), value.into());
        if self.has_room(name.len() + value.len())
            && let Some(last) = self.list.last_mut()
        {
            last.details.push(FindingDetail { name, value });
        }
    }

    /// Adds all entries that are not in `said` to the last finding, so that nothing is hidden.
    fn rest(&mut self, entries: &[(String, Json)], said: &[&str]) {
        for (name, value) in entries.iter().filter(|(name, _)| !said.contains(&name.as_str())) {
            self.detail(name, value.text());
        }
    }

    fn odd(&mut self, title: &str, what: String) {
        self.add(FindingKind::Oddity, Severity::Changes, title, what);
    }

    fn unreadable(&mut self, title: &str, text: String) {
        self.add(FindingKind::Unreadable, Severity::Runs, title, text);
    }

    /// Adds the raw text of a file whose meaning is not clear.
    fn raw(&mut self, title: &str, text: &str) {
        let (shown, rest) = text.split_at(text.floor_char_boundary(MOST_RAW_TEXT));
        if rest.is_empty() {
            self.unreadable(title, shown.to_owned());
        } else {
            self.unreadable(title, format!("{shown}\n… {} bytes more", rest.len()));
            self.is_cut = true;
        }
    }
}

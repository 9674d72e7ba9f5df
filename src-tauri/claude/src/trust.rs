//! The effects of a folder's files on this agent: what it would run, send elsewhere or allow.
//!
//! [`judge`] reads the contents of one file. It runs nothing, and anything that it cannot judge counts as dangerous.

mod environment;
mod extension;
mod frontmatter;
mod hooks;
pub mod instructions;
pub mod json;
mod keys;
pub mod schedule;
mod servers;
mod settings;
pub mod snapshot;
mod typed;

use crate::api::{Finding, FindingDetail, FindingKind, Severity};
pub(crate) use environment::is_dangerous as is_dangerous_variable;
use json::Json;
pub use keys::is_copied;

/// Maximum number of findings in one file; a longer list would not be read.
pub const MOST_FINDINGS: usize = 1000;

/// Maximum text of one file's findings in total, in bytes.
pub const MOST_TEXT: usize = 8 * 1024 * 1024;

/// Maximum length, in bytes, of the text shown of a file that cannot be read as settings.
pub const MOST_RAW_TEXT: usize = 64 * 1024;

/// The role of a file in the CLI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    Settings,
    Servers,
    /// Prompts with times.
    Schedule,
    /// A `SKILL.md`, and the name of its folder.
    Skill {
        name: String,
    },
    Agent,
    /// A slash command, and its name: `sub:name` for a file in a subfolder.
    Command {
        name: String,
    },
    /// A file that the CLI would load from the folder, but that copies leave out.
    NotLoaded {
        what: &'static str,
    },
}

/// Adds the findings of one file.
pub fn judge(found: &mut Findings, bytes: &[u8], role: &Role) {
    if let Role::NotLoaded { what } = role {
        return found.add(FindingKind::Setting, Severity::Changes, "Is left out", *what);
    }
    let text = json::decode(bytes);
    for oddity in &text.oddities {
        found.odd("Is written in an unusual way", (*oddity).to_owned());
    }
    // The CLI offers a skill or a command without a text too.
    let is_offered = matches!(role, Role::Skill { .. } | Role::Command { .. });
    if text.text.trim().is_empty() && !is_offered {
        return;
    }
    match role {
        Role::Settings | Role::Servers | Role::NotLoaded { .. } => {}
        Role::Schedule => return schedule::find(found, &text.text),
        Role::Skill { .. } | Role::Agent | Role::Command { .. } => {
            return extension::find(found, &text.text, role);
        }
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
pub struct Findings {
    file: String,
    link: Option<String>,
    pub list: Vec<Finding>,
    n_bytes: usize,
    /// The list does not contain everything that is in the file.
    pub is_cut: bool,
}

impl Findings {
    /// Without a finding yet. `file` is the path to show, `link` the target of a link.
    pub fn new(file: String, link: Option<String>) -> Self {
        Self { file, link, list: Vec::new(), n_bytes: 0, is_cut: false }
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

    /// Adds something unusual that is not dangerous in itself.
    pub fn odd(&mut self, title: &str, what: String) {
        self.add(FindingKind::Oddity, Severity::Changes, title, what);
    }

    /// Adds something that cannot be judged.
    pub fn unreadable(&mut self, title: &str, text: String) {
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

//! The files of a folder that an agent other than Claude Code loads, as its row in the table of agents lists them.
//!
//! They are read like Claude Code's: bounded, without waiting, and nothing is executed. Their contents have no judge of
//! their own, so a file that can run something is shown as it is, in full.

use super::files::{Content, MOST_DEPTH, MOST_EXTENSIONS, entries, extension_folders, look_at, name_of};
use crate::api::{Finding, FindingDetail, FindingKind, Severity};
use deskbell_acp::folder::{FolderEffect, FolderFile, FolderSetup, Up};
use std::path::{Path, PathBuf};

/// Maximum text shown of one file, in bytes. A longer one cannot be trusted.
const MOST_RAW_TEXT: usize = 64 * 1024;

/// Maximum text shown of all files, in bytes.
const MOST_TEXT: usize = 8 * 1024 * 1024;

/// Folders that are left out: packages that an agent installs itself.
const INSTALLED: &str = "node_modules";

/// A file that exists.
#[derive(Clone, Debug)]
pub(super) struct AgentFile {
    pub path: PathBuf,
    /// The path for display, relative to the project.
    pub label: String,
    pub effect: FolderEffect,
    /// Its real path, if a link leads there.
    pub link: Option<PathBuf>,
    pub content: Content,
}

/// Reads every file of this list. The project's path must contain no links.
pub(super) fn read(project: &Path, folder: &FolderSetup) -> Vec<AgentFile> {
    let mut files = Vec::new();
    for file in folder.files {
        for (n_up, above) in folders(project, file.up) {
            let label = format!("{}{}", "../".repeat(n_up), file.path);
            find(&mut files, above.join(file.path), label, file);
            if files.len() > MOST_EXTENSIONS {
                return files;
            }
        }
    }
    files
}

/// The folders in which an agent looks for a file.
fn folders(project: &Path, up: Up) -> Vec<(usize, &Path)> {
    match up {
        Up::No => vec![(0, project)],
        Up::Repository => match extension_folders(project) {
            // The project is the user's home.
            none if none.is_empty() => vec![(0, project)],
            folders => folders,
        },
        Up::All => {
            let home = dirs::home_dir().and_then(|home| dunce::canonicalize(home).ok());
            let above = project.ancestors().enumerate();
            above.take_while(|(n_up, folder)| *n_up == 0 || Some(*folder) != home.as_deref()).collect()
        }
    }
}

/// Adds the file at a path, or everything in the folder there, in the order of the paths.
fn find(files: &mut Vec<AgentFile>, path: PathBuf, label: String, file: &FolderFile) {
    let mut found = Vec::new();
    let mut waiting = vec![(path, label, 0)];
    let mut n_folders = 0;
    while let Some((path, label, depth)) = waiting.pop() {
        let is_full = files.len() + found.len() + waiting.len() > MOST_EXTENSIONS;
        if path.is_dir() {
            // Many projects have a virtual environment with the name `.env`.
            if file.effect == FolderEffect::Variables {
                continue;
            }
            // Links may form cycles.
            n_folders += 1;
            if !is_full && depth <= MOST_DEPTH && n_folders <= MOST_EXTENSIONS {
                for entry in entries(&path) {
                    let Some(name) = name_of(&entry).filter(|name| name != INSTALLED) else { continue };
                    waiting.push((entry, format!("{label}/{name}"), depth + 1));
                }
                continue;
            }
        }
        let looked = if is_full || path.is_dir() {
            let reason = format!("there are more than {MOST_EXTENSIONS} files or {MOST_DEPTH} folders");
            Some((None, Content::Unreadable(reason)))
        } else {
            look_at(&path)
        };
        if let Some((link, content)) = looked {
            found.push(AgentFile { path, label, effect: file.effect, link, content });
        }
        if is_full {
            break;
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    files.append(&mut found);
}

/// What these files can do, and whether all of it is shown.
pub(super) fn judge(files: &[AgentFile]) -> (Vec<Finding>, bool) {
    let (mut findings, mut all_shown, mut n_bytes) = (Vec::new(), true, 0);
    for file in files {
        let Shown { kind, severity, title, text, rest } = shown(file);
        all_shown &= rest == 0;
        n_bytes += text.len();
        if n_bytes > MOST_TEXT {
            findings.push(Finding {
                kind: FindingKind::Unreadable,
                severity: Severity::Runs,
                file: file.label.clone(),
                link: None,
                title: "There is more than can be shown, so it counts as dangerous".to_owned(),
                name: None,
                text: format!("{} of {} files are shown", findings.len(), files.len()),
                details: Vec::new(),
            });
            return (findings, false);
        }
        let more = FindingDetail { name: "not shown".to_owned(), value: format!("{rest} bytes more") };
        findings.push(Finding {
            kind,
            severity,
            file: file.label.clone(),
            link: file.link.as_ref().map(|link| link.display().to_string()),
            title: title.to_owned(),
            name: None,
            text,
            details: Some(more).filter(|_| rest > 0).into_iter().collect(),
        });
    }
    (findings, all_shown)
}

/// One file for the user.
struct Shown {
    kind: FindingKind,
    severity: Severity,
    title: &'static str,
    text: String,
    /// Bytes that are not shown.
    rest: usize,
}

fn shown(file: &AgentFile) -> Shown {
    let plain = |kind, severity, title, text| Shown { kind, severity, title, text, rest: 0 };
    let (kind, severity, title) = match file.effect {
        FolderEffect::Runs => (
            FindingKind::Plugin,
            Severity::Runs,
            "Can start programs and servers, send data elsewhere, or allow tools",
        ),
        FolderEffect::Variables => {
            (FindingKind::Environment, Severity::Redirects, "Sets variables of the agent’s environment")
        }
        FolderEffect::Instructions => (FindingKind::Setting, Severity::Changes, "Instructions for the agent"),
    };
    match &file.content {
        Content::LeadsNowhere { target } => {
            let title = "A link that leads nowhere";
            plain(FindingKind::Oddity, Severity::Changes, title, target.display().to_string())
        }
        Content::Unreadable(reason) => {
            let title = "Cannot be read, so it counts as dangerous";
            plain(FindingKind::Unreadable, Severity::Runs, title, reason.clone())
        }
        Content::Bytes(_) if file.effect == FolderEffect::Instructions => {
            plain(kind, severity, title, String::new())
        }
        Content::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(all) => {
                let (text, rest) = all.split_at(all.floor_char_boundary(MOST_RAW_TEXT));
                Shown { kind, severity, title, text: text.to_owned(), rest: rest.len() }
            }
            // Such as a program or an image of a skill. The fingerprint covers it.
            Err(_) => plain(kind, severity, title, format!("{} bytes that are no text", bytes.len())),
        },
    }
}

#[cfg(test)]
#[path = "agent_tests.rs"]
mod tests;

//! The permission rules in Claude Code's settings files: a list of them, the removal of one, and its undo.

use crate::api::{
    CommandError, ErrorCode, FileRule, FolderRules, RuleEffect, RuleFile, RuleFileList, RuleOrigin, RulePlace,
};
use crate::claude::rule_text::{RemovedRule, RuleText, RuleTextError};
use crate::claude::trust::snapshot::settings::copied_forms;
use crate::disk::{ReadError, read_regular, replace_unchanged};
use crate::misleading::written_out;
use crate::title::Title;
use crate::trust::{MOST_BYTES_OF_SETTINGS, TrustError, TrustState, TrustStore, settings_files};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Longest rule and longest path in a question, in characters.
const LONGEST_LINE: usize = 300;

/// Number of attempts if other programs keep writing the file.
const MOST_ATTEMPTS: usize = 5;

/// The settings files for a folder.
pub struct RuleFiles {
    /// Without links.
    project: PathBuf,
    /// The folder of the user's own settings.
    config: PathBuf,
    trust: TrustStore,
}

/// A rule that was removed, with what puts it back.
#[derive(Clone, Debug)]
pub struct RuleRemoval {
    pub place: RulePlace,
    pub origin: RuleOrigin,
    /// All forms of the rule.
    pub forms: Vec<String>,
    /// The real path of the file.
    file: PathBuf,
    removed: RemovedRule,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl RuleRemoval {
    /// Size in memory, in bytes.
    pub fn n_bytes(&self) -> usize {
        self.before.len() + self.after.len()
    }
}

#[derive(Debug, thiserror::Error)]
enum RuleFileError {
    #[error("it could not be read: {0}")]
    Read(#[from] ReadError),
    #[error(transparent)]
    Text(#[from] RuleTextError),
    #[error("it is read-only")]
    ReadOnly,
    #[error("its folder is read-only")]
    ReadOnlyFolder,
    #[error("it is another file now, because a link changed")]
    AnotherFile,
    #[error("another program keeps writing it")]
    Busy,
    #[error("it could not be written: {0}")]
    Write(io::Error),
}

/// A settings file on disk.
struct RuleSource {
    origin: RuleOrigin,
    path: PathBuf,
    /// The folder that paths of its rules can be relative to.
    root: PathBuf,
}

impl RuleFiles {
    /// `config`: the folder of the user's own settings. Fails if there is no such project.
    pub fn new(project: &Path, config: &Path, trust: TrustStore) -> Result<Self, CommandError> {
        let project = dunce::canonicalize(project)
            .map_err(|source| TrustError::NoFolder { path: project.to_owned(), source })?;
        Ok(Self { project, config: config.to_owned(), trust })
    }

    /// The files that exist, with their rules.
    pub fn list(&self) -> Result<RuleFileList, CommandError> {
        let folder = match self.trust.state(&self.project)? {
            TrustState::Trusted => FolderRules::InEffect,
            TrustState::Restricted => FolderRules::Restricted,
            TrustState::Kept { .. } => FolderRules::Kept,
            TrustState::Unknown { .. } | TrustState::Changed { .. } => FolderRules::Undecided,
        };
        Ok(RuleFileList { files: self.files().into_iter().filter_map(|file| file.view()).collect(), folder })
    }

    /// The places of rules that the agent saves for the user in this folder; `None` while one of them is in no file.
    pub fn saved(&self, rules: &[String]) -> Option<Vec<RulePlace>> {
        let files = self.files().into_iter().filter(|file| file.origin == RuleOrigin::Local);
        let files: Vec<RuleFile> = files.filter_map(|file| file.view()).collect();
        let place = |rule: &String| {
            let is_it = |known: &FileRule| known.effect == RuleEffect::Allow && known.rule == *rule;
            let file = files.iter().find(|file| file.rules.iter().any(is_it))?;
            Some(RulePlace { path: file.path.clone(), effect: RuleEffect::Allow, rule: rule.clone() })
        };
        rules.iter().map(place).collect()
    }

    /// The reason why the agent saved nothing for the user in this folder, as far as the files show it.
    pub fn obstacle(&self) -> Option<String> {
        let files = self.files().into_iter().filter(|file| file.origin == RuleOrigin::Local);
        let reason = |file: RuleSource| {
            let view = file.view();
            let problem = view.as_ref().and_then(|view| view.problem.clone());
            let link = view.as_ref().and_then(|view| view.link.as_ref());
            let link = link.map(|link| format!("it is a link to {link}, and the agent writes through none"));
            let fixed = || check_writable(&file.path).err().map(|error| error.to_string());
            Some(format!("{}: {}", file.path.display(), problem.or(link).or_else(fixed)?))
        };
        files.into_iter().find_map(reason)
    }

    /// Removes a rule from its file. Everything else in the file stays as it is.
    ///
    /// # Errors
    ///
    /// The file is none of this folder's, cannot be read or written, or does not have the rule.
    pub fn remove(&self, place: &RulePlace) -> Result<RuleRemoval, CommandError> {
        let file = self.file(place)?;
        let taken_out = |text: &RuleText<'_>| text.without(place.effect, &place.rule);
        let failed = |error| failure(&place.rule, "was not removed", &file.path, &error);
        let path = real(&file.path);
        let ([before, after], removed) = self
            .change(&path, Some(&place.rule), |bytes| Ok(taken_out(&RuleText::read(bytes)?)?))
            .map_err(failed)?;
        let forms = file.forms(place.effect, &place.rule);
        let (place, origin) = (place.clone(), file.origin);
        Ok(RuleRemoval { place, origin, forms, file: path, removed, before, after })
    }

    /// Puts a removed rule back in its place. If nothing was written since, the file is what it was before.
    ///
    /// # Errors
    ///
    /// As [`RuleFiles::remove`], and if the rule is there again, or a link leads to another file now.
    pub fn restore(&self, removal: &RuleRemoval) -> Result<(), CommandError> {
        let file = self.file(&removal.place)?;
        let put_back = |bytes: &[u8]| {
            let is_same = bytes == removal.after;
            let text = if is_same {
                removal.before.clone()
            } else {
                RuleText::read(bytes)?.with(&removal.removed)?
            };
            Ok((text, ()))
        };
        let failed = |error| failure(&removal.place.rule, "was not put back", &file.path, &error);
        if real(&file.path) != removal.file {
            return Err(failed(RuleFileError::AnotherFile));
        }
        self.change(&removal.file, None, put_back).map(|_| ()).map_err(failed)
    }

    /// Each file once: in the home folder the user's own settings are also those of the project.
    fn files(&self) -> Vec<RuleSource> {
        let (shared, local) = settings_files(&self.project);
        let user = self.config.join("settings.json");
        let of_folder = |origin, path| RuleSource { origin, path, root: self.project.clone() };
        let mut files: Vec<RuleSource> =
            local.into_iter().map(|path| of_folder(RuleOrigin::Local, path)).collect();
        files.push(of_folder(RuleOrigin::Project, shared));
        let is_user = |file: &RuleSource| real(&file.path) == real(&user);
        files.retain(|file| !is_user(file));
        files.push(RuleSource { origin: RuleOrigin::User, path: user, root: self.config.clone() });
        files
    }

    fn file(&self, place: &RulePlace) -> Result<RuleSource, CommandError> {
        let file = self.files().into_iter().find(|file| file.path.display().to_string() == place.path);
        file.ok_or_else(|| CommandError {
            code: ErrorCode::BadCommand,
            message: "This file is not one of the folder's or of your own settings.".to_owned(),
            detail: Some(place.path.clone()),
        })
    }

    /// Replaces a file by an edited copy, and returns the bytes before and after. A trusted folder stays trusted with this
    /// change. The path must contain no links: the user's links stay, and their target is replaced.
    fn change<T>(
        &self,
        path: &Path,
        withdrawn: Option<&str>,
        edit: impl Fn(&[u8]) -> Result<(Vec<u8>, T), RuleFileError>,
    ) -> Result<([Vec<u8>; 2], T), RuleFileError> {
        let trusted = self.trust.files_before(&self.project).unwrap_or_else(|error| {
            // The user is asked about the folder.
            tracing::warn!(%error, "could not read the folder before a rule changes");
            None
        });
        for _ in 0..MOST_ATTEMPTS {
            let before = read_regular(path, MOST_BYTES_OF_SETTINGS)?;
            let (after, done) = edit(&before)?;
            check_writable(path)?;
            if replace_unchanged(path, &before, &after).map_err(RuleFileError::Write)? {
                if let Some(trusted) = trusted
                    && let Err(error) = self.trust.follow_change(trusted, path, (&before, &after), withdrawn)
                {
                    // The user is asked about the folder.
                    tracing::warn!(%error, "could not record a changed rule");
                }
                return Ok(([before, after], done));
            }
        }
        Err(RuleFileError::Busy)
    }
}

impl RuleSource {
    /// `None` if there is no file.
    fn view(&self) -> Option<RuleFile> {
        let read = || -> Result<_, RuleFileError> {
            let bytes = read_regular(&self.path, MOST_BYTES_OF_SETTINGS)?;
            Ok(RuleText::read(&bytes)?.rules()?)
        };
        let (rules, problem) = match read() {
            Ok(rules) => (rules, None),
            Err(RuleFileError::Read(ReadError::Missing)) => return None,
            Err(problem) => (Vec::new(), Some(problem.to_string())),
        };
        let link = Some(real(&self.path)).filter(|real| *real != self.path);
        let rule = |(effect, rule): (RuleEffect, String)| FileRule {
            effect,
            forms: self.forms(effect, &rule).into_iter().filter(|form| *form != rule).collect(),
            rule,
        };
        Some(RuleFile {
            origin: self.origin,
            path: self.path.display().to_string(),
            link: link.map(|link| link.display().to_string()),
            rules: rules.into_iter().map(rule).collect(),
            problem,
        })
    }

    fn forms(&self, effect: RuleEffect, rule: &str) -> Vec<String> {
        let mut forms = vec![rule.to_owned()];
        forms.extend(
            copied_forms(rule, &self.root, effect == RuleEffect::Allow)
                .into_iter()
                .filter(|form| form != rule),
        );
        forms
    }
}

/// The path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A file is replaced by a rename, which the permissions of the file itself do not prevent.
fn check_writable(path: &Path) -> Result<(), RuleFileError> {
    let is_read_only = |path: &Path| fs::metadata(path).is_ok_and(|found| found.permissions().readonly());
    if is_read_only(path) {
        return Err(RuleFileError::ReadOnly);
    }
    match path.parent() {
        // On Windows it says nothing about a folder.
        Some(folder) if cfg!(unix) && is_read_only(folder) => Err(RuleFileError::ReadOnlyFolder),
        _ => Ok(()),
    }
}

/// The rule and its file for a question, in a line each.
pub fn described(place: &RulePlace) -> String {
    let line = |text: &str| Title::one_line(&written_out(text), LONGEST_LINE);
    format!("Rule: {}\n\nFile: {}", line(&place.rule), line(&place.path))
}

/// `what`: “was not removed”.
fn failure(rule: &str, what: &str, path: &Path, error: &RuleFileError) -> CommandError {
    let code = match error {
        RuleFileError::Write(_) | RuleFileError::Read(_) => ErrorCode::Internal,
        RuleFileError::Busy => ErrorCode::ChangedSince { files: vec![path.display().to_string()] },
        _ => ErrorCode::Refused,
    };
    let path = written_out(&path.display().to_string());
    let message = format!("{} {what}.", written_out(rule));
    CommandError { code, message, detail: Some(format!("{path}: {error}")) }
}

#[cfg(test)]
mod tests;

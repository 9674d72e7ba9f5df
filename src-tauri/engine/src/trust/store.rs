//! What the user decided, one small file per folder, in the app's data folder.
//!
//! A decision is named after the folder's path with its links resolved, so every way to a folder is the same one. A file
//! that cannot be read is set aside and was never a yes.

use super::{Survey, fingerprint, survey};
use crate::api::{CommandError, ErrorCode, Finding, FindingKind, TrustDecision, TrustStanding, TrustView};
use crate::store::write_atomically;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where the agent keeps rules for one user.
const LOCAL_SETTINGS: &str = ".claude/settings.local.json";

/// Where a folder stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nobody was asked.
    Unknown { survey: Survey },
    /// Trusted, and its files are those that were shown.
    Trusted,
    /// To be worked in without its settings, whatever they come to say.
    Restricted,
    /// It was trusted, and its files changed.
    Changed { survey: Survey, before: Vec<Finding>, difference: Difference },
}

impl Standing {
    /// May a child load the folder's own settings? Only then.
    pub fn is_trusted(&self) -> bool {
        *self == Self::Trusted
    }

    /// Must the user be asked before a child starts?
    pub fn must_ask(&self) -> bool {
        matches!(self, Self::Unknown { .. } | Self::Changed { .. })
    }
}

/// What differs between two surveys of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub added: Vec<Finding>,
    pub removed: Vec<Finding>,
}

impl Difference {
    fn between(before: &[Finding], after: &[Finding]) -> Self {
        Self { added: without(after, before), removed: without(before, after) }
    }

    /// Is there nothing new but rules that the user had kept there?
    fn is_chosen(&self, rules: &[String]) -> bool {
        let is_chosen = |finding: &Finding| {
            finding.kind == FindingKind::AllowRule
                && finding.file.ends_with(LOCAL_SETTINGS)
                && finding.link.is_none()
                && rules.contains(&finding.text)
        };
        self.removed.is_empty() && !self.added.is_empty() && self.added.iter().all(is_chosen)
    }
}

/// What is in `all` more often than in `known`.
fn without(all: &[Finding], known: &[Finding]) -> Vec<Finding> {
    let mut known: Vec<&Finding> = known.iter().collect();
    let is_new = |finding: &&Finding| match known.iter().position(|known| known == finding) {
        Some(at) => {
            known.swap_remove(at);
            false
        }
        None => true,
    };
    all.iter().filter(is_new).cloned().collect()
}

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("could not find the folder {path}: {source}", path = path.display())]
    NoFolder { path: PathBuf, source: io::Error },
    /// The files are not those that the user was shown.
    #[error("the folder's settings changed while they were shown")]
    Outdated,
    /// A file is too large, of the wrong kind, not to be opened, or says more than can be shown.
    #[error("the folder cannot be trusted: not all that it would run could be read")]
    Unreadable,
    #[error("could not {what} {path}: {source}", path = path.display())]
    Store { what: &'static str, path: PathBuf, source: io::Error },
}

impl From<TrustError> for CommandError {
    fn from(error: TrustError) -> Self {
        let code = match &error {
            TrustError::NoFolder { .. } => ErrorCode::BadProject,
            TrustError::Outdated | TrustError::Unreadable => ErrorCode::BadCommand,
            TrustError::Store { .. } => ErrorCode::Internal,
        };
        Self { code, message: error.to_string(), detail: None }
    }
}

/// A decision as it is kept.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Record {
    /// For whoever reads the file; the file's name is what counts.
    project: String,
    decision: TrustDecision,
    fingerprint: Option<String>,
    findings: Vec<Finding>,
    /// Rules that the user had kept in the folder's local settings since.
    #[serde(default)]
    chosen: Vec<String>,
}

/// A folder of decisions.
#[derive(Clone, Debug)]
pub struct TrustStore {
    folder: PathBuf,
}

impl TrustStore {
    /// Makes the folder if it is not there.
    pub fn open(folder: PathBuf) -> Result<Self, TrustError> {
        fs::create_dir_all(&folder).map_err(failed("make", &folder))?;
        Ok(Self { folder })
    }

    /// Where a folder stands now. To be asked before every spawn: its files may have changed since the last.
    pub fn standing(&self, project: &Path) -> Result<Standing, TrustError> {
        let project = canonical(project)?;
        let Some(record) = self.read(&project) else {
            return Ok(Standing::Unknown { survey: survey(&project) });
        };
        if record.decision == TrustDecision::Restrict {
            return Ok(Standing::Restricted);
        }
        self.compare(&project, record, survey(&project))
    }

    /// Is a trusted folder still what it was?
    fn compare(&self, project: &Path, record: Record, survey: Survey) -> Result<Standing, TrustError> {
        // A fingerprint that could not be made equals none.
        if survey.fingerprint.is_some() && survey.fingerprint == record.fingerprint {
            return Ok(Standing::Trusted);
        }
        let difference = Difference::between(&record.findings, &survey.findings);
        if survey.fingerprint.is_some() && difference.is_chosen(&record.chosen) {
            self.write(project, TrustDecision::Trust, survey, record.chosen)?;
            return Ok(Standing::Trusted);
        }
        Ok(Standing::Changed { survey, before: record.findings, difference })
    }

    /// The same for a window, with what the folder says whatever was decided.
    pub fn view(&self, project: &Path) -> Result<TrustView, TrustError> {
        let project = canonical(project)?;
        let survey = survey(&project);
        let (standing, difference) = match self.read(&project) {
            None => (TrustStanding::Unknown, Difference::default()),
            Some(record) if record.decision == TrustDecision::Restrict => {
                (TrustStanding::Restricted, Difference::default())
            }
            Some(record) => match self.compare(&project, record, survey.clone())? {
                Standing::Changed { difference, .. } => (TrustStanding::Changed, difference),
                _ => (TrustStanding::Trusted, Difference::default()),
            },
        };
        Ok(TrustView {
            project: project.display().to_string(),
            standing,
            nothing_to_run: survey.nothing_to_run(),
            findings: survey.findings,
            added: difference.added,
            removed: difference.removed,
            fingerprint: survey.fingerprint,
        })
    }

    /// Keeps a decision. To trust needs the fingerprint of what was `shown`: what the user has not seen is not trusted.
    pub fn decide(
        &self,
        project: &Path,
        decision: TrustDecision,
        shown: Option<&str>,
    ) -> Result<(), TrustError> {
        let project = canonical(project)?;
        let survey = survey(&project);
        if decision == TrustDecision::Trust {
            let now = survey.fingerprint.as_deref().ok_or(TrustError::Unreadable)?;
            if shown != Some(now) {
                return Err(TrustError::Outdated);
            }
        }
        self.write(&project, decision, survey, Vec::new())
    }

    /// Says that the user had a rule kept in the folder's local settings, by answering a permission request. The agent
    /// will write it there, and that is no reason to ask whether the folder is still trusted.
    pub fn expect_rule(&self, project: &Path, rule: &str) -> Result<(), TrustError> {
        let project = canonical(project)?;
        match self.read(&project) {
            Some(mut record) if record.decision == TrustDecision::Trust => {
                record.chosen.push(rule.to_owned());
                self.save(&project, &record)
            }
            _ => Ok(()),
        }
    }

    fn write(
        &self,
        project: &Path,
        decision: TrustDecision,
        survey: Survey,
        chosen: Vec<String>,
    ) -> Result<(), TrustError> {
        let Survey { findings, fingerprint, .. } = survey;
        let name = project.display().to_string();
        self.save(project, &Record { project: name, decision, fingerprint, findings, chosen })
    }

    fn save(&self, project: &Path, record: &Record) -> Result<(), TrustError> {
        let path = self.path(project);
        let text = serde_json::to_vec_pretty(record).map_err(|error| failed("write", &path)(error.into()))?;
        write_atomically(&path, &text).map_err(failed("write", &path))
    }

    /// What was decided; `None` also if it cannot be read, which is then set aside.
    fn read(&self, project: &Path) -> Option<Record> {
        let path = self.path(project);
        let problem = match fs::read(&path) {
            Ok(text) => match serde_json::from_slice(&text) {
                Ok(record) => return Some(record),
                Err(error) => error.to_string(),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => error.to_string(),
        };
        let aside = path.with_extension("json.unreadable");
        let moved = fs::rename(&path, &aside);
        tracing::warn!(path = %path.display(), problem, moved = moved.is_ok(), "a trust decision cannot be read");
        None
    }

    fn path(&self, project: &Path) -> PathBuf {
        self.folder.join(format!("{}.json", fingerprint::of_path(project)))
    }
}

fn canonical(project: &Path) -> Result<PathBuf, TrustError> {
    dunce::canonicalize(project).map_err(|source| TrustError::NoFolder { path: project.to_owned(), source })
}

fn failed<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> TrustError + use<'a> {
    move |source| TrustError::Store { what, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;

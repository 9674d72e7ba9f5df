//! The user's trust decisions, one small file per folder, in the app's data folder.
//!
//! A decision is named after the folder's path with its links resolved, so all paths to a folder share one decision. A
//! file that cannot be read is set aside, and does not count as trust. Other agents than Claude Code have a folder of
//! decisions each, `agents/<id>`.

use super::files::Content;
use super::snapshot::{CopyKey, Snapshot, Snapshots, unknown_settings};
use super::{Survey, SurveyedFiles, decision_id, fingerprint, surveyed, view_of};
use crate::api::{
    CommandError, ErrorCode, Finding, FindingKind, TrustDecision, TrustStatus, TrustView, UnknownSetting,
};
use crate::disk::write_atomically;
use crate::disk::{Loaded, load_json, own_folder, remove_old_leftovers};
use deskbell_acp::ChosenAgent;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A decision contains the findings of a folder's files, each of a few megabytes at most.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The file in which the agent saves rules for one user.
const LOCAL_SETTINGS: &str = ".claude/settings.local.json";

/// The trust state of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustState {
    /// The user was not asked yet.
    Unknown { survey: Survey },
    /// Trusted, and its files are those that were shown.
    Trusted,
    /// Opened without its settings, whatever they contain later.
    Restricted,
    /// Its files changed, and the user continues with the settings that were trusted, which are in the copy.
    Kept { difference: Difference },
    /// It was trusted, and its files changed.
    Changed { survey: Survey, before: Vec<Finding>, difference: Difference },
}

impl TrustState {
    /// Returns whether an agent may load the settings that were trusted.
    pub fn is_trusted(&self) -> bool {
        matches!(self, Self::Trusted | Self::Kept { .. })
    }

    /// Returns whether the user must be asked before an agent starts.
    pub fn must_ask(&self) -> bool {
        matches!(self, Self::Unknown { .. } | Self::Changed { .. })
    }
}

/// The difference between two surveys of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub added: Vec<Finding>,
    pub removed: Vec<Finding>,
}

impl Difference {
    fn between(before: &[Finding], after: &[Finding]) -> Self {
        Self { added: without(after, before), removed: without(before, after) }
    }

    /// Returns whether everything new is a rule that the user saved there.
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

/// The findings that are in `all` more often than in `known`.
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

/// The files of a folder that is trusted as they are.
pub(crate) struct FilesBefore {
    project: PathBuf,
    files: SurveyedFiles,
    fingerprint: Option<String>,
}

/// How an agent may start in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// With the settings that were trusted.
    Trusted(Snapshot),
    /// With the folder's own files, which are those that were trusted: the agent loads no copy.
    TrustedAsItIs,
    /// Without the folder's settings.
    Restricted,
    /// Only after the user was asked.
    Ask(TrustState),
}

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("could not find the folder {path}: {source}", path = path.display())]
    NoFolder { path: PathBuf, source: io::Error },
    /// The files are not those that the user was shown.
    #[error("the folder's settings changed while they were shown; review them again")]
    Outdated,
    /// A file is too large, of the wrong kind or not readable, or has more findings than can be shown.
    #[error("the folder cannot be trusted, because not everything that it would run could be read")]
    Unreadable,
    /// There is no copy of the settings that were trusted before.
    #[error(
        "there are no settings that were trusted before: trust the folder as it is, or open it restricted"
    )]
    NothingToKeep,
    /// A named setting is not one of the settings that are left out.
    #[error("the folder has no setting “{name}” that is left out and could be named")]
    NotLeftOut { name: String },
    #[error("could not {what} {path}: {source}", path = path.display())]
    Store { what: &'static str, path: PathBuf, source: io::Error },
}

impl From<TrustError> for CommandError {
    fn from(error: TrustError) -> Self {
        let code = match &error {
            TrustError::NoFolder { .. } => ErrorCode::BadProject,
            TrustError::Outdated
            | TrustError::Unreadable
            | TrustError::NothingToKeep
            | TrustError::NotLeftOut { .. } => ErrorCode::BadCommand,
            TrustError::Store { .. } => ErrorCode::Internal,
        };
        Self { code, message: error.to_string(), detail: None }
    }
}

/// A decision as it is stored.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Record {
    /// For a human reader of the file; the file's name is what counts.
    project: String,
    decision: TrustDecision,
    fingerprint: Option<String>,
    findings: Vec<Finding>,
    /// Rules that the user has saved in the folder's local settings since then.
    #[serde(default)]
    chosen: Vec<String>,
    /// The files that the user saw and did not agree to: the settings that were trusted before stay in force.
    #[serde(default)]
    declined: Option<String>,
    /// Settings with unknown effects that the user trusted by name.
    #[serde(default)]
    named: BTreeSet<String>,
}

impl Record {
    /// The copy of the trusted settings.
    fn copy_key(&self) -> Option<CopyKey<'_>> {
        Some(CopyKey { fingerprint: self.fingerprint.as_deref()?, named: &self.named })
    }
}

/// The folder of decisions.
#[derive(Clone, Debug)]
pub struct TrustStore {
    folder: PathBuf,
    /// The agent that it decides about; `None` is Claude Code.
    agent: Option<ChosenAgent>,
}

impl TrustStore {
    /// Opens the store, and creates its folder if it does not exist.
    pub fn open(folder: PathBuf) -> Result<Self, TrustError> {
        own_folder(&folder).map_err(failed("make", &folder))?;
        remove_old_leftovers(&folder, SystemTime::now());
        Ok(Self { folder, agent: None })
    }

    /// The decisions about another agent. A decision about one agent never counts for another one.
    pub fn of_agent(&self, agent: Option<&ChosenAgent>) -> Self {
        Self { folder: self.folder.clone(), agent: agent.cloned() }
    }

    /// Names the decisions of the agent that this store is about; `None` is Claude Code.
    pub fn agent_id(&self) -> Option<String> {
        self.agent.as_ref().map(decision_id)
    }

    /// The current trust state of a folder.
    pub fn state(&self, project: &Path) -> Result<TrustState, TrustError> {
        let project = canonical(project)?;
        Ok(self.look(&project)?.0)
    }

    /// Returns how an agent may start in a folder. Call it before every start, because the files may have changed.
    pub fn check(&self, project: &Path) -> Result<Admission, TrustError> {
        let project = canonical(project)?;
        let snapshots = self.snapshots(&project);
        let (state, files, survey) = self.look(&project)?;
        match &state {
            TrustState::Restricted => return Ok(Admission::Restricted),
            TrustState::Trusted | TrustState::Kept { .. } => {}
            TrustState::Unknown { .. } | TrustState::Changed { .. } => return Ok(Admission::Ask(state)),
        }
        let record = self.read(&project).ok_or(TrustError::Unreadable)?;
        let mut key = record.copy_key().ok_or(TrustError::Unreadable)?;
        if self.agent.is_some() {
            return Ok(Admission::TrustedAsItIs);
        }
        if state == TrustState::Trusted {
            // The fingerprint of the files just read, even if another decision was stored meanwhile.
            key.fingerprint = survey
                .as_ref()
                .and_then(|survey| survey.fingerprint.as_deref())
                .ok_or(TrustError::Unreadable)?;
            self.copy(&project, &files, &key)?;
        }
        let snapshot = snapshots.open(&project, &key).map_err(failed("read", &self.folder))?;
        Ok(Admission::Trusted(snapshot))
    }

    /// Trusts the folder's current settings for one start, regardless of the decision.
    pub fn trust_once(&self, project: &Path) -> Result<Admission, TrustError> {
        let project = canonical(project)?;
        let (survey, files) = surveyed(&project, self.agent.as_ref());
        let fingerprint = survey.fingerprint.ok_or(TrustError::Unreadable)?;
        if self.agent.is_some() {
            return Ok(Admission::TrustedAsItIs);
        }
        let key = CopyKey { fingerprint: &fingerprint, named: &BTreeSet::new() };
        self.copy(&project, &files, &key)?;
        let snapshot = self.snapshots(&project).open(&project, &key);
        Ok(Admission::Trusted(snapshot.map_err(failed("read", &self.folder))?))
    }

    /// The trust state of a folder, and the files that it is based on.
    fn look(&self, project: &Path) -> Result<(TrustState, SurveyedFiles, Option<Survey>), TrustError> {
        let record = self.read(project);
        if record.as_ref().is_some_and(|record| record.decision == TrustDecision::Restrict) {
            return Ok((TrustState::Restricted, SurveyedFiles::default(), None));
        }
        let (survey, files) = surveyed(project, self.agent.as_ref());
        let state = match record {
            None => TrustState::Unknown { survey: survey.clone() },
            Some(record) => self.compare(project, record, survey.clone())?,
        };
        Ok((state, files, Some(survey)))
    }

    /// Copies are Claude Code's: other agents load the folder's own files, so no earlier ones can be kept.
    fn has_copy(&self, project: &Path, record: &Record) -> bool {
        let has = |key: CopyKey<'_>| self.snapshots(project).has(&key);
        self.agent.is_none() && record.copy_key().is_some_and(has)
    }

    fn snapshots(&self, project: &Path) -> Snapshots {
        Snapshots::of(&self.folder.join("snapshots"), project)
    }

    /// The settings with unknown effects in these files. Only Claude Code has such settings.
    fn unknown_settings(&self, files: &SurveyedFiles) -> BTreeSet<String> {
        if self.agent.is_none() { unknown_settings(&files.claude) } else { BTreeSet::new() }
    }

    fn copy(&self, project: &Path, files: &SurveyedFiles, key: &CopyKey<'_>) -> Result<(), TrustError> {
        let written = self.snapshots(project).write(project, &files.claude, key);
        written.map_err(failed("copy the settings to", &self.folder))
    }

    /// Compares a trusted folder with the files that were trusted.
    fn compare(&self, project: &Path, record: Record, survey: Survey) -> Result<TrustState, TrustError> {
        // A missing fingerprint matches none.
        if survey.fingerprint.is_some() && survey.fingerprint == record.fingerprint {
            return Ok(TrustState::Trusted);
        }
        let difference = Difference::between(&record.findings, &survey.findings);
        if survey.fingerprint.is_some() && difference.is_chosen(&record.chosen) {
            self.write(project, TrustDecision::Trust, survey, record.chosen, record.named)?;
            return Ok(TrustState::Trusted);
        }
        let is_declined = survey.fingerprint.is_some() && survey.fingerprint == record.declined;
        if is_declined && self.has_copy(project, &record) {
            return Ok(TrustState::Kept { difference });
        }
        Ok(TrustState::Changed { survey, before: record.findings, difference })
    }

    /// The trust state for a window, with the folder's current findings regardless of the decision.
    pub fn view(&self, project: &Path) -> Result<TrustView, TrustError> {
        let project = canonical(project)?;
        let (survey, files) = surveyed(&project, self.agent.as_ref());
        let record = self.read(&project);
        let named = record.as_ref().map(|record| record.named.clone()).unwrap_or_default();
        let unknown = self.unknown_settings(&files);
        let setting = |name: String| UnknownSetting { is_loaded: named.contains(&name), name };
        let unknown_settings = unknown.into_iter().map(setting).collect();
        let (state, difference, can_keep) = match record {
            None => (TrustStatus::Unknown, Difference::default(), false),
            Some(record) if record.decision == TrustDecision::Restrict => {
                (TrustStatus::Restricted, Difference::default(), false)
            }
            Some(record) => {
                let has_copy = self.has_copy(&project, &record);
                match self.compare(&project, record, survey.clone())? {
                    TrustState::Changed { difference, .. } => {
                        (TrustStatus::Changed, difference, has_copy && survey.fingerprint.is_some())
                    }
                    TrustState::Kept { difference } => (TrustStatus::Kept, difference, false),
                    _ => (TrustStatus::Trusted, Difference::default(), false),
                }
            }
        };
        Ok(TrustView {
            can_keep,
            project: project.display().to_string(),
            agent: self.agent.as_ref().map(view_of),
            state,
            nothing_to_run: survey.nothing_to_run(),
            findings: survey.findings,
            added: difference.added,
            removed: difference.removed,
            fingerprint: survey.fingerprint,
            unknown_settings,
        })
    }

    /// Stores a decision. Trusting requires the `shown` fingerprint, because unseen settings are not trusted.
    pub fn decide(
        &self,
        project: &Path,
        decision: TrustDecision,
        shown: Option<&str>,
    ) -> Result<(), TrustError> {
        self.decide_naming(project, decision, shown, BTreeSet::new())
    }

    /// Stores a decision. With `Trust` the copy also has these settings with unknown effects.
    ///
    /// # Errors
    ///
    /// As [`TrustStore::decide`], and [`TrustError::NotLeftOut`] for a name that is not among the folder's unknown
    /// settings.
    pub fn decide_naming(
        &self,
        project: &Path,
        decision: TrustDecision,
        shown: Option<&str>,
        named: BTreeSet<String>,
    ) -> Result<(), TrustError> {
        let project = canonical(project)?;
        let (survey, files) = surveyed(&project, self.agent.as_ref());
        if decision != TrustDecision::Restrict {
            let now = survey.fingerprint.as_deref().ok_or(TrustError::Unreadable)?;
            if shown != Some(now) {
                return Err(TrustError::Outdated);
            }
        }
        match decision {
            TrustDecision::Trust => {
                let unknown = self.unknown_settings(&files);
                if let Some(name) = named.difference(&unknown).next() {
                    return Err(TrustError::NotLeftOut { name: name.clone() });
                }
                if let (Some(fingerprint), None) = (&survey.fingerprint, &self.agent) {
                    self.copy(&project, &files, &CopyKey { fingerprint, named: &named })?;
                }
            }
            TrustDecision::Keep => return self.decline(&project, survey),
            TrustDecision::Restrict => {}
        }
        let named = if decision == TrustDecision::Trust { named } else { BTreeSet::new() };
        self.write(&project, decision, survey, Vec::new(), named)
    }

    /// Records that the user does not agree to a change, and continues with the settings that were trusted before.
    fn decline(&self, project: &Path, survey: Survey) -> Result<(), TrustError> {
        let record = self.read(project).filter(|record| record.decision == TrustDecision::Trust);
        let mut record = record.ok_or(TrustError::NothingToKeep)?;
        if !self.has_copy(project, &record) {
            return Err(TrustError::NothingToKeep);
        }
        record.declined = survey.fingerprint;
        self.save(project, &record)
    }

    /// Records that the user saved a rule in the folder's local settings by answering a permission request. The agent
    /// will write it there, and that is no reason to ask again whether the folder is trusted.
    pub fn expect_rule(&self, project: &Path, rule: &str) -> Result<(), TrustError> {
        let project = canonical(project)?;
        match self.read(&project) {
            Some(mut record) if record.decision == TrustDecision::Trust => {
                if record.chosen.iter().any(|known| known == rule) {
                    return Ok(());
                }
                record.chosen.push(rule.to_owned());
                self.save(&project, &record)
            }
            _ => Ok(()),
        }
    }

    /// The folder's files if they are trusted as they are now. Read them before the user changes one of them with
    /// Deskbell.
    pub(crate) fn files_before(&self, project: &Path) -> Result<Option<FilesBefore>, TrustError> {
        let project = canonical(project)?;
        let (state, files, survey) = self.look(&project)?;
        let fingerprint = survey.and_then(|survey| survey.fingerprint);
        Ok((state == TrustState::Trusted).then_some(FilesBefore { project, files, fingerprint }))
    }

    /// Trusts the folder with the change that the user made to one of its files, at this real path. Any other change in
    /// the meantime is asked about, because the new fingerprint is that of everything that was read before, with these
    /// bytes. A decision that was made in the meantime stays.
    ///
    /// `withdrawn`: a rule that the change took out. If it appears again later, the user is asked.
    pub(crate) fn follow_change(
        &self,
        before: FilesBefore,
        path: &Path,
        change: (&[u8], &[u8]),
        withdrawn: Option<&str>,
    ) -> Result<(), TrustError> {
        let FilesBefore { project, mut files, fingerprint } = before;
        let is_about_them =
            |record: &Record| record.decision == TrustDecision::Trust && record.fingerprint == fingerprint;
        let Some(mut record) = self.read(&project).filter(is_about_them) else { return Ok(()) };
        let mut is_changed = false;
        for file in &mut files.claude {
            let real = file.link.as_deref().unwrap_or(&file.place.path);
            if let Content::Bytes(bytes) = &mut file.content
                && real == path
                && bytes == change.0
            {
                *bytes = change.1.to_owned();
                is_changed = true;
            }
        }
        let survey = files.judge(project.clone(), self.agent.as_ref());
        let Some(fingerprint) = survey.fingerprint.filter(|_| is_changed) else { return Ok(()) };
        self.copy(&project, &files, &CopyKey { fingerprint: &fingerprint, named: &record.named })?;
        record.chosen.retain(|known| Some(known.as_str()) != withdrawn);
        record.fingerprint = Some(fingerprint);
        record.findings = survey.findings;
        self.save(&project, &record)
    }

    fn write(
        &self,
        project: &Path,
        decision: TrustDecision,
        survey: Survey,
        chosen: Vec<String>,
        named: BTreeSet<String>,
    ) -> Result<(), TrustError> {
        let Survey { findings, fingerprint, .. } = survey;
        let name = project.display().to_string();
        let record = Record { project: name, decision, fingerprint, findings, chosen, declined: None, named };
        self.save(project, &record)
    }

    fn save(&self, project: &Path, record: &Record) -> Result<(), TrustError> {
        let path = self.path(project);
        if self.agent.is_some()
            && let Some(folder) = path.parent()
        {
            let agents = self.folder.join("agents");
            own_folder(&agents).map_err(failed("make", &agents))?;
            own_folder(folder).map_err(failed("make", folder))?;
        }
        let text = serde_json::to_vec_pretty(record).map_err(|error| failed("write", &path)(error.into()))?;
        write_atomically(&path, &text).map_err(failed("write", &path))
    }

    /// The stored decision; `None` also if it cannot be read, in which case the file is set aside.
    fn read(&self, project: &Path) -> Option<Record> {
        match load_json(&self.path(project), MOST_BYTES) {
            Loaded::Read(record) => Some(record),
            Loaded::Missing | Loaded::Unreadable(_) => None,
        }
    }

    fn path(&self, project: &Path) -> PathBuf {
        let name = format!("{}.json", fingerprint::of_path(project));
        match &self.agent {
            None => self.folder.join(name),
            Some(agent) => self.folder.join("agents").join(decision_id(agent)).join(name),
        }
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

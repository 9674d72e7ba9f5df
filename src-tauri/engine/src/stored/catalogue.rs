//! The catalogue of a project's stored sessions: keeps what was read, and reads the files that changed.

use super::cache::{self, Known};
use super::files::{self, Files, Found, Place, ReadSession};
use super::summary::Summary;
use crate::api::{LiveActivity, LiveProcess, StoredChange, StoredSession, StoredState};
use crate::disk::{self, ReadError};
use crate::owner::{self, LiveConversation};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Files that one thread reads before it returns.
const FILES_AT_A_TIME: usize = 32;
/// Threads that read at the same time.
const THREADS: usize = 3;
/// Rows in one change, except the first: these should appear at once.
const ROWS_AT_A_TIME: usize = 256;

/// The work that was done to list a project's sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub n_listed: usize,
    pub n_read: usize,
    pub bytes_read: u64,
    /// Lines that were parsed as JSON.
    pub n_parsed: usize,
}

/// The part of the store that may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    All,
    /// Only these files, and the agent's list of its live processes.
    Files(HashSet<PathBuf>),
}

/// The reader of the changes has gone.
#[derive(Debug)]
pub(super) struct Unwanted;

/// The known sessions of one project.
pub struct Catalogue {
    place: Place,
    cache: Option<PathBuf>,
    /// By the agent's id; sessions of other projects in the same folder included.
    known: HashMap<String, Known>,
    /// Files that could not be read, as they were then.
    unreadable: HashMap<String, Found>,
    live: HashMap<String, LiveProcess>,
    /// The sessions in the reader's list.
    listed: HashSet<String>,
    /// Why some sessions are missing in the list.
    missing: Option<String>,
    has_begun: bool,
    /// The last change that was sent, without its sessions.
    sent: Option<StoredChange>,
    cost: Cost,
}

type Read = Vec<(Found, Result<ReadSession, ReadError>)>;

impl Catalogue {
    /// `caches` is a folder for the caches of all projects. Reads the project's cache, so it must run on a disk thread.
    pub fn open(place: Place, caches: Option<&Path>) -> Self {
        let cache = caches.map(|caches| cache::path(caches, &place));
        let known = cache.as_ref().map(|path| cache::load(path, &place)).unwrap_or_default();
        Self {
            place,
            cache,
            known,
            unreadable: HashMap::new(),
            live: HashMap::new(),
            listed: HashSet::new(),
            missing: None,
            has_begun: false,
            sent: None,
            cost: Cost::default(),
        }
    }

    pub fn cost(&self) -> Cost {
        self.cost
    }

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Reads the whole store once and sends its sessions, the last changed ones first.
    pub async fn list(&mut self, changes: &mpsc::Sender<StoredChange>) {
        // A reader that has gone needs nothing more.
        let _ = self.refresh(Extent::All, changes).await;
    }

    /// Reads what changed, and sends the changes. The last one is complete.
    pub(super) async fn refresh(
        &mut self,
        extent: Extent,
        changes: &mpsc::Sender<StoredChange>,
    ) -> Result<(), Unwanted> {
        let is_all = extent == Extent::All;
        let (found, gone, live) = match self.look(extent).await {
            Ok(looked) => looked,
            Err(problem) => {
                return self
                    .send(StoredChange { problem: Some(problem), ..StoredChange::default() }, changes)
                    .await;
            }
        };
        let mut change = self.forget(gone);
        change.changed.extend(self.relive(live));
        let n_read = self.cost.n_read;
        let begun = std::mem::replace(&mut self.has_begun, true);
        let (old, new): (Vec<Found>, Vec<Found>) = found.into_iter().partition(|found| self.is_known(found));
        if !begun {
            // From the cache.
            let ids = old.iter().map(|found| found.id.clone()).collect::<Vec<_>>();
            change.changed.extend(ids.iter().filter_map(|id| self.row(id)));
        }
        self.read(new, change, changes).await?;
        if is_all && self.cost.n_read > n_read {
            self.save().await;
        }
        Ok(())
    }

    /// Lists the files, the sessions that are gone, and the live processes.
    async fn look(
        &mut self,
        extent: Extent,
    ) -> Result<(Vec<Found>, Vec<String>, HashMap<String, LiveProcess>), String> {
        let place = self.place.clone();
        let look = move || {
            let live = live(&place.config);
            let found = match extent {
                Extent::All => place.list().map(|files| (files, None)),
                Extent::Files(paths) => {
                    let found = paths.iter().filter_map(|path| place.look(path)).collect();
                    let ids = paths.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
                    let files = Files { found, problem: None };
                    Ok((files, Some(ids.collect::<Vec<String>>())))
                }
            };
            (found, live)
        };
        let looked = disk::run(&self.place.folder, disk::DEADLINE, look).await;
        let (found, live) = looked.map_err(|unfinished| unfinished.to_string())?;
        let folder = self.place.folder.display();
        let (files, among) = found.map_err(|error| format!("{folder} could not be read: {error}"))?;
        let found = files.found;
        if among.is_none() {
            self.missing = files.problem;
        }
        let there: HashSet<&str> = found.iter().map(|found| found.id.as_str()).collect();
        let may_be_gone = among.unwrap_or_else(|| {
            self.known.keys().chain(self.unreadable.keys()).chain(&self.listed).cloned().collect()
        });
        let gone = may_be_gone.into_iter().filter(|id| !there.contains(id.as_str())).collect();
        self.cost.n_listed += found.len();
        Ok((found, gone, live))
    }

    /// The listed sessions that a process has open.
    pub(super) fn live_sessions(&self) -> Vec<String> {
        self.live.keys().filter(|id| self.listed.contains(*id)).cloned().collect()
    }

    /// Sends the rows of these sessions although they are as before: their subagents wrote something, which only those
    /// see who have the conversation open.
    pub(super) async fn send_again(
        &mut self,
        ids: Vec<String>,
        changes: &mpsc::Sender<StoredChange>,
    ) -> Result<(), Unwanted> {
        if ids.is_empty() {
            return Ok(());
        }
        let changed = ids.iter().filter_map(|id| self.row(id)).collect();
        self.send(StoredChange { changed, is_complete: true, ..StoredChange::default() }, changes).await
    }

    fn forget(&mut self, gone: Vec<String>) -> StoredChange {
        let mut change = StoredChange::default();
        for id in gone {
            self.known.remove(&id);
            self.unreadable.remove(&id);
            if self.listed.remove(&id) {
                change.removed.push(id);
            }
        }
        change
    }

    /// Takes the live processes; returns the listed sessions for which that changes something.
    fn relive(&mut self, live: HashMap<String, LiveProcess>) -> Vec<StoredSession> {
        let before = std::mem::replace(&mut self.live, live);
        let ids: HashSet<&String> = before.keys().chain(self.live.keys()).collect();
        let changed = ids.into_iter().filter(|id| before.get(*id) != self.live.get(*id));
        let changed: Vec<String> = changed.filter(|id| self.listed.contains(*id)).cloned().collect();
        changed.iter().filter_map(|id| self.row(id)).collect()
    }

    fn is_known(&self, found: &Found) -> bool {
        let known = self.known.get(&found.id);
        known.is_some_and(|known| (known.size, known.modified) == (found.size, found.modified))
            || self.unreadable.get(&found.id) == Some(found)
    }

    /// Reads files, a few at a time, and sends what is in them.
    async fn read(
        &mut self,
        new: Vec<Found>,
        mut change: StoredChange,
        changes: &mpsc::Sender<StoredChange>,
    ) -> Result<(), Unwanted> {
        let mut parts = new.chunks(FILES_AT_A_TIME).map(<[Found]>::to_vec).collect::<Vec<_>>().into_iter();
        let mut reading = JoinSet::new();
        parts.by_ref().take(THREADS).for_each(|part| self.begin(part, &mut reading));
        let mut is_first = true;
        while let Some(read) = reading.join_next().await {
            if let Some(part) = parts.next() {
                self.begin(part, &mut reading);
            }
            match read {
                Ok(Ok(read)) => {
                    read.into_iter().for_each(|(found, read)| self.take(found, read, &mut change))
                }
                Ok(Err(unfinished)) => change.problem = Some(unfinished.to_string()),
                Err(panic) => std::panic::resume_unwind(panic.into_panic()),
            }
            if is_first || change.changed.len() >= ROWS_AT_A_TIME {
                is_first = false;
                self.send(std::mem::take(&mut change), changes).await?;
            }
        }
        change.is_complete = true;
        self.send(change, changes).await
    }

    fn begin(&self, part: Vec<Found>, reading: &mut JoinSet<Result<Read, disk::Unfinished>>) {
        let folder = self.place.folder.clone();
        reading.spawn(async move {
            let read = move || {
                let mut reader = files::Reader::new();
                let read = |found: Found| {
                    let read = reader.read(&found);
                    (found, read)
                };
                part.into_iter().map(read).collect()
            };
            disk::run(&folder, disk::DEADLINE, read).await
        });
    }

    fn take(&mut self, found: Found, read: Result<ReadSession, ReadError>, change: &mut StoredChange) {
        self.cost.n_read += 1;
        let id = found.id.clone();
        match read {
            Ok(ReadSession { summary, n_bytes, n_parsed }) => {
                self.cost.bytes_read += n_bytes;
                self.cost.n_parsed += n_parsed;
                self.unreadable.remove(&id);
                let known = Known { size: found.size, modified: found.modified, summary };
                self.known.insert(id.clone(), known);
            }
            Err(error) => {
                tracing::info!(path = %found.path.display(), %error, "a stored session could not be read");
                self.known.remove(&id);
                self.unreadable.insert(id.clone(), found);
            }
        }
        match self.row(&id) {
            Some(row) => change.changed.push(row),
            None if self.listed.remove(&id) => change.removed.push(id),
            None => {}
        }
    }

    async fn send(
        &mut self,
        mut change: StoredChange,
        changes: &mpsc::Sender<StoredChange>,
    ) -> Result<(), Unwanted> {
        self.listed.extend(change.changed.iter().map(|session| session.agent_session_id.clone()));
        change.problem = change.problem.or_else(|| self.missing.clone());
        change.n_unreadable = u32::try_from(self.unreadable.len()).unwrap_or(u32::MAX);
        let (is_complete, n_unreadable, problem) =
            (change.is_complete, change.n_unreadable, change.problem.clone());
        let rest = StoredChange { is_complete, n_unreadable, problem, ..StoredChange::default() };
        if change == rest && self.sent.as_ref() == Some(&rest) {
            return Ok(());
        }
        self.sent = Some(rest);
        changes.send(change).await.map_err(|_| Unwanted)
    }

    /// A session as it is listed; `None` if it is of another project, or is no conversation.
    fn row(&self, id: &str) -> Option<StoredSession> {
        let Known { modified, summary, .. } = self.known.get(id)?;
        let live = self.live.get(id).cloned();
        self.place.has(summary).then(|| row(id, *modified, summary, live))
    }

    async fn save(&self) {
        let Some(path) = self.cache.clone() else { return };
        let (place, known) = (self.place.clone(), self.known.clone());
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let saved = disk::run(&folder, disk::DEADLINE, move || cache::save(&path, &place, known)).await;
        if let Err(error) = saved.map_err(std::io::Error::from).and_then(|saved| saved) {
            tracing::info!(%error, "the cache of stored sessions was not saved: the next start reads them again");
        }
    }
}

impl Place {
    /// Reads one session of a project; `None` if the project has no such session.
    pub fn find(&self, agent_session_id: &str) -> Result<Option<StoredSession>, ReadError> {
        let path = self.folder.join(format!("{agent_session_id}.jsonl"));
        let Some(found) = self.look(&path) else { return Ok(None) };
        let summary = files::read(&found)?;
        let live = live(&self.config).remove(agent_session_id);
        Ok(self.has(&summary).then(|| row(agent_session_id, found.modified, &summary, live)))
    }
}

pub(super) fn row(id: &str, modified: u64, summary: &Summary, live: Option<LiveProcess>) -> StoredSession {
    StoredSession {
        agent_session_id: id.to_owned(),
        title: summary.title().to_owned(),
        first_prompt: summary.first_prompt.clone(),
        last_prompt: summary.last_prompt.clone(),
        branch: summary.branch.clone(),
        model: summary.model.clone(),
        changed_at: summary.at.unwrap_or(modified / 1_000_000),
        state: summary.state.clone().unwrap_or(StoredState::Unknown),
        live,
        profile: None,
        agent: None,
    }
}

/// The live processes by the conversation that they have open.
pub(super) fn live(config: &Path) -> HashMap<String, LiveProcess> {
    let live = owner::live_conversations(config).into_iter();
    live.map(|live| (live.agent_session_id.clone(), process(&live))).collect()
}

pub(super) fn process(live: &LiveConversation) -> LiveProcess {
    let activity = match live.status.as_deref() {
        Some("busy") => LiveActivity::Working,
        Some("waiting") => LiveActivity::NeedsInput,
        // Idle, another word, or none, as in older versions.
        _ => LiveActivity::Open,
    };
    LiveProcess { pid: live.owner.pid, activity }
}

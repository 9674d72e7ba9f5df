//! The sessions that agents other than Claude Code have stored, as their last processes listed them: one file for each
//! project.
//!
//! Deskbell cannot read the stores of these agents, and starts no process only for a list. Every value is the agent's:
//! it is cleaned and bounded before it is kept.

use super::Catalogue;
use crate::acp::ChosenAgent;
use crate::agent::ListedSession;
use crate::api::{StoredSession, StoredState};
use crate::disk::{self, Loaded, SetAside, load_json, write_atomically};
use crate::settings::SettingsWatch;
use crate::title::Title;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::{Notify, mpsc};

/// Maximum size of a file in bytes.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// Maximum number of agents and profiles of a project. The list that was kept first is dropped first.
const MOST_LISTS: usize = 32;

/// A session that changed later than this from now has a wrong time.
const AHEAD_MS: u64 = 24 * 60 * 60 * 1000;

/// The file is read again this often if it cannot be watched.
const WITHOUT_WATCH: Duration = Duration::from_secs(15);

#[derive(Serialize, Deserialize)]
struct File {
    project: PathBuf,
    /// The list that was kept last is the last one. One of a newer version that cannot be read is left out.
    lists: Vec<Value>,
}

/// The sessions of one agent, of one account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct List {
    agent: ChosenAgent,
    profile: Option<String>,
    sessions: Vec<Known>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Known {
    id: String,
    title: String,
    changed_at: u64,
}

/// The lists of all projects. The methods access the disk: call them through `disk::run`.
#[derive(Clone, Debug)]
pub struct AgentSessions {
    folder: PathBuf,
}

impl Catalogue {
    /// The sessions of a project that agents have listed. `folder` has the lists of all projects.
    pub fn of_agents(folder: PathBuf, project: &Path) -> Vec<StoredSession> {
        AgentSessions::new(folder).load(project)
    }

    /// One of them by its id, and its agent.
    pub fn find_of_agents(
        folder: PathBuf,
        project: &Path,
        agent_session_id: &str,
    ) -> Option<(ChosenAgent, StoredSession)> {
        AgentSessions::new(folder).find(project, agent_session_id)
    }
}

impl AgentSessions {
    /// `folder` has the files. Nothing is read yet.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder that the lists depend on.
    pub fn place(&self) -> &Path {
        &self.folder
    }

    fn path(&self, project: &Path) -> PathBuf {
        let hash = Sha256::digest(project.as_os_str().as_encoded_bytes());
        let name: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{name}.json"))
    }

    /// Replaces the list of an agent in a project. `now`: in milliseconds since the epoch.
    pub fn keep(
        &self,
        project: &Path,
        agent: ChosenAgent,
        profile: Option<String>,
        listed: Vec<ListedSession>,
        now: u64,
    ) -> io::Result<()> {
        disk::own_folder(&self.folder)?;
        let path = self.path(project);
        let _lock = disk::lock_writers(&path)?;
        let before = match self.read(project) {
            Ok(lists) => lists,
            Err(SetAside { moved_to: Ok(_), .. }) => Vec::new(),
            Err(SetAside { moved_to: Err(problem), .. }) => {
                return Err(io::Error::other(format!("{} cannot be replaced: {problem}", path.display())));
            }
        };
        let sessions = listed.into_iter().map(|listed| known(listed, now)).collect();
        let list = List { agent, profile, sessions };
        let mut lists = before.clone();
        lists.retain(|known| (&known.agent, &known.profile) != (&list.agent, &list.profile));
        lists.push(list);
        lists.drain(..lists.len().saturating_sub(MOST_LISTS));
        if lists == before {
            return Ok(());
        }
        let lists = lists.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
        write_atomically(&path, &serde_json::to_vec(&File { project: project.to_owned(), lists })?)
    }

    /// The sessions of a project that agents have listed. An unreadable file is set aside: the next list of an agent
    /// replaces it.
    pub fn load(&self, project: &Path) -> Vec<StoredSession> {
        self.lists(project).iter().flat_map(List::rows).collect()
    }

    /// The session with this id, and its agent.
    pub fn find(&self, project: &Path, id: &str) -> Option<(ChosenAgent, StoredSession)> {
        self.lists(project).into_iter().find_map(|list| {
            let row = list.rows().find(|row| row.agent_session_id == id)?;
            Some((list.agent, row))
        })
    }

    fn lists(&self, project: &Path) -> Vec<List> {
        self.read(project).unwrap_or_else(|aside| {
            tracing::warn!(problem = aside.problem, "sessions of other agents are not listed");
            Vec::new()
        })
    }

    fn read(&self, project: &Path) -> Result<Vec<List>, SetAside> {
        match load_json::<File>(&self.path(project), MOST_BYTES) {
            Loaded::Read(file) if file.project == project => {
                Ok(file.lists.into_iter().map(serde_json::from_value).filter_map(Result::ok).collect())
            }
            Loaded::Read(_) | Loaded::Missing => Ok(Vec::new()),
            Loaded::Unreadable(aside) => Err(aside),
        }
    }

    /// Sends the sessions of a project, and all of them again after each change.
    pub(super) async fn follow(self, project: PathBuf, rows: mpsc::Sender<Vec<StoredSession>>) {
        let changed = Arc::new(Notify::new());
        let (lists, of, notify) = (self.clone(), project.clone(), changed.clone());
        let watch = move || {
            disk::own_folder(&lists.folder).map_err(|error| error.to_string())?;
            let watch = SettingsWatch::new(&lists.path(&of), move || notify.notify_one());
            watch.map_err(|error| error.to_string())
        };
        // Watched before it is read, so that no change is missed.
        let watch = disk::run(&self.folder, disk::DEADLINE, watch).await;
        let watch = watch.map_err(|unfinished| unfinished.to_string()).and_then(|watch| watch);
        if let Err(problem) = &watch {
            tracing::info!(problem, "the lists of other agents are not watched");
        }
        let mut last = Vec::new();
        loop {
            let (lists, of) = (self.clone(), project.clone());
            match disk::run(&self.folder, disk::DEADLINE, move || lists.load(&of)).await {
                Ok(now) if now != last => {
                    last.clone_from(&now);
                    if rows.send(now).await.is_err() {
                        return;
                    }
                }
                Ok(_) => {}
                Err(unfinished) => tracing::info!(%unfinished, "sessions of other agents are not listed"),
            }
            tokio::select! {
                () = changed.notified() => {}
                () = tokio::time::sleep(WITHOUT_WATCH), if watch.is_err() => {}
                () = rows.closed() => return,
            }
        }
    }
}

impl List {
    fn rows(&self) -> impl Iterator<Item = StoredSession> {
        self.sessions.iter().map(|known| StoredSession {
            agent_session_id: known.id.clone(),
            title: known.title.clone(),
            first_prompt: None,
            last_prompt: None,
            branch: None,
            model: None,
            changed_at: known.changed_at,
            state: StoredState::Unknown,
            live: None,
            profile: self.profile.clone(),
            agent: Some(self.agent.name()),
        })
    }
}

fn known(listed: ListedSession, now: u64) -> Known {
    let title = listed.title.as_deref().and_then(Title::new);
    let title = title.map_or_else(|| "Untitled session".to_owned(), |title| title.as_str().to_owned());
    let moment = listed.changed_at.and_then(|at| OffsetDateTime::parse(&at, &Rfc3339).ok());
    let at = moment.and_then(|moment| u64::try_from(moment.unix_timestamp_nanos() / 1_000_000).ok());
    let changed_at = at.filter(|at| *at <= now.saturating_add(AHEAD_MS)).unwrap_or(0);
    Known { id: listed.id, title, changed_at }
}

#[cfg(test)]
mod tests;

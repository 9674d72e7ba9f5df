//! The stores of several accounts as one list: Claude Code's own folder, and those of profiles.

use super::agents::AgentSessions;
use super::follow::Follower;
use crate::api::{StoredChange, StoredSession};
use crate::projects::ProjectFolders;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use tokio::sync::{mpsc, watch};

/// Changes of all stores that may wait. When the queue is full, reading waits.
const WAITING: usize = 4;

/// A folder of Claude Code's own files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    pub config: PathBuf,
    /// The profile whose agents keep their conversations there; `None` is an agent without a profile.
    pub profile: Option<String>,
}

impl Follower {
    /// Sends the stored sessions of a project in all of these stores, and then each change, also of the stores. A
    /// conversation that two of them have is that of the first one. `agents`: the folder of the lists of other agents, which come
    /// last.
    pub fn of_stores(
        stores: watch::Receiver<Vec<Store>>,
        project: impl Into<ProjectFolders>,
        caches: Option<PathBuf>,
        agents: Option<PathBuf>,
    ) -> (Self, mpsc::Receiver<StoredChange>) {
        let project = project.into();
        let (changes, receiver) = mpsc::channel(WAITING);
        let (sender, listed) = mpsc::channel(WAITING);
        if let Some(agents) = agents {
            // It ends with its receiver.
            tokio::spawn(AgentSessions::new(agents).follow(project.now.clone(), sender));
        }
        let task = tokio::spawn(run(stores, project, caches, listed, changes));
        (Self(task.abort_handle()), receiver)
    }
}

async fn run(
    mut stores: watch::Receiver<Vec<Store>>,
    project: ProjectFolders,
    caches: Option<PathBuf>,
    mut listed: mpsc::Receiver<Vec<StoredSession>>,
    changes: mpsc::Sender<StoredChange>,
) {
    let (sender, mut reports) = mpsc::channel(WAITING);
    let mut merged = Merged::default();
    let mut following: HashMap<u64, [Follower; 2]> = HashMap::new();
    let mut are_final = false;
    loop {
        let wanted = stores.borrow_and_update().clone();
        let (change, begun) = merged.set(wanted);
        following.retain(|nr, _| merged.parts.iter().any(|part| part.nr == *nr));
        for (nr, store) in begun {
            let (follower, mut reported) = Follower::start(store.config, project.clone(), caches.clone());
            let sender = sender.clone();
            let forward = tokio::spawn(async move {
                while let Some(change) = reported.recv().await {
                    // The list has ended, and this task with it.
                    let _ = sender.send((nr, change)).await;
                }
            });
            following.insert(nr, [follower, Follower(forward.abort_handle())]);
        }
        if let Some(change) = change
            && changes.send(change).await.is_err()
        {
            return;
        }
        loop {
            tokio::select! {
                Some((nr, change)) = reports.recv() => {
                    if let Some(change) = merged.take(nr, change)
                        && changes.send(change).await.is_err()
                    {
                        return;
                    }
                }
                Some(rows) = listed.recv() => {
                    if let Some(change) = merged.take_listed(rows)
                        && changes.send(change).await.is_err()
                    {
                        return;
                    }
                }
                changed = stores.changed(), if !are_final => {
                    are_final = changed.is_err();
                    break;
                }
                () = changes.closed() => return,
            }
        }
    }
}

/// What the stores have, in their order.
#[derive(Default)]
struct Merged {
    parts: Vec<Part>,
    n_begun: u64,
    /// What other agents listed, by the agent's id.
    listed: HashMap<String, StoredSession>,
}

struct Part {
    nr: u64,
    store: Store,
    /// By the agent's id.
    rows: HashMap<String, StoredSession>,
    /// Its last change, without its sessions.
    state: StoredChange,
}

impl Merged {
    /// Follows exactly these stores. Returns what that changes in the list, and the stores that were not followed before.
    fn set(&mut self, stores: Vec<Store>) -> (Option<StoredChange>, Vec<(u64, Store)>) {
        let mut before = std::mem::take(&mut self.parts);
        let mut begun = Vec::new();
        for store in stores {
            let known = before.iter().position(|part| part.store == store);
            self.parts.push(known.map(|at| before.remove(at)).unwrap_or_else(|| {
                self.n_begun += 1;
                begun.push((self.n_begun, store.clone()));
                Part { nr: self.n_begun, store, rows: HashMap::new(), state: StoredChange::default() }
            }));
        }
        // A store that has gone, and an order that is another one.
        let gone: HashSet<String> = before.into_iter().flat_map(|part| part.rows.into_keys()).collect();
        let change = (!gone.is_empty()).then(|| self.change(gone.into_iter()));
        (change, begun)
    }

    /// Takes a change of one store; `None` if it is no longer followed.
    fn take(&mut self, nr: u64, change: StoredChange) -> Option<StoredChange> {
        let part = self.parts.iter_mut().find(|part| part.nr == nr)?;
        let StoredChange { changed, removed, .. } = change;
        part.state = StoredChange {
            changed: Vec::new(),
            removed: Vec::new(),
            is_complete: change.is_complete,
            n_unreadable: change.n_unreadable,
            problem: change.problem,
        };
        let mut ids: Vec<String> = changed.iter().map(|row| row.agent_session_id.clone()).collect();
        for row in changed {
            let row = StoredSession { profile: part.store.profile.clone(), ..row };
            part.rows.insert(row.agent_session_id.clone(), row);
        }
        for id in &removed {
            part.rows.remove(id);
        }
        ids.extend(removed);
        Some(self.change(ids.into_iter()))
    }

    /// Takes all sessions that other agents listed; `None` if none of them changed.
    fn take_listed(&mut self, rows: Vec<StoredSession>) -> Option<StoredChange> {
        let mut now: HashMap<String, StoredSession> = HashMap::new();
        for row in rows {
            now.entry(row.agent_session_id.clone()).or_insert(row);
        }
        let before = std::mem::replace(&mut self.listed, now);
        let ids: HashSet<&String> = before.keys().chain(self.listed.keys()).collect();
        let changed = ids.into_iter().filter(|id| before.get(*id) != self.listed.get(*id));
        let changed: Vec<String> = changed.cloned().collect();
        (!changed.is_empty()).then(|| self.change(changed.into_iter()))
    }

    /// The conversations with these ids as the list has them now.
    fn change(&self, ids: impl Iterator<Item = String>) -> StoredChange {
        let states = || self.parts.iter().map(|part| &part.state);
        let mut change = StoredChange {
            is_complete: states().all(|state| state.is_complete),
            n_unreadable: states().map(|state| state.n_unreadable).sum(),
            problem: states().find_map(|state| state.problem.clone()),
            ..StoredChange::default()
        };
        for id in ids {
            let of_claude = self.parts.iter().find_map(|part| part.rows.get(&id));
            match of_claude.or_else(|| self.listed.get(&id)) {
                Some(row) => change.changed.push(row.clone()),
                None => change.removed.push(id),
            }
        }
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::StoredState;

    fn row(id: &str, title: &str) -> StoredSession {
        StoredSession {
            agent_session_id: id.to_owned(),
            title: title.to_owned(),
            first_prompt: None,
            last_prompt: None,
            branch: None,
            model: None,
            changed_at: 1,
            state: StoredState::Completed,
            live: None,
            profile: None,
            agent: None,
        }
    }

    fn store(name: &str, profile: Option<&str>) -> Store {
        Store { config: PathBuf::from(name), profile: profile.map(str::to_owned) }
    }

    fn rows(change: &StoredChange) -> Vec<(&str, &str, Option<&str>)> {
        let facts = change.changed.iter();
        facts.map(|row| (&*row.agent_session_id, &*row.title, row.profile.as_deref())).collect()
    }

    fn whole(changed: Vec<StoredSession>, removed: &[&str]) -> StoredChange {
        let removed = removed.iter().map(|id| (*id).to_owned()).collect();
        StoredChange { changed, removed, is_complete: true, ..StoredChange::default() }
    }

    #[test]
    fn a_conversation_of_two_stores_is_that_of_the_first_one() {
        let mut merged = Merged::default();
        let both = vec![store("/a", None), store("/b", Some("Work"))];
        let (change, begun) = merged.set(both.clone());
        assert_eq!((change, begun.len()), (None, 2));
        let change = merged.take(2, whole(vec![row("x", "of b"), row("y", "y")], &[])).unwrap();
        assert_eq!(rows(&change), [("x", "of b", Some("Work")), ("y", "y", Some("Work"))]);
        assert!(!change.is_complete, "the first store was not read yet");
        let change = merged.take(1, whole(vec![row("x", "of a")], &[])).unwrap();
        assert_eq!((rows(&change), change.is_complete), (vec![("x", "of a", None)], true));
        // A change of the other one shows nothing else.
        let change = merged.take(2, whole(vec![row("x", "later of b")], &[])).unwrap();
        assert_eq!(rows(&change), [("x", "of a", None)]);
        let change = merged.take(1, whole(Vec::new(), &["x"])).unwrap();
        assert_eq!(rows(&change), [("x", "later of b", Some("Work"))]);
        // The profile is gone: its conversations leave the list.
        let (change, begun) = merged.set(both[..1].to_vec());
        let mut removed = change.unwrap().removed;
        removed.sort();
        assert_eq!((removed, begun), (vec!["x".to_owned(), "y".to_owned()], Vec::new()));
        assert_eq!(merged.take(2, whole(vec![row("z", "late")], &[])), None);
    }

    #[test]
    fn what_could_not_be_read_is_counted_together() {
        let mut merged = Merged::default();
        merged.set(vec![store("/a", None), store("/b", Some("Work"))]);
        let problem = Some("/b could not be read".to_owned());
        merged.take(2, StoredChange { n_unreadable: 2, problem: problem.clone(), ..whole(Vec::new(), &[]) });
        let change = merged.take(1, StoredChange { n_unreadable: 1, ..whole(Vec::new(), &[]) }).unwrap();
        assert_eq!((change.n_unreadable, change.problem), (3, problem));
    }
}

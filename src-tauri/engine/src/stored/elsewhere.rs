//! The conversations of all projects that live processes of the agent have open, in the stores of several accounts,
//! followed while they change.

use super::Located;
use super::catalogue::{process, row};
use super::files::{self, Found};
use super::follow::{CHECK_LIVE, Follower, TOGETHER};
use super::several::Store;
use super::summary::Summary;
use super::watch::{Pending, Watch};
use crate::disk;
use crate::history::{folder_of_real, worktree_folders};
use crate::owner::{self, LiveConversation};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Maximum number of conversations of a store that are read. Those of the newest processes come first.
const MOST: usize = 200;

/// Reports of stores that may wait. When the queue is full, reading waits.
const WAITING: usize = 4;

impl Follower {
    /// Reports the conversations of all projects that live processes of the agent have open, and each change of them, also
    /// of the stores. One that two stores have is that of the first one. A process without a conversation on disk is left
    /// out. Runs on the current tokio runtime; its files are read on disk threads.
    pub fn live(stores: watch::Receiver<Vec<Store>>) -> (Self, watch::Receiver<Vec<Located>>) {
        let (found, receiver) = watch::channel(Vec::new());
        let task = tokio::spawn(run(stores, found));
        (Self(task.abort_handle()), receiver)
    }
}

/// A store that is followed, and what is open in it.
struct Part {
    nr: u64,
    store: Store,
    live: Vec<Located>,
    _follower: Follower,
}

async fn run(mut stores: watch::Receiver<Vec<Store>>, found: watch::Sender<Vec<Located>>) {
    let (sender, mut reports) = mpsc::channel::<Report>(WAITING);
    let (mut parts, mut n_begun, mut are_final) = (Vec::<Part>::new(), 0, false);
    loop {
        let wanted = stores.borrow_and_update().clone();
        let mut before = std::mem::take(&mut parts);
        for store in wanted {
            let known = before.iter().position(|part| part.store == store);
            parts.push(known.map(|at| before.remove(at)).unwrap_or_else(|| {
                n_begun += 1;
                let task = tokio::spawn(follow(n_begun, store.config.clone(), sender.clone()));
                Part { nr: n_begun, store, live: Vec::new(), _follower: Follower(task.abort_handle()) }
            }));
        }
        // The stores that are no longer wanted.
        drop(before);
        loop {
            found.send_if_modified(|last| {
                let now = merged(&parts);
                std::mem::replace(last, now.clone()) != now
            });
            tokio::select! {
                Some((nr, live)) = reports.recv() => {
                    if let Some(part) = parts.iter_mut().find(|part| part.nr == nr) {
                        part.live = live;
                    }
                }
                changed = stores.changed(), if !are_final => {
                    are_final = changed.is_err();
                    break;
                }
                () = found.closed() => return,
            }
        }
    }
}

fn merged(parts: &[Part]) -> Vec<Located> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for Part { store, live, .. } in parts {
        let new = live.iter().filter(|one| seen.insert(one.session.agent_session_id.clone())).cloned();
        all.extend(new.map(|mut one| {
            one.session.profile.clone_from(&store.profile);
            one
        }));
    }
    all
}

/// What is open in the store with this number.
type Report = (u64, Vec<Located>);

/// Follows one store until its reports are no longer wanted.
async fn follow(nr: u64, config: PathBuf, reports: mpsc::Sender<Report>) {
    let pending = Arc::new(Pending::default());
    let mut reader: Option<Reader> = None;
    let mut last = Vec::new();
    loop {
        let (known, of, noted) = (reader.take(), config.clone(), pending.clone());
        let read = move || {
            let mut reader = known.unwrap_or_else(|| Reader::new(of, noted));
            let located = reader.read();
            (reader, located)
        };
        match disk::run(&config, disk::DEADLINE, read).await {
            Ok((back, located)) => {
                reader = Some(back);
                if located != last {
                    last.clone_from(&located);
                    if reports.send((nr, located)).await.is_err() {
                        return;
                    }
                }
            }
            Err(unfinished) => tracing::info!(%unfinished, "the agent's live processes are not known"),
        }
        tokio::select! {
            () = pending.changed() => tokio::time::sleep(TOGETHER).await,
            // A killed process changes no file, and there may be no watch.
            () = tokio::time::sleep(CHECK_LIVE) => {}
            () = reports.closed() => return,
        }
    }
}

/// Reads the conversations again whose files changed.
struct Reader {
    config: PathBuf,
    watch: Option<Watch>,
    known: HashMap<PathBuf, (Found, Summary)>,
}

impl Reader {
    fn new(config: PathBuf, pending: Arc<Pending>) -> Self {
        // Watched before it is read, so that no change is missed.
        let watch = Watch::of_live(&config, pending);
        Self { config, watch, known: HashMap::new() }
    }

    fn read(&mut self) -> Vec<Located> {
        self.watch = self.watch.take().and_then(|mut watch| watch.renew().then_some(watch));
        let mut live = owner::live_conversations(&self.config);
        live.sort_by(|a, b| (&a.agent_session_id, a.owner.pid).cmp(&(&b.agent_session_id, b.owner.pid)));
        live.dedup_by(|a, b| a.agent_session_id == b.agent_session_id);
        live.sort_by_key(|live| std::cmp::Reverse(live.owner.pid));
        live.truncate(MOST);
        let before = std::mem::take(&mut self.known);
        live.iter().filter_map(|live| self.located(live, &before)).collect()
    }

    /// The conversation of a process. `None` if it has none on disk yet, or an unreadable one.
    fn located(
        &mut self,
        live: &LiveConversation,
        before: &HashMap<PathBuf, (Found, Summary)>,
    ) -> Option<Located> {
        // The agent reports its real folder. The project's own disk, which may not respond, is not read.
        let folder = folder_of_real(&self.config, &live.owner.cwd);
        let name = format!("{}.jsonl", live.agent_session_id);
        let found = files::look(&folder.join(&name)).or_else(|| {
            let worktrees = worktree_folders(&self.config, &folder);
            worktrees.iter().find_map(|folder| files::look(&folder.join(&name)))
        })?;
        let summary = match before.get(&found.path).filter(|(known, _)| *known == found) {
            Some((_, summary)) => summary.clone(),
            None => files::read(&found).ok()?,
        };
        let session = row(&found.id, found.modified, &summary, Some(process(live)));
        let project = summary.cwd.as_deref().map_or_else(|| live.owner.cwd.clone(), PathBuf::from);
        let is_shown = summary.has_messages && project.is_absolute();
        self.known.insert(found.path.clone(), (found.clone(), summary));
        is_shown.then_some(Located { path: found.path, project: Some(project), session })
    }
}

//! The conversations of all projects that live processes of the agent have open, followed while they change.

use super::Located;
use super::catalogue::{process, row};
use super::files::{self, Found};
use super::follow::{CHECK_LIVE, Follower, TOGETHER};
use super::summary::Summary;
use super::watch::{Pending, Watch};
use crate::disk;
use crate::history::folder_of_real;
use crate::owner::{self, LiveConversation};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// Maximum number of conversations that are read. Those of the newest processes come first.
const MOST: usize = 200;

impl Follower {
    /// Reports the conversations of all projects that live processes of the agent have open, and each change of them. A
    /// process without a conversation on disk is left out. Runs on the current tokio runtime; its files are read on disk
    /// threads.
    pub fn live(config: PathBuf) -> (Self, watch::Receiver<Vec<Located>>) {
        let (found, receiver) = watch::channel(Vec::new());
        let task = tokio::spawn(run(config, found));
        (Self(task.abort_handle()), receiver)
    }
}

async fn run(config: PathBuf, found: watch::Sender<Vec<Located>>) {
    let pending = Arc::new(Pending::default());
    let mut reader: Option<Reader> = None;
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
                found.send_if_modified(|last| std::mem::replace(last, located.clone()) != located);
            }
            Err(unfinished) => tracing::info!(%unfinished, "the agent's live processes are not known"),
        }
        tokio::select! {
            () = pending.changed() => tokio::time::sleep(TOGETHER).await,
            // A killed process changes no file, and there may be no watch.
            () = tokio::time::sleep(CHECK_LIVE) => {}
            () = found.closed() => return,
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
        let found = files::look(&folder.join(format!("{}.jsonl", live.agent_session_id)))?;
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

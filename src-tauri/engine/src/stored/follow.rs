//! Following a project's stored sessions while they change.

use super::catalogue::{Catalogue, Extent};
use super::files::Place;
use super::watch::{Pending, Watch};
use crate::api::StoredChange;
use crate::disk;
use crate::projects::ProjectFolders;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Delay between a change of the store and reading it: a streaming agent writes many lines a second.
pub(super) const TOGETHER: Duration = Duration::from_millis(250);

/// Without a watcher the store is read again this often. Files that did not change are not read.
const WITHOUT_WATCH: Duration = Duration::from_secs(15);

/// The live processes are checked this often: a killed process changes no file.
pub(super) const CHECK_LIVE: Duration = Duration::from_secs(15);

/// All files are looked at this often, whatever was watched: a parent of the watched folders can move unseen.
const CHECK_ALL: Duration = Duration::from_secs(60);

/// Changes that may wait for their reader. When the queue is full, reading waits.
const WAITING: usize = 4;

/// Follows a store until it is dropped.
pub struct Follower(pub(super) AbortHandle);

impl Follower {
    /// Sends all stored sessions of a project, and then each change. Runs on the current tokio runtime; its files are read
    /// on disk threads.
    pub fn start(
        config: PathBuf,
        project: impl Into<ProjectFolders>,
        caches: Option<PathBuf>,
    ) -> (Self, mpsc::Receiver<StoredChange>) {
        let (changes, receiver) = mpsc::channel(WAITING);
        let task = tokio::spawn(run(config, project.into(), caches, changes));
        (Self(task.abort_handle()), receiver)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn run(
    config: PathBuf,
    project: ProjectFolders,
    caches: Option<PathBuf>,
    changes: mpsc::Sender<StoredChange>,
) {
    let pending = Arc::new(Pending::default());
    let (mut catalogue, mut watch) = loop {
        let (config, project, caches) = (config.clone(), project.clone(), caches.clone());
        let (of, noted) = (project.clone(), pending.clone());
        let open = move || {
            let place = Place::new(config, of);
            // Watched before it is read, so that no change is missed.
            let watch = Watch::new(&place, noted);
            (Catalogue::open(place, caches.as_deref()), watch)
        };
        match disk::run(&project.now, disk::DEADLINE, open).await {
            Ok(opened) => break opened,
            Err(unfinished) => {
                let change =
                    StoredChange { problem: Some(unfinished.to_string()), ..StoredChange::default() };
                if changes.send(change).await.is_err() {
                    return;
                }
                tokio::time::sleep(WITHOUT_WATCH).await;
            }
        }
    };
    let (mut extent, mut looked_at_all) = (Extent::All, Instant::now());
    let mut with_subagents = HashSet::new();
    while catalogue.refresh(extent, &changes).await.is_ok() {
        // Without a watch each of them may have written something.
        let wrote = |id: &String| watch.is_none() || with_subagents.contains(id);
        let again = catalogue.live_sessions().into_iter().filter(wrote).collect();
        if catalogue.send_again(again, &changes).await.is_err() {
            return;
        }
        watch = renewed(watch, &catalogue).await;
        let wait = if watch.is_some() { CHECK_LIVE } else { WITHOUT_WATCH };
        tokio::select! {
            () = pending.changed() => tokio::time::sleep(TOGETHER).await,
            () = tokio::time::sleep(wait) => {}
            () = changes.closed() => return,
        }
        extent = pending.take();
        with_subagents = pending.take_subagents();
        if watch.is_none() || looked_at_all.elapsed() >= CHECK_ALL {
            extent = Extent::All;
        }
        if extent == Extent::All {
            looked_at_all = Instant::now();
        }
    }
}

/// Watches folders that have appeared since. Returns `None` if there is no watch.
async fn renewed(watch: Option<Watch>, catalogue: &Catalogue) -> Option<Watch> {
    let mut watch = watch?;
    watch.with_subagents(catalogue.live_sessions());
    let renew = move || watch.renew().then_some(watch);
    // Without a watch, and if the disk does not respond, the store is read again from time to time.
    disk::run(&catalogue.place().folder, disk::DEADLINE, renew).await.ok().flatten()
}

//! `deskbell sessions watch`: a stored session and what its process adds to it, as events. Read only.

use crate::relay::write_events;
use crate::serve::place::session_folders;
use crate::signals;
use anyhow::{Context, anyhow};
use deskbell_engine::LocalHost;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::history::Additions;
use deskbell_engine::recorder::Recorder;
use deskbell_engine::session::Timeouts;
use deskbell_engine::session::{Open, SessionHandle, Subscriber};
use deskbell_engine::store::{Record, SavedSession};
use deskbell_engine::stored::{Follower, Located};
use deskbell_sessions::agent;
use deskbell_sessions::folders;
use deskbell_sessions::profiles;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Events that may wait for the reader of stdout.
const BACKLOG: usize = 8;

/// Runs until it is ended by a signal or its reader is gone.
pub fn run(session: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let done = runtime.block_on(watch(session));
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    done
}

async fn watch(session: &str) -> anyhow::Result<()> {
    let stores = profiles::stores(&profiles::settings());
    let (usual, id) = (agent::config_folder(AgentKind::Claude, Path::new("")), session.to_owned());
    let located = disk::run(&usual, disk::DEADLINE, move || Located::find_in(&stores, &id)).await?;
    let located = located.context("reading the agent's store")?;
    let (store, located) =
        located.ok_or_else(|| anyhow!("Claude Code has stored no session with the id {session}"))?;
    let Located { project, session: stored, .. } = located;
    let config = store.config;
    let project = project.context("the session does not say in which folder it is")?;
    let record = Record {
        id: SessionId::new(session),
        project: project.clone(),
        agent: AgentKind::Claude,
        created_at: stored.changed_at,
        changed_at: stored.changed_at,
        memory: SavedSession {
            agent_session_id: Some(session.to_owned()),
            resumable: true,
            title: Some(stored.title),
            changed_inputs: additions(session).await?.changed_inputs,
            ..SavedSession::default()
        },
    };
    let mut handle = open(record.clone(), &config);
    // Followed before it is read, so that no change is missed.
    let (_follower, mut changes) = Follower::start(config.clone(), &project, None);
    let (sender, events) = mpsc::channel(BACKLOG);
    let snapshot = handle.subscribe(Subscriber::Every(sender.clone())).await?;
    let mut writer = tokio::task::spawn_blocking(move || write_events(events));
    let follow = async {
        let mut record = record;
        send_all(&handle, &sender, snapshot).await?;
        while let Some(change) = changes.recv().await {
            let stored = change.changed.iter().find(|stored| stored.agent_session_id == session);
            let Some(stored) = stored else { continue };
            let changed = additions(session).await?.changed_inputs;
            if changed != record.memory.changed_inputs {
                // Deskbell saves what the user changed before the call runs.
                record.memory.changed_inputs = changed;
                handle = open(record.clone(), &config);
                let snapshot = handle.subscribe(Subscriber::Every(sender.clone())).await?;
                send_all(&handle, &sender, snapshot).await?;
            } else if handle.refresh(stored.live.is_some()).await? {
                send_all(&handle, &sender, handle.snapshot().await?).await?;
            }
        }
        anyhow::Ok(())
    };
    tokio::select! {
        followed = follow => followed,
        () = signals::received() => Ok(()),
        written = &mut writer => written?.map(drop).context("writing events to stdout"),
    }
}

/// A session that is only read.
fn open(record: Record, config: &Path) -> SessionHandle {
    SessionHandle::open(Open {
        record,
        launcher: Arc::new(|| Err(read_only())),
        host: Arc::new(LocalHost),
        store: None,
        agent_config: config.to_owned(),
        locks: None,
        agent_sessions: None,
        timeouts: Timeouts::default(),
        recorder: Recorder::default(),
    })
}

/// What Deskbell has stored about the session, and the agent's own transcript does not have.
async fn additions(session: &str) -> anyhow::Result<Additions> {
    let (data, id) = (folders::data(), session.to_owned());
    let of = data.clone();
    let read = move || Additions::of_conversation(&session_folders(&of), &id);
    let read = disk::run(&data, disk::DEADLINE, read).await?;
    read.context("reading Deskbell's sessions")
}

/// Sends all items of the transcript, with the number 0: they are no change.
async fn send_all(
    handle: &SessionHandle,
    sender: &mpsc::Sender<Envelope>,
    snapshot: Snapshot,
) -> anyhow::Result<()> {
    for item in snapshot.items {
        let envelope = Envelope { seq: 0, session_id: handle.id().clone(), event: Event::ItemAdded { item } };
        sender.send(envelope).await.map_err(|_| anyhow!("stdout is closed"))?;
    }
    Ok(())
}

fn read_only() -> CommandError {
    CommandError {
        code: ErrorCode::BadCommand,
        message: "The session is only watched.".to_owned(),
        detail: None,
    }
}

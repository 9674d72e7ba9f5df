//! A whole Deskbell session compared with the SDKs: one turn of the same agent, every event sent to one subscriber.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use cpu_time::ProcessTime;
use deskbell_engine::LocalHost;
use deskbell_engine::api::*;
use deskbell_engine::launch::Launch;
use deskbell_engine::recorder::Recorder;
use deskbell_engine::session::Timeouts;
use deskbell_engine::session::{Launcher, Open, SessionHandle, Subscriber};
use deskbell_engine::store::{Record, SavedSession};
use tokio::sync::mpsc;

/// Only a hang takes this long.
const DEADLINE: std::time::Duration = std::time::Duration::from_secs(120);

/// Prints the cost of an event from the agent's pipe to a subscriber, machine and document included, without a journal.
pub fn bench(n_events: usize) -> Result<()> {
    let runtime = crate::runtime()?;
    let cost = runtime.block_on(async {
        turn(10, "a turn").await?;
        let before = ProcessTime::now();
        turn(n_events, "a turn").await?;
        anyhow::Ok(before.elapsed())
    })?;
    println!("Deskbell: {:.1} µs of CPU an event", cost.as_secs_f64() * 1e6 / n_events as f64);
    Ok(())
}

/// One turn of a session with `n_pieces` of text; the prompt can name their pace.
pub async fn turn(n_pieces: usize, prompt: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let first_args = ["stub".to_owned(), n_pieces.to_string()];
    let launch = launch(folder.path(), &first_args, "host")?;
    let session = open(folder.path(), "host", AgentKind::Claude, Arc::new(move || Ok(launch.clone())));
    let (sender, mut events) = mpsc::channel(64);
    session.subscribe(Subscriber::Every(sender)).await.context("listening")?;
    session
        .post(Command::Prompt {
            text: prompt.to_owned(),
            attachments: Vec::new(),
            delivery: Delivery::default(),
        })
        .await
        .context("asking")?;
    ensure!(answered(&mut events).await, "the turn did not end well");
    // A subscriber that no longer reads must not delay the end.
    drop(events);
    session.close().await.context("closing")
}

/// This program as an agent.
pub fn launch(folder: &Path, first_args: &[String], name: &str) -> Result<Launch> {
    Ok(Launch {
        kind: AgentKind::Claude,
        acp: None,
        program: std::env::current_exe()?,
        first_args: first_args.iter().map(Into::into).collect(),
        project: folder.to_owned(),
        restricted: true,
        snapshot: None,
        env: vec![("CLAUDE_CONFIG_DIR".into(), Some(folder.join("config").into()))],
        run_token: format!("bench.{}.{name}", std::process::id()),
        priority: Priority::Normal,
    })
}

/// A session that writes nothing to disk.
pub fn open(folder: &Path, name: &str, agent: AgentKind, launcher: Launcher) -> SessionHandle {
    SessionHandle::open(Open {
        record: Record {
            id: SessionId::new(format!("bench-{name}")),
            project: PathBuf::from(folder),
            agent,
            created_at: 1,
            changed_at: 1,
            memory: SavedSession::default(),
        },
        launcher,
        host: Arc::new(LocalHost),
        store: None,
        agent_config: folder.join("config"),
        locks: None,
        agent_sessions: None,
        timeouts: Timeouts::default(),
        recorder: Recorder::default(),
    })
}

/// Whether the turn ended successfully. Reads every event up to its end.
pub async fn answered(events: &mut mpsc::Receiver<Envelope>) -> bool {
    let ended = tokio::time::timeout(DEADLINE, async {
        while let Some(envelope) = events.recv().await {
            if let Event::TurnEnded { turn } = envelope.event {
                return turn.outcome == Outcome::Done;
            }
        }
        false
    });
    ended.await.unwrap_or(false)
}

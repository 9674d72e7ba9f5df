//! `own_app PROJECT`: an app that owns its agents, without a window: the registry of sessions with its guard, in a process
//! of its own. It has one session of the demo agent, from an earlier run if there was one. `tests/engine/kills.rs` kills it.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use deskbell_engine::api::{AgentKind, ProjectRef, Settings};
use deskbell_engine::remote::{Dial, ServerLink};
use deskbell_engine::session::Subscriber;
use deskbell_engine::settings::SettingsFile;
use deskbell_sessions::folders;
use deskbell_sessions::orphans::OrphanProcesses;
use deskbell_sessions::registry::{Files, KeptServer, SessionRegistry};
use deskbell_sessions::settings::CurrentSettings;
use deskbell_sessions::trust::{self, TrustGate};
use deskbell_tests::kills::{OwnAppAnswer, OwnAppEvent, OwnAppRequest};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, stdin, stdout};
use tokio::sync::mpsc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [project] => match run(project.into()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("own_app: {error:#}");
                ExitCode::FAILURE
            }
        },
        // As the app, it is also its agent and its guard.
        _ => deskbell_cli::main(arguments.into_iter(), None),
    }
}

#[tokio::main(worker_threads = 2)]
async fn run(project: PathBuf) -> Result<()> {
    let data = folders::data();
    let file = SettingsFile::new(&folders::config());
    let read = file.read(&Settings::default());
    let (gate, _refused) = TrustGate::new(trust::open_store(&data)?);
    let orphans = OrphanProcesses::open(&data)?;
    let files = Files::read(&data)?;
    let kept = KeptServer { link: no_server, is_there: |_| false };
    let current = Arc::new(CurrentSettings::new(file, read));
    let (registry, _facts) = SessionRegistry::open(data, files, current, gate, kept).await?;
    tokio::spawn(end_orphans(orphans));
    let project = ProjectRef::Here(project);
    let known = registry.sessions(&project).pop();
    let session = match known {
        Some(known) => known,
        None => registry.begin(&project, AgentKind::Demo).await?,
    };
    let handle = registry.session(&project, &session.id)?;
    let (sender, mut events) = mpsc::channel(1_000);
    handle.subscribe(Subscriber::Every(sender)).await?;
    let mut requests = BufReader::new(stdin()).lines();
    loop {
        let said = tokio::select! {
            event = events.recv() => OwnAppEvent::Session(Box::new(event.context("the session has ended")?)),
            line = requests.next_line() => match line? {
                Some(line) => OwnAppEvent::Answer(match serde_json::from_str(&line)? {
                    OwnAppRequest::Snapshot => OwnAppAnswer::Snapshot(Box::new(handle.snapshot().await?)),
                    OwnAppRequest::Command(command) => OwnAppAnswer::Command(handle.command(command).await),
                }),
                None => break,
            },
        };
        let mut line = serde_json::to_vec(&said)?;
        line.push(b'\n');
        stdout().write_all(&line).await?;
        stdout().flush().await?;
    }
    drop(events);
    registry.end().await;
    Ok(())
}

/// The user of this app ends what an earlier run left, as soon as it is shown.
async fn end_orphans(orphans: OrphanProcesses) {
    while orphans.look().await {
        let found: Vec<u32> = orphans.views().iter().map(|orphan| orphan.pid).collect();
        if let Err(error) = orphans.end(&found).await {
            eprintln!("own_app: {error}");
        }
    }
}

/// The sessions of this app do not keep running.
fn no_server(_: PathBuf) -> ServerLink {
    let dial: Dial = Arc::new(|| Box::pin(async { Err(io::Error::other("this app has no server")) }));
    ServerLink::open(dial)
}

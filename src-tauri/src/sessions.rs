//! `deskbell sessions list`: the sessions of a project in the agent's own store, as NDJSON. See docs/relay.md.

use crate::agent;
use crate::args::SessionsOptions;
use anyhow::Context;
use deskbell_engine::api::{AgentKind, StoredChange, StoredSession};
use deskbell_engine::disk;
use deskbell_engine::stored::{Catalogue, Place, fits};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::sync::mpsc;

/// The folder of the caches of stored sessions. It may be deleted at any time.
pub fn caches() -> Option<PathBuf> {
    dirs::cache_dir().map(|folder| folder.join("deskbell").join("sessions"))
}

/// Fails if a part of the store could not be read.
pub fn main(options: &SessionsOptions) -> ExitCode {
    match list(options) {
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            problems.iter().for_each(|problem| eprintln!("deskbell: {problem}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("deskbell: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the sessions, the last changed one first. Returns what could not be read.
fn list(options: &SessionsOptions) -> anyhow::Result<Vec<String>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (sessions, problems) = runtime.block_on(read(&options.project))?;
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    for session in sessions.iter().filter(|session| fits(session, &options.filter)) {
        serde_json::to_writer(&mut stdout, session)?;
        stdout.write_all(b"\n")?;
    }
    stdout.flush()?;
    Ok(problems)
}

async fn read(project: &Path) -> anyhow::Result<(Vec<StoredSession>, Vec<String>)> {
    let (config, of) = (agent::config_folder(AgentKind::Claude, Path::new("")), project.to_owned());
    let open = move || Catalogue::open(Place::new(config, &of), caches().as_deref());
    let mut catalogue =
        disk::run(project, disk::DEADLINE, open).await.context("opening the agent's store")?;
    let (sender, mut changes) = mpsc::channel(4);
    let listing = tokio::spawn(async move { catalogue.list(&sender).await });
    let (mut sessions, mut problems, mut n_unreadable) = (HashMap::new(), Vec::new(), 0);
    while let Some(StoredChange { changed, problem, n_unreadable: n, .. }) = changes.recv().await {
        sessions.extend(changed.into_iter().map(|session| (session.agent_session_id.clone(), session)));
        problems.extend(problem);
        n_unreadable = n;
    }
    listing.await.context("reading the agent's store")?;
    if n_unreadable > 0 {
        let files = if n_unreadable == 1 { "file" } else { "files" };
        problems.push(format!(
            "{n_unreadable} {files} of the agent's store could not be read; DESKBELL_LOG=info names them"
        ));
    }
    let mut sessions: Vec<StoredSession> = sessions.into_values().collect();
    sessions.sort_by(|a, b| {
        b.changed_at.cmp(&a.changed_at).then_with(|| a.agent_session_id.cmp(&b.agent_session_id))
    });
    Ok((sessions, problems))
}

//! `deskbell sessions`: the sessions in the agent's own store. `list` prints those of a project as NDJSON. See
//! docs/relay.md.

mod export;
mod usage;
mod watch;

use crate::args::sessions::{ListOptions, StoredMode};
use crate::exit::{Exit, NotThere};
use crate::search;
use anyhow::Context;
use deskbell_engine::api::{SessionMark, StoredChange, StoredSession};
use deskbell_engine::disk;
use deskbell_engine::projects::ProjectStore;
use deskbell_engine::stored::{Catalogue, Located, MarkStore, Place, Store};
use deskbell_sessions::folders;
use deskbell_sessions::profiles;
use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::sync::mpsc;

/// The folder of the caches of stored sessions. It may be deleted at any time.
pub fn caches() -> Option<PathBuf> {
    dirs::cache_dir().map(|folder| folder.join("deskbell").join("sessions"))
}

/// A line of the list.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    session: &'a StoredSession,
    mark: Option<SessionMark>,
}

/// Fails if a part of the store could not be read.
pub fn main(mode: StoredMode) -> ExitCode {
    let done = match mode {
        StoredMode::List(options) => list(&options),
        StoredMode::Export(options) => export::run(&options).map(|()| Vec::new()),
        StoredMode::Search(options) => return search::main(options),
        StoredMode::Watch { session } => watch::run(&session).map(|()| Vec::new()),
        StoredMode::Usage(options) => usage::run(&options),
        StoredMode::Mark { session, mark } => set_mark(&session, mark).map(|()| Vec::new()),
    };
    match done {
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            problems.iter().for_each(|problem| eprintln!("deskbell: {problem}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("deskbell: {error:#}");
            Exit::of(&error).into()
        }
    }
}

fn set_mark(session: &str, mark: Option<SessionMark>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (store, id) = (MarkStore::new(&folders::data()), session.to_owned());
    let place = store.place().to_owned();
    // On a thread with a deadline: the app's folder may be on a disk that does not respond.
    let marked = disk::run(&place, disk::DEADLINE, move || {
        match mark {
            Some(_) => check_stored(&id)?,
            None if store.load().iter().any(|marked| marked.id == id) => {}
            None => return Err(NotThere(format!("the session {id} is neither pinned nor archived")).into()),
        }
        store.mark(&id, mark).map(drop).context("saving the mark")
    });
    let marked = runtime.block_on(marked);
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    marked?
}

/// A session that is marked is stored: by Claude Code for any project, or by another agent for the current folder.
fn check_stored(id: &str) -> anyhow::Result<()> {
    let stores = profiles::stores(&profiles::settings());
    let is_stored = || Located::find_in(&stores, id).context("reading the agent's store");
    let here = std::env::current_dir().unwrap_or_default();
    let lists = folders::data().join(folders::AGENT_SESSIONS);
    if Catalogue::find_of_agents(lists, &here, id).is_some() || is_stored()?.is_some() {
        return Ok(());
    }
    Err(NotThere(format!(
        "no agent has stored a session with the id {id}; `deskbell sessions list` lists them"
    ))
    .into())
}

/// Prints the sessions, the last changed one first. Returns what could not be read.
fn list(options: &ListOptions) -> anyhow::Result<Vec<String>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (sessions, problems) = runtime.block_on(read(&options.project))?;
    let store = MarkStore::new(&folders::data());
    let place = store.place().to_owned();
    let marked = runtime.block_on(disk::run(&place, disk::DEADLINE, move || store.load()))?;
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    let mut stdout = io::BufWriter::new(crate::output::stdout());
    let marks: HashMap<String, SessionMark> =
        marked.into_iter().map(|marked| (marked.id, marked.mark)).collect();
    for session in sessions.iter().filter(|session| Catalogue::fits(session, &options.filter)) {
        let mark = marks.get(&session.agent_session_id).copied();
        serde_json::to_writer(&mut stdout, &Listed { session, mark })?;
        stdout.write_all(b"\n")?;
    }
    stdout.flush()?;
    Ok(problems)
}

async fn read(project: &Path) -> anyhow::Result<(Vec<StoredSession>, Vec<String>)> {
    let (mut sessions, mut problems) = (HashMap::new(), Vec::new());
    for store in profiles::stores(&profiles::settings()) {
        let (of_store, of_it) = read_store(project, &store).await?;
        problems.extend(of_it);
        for session in of_store {
            let session = StoredSession { profile: store.profile.clone(), ..session };
            // A conversation that two stores have is that of the first one.
            sessions.entry(session.agent_session_id.clone()).or_insert(session);
        }
    }
    let (lists, of) = (folders::data().join(folders::AGENT_SESSIONS), project.to_owned());
    let place = lists.clone();
    let listed = disk::run(&place, disk::DEADLINE, move || Catalogue::of_agents(lists, &of)).await;
    for session in listed.context("reading the lists of other agents")? {
        sessions.entry(session.agent_session_id.clone()).or_insert(session);
    }
    let mut sessions: Vec<StoredSession> = sessions.into_values().collect();
    sessions.sort_by(|a, b| {
        b.changed_at.cmp(&a.changed_at).then_with(|| a.agent_session_id.cmp(&b.agent_session_id))
    });
    Ok((sessions, problems))
}

async fn read_store(project: &Path, store: &Store) -> anyhow::Result<(Vec<StoredSession>, Vec<String>)> {
    let (config, of) = (store.config.clone(), project.to_owned());
    let open = move || {
        let folders = ProjectStore::new(&folders::data()).folders(&of);
        Catalogue::open(Place::new(config, folders), caches().as_deref())
    };
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
    Ok((sessions.into_values().collect(), problems))
}

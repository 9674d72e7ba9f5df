//! `deskbell relay --list`, `--stop` and `--remove`: everything that servers hold on this machine, of every version.

use super::ask;
use crate::args::server::Which;
use crate::exit::Exit;
use crate::link::Link;
use crate::serve::place::Place;
use anyhow::Context;
use deskbell_engine::api::server::{PROTOCOL, Reply, Request, SessionSummary};
use deskbell_engine::api::{Command, ProcessCost, SessionId, Status};
use deskbell_engine::disk;
use deskbell_engine::store::{Record, Store};
use deskbell_server::socket::{self, SocketError};
use deskbell_sessions::cost::Processes;
use serde_json::json;
use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Timeout for a process to end after it was stopped: all stop stages, on a busy machine.
const STOPS: Duration = Duration::from_secs(30);

/// Timeout for a server to introduce itself.
const ANSWERS: Duration = Duration::from_secs(5);

/// The server of one version.
struct Found {
    place: Place,
    state: State,
}

enum State {
    Running {
        link: Link,
        pid: u32,
        run: String,
        sessions: Vec<SessionSummary>,
    },
    /// Only the saved sessions are there. The next start of a server restores them.
    NotRunning(Vec<Record>),
    /// The server cannot be asked.
    Unknown(String),
}

async fn find(data: &Path) -> anyhow::Result<Vec<Found>> {
    let listed = data.to_owned();
    let places = disk::run(data, disk::DEADLINE, move || Place::all(&listed)).await??;
    let (mut found, mut listed) = (Vec::new(), HashSet::new());
    for place in places {
        let state = match tokio::time::timeout(ANSWERS, look(&place)).await {
            Ok(Ok(State::Running { link, pid, run, mut sessions })) => {
                // A server has the sessions of older ones, too. The newest comes first.
                sessions.retain(|session| listed.insert(session.id.clone()));
                State::Running { link, pid, run, sessions }
            }
            Ok(Ok(state)) => state,
            Ok(Err(error)) => State::Unknown(format!("{error:#}")),
            Err(_) => State::Unknown("it does not answer".to_owned()),
        };
        found.push(Found { place, state });
    }
    Ok(found)
}

async fn look(place: &Place) -> anyhow::Result<State> {
    match socket::connect(&place.socket()).await {
        Ok(stream) => {
            let mut link = Link::new(stream);
            let Reply::Hello { protocol, pid, run, sessions, .. } = link.reply().await? else {
                anyhow::bail!("the server did not introduce itself");
            };
            anyhow::ensure!(
                protocol == PROTOCOL,
                "the server (process {pid}) speaks protocol {protocol}, and this program {PROTOCOL}; use that \
                 version of Deskbell"
            );
            Ok(State::Running { link, pid, run, sessions })
        }
        Err(SocketError::NoServer) => {
            let folder = place.folder.join("sessions");
            let read = disk::run(&place.folder, disk::DEADLINE, move || {
                let is_there = folder.is_dir();
                if is_there { Ok(Store::open(folder)?.load()?.records) } else { anyhow::Ok(Vec::new()) }
            });
            Ok(State::NotRunning(read.await?.context("reading the saved sessions")?))
        }
        Err(error) => Err(error.into()),
    }
}

/// A connection to the running server that has this session, and its run.
pub async fn find_session(data: &Path, id: &SessionId) -> anyhow::Result<Option<(Link, String)>> {
    for Found { place, state } in find(data).await? {
        match state {
            State::Running { link, run, sessions, .. } if sessions.iter().any(|one| one.id == *id) => {
                return Ok(Some((link, run)));
            }
            State::Running { .. } | State::NotRunning(_) => {}
            State::Unknown(problem) => eprintln!("deskbell: server {}: {problem}", place.version),
        }
    }
    Ok(None)
}

/// The sessions of the user's servers that work or wait, and the servers that cannot be asked, each with the reason.
#[cfg(target_os = "linux")]
#[derive(Debug, Default)]
pub struct Busy {
    pub n_sessions: usize,
    pub unknown: Vec<String>,
}

/// Counts what works or waits on every server.
#[cfg(target_os = "linux")]
pub async fn busy(data: &Path) -> anyhow::Result<Busy> {
    let mut busy = Busy::default();
    for Found { place, state } in find(data).await? {
        match state {
            State::Running { sessions, .. } => {
                busy.n_sessions +=
                    sessions.iter().filter(|session| deskbell_server::is_busy(session)).count();
            }
            State::NotRunning(_) => {}
            State::Unknown(problem) => busy.unknown.push(format!("server {}: {problem}", place.version)),
        }
    }
    Ok(busy)
}

/// Lists every session of every server.
pub async fn list(is_json: bool) -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    let mut failed = false;
    let processes = disk::run(Path::new("/proc"), disk::DEADLINE, Processes::read).await?;
    for Found { place, state } in find(&deskbell_sessions::folders::data()).await? {
        let version = &place.version;
        match state {
            State::Running { pid, sessions, .. } => {
                let rows: Vec<String> = sessions
                    .iter()
                    .map(|session| {
                        let cost = session.pid.and_then(|pid| processes.cost_of(pid));
                        if is_json {
                            json!({"version": version, "serverPid": pid, "session": session, "cost": cost})
                                .to_string()
                        } else {
                            row(session, cost)
                        }
                    })
                    .collect();
                if !is_json {
                    text.push_str(&format!("server {version}, process {pid}: {} sessions\n", rows.len()));
                }
                rows.into_iter().for_each(|row| text.push_str(&format!("{row}\n")));
            }
            State::NotRunning(records) if records.is_empty() => {}
            State::NotRunning(records) => {
                if !is_json {
                    text.push_str(&format!(
                        "server {version}, not running: {} saved sessions\n",
                        records.len()
                    ));
                }
                for record in records {
                    let (id, project) = (&record.id, record.project.display().to_string());
                    text.push_str(&if is_json {
                        json!({"version": version, "serverPid": null,
                            "session": {"id": id, "project": project, "alive": false}})
                        .to_string()
                    } else {
                        format!("  {id}  saved            {}", plain(&project))
                    });
                    text.push('\n');
                }
            }
            State::Unknown(problem) => {
                failed = true;
                eprintln!("deskbell: server {version}: {problem}");
            }
        }
    }
    if text.is_empty() && !is_json && !failed {
        text.push_str("no server is running, and no session is saved\n");
    }
    crate::output::print(text.as_bytes()).context("writing to stdout")?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Money as the window writes it; nothing for nothing.
fn dollars(usd: f64) -> Option<String> {
    (usd > 0.0).then(|| if usd < 0.01 { "< $0.01".to_owned() } else { format!("${usd:.2}") })
}

fn row(session: &SessionSummary, cost: Option<ProcessCost>) -> String {
    let cost = cost.map_or_else(String::new, |cost| format!(": {cost}"));
    let process = session.pid.map_or_else(String::new, |pid| format!(" (process {pid}{cost})"));
    let money = dollars(session.cost_usd).map_or_else(String::new, |money| format!(", {money}"));
    let held = if session.n_held > 0 { format!(", {} held", session.n_held) } else { String::new() };
    format!(
        "  {}  {:<16} {}  {}{process}{money}{held}",
        session.id,
        words(&session.status),
        plain(&session.project),
        plain(&session.title)
    )
}

pub(super) fn words(status: &Status) -> &'static str {
    match status {
        Status::Idle => "idle",
        Status::Starting => "starting",
        Status::Working { .. } => "working",
        Status::Interrupting => "interrupting",
        Status::NeedsInput { .. } => "needs input",
        Status::Completed => "completed",
        Status::Interrupted => "interrupted",
        Status::Background => "background",
        Status::Failed { .. } => "failed",
        Status::Restarting { .. } => "restarting",
        Status::Stopping => "stopping",
        Status::Stopped => "stopped",
    }
}

/// A text without control characters, which could rewrite a terminal.
fn plain(text: &str) -> String {
    let is_plain =
        |c: &char| !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if is_plain(&c) { c } else { '\u{fffd}' }).collect()
}

/// Stops the agents of one or of all sessions, and waits until their processes have ended.
pub async fn stop(which: Which) -> anyhow::Result<ExitCode> {
    let (mut n_found, mut failed) = (0, false);
    for Found { place, state } in find(&deskbell_sessions::folders::data()).await? {
        let version = &place.version;
        let (mut link, sessions) = match state {
            State::Running { link, sessions, .. } => (link, sessions),
            State::NotRunning(_) => continue,
            State::Unknown(problem) => {
                failed = true;
                eprintln!("deskbell: server {version}: {problem}");
                continue;
            }
        };
        for session in sessions {
            if which != Which::All && which != Which::One(session.id.clone()) {
                continue;
            }
            n_found += 1;
            if !session.alive && which == Which::All {
                continue;
            }
            match tokio::time::timeout(STOPS, stop_one(&mut link, &session.id)).await {
                Ok(stopped) => stopped?,
                Err(_) => {
                    failed = true;
                    eprintln!("deskbell: the agent of {} did not end within {STOPS:?}", session.id);
                }
            }
        }
    }
    if n_found == 0 && which != Which::All {
        eprintln!("deskbell: no server has this session; `deskbell relay --list` lists them");
        return Ok(if failed { Exit::Failed.into() } else { Exit::NotFound.into() });
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Stops one agent and waits until the session says that its process has ended.
async fn stop_one(link: &mut Link, session_id: &SessionId) -> anyhow::Result<()> {
    // First the subscription: its snapshot is the state before the stop, and every later change follows.
    let attach = Request::Attach { session_id: session_id.clone(), after: None, run: None };
    link.send(&attach).await?;
    let id = uuid::Uuid::new_v4().to_string();
    let request = Request::Command {
        id: id.clone(),
        run: None,
        session_id: session_id.clone(),
        command: Command::Stop,
    };
    link.send(&request).await?;
    let (mut is_alive, mut is_accepted) = (true, false);
    while is_alive || !is_accepted {
        let line = link.next().await?.context("the server closed the connection")?;
        let value: serde_json::Value = serde_json::from_slice(line)?;
        match value["type"].as_str() {
            Some("accepted") if value["id"] == id.as_str() => is_accepted = true,
            // There was nothing to stop any more.
            Some("refused") if value["id"] == id.as_str() => break,
            Some("snapshot") => is_alive = value["snapshot"]["session"]["alive"] == true,
            Some("sessionChanged") => is_alive = value["session"]["alive"].as_bool().unwrap_or(is_alive),
            Some("removed") => break,
            _ => {}
        }
    }
    link.send(&Request::Detach { session_id: session_id.clone() }).await
}

/// Ends a session and removes it from its server.
pub async fn remove(session_id: SessionId) -> anyhow::Result<ExitCode> {
    for Found { state, .. } in find(&deskbell_sessions::folders::data()).await? {
        let State::Running { mut link, sessions, .. } = state else { continue };
        if sessions.iter().any(|session| session.id == session_id) {
            let id = uuid::Uuid::new_v4().to_string();
            let request = Request::Remove { id: id.clone(), run: None, session_id };
            return match ask(&mut link, &request, &id).await? {
                Ok(()) => Ok(ExitCode::SUCCESS),
                Err(error) => {
                    eprintln!("deskbell: {error}");
                    Ok(ExitCode::FAILURE)
                }
            };
        }
    }
    eprintln!("deskbell: no running server has this session; `deskbell relay --list` lists them");
    Ok(Exit::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_cannot_rewrite_the_terminal() {
        assert_eq!(plain("a\u{1b}[2Jb\n\u{202e}c é"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}c é");
    }
}

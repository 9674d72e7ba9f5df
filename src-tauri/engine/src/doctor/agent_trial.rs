//! The trial of another agent: whether it needs a login, whether it asks before it acts, which ports it opens and what it
//! writes.
//!
//! It is started twice, each time in an empty folder. As the user has it, it begins a session and gets no prompt: it says
//! itself whether a login is missing, and nothing else reads its files. In an empty home, with a model on loopback and
//! without the user's variables, it is made to call a tool that requires permission. The request is always denied.

use super::api::LoopbackApi;
use super::{Seen, close, open, unknown, watch};
use crate::api::*;
use crate::disk;
use crate::host::local;
use crate::launch::Launch;
use crate::session::Subscriber;
use deskbell_acp::offline::Offline;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Variables that the agent gets in the trial; all others may have keys or name the user's own files.
const KEPT: &[&str] = &[
    "PATH",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TMPDIR",
    "TEMP",
    "TMP",
    "USER",
    "LOGNAME",
    "SHELL",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    Launch::RUN_TOKEN,
];

/// Folders of a home that have a folder for each program.
const SHARED: &[&str] = &[".cache", ".config", ".local/share", ".local/state"];

/// Entries of an empty home that are listed, and files that are counted.
const MOST_ENTRIES: usize = 12;
const MOST_FILES: usize = 100_000;

impl Launch {
    /// Tries the agent that this launch names, another one than Claude Code; its folder is replaced. Each of the two starts
    /// takes at most `limit`, plus the time to end its processes.
    pub async fn trial_of_other(self, limit: Duration) -> AgentTrial {
        let not_begun = |error| LoginState::Unknown { reason: format!("the trial could not start: {error}") };
        let (login, mut ports) = match login(&self, limit).await {
            Ok(began) => began,
            Err(error) => (not_begun(error), None),
        };
        let offline = self.acp.as_ref().and_then(|agent| agent.facts()?.offline);
        let (asks, writes) = match offline {
            None => (None, Vec::new()),
            Some(offline) => match asks(&self, offline, limit).await {
                Ok((asks, writes, more)) => {
                    ports = match (ports, more) {
                        (Some(ports), Some(more)) => Some(ports.union(&more).copied().collect()),
                        (ports, more) => ports.or(more),
                    };
                    (Some(asks), writes)
                }
                Err(error) => (Some(unknown(format!("The trial could not start: {error}"))), Vec::new()),
            },
        };
        let ports = ports.map(|ports| ports.into_iter().collect());
        AgentTrial { login, asks, ports, writes }
    }
}

/// The ports that the agent and what it started have open now.
async fn ports(launch: &Launch) -> Option<BTreeSet<SocketAddr>> {
    let token = launch.run_token.clone();
    tokio::task::spawn_blocking(move || local::ports(&token)).await.ok().flatten()
}

/// The folder has nothing that the agent could run, so no trust in it is missing.
fn in_empty_folder(launch: &Launch, folder: &Path) -> io::Result<Launch> {
    std::fs::create_dir_all(folder)?;
    let project = dunce::canonicalize(folder)?;
    Ok(Launch { project, restricted: false, snapshot: None, ..launch.clone() })
}

async fn login(launch: &Launch, limit: Duration) -> io::Result<(LoginState, Option<BTreeSet<SocketAddr>>)> {
    let folder = tempfile::Builder::new().prefix("deskbell-doctor-").tempdir()?;
    let launch = in_empty_folder(launch, &folder.path().join("project"))?;
    let session = open(&launch, folder.path().join("config"));
    let began = async {
        let (sender, mut events) = mpsc::channel(64);
        let mut known = session.subscribe(Subscriber::Every(sender)).await?.session;
        session.command(Command::Start).await?;
        let mut problem = None;
        while let Some(envelope) = events.recv().await {
            known.apply(&envelope.event);
            match envelope.event {
                Event::SessionChanged { .. } => match &known.login {
                    Some(AgentLogin { words, needed: true }) => {
                        return Ok(LoginState::Needed { command: words.join(" ") });
                    }
                    _ if known.alive && known.status == Status::Idle => {
                        return Ok(LoginState::NotAskedFor);
                    }
                    _ => {}
                },
                Event::CommandFailed { error } => {
                    let detail = error.detail.and_then(|detail| detail.lines().next().map(str::to_owned));
                    problem = Some(match detail {
                        Some(detail) => format!("{} {detail}", error.message),
                        None => error.message,
                    });
                    let session = session.snapshot().await?.session;
                    if let Some(AgentLogin { words, needed: true }) = session.login {
                        return Ok(LoginState::Needed { command: words.join(" ") });
                    }
                }
                Event::AgentExited { report } => {
                    let said = report.stderr.lines().last().filter(|line| !line.is_empty());
                    let reason = problem.or_else(|| said.map(str::to_owned));
                    let reason = reason.unwrap_or_else(|| "it ended before it began a session".to_owned());
                    return Ok(LoginState::Unknown { reason });
                }
                _ => {}
            }
        }
        Ok(LoginState::Unknown { reason: "the session ended".to_owned() })
    };
    let began: Result<Result<LoginState, CommandError>, _> = timeout(limit, began).await;
    let login = match began {
        Ok(Ok(login)) => login,
        Ok(Err(error)) => LoginState::Unknown { reason: error.message },
        Err(_) => LoginState::Unknown { reason: format!("it began no session within {} s", limit.as_secs()) },
    };
    let ports = ports(&launch).await;
    close(&session).await;
    Ok((login, ports))
}

async fn asks(
    launch: &Launch,
    offline: Offline,
    limit: Duration,
) -> io::Result<(PermissionChannel, Vec<String>, Option<BTreeSet<SocketAddr>>)> {
    let folder = tempfile::Builder::new().prefix("deskbell-doctor-").tempdir()?;
    let (home, config) = (folder.path().join("home"), folder.path().join("config"));
    let api = LoopbackApi::start().await?;
    let filled = |text: &str| text.replace("{url}", &api.url());
    std::fs::create_dir_all(&home)?;
    for (path, text) in offline.files {
        let file = home.join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(&home))?;
        disk::write_atomically(&file, filled(text).as_bytes())?;
    }
    let mut launch = in_empty_folder(launch, &folder.path().join("project"))?;
    launch.env = environment(std::mem::take(&mut launch.env), &home);
    let own = offline.environment.iter().map(|(name, value)| ((*name).into(), Some(filled(value).into())));
    launch.env.extend(own);
    let session = open(&launch, config);
    let channel = match timeout(limit, watch(&session, &api, &mut Seen::default())).await {
        Ok(Ok(channel)) => channel,
        Ok(Err(error)) => unknown(error.message),
        Err(_) => unknown(format!("The agent did not finish the test within {} s.", limit.as_secs())),
    };
    let ports = ports(&launch).await;
    close(&session).await;
    Ok((channel, written(&home, offline), ports))
}

/// The user's variables are removed, except those that every program needs. The home is this one.
fn environment(chosen: Vec<(OsString, Option<OsString>)>, home: &Path) -> Vec<(OsString, Option<OsString>)> {
    let is_kept = |name: &OsStr| {
        let name = name.to_string_lossy().to_uppercase();
        KEPT.contains(&&*name) || name.starts_with("LC_")
    };
    let inherited = std::env::vars_os().map(|(name, _)| (name, None));
    let mut env: Vec<_> = inherited.filter(|(name, _)| !is_kept(name)).collect();
    env.extend(chosen.into_iter().filter(|(name, _)| is_kept(name)));
    for name in ["HOME", "USERPROFILE"] {
        env.push((name.into(), Some(home.into())));
    }
    // Nothing but the model is reached: connections to other computers go to a port that is closed.
    env.push(("HTTPS_PROXY".into(), Some("http://127.0.0.1:9".into())));
    env.push(("NO_PROXY".into(), Some("127.0.0.1,localhost".into())));
    env
}

/// What is in the home now, except the files that the trial put there: an entry for each program's folder.
fn written(home: &Path, offline: Offline) -> Vec<String> {
    let mut entries: BTreeMap<String, usize> = BTreeMap::new();
    let (mut folders, mut n_files) = (vec![home.to_owned()], 0);
    while let Some(folder) = folders.pop() {
        // An agent that is ending may remove a folder: it is no entry then.
        let Ok(listing) = disk::list(&folder, MOST_FILES) else { continue };
        for path in listing.paths {
            // Links are not followed.
            if path.symlink_metadata().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
                continue;
            }
            let Ok(inside) = path.strip_prefix(home) else { continue };
            let inside = inside.to_string_lossy().replace('\\', "/");
            n_files += 1;
            if n_files <= MOST_FILES && !offline.files.iter().any(|(ours, _)| *ours == inside) {
                *entries.entry(place(&inside)).or_default() += 1;
            }
        }
    }
    let n_more = entries.len().saturating_sub(MOST_ENTRIES);
    let words = |(place, n): (String, usize)| match n {
        1 => format!("{place} (1 file)"),
        n => format!("{place} ({n} files)"),
    };
    let mut list: Vec<String> = entries.into_iter().take(MOST_ENTRIES).map(words).collect();
    if n_more > 0 {
        list.push(format!("{n_more} more"));
    }
    list
}

/// The folder of one program that a file of the home is in, or the file itself.
fn place(file: &str) -> String {
    let shared =
        SHARED.iter().find(|shared| file.strip_prefix(**shared).is_some_and(|rest| rest.starts_with('/')));
    let n = shared.map_or(1, |shared| shared.split('/').count() + 1);
    file.split('/').take(n).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_listed_by_the_folders_of_programs_without_what_was_there() {
        let home = tempfile::tempdir().unwrap();
        let offline = Offline { environment: &[], files: &[(".codex/config.toml", "")] };
        for path in [
            ".codex/config.toml",
            ".codex/a/b",
            ".codex/c",
            ".claude.json",
            ".cache/x/y/z",
            ".local/share/o/p",
        ] {
            let file = home.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let expected =
            [".cache/x (1 file)", ".claude.json (1 file)", ".codex (2 files)", ".local/share/o (1 file)"];
        assert_eq!(written(home.path(), offline), expected);
        for i in 0..20 {
            std::fs::write(home.path().join(format!("f{i:02}")), "").unwrap();
        }
        let list = written(home.path(), offline);
        assert_eq!((list.len(), list.last().map(String::as_str)), (MOST_ENTRIES + 1, Some("12 more")));
    }

    #[test]
    fn no_variable_of_the_user_reaches_the_trial() {
        let chosen: Vec<(OsString, Option<OsString>)> =
            [("OPENAI_API_KEY", "secret"), ("PATH", "/opt/bin"), ("CODEX_HOME", "/home/ines/codex")]
                .map(|(name, value)| (name.into(), Some(value.into())))
                .into();
        let env = environment(chosen, Path::new("/empty"));
        let value =
            |name: &str| env.iter().rev().find(|(one, _)| one == name).and_then(|(_, value)| value.clone());
        assert_eq!((value("PATH"), value("HOME")), (Some("/opt/bin".into()), Some("/empty".into())));
        assert_eq!((value("OPENAI_API_KEY"), value("CODEX_HOME")), (None, None));
        // `cargo` sets it for every test.
        let removed = env.iter().find(|(name, _)| name == "CARGO_PKG_NAME");
        assert_eq!(removed.map(|(_, value)| value.is_none()), Some(true));
    }
}

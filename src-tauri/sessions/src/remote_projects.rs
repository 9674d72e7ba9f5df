//! Projects on other machines, as a window asks for them: their folders, trust, agents, conversations and worktrees. Deskbell
//! there looks at them. Its answers are those of another program: bounded, and checked before they are shown.

pub mod agents;
pub mod conversations;
pub mod lost_link;
pub mod worktrees;

use crate::far::{AskWindow, Connections, Far, FarError, FarLines};
use deskbell_engine::api::*;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Projects of one machine that are shown without a window.
const MOST_PROJECTS: usize = 100;

/// A machine that is asked for one window, which answers what ssh asks.
pub struct MachineClient {
    machine: Far,
    connections: Arc<Connections>,
    window: Option<AskWindow>,
}

impl MachineClient {
    /// Without a window, a connection that asks something ends.
    pub fn new(machine: Far, connections: Arc<Connections>, window: Option<AskWindow>) -> Self {
        Self { machine, connections, window }
    }

    pub fn machine(&self) -> &RemoteMachine {
        &self.machine.machine
    }

    /// Runs a command of Deskbell there that prints one JSON value.
    async fn ask<T: DeserializeOwned>(&self, command: &[String]) -> Result<T, FarError> {
        self.machine.ask(&self.connections, self.window.clone(), command).await
    }

    /// Runs a command of Deskbell there that prints one JSON value in each line.
    async fn ask_lines<T: DeserializeOwned>(&self, command: &[String]) -> Result<FarLines<T>, FarError> {
        self.machine.ask_lines(&self.connections, self.window.clone(), command).await
    }

    fn for_window(&self, error: FarError) -> CommandError {
        error.for_window(self.machine())
    }

    /// Lists the folders in a folder there; without a name, in the home folder.
    pub async fn folders(&self, folder: &str) -> Result<FolderListing, CommandError> {
        let mut command = vec!["folders".to_owned()];
        let folder = folder.trim();
        if folder.len() > RemoteFolder::MOST_BYTES
            || folder.starts_with('-')
            || folder.contains(char::is_control)
        {
            return Err(bad_folder());
        }
        command.extend((!folder.is_empty()).then(|| folder.to_owned()));
        let listing: FolderListing = self.ask(&command).await.map_err(|error| self.for_window(error))?;
        project_on(self.machine(), &listing.path).map(|_| listing)
    }

    /// Lists the sessions that run there, at `now` in milliseconds since the epoch.
    pub async fn sessions(&self, now: u64) -> Result<MachineAnswer, CommandError> {
        let asked = self.machine.sessions(&self.connections, self.window.clone(), now).await;
        let mut answer = asked.map_err(|error| self.for_window(error))?;
        // One that could not be opened is only counted.
        let n_listed = answer.sessions.len();
        answer.sessions.retain(|session| session.project.parse::<RemoteFolder>().is_ok());
        let n_odd = u32::try_from(n_listed - answer.sessions.len()).unwrap_or(u32::MAX);
        answer.n_more = answer.n_more.saturating_add(n_odd);
        Ok(answer)
    }

    /// Stops the agents of all sessions there.
    pub async fn stop_all(&self) -> Result<(), CommandError> {
        let stopped = self.machine.stop_all(&self.connections, self.window.clone()).await;
        stopped.map_err(|error| self.for_window(error))
    }

    /// Runs `deskbell trust` there for Claude Code in this folder, with these options of [`decision`].
    pub async fn trust(&self, folder: &RemoteFolder, options: &[String]) -> Result<TrustView, CommandError> {
        let command = [&["trust".to_owned(), "--json".to_owned(), folder.to_string()], options].concat();
        let view: TrustView = self.ask(&command).await.map_err(|error| self.for_window(error))?;
        if view.project == folder.as_str() && view.agent.is_none() { Ok(view) } else { Err(bad_folder()) }
    }
}

/// The machine that a page names.
pub fn machine(name: &str) -> Result<RemoteMachine, CommandError> {
    name.trim().parse().map_err(|error: BadMachine| CommandError {
        code: ErrorCode::BadCommand,
        message: "This is not the name of a machine.".to_owned(),
        detail: Some(error.to_string()),
    })
}

/// The project of a folder that a machine named.
pub fn project_on(machine: &RemoteMachine, folder: &str) -> Result<RemoteProject, CommandError> {
    let folder = folder.parse().map_err(|_: BadFolder| bad_folder())?;
    Ok(RemoteProject { machine: machine.clone(), folder })
}

fn bad_folder() -> CommandError {
    CommandError {
        code: ErrorCode::BadProject,
        message: "This is not the path of a folder that Deskbell can open there.".to_owned(),
        detail: None,
    }
}

/// The options of `deskbell trust` that store a decision about what the window showed.
pub fn decision(
    decision: TrustDecision,
    fingerprint: Option<String>,
    load: BTreeSet<String>,
) -> Result<Vec<String>, CommandError> {
    let word = match decision {
        TrustDecision::Trust => "trust",
        TrustDecision::Restrict => "restrict",
        TrustDecision::Keep => "keep",
    };
    let shown = fingerprint.filter(|_| decision != TrustDecision::Restrict);
    // They came from that machine, and are arguments of one line.
    if shown.iter().chain(&load).any(|text| text.contains(char::is_control)) {
        return Err(bad_folder());
    }
    let shown = shown.map(|fingerprint| format!("--fingerprint={fingerprint}"));
    let load = load.into_iter().map(|name| format!("--load={name}"));
    Ok([format!("--decide={word}")].into_iter().chain(shown).chain(load).collect())
}

/// The sessions of a machine that are shown, by project: all of those with a window, and of the others what runs or
/// waits, so that the board has it and can stop it.
pub fn shown(
    machine: &RemoteMachine,
    listed: &[server::SessionSummary],
    open: Vec<ProjectRef>,
) -> Vec<(RemoteProject, Vec<server::SessionSummary>)> {
    let open = open.iter().filter_map(ProjectRef::there).filter(|project| project.machine == *machine);
    let mut shown: Vec<(RemoteProject, Vec<_>)> =
        open.map(|project| (project.clone(), listed.to_vec())).collect();
    let is_busy = |one: &&server::SessionSummary| {
        let waits = [one.n_requests, one.n_queued, one.n_background, one.n_scheduled];
        one.alive || waits.into_iter().any(|n| n > 0)
    };
    for session in listed.iter().filter(is_busy) {
        let Ok(project) = project_on(machine, &session.project) else { continue };
        let has_room = shown.len() < MOST_PROJECTS;
        match shown.iter_mut().find(|(known, _)| *known == project) {
            // With a window it has all of them.
            Some((_, sessions)) if sessions.len() == listed.len() => {}
            Some((_, sessions)) => sessions.push(session.clone()),
            None if has_room => shown.push((project, vec![session.clone()])),
            None => {}
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(id: &str, project: &str, alive: bool) -> server::SessionSummary {
        server::SessionSummary {
            id: SessionId::new(id),
            title: id.to_owned(),
            project: project.to_owned(),
            agent: AgentKind::Demo,
            status: Status::Idle,
            alive,
            pid: None,
            n_requests: 0,
            n_queued: 0,
            n_held: 0,
            n_background: 0,
            n_scheduled: 0,
            cost_usd: 0.0,
            changed_at: 0,
            seq: 0,
        }
    }

    #[test]
    fn what_runs_there_is_shown_without_a_window_and_the_rest_with_one() {
        let boxed: RemoteMachine = "box".parse().unwrap();
        let mut waits = summary("waits", "/b", false);
        waits.n_requests = 1;
        let listed =
            [summary("idle", "/a", false), summary("runs", "/a", true), waits, summary("x", "../etc", true)];
        let names = |open: &[&str]| {
            let open = open.iter().map(|folder| project_on(&boxed, folder).unwrap().into()).collect();
            let shown = shown(&boxed, &listed, open);
            let of = |(project, sessions): (RemoteProject, Vec<server::SessionSummary>)| {
                let ids: Vec<String> = sessions.into_iter().map(|session| session.id.0).collect();
                format!("{project}: {}", ids.join(" "))
            };
            shown.into_iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), ["box:/a: runs", "box:/b: waits"]);
        // `add_far` takes those of the project from the list.
        assert_eq!(names(&["/a"]), ["box:/a: idle runs waits x", "box:/b: waits"]);
        let elsewhere =
            shown(&boxed, &listed[..1], vec![project_on(&"other".parse().unwrap(), "/a").unwrap().into()]);
        assert!(elsewhere.is_empty());
        let many: Vec<_> = (0..300).map(|nr| summary("s", &format!("/p{nr}"), true)).collect();
        assert_eq!(shown(&boxed, &many, Vec::new()).len(), MOST_PROJECTS);
    }

    #[test]
    fn a_machine_is_named_and_nothing_else() {
        assert!(machine("-oProxyCommand=x").is_err() && machine("").is_err());
        assert_eq!(machine(" box ").unwrap().to_string(), "box");
    }
}

//! Projects on other machines: how they are opened, what is asked there about them, their trust decisions and sessions. The
//! folder is looked at by Deskbell there; nothing of it is read here.

pub mod agents;
pub mod history;
mod lost;
pub mod worktrees;

use self::lost::{Call, LostLink};
use crate::notify::Bell;
use crate::windows::{Windows, bring_up};
use crate::{board, emit, opening, project, questions, showing, start, worktree_uses};
use deskbell_engine::api::*;
use deskbell_engine::remote::ServerLink;
use deskbell_sessions::far::{Far, FarError};
use deskbell_sessions::open_questions::OpenQuestions;
use deskbell_sessions::opener::now_ms;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::registry::far::{AskPlace, FarState, far_of};
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::time::Duration;
use tauri::{AppHandle, Manager};
use tokio::sync::watch;

/// Projects of one machine that are shown without a window.
const MOST_PROJECTS: usize = 100;

/// The machine that a page names.
pub fn machine(name: &str) -> Result<Far, CommandError> {
    let machine = name.trim().parse::<RemoteMachine>().map_err(|error| CommandError {
        code: ErrorCode::BadCommand,
        message: "This is not the name of a machine.".to_owned(),
        detail: Some(error.to_string()),
    })?;
    Ok(Far { machine, program: None })
}

/// Lists the folders in a folder there; without a name, in the home folder. The window answers what ssh asks.
pub async fn list(
    app: &AppHandle,
    label: &str,
    far: &Far,
    folder: &str,
) -> Result<FolderListing, CommandError> {
    let mut command = vec!["folders".to_owned()];
    let folder = folder.trim();
    if folder.len() > RemoteFolder::MOST_BYTES || folder.starts_with('-') || folder.contains(char::is_control)
    {
        return Err(bad_folder());
    }
    command.extend((!folder.is_empty()).then(|| folder.to_owned()));
    let asked = ask_for(app, label, far, &command).await;
    let listing: FolderListing = asked.map_err(|error| error.for_window(&far.machine))?;
    board::used_machine(app, far.machine.clone()).await;
    project_on(&far.machine, &listing.path).map(|_| listing)
}

/// Runs a command of Deskbell there that prints one JSON value. The window answers what ssh asks.
async fn ask_for<T: DeserializeOwned>(
    app: &AppHandle,
    label: &str,
    far: &Far,
    command: &[String],
) -> Result<T, FarError> {
    let window = questions::in_window(app, label.to_owned());
    far.ask(&app.state::<SessionRegistry>().connections(), Some(window), command).await
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

/// Opens a folder of another machine as a project, once the machine has found it.
pub async fn open(app: &AppHandle, label: &str, far: &Far, folder: &str) -> Result<(), CommandError> {
    let found = list(app, label, far, folder).await?;
    let project = project_on(&far.machine, &found.path)?;
    opening::open_far(app, &project).await.map(drop)
}

/// Asks a machine once which sessions run there. The window answers what ssh asks.
pub async fn sessions(app: &AppHandle, label: &str, far: &Far) -> Result<MachineAnswer, CommandError> {
    let registry = app.state::<SessionRegistry>();
    let window = questions::in_window(app, label.to_owned());
    let asked = far.sessions(&registry.connections(), Some(window), now_ms()).await;
    let mut answer = asked.map_err(|error| error.for_window(&far.machine))?;
    // One that could not be opened is only counted.
    let n_listed = answer.sessions.len();
    answer.sessions.retain(|session| session.project.parse::<RemoteFolder>().is_ok());
    let n_odd = u32::try_from(n_listed - answer.sessions.len()).unwrap_or(u32::MAX);
    answer.n_more = answer.n_more.saturating_add(n_odd);
    board::used_machine(app, far.machine.clone()).await;
    // The way is there, so a link that waits need not wait longer.
    registry.retry_far_machine(&far.machine);
    Ok(answer)
}

/// Stops the agents of all sessions there.
pub async fn stop_all(app: &AppHandle, label: &str, far: &Far) -> Result<(), CommandError> {
    let connections = app.state::<SessionRegistry>().connections();
    let window = questions::in_window(app, label.to_owned());
    far.stop_all(&connections, Some(window)).await.map_err(|error| error.for_window(&far.machine))
}

/// Opens a session that a machine listed, in the window of its project. The window connects, and shows the session when the
/// machine lists it.
pub async fn open_session(
    app: &AppHandle,
    far: &Far,
    folder: &str,
    id: SessionId,
) -> Result<(), CommandError> {
    let project = project_on(&far.machine, folder)?;
    let known = app.state::<SessionRegistry>().known(&id);
    if let Some((of, session)) = known.filter(|(of, _)| of.there() == Some(&project)) {
        return showing::in_window(app, &of, session, None).await;
    }
    let label = opening::open_far(app, &project).await?;
    app.state::<Windows>().with(&label, |window| {
        if window.first.shown().is_none() {
            window.open_session = Some(id);
        }
    })?;
    bring_up(app, &label);
    Ok(())
}

/// A page of such a project wants to know its state. The files there may have changed since it was asked about the last time.
pub fn connected(app: &AppHandle, project: &RemoteProject) {
    match app.state::<SessionRegistry>().far_state(project) {
        None | Some(FarState::Failed(_)) => ask(app, project),
        Some(FarState::Reached(_)) => learn_later(app, project),
        Some(FarState::Connecting) => {}
    }
}

/// Asks the machine about the folder, if that is not under way, and sends the window the result.
fn ask(app: &AppHandle, project: &RemoteProject) {
    if !app.state::<SessionRegistry>().begin_far(project) {
        return;
    }
    learn_later(app, project);
}

fn learn_later(app: &AppHandle, project: &RemoteProject) {
    let (app, project) = (app.clone(), project.clone());
    tauri::async_runtime::spawn(async move {
        learn(&app, &project, &[]).await;
        send(&app, &project).await;
    });
}

/// Runs `deskbell trust` there with these options, and keeps the result as the state of the project.
async fn learn(app: &AppHandle, project: &RemoteProject, options: &[String]) -> Option<CommandError> {
    let registry = app.state::<SessionRegistry>();
    let far = far_of(&project.machine);
    let command = [&["trust".to_owned(), "--json".to_owned(), project.folder.to_string()], options].concat();
    let window = label_of(app, project).map(|label| questions::in_window(app, label));
    match far.ask::<TrustView>(&registry.connections(), window, &command).await {
        Ok(view) if view.project == project.folder.as_str() && view.agent.is_none() => {
            reached(app, project, view).await;
            None
        }
        Ok(_) => Some(bad_folder()),
        Err(error) => Some(error.for_window(&far.machine)),
    }
    .inspect(|error| {
        // What was known stays: a lost connection is shown by its sessions, and a refused decision by its error.
        if !matches!(registry.far_state(project), Some(FarState::Reached(_))) {
            registry.set_far_state(project, FarState::Failed(error.clone()));
        }
    })
}

/// Keeps what the machine said of the folder, and shows what it has of it.
async fn reached(app: &AppHandle, project: &RemoteProject, view: TrustView) {
    app.state::<SessionRegistry>().set_far_state(project, FarState::Reached(Box::new(view)));
    follow(app, project, &far_of(&project.machine)).await;
    history::send_later(app, project);
    worktrees::learn_later(app, project);
}

/// Stores the trust decision there. `agent` is the id of the other agent that the window asked about; without it the
/// decision is for Claude Code.
pub async fn decide(
    app: &AppHandle,
    label: &str,
    project: &RemoteProject,
    decision: TrustDecision,
    fingerprint: Option<String>,
    agent: Option<String>,
    load: BTreeSet<String>,
) -> Result<(), CommandError> {
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
    let options: Vec<String> = [format!("--decide={word}")].into_iter().chain(shown).chain(load).collect();
    if let Some(agent) = agent {
        return agents::decide(app, label, project, &agent, decision, &options).await;
    }
    let refused = learn(app, project, &options).await;
    if refused.is_none() {
        app.state::<Windows>().with(label, |window| window.start_refused = false)?;
    }
    if refused.is_some() {
        // The files may differ from those that were shown: the window shows the present ones.
        learn(app, project, &[]).await;
    } else if decision != TrustDecision::Keep {
        app.state::<SessionRegistry>().reload(&project.clone().into(), None).await;
    }
    refused.map_or(Ok(()), Err)
}

/// The user wants the link of a session there to be tried now. ssh may ask for that, and only for that: a link that is
/// tried by itself asks nothing.
pub fn retry_link(app: &AppHandle, project: &RemoteProject) {
    let (app, project) = (app.clone(), project.clone());
    tauri::async_runtime::spawn(async move {
        match learn(&app, &project, &[]).await {
            None => app.state::<SessionRegistry>().retry_far_link(&project),
            Some(error) => {
                let Some(label) = label_of(&app, &project) else { return };
                let what = "The connection was not made".to_owned();
                emit::to_window(&app, &label, WindowEvent::Failed { what, error });
            }
        }
    });
}

/// The window of a project, or one of its sessions.
fn label_of(app: &AppHandle, project: &RemoteProject) -> Option<String> {
    labels_of(app, project).into_iter().next()
}

fn labels_of(app: &AppHandle, project: &RemoteProject) -> Vec<String> {
    app.state::<Windows>().labels_of(&project.clone().into())
}

async fn send(app: &AppHandle, project: &RemoteProject) {
    for label in labels_of(app, project) {
        project::send_to_window(app, &label).await;
    }
}

/// Adds the sessions that the machine has of this project, now and each time that the link comes up.
async fn follow(app: &AppHandle, project: &RemoteProject, far: &Far) {
    let place = || {
        let (asking, asked, of) = (app.clone(), app.clone(), project.clone());
        let machine = far.machine.to_string();
        let window = move || {
            let label = label_of(&asking, &of)?;
            Some(questions::in_window(&asking, label))
        };
        let is_asked = move || asked.state::<OpenQuestions>().is_about(&machine);
        AskPlace { window: Box::new(window), is_asked: Box::new(is_asked) }
    };
    let (link, is_new) = app.state::<SessionRegistry>().far_link(far, place);
    if is_new {
        let states = link.states();
        tauri::async_runtime::spawn(follow_state(app.clone(), far.machine.clone(), states));
        tauri::async_runtime::spawn(follow_link(app.clone(), far.machine.clone(), link));
    } else {
        let listed = link.listed().borrow().clone();
        add(app, project, listed.unwrap_or_default()).await;
    }
}

async fn follow_link(app: AppHandle, machine: RemoteMachine, link: ServerLink) {
    let mut listed = link.listed();
    loop {
        let known = listed.borrow_and_update().clone().unwrap_or_default();
        for (project, sessions) in shown(&machine, &known, app.state::<Windows>().projects()) {
            add(&app, &project, sessions).await;
        }
        if listed.changed().await.is_err() {
            return;
        }
    }
}

/// Remembers when the link was up, shows its state on the board, and calls the user if it does not come back.
async fn follow_state(app: AppHandle, machine: RemoteMachine, mut states: watch::Receiver<SessionLink>) {
    let (began_at, mut lost) = (tokio::time::Instant::now(), LostLink::default());
    let mut was_up = false;
    loop {
        let state = states.borrow_and_update().clone();
        let is_up = state == SessionLink::Connected;
        if is_up || was_up {
            app.state::<SessionRegistry>().seen_far(&machine, now_ms());
        }
        was_up = is_up;
        board::refresh(&app);
        match lost.at(began_at.elapsed().as_millis() as u64, &state) {
            Call::Withdraw => app.state::<Bell>().quiet_lost(&machine),
            Call::Ring => ring_lost(&app, &machine),
            Call::Nothing => {}
        }
        let due = lost.due().map(|due| began_at + Duration::from_millis(due));
        let is_due = async {
            match due {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = states.changed() => if changed.is_err() {
                return;
            },
            () = is_due => {}
        }
    }
}

/// Calls the user for a lost connection, if a session there worked or waited.
fn ring_lost(app: &AppHandle, machine: &RemoteMachine) {
    let waiting: Vec<(ProjectRef, Session)> = app
        .state::<SessionRegistry>()
        .sessions_on(machine)
        .into_iter()
        .filter(|(_, session)| lost::waits(session))
        .collect();
    app.state::<Bell>().say_lost(app, machine, &waiting);
}

/// The sessions of a machine that are shown, by project: all of those with a window, and of the others what runs or
/// waits, so that the board has it and can stop it.
fn shown(
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

async fn add(app: &AppHandle, project: &RemoteProject, listed: Vec<server::SessionSummary>) {
    for session in app.state::<SessionRegistry>().add_far(project, listed).await {
        tracing::info!(session = %session.id, "a session of another machine was found");
        for label in labels_of(app, project) {
            list_in(app, &label, session.clone());
        }
        start::sessions_changed(app);
        board::refresh(app);
        worktree_uses::changed(app);
    }
}

/// Lists a session in the window, and opens it there if it was open last.
fn list_in(app: &AppHandle, label: &str, session: Session) {
    let session_id = session.id.clone();
    emit::to_window(app, label, WindowEvent::SessionListed { session: Box::new(session) });
    let was_open = app.state::<Windows>().with(label, |window| {
        window.first.shown().is_none() && window.open_session.as_ref() == Some(&session_id)
    });
    if was_open == Ok(true) {
        emit::to_window(app, label, WindowEvent::Show { session_id, request_id: None, item_id: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windows;

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
            let open = open.iter().map(|folder| windows::project_on("box", folder).into()).collect();
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
        let elsewhere = shown(&boxed, &listed[..1], vec![windows::project_on("other", "/a").into()]);
        assert!(elsewhere.is_empty());
        let many: Vec<_> = (0..300).map(|nr| summary("s", &format!("/p{nr}"), true)).collect();
        assert_eq!(shown(&boxed, &many, Vec::new()).len(), MOST_PROJECTS);
    }

    #[test]
    fn a_machine_is_named_and_nothing_else() {
        assert!(machine("-oProxyCommand=x").is_err() && machine("").is_err());
        assert_eq!(machine(" box ").unwrap().machine.to_string(), "box");
    }
}

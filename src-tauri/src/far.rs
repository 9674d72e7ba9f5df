//! Projects on other machines: how they are opened, what is asked there about them, their trust decisions and sessions. The
//! folder is looked at by Deskbell there; nothing of it is read here.

pub mod agents;
pub mod history;

use crate::notify::Bell;
use crate::windows::{Windows, bring_up};
use crate::{board, emit, opening, project, questions, showing, start, worktree_uses};
use deskbell_engine::api::*;
use deskbell_engine::remote::ServerLink;
use deskbell_sessions::open_questions::OpenQuestions;
use deskbell_sessions::opener::now_ms;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::registry::far::{AskPlace, FarState, far_of};
use deskbell_sessions::remote_projects::lost_link::{self, Call, LostLink};
use deskbell_sessions::remote_projects::worktrees::FarWorktrees;
use deskbell_sessions::remote_projects::{self, MachineClient, project_on};
use std::collections::BTreeSet;
use std::time::Duration;
use tauri::{AppHandle, Manager};
use tokio::sync::watch;

/// Asks a machine for this window, which answers what ssh asks.
pub fn client(app: &AppHandle, label: &str, machine: &RemoteMachine) -> MachineClient {
    let window = questions::in_window(app, label.to_owned());
    MachineClient::new(far_of(machine), app.state::<SessionRegistry>().connections(), Some(window))
}

/// Lists the folders in a folder there; without a name, in the home folder.
pub async fn list(
    app: &AppHandle,
    label: &str,
    machine: &RemoteMachine,
    folder: &str,
) -> Result<FolderListing, CommandError> {
    let listing = client(app, label, machine).folders(folder).await?;
    board::used_machine(app, machine.clone()).await;
    Ok(listing)
}

/// Opens a folder of another machine as a project, once the machine has found it.
pub async fn open(
    app: &AppHandle,
    label: &str,
    machine: &RemoteMachine,
    folder: &str,
) -> Result<(), CommandError> {
    let found = list(app, label, machine, folder).await?;
    let project = project_on(machine, &found.path)?;
    opening::open_far(app, &project).await.map(drop)
}

/// Asks a machine once which sessions run there. The window answers what ssh asks.
pub async fn sessions(
    app: &AppHandle,
    label: &str,
    machine: &RemoteMachine,
) -> Result<MachineAnswer, CommandError> {
    let answer = client(app, label, machine).sessions(now_ms()).await?;
    board::used_machine(app, machine.clone()).await;
    // The way is there, so a link that waits need not wait longer.
    app.state::<SessionRegistry>().retry_far_machine(machine);
    Ok(answer)
}

/// Opens a session that a machine listed, in the window of its project. The window connects, and shows the session when the
/// machine lists it.
pub async fn open_session(
    app: &AppHandle,
    machine: &RemoteMachine,
    folder: &str,
    id: SessionId,
) -> Result<(), CommandError> {
    let project = project_on(machine, folder)?;
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
    let window = label_of(app, project).map(|label| questions::in_window(app, label));
    let client = MachineClient::new(far_of(&project.machine), registry.connections(), window);
    match client.trust(&project.folder, options).await {
        Ok(view) => {
            reached(app, project, view).await;
            None
        }
        Err(error) => {
            // What was known stays: a lost connection is shown by its sessions, and a refused decision by its error.
            if !matches!(registry.far_state(project), Some(FarState::Reached(_))) {
                registry.set_far_state(project, FarState::Failed(error.clone()));
            }
            Some(error)
        }
    }
}

/// Keeps what the machine said of the folder, and shows what it has of it.
async fn reached(app: &AppHandle, project: &RemoteProject, view: TrustView) {
    app.state::<SessionRegistry>().set_far_state(project, FarState::Reached(Box::new(view)));
    follow(app, project).await;
    history::send_later(app, project);
    learn_checkout_later(app, project);
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
    let options = remote_projects::decision(decision, fingerprint, load)?;
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

/// Asks the machine of a project what is checked out in its folder, and shows it in the window.
fn learn_checkout_later(app: &AppHandle, project: &RemoteProject) {
    let (app, project) = (app.clone(), project.clone());
    tauri::async_runtime::spawn(async move {
        let Some(label) = label_of(&app, &project) else { return };
        let worktrees = FarWorktrees::new(client(&app, &label, &project.machine), project.folder.clone());
        let current = worktrees.current().await.map_err(|error| UnreadFile {
            kind: UnreadKind::Branch,
            path: project.to_string(),
            problem: [Some(error.message), error.detail].into_iter().flatten().collect::<Vec<_>>().join(" "),
            moved_to: None,
        });
        if app.state::<SessionRegistry>().set_far_checkout(&project, current) {
            send(&app, &project).await;
        }
    });
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
async fn follow(app: &AppHandle, project: &RemoteProject) {
    let far = far_of(&project.machine);
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
    let (link, is_new) = app.state::<SessionRegistry>().far_link(&far, place);
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
        for (project, sessions) in remote_projects::shown(&machine, &known, app.state::<Windows>().projects())
        {
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
        .filter(|(_, session)| lost_link::waits(session))
        .collect();
    app.state::<Bell>().say_lost(app, machine, &waiting);
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

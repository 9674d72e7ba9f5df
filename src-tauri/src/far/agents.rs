//! Other agents on another machine, in its windows: new sessions with them, and their trust page.

use super::{client, reached};
use crate::project;
use crate::windows::Windows;
use deskbell_engine::api::*;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::remote_projects::agents::{Unasked, admit};
use deskbell_sessions::wanted::{AgentQuestion, Wanted, bad_command};
use tauri::{AppHandle, Manager};

/// Returns a session there with this agent or profile that has no prompt yet: the project's empty one, or a new one.
/// Without a decision that lets the agent start, there is none, and the window shows the trust page.
pub async fn create(
    app: &AppHandle,
    label: &str,
    project: &RemoteProject,
    wanted: Wanted,
) -> Result<Session, CommandError> {
    let registry = app.state::<SessionRegistry>();
    if wanted.is_demo() {
        return registry.begin_far_with(project, AgentKind::Acp, wanted).await;
    }
    let view = ask(app, label, project, &wanted, &[]).await?;
    if view.agent.is_none() {
        // A profile of Claude Code: its decision is the one of the folder.
        reached(app, project, view).await;
        project::send_to_window(app, label).await;
        registry.check_far(project)?;
        return registry.begin_far_with(project, AgentKind::Claude, wanted).await;
    }
    check_admission(app, label, wanted.clone(), view).await?;
    registry.begin_far_with(project, AgentKind::Acp, wanted).await
}

/// Asks the machine before a session with another agent starts one: without a decision that lets it start, the window shows
/// the trust page. If the machine does not answer, its server decides alone: without a decision it restricts the agent, or
/// does not start it.
pub async fn check(
    app: &AppHandle,
    label: &str,
    project: &RemoteProject,
    id: &SessionId,
) -> Result<(), CommandError> {
    let Some(wanted) = wanted_of(app, project, id) else { return Ok(()) };
    if wanted.is_demo() {
        return Ok(());
    }
    match ask(app, label, project, &wanted, &[]).await {
        Ok(view) => check_admission(app, label, wanted, view).await,
        Err(Unasked { error, .. }) => {
            tracing::warn!(?error, "a machine was not asked about its trust decision");
            Ok(())
        }
    }
}

/// The agent or profile of a session there with another agent.
fn wanted_of(app: &AppHandle, project: &RemoteProject, id: &SessionId) -> Option<Wanted> {
    let session = app.state::<SessionRegistry>().known_in(&project.clone().into(), id)?;
    match (session.profile, session.agent_id) {
        _ if session.agent != AgentKind::Acp => None,
        (Some(profile), _) => Wanted::profile(profile).ok(),
        (None, Some(agent)) => Wanted::agent(&agent).ok(),
        (None, None) => None,
    }
}

async fn check_admission(
    app: &AppHandle,
    label: &str,
    wanted: Wanted,
    view: TrustView,
) -> Result<(), CommandError> {
    let admitted = admit(&view);
    if admitted.is_err() {
        show(app, label, AgentQuestion { wanted, view }).await?;
    }
    admitted
}

async fn ask(
    app: &AppHandle,
    label: &str,
    project: &RemoteProject,
    wanted: &Wanted,
    options: &[String],
) -> Result<TrustView, Unasked> {
    client(app, label, &project.machine).agent_trust(&project.folder, wanted, options).await
}

async fn show(app: &AppHandle, label: &str, question: AgentQuestion) -> Result<(), CommandError> {
    app.state::<Windows>().with(label, |window| {
        window.far_agent = Some(question);
        window.agent_refusals += 1;
    })?;
    project::send_to_window(app, label).await;
    Ok(())
}

/// Makes the window show the trust page of the agent of this session.
pub async fn review(
    app: &AppHandle,
    label: &str,
    project: &RemoteProject,
    id: &SessionId,
) -> Result<(), CommandError> {
    let none = || bad_command("This session has no agent with a trust decision of its own.");
    let wanted = wanted_of(app, project, id).ok_or_else(none)?;
    let view = ask(app, label, project, &wanted, &[]).await?;
    if view.agent.is_none() {
        return Err(none());
    }
    show(app, label, AgentQuestion { wanted, view }).await
}

/// Stores the decision about the agent that the window asked about, and whose id the page has. `options` are the decision
/// and the fingerprint that was shown.
pub async fn decide(
    app: &AppHandle,
    label: &str,
    project: &RemoteProject,
    agent: &str,
    decision: TrustDecision,
    options: &[String],
) -> Result<(), CommandError> {
    let (registry, windows) = (app.state::<SessionRegistry>(), app.state::<Windows>());
    let asked = windows.with(label, |window| window.far_agent.clone())?;
    let is_it = |asked: &AgentQuestion| asked.view.agent.as_ref().is_some_and(|about| about.id == agent);
    let AgentQuestion { wanted, .. } = asked
        .filter(is_it)
        .ok_or_else(|| bad_command("The question is about another agent now; review it again."))?;
    let answered = ask(app, label, project, &wanted, options).await;
    let refused = match answered {
        Ok(_) => None,
        // The files may differ from those that were shown: the window shows the present ones.
        Err(Unasked { error, is_refused: true }) => {
            Some((error, ask(app, label, project, &wanted, &[]).await.ok()))
        }
        Err(Unasked { error, .. }) => Some((error, None)),
    };
    windows.with(label, |window| {
        // Meanwhile it may have asked about another one.
        let is_current = window.far_agent.as_ref().is_some_and(|now| now.wanted == wanted);
        match &refused {
            None if is_current => window.far_agent = None,
            Some((_, Some(view))) if is_current => {
                window.far_agent = Some(AgentQuestion { wanted: wanted.clone(), view: view.clone() });
            }
            _ => {}
        }
    })?;
    if let Some((error, _)) = refused {
        return Err(error);
    }
    if decision != TrustDecision::Keep {
        let is_of = |session: &Session| match &wanted {
            Wanted::Profile(name) if session.profile.as_deref() == Some(name) => true,
            _ => session.agent_id.as_deref() == Some(agent),
        };
        registry.reload_some(&project.clone().into(), is_of).await;
    }
    Ok(())
}

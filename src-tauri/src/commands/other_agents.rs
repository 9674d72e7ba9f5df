//! Commands about agents other than Claude Code.

use super::{Answer, project_of};
use crate::far::{self, agents};
use deskbell_engine::api::*;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::wanted::Wanted;
use tauri::{AppHandle, Manager, WebviewWindow};

/// Returns the agents that a new session can have, each with what was found of it, and the profiles, on the machine of the
/// window's project. Takes up to half a minute with a program that does not answer.
#[tauri::command]
pub async fn machine_agents(app: AppHandle, window: WebviewWindow) -> Answer<MachineAgents> {
    match project_of(&app, &window)? {
        ProjectRef::Here(_) => Ok(app.state::<SessionRegistry>().machine_agents().await),
        ProjectRef::There(there) => far::client(&app, window.label(), &there.machine).choices().await,
    }
}

/// Creates a session with the agent of this id.
#[tauri::command]
pub async fn create_session_with(app: AppHandle, window: WebviewWindow, agent: String) -> Answer<Session> {
    match project_of(&app, &window)? {
        ProjectRef::Here(folder) => app.state::<SessionRegistry>().create_with(&folder, &agent).await,
        ProjectRef::There(there) => {
            agents::create(&app, window.label(), &there, Wanted::agent(&agent)?).await
        }
    }
}

/// Creates a session with the profile of this name.
#[tauri::command]
pub async fn create_session_with_profile(
    app: AppHandle,
    window: WebviewWindow,
    profile: String,
) -> Answer<Session> {
    match project_of(&app, &window)? {
        ProjectRef::Here(folder) => {
            app.state::<SessionRegistry>().create_with_profile(&folder, &profile).await
        }
        ProjectRef::There(there) => {
            agents::create(&app, window.label(), &there, Wanted::profile(profile)?).await
        }
    }
}

/// Shows the trust page of the agent of this session, so that the decision can be changed.
#[tauri::command]
pub async fn review_agent_trust(app: AppHandle, window: WebviewWindow, session_id: SessionId) -> Answer<()> {
    match project_of(&app, &window)? {
        ProjectRef::Here(folder) => app.state::<SessionRegistry>().review_trust(&folder, &session_id),
        ProjectRef::There(there) => agents::review(&app, window.label(), &there, &session_id).await,
    }
}

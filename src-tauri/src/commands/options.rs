//! The commands of a page about the options of a session, their presets, and profiles.

use super::{Answer, project_of};
use crate::apply_settings;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::settings::CurrentSettings;
use std::sync::Arc;
use tauri::{AppHandle, Manager, WebviewWindow};

/// Returns what the agent of a session would be started with if it had these options. Nothing is changed.
#[tauri::command]
pub async fn review_options(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    options: SessionOptions,
) -> Answer<OptionsReview> {
    let project = project_of(&app, &window)?;
    app.state::<SessionRegistry>().session(&project, &session_id)?.review_options(options).await
}

/// Replaces the presets in the settings file.
#[tauri::command]
pub async fn set_presets(app: AppHandle, presets: Vec<Preset>) -> Answer<()> {
    let file = app.state::<Arc<CurrentSettings>>().file().clone();
    let folder = file.folder().to_owned();
    disk::run(&folder, disk::DEADLINE, move || file.set_presets(&presets)).await??;
    apply_settings::reload(&app).await;
    Ok(())
}

/// Adds a profile to the settings file (`was` is `null`), changes the one with the name `was`, or removes it (`profile` is
/// `null`).
#[tauri::command]
pub async fn change_profile(app: AppHandle, was: Option<String>, profile: Option<Profile>) -> Answer<()> {
    let file = app.state::<Arc<CurrentSettings>>().file().clone();
    let folder = file.folder().to_owned();
    let change = move || file.change_profile(was.as_deref(), profile.as_ref());
    disk::run(&folder, disk::DEADLINE, change).await??;
    apply_settings::reload(&app).await;
    Ok(())
}

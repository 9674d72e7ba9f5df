//! The commands of a page about the options of a session, their presets, and profiles.

use super::{Answer, project_of};
use crate::apply_settings;
use deskbell_engine::api::*;
use deskbell_engine::settings::SettingsFile;
use deskbell_sessions::registry::SessionRegistry;
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

/// Replaces the presets in the settings file. A native dialog confirms changes of programs.
#[tauri::command]
pub async fn set_presets(app: AppHandle, window: WebviewWindow, presets: Vec<Preset>) -> Answer<()> {
    let edit = move |file: &SettingsFile, confirmed: &[String]| -> Answer<Vec<String>> {
        Ok(file.set_presets(&presets, confirmed)?)
    };
    apply_settings::change(&app, &window, edit).await
}

/// Adds a profile to the settings file (`was` is `null`), changes the one with the name `was`, or removes it (`profile` is
/// `null`). A native dialog confirms changes of programs.
#[tauri::command]
pub async fn change_profile(
    app: AppHandle,
    window: WebviewWindow,
    was: Option<String>,
    profile: Option<Profile>,
) -> Answer<()> {
    let edit = move |file: &SettingsFile, confirmed: &[String]| -> Answer<Vec<String>> {
        Ok(file.change_profile(was.as_deref(), profile.as_ref(), confirmed)?)
    };
    apply_settings::change(&app, &window, edit).await
}

//! The commands of a page about presets of options, and profiles.

use super::Answer;
use crate::apply_settings;
use deskbell_engine::api::*;
use deskbell_engine::settings::SettingsFile;
use tauri::{AppHandle, WebviewWindow};

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

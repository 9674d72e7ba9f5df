//! The zoom of windows: that of the settings, and a project's own, which its window's keys change.

use crate::windows::Windows;
use deskbell_desktop::places::PlacesStore;
use deskbell_engine::api::{ProjectRef, ZoomStep};
use deskbell_sessions::settings::CurrentSettings;
use std::sync::Arc;
use tauri::{AppHandle, Manager, WebviewWindow};

/// The steps, in percent. The setting has the same limits.
const STEPS: [u32; 11] = [50, 67, 75, 80, 90, 100, 110, 125, 150, 175, 200];

/// The factor of a zoom in percent. Beyond the limits a window would be unreadable, or the setting unreachable.
pub fn factor(percent: u32) -> f64 {
    f64::from(percent.clamp(STEPS[0], STEPS[STEPS.len() - 1])) / 100.0
}

/// The zoom that a project has of its own after a step; `None` is that of the settings.
fn after(own: Option<u32>, setting: u32, step: ZoomStep) -> Option<u32> {
    let now = own.unwrap_or(setting);
    let next = match step {
        ZoomStep::Larger => STEPS.into_iter().find(|step| *step > now).unwrap_or(STEPS[STEPS.len() - 1]),
        ZoomStep::Smaller => STEPS.into_iter().rev().find(|step| *step < now).unwrap_or(STEPS[0]),
        ZoomStep::Usual => setting,
    };
    (next != setting).then_some(next)
}

/// Zooms the window of a project, and remembers it for the project.
pub async fn step(
    app: &AppHandle,
    window: &WebviewWindow,
    project: &ProjectRef,
    step: ZoomStep,
) -> anyhow::Result<()> {
    let (places, setting) = (app.state::<PlacesStore>(), app.state::<Arc<CurrentSettings>>().get().zoom);
    let own = places.change_zoom(project, |own| after(own, setting, step));
    window.set_zoom(factor(own.unwrap_or(setting)))?;
    places.save(app).await
}

/// Applies a new zoom of the settings to all windows. A project's own zoom counts before it.
pub fn apply(app: &AppHandle) {
    let (windows, places) = (app.state::<Windows>(), app.state::<PlacesStore>());
    let setting = app.state::<Arc<CurrentSettings>>().get().zoom;
    for (label, window) in app.webview_windows() {
        let project = windows.with(&label, |window| window.project.clone());
        let own = project.ok().and_then(|project| places.zoom(&project));
        if let Err(error) = window.set_zoom(factor(own.unwrap_or(setting))) {
            tracing::warn!(%error, "could not zoom a window");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_never_too_small_or_too_large_to_be_used() {
        assert_eq!([100, 67, 0, 4_000_000].map(factor), [1.0, 0.67, 0.5, 2.0]);
    }

    #[test]
    fn the_steps_lead_from_one_end_to_the_other_and_back_to_the_setting() {
        let walk = |from: u32, way: ZoomStep| {
            let mut own = Some(from);
            let mut passed = Vec::new();
            for _ in 0..STEPS.len() {
                // A setting that no step has, so that none of them is the setting.
                own = after(own, 120, way);
                passed.extend(own);
            }
            passed
        };
        let up: Vec<u32> = STEPS[1..].iter().copied().chain([200]).collect();
        assert_eq!(walk(50, ZoomStep::Larger), up);
        let down: Vec<u32> = STEPS[..10].iter().rev().copied().chain([50]).collect();
        assert_eq!(walk(200, ZoomStep::Smaller), down);
        assert_eq!(after(None, 120, ZoomStep::Larger), Some(125));
        assert_eq!(after(None, 120, ZoomStep::Smaller), Some(110));
        assert_eq!(after(Some(175), 120, ZoomStep::Usual), None);
        // At the zoom of the settings the project follows them again.
        assert_eq!(after(Some(110), 100, ZoomStep::Smaller), None);
    }
}

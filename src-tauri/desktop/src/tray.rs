//! The tray icon with its menu: of the desktop's bus on Linux, and by Tauri elsewhere. What is chosen goes to the caller.

#[cfg(any(windows, target_os = "macos"))]
#[path = "tray/system.rs"]
mod icon;
#[cfg(not(any(windows, target_os = "macos")))]
#[path = "tray/notifier_item.rs"]
mod icon;
mod menu;

pub use icon::Icon;
pub use menu::{Contents, Entry, contents};

use deskbell_engine::api::SessionId;
use tauri::AppHandle;
use tokio::sync::mpsc;

/// What the user chose in the tray.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    Session(SessionId),
    Board,
    StartPage,
    Quit,
}

/// Makes, changes or removes the icon.
pub async fn show(
    app: &AppHandle,
    icon: &mut Option<Icon>,
    contents: Option<Contents>,
    choose: &mpsc::UnboundedSender<Choice>,
) -> anyhow::Result<()> {
    match (icon.as_ref(), contents) {
        (None, Some(contents)) => *icon = Some(Icon::new(app, contents, choose.clone()).await?),
        (Some(shown), Some(contents)) => shown.set(app, contents).await?,
        (Some(_), None) => {
            if let Some(shown) = icon.take() {
                shown.remove(app).await?;
            }
        }
        (None, None) => {}
    }
    Ok(())
}

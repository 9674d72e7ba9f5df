//! Puts changed settings into effect, whether the page, `deskbell settings` or the user's editor changed the file.

use crate::start;
use crate::windows::{BOARD, Windows};
use crate::{board, emit, keep_awake, lifecycle, project, zoom};
use deskbell_cli::logs;
use deskbell_desktop::autostart;
use deskbell_dialogs::Question;
use deskbell_engine::api::{CommandError, ErrorCode, Settings, WindowEvent};
use deskbell_engine::disk;
use deskbell_engine::settings::{SettingsFile, SettingsWatch};
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::settings::CurrentSettings;
use std::sync::Arc;
use std::time::Duration;
use tauri::{AppHandle, Manager, WebviewWindow};
use tokio::sync::{Mutex, mpsc};

/// Delay between the first sign of a change and reading the file. An editor may write it in several steps.
const TOGETHER: Duration = Duration::from_millis(50);

/// Locked while the file is read and put into effect, so that an earlier content never overtakes a later one.
static RELOADING: Mutex<()> = Mutex::const_new(());

/// Changes one setting that the user chose outside a page, and puts it into effect.
pub async fn set(app: &AppHandle, key: &'static str, value: serde_json::Value) -> Result<(), CommandError> {
    let file = app.state::<Arc<CurrentSettings>>().file().clone();
    let folder = file.folder().to_owned();
    disk::run(&folder, disk::DEADLINE, move || file.set(key, &value)).await??;
    reload(app).await;
    Ok(())
}

/// Changes the settings at the request of a page, and puts them into effect. A native dialog must confirm changes of
/// programs, because a page may run a foreign script. `edit` receives the confirmed changes and returns the unconfirmed
/// ones.
pub async fn change(
    app: &AppHandle,
    window: &WebviewWindow,
    edit: impl Fn(&SettingsFile, &[String]) -> Result<Vec<String>, CommandError> + Clone + Send + 'static,
) -> Result<(), CommandError> {
    let file = app.state::<Arc<CurrentSettings>>().file().clone();
    let folder = file.folder().to_owned();
    let mut confirmed = Vec::new();
    loop {
        let (file, edit, allowed) = (file.clone(), edit.clone(), confirmed.clone());
        let changes = disk::run(&folder, disk::DEADLINE, move || edit(&file, &allowed)).await??;
        if changes.is_empty() {
            break;
        }
        // Asks again if the file changed meanwhile: only confirmed changes are written.
        confirm(window, &changes).await?;
        confirmed = changes;
    }
    reload(app).await;
    Ok(())
}

/// Asks whether Deskbell may start other programs. Returns an error unless the user agrees.
pub async fn confirm(window: &WebviewWindow, changes: &[String]) -> Result<(), CommandError> {
    let question = Question {
        title: "Change what Deskbell starts?".to_owned(),
        text: format!(
            "A window asks for this change. Confirm it only if you made it.\n\n{}",
            changes.join("\n\n")
        ),
        accept: "Change",
        background: None,
        arms_late: true,
    };
    deskbell_dialogs::accepted(window, question, "You did not confirm the change in the dialog.").await
}

/// Reads the file and puts it into effect.
pub async fn reload(app: &AppHandle) {
    let _one_at_a_time = RELOADING.lock().await;
    let current = app.state::<Arc<CurrentSettings>>().inner().clone();
    let (file, last) = (current.file().clone(), current.get());
    let folder = file.folder().to_owned();
    match disk::run(&folder, disk::DEADLINE, move || file.read(&last)).await {
        Ok(read) => {
            if let Some(before) = current.learn(read) {
                apply(app, &before, &current.get()).await;
            }
        }
        Err(unfinished) => tracing::warn!(%unfinished, "could not read the settings"),
    }
}

async fn apply(app: &AppHandle, before: &Settings, now: &Settings) {
    let view = Box::new(app.state::<Arc<CurrentSettings>>().view());
    for label in app.state::<Windows>().labels().iter().map(String::as_str).chain([start::LABEL, BOARD]) {
        emit::to_window(app, label, WindowEvent::SettingsChanged { settings: view.clone() });
    }
    logs::set_level(now.log);
    if before.asking != now.asking {
        lifecycle::apply_asking(app);
    }
    if before.agent.hibernate_minutes != now.agent.hibernate_minutes {
        app.state::<SessionRegistry>().apply_hibernation().await;
    }
    if before.theme != now.theme {
        lifecycle::apply_theme(app);
    }
    if before.tray != now.tray {
        board::refresh(app);
    }
    if before.keep_awake != now.keep_awake {
        keep_awake::sessions_changed(app);
    }
    if before.autostart != now.autostart {
        start_at_login(app, now.autostart, autostart::When::Changed).await;
    }
    if before.zoom != now.zoom {
        zoom::apply(app);
    }
    if before.agent.program != now.agent.program {
        // Another agent may be found now.
        project::send_to_all_windows(app).await;
    }
}

/// Puts the setting “autostart” into effect. After a change, each window shows why it could not be.
pub async fn start_at_login(app: &AppHandle, is_wanted: bool, when: autostart::When) {
    let Err(error) = autostart::apply(is_wanted, when).await else { return };
    tracing::warn!(%error, "could not put the setting “autostart” into effect");
    if when == autostart::When::AtStart {
        return;
    }
    let what =
        if is_wanted { "Deskbell will not start at login" } else { "Deskbell will still start at login" };
    for label in app.state::<Windows>().labels() {
        let error = CommandError {
            code: ErrorCode::Internal,
            message: "The setting “Start at login” could not be put into effect.".to_owned(),
            detail: Some(error.to_string()),
        };
        emit::to_window(app, &label, WindowEvent::Failed { what: what.to_owned(), error });
    }
}

/// Follows the file as long as the app runs.
pub async fn follow(app: AppHandle) {
    let (changed, mut changes) = mpsc::channel(1);
    let file = app.state::<Arc<CurrentSettings>>().file().clone();
    let folder = file.folder().to_owned();
    let watch = move || {
        disk::own_folder(file.folder())?;
        let watch = SettingsWatch::new(file.path(), move || {
            // A full channel already announces a change.
            let _ = changed.try_send(());
        });
        watch.map_err(std::io::Error::other)
    };
    let watch = match disk::run(&folder, disk::DEADLINE, watch)
        .await
        .unwrap_or_else(|error| Err(error.into()))
    {
        Ok(watch) => watch,
        Err(error) => {
            tracing::warn!(%error, "could not watch the settings: a change of the file counts from the next start on");
            return;
        }
    };
    // The file may have changed before the watch.
    reload(&app).await;
    while changes.recv().await.is_some() {
        tokio::time::sleep(TOGETHER).await;
        reload(&app).await;
    }
    drop(watch);
}

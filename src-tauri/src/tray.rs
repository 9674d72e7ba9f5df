//! The tray icon: the sessions of all projects that work or wait for the user, one click away, also while no window is
//! open. Where the desktop has no tray nothing depends on it.

use crate::board;
use crate::windows::{BOARD, bring_up};
use crate::{lifecycle, showing, start};
use anyhow::Context;
use deskbell_desktop::tray::{self, Choice, Contents, Icon};
use deskbell_dialogs::closing;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::settings::CurrentSettings;
use std::sync::Arc;
use std::time::Duration;
use tauri::{AppHandle, Manager, WebviewWindow};
use tokio::sync::mpsc;

/// Delay between a change of a session and a new menu. While an answer streams there are many changes.
const TOGETHER: Duration = Duration::from_millis(200);

/// Longest wait for the desktop. A tray that does not answer is left alone until the next change.
const DEADLINE: Duration = Duration::from_secs(5);

/// Shows the tray icon as long as the app runs and the setting allows it.
pub async fn follow(app: AppHandle) {
    let (choose, choices) = mpsc::unbounded_channel();
    tauri::async_runtime::spawn(carry_out(app.clone(), choices));
    let mut icon: Option<Icon> = None;
    let mut shown: Option<Contents> = None;
    let mut has_failed = false;
    loop {
        let is_wanted = app.state::<Arc<CurrentSettings>>().get().tray;
        let contents = is_wanted.then(|| tray::contents(&board::own(&app)));
        if contents != shown {
            let changed = tray::show(&app, &mut icon, contents.clone(), &choose);
            match tokio::time::timeout(DEADLINE, changed).await.context("the tray does not answer").flatten()
            {
                Ok(()) => has_failed = false,
                // Once: a desktop without a tray stays one, and sessions change all day.
                Err(error) if !has_failed => {
                    has_failed = true;
                    tracing::info!(error = format!("{error:#}"), "there is no tray icon");
                }
                Err(_) => {}
            }
            shown = contents;
        }
        board::changed(&app).await;
        tokio::time::sleep(TOGETHER).await;
    }
}

async fn carry_out(app: AppHandle, mut choices: mpsc::UnboundedReceiver<Choice>) {
    while let Some(choice) = choices.recv().await {
        let done = match &choice {
            Choice::Session(id) => {
                showing::by_id(&app, id).await.map_err(|error| anyhow::anyhow!(error.message))
            }
            Choice::Board => board::open(&app),
            Choice::StartPage => start::open(&app),
            Choice::Quit => {
                // A question may be open for long, and the tray's other entries work meanwhile.
                let app = app.clone();
                tauri::async_runtime::spawn(async move {
                    if let Err(error) = quit(&app).await {
                        tracing::error!(error = format!("{error:#}"), "could not quit from the tray");
                    }
                });
                Ok(())
            }
        };
        if let Err(error) = done {
            tracing::error!(
                error = format!("{error:#}"),
                ?choice,
                "could not do what was chosen in the tray"
            );
            deskbell_dialogs::say_failure("Deskbell could not open this", &format!("{error:#}"));
        }
    }
}

/// Quits. The question about work needs a window; without one the board opens, which shows that work.
async fn quit(app: &AppHandle) -> anyhow::Result<()> {
    let sessions = app.state::<SessionRegistry>().all();
    if closing::quit_question(&sessions).is_none() {
        lifecycle::end(app).await;
        return Ok(());
    }
    let window = match front_window(app) {
        Some(window) => window,
        None => {
            board::open(app)?;
            app.get_webview_window(BOARD).context("the board did not open")?
        }
    };
    bring_up(app, window.label());
    lifecycle::quit(app, &window).await
}

fn front_window(app: &AppHandle) -> Option<WebviewWindow> {
    let mut windows: Vec<WebviewWindow> = app.webview_windows().into_values().collect();
    windows.sort_by_key(|window| !window.is_focused().unwrap_or(false));
    windows.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windows;
    use deskbell_engine::api::{BoardState, Status};
    use deskbell_engine::board::Board;
    use std::collections::HashSet;

    /// The title, the board and the tray show the same of each status.
    #[test]
    fn a_status_is_the_same_everywhere() {
        let all = [
            Status::Idle,
            Status::Starting,
            Status::Working { activity: "Writing".to_owned() },
            Status::Interrupting,
            Status::NeedsInput { what: "Has a question".to_owned() },
            Status::Completed,
            Status::Interrupted,
            Status::Background,
            Status::Failed { message: "529".to_owned() },
            Status::Restarting { attempt: 1, at: 0 },
            Status::Stopping,
            Status::Stopped,
        ];
        for status in all {
            let sessions = [windows::session("a", status.clone())];
            let board = Board::default().view(&sessions, &[], 0);
            let tray = tray::contents(&board);
            let title = windows::title("p", &sessions, &HashSet::new());
            let expected = match board.rows.first().map(|row| row.state) {
                Some(BoardState::NeedsInput) => (true, "Deskbell: 1 session needs you", "Has a question — p"),
                Some(BoardState::Working) => (false, "Deskbell: 1 works", "Working: Session a — p"),
                Some(BoardState::Failed) => (false, "Deskbell", "Failed: Session a — p"),
                Some(BoardState::Finished) | None => (false, "Deskbell", "p — Deskbell"),
            };
            assert_eq!((tray.needs_user, tray.tooltip.as_str(), title.as_str()), expected, "{status:?}");
        }
    }
}

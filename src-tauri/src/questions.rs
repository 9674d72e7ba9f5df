//! The questions of connections to other machines, each in the window that needs the connection.

use crate::emit;
use deskbell_engine::api::WindowEvent;
use deskbell_sessions::far::{AskWindow, Asked};
use deskbell_sessions::open_questions::OpenQuestions;
use tauri::{AppHandle, Manager};
use tokio::sync::mpsc;

/// Where the questions of a connection go that this window needs. They are over when the connection is.
pub fn in_window(app: &AppHandle, label: String) -> AskWindow {
    let (sender, mut asked) = mpsc::unbounded_channel();
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        while let Some(asked) = asked.recv().await {
            show(&app, &label, asked);
        }
    });
    sender
}

/// Shows a question, and takes it back when ssh does not need the answer any more.
fn show(app: &AppHandle, label: &str, asked: Asked) {
    let Asked { question, reply, gone } = asked;
    if app.get_webview_window(label).is_none() {
        return;
    }
    let id = question.id.clone();
    app.state::<OpenQuestions>().add(label, question.clone(), reply);
    emit::to_window(app, label, WindowEvent::ConnectionAsks { question });
    let (app, label) = (app.clone(), label.to_owned());
    tauri::async_runtime::spawn(async move {
        // Its sender is dropped, and sends nothing.
        drop(gone.await);
        app.state::<OpenQuestions>().remove(&id);
        emit::to_window(&app, &label, WindowEvent::ConnectionAnswered { id });
    });
}

/// Shows the questions of a window again, to a page that is new.
pub fn show_again(app: &AppHandle, label: &str) {
    for question in app.state::<OpenQuestions>().of_window(label) {
        emit::to_window(app, label, WindowEvent::ConnectionAsks { question });
    }
}

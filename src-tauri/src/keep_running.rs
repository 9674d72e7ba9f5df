//! Sessions that keep running when Deskbell closes. They run in the server of this user; the registry mirrors them.

use crate::windows::Windows;
use crate::{board, emit, keep_awake, start, worktree_uses};
use deskbell_engine::api::{ProjectRef, WindowEvent};
use deskbell_engine::remote::{Dial, ServerLink};
use deskbell_sessions::registry::{KeptServer, SessionRegistry};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tauri::{AppHandle, Manager};

/// The link to the server of this version. A server is started if none is running.
fn link(data: PathBuf) -> ServerLink {
    use deskbell_cli::args::server::{AttachOptions, IDLE};
    use deskbell_cli::attach;
    let dial: Dial = Arc::new(move || {
        let data = data.clone();
        Box::pin(async move {
            let options = AttachOptions { session: None, start: true, idle: IDLE };
            let connected = attach::connect(&data, &options).await;
            let stream = connected.map_err(|error| std::io::Error::other(format!("{error:#}")))?;
            let stream = stream.ok_or_else(|| std::io::Error::other("no server is running"))?;
            let (reader, writer) = stream.into_split();
            Ok((Box::new(reader) as _, Box::new(writer) as _))
        })
    });
    ServerLink::open(dial)
}

/// Whether a server runs or has saved sessions, of any version: the server of this one takes over what is idle. It may
/// be on a slow disk.
fn is_there(data: &Path) -> bool {
    use deskbell_cli::serve::place::Place;
    let has_sessions = |place: Place| {
        let sessions = deskbell_engine::disk::list(&place.folder.join("sessions"), 1);
        place.socket().exists() || sessions.is_ok_and(|sessions| !sessions.paths.is_empty())
    };
    Place::all(data).is_ok_and(|places| places.into_iter().any(has_sessions))
}

/// The server, for the registry.
pub const SERVER: KeptServer = KeptServer { link, is_there };

/// Adds the sessions of the server to the list each time that the link comes up.
pub async fn follow(app: AppHandle) {
    let registry = app.state::<SessionRegistry>();
    let mut opened = registry.server_opened();
    let link = match opened.wait_for(Option::is_some).await {
        Ok(link) => link.clone(),
        // The app is ending.
        Err(_) => return,
    };
    let Some(link) = link else { return };
    let mut listed = link.listed();
    loop {
        let known = listed.borrow_and_update().clone().unwrap_or_default();
        for session in registry.add_kept(known).await {
            let project = ProjectRef::from(session.project.as_str());
            tracing::info!(session = %session.id, project = project.name(), "a kept session was found");
            for label in app.state::<Windows>().labels_of(&project) {
                let session = Box::new(session.clone());
                emit::to_window(&app, &label, WindowEvent::SessionListed { session });
            }
            start::sessions_changed(&app);
            board::refresh(&app);
            worktree_uses::changed(&app);
            keep_awake::sessions_changed(&app);
        }
        if listed.changed().await.is_err() {
            return;
        }
    }
}

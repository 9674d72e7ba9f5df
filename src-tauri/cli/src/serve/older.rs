//! Sessions that run in servers of older versions. This server mirrors them, so that its clients see and use them, and takes
//! them over when such a server has left.

use super::Server;
use super::place::{self, Place};
use deskbell_engine::api::server::{Request, SessionSummary};
use deskbell_engine::api::{SessionId, SessionLink};
use deskbell_engine::remote::{Dial, ServerLink};
use deskbell_server::socket;
use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::oneshot;

/// Timeout of the start for the sessions of older servers: those are in the first list that a client gets.
const FIRST_LIST: Duration = Duration::from_secs(3);

/// An older version can be started again, so the servers are listed again this often.
const LOOKS_AGAIN: Duration = Duration::from_secs(60);

/// The versions whose servers are followed.
type Followed = Arc<Mutex<HashSet<String>>>;

/// Follows the servers of older versions. Returns when the sessions of those in `busy` are known. An older server lists
/// those of still older ones, too: the oldest comes first, so that each session is that of the server that runs it.
pub async fn begin(server: &Arc<Server>, place: &Place, busy: Vec<Place>) {
    let followed = Followed::default();
    for older in busy.into_iter().rev() {
        let version = older.version.clone();
        let Some(known) = follow(server, place, older, &followed) else { continue };
        if tokio::time::timeout(FIRST_LIST, known).await.is_err() {
            tracing::warn!(version, "an older server does not answer: its sessions are listed later");
        }
    }
    tokio::spawn(look_again(server.clone(), place.clone(), followed));
}

async fn look_again(server: Arc<Server>, place: Place, followed: Followed) {
    loop {
        tokio::time::sleep(LOOKS_AGAIN).await;
        for older in place::older(&server.opener.data, &place).await {
            if !super::lock(&followed).contains(&older.version)
                && socket::connect(&older.socket()).await.is_ok()
            {
                follow(&server, &place, older, &followed);
            }
        }
    }
}

/// Follows a server, unless it is followed. The receiver resolves when its sessions are known.
fn follow(
    server: &Arc<Server>,
    place: &Place,
    older: Place,
    followed: &Followed,
) -> Option<oneshot::Receiver<()>> {
    if !super::lock(followed).insert(older.version.clone()) {
        return None;
    }
    let (sender, known) = oneshot::channel();
    let (server, place, followed) = (server.clone(), place.clone(), followed.clone());
    tokio::spawn(async move {
        until_taken_over(&server, &place, &older, sender).await;
        super::lock(&followed).remove(&older.version);
    });
    Some(known)
}

async fn until_taken_over(server: &Arc<Server>, place: &Place, older: &Place, known: oneshot::Sender<()>) {
    let link = ServerLink::open(dial(older.clone(), place.version.clone()));
    let (mut listed, mut states) = (link.listed(), link.states());
    let (mut known, mut mirrored) = (Some(known), HashSet::new());
    loop {
        let sessions = listed.borrow_and_update().clone();
        if let Some(sessions) = sessions {
            mirrored.extend(mirror_all(server, &link, older, sessions).await);
            if let Some(known) = known.take() {
                // The start may have stopped waiting.
                let _ = known.send(());
            }
        }
        let changed = tokio::select! {
            changed = listed.changed() => changed,
            changed = states.changed() => changed,
        };
        if changed.is_err() {
            return;
        }
        let is_down = *states.borrow_and_update() != SessionLink::Connected;
        if is_down && takes_over(server, place, older).await {
            // Those that another server took over are its own.
            server.forget_mirrors(&mirrored);
            return;
        }
    }
}

/// Returns the sessions that were added.
async fn mirror_all(
    server: &Arc<Server>,
    link: &ServerLink,
    older: &Place,
    sessions: Vec<SessionSummary>,
) -> Vec<SessionId> {
    let mut added = Vec::new();
    for summary in sessions {
        let id = summary.id.clone();
        match server.mirror(link, &older.version, summary).await {
            Ok(true) => added.push(id),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, session = %id, "could not show a session of an older server");
            }
        }
    }
    added
}

/// Opens the sessions of a server that has left; false if it is still there.
async fn takes_over(server: &Arc<Server>, place: &Place, older: &Place) -> bool {
    let moved = async {
        let moved = place::take_sessions(older, place).await?;
        if moved {
            server.add_moved().await?;
        }
        anyhow::Ok(moved)
    };
    match moved.await {
        Ok(true) => {
            tracing::info!(version = older.version, "took over an older server's sessions");
            true
        }
        Ok(false) => false,
        Err(error) => {
            tracing::warn!(%error, version = older.version, "could not take over an older server");
            false
        }
    }
}

/// Connects to a server, and asks it to leave when nothing runs in it any more.
fn dial(older: Place, version: String) -> Dial {
    Arc::new(move || {
        let (older, version) = (older.clone(), version.clone());
        Box::pin(async move {
            let stream = socket::connect(&older.socket()).await.map_err(io::Error::other)?;
            let (reader, mut writer) = stream.into_split();
            let mut line = serde_json::to_vec(&Request::Retire { version })?;
            line.push(b'\n');
            writer.write_all(&line).await?;
            Ok((Box::new(reader) as _, Box::new(writer) as _))
        })
    })
}

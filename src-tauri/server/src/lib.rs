//! Deskbell as a server of its user: several clients, sessions that outlive them, and nothing lost between the two.
//!
//! [`hub::Hub`] decides and does no I/O; `events::EventLog` keeps the last events of a session, `requests::RequestIds`
//! counts each request once, and [`client::Client`] is the client's half. [`socket`] and [`lines`] are the way in,
//! and [`detach`] starts its process; [`wake`] notices that the computer slept.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and read files of their own"))]

#[cfg(test)]
#[path = "../../engine/src/chance.rs"]
#[allow(dead_code, reason = "shared with the engine, which uses all of it")]
mod chance;
pub mod client;
pub mod detach;
mod events;
mod follower;
pub mod hub;
pub mod lines;
mod outbox;
mod requests;
#[cfg(test)]
mod simulation;
pub mod socket;
pub mod version;
pub mod wake;

use deskbell_api::server::SessionSummary;
use deskbell_api::{BoardState, QueuedPrompt, Session, Status};
use std::sync::Arc;

/// A line to clients, with its line feed. Shared, because several clients may receive it.
pub type Line = Arc<[u8]>;

/// A connection, numbered by the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientId(pub u64);

/// The summary of a session whose last event has number `seq`.
pub fn summary(session: &Session, seq: u64) -> SessionSummary {
    // What is sent at a time of its own is queued: the server stays for it.
    let is_held = |prompt: &&QueuedPrompt| prompt.held && prompt.sends_at.is_none();
    let n_held = session.queue.iter().filter(is_held).count() as u32;
    SessionSummary {
        id: session.id.clone(),
        title: session.title.clone(),
        project: session.project.clone(),
        agent: session.agent,
        status: session.status.clone(),
        alive: session.alive,
        pid: session.pid,
        n_requests: session.requests.len() as u32,
        n_queued: session.queue.len() as u32 - n_held,
        n_held,
        n_background: session.n_background,
        n_scheduled: session.scheduled.len() as u32,
        cost_usd: session.usage.cost_usd,
        changed_at: session.changed_at,
        seq,
    }
}

/// Whether something runs or waits in the session: the server must not leave. Held prompts wait on disk, so they keep no
/// server.
pub fn is_busy(session: &SessionSummary) -> bool {
    let is_active = matches!(session.status.state(), Some(BoardState::NeedsInput | BoardState::Working))
        || matches!(session.status, Status::Starting | Status::Stopping);
    let n_waiting = session.n_requests + session.n_queued + session.n_background + session.n_scheduled;
    is_active || n_waiting > 0
}

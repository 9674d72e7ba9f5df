//! What a window draws first, and what the shell tells it.

use super::agent::AgentView;
use super::command::CommandError;
use super::event::Batch;
use super::files::Dropped;
use super::id::{RequestId, SessionId};
use super::preferences::Preferences;
use super::session::Session;
use super::survivor::Survivor;
use super::trust::TrustView;
use serde::Serialize;
use ts_rs::TS;

/// What a window draws first: its project and the sessions known there.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    /// The folder, whole.
    pub path: String,
    pub name: String,
    /// The checked-out branch, if the folder is under git.
    pub branch: Option<String>,
    pub sessions: Vec<Session>,
    /// The session that was open last.
    pub open: Option<SessionId>,
    pub agent: AgentView,
    /// The folder cannot be worked in: why.
    pub problem: Option<CommandError>,
    /// What the folder would make its agent do, and what its user decided; `null` where only the demo agent works.
    pub trust: Option<TrustView>,
    /// Processes of an earlier run of the app that are still there, whatever their project.
    pub survivors: Vec<Survivor>,
    pub app_version: String,
}

/// What a window learns first. Its events come under a name that only it was told.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The Tauri event to listen to, before anything else is asked.
    pub event: String,
    pub project: ProjectView,
    pub preferences: Preferences,
}

/// What a window hears.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Told {
    Event {
        event: Box<WindowEvent>,
    },
    /// An event that is large: it waits under this number until the window fetches it. Those behind it come later.
    Waits {
        nr: u32,
    },
}

/// What the shell tells a window.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WindowEvent {
    /// Events of the one session whose snapshot the window asked for last.
    Batch(Batch),
    /// Any session of the project is new or changed: for the list.
    SessionListed {
        session: Box<Session>,
    },
    SessionRemoved {
        session_id: SessionId,
    },
    /// Bring this session up, and the request if one is named: a notification was clicked, or “Review…”.
    Show {
        session_id: SessionId,
        request_id: Option<RequestId>,
    },
    /// Files are held over the window, or no longer.
    Dragging {
        over: bool,
    },
    /// Files were dropped on the window.
    Dropped {
        dropped: Vec<Dropped>,
    },
    /// The project's facts changed: its branch, its agent.
    ProjectChanged {
        project: Box<ProjectView>,
    },
}

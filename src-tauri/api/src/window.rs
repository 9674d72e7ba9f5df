//! Window data: the first view of a window, and the events that the shell sends to it.

use super::agent::AgentView;
use super::board::BoardView;
use super::command::CommandError;
use super::files::Dropped;
use super::files::UnreadFile;
use super::id::{ItemId, RequestId, SessionId};
use super::orphan::OrphanProcess;
use super::project::StartView;
use super::recording::RecordingState;
use super::search::SearchChange;
use super::session::Session;
use super::settings::SettingsView;
use super::stored::{MarkedSession, StoredChange};
use super::trust::TrustView;
use super::worktree::Checkout;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The first view of a window: its project and the sessions in it.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    /// Absolute path of the folder.
    pub path: String,
    pub name: String,
    /// The machine that the folder is on; `null` for this one.
    pub machine: Option<FarMachine>,
    pub checkout: Checkout,
    /// Whether new sessions keep running when Deskbell closes, if that was chosen for the project itself; `null` follows
    /// the setting.
    pub keep_running: Option<bool>,
    pub sessions: Vec<Session>,
    /// The session that was open last.
    pub open: Option<SessionId>,
    pub agent: AgentView,
    /// Why the folder cannot be used.
    pub problem: Option<CommandError>,
    /// The folder's trust findings and the user's decision; `null` if only the demo agent is used.
    pub trust: Option<TrustView>,
    /// The same for another agent that was not started here, until the user has decided about it.
    pub agent_trust: Option<TrustView>,
    /// How many starts of other agents were refused here. With each of them the page is shown again.
    pub agent_refusals: u32,
    /// An agent was not started because the user has to decide about the folder first.
    pub start_refused: bool,
    /// A text waits to be taken as a draft: a second start named a prompt.
    pub has_draft: bool,
    /// Processes of earlier runs of the app that are still running, for all projects.
    pub orphans: Vec<OrphanProcess>,
    /// Files that could not be read: Deskbell's own when the app started, and the project's current branch.
    pub unread_files: Vec<UnreadFile>,
    pub app_version: String,
}

/// A step of the zoom of a project's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ZoomStep {
    Larger,
    Smaller,
    /// The zoom of the settings again.
    Usual,
}

/// Another machine that a project is on. `path` then begins with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FarMachine {
    pub name: String,
    /// The first connection is being made. Until then nothing is known of the folder.
    pub is_connecting: bool,
}

/// A question of ssh, or of the machine that it connects to. Its text is theirs, not Deskbell's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionQuestion {
    pub id: String,
    /// The machine, as the user named it.
    pub machine: String,
    pub kind: ConnectionQuestionKind,
    pub text: String,
    /// The fingerprint of a host key, whole.
    pub fingerprint: Option<String>,
    /// The same was asked before in this connection: the answer was wrong.
    pub is_again: bool,
}

/// The answer that a question of ssh needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ConnectionQuestionKind {
    /// A password, a passphrase or a code.
    Secret,
    /// Whether an unknown host key is that of the machine.
    HostKey,
    /// Yes or no.
    Confirm,
    /// None: the user is to touch a key.
    Notice,
}

/// The panels at both sides of the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct SidePanels {
    /// The list of sessions.
    pub sessions: PanelChoice,
    /// Changes and tasks.
    pub side: PanelChoice,
}

/// What the user chose for a panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct PanelChoice {
    /// In pixels of the page; `null` is the usual width.
    pub width: Option<u16>,
    /// `null`: the window decides.
    pub shown: Option<bool>,
}

/// The first data of a window. Its events have a name that only this window knows.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Connection {
    /// The Tauri event to subscribe to before any other request.
    pub event: String,
    pub project: ProjectView,
    pub settings: SettingsView,
    /// The item to show in the open session: the window was opened for a search result.
    pub show_item: Option<ItemId>,
    /// As the project's last window left them.
    pub panels: SidePanels,
    /// The second session of the window.
    pub second: Option<SessionId>,
    /// The session whose own window this is. It shows no other one.
    pub own_session: Option<SessionId>,
    /// The sessions of the project that have windows of their own.
    pub own_windows: Vec<SessionId>,
    /// The names of other projects that wait for the user: one for each session, oldest first.
    pub waiting: Vec<String>,
}

/// A message to a window.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum WindowMessage {
    Event {
        event: Box<WindowEvent>,
    },
    /// A large event, stored under this number until the window fetches it. Later events are sent after it.
    Deferred {
        nr: u32,
    },
}

/// A point of a window's page, as shares of the page's width and height: 0 is left or top, 1 is right or bottom.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, TS)]
pub struct PagePoint {
    pub x: f64,
    pub y: f64,
}

/// An event that the shell sends to a window.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WindowEvent {
    /// Events of a session that the window shows are ready. Sent once; the page takes them, and then all that follow
    /// until there are none.
    BatchReady {
        session_id: SessionId,
    },
    /// A session of the project is new or changed: for the list.
    SessionListed {
        session: Box<Session>,
    },
    SessionRemoved {
        session_id: SessionId,
    },
    /// All sessions of the project that have windows of their own. The project's window does not show them.
    OwnWindowsChanged {
        sessions: Vec<SessionId>,
    },
    /// The agent's stored sessions of the project changed. Sent after the window asked for them.
    StoredChanged {
        change: StoredChange,
    },
    /// All sessions that the user pinned or archived, of all projects.
    MarksChanged {
        marks: Vec<MarkedSession>,
    },
    /// Open this session, and the request or item if one is given: the user clicked a notification, “Review…”, a search
    /// result or a row of the board.
    Show {
        session_id: SessionId,
        request_id: Option<RequestId>,
        item_id: Option<ItemId>,
    },
    /// More results of the window's search with this number.
    Searched {
        nr: u32,
        change: SearchChange,
    },
    /// A window or an agent came or went in a worktree that the page listed. Sent once after each list.
    WorktreesChanged,
    /// Output of git and its hooks while a commit of this window is made.
    CommitOutput {
        text: String,
    },
    /// The commit of this window ended.
    CommitEnded,
    /// The content of the board changed.
    BoardChanged {
        board: BoardView,
    },
    /// The user chose this entry of the window's menu in the menu bar of the system.
    MenuChosen {
        id: String,
    },
    /// The names of other projects that wait for the user: one for each session, oldest first. A page learns nothing else of
    /// the sessions of another project.
    WaitingChanged {
        waiting: Vec<String>,
    },
    /// Files are being dragged over the window; `None` when they are no longer.
    Dragging {
        at: Option<PagePoint>,
    },
    /// Files were dropped on the window.
    Dropped {
        dropped: Vec<Dropped>,
        at: PagePoint,
    },
    /// The recording of a session ended by itself, because it could not be written.
    RecordingEnded {
        session_id: SessionId,
        recording: RecordingState,
    },
    /// The content of the start page changed.
    StartChanged {
        start: Box<StartView>,
    },
    /// Something failed that the user has to know, and that no session shows.
    Failed {
        what: String,
        error: CommandError,
    },
    /// The settings changed, or what is wrong with their file.
    SettingsChanged {
        settings: Box<SettingsView>,
    },
    /// The project's data changed: its branch or its agent.
    ProjectChanged {
        project: Box<ProjectView>,
    },
    /// A connection that this window needs asks something.
    ConnectionAsks {
        question: ConnectionQuestion,
    },
    /// The question needs no answer any more.
    ConnectionAnswered {
        id: String,
    },
}

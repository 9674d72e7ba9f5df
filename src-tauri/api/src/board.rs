//! The board: the sessions of all projects that work, wait for the user or have just finished, in Deskbell, in other
//! programs, and on the machines that Deskbell is connected to.

use super::id::SessionId;
use super::session::{SessionLink, Status};
use super::settings::SettingsView;
use super::worktree::Checkout;
use serde::Serialize;
use ts_rs::TS;

/// The content of the board.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BoardView {
    /// Those that need the user come first.
    pub rows: Vec<BoardRow>,
    /// The other machines that this run of Deskbell connected to, by name. It connects to none for the board.
    pub machines: Vec<BoardMachine>,
}

/// Another machine on the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BoardMachine {
    pub name: String,
    pub link: SessionLink,
    /// When the link was up last, in milliseconds since the epoch; `null` if it never was.
    #[ts(type = "number | null")]
    pub seen_at: Option<u64>,
}

/// A session on the board.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BoardRow {
    pub session_id: SessionId,
    pub title: String,
    /// Absolute path of the project's folder, and its name.
    pub project: String,
    pub project_name: String,
    /// The machine that it runs on; `null` for this computer.
    pub machine: Option<String>,
    /// The name of the profile that it was begun with, or whose agents keep it.
    pub profile: Option<String>,
    /// The name of its agent; `null` for Claude Code.
    pub agent: Option<String>,
    /// As of the last look at the folder. Empty until then, and for a folder on another machine.
    pub checkout: Checkout,
    pub state: BoardState,
    /// The state in detail: what the session waits for, does, or failed with.
    pub status: Status,
    /// When it entered this state.
    pub since: u64,
    /// Number of commands and subagents running in the background.
    pub n_background: u32,
    /// The process of another program, such as the agent in a terminal, that has the conversation open; `null` for a
    /// session that Deskbell runs. `sessionId` is then the agent's id of the conversation.
    pub other_pid: Option<u32>,
    /// What it cost so far, in US dollars, as the agent says; 0 if nothing is known.
    pub cost_usd: f64,
    /// What its processes cost, as of the last look; `null` if none runs, on another machine, and where the system does
    /// not say.
    pub processes: Option<ProcessCost>,
}

/// What the agent of a session and every process below it cost now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProcessCost {
    pub n_processes: u32,
    /// Resident memory. What several processes share is in it several times.
    #[ts(type = "number")]
    pub memory_bytes: u64,
    /// CPU time since each of them began.
    #[ts(type = "number")]
    pub cpu_ms: u64,
}

impl std::fmt::Display for ProcessCost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let processes = if self.n_processes == 1 { "process" } else { "processes" };
        let (n, megabytes, seconds) = (self.n_processes, self.memory_bytes >> 20, self.cpu_ms / 1_000);
        write!(f, "{n} {processes}, {megabytes} MiB, {seconds} s of CPU")
    }
}

/// The state of a session on the board, in the order of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum BoardState {
    /// It waits for the user's answer.
    NeedsInput,
    /// Its last turn failed, less than an hour ago.
    Failed,
    Working,
    /// Its last turn ended, less than an hour ago.
    Finished,
}

/// The first data of a board. Its events have a name that only this window knows.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BoardConnection {
    /// The Tauri event to subscribe to before any other request.
    pub event: String,
    pub board: BoardView,
    pub settings: SettingsView,
}

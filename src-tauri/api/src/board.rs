//! The board: the sessions of all projects that work, wait for the user or have just finished, in Deskbell, in other
//! programs, and on the machines that Deskbell is connected to.

use super::id::{RequestId, SessionId};
use super::session::{SessionLink, Status};
use super::settings::SettingsView;
use super::worktree::Checkout;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The content of the board.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BoardView {
    /// Those that need the user come first.
    pub rows: Vec<BoardRow>,
    /// The other machines that this run of Deskbell connected to, and those of the listed projects, by name. It connects
    /// to none for the board.
    pub machines: Vec<BoardMachine>,
}

/// Another machine on the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BoardMachine {
    pub name: String,
    /// `null`: this run of Deskbell did not connect to it.
    pub link: Option<SessionLink>,
    /// When the link was up last, in milliseconds since the epoch; `null` if it never was.
    #[ts(type = "number | null")]
    pub seen_at: Option<u64>,
    /// When a project there was opened last; `null` if none is in the list.
    #[ts(type = "number | null")]
    pub used_at: Option<u64>,
}

/// What a machine answered when the user asked it what runs there.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MachineAnswer {
    /// When it answered, in milliseconds since the epoch.
    #[ts(type = "number")]
    pub at: u64,
    /// Those that run or wait; those that wait for the user come first.
    pub sessions: Vec<MachineSession>,
    /// Sessions there that neither run nor wait.
    pub n_idle: u32,
    /// Sessions that are not in the list: too many, or of a version that this one cannot read.
    pub n_more: u32,
    /// What could not be asked there: a server that does not answer, for example.
    pub problem: Option<String>,
}

/// A session that a machine listed.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MachineSession {
    pub session_id: SessionId,
    pub title: String,
    /// The folder there.
    pub project: String,
    /// `null` for one that this version does not know.
    pub status: Option<Status>,
    /// What it cost so far, in US dollars, as the agent says; 0 if nothing is known.
    pub cost_usd: f64,
    /// What its processes cost; `null` if none runs, or if that is not known there.
    pub processes: Option<ProcessCost>,
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
    /// The request that it has waited for longest; `null` if it waits for none that Deskbell knows.
    pub request: Option<BoardRequest>,
    /// The first line of the last answer, at most 200 characters; `null` while a turn runs, and if it is not known.
    pub answer: Option<String>,
    /// It failed because its agent needs a login.
    pub needs_login: bool,
    /// The process or the server that runs it can be reached. Without a link nothing can be answered or stopped.
    pub is_reached: bool,
    /// When it entered this state.
    pub since: u64,
    /// Number of commands and subagents running in the background.
    pub n_background: u32,
    /// The process of another program, such as the agent in a terminal, that has the conversation open; `null` for a
    /// session that Deskbell runs. `sessionId` is then the agent's id of the conversation.
    pub other_pid: Option<u32>,
    /// What it cost so far, in US dollars, as the agent says; 0 if nothing is known.
    pub cost_usd: f64,
    /// What its processes cost, as of the last look; `null` if none runs, and where the system or the server of another
    /// machine does not say.
    pub processes: Option<ProcessCost>,
}

/// An open request on the board: what is shown of it there, and which answers may be given there. Its size is bounded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BoardRequest {
    pub id: RequestId,
    /// Identifies what is shown. Every answer must contain it.
    pub shown: String,
    pub kind: BoardRequestKind,
    /// The command, the file, the address or the question, at most 600 characters. Must be drawn with every code point
    /// visible. If `canAllow` is set, it is the whole request.
    pub text: String,
    /// Number of lines, or parts of a line, that are not in `text`.
    pub n_more_lines: u32,
    /// `text` is all of it, and plain, by the rule of the native dialogs: it may be allowed where `text` is visible.
    pub can_allow: bool,
    /// The labels of the choices of a question that may be answered on the board: at most four, in the order of the
    /// question. Empty: its card has to be opened.
    pub choices: Vec<String>,
    /// Lines that an edit adds and removes; `null` for anything else.
    pub edited: Option<EditedLines>,
    /// The subagent that asks, in words; `null` for the agent itself.
    pub asked_by: Option<String>,
    /// Number of further open requests of the session.
    pub n_more: u32,
}

/// Number of lines that an edit adds and removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EditedLines {
    pub added: u32,
    pub removed: u32,
}

/// The kind of a request on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum BoardRequestKind {
    Command,
    Edit,
    Fetch,
    Other,
    Question,
    Plan,
    Form,
}

/// An answer that may be given on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum BoardAnswer {
    /// Runs the call once, exactly as requested.
    AllowOnce,
    /// Does not run the call, or skips the question.
    Deny,
    /// The choice at this place in `BoardRequest::choices`.
    Choose { choice: u32 },
}

/// What the agent of a session and every process below it cost now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
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

impl ProcessCost {
    /// The same without a number that a page cannot read exactly. Another machine can send any.
    pub fn bounded(self) -> Self {
        const MOST: u64 = 1 << 53;
        Self { memory_bytes: self.memory_bytes.min(MOST), cpu_ms: self.cpu_ms.min(MOST), ..self }
    }
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
    Working,
    /// Its last turn failed.
    Failed,
    /// Its last turn ended, less than a day ago.
    Finished,
}

impl BoardState {
    /// The last turn ended, and nothing of the session runs or waits.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Failed | Self::Finished)
    }
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

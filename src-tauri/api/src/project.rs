//! Projects that were opened earlier, and the start page that lists them.

use super::command::CommandError;
use super::files::UnreadFile;
use super::project_ref::ProjectRef;
use super::settings::SettingsView;
use super::worktree::Checkout;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A project that was opened earlier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RecentProject {
    pub project: ProjectRef,
    /// The name of the folder, for display.
    pub name: String,
    /// The folder that it is in, for display: the home folder is `~`.
    pub place: String,
    pub last_used_at: u64,
    /// Listed before the others, and kept when the list is cleared.
    pub pinned: bool,
    pub folder: FolderState,
    /// As of the last check. Empty until then, and for a folder on another machine.
    pub checkout: Checkout,
    /// A window of the project is open.
    pub open: bool,
    /// Sessions that work.
    pub n_working: u32,
    /// Sessions that wait for the user.
    pub n_waiting: u32,
}

/// Whether a folder can be opened, as of the last check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FolderState {
    /// Not checked yet.
    Unchecked,
    Found,
    /// It does not exist any more, or is not a folder.
    Missing,
    /// Its disk or network does not respond.
    Silent,
}

/// A folder with the folders in it, to choose one from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FolderListing {
    /// Absolute path, with links resolved.
    pub path: String,
    /// The folder that it is in; `null` for the top.
    pub parent: Option<String>,
    /// The names of the folders in it, sorted. Hidden ones are left out, and those whose name is not Unicode.
    pub folders: Vec<String>,
    /// There are more.
    pub is_cut: bool,
}

/// The content of the start page.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StartView {
    /// Pinned ones first, then the most recently used.
    pub projects: Vec<RecentProject>,
    /// A folder that is opened only if the user confirms it, because it contains the user's whole home folder.
    pub question: Option<String>,
    /// Why a folder was not opened.
    pub problem: Option<CommandError>,
    /// Deskbell's own files that could not be read.
    pub unread_files: Vec<UnreadFile>,
    pub app_version: String,
}

/// The first data of a start page. Its events have a name that only this window knows.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StartConnection {
    /// The Tauri event to subscribe to before any other request.
    pub event: String,
    pub start: StartView,
    pub settings: SettingsView,
}

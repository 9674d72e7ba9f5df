//! The Deskbell engine: agent processes, their protocol and the transcript, without a window and without Tauri.
//!
//! # Entry points
//!
//! A session is opened with [`session::SessionHandle::open`]. Its [`session::Open`] names the saved [`store::Record`], a
//! [`session::Launcher`] that finds the agent's program, and the machine that the agent runs on, [`LocalHost`]. The
//! handle takes [`api::Command`]s, and a [`session::Subscriber`] receives [`api::Envelope`]s with every change. A window
//! subscribes with a [`session::Feed`], which merges what it has not taken yet.
//!
//! | To | Begin with |
//! |---|---|
//! | find the agent's program, and start it | [`locate`], [`login_shell`], [`readiness`], [`launch`] |
//! | decide whether a folder's settings may run | [`trust::TrustStore`] |
//! | ask for permission in a dialog | [`permission::Dialogs`] |
//! | keep sessions, and read those of the agent | [`store::Store`], [`stored::Catalogue`], [`history`] |
//! | follow sessions that run in a server | [`remote::ServerLink`] |
//! | search, export and sum up | [`search`], [`export`], [`usage`] |
//! | end everything that was started | [`process::guard`], [`process::orphans`] |
//! | list permission rules by file, and remove one | [`rule_files::RuleFiles`] |
//! | record a session, and see it again | [`recorder`], [`replay`] |
//! | read the settings, and the projects that were opened | [`settings::SettingsFile`], [`projects::ProjectStore`] |
//!
//! A name that is public here is used by the app, a test or a benchmark. The architecture tests count these names, and
//! the count may only fall.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and read files of their own"))]

pub mod attachment;
pub mod bell;
pub mod board;
pub mod changes;
pub mod doctor;
mod excerpt;
pub mod export;
pub mod files;
#[cfg(any(test, fuzzing))]
pub mod fuzzed;
mod git;
pub mod history;
mod host;
pub mod launch;
mod ledger;
pub mod locate;
pub mod log_files;
pub mod login_shell;
mod misleading;
mod named_files;
mod node;
pub mod options;
pub mod owner;
mod parallel;
pub mod patch;
pub mod permission;
mod probe;
pub mod process;
pub mod projects;
mod prompt;
pub mod readiness;
pub mod recorder;
pub mod remote;
pub mod replay;
mod rewind;
pub mod rule_files;
pub mod search;
mod server_tool;
pub mod session;
pub mod settings;
pub mod store;
pub mod stored;
pub mod title;
mod transcript;
pub mod trust;
pub mod usage;
pub mod user_command;
pub mod worktrees;

pub use deskbell_acp as acp;
pub(crate) use deskbell_agent as agent;
pub use deskbell_api as api;
pub(crate) use deskbell_claude as claude;
pub(crate) use deskbell_claude::wire;
pub use deskbell_disk as disk;
pub(crate) use deskbell_document as document;
pub use deskbell_document::may_be_opened;
pub use host::LocalHost;
pub use transcript::Transcript;

#[cfg(test)]
mod bindings;
#[cfg(test)]
mod chance;
#[cfg(test)]
mod every_file;
#[cfg(test)]
mod stages;
#[cfg(test)]
#[path = "../../disk/src/traps.rs"]
mod traps;

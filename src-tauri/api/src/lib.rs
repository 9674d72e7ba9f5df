//! API types: every type that is sent to the UI or through `deskbell relay`, and nothing else.
//!
//! Conventions: objects are camelCase; a variant is named by its `type`; a missing value is `null`, never absent (in
//! input it may be absent); ids are opaque strings; timestamps end in `At` and are milliseconds since the Unix epoch;
//! durations end in `Ms`. The TypeScript version of these types is `ui/src/lib/bindings/api.ts`; the test
//! `bindings_are_fresh` checks that both match.

#![forbid(unsafe_code)]

mod agent;
mod background;
mod board;
mod capabilities;
mod changes;
mod command;
mod commit;
mod configuration;
mod context;
mod diff;
mod diff_lines;
mod document;
mod event;
mod export;
mod files;
mod form;
mod id;
mod item;
mod limits;
mod machine;
mod menu;
mod mode;
mod options;
mod orphan;
mod permission;
mod profile;
mod project;
mod project_ref;
mod prompt;
mod raw;
mod recording;
mod rewind;
mod rules;
mod search;
pub mod server;
mod session;
mod settings;
mod stored;
mod tool;
mod trust;
mod turn;
mod usage;
mod view;
mod window;
mod worktree;

pub use agent::*;
pub use background::*;
pub use board::*;
pub use capabilities::*;
pub use changes::*;
pub use command::*;
pub use commit::*;
pub use configuration::*;
pub use context::*;
pub use diff::*;
pub use document::*;
pub use event::*;
pub use export::*;
pub use files::*;
pub use form::*;
pub use id::*;
pub use item::*;
pub use limits::*;
pub use machine::*;
pub use menu::*;
pub use mode::*;
pub use options::*;
pub use orphan::*;
pub use permission::*;
pub use profile::*;
pub use project::*;
pub use project_ref::*;
pub use prompt::*;
pub use raw::*;
pub use recording::*;
pub use rewind::*;
pub use rules::*;
pub use search::*;
pub use session::*;
pub use settings::*;
pub use stored::*;
pub use tool::*;
pub use trust::*;
pub use turn::*;
pub use usage::*;
pub use view::*;
pub use window::*;
pub use worktree::{Checkout, Worktree, WorktreePlan, WorktreeRemoval, WorktreeView};

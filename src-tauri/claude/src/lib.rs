//! Claude Code, typed: the only crate that is meant to know the JSON of this agent.
//!
//! It is pure: it reads and writes texts, and has no process, file, clock or randomness.

#![forbid(unsafe_code)]

pub mod answer;
mod capabilities;
pub mod checkpoints;
mod configuration;
mod context;
mod driver;
pub mod limits;
pub mod options;
pub mod other_sessions;
mod outcome;
pub mod request;
pub mod rule_text;
pub mod rules;
pub mod searchable;
pub mod server_log;
mod session_variables;
pub mod setup;
pub mod stored;
pub mod tool;
pub mod trust;
pub mod wire;

pub use capabilities::capabilities;
pub use driver::ClaudeDriver;
pub use session_variables::SESSION_VARIABLES;

use deskbell_api as api;

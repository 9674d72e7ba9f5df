//! What crosses the seam between Deskbell's core and an agent, in words that no agent's protocol owns.
//!
//! A [`Driver`] reads the lines of its agent as [`AgentEvent`]s and writes [`AgentCommand`]s as lines. The core and the
//! transcript know nothing else of an agent.
//! The crate is pure: it has no process, file, clock or randomness.

#![forbid(unsafe_code)]

mod answer;
mod call;
mod command;
pub mod driver;
mod event;
pub mod form;
mod hook;
pub mod json;
mod limits;
mod message;
mod option;
mod outcome;
mod request;
mod returned;
mod schedule;
mod stream;
mod task;
pub mod tool;
mod turn;

pub use answer::*;
pub use call::{ReadTool, ServerToolNames, ToolCall};
pub use command::*;
pub use driver::Driver;
pub use event::*;
pub use hook::{HookDecision, HookEnd, HookOutcome, HookRun, HookStage};
pub use json::Input;
pub use limits::LimitReport;
pub use message::*;
pub use option::*;
pub use outcome::*;
pub use request::*;
pub use returned::{Exit, PartDescription, n_bytes_of_base64};
pub use schedule::ScheduleReport;
pub use stream::{Stream, StreamEvent};
pub use task::Task;
pub use turn::*;

use deskbell_api as api;

//! Native dialogs: permission requests, the questions before work is lost, and the choosers of files and folders.
//!
//! A dialog belongs to a window and decides nothing by itself. The crate knows no project, no session registry and no
//! page: what is asked is given to it, and its answers are returned.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and read files of their own"))]

pub mod closing;
mod native;
pub mod permission;

pub use native::{Answer, Chooser, Question, accepted, choose, confirm, say_failure};

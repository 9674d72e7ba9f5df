//! The Agent Client Protocol (ACP), version 1, for Deskbell's engine: an agent's lines become events, commands become
//! lines.
//!
//! It is pure: it has no process, file, clock or randomness. The types of the messages are those of the protocol's own
//! crate; the rest is here, because agents differ in what the protocol leaves open.

#![forbid(unsafe_code)]

pub mod agents;
mod calls;
mod choices;
mod chosen;
pub mod command;
pub mod driver;
pub mod event;
pub mod folder;
#[cfg(any(test, fuzzing))]
pub mod fuzzed;
pub mod offline;
mod output;
mod question;
mod read;
mod requests;
mod returned;
mod rpc;
pub mod seam;
mod session_driver;
mod slash_commands;
mod tools;

pub use chosen::ChosenAgent;
pub use command::{AcpCommand, AcpRefusal};
pub use driver::{AcpClient, ClientStep};
pub use event::AcpEvent;
pub use session_driver::{AcpDriver, AcpSetup};
pub use tools::Shown;

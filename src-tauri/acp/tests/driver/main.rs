//! The driver against recordings of real agents, hostile streams and long ones.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests read the project's own recordings")]

mod changes;
mod core_events;
mod cost;
mod double;
mod hostile;
mod loaded;
mod past;
mod player;
mod questions;
mod recordings;
mod returned;
mod slash_commands;
mod stored;
mod summary;
mod turns;

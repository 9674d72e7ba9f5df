//! The engine with real processes, and every fault that a process can have.
//!
//! The agent is the demo agent's own binary, told by script what to do, or a few lines of shell where even that is too
//! well behaved. A test waits for an event with a deadline that only a hang can reach, never for time.
//!
//! Needs `cargo build -p deskbell-demo-agent`; the tests of a killed app need the built app too, and say so.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod life;
mod program;
mod told;
mod transcript;

mod app_killed;
mod bytes;
mod channel;
mod deaf;
mod delivery;
mod doctor;
mod ending;
mod environment;
mod exit;
mod fifty;
mod flood;
mod leftovers;
mod log;
mod memory;
mod owner;
mod permission;
mod queue;
mod recordings;
mod restart;
mod stalled;
mod startup;
mod survivors;
mod switches;
mod unknown;

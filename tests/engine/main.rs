//! The engine with real processes, and every fault that a process can have.
//!
//! The agent is the demo agent's own binary, controlled by a script, or a few lines of shell where even that is too
//! well behaved. A test waits for an event with a deadline that only a hang can reach, never for time.
//!
//! Needs `cargo build -p deskbell-demo-agent`; the tests of a killed app need the built app too, and say so.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod life;
mod process_output;
mod program;
mod transcript;

mod acp;
mod acp_choices;
mod acp_past;
mod acp_reopened;
mod acp_stored;
mod app_killed;
mod both_wires;
mod broken_stdin;
mod bytes;
mod channel;
mod command_line;
mod configuration;
mod context;
mod delivery;
mod doctor;
mod doctor_report;
mod documented;
mod ending;
mod environment;
mod error_lines;
mod examples;
mod exit;
mod flood;
mod full_disk;
mod kills;
mod leftovers;
mod log;
mod log_files;
mod memory;
mod money;
mod no_connection;
mod no_leftovers_stress;
mod offers;
mod options;
mod orphans;
mod output;
mod owner;
mod permission;
mod queue;
mod real_agents;
mod recordings;
mod reopened;
mod replayed;
mod restart;
mod server;
mod settings;
mod side_questions;
mod slow_subscriber;
mod startup;
mod stored;
mod switches;
mod unknown;
mod untrusted_agents;
mod user_command;
mod wire;

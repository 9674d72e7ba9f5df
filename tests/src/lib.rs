//! Support for the tests of Deskbell against the real thing: the real CLI with a mock Messages API, a real window.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod agent_matrix;
pub mod chance;
pub mod hostile_output;
pub mod hostile_projects;
#[cfg(target_os = "linux")]
pub mod kills;
pub mod line_kinds;
pub mod mock_api;
pub mod mock_models;
pub mod real_cli;
pub mod recordings;
pub mod relay;
pub mod screen;
#[cfg(target_os = "linux")]
pub mod sockets;
#[cfg(unix)]
pub mod sshd;
pub mod suite;
pub mod wait;
#[cfg(target_os = "linux")]
pub mod window;

#[cfg(test)]
mod architecture;
#[cfg(test)]
mod command_line;
#[cfg(test)]
mod dependencies;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod stages;
#[cfg(test)]
mod unsafe_code;
#[cfg(test)]
mod words;

//! Deskbell's sessions for its window, relay and server: the registry, and the opening of a session with its agent,
//! trust and options.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and read files of their own"))]

pub mod agent;
pub mod board_costs;
pub mod checkouts;
pub mod cost;
mod desktop;
pub mod doctor;
pub mod environment;
pub mod far;
pub mod folder_watches;
pub mod folders;
pub mod hidden;
pub mod open_questions;
pub mod opener;
pub mod orphans;
pub mod other_agents;
pub mod profiles;
pub mod prompt_snapshots;
pub mod queries;
pub mod registry;
pub mod remote_projects;
pub mod running_commits;
pub mod settings;
pub mod trust;
pub mod wanted;

//! The parts of the copy of a folder's settings that an agent loads instead of the folder's own files.

pub mod agent;
pub mod plugin;
pub mod servers;
pub mod settings;

//! Deskbell's own folders.

use std::path::PathBuf;

/// The folder of data: in `XDG_DATA_HOME`, Application Support or AppData, depending on the system.
pub fn data() -> PathBuf {
    dirs::data_dir().unwrap_or_else(|| PathBuf::from(".")).join("deskbell")
}

/// The folder in the data that has the lists of the sessions that agents have stored.
pub const AGENT_SESSIONS: &str = "agent-sessions";

/// The folder in the data that has the recordings of the window.
pub const RECORDINGS: &str = "recordings";

/// The folder of configuration: in `XDG_CONFIG_HOME`, Application Support or AppData, depending on the system.
pub fn config() -> PathBuf {
    dirs::config_dir().unwrap_or_else(|| PathBuf::from(".")).join("deskbell")
}

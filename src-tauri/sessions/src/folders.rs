//! Deskbell's own folders.

use deskbell_engine::disk;
use std::path::PathBuf;
use std::time::SystemTime;

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

/// Removes the half-written files that killed processes left in the data, once they are old. Nothing waits for it.
pub async fn remove_leftovers(data: PathBuf) {
    let below = data.clone();
    let sweep = move || disk::remove_old_leftovers_below(&below, SystemTime::now());
    if let Err(unfinished) = disk::run(&data, disk::DEADLINE, sweep).await {
        tracing::debug!(%unfinished, "the search for half-written files goes on");
    }
}

//! One owner per conversation: two processes on one conversation silently lose one of its branches (2.1.329, 8 of 8).
//!
//! Two sources are checked before a conversation is resumed: Deskbell's own lock, held by every instance that has the
//! conversation open, and the agent's list of live processes, which also includes those in terminals.

use crate::disk;
use crate::host::local::is_alive;
use serde::Deserialize;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A killed process is in the system's list until its memory is given back. A process of Claude Code (2.1.329) that
/// Deskbell had killed 35 ms before was still there.
pub(crate) const ENDS_WITHIN: Duration = Duration::from_secs(1);
/// The agent of an app or a server that was killed ends within this time: by its guard (3.5 s), or at the end of its input.
pub(crate) const LEFT_AGENT_ENDS_WITHIN: Duration = Duration::from_secs(5);
/// Nothing reports the end of a process that is not our child on every system, so the list is read again after this time.
const LOOKS_AGAIN: Duration = Duration::from_millis(20);

/// Maximum number of files read from the agent's list, and maximum size of one in bytes.
const MOST_ENTRIES: usize = 10_000;
const MOST_BYTES: u64 = 64 * 1024;

/// A process that has the conversation open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub pid: u32,
    /// The folder that it was started in.
    pub cwd: PathBuf,
}

/// A conversation that a live process of the agent has open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LiveConversation {
    pub agent_session_id: String,
    pub owner: Owner,
    /// The process's own word for its activity (2.1.329), if it wrote one.
    pub status: Option<String>,
}

/// The conversations that the agent's live processes have open, from `<config>/sessions/<pid>.json`. The file of a
/// killed process remains, so each entry is checked against the process itself.
pub(crate) fn live_conversations(config: &Path) -> Vec<LiveConversation> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Entry {
        pid: u32,
        session_id: String,
        #[serde(default)]
        cwd: PathBuf,
        /// Start time of the process, in the system's own unit; on Linux field 22 of `/proc/<pid>/stat`.
        #[serde(default)]
        proc_start: Option<String>,
        #[serde(default)]
        status: serde_json::Value,
    }
    let Ok(listing) = disk::list(&live_folder(config), MOST_ENTRIES) else {
        return Vec::new();
    };
    listing
        .paths
        .into_iter()
        // Each entry has a `.key` file next to it that contains a secret; it is not read.
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter_map(|path| serde_json::from_slice::<Entry>(&disk::read_regular(&path, MOST_BYTES).ok()?).ok())
        .filter(|entry| is_alive(entry.pid, entry.proc_start.as_deref()))
        .map(|entry| LiveConversation {
            agent_session_id: entry.session_id,
            owner: Owner { pid: entry.pid, cwd: entry.cwd },
            status: entry.status.as_str().map(str::to_owned),
        })
        .collect()
}

/// The folder of the agent's list of its live processes.
pub(crate) fn live_folder(config: &Path) -> PathBuf {
    config.join("sessions")
}

/// The conversation that this live process of the agent has open.
pub(crate) fn conversation_of(config: &Path, pid: u32) -> Option<LiveConversation> {
    live_conversations(config).into_iter().find(|live| live.owner.pid == pid)
}

/// The agent's live processes that have this conversation open.
pub(crate) fn live_processes(config: &Path, agent_session_id: &str) -> Vec<Owner> {
    let mut live = live_conversations(config);
    live.retain(|live| live.agent_session_id == agent_session_id);
    live.into_iter().map(|live| live.owner).collect()
}

/// A process that has this conversation open and does not end within `limit`. Blocks.
pub(crate) fn lasting_owner(config: &Path, agent_session_id: &str, limit: Duration) -> Option<Owner> {
    let look = || live_processes(config, agent_session_id).into_iter().next();
    lasting(look, limit, LOOKS_AGAIN)
}

/// What `look` finds each time until the limit.
fn lasting(mut look: impl FnMut() -> Option<Owner>, limit: Duration, pause: Duration) -> Option<Owner> {
    let began_at = Instant::now();
    loop {
        let owner = look()?;
        if began_at.elapsed() >= limit {
            return Some(owner);
        }
        std::thread::sleep(pause);
    }
}

/// Deskbell's lock on a conversation; held until this value is dropped.
#[derive(Debug)]
pub struct Lock {
    agent_session_id: String,
    /// The system releases the lock when the process ends, whatever the cause.
    _file: File,
}

impl Lock {
    /// Acquires the lock; `None` if another Deskbell has it.
    pub fn take(folder: &Path, agent_session_id: &str) -> io::Result<Option<Self>> {
        disk::own_folder(folder)?;
        // The agent chooses the ids; only safe characters are kept for the file name.
        let name: String = agent_session_id
            .chars()
            .map(
                |character| {
                    if character.is_ascii_alphanumeric() || character == '-' { character } else { '_' }
                },
            )
            .collect();
        let file = disk::create_regular(&folder.join(format!("{name}.lock")))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { agent_session_id: agent_session_id.to_owned(), _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    pub fn is_of(&self, agent_session_id: &str) -> bool {
        self.agent_session_id == agent_session_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_has_one_lock() {
        let folder = tempfile::tempdir().unwrap();
        let first = Lock::take(folder.path(), "a/../b").unwrap();
        assert!(first.is_some());
        assert!(Lock::take(folder.path(), "a/../b").unwrap().is_none());
        assert!(Lock::take(folder.path(), "other").unwrap().is_some());
        drop(first);
        assert!(Lock::take(folder.path(), "a/../b").unwrap().is_some());
    }

    #[test]
    fn a_process_that_is_about_to_end_is_no_owner() {
        let owner = || Some(Owner { pid: 7, cwd: "/p".into() });
        let mut looks = [owner(), owner(), None].into_iter();
        assert_eq!(lasting(|| looks.next().flatten(), Duration::MAX, Duration::ZERO), None);
        assert_eq!(looks.next(), None);
        let mut n_looks = 0;
        let stays = || {
            n_looks += 1;
            owner()
        };
        assert_eq!(lasting(stays, Duration::ZERO, Duration::MAX), owner());
        assert_eq!(n_looks, 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_a_killed_process_left_behind_is_no_owner() {
        let config = tempfile::tempdir().unwrap();
        let sessions = config.path().join("sessions");
        std::fs::create_dir(&sessions).unwrap();
        let pid = std::process::id();
        let write = |name: &str, session: &str, pid: u32, began: &str| {
            let text = serde_json::json!({"pid": pid, "sessionId": session, "cwd": "/p", "procStart": began});
            std::fs::write(sessions.join(name), text.to_string()).unwrap();
        };
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let began = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned();
        write("1.json", "s", pid, &began);
        write("2.json", "s", pid, "1");
        write("3.json", "s", u32::MAX, &began);
        write("4.json", "t", pid, &began);
        std::fs::write(sessions.join("5.json"), "torn {").unwrap();
        assert_eq!(live_processes(config.path(), "s"), [Owner { pid, cwd: "/p".into() }]);
    }
}

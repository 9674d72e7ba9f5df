//! The folder of a server: one for each version, with its socket, its lock and its sessions. A newer version takes over
//! the folder of an older one whose server is idle or gone.

use crate::link::Link;
use anyhow::Context;
use deskbell_engine::api::server::{Reply, Request};
use deskbell_engine::disk;
use deskbell_engine::owner::Lock;
use deskbell_server::{socket, version};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the lock that a server has for as long as it runs.
pub const LOCK: &str = "server";

/// Versions that are looked at.
const MOST_VERSIONS: usize = 1_000;

/// Files of one folder that are moved: three for each session.
const MOST_FILES: usize = 100_000;

/// Timeout for an older server to answer, and then to end.
const RETIRE: Duration = Duration::from_secs(10);

/// The version of this server. Only a debug build can have another one, for tests of the change of versions.
pub fn version() -> String {
    #[cfg(debug_assertions)]
    if let Ok(version) = std::env::var("DESKBELL_TEST_SERVER_VERSION") {
        return version;
    }
    env!("CARGO_PKG_VERSION").to_owned()
}

/// The folder of one version's server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub version: String,
    pub folder: PathBuf,
}

impl Place {
    pub fn of(data: &Path, version: &str) -> Self {
        Self { version: version.to_owned(), folder: data.join("server").join(version) }
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    pub fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// The places of all versions, the newest first.
    pub fn all(data: &Path) -> anyhow::Result<Vec<Self>> {
        let listed = match disk::list(&data.join("server"), MOST_VERSIONS) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            listed => listed.context("listing the servers")?,
        };
        let names = listed.paths.iter().filter_map(|path| path.file_name()?.to_str());
        let mut places: Vec<Self> =
            names.filter(|name| version::is_version(name)).map(|name| Self::of(data, name)).collect();
        places.sort_by(|a, b| {
            if version::is_newer(&a.version, &b.version) {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            }
        });
        Ok(places)
    }
}

/// [`session_folders`] for a task that must not wait for a disk. None if the disk does not respond.
pub async fn session_folders_in_time(data: PathBuf) -> Vec<PathBuf> {
    let of = data.clone();
    disk::run(&data, disk::DEADLINE, move || session_folders(&of)).await.unwrap_or_else(|unfinished| {
        tracing::warn!(%unfinished, "the folders of sessions were not listed");
        Vec::new()
    })
}

/// The folders with sessions of Deskbell: its own, and those of the servers of all versions. A list of servers that
/// cannot be read has none.
pub fn session_folders(data: &Path) -> Vec<PathBuf> {
    let servers = Place::all(data).unwrap_or_else(|error| {
        tracing::warn!("{error:#}");
        Vec::new()
    });
    let folders = servers.into_iter().map(|place| place.folder);
    [data.to_owned()].into_iter().chain(folders).map(|folder| folder.join("sessions")).collect()
}

/// The name of this machine, for display.
pub fn host_name() -> String {
    socket::host_name().unwrap_or_else(|| "unknown".to_owned())
}

/// A value that changes with every start of the machine. Linux only.
pub fn boot_id() -> Option<String> {
    let path = Path::new("/proc/sys/kernel/random/boot_id");
    let text = disk::read_text(path, 1_024).ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

/// The places of the older versions.
pub async fn older(data: &Path, place: &Place) -> Vec<Place> {
    let listed = data.to_owned();
    let places = disk::run(data, disk::DEADLINE, move || Place::all(&listed)).await;
    match places.map_err(anyhow::Error::from).and_then(|places| places) {
        Ok(places) => {
            places.into_iter().filter(|one| version::is_newer(&place.version, &one.version)).collect()
        }
        Err(error) => {
            tracing::warn!(%error, "could not look for older servers");
            Vec::new()
        }
    }
}

/// Takes over the sessions of every older version whose server is gone, or is idle and leaves when it is asked to. Returns
/// those that are busy: they keep their sessions for now, and their servers.
pub async fn take_over_older(data: &Path, place: &Place) -> Vec<Place> {
    let mut busy = Vec::new();
    for older in older(data, place).await {
        match take_over(&older, place).await {
            Ok(true) => tracing::info!(version = older.version, "took over an older server's sessions"),
            Ok(false) => {
                tracing::info!(version = older.version, "an older server is busy and stays");
                busy.push(older);
            }
            Err(error) => {
                tracing::warn!(%error, version = older.version, "could not take over an older server");
                busy.push(older);
            }
        }
    }
    busy
}

async fn take_over(older: &Place, place: &Place) -> anyhow::Result<bool> {
    match socket::connect(&older.socket()).await {
        Ok(stream) => {
            let mut link = Link::new(stream);
            if !tokio::time::timeout(RETIRE, retires(&mut link, &place.version)).await?? {
                return Ok(false);
            }
        }
        Err(socket::SocketError::NoServer) => {}
        Err(error) => return Err(error.into()),
    }
    let deadline = tokio::time::Instant::now() + RETIRE;
    loop {
        let moved = take_sessions(older, place).await?;
        // A server that leaves ends its processes first, and then its lock goes.
        if moved || tokio::time::Instant::now() >= deadline {
            return Ok(moved);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Moves the sessions of an older version to this one; false if a server still has them.
pub async fn take_sessions(older: &Place, place: &Place) -> anyhow::Result<bool> {
    let (from, to) = (older.folder.clone(), place.folder.clone());
    disk::run(&older.folder, disk::DEADLINE, move || move_sessions(&from, &to)).await?
}

/// Asks a server to leave, and waits until it has closed the connection.
async fn retires(link: &mut Link, version: &str) -> anyhow::Result<bool> {
    link.send(&Request::Retire { version: version.to_owned() }).await?;
    let mut is_retiring = false;
    while let Some(line) = link.next().await? {
        match serde_json::from_slice(line) {
            Ok(Reply::Retiring) => is_retiring = true,
            Ok(Reply::Busy) => return Ok(false),
            _ => {}
        }
    }
    Ok(is_retiring)
}

/// Moves the sessions of a folder to another; false if a server still has the folder.
fn move_sessions(from: &Path, to: &Path) -> anyhow::Result<bool> {
    let Some(_lock) = Lock::take(from, LOCK)? else { return Ok(false) };
    // The records last: what a crash leaves behind is found by the next start, as long as the record is there.
    for name in ["opened", "sessions"] {
        let (from, to) = (from.join(name), to.join(name));
        let files = match disk::list(&from, MOST_FILES) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            files => files?,
        };
        disk::own_folder(&to)?;
        for path in files.paths {
            let Some(name) = path.file_name() else { continue };
            std::fs::rename(&path, to.join(name)).context("moving a session")?;
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_listed_with_the_newest_first_and_nothing_else() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(Place::all(data.path()).unwrap(), []);
        for name in ["0.9.0", "0.10.0", "0.2.0", "notes", ".."] {
            std::fs::create_dir_all(data.path().join("server").join(name)).unwrap();
        }
        let versions: Vec<String> =
            Place::all(data.path()).unwrap().into_iter().map(|place| place.version).collect();
        assert_eq!(versions, ["0.10.0", "0.9.0", "0.2.0"]);
    }

    #[test]
    fn sessions_of_a_server_that_runs_are_not_moved() {
        let data = tempfile::tempdir().unwrap();
        let (from, to) = (data.path().join("old"), data.path().join("new"));
        std::fs::create_dir_all(from.join("sessions")).unwrap();
        std::fs::write(from.join("sessions/a.json"), "{}").unwrap();
        let lock = Lock::take(&from, LOCK).unwrap();
        assert!(!move_sessions(&from, &to).unwrap());
        assert!(from.join("sessions/a.json").exists());
        drop(lock);
        assert!(move_sessions(&from, &to).unwrap());
        assert_eq!(std::fs::read_to_string(to.join("sessions/a.json")).unwrap(), "{}");
        assert!(move_sessions(&from, &to).unwrap(), "there is nothing left to move");
    }
}

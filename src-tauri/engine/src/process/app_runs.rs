//! Runs of the app. Each run keeps a small file for as long as it lasts, so that the next run can find its orphan
//! processes.
//!
//! A run that ends normally removes its file. A killed run leaves it. Such a run is over when neither its app nor its
//! guard is alive; each is identified by process id and start time.

mod earlier;

use crate::disk::write_atomically;
use crate::disk::{self, ReadError};
use crate::host::local::identity::ProcessIdentity;
pub(crate) use earlier::Earlier;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The maximum number of runs that are read, and the maximum size of a run file in bytes.
const MOST_RUNS: usize = 10_000;
const MOST_BYTES: u64 = 64 * 1024;

/// Interval and number of checks whether the guard of a run that was just killed has finished: it takes 3.5 s at most,
/// plus one or two of its checks.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
const LOOKS: usize = 40;

/// One process of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ProcessMark {
    pid: u32,
    identity: ProcessIdentity,
}

impl ProcessMark {
    /// `None` on systems that do not report when a process started; there no run is recorded and none is found.
    fn of(pid: u32, identity_of: impl Fn(u32) -> Option<ProcessIdentity>) -> Option<Self> {
        Some(Self { pid, identity: identity_of(pid)? })
    }

    fn lives(&self, identity_of: impl Fn(u32) -> Option<ProcessIdentity>) -> bool {
        identity_of(self.pid).is_some_and(|identity| identity == self.identity)
    }
}

/// The process that runs the agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RunKind {
    /// A window or a relay: a window offers to end what is left of it.
    #[default]
    App,
    /// A server, whose successor ends what is left of it.
    Server,
}

/// Content of a run file. The file name is the run's token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RunFile {
    app: ProcessMark,
    guard: Option<ProcessMark>,
    #[serde(default)]
    kind: RunKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunState {
    Lasts,
    /// The app is gone; its guard still runs.
    Ends,
    Over,
}

fn run_state(note: &RunFile, identity_of: impl Fn(u32) -> Option<ProcessIdentity>) -> RunState {
    if note.app.lives(&identity_of) {
        RunState::Lasts
    } else if note.guard.as_ref().is_some_and(|guard| guard.lives(&identity_of)) {
        RunState::Ends
    } else {
        RunState::Over
    }
}

/// The folder with the run files.
#[derive(Clone, Debug)]
pub struct AppRuns {
    folder: PathBuf,
}

impl AppRuns {
    /// Creates the folder if it is missing.
    pub fn open(folder: PathBuf) -> io::Result<Self> {
        disk::own_folder(&folder)?;
        Ok(Self { folder })
    }

    /// Records the start of this process's run. Call this before the run starts any process.
    pub fn begin(&self, token: &str, guard: Option<u32>, kind: RunKind) -> io::Result<()> {
        let Some(app) = ProcessMark::of(std::process::id(), ProcessIdentity::of) else { return Ok(()) };
        let guard = guard.and_then(|pid| ProcessMark::of(pid, ProcessIdentity::of));
        write_atomically(&self.path(token), &serde_json::to_vec(&RunFile { app, guard, kind })?)
    }

    /// Removes a run's file: the run ended normally, nothing of it is left, or the user keeps what is left.
    pub fn forget(&self, token: &str) -> io::Result<()> {
        disk::remove_file(&self.path(token))
    }

    /// The runs that are over, once the guards of those that were just killed have finished.
    pub async fn over(&self) -> io::Result<Vec<(String, RunKind)>> {
        let mut over = Vec::new();
        for _ in 0..LOOKS {
            let runs = self.clone();
            let earlier = disk::run(&self.folder, disk::DEADLINE, move || runs.earlier()).await??;
            over = earlier.over;
            if !earlier.some_end {
                break;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(over)
    }

    pub(crate) fn earlier(&self) -> io::Result<Earlier> {
        let mut earlier = Earlier::default();
        for path in disk::list(&self.folder, MOST_RUNS)?.paths {
            let Some(token) = token(&path) else { continue };
            let note = match disk::read_regular(&path, MOST_BYTES) {
                // The run has just ended normally.
                Err(ReadError::Missing) => continue,
                Err(error) => Err(error.to_string()),
                Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| error.to_string()),
            };
            match note.map(|note: RunFile| (run_state(&note, ProcessIdentity::of), note.kind)) {
                Ok((RunState::Lasts, _)) => {}
                Ok((RunState::Ends, _)) => earlier.some_end = true,
                Ok((RunState::Over, kind)) => earlier.over.push((token, kind)),
                // The owner of the processes is unknown, so none are offered.
                Err(error) => {
                    tracing::warn!(path = %path.display(), %error, "could not read the file of a run")
                }
            }
        }
        Ok(earlier)
    }

    fn path(&self, token: &str) -> PathBuf {
        self.folder.join(format!("{token}.json"))
    }
}

fn token(path: &Path) -> Option<String> {
    path.extension().filter(|extension| *extension == "json")?;
    Some(path.file_stem()?.to_str()?.to_owned())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::fs;
    use std::process::{Command, Stdio};

    fn runs() -> (tempfile::TempDir, AppRuns) {
        let folder = tempfile::tempdir().unwrap();
        let runs = AppRuns::open(folder.path().join("runs")).unwrap();
        (folder, runs)
    }

    fn own() -> ProcessMark {
        ProcessMark::of(std::process::id(), ProcessIdentity::of).unwrap()
    }

    /// The mark of a process that has ended.
    fn gone() -> ProcessMark {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let mark = ProcessMark::of(child.id(), ProcessIdentity::of).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        mark
    }

    fn write(runs: &AppRuns, token: &str, note: &RunFile) {
        fs::write(runs.path(token), serde_json::to_vec(note).unwrap()).unwrap();
    }

    #[test]
    fn a_run_that_lasts_is_not_an_earlier_one() {
        let (_folder, runs) = runs();
        runs.begin("now", None, RunKind::App).unwrap();
        assert_eq!(runs.earlier().unwrap(), Earlier::default());
        runs.forget("now").unwrap();
        runs.forget("now").unwrap();
        assert!(!runs.path("now").exists());
    }

    #[test]
    fn a_run_is_over_when_neither_its_app_nor_its_guard_lives() {
        let (_folder, runs) = runs();
        write(&runs, "both", &RunFile { app: gone(), guard: Some(gone()), kind: RunKind::App });
        write(&runs, "unguarded", &RunFile { app: gone(), guard: None, kind: RunKind::Server });
        let mut earlier = runs.earlier().unwrap();
        earlier.over.sort_by(|a, b| a.0.cmp(&b.0));
        let over = vec![("both".into(), RunKind::App), ("unguarded".into(), RunKind::Server)];
        assert_eq!(earlier, Earlier { over, some_end: false });
        write(&runs, "guarded", &RunFile { app: gone(), guard: Some(own()), kind: RunKind::App });
        assert!(runs.earlier().unwrap().some_end);
    }

    #[test]
    fn a_number_that_is_used_again_is_not_the_app() {
        let note = RunFile { app: gone(), guard: None, kind: RunKind::App };
        let reused =
            |_| Some(ProcessIdentity { ticks: note.app.identity.ticks + 1, ..note.app.identity.clone() });
        assert_eq!(run_state(&note, reused), RunState::Over);
        assert_eq!(run_state(&note, |_| Some(note.app.identity.clone())), RunState::Lasts);
    }

    #[test]
    fn what_cannot_be_read_is_offered_to_nobody() {
        let (_folder, runs) = runs();
        fs::write(runs.path("torn"), "{\"app\":").unwrap();
        assert_eq!(runs.earlier().unwrap(), Earlier::default());
    }
}

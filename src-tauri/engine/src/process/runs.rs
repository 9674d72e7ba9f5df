//! Runs of the app: each leaves a small file for as long as it lasts, so that the next knows what to look for.
//!
//! A run that was ended in order takes its file along. One that was killed leaves it; it is over when neither its app
//! nor its guard lives, by number and moment of birth.

use super::birth::Birth;
use crate::store::write_atomically;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One process of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Mark {
    pid: u32,
    birth: Birth,
}

impl Mark {
    /// `None` where a system does not tell when a process began: there no run is noted, and none is looked for.
    fn of(pid: u32, birth_of: impl Fn(u32) -> Option<Birth>) -> Option<Self> {
        Some(Self { pid, birth: birth_of(pid)? })
    }

    fn lives(&self, birth_of: impl Fn(u32) -> Option<Birth>) -> bool {
        birth_of(self.pid).is_some_and(|birth| birth == self.birth)
    }
}

/// What a run's file holds; its name is the run's token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Note {
    app: Mark,
    guard: Option<Mark>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Lasts,
    /// Its app is gone, and its guard is at work.
    Ends,
    Over,
}

fn standing(note: &Note, birth_of: impl Fn(u32) -> Option<Birth>) -> Standing {
    if note.app.lives(&birth_of) {
        Standing::Lasts
    } else if note.guard.as_ref().is_some_and(|guard| guard.lives(&birth_of)) {
        Standing::Ends
    } else {
        Standing::Over
    }
}

/// Runs before this one that were not ended in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// The tokens of those that are over.
    pub over: Vec<String>,
    /// The guard of another is still ending what it left.
    pub some_end: bool,
}

/// The folder of runs.
#[derive(Clone, Debug)]
pub struct Runs {
    folder: PathBuf,
}

impl Runs {
    /// Makes the folder if it is not there.
    pub fn open(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    /// Notes that this process began a run, before anything is started in it.
    pub fn begin(&self, token: &str, guard: Option<u32>) -> io::Result<()> {
        let Some(app) = Mark::of(std::process::id(), Birth::of) else { return Ok(()) };
        let guard = guard.and_then(|pid| Mark::of(pid, Birth::of));
        write_atomically(&self.path(token), &serde_json::to_vec(&Note { app, guard })?)
    }

    /// Forgets a run: it was ended in order, or nothing of it is there any more, or its user wants what is.
    pub fn forget(&self, token: &str) -> io::Result<()> {
        match fs::remove_file(self.path(token)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub fn earlier(&self) -> io::Result<Earlier> {
        let mut earlier = Earlier::default();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let Some(token) = token(&path) else { continue };
            let note = match fs::read(&path) {
                // It has just ended in order.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                read => serde_json::from_slice(&read?),
            };
            match note.map(|note| standing(&note, Birth::of)) {
                Ok(Standing::Lasts) => {}
                Ok(Standing::Ends) => earlier.some_end = true,
                Ok(Standing::Over) => earlier.over.push(token),
                // Whose it is cannot be known: nothing of it is offered.
                Err(error) => tracing::warn!(path = %path.display(), %error, "a run's file cannot be read"),
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
    use std::process::{Command, Stdio};

    fn runs() -> (tempfile::TempDir, Runs) {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs::open(folder.path().join("runs")).unwrap();
        (folder, runs)
    }

    fn own() -> Mark {
        Mark::of(std::process::id(), Birth::of).unwrap()
    }

    /// A process that was there and is not any more.
    fn gone() -> Mark {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let mark = Mark::of(child.id(), Birth::of).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        mark
    }

    fn write(runs: &Runs, token: &str, note: &Note) {
        fs::write(runs.path(token), serde_json::to_vec(note).unwrap()).unwrap();
    }

    #[test]
    fn a_run_that_lasts_is_not_an_earlier_one() {
        let (_folder, runs) = runs();
        runs.begin("now", None).unwrap();
        assert_eq!(runs.earlier().unwrap(), Earlier::default());
        runs.forget("now").unwrap();
        runs.forget("now").unwrap();
        assert!(!runs.path("now").exists());
    }

    #[test]
    fn a_run_is_over_when_neither_its_app_nor_its_guard_lives() {
        let (_folder, runs) = runs();
        write(&runs, "both", &Note { app: gone(), guard: Some(gone()) });
        write(&runs, "unguarded", &Note { app: gone(), guard: None });
        let mut earlier = runs.earlier().unwrap();
        earlier.over.sort();
        assert_eq!(earlier, Earlier { over: vec!["both".into(), "unguarded".into()], some_end: false });
        write(&runs, "guarded", &Note { app: gone(), guard: Some(own()) });
        assert!(runs.earlier().unwrap().some_end);
    }

    #[test]
    fn a_number_that_is_used_again_is_not_the_app() {
        let note = Note { app: gone(), guard: None };
        let reused = |_| Some(Birth { ticks: note.app.birth.ticks + 1, ..note.app.birth.clone() });
        assert_eq!(standing(&note, reused), Standing::Over);
        assert_eq!(standing(&note, |_| Some(note.app.birth.clone())), Standing::Lasts);
    }

    #[test]
    fn what_cannot_be_read_is_offered_to_nobody() {
        let (_folder, runs) = runs();
        fs::write(runs.path("torn"), "{\"app\":").unwrap();
        assert_eq!(runs.earlier().unwrap(), Earlier::default());
    }
}

//! Session store: one small file per session, replaced atomically, readable only by its owner.
//!
//! A session's file is also the journal of its prompts: a prompt is written to it before it is acknowledged, and
//! removed only when the turn that included it has ended.

mod additions;
mod error;
mod offers;
mod saved;

use crate::api::{AgentKind, SessionId};
use crate::disk::{
    self, FileKind, Loaded, ReadError, SetAside, create_regular, kind, list, load_json, open_regular,
    own_folder, read_end, read_regular, remove_old_leftovers, replace, write_atomically,
};
use crate::history::OwnLine;
use crate::projects::Projects;
use crate::transcript::supplement::Supplement;
pub(crate) use additions::changed_inputs;
pub(crate) use error::StoreError;
use error::failed;
pub use offers::KnownModels;
pub(crate) use offers::Offer;
use offers::Offers;
pub use saved::SavedSession;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum size of a session file. It contains the waiting prompts, with images of a few megabytes each.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// Maximum number of files read from the sessions folder.
const MOST_FILES: usize = 100_000;

/// The part of a session that is saved to disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub id: SessionId,
    pub project: PathBuf,
    pub agent: AgentKind,
    pub created_at: u64,
    /// Time of the last accepted prompt or the last end of a turn.
    pub changed_at: u64,
    #[serde(default)]
    pub memory: SavedSession,
}

/// A folder of session files.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    offers: Offers,
}

/// The sessions that were loaded, and the unreadable files, which were set aside and not overwritten.
#[derive(Debug, Default)]
pub struct Sessions {
    pub records: Vec<Record>,
    pub set_aside: Vec<SetAside>,
}

/// The records of a folder that was only read.
#[derive(Debug, Default)]
pub struct SavedRecords {
    pub records: Vec<Record>,
    /// The session files that could not be read.
    pub unreadable: Vec<PathBuf>,
}

impl Sessions {
    /// Takes the sessions of folders that were moved to where those are now.
    pub fn follow_moves(&mut self, projects: &Projects) {
        for record in &mut self.records {
            if let Some(now) = projects.moved_to(&record.project) {
                record.project = now.to_owned();
            }
        }
    }
}

impl Store {
    /// Reads every session without changing anything, also while the app runs. A missing folder has none.
    pub fn read_only(folder: &Path) -> Result<SavedRecords, StoreError> {
        let mut saved = SavedRecords::default();
        let listing = match list(folder, MOST_FILES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(saved),
            listing => listing.map_err(failed("read", folder))?,
        };
        let is_record = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
        for path in listing.paths.into_iter().filter(is_record) {
            match read_regular(&path, MOST_BYTES) {
                Ok(bytes) => match serde_json::from_slice(&bytes) {
                    Ok(record) => saved.records.push(record),
                    Err(_) => saved.unreadable.push(path),
                },
                // Removed after the listing.
                Err(ReadError::Missing) => {}
                Err(_) => saved.unreadable.push(path),
            }
        }
        Ok(saved)
    }

    /// Creates the folder if it is missing.
    pub fn open(folder: PathBuf) -> Result<Self, StoreError> {
        own_folder(&folder).map_err(failed("make", &folder))?;
        remove_old_leftovers(&folder, SystemTime::now());
        let offers = Offers::load(&folder);
        Ok(Self { folder, offers })
    }

    fn path(&self, id: &SessionId) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// Loads every session, the most recently changed first.
    pub fn load(&self) -> Result<Sessions, StoreError> {
        let mut sessions = Sessions::default();
        let listing = list(&self.folder, MOST_FILES).map_err(failed("read", &self.folder))?;
        if listing.is_cut {
            tracing::error!(folder = %self.folder.display(), MOST_FILES, "too many session files; some are not read");
        }
        for path in listing.paths {
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            match load_json(&path, MOST_BYTES) {
                Loaded::Read(record) => sessions.records.push(record),
                Loaded::Unreadable(aside) => sessions.set_aside.push(aside),
                // Removed after the listing.
                Loaded::Missing => {}
            }
        }
        sessions.records.sort_by_key(|record: &Record| std::cmp::Reverse(record.changed_at));
        Ok(sessions)
    }

    /// Reads one session; `None`: it is not there.
    pub fn record(&self, id: &SessionId) -> Result<Option<Record>, StoreError> {
        let path = self.path(id);
        let text = match read_regular(&path, MOST_BYTES) {
            Ok(text) => text,
            Err(ReadError::Missing) => return Ok(None),
            Err(error) => return Err(failed("read", &path)(error.into())),
        };
        serde_json::from_slice(&text).map(Some).map_err(|error| failed("read", &path)(error.into()))
    }

    /// Writes a session. When this returns, the record survives a crash of the app or the machine.
    pub fn save(&self, record: &Record) -> Result<(), StoreError> {
        let path = self.path(&record.id);
        let text = serde_json::to_vec_pretty(record).map_err(|error| failed("write", &path)(error.into()))?;
        write_atomically(&path, &text).map_err(failed("write", &path))
    }

    /// Removes a session for good.
    pub fn remove(&self, id: &SessionId) -> Result<(), StoreError> {
        for path in self.files(id) {
            remove_file(&path)?;
        }
        crate::rewind::copies::remove(&self.copies(id));
        Ok(())
    }

    /// Removes a session so that `restore` can bring it back, until `forget_removed`.
    pub fn set_aside(&self, id: &SessionId) -> Result<(), StoreError> {
        let removed = self.removed()?;
        // The record is last: a session without it is listed no longer, and one with it has everything.
        move_file(&self.copies(id), &removed.folder)?;
        self.files(id).iter().rev().try_for_each(|path| move_file(path, &removed.folder))
    }

    /// Brings back a session of a project that was set aside. `None`: it is not there.
    pub fn restore(&self, project: &Path, id: &SessionId) -> Result<Option<Record>, StoreError> {
        let removed = self.removed()?;
        let Some(record) = removed.record(id)? else { return Ok(None) };
        if record.project != project {
            return Ok(None);
        }
        move_file(&removed.copies(id), &self.folder)?;
        removed.files(id).iter().rev().try_for_each(|path| move_file(path, &self.folder))?;
        Ok(Some(record))
    }

    /// Deletes the sessions that were set aside.
    pub fn forget_removed(&self) -> Result<(), StoreError> {
        let removed = self.removed()?;
        let listing = list(&removed.folder, MOST_FILES).map_err(failed("read", &removed.folder))?;
        for path in listing.paths {
            if kind(&path).is_ok_and(|kind| kind == FileKind::Folder) {
                crate::rewind::copies::remove(&path);
            } else {
                remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// The folder of the sessions that were set aside.
    fn removed(&self) -> Result<Self, StoreError> {
        Self::open(self.folder.join("removed"))
    }

    /// The files of a session; its record is first.
    fn files(&self, id: &SessionId) -> [PathBuf; 4] {
        [self.path(id), self.log_path(id), self.streaming_path(id), self.conversation_path(id)]
    }

    /// The folder of the session's copies of files, for the undo of a rewind.
    pub fn copies(&self, id: &SessionId) -> PathBuf {
        self.folder.join(format!("{id}.rewind"))
    }

    fn log_path(&self, id: &SessionId) -> PathBuf {
        self.folder.join(format!("{id}.turns.jsonl"))
    }

    fn streaming_path(&self, id: &SessionId) -> PathBuf {
        self.folder.join(format!("{id}.streaming.jsonl"))
    }

    fn conversation_path(&self, id: &SessionId) -> PathBuf {
        self.folder.join(format!("{id}.conversation.jsonl"))
    }

    /// Appends lines to the kept conversation, all of them or none. They survive a crash of the app, but maybe not of
    /// the machine. Of a file that has become too large the older half is removed, and the file says so.
    pub(crate) fn keep(&self, id: &SessionId, lines: &[OwnLine]) -> Result<(), StoreError> {
        let path = self.conversation_path(id);
        let known = length(&path).map_err(failed("read", &path))?;
        if known > CONVERSATION_LIMIT {
            let end = conversation_end(&path, CONVERSATION_LIMIT / 2).map_err(failed("read", &path))?;
            write_atomically(&path, &end).map_err(failed("write", &path))?;
        }
        let lines = lines_of(lines).map_err(failed("write", &path))?;
        append_whole(&path, &lines).map_err(failed("write", &path))
    }

    /// The kept conversation; `None` if there is none.
    pub fn conversation(&self, id: &SessionId) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.conversation_path(id);
        match read_regular(&path, 2 * CONVERSATION_LIMIT) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(ReadError::Missing) => Ok(None),
            Err(ReadError::TooLarge { .. }) => {
                conversation_end(&path, CONVERSATION_LIMIT).map(Some).map_err(failed("read", &path))
            }
            Err(error) => Err(failed("read", &path)(error.into())),
        }
    }

    /// Appends supplements, which the agent's own transcript does not contain, and removes the saved streaming text. A
    /// line torn by a crash is skipped when the file is read.
    pub fn append(&self, id: &SessionId, supplements: &[Supplement]) -> Result<(), StoreError> {
        let path = self.log_path(id);
        let known = length(&path).map_err(failed("read", &path))?;
        if known > LOG_LIMIT {
            let half = read_lines(&path)?;
            let half = lines_of(&half[half.len() / 2..]).map_err(failed("write", &path))?;
            write_atomically(&path, &half).map_err(failed("write", &path))?;
        }
        let lines = lines_of(supplements).map_err(failed("write", &path))?;
        append_whole(&path, &lines).map_err(failed("write", &path))?;
        remove_file(&self.streaming_path(id))
    }

    /// Replaces the saved streaming text. It survives a crash of the app, but not of the machine.
    pub fn keep_streaming(&self, id: &SessionId, streaming: &[Supplement]) -> Result<(), StoreError> {
        let path = self.streaming_path(id);
        let lines = lines_of(streaming).map_err(failed("write", &path))?;
        replace(&path, &lines, false).map_err(failed("write", &path))
    }

    /// The supplements to the agent's transcript, oldest first. Text that was streaming when the app was killed is
    /// last.
    pub fn supplements(&self, id: &SessionId) -> Result<Vec<Supplement>, StoreError> {
        let mut supplements = read_lines(&self.log_path(id))?;
        let streaming = read_lines(&self.streaming_path(id))?;
        if !streaming.is_empty() {
            self.append(id, &streaming)?;
            supplements.extend(streaming);
        }
        Ok(supplements)
    }
}

/// Maximum size in bytes of a session's supplements file: about 10,000 turns. Above it the older half is dropped.
const LOG_LIMIT: u64 = 4 * 1024 * 1024;

/// Size in bytes of a kept conversation above which its older half is removed.
const CONVERSATION_LIMIT: u64 = 64 * 1024 * 1024;

fn remove_file(path: &Path) -> Result<(), StoreError> {
    disk::remove_file(path).map_err(failed("remove", path))
}

/// Moves a file or a folder to another folder on the same disk. A missing file is not an error.
fn move_file(path: &Path, to: &Path) -> Result<(), StoreError> {
    let name = path.file_name().unwrap_or_default();
    match fs::rename(path, to.join(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("move", path)(error)),
        _ => Ok(()),
    }
}

/// Length of a file in bytes; 0 if it does not exist.
fn length(path: &Path) -> io::Result<u64> {
    match open_regular(path) {
        Ok(file) => Ok(file.size),
        Err(ReadError::Missing) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

fn read_lines(path: &Path) -> Result<Vec<Supplement>, StoreError> {
    let text = match read_regular(path, 4 * LOG_LIMIT) {
        Ok(text) => text,
        Err(ReadError::Missing) => return Ok(Vec::new()),
        Err(error) => return Err(failed("read", path)(error.into())),
    };
    Ok(text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

fn lines_of(values: &[impl Serialize]) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for value in values {
        serde_json::to_writer(&mut lines, value)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

/// The last lines of a kept conversation, after one that says that there were more.
fn conversation_end(path: &Path, bytes: u64) -> io::Result<Vec<u8>> {
    let end = read_end(path, bytes)?;
    // The first line is incomplete.
    let cut = end.iter().position(|byte| *byte == b'\n').map_or(end.len(), |at| at + 1);
    let mut lines = lines_of(&[OwnLine::left_out()])?;
    lines.extend_from_slice(&end[cut..]);
    Ok(lines)
}

/// Appends lines to a file that only its owner can read. An incomplete last line, left by a crash, is terminated first.
/// If it fails, nothing is appended.
fn append_whole(path: &Path, lines: &[u8]) -> io::Result<()> {
    let mut text = Vec::with_capacity(lines.len() + 1);
    match read_end(path, 1) {
        Ok(last) if last.first().is_some_and(|last| *last != b'\n') => text.push(b'\n'),
        Ok(_) | Err(ReadError::Missing) => {}
        Err(error) => return Err(error.into()),
    }
    text.extend_from_slice(lines);
    let mut file = create_regular(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let end = file.seek(SeekFrom::End(0))?;
    let written = file.write_all(&text);
    if written.is_err() {
        // The lines are appended again later. If this fails too, the torn line is skipped when the file is read.
        let _ = file.set_len(end);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::projects::{Change, ProjectStore};

    fn record(id: &str) -> Record {
        Record {
            id: SessionId::new(id),
            project: "/project".into(),
            agent: AgentKind::Claude,
            created_at: 1,
            changed_at: 2,
            memory: SavedSession::default(),
        }
    }

    #[test]
    fn what_was_saved_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("sessions")).unwrap();
        store.save(&record("a")).unwrap();
        store.save(&Record { changed_at: 3, ..record("b") }).unwrap();
        let ids: Vec<_> = store.load().unwrap().records.into_iter().map(|record| record.id.0).collect();
        assert_eq!(ids, ["b", "a"]);
        store.remove(&SessionId::new("a")).unwrap();
        assert_eq!(store.load().unwrap().records.len(), 1);
    }

    /// The app may be killed between the move in the list of projects and that of the session.
    #[test]
    fn a_session_of_a_moved_folder_is_taken_along_at_the_next_start() {
        let data = tempfile::tempdir().unwrap();
        let store = Store::open(data.path().join("sessions")).unwrap();
        store.save(&record("a")).unwrap();
        store.save(&Record { project: "/other".into(), ..record("b") }).unwrap();
        let projects = ProjectStore::new(data.path());
        projects.change(&[Change::Moved { from: "/project".into(), to: "/new".into(), at: 1 }]).unwrap();
        let kept = store.record(&SessionId::new("a")).unwrap().unwrap();
        assert_eq!(kept.project, Path::new("/project"));
        assert!(store.record(&SessionId::new("c")).unwrap().is_none());
        let mut sessions = store.load().unwrap();
        sessions.follow_moves(&projects.load());
        sessions.records.sort_by_key(|record| record.id.0.clone());
        let places: Vec<_> = sessions.records.into_iter().map(|record| record.project).collect();
        assert_eq!(places, [Path::new("/new"), Path::new("/other")]);
    }

    #[test]
    fn a_removed_session_comes_back_whole_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("sessions")).unwrap();
        let id = SessionId::new("a");
        store.save(&record("a")).unwrap();
        store.append(&id, &[end_of_turn(1)]).unwrap();
        store.set_aside(&id).unwrap();
        assert_eq!(store.load().unwrap().records, []);
        assert_eq!(store.supplements(&id).unwrap(), []);
        let project = Path::new("/project");
        assert_eq!(store.restore(project, &SessionId::new("b")).unwrap(), None);
        assert_eq!(store.restore(Path::new("/other"), &id).unwrap(), None);
        assert_eq!(store.restore(project, &id).unwrap(), Some(record("a")));
        assert_eq!(store.load().unwrap().records, [record("a")]);
        assert_eq!(store.supplements(&id).unwrap(), [end_of_turn(1)]);
        assert_eq!(store.restore(project, &id).unwrap(), None, "it was brought back once");
        // A conversation of the agent's store that was only looked at has no record.
        store.set_aside(&SessionId::new("c")).unwrap();
        store.set_aside(&id).unwrap();
        store.forget_removed().unwrap();
        assert_eq!(store.restore(project, &id).unwrap(), None);
        assert_eq!(fs::read_dir(folder.path().join("sessions/removed")).unwrap().count(), 0);
    }

    #[test]
    fn reading_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Store::read_only(&folder.path().join("none")).unwrap().records.is_empty());
        let store = Store::open(folder.path().to_owned()).unwrap();
        store.save(&record("a")).unwrap();
        let torn = folder.path().join("x.json");
        fs::write(&torn, "{\"id\":").unwrap();
        let saved = Store::read_only(folder.path()).unwrap();
        assert_eq!((saved.records.len(), saved.unreadable), (1, vec![torn.clone()]));
        assert_eq!(fs::read_to_string(torn).unwrap(), "{\"id\":");
    }

    #[test]
    fn a_torn_file_is_set_aside_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_owned()).unwrap();
        fs::write(folder.path().join("x.json"), "{\"id\":").unwrap();
        let loaded = store.load().unwrap();
        assert_eq!(loaded.set_aside.len(), 1);
        assert_eq!(fs::read_to_string(loaded.set_aside[0].moved_to.as_ref().unwrap()).unwrap(), "{\"id\":");
    }

    fn end_of_turn(at: u64) -> Supplement {
        let turn = crate::api::TurnEnd {
            outcome: crate::api::Outcome::Done,
            words: "Done".to_owned(),
            prompt_ids: Vec::new(),
            duration_ms: 1,
            output_tokens: 2,
            cost_usd: Some(0.5),
            tokens: None,
            timing: crate::api::TurnTiming::default(),
        };
        let body = crate::transcript::supplement::Missing::TurnEnd(turn);
        Supplement { at, after: vec![crate::api::ItemId::new("prompt")], prompts: Vec::new(), body }
    }

    #[test]
    fn ends_of_turns_are_there_but_for_a_torn_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_owned()).unwrap();
        let id = SessionId::new("a");
        assert_eq!(store.supplements(&id).unwrap(), []);
        store.append(&id, &[end_of_turn(1)]).unwrap();
        let path = folder.path().join("a.turns.jsonl");
        let mut text = fs::read(&path).unwrap();
        text.extend_from_slice(b"{\"at\":2,\"aft");
        fs::write(&path, text).unwrap();
        store.append(&id, &[end_of_turn(3)]).unwrap();
        assert_eq!(store.supplements(&id).unwrap(), [end_of_turn(1), end_of_turn(3)]);
        // The streaming text is last until its turn ends.
        store.keep_streaming(&id, &[end_of_turn(4)]).unwrap();
        store.keep_streaming(&id, &[end_of_turn(5)]).unwrap();
        assert_eq!(store.supplements(&id).unwrap().last(), Some(&end_of_turn(5)));
        assert_eq!(store.supplements(&id).unwrap().len(), 3, "it is kept once");
        store.save(&record("a")).unwrap();
        store.remove(&id).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn ends_of_turns_are_bounded_and_the_last_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_owned()).unwrap();
        let id = SessionId::new("a");
        let many: Vec<Supplement> = (0..5_000).map(end_of_turn).collect();
        for _ in 0..6 {
            store.append(&id, &many).unwrap();
        }
        let length = fs::metadata(folder.path().join("a.turns.jsonl")).unwrap().len();
        assert!(length < 2 * LOG_LIMIT, "{length} bytes");
        assert_eq!(store.supplements(&id).unwrap().last(), Some(&end_of_turn(4_999)));
    }

    fn said(text: &str) -> OwnLine {
        let event =
            crate::agent::AgentEvent::Informational { level: "info".to_owned(), text: text.to_owned() };
        OwnLine::of_agent(1, &event, &crate::transcript::Transcript::default()).unwrap()
    }

    #[test]
    fn a_kept_conversation_is_bounded_and_says_so_and_goes_with_its_session() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_owned()).unwrap();
        let id = SessionId::new("a");
        assert_eq!(store.conversation(&id).unwrap(), None);
        store.keep(&id, &[said("first")]).unwrap();
        let path = folder.path().join("a.conversation.jsonl");
        let many: Vec<OwnLine> = (0..64).map(|_| said(&"x".repeat(512 * 1024))).collect();
        for _ in 0..3 {
            store.keep(&id, &many).unwrap();
        }
        store.keep(&id, &[said("last")]).unwrap();
        let length = fs::metadata(&path).unwrap().len();
        assert!(length < CONVERSATION_LIMIT, "{length} bytes");
        let bytes = store.conversation(&id).unwrap().unwrap();
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        assert!(lines.iter().all(|line| serde_json::from_slice::<OwnLine>(line).is_ok()));
        assert_eq!(serde_json::from_slice::<OwnLine>(lines[0]).unwrap(), OwnLine::left_out());
        assert_eq!(serde_json::from_slice::<OwnLine>(lines[lines.len() - 1]).unwrap(), said("last"));
        // Something else made it larger than what is read.
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4 * CONVERSATION_LIMIT).unwrap();
        store.keep(&id, &[said("after")]).unwrap();
        assert!(store.conversation(&id).unwrap().unwrap().len() as u64 <= CONVERSATION_LIMIT);
        store.save(&record("a")).unwrap();
        store.set_aside(&id).unwrap();
        assert_eq!(store.conversation(&id).unwrap(), None);
        store.restore(Path::new("/project"), &id).unwrap();
        assert!(store.conversation(&id).unwrap().is_some());
        store.remove(&id).unwrap();
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_owned()).unwrap();
        store.save(&record("a")).unwrap();
        let mode = fs::metadata(folder.path().join("a.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        store.append(&SessionId::new("a"), &[end_of_turn(1)]).unwrap();
        store.keep(&SessionId::new("a"), &[said("secret")]).unwrap();
        for name in ["a.turns.jsonl", "a.conversation.jsonl"] {
            let mode = fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    }
}

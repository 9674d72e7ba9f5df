//! The places of windows, in a file that earlier versions also kept the preferences in.
//!
//! The file is replaced as a whole, because a torn one would forget every window. tauri-plugin-store (2) truncates it
//! and writes.

use deskbell_engine::api::SessionId;
use deskbell_engine::disk::{
    self, Loaded, ReadError, SetAside, load_json, open_regular, set_aside, write_atomically,
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const PREFERENCES: &str = "preferences";
const WINDOWS: &str = "windows";

/// Maximum size of the file. Preferences and the places of windows take a few kilobytes.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// A window that was open, in the system's physical pixels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowPlace {
    pub project: PathBuf,
    #[serde(default)]
    pub demo: bool,
    /// Not open now, but its size and position are remembered.
    #[serde(default)]
    pub closed: bool,
    pub size: Option<(u32, u32)>,
    pub position: Option<(i32, i32)>,
    /// The session that was open in it.
    #[serde(default)]
    pub open_session: Option<SessionId>,
    /// The project's own zoom, in percent; `None` is that of the settings.
    #[serde(default)]
    pub zoom: Option<u32>,
}

/// The contents of the file.
#[derive(Default)]
pub struct SavedPlaces {
    entries: serde_json::Map<String, serde_json::Value>,
    /// Set if the file could not be read.
    pub unread: Option<SetAside>,
}

impl SavedPlaces {
    /// The windows that are remembered, open or closed.
    pub fn windows(&self) -> Vec<WindowPlace> {
        windows_in(&self.entries)
    }

    /// Reads the file, and keeps a copy of it.
    pub fn read(data: &Path) -> Self {
        let path = path(data);
        let entries = match load_json(&path, MOST_BYTES) {
            Loaded::Missing => return Self::default(),
            Loaded::Unreadable(aside) => return Self { unread: Some(aside), ..Self::default() },
            Loaded::Read(entries) => entries,
        };
        if let Err(error) = back_up(&path, &entries) {
            tracing::warn!(%error, "could not copy the places of windows");
        }
        Self { entries, unread: None }
    }

    /// The preferences of an earlier version, if they were not moved to the settings file yet.
    pub fn preferences(&self) -> Option<&serde_json::Map<String, serde_json::Value>> {
        self.entries.get(PREFERENCES)?.as_object()
    }

    /// The preferences are in the settings file now; the next save leaves them out.
    pub fn forget_preferences(&mut self) {
        self.entries.remove(PREFERENCES);
    }
}

fn windows_in(entries: &serde_json::Map<String, serde_json::Value>) -> Vec<WindowPlace> {
    let windows = entries.get(WINDOWS).cloned();
    windows.and_then(|windows| serde_json::from_value(windows).ok()).unwrap_or_default()
}

fn path(data: &Path) -> PathBuf {
    data.join("preferences.json")
}

fn back_up(path: &Path, entries: &serde_json::Map<String, serde_json::Value>) -> std::io::Result<()> {
    write_atomically(&path.with_extension("json.backup"), &serde_json::to_vec_pretty(entries)?)
}

/// The places and their file.
pub struct PlacesStore {
    /// What is written, besides the windows: entries of another version.
    others: serde_json::Map<String, serde_json::Value>,
    windows: Arc<Mutex<Vec<WindowPlace>>>,
    data: PathBuf,
    /// Locked while the file is written, so that an earlier content never replaces a later one.
    saving: Arc<Mutex<()>>,
    /// The file at the path could not be moved away, so it is not overwritten.
    is_blocked: bool,
}

impl PlacesStore {
    pub fn new(data: PathBuf, saved: SavedPlaces) -> Self {
        let is_blocked = saved.unread.as_ref().is_some_and(|aside| aside.moved_to.is_err());
        let windows = Arc::new(Mutex::new(saved.windows()));
        Self { others: saved.entries, windows, data, saving: Arc::default(), is_blocked }
    }

    /// The windows that are remembered, open or closed.
    pub fn windows(&self) -> Vec<WindowPlace> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<WindowPlace>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The project's own zoom.
    pub fn zoom(&self, project: &Path) -> Option<u32> {
        self.lock().iter().find(|known| known.project == project)?.zoom
    }

    /// Changes the project's own zoom, and returns the new one. Written to disk by the next save.
    pub fn change_zoom(
        &self,
        project: &Path,
        change: impl FnOnce(Option<u32>) -> Option<u32>,
    ) -> Option<u32> {
        let mut windows = self.lock();
        let place = windows.iter_mut().find(|known| known.project == project);
        let zoom = change(place.as_ref().and_then(|place| place.zoom));
        if let Some(place) = place {
            place.zoom = zoom;
        }
        zoom
    }

    /// Remembers which session is open in a project's window. Written to disk by the next save. `false`: nothing
    /// changed.
    pub fn remember_session(&self, project: &Path, id: &SessionId) -> bool {
        let mut windows = self.lock();
        let Some(place) = windows.iter_mut().find(|known| known.project == project) else { return false };
        if place.open_session.as_ref() == Some(id) {
            return false;
        }
        place.open_session = Some(id.clone());
        true
    }

    /// Remembers a window, and replaces the earlier entry of its project; its zoom stays. Written to disk by the next
    /// save.
    pub fn remember(&self, place: WindowPlace) {
        let mut windows = self.lock();
        let known = windows.iter().find(|known| known.project == place.project);
        let zoom = place.zoom.or(known.and_then(|known| known.zoom));
        windows.retain(|known| known.project != place.project);
        windows.insert(0, WindowPlace { zoom, ..place });
        // Limits the number of entries of projects that were closed long ago.
        windows.truncate(100);
    }

    /// Writes all entries to the file.
    pub async fn save(&self) -> anyhow::Result<()> {
        anyhow::ensure!(!self.is_blocked, "{} cannot be replaced", path(&self.data).display());
        let (saving, path) = (self.saving.clone(), path(&self.data));
        let (windows, mut entries) = (self.windows.clone(), self.others.clone());
        let write = move || {
            let _saving = saving.lock().unwrap_or_else(PoisonError::into_inner);
            // A folder for example cannot be replaced.
            if let Err(ReadError::NotAFile(_)) = open_regular(&path) {
                set_aside(&path)?;
            }
            let windows = windows.lock().unwrap_or_else(PoisonError::into_inner).clone();
            entries.insert(WINDOWS.to_owned(), serde_json::to_value(windows)?);
            write_atomically(&path, &serde_json::to_vec_pretty(&entries)?)
        };
        Ok(disk::run(&self.data, disk::DEADLINE, write).await??)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tauri::async_runtime::block_on;

    fn place(project: &str) -> WindowPlace {
        WindowPlace { project: project.into(), size: Some((800, 600)), ..WindowPlace::default() }
    }

    fn opened(data: &Path) -> PlacesStore {
        PlacesStore::new(data.to_owned(), SavedPlaces::read(data))
    }

    #[test]
    fn what_is_in_place_of_the_file_is_replaced_by_the_next_save_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(path(folder.path())).unwrap();
        let saved = SavedPlaces::read(folder.path());
        assert!(saved.unread.is_some());
        let kept = PlacesStore::new(folder.path().to_owned(), saved);
        // The same while the app runs.
        std::fs::create_dir(path(folder.path())).unwrap();
        kept.remember(place("/p"));
        block_on(kept.save()).unwrap();
        assert_eq!(SavedPlaces::read(folder.path()).windows(), [place("/p")]);
        assert!(folder.path().join("preferences.json.unreadable-2").is_dir());
    }

    #[test]
    fn a_projects_own_zoom_is_kept_with_its_place_and_apart_from_other_projects() {
        let folder = tempfile::tempdir().unwrap();
        let kept = opened(folder.path());
        for project in ["/p", "/q"] {
            kept.remember(place(project));
        }
        assert_eq!(kept.change_zoom(Path::new("/p"), |own| own.is_none().then_some(125)), Some(125));
        // Closing the window remembers its place again.
        kept.remember(WindowPlace { closed: true, ..place("/p") });
        block_on(kept.save()).unwrap();
        let kept = opened(folder.path());
        assert_eq!(["/p", "/q"].map(|project| kept.zoom(Path::new(project))), [Some(125), None]);
        assert_eq!(kept.change_zoom(Path::new("/p"), |_| None), None);
        assert_eq!(kept.zoom(Path::new("/p")), None);
    }

    #[test]
    fn a_save_keeps_what_another_version_wrote_and_no_reader_sees_a_part_of_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(path(folder.path()), r#"{"later": [1], "windows": []}"#).unwrap();
        let kept = opened(folder.path());
        (0..100).for_each(|nr| kept.remember(place(&format!("/p{nr}"))));
        block_on(kept.save()).unwrap();
        let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let reader = std::thread::spawn({
            let (path, done) = (path(folder.path()), done.clone());
            move || {
                let mut reads = 0;
                while !done.load(std::sync::atomic::Ordering::Relaxed) || reads == 0 {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let entries: serde_json::Value = serde_json::from_str(&text).expect("it is whole");
                    assert_eq!(entries["windows"].as_array().map(Vec::len), Some(100));
                    assert_eq!(entries["later"], serde_json::json!([1]));
                    reads += 1;
                }
            }
        });
        (0..50).for_each(|_| block_on(kept.save()).unwrap());
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        reader.join().unwrap();
    }

    /// The folder that a writer writes in; without it the test of the writer does nothing.
    #[cfg(unix)]
    const FOLDER: &str = "DESKBELL_TEST_PLACES";

    #[cfg(unix)]
    fn remember_many(kept: &PlacesStore) {
        (0..100).for_each(|nr| kept.remember(place(&format!("/{}/{nr}", "p".repeat(200)))));
    }

    /// Writes where no file may have more than 4 KiB, as on a full disk.
    #[cfg(unix)]
    #[test]
    fn writes_on_a_full_disk() {
        let Some(data) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
        let kept = opened(&data);
        kept.remember(place("/last"));
        println!("refused: {}", block_on(kept.save()).unwrap_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_full_disk_is_reported_and_the_places_stay() {
        let folder = tempfile::tempdir().unwrap();
        let kept = opened(folder.path());
        remember_many(&kept);
        block_on(kept.save()).unwrap();
        let before = std::fs::read(path(folder.path())).unwrap();
        // Without the signal the write fails, as it does on a full disk. The unit of the limit is 512 or 1024 bytes.
        let output = std::process::Command::new("sh")
            .arg("-c")
            .arg("trap '' XFSZ; ulimit -f 8; exec \"$0\" --exact places::tests::writes_on_a_full_disk --nocapture")
            .arg(std::env::current_exe().unwrap())
            .env(FOLDER, folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains("refused: "), "{output:?}");
        assert_eq!(std::fs::read(path(folder.path())).unwrap(), before);
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with(".deskbell-")));
        kept.remember(place("/last"));
        block_on(kept.save()).unwrap();
        assert_eq!(SavedPlaces::read(folder.path()).windows()[0], place("/last"));
    }
}

//! The places of windows, stored by tauri-plugin-store in a file that earlier versions also kept the preferences in.
//!
//! The store writes by truncating, and treats a torn file as empty, which it then overwrites; it opens whatever is at
//! its path, and waits forever on a named pipe. So this module reads the file, sets it aside if it cannot be read, and
//! uses the store only for writing, off the main thread. Data that must not be lost is not stored here.

use deskbell_engine::api::SessionId;
use deskbell_engine::disk::write_atomically;
use deskbell_engine::disk::{self, Loaded, ReadError, SetAside, load_json, open_regular, set_aside};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tauri::Runtime;
use tauri_plugin_store::{Store, StoreBuilder};

const PREFERENCES: &str = "preferences";
const WINDOWS: &str = "windows";

/// Maximum size of the file. Preferences and the places of windows take a few kilobytes.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// A window that was open, in the system's physical pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
pub struct PlacesStore<R: Runtime> {
    /// Use it only on threads of `disk`: it keeps its lock while it writes.
    store: Arc<Store<R>>,
    /// The entries to write.
    entries: Arc<Mutex<serde_json::Map<String, serde_json::Value>>>,
    data: PathBuf,
    /// Locked while the file is written: two writers would mix their bytes.
    saving: Arc<Mutex<()>>,
    /// The file at the path could not be moved away, so it is not overwritten.
    is_blocked: bool,
}

impl<R: Runtime> PlacesStore<R> {
    /// Creates the store with the places that were read. The store itself reads nothing.
    pub fn open(app: &tauri::AppHandle<R>, data: PathBuf, saved: SavedPlaces) -> anyhow::Result<Self> {
        let store = StoreBuilder::new(app, path(&data)).disable_auto_save().create_new().build()?;
        // The plugin would write the file on the main thread when the app ends, however long that takes.
        store.close_resource();
        let is_blocked = saved.unread.as_ref().is_some_and(|aside| aside.moved_to.is_err());
        let entries = Arc::new(Mutex::new(saved.entries));
        Ok(Self { store, entries, data, saving: Arc::default(), is_blocked })
    }

    /// The windows that are remembered, open or closed.
    pub fn windows(&self) -> Vec<WindowPlace> {
        windows_in(&self.entries())
    }

    fn set(&self, name: &str, value: serde_json::Value) {
        self.entries().insert(name.to_owned(), value);
    }

    fn entries(&self) -> MutexGuard<'_, serde_json::Map<String, serde_json::Value>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers which session is open in a project's window. Written to disk by the next save. `false`: nothing
    /// changed.
    pub fn remember_session(&self, project: &Path, id: &SessionId) -> anyhow::Result<bool> {
        let mut windows = self.windows();
        let Some(place) = windows.iter_mut().find(|known| known.project == project) else { return Ok(false) };
        if place.open_session.as_ref() == Some(id) {
            return Ok(false);
        }
        place.open_session = Some(id.clone());
        self.set(WINDOWS, serde_json::to_value(windows)?);
        Ok(true)
    }

    /// Remembers a window, and replaces the earlier entry of its project. Written to disk by the next save.
    pub fn remember(&self, place: WindowPlace) -> anyhow::Result<()> {
        let mut windows = self.windows();
        windows.retain(|known| known.project != place.project);
        windows.insert(0, place);
        // Limits the number of entries of projects that were closed long ago.
        windows.truncate(100);
        self.set(WINDOWS, serde_json::to_value(windows)?);
        Ok(())
    }

    /// Writes all entries to the file.
    pub async fn save(&self) -> anyhow::Result<()> {
        anyhow::ensure!(!self.is_blocked, "{} cannot be replaced", path(&self.data).display());
        let (store, saving, path) = (self.store.clone(), self.saving.clone(), path(&self.data));
        let entries = self.entries.clone();
        let write = move || {
            let _saving = saving.lock().unwrap_or_else(PoisonError::into_inner);
            // The store opens whatever is at the path.
            if let Err(ReadError::NotAFile(_)) = open_regular(&path) {
                set_aside(&path)?;
            }
            let entries = entries.lock().unwrap_or_else(PoisonError::into_inner).clone();
            store.clear();
            for (name, value) in entries {
                store.set(name, value);
            }
            store.save()?;
            // The store creates the file for all users to read.
            #[cfg(unix)]
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
            anyhow::Ok(())
        };
        disk::run(&self.data, disk::DEADLINE, write).await?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_place_of_the_file_is_replaced_by_the_next_save_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let app = tauri::test::mock_builder()
            .plugin(tauri_plugin_store::Builder::default().build())
            .build(tauri::test::mock_context(tauri::test::noop_assets()))
            .unwrap();
        std::fs::create_dir(path(folder.path())).unwrap();
        let saved = SavedPlaces::read(folder.path());
        assert!(saved.unread.is_some());
        let kept = PlacesStore::open(app.handle(), folder.path().to_owned(), saved).unwrap();
        // The same while the app runs.
        std::fs::create_dir(path(folder.path())).unwrap();
        let place = WindowPlace {
            project: "/p".into(),
            demo: false,
            closed: false,
            size: Some((800, 600)),
            position: None,
            open_session: None,
        };
        kept.remember(place.clone()).unwrap();
        tauri::async_runtime::block_on(kept.save()).unwrap();
        assert_eq!(SavedPlaces::read(folder.path()).windows(), [place]);
        assert!(folder.path().join("preferences.json.unreadable-2").is_dir());
    }
}

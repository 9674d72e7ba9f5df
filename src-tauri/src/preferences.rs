//! The user's preferences and the places of windows, stored by tauri-plugin-store.
//!
//! The store writes by truncating, and treats a torn file as empty, which it then overwrites; it opens whatever is at
//! its path, and waits forever on a named pipe. So this module reads the file, sets it aside if it cannot be read, and
//! uses the store only for writing, off the main thread. Data that must not be lost is not stored here.

use deskbell_engine::api::{Preferences, SessionId};
use deskbell_engine::disk::{self, Loaded, ReadError, SetAside, open_regular, set_aside};
use deskbell_engine::store::{load_settings, write_atomically};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tauri::Runtime;
use tauri_plugin_store::{Store, StoreBuilder};

const PREFERENCES: &str = "preferences";
const WINDOWS: &str = "windows";

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

/// The current preferences, readable from every part of the app.
#[derive(Default)]
pub struct CurrentPreferences(Mutex<Preferences>);

impl CurrentPreferences {
    pub fn get(&self) -> Preferences {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, preferences: Preferences) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = preferences;
    }
}

/// The contents of the file.
#[derive(Default)]
pub struct Settings {
    entries: serde_json::Map<String, serde_json::Value>,
    preferences: Preferences,
    /// Set if the file could not be read.
    pub unread: Option<SetAside>,
}

impl Settings {
    /// The windows that are remembered, open or closed.
    pub fn windows(&self) -> Vec<WindowPlace> {
        windows_in(&self.entries)
    }

    /// Reads the file, and keeps a copy of it.
    pub fn read(data: &Path) -> Self {
        let path = path(data);
        let entries = match load_settings(&path) {
            Loaded::Missing => return Self::default(),
            Loaded::Unreadable(aside) => return Self { unread: Some(aside), ..Self::default() },
            Loaded::Read(entries) => entries,
        };
        let known = entries.get(PREFERENCES).cloned().map(serde_json::from_value::<Preferences>);
        match known.transpose() {
            Ok(preferences) => {
                if let Err(error) = back_up(&path, &entries) {
                    tracing::warn!(%error, "could not copy the preferences");
                }
                Self { entries, preferences: preferences.unwrap_or_default(), unread: None }
            }
            // The windows are still valid; the next save would overwrite the rest.
            Err(error) => {
                let moved_to = set_aside(&path).map_err(|error| error.to_string());
                let unread = Some(SetAside { path, problem: error.to_string(), moved_to });
                Self { entries, unread, ..Self::default() }
            }
        }
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

/// The preferences and their file.
pub struct PreferencesStore<R: Runtime> {
    /// Use it only on threads of `disk`: it keeps its lock while it writes.
    store: Arc<Store<R>>,
    /// The entries to write.
    entries: Arc<Mutex<serde_json::Map<String, serde_json::Value>>>,
    data: PathBuf,
    /// Locked while the file is written: two writers would mix their bytes.
    saving: Arc<Mutex<()>>,
    /// The file at the path could not be moved away, so it is not overwritten.
    is_blocked: bool,
    pub current: Arc<CurrentPreferences>,
}

impl<R: Runtime> PreferencesStore<R> {
    /// Creates the store with the settings that were read. The store itself reads nothing.
    pub fn open(app: &tauri::AppHandle<R>, data: PathBuf, settings: Settings) -> anyhow::Result<Self> {
        let store = StoreBuilder::new(app, path(&data)).disable_auto_save().create_new().build()?;
        // The plugin would write the file on the main thread when the app ends, however long that takes.
        store.close_resource();
        let is_blocked = settings.unread.as_ref().is_some_and(|aside| aside.moved_to.is_err());
        let entries = Arc::new(Mutex::new(settings.entries));
        let current = Arc::new(CurrentPreferences::default());
        current.set(settings.preferences);
        Ok(Self { store, entries, data, saving: Arc::default(), is_blocked, current })
    }

    pub async fn set_preferences(&self, preferences: Preferences) -> anyhow::Result<()> {
        self.set(PREFERENCES, serde_json::to_value(&preferences)?);
        self.current.set(preferences);
        self.save().await
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
            for (name, value) in entries {
                store.set(name, value);
            }
            anyhow::Ok(store.save()?)
        };
        disk::run(&self.data, disk::DEADLINE, write).await?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences_that_cannot_be_read_are_set_aside_and_the_windows_stay() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"preferences": {"theme": 7}, "windows": [1]}"#;
        std::fs::write(path(folder.path()), text).unwrap();
        let settings = Settings::read(folder.path());
        assert_eq!(settings.entries["windows"], serde_json::json!([1]));
        let kept = settings.unread.unwrap().moved_to.unwrap();
        assert_eq!(std::fs::read_to_string(kept).unwrap(), text);
    }

    #[test]
    fn what_is_in_place_of_the_preferences_is_replaced_by_the_next_save_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let app = tauri::test::mock_builder()
            .plugin(tauri_plugin_store::Builder::default().build())
            .build(tauri::test::mock_context(tauri::test::noop_assets()))
            .unwrap();
        std::fs::create_dir(path(folder.path())).unwrap();
        let settings = Settings::read(folder.path());
        assert!(settings.unread.is_some());
        let kept = PreferencesStore::open(app.handle(), folder.path().to_owned(), settings).unwrap();
        // The same while the app runs.
        std::fs::create_dir(path(folder.path())).unwrap();
        let chosen = Preferences { zoom: 150, ..Preferences::default() };
        tauri::async_runtime::block_on(kept.set_preferences(chosen.clone())).unwrap();
        assert_eq!(Settings::read(folder.path()).preferences, chosen);
        assert!(folder.path().join("preferences.json.unreadable-2").is_dir());
    }
}

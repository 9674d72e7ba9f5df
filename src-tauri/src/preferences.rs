//! What a person chose, and which windows were open: kept by tauri-plugin-store.
//!
//! The store writes by truncating, and takes a torn file for an empty one, which it then overwrites. So a file that
//! cannot be read is set aside before the store opens it. What must not be lost is not kept here.

use deskbell_engine::api::Preferences;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tauri::Runtime;
use tauri_plugin_store::{Store, StoreExt};

const PREFERENCES: &str = "preferences";
const WINDOWS: &str = "windows";

/// A window that was open, in the system's physical pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowPlace {
    pub project: PathBuf,
    #[serde(default)]
    pub demo: bool,
    /// Not open now, but its size and place are remembered.
    #[serde(default)]
    pub closed: bool,
    pub size: Option<(u32, u32)>,
    pub position: Option<(i32, i32)>,
}

/// The preferences, for whoever needs to look.
#[derive(Default)]
pub struct Preferred(Mutex<Preferences>);

impl Preferred {
    pub fn get(&self) -> Preferences {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, preferences: Preferences) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = preferences;
    }
}

/// The file behind them.
pub struct Kept<R: Runtime> {
    store: Arc<Store<R>>,
    pub preferred: Arc<Preferred>,
}

impl<R: Runtime> Kept<R> {
    /// Opens the file in the app's folder, or begins a new one.
    pub fn open(app: &tauri::AppHandle<R>, data: &Path) -> anyhow::Result<Self> {
        let path = data.join("preferences.json");
        set_aside_if_unreadable(&path)?;
        let store = app.store(path)?;
        let preferred = Arc::new(Preferred::default());
        let known = store.get(PREFERENCES).map(serde_json::from_value::<Preferences>);
        match known {
            Some(Ok(preferences)) => preferred.set(preferences),
            Some(Err(error)) => {
                tracing::warn!(%error, "the preferences could not be read; the defaults are used")
            }
            None => {}
        }
        Ok(Self { store, preferred })
    }

    pub fn set_preferences(&self, preferences: Preferences) -> anyhow::Result<()> {
        self.store.set(PREFERENCES, serde_json::to_value(&preferences)?);
        self.preferred.set(preferences);
        Ok(self.store.save()?)
    }

    /// The windows that are remembered, open or closed.
    pub fn windows(&self) -> Vec<WindowPlace> {
        self.store.get(WINDOWS).and_then(|windows| serde_json::from_value(windows).ok()).unwrap_or_default()
    }

    /// Remembers a window, in place of what was known of its project.
    pub fn remember(&self, place: WindowPlace) -> anyhow::Result<()> {
        let mut windows = self.windows();
        windows.retain(|known| known.project != place.project);
        windows.insert(0, place);
        // Places of projects long closed need not be kept for ever.
        windows.truncate(100);
        self.store.set(WINDOWS, serde_json::to_value(windows)?);
        Ok(self.store.save()?)
    }
}

fn set_aside_if_unreadable(path: &Path) -> std::io::Result<()> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&text).is_ok() {
        std::fs::write(path.with_extension("json.backup"), text)
    } else {
        tracing::error!(path = %path.display(), "the preferences cannot be read and are set aside");
        std::fs::rename(path, path.with_extension("json.unreadable"))
    }
}

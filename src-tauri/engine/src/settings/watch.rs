//! Watches the settings file.

use notify::event::{Event, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::path::Path;

/// A watch on the settings file. Dropping it ends the watch.
pub struct SettingsWatch {
    _watcher: RecommendedWatcher,
}

impl SettingsWatch {
    /// Calls `changed` after each change of the file. It runs on the watcher's thread and must not block. The folder
    /// must exist; it is watched instead of the file, because an editor replaces the file when it saves.
    pub fn new(file: &Path, changed: impl Fn() + Send + 'static) -> notify::Result<Self> {
        // The file may be a link to one that is edited elsewhere.
        let real = dunce::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let names = [file.file_name().map(ToOwned::to_owned), real.file_name().map(ToOwned::to_owned)];
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let is_ours = |event: &Event| {
                let is_named = |path: &Path| names.iter().any(|name| name.as_deref() == path.file_name());
                let is_change = !matches!(event.kind, EventKind::Access(_));
                is_change && (event.need_rescan() || event.paths.iter().any(|path| is_named(path)))
            };
            // An event that was lost may have been a relevant one.
            if event.as_ref().map_or(true, is_ours) {
                changed();
            }
        })?;
        let mut folders: Vec<&Path> = [file, real.as_path()].into_iter().filter_map(Path::parent).collect();
        folders.dedup();
        for folder in folders {
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        Ok(Self { _watcher: watcher })
    }
}

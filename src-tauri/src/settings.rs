//! The settings that are in effect.

use crate::places::SavedPlaces;
use deskbell_cli::profiles;
use deskbell_engine::api::{Settings, SettingsView};
use deskbell_engine::settings::{Read, SettingsFile};
use deskbell_engine::stored::Store;
use serde_json::{Map, Value};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The settings that are in effect, readable from every part of the app.
pub struct CurrentSettings {
    file: SettingsFile,
    view: Mutex<SettingsView>,
    /// The stores of conversations that the profiles name.
    stores: watch::Sender<Vec<Store>>,
}

impl CurrentSettings {
    pub fn new(file: SettingsFile, read: Read) -> Self {
        let path = file.path().display().to_string();
        let Read { settings, problems, unknown: _ } = read;
        let stores = watch::Sender::new(profiles::stores(&settings.agent));
        let view = SettingsView { settings, path, problems, system_dates: system_dates() };
        Self { file, view: Mutex::new(view), stores }
    }

    pub fn get(&self) -> Settings {
        self.lock().settings.clone()
    }

    pub fn view(&self) -> SettingsView {
        self.lock().clone()
    }

    pub fn file(&self) -> &SettingsFile {
        &self.file
    }

    /// The stores of Claude Code's conversations, and each change of them.
    pub fn stores(&self) -> watch::Receiver<Vec<Store>> {
        self.stores.subscribe()
    }

    /// Puts what was read into effect. Returns the settings before it; `None` if nothing changed.
    pub fn learn(&self, read: Read) -> Option<Settings> {
        let mut view = self.lock();
        if (&view.settings, &view.problems) == (&read.settings, &read.problems) {
            return None;
        }
        view.problems = read.problems;
        let stores = profiles::stores(&read.settings.agent);
        self.stores.send_if_modified(|now| {
            let is_other = *now != stores;
            *now = stores;
            is_other
        });
        Some(std::mem::replace(&mut view.settings, read.settings))
    }

    fn lock(&self) -> MutexGuard<'_, SettingsView> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The language of the system's dates. The webview knows only that of the system's texts.
#[cfg(target_os = "linux")]
fn system_dates() -> Option<String> {
    let variables = ["LC_ALL", "LC_TIME", "LANG"].map(|name| std::env::var(name).unwrap_or_default());
    Some(language_of(&variables).unwrap_or_else(|| "en-GB".to_owned()))
}

#[cfg(not(target_os = "linux"))]
fn system_dates() -> Option<String> {
    None
}

/// The language tag of the first locale that is set: `de-CH` for `de_CH.UTF-8`. `None` for `C`, which is no language.
#[cfg(target_os = "linux")]
fn language_of(locales: &[String]) -> Option<String> {
    let locale = locales.iter().find(|locale| !locale.is_empty())?;
    let name = locale.split(['.', '@']).next()?;
    let is_locale = name.len() > 1
        && name != "POSIX"
        && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    is_locale.then(|| name.replace('_', "-"))
}

/// Reads the settings when the app starts. Preferences of an earlier version are moved into the file first, once: what
/// the file already has counts.
pub fn open(file: &SettingsFile, places: &mut SavedPlaces) -> Read {
    let earlier = places.preferences().map(renamed);
    if let Some(earlier) = &earlier {
        match file.adopt(earlier) {
            Ok(()) => places.forget_preferences(),
            // They stay where they are until the next start.
            Err(error) => tracing::warn!(%error, "could not move the preferences into the settings file"),
        }
    }
    file.read(&Settings::default())
}

/// The preferences of an earlier version under their present names.
fn renamed(preferences: &Map<String, Value>) -> Map<String, Value> {
    let present = |name: &str| match name {
        "askBy" => "asking".to_owned(),
        "agentProgram" => "agent.program".to_owned(),
        other => other.to_owned(),
    };
    let chosen = preferences.iter().filter(|(_, value)| !value.is_null());
    chosen.map(|(name, value)| (present(name), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::api::{Asking, Theme};
    use serde_json::json;

    fn saved(preferences: Value) -> (tempfile::TempDir, SettingsFile, SavedPlaces) {
        let folder = tempfile::tempdir().unwrap();
        let text = json!({"preferences": preferences, "windows": []}).to_string();
        std::fs::write(folder.path().join("preferences.json"), text).unwrap();
        let file = SettingsFile::new(&folder.path().join("config"));
        let places = SavedPlaces::read(folder.path());
        (folder, file, places)
    }

    #[test]
    fn preferences_of_an_earlier_version_are_moved_once() {
        let earlier =
            json!({"theme": "dark", "askBy": "card", "agentProgram": "/opt/claude", "zoom": 125, "x": [1]});
        let (_folder, file, mut places) = saved(earlier);
        let read = open(&file, &mut places);
        let settings = &read.settings;
        assert_eq!((settings.theme, settings.asking, settings.zoom), (Theme::Dark, Asking::Card, 125));
        assert_eq!(settings.agent.program.as_deref(), Some("/opt/claude"));
        assert_eq!(read.unknown.len(), 1, "{read:?}");
        assert_eq!(places.preferences(), None);
        file.set("zoom", &json!(150)).unwrap();
        assert_eq!(open(&file, &mut places).settings.zoom, 150);
    }

    #[test]
    fn a_wrong_preference_is_reported_with_its_line_and_the_others_count() {
        let (_folder, file, mut places) = saved(json!({"theme": 7, "zoom": 125}));
        let read = open(&file, &mut places);
        assert_eq!((read.settings.theme, read.settings.zoom), (Theme::System, 125));
        assert!(read.problems[0].line.is_some(), "{read:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_language_of_dates_is_that_of_the_first_locale() {
        let of = |locales: [&str; 3]| language_of(&locales.map(str::to_owned));
        assert_eq!(of(["", "de_CH.UTF-8", "en_US.UTF-8"]).as_deref(), Some("de-CH"));
        assert_eq!(of(["fr_FR@euro", "de_CH", "en_US"]).as_deref(), Some("fr-FR"));
        assert_eq!(of(["", "", "ja"]).as_deref(), Some("ja"));
        for none in ["", "C", "C.UTF-8", "POSIX", "de DE", "\u{202e}"] {
            assert_eq!(of(["", "", none]), None, "{none:?}");
        }
    }

    #[test]
    fn preferences_that_cannot_be_moved_stay() {
        let (_folder, file, mut places) = saved(json!({"zoom": 125}));
        std::fs::create_dir_all(file.folder()).unwrap();
        std::fs::write(file.path(), "{").unwrap();
        assert_eq!(open(&file, &mut places).problems.len(), 1);
        assert!(places.preferences().is_some());
    }
}

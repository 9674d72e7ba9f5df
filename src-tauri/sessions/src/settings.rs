//! The settings that are in effect.

use crate::profiles;
use deskbell_engine::api::{Settings, SettingsView};
use deskbell_engine::settings::{Read, SettingsFile};
use deskbell_engine::stored::Store;
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
        let Read { settings, problems, unknown: _, is_broken } = read;
        let stores = watch::Sender::new(profiles::stores(&settings.agent));
        let view = SettingsView { settings, path, problems, is_broken, system_dates: system_dates() };
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
        view.is_broken = read.is_broken;
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

#[cfg(test)]
mod tests {
    use super::*;
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
}

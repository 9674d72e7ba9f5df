//! The user's settings: one JSON file with comments, which the user and the settings page edit.
//!
//! Nothing in the file is ever lost: an edit changes one value and keeps comments, unknown keys, order and layout. A
//! file that is not valid JSON is never written, and the last good values stay in effect.

mod bindings;
mod dates;
mod error;
mod keys;
mod profiles;
mod programs;
mod text;
mod watch;

#[cfg(test)]
mod tests;

use crate::api::{Preset, Profile, SessionOptions, SettingControl, SettingKey, Settings, SettingsProblem};
use crate::disk::{self, ReadError, read_text, set_aside};
use crate::disk::{remove_leftovers, write_atomically};
use error::SettingsError;
#[cfg(test)]
pub(crate) use keys::markdown;
use keys::{keys, schema};
use serde_json::Value;
use std::path::{Path, PathBuf};
pub use text::Read;
pub(crate) use text::value_of;
pub use watch::SettingsWatch;

/// Maximum size of the file in bytes. All settings with a comment each take some 10 KB.
const MOST_BYTES: u64 = 1024 * 1024;

/// The beginning of a new file.
const TEMPLATE: &str = "\
// The settings of Deskbell. Changes take effect when this file is saved.
// `deskbell settings get` lists every key with its value; docs/settings.md describes them.
{
  \"$schema\": \"./settings.schema.json\"
}
";

/// Adds the entries of an object that another one does not have; in lists, to the elements with the same name.
fn keep_unknown(value: &mut Value, before: &Value) {
    if let (Some(elements), Some(before)) = (value.as_array_mut(), before.as_array()) {
        for element in elements.iter_mut().filter(|element| text::named(element).is_some()) {
            let same = |other: &&Value| text::named(other) == text::named(element);
            if let Some(other) = before.iter().find(same) {
                keep_unknown(element, other);
            }
        }
    }
    let (Some(entries), Some(before)) = (value.as_object_mut(), before.as_object()) else { return };
    for (name, earlier) in before {
        let known = entries.iter_mut().find(|(other, _)| *other == name).map(|(_, value)| value);
        match known {
            Some(value) => keep_unknown(value, earlier),
            None => drop(entries.insert(name.clone(), earlier.clone())),
        }
    }
}

/// Why an edit made no new text: of the text, or of the value.
enum Refused {
    Text(text::EditError),
    Value(SettingsError),
}

impl From<text::EditError> for Refused {
    fn from(error: text::EditError) -> Self {
        Self::Text(error)
    }
}

impl From<SettingsError> for Refused {
    fn from(error: SettingsError) -> Self {
        Self::Value(error)
    }
}

/// The changes that the user must confirm first; empty if the edit was made.
fn unconfirmed(edited: Result<(), SettingsError>) -> Result<Vec<String>, SettingsError> {
    match edited {
        Ok(()) => Ok(Vec::new()),
        Err(SettingsError::Unconfirmed(changes)) => Ok(changes),
        Err(error) => Err(error),
    }
}

fn value_or_default(known: &SettingKey, value: &Value) -> Value {
    if value.is_null() { known.default.clone() } else { value.clone() }
}

/// The settings file. Its methods access the disk: call them through `disk::run`.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    path: PathBuf,
}

impl SettingsFile {
    /// `config`: the app's folder of configuration. Nothing is read yet.
    pub fn new(config: &Path) -> Self {
        Self { path: config.join("settings.json") }
    }

    /// The JSON Schema (draft 7) of the file.
    pub fn schema() -> &'static Value {
        schema()
    }

    /// Every setting that the file can have, in the order of the sections.
    pub fn keys() -> &'static [SettingKey] {
        keys()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that the file is in.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// Reads the settings. A wrong value counts as the one in `last`, and is reported.
    pub fn read(&self, last: &Settings) -> Read {
        match read_text(&self.path, MOST_BYTES) {
            Ok(text) => text::read(&text, last),
            Err(ReadError::Missing) => text::read("", last),
            Err(error) => Read {
                settings: last.clone(),
                problems: vec![SettingsProblem {
                    line: None,
                    column: None,
                    message: format!("settings.json could not be read: {error}."),
                }],
                unknown: Vec::new(),
                is_broken: true,
            },
        }
    }

    /// Changes one setting for the user. `null` for a setting that cannot be `null` means its default.
    pub fn set(&self, key: &str, value: &Value) -> Result<(), SettingsError> {
        self.change(key, None, |known, _| Ok(value_or_default(known, value)))
    }

    /// Changes one setting at the request of a page. If it changes the programs that Deskbell starts and differs from
    /// `confirmed`, writes nothing and returns these changes as texts: the user must confirm them outside the page.
    pub fn set_for_page(
        &self,
        key: &str,
        value: &Value,
        confirmed: &[String],
    ) -> Result<Vec<String>, SettingsError> {
        unconfirmed(self.change(key, Some(confirmed), |known, _| Ok(value_or_default(known, value))))
    }

    /// Replaces the presets of session options at the request of a page, as [`Self::set_for_page`] does. Unknown
    /// entries of a preset in the file stay.
    pub fn set_presets(
        &self,
        presets: &[Preset],
        confirmed: &[String],
    ) -> Result<Vec<String>, SettingsError> {
        let value = serde_json::to_value(presets).unwrap_or_default();
        unconfirmed(self.change("agent.presets", Some(confirmed), |_, _| Ok(value)))
    }

    /// Adds a profile (`was` is `None`), changes or renames one, or removes one (`profile` is `None`) at the request of
    /// a page, as [`Self::set_for_page`] does. The other profiles and unknown entries of this one stay.
    pub fn change_profile(
        &self,
        was: Option<&str>,
        profile: Option<&Profile>,
        confirmed: &[String],
    ) -> Result<Vec<String>, SettingsError> {
        unconfirmed(self.change("agent.profiles", Some(confirmed), |_, before| {
            let before = before.unwrap_or_else(|| Value::Array(Vec::new()));
            profiles::changed(before, was, profile)
        }))
    }

    /// Returns how other options would change the programs that a session's agent starts, each change as a text.
    pub fn program_changes(
        before: &SessionOptions,
        after: &SessionOptions,
        settings: &Settings,
    ) -> Result<Vec<String>, SettingsError> {
        programs::of_options(before, after, settings)
    }

    /// Changes the value of a key in the file. `new` gets its current value. `confirmed` are the allowed changes of
    /// programs; `None` allows all.
    fn change(
        &self,
        key: &str,
        confirmed: Option<&[String]>,
        new: impl FnOnce(&SettingKey, Option<Value>) -> Result<Value, SettingsError>,
    ) -> Result<(), SettingsError> {
        let known = keys().iter().find(|known| known.key == key);
        let known = known.ok_or_else(|| SettingsError::UnknownKey(key.to_owned()))?;
        self.edit(|text| {
            let before = value_of(text, key);
            let mut value = new(known, before.clone())?;
            keys::check(known, &value).map_err(SettingsError::BadValue)?;
            if matches!(known.control, SettingControl::Presets) {
                keep_unknown(&mut value, &before.unwrap_or_default());
            }
            let after = text::edit(text, key, &value)?;
            if let Some(confirmed) = confirmed {
                programs::check(text, &after, confirmed)?;
            }
            Ok(after)
        })
    }

    /// Creates what the user needs to edit the file by hand: the file, if it is missing, and its schema next to it.
    pub fn prepare(&self) -> Result<(), SettingsError> {
        self.edit(|text| Ok(text.to_owned()))?;
        let schema_path = self.folder().join("settings.schema.json");
        let schema = format!("{:#}\n", schema());
        if read_text(&schema_path, MOST_BYTES).is_ok_and(|known| known == schema) {
            return Ok(());
        }
        let write = || {
            if let Err(ReadError::NotAFile(_)) = disk::open_regular(&schema_path) {
                set_aside(&schema_path)?;
            }
            write_atomically(&schema_path, schema.as_bytes())
        };
        write().map_err(|source| SettingsError::Io { path: schema_path.clone(), source })
    }

    /// Replaces the text of the file while no other writer of Deskbell does. A missing file begins with the template.
    fn edit(&self, edit: impl FnOnce(&str) -> Result<String, Refused>) -> Result<(), SettingsError> {
        let failed = |source| SettingsError::Io { path: self.path.clone(), source };
        let _lock = disk::lock_writers(&self.path).map_err(failed)?;
        let before = match read_text(&self.path, MOST_BYTES) {
            Ok(text) => Some(text),
            Err(ReadError::Missing) => None,
            // Not a file of the user's: a pipe, a device or a folder. It is kept under another name.
            Err(ReadError::NotAFile(_)) => {
                set_aside(&self.path).map_err(failed)?;
                None
            }
            Err(error) => return Err(failed(error.into())),
        };
        let after = edit(before.as_deref().unwrap_or(TEMPLATE)).map_err(|error| match error {
            Refused::Text(text::EditError::Invalid(problem)) => {
                SettingsError::Invalid { path: self.path.clone(), problem }
            }
            Refused::Text(text::EditError::Unsafe) => SettingsError::Unsafe(self.path.clone()),
            Refused::Value(error) => error,
        })?;
        if before.as_ref() == Some(&after) {
            return Ok(());
        }
        // A link to a file elsewhere, such as in a repository of dotfiles, stays a link.
        let real = dunce::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let folder = real.parent().unwrap_or(self.folder());
        // Each process that writes there holds the lock.
        if let Err(error) = remove_leftovers(folder) {
            tracing::warn!(%error, "could not remove what a killed writer left");
        }
        write_atomically(&real, after.as_bytes()).map_err(failed)
    }
}

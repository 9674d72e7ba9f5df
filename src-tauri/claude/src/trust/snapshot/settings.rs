//! A folder's settings files merged into one, for `--settings`.

use serde_json::{Map, Value};
use std::path::Path;

/// Modes that a folder cannot choose, because they ask for no permission. The CLI rejects them from a folder, but
/// accepts them from `--settings` (2.1.329 and 2.1.197).
const MODES_OF_THE_USER: &[&str] = &["bypassPermissions", "auto"];

/// Settings that the CLI accepts from the user and from `--settings`, but not from a folder.
const SETTINGS_OF_THE_USER: &[&str] =
    &["skipDangerousModePermissionPrompt", "skipAutoPermissionPrompt", "autoMode", "autoMemoryDirectory"];

/// Tools whose rules are about paths. A path that begins with one slash is relative to the folder of the settings.
const TOOLS_OF_PATHS: &[&str] =
    &["Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "NotebookRead", "Glob", "Grep", "LS"];

/// The effective settings of a folder: lists are joined, and the local settings take precedence over the shared ones.
///
/// `files` are the paths and the objects of the settings files.
pub fn merged<'a>(
    project: &Path,
    files: impl Iterator<Item = (&'a Path, Map<String, Value>)>,
) -> Map<String, Value> {
    let own_local = project.join(".claude").join("settings.local.json");
    let mut all: Vec<_> = files.collect();
    // Those of the repository's root come before the folder's own.
    all.sort_by_key(|(path, _)| *path == own_local);
    let mut settings = Map::new();
    for (_, mut object) in all {
        clean(&mut object, project);
        merge(&mut settings, object);
    }
    settings
}

/// The servers that these settings turn off.
pub fn turned_off_servers(settings: &Map<String, Value>) -> Vec<String> {
    let names = settings.get("disabledMcpjsonServers").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}

/// Removes the settings that a folder cannot set, and those that would make the CLI ignore the whole file.
fn clean(settings: &mut Map<String, Value>, project: &Path) {
    settings.retain(|key, _| !SETTINGS_OF_THE_USER.contains(&key.as_str()));
    if let Some(Value::Object(hooks)) = settings.get_mut("hooks") {
        hooks.retain(|_, groups| groups.is_array());
    }
    let Some(permissions) = settings.get_mut("permissions") else { return };
    let Value::Object(permissions) = permissions else {
        settings.remove("permissions");
        return;
    };
    let is_text = |value: &Value| value.as_str().is_some();
    permissions.retain(|key, value| match key.as_str() {
        "defaultMode" => value.as_str().is_some_and(|mode| !MODES_OF_THE_USER.contains(&mode)),
        "allow" | "deny" | "ask" | "additionalDirectories" => value.is_array(),
        _ => true,
    });
    for key in ["allow", "deny", "ask", "additionalDirectories"] {
        let Some(Value::Array(rules)) = permissions.get_mut(key) else { continue };
        rules.retain(is_text);
        for rule in rules.iter_mut().filter(|_| key != "additionalDirectories") {
            if let Some(text) = rule.as_str() {
                *rule = rooted(text, project).into();
            }
        }
    }
}

/// A rule with its path made absolute, because it is read from another folder: `Read(/src/**)` is about the project's
/// `src`.
fn rooted(rule: &str, project: &Path) -> String {
    let path = rule.split_once('(').filter(|(tool, _)| TOOLS_OF_PATHS.contains(&tool.trim()));
    match path {
        Some((tool, path)) if path.starts_with('/') && !path.starts_with("//") => {
            format!("{tool}(/{}{path}", absolute(project))
        }
        _ => rule.to_owned(),
    }
}

/// `/home/me/project`; on Windows `/c/Users/me/project`, as rules write it.
fn absolute(project: &Path) -> String {
    let text = project.display().to_string();
    match text.split_once(':') {
        Some((drive, rest)) if cfg!(windows) => {
            format!("/{}{}", drive.to_ascii_lowercase(), rest.replace('\\', "/"))
        }
        _ => text,
    }
}

/// Merges `more` into `to`, as the CLI merges files.
fn merge(to: &mut Map<String, Value>, more: Map<String, Value>) {
    for (key, value) in more {
        match (to.get_mut(&key), value) {
            (Some(Value::Object(to)), Value::Object(more)) => merge(to, more),
            (Some(Value::Array(to)), Value::Array(more)) => {
                for item in more {
                    if !to.contains(&item) {
                        to.push(item);
                    }
                }
            }
            (_, value) => {
                to.insert(key, value);
            }
        }
    }
}

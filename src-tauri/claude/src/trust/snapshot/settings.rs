//! A folder's settings files merged into one, for `--settings`.

use crate::trust::json::Json;
use crate::trust::keys;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// Tools whose rules are about paths. A path that begins with one slash is relative to the folder of the settings.
const TOOLS_OF_PATHS: &[&str] =
    &["Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "NotebookRead", "Glob", "Grep", "LS"];

/// The effective settings of a folder: lists are joined, and the local settings take precedence over the shared ones.
///
/// `files` are the paths and objects of the settings files, `named` the settings with unknown effects that the user
/// trusted by name.
pub fn merged<'a>(
    project: &Path,
    files: impl Iterator<Item = (&'a Path, Map<String, Value>)>,
    named: &BTreeSet<String>,
) -> Map<String, Value> {
    let own_local = project.join(".claude").join("settings.local.json");
    let mut all: Vec<_> = files.collect();
    // Those of the repository's root come before the folder's own.
    all.sort_by_key(|(path, _)| *path == own_local);
    let mut settings = Map::new();
    let mut turns_off_hooks = false;
    let mut local_marketplaces = BTreeSet::new();
    for (_, object) in all {
        local_marketplaces.extend(local_marketplaces_of(&object));
        // It would turn off the user's own hooks as well, so it is done here.
        if let Some(is_off) = object.get("disableAllHooks").and_then(Value::as_bool) {
            turns_off_hooks = is_off;
        }
        merge(&mut settings, cleaned(object, project, named));
    }
    if let Some(Value::Object(plugins)) = settings.get_mut("enabledPlugins") {
        let is_local = |plugin: &str| {
            plugin.rsplit_once('@').is_some_and(|(_, market)| local_marketplaces.contains(market))
        };
        // Without an entry 2.1.197 takes that of the folder itself.
        plugins
            .iter_mut()
            .filter(|(plugin, _)| is_local(plugin))
            .for_each(|(_, is_on)| *is_on = Value::Bool(false));
    }
    if turns_off_hooks {
        settings.retain(|key, _| !matches!(key.as_str(), "hooks" | "statusLine" | "subagentStatusLine"));
    }
    settings
}

/// The names of marketplaces on this computer. The copy has neither them nor their plugins.
fn local_marketplaces_of(object: &Map<String, Value>) -> impl Iterator<Item = String> + '_ {
    let all = object.get("extraKnownMarketplaces").and_then(Value::as_object).into_iter().flatten();
    let local = all.filter(|(_, marketplace)| {
        marketplace["source"]["source"].as_str().is_some_and(|kind| keys::LOCAL_SOURCES.contains(&kind))
    });
    local.map(|(name, _)| name.clone())
}

/// The settings in these files that the user may name.
pub fn unknown<'a>(files: impl Iterator<Item = (&'a Path, Map<String, Value>)>) -> BTreeSet<String> {
    let keys = files.flat_map(|(_, object)| object.into_iter().map(|(key, _)| key));
    keys.filter(|key| keys::can_be_named(key)).collect()
}

/// The deny rules in these settings.
pub fn denied(settings: &Map<String, Value>) -> Vec<String> {
    let rules = settings.get("permissions").and_then(|permissions| permissions["deny"].as_array());
    rules.into_iter().flatten().filter_map(|rule| Some(rule.as_str()?.to_owned())).collect()
}

/// The servers that these settings turn off.
pub fn turned_off_servers(settings: &Map<String, Value>) -> Vec<String> {
    let names = settings.get("disabledMcpjsonServers").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}

/// The settings that the copy may have, without the values that would make the CLI ignore all of them.
fn cleaned(object: Map<String, Value>, project: &Path, named: &BTreeSet<String>) -> Map<String, Value> {
    let mut settings = Map::new();
    for (key, value) in object {
        if named.contains(&key) && keys::can_be_named(&key) {
            settings.insert(key, value);
            continue;
        }
        let accepted = serde_json::from_value(value).ok();
        let accepted = accepted.and_then(|value: Json| keys::accepted(&key, &value, &mut Vec::new()));
        let accepted = accepted.and_then(|value| serde_json::to_value(value).ok());
        settings.extend(accepted.map(|value| (key, value)));
    }
    if let Some(Value::Object(permissions)) = settings.get_mut("permissions") {
        for (key, rules) in permissions.iter_mut() {
            if let Value::Array(rules) = rules
                && key != "additionalDirectories"
            {
                let all = std::mem::take(rules);
                let texts = all.iter().filter_map(Value::as_str);
                rules.extend(texts.flat_map(|rule| rooted(rule, project, key == "allow")).map(Value::from));
            }
        }
    }
    settings
}

/// The forms that a rule of a settings file has in the copy, or in the settings of another folder.
pub fn copied_forms(rule: &str, folder: &Path, allows: bool) -> Vec<String> {
    rooted(rule, folder, allows)
}

/// A rule with its path made absolute, because it is read from another folder: `Read(/src/**)` is about the project's
/// `src`.
///
/// The CLI reads `*`, `?`, a backslash and a line break in the project's own path as pattern characters, and they
/// cannot all be escaped (2.1.332). Allow rules with such a path are left out; deny and ask rules also get the path
/// relative to the working folder.
fn rooted(rule: &str, project: &Path, allows: bool) -> Vec<String> {
    let path = rule.split_once('(').filter(|(tool, _)| TOOLS_OF_PATHS.contains(&tool.trim()));
    match path {
        Some((tool, path)) if path.starts_with('/') && !path.starts_with("//") => {
            let folder = absolute(project);
            let is_plain = !folder.contains(['*', '?', '\\', '\n', '\r']);
            let absolute = format!("{tool}(/{}{path}", folder.replace('[', "\\[").replace(']', "\\]"));
            // A line break ends the pattern, which would then match the parent folder and another one.
            let is_one_line = !folder.contains(['\n', '\r']);
            match (is_plain, allows) {
                (true, _) => vec![absolute],
                (false, true) => Vec::new(),
                (false, false) => {
                    let relative = format!("{tool}(.{path}");
                    is_one_line.then_some(absolute).into_iter().chain([relative]).collect()
                }
            }
        }
        _ => vec![rule.to_owned()],
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

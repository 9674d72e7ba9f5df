//! Earlier runs of a session, read back from the disk.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::folder_name::encode;
use crate::usage::{self, ByModel};
use crate::wire::text_of;

/// The stored state of a session's earlier run.
#[derive(Default)]
pub struct EarlierRun {
    pub session_id: String,
    pub file: PathBuf,
    /// The texts of the prompts, in order.
    pub prompts: Vec<String>,
    pub leaf: Option<String>,
    pub uuids: HashSet<String>,
    pub title: Option<String>,
    pub usage: ByModel,
    /// Its lines, unchanged.
    pub lines: Vec<String>,
}

/// The session with this id, from any project's folder.
pub fn find(root: &Path, session_id: &str) -> Option<EarlierRun> {
    let name = format!("{session_id}.jsonl");
    let folders = fs::read_dir(root.join("projects")).ok()?;
    let file = folders.flatten().map(|folder| folder.path().join(&name)).find(|file| file.is_file())?;
    read(file)
}

/// The most recently written session of this folder.
pub fn latest(root: &Path, cwd: &Path) -> Option<EarlierRun> {
    let folder = root.join("projects").join(encode(&cwd.to_string_lossy()));
    let files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let sessions = files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    let sessions = sessions.filter(|file| file.is_file());
    read(sessions.max_by_key(|file| fs::metadata(file).and_then(|data| data.modified()).ok())?)
}

/// Reads a transcript; a line that does not parse, such as a torn last one, is skipped.
fn read(file: PathBuf) -> Option<EarlierRun> {
    let text = String::from_utf8_lossy(&fs::read(&file).ok()?).into_owned();
    let session_id = file.file_stem()?.to_string_lossy().into_owned();
    let mut past = EarlierRun { session_id, file, ..EarlierRun::default() };
    for line in text.lines() {
        let Ok(entry) = serde_json::from_str::<Value>(line) else { continue };
        past.lines.push(line.to_owned());
        match entry.get("type").and_then(Value::as_str) {
            Some("user") if entry.get("promptSource").is_some() => {
                past.prompts.push(text_of(&entry["message"]["content"]));
            }
            Some("cost-state") => past.usage = usage::read_model_usage(&entry["modelUsage"]),
            Some("custom-title") => past.title = entry["customTitle"].as_str().map(str::to_owned),
            _ => {}
        }
        if let Some(uuid) = entry.get("uuid").and_then(Value::as_str) {
            past.leaf = Some(uuid.to_owned());
            past.uuids.insert(uuid.to_owned());
        }
    }
    Some(past)
}

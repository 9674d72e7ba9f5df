//! The kinds of the agent's lines and their fields, in recordings, and what differs between two folders of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use deskbell_engine::recorder::{Direction, Recording};
use deskbell_engine::replay::Replayed;
use serde_json::Value;

use crate::recordings::names_in;

/// The fields of each kind.
pub type Kinds = BTreeMap<String, BTreeSet<String>>;

/// How the fields of a part of a line are added to those of its kind.
type Add = fn(&mut Kinds, String, &Value);

/// The fields of the object itself.
fn add_names(kinds: &mut Kinds, kind: String, object: &Value) {
    let fields = object.as_object().into_iter().flat_map(|object| object.keys().cloned());
    kinds.entry(kind).or_default().extend(fields);
}

/// The fields of the object and of all that is in it, each with its path.
fn add_paths(kinds: &mut Kinds, kind: String, object: &Value) {
    add_paths_below("", object, kinds.entry(kind).or_default());
}

fn add_paths_below(path: &str, value: &Value, paths: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                add_paths_below(&path, value, paths);
                paths.insert(path);
            }
        }
        Value::Array(values) => {
            values.iter().for_each(|value| add_paths_below(&format!("{path}[]"), value, paths));
        }
        _ => {}
    }
}

/// Adds the kind and the fields of a line, and those of its request, event, message and content blocks.
pub fn observe(kinds: &mut Kinds, line: &Value) {
    observe_with(kinds, line, add_names);
}

fn observe_with(kinds: &mut Kinds, line: &Value, add: Add) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = text(&line["type"]);
    match kind.as_str() {
        "system" => add(kinds, format!("system/{}", text(&line["subtype"])), line),
        "control_request" => {
            let request = &line["request"];
            add(kinds, format!("control_request/{}", text(&request["subtype"])), request);
        }
        "stream_event" => {
            let event = &line["event"];
            let name = format!("stream_event: {}", text(&event["type"]));
            let delta = text(&event["delta"]["type"]);
            let inner = if delta.is_empty() { name.clone() } else { format!("{name} {delta}") };
            add(kinds, inner, &event["delta"]);
            add(kinds, name, event);
        }
        "assistant" | "user" => {
            let message = &line["message"];
            add(kinds, format!("{kind} message"), message);
            for block in message["content"].as_array().into_iter().flatten() {
                add(kinds, format!("block: {}", text(&block["type"])), block);
            }
        }
        _ => {}
    }
    if kind != "system" {
        add(kinds, kind, line);
    }
}

/// The recordings of a folder.
struct Recordings {
    kinds: Kinds,
    /// The number of lines of each kind.
    counts: BTreeMap<String, usize>,
    /// The conversation of each session.
    conversations: BTreeMap<String, String>,
}

impl Recordings {
    /// Reads the recordings of these sessions.
    fn read(folder: &Path, names: &BTreeSet<String>) -> Result<Self> {
        let mut read = Self { kinds: Kinds::new(), counts: BTreeMap::new(), conversations: BTreeMap::new() };
        for name in names {
            let path = folder.join(format!("{name}.ndjson"));
            let bytes = std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            let recording = Recording::parse(&bytes);
            ensure!(recording.unreadable.is_empty(), "{} is torn", path.display());
            for line in recording.lines.iter().filter(|line| line.dir == Direction::Out) {
                observe_with(&mut read.kinds, &line.line, add_paths);
                let of_line = |name: &str| line.line[name].as_str().unwrap_or_default().to_owned();
                // How an answer is cut into deltas is chance.
                if line.line["type"] == "stream_event" {
                    continue;
                }
                *read.counts.entry(format!("{}/{}", of_line("type"), of_line("subtype"))).or_default() += 1;
            }
            read.conversations.insert(name.clone(), without_chance(&Replayed::of(&recording.lines).text()));
        }
        Ok(read)
    }
}

/// What the sessions of the second folder have and those of the first have not, and the other way round: kinds of lines,
/// fields, the numbers of lines, and the conversations as Deskbell shows them. A session that is in one folder only is named.
pub fn compared(old: &Path, new: &Path) -> Result<String> {
    let names = |folder| Ok::<BTreeSet<String>, anyhow::Error>(names_in(folder)?.into_iter().collect());
    let (of_old, of_new) = (names(old)?, names(new)?);
    let both: BTreeSet<String> = of_old.intersection(&of_new).cloned().collect();
    ensure!(!both.is_empty(), "{} and {} have no session in common", old.display(), new.display());
    let (old, new) = (Recordings::read(old, &both)?, Recordings::read(new, &both)?);
    let mut text = String::new();
    for (which, only) in [("new", of_old.difference(&of_new)), ("old", of_new.difference(&of_old))] {
        for name in only {
            let _ = writeln!(text, "{name} could not be played with the {which} version, and is left out");
        }
    }
    let _ = write!(text, "Appeared:\n{}", added(&old.kinds, &new.kinds));
    let _ = write!(text, "Disappeared:\n{}", added(&new.kinds, &old.kinds));
    text.push_str("Lines, by kind:\n");
    let kinds: BTreeSet<&String> = old.counts.keys().chain(new.counts.keys()).collect();
    for kind in kinds {
        let count = |counts: &BTreeMap<String, usize>| counts.get(kind).copied().unwrap_or_default();
        let (before, now) = (count(&old.counts), count(&new.counts));
        if before != now {
            let _ = writeln!(text, "  {} {before} → {now}", kind.trim_end_matches('/'));
        }
    }
    text.push_str("Conversations:\n");
    for (name, before) in &old.conversations {
        if let Some(now) = new.conversations.get(name).filter(|now| *now != before) {
            let _ = write!(text, "  {name} differs:\n{}", changed_lines(before, now));
        }
    }
    Ok(text)
}

/// The kinds and fields that only the second has, as lines.
fn added(from: &Kinds, to: &Kinds) -> String {
    let mut found = String::new();
    for (kind, fields) in to {
        let Some(known) = from.get(kind) else {
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            let _ = writeln!(found, "  kind {kind}: {}", fields.join(" "));
            continue;
        };
        // What is in a new field is new with it.
        let is_inside = |field: &str| {
            let mut outer = field.match_indices(['.', '[']).map(|(end, _)| &field[..end]);
            outer.any(|outer| fields.contains(outer) && !known.contains(outer))
        };
        let new = fields.iter().filter(|field| !known.contains(*field) && !is_inside(field));
        let new: Vec<&str> = new.map(String::as_str).collect();
        if !new.is_empty() {
            let _ = writeln!(found, "  fields of {kind}: {}", new.join(" "));
        }
    }
    if found.is_empty() { "  nothing\n".to_owned() } else { found }
}

/// The text without ids and times.
fn without_chance(text: &str) -> String {
    let is_in_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let is_in_id = |c: char| c.is_ascii_hexdigit() || c == '-';
    let mut clean = String::new();
    for word in text.split_inclusive(|c| !is_in_word(c)) {
        let rest = word.trim_start_matches(is_in_word);
        let whole = &word[..word.len() - rest.len()];
        if whole.len() == 36 && whole.chars().all(is_in_id) {
            clean.push_str("ID");
        } else if whole.len() >= 10 && whole.chars().all(|c| c.is_ascii_digit()) {
            clean.push_str("TIME");
        } else {
            clean.push_str(whole);
        }
        clean.push_str(rest);
    }
    clean
}

/// The lines that only one of the texts has.
fn changed_lines(old: &str, new: &str) -> String {
    let only_in = |sign: char, text: &str, other: &str| -> String {
        let mut left: Vec<&str> = other.lines().collect();
        let is_missing = |line: &&str| match left.iter().position(|left| left == line) {
            Some(at) => {
                left.swap_remove(at);
                false
            }
            None => true,
        };
        text.lines().filter(is_missing).map(|line| format!("    {sign} {line}\n")).collect()
    };
    only_in('-', old, new) + &only_in('+', new, old)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn write(folder: &Path, name: &str, lines: &[Value]) {
        let recorded =
            lines.iter().map(|line| json!({"ms": 1, "dir": "out", "line": line}).to_string() + "\n");
        std::fs::write(folder.join(format!("{name}.ndjson")), recorded.collect::<String>()).unwrap();
    }

    fn said(text: &str) -> Value {
        json!({"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": text}]}})
    }

    #[test]
    fn what_a_version_changed_is_named() {
        let (old, new) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let status = |fields: Value| json!({"type": "system", "subtype": "status", "detail": fields});
        write(old.path(), "same", &[said("one"), status(json!({"a": 1, "gone": {"deep": 1}}))]);
        let odd = json!({"type": "odd", "x": [{"y": 1}]});
        write(new.path(), "same", &[said("two"), status(json!({"a": 1, "new": [{"deep": 1}]})), odd]);
        write(old.path(), "lost", &[said("one")]);
        let text = compared(old.path(), new.path()).unwrap();
        for line in [
            "Appeared:\n  kind odd: type x x[].y\n  fields of system/status: detail.new\n",
            "Disappeared:\n  fields of system/status: detail.gone\n",
            "  odd 0 → 1\n",
            "lost could not be played with the new version, and is left out\n",
            "  same differs:\n",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("  assistant"), "a session of one folder is not counted: {text}");
        let id = "c515990c-598d-4f22-8e62-6d7764767af4";
        let text = format!("a/{id}.jsonl (until 1796027044000) 12 b");
        assert_eq!(without_chance(&text), "a/ID.jsonl (until TIME) 12 b");
        let same = compared(old.path(), old.path()).unwrap();
        assert_eq!(same, "Appeared:\n  nothing\nDisappeared:\n  nothing\nLines, by kind:\nConversations:\n");
    }
}

//! Every kind of line of the agent and each of its fields have a row in `docs/design/lines.md`.

use deskbell_agent::AgentEvent;
use deskbell_claude::wire;
use deskbell_engine::recorder::{Direction, Recording};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::recordings::{bytes, names};

type Kinds = BTreeMap<String, BTreeSet<String>>;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn add(kinds: &mut Kinds, kind: String, object: &Value) {
    let fields = object.as_object().into_iter().flat_map(|object| object.keys().cloned());
    kinds.entry(kind).or_default().extend(fields);
}

/// Adds the kind and the fields of a line, and those of its request, event, message and content blocks.
fn observe(kinds: &mut Kinds, line: &Value) {
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

/// The kinds and fields in the recordings and in the list of further ones.
fn observed() -> Kinds {
    let mut kinds = Kinds::new();
    for name in names().expect("the recordings are there") {
        let recording = Recording::parse(&bytes(&name).expect("a recording can be read"));
        for line in recording.lines.iter().filter(|line| line.dir == Direction::Out) {
            observe(&mut kinds, &line.line);
        }
    }
    let path = root().join("tests/fixtures/lines.txt");
    let list = std::fs::read_to_string(path).expect("the list can be read");
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let (kind, fields) = line.split_once(": ").expect("a kind and its fields");
        kinds.entry(kind.to_owned()).or_default().extend(fields.split(' ').map(str::to_owned));
    }
    kinds
}

/// The kinds and fields in the document. `problems` gets the rows that do not say what becomes of their fields.
fn documented(document: &str, problems: &mut Vec<String>) -> (BTreeSet<String>, Kinds) {
    let mut everywhere = BTreeSet::new();
    let mut kinds = Kinds::new();
    for section in document.split("\n## ").skip(1) {
        let (heading, rows) = section.split_once('\n').unwrap_or((section, ""));
        let rows = rows.lines().filter_map(|row| row.strip_prefix("| `"));
        let mut fields = BTreeSet::new();
        for row in rows {
            let (names, fate) = row.split_once(" | ").expect("a row has two columns");
            fields.extend(names.split(['`', ',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned));
            if !["shown", "used", "left out"].iter().any(|word| fate.starts_with(word)) {
                problems.push(format!("{heading}: {names} is neither shown, used nor left out"));
            }
        }
        match heading.strip_prefix('`').and_then(|kind| kind.strip_suffix('`')) {
            Some(kind) => drop(kinds.insert(kind.to_owned(), fields)),
            None => everywhere = fields,
        }
    }
    (everywhere, kinds)
}

fn missing(document: &str, observed: &Kinds) -> Vec<String> {
    let mut problems = Vec::new();
    let (everywhere, documented) = documented(document, &mut problems);
    for (kind, fields) in observed {
        let Some(known) = documented.get(kind) else {
            problems.push(format!("the kind {kind}"));
            continue;
        };
        let new = fields.iter().filter(|field| !known.contains(*field) && !everywhere.contains(*field));
        problems.extend(new.map(|field| format!("{field} of {kind}")));
    }
    problems
}

#[test]
fn the_document_says_what_becomes_of_each_kind_and_field() {
    let document =
        std::fs::read_to_string(root().join("docs/design/lines.md")).expect("the document is there");
    let observed = observed();
    assert!(observed.len() >= 35, "{} kinds", observed.len());
    assert_eq!(missing(&document, &observed), [""; 0]);
}

/// Otherwise the count of unknown lines in the window would say nothing.
#[test]
fn no_kind_with_a_row_counts_as_unknown() {
    let mut unknown = BTreeSet::new();
    for name in names().expect("the recordings are there") {
        let recording = Recording::parse(&bytes(&name).expect("a recording can be read"));
        for line in recording.lines.iter().filter(|line| line.dir == Direction::Out) {
            if let AgentEvent::Unknown { kind } = wire::parse(line.line.to_string().as_bytes()) {
                unknown.insert(kind);
            }
        }
    }
    assert_eq!(unknown, BTreeSet::new());
}

#[test]
fn a_new_kind_or_field_is_found() {
    let document = "\n## Every line\n\n| Field | |\n|---|---|\n| `type`, `subtype` | used: x |\n\n## `system/status`\n\n\
                    | Field | |\n|---|---|\n| `status` | shown: x |\n| `other` | perhaps |\n";
    let mut observed = Kinds::new();
    observe(
        &mut observed,
        &serde_json::json!({"type": "system", "subtype": "status", "status": 1, "new": 2}),
    );
    observe(&mut observed, &serde_json::json!({"type": "new_kind"}));
    let expected = [
        "`system/status`: other` is neither shown, used nor left out",
        "the kind new_kind",
        "new of system/status",
    ];
    assert_eq!(missing(document, &observed), expected);
}

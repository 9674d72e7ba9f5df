//! Every kind of line of the agent and each of its fields have a row in `docs/design/lines.md`.

use deskbell_agent::AgentEvent;
use deskbell_claude::wire;
use deskbell_engine::recorder::{Direction, Recording};
use std::collections::BTreeSet;
use std::path::Path;

use crate::line_kinds::{Kinds, observe};
use crate::recordings::{bytes, names};

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
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

/// The kinds that begin the arms of a `match` in this source text.
fn arms(source: &str) -> Vec<String> {
    let is_kind = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let patterns = source.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix('(').unwrap_or(line);
        let end = [" =>", " if ", ", "].iter().filter_map(|end| line.find(end)).min()?;
        line.starts_with('"').then(|| &line[..end])
    });
    let quoted = patterns.flat_map(|pattern| pattern.split(" | ")).map(|kind| kind.trim_matches('"'));
    quoted.filter(|kind| is_kind(kind)).map(str::to_owned).collect()
}

/// The kinds that the parser knows.
fn parsed() -> BTreeSet<String> {
    let source = |name: &str| {
        let path = root().join("src-tauri/claude/src/wire").join(name);
        std::fs::read_to_string(path).expect("the parser is there")
    };
    let between = |text: &str, from: &str, to: &str| {
        let (_, text) = text.split_once(from).expect("the parser begins as it did");
        text.split_once(to).map_or(text, |(text, _)| text).to_owned()
    };
    let read = source("read.rs");
    let mut kinds: BTreeSet<String> = arms(&between(&read, "\nfn read(", "\n}\n")).into_iter().collect();
    kinds.remove("system");
    let subtypes = read.split("if subtype == \"").skip(1).filter_map(|rest| rest.split('"').next());
    kinds.extend(subtypes.map(|subtype| format!("system/{subtype}")));
    let system = arms(&between(&read, "\nfn read_system(", "\n}\n"));
    kinds.extend(system.iter().map(|subtype| format!("system/{subtype}")));
    let control = arms(&between(&source("control.rs"), "fn read_control_request(", "\n}\n"));
    kinds.extend(control.iter().map(|subtype| format!("control_request/{subtype}")));
    for event in arms(&between(&source("stream.rs"), "let event = match", "\n}\n")) {
        let delta = event.ends_with("_delta") && event != "message_delta" && event != "content_block_delta";
        let of = if delta { "content_block_delta " } else { "" };
        kinds.insert(format!("stream_event: {of}{event}"));
    }
    let blocks = arms(&between(&source("message.rs"), "fn read_content_block(", "\n}\n"));
    kinds.extend(blocks.iter().map(|kind| format!("block: {kind}")));
    kinds
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

/// A kind that the parser reads is in the document, also if no recording has it.
#[test]
fn each_kind_that_is_parsed_has_a_section() {
    let parsed = parsed();
    for known in ["error", "system/init", "system/session_writes_lost", "control_request/elicitation"] {
        assert!(parsed.contains(known), "{known} is not among {parsed:?}");
    }
    for known in
        ["stream_event: message_delta", "stream_event: content_block_delta text_delta", "block: image"]
    {
        assert!(parsed.contains(known), "{known} is not among {parsed:?}");
    }
    let document =
        std::fs::read_to_string(root().join("docs/design/lines.md")).expect("the document is there");
    let (_, documented) = documented(&document, &mut Vec::new());
    let without: Vec<&String> = parsed.iter().filter(|kind| !documented.contains_key(*kind)).collect();
    assert_eq!(without, [""; 0]);
}

#[test]
fn a_new_arm_of_the_parser_is_found() {
    let source = "    match kind {\n        \"a\" | \"b_c\" => x,\n        \"d\" if y => {\n        (\"e\", Some(_)) => z,\n        \
                  // \"f\" =>\n        Some(\"g\") => x,\n        _ => w,\n";
    assert_eq!(arms(source), ["a", "b_c", "d", "e"]);
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

//! The stages between the agent and the screen, and the table of places where output waits or is merged.
//!
//! The engine's own test (`engine/src/stages.rs`) follows a marked line and a marked command through its stages. Those of
//! the shell and of the UI need a window; here they are checked to exist and to hand on to the next one.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names in bold code of a section of ARCHITECTURE.md.
fn stages(section: &str) -> Vec<String> {
    let text = read("ARCHITECTURE.md");
    let (_, text) = text.split_once(section).expect("the section is there");
    let text = text.split("\n## ").next().unwrap_or_default();
    let names = text.split("**`").skip(1).filter_map(|rest| rest.split_once("`**"));
    names.map(|(name, _)| name.to_owned()).collect()
}

/// The file of a stage: a path from the root, or a module of the engine or of a crate below it.
fn file_of(stage: &str) -> Option<String> {
    let modules = ["engine", "claude"].map(|name| format!("src-tauri/{name}/src/{stage}.rs"));
    modules.into_iter().chain([stage.to_owned()]).find(|path| root().join(path).is_file())
}

#[test]
fn every_stage_is_named_once_and_exists() {
    for (section, n_least) in
        [("## How a line of output reaches the screen", 11), ("## How a click reaches stdin", 7)]
    {
        let stages = stages(section);
        assert!(stages.len() >= n_least, "{stages:?}");
        for (at, stage) in stages.iter().enumerate() {
            assert!(file_of(stage).is_some(), "{section}: there is no {stage}");
            assert!(!stages[..at].contains(stage), "{section}: {stage} is named twice");
        }
    }
}

/// The names between the arrows of a section's diagram. A stage can be followed by its parts:
/// `core: machine, transcript`.
fn drawn(section: &str) -> Vec<String> {
    let text = read("ARCHITECTURE.md");
    let (_, text) = text.split_once(section).expect("the section is there");
    let line = text.lines().find(|line| line.contains('▶')).expect("there is a diagram");
    let boxes = line.split('▶').map(|part| part.split('─').next().unwrap_or_default());
    let names = boxes.flat_map(|part| part.split([':', ',']));
    names.map(|name| name.trim().to_owned()).collect()
}

/// The name at the beginning of each numbered step of a section: the last part of its path, without its ending.
fn steps(section: &str) -> Vec<String> {
    let text = read("ARCHITECTURE.md");
    let (_, text) = text.split_once(section).expect("the section is there");
    let text = text.split("\n## ").next().unwrap_or_default();
    let is_step = |line: &&str| line.starts_with(|c: char| c.is_ascii_digit());
    let names = text.lines().filter(is_step).filter_map(|line| line.split("**").nth(1));
    let names = names.map(|name| name.trim_matches('`').trim_end_matches(".rs").trim_start_matches("The "));
    names.map(|name| name.rsplit('/').next().unwrap_or_default().to_owned()).collect()
}

/// A diagram is a shorter list: each of its stages is a step below it, in the same order. The agent is at one end.
#[test]
fn the_diagrams_name_the_stages_in_the_order_of_the_steps() {
    for section in ["## How a line of output reaches the screen", "## How a click reaches stdin"] {
        let (drawn, steps) = (drawn(section), steps(section));
        assert!(drawn.len() > 7 && drawn.contains(&"agent".to_owned()), "nothing is read: {drawn:?}");
        let places: Vec<_> = drawn
            .iter()
            .filter(|name| *name != "agent")
            .map(|name| steps.iter().position(|step| step == name).ok_or(name))
            .collect();
        let is_in_order = places.is_sorted() && places.iter().all(Result::is_ok);
        assert!(is_in_order, "{section}: {drawn:?} is not in the order of {steps:?}");
    }
}

/// A stage of the shell or of the UI, and the words with which it hands on to the next one.
const HANDS_ON: [(&str, &str); 8] = [
    ("src-tauri/src/forward.rs", "emit::to_window(&app, &label, WindowEvent::BatchReady { session_id })"),
    ("src-tauri/src/forward.rs", "feed.take_after(after)"),
    ("src-tauri/src/commands.rs", "forward.take(after)"),
    ("ui/src/lib/session/feed.ts", ".nextBatch("),
    ("ui/src/lib/session/feed.ts", "this.state.apply("),
    ("ui/src/lib/host/tauri.ts", "invoke"),
    ("src-tauri/src/commands.rs", ".command(&project, &session_id, command)"),
    ("src-tauri/sessions/src/registry.rs", ".command(command)"),
];

#[test]
fn the_stages_of_shell_and_ui_hand_on_to_the_next() {
    let broken: Vec<_> = HANDS_ON.iter().filter(|(path, words)| !read(path).contains(words)).collect();
    assert!(broken.is_empty(), "{broken:?}");
}

/// The numbers that are set in a file, by name. A constant that follows from another one is none.
fn constants(path: &str) -> Vec<String> {
    let text = read(path);
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let set = |line: &str| {
        let line = line.trim_start();
        let line = ["pub(crate) ", "pub(super) ", "pub ", "export "]
            .iter()
            .find_map(|word| line.strip_prefix(word))
            .unwrap_or(line);
        let (name, value) = line.strip_prefix("const ")?.split_once(" = ")?;
        let name = name.split(':').next()?;
        let is_name = name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        let is_number = value.starts_with(|c: char| c.is_ascii_digit()) || value.starts_with("Duration::");
        (is_name && is_number).then(|| name.to_owned())
    };
    text.lines().filter_map(set).collect()
}

/// The rows of a table: its cells without code marks.
fn rows(text: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, text) = text.split_once(heading).expect("the heading is there");
    let rows =
        text.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells =
        |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect();
    rows.skip(2).map(cells).collect()
}

/// The numbers in a table, by the file that sets them. Each one is still set there.
fn listed(table: &[Vec<String>]) -> Vec<(String, String)> {
    let mut numbers = Vec::new();
    for row in table {
        let [path, named, ..] = &row[..] else { panic!("{row:?}") };
        for name in named.split(", ") {
            assert!(constants(path).iter().any(|set| set == name), "{path} sets no {name}");
            numbers.push((path.clone(), name.to_owned()));
        }
    }
    numbers
}

/// The design document lists each place where output waits or is merged, each number that tunes the way or how text
/// becomes blocks, and each that only limits it. All may only become fewer.
#[test]
fn the_table_of_waits_and_tuning_numbers_is_true() {
    let text = read("docs/design/transcript-windows.md");
    let waits = rows(&text, "## Where output waits or is merged");
    let tuned = rows(&text, "## Constants that tune the path");
    let limits = listed(&rows(&text, "## Limits and facts on the path"));
    let blocks = listed(&rows(&text, "### How text becomes blocks"));
    let tuning = listed(&tuned);
    let numbers = || tuning.iter().chain(&blocks).chain(&limits);
    for (path, _) in numbers() {
        let is_listed = |name: &String| numbers().any(|(of, listed)| of == path && listed == name);
        let unnamed: Vec<String> = constants(path).into_iter().filter(|name| !is_listed(name)).collect();
        assert_eq!(unnamed, [""; 0], "{path}");
    }
    let is_counted = tuned.len() >= 9 && constants("src-tauri/engine/src/process/output.rs").len() == 4;
    assert!(is_counted, "nothing is counted");
    for row in &waits {
        let file = row[0].split(", ").next().unwrap_or_default();
        assert!(root().join(file).is_file(), "{file}");
    }
    let sum = format!(
        "{} places and {} numbers that tune it, {} more that tune how text becomes blocks, and {} limits",
        waits.len(),
        tuning.len(),
        blocks.len(),
        limits.len()
    );
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&sum), "the document does not say “{sum}”");
}

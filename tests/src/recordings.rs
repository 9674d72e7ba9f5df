//! The project's own recordings of sessions with the real CLI, in `tests/recordings`.
//!
//! Next to each is, as text, the conversation that it folds to. `cargo xtask recordings` makes both again;
//! `UPDATE_EXPECTATIONS=1` writes only the texts, from the existing recordings.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use deskbell_engine::recorder::{Direction, Recorded, Recording};
use deskbell_engine::replay::Replayed;
use serde_json::Value;

/// Set to write the recordings again.
pub const UPDATE_RECORDINGS: &str = "UPDATE_RECORDINGS";

/// Set to a folder, it gets the recordings, whatever the tests say of them.
pub const RECORD_INTO: &str = "DESKBELL_TEST_RECORD_INTO";

/// Set to write the texts again.
pub const UPDATE_EXPECTATIONS: &str = "UPDATE_EXPECTATIONS";

/// The folder of the recordings.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings")
}

/// Their names, in order.
pub fn names() -> Result<Vec<String>> {
    names_in(&folder())
}

/// The names of the recordings in a folder, in order.
pub fn names_in(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ndjson") {
            names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// The recording as it is on disk.
pub fn bytes(name: &str) -> Result<Vec<u8>> {
    fs::read(folder().join(format!("{name}.ndjson"))).with_context(|| format!("reading {name}"))
}

/// Compares the conversation that a recording folds to with the text next to it.
pub fn check(name: &str) -> Result<()> {
    let recording = Recording::parse(&bytes(name)?);
    ensure!(recording.unreadable.is_empty(), "{name}: unreadable lines {:?}", recording.unreadable);
    let folded = Replayed::of(&recording.lines).text();
    let path = folder().join(format!("{name}.txt"));
    if std::env::var_os(UPDATE_EXPECTATIONS).is_some() {
        return fs::write(&path, folded).with_context(|| format!("writing {}", path.display()));
    }
    let expected = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    ensure!(folded == expected, "{name} folds to\n{folded}\nand was to fold to\n{expected}");
    Ok(())
}

/// Writes a recording into a folder, which is made if it does not exist.
pub fn write_into(folder: &Path, name: &str, lines: &[Recorded]) -> Result<()> {
    let mut file = String::new();
    for line in lines {
        file.push_str(&serde_json::to_string(line)?);
        file.push('\n');
    }
    fs::create_dir_all(folder)?;
    fs::write(folder.join(format!("{name}.ndjson")), file).with_context(|| format!("writing {name}"))
}

/// Writes a recording, and the text next to it.
pub fn write(name: &str, lines: &[Recorded]) -> Result<()> {
    write_into(&folder(), name, lines)?;
    let folded = Replayed::of(lines).text();
    fs::write(folder().join(format!("{name}.txt")), folded).with_context(|| format!("writing {name}"))
}

/// Lists of the CLI's features are cut to this length.
const OFFERED: usize = 3;

/// Texts that describe the CLI's features are cut to this length, others to `LONG`.
const SHORT: usize = 60;
const LONG: usize = 1500;

/// A recording without traces of the machine that it was made on, and without the long texts in which the CLI describes
/// itself. `places` are paths and their placeholders.
pub fn trimmed(lines: &[Recorded], places: &[(String, &str)]) -> Vec<Recorded> {
    let trim = |recorded: &Recorded| {
        let mut line = recorded.line.clone();
        let offers = line["subtype"] == "init"
            || (recorded.dir == Direction::Out && line["type"] == "control_response");
        visit(&mut line, &mut |text| *text = placed(text, places));
        // The summary of a compaction, which the conversation shows.
        if line["isSynthetic"] == true {
            return Recorded { line, ..recorded.clone() };
        }
        cut(&mut line, if offers { SHORT } else { LONG }, offers);
        Recorded { line, ..recorded.clone() }
    };
    lines.iter().map(trim).collect()
}

/// The text with placeholders for all places.
pub fn placed(text: &str, places: &[(String, &str)]) -> String {
    places.iter().fold(text.to_owned(), |text, (path, name)| text.replace(path.as_str(), name))
}

fn visit(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(values) => values.iter_mut().for_each(|value| visit(value, change)),
        Value::Object(fields) => fields.values_mut().for_each(|value| visit(value, change)),
        _ => {}
    }
}

fn cut(value: &mut Value, limit: usize, offers: bool) {
    match value {
        Value::String(text) if text.chars().count() > limit => {
            *text = text.chars().take(SHORT).chain("… (cut)".chars()).collect();
        }
        Value::Array(values) => {
            if offers {
                values.truncate(OFFERED);
            }
            values.iter_mut().for_each(|value| cut(value, limit, offers));
        }
        Value::Object(fields) => fields.values_mut().for_each(|value| cut(value, limit, offers)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_the_cli_offers_is_cut_and_what_was_said_is_not() {
        let long = "x".repeat(200);
        let recorded = |line| Recorded { ms: 0, dir: Direction::Out, line };
        let places = [("/tmp/a/project".to_owned(), "/project")];
        let lines = trimmed(
            &[
                recorded(json!({"type": "control_response", "response": {"commands": [1, 2, 3, 4, long]}})),
                recorded(json!({"type": "assistant", "text": long, "list": [1, 2, 3, 4]})),
                recorded(json!({"type": "system", "subtype": "init", "cwd": "/tmp/a/project"})),
                recorded(json!({"type": "user", "isSynthetic": true, "text": "x".repeat(2 * LONG)})),
            ],
            &places,
        );
        assert_eq!(lines[0].line["response"]["commands"], json!([1, 2, 3]));
        assert_eq!(lines[1].line["text"], long.as_str());
        assert_eq!(lines[1].line["list"], json!([1, 2, 3, 4]));
        assert_eq!(lines[2].line["cwd"], "/project");
        assert_eq!(lines[3].line["text"], "x".repeat(2 * LONG).as_str());
    }
}

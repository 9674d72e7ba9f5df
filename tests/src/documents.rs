//! Documents name files that exist.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Markdown documents of the project: at the top, and below `docs`.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/design"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("the folder is there");
        let paths = entries.map(|entry| entry.expect("the folder can be read").path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a document is text")
}

/// The targets of links and pictures, without anchors and without addresses.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| {
        let target = rest.split([')', '#', ' ']).next().unwrap_or_default();
        (!target.is_empty() && !target.contains("://") && !target.starts_with("mailto:")).then_some(target)
    })
}

#[test]
fn links_lead_to_files() {
    let documents = documents();
    assert!(documents.len() >= 10, "{documents:?}");
    let mut broken = Vec::new();
    for document in &documents {
        let folder = document.parent().expect("a document is in a folder");
        for target in targets(&read(document)).map(|target| folder.join(target)) {
            if !target.exists() {
                broken.push(format!("{}: {}", document.display(), target.display()));
            }
        }
    }
    assert_eq!(broken, [""; 0]);
}

#[test]
fn the_glossary_names_places_that_exist() {
    let glossary = read(&root().join("docs/words.md"));
    let rows = glossary.lines().filter(|line| line.starts_with("| ") && line.ends_with("` |"));
    let places: Vec<String> = rows
        .filter_map(|row| row.rsplit('`').nth(1))
        .map(|place| place.replace("…/", "src-tauri/engine/src/"))
        .collect();
    assert!(places.len() >= 40, "{} places", places.len());
    let missing: Vec<&String> = places.iter().filter(|place| !root().join(place).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn only_links_to_files_are_targets() {
    let text = "[a](docs/a.md#part) ![b](b.png) [c](https://example.org/x) [d](#here)";
    assert_eq!(targets(text).collect::<Vec<_>>(), ["docs/a.md", "b.png"]);
}

//! The invariants of ARCHITECTURE.md that a look at the sources can hold.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files below a folder with one of these endings, with their text.
fn sources(folder: &str, endings: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if endings
                .iter()
                .any(|ending| path.extension().is_some_and(|extension| extension == *ending))
            {
                let name = path.strip_prefix(root()).expect("it is below the root").display().to_string();
                found.push((name, std::fs::read_to_string(&path).expect("a source is text")));
            }
        }
    }
    assert!(!found.is_empty(), "{folder} has no sources");
    found
}

/// Files that have one of these words and are not among those that may.
fn offenders(sources: &[(String, String)], words: &[&str], may: &[&str]) -> Vec<String> {
    sources
        .iter()
        .filter(|(name, _)| !may.iter().any(|may| name.contains(may)))
        .filter(|(_, text)| words.iter().any(|word| text.contains(word)))
        .map(|(name, _)| name.clone())
        .collect()
}

#[test]
fn only_the_host_seam_imports_tauri() {
    let ui = sources("ui/src", &["ts", "svelte"]);
    // The UI's own test of the same names it too.
    assert_eq!(offenders(&ui, &["@tauri-apps"], &["lib/host/", ".test.ts"]), [""; 0]);
}

#[test]
fn no_html_string_reaches_the_page() {
    let ui: Vec<_> = sources("ui/src", &["ts", "svelte"])
        .into_iter()
        .filter(|(name, _)| !name.ends_with(".test.ts"))
        .collect();
    let words = ["{@html", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "srcdoc"];
    assert_eq!(offenders(&ui, &words, &[]), [""; 0]);
}

#[test]
fn the_engine_knows_nothing_of_tauri() {
    let engine = sources("src-tauri/engine", &["rs", "toml"]);
    assert_eq!(offenders(&engine, &["tauri::", "tauri ="], &[]), [""; 0]);
}

#[test]
fn only_process_spawns_and_signals() {
    let engine = sources("src-tauri/engine/src", &["rs"]);
    let may = ["src/process.rs", "src/process/", "src/owner.rs"];
    assert_eq!(offenders(&engine, &["process::Command", "Command::new(", "libc::kill"], &may), [""; 0]);
}

#[test]
fn the_machine_has_no_clock_no_io_and_no_chance() {
    let machine = sources("src-tauri/engine/src/session", &["rs"]);
    let machine: Vec<_> = machine.into_iter().filter(|(name, _)| name.contains("/machine")).collect();
    let words = ["tokio", "Instant", "SystemTime", "std::fs", "uuid::", "rand::"];
    assert_eq!(offenders(&machine, &words, &[]), [""; 0]);
}

#[test]
fn only_wire_and_what_shows_tools_know_the_agents_json() {
    let engine = sources("src-tauri/engine/src", &["rs"]);
    let checks = ["simulation", "tests", "src/fuzzed/", "permission/corpus.rs"];
    let may = [&["src/wire", "src/replay.rs", "src/history.rs"][..], &checks].concat();
    assert_eq!(offenders(&engine, &["\"control_request\"", "\"stream_event\""], &may), [""; 0]);
}

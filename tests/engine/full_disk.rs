//! A full disk: each writer of state that must not be lost reports it, and the file of before stays whole. The writers
//! are in a process of their own: this test program again, with one of its tests.

use deskbell_engine::api::{AgentKind, SessionId, SessionMark, TrustDecision};
use deskbell_engine::projects::{Change, ProjectStore};
use deskbell_engine::store::{Record, SavedSession, Store};
use deskbell_engine::stored::{Hidden, MarkStore};
use deskbell_engine::trust::TrustStore;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that the writers write in; without it their test does nothing.
const FOLDER: &str = "DESKBELL_TEST_FULL_DISK";

/// More than the largest file that the full disk takes.
const N_BYTES: usize = 64 * 1024;

/// Writes the state of one kind, and returns the error as text. Each `nr` gives another content.
type Writer = fn(&Path, u64) -> Result<(), String>;

const WRITERS: [(&str, Writer); 5] = [
    ("session", write_session),
    ("projects", write_projects),
    ("marks", write_marks),
    ("hidden sessions", write_hidden),
    ("trust", write_trust),
];

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Its record is also the journal of its prompts.
fn write_session(data: &Path, nr: u64) -> Result<(), String> {
    let memory =
        SavedSession { title: Some(format!("{nr} {}", "x".repeat(N_BYTES))), ..SavedSession::default() };
    let id = SessionId::new("one");
    let record =
        Record { id, project: "/p".into(), agent: AgentKind::Demo, created_at: 1, changed_at: nr, memory };
    Store::open(data.join("sessions")).and_then(|store| store.save(&record)).map_err(said)
}

fn write_projects(data: &Path, nr: u64) -> Result<(), String> {
    let path = |n: u64| format!("/{}/{nr}/{n}", "p".repeat(200));
    let changes: Vec<_> =
        (0..400).map(|n| Change::Used { project: path(n).as_str().into(), at: n }).collect();
    ProjectStore::new(data).change(&changes).map(drop).map_err(said)
}

fn write_marks(data: &Path, nr: u64) -> Result<(), String> {
    let id = format!("{nr} {}", "x".repeat(N_BYTES));
    MarkStore::new(data).mark(&id, Some(SessionMark::Pinned)).map(drop).map_err(said)
}

fn write_hidden(data: &Path, nr: u64) -> Result<(), String> {
    let id = format!("{nr} {}", "x".repeat(N_BYTES));
    Hidden::open(data.join("hidden-sessions.json")).hide(&id, nr).map_err(said)
}

/// The folder that is trusted.
fn project(data: &Path) -> PathBuf {
    data.with_extension("project")
}

fn rule(nr: u64) -> String {
    format!("Bash({nr} {})", "x".repeat(N_BYTES))
}

/// Trusting copies the settings, too.
fn write_trust(data: &Path, nr: u64) -> Result<(), String> {
    let store = TrustStore::open(data.join("trust")).map_err(said)?;
    let shown = store.view(&project(data)).map_err(said)?.fingerprint;
    store.decide(&project(data), TrustDecision::Trust, shown.as_deref()).map_err(said)?;
    store.expect_rule(&project(data), &rule(nr)).map_err(said)
}

/// Writes the settings of the folder that is trusted.
fn furnish(data: &Path, nr: u64) {
    let settings = serde_json::json!({ "permissions": { "allow": [rule(nr)] } }).to_string();
    fs::create_dir_all(project(data).join(".claude")).unwrap();
    fs::write(project(data).join(".claude/settings.json"), settings).unwrap();
}

/// Every file below a folder with its content, except the locks.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_none_or(|extension| extension != "lock") {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

/// Writes where no file may have more than 4 KiB, as on a full disk.
#[test]
fn writes_on_a_full_disk() {
    let Some(data) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    for (name, write) in WRITERS {
        let said = write(&data, 1).expect_err(name);
        println!("refused {name}: {said}");
    }
}

#[test]
fn a_full_disk_is_reported_and_every_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().canonicalize().unwrap().join("data");
    fs::create_dir(&data).unwrap();
    furnish(&data, 0);
    for (name, write) in WRITERS {
        write(&data, 0).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    furnish(&data, 1);
    let before = files(&data);
    assert!(
        before.values().filter(|content| content.len() > N_BYTES).count() >= WRITERS.len(),
        "{:?}",
        before.keys()
    );

    // Without the signal the write fails, as it does on a full disk. The unit of the limit is 512 or 1024 bytes.
    let output = Command::new("sh")
        .arg("-c")
        .arg("trap '' XFSZ; ulimit -f 8; exec \"$0\" --exact full_disk::writes_on_a_full_disk --nocapture")
        .arg(std::env::current_exe().unwrap())
        .env(FOLDER, &data)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    for (name, _) in WRITERS {
        let reason = said.lines().find_map(|line| line.split_once(&format!("refused {name}: ")));
        assert!(reason.is_some_and(|(_, reason)| reason.contains("large")), "{name}: {said}");
    }
    let after = files(&data);
    assert!(
        after == before,
        "changed: {:?}",
        after.keys().filter(|path| after.get(*path) != before.get(*path))
    );

    // With room again everything is written.
    for (name, write) in WRITERS {
        write(&data, 1).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let all = files(&data);
    assert!(
        before.iter().all(|(path, content)| all.get(path) != Some(content)
            || path.starts_with(data.join("trust/snapshots")))
    );
}

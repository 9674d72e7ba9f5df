//! Tests of conversations with a line of 100 MB, anywhere in the file.

use super::{Catalogue, Place};
use crate::api::{Body, StoredState};
use crate::history::{Additions, Kept};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LINE: usize = 100 << 20;

/// Longest time for one conversation with such a line, in a debug build on a busy machine.
const LONG: Duration = Duration::from_secs(120);

fn prompt_line(uuid: &str, parent: Option<&str>, text: &str) -> String {
    serde_json::json!({
        "parentUuid": parent, "type": "user", "message": {"role": "user", "content": text},
        "uuid": uuid, "timestamp": "2026-11-21T07:13:20.750Z", "cwd": "/project",
    })
    .to_string()
}

fn answer_line(uuid: &str, parent: &str, text: &str) -> String {
    serde_json::json!({
        "parentUuid": parent, "type": "assistant",
        "message": {"id": uuid, "role": "assistant", "stop_reason": "end_turn", "content": [{"type": "text", "text": text}]},
        "uuid": uuid, "timestamp": "2026-11-21T07:13:21.750Z", "cwd": "/project",
    })
    .to_string()
}

fn store(lines: &[String]) -> (tempfile::TempDir, Place, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let place = Place::new(root.path().to_owned(), Path::new("/project"));
    fs::create_dir_all(&place.folder).unwrap();
    let path = place.folder.join("00000000-0000-4000-8000-000000000001.jsonl");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    lines.iter().for_each(|line| writeln!(file, "{line}").unwrap());
    file.flush().unwrap();
    drop(file);
    (root, place, path)
}

async fn listed(place: &Place) -> Option<(String, StoredState)> {
    let (sender, mut changes) = tokio::sync::mpsc::channel(4);
    let mut catalogue = Catalogue::open(place.clone(), None);
    let listing = tokio::spawn(async move { catalogue.list(&sender).await });
    let mut found = None;
    while let Some(change) = changes.recv().await {
        found = change.changed.into_iter().next().map(|row| (row.title, row.state)).or(found);
    }
    listing.await.unwrap();
    found
}

fn texts(path: &Path) -> Vec<String> {
    let began = Instant::now();
    let transcript = Kept::load(path).unwrap().transcript(Path::new("/project"), &Additions::default());
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
    let text = |body: &Body| match body {
        Body::Prompt { text, .. } => format!("prompt of {}: {}", text.len(), &text[..text.len().min(5)]),
        Body::Text { .. } => "answer".to_owned(),
        Body::Notice { text, detail, .. } => format!("{text}: {}", detail.clone().unwrap_or_default()),
        other => format!("{other:?}").chars().take(80).collect(),
    };
    transcript.items().map(|item| text(&item.body)).collect()
}

#[tokio::test]
async fn garbage_costs_itself_alone() {
    let lines = [prompt_line("u1", None, "one"), "x".repeat(LINE), answer_line("a1", "u1", "two")];
    let (_root, place, path) = store(&lines);
    assert_eq!(listed(&place).await, Some(("one".to_owned(), StoredState::Completed)));
    let damaged = "A part of this conversation could not be read: Damaged in the agent’s files: 1 line.";
    assert_eq!(texts(&path), ["prompt of 3: one", "answer", damaged]);
}

#[tokio::test]
async fn a_long_answer_at_the_end_is_shown() {
    let lines = [prompt_line("u1", None, "one"), answer_line("a1", "u1", &"word ".repeat(LINE / 5))];
    let (_root, place, path) = store(&lines);
    assert_eq!(listed(&place).await, Some(("one".to_owned(), StoredState::Unknown)));
    assert_eq!(texts(&path), ["prompt of 3: one", "answer"]);
}

#[tokio::test]
async fn a_torn_end_costs_itself_alone() {
    let torn = answer_line("a2", "a1", &"word ".repeat(LINE / 5));
    let lines = [prompt_line("u1", None, "one"), answer_line("a1", "u1", "two"), torn[..LINE].to_owned()];
    let (_root, place, path) = store(&lines);
    assert_eq!(listed(&place).await, Some(("one".to_owned(), StoredState::Unknown)));
    let damaged = "A part of this conversation could not be read: Damaged in the agent’s files: 1 line.";
    assert_eq!(texts(&path), ["prompt of 3: one", "answer", damaged]);
}

#[tokio::test]
async fn a_long_first_prompt_is_listed_by_its_beginning() {
    let prompt = prompt_line("u1", None, &"word ".repeat(LINE / 5));
    for answer in [None, Some(answer_line("a1", "u1", "two"))] {
        let state = if answer.is_some() { StoredState::Completed } else { StoredState::Unknown };
        let shown: &[&str] = if answer.is_some() { &["answer"] } else { &[] };
        let lines: Vec<String> = [prompt.clone()].into_iter().chain(answer).collect();
        let (_root, place, path) = store(&lines);
        let (title, listed) = listed(&place).await.unwrap();
        assert!(title.starts_with("word word"), "{title}");
        assert_eq!(listed, state);
        assert_eq!(texts(&path)[1..], *shown);
    }
}

//! `deskbell sessions list`: the sessions of a folder in the agent's store, as the built app prints them.

use crate::app_killed::app;
use deskbell_engine::history::project_folder;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A home with a store of two projects.
struct Home {
    folder: tempfile::TempDir,
    project: PathBuf,
    store: PathBuf,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = root.join("my project");
        fs::create_dir_all(&project).unwrap();
        let store = project_folder(&root.join("config"), &project);
        fs::create_dir_all(&store).unwrap();
        Self { folder, project, store }
    }

    /// Stores a fixture as session number `nr` of the project.
    fn put(&self, nr: u32, name: &str) {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/stored");
        let text = fs::read_to_string(fixtures.join(format!("{name}.jsonl"))).unwrap();
        let cwd = format!("\"cwd\":{}", serde_json::to_string(&self.project).unwrap());
        let file = self.store.join(format!("00000000-0000-4000-8000-{nr:012}.jsonl"));
        fs::write(file, text.replace("\"cwd\":\"/project\"", &cwd)).unwrap();
    }

    fn list(&self, options: &[&str]) -> Output {
        let mut command = Command::new(app().unwrap());
        command.args(["sessions", "list"]).arg(&self.project).args(options);
        command.env("HOME", self.folder.path()).env("CLAUDE_CONFIG_DIR", self.folder.path().join("config"));
        command.env("XDG_CACHE_HOME", self.folder.path().join("cache")).output().unwrap()
    }

    fn titles(&self, options: &[&str]) -> Vec<String> {
        let output = self.list(options);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|session| session["title"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn the_stored_sessions_of_a_folder_are_printed() {
    if app().is_none() {
        return;
    }
    let home = Home::new();
    assert_eq!(home.titles(&[]), [""; 0], "there is none yet");
    home.put(1, "killed_in_tool");
    home.put(2, "completed");
    home.put(3, "other_folder");
    assert_eq!(home.titles(&[]), ["And the report?", "Sleep a little"]);
    // The second time from the cache.
    assert_eq!(fs::read_dir(home.folder.path().join("cache/deskbell/sessions")).unwrap().count(), 1);
    assert_eq!(home.titles(&["--filter=sleep LITTLE"]), ["Sleep a little"]);
    assert_eq!(home.titles(&["--filter=nothing"]), [""; 0]);

    let line = home.list(&["--filter=sleep"]).stdout;
    let session: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(session["state"]["type"], "interrupted");
    assert_eq!(session["agentSessionId"], "00000000-0000-4000-8000-000000000001");
    assert_eq!(session["live"], Value::Null);

    fs::create_dir(home.store.join("00000000-0000-4000-8000-000000000009.jsonl")).unwrap();
    let output = home.list(&[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 file of"), "{output:?}");
}

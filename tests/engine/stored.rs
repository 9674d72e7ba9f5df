//! `deskbell sessions`: the sessions in the agent's store, as the built app prints and exports them.

use crate::app_killed::app;
use deskbell_engine::history::project_folder;
use deskbell_engine::stored::Follower;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The id of session number 1.
const FIRST: &str = "00000000-0000-4000-8000-000000000001";

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

    /// Stores a fixture as session number `nr` of the project. Returns its file.
    fn put(&self, nr: u32, name: &str) -> PathBuf {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/stored");
        let text = fs::read_to_string(fixtures.join(format!("{name}.jsonl"))).unwrap();
        let cwd = format!("\"cwd\":{}", serde_json::to_string(&self.project).unwrap());
        let file = self.store.join(format!("00000000-0000-4000-8000-{nr:012}.jsonl"));
        fs::write(&file, text.replace("\"cwd\":\"/project\"", &cwd)).unwrap();
        file
    }

    /// The settings have a profile with a store of its own, which has session number `nr`. Returns its file.
    fn put_in_profile(&self, nr: u32, name: &str) -> PathBuf {
        let (usual, config) = (self.put(nr, name), self.folder.path().canonicalize().unwrap().join("work"));
        let settings = self.folder.path().join(".config/deskbell");
        fs::create_dir_all(&settings).unwrap();
        let environment = serde_json::json!([{"name": "CLAUDE_CONFIG_DIR", "value": config}]);
        let profiles = serde_json::json!([{"name": "Work", "environment": environment}]);
        let text = serde_json::json!({"agent": {"profiles": profiles}}).to_string();
        fs::write(settings.join("settings.json"), text).unwrap();
        let folder = project_folder(&config, &self.project);
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(usual.file_name().unwrap());
        fs::rename(usual, &file).unwrap();
        file
    }

    fn list(&self, options: &[&str]) -> Output {
        self.sessions(&[&["list", self.project.to_str().unwrap()], options].concat())
    }

    fn sessions(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(app().unwrap());
        command.arg("sessions").args(args).current_dir(self.folder.path());
        command.env("HOME", self.folder.path()).env("CLAUDE_CONFIG_DIR", self.folder.path().join("config"));
        command.env("XDG_CACHE_HOME", self.folder.path().join("cache"));
        command.env("XDG_DATA_HOME", self.folder.path().join("data")).env_remove("XDG_CONFIG_HOME");
        command
    }

    fn search(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(app().unwrap());
        command.args(["sessions", "search"]).args(arguments).current_dir(&self.project);
        command.env("HOME", self.folder.path()).env("CLAUDE_CONFIG_DIR", self.folder.path().join("config"));
        command.env("XDG_DATA_HOME", self.folder.path().join("data"));
        command.env_remove("XDG_CONFIG_HOME").output().unwrap()
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
fn the_text_of_stored_sessions_is_searched() {
    if app().is_none() {
        return;
    }
    let home = Home::new();
    assert_eq!(home.search(&["sleep"]).status.code(), Some(1), "there is no store yet");
    home.put(1, "killed_in_tool");
    home.put(2, "other_folder");
    let output = home.search(&["\"sleep A\"", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let found: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["agentSessionId"], FIRST);
    assert_eq!(
        (&found[0]["projectName"], &found[0]["title"]),
        (&"my project".into(), &"Sleep a little".into())
    );
    assert!(
        found[0]["hits"]
            .as_array()
            .unwrap()
            .iter()
            .any(|hit| hit["place"] == "prompt" && hit["itemId"].is_string())
    );

    let text = String::from_utf8(home.search(&["sleep"]).stdout).unwrap();
    assert!(
        text.contains("my project  Sleep a little\n") && text.contains("prompt: Sleep a little\n"),
        "{text}"
    );
    assert_eq!(home.search(&["wombat"]).status.code(), Some(1));
    let bad = home.search(&["sleep", "after:soon"]);
    assert_eq!(bad.status.code(), Some(2));
    assert!(String::from_utf8(bad.stderr).unwrap().contains("“soon” is not a date"));
    assert!(
        home.search(&["--all", "cwd", "OR", "sleep"]).stdout.is_empty(),
        "all words have to be in one item"
    );
}

#[test]
fn the_sessions_of_a_profiles_own_folder_are_listed_searched_and_exported_with_its_name() {
    if app().is_none() {
        return;
    }
    let home = Home::new();
    home.put(2, "completed");
    let stored = home.put_in_profile(1, "killed_in_tool");
    let before = fs::read(&stored).unwrap();
    let listed = |home: &Home| {
        let output = home.list(&[]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut lines: Vec<(Value, Value)> =
            lines.map(|line| (line["title"].clone(), line["profile"].clone())).collect();
        lines.sort_by_key(|(title, _)| title.to_string());
        lines
    };
    let both =
        [("Round half to even in totals".into(), Value::Null), ("Sleep a little".into(), "Work".into())];
    assert_eq!(listed(&home), both);

    let output = home.search(&["\"sleep A\"", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["agentSessionId"], &found["profile"]), (&FIRST.into(), &"Work".into()));
    let exported = String::from_utf8(home.sessions(&["export", FIRST]).stdout).unwrap();
    assert!(exported.starts_with("# Sleep a little\n"), "{exported}");
    assert_eq!(fs::read(&stored).unwrap(), before, "the store is only read");

    // A conversation that both folders have is that of the usual one, and is found once.
    fs::copy(&stored, home.store.join(stored.file_name().unwrap())).unwrap();
    assert_eq!(listed(&home)[1], ("Sleep a little".into(), Value::Null));
    let output = home.search(&["\"sleep A\"", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["profile"], Value::Null);

    // A store that cannot be read hides no other one.
    let projects = stored.parent().unwrap().parent().unwrap();
    fs::remove_dir_all(projects).unwrap();
    fs::write(projects, "a file").unwrap();
    let output = home.list(&[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let output = home.search(&["\"sleep A\""]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("Sleep a little"), "{output:?}");
}

/// A relay with another agent keeps what that agent lists, and the list prints it below Claude Code's.
#[test]
fn the_sessions_that_another_agent_listed_in_a_relay_are_printed() {
    let Some(app) = app() else { return };
    let home = Home::new();
    home.put(1, "completed");
    let data = home.folder.path().join("data/deskbell");
    let (stores, of) = tokio::sync::watch::channel(Vec::new());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut relay = home.command(&[]);
    relay = {
        let mut command = Command::new(app);
        command.envs(relay.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    };
    relay.arg("relay").arg(format!("--project={}", home.project.display())).arg("--trust");
    relay
        .arg(format!("--agent-command={}", crate::program::demo_agent().display()))
        .arg("--agent-argument=--acp");
    relay.env("DESKBELL_DEMO_ACP", "list").current_dir(home.folder.path());
    let mut relay =
        relay.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
    let project = home.project.canonicalize().unwrap();
    let change = runtime.block_on(async {
        let agents = Some(data.join("agent-sessions"));
        let (_follower, mut changes) = Follower::of_stores(of, &project, None, agents);
        tokio::time::timeout(crate::life::DEADLINE, changes.recv()).await
    });
    assert_eq!(change.unwrap().unwrap().changed.len(), 2);
    drop((relay.stdin.take(), stores));
    assert!(relay.wait().unwrap().success());
    let output = home.list(&[]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_agents = rows.iter().filter(|row| !row["agent"].is_null());
    let ids: Vec<&str> = of_agents.map(|row| row["agentSessionId"].as_str().unwrap()).collect();
    assert_eq!((rows.len(), &ids[..]), (3, &["stored-1", "stored-2"][..]));
    assert_eq!(home.titles(&["--filter=moon"]), ["Moon phases"]);
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
    assert_eq!(home.titles(&[]), ["Round half to even in totals", "Sleep a little"]);
    // The second time from the cache.
    assert_eq!(fs::read_dir(home.folder.path().join("cache/deskbell/sessions")).unwrap().count(), 1);
    assert_eq!(home.titles(&["--filter=sleep LITTLE"]), ["Sleep a little"]);
    assert_eq!(home.titles(&["--filter=nothing"]), [""; 0]);

    let line = home.list(&["--filter=sleep"]).stdout;
    let session: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(session["state"]["type"], "interrupted");
    assert_eq!(session["agentSessionId"], FIRST);
    assert_eq!(session["live"], Value::Null);

    fs::create_dir(home.store.join("00000000-0000-4000-8000-000000000009.jsonl")).unwrap();
    let output = home.list(&[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 file of"), "{output:?}");
}

#[test]
fn a_stored_session_is_exported_by_its_id_and_stays_as_it_is() {
    if app().is_none() {
        return;
    }
    let home = Home::new();
    let (id, stored) = (FIRST, home.put(1, "completed"));
    let before = fs::read(&stored).unwrap();

    let output = home.sessions(&["export", id]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("# Round half to even in totals\n"), "{text}");
    assert!(text.contains("\n> Round half to even in totals\n"), "{text}");
    let output = home.sessions(&["export", id, "--format=json"]);
    let file: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&file["agentSessionId"], &file["version"]), (&id.into(), &1.into()));
    assert_eq!(file["project"], home.project.to_str().unwrap());
    assert_eq!(file["items"][0]["item"]["body"]["text"], "Round half to even in totals");

    let page = home.folder.path().join("page.html");
    let to_page = ["export", id, "--output=page.html"];
    assert!(home.sessions(&to_page).status.success());
    assert!(
        fs::read_to_string(&page).unwrap().contains("<div class=\"text\">Round half to even in totals</div>")
    );
    fs::write(&page, "mine").unwrap();
    let output = home.sessions(&to_page);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("exists already; --force replaces it"),
        "{output:?}"
    );
    assert_eq!(fs::read_to_string(&page).unwrap(), "mine");
    assert!(home.sessions(&[&to_page[..], &["--force"]].concat()).status.success());
    assert!(fs::read_to_string(&page).unwrap().starts_with("<!doctype html>"));

    let output = home.sessions(&["export", "00000000-0000-4000-8000-000000000002"]);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("has stored no session with the id"),
        "{output:?}"
    );
    assert_eq!(fs::read(&stored).unwrap(), before);
}

/// The agent's own file has only the input that the agent wanted.
#[test]
fn what_ran_after_an_edit_is_exported_watched_and_found() {
    use std::io::{BufRead, BufReader};

    if app().is_none() {
        return;
    }
    let home = Home::new();
    home.put(1, "completed");
    // The sessions of a server are in a folder of its version.
    let sessions = home.folder.path().join("data/deskbell/server/0.0.1/sessions");
    fs::create_dir_all(&sessions).unwrap();
    let memory = serde_json::json!({"agent_session_id": FIRST,
        "changed_inputs": [{"tool_use_id": "toolu_1", "input": {"command": "cargo check --offline"}}]});
    let record = serde_json::json!({"id": "s", "project": home.project, "agent": "claude", "created_at": 1,
        "changed_at": 1, "memory": memory});
    fs::write(sessions.join("s.json"), record.to_string()).unwrap();
    for format in ["markdown", "json", "html"] {
        let output = home.sessions(&["export", FIRST, &format!("--format={format}")]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("cargo check --offline"), "{format}: {text}");
    }
    let mut watch = home.command(&["watch", FIRST]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let call = lines.find_map(|line| {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        (event["item"]["body"]["type"] == "toolCall").then(|| event["item"]["body"].clone())
    });
    assert_eq!(call.unwrap()["subject"], "cargo check --offline");
    watch.kill().unwrap();
    watch.wait().unwrap();
    assert!(home.search(&["offline"]).status.success());
    assert_eq!(home.search(&["\"cargo test\""]).status.code(), Some(1), "it did not run");
}

#[test]
fn a_session_is_watched_while_another_program_writes_it_and_marked_for_the_list() {
    use std::io::{BufRead, BufReader, Write};

    if app().is_none() {
        return;
    }
    let home = Home::new();
    let (id, stored) = (FIRST, home.put(1, "completed"));
    let mut watch = home.command(&["watch", id]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut next = |kind: &str| loop {
        let event: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        if event["type"] == "itemAdded" && event["item"]["body"]["type"] == kind {
            break event;
        }
    };
    assert_eq!(next("prompt")["item"]["body"]["text"], "Round half to even in totals");
    let text = fs::read_to_string(&stored).unwrap();
    let mut uuids = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok()?["uuid"].as_str().map(str::to_owned));
    let line = serde_json::json!({"type": "user", "uuid": "new", "parentUuid": uuids.next_back(), "cwd": home.project,
        "message": {"role": "user", "content": "said in a terminal"}});
    let mut file = fs::OpenOptions::new().append(true).open(&stored).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
    loop {
        let event = next("prompt");
        if event["item"]["body"]["text"] == "said in a terminal" {
            assert_ne!(event["seq"], 0, "only the new line is sent");
            break;
        }
    }
    watch.kill().unwrap();
    watch.wait().unwrap();

    assert!(home.sessions(&["archive", id]).status.success());
    let mark = |home: &Home| serde_json::from_slice::<Value>(&home.list(&[]).stdout).unwrap()["mark"].clone();
    assert_eq!(mark(&home), "archived");
    assert!(home.sessions(&["unarchive", id]).status.success());
    assert_eq!(mark(&home), Value::Null);
}

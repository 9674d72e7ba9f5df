//! Questions about the folder of a session: answered by its server, and about this folder only.

use super::is_turn_end;
use super::mirror::Window;
use super::world::{Client, World};
use crate::life::DEADLINE;
use deskbell_engine::api::*;
use deskbell_engine::session::CheckedAnswer;
use deskbell_tests::relay::text_of;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use tokio::time::timeout;

/// The answer to a question, with its error.
async fn ask(client: &mut Client, session: &str, nr: u64, question: Value) -> Value {
    client.send(json!({"type": "ask", "nr": nr, "sessionId": session, "question": question})).await;
    client.until("an answer", |line| line["type"] == "answer" && line["nr"] == nr).await
}

/// A folder with a few files, and a way out of it.
fn fill(world: &World) {
    let project = world.root().join("project");
    fs::create_dir(project.join("src")).unwrap();
    fs::write(project.join("src/tide.rs"), "fn tide() {}\n").unwrap();
    fs::write(world.root().join("tide-secret.txt"), "").unwrap();
    symlink(world.root(), project.join("out")).unwrap();
}

fn paths(found: &Value) -> Vec<&str> {
    let files = found["files"].as_array().expect("a list");
    files.iter().filter_map(|file| file["path"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_found_in_the_folder_of_the_session_and_nowhere_else() {
    let Some(world) = World::new() else { return };
    fill(&world);
    let mut client = world.attach().await;
    let session = client.open().await;
    let found = ask(&mut client, &session, 1, json!({"type": "files", "query": "tide"})).await;
    assert_eq!(paths(&found["answer"]), ["src/tide.rs"], "{found}");
    for query in ["../tide", "/etc/passwd", &world.root().display().to_string()] {
        let found = ask(&mut client, &session, 2, json!({"type": "files", "query": query})).await;
        assert!(paths(&found["answer"]).iter().all(|path| !path.contains("secret")), "{found}");
    }
    // A question of a newer client is refused, and not left without an answer.
    let refused = ask(&mut client, &session, 3, json!({"type": "weather", "of": "today"})).await;
    assert_eq!(refused["error"]["code"], "badCommand", "{refused}");
    world.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_gets_the_list_of_a_session_that_it_does_not_run() {
    let Some(world) = World::new() else { return };
    fill(&world);
    let window = Window::begin(&world).await;
    let found = answer(&window, FilesQuery { query: "tide".to_owned() }).await;
    let paths: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((paths, found.is_cut), (vec!["src/tide.rs"], false));
    drop(window);
    let client = world.attach().await;
    world.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_a_text_names_are_read_in_the_folder_and_nowhere_else() {
    let Some(world) = World::new() else { return };
    fill(&world);
    let mut client = world.attach().await;
    let session = client.open().await;
    let outside = ["../tide-secret.txt", "out/tide-secret.txt", "/etc/passwd", "//192.0.2.1/a", "src", ""];
    let paths: Vec<&str> = ["./src/tide.rs"].into_iter().chain(outside).collect();
    let found = ask(&mut client, &session, 1, json!({"type": "namedFiles", "paths": paths})).await;
    let expected: Vec<Value> =
        [json!("src/tide.rs")].into_iter().chain(outside.map(|_| Value::Null)).collect();
    assert_eq!(found["answer"], json!(expected), "{found}");
    for path in outside {
        let text = ask(&mut client, &session, 2, json!({"type": "fileText", "path": path, "line": 1})).await;
        assert_eq!(text["error"]["code"], "refused", "{path}: {text}");
    }
    client.kill().await;

    let window = Window::again(&world).await;
    let read = timeout(
        DEADLINE,
        window.session.query(FileTextQuery { path: "src/tide.rs".to_owned(), line: Some(1) }),
    )
    .await;
    let read = read.unwrap().unwrap();
    let text: String = read.lines[0].tokens.iter().map(|token| token.text.as_str()).collect();
    assert_eq!((read.path.as_str(), text.as_str(), read.n_lines), ("src/tide.rs", "fn tide() {}", 1));
    drop(window);
    let client = world.attach().await;
    world.end(client).await;
}

/// A repository in the folder, with one commit and a change since.
fn commit(world: &World) {
    let project = world.root().join("project");
    let git = |arguments: &[&str]| {
        let own = ["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgSign=false"];
        let mut command = std::process::Command::new("git");
        command.args(own).args(arguments).current_dir(&project).env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(command.env("HOME", world.root()).output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "src"]);
    git(&["commit", "-q", "-m", "one"]);
    fs::write(project.join("src/tide.rs"), "fn ebb() {}\n").unwrap();
}

/// The answer of the server to a query of a window.
async fn answer<Q: CheckedAnswer>(window: &Window, query: Q) -> Q::Answer {
    let answer = window.session.mirrored().unwrap().query(query);
    timeout(DEADLINE, answer).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_those_of_the_folder_and_no_diff_shows_a_file_outside_of_it() {
    let Some(world) = World::new() else { return };
    fill(&world);
    commit(&world);
    let mut client = world.attach().await;
    let session = client.open().await;
    let changes = ask(&mut client, &session, 1, json!({"type": "changes"})).await;
    assert_eq!(changes["answer"]["base"]["type"], "commit", "{changes}");
    assert!(paths(&changes["answer"]).contains(&"src/tide.rs"), "{changes}");
    for path in ["../tide-secret.txt", "out/tide-secret.txt", "/etc/passwd", ""] {
        let diff = ask(&mut client, &session, 2, json!({"type": "fileDiff", "path": path})).await;
        assert!(diff["answer"]["diff"].is_null(), "{path}: {diff}");
    }
    client.kill().await;

    let window = Window::again(&world).await;
    let changes = answer(&window, ChangesQuery { against: Against::Commit }).await;
    assert!(changes.files.iter().any(|file| file.path == "src/tide.rs"), "{changes:?}");
    let diff =
        answer(&window, FileDiffQuery { path: "src/tide.rs".to_owned(), against: Against::Commit }).await;
    let shown = diff.diff.expect("a diff");
    assert_eq!((shown.added, shown.removed, diff.version.is_some()), (1, 1, true));
    drop(window);
    let client = world.attach().await;
    world.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_folder_is_compared_with_each_prompt_and_reverted_to_it() {
    let Some(world) = World::new() else { return };
    fill(&world);
    commit(&world);
    let file = world.root().join("project/src/tide.rs");
    let mut client = world.attach().await;
    let session = client.open().await;
    client.attach(&session, None).await;
    let none = ask(&mut client, &session, 1, json!({"type": "changes", "against": "session"})).await;
    assert_eq!(none["answer"]["base"]["type"], "noPrompt", "{none}");
    let mut moments = Value::Null;
    for (nr, (text, content)) in
        [("SAY one", "fn flow() {}\n"), ("SAY two", "fn slack() {}\n")].into_iter().enumerate()
    {
        client.prompt(&session, &format!("p{nr}"), text).await;
        client.until("the end of the turn", |line| line["type"] == "turnEnded").await;
        // The folder is read while the agent works, which a busy machine may do late.
        loop {
            moments = ask(&mut client, &session, 2, json!({"type": "promptMoments"})).await["answer"].clone();
            if moments.as_array().unwrap().len() == nr + 1 {
                break;
            }
        }
        fs::write(&file, content).unwrap();
    }
    let texts: Vec<&str> =
        moments.as_array().unwrap().iter().filter_map(|one| one["text"].as_str()).collect();
    assert_eq!(texts, ["SAY two", "SAY one"]);
    let first = json!({"at": moments[1]["since"]});
    for (nr, (against, removed)) in [
        (json!("commit"), "fn tide() {}"),
        (json!("session"), "fn ebb() {}"),
        (first, "fn ebb() {}"),
        (json!("prompt"), "fn flow() {}"),
    ]
    .into_iter()
    .enumerate()
    {
        let nr = 10 * (nr as u64 + 1);
        let changes = ask(&mut client, &session, nr, json!({"type": "changes", "against": against})).await;
        assert!(paths(&changes["answer"]).contains(&"src/tide.rs"), "{against}: {changes}");
        let question = json!({"type": "patch", "path": "src/tide.rs", "against": against});
        let patch = ask(&mut client, &session, nr + 1, question).await;
        let text = patch["answer"]["text"].as_str().unwrap_or_default();
        assert!(
            text.contains(&format!("-{removed}")) && text.contains("+fn slack() {}"),
            "{against}: {patch}"
        );
    }
    let question = json!({"type": "fileDiff", "path": "src/tide.rs", "against": "prompt"});
    let diff = ask(&mut client, &session, 90, question).await;
    let version = diff["answer"]["version"].as_str().expect("a version");
    let change = json!({"type": "revert", "against": "prompt", "path": "src/tide.rs", "version": version});
    let done = revert(&mut client, &session, "one", change).await;
    assert_eq!(
        (&done["type"], fs::read_to_string(&file).unwrap().as_str()),
        (&json!("accepted"), "fn flow() {}\n")
    );
    let unknown = json!({"type": "revert", "against": {"at": 7}, "path": "src/tide.rs", "version": version});
    assert_eq!(revert(&mut client, &session, "two", unknown).await["type"], "refused");
    world.end(client).await;
}

/// The agent's own copies of `a.txt`, as Claude Code lists them in its transcript: `one` before the first prompt, and `two`
/// before the second.
fn keep_copies(world: &World, conversation: &str) {
    let config = world.data.join("deskbell/demo");
    let name = format!("{conversation}.jsonl");
    let folders = fs::read_dir(config.join("projects")).unwrap().map(|entry| entry.unwrap().path());
    let transcript = folders.map(|folder| folder.join(&name)).find(|path| path.is_file()).unwrap();
    let mut lines = fs::read_to_string(&transcript).unwrap();
    let prompts: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["type"] == "user" && line["message"]["content"].to_string().contains("TOOL Edit"))
        .map(|line| line["uuid"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(prompts.len(), 2);
    let copies = config.join("file-history").join(conversation);
    fs::create_dir_all(&copies).unwrap();
    for (nr, (prompt, content)) in prompts.iter().zip(["one\n", "two\n"]).enumerate() {
        let (name, version) = (format!("0@v{}", nr + 1), nr + 1);
        fs::write(copies.join(&name), content).unwrap();
        let backups = json!({"a.txt": {"backupFileName": name, "version": version}});
        let snapshot = json!({"messageId": prompt, "trackedFileBackups": backups});
        lines += &format!("{}\n", json!({"type": "file-history-snapshot", "snapshot": snapshot}));
    }
    fs::write(transcript, lines).unwrap();
}

fn added(diff: &FileDiff) -> Vec<String> {
    let lines = diff.diff.iter().flat_map(|diff| &diff.hunks).flat_map(|hunk| &hunk.lines);
    let added = lines.filter(|line| line.kind == DiffKind::Added || line.kind == DiffKind::Removed);
    added.map(|line| line.parts.iter().map(|part| part.text.as_str()).collect()).collect()
}

/// Without git the server compares what the agent edited with the agent's copies, which only it can read.
#[tokio::test(flavor = "multi_thread")]
async fn without_git_the_edits_of_the_agent_are_the_changes() {
    let Some(world) = World::new() else { return };
    let file = world.root().join("project/a.txt");
    fs::write(world.root().join("project/other.txt"), "x\n").unwrap();
    let mut client = world.attach().await;
    let session = client.open().await;
    let none = ask(&mut client, &session, 1, json!({"type": "edits", "sincePrompt": false})).await;
    assert!(none["answer"].is_null() && none["error"].is_null(), "{none}");
    client.attach(&session, None).await;
    client.command(&session, "mode", json!({"type": "setMode", "mode": "acceptEdits"})).await;
    client.answer_to("mode").await;
    for (nr, (old, new)) in [("one", "two"), ("two", "three")].into_iter().enumerate() {
        let edit = json!({"file_path": file, "old_string": old, "new_string": new});
        client.prompt(&session, &format!("p{nr}"), &format!("TOOL Edit {edit}\nSAY done")).await;
        client.until("the end of the turn", is_turn_end).await;
    }
    let opened = ask(&mut client, &session, 2, json!({"type": "changes"})).await;
    assert_eq!(opened["answer"]["base"], json!({"type": "edits", "sincePrompt": false}), "{opened}");
    client.kill().await;

    let window = Window::again(&world).await;
    let (snapshot, _events) = window.follow().await;
    keep_copies(&world, &snapshot.session.agent_session_id.unwrap());
    // The demo agent only says that it edits.
    fs::write(&file, "three\n").unwrap();
    let wait = |since_prompt| timeout(DEADLINE, window.session.query(EditsQuery { since_prompt }));
    for (since_prompt, before) in [(false, "one"), (true, "two")] {
        let changes = wait(since_prompt).await.unwrap().unwrap().unwrap();
        assert_eq!(changes.base, ChangesBase::Edits { since_prompt });
        let listed: Vec<_> = changes.files.iter().map(|file| (file.path.as_str(), file.added)).collect();
        assert_eq!(listed, [("a.txt", Some(1))]);
        let diff = window.session.query(EditDiffQuery { since_prompt, path: "a.txt".to_owned() });
        let diff = timeout(DEADLINE, diff).await.unwrap().unwrap().unwrap();
        assert_eq!(added(&diff), [before, "three"]);
        let other = window.session.query(EditDiffQuery { since_prompt, path: "other.txt".to_owned() });
        let other = timeout(DEADLINE, other).await.unwrap().unwrap().unwrap();
        assert!(other.diff.is_none(), "{other:?}");
    }
    // What a client that only knows the changes asks.
    let changes = answer(&window, ChangesQuery { against: Against::Commit }).await;
    assert_eq!(changes.base, ChangesBase::Edits { since_prompt: false });
    let diff = answer(&window, FileDiffQuery { path: "a.txt".to_owned(), against: Against::Commit }).await;
    assert_eq!(added(&diff), ["one", "three"]);
    // With git, the state of the folder at the prompt is still unknown.
    fill(&world);
    commit(&world);
    let changes = answer(&window, ChangesQuery { against: Against::Prompt }).await;
    assert_eq!(changes.base, ChangesBase::Edits { since_prompt: true });
    let problem = changes.problem.unwrap_or_default();
    assert_eq!(problem, "Deskbell does not know the folder at the last prompt.");
    drop(window);
    let client = world.attach().await;
    world.end(client).await;
}

/// Sends a revert, and returns the answer.
async fn revert(client: &mut Client, session: &str, id: &str, change: Value) -> Value {
    let run = client.run.clone();
    client
        .send(json!({"type": "revert", "id": id, "run": run, "sessionId": session, "change": change}))
        .await;
    client.answer_to(id).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_reverted_once_and_the_revert_can_be_undone() {
    let Some(world) = World::new() else { return };
    fill(&world);
    commit(&world);
    let file = world.root().join("project/src/tide.rs");
    let (old, new) = ("fn tide() {}\n", "fn ebb() {}\n");
    let mut client = world.attach().await;
    let session = client.open().await;
    let diff = ask(&mut client, &session, 1, json!({"type": "fileDiff", "path": "src/tide.rs"})).await;
    let version = diff["answer"]["version"].as_str().expect("a version").to_owned();
    let patch = ask(&mut client, &session, 2, json!({"type": "patch", "path": "src/tide.rs"})).await;
    assert!(patch["answer"]["text"].as_str().is_some_and(|text| text.contains("+fn ebb() {}")), "{patch}");

    let change = |path: &str, version: &str| json!({"type": "revert", "path": path, "version": version});
    for (id, path) in [("out", "../tide-secret.txt"), ("link", "out/tide-secret.txt"), ("abs", "/etc/passwd")]
    {
        let refused = revert(&mut client, &session, id, change(path, &version)).await;
        assert_eq!(refused["type"], "refused", "{path}: {refused}");
    }
    let other = revert(&mut client, &session, "stale", change("src/tide.rs", "other")).await;
    assert_eq!((&other["type"], fs::read_to_string(&file).unwrap().as_str()), (&json!("refused"), new));

    let done = revert(&mut client, &session, "one", change("src/tide.rs", &version)).await;
    assert_eq!((&done["type"], fs::read_to_string(&file).unwrap().as_str()), (&json!("accepted"), old));
    // The user edits on. A request that is sent again is answered and not carried out again.
    fs::write(&file, new).unwrap();
    let again = revert(&mut client, &session, "one", change("src/tide.rs", &version)).await;
    assert_eq!((&again["type"], fs::read_to_string(&file).unwrap().as_str()), (&json!("accepted"), new));
    fs::write(&file, old).unwrap();

    let unknown = revert(&mut client, &session, "undo-x", json!({"type": "undo", "of": "x"})).await;
    assert_eq!(unknown["type"], "refused", "{unknown}");
    let undone = revert(&mut client, &session, "undo", json!({"type": "undo", "of": "one"})).await;
    assert_eq!((&undone["type"], fs::read_to_string(&file).unwrap().as_str()), (&json!("accepted"), new));
    world.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_continued_or_copied_in_a_session_of_its_own() {
    let Some(world) = World::new() else { return };
    let mut client = world.attach().await;
    let session = client.open().await;
    client.attach(&session, None).await;
    client.prompt(&session, "p", "SAY the first lamp").await;
    let has_id = |line: &Value| line["session"]["agentSessionId"].is_string();
    let is_turn_end = |line: &Value| line["type"] == "turnEnded";
    let (told, _) = client.until_both("the agent's id and the end of the turn", has_id, is_turn_end).await;
    let of = told["session"]["agentSessionId"].as_str().unwrap().to_owned();

    let mut open = async |id: &str, more: Value| {
        let mut new = json!({"project": world.project(), "agent": "demo"});
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.send(json!({"type": "open", "id": id, "run": client.run, "session": new})).await;
        client.answer_to(id).await
    };
    let both = open("both", json!({"fork": {"of": of}, "resume": of})).await;
    assert_eq!(both["type"], "refused", "{both}");
    let bad = open("bad", json!({"fork": {"of": "../../etc"}})).await;
    assert_eq!(bad["type"], "refused", "{bad}");
    let copy = open("copy", json!({"fork": {"of": of}, "title": "A copy\u{1b}[2J\nof it"})).await;
    let copy = copy["sessionId"].as_str().unwrap_or_else(|| panic!("{copy}")).to_owned();
    client.attach(&copy, None).await;
    let shown = client.until("snapshot", |line| line["type"] == "snapshot").await;
    assert_eq!(shown["snapshot"]["session"]["title"], "A copy[2J of it", "{shown}");
    client.prompt(&copy, "q", "RECALL").await;
    let is_answer = |line: &Value| {
        line["sessionId"] == copy.as_str()
            && line["item"]["body"]["type"] == "text"
            && line["item"]["body"]["streaming"] == false
    };
    let answer = client.until("answer", is_answer).await;
    assert!(text_of(&answer["item"]["body"]).contains("the first lamp"), "{answer}");
    world.end(client).await;
}

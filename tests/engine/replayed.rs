//! A recording folds to the same session: item by item, with every time in it.

use crate::life::{Life, Setup};
use deskbell_engine::api::*;
use deskbell_engine::recorder::Recording;
use deskbell_engine::replay::Replayed;
use std::path::PathBuf;
#[cfg(unix)]
use std::time::Duration;

/// Ends a session, and compares its replay with it.
async fn folds_to_what_it_was(name: &str, mut life: Life, path: PathBuf) {
    let items = life.items().await;
    let session = life.snapshot().await.session;
    let setup = life.close().await;
    let recording = Recording::parse(&std::fs::read(&path).unwrap());
    assert!(recording.unreadable.is_empty(), "{name}");
    let replayed = Replayed::of(&recording.lines);
    for (idx, item) in items.iter().enumerate() {
        assert_eq!(Some(item), replayed.items.get(idx), "{name}: item {idx}");
    }
    assert!(items.len() <= replayed.items.len(), "{name}");
    let told = replayed.events.iter().rev().find_map(|event| match event {
        Event::TurnEnded { turn } => Some(turn.clone()),
        _ => None,
    });
    let last = items.iter().rev().find_map(|item| match &item.body {
        Body::TurnEnd(turn) => Some(turn.clone()),
        _ => None,
    });
    assert_eq!(told, last, "{name}: the last turn, of {session:?}");
    drop(setup);
}

async fn decide(life: &mut Life, decision: Decision) {
    let request = life.request().await;
    let shown = Some(request.shown);
    life.command(Command::Decide { request_id: request.id, shown, decision }).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_is_the_life_that_was_recorded() {
    for nr in 0..20 {
        let (setup, path) = Setup::demo().recorded();
        let mut life = setup.open().await;
        life.prompt("SAY one\nTOOL Bash {\"command\": \"touch a.txt\"}\nSAY two").await;
        // While the turn runs: reads and commands interleave.
        life.prompt("SAY queued").await;
        life.command(Command::SetEffort { effort: Some("high".to_owned()) }).await.unwrap();
        let decision = match nr % 2 {
            0 => Decision::AllowOnce { updated_input: None },
            _ => Decision::Deny { message: "no".to_owned(), interrupt: false },
        };
        decide(&mut life, decision).await;
        life.turn_end().await;
        life.command(Command::SetMode { mode: PermissionMode::Plan }).await.unwrap();
        life.turn_end().await;
        life.prompt("THINK hm | SAY three").await;
        // Before its turn has begun, an interrupt holds it.
        life.turn_started().await;
        life.command(Command::Interrupt).await.unwrap();
        life.turn_end().await;
        life.turn("/clear").await;
        life.turn("SAY after it").await;
        folds_to_what_it_was(&format!("life {nr}"), life, path).await;
    }
}

/// Each path into a recording, with a secret of its own.
#[tokio::test(flavor = "multi_thread")]
async fn no_secret_reaches_a_recording_by_any_way() {
    let secret = |nr: u32| format!("sk-ant-api03-{nr:04}{}", "seed5ecret".repeat(3));
    let said = serde_json::json!({"type": "assistant", "message": {"id": "m", "content": [
        {"type": "text", "text": format!("the key is {}", secret(1))},
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": format!("curl -H 'x-api-key: {}'", secret(2))}},
    ]}});
    let result = serde_json::json!({"type": "user", "message": {"content": [
        {"type": "tool_result", "tool_use_id": "t", "content": format!("KEY={}", secret(3))}]},
        "tool_use_result": {"stdout": secret(4), secret(5): true}});
    let odd = serde_json::json!({"type": "system", "subtype": "init", "session_id": "s", "cwd": "/home/seed5ecret/x",
        "apiKeySource": secret(6), "memory_paths": {"auto": "/Users/seed5ecret/.claude/projects/-home-seed5ecret-x"}});
    let lines = format!("{odd}\n{said}\n{result}\nnot JSON: {}\n", secret(7));
    let script = format!(
        "ready; hear; hear; cat lines; echo 'Bearer {}' >&2; result; hear; until_end_of_input",
        secret(8)
    );
    let mut setup = Setup::shell(&script).file("lines", lines.as_bytes());
    setup.memory.title = Some(format!("title {}", secret(9)));
    let (setup, path) = setup.recorded();
    let mut life = setup.open().await;
    life.turn(&format!("my key is {}", secret(10))).await;
    life.command(Command::Rename { title: secret(11) }).await.unwrap();
    let setup = life.close().await;
    // The script is the agent's program here, and is in the arguments that it was started with.
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().find(|line| line.contains("seed5ecret")), None);
    assert!(text.contains("the key is <key>") && text.contains("KEY=<"), "what is no secret stays");
    drop(setup);
}

/// A recording that begins while the agent runs, between two turns.
#[tokio::test(flavor = "multi_thread")]
async fn a_recording_of_an_open_session_has_what_came_after_its_start() {
    let (setup, mut life) = (tempfile::tempdir().unwrap(), Setup::demo().open().await);
    life.turn("SAY before").await;
    let session = life.session().clone();
    assert_eq!(session.recording(), None);
    let begun = session.record(setup.path().join("recordings")).await.unwrap();
    assert!(begun.is_running && begun.problem.is_none());
    let path = std::path::PathBuf::from(&begun.path);
    assert_eq!(session.recording().map(|recording| recording.path), Some(begun.path));
    let again = session.record(setup.path().join("recordings")).await.unwrap_err();
    assert_eq!(again.message, "This session is being recorded already.");
    let secret = "sk-ant-api03-0123456789abcdefghij";
    life.prompt(&format!("SAY the key is {secret}\nTOOL Bash {{\"command\": \"touch a.txt\"}}\nSAY after"))
        .await;
    decide(&mut life, Decision::AllowOnce { updated_input: None }).await;
    life.turn_end().await;
    let items = life.items().await;
    let stopped = session.stop_recording().await.unwrap().unwrap();
    assert_eq!((stopped.is_running, stopped.problem), (false, None));
    assert_eq!(stopped.n_bytes, path.metadata().unwrap().len());
    assert_eq!(session.stop_recording().await.unwrap(), None);
    life.turn("SAY unrecorded").await;

    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains(secret) && !text.contains("unrecorded"), "{text}");
    let replayed = Replayed::of(&Recording::parse(text.as_bytes()).lines);
    assert!(!replayed.is_in_turn);
    let kinds = |items: &[Item]| -> Vec<String> {
        let one = |item: &Item| match &item.body {
            Body::Prompt { state, .. } => format!("prompt {state:?}"),
            Body::ToolCall(call) => format!("call {:?}", call.state),
            Body::Text { streaming, .. } => format!("text {streaming}"),
            Body::TurnEnd(turn) => format!("end {:?}", turn.outcome),
            other => format!("{other:?}"),
        };
        items.iter().map(one).collect()
    };
    let recorded = &items[items.len() - replayed.items.len()..];
    assert_eq!(kinds(&replayed.items), kinds(recorded));
    assert_eq!(kinds(recorded), ["prompt Done", "text false", "call Succeeded", "text false", "end Done"]);
    // Only the user can read it.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
    life.close().await;
}

/// A recording that begins within a turn says so, and has the rest of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_recording_that_begins_within_a_turn_says_so() {
    let (setup, mut life) = (tempfile::tempdir().unwrap(), Setup::demo().open().await);
    life.prompt("TOOL Bash {\"command\": \"touch a.txt\"}\nSAY the rest").await;
    let request = life.request().await;
    let recording = life.session().record(setup.path().to_owned()).await.unwrap();
    let decision = Decision::AllowOnce { updated_input: None };
    let shown = Some(request.shown);
    life.command(Command::Decide { request_id: request.id, shown, decision }).await.unwrap();
    life.turn_end().await;
    life.turn("SAY another").await;
    life.close().await;
    let replayed = Replayed::of(&Recording::read(recording.path.as_ref()).unwrap().lines);
    assert!(replayed.is_in_turn);
    let text = replayed.text();
    assert!(text.contains("the rest") && text.contains("another"), "{text}");
}

/// On Windows a file that is being written cannot be removed.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_recording_whose_folder_is_removed_ends_at_once_and_the_session_goes_on() {
    let (setup, mut life) = (tempfile::tempdir().unwrap(), Setup::demo().open().await);
    let folder = setup.path().join("recordings");
    let begun = life.session().record(folder.clone()).await.unwrap();
    life.turn("SAY before").await;
    let failed = life.session().recording_failed();
    std::fs::remove_dir_all(&folder).unwrap();
    life.turn("SAY after").await;
    let failed = tokio::time::timeout(Duration::from_secs(60), failed).await.unwrap().unwrap();
    assert_eq!(failed.path, begun.path);
    assert_eq!((failed.is_running, failed.n_bytes), (false, 0));
    assert_eq!(failed.problem.as_deref(), Some("its file was removed or moved"));
    assert_eq!(life.session().recording(), Some(failed), "a window that is opened later is informed, too");

    let again = life.session().record(folder).await.unwrap();
    assert_eq!(life.session().recording().map(|recording| recording.is_running), Some(true));
    life.turn("SAY again").await;
    assert_eq!(life.session().stop_recording().await.unwrap().unwrap().problem, None);
    assert!(Replayed::of(&Recording::read(again.path.as_ref()).unwrap().lines).text().contains("again"));
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_written_is_named_and_the_session_goes_on() {
    let (setup, mut life) = (tempfile::tempdir().unwrap(), Setup::demo().open().await);
    let file = setup.path().join("a file");
    std::fs::write(&file, "x").unwrap();
    let error = life.session().record(file.clone()).await.unwrap_err();
    assert!(error.message.contains(&file.display().to_string()), "{error:?}");
    assert!(error.message.ends_with("The session goes on without it."), "{error:?}");
    assert_eq!(life.session().recording(), None);
    life.turn("SAY fine").await;
    life.close().await;
}

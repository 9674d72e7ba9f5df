//! The sessions in the agent's own store: those of a terminal are listed, filtered, opened and continued.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{AgentStub, Desktop, LONG, SHORT, eventually};

use crate::stage::{PROJECT, Stage};

fn config(desktop: &Desktop) -> PathBuf {
    desktop.home().join(".claude")
}

/// A session in a terminal, from its start to its end.
fn terminal(desktop: &Desktop, folder: &Path, prompt: &str) -> Result<()> {
    let (mut child, stdin) = open_terminal(desktop, folder, prompt)?;
    drop(stdin);
    let status = child.wait()?;
    ensure!(status.success(), "the session in the terminal ended with {status}");
    Ok(())
}

/// A session in a terminal that stays open until its stdin is closed.
fn open_terminal(desktop: &Desktop, folder: &Path, prompt: &str) -> Result<(Child, ChildStdin)> {
    let mut command = desktop.command(AgentStub::telling(desktop)?);
    command.args(["-p", "--input-format=stream-json", "--output-format=stream-json", "--verbose"]);
    command.current_dir(folder).env("CLAUDE_CONFIG_DIR", config(desktop));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().context("starting it")?;
    let line = serde_json::json!({"type": "user", "message": {"role": "user", "content": prompt}});
    let mut stdin = child.stdin.take().context("it has a stdin")?;
    writeln!(stdin, "{line}")?;
    Ok((child, stdin))
}

/// What the process of a terminal reports about itself. The double reports no activity.
fn report(desktop: &Desktop, folder: &Path, process: &Child, session: &str, status: &str) -> Result<()> {
    let mark = config(desktop).join("sessions").join(format!("{}.json", process.id()));
    let (pid, cwd) = (process.id(), fs::canonicalize(folder)?);
    let text = serde_json::json!({"pid": pid, "sessionId": session, "cwd": cwd, "status": status});
    Ok(fs::write(mark, text.to_string())?)
}

/// The agent's transcripts, each with its content.
fn transcripts(desktop: &Desktop) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for folder in fs::read_dir(config(desktop).join("projects"))? {
        for file in fs::read_dir(folder?.path())? {
            let path = file?.path();
            if path.is_file() {
                files.insert(path.clone(), fs::read(path)?);
            }
        }
    }
    Ok(files)
}

const ROWS: &str = "[...document.querySelectorAll('nav[aria-label=\"Sessions\"] li')]";

/// The texts of the list's rows, from the top.
async fn rows(stage: &Stage) -> Result<Vec<String>> {
    let rows = stage.window.run(&format!("return {ROWS}.map((row) => row.textContent);"), Vec::new()).await?;
    Ok(serde_json::from_value(rows)?)
}

/// Waits for as many rows, each with its words, in any order.
async fn listed(stage: &Stage, words: &[&str]) -> Result<()> {
    let what = format!("the list has {words:?}");
    eventually(&what, SHORT, async || {
        let rows = rows(stage).await?;
        let all = words.iter().all(|words| rows.iter().any(|row| row.contains(words)));
        Ok((all && rows.len() == words.len()).then_some(()))
    })
    .await
}

async fn open(stage: &Stage, words: &str) -> Result<()> {
    let script = format!(
        "{ROWS}.find((row) => row.textContent.includes(arguments[0])).querySelector('button').click();"
    );
    stage.window.run(&script, vec![words.into()]).await.map(drop)
}

/// Opens the folder restricted: an agent needs a decision, and a look does not.
async fn restrict(stage: &Stage) -> Result<()> {
    let decision = serde_json::json!({"decision": "restrict", "fingerprint": null, "load": []});
    let decided = stage.window.invoke("decide_trust", decision).await?;
    ensure!(decided.is_ok(), "{decided:?}");
    Ok(())
}

pub async fn a_terminals_sessions_are_listed_filtered_opened_and_continued() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    let other = desktop.project("other")?;
    terminal(&desktop, &folder, "SAY the first lamp")?;
    terminal(&desktop, &folder, "SAY the second foghorn")?;
    terminal(&desktop, &other, "SAY elsewhere")?;
    let before = transcripts(&desktop)?;
    let starts = |desktop: &Desktop| {
        AgentStub::arguments(desktop).lines().filter(|argument| *argument == "-p").count()
    };
    let n_terminals = starts(&desktop);
    let stage = Stage::claude_on(desktop, folder).await?;
    stage
        .play("stored", async |stage| {
            listed(stage, &["SAY the first lamp", "SAY the second foghorn"]).await?;
            stage.window.screenshot("stored-list").await?;

            // Filtered with real keys.
            stage.pointer.activate(stage.window.frame()).await?;
            stage.window.run("document.querySelector('input[type=search]').focus();", Vec::new()).await?;
            stage.pointer.type_text("foghorn").await?;
            listed(stage, &["SAY the second foghorn"]).await?;
            stage.pointer.key("Escape").await?;
            listed(stage, &["SAY the first lamp", "SAY the second foghorn"]).await?;

            // Opened: shown, and nothing is started or written.
            open(stage, "SAY the first lamp").await?;
            stage.window.wait_text("log", "Conversation", "the first lamp", SHORT).await?;
            stage.window.wait_shows("Nothing runs until you send a prompt", SHORT).await?;
            stage.window.screenshot("stored-open").await?;
            ensure!(starts(&stage.desktop) == n_terminals, "looking at a session started an agent");
            ensure!(transcripts(&stage.desktop)? == before, "looking at a session wrote to the store");
            ensure!(stage.session_ids()?.is_empty(), "looking at a session saved it");

            // A terminal adds one while the window is open.
            terminal(&stage.desktop, &stage.folder, "SAY the third buoy")?;
            listed(stage, &["SAY the first lamp", "SAY the second foghorn", "SAY the third buoy"]).await?;

            restrict(stage).await?;

            // Continued: one row, one transcript that grew.
            stage.window.prompt("SAY it goes on").await?;
            stage.window.wait_said("it goes on", LONG).await?;
            stage.window.wait_idle(SHORT).await?;
            listed(stage, &["first lamp", "SAY the second foghorn", "SAY the third buoy"]).await?;
            let after = transcripts(&stage.desktop)?;
            ensure!(after.len() == before.len() + 1, "the conversation was forked: {:?}", after.keys());
            let grown = before.iter().filter(|(path, bytes)| after.get(*path) != Some(*bytes));
            let grown: Vec<_> = grown.collect();
            let [(path, was)] = grown[..] else { anyhow::bail!("changed: {grown:?}") };
            let is = &after[path];
            ensure!(is.starts_with(was), "the transcript was rewritten");
            ensure!(String::from_utf8_lossy(is).contains("it goes on"), "the prompt is not in it");
            Ok(())
        })
        .await
}

pub async fn a_word_is_found_in_a_terminals_session_and_opened_where_it_is() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    terminal(&desktop, &folder, "SAY the first lamp\nSAY a foghorn in the mist")?;
    terminal(&desktop, &folder, "SAY nothing of it")?;
    let before = transcripts(&desktop)?;
    let stage = Stage::claude_on(desktop, folder).await?;
    stage
        .play("search", async |stage| {
            listed(stage, &["SAY the first lamp", "SAY nothing of it"]).await?;
            stage.pointer.activate(stage.window.frame()).await?;
            stage.pointer.key("ctrl+shift+f").await?;
            stage.window.find("combobox", "Search in sessions").await?;
            stage.pointer.type_text("foghorn").await?;
            // The results of the first letters are there while the others are typed.
            eventually("only results with the word", SHORT, async || {
                let names = stage.window.names("option").await?;
                let is_found = names.iter().any(|name| name.contains("a foghorn in the mist"));
                Ok((is_found && names.iter().all(|name| name.contains("foghorn"))).then_some(()))
            })
            .await?;
            stage.desktop.screenshot("search").await?;
            stage.pointer.key("Return").await?;
            stage.window.wait_text("log", "Conversation", "a foghorn in the mist", SHORT).await?;
            stage.window.gone("combobox", "Search in sessions").await?;
            ensure!(transcripts(&stage.desktop)? == before, "searching wrote to the store");
            Ok(())
        })
        .await
}

pub async fn a_fork_goes_on_by_itself_and_leaves_its_origin_as_it_was() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    terminal(&desktop, &folder, "SAY the first lamp")?;
    let before = transcripts(&desktop)?;
    let stage = Stage::claude_on(desktop, folder).await?;
    stage
        .play("fork", async |stage| {
            listed(stage, &["SAY the first lamp"]).await?;
            restrict(stage).await?;
            open(stage, "SAY the first lamp").await?;
            stage.window.wait_text("log", "Conversation", "the first lamp", SHORT).await?;

            stage.pointer.activate(stage.window.frame()).await?;
            stage.pointer.key("ctrl+k").await?;
            stage.window.find("combobox", "Search commands and sessions").await?;
            stage.pointer.type_text("Fork this session").await?;
            stage.window.wait_text("listbox", "Results", "Fork this session", SHORT).await?;
            stage.pointer.key("Return").await?;
            let prompt = "SAY only in the fork";
            eventually("the fork is open", SHORT, async || Ok((rows(stage).await?.len() == 2).then_some(())))
                .await?;
            stage.window.prompt(prompt).await?;
            stage.window.wait_said("only in the fork", LONG).await?;
            stage.window.wait_idle(SHORT).await?;

            let after = transcripts(&stage.desktop)?;
            let made: Vec<_> = after.iter().filter(|(path, _)| !before.contains_key(*path)).collect();
            let [(_, fork)] = made[..] else { anyhow::bail!("made: {:?}", after.keys()) };
            let fork = String::from_utf8_lossy(fork);
            ensure!(fork.contains("the first lamp"), "the fork does not begin as its origin does: {fork}");
            ensure!(fork.contains(prompt), "the prompt is not in the fork: {fork}");
            let kept = before.iter().all(|(path, bytes)| after.get(path) == Some(bytes));
            ensure!(kept, "the fork wrote to its origin");
            Ok(())
        })
        .await
}

pub async fn the_board_shows_a_terminal_of_another_project_and_opens_it_to_watch() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    let other = desktop.project("windmill")?;
    let (mut process, stdin) = open_terminal(&desktop, &other, "SAY the sails turn")?;
    let session = eventually("the terminal's session is stored", SHORT, async || {
        let stored = transcripts(&desktop).unwrap_or_default();
        let said = stored.iter().find(|(_, text)| String::from_utf8_lossy(text).contains("end_turn"));
        Ok(said.and_then(|(path, _)| Some(path.file_stem()?.to_str()?.to_owned())))
    })
    .await?;
    let stage = Stage::claude_on(desktop, folder).await?;
    let watched = stage
        .play("board-terminal", async |stage| {
            let opened = stage.window.invoke("open_board", serde_json::json!({})).await?;
            ensure!(opened.is_ok(), "{opened:?}");
            let board = stage.app.window("All projects").await?;
            let row = async |words: &[&str]| {
                let rows =
                    "return [...document.querySelectorAll('.groups li')].map((row) => row.textContent);";
                eventually(&format!("the board has {words:?}"), SHORT, async || {
                    let rows: Vec<String> = serde_json::from_value(board.run(rows, Vec::new()).await?)?;
                    Ok(rows.iter().any(|row| words.iter().all(|words| row.contains(words))).then_some(()))
                })
                .await
            };
            row(&["Done", "the sails turn", "In another program", "windmill"]).await?;
            report(&stage.desktop, &other, &process, &session, "busy")?;
            row(&["Working", "the sails turn", "In another program"]).await?;
            board.drawn().await?;
            stage.desktop.screenshot("board-terminal").await?;

            board.run("document.querySelector('.groups [data-session]').click();", Vec::new()).await?;
            let window = stage.app.window("windmill").await?;
            window.click("button", "Decide later").await?;
            window.wait_text("log", "Conversation", "the sails turn", SHORT).await?;
            window.wait_shows("Working in another program", SHORT).await?;
            window.screenshot("board-terminal-open").await?;
            report(&stage.desktop, &other, &process, &session, "waiting")?;
            row(&["Needs input", "In another program"]).await
        })
        .await;
    drop(stdin);
    process.wait()?;
    watched
}

//! Conversations opened from the CLI's own files: they show what they showed live, and the files are only read.

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, StoredChange};
use deskbell_engine::history::{Additions, Kept};
use deskbell_engine::stored::Follower;
use deskbell_tests::real_cli::{CliChild, World};
use deskbell_tests::relay::{DEADLINE, Relay, app, text_of};
use deskbell_tests::wait::{LONG, eventually};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::timeout;

/// Every file of the store with its content.
fn store(world: &World) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![world.config.join("projects")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.clone(), fs::read(&path)?);
            }
        }
    }
    Ok(files)
}

pub fn transcript_file(world: &World, id: &str) -> Result<PathBuf> {
    let name = format!("{id}.jsonl");
    store(world)?.into_keys().find(|path| path.ends_with(&name)).with_context(|| format!("no {name}"))
}

/// An item as a line: the call that it is below, its kind and its words. `None` for what the CLI does not store: the ends
/// of turns, and the prompt of a command as it was written.
fn shown(item: &Value) -> Option<String> {
    let body = &item["body"];
    let words = match body["type"].as_str()? {
        "turnEnd" => return None,
        "prompt" if body["text"].as_str()?.starts_with('/') => return None,
        "toolCall" => format!("{} {} {}", body["verb"], body["subject"], body["state"]),
        "notice" => format!("{} {}", body["text"], body["detail"]),
        _ => text_of(body),
    };
    Some(format!("{} {}: {words}", item["parent"], body["type"]))
}

/// The items of each thread, in order.
pub fn threads<'a>(items: impl Iterator<Item = &'a Value>) -> BTreeMap<String, Vec<String>> {
    let mut threads: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for item in items {
        threads.entry(item["parent"].to_string()).or_default().extend(shown(item));
    }
    threads
}

/// The items of a conversation as its file has them.
pub fn reopened(world: &World, path: &Path) -> Result<Vec<Value>> {
    let kept = Kept::load(path)?.with_subagents_of(path);
    let transcript = kept.transcript(&world.project, &Additions::default());
    let items = serde_json::to_value(transcript.items().collect::<Vec<_>>())?;
    Ok(items.as_array().context("a list")?.clone())
}

/// A subagent that says something and itself starts one, calls that are made at the same time, and two compactions.
pub async fn a_reopened_conversation_shows_what_it_showed_live() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY the word is banana").await?;
    let agent = |prompt: &str| {
        json!({"description": "looks around", "prompt": prompt, "subagent_type": "general-purpose",
            "run_in_background": false})
    };
    let inner = format!(
        "TALK The outer starts. | TOOL Agent {}\nSAY The outer report.",
        agent("TALK The inner looks. | BASH echo inside\nSAY The inner report.")
    );
    relay.turn_allowing_all(&format!("TOOL Agent {}\nSAY It is over.", agent(&inner))).await?;
    let calls: Vec<Value> = ["sleep 0.3; echo first", "sleep 0.1; echo second", "echo third"]
        .iter()
        .map(|command| json!({"name": "Bash", "input": {"command": command, "description": "waits"}}))
        .collect();
    relay.turn_allowing_all(&format!("TOOLS {}\nSAY All three.", Value::from(calls))).await?;
    relay.turn("/compact").await?;
    relay.turn("SAY after it").await?;
    relay.turn("/compact").await?;
    relay.turn("SAY the last").await?;
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    let is_old = relay.is_old_cli()?;
    let finished = relay.finish().await?;
    ensure!(finished.status.success(), "{}", finished.stderr);

    let path = transcript_file(&world, &id)?;
    let before = store(&world)?;
    let items = finished.items();
    let (live, reopened) = (threads(items.iter()), threads(reopened(&world, &path)?.iter()));
    for (call, live) in &live {
        let item =
            items.iter().find(|item| serde_json::from_str::<Value>(call).is_ok_and(|id| id == item["id"]));
        let is_nested = item.is_some_and(|item| !item["parent"].is_null());
        let mut reopened = reopened.get(call).cloned().unwrap_or_default();
        // 2.1.197 stores the calls of a subagent's subagent, and does not send them.
        reopened.retain(|line| !is_old || !is_nested || live.contains(line));
        ensure!(
            reopened == *live,
            "below {call}: live\n{}\nreopened\n{}",
            live.join("\n"),
            reopened.join("\n")
        );
    }
    let has_words = |words: &str| live.values().flatten().any(|line| line.ends_with(words));
    ensure!(has_words("The outer starts."), "the subagent's words: {live:?}");
    ensure!(is_old || has_words("The inner looks."), "the words of a subagent's subagent: {live:?}");
    ensure!(live.len() == 3 && reopened.len() == 3, "{:?}, {:?}", live.keys(), reopened.keys());
    ensure!(store(&world)? == before, "the store was written to");
    Ok(())
}

/// The output of a command of ours in this world.
async fn output(world: &World, arguments: &[&str]) -> Result<String> {
    let output = world.command(&app()?).args(arguments).output().await?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{arguments:?}: {}: {errors}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

fn link(of: &Path, at: &Path) -> Result<()> {
    #[cfg(unix)]
    std::os::unix::fs::symlink(of, at)?;
    #[cfg(windows)]
    std::os::windows::fs::symlink_dir(of, at)?;
    Ok(())
}

/// Checks that the agent has only appended to its files, and made these.
fn only_grew(
    before: &BTreeMap<PathBuf, Vec<u8>>,
    after: &BTreeMap<PathBuf, Vec<u8>>,
    grown: &[&str],
) -> Result<()> {
    for (path, bytes) in before {
        let now = after.get(path).with_context(|| format!("{} is gone", path.display()))?;
        let may_grow = grown.iter().any(|id| path.ends_with(format!("{id}.jsonl")));
        ensure!(now == bytes || may_grow && now.starts_with(bytes), "{} was changed", path.display());
    }
    for path in after.keys().filter(|path| !before.contains_key(*path)) {
        // The agent also keeps a folder for each session.
        let is_of = |id: &&str| path.iter().any(|part| part == *id) || path.ends_with(format!("{id}.jsonl"));
        ensure!(grown.iter().any(is_of), "{} is new", path.display());
    }
    Ok(())
}

/// The CLI continues a conversation from another folder by its id, in the file in which it began.
pub async fn sessions_of_a_moved_folder_are_listed_found_and_continued() -> Result<()> {
    let mut world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY the word is banana").await?;
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    relay.close().await?;
    let began = world.project.clone();
    let (renamed, copied) = (began.with_file_name("renamed"), began.with_file_name("copied"));
    fs::rename(&began, &renamed)?;
    world.project.clone_from(&renamed);
    goes_on(&world, &id, "the word is banana").await?;

    // A copy is another folder, until the user says that it is the same.
    fs::create_dir(&copied)?;
    fs::remove_dir_all(&renamed)?;
    world.project.clone_from(&copied);
    let folder = copied.display().to_string();
    ensure!(
        output(&world, &["sessions", "list", &folder]).await?.is_empty(),
        "a copy has the sessions of its original"
    );
    let moved = [format!("--moved={}", renamed.display()), format!("--to={folder}")];
    output(&world, &["projects", &moved[0], &moved[1]]).await?;
    goes_on(&world, &id, "the word is banana").await
}

/// The session is in the list of the world's folder and in its search, and its conversation goes on. Until then nothing
/// is written to the CLI's store.
async fn goes_on(world: &World, id: &str, said: &str) -> Result<()> {
    let folder = world.project.display().to_string();
    let list = ["sessions", "list", &folder];
    let before = store(world)?;
    let listed = output(world, &list).await?;
    ensure!(listed.lines().count() == 1 && listed.contains(id), "{folder}: {listed}");
    let found = output(world, &["sessions", "search", "banana", &format!("--project={folder}")]).await?;
    ensure!(found.contains(id), "{folder}: {found}");
    ensure!(store(world)? == before, "the store was written to");

    let mut relay = Relay::spawn(world, &[&format!("--resume={id}")])?;
    relay.turn("RECALL").await?;
    let answer = relay.answers().pop().context("no answer")?;
    ensure!(answer.contains(said), "{folder}: {answer}");
    relay.close().await?;
    only_grew(&before, &store(world)?, &[id])?;
    let listed = output(world, &list).await?;
    ensure!(listed.lines().count() == 1 && listed.contains(id), "{folder}, after it went on: {listed}");
    Ok(())
}

/// Their names collide, are cut, or resolve to other folders in the CLI's store.
pub async fn sessions_in_odd_folders_are_found_continued_and_never_written_to() -> Result<()> {
    let mut world = World::new().await?;
    let root = world.project.clone();
    let long = "x".repeat(220);
    let names = ["with space", "v1.2", "emoji 😀", &long, "a-b", "a/b", "link"];
    let mut ids = Vec::new();
    for name in names {
        world.project = root.join(name);
        if name == "link" {
            fs::create_dir(root.join("linked folder"))?;
            link(&root.join("linked folder"), &world.project)?;
        } else {
            fs::create_dir_all(&world.project)?;
        }
        let mut relay = Relay::spawn(&world, &[])?;
        relay.turn(&format!("SAY here is {name}")).await?;
        ids.push(relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned());
        relay.close().await?;
    }
    let before = store(&world)?;
    for (name, id) in names.iter().zip(&ids) {
        let folder = root.join(name).display().to_string();
        let listed = output(&world, &["sessions", "list", &folder]).await?;
        let listed: Vec<Value> = listed.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        ensure!(listed.len() == 1 && listed[0]["agentSessionId"] == id.as_str(), "{name}: {listed:?}");
        let exported = output(&world, &["sessions", "export", id, "--format=md"]).await?;
        ensure!(exported.contains(&format!("here is {name}")), "{name}: {exported}");
    }
    ensure!(store(&world)? == before, "the store was written to");

    for (n, (name, id)) in names.iter().zip(&ids).enumerate() {
        world.project = root.join(name);
        let title = format!("Renamed {n}");
        let before = store(&world)?;
        let mut relay = Relay::spawn(&world, &[&format!("--resume={id}")])?;
        relay.turn("RECALL").await.with_context(|| format!("continuing in {name}"))?;
        let answer = relay.answers().pop().context("no answer")?;
        ensure!(answer.contains(&format!("here is {name}")), "{name}: {answer}");
        relay.send(&Command::Rename { title: title.clone() }).await?;
        let is_name = |line: &Value| line["customTitle"] == title.as_str();
        eventually("the name in the agent's file", LONG, async || {
            Ok(world.session_file(id)?.iter().any(is_name).then_some(()))
        })
        .await
        .with_context(|| (*name).to_owned())?;
        relay.close().await?;
        let mut relay = Relay::spawn(&world, &[&format!("--fork={id}")])?;
        relay.turn("RECALL").await.with_context(|| format!("forking in {name}"))?;
        let fork = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
        ensure!(fork != *id, "{name}: the fork has the id of its origin");
        relay.close().await?;
        only_grew(&before, &store(&world)?, &[id, &fork]).with_context(|| (*name).to_owned())?;

        let listed = output(&world, &["sessions", "list", &world.project.display().to_string()]).await?;
        let listed: Vec<Value> = listed.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let titles: BTreeMap<&str, &str> = listed
            .iter()
            .filter_map(|row| Some((row["agentSessionId"].as_str()?, row["title"].as_str()?)))
            .collect();
        ensure!(titles.len() == 2 && titles.contains_key(fork.as_str()), "{name}: {titles:?}");
        ensure!(titles[id.as_str()] == title, "{name}: {titles:?}");
    }
    Ok(())
}

/// The CLI without Deskbell, as in a terminal: its session appears, and is followed line by line with its subagent.
pub async fn what_a_terminal_adds_appears_and_is_followed() -> Result<()> {
    const AT_MOST: Duration = Duration::from_secs(20);
    let world = World::new().await?;
    let (_follower, mut changes) = Follower::start(world.config.clone(), &world.project, None);
    while !changes.recv().await.context("it is followed")?.is_complete {}
    let mut cli = CliChild::spawn(&world, &[])?;
    cli.prompt("SAY the first lamp").await?;
    let id = cli.result().await?["session_id"].as_str().context("no id")?.to_owned();
    let added_at = Instant::now();
    let is_it = |change: &StoredChange| change.changed.iter().any(|row| row.agent_session_id == id);
    while !is_it(&timeout(AT_MOST, changes.recv()).await?.context("it is followed")?) {}
    ensure!(added_at.elapsed() < AT_MOST, "it appeared after {:?}", added_at.elapsed());

    let mut command = world.command(&app()?);
    command.args(["sessions", "watch", &id]).stdout(Stdio::piped()).kill_on_drop(true);
    let mut watch = command.spawn()?;
    let mut lines = BufReader::new(watch.stdout.take().context("it prints")?).lines();
    let mut wait_for = async |wanted: &dyn Fn(&Value) -> bool| {
        let found = timeout(DEADLINE, async {
            loop {
                let line = lines.next_line().await?.context("the watch has ended")?;
                let event: Value = serde_json::from_str(&line)?;
                if event["type"] == "itemAdded" && wanted(&event["item"]) {
                    return anyhow::Ok(());
                }
            }
        });
        found.await.context("it was not followed")?
    };
    let says = |text: &'static str| move |item: &Value| text_of(&item["body"]).contains(text);
    wait_for(&says("the first lamp")).await?;
    let agent = json!({"description": "looks around", "prompt": "SAY the report\nSLOW 40 100",
        "subagent_type": "general-purpose", "run_in_background": false});
    cli.prompt(&format!("TOOL Agent {agent}\nSAY It is over.")).await?;
    wait_for(&|item: &Value| !item["parent"].is_null()).await?;
    wait_for(&says("It is over.")).await?;
    cli.close().await?;
    let before = store(&world)?;
    watch.kill().await?;
    ensure!(store(&world)? == before, "the store was written to");
    Ok(())
}

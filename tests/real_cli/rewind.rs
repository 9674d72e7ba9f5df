//! Rewinding with the CLI's checkpoints: every byte of the files, the conversation, and the undo of both.

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, ItemId, PermissionMode};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const MODE: &str = "--mode=acceptEdits";

/// Every file of the project with its content.
fn files(world: &World) -> Result<BTreeMap<String, Vec<u8>>> {
    fn add(folder: &Path, root: &Path, files: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                add(&path, root, files)?;
            } else {
                files.insert(path.strip_prefix(root)?.display().to_string(), fs::read(&path)?);
            }
        }
        Ok(())
    }
    let mut all = BTreeMap::new();
    add(&world.project, &world.project, &mut all)?;
    Ok(all)
}

/// The item of the prompt whose text begins with this.
fn prompt(relay: &Relay, beginning: &str) -> Result<ItemId> {
    let items = relay.items();
    let is_it = |item: &&Value| {
        item["body"]["type"] == "prompt"
            && item["body"]["text"].as_str().is_some_and(|text| text.starts_with(beginning))
    };
    let item = items.iter().find(is_it).with_context(|| format!("no prompt {beginning}"))?;
    Ok(ItemId::new(item["id"].as_str().context("no id")?))
}

fn prompts(relay: &Relay) -> Vec<String> {
    let items = relay.items();
    let prompts = items.iter().filter(|item| item["body"]["type"] == "prompt");
    let first =
        |item: &Value| item["body"]["text"].as_str().unwrap_or_default().lines().next().map(str::to_owned);
    prompts.filter_map(first).collect()
}

async fn preview(relay: &mut Relay, beginning: &str) -> Result<Value> {
    let prompt_id = prompt(relay, beginning)?;
    relay.send(&Command::PreviewRewind { prompt_id }).await?;
    Ok(relay.event("rewindPreviewed").await?["preview"].clone())
}

pub(crate) async fn rewind(
    relay: &mut Relay,
    beginning: &str,
    files: bool,
    conversation: bool,
) -> Result<Value> {
    let prompt_id = prompt(relay, beginning)?;
    relay.send(&Command::Rewind { prompt_id, files, conversation }).await?;
    let is_end = |event: &Value| event["type"] == "rewound" || event["type"] == "commandFailed";
    let end = relay.next_event("the rewind", DEADLINE, is_end).await?;
    ensure!(end["type"] == "rewound", "{end}");
    relay.session_where("the end of the rewind", |session| session["rewind"]["isPending"] == false).await?;
    Ok(end)
}

async fn undo(relay: &mut Relay) -> Result<()> {
    relay.send(&Command::UndoRewind { overwrite: false }).await?;
    let is_end = |event: &Value| {
        event["type"] == "commandFailed"
            || (event["type"] == "sessionChanged" && event["session"]["rewind"]["undo"].is_null())
    };
    let end = relay.next_event("the undo", DEADLINE, is_end).await?;
    ensure!(end["type"] != "commandFailed", "{end}");
    Ok(())
}

/// Three prompts that change, create and remove files, and the files before each of them.
struct Story {
    states: Vec<BTreeMap<String, Vec<u8>>>,
    relay: Relay,
}

impl Story {
    async fn tell(world: &World) -> Result<Self> {
        let path = |name: &str| world.file(name).display().to_string();
        fs::write(world.file("a.txt"), "one\r\ntwo\r\nno end")?;
        fs::write(world.file("b.txt"), "stays\n")?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::write(world.file("run.sh"), "#!/bin/sh\necho 1\n")?;
            fs::set_permissions(world.file("run.sh"), PermissionsExt::from_mode(0o755))?;
        }
        #[cfg(not(unix))]
        fs::write(world.file("run.sh"), "echo 1\n")?;
        let (a, run, new) = (path("a.txt"), path("run.sh"), path("sub/new.txt"));
        let turns = [
            format!("READ {a}\nEDIT {a} two => TWO\nSAY first"),
            format!("WRITE {new} made\\n\nREAD {run}\nEDIT {run} 1 => 2\nSAY second"),
            format!("EDIT {a} TWO => THREE\nBASH rm {run}\nSAY third"),
        ];
        let mut relay = Relay::spawn(world, &[MODE])?;
        let mut states = Vec::new();
        for turn in turns {
            states.push(files(world)?);
            relay.turn_allowing_all(&turn).await?;
        }
        states.push(files(world)?);
        ensure!(states.windows(2).all(|pair| pair[0] != pair[1]), "each turn changes something");
        Ok(Self { states, relay })
    }
}

pub async fn files_are_restored_byte_by_byte_and_the_undo_too() -> Result<()> {
    let world = World::new().await?;
    let Story { states, mut relay } = Story::tell(&world).await?;
    ensure!(relay.session()?["capabilities"]["rewind"] == true);

    let shown = preview(&mut relay, "WRITE").await?;
    ensure!(shown["filesProblem"].is_null() && shown["conversationProblem"].is_null(), "{shown}");
    let mut said: Vec<(&str, &str)> = Vec::new();
    for file in shown["files"].as_array().context("no files")? {
        ensure!(file["diff"].is_object() && file["hasUndo"] == true && file["isOutside"] == false, "{file}");
        said.push((file["path"].as_str().context("no path")?, file["change"].as_str().context("no change")?));
    }
    said.sort_unstable();
    ensure!(said == [("a.txt", "modified"), ("run.sh", "created"), ("sub/new.txt", "removed")], "{said:?}");
    ensure!(files(&world)? == states[3], "a preview changes nothing");

    // Two prompts back, all three, and each undone.
    for (beginning, before) in [("WRITE", 1), ("READ", 0), ("EDIT", 2)] {
        rewind(&mut relay, beginning, true, false).await?;
        ensure!(files(&world)? == states[before], "{beginning}: {:?}", files(&world)?);
        ensure!(prompts(&relay).len() == 3, "the conversation stays");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(world.file("run.sh"))?.permissions().mode();
            ensure!(mode & 0o777 == 0o755, "{mode:o}");
        }
        undo(&mut relay).await?;
        ensure!(files(&world)? == states[3], "undo of {beginning}: {:?}", files(&world)?);
    }
    let warnings: Vec<String> =
        relay.notices().into_iter().filter(|notice| !notice.starts_with("info")).collect();
    ensure!(warnings.is_empty(), "{warnings:?}");
    relay.close().await
}

pub async fn files_and_conversation_go_back_together_and_return() -> Result<()> {
    let world = World::new().await?;
    let Story { states, mut relay } = Story::tell(&world).await?;
    let end = rewind(&mut relay, "WRITE", true, true).await?;
    ensure!(end["text"].as_str().is_some_and(|text| text.starts_with("WRITE")), "{end}");
    ensure!(files(&world)? == states[1]);
    ensure!(prompts(&relay).len() == 1, "{:?}", prompts(&relay));
    undo(&mut relay).await?;
    ensure!(files(&world)? == states[3]);
    ensure!(prompts(&relay).len() == 3, "{:?}", prompts(&relay));

    // The agent agrees about what it knows.
    rewind(&mut relay, "EDIT", false, true).await?;
    ensure!(files(&world)? == states[3], "files stay");
    relay.turn("RECALL").await?;
    let answer = relay.answers().pop().context("no answer")?;
    ensure!(answer.contains("second") || answer.contains("WRITE"), "{answer}");
    ensure!(!answer.contains("THREE"), "{answer}");
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    ensure!(relay.session()?["rewind"]["undo"].is_null(), "the conversation has gone on");
    relay.close().await?;

    // And so it is after another start.
    let mut relay = Relay::spawn(&world, &[MODE, &format!("--resume={id}")])?;
    relay.turn("RECALL").await?;
    let answer = relay.answers().pop().context("no answer")?;
    ensure!(answer.contains("RECALL") && !answer.contains("THREE"), "{answer}");
    ensure!(relay.session()?["agentSessionId"] == id.as_str(), "the session is the same");
    relay.close().await
}

pub async fn the_first_prompt_leaves_nothing_and_the_undo_brings_it_back() -> Result<()> {
    let world = World::new().await?;
    let Story { states, mut relay } = Story::tell(&world).await?;
    let id = relay.session()?["agentSessionId"].clone();
    rewind(&mut relay, "READ", true, true).await?;
    ensure!(files(&world)? == states[0]);
    ensure!(prompts(&relay).is_empty() && relay.session()?["agentSessionId"].is_null());
    undo(&mut relay).await?;
    ensure!(files(&world)? == states[3]);
    ensure!(prompts(&relay).len() == 3 && relay.session()?["agentSessionId"] == id);
    relay.turn("RECALL").await?;
    ensure!(relay.answers().pop().is_some_and(|answer| answer.contains("THREE")));
    // Without an undo the next prompt begins a new conversation.
    rewind(&mut relay, "READ", false, true).await?;
    relay.turn("RECALL").await?;
    let answer = relay.answers().pop().context("no answer")?;
    ensure!(!answer.contains("THREE") && relay.session()?["agentSessionId"] != id, "{answer}");
    relay.close().await
}

pub async fn after_a_resume_files_are_restored_all_the_same() -> Result<()> {
    let world = World::new().await?;
    let Story { states, relay } = Story::tell(&world).await?;
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    relay.close().await?;
    // The relay shows only what is new, but knows the prompts by the agent's own ids.
    let is_first =
        |line: &&Value| line["message"]["content"].as_str().is_some_and(|text| text.starts_with("READ"));
    let lines = world.session_file(&id)?;
    let first = lines.iter().find(is_first).and_then(|line| line["uuid"].as_str()).context("no prompt")?;
    let mut relay = Relay::spawn(&world, &[MODE, &format!("--resume={id}")])?;
    let prompt_id = ItemId::new(first);
    relay.send(&Command::Rewind { prompt_id, files: true, conversation: false }).await?;
    relay.event("rewound").await?;
    ensure!(files(&world)? == states[0], "{:?}", files(&world)?);
    undo(&mut relay).await?;
    ensure!(files(&world)? == states[3]);
    relay.close().await
}

pub async fn a_change_by_hand_in_between_is_rewound_and_undone_and_one_after_it_is_asked_about() -> Result<()>
{
    let world = World::new().await?;
    let Story { states, mut relay } = Story::tell(&world).await?;
    fs::write(world.file("a.txt"), b"by hand \xff\x00")?;
    let now = files(&world)?;
    let shown = preview(&mut relay, "EDIT").await?;
    let files_shown = shown["files"].as_array().context("no files")?;
    let a = files_shown.iter().find(|file| file["path"] == "a.txt").context("not shown")?;
    ensure!(a["diff"].is_null() && a["note"].is_string(), "{a}");
    rewind(&mut relay, "EDIT", true, false).await?;
    ensure!(files(&world)? == states[2]);
    undo(&mut relay).await?;
    ensure!(files(&world)? == now, "what was written by hand is back");

    rewind(&mut relay, "EDIT", true, false).await?;
    fs::write(world.file("a.txt"), "later")?;
    relay.send(&Command::UndoRewind { overwrite: false }).await?;
    let refused = relay.event("commandFailed").await?;
    ensure!(refused["error"]["code"] == "changedSince", "{refused}");
    let changed = refused["error"]["files"].as_array().map_or(&[][..], Vec::as_slice);
    let is_a = |file: &Value| file.as_str().is_some_and(|file| file.ends_with("a.txt"));
    ensure!(matches!(changed, [file] if is_a(file)), "{refused}");
    ensure!(fs::read(world.file("a.txt"))? == b"later" && !world.file("nothing").exists());
    relay.send(&Command::UndoRewind { overwrite: true }).await?;
    relay.session_where("the undo", |session| session["rewind"]["undo"].is_null()).await?;
    ensure!(files(&world)? == now);
    relay.close().await
}

pub async fn a_branch_has_its_own_checkpoints() -> Result<()> {
    let world = World::new().await?;
    fs::write(world.file("x.txt"), "x0\n")?;
    let x = world.file("x.txt").display().to_string();
    let mut relay = Relay::spawn(&world, &[MODE])?;
    relay.turn("SAY hello").await?;
    relay.turn_allowing_all(&format!("READ {x}\nEDIT {x} x0 => x1\nSAY k")).await?;
    rewind(&mut relay, "READ", false, true).await?;
    relay.turn_allowing_all(&format!("TALK again | READ {x}\nEDIT {x} x1 => x2\nSAY k")).await?;
    rewind(&mut relay, "TALK", true, false).await?;
    ensure!(fs::read(world.file("x.txt"))? == b"x1\n", "{:?}", fs::read_to_string(&x));
    undo(&mut relay).await?;
    ensure!(fs::read(world.file("x.txt"))? == b"x2\n");
    relay.close().await
}

/// The mode that a folder is worked in changes nothing about it.
pub async fn a_working_agent_is_not_rewound() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.send(&Command::SetMode { mode: PermissionMode::AcceptEdits }).await?;
    relay.turn("SAY hello").await?;
    let prompt_id = prompt(&relay, "SAY")?;
    relay.prompt("HANG working").await?;
    relay.event("turnStarted").await?;
    relay.send(&Command::Rewind { prompt_id: prompt_id.clone(), files: true, conversation: true }).await?;
    let refused = relay.event("commandFailed").await?;
    ensure!(
        refused["error"]["message"].as_str().is_some_and(|text| text.contains("Stop it first")),
        "{refused}"
    );
    relay.send(&Command::Interrupt).await?;
    relay.event("turnEnded").await?;
    // Nothing of the files has changed.
    relay.send(&Command::Rewind { prompt_id, files: true, conversation: false }).await?;
    let refused = relay.event("commandFailed").await?;
    ensure!(refused["error"]["code"] == "refused", "{refused}");
    relay.close().await
}

//! The session list: at most one empty session, and after a restart the same list and the same conversation.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{AgentStub, App, LONG, SHORT, eventually, holds_for};
use serde_json::{Value, json};

use crate::stage::{Gate, PROJECT, Stage};

fn agents(stage: &Stage) -> usize {
    let processes = stage.app.processes(&stage.desktop);
    processes.iter().filter(|process| process.command_line.contains(" demo-agent ")).count()
}

pub async fn ten_new_sessions_are_one_without_an_agent() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("ten-new-sessions", async |stage| {
            // Before that, no one listens for keys.
            stage.window.find("textbox", "Prompt").await?;
            for _ in 0..10 {
                stage.pointer.key("ctrl+n").await?;
            }
            eventually("a session is begun", SHORT, async || {
                Ok((!stage.session_ids()?.is_empty()).then_some(()))
            })
            .await?;
            holds_for("one session, no agent", Duration::from_secs(2), async || {
                Ok(stage.session_ids()?.len() == 1 && agents(stage) == 0)
            })
            .await?;
            stage.window.type_into("Prompt", "S").await?;
            eventually("the agent starts with the first key", SHORT, async || {
                Ok((agents(stage) == 1).then_some(()))
            })
            .await?;
            stage.window.prompt("AY I live.").await?;
            stage.window.wait_said("I live.", SHORT).await?;
            stage.pointer.key("ctrl+n").await?;
            eventually("a session with a prompt is not empty", SHORT, async || {
                Ok((stage.session_ids()?.len() == 2).then_some(()))
            })
            .await
        })
        .await
}

pub async fn a_removed_session_comes_back_with_its_conversation() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("restored-session", async |stage| {
            stage.new_session(SHORT).await?;
            stage.window.prompt("SAY s-kept").await?;
            stage.window.wait_said("s-kept", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            stage.window.click("button", "More").await?;
            stage.window.click("menuitem", "Remove session").await?;
            stage.window.click("button", "Remove session").await?;
            eventually("its agent has ended and its file is set aside", SHORT, async || {
                Ok(stage.session_ids()?.is_empty().then_some(()))
            })
            .await?;
            stage.window.click("button", "Undo").await?;
            stage.window.wait_said("s-kept", SHORT).await?;
            let (titles, log) = list(stage).await?;
            ensure!(titles == ["SAY s-kep"] && log.contains("Done"), "{titles:?}: {log}");
            ensure!(stage.session_ids()?.len() == 1, "the file is not back");
            stage.window.gone("button", "Undo").await?;
            stage.window.prompt("SAY again").await?;
            stage.window.wait_said("again", SHORT).await?;
            stage.window.wait_idle(SHORT).await
        })
        .await
}

pub async fn a_removed_session_leaves_at_once_and_its_agent_is_ended() -> Result<()> {
    let ignoring = |stage: &Stage| {
        let processes = stage.app.processes(&stage.desktop);
        processes.iter().filter(|process| process.command_line.contains("ignoring-agent")).count()
    };
    let stage = Stage::stand_in(AgentStub::ignoring).await?;
    stage
        .play("removed-session", async |stage| {
            stage.window.click("button", "Open restricted").await?;
            stage.new_session(SHORT).await?;
            stage.window.prompt("Do something.").await?;
            eventually("the agent runs", SHORT, async || Ok((ignoring(stage) > 0).then_some(()))).await?;
            stage.window.type_into("Prompt", "half a thought").await?;
            stage.window.click("button", "More").await?;
            stage.window.click("menuitem", "Remove session").await?;
            stage.window.click("button", "Remove session").await?;
            // The conversation is gone and its text is in the prompt box of the next session.
            stage.window.gone("button", "More").await?;
            ensure!(stage.window.value("Prompt").await? == "half a thought", "the text is lost");
            ensure!(ignoring(stage) > 0, "the agent reacted to the stop: the test shows nothing");
            ensure!(stage.session_ids()?.len() == 1, "the file is gone before the agent has ended");
            eventually("the agent is ended, and then the file is deleted", LONG, async || {
                Ok((ignoring(stage) == 0 && stage.session_ids()?.is_empty()).then_some(()))
            })
            .await?;
            ensure!(stage.window.value("Prompt").await? == "half a thought", "the text is lost later");
            Ok(())
        })
        .await
}

/// The titles of the list, from the top, and the conversation that is shown.
async fn list(stage: &Stage) -> Result<(Vec<String>, String)> {
    let script = "const rows = [...document.querySelectorAll('nav[aria-label=\"Sessions\"] button')];
        return rows.map((row) => row.textContent).join('\\n');";
    let rows = stage.window.run(script, Vec::new()).await?;
    let rows = rows.as_str().context("the list is text")?.to_owned();
    let titles = rows.lines().filter_map(|row| row.find("SAY ").map(|at| row[at..at + 9].to_owned()));
    Ok((titles.collect(), stage.window.text("log", "Conversation").await?))
}

/// When each session changed last, by the name of its file.
fn changed(stage: &Stage) -> Result<BTreeMap<String, Value>> {
    let folder = stage.desktop.home().join(".local/share/deskbell/sessions");
    let of = |id: String| {
        let record: Value = serde_json::from_slice(&std::fs::read(folder.join(format!("{id}.json")))?)?;
        let at = record.get("changed_at").context("a session has the time of its last change")?.clone();
        Ok((id, at))
    };
    stage.session_ids()?.into_iter().map(of).collect()
}

/// The ways in which the app ends: killed, by a shutdown, by a logout, by the user.
const ENDS: [&str; 4] = ["SIGKILL", "SIGTERM", "SIGHUP", "its last window"];

pub async fn however_it_ended_the_app_comes_back_with_list_conversation_and_ends_of_turns() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("restart-list", async |stage| {
            for name in ["one", "two", "tri"] {
                stage.new_session(SHORT).await?;
                stage.window.prompt(&format!("SAY s-{name}")).await?;
                stage.window.wait_said(&format!("s-{name}"), SHORT).await?;
                stage.window.wait_idle(SHORT).await?;
            }
            // Neither the newest nor the oldest is open.
            stage
                .window
                .run(
                    "[...document.querySelectorAll('nav[aria-label=\"Sessions\"] button')]
                    .find((row) => row.textContent.includes('SAY s-two')).click();",
                    Vec::new(),
                )
                .await?;
            stage.window.wait_text("log", "Conversation", "s-two", SHORT).await?;
            let (titles, log) = list(stage).await?;
            ensure!(titles == ["SAY s-tri", "SAY s-two", "SAY s-one"], "{titles:?}");
            ensure!(log.contains("Done"), "no end of a turn: {log}");
            let times = changed(stage)?;
            ensure!(times.len() == 3, "{times:?}");

            for how in ENDS {
                let app = stage.app.process(&stage.desktop)?;
                match how {
                    "SIGKILL" => app.kill()?,
                    "SIGTERM" => app.terminate()?,
                    "SIGHUP" => app.hang_up()?,
                    _ => stage.end().await?,
                }
                stage.app.ended(&stage.desktop, LONG).await?;
                stage.app = App::start(&stage.desktop, &stage.launch().again()).await?;
                stage.window = stage.app.window(PROJECT).await?;
                stage.window.wait_text("log", "Conversation", "s-two", SHORT).await?;
                stage.window.wait_text("log", "Conversation", "Done", SHORT).await?;
                let (after, _) = list(stage).await?;
                ensure!(after == titles, "{how}: {after:?} after {titles:?}");
                ensure!(changed(stage)? == times, "{how}: {:?} after {times:?}", changed(stage)?);
            }
            Ok(())
        })
        .await
}

/// The titles of the sessions as they are saved.
fn saved_titles(stage: &Stage) -> Result<BTreeSet<String>> {
    let folder = stage.desktop.home().join(".local/share/deskbell/sessions");
    let of = |id: String| {
        let record: Value = serde_json::from_slice(&std::fs::read(folder.join(format!("{id}.json")))?)?;
        Ok(record["memory"]["title"].as_str().unwrap_or_default().to_owned())
    };
    stage.session_ids()?.into_iter().map(of).collect()
}

async fn wait_titles(stage: &Stage, titles: &[&str]) -> Result<()> {
    let wanted: BTreeSet<String> = titles.iter().copied().map(str::to_owned).collect();
    eventually(&format!("the titles {titles:?}"), SHORT, async || {
        Ok((saved_titles(stage)? == wanted).then_some(()))
    })
    .await
    .with_context(|| format!("the titles are {:?}", saved_titles(stage).unwrap_or_default()))
}

/// The demo agent makes a title of the first six words.
pub async fn titles_are_generated_if_wanted_once_and_never_in_place_of_the_users() -> Result<()> {
    const FIRST: &str = "SAY one two three four five six seven";
    const SECOND: &str = "SAY red orange yellow green blue";
    let stage = Stage::demo().await?;
    stage
        .play("generated-titles", async |stage| {
            let window = &stage.window;
            let answered = async |words: &str| -> Result<()> {
                window.prompt(&format!("SAY {words}")).await?;
                window.wait_said(words, SHORT).await?;
                window.wait_idle(SHORT).await
            };
            answered("one two three four five six seven").await?;
            wait_titles(stage, &[FIRST]).await?;

            let on = json!({ "key": "agent.generateTitles", "value": true });
            ensure!(window.invoke("set_setting", on).await?.is_ok(), "the setting was refused");
            stage.new_session(SHORT).await?;
            answered("red orange yellow green blue indigo violet").await?;
            // The first session had its first turn before the setting.
            wait_titles(stage, &[FIRST, SECOND]).await?;
            window.wait_text("navigation", "Sessions", SECOND, SHORT).await?;
            window.wait_without("navigation", "Sessions", "indigo").await?;

            // The user names a session while its first turn runs.
            stage.new_session(SHORT).await?;
            let gate = Gate::closed(&stage.desktop)?;
            window.prompt(&gate.before("SAY blue two three four five six seven")).await?;
            window.find("button", "Stop").await?;
            window.key("F2").await?;
            window.wait_focus("Title of the session").await?;
            window.key("ctrl+a").await?;
            stage.pointer.type_text("Mine").await?;
            stage.pointer.key("Return").await?;
            wait_titles(stage, &[FIRST, SECOND, "Mine"]).await?;
            gate.open()?;
            window.wait_said("blue two", SHORT).await?;
            window.wait_idle(SHORT).await?;
            // When the next turn is answered, the end of the first one was dealt with.
            answered("and again").await?;
            wait_titles(stage, &[FIRST, SECOND, "Mine"]).await
        })
        .await
}

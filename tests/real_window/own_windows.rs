//! Sessions in windows of their own: out of the project's window by key, by its menu and by dragging, and back again.

use std::fs;

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{App, LONG, Notification, SHORT, Window, eventually};

use crate::stage::{Gate, PROJECT, Stage};

const ASKS: &str = "TOOL Bash {\"command\":\"make harbour\"}\nSAY Built.";

/// The other window of the project.
async fn other_than(stage: &Stage, window: &Window) -> Result<Window> {
    let frame = eventually("a second window of the project", SHORT, async || {
        Ok(stage.pointer.windows(PROJECT).await?.into_iter().find(|frame| *frame != window.frame()))
    })
    .await?;
    // Its page sets the last title.
    eventually("a title of its own", SHORT, async || {
        let title = stage.pointer.title(frame).await?;
        Ok((!title.ends_with("Deskbell")).then_some(()))
    })
    .await?;
    stage.app.window(&stage.pointer.title(frame).await?).await
}

/// Moves the open session of the window out by its key.
async fn move_out(stage: &Stage) -> Result<Window> {
    stage.window.key("ctrl+F8").await?;
    let own = other_than(stage, &stage.window).await?;
    stage.window.wait_shows("What do you want to do in", SHORT).await?;
    Ok(own)
}

async fn say(window: &Window, word: &str) -> Result<()> {
    window.prompt(&format!("SAY {word}")).await?;
    window.wait_said(word, SHORT).await?;
    window.wait_idle(SHORT).await
}

/// The title of the row that is marked as one with a window.
async fn marked_row(window: &Window) -> Result<String> {
    let script = "const mark = document.querySelector('[title=\"In a window of its own\"]');
        return mark?.closest('button')?.querySelector('.title')?.textContent ?? null;";
    eventually("a row is marked", SHORT, async || {
        Ok(window.run(script, Vec::new()).await?.as_str().map(str::to_owned))
    })
    .await
}

/// Opens a session by its row.
async fn open_row(window: &Window, word: &str) -> Result<()> {
    window.click("button", &row_of(window, word).await?).await
}

/// The name of a session's row.
async fn row_of(window: &Window, word: &str) -> Result<String> {
    eventually(&format!("a row of {word}"), SHORT, async || {
        let names = window.names("button").await?;
        Ok(names.into_iter().find(|name| name.contains(word) && !name.starts_with("Rename")))
    })
    .await
}

async fn n_windows(stage: &Stage, wanted: usize) -> Result<()> {
    eventually(&format!("{wanted} windows"), SHORT, async || {
        Ok((stage.pointer.windows(PROJECT).await?.len() == wanted).then_some(()))
    })
    .await
}

pub async fn a_session_has_one_place_and_its_draft_goes_with_it() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("own-window", async |stage| {
            say(&stage.window, "Ebb.").await?;
            stage.window.type_into("Prompt", "SAY Half a").await?;
            let own = move_out(stage).await?;
            own.wait_said("Ebb.", SHORT).await?;
            ensure!(own.value("Prompt").await? == "SAY Half a", "the draft stayed behind");
            ensure!(!own.has("navigation", "Sessions").await?, "its own window has a list");
            own.type_into("Prompt", " thought.").await?;
            stage.pointer.key("Return").await?;
            own.wait_said("Half a thought.", SHORT).await?;
            stage.desktop.screenshot("own-window").await?;

            // The window of the project has the next session, and its row of the first one leads to that one's window.
            say(&stage.window, "Flow.").await?;
            let row = marked_row(&stage.window).await?;
            let leads = async |window: &Window| {
                let script = "[...document.querySelectorAll('[data-session] button')]
                    .find((row) => row.querySelector('[title=\"In a window of its own\"]') !== null)?.click();";
                window.run(script, Vec::new()).await?;
                stage.pointer.wait_active(own.frame()).await
            };
            leads(&stage.window).await.with_context(|| format!("the row of {row}"))?;
            stage.window.wait_said("Flow.", SHORT).await?;

            // Back by the same key, with what was typed there.
            own.type_into("Prompt", "SAY Back").await?;
            own.key("ctrl+F8").await?;
            n_windows(stage, 1).await?;
            stage.window = stage.app.window(PROJECT).await?;
            stage.window.wait_said("Half a thought.", SHORT).await?;
            stage.window.wait_typed("Prompt", "SAY Back").await?;
            stage.pointer.key("Return").await?;
            stage.window.wait_said("Back", SHORT).await.map(drop)
        })
        .await
}

pub async fn a_notification_leads_to_the_window_of_its_session() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("own-window-bell", async |stage| {
            say(&stage.window, "Ebb.").await?;
            let own = move_out(stage).await?;
            say(&stage.window, "Flow.").await?;
            let gate = Gate::closed(&stage.desktop)?;
            own.prompt(&gate.before("SAY Ready.")).await?;
            // The window of the project has the keyboard when the turn ends.
            stage.pointer.activate(stage.window.frame()).await?;
            own.wait_unfocused().await?;
            gate.open()?;
            let ready = |seen: &Notification| seen.body.contains("Ready.");
            let seen = stage.notifications.wait_for(ready, LONG).await?;
            stage.notifications.click(seen.id).await?;
            stage.pointer.wait_active(own.frame()).await?;

            own.prompt(ASKS).await?;
            own.find("group", "Permission request").await?;
            ensure!(!stage.window.has("group", "Permission request").await?, "two cards of one request");
            own.click("button", "Allow once").await?;
            own.wait_said("Built.", SHORT).await.map(drop)
        })
        .await
}

pub async fn closing_one_of_two_windows_stops_nothing_and_both_come_back() -> Result<()> {
    let mut stage = Stage::demo().await?;
    say(&stage.window, "Ebb.").await?;
    let own = move_out(&stage).await?;
    say(&stage.window, "Flow.").await?;
    own.prompt("SLOW 150 200 oar").await?;
    own.wait_said("oar2 ", SHORT).await?;
    let agents = |stage: &Stage| {
        let processes = stage.app.processes(&stage.desktop);
        processes.iter().filter(|process| process.command_line.contains(" demo-agent ")).count()
    };
    let before = agents(&stage);
    // Neither close asks, because the sessions go on in the other window.
    stage.app.close(own.frame()).await?;
    n_windows(&stage, 1).await?;
    ensure!(agents(&stage) == before, "an agent was stopped");
    stage.window = stage.app.window(PROJECT).await?;
    open_row(&stage.window, "Ebb").await?;
    stage.window.wait_said("oar19 ", LONG).await?;
    let own = move_out(&stage).await?;
    stage.app.close(stage.window.frame()).await?;
    n_windows(&stage, 1).await?;
    ensure!(agents(&stage) == before, "an agent was stopped with the window of the project");
    own.wait_said("oar29 ", LONG).await?;

    // The project's window opens again for another session, and both are there after a restart.
    own.key("ctrl+F8").await?;
    eventually("the window of the project", SHORT, async || {
        Ok(stage.pointer.windows(PROJECT).await?.into_iter().find(|frame| *frame != own.frame()))
    })
    .await?;
    n_windows(&stage, 1).await?;
    stage.window = stage.app.window(PROJECT).await?;
    stage.window.wait_said("oar29 ", LONG).await?;
    stage.window.click("button", "Stop").await?;
    stage.window.wait_idle(SHORT).await?;
    let own = move_out(&stage).await?;
    own.wait_said("oar29 ", SHORT).await?;
    own.key("ctrl+q").await?;
    stage.app.ended(&stage.desktop, LONG).await?;
    stage.app = App::start(&stage.desktop, &stage.launch().again()).await?;
    stage
        .play("own-window-restart", async |stage| {
            n_windows(stage, 2).await?;
            let frames = stage.pointer.windows(PROJECT).await?;
            let mut said = Vec::new();
            for frame in frames {
                stage.pointer.activate(frame).await?;
                let title = eventually("the title of its state", SHORT, async || {
                    let title = stage.pointer.title(frame).await?;
                    Ok((!title.is_empty()).then_some(title))
                })
                .await?;
                let window = stage.app.window(&title).await?;
                window.find("textbox", "Prompt").await?;
                let is_own = !window.has("navigation", "Sessions").await?;
                window.wait_said(if is_own { "oar29 " } else { "Flow." }, LONG).await?;
                said.push(is_own);
            }
            ensure!(said.contains(&true) && said.contains(&false), "{said:?}");
            Ok(())
        })
        .await
}

pub async fn the_window_of_a_removed_session_gives_way_to_that_of_the_project() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("own-window-removed", async |stage| {
            say(&stage.window, "Ebb.").await?;
            say_in_second(stage).await?;
            let own = move_out(stage).await?;
            stage.app.close(stage.window.frame()).await?;
            n_windows(stage, 1).await?;
            own.key("ctrl+k").await?;
            own.find("combobox", "Search commands and sessions").await?;
            stage.pointer.type_text("Remove this session").await?;
            own.wait_text("listbox", "Results", "Remove this session", SHORT).await?;
            stage.pointer.key("Return").await?;
            // The driver fails if its click closes the window.
            own.point_at("button", "Remove session").await?;
            eventually("the window of the session is closed", SHORT, async || {
                let frames = stage.pointer.windows(PROJECT).await?;
                Ok((!frames.is_empty() && !frames.contains(&own.frame())).then_some(()))
            })
            .await?;
            n_windows(stage, 1).await?;
            stage.window = stage.app.window(PROJECT).await?;
            stage.window.wait_said("Ebb.", SHORT).await?;

            // Only the window of a session is remembered, and the session is gone at the next start.
            let own = move_out(stage).await?;
            stage.app.close(stage.window.frame()).await?;
            n_windows(stage, 1).await?;
            own.key("ctrl+q").await?;
            stage.app.ended(&stage.desktop, LONG).await?;
            fs::remove_dir_all(stage.desktop.home().join(".local/share/deskbell/sessions"))?;
            stage.app = App::start(&stage.desktop, &stage.launch().again()).await?;
            // The first window closes while it is looked at.
            let has_list = async |window: &Window| window.has("navigation", "Sessions").await;
            stage.window = eventually("the window of the project", SHORT, async || {
                let Ok(window) = stage.app.window(PROJECT).await else { return Ok(None) };
                Ok(has_list(&window).await.is_ok_and(|has_list| has_list).then_some(window))
            })
            .await?;
            n_windows(stage, 1).await
        })
        .await
}

async fn say_in_second(stage: &Stage) -> Result<()> {
    stage.new_session(SHORT).await?;
    say(&stage.window, "Flow.").await
}

pub async fn a_row_that_is_dragged_out_of_the_window_gets_one() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("own-window-dragged", async |stage| {
            say(&stage.window, "Ebb.").await?;
            say_in_second(stage).await?;
            // Room at its left.
            stage.pointer.resize(stage.window.frame(), 1000, 600).await?;
            stage.pointer.place(stage.window.frame(), 300, 60).await?;
            let row = row_of(&stage.window, "Ebb").await?;
            stage.window.drag("button", &row, -350).await?;
            let own = other_than(stage, &stage.window).await?;
            own.wait_said("Ebb.", SHORT).await?;
            stage.window.wait_said("Flow.", SHORT).await.map(drop)
        })
        .await
}

//! The life of a native dialog: closed, queued, withdrawn, and with a second window open.

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{LONG, Launch, SHORT, Window, eventually};

use crate::projects::start_again;
use crate::stage::{PROJECT, Stage};

const CARD: &str = "Permission request";
const SECOND: &str = "windmill";
/// The button of the notice in the second window.
const NOTICE: &str = "lighthouse waits";

fn tool(command: &str) -> String {
    format!("TOOL Bash {{\"command\":\"{command}\"}}\nSAY The tool is done.")
}

pub async fn closing_the_dialog_leaves_the_card() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("close-dialog", async |stage| {
            let window = &stage.window;
            window.prompt(&tool("git push")).await?;
            let _elsewhere = stage.step_aside().await?;
            let dialogs = stage.dialogs().await?;
            let dialog = dialogs.one().await?;
            let frame = stage.pointer.window(&dialog.title().await?).await?;
            stage.pointer.close(frame).await?;
            dialog.gone().await?;
            window.find("group", CARD).await?;
            stage.pointer.activate(window.frame()).await?;
            window.point_at("button", "Deny").await?;
            window.gone("group", CARD).await?;
            window.wait_idle(SHORT).await?;
            dialogs.none().await
        })
        .await
}

/// Three requests of an agent at once, as raw lines.
fn three() -> String {
    let ask = |n: usize| {
        format!(
            "GARBAGE {{\"type\":\"control_request\",\"request_id\":\"three-{n}\",\"request\":\
             {{\"subtype\":\"can_use_tool\",\"tool_name\":\"Bash\",\"input\":{{\"command\":\"touch {n}.txt\"}}}}}}\n"
        )
    };
    (1..=3).map(ask).collect::<String>() + "WAIT"
}

/// Waits until this number of cards is shown.
async fn cards(window: &Window, n: usize) -> Result<()> {
    eventually(&format!("{n} cards"), SHORT, async || {
        let n_cards = window.names("group").await?.iter().filter(|name| *name == CARD).count();
        Ok((n_cards == n).then_some(()))
    })
    .await
}

pub async fn three_requests_wait_in_line() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("three", async |stage| {
            let window = &stage.window;
            window.prompt(&three()).await?;
            let _elsewhere = stage.step_aside().await?;
            let dialogs = stage.dialogs().await?;
            cards(window, 3).await?;
            let first = dialogs.with("touch 1.txt").await?;
            ensure!(dialogs.list().await?.len() == 1, "two dialogs hide each other");
            window.drawn().await?;
            stage.desktop.screenshot("three-waiting").await?;
            first.press("Allow once").await?;
            let second = dialogs.with("touch 2.txt").await?;
            // Arming for the first request does not apply to the next.
            ensure!(!second.armed("Allow once").await?, "the next dialog is armed as it appears");
            second.press("Deny").await?;
            let third = dialogs.with("touch 3.txt").await?;
            third.press("Review…").await?;
            third.gone().await?;
            dialogs.none().await?;
            cards(window, 1).await?;
            let card = window.text("group", CARD).await?;
            ensure!(card.contains("touch 3.txt"), "another one is left than the last:\n{card}");
            window.click("button", "Deny").await?;
            window.gone("group", CARD).await
        })
        .await
}

pub async fn a_withdrawn_request_takes_both_faces_away() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("withdrawn", async |stage| {
            let window = &stage.window;
            window.prompt("WITHDRAW 8000\nSAY It was taken back.").await?;
            let _elsewhere = stage.step_aside().await?;
            let dialogs = stage.dialogs().await?;
            let dialog = dialogs.one().await?;
            window.find("group", CARD).await?;
            dialog.gone().await?;
            window.gone("group", CARD).await?;
            window.wait_said("It was taken back.", SHORT).await?;
            let log = window.text("log", "Conversation").await?.to_lowercase();
            ensure!(
                ["withdr", "took", "taken back"]
                    .iter()
                    .any(|word| log.replace("it was taken back", "").contains(word)),
                "the conversation does not say that the request was taken back:\n{log}"
            );
            dialogs.none().await
        })
        .await
}

/// A request in the first window, while the user is in the second one.
async fn two_windows(stage: &Stage) -> Result<Window> {
    let folder = stage.desktop.project(SECOND)?;
    let status = start_again(&stage.desktop, &Launch::demo(&folder)).await?;
    ensure!(status.success(), "the second start ended with {status}");
    let second = stage.app.window(SECOND).await?;
    stage.window.prompt(&tool("git push")).await?;
    // The user continues in the second window.
    stage.pointer.activate(second.frame()).await?;
    second.find("button", NOTICE).await?;
    Ok(second)
}

pub async fn over_another_window_there_is_a_notice_and_no_dialog() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("beside", async |stage| {
            let second = two_windows(stage).await?;
            let dialogs = stage.dialogs().await?;
            second.type_into("Prompt", "SAY Wind in the sails.").await?;
            stage.desktop.screenshot("notice-of-another-project").await?;
            ensure!(dialogs.list().await?.is_empty(), "a dialog came up over the window in use");
            // One key leads to the request, and nothing that was typed has gone elsewhere.
            stage.pointer.key("alt+r").await?;
            stage.pointer.wait_active(stage.window.frame()).await?;
            stage.window.wait_focus(CARD).await?;
            stage.pointer.activate(second.frame()).await?;
            second.click("textbox", "Prompt").await?;
            stage.pointer.key("Return").await?;
            second.wait_said("Wind in the sails.", SHORT).await?;
            second.prompt(&tool("touch mill.txt")).await?;
            let _elsewhere = stage.step_aside().await?;
            let dialog = dialogs.with("git push").await?;
            let other = dialogs.with("touch mill.txt").await?;
            let both = dialogs.list().await?;
            ensure!(both.len() == 2, "each window has its own dialog, not {}", both.len());
            let text = other.text().await;
            ensure!(text.contains(SECOND) && !text.contains(PROJECT), "it names its own project:\n{text}");
            stage.desktop.screenshot("two-windows-asking").await?;
            other.press("Allow once").await?;
            second.wait_said("The tool is done.", SHORT).await?;
            dialog.press("Deny").await?;
            stage.window.gone("group", CARD).await?;
            second.gone("button", NOTICE).await
        })
        .await
}

pub async fn a_closed_window_takes_its_dialog_with_it() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("parent-closed", async |stage| {
            let second = two_windows(stage).await?;
            let _elsewhere = stage.step_aside().await?;
            let dialog = stage.dialogs().await?.with("git push").await?;
            stage.app.stop_and_close(stage.window.frame()).await?;
            dialog.gone().await?;
            eventually(
                "one window is left",
                LONG,
                async || Ok((stage.app.count().await? == 1).then_some(())),
            )
            .await?;
            stage.dialogs().await?.none().await?;
            second.prompt("SAY Still here.").await?;
            second.wait_said("Still here.", SHORT).await.map(drop).context("the other window goes on")
        })
        .await
}

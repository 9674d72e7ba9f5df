//! Notifications: one when the window is out of sight, and none when it is in front.

use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use deskbell_tests::window::{LONG, Manners, Notification, SHORT, eventually, holds_for};

use serde_json::json;

use crate::stage::{Elsewhere, PROJECT, Stage};

fn words(notification: &Notification) -> String {
    format!("{}\n{}", notification.summary, notification.body)
}

pub async fn a_turn_that_ends_out_of_sight_rings() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("rings", async |stage| {
            let _elsewhere = stage.prompt_out_of_sight("SAY The harbour is in sight.").await?;
            let seen = stage.notifications.wait_for(|seen| words(seen).contains(PROJECT), SHORT).await?;
            ensure!(seen.app == "Deskbell", "the notification is signed “{}”", seen.app);
            ensure!(seen.summary.len() > PROJECT.len(), "project and session are named: {seen:?}");
            ensure!(!seen.body.is_empty(), "the outcome is said: {seen:?}");
            ensure!(!seen.hints.contains_key("sound-name"), "sound is off until asked for: {seen:?}");
            stage.window.wait_idle(SHORT).await?;
            holds_for("one event rings once", Duration::from_secs(1), async || {
                Ok(stage.notifications.all().len() == 1)
            })
            .await
        })
        .await
}

pub async fn a_click_brings_the_window_up() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("click", async |stage| {
            let elsewhere = stage.prompt_out_of_sight("SAY First harbour.").await?;
            let seen = stage.notifications.wait_for(|seen| words(seen).contains(PROJECT), SHORT).await?;
            ensure!(stage.pointer.active().await? == Some(elsewhere.frame), "the ring itself took the front");
            stage.notifications.click(seen.id).await?;
            stage.pointer.wait_active(stage.window.frame()).await?;
            stage.window.wait_said("First harbour.", SHORT).await?;
            Ok(())
        })
        .await
}

pub async fn a_request_out_of_sight_rings() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("request-rings", async |stage| {
            let script = "TOOL Bash {\"command\":\"make harbour\"}\nSAY Built.";
            let _elsewhere = stage.prompt_out_of_sight(script).await?;
            let seen = stage.notifications.wait_for(|seen| words(seen).contains(PROJECT), SHORT).await?;
            ensure!(seen.open, "it waits: {seen:?}");
            // The request is answered in its dialog, and the notification is withdrawn.
            let dialog = stage.dialogs().await?.one().await?;
            dialog.press("Allow once").await?;
            stage.window.wait_said("Built.", SHORT).await?;
            eventually("the answered call is taken back", SHORT, async || {
                let all = stage.notifications.all();
                Ok(all.iter().filter(|other| other.id == seen.id).all(|other| !other.open).then_some(()))
            })
            .await
        })
        .await
}

pub async fn a_request_is_denied_from_its_notification() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("deny-from-notification", async |stage| {
            let script = "TOOL Bash {\"command\":\"make <harbour>\"}\nSAY Over.";
            let elsewhere = stage.prompt_out_of_sight(script).await?;
            let seen = stage.notifications.wait_for(|seen| words(seen).contains(PROJECT), SHORT).await?;
            ensure!(seen.body.contains("make &lt;harbour&gt;"), "the command is named, as text: {seen:?}");
            let names: Vec<&str> = seen.actions.iter().map(|(name, _)| name.as_str()).collect();
            ensure!(names == ["default", "deny", "review"], "it can be answered: {seen:?}");
            // By then the app also listens for answers, which it does a moment after the notification appears.
            let dialogs = stage.dialogs().await?;
            dialogs.one().await?;
            stage.notifications.act(seen.id, "deny").await?;
            stage.window.wait_said("Over.", SHORT).await?;
            ensure!(dialogs.list().await?.is_empty(), "the dialog stayed");
            ensure!(stage.pointer.active().await? == Some(elsewhere.frame), "a denial took the front");
            Ok(())
        })
        .await
}

pub async fn the_bell_does_what_the_settings_file_says() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("bell-settings", async |stage| {
            let rung = stage.desktop.home().join("rung");
            let script =
                format!("printf '%s|%s' \"$DESKBELL_EVENT\" \"$DESKBELL_TEXT\" > '{}'", rung.display());
            let command = json!({ "program": "/bin/sh", "args": ["-c", script] });
            let finished = json!({ "sound": true, "urgency": "critical", "command": command });
            // While the app runs, as an editor would.
            let file = stage.desktop.home().join(".config/deskbell/settings.json");
            std::fs::write(&file, "{\n  \"zoom\": 9\n}")?;
            stage.window.wait_shows("Line 2, column 11:", SHORT).await?;
            stage.window.screenshot("settings-error").await?;
            std::fs::write(&file, format!("// mine\n{:#}\n", json!({ "bell": { "finished": finished } })))?;
            stage.window.gone("region", "Settings file").await?;
            let _elsewhere = stage.prompt_out_of_sight("SAY First harbour.").await?;
            let seen = stage.notifications.wait_for(|seen| words(seen).contains(PROJECT), SHORT).await?;
            ensure!(seen.body == "First harbour.", "the answer is named: {seen:?}");
            ensure!(seen.hints.contains_key("sound-name") && seen.hints.contains_key("urgency"), "{seen:?}");
            eventually("the command ran", SHORT, async || {
                Ok(std::fs::read_to_string(&rung)
                    .is_ok_and(|text| text == "finished|First harbour.")
                    .then_some(()))
            })
            .await?;
            // The page changes the same file, and nothing else in it.
            let change = json!({ "key": "bell.finished.on", "value": false });
            ensure!(stage.window.invoke("set_setting", change).await?.is_ok(), "the setting was refused");
            let text = std::fs::read_to_string(&file)?;
            ensure!(text.starts_with("// mine\n") && text.contains("\"on\": false"), "{text}");
            Ok(())
        })
        .await
}

pub async fn a_failure_out_of_sight_rings() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("failure-rings", async |stage| {
            let _elsewhere = stage.prompt_out_of_sight("FAIL 529 overloaded").await?;
            let seen = stage.notifications.wait_for(|seen| words(seen).contains(PROJECT), LONG).await?;
            let said = words(&seen).to_lowercase();
            ensure!(said.contains("529") || said.contains("overloaded"), "what failed is said: {seen:?}");
            Ok(())
        })
        .await
}

pub async fn the_bell_never_wears_out() -> Result<()> {
    // More than the number of notifications that are kept, and none of them ever closed.
    const TURNS: usize = 24;
    let stage = Stage::demo().await?;
    stage
        .play("wears-out", async |stage| {
            let window = &stage.window;
            window.prompt("SAY The first of many.").await?;
            window.wait_said("The first of many.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            let _elsewhere = stage.look_away().await?;
            let hello = window.invoke("connect", json!({})).await?;
            let hello = hello.map_err(|error| anyhow!("hello was refused: {error}"))?;
            let session = hello.pointer("/project/sessions/0/id").context("there is a session")?;
            for n in 0..=TURNS {
                let text = if n < TURNS { format!("SAY turn {n}") } else { "FAIL 529 overloaded".to_owned() };
                let prompt = json!({ "type": "prompt", "text": text, "images": [] });
                let asked = json!({ "sessionId": session, "command": prompt });
                let taken = window.invoke("command", asked).await?;
                ensure!(taken.is_ok(), "the prompt was refused: {taken:?}");
            }
            let failed = |seen: &Notification| {
                let said = words(seen).to_lowercase();
                said.contains("529") || said.contains("overloaded")
            };
            // 25 turns, which take 3 s alone and 30 s beside other windows.
            stage.notifications.wait_for(failed, LONG * 3).await.map(drop)
        })
        .await
}

pub async fn nothing_rings_in_front() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("silent", async |stage| {
            stage.window.prompt("SAY In plain sight.").await?;
            stage.window.wait_said("In plain sight.", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            holds_for("nothing rings", Duration::from_secs(1), async || {
                Ok(stage.notifications.all().is_empty())
            })
            .await
        })
        .await
}

/// Waits until a notification is withdrawn.
async fn withdrawn(stage: &Stage, id: u32) -> Result<()> {
    eventually("the notification is withdrawn", SHORT, async || {
        let all = stage.notifications.all();
        Ok(all.iter().filter(|other| other.id == id).all(|other| !other.open).then_some(()))
    })
    .await
}

pub async fn a_click_closes_the_dialog_too() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("click-closes-dialog", async |stage| {
            let window = &stage.window;
            let script = "TOOL Bash {\"command\":\"make harbour\"}\nSAY Built.";
            let _elsewhere = stage.prompt_out_of_sight(script).await?;
            let seen = stage.notifications.wait_for(|seen| words(seen).contains(PROJECT), SHORT).await?;
            let dialogs = stage.dialogs().await?;
            let dialog = dialogs.one().await?;
            stage.notifications.click(seen.id).await?;
            dialog.gone().await?;
            stage.pointer.wait_active(window.frame()).await?;
            window.find("group", "Permission request").await?;
            holds_for("the card is enough", Duration::from_secs(3), async || {
                Ok(dialogs.list().await?.is_empty())
            })
            .await
        })
        .await
}

pub async fn what_was_seen_is_withdrawn() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("seen", async |stage| {
            let _elsewhere = stage.prompt_out_of_sight("SAY Seen by chance.").await?;
            let seen = stage.notifications.wait_for(|seen| words(seen).contains(PROJECT), SHORT).await?;
            ensure!(seen.open, "it waits: {seen:?}");
            stage.pointer.activate(stage.window.frame()).await?;
            withdrawn(stage, seen.id).await
        })
        .await
}

pub async fn a_failure_that_was_seen_leaves_the_title() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("failure-seen", async |stage| {
            let window = &stage.window;
            let _elsewhere = stage.prompt_out_of_sight("FAIL 529 overloaded").await?;
            let title = async |wanted: &str| {
                eventually(&format!("a title with “{wanted}”"), LONG, async || {
                    Ok(window.title().await?.contains(wanted).then_some(()))
                })
                .await
            };
            title("Failed: ").await?;
            stage.pointer.activate(window.frame()).await?;
            title(&format!("{PROJECT} — Deskbell")).await?;
            let _elsewhere = stage.look_away().await?;
            holds_for("it was seen", Duration::from_secs(1), async || {
                Ok(!window.title().await?.contains("Failed"))
            })
            .await
        })
        .await
}

/// A turn that ended out of sight and was not viewed.
async fn unseen(stage: &Stage) -> Result<(Elsewhere, Notification)> {
    let elsewhere = stage.prompt_out_of_sight("SAY Nobody looks.").await?;
    let seen = stage.notifications.wait_for(|seen| words(seen).contains(PROJECT), SHORT).await?;
    ensure!(seen.open, "it waits: {seen:?}");
    Ok((elsewhere, seen))
}

pub async fn sigterm_withdraws_what_is_shown() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("sigterm-withdraws", async |stage| {
            let (_elsewhere, seen) = unseen(stage).await?;
            stage.app.process(&stage.desktop)?.terminate()?;
            stage.app.ended(&stage.desktop, LONG).await?;
            withdrawn(stage, seen.id).await
        })
        .await
}

pub async fn the_last_window_withdraws_what_is_shown() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("close-withdraws", async |stage| {
            let (_elsewhere, seen) = unseen(stage).await?;
            stage.app.close(stage.window.frame()).await?;
            stage.app.ended(&stage.desktop, LONG).await?;
            withdrawn(stage, seen.id).await
        })
        .await
}

pub async fn a_daemon_that_hangs_does_not_hold_up_the_end() -> Result<()> {
    // The agent exits within a second, the daemon has another one, and the rest is for a busy machine.
    const ENDS_WITHIN: Duration = Duration::from_secs(60);
    let stage = Stage::with(Manners::Mute, |launch| launch).await?;
    stage
        .play("mute-end", async |stage| {
            let _elsewhere = stage.prompt_out_of_sight("SAY Out of sight.").await?;
            stage.window.wait_said("Out of sight.", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            stage.app.process(&stage.desktop)?.terminate()?;
            stage.app.ended(&stage.desktop, ENDS_WITHIN).await
        })
        .await
}

pub async fn a_daemon_that_never_answers_stops_nothing() -> Result<()> {
    nothing_hangs("mute", Stage::with(Manners::Mute, |launch| launch).await?).await
}

pub async fn no_daemon_stops_nothing() -> Result<()> {
    nothing_hangs("no-daemon", Stage::with(Manners::Absent, |launch| launch).await?).await
}

pub async fn no_bus_stops_nothing() -> Result<()> {
    let nowhere = "unix:path=/nonexistent/bus";
    let stage =
        Stage::with(Manners::Polite, |launch| launch.env("DBUS_SESSION_BUS_ADDRESS", nowhere)).await?;
    nothing_hangs("no-bus", stage).await
}

async fn nothing_hangs(name: &str, stage: Stage) -> Result<()> {
    stage
        .play(name, async |stage| {
            let _elsewhere = stage.prompt_out_of_sight("SAY Out of sight.").await?;
            stage.window.wait_said("Out of sight.", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            stage.window.prompt("SAY Nothing hangs.").await?;
            stage.window.wait_said("Nothing hangs.", SHORT).await?;
            stage.window.wait_idle(SHORT).await
        })
        .await
}

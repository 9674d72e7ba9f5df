//! Where the bell rings and where its notification leads: a minimised window, another session, many sessions, and a
//! daemon that goes and comes back.

use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use deskbell_tests::window::{LONG, Manners, Notification, Notifications, SHORT, eventually, holds_for};
use serde_json::{Value, json};

use crate::stage::{Gate, PROJECT, Stage};

fn asks(command: &str) -> String {
    format!("TOOL Bash {{\"command\":\"{command}\"}}\nSAY Done: {command}.")
}

fn is_about(text: &str) -> impl Fn(&Notification) -> bool + '_ {
    move |seen| format!("{}\n{}", seen.summary, seen.body).contains(text)
}

/// The notifications that are shown now, each in its last version.
fn open(stage: &Stage) -> Vec<Notification> {
    let mut last: Vec<Notification> = Vec::new();
    for seen in stage.notifications.all() {
        last.retain(|other| other.id != seen.id);
        last.push(seen);
    }
    last.retain(|seen| seen.open);
    last
}

/// What the notifications say that are shown and about waiting.
fn waiting(stage: &Stage) -> Vec<String> {
    open(stage).into_iter().map(|seen| seen.summary).filter(|summary| summary.contains(" wait")).collect()
}

pub async fn a_minimised_window_rings_and_comes_back() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("minimised", async |stage| {
            let gate = Gate::closed(&stage.desktop)?;
            stage.window.prompt(&gate.before("SAY From below.")).await?;
            stage.pointer.minimise(stage.window.frame()).await?;
            stage.window.wait_unfocused().await?;
            gate.open()?;
            let seen = stage.notifications.wait_for(is_about("From below."), SHORT).await?;
            stage.notifications.click(seen.id).await?;
            stage.pointer.wait_active(stage.window.frame()).await?;
            stage.window.wait_said("From below.", SHORT).await.map(drop)
        })
        .await
}

pub async fn a_failure_and_a_request_in_front_ring_nothing() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("front-silent", async |stage| {
            let window = &stage.window;
            window.prompt("FAIL 529 overloaded").await?;
            window.wait_shows("529", LONG).await?;
            window.wait_idle(LONG).await?;
            window.prompt("TOOL Bash {\"command\":\"make harbour\"}\nSAY Built.").await?;
            window.find("group", "Permission request").await?;
            holds_for("nothing rings", Duration::from_secs(1), async || {
                Ok(stage.notifications.all().is_empty())
            })
            .await
        })
        .await
}

pub async fn another_window_in_front_does_not_silence_the_bell() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("other-window", async |stage| {
            let gate = Gate::closed(&stage.desktop)?;
            stage.window.prompt(&gate.before("SAY In the other one.")).await?;
            let second = crate::isolation::second_window(stage).await?;
            stage.pointer.wait_active(second.frame()).await?;
            stage.window.wait_unfocused().await?;
            gate.open()?;
            let seen = stage.notifications.wait_for(is_about("In the other one."), SHORT).await?;
            ensure!(seen.summary.contains(PROJECT), "the project is named: {seen:?}");
            ensure!(
                stage.pointer.active().await? == Some(second.frame()),
                "the bell took the front from the window in use"
            );
            stage.notifications.click(seen.id).await?;
            stage.pointer.wait_active(stage.window.frame()).await
        })
        .await
}

pub async fn review_leads_to_the_session_and_its_request() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("review", async |stage| {
            let window = &stage.window;
            let gate = Gate::closed(&stage.desktop)?;
            window.prompt(&gate.before(&asks("make harbour"))).await?;
            stage.new_session(SHORT).await?;
            window.prompt("SAY A second session.").await?;
            window.wait_said("A second session.", SHORT).await?;
            let _elsewhere = stage.look_away().await?;
            gate.open()?;
            let seen = stage.notifications.wait_for(is_about("make harbour"), SHORT).await?;
            // By then the app also listens for answers, which it does a moment after the notification appears.
            let dialog = stage.dialogs().await?.one().await?;
            stage.notifications.act(seen.id, "review").await?;
            dialog.gone().await?;
            stage.pointer.wait_active(window.frame()).await?;
            let card = window.text("group", "Permission request").await?;
            ensure!(card.contains("make harbour"), "another request is shown: {card}");
            window.click("button", "Allow once").await?;
            window.wait_said("Done: make harbour.", SHORT).await.map(drop)
        })
        .await
}

pub async fn a_dismissed_notification_answers_nothing() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("dismissed", async |stage| {
            let _elsewhere = stage.prompt_out_of_sight(&asks("make harbour")).await?;
            let seen = stage.notifications.wait_for(is_about("make harbour"), SHORT).await?;
            let dialog = stage.dialogs().await?.one().await?;
            stage.notifications.dismiss(seen.id).await?;
            holds_for("the request waits", Duration::from_secs(1), async || {
                Ok(stage.dialogs().await?.list().await?.len() == 1)
            })
            .await?;
            dialog.press("Allow once").await?;
            stage.window.wait_said("Done: make harbour.", SHORT).await.map(drop)
        })
        .await
}

pub async fn many_that_wait_share_one_notification() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("folded", async |stage| {
            let window = &stage.window;
            let change = json!({ "key": "bell.foldAbove", "value": 1 });
            ensure!(window.invoke("set_setting", change).await?.is_ok(), "the setting was refused");
            let urgent = json!({ "key": "bell.needsYou.urgency", "value": "critical" });
            ensure!(window.invoke("set_setting", urgent).await?.is_ok(), "the setting was refused");
            for name in ["first", "second", "third"] {
                stage.new_session(SHORT).await?;
                window.prompt(&format!("SAY Session {name}.")).await?;
                window.wait_said(&format!("Session {name}."), SHORT).await?;
                window.wait_idle(SHORT).await?;
            }
            let hello = window.invoke("connect", json!({})).await?;
            let hello = hello.map_err(|error| anyhow!("the connection was refused: {error}"))?;
            let sessions = hello.pointer("/project/sessions").and_then(Value::as_array);
            let sessions = sessions.context("the window has sessions")?.clone();
            ensure!(sessions.len() == 3, "there are three sessions: {sessions:?}");
            let _elsewhere = stage.look_away().await?;
            for (n, session) in sessions.iter().enumerate() {
                let text = format!("TOOL Bash {{\"command\":\"make pier{n}\"}}");
                let prompt = json!({ "type": "prompt", "text": text, "images": [] });
                let sent = json!({ "sessionId": session["id"], "command": prompt });
                let answer = window.invoke("command", sent).await?;
                ensure!(answer.is_ok(), "the prompt was refused: {answer:?}");
            }
            let many = stage.notifications.wait_for(is_about("3 sessions wait for you"), SHORT).await?;
            ensure!(many.body.lines().count() == 3, "it names them all: {many:?}");
            ensure!(many.hints["urgency"].as_deref() == Some("2"), "it is as urgent as chosen: {many:?}");
            let denies = many.actions.iter().any(|(name, _)| name == "deny");
            ensure!(!denies, "one button would deny one of many: {many:?}");
            eventually("the notification of many is alone", SHORT, async || {
                Ok((open(stage).iter().map(|seen| seen.id).collect::<Vec<_>>() == [many.id]).then_some(()))
            })
            .await?;
            // It stays true while they are answered, and goes with the last one.
            let dialogs = stage.dialogs().await?;
            for left in ["2 sessions wait for you", "1 session waits for you"] {
                let dialog = dialogs.one().await?;
                dialog.press("Allow once").await?;
                dialog.gone().await?;
                eventually(&format!("“{left}”"), SHORT, async || {
                    Ok((waiting(stage) == [left]).then_some(()))
                })
                .await
                .with_context(|| format!("{:#?}", stage.notifications.all()))?;
            }
            dialogs.one().await?.press("Allow once").await?;
            eventually("the notification of many is withdrawn", SHORT, async || {
                Ok(waiting(stage).is_empty().then_some(()))
            })
            .await
        })
        .await
}

pub async fn a_daemon_that_comes_back_rings_again() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("daemon-back", async |stage| {
            let _elsewhere = stage.prompt_out_of_sight("SAY Before.").await?;
            stage.notifications.wait_for(is_about("Before."), SHORT).await?;
            stage.notifications.leave().await?;
            let _elsewhere = stage.prompt_out_of_sight("SAY Without it.").await?;
            stage.window.wait_said("Without it.", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            stage.notifications = Notifications::on(&stage.desktop, Manners::Polite).await?;
            let _elsewhere = stage.prompt_out_of_sight("SAY After.").await?;
            stage.notifications.wait_for(is_about("After."), SHORT).await.map(drop)
        })
        .await
}

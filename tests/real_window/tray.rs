//! The tray icon, on a desktop that gets its tray after the app started, and loses it.

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{SHORT, Tray, TrayIcon, eventually};

use crate::stage::{PROJECT, Stage};

const NONE: &str = "No session works or waits";

pub fn entry(icon: &TrayIcon, start: &str) -> Option<i32> {
    icon.entries.iter().find(|(_, label)| label.starts_with(start)).map(|(id, _)| *id)
}

pub async fn the_tray_brings_up_the_session_that_waits() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("tray", async |stage| {
            let tray = Tray::on(&stage.desktop).await?;
            tray.wait_for(|icon| icon.status == "Active" && entry(icon, NONE).is_some(), SHORT).await?;

            stage.window.prompt("TOOL Bash {\"command\":\"echo a_tray\"}\nSAY Allowed.").await?;
            let waits = |icon: &TrayIcon| entry(icon, "Wants to run a command: ").is_some();
            let icon = tray.wait_for(|icon| icon.status == "NeedsAttention" && waits(icon), SHORT).await?;
            let label = icon.entries.iter().map(|(_, label)| label).find(|label| label.contains(PROJECT));
            ensure!(label.is_some_and(|label| label.contains("a__tray")), "{icon:?}");

            let _elsewhere = stage.step_aside().await?;
            tray.choose(entry(&icon, "Wants to run").context("it was just there")?).await?;
            stage.pointer.wait_active(stage.window.frame()).await?;
            tray.choose(entry(&icon, "All projects").context("it is always there")?).await?;
            let board = stage.app.window("All projects").await?;
            stage.app.close(board.frame()).await?;

            // A tray that ends, as that of a desktop's shell does, changes nothing; the next one has the icon again.
            drop(tray);
            stage.window.drawn().await?;
            let tray = Tray::on(&stage.desktop).await?;
            tray.wait_for(waits, SHORT).await?;

            let settings = stage.desktop.home().join(".config/deskbell/settings.json");
            std::fs::write(&settings, "{\"tray\": false}")?;
            tray.wait_gone(SHORT).await?;
            std::fs::write(&settings, "{}")?;
            let icon = tray.wait_for(waits, SHORT).await?;

            // Quitting asks, because the session waits.
            tray.choose(entry(&icon, "Quit Deskbell").context("it is always there")?).await?;
            stage.pointer.window("Quit Deskbell").await?;
            stage.pointer.key("Escape").await?;
            eventually("the question is closed", SHORT, async || {
                Ok(stage.pointer.windows("Quit Deskbell").await?.is_empty().then_some(()))
            })
            .await
        })
        .await
}

//! Keeping the computer awake: while an agent works, and not while it waits for the user.

use anyhow::{Result, ensure};
use deskbell_tests::window::{Desktop, Inhibitor, Launch, Manners, PortalManners, SHORT};

use crate::stage::{PROJECT, Stage};

/// The portal's flag for idleness alone.
const IDLE: &str = "8";

pub async fn the_computer_stays_awake_while_an_agent_works_and_not_while_it_waits() -> Result<()> {
    let desktop = Desktop::start().await?;
    let portal = Inhibitor::portal(desktop.bus(), PortalManners::Holds).await?;
    let logind = Inhibitor::logind(desktop.bus()).await?;
    let folder = desktop.project(PROJECT)?;
    let launch = Launch::demo(&folder);
    let stage = Stage::on(desktop, folder, Manners::Polite, launch).await?;
    stage
        .play("awake", async |stage| {
            ensure!(portal.all().is_empty(), "no agent works: {:?}", portal.all());
            stage.window.prompt("TOOL Bash {\"command\":\"echo a\"}\nWAIT").await?;
            stage.window.find("group", "Permission request").await?;
            portal.holds(0).await?;
            stage.window.click("button", "Allow once").await?;
            portal.holds(1).await?;

            let settings = stage.desktop.home().join(".config/deskbell/settings.json");
            std::fs::write(&settings, "{\"keepAwake\": false}")?;
            portal.holds(0).await?;
            std::fs::write(&settings, "{}")?;
            portal.holds(1).await?;

            stage.window.key("Escape").await?;
            stage.window.wait_idle(SHORT).await?;
            portal.holds(0).await?;
            ensure!(portal.all().iter().all(|one| one.what == IDLE), "{:?}", portal.all());
            ensure!(logind.all().is_empty(), "the portal was enough: {:?}", logind.all());

            portal.leave().await?;
            stage.window.prompt("WAIT").await?;
            logind.holds(1).await?;
            stage.end().await?;
            logind.holds(0).await
        })
        .await
}

//! Sessions with another agent than Claude Code: the demo agent over the Agent Client Protocol, chosen in the menu.

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{LONG, SHORT, eventually};

use crate::stage::Stage;

pub const AGENT: &str = "Demo agent (ACP)";

/// Begins a session from the menu beside “New session”.
pub async fn begin(stage: &Stage) -> Result<()> {
    let window = &stage.window;
    window.click("button", "Choose an agent").await?;
    let item = eventually("the menu offers other agents", SHORT, async || {
        let items = window.names("menuitem").await?;
        Ok(items.into_iter().find(|item| item.starts_with("Other agents…")))
    })
    .await?;
    window.click("menuitem", &item).await?;
    // Programs that are found are asked for their versions first.
    window.wait_shows("A session keeps its agent.", LONG).await?;
    stage.window.drawn().await?;
    stage.desktop.screenshot("other-agents").await?;
    window.click("button", AGENT).await
}

pub async fn a_session_from_the_menu_asks_by_its_agents_options_and_is_there_after_a_restart() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("other-agent", async |stage| {
            begin(stage).await?;
            stage.window.gone("button", AGENT).await?;
            stage.window.prompt("RUN ls -l\nSAY It is listed.").await?;
            stage.window.click("button", "Always allow…").await?;
            let options = stage.window.names("radio").await?;
            let option = options.first().context("the agent's option is offered")?.clone();
            ensure!(
                option.contains("Always allow this") && option.contains("does not say what it would allow"),
                "{options:?}"
            );
            stage.window.click("radio", &option).await?;
            stage.window.click("button", "Always allow").await?;
            stage.window.wait_said("From now on. It is listed.", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            let agent = stage.agent()?;
            ensure!(agent.command_line.contains(" --acp"), "{}", agent.command_line);
            let ids = stage.session_ids()?;
            ensure!(ids.len() == 1, "{ids:?}");

            stage.restart().await?;
            stage.window.wait_shows(AGENT, SHORT).await?;
            ensure!(stage.session_ids()? == ids, "it is the same session");
            stage.window.wait_said("From now on. It is listed.", SHORT).await?;
            stage.window.wait_shows("ls -l", SHORT).await?;
            ensure!(stage.agent().is_err(), "nothing was started to show the earlier messages");
            stage.desktop.screenshot("other-agent-restarted").await?;
            stage.window.prompt("SAY I am back.").await?;
            stage.window.wait_said("I am back.", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            ensure!(stage.agent()?.command_line.contains(" --acp"), "it has its agent again");
            Ok(())
        })
        .await
}

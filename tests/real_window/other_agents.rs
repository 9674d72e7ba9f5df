//! Sessions with another agent than Claude Code: the demo agent over the Agent Client Protocol, chosen in the menu.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use deskbell_tests::window::{Desktop, LONG, Launch, Manners, SHORT, Window, app_program, eventually};
use serde_json::json;

use crate::stage::{PROJECT, Stage};

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
    window.wait_shows("You cannot change the agent later.", LONG).await?;
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
            let card = stage.window.text("group", "Permission request").await?;
            ensure!(
                card.contains("Always allow this") && card.contains("The agent’s own words"),
                "the scope is beside the button:\n{card}"
            );
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

/// Sends a prompt, and opens the dialog that asks which other agent gets it too.
pub async fn offer_another(window: &Window) -> Result<()> {
    window.prompt("SAY Round to even.").await?;
    window.wait_said("Round to even.", SHORT).await?;
    window.wait_idle(SHORT).await?;
    window.right_click_at("region", "Your prompt").await?;
    window.click("menuitem", "Ask another agent…").await?;
    window.wait_shows("It gets the same prompt in a new session", LONG).await.map(drop)
}

pub async fn a_prompt_is_given_to_another_agent_and_both_answer_side_by_side() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("beside", async |stage| {
            let window = &stage.window;
            offer_another(window).await?;
            window.click("button", AGENT).await?;
            window.find("textbox", "Prompt of the second session").await?;
            window.drawn().await?;
            eventually("both sessions have the answer", LONG, async || {
                let articles = window.names("article").await?;
                Ok((articles.iter().filter(|name| *name == "Answer").count() == 2).then_some(()))
            })
            .await?;
            ensure!(stage.session_ids()?.len() == 2, "the prompt has a session of its own");
            stage.desktop.screenshot("beside").await?;

            // The first session is beside the new one. A request is answered there, in its card.
            window
                .type_into(
                    "Prompt of the second session",
                    "TOOL Bash {\"command\":\"make harbour\"}\nSAY Built.",
                )
                .await?;
            window.key("Return").await?;
            window.click("button", "Allow once").await?;
            window.wait_shows("Built.", SHORT).await?;
            window.key("F8").await?;
            window.wait_focus("textbox “Prompt”").await?;
            window.key("shift+F8").await?;
            window.gone("textbox", "Prompt of the second session").await?;
            window.wait_focus("textbox “Prompt”").await
        })
        .await
}

/// The rows of the session list that contain these words.
async fn rows(stage: &Stage, words: &str) -> Result<Vec<String>> {
    let script = "return [...document.querySelectorAll('[data-nr]')].map((row) => row.textContent);";
    let rows: Vec<String> = serde_json::from_value(stage.window.run(script, Vec::new()).await?)?;
    Ok(rows.into_iter().filter(|row| row.contains(words)).collect())
}

pub async fn its_stored_sessions_are_listed_filtered_and_continued_by_keyboard() -> Result<()> {
    let stage = Stage::with(Manners::Polite, |launch| launch.env("DESKBELL_DEMO_ACP", "list")).await?;
    stage
        .play("other-agent-stored", async |stage| {
            begin(stage).await?;
            stage.window.gone("button", AGENT).await?;
            stage.window.prompt("SAY Begun.").await?;
            stage.window.wait_said("Begun.", SHORT).await?;
            for title in ["Tidal tables", "Moon phases"] {
                let row = eventually("the stored session is listed", SHORT, async || {
                    Ok(rows(stage, title).await?.pop())
                })
                .await?;
                ensure!(row.contains(AGENT), "{row}");
            }
            stage.window.drawn().await?;
            stage.desktop.screenshot("other-agent-stored").await?;
            let before = stage.session_ids()?;

            // Found and opened with keys.
            stage.pointer.activate(stage.window.frame()).await?;
            stage.window.run("document.querySelector('input[type=search]').focus();", Vec::new()).await?;
            stage.pointer.type_text("moon").await?;
            eventually("only the session with this title is listed", SHORT, async || {
                let (all, found) = (rows(stage, "").await?, rows(stage, "Moon phases").await?);
                Ok((all.len() == 1 && found.len() == 1).then_some(()))
            })
            .await?;
            stage.pointer.key("Return").await?;
            stage.window.wait_shows("Earlier messages of this conversation cannot be shown", SHORT).await?;
            stage.window.drawn().await?;
            stage.desktop.screenshot("other-agent-stored-open").await?;
            ensure!(stage.session_ids()? == before, "looking at a session saves nothing");
            stage.window.prompt("SAY Continued.").await?;
            stage.window.wait_said("Continued.", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            ensure!(stage.session_ids()?.len() == before.len() + 1, "it is a session of Deskbell now");
            stage.pointer.activate(stage.window.frame()).await?;
            ensure!(rows(stage, "Moon phases").await?.len() == 1, "it has one row");
            Ok(())
        })
        .await
}

/// Gemini CLI, which needs a login, with the demo agent in its place; and a terminal that writes its arguments into a file.
fn needs_login(desktop: &Desktop) -> Result<(PathBuf, PathBuf)> {
    let (bin, said) = (desktop.scratch().join("bin"), desktop.scratch().join("terminal-arguments"));
    fs::create_dir_all(&bin)?;
    let agent = format!(
        "#!/bin/sh\nif test \"$1\" = --version; then echo 0.61.0; exit; fi\n\
         exec env DESKBELL_DEMO_ACP=login '{}' demo-agent \"$@\"\n",
        app_program().canonicalize()?.display()
    );
    // In one step, so that no half of it is read.
    let terminal = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > '{said}.part'\nmv '{said}.part' '{said}'\n",
        said = said.display()
    );
    for (name, script) in [("gemini", agent), ("terminal", terminal)] {
        fs::write(bin.join(name), script)?;
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755))?;
    }
    let settings =
        json!({"terminal": {"program": bin.join("terminal"), "args": ["--title={folder}", "{command}"]}});
    let config = desktop.home().join(".config/deskbell");
    fs::create_dir_all(&config)?;
    fs::write(config.join("settings.json"), settings.to_string())?;
    Ok((bin, said))
}

pub async fn the_terminal_of_the_settings_opens_with_the_login_of_another_agent() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    let (bin, said) = needs_login(&desktop)?;
    let path = desktop.env().get(std::ffi::OsStr::new("PATH")).cloned().unwrap_or_default();
    let launch = Launch::demo(&folder).env("PATH", format!("{}:{}", bin.display(), path.to_string_lossy()));
    let stage = Stage::on(desktop, folder, Manners::Polite, launch).await?;
    stage
        .play("other-agent-login", async |stage| {
            let window = &stage.window;
            window.find("button", "New session").await?;
            window.key("ctrl+shift+n").await?;
            window.wait_shows("You cannot change the agent later.", LONG).await?;
            window.click("button", "Gemini CLI").await?;
            window.click("button", "Open restricted").await?;
            window.prompt("SAY hello").await?;
            window.wait_shows("Gemini CLI needs a login", LONG).await?;
            window.drawn().await?;
            stage.desktop.screenshot("other-agent-login").await?;
            ensure!(!said.exists(), "a terminal was opened before the user wanted one");
            window.click("button", "Open terminal").await?;
            let arguments = eventually("the terminal is opened", SHORT, async || {
                Ok(said.exists().then(|| fs::read_to_string(&said)).transpose()?)
            })
            .await?;
            let home = stage.desktop.home().display().to_string();
            let expected = format!("--title={home}\n{}\nlogin\n", bin.join("gemini").display());
            ensure!(arguments == expected, "{arguments:?} is not {expected:?}");
            window.wait_shows("Gemini CLI needs a login", SHORT).await.map(drop)
        })
        .await
}

//! Permission modes: switched while the agent lives, running without asking, and an agent that does not ask.

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{Manners, SHORT, Window, eventually};

use crate::stage::Stage;

const CARD: &str = "Permission request";
const ASKING: &str = "Permission mode: Ask first";
const NOT_ASKING: &str = "Permission mode: Skips permissions";
/// The red text in the window for an agent that does not ask.
const WARNING: &str = "Skips permissions";
const BANNER: &str = "Missed permission request";
const COMMAND: &str = "touch beacon.txt";

fn script(words: &str) -> String {
    format!("TOOL Bash {{\"command\":\"{COMMAND}\"}}\nSAY {words}")
}

pub async fn switched_while_the_agent_lives() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("switches", async |stage| {
            let window = &stage.window;
            say(window, "SAY Ready.", "Ready.").await?;
            let before = stage.agent()?;
            pick(window, "Permission mode", "Plan first").await?;
            pick(window, "Model", "Sonnet").await?;
            pick(window, "Effort", "High").await?;
            window.find("button", "Permission mode: Plan first").await?;

            // After plan mode, Shift+Tab returns to asking.
            window.click("textbox", "Prompt").await?;
            window.key("shift+Tab").await?;
            window.find("button", ASKING).await?;
            pick(window, "Permission mode", "Accept edits").await?;

            say(window, "SAY Switched.", "Switched.").await?;
            ensure!(stage.agent()?.pid == before.pid, "a switch cost a new process");
            Ok(())
        })
        .await
}

pub async fn the_next_session_offers_models_before_its_agent_runs() -> Result<()> {
    let mut stage = Stage::demo().await?;
    say(&stage.window, "SAY Ready.", "Ready.").await?;
    stage.restart().await?;
    stage
        .play("models-before", async |stage| {
            let window = &stage.window;
            window.find("button", "New session").await?;
            stage.new_session(SHORT).await?;
            ensure!(stage.agent().is_err(), "an agent runs already");
            pick(window, "Model", "Sonnet").await?;
            pick(window, "Effort", "High").await?;
            window.find("button", "Model: Sonnet 5.5").await?;
            window.find("button", "Effort: High").await?;
            ensure!(stage.agent().is_err(), "a choice started the agent");
            say(window, "SAY Chosen.", "Chosen.").await?;
            window.find("button", "Model: Sonnet 5.5").await?;
            window.find("button", "Effort: High").await?;
            ensure!(stage.agent()?.command_line.contains("sonnet"), "it was started with another model");
            Ok(())
        })
        .await
}

pub async fn a_model_is_chosen_in_two_clicks_before_there_is_a_session() -> Result<()> {
    const MODELS: &str = "ctrl+shift+m";
    let mut stage = Stage::demo().await?;
    // Nothing is known before the first run of an agent.
    stage.window.find("button", ASKING).await?;
    stage.window.key(MODELS).await?;
    stage.window.wait_shows("The models are known once the agent has started.", SHORT).await?;
    say(&stage.window, "SAY Ready.", "Ready.").await?;
    stage.window.click("button", "More").await?;
    stage.window.click("menuitem", "Remove session").await?;
    stage.window.click("button", "Remove session").await?;
    stage.window.gone("button", "More").await?;
    stage.restart().await?;
    stage
        .play("model-on-start-page", async |stage| {
            let window = &stage.window;
            window.find("button", "Model: Opus 5.5").await?;
            ensure!(stage.session_ids()?.is_empty(), "a look at the models made a session");
            window.screenshot("start-page-pickers").await?;
            window.key(MODELS).await?;
            eventually("the palette has the models", SHORT, async || {
                let names = window.names("option").await?;
                Ok(names.iter().any(|name| name.contains("Sonnet")).then_some(()))
            })
            .await?;
            window.key("Escape").await?;
            window.gone("dialog", "Commands and sessions").await?;

            pick(window, "Model", "Sonnet").await?;
            ensure!(stage.agent().is_err(), "the choice started the agent");
            ensure!(stage.session_ids()?.len() == 1, "the choice made no session");
            say(window, "SAY Chosen.", "Chosen.").await?;
            window.find("button", "Model: Sonnet 5.5").await?;
            ensure!(stage.agent()?.command_line.contains("sonnet"), "it was started with another model");
            Ok(())
        })
        .await
}

pub async fn without_asking_is_red_for_as_long_as_it_lasts() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("without-asking", async |stage| {
            let window = &stage.window;
            let dialogs = stage.dialogs().await?;
            window.click("button", "Choose an agent").await?;
            choose(window, "menuitem", "Skip all permissions…").await?;
            confirm(window).await?;

            say(window, &script("Nobody was asked."), "Nobody was asked.").await?;
            dialogs.none().await?;
            ensure!(!window.has("group", CARD).await?, "a card was shown");
            ensure!(!window.has("alert", BANNER).await?, "the agent is accused of what was chosen");
            ensure!(warnings(window).await? == 2, "it is red for one turn only");
            window.screenshot("without-asking").await?;

            stop(window).await?;
            window.prompt(&script("Somebody was asked.")).await?;
            window.click("button", "Deny").await?;
            window.wait_said("Somebody was asked.", SHORT).await?;
            window.wait_idle(SHORT).await?;

            // The existing session is started again without asking, by another choice.
            stop(window).await?;
            window.click("button", ASKING).await?;
            choose(window, "menuitem", "Skip all permissions…").await?;
            confirm(window).await?;
            say(window, &script("Nobody was asked again."), "Nobody was asked again.").await?;
            dialogs.none().await
        })
        .await
}

/// Chooses to run without asking, and waits until the window warns of it.
async fn confirm(window: &Window) -> Result<()> {
    let start = window.find("button", "Skip all permissions").await?;
    ensure!(!start.is_enabled().await?, "it can be started before it is understood");
    window.click("checkbox", "I understand that the agent will not ask me").await?;
    window.click("button", "Skip all permissions").await?;
    window.find("button", NOT_ASKING).await?;
    ensure!(warnings(window).await? == 2, "it is not red in the header and in the list");
    Ok(())
}

/// Stops the agent, and waits until the warning is gone.
async fn stop(window: &Window) -> Result<()> {
    window.click("button", "More").await?;
    choose(window, "menuitem", "Stop the agent").await?;
    window.find("button", ASKING).await?;
    ensure!(warnings(window).await? == 0, "it is red though the process is gone");
    Ok(())
}

pub async fn an_agent_that_does_not_ask_is_told_until_it_ends() -> Result<()> {
    let stage =
        Stage::with(Manners::Polite, |launch| launch.env("DESKBELL_DEMO_FAULT", "never-asks")).await?;
    stage
        .play("never-asks", async |stage| {
            let window = &stage.window;
            say(window, "SAY Hello.", "Hello.").await?;
            ensure!(!window.has("alert", BANNER).await?, "it is accused of nothing it did");
            say(window, &script("The tool is done."), "The tool is done.").await?;
            let told = window.wait_text("alert", BANNER, "ran a command without asking", SHORT).await?;
            ensure!(told.contains(COMMAND), "the banner does not name the command:\n{told}");
            window.screenshot("never-asks").await?;
            say(window, "SAY Still there.", "Still there.").await?;
            ensure!(window.has("alert", BANNER).await?, "the banner goes with the turn");
            window.click("button", "Stop the agent").await?;
            window.gone("alert", BANNER).await?;
            // The earlier events stay in the conversation.
            window.wait_text("log", "Conversation", "ran a command without asking", SHORT).await.map(drop)
        })
        .await
}

/// Sends a prompt and waits until its turn is over and ends with these words.
async fn say(window: &Window, prompt: &str, words: &str) -> Result<()> {
    window.prompt(prompt).await?;
    window.wait_said(words, SHORT).await?;
    window.wait_idle(SHORT).await
}

/// Selects from a menu of the header, and waits until the header shows it.
async fn pick(window: &Window, menu: &str, choice: &str) -> Result<()> {
    let names = window.names("button").await?;
    let button = names.iter().find(|name| name.starts_with(&format!("{menu}: ")));
    window.click("button", button.with_context(|| format!("no {menu} among {names:?}"))?).await?;
    let picked = format!("{menu}: {choice}");
    choose(window, "menuitemradio", choice).await?;
    eventually(&picked, SHORT, async || {
        let names = window.names("button").await?;
        Ok(names.iter().any(|name| name.starts_with(&picked)).then_some(()))
    })
    .await
}

/// Clicks the entry of an open menu with this beginning.
async fn choose(window: &Window, role: &str, choice: &str) -> Result<()> {
    let name = eventually(choice, SHORT, async || {
        Ok(window.names(role).await?.into_iter().find(|name| name.starts_with(choice)))
    })
    .await?;
    window.click(role, &name).await
}

/// The number of red warnings that the agent does not ask.
async fn warnings(window: &Window) -> Result<u64> {
    let script = "const [words] = arguments;
        const sample = document.body.appendChild(document.createElement('i'));
        sample.style.color = 'var(--failed)';
        const red = getComputedStyle(sample).color;
        sample.remove();
        const says = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE
            && node.data.trim() === words);
        return [...document.querySelectorAll('*')]
            .filter((element) => says(element) && getComputedStyle(element).color === red).length;";
    window.run(script, vec![WARNING.into()]).await?.as_u64().context("a number of elements")
}

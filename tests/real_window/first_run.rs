//! The first run: every state of the agent is recognised when the window gets the focus.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use deskbell_tests::window::{App, Desktop, LONG, Launch, SHORT, Window};

use crate::stage::PROJECT;

/// The page promises to recognise a state within this time after the window got the focus.
const WITHIN: Duration = Duration::from_secs(2);
/// A machine that does other things delays some rounds; the quickest one counts for each state.
const N_ROUNDS: usize = 3;

/// Gives the window the focus, and returns the time until it shows these words.
async fn recognised(window: &Window, words: &str) -> Result<Duration> {
    window.run("window.dispatchEvent(new Event('focus'))", Vec::new()).await?;
    let focused = Instant::now();
    window.wait_shows(words, SHORT).await?;
    Ok(focused.elapsed())
}

/// A program that behaves as the file next to it says.
fn program(desktop: &Desktop, state: &Path) -> Result<PathBuf> {
    let script = format!(
        r#"#!/bin/sh
state=$(cat '{}')
case "$state:$1" in
  other:*) exit 0;;
  broken:*) echo 'libshim.so.4: cannot open shared object file' >&2; exit 127;;
  old:--version) echo '1.0.88 (Claude Code)';;
  *:--version) echo '2.1.329 (Claude Code)';;
  login:auth) echo '{{"loggedIn": false}}'; exit 1;;
  *:auth) echo '{{"loggedIn": true}}';;
  *) exit 3;;
esac
"#,
        state.display()
    );
    let program = desktop.scratch().join("claude");
    std::fs::write(&program, script)?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    Ok(program)
}

/// The app in a folder that was not decided about, where no agent is found.
async fn without_an_agent(desktop: &Desktop) -> Result<App> {
    let folder = desktop.project(PROJECT)?;
    let nothing = desktop.project("empty-path")?;
    let app = App::start(desktop, &Launch::folder(&folder).env("PATH", &nothing)).await?;
    app.window(PROJECT).await?.wait_shows("Claude Code was not found", LONG).await?;
    Ok(app)
}

pub async fn an_agent_that_is_installed_meanwhile_is_found_with_the_focus() -> Result<()> {
    let mut all = Vec::new();
    for _ in 0..N_ROUNDS {
        all.push(found_after_installing().await?);
        if all.last().is_some_and(|needed| *needed <= WITHIN) {
            return Ok(());
        }
    }
    bail!("the agent was found {all:?} after the focus")
}

/// Installs the agent where the native installer does, and returns the time until it is found.
async fn found_after_installing() -> Result<Duration> {
    let desktop = Desktop::start().await?;
    let app = without_an_agent(&desktop).await?;
    let window = app.window(PROJECT).await?;
    let names = window.names("button").await?;
    for wanted in ["Search again", "Choose…", "Try the demo agent", "Find automatically"] {
        ensure!(names.iter().any(|name| name == wanted), "no button “{wanted}”: {names:?}");
    }
    // Without a change a search finds nothing, and says so again.
    window.click("button", "Search again").await?;
    window.wait_shows("Claude Code was not found", SHORT).await?;

    // Only what the shell itself can do: PATH is empty.
    let place = desktop.home().join(".local/bin/claude");
    std::fs::create_dir_all(desktop.home().join(".local/bin"))?;
    let script = "#!/bin/sh\ncase \"$1\" in --version) echo '2.1.329 (Claude Code)';; auth) echo '{\"loggedIn\": true}';; esac\n";
    std::fs::write(&place, script)?;
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755))?;
    let needed = recognised(&window, "Open restricted").await?;
    window.find("button", "Open restricted").await?;
    Ok(needed)
}

/// The demo agent reads nothing of the folder: a new user sees an answer after one click and a prompt.
pub async fn the_demo_needs_no_decision_about_the_folder() -> Result<()> {
    let desktop = Desktop::start().await?;
    let app = without_an_agent(&desktop).await?;
    let window = app.window(PROJECT).await?;
    window.click("button", "Try the demo agent").await?;
    window.prompt("SAY the first answer").await?;
    window.wait_text("log", "Conversation", "the first answer", SHORT).await?;
    let shown = window.all_text().await?;
    ensure!(!shown.contains("Do you trust"), "the user is asked about the folder: {shown}");
    Ok(())
}

pub async fn every_obstacle_is_recognised_with_the_focus() -> Result<()> {
    let mut quickest: HashMap<&str, Duration> = HashMap::new();
    for _ in 0..N_ROUNDS {
        for (state, needed) in through_every_state().await? {
            let least = quickest.entry(state).or_insert(needed);
            *least = needed.min(*least);
        }
        if quickest.values().all(|needed| *needed <= WITHIN) {
            return Ok(());
        }
    }
    bail!("not each state was recognised within {WITHIN:?}: {quickest:?}")
}

/// Goes from obstacle to obstacle, and returns the time until each was recognised.
async fn through_every_state() -> Result<Vec<(&'static str, Duration)>> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    let state = desktop.scratch().join("state");
    std::fs::write(&state, "other")?;
    let launch = Launch::folder(&folder).env("CLAUDE_CODE_COMMAND", program(&desktop, &state)?);
    let app = App::start(&desktop, &launch).await?;
    let window = app.window(PROJECT).await?;
    window.click("button", "Open restricted").await?;
    window.wait_shows("This program is not Claude Code", LONG).await?;
    let mut all = Vec::new();
    for (next, words, detail) in [
        ("broken", "Claude Code was found, but does not run", "libshim.so.4"),
        ("old", "Claude Code 1.0.88 is too old", "claude update"),
        ("login", "Log in to Claude Code", "claude auth login"),
        ("ready", "What do you want to do in", PROJECT),
    ] {
        std::fs::write(&state, next)?;
        let needed = recognised(&window, words).await.with_context(|| format!("the state “{next}”"))?;
        all.push((next, needed));
        window.wait_shows(detail, SHORT).await?;
    }
    Ok(all)
}

//! The first run: every state of the agent is recognised when the window gets the focus.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use deskbell_tests::window::{App, Desktop, LONG, Launch, SHORT};

use crate::stage::PROJECT;

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

pub async fn every_obstacle_is_recognised_with_the_focus() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    let state = desktop.scratch().join("state");
    std::fs::write(&state, "other")?;
    let launch = Launch::folder(&folder).env("CLAUDE_CODE_COMMAND", program(&desktop, &state)?);
    let app = App::start(&desktop, &launch).await?;
    let window = app.window(PROJECT).await?;
    window.click("button", "Open restricted").await?;
    window.wait_shows("This program is not Claude Code", LONG).await?;
    for (next, words, detail) in [
        ("broken", "Claude Code was found, but does not run", "libshim.so.4"),
        ("old", "Claude Code 1.0.88 is too old", "claude update"),
        ("login", "Log in to Claude Code", "claude auth login"),
        ("ready", "What do you want to do in", PROJECT),
    ] {
        std::fs::write(&state, next)?;
        window.run("window.dispatchEvent(new Event('focus'))", Vec::new()).await?;
        window.wait_shows(words, SHORT).await.with_context(|| format!("the state “{next}”"))?;
        window.wait_shows(detail, SHORT).await?;
    }
    Ok(())
}

//! Profiles: two accounts side by side, added on the settings page and in the file, chosen in the picker, and their
//! conversations of a terminal.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{AgentStub, Desktop, LONG, Process, SHORT, eventually};

use crate::stage::{PROJECT, Stage};

const DIALOG: &str = "New session with…";

fn account(desktop: &Desktop, name: &str) -> PathBuf {
    desktop.home().join(format!("claude-{name}"))
}

fn settings(desktop: &Desktop) -> PathBuf {
    desktop.home().join(".config/deskbell/settings.json")
}

/// A session in a terminal with the configuration of an account, from its start to its end.
fn terminal(desktop: &Desktop, folder: &Path, name: &str, prompt: &str) -> Result<()> {
    let mut command = desktop.command(AgentStub::telling(desktop)?);
    command.args(["-p", "--input-format=stream-json", "--output-format=stream-json", "--verbose"]);
    command.current_dir(folder).env("CLAUDE_CONFIG_DIR", account(desktop, name));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().context("starting it")?;
    let line = serde_json::json!({"type": "user", "message": {"role": "user", "content": prompt}});
    writeln!(child.stdin.take().context("it has a stdin")?, "{line}")?;
    let status = child.wait()?;
    ensure!(status.success(), "the session in the terminal ended with {status}");
    Ok(())
}

/// The agents that run with the configuration of an account.
fn agents_of(stage: &Stage, name: &str) -> Vec<Process> {
    let variable = format!("CLAUDE_CONFIG_DIR={}", account(&stage.desktop, name).display());
    let has_it = |process: &Process| {
        // A process that has ended has no environment.
        let environment = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes())
    };
    let processes = stage.app.processes(&stage.desktop).into_iter();
    processes.filter(|process| process.command_line.contains(" demo-agent ") && has_it(process)).collect()
}

/// Adds a profile in the settings page, by the mouse.
async fn add(stage: &Stage, name: &str, folder: &Path) -> Result<()> {
    let window = &stage.window;
    window.find("button", "New session").await?;
    window.key("ctrl+comma").await?;
    window.find("dialog", "Settings").await?;
    window.click("button", "Add profile…").await?;
    window.type_into("Name", name).await?;
    window.click("button", "Add variable").await?;
    window.type_into("Name of variable 1", "CLAUDE_CONFIG_DIR").await?;
    window.click("checkbox", "Show values").await?;
    window.type_into("Value of variable 1", "relative").await?;
    window.click("button", "Save profile").await?;
    window.wait_shows("CLAUDE_CONFIG_DIR must be an absolute path", SHORT).await?;
    window.screenshot("profile-refused").await?;
    window.click("textbox", "Value of variable 1").await?;
    window.key("ctrl+a").await?;
    window.key("BackSpace").await?;
    window.type_into("Value of variable 1", &folder.display().to_string()).await?;
    window.click("button", "Save profile").await?;
    stage.confirm_programs().await?;
    window.find("button", &format!("Edit {name}…")).await?;
    window.drawn().await?;
    window.screenshot("profile-added").await?;
    window.key("Escape").await?;
    window.gone("dialog", "Settings").await
}

async fn begin(stage: &Stage, name: &str) -> Result<()> {
    let window = &stage.window;
    window.key("ctrl+shift+n").await?;
    window.wait_shows("You cannot change the agent later.", LONG).await?;
    window.click("button", name).await?;
    window.gone("dialog", DIALOG).await?;
    let header = "return document.querySelector('header .profile')?.textContent ?? '';";
    eventually("the header names the profile", SHORT, async || {
        Ok((window.run(header, Vec::new()).await? == name).then_some(()))
    })
    .await
}

pub async fn two_accounts_are_added_chosen_and_have_their_own_environment_and_conversations() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    terminal(&desktop, &folder, "work", "SAY the work lamp")?;
    let stage = Stage::claude_on(desktop, folder).await?;
    stage
        .play("profiles", async |stage| {
            let (desktop, window) = (&stage.desktop, &stage.window);
            let decision = serde_json::json!({"decision": "restrict", "fingerprint": null, "load": []});
            let decided = window.invoke("decide_trust", decision).await?;
            ensure!(decided.is_ok(), "{decided:?}");

            // One on the page, the other in the file: both are in effect at once.
            add(stage, "Work", &account(desktop, "work")).await?;
            let text = fs::read_to_string(settings(desktop))?;
            let home = account(desktop, "home").display().to_string();
            let other = format!(
                "\"profiles\": [{{\"name\": \"Home\", \"mine\": 1, \"environment\": \
                 [{{\"name\": \"CLAUDE_CONFIG_DIR\", \"value\": \"{home}\"}}]}}, "
            );
            let start = text.find("\"profiles\": [").context("the page wrote the profile")?;
            let text = format!("{}{other}{}", &text[..start], &text[start + "\"profiles\": [".len()..]);
            fs::write(settings(desktop), text)?;

            // The conversation of the terminal is listed, with its profile, and continued with it.
            let rows = "return [...document.querySelectorAll('nav[aria-label=\"Sessions\"] li')]
                .map((row) => row.textContent);";
            eventually("the conversation of the other account is listed", SHORT, async || {
                let rows: Vec<String> = serde_json::from_value(window.run(rows, Vec::new()).await?)?;
                let is_it = |row: &String| row.contains("the work lamp") && row.contains("Work");
                Ok(rows.iter().any(is_it).then_some(()))
            })
            .await?;
            let open = "[...document.querySelectorAll('nav[aria-label=\"Sessions\"] li')]
                .find((row) => row.textContent.includes('the work lamp')).querySelector('button').click();";
            window.run(open, Vec::new()).await?;
            window.wait_text("log", "Conversation", "the work lamp", SHORT).await?;
            ensure!(agents_of(stage, "work").is_empty(), "looking started an agent");
            window.prompt("SAY the lamp again").await?;
            window.wait_said("the lamp again", LONG).await?;
            window.wait_idle(SHORT).await?;
            ensure!(agents_of(stage, "work").len() == 1, "it continues with its account");
            let arguments = AgentStub::arguments(desktop);
            ensure!(arguments.contains("--resume"), "{arguments}");

            // Both are chosen in the picker.
            for (name, key) in [("Work", "work"), ("Home", "home")] {
                let before = agents_of(stage, key).len();
                begin(stage, name).await?;
                window.prompt(&format!("SAY hello {name}")).await?;
                window.wait_said(&format!("hello {name}"), LONG).await?;
                window.wait_idle(SHORT).await?;
                ensure!(agents_of(stage, key).len() == before + 1, "{name} has an agent of its account");
                let rows: Vec<String> = serde_json::from_value(window.run(rows, Vec::new()).await?)?;
                let is_it = |row: &String| row.contains(&format!("hello {name}")) && row.contains(name);
                ensure!(rows.iter().any(is_it), "{rows:?}");
                window.drawn().await?;
                window.screenshot(&format!("profile-{key}")).await?;
            }
            let stored = |key: &str| account(desktop, key).join("projects").is_dir();
            ensure!(stored("home") && stored("work"), "each account has its own store");

            // What the page did not know stays in the file.
            window.key("ctrl+comma").await?;
            window.click("button", "Edit Home…").await?;
            // The settings of new sessions above it have a field of this name, too.
            let field = "document.getElementById([...document.querySelectorAll('form[aria-label] label')]
                .find((label) => label.textContent.trim() === 'Model').htmlFor).focus();";
            window.run(field, Vec::new()).await?;
            stage.pointer.type_text("opus").await?;
            window.click("button", "Save profile").await?;
            eventually("the page changed one value", SHORT, async || {
                let text = fs::read_to_string(settings(desktop))?;
                let is_changed = text.contains("\"model\": \"opus\"");
                Ok((is_changed && text.contains("\"mine\": 1") && text.contains("Work")).then_some(()))
            })
            .await
        })
        .await
}

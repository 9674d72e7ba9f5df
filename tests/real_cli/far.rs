//! The real CLI on another machine, over real ssh.

use anyhow::{Result, ensure};
use deskbell_engine::api::{Decision, Outcome};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{Relay, outcome, program_without_windows};
use deskbell_tests::sshd::{self, Sshd};
use serde_json::json;
use std::fs;
use std::path::Path;
use tokio::process::Command;

/// `deskbell on` without anything of the other machine in its environment.
fn there(sshd: &Sshd, near: &Path, arguments: &[String]) -> Result<Command> {
    let mut command = Command::new(program_without_windows()?);
    command
        .args(["on", sshd::HOST, "relay"])
        .args(arguments)
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", sshd.bin().display()))
        .env("HOME", near)
        .kill_on_drop(true);
    Ok(command)
}

/// The agent is found by a PATH that only a start file of the shell has, which prints something, too.
pub async fn a_session_runs_where_the_code_is() -> Result<()> {
    if !sshd::is_installed() {
        ensure!(
            !std::env::var("DESKBELL_TEST_REQUIRE").is_ok_and(|required| required == "1"),
            "sshd is not installed"
        );
        eprintln!("skipped: sshd is not installed");
        return Ok(());
    }
    let world = World::new().await?;
    let bin = world.root().join("bin");
    fs::create_dir(&bin)?;
    std::os::unix::fs::symlink(&world.cli.program, bin.join("claude"))?;
    fs::write(
        world.home.join(".bashrc"),
        format!("echo Welcome\nprintf noise\nexport PATH={}:$PATH\n", bin.display()),
    )?;
    let environment: Vec<(String, String)> = world
        .env()
        .into_iter()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .chain([("XDG_DATA_HOME".to_owned(), world.root().join("data").display().to_string())])
        .collect();
    let sshd = Sshd::start(&environment).await?;
    let near = tempfile::tempdir()?;
    let project = format!("--project={}", world.project.display());

    let mut relay = Relay::of(there(&sshd, near.path(), std::slice::from_ref(&project))?)?;
    relay
        .prompt(&format!(
            "TOOL Write {}\nSAY written",
            json!({"file_path": world.file("a.txt"), "content": "far\n"})
        ))
        .await?;
    let asked = relay.request().await?;
    ensure!(!world.file("a.txt").exists(), "it runs after the answer");
    relay.decide(&asked, Decision::AllowOnce { updated_input: None }).await?;
    ensure!(outcome(&relay.turn_end().await?)? == Outcome::Done);
    ensure!(fs::read_to_string(world.file("a.txt"))? == "far\n");
    relay.prompt(&format!("TOOL Bash {}\nSAY not run", json!({"command": "touch b.txt"}))).await?;
    let asked = relay.request().await?;
    relay.decide(&asked, Decision::Deny { message: String::new(), interrupt: false }).await?;
    relay.turn_end().await?;
    ensure!(!world.file("b.txt").exists());
    ensure!(relay.answers() == ["written", "not run"], "{:?}", relay.answers());
    let conversation = relay.session()?["agentSessionId"].as_str().unwrap_or_default().to_owned();
    world.saved(&conversation, "not run").await?;
    relay.close().await?;

    // Another connection continues the conversation.
    let mut relay = Relay::of(there(&sshd, near.path(), &[project, format!("--resume={conversation}")])?)?;
    relay.turn("SAY again").await?;
    ensure!(relay.answers().last().is_some_and(|answer| answer == "again"), "{:?}", relay.answers());
    relay.close().await?;
    ensure!(!near.path().join(".claude").exists(), "nothing of the agent is here");
    Ok(())
}

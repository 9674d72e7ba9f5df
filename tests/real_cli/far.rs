//! The real CLI on another machine, over real ssh.

use crate::rewind::rewind;
use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Decision, Outcome};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{Relay, outcome, program_without_windows};
use deskbell_tests::sshd::{self, Sshd};
use deskbell_tests::suite::is_required;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;

/// `deskbell on` without anything of the other machine in its environment.
fn there(sshd: &Sshd, near: &Path, arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new(program_without_windows()?);
    command
        .args(["on", sshd::HOST])
        .args(arguments)
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", sshd.bin().display()))
        .env("HOME", near)
        .kill_on_drop(true);
    Ok(command)
}

/// The real CLI on a machine that is reached by real ssh. Only a start file of the shell has its PATH, and prints something.
struct Far {
    world: World,
    sshd: Sshd,
    near: tempfile::TempDir,
}

impl Far {
    /// `None`, with a message, where sshd is not installed.
    async fn new() -> Result<Option<Self>> {
        if !sshd::is_installed() {
            ensure!(!is_required(), "sshd is not installed");
            eprintln!("skipped: sshd is not installed");
            return Ok(None);
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
        Ok(Some(Self { world, sshd, near: tempfile::tempdir()? }))
    }

    /// A relay of a session in the project there.
    fn relay(&self, more: &[&str]) -> Result<Relay> {
        let project = format!("--project={}", self.world.project.display());
        let arguments: Vec<&str> = ["relay", &project].into_iter().chain(more.iter().copied()).collect();
        Relay::of(there(&self.sshd, self.near.path(), &arguments)?)
    }

    /// The trust in the project there, after a decision if one is given.
    async fn trust(&self, decide: &[&str]) -> Result<Value> {
        let project = self.world.project.display().to_string();
        let arguments: Vec<&str> =
            ["trust", "--json", &project].into_iter().chain(decide.iter().copied()).collect();
        let mut command = there(&self.sshd, self.near.path(), &arguments)?;
        let output = command.stdin(Stdio::null()).output().await?;
        ensure!(output.status.success(), "{output:?}");
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

pub async fn a_session_runs_where_the_code_is() -> Result<()> {
    let Some(far) = Far::new().await? else { return Ok(()) };
    let Far { world, near, .. } = &far;
    let mut relay = far.relay(&[])?;
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
    let mut relay = far.relay(&[&format!("--resume={conversation}")])?;
    relay.turn("SAY again").await?;
    ensure!(relay.answers().last().is_some_and(|answer| answer == "again"), "{:?}", relay.answers());
    relay.close().await?;
    ensure!(!near.path().join(".claude").exists(), "nothing of the agent is here");
    Ok(())
}

/// The folder's hook runs after the folder was trusted there, and not before; a prompt there is rewound with its files.
pub async fn a_folder_is_trusted_and_a_turn_is_rewound_there() -> Result<()> {
    let Some(far) = Far::new().await? else { return Ok(()) };
    let Far { world, .. } = &far;
    let ran = world.file("ran");
    let hook = json!({ "hooks": { "SessionStart": [{ "hooks": [
        { "type": "command", "command": format!("touch {}", ran.display()) }
    ] }] } });
    fs::create_dir_all(world.file(".claude"))?;
    fs::write(world.file(".claude/settings.json"), hook.to_string())?;
    let unknown = far.trust(&[]).await?;
    ensure!(unknown["state"] == "unknown" && unknown.to_string().contains("touch "), "{unknown}");
    let restricted = far.trust(&["--decide=restrict"]).await?;
    ensure!(restricted["state"] == "restricted", "{restricted}");
    let mut relay = far.relay(&[])?;
    relay.turn("SAY restricted").await?;
    relay.close().await?;
    ensure!(!ran.exists(), "a hook of the folder ran before it was trusted");
    let fingerprint = unknown["fingerprint"].as_str().context("no fingerprint")?;
    let trusted = far.trust(&["--decide=trust", &format!("--fingerprint={fingerprint}")]).await?;
    ensure!(trusted["state"] == "trusted", "{trusted}");

    let mut relay = far.relay(&["--mode=acceptEdits"])?;
    let path = world.file("a.txt").display().to_string();
    fs::write(world.file("a.txt"), "one\n")?;
    relay.turn_allowing_all(&format!("READ {path}\nEDIT {path} one => two\nSAY first")).await?;
    ensure!(ran.exists(), "the hook of the trusted folder did not run");
    relay.turn_allowing_all(&format!("BASH true\nEDIT {path} two => three\nSAY second")).await?;
    ensure!(fs::read_to_string(world.file("a.txt"))? == "three\n");
    rewind(&mut relay, "BASH", true, true).await?;
    ensure!(fs::read_to_string(world.file("a.txt"))? == "two\n");
    relay.turn("SAY on the branch").await?;
    ensure!(relay.answers() == ["first", "on the branch"], "{:?}", relay.answers());
    relay.close().await
}

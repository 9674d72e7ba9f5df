//! The CLI's own store: its sessions are found in folders of any name, and its files are only read.

use anyhow::{Context, Result, ensure};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{Relay, app};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Every file of the store with its content.
fn store(world: &World) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![world.config.join("projects")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.clone(), fs::read(&path)?);
            }
        }
    }
    Ok(files)
}

/// The output of a command of ours in this world.
async fn output(world: &World, arguments: &[&str]) -> Result<String> {
    let output = world.command(&app()?).args(arguments).output().await?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{arguments:?}: {}: {errors}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

fn link(of: &Path, at: &Path) -> Result<()> {
    #[cfg(unix)]
    std::os::unix::fs::symlink(of, at)?;
    #[cfg(windows)]
    std::os::windows::fs::symlink_dir(of, at)?;
    Ok(())
}

/// Their names collide, are cut, or resolve to other folders in the CLI's store.
pub async fn sessions_in_odd_folders_are_found_and_never_written_to() -> Result<()> {
    let mut world = World::new().await?;
    let root = world.project.clone();
    let long = "x".repeat(220);
    let names = ["with space", "v1.2", "emoji 😀", &long, "a-b", "a/b", "link"];
    let mut ids = Vec::new();
    for name in names {
        world.project = root.join(name);
        if name == "link" {
            fs::create_dir(root.join("linked folder"))?;
            link(&root.join("linked folder"), &world.project)?;
        } else {
            fs::create_dir_all(&world.project)?;
        }
        let mut relay = Relay::spawn(&world, &[])?;
        relay.turn(&format!("SAY here is {name}")).await?;
        ids.push(relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned());
        relay.close().await?;
    }
    let before = store(&world)?;
    for (name, id) in names.iter().zip(&ids) {
        let folder = root.join(name).display().to_string();
        let listed = output(&world, &["sessions", "list", &folder]).await?;
        let listed: Vec<Value> = listed.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        ensure!(listed.len() == 1 && listed[0]["agentSessionId"] == id.as_str(), "{name}: {listed:?}");
        let exported = output(&world, &["sessions", "export", id, "--format=md"]).await?;
        ensure!(exported.contains(&format!("here is {name}")), "{name}: {exported}");
    }
    ensure!(store(&world)? == before, "the store was written to");
    Ok(())
}

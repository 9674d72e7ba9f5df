//! The doctor with the real CLI: unchanged, and as it would be if its permission flag failed again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, app};
use tokio::time::timeout;

pub async fn the_cli_asks_before_it_acts() -> Result<()> {
    let world = World::new().await?;
    let (succeeded, said) = doctor(&world, &world.cli.program).await?;
    ensure!(succeeded && said.contains("asks before acting"), "{said}");
    ensure!(world.api.messages().is_empty(), "the user's own API was called");
    Ok(())
}

pub async fn a_cli_that_ignores_the_flag_is_found_out() -> Result<()> {
    let drop_flag = r#"for argument; do
    shift
    [ "$argument" = --permission-prompt-tool=stdio ] || set -- "$@" "$argument"
done"#;
    unasked(drop_flag).await
}

pub async fn a_cli_that_allows_by_itself_is_found_out() -> Result<()> {
    unasked(r#"set -- "$@" --allowedTools=Bash"#).await
}

/// Runs the doctor on the CLI, wrapped in a script that changes its arguments.
async fn unasked(change: &str) -> Result<()> {
    let world = World::new().await?;
    let program = world.home.join("changed-claude");
    fs::write(&program, format!("#!/bin/sh\n{change}\nexec '{}' \"$@\"\n", world.cli.program.display()))?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    let (succeeded, said) = doctor(&world, &program).await?;
    ensure!(!succeeded && said.contains("ACTS WITHOUT ASKING"), "{said}");
    Ok(())
}

async fn doctor(world: &World, program: &Path) -> Result<(bool, String)> {
    let mut command = world.command(&app()?);
    command.arg("doctor").arg(format!("--agent={}", program.display()));
    let output = timeout(DEADLINE, command.output()).await.context("the doctor did not end")??;
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Ok((output.status.success(), said.into_owned()))
}

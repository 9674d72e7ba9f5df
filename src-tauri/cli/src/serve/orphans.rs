//! Ends the processes that an earlier server left. Its guard does that, unless it was killed together with the server.

use deskbell_engine::disk;
use deskbell_engine::process::app_runs::{AppRuns, RunKind};
use deskbell_engine::process::orphans::OrphanProcess;
use deskbell_sessions::agent;
use std::path::PathBuf;

/// A window asks its user before it ends such processes. A server may have no user present, and its sessions ran unattended.
pub async fn end(data: PathBuf) {
    if let Err(error) = try_end(data).await {
        tracing::error!(%error, "could not find out whether an earlier server left processes");
    }
}

async fn try_end(data: PathBuf) -> anyhow::Result<()> {
    let opened = data.clone();
    let runs: AppRuns = disk::run(&data, disk::DEADLINE, move || agent::open_runs(&opened)).await??;
    let of_servers = runs.over().await?.into_iter().filter(|(_, kind)| *kind == RunKind::Server);
    let tokens: Vec<String> = of_servers.map(|(token, _)| token).collect();
    let orphans = OrphanProcess::of_runs(&tokens);
    if !orphans.is_empty() {
        tracing::warn!(
            n = orphans.len(),
            "an earlier server was killed with its guard: ending what they left"
        );
    }
    let failed = OrphanProcess::end_all(&orphans).await;
    if !failed.is_empty() {
        // The next start finds them again.
        let problems: Vec<String> = failed.iter().map(ToString::to_string).collect();
        anyhow::bail!(problems.join(", "));
    }
    disk::run(&data, disk::DEADLINE, move || tokens.iter().try_for_each(|token| runs.forget(token)))
        .await??;
    Ok(())
}

//! The table in CONTRIBUTING.md of the real counterparts that kept their contracts, with their versions and the days. A run with
//! `UPDATE_LAST_RUNS=1` writes it. Another version fails nothing, because a system is updated at any time.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail, ensure};

const FILE: &str = "CONTRIBUTING.md";

/// The heading of the table, with the line below it.
const HEADING: &str = "| Counterpart | Version | Last run |\n|---|---|---|\n";

/// Contracts run at the same time.
static TABLE: Mutex<()> = Mutex::new(());

/// The version of a package of Debian, without its revision; `None` where the system has no such packages.
pub fn version_of(package: &str) -> Option<String> {
    let output = Command::new("dpkg-query").args(["-W", "-f", "${Version}", package]).output().ok()?;
    let version = String::from_utf8(output.stdout).ok().filter(|version| !version.is_empty())?;
    let version = version.split_once(':').map_or(version.as_str(), |(_, rest)| rest);
    Some(version.rsplit_once('-').map_or(version, |(upstream, _)| upstream).to_owned())
}

/// Compares a counterpart that has kept its contract with its row, or writes the row.
pub fn kept(counterpart: &str, version: &str) -> Result<()> {
    let _one_at_a_time = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(FILE);
    let text = fs::read_to_string(&file)?;
    let (before, table) =
        text.split_once(HEADING).with_context(|| format!("{FILE} has no table of last runs"))?;
    let end = table.lines().take_while(|line| line.starts_with('|')).map(|line| line.len() + 1).sum();
    let (rows, after) = table.split_at_checked(end).context("the table ends with a line")?;
    let name = format!("| {counterpart} | ");
    let row = rows.lines().find_map(|row| row.strip_prefix(&name));
    if std::env::var_os("UPDATE_LAST_RUNS").is_none() {
        let Some(row) = row else {
            bail!("{FILE} has no row of {counterpart}. UPDATE_LAST_RUNS=1 writes it.")
        };
        if !row.starts_with(&format!("{version} |")) {
            println!("{counterpart} {version} kept its contract, and {FILE} names {row}");
        }
        return Ok(());
    }
    let mut rows: Vec<String> =
        rows.lines().filter(|row| !row.starts_with(&name)).map(str::to_owned).collect();
    rows.push(format!("{name}{version} | {} |", today()?));
    rows.sort();
    Ok(fs::write(file, format!("{before}{HEADING}{}\n{after}", rows.join("\n")))?)
}

fn today() -> Result<String> {
    let output = Command::new("date").args(["-u", "+%F"]).output()?;
    ensure!(output.status.success(), "there is no date");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

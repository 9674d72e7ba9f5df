//! `deskbell sessions usage`: what Deskbell's sessions cost, as JSON lines or CSV.

use crate::args::sessions::UsageOptions;
use anyhow::Context;
use deskbell_engine::store::Store;
use deskbell_engine::usage::By;
use deskbell_sessions::folders;
use std::io::{self, Write};

/// Prints the table. Returns the session files that could not be read; they are left as they are.
pub fn run(options: &UsageOptions) -> anyhow::Result<Vec<String>> {
    let saved = Store::read_only(&folders::data().join("sessions")).context("reading the sessions")?;
    let rows = saved.usage_table(options.project.as_deref(), options.by);
    let mut stdout = io::BufWriter::new(crate::output::stdout());
    if options.csv {
        stdout.write_all(By::csv(&rows).as_bytes())?;
    } else {
        for row in &rows {
            serde_json::to_writer(&mut stdout, row)?;
            stdout.write_all(b"\n")?;
        }
    }
    stdout.flush()?;
    let unreadable = saved.unreadable.iter();
    Ok(unreadable
        .map(|path| format!("{} could not be read; its costs are missing", path.display()))
        .collect())
}

//! Many sessions at once: the cost of each, and of all of them while idle.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cpu_time::ProcessTime;
use deskbell_engine::api::*;
use deskbell_engine::session::{SessionHandle, Subscriber};
use tokio::sync::mpsc;

use crate::host;
use crate::status::Status;

/// The duration of the idle measurement.
const REST: Duration = Duration::from_secs(5);

/// Opens this many sessions with the demo agent, makes each answer once, then measures them while idle.
pub fn bench(counts: &[usize]) -> Result<()> {
    let counts = if counts.is_empty() { &[1, 50, 200][..] } else { counts };
    println!(
        "{:>8} {:>9} {:>8} {:>14} {:>15} {:>17}",
        "sessions", "answered", "threads", "KiB a session", "CPU at rest, ms", "wake-ups at rest"
    );
    for n in counts {
        let runtime = crate::runtime()?;
        runtime.block_on(many(*n))?;
        runtime.shutdown_background();
    }
    Ok(())
}

async fn many(n: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let before = Status::read()?;
    let started_at = Instant::now();
    let mut sessions = Vec::new();
    for nr in 0..n {
        let session = open(folder.path(), nr)?;
        let (sender, events) = mpsc::channel(64);
        session.subscribe(Subscriber::Every(sender)).await.context("listening")?;
        session
            .post(Command::Prompt {
                text: "SAY hello".to_owned(),
                attachments: Vec::new(),
                delivery: Delivery::default(),
            })
            .await
            .context("asking")?;
        sessions.push((session, events));
    }
    let mut n_answered = 0;
    for (_, events) in &mut sessions {
        n_answered += usize::from(host::answered(events).await);
    }
    let took = started_at.elapsed();
    // Their events of becoming idle have arrived.
    settled().await?;
    let busy = Status::read()?;
    let cpu = ProcessTime::now();
    tokio::time::sleep(REST).await;
    let (cpu, rested) = (cpu.elapsed(), Status::read()?);
    println!(
        "{n:>8} {n_answered:>9} {:>8} {:>14} {:>15.1} {:>17}   (all answered within {:.1} s)",
        busy.threads,
        (busy.memory_kib.saturating_sub(before.memory_kib)) / n as u64,
        cpu.as_secs_f64() * 1e3,
        // Our own sleep is one wake-up, and reading this is another.
        rested.wake_ups.saturating_sub(busy.wake_ups),
        took.as_secs_f32(),
    );
    ensure!(n_answered == n, "{} sessions did not answer", n - n_answered);
    let closing = sessions.iter().map(|(session, _)| session.clone());
    let closing: Vec<_> = closing.map(|session| tokio::spawn(async move { session.close().await })).collect();
    // Without this, a subscriber that no longer reads would keep the sessions open.
    drop(sessions);
    for closed in closing {
        closed.await?.context("closing")?;
    }
    Ok(())
}

/// Waits until the process has not been woken for a while.
async fn settled() -> Result<()> {
    let mut last = Status::read()?.wake_ups;
    for _ in 0..60 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let now = Status::read()?.wake_ups;
        if now.saturating_sub(last) < 10 {
            break;
        }
        last = now;
    }
    Ok(())
}

fn open(folder: &Path, nr: usize) -> Result<SessionHandle> {
    let project = folder.join(format!("project-{nr}"));
    fs::create_dir_all(&project)?;
    let launch = host::launch(&project, &["demo-agent".to_owned()], &nr.to_string())?;
    Ok(host::open(&project, &nr.to_string(), AgentKind::Demo, Arc::new(move || Ok(launch.clone()))))
}

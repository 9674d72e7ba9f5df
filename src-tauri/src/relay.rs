//! The engine without a window: commands as NDJSON on stdin, events as NDJSON on stdout. See docs/relay.md.

use crate::agent::{self, Run};
use crate::args::RelayOptions;
use crate::trust;
use anyhow::Context;
use deskbell_engine::api::*;
use deskbell_engine::recorder::Recorder;
use deskbell_engine::session::machine::{Limits, Memory};
use deskbell_engine::session::{Open, SessionHandle, Subscriber};
use deskbell_engine::store::Record;
use deskbell_engine::trust::TrustStore;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::mpsc;

/// Events that may wait for whoever reads stdout; behind them the session waits, and with it the agent.
/// Few, since each may be long: one that grows a paragraph has the whole of it.
const BACKLOG: usize = 8;

/// How long the last events wait for their reader, once everything has ended.
const LAST_WORDS: Duration = Duration::from_secs(5);

pub fn main(options: RelayOptions) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("deskbell: could not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(relay(options));
    // Reading stdin blocks a thread that nothing can wake; everything else has ended by now.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("deskbell: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn relay(options: RelayOptions) -> anyhow::Result<()> {
    let run = Run::begin(&crate::desk::data_folder());
    let ended = drive(options, run.clone()).await;
    run.end();
    ended
}

/// From the opening of the session to its end.
async fn drive(options: RelayOptions, run: Run) -> anyhow::Result<()> {
    let session = open(options, run)?;
    let (sender, events) = mpsc::channel(BACKLOG);
    session.subscribe(Subscriber::Every(sender)).await?;
    let mut writer = tokio::task::spawn_blocking(move || write_events(events));
    session.start().await?;
    let finished = async {
        read_commands(&session).await?;
        session.finish().await?;
        anyhow::Ok(())
    };
    tokio::select! {
        finished = finished => finished?,
        () = ended_by_signal() => session.close().await?,
        // Nobody reads any more: the agent works for nobody.
        written = &mut writer => {
            session.close().await?;
            return written?.context("telling what happened");
        }
    }
    drop(session);
    // A reader that has stopped reading must not keep the relay from its end.
    match tokio::time::timeout(LAST_WORDS, writer).await {
        Ok(written) => written?.context("telling what happened"),
        Err(_) => anyhow::bail!("nobody read the last events"),
    }
}

fn open(options: RelayOptions, run: Run) -> anyhow::Result<SessionHandle> {
    let RelayOptions { project, agent: chosen, resume, model, mode, record, trust: trusted } = options;
    let recorder = Recorder::default();
    if let Some(path) = record {
        recorder.begin(&path).with_context(|| format!("recording to {}", path.display()))?;
    }
    let demo = chosen.as_ref().is_some_and(|chosen| chosen.as_os_str() == "demo");
    let kind = if demo { AgentKind::Demo } else { AgentKind::Claude };
    let data = crate::desk::data_folder();
    let decisions = trust::open_store(&data).context("opening the folder of trust decisions")?;
    let admit = move |project: &Path| if trusted { Ok(false) } else { restricted(&decisions, project) };
    let launcher = agent::launcher(kind, project.clone(), data.clone(), move || chosen.clone(), admit, run);
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64;
    let record = Record {
        id: SessionId::new(uuid::Uuid::new_v4().to_string()),
        project,
        agent: kind,
        created_at: now,
        changed_at: now,
        memory: Memory {
            resumable: resume.is_some(),
            agent_session_id: resume,
            model,
            mode,
            ..Memory::default()
        },
    };
    let agent_config = agent::config_folder(kind, &data);
    let locks = Some(data.join("locks"));
    Ok(SessionHandle::open(Open {
        record,
        launcher,
        store: None,
        agent_config,
        locks,
        limits: Limits::default(),
        recorder,
    }))
}

/// Without a window nobody can be asked: a folder that is not trusted as it is now is worked in restricted, which is said.
fn restricted(decisions: &TrustStore, project: &Path) -> Result<bool, CommandError> {
    let restricted = trust::is_restricted(decisions, project)?;
    if restricted {
        eprintln!(
            "deskbell: {} is not trusted: its settings, hooks and servers are not loaded; --trust loads them",
            project.display()
        );
    }
    Ok(restricted)
}

/// One command a line. A line that is none is told as an event, and costs nothing else.
async fn read_commands(session: &SessionHandle) -> anyhow::Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).split(b'\n');
    while let Some(line) = lines.next_segment().await? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Command>(&line) {
            Ok(command) => session.post(command).await?,
            Err(problem) => session.complain(problem.to_string()).await?,
        }
    }
    Ok(())
}

/// Straight to stdout, on a thread of its own: the text of a very long event is not made first.
fn write_events(mut events: mpsc::Receiver<Envelope>) -> anyhow::Result<()> {
    let mut stdout = std::io::BufWriter::with_capacity(64 * 1024, std::io::stdout().lock());
    while let Some(envelope) = events.blocking_recv() {
        serde_json::to_writer(&mut stdout, &envelope)?;
        stdout.write_all(b"\n")?;
        if events.is_empty() {
            stdout.flush()?;
        }
    }
    stdout.flush()?;
    Ok(())
}

/// SIGTERM, SIGINT or SIGHUP; on Windows Ctrl+C.
pub async fn ended_by_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
        let any = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_select(any.collect()).await;
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The first of several futures; none of none.
#[cfg(unix)]
async fn futures_select<F: Future + Unpin>(mut futures: Vec<F>) {
    std::future::poll_fn(|context| {
        let ready = futures.iter_mut().any(|future| std::pin::Pin::new(future).poll(context).is_ready());
        if ready { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

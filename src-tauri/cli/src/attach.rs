//! Clients of the server: `deskbell relay --attach`, `--list`, `--stop` and `--remove`, and `deskbell sessions attach`. See
//! docs/relay.md.

mod following;
pub(crate) mod list;
mod terminal;

use crate::args::server::{AttachOptions, ServerMode};
use crate::exit::Exit;
use crate::link::Link;
use crate::serve::READY;
use crate::serve::place::{self, Place};
use anyhow::Context;
use deskbell_engine::api::server::{Reply, Request};
use deskbell_engine::api::{CommandError, SessionId};
use deskbell_engine::disk;
use deskbell_server::client::Refused;
use deskbell_server::detach;
use deskbell_server::socket::{self, SocketError, Stream};
use following::{Face, Typed, follow};
use std::io::Write;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::{Instant, sleep};

/// The line on stdout after which everything is the server's. What stands before it came from the host: a login
/// message, for example.
pub const MARKER: &str = "DESKBELL-RELAY 1";

/// Timeout for a server to start, or to free its lock.
const START: Duration = Duration::from_secs(20);

/// A wait without a deadline.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The number of last bytes of the server's log that are shown if it does not start.
const LOG_END: u64 = 2_000;

pub fn main(mode: ServerMode) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("deskbell: could not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let done = runtime.block_on(async {
        match mode {
            // Served elsewhere.
            ServerMode::Serve(_) => Ok(ExitCode::FAILURE),
            ServerMode::Attach(options) => attach(options).await,
            ServerMode::List { json } => list::list(json).await,
            ServerMode::Stop(which) => list::stop(which).await,
            ServerMode::Remove(id) => list::remove(id).await,
            ServerMode::Terminal(id) => terminal::attach(id).await,
        }
    });
    // Reading stdin blocks a thread that cannot be woken.
    runtime.shutdown_background();
    done.unwrap_or_else(|error| {
        eprintln!("deskbell: {error:#}");
        ExitCode::FAILURE
    })
}

async fn attach(options: AttachOptions) -> anyhow::Result<ExitCode> {
    let data = deskbell_sessions::folders::data();
    if let Some(session_id) = options.session.clone() {
        return attach_session(&data, &options, session_id).await;
    }
    match connect(&data, &options).await? {
        Some(stream) => pass(stream).await,
        None => {
            eprintln!("deskbell: no server is running, and none was started");
            Ok(Exit::NothingToAttach.into())
        }
    }
}

/// Connects to the server of this version, or starts it; `None` if that is not allowed.
pub async fn connect(data: &Path, options: &AttachOptions) -> anyhow::Result<Option<Stream>> {
    let place = Place::of(data, &place::version());
    match socket::connect(&place.socket()).await {
        Err(SocketError::NoServer) if options.start => start(data, &place, options.idle).await.map(Some),
        Err(SocketError::NoServer) => Ok(None),
        connected => Ok(Some(connected?)),
    }
}

/// Follows a session of any server. If none has it, a server is started: the session may be saved.
async fn attach_session(
    data: &Path,
    options: &AttachOptions,
    session_id: SessionId,
) -> anyhow::Result<ExitCode> {
    if let Some((link, run)) = list::find_session(data, &session_id).await? {
        return follow(link, &run, session_id, &mut Script).await;
    }
    if connect(data, options).await?.is_some()
        && let Some((link, run)) = list::find_session(data, &session_id).await?
    {
        return follow(link, &run, session_id, &mut Script).await;
    }
    eprintln!("deskbell: there is no session {session_id}; `deskbell relay --list` lists them");
    Ok(Exit::NothingToAttach.into())
}

/// Starts a server and connects to it.
async fn start(data: &Path, place: &Place, idle: Duration) -> anyhow::Result<Stream> {
    let made = place.clone();
    let log = disk::run(data, disk::DEADLINE, move || {
        socket::own_folder(&made.folder)?;
        let log = disk::create_regular(&made.log())?;
        log.set_len(0)?;
        anyhow::Ok(log)
    });
    let log = log.await?.context("creating the log of the server")?;
    let program = std::env::current_exe().context("finding this program")?;
    let mut server = tokio::process::Command::new(program);
    server
        .args(["relay", "--serve", "--detached"])
        .arg(format!("--idle={}", idle.as_secs_f64()))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log);
    let mut server = detach::start(&mut server).context("starting the server")?;
    let mut first = String::new();
    if let Some(stdout) = server.stdout.take() {
        let mut stdout = BufReader::new(stdout);
        let reading = tokio::time::timeout(START, stdout.read_line(&mut first));
        reading.await.context("the server did not start in time")?.context("reading from the server")?;
    }
    let mut is_alone = true;
    if first.trim_end() != READY {
        let status = server.wait().await.context("waiting for the server")?;
        is_alone = status.code() != Some(Exit::AlreadyRuns.code().into());
        if is_alone {
            let log = place.log();
            let end = disk::run(data, disk::DEADLINE, move || disk::read_end(&log, LOG_END)).await;
            let end = end.ok().and_then(Result::ok).unwrap_or_default();
            let end = String::from_utf8_lossy(&end).into_owned();
            anyhow::bail!("the server did not start ({status}):\n{}", end.trim_end());
        }
    }
    // Another server of this version is starting, or is about to end.
    let deadline = Instant::now() + START;
    loop {
        match socket::connect(&place.socket()).await {
            Err(SocketError::NoServer) if !is_alone && Instant::now() < deadline => {
                sleep(Duration::from_millis(20)).await;
            }
            connected => return connected.context("connecting to the server that was started"),
        }
    }
}

/// Passes bytes both ways until one side ends.
async fn pass(stream: Stream) -> anyhow::Result<ExitCode> {
    let (mut stdin, mut stdout) = (tokio::io::stdin(), tokio::io::stdout());
    // The host may have written an incomplete line.
    stdout.write_all(format!("\n{MARKER}\n").as_bytes()).await.context("writing to stdout")?;
    stdout.flush().await.context("writing to stdout")?;
    let (mut reader, mut writer) = stream.into_split();
    let mut buffer = vec![0; 64 << 10];
    let to_client = async {
        loop {
            let n_read = reader.read(&mut buffer).await?;
            if n_read == 0 {
                return std::io::Result::Ok(());
            }
            stdout.write_all(&buffer[..n_read]).await?;
            stdout.flush().await?;
        }
    };
    tokio::select! {
        sent = tokio::io::copy(&mut stdin, &mut writer) => match sent {
            // The client is done.
            Ok(_) => Ok(ExitCode::SUCCESS),
            Err(error) => Ok(broken(&error)),
        },
        received = to_client => match received {
            Ok(()) => {
                eprintln!("deskbell: the server closed the connection");
                Ok(Exit::NoConnection.into())
            }
            Err(error) => Ok(broken(&error)),
        },
    }
}

fn broken(error: &std::io::Error) -> ExitCode {
    eprintln!("deskbell: the link broke: {error}");
    Exit::NoConnection.into()
}

/// A script: commands on stdin and events on stdout, as `deskbell relay` has them. The first line is a snapshot.
struct Script;

impl Face for Script {
    fn event(&mut self, line: &[u8]) -> anyhow::Result<()> {
        print(line)
    }

    fn snapshot(&mut self, line: &[u8]) -> anyhow::Result<()> {
        print(line)
    }

    fn refused(&mut self, _: &Refused, line: &[u8]) -> anyhow::Result<()> {
        print(line)
    }

    fn removed(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    fn typed(&mut self, text: &str, _: Instant) -> Typed {
        if text.trim().is_empty() {
            return Typed::Nothing;
        }
        match serde_json::from_str(text) {
            Ok(command) => Typed::Send(Box::new(command)),
            Err(problem) => {
                eprintln!("deskbell: not a command: {problem}");
                Typed::Nothing
            }
        }
    }

    fn is_up_to_date(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    fn left(&self) {}
}

fn print(line: &[u8]) -> anyhow::Result<()> {
    let mut stdout = crate::output::stdout();
    stdout.write_all(line).and_then(|()| stdout.flush()).context("writing to stdout")
}

/// Sends a request with an id, and waits for its answer.
async fn ask(link: &mut Link, request: &Request, id: &str) -> anyhow::Result<Result<(), CommandError>> {
    link.send(request).await?;
    loop {
        match link.reply().await? {
            Reply::Accepted { id: answered, .. } if answered == id => return Ok(Ok(())),
            Reply::Refused { id: answered, error, .. } if answered == id => return Ok(Err(error)),
            _ => {}
        }
    }
}

//! `deskbell relay --serve`: the engine as a server of its user on this machine. See docs/relay.md.
//!
//! `deskbell_server::hub` decides; this carries its effects out: sessions (`sessions`), connections (`client`),
//! the folder of each version (`place`), the sessions of older versions (`older`), and the time.

mod client;
mod older;
mod orphans;
pub mod place;
mod revert_history;
mod sessions;

use crate::args::server::ServeOptions;
use crate::exit::Exit;
use crate::logs;
use anyhow::Context;
use deskbell_engine::disk;
use deskbell_engine::owner::Lock;
use deskbell_engine::settings::SettingsFile;
use deskbell_engine::trust::TrustStore;
use deskbell_server::ClientId;
use deskbell_server::detach;
use deskbell_server::hub::{Effect, Hub, Identity, Input};
use deskbell_server::socket::{self, Listener, Stream};
use deskbell_sessions::agent::{self, Run};
use deskbell_sessions::opener::SessionOpener;
use deskbell_sessions::queries::QuerySources;
use deskbell_sessions::{folders, trust};
use place::Place;
use revert_history::RevertHistory;
use sessions::{Job, Sessions};
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// The line on stdout that says that the server accepts connections.
pub const READY: &str = "ready";

/// Timeout of the last replies when the server leaves.
const LAST_WORDS: Duration = Duration::from_millis(500);

pub fn main(options: ServeOptions) -> ExitCode {
    if options.detached
        && let Err(error) = detach::leave_terminal()
    {
        tracing::warn!(%error, "could not leave the terminal: the server ends with it");
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("deskbell: could not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let served = runtime.block_on(serve(options));
    runtime.shutdown_background();
    match served {
        Ok(code) => code,
        Err(error) => {
            eprintln!("deskbell: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(options: ServeOptions) -> anyhow::Result<ExitCode> {
    let data = folders::data();
    let place = Place::of(&data, &place::version());
    let locked = place.clone();
    let lock = disk::run(&data, disk::DEADLINE, move || {
        socket::own_folder(&locked.folder)?;
        anyhow::Ok(Lock::take(&locked.folder, place::LOCK)?)
    });
    let Some(_lock) = lock.await?? else {
        eprintln!("deskbell: a server of this version is already running in {}", place.folder.display());
        return Ok(Exit::AlreadyRuns.into());
    };
    let busy = place::take_over_older(&data, &place).await;
    let (opening, folder) = (data.clone(), place.folder.clone());
    let opened = disk::run(&data, disk::DEADLINE, move || {
        logs::read_level(&SettingsFile::new(&folders::config()));
        let decisions = trust::open_store(&opening).context("opening the folder of trust decisions")?;
        let sessions = Sessions::read(&folder)?;
        anyhow::Ok((decisions, sessions, Run::begin_server(&opening)))
    });
    let (decisions, sessions, run) = opened.await??;
    let socket_path = place.socket();
    let listener = socket::listen(&socket_path).context("opening the socket of the server")?;
    let server = Server::new(&options, data.clone(), decisions, sessions, run.clone());
    let asking = run.clone();
    tokio::spawn(async move { agent::ask_login_shell(&asking).await });
    server.restore().await;
    older::begin(&server, &place, busy).await;
    announce();
    tokio::spawn(folders::remove_leftovers(data.clone()));
    tokio::spawn(orphans::end(data.clone()));
    server.serve(listener).await;
    // From here on a new client finds no server, and may start one as soon as the lock is free.
    let removed = disk::run(&data, disk::DEADLINE, move || std::fs::remove_file(&socket_path)).await;
    if let Err(error) = removed.unwrap_or_else(|unfinished| Err(unfinished.into())) {
        tracing::warn!(%error, "could not remove the socket");
    }
    server.close().await;
    disk::run(&data, disk::DEADLINE, move || run.end()).await?;
    Ok(ExitCode::SUCCESS)
}

/// Says that connections are accepted. The starter may have gone: the server serves all the same.
fn announce() {
    let mut stdout = std::io::stdout().lock();
    if let Err(error) = writeln!(stdout, "{READY}").and_then(|()| stdout.flush()) {
        tracing::debug!(%error, "the starter of the server is gone");
    }
}

/// A connected client: it can be woken, and it can be disconnected.
struct Connection {
    more: Arc<Notify>,
    /// Dropping it disconnects the client.
    _end: watch::Sender<()>,
}

pub struct Server {
    hub: Mutex<Hub>,
    clients: Mutex<HashMap<ClientId, Connection>>,
    sessions: Sessions,
    sources: QuerySources,
    reverts: RevertHistory,
    opener: SessionOpener,
    decisions: TrustStore,
    n_clients: AtomicU64,
    began_at: Instant,
    /// The deadline of the hub may have changed.
    timer: Notify,
    leave: Notify,
    is_leaving: AtomicBool,
}

impl Server {
    fn new(
        options: &ServeOptions,
        data: PathBuf,
        decisions: TrustStore,
        sessions: Sessions,
        run: Run,
    ) -> Arc<Self> {
        let identity = Identity {
            version: place::version(),
            host: place::host_name(),
            boot_id: place::boot_id(),
            run: uuid::Uuid::new_v4().to_string(),
            pid: std::process::id(),
        };
        let leave_after = u64::try_from(options.idle.as_millis()).unwrap_or(u64::MAX);
        Arc::new(Self {
            hub: Mutex::new(Hub::new(identity, leave_after, 0)),
            clients: Mutex::default(),
            sessions,
            sources: QuerySources::default(),
            reverts: RevertHistory::default(),
            opener: SessionOpener { data, run },
            decisions,
            n_clients: AtomicU64::new(0),
            began_at: Instant::now(),
            timer: Notify::new(),
            leave: Notify::new(),
            is_leaving: AtomicBool::new(false),
        })
    }

    /// Accepts connections until the server leaves, or is asked to end by a signal.
    async fn serve(self: &Arc<Self>, mut listener: Listener) {
        let accept = async {
            loop {
                match listener.accept().await {
                    Ok(stream) => self.connected(stream),
                    Err(error) => {
                        // Out of file descriptors, for example: the existing clients go on.
                        tracing::warn!(%error, "could not accept a connection");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                }
            }
        };
        tokio::select! {
            () = accept => {}
            () = self.keep_time() => {}
            () = self.leave.notified() => {}
            () = ended_by_signal() => {}
        }
    }

    fn connected(self: &Arc<Self>, stream: Stream) {
        match socket::is_same_user(&stream) {
            Ok(true) => {}
            // The folder already keeps other users out; the superuser passes it.
            Ok(false) => return tracing::warn!("refused a connection of another user"),
            Err(error) => return tracing::warn!(%error, "could not find out who connected"),
        }
        let client = ClientId(self.n_clients.fetch_add(1, Ordering::Relaxed));
        let (end, ended) = watch::channel(());
        let more = Arc::new(Notify::new());
        lock(&self.clients).insert(client, Connection { more: more.clone(), _end: end });
        self.step(Input::Connected(client));
        tokio::spawn(client::run(self.clone(), client, stream, more, ended));
    }

    /// Sends ticks at the hub's deadlines.
    async fn keep_time(self: &Arc<Self>) {
        loop {
            let deadline = lock(&self.hub).deadline();
            let sleep = async {
                match deadline {
                    Some(at) => {
                        let at = self.began_at.checked_add(Duration::from_millis(at));
                        tokio::time::sleep_until(at.unwrap_or_else(far_away)).await;
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = sleep => self.step(Input::Tick),
                () = self.timer.notified() => {}
            }
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began_at.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Gives an input to the hub and carries out the effects.
    fn step(self: &Arc<Self>, input: Input) {
        let (effects, is_sooner) = {
            let mut hub = lock(&self.hub);
            let before = hub.deadline();
            let effects = hub.step(self.now(), input);
            (effects, hub.deadline().is_some_and(|after| before.is_none_or(|before| after < before)))
        };
        if is_sooner {
            self.timer.notify_one();
        }
        self.carry_out(effects);
    }

    fn carry_out(self: &Arc<Self>, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Open { id, session } => {
                    let server = self.clone();
                    tokio::spawn(async move {
                        let result = server.open(session).await;
                        server.step(Input::Executed { id, result });
                    });
                }
                Effect::Execute { id, session_id, command } => {
                    self.give(id, session_id, |id| Job::Command { id, command });
                }
                Effect::Remove { id, session_id } => self.give(id, session_id, |id| Job::Remove { id }),
                Effect::Revert { id, session_id, change } => {
                    let server = self.clone();
                    tokio::spawn(async move {
                        let result = server.revert(&id, &session_id, change).await;
                        let result = result.map(|()| session_id);
                        server.step(Input::Executed { id, result });
                    });
                }
                Effect::MakeSnapshot { client, session_id } => {
                    let server = self.clone();
                    tokio::spawn(async move {
                        let made = server.snapshot(&session_id).await;
                        server.step(Input::Snapshot { client, session_id, made });
                    });
                }
                Effect::Ask { client, nr, session_id, question } => {
                    let server = self.clone();
                    tokio::spawn(async move {
                        let result = server.answer(&session_id, question).await;
                        server.step(Input::Told { client, nr, result });
                    });
                }
                Effect::Wake(client) => {
                    if let Some(connection) = lock(&self.clients).get(&client) {
                        connection.more.notify_one();
                    }
                }
                Effect::Disconnect(client) => drop(lock(&self.clients).remove(&client)),
                Effect::Leave => self.begin_to_leave(),
            }
        }
    }

    /// Lets the clients read their last replies, then ends the server.
    fn begin_to_leave(self: &Arc<Self>) {
        self.is_leaving.store(true, Ordering::Release);
        let clients = lock(&self.clients);
        if clients.is_empty() {
            self.leave.notify_one();
            return;
        }
        clients.values().for_each(|connection| connection.more.notify_one());
        let server = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(LAST_WORDS).await;
            server.leave.notify_one();
        });
    }

    fn disconnected(self: &Arc<Self>, client: ClientId) {
        let is_last = {
            let mut clients = lock(&self.clients);
            clients.remove(&client);
            clients.is_empty()
        };
        self.step(Input::Disconnected(client));
        if is_last && self.is_leaving() {
            self.leave.notify_one();
        }
    }

    fn is_leaving(&self) -> bool {
        self.is_leaving.load(Ordering::Acquire)
    }
}

fn far_away() -> Instant {
    Instant::now() + Duration::from_secs(365 * 24 * 60 * 60)
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// SIGTERM or SIGINT. SIGHUP is ignored: the terminal of the starter may close.
#[cfg(unix)]
async fn ended_by_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let _hangups = signal(SignalKind::hangup());
    match (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) {
        (Ok(mut terminate), Ok(mut interrupt)) => {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        }
        (Err(error), _) | (_, Err(error)) => {
            tracing::error!(%error, "could not watch for signals");
            std::future::pending::<()>().await;
        }
    }
}

/// Ctrl+C, if it has a console.
#[cfg(windows)]
async fn ended_by_signal() {
    crate::signals::received().await;
}

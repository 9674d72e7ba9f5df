//! The link to a server of this user: one connection for all sessions that are followed, made again when it breaks.
//!
//! `deskbell_server::client` decides; this carries its effects out. The caller supplies the way to connect, which may
//! start the server first.

mod newer;

use crate::api::server::{NewSession, RevertRequest, SessionSummary};
use crate::api::*;
use crate::host::{BoxFuture, Reader, Writer};
use deskbell_server::client::{Client, Effect, Link, lost};
use deskbell_server::lines::{MAX_SERVER_LINE, next_server_line};
use deskbell_server::wake::{NetworkWatch, WakeWatch};
pub(crate) use newer::unreadable_session;
use serde_json::Value;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Connects to the server and returns both ends of the connection. Called for every attempt.
pub type Dial = Arc<dyn Fn() -> BoxFuture<'static, io::Result<(Reader, Writer)>> + Send + Sync>;

/// Lines that may wait: of a connection, and to it.
const BACKLOG: usize = 64;

/// While the link is down, the clocks and the routes are compared this often, because the delay before an attempt does not run
/// in sleep, and another network is a reason not to wait for it.
const LOOKS_FOR_WAKE: Duration = Duration::from_secs(1);

/// The wall clock, in milliseconds since 1970.
type WallClock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The routes of this computer, as a table that [`NetworkWatch`] compares; empty where they are not known.
type Routes = Arc<dyn Fn() -> String + Send + Sync>;

/// Whether an attempt to connect may be dropped and made again, because the computer slept or its network changed. Not while
/// it waits for the user.
type MayBeginAgain = Arc<dyn Fn() -> bool + Send + Sync>;

/// The largest table of routes that is read, in bytes.
const MAX_ROUTES: u64 = 1 << 20;

/// The table of the kernel. Reading it waits for nothing.
fn routes() -> String {
    let path = std::path::Path::new("/proc/net/route");
    let read = cfg!(target_os = "linux").then(|| crate::disk::read_regular(path, MAX_ROUTES));
    // A system without it has other ways to notice: the link is silent, or the user chooses “Now”.
    read.and_then(Result::ok).map(|table| String::from_utf8_lossy(&table).into_owned()).unwrap_or_default()
}

/// What a link learns from its computer: that it slept, and that its network changed.
struct Surroundings {
    wall: WallClock,
    routes: Routes,
    may_begin_again: MayBeginAgain,
}

fn wall_clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// What a followed session receives.
#[derive(Debug)]
pub(crate) enum FromServer {
    Snapshot(Box<Snapshot>),
    Event(Box<Event>),
    LinkChanged,
    /// The server sent a snapshot or an event that this version cannot read.
    Unreadable {
        is_snapshot: bool,
        problem: String,
    },
    /// The server does not have the session.
    Gone,
}

type Outcome<T> = oneshot::Sender<Result<T, CommandError>>;

enum ToServer {
    Follow(SessionId, mpsc::Sender<FromServer>),
    Unfollow(SessionId),
    Open(Box<NewSession>, Outcome<SessionId>),
    Command(SessionId, Command, Option<Outcome<()>>),
    Remove(SessionId, Outcome<()>),
    Revert(String, SessionId, RevertRequest, Outcome<()>),
    Ask(SessionId, SessionQuery, Outcome<Value>),
    Retry,
    List,
}

/// A handle to the link. The link ends with its last handle; the server goes on.
#[derive(Clone)]
pub struct ServerLink {
    messages: mpsc::UnboundedSender<ToServer>,
    state: watch::Receiver<SessionLink>,
    listed: watch::Receiver<Option<Vec<SessionSummary>>>,
}

impl ServerLink {
    /// Begins to connect, on the current tokio runtime. Each attempt goes on until its end.
    pub fn open(dial: Dial) -> Self {
        Self::open_asking(dial, Arc::new(|| false))
    }

    /// The same for attempts that can be made again, and can ask the user something.
    pub fn open_asking(dial: Dial, may_begin_again: MayBeginAgain) -> Self {
        Self::open_in(dial, Arc::new(wall_clock), Arc::new(routes), may_begin_again)
    }

    /// The same with another wall clock, in milliseconds since 1970, and another table of the routes: tests let the computer
    /// sleep, and change its network.
    pub fn open_in(dial: Dial, wall: WallClock, routes: Routes, may_begin_again: MayBeginAgain) -> Self {
        let surroundings = Surroundings { wall, routes, may_begin_again };
        let (messages, inbox) = mpsc::unbounded_channel();
        let (state_sender, state) = watch::channel(SessionLink::Connecting);
        let (listed_sender, listed) = watch::channel(None);
        let (read_sender, read) = mpsc::channel(BACKLOG);
        let began_at = Instant::now();
        let task = Task {
            client: Client::new(0),
            began_at,
            looked_at: None,
            surroundings,
            wake: WakeWatch::default(),
            network: NetworkWatch::default(),
            dial,
            n_connections: 0,
            connection: None,
            read_sender,
            followed: HashMap::new(),
            answers: HashMap::new(),
            questions: HashMap::new(),
            n_questions: 0,
            state: state_sender,
            listed: listed_sender,
        };
        tokio::spawn(task.run(inbox, read));
        Self { messages, state, listed }
    }

    /// The state of the link.
    pub fn state(&self) -> SessionLink {
        self.state.borrow().clone()
    }

    /// The sessions of the server each time that the link comes up; `None` before the first time.
    pub fn listed(&self) -> watch::Receiver<Option<Vec<SessionSummary>>> {
        self.listed.clone()
    }

    /// The state of the link, each time that it changes.
    pub fn states(&self) -> watch::Receiver<SessionLink> {
        self.state.clone()
    }

    /// Asks the server for its sessions, if the link is up. `listed` has the answer.
    pub fn list(&self) {
        self.send(ToServer::List);
    }

    /// Tries to connect now, instead of at the next attempt.
    pub fn retry(&self) {
        self.send(ToServer::Retry);
    }

    /// Opens a session in the server.
    pub async fn new_session(&self, session: NewSession) -> Result<SessionId, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(ToServer::Open(Box::new(session), reply));
        answer.await.map_err(|_| lost())?
    }

    /// Reverts a change in the folder of a session, or undoes a revert. Returns the id of the request, which an undo names.
    pub async fn revert(&self, id: SessionId, change: RevertRequest) -> Result<String, CommandError> {
        let (reply, answer) = oneshot::channel();
        let request_id = uuid::Uuid::new_v4().to_string();
        self.send(ToServer::Revert(request_id.clone(), id, change, reply));
        answer.await.map_err(|_| lost())??;
        Ok(request_id)
    }

    pub(crate) fn follow(&self, id: SessionId, events: mpsc::Sender<FromServer>) {
        self.send(ToServer::Follow(id, events));
    }

    pub(crate) fn unfollow(&self, id: SessionId) {
        self.send(ToServer::Unfollow(id));
    }

    pub(crate) fn command(&self, id: SessionId, command: Command, reply: Option<Outcome<()>>) {
        self.send(ToServer::Command(id, command, reply));
    }

    pub(crate) fn remove(&self, id: SessionId, reply: Outcome<()>) {
        self.send(ToServer::Remove(id, reply));
    }

    pub(crate) fn ask(&self, id: SessionId, question: SessionQuery, reply: Outcome<Value>) {
        self.send(ToServer::Ask(id, question, reply));
    }

    fn send(&self, message: ToServer) {
        // Without the task, replies are dropped, and their callers see that.
        drop(self.messages.send(message));
    }
}

/// The request that waits for an answer, by its id.
enum Answer {
    Opened(Outcome<SessionId>),
    Done(Option<Outcome<()>>),
}

impl Answer {
    fn give(self, result: Result<SessionId, CommandError>) {
        // A caller that has gone away needs no answer.
        match self {
            Self::Opened(reply) => drop(reply.send(result)),
            Self::Done(Some(reply)) => drop(reply.send(result.map(drop))),
            Self::Done(None) => {
                if let Err(error) = result {
                    tracing::warn!(%error, "the server refused a command");
                }
            }
        }
    }
}

/// What the tasks of a connection report, with the connection's number.
enum Read {
    Line(u64, Vec<u8>),
    Broken(u64, String),
    Connected(u64, mpsc::UnboundedSender<Vec<u8>>),
}

struct Task {
    client: Client,
    began_at: Instant,
    /// When the clocks and the routes were compared last.
    looked_at: Option<Instant>,
    surroundings: Surroundings,
    wake: WakeWatch,
    network: NetworkWatch,
    dial: Dial,
    n_connections: u64,
    connection: Option<Connection>,
    read_sender: mpsc::Sender<Read>,
    followed: HashMap<SessionId, mpsc::Sender<FromServer>>,
    answers: HashMap<String, Answer>,
    questions: HashMap<u64, Outcome<Value>>,
    n_questions: u64,
    state: watch::Sender<SessionLink>,
    listed: watch::Sender<Option<Vec<SessionSummary>>>,
}

struct Connection {
    nr: u64,
    task: JoinHandle<()>,
    lines: Option<mpsc::UnboundedSender<Vec<u8>>>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Task {
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<ToServer>, mut read: mpsc::Receiver<Read>) {
        loop {
            if self.looked_at.is_none_or(|at| at.elapsed() >= LOOKS_FOR_WAKE) {
                self.looked_at = Some(Instant::now());
                self.look_for_wake().await;
            }
            let due = self.due();
            let sleep = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                message = inbox.recv() => match message {
                    Some(message) => self.message(message).await,
                    None => return,
                },
                Some(read) = read.recv() => self.read(read).await,
                () = sleep => {
                    let effects = self.client.tick(self.now());
                    self.carry_out(effects, &[]).await;
                }
            }
        }
    }

    /// The time at which to look again.
    fn due(&self) -> Option<Instant> {
        let due = self.client.deadline().map(|at| self.began_at + Duration::from_millis(at))?;
        let is_down = matches!(self.client.link(), Link::Waiting { .. } | Link::Connecting { .. });
        Some(if is_down { due.min(Instant::now() + LOOKS_FOR_WAKE) } else { due })
    }

    /// After a sleep of the computer and in another network, a lost link is tried at once. An attempt that was begun before
    /// is made again, unless it waits for the user: a new one would take the question away.
    async fn look_for_wake(&mut self) {
        let slept = self.wake.slept(self.now(), (self.surroundings.wall)()).is_some();
        let has_moved = self.network.changed(&(self.surroundings.routes)());
        if slept || has_moved {
            tracing::debug!(slept, has_moved, "the link is tried");
            let is_attempt = matches!(self.client.link(), Link::Connecting { .. });
            let effects = if is_attempt && (self.surroundings.may_begin_again)() {
                self.client.begin_again(self.now())
            } else {
                self.client.woke(self.now())
            };
            self.carry_out(effects, &[]).await;
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began_at.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    async fn message(&mut self, message: ToServer) {
        let id = || uuid::Uuid::new_v4().to_string();
        let effects = match message {
            ToServer::Follow(session_id, events) => {
                self.followed.insert(session_id.clone(), events);
                self.client.follow(session_id)
            }
            ToServer::Unfollow(session_id) => {
                self.followed.remove(&session_id);
                self.client.unfollow(session_id)
            }
            ToServer::Open(session, reply) => {
                let id = id();
                let sent = self.client.open(id.clone(), *session);
                self.sent(id, Answer::Opened(reply), sent)
            }
            ToServer::Command(session_id, command, reply) => {
                let id = id();
                let sent = self.client.command(id.clone(), session_id, command);
                self.sent(id, Answer::Done(reply), sent)
            }
            ToServer::Remove(session_id, reply) => {
                let id = id();
                let sent = self.client.remove(id.clone(), session_id);
                self.sent(id, Answer::Done(Some(reply)), sent)
            }
            ToServer::Revert(id, session_id, change, reply) => {
                let sent = self.client.revert(id.clone(), session_id, change);
                self.sent(id, Answer::Done(Some(reply)), sent)
            }
            ToServer::Ask(session_id, question, reply) => {
                self.n_questions += 1;
                let nr = self.n_questions;
                match self.client.ask(nr, session_id, question) {
                    Ok(effect) => {
                        self.questions.insert(nr, reply);
                        vec![effect]
                    }
                    Err(error) => {
                        // The caller may be gone.
                        drop(reply.send(Err(error)));
                        Vec::new()
                    }
                }
            }
            ToServer::List => self.client.list(),
            ToServer::Retry => self.client.retry(self.now()),
        };
        self.carry_out(effects, &[]).await;
    }

    /// Remembers who waits for the answer to a request; a request that is refused here is answered at once.
    fn sent(&mut self, id: String, answer: Answer, sent: Result<Vec<Effect>, CommandError>) -> Vec<Effect> {
        match sent {
            Ok(effects) => {
                self.answers.insert(id, answer);
                effects
            }
            Err(error) => {
                answer.give(Err(error));
                Vec::new()
            }
        }
    }

    async fn read(&mut self, read: Read) {
        let (Read::Line(nr, _) | Read::Broken(nr, _) | Read::Connected(nr, _)) = &read;
        // A line of a connection that was given up.
        let Some(connection) = self.connection.as_mut().filter(|connection| connection.nr == *nr) else {
            return;
        };
        match read {
            Read::Connected(_, lines) => connection.lines = Some(lines),
            Read::Line(_, line) => {
                let effects = self.client.line(self.now(), &line);
                self.carry_out(effects, &line).await;
            }
            Read::Broken(_, problem) => {
                tracing::info!(problem, "the link to the server is down");
                self.connection = None;
                let effects = self.client.broken(self.now());
                self.carry_out(effects, &[]).await;
            }
        }
    }

    async fn carry_out(&mut self, effects: Vec<Effect>, line: &[u8]) {
        for effect in effects {
            match effect {
                Effect::Connect => self.connect(),
                Effect::Disconnect => self.connection = None,
                Effect::Write(request) => self.write(&request),
                Effect::LinkChanged => self.link_changed().await,
                Effect::Listed(sessions) => drop(self.listed.send_replace(Some(sessions))),
                Effect::Event(session_id) => {
                    let event = newer::event(line).map(|event| FromServer::Event(Box::new(event)));
                    self.deliver_read(&session_id, event, false).await;
                }
                Effect::Snapshot(session_id) => {
                    let snapshot = newer::snapshot(line).map(FromServer::Snapshot);
                    self.deliver_read(&session_id, snapshot, true).await;
                }
                Effect::Gone(session_id) => {
                    self.deliver(&session_id, FromServer::Gone).await;
                    self.followed.remove(&session_id);
                }
                Effect::Told { nr, result } => {
                    if let Some(reply) = self.questions.remove(&nr) {
                        // The caller may be gone.
                        drop(reply.send(result));
                    }
                }
                Effect::Answered { id, result } => {
                    if let Some(answer) = self.answers.remove(&id) {
                        answer.give(result.map_err(|refused| refused.error));
                    }
                }
            }
        }
    }

    /// Delivers what was read, or that it could not be: a newer server has more kinds of events.
    async fn deliver_read(
        &self,
        session_id: &SessionId,
        read: Result<FromServer, serde_json::Error>,
        is_snapshot: bool,
    ) {
        let from = read.unwrap_or_else(|error| {
            tracing::warn!(%error, session = %session_id, "a line of the server could not be read");
            FromServer::Unreadable { is_snapshot, problem: error.to_string() }
        });
        self.deliver(session_id, from).await;
    }

    async fn deliver(&self, session_id: &SessionId, from: FromServer) {
        if let Some(events) = self.followed.get(session_id) {
            // A mirror that has ended needs none.
            drop(events.send(from).await);
        }
    }

    fn write(&mut self, request: &server::Request) {
        let Some(lines) = self.connection.as_ref().and_then(|connection| connection.lines.as_ref()) else {
            return;
        };
        match serde_json::to_vec(request) {
            Ok(mut line) => {
                line.push(b'\n');
                // The connection broke; it is reported, and requests are sent again.
                drop(lines.send(line));
            }
            Err(error) => tracing::error!(%error, "a request could not be written"),
        }
    }

    async fn link_changed(&mut self) {
        let on_wall = |at: u64| (self.surroundings.wall)() + at.saturating_sub(self.now());
        let state = match self.client.link() {
            Link::Connected => SessionLink::Connected,
            Link::Connecting { .. } => SessionLink::Connecting,
            Link::Waiting { attempt, at } => SessionLink::Waiting { attempt: *attempt, at: on_wall(*at) },
            Link::Incompatible { version, .. } => SessionLink::Incompatible { version: version.clone() },
        };
        if state != SessionLink::Connected {
            // Their answers do not come any more. The callers may be gone.
            self.questions.drain().for_each(|(_, reply)| drop(reply.send(Err(lost()))));
        }
        if self.state.send_replace(state.clone()) == state {
            return;
        }
        let followed: Vec<_> = self.followed.values().cloned().collect();
        for events in followed {
            // A mirror that has ended needs none.
            drop(events.send(FromServer::LinkChanged).await);
        }
    }

    fn connect(&mut self) {
        self.n_connections += 1;
        let nr = self.n_connections;
        let (dial, sender) = (self.dial.clone(), self.read_sender.clone());
        let task = tokio::spawn(async move {
            let problem = match connection(nr, dial, &sender).await {
                Ok(()) => "the server closed the connection".to_owned(),
                Err(error) => error.to_string(),
            };
            // The link was closed meanwhile.
            drop(sender.send(Read::Broken(nr, problem)).await);
        });
        self.connection = Some(Connection { nr, task, lines: None });
    }
}

/// Connects, and passes lines both ways until one side ends.
async fn connection(nr: u64, dial: Dial, sender: &mpsc::Sender<Read>) -> io::Result<()> {
    let (reader, mut writer) = dial().await?;
    let (lines, mut to_write) = mpsc::unbounded_channel::<Vec<u8>>();
    let ended = |_| io::Error::other("the link was closed");
    sender.send(Read::Connected(nr, lines)).await.map_err(ended)?;
    let write = async {
        while let Some(line) = to_write.recv().await {
            writer.write_all(&line).await?;
            writer.flush().await?;
        }
        io::Result::Ok(())
    };
    let read = async {
        let mut reader = BufReader::with_capacity(64 << 10, reader);
        loop {
            let mut line = Vec::new();
            // An incomplete last line was cut off.
            if !next_server_line(&mut reader, &mut line, MAX_SERVER_LINE).await? {
                return io::Result::Ok(());
            }
            sender.send(Read::Line(nr, line)).await.map_err(ended)?;
        }
    };
    tokio::select! {
        written = write => written,
        read = read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::atomic::{AtomicU64, Ordering};

    const DEADLINE: Duration = Duration::from_secs(30);

    /// A link whose attempts all fail, with a wall clock that can be set forward, and a network that is another one then.
    fn lost_in(moves: bool) -> (ServerLink, Arc<AtomicU64>) {
        let dial: Dial = Arc::new(|| Box::pin(async { Err(io::ErrorKind::ConnectionRefused.into()) }));
        let slept = Arc::new(AtomicU64::new(0));
        let (added, network) = (slept.clone(), slept.clone());
        let wall: WallClock =
            Arc::new(move || wall_clock() + if moves { 0 } else { added.load(Ordering::Relaxed) });
        let routes: Routes = Arc::new(move || {
            let gateway = if moves { network.load(Ordering::Relaxed) } else { 0 };
            format!("Iface Destination Gateway\nwlan0 00000000 {gateway:08X} 0003 0 0\n")
        });
        (ServerLink::open_in(dial, wall, routes, Arc::new(|| false)), slept)
    }

    fn lost() -> (ServerLink, Arc<AtomicU64>) {
        lost_in(false)
    }

    /// Waits until the link waits for the attempt with this number, and returns when that begins.
    async fn waits_for(link: &mut ServerLink, wanted: u32) -> u64 {
        let is_it =
            |state: &SessionLink| matches!(state, SessionLink::Waiting { attempt, .. } if *attempt == wanted);
        let state = tokio::time::timeout(DEADLINE, link.state.wait_for(is_it)).await;
        let state = state.expect("the attempt").expect("the link goes on").clone();
        let SessionLink::Waiting { at, .. } = state else { unreachable!() };
        at
    }

    /// An attempt that begins the delays again is followed by the one with number 2; otherwise the number would be 4.
    async fn begins_again(link: &mut ServerLink) {
        let is_next = |state: &SessionLink| match state {
            SessionLink::Waiting { attempt, .. } => *attempt != 3,
            _ => false,
        };
        let state = tokio::time::timeout(DEADLINE, link.state.wait_for(is_next)).await;
        let state = state.expect("an attempt").expect("the link goes on").clone();
        assert!(matches!(state, SessionLink::Waiting { attempt: 2, .. }), "{state:?}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_retry_dials_before_the_delay_has_passed() {
        let (mut link, _) = lost();
        let began_at = wall_clock();
        let at = waits_for(&mut link, 3).await;
        assert!((began_at + 2_000..began_at + 120_000).contains(&at), "the time is the wall clock's: {at}");
        link.retry();
        begins_again(&mut link).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_sleep_of_the_computer_ends_the_delay() {
        let (mut link, slept) = lost();
        waits_for(&mut link, 3).await;
        slept.store(3_600_000, Ordering::Relaxed);
        begins_again(&mut link).await;
    }

    /// An attempt that hangs, as one does that was begun before a sleep.
    #[tokio::test(flavor = "multi_thread")]
    async fn an_attempt_is_made_again_after_a_sleep_unless_it_waits_for_the_user() {
        let (dialled, mut n_dialled) = watch::channel(0);
        let (asked, mut n_asked) = watch::channel(0);
        let dial: Dial = Arc::new(move || {
            dialled.send_modify(|n| *n += 1);
            Box::pin(std::future::pending())
        });
        let slept = Arc::new(AtomicU64::new(0));
        let added = slept.clone();
        let wall: WallClock = Arc::new(move || wall_clock() + added.load(Ordering::Relaxed));
        // The first time, a question is open.
        let may_begin_again: MayBeginAgain = Arc::new(move || {
            asked.send_modify(|n| *n += 1);
            *asked.borrow() > 1
        });
        let link = ServerLink::open_in(dial, wall, Arc::new(String::new), may_begin_again);
        let wait = async |of: &mut watch::Receiver<u32>, n: u32| {
            tokio::time::timeout(DEADLINE, of.wait_for(|now| *now == n)).await.expect("it happens").map(drop)
        };
        wait(&mut n_dialled, 1).await.unwrap();
        slept.store(3_600_000, Ordering::Relaxed);
        wait(&mut n_asked, 1).await.unwrap();
        assert_eq!(*n_dialled.borrow(), 1, "the question stays");
        slept.store(7_200_000, Ordering::Relaxed);
        wait(&mut n_dialled, 2).await.unwrap();
        assert_eq!(link.state(), SessionLink::Connecting);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn another_network_ends_the_delay() {
        let (mut link, gateway) = lost_in(true);
        waits_for(&mut link, 3).await;
        gateway.store(0x0101_a8c0, Ordering::Relaxed);
        begins_again(&mut link).await;
    }

    #[tokio::test]
    async fn a_line_without_an_end_breaks_the_connection() {
        let dial: Dial = Arc::new(|| {
            let endless = tokio::io::repeat(b'x');
            Box::pin(async move { Ok((Box::new(endless) as _, Box::new(tokio::io::sink()) as _)) })
        });
        let (sender, mut read) = mpsc::channel(BACKLOG);
        let error = connection(1, dial, &sender).await.unwrap_err();
        assert_eq!(error.to_string(), format!("the server sent a line of more than {MAX_SERVER_LINE} bytes"));
        assert!(matches!(read.try_recv(), Ok(Read::Connected(1, _))));
        assert!(read.try_recv().is_err(), "nothing of the line was passed on");
    }
}

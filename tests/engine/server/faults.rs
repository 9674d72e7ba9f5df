//! Faults of a real ssh connection, in answers and in open requests: no event is lost or doubled, each answer counts once,
//! and no process is left after a stop.
//!
//! `DESKBELL_FAULTS=100` makes as many; `DESKBELL_FAULT_SEED` repeats their order.

use super::far::{environment, relay_program};
use super::mirror::{of_server, until};
use crate::app_killed::SOON;
use crate::leftovers::nothing_runs;
use crate::life::{DEADLINE, MARK};
use crate::server::world::World;
use deskbell_engine::api::server::NewSession;
use deskbell_engine::api::*;
use deskbell_engine::patch;
use deskbell_engine::remote::{Dial, ServerLink};
use deskbell_engine::session::{SessionHandle, Subscriber};
use deskbell_sessions::far::{Connections, Far};
use deskbell_tests::chance::Chance;
use deskbell_tests::real_cli::process;
use deskbell_tests::relay::text_of;
use deskbell_tests::sshd::{self, Sshd};
use deskbell_tests::suite::missing;
use deskbell_tests::window::{eventually, processes_with};
use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet, LocalSet};
use tokio::time::timeout;

/// Machines at the same time. Half of the faults are noticed only after 5 or 15 s.
const N_MACHINES: usize = 10;

/// The faults of a run unless the environment has another number.
const N_FAULTS: usize = 12;

/// The goal for the 95th percentile is 1 s. This is a debug build on a busy machine.
const BACK_WITHIN: Duration = Duration::from_secs(20);

/// A silent link is given up after 15 s, and an attempt to connect after 30 s.
const RETURNS: Duration = Duration::from_secs(90);

/// The words of each of the two answers of a turn.
const N_WORDS: usize = 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// ssh is killed.
    Killed,
    /// The ssh that carries the connection is stopped.
    Frozen,
    /// Nothing arrives any more, and nothing says so.
    HalfOpen,
    /// The same, after the computer slept.
    Slept,
    /// The server there is killed, and its agents with it.
    ServerKilled,
    /// Everything there is killed, and sshd starts again.
    Rebooted,
}

const FAULTS: [Fault; 6] =
    [Fault::Killed, Fault::Frozen, Fault::HalfOpen, Fault::Slept, Fault::ServerKilled, Fault::Rebooted];

impl Fault {
    fn spares_server(self) -> bool {
        !matches!(self, Self::ServerKilled | Self::Rebooted)
    }
}

/// A listener between ssh and sshd that can stop passing on.
struct Network {
    port: u16,
    /// Connections with a lower number than this are silent.
    alive_from: watch::Sender<u64>,
    task: JoinHandle<()>,
}

impl Network {
    async fn before(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let (alive_from, alive) = watch::channel(0);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (mut near, _) = listener.accept().await.unwrap();
                let mut alive = alive.clone();
                let own = *alive.borrow();
                connections.spawn(async move {
                    // While sshd starts again, the connection is closed.
                    let Ok(mut far) = TcpStream::connect(("127.0.0.1", port)).await else { return };
                    let is_closed = tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut near, &mut far) => true,
                        _ = alive.wait_for(|from| *from > own) => false,
                    };
                    if !is_closed {
                        std::future::pending::<()>().await;
                    }
                });
            }
        });
        Self { port: own, alive_from, task }
    }

    /// Stops passing on for all connections that exist now, and closes none of them.
    fn go_silent(&self) {
        self.alive_from.send_modify(|from| *from += 1);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Another machine, and the app's connection to a session there.
struct Machine {
    world: World,
    sshd: Sshd,
    network: Network,
    connections: Arc<Connections>,
    link: ServerLink,
    session: SessionHandle,
    events: mpsc::Receiver<Envelope>,
    items: Vec<Item>,
    /// How far the clock was set forward, in milliseconds.
    slept: Arc<AtomicU64>,
    /// The time from each loss of the link to the next connection.
    came_back: Arc<Mutex<Vec<Duration>>>,
    n_turns: usize,
    left: Left,
}

/// What this side is to end itself: processes that it stopped, and everything there after a failure.
struct Left {
    mark: String,
    frozen: Vec<u32>,
}

impl Drop for Left {
    fn drop(&mut self) {
        // Deskbell may have ended it.
        self.frozen.iter().for_each(|pid| drop(process::kill(*pid)));
        processes_with(MARK, &self.mark).iter().for_each(|process| drop(process.kill()));
    }
}

/// What one fault did.
struct Survived {
    fault: Fault,
    noticed: Duration,
    came_back: Duration,
}

impl Machine {
    async fn new() -> Option<Self> {
        let world = World::new()?;
        let sshd = Sshd::start(&environment(&world)).await.unwrap();
        let network = Network::before(sshd.port()).await;
        sshd.reach_through(network.port).unwrap();
        let path = format!("{}:{}", sshd.bin().display(), std::env::var("PATH").unwrap_or_default());
        let connections = Arc::new(Connections::through(relay_program(), path.into()));
        let slept = Arc::new(AtomicU64::new(0));
        let added = slept.clone();
        let wall = Arc::new(move || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            now.as_millis() as u64 + added.load(Ordering::Relaxed)
        });
        let n_dialed = Arc::new(AtomicU64::new(0));
        let dial = dial(connections.clone(), n_dialed.clone());
        let link = ServerLink::open_in(dial, wall, Arc::new(String::new), Arc::new(|| true));
        let (project, agent) = (world.project(), Some("demo".to_owned()));
        let new = NewSession { project, agent, ..NewSession::default() };
        let id = timeout(DEADLINE, link.new_session(new)).await.expect("an answer").unwrap();
        let session = SessionHandle::mirror(&link, id, PathBuf::from(world.project()));
        let (sender, events) = mpsc::channel(1_024);
        let subscribed = timeout(DEADLINE, session.subscribe(Subscriber::Every(sender))).await;
        let items = subscribed.expect("a snapshot").unwrap().items;
        let came_back = Arc::<Mutex<Vec<Duration>>>::default();
        tokio::spawn(measure(link.states(), n_dialed, came_back.clone()));
        let n_turns = 0;
        let left = Left { mark: world.mark.clone(), frozen: Vec::new() };
        Some(Self {
            world,
            sshd,
            network,
            connections,
            link,
            session,
            events,
            items,
            slept,
            came_back,
            n_turns,
            left,
        })
    }

    async fn event(&mut self) -> Event {
        let next = timeout(RETURNS, self.events.recv()).await.expect("an event");
        let event = next.expect("the session goes on").event;
        self.apply(&event);
        event
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::TranscriptReplaced { items, .. } => self.items = items.clone(),
            event => patch::apply(&mut self.items, event),
        }
    }

    /// The processes of ssh on this side: the one of the link, and the one that carries it.
    fn ssh(&self) -> [u32; 2] {
        let configuration = self.sshd.configuration().display().to_string();
        let all: Vec<(u32, String)> = std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| {
                let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
                Some((pid, std::fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?))
            })
            .collect();
        let is_link = |line: &str| line.contains(&configuration) && line.contains("-oServerAliveInterval=");
        let (link, line) = all.iter().rfind(|(_, line)| is_link(line)).expect("a link");
        // The name of the socket is the hash itself where a link joins it, else `%C`.
        let socket = line.split('\0').find_map(|argument| argument.strip_prefix("-oControlPath=")).unwrap();
        let (folder, _) = socket.rsplit_once('/').unwrap();
        let carries =
            |line: &str| line.starts_with("ssh: ") && line.contains(folder) && line.contains("[mux]");
        let carriers: Vec<u32> = all.iter().filter(|(_, line)| carries(line)).map(|(pid, _)| *pid).collect();
        let [carrier] = carriers[..] else { panic!("carriers in {folder}: {carriers:?}") };
        [*link, carrier]
    }

    async fn make(&mut self, fault: Fault, chance: &mut Chance) {
        match fault {
            Fault::Killed => process::kill(self.ssh()[chance.below(2)]).unwrap(),
            Fault::Frozen => {
                // The other one only waits for it.
                let [_, carrier] = self.ssh();
                kill_process(Pid::from_raw(carrier as i32).unwrap(), Signal::STOP).unwrap();
                self.left.frozen.push(carrier);
            }
            Fault::HalfOpen => self.network.go_silent(),
            Fault::Slept => {
                self.network.go_silent();
                self.slept.fetch_add(3_600_000, Ordering::Relaxed);
            }
            Fault::ServerKilled => {
                let all = processes_with(MARK, &self.world.mark);
                let server = all.iter().find(|process| process.command_line.contains("--serve"));
                process::kill(server.expect("a server").pid).unwrap();
            }
            Fault::Rebooted => {
                self.sshd.restart().await.unwrap();
                nothing_survives(&self.world.mark).await;
            }
        }
    }

    async fn prompt(&self, text: &str) {
        let (text, attachments) = (text.to_owned(), Vec::new());
        self.command(Command::Prompt { text, attachments, delivery: Delivery::default() }).await.unwrap();
    }

    async fn command(&self, command: Command) -> Result<(), CommandError> {
        timeout(RETURNS, self.session.command(command)).await.expect("an answer")
    }

    /// A turn with a streamed answer, a request and another answer, and the fault in one of the first two.
    async fn survive(&mut self, fault: Fault, chance: &mut Chance) -> Survived {
        self.n_turns += 1;
        let nr = self.n_turns;
        let tool = format!("TOOL Bash {{\"command\": \"touch {nr}\"}}");
        self.prompt(&format!("SLOW 10 {N_WORDS} a{nr}x\n{tool}\nSLOW 10 {N_WORDS} b{nr}x")).await;
        // The fault comes after so many pieces of the answer, or with the request.
        let n_pieces = chance.below(2 * N_WORDS / 3);
        let is_queued = fault.spares_server() && chance.below(2) == 0;
        let (mut n_changes, mut made_at) = (0, None);
        let (mut n_asked, mut n_resolved, mut n_ends) = (0, 0, 0);
        let n_back = self.n_back();
        let n_turns = if is_queued { 2 } else { 1 };
        let mut gone_on = false;
        while n_ends < n_turns {
            let event = self.event().await;
            let mut request = None;
            match event {
                Event::BlocksChanged { .. } => n_changes += 1,
                Event::PermissionRequested { request: asked, .. } => {
                    n_asked += 1;
                    request = Some(asked);
                }
                Event::PermissionResolved { .. } => n_resolved += 1,
                Event::TurnEnded { .. } => n_ends += 1,
                _ => {}
            }
            if made_at.is_none() && (n_changes > n_pieces || request.is_some()) {
                made_at = Some(Instant::now());
                self.make(fault, chance).await;
                if is_queued {
                    self.prompt_later(&format!("SAY queued{nr}"));
                }
            }
            if !fault.spares_server() && made_at.is_some() && !gone_on {
                self.go_on(n_back, fault).await;
                gone_on = true;
                (n_asked, n_resolved, n_ends) = (0, 0, 0);
                continue;
            }
            if let Some(request) = request {
                self.decide(&request).await;
            }
        }
        assert_eq!((n_asked, n_resolved), (1, 1), "{fault:?}: requests and their answers");
        let texts: Vec<String> = self.texts();
        let mut wanted = vec![words("a", nr), words("b", nr)];
        wanted.extend(is_queued.then(|| format!("queued{nr}")));
        assert!(texts.ends_with(&wanted), "{fault:?}: {:#?}", &texts[texts.len().saturating_sub(4)..]);
        let once = texts.iter().filter(|text| **text == wanted[1]).count();
        assert_eq!(once, 1, "{fault:?}: the answer after the request");
        self.comes_back(n_back, fault).await;
        let came_back = self.came_back.lock().unwrap()[n_back];
        let noticed = made_at.expect("a fault").elapsed();
        Survived { fault, noticed, came_back }
    }

    /// A prompt that is sent while the link may be down.
    fn prompt_later(&self, text: &str) {
        let (session, text) = (self.session.clone(), text.to_owned());
        tokio::spawn(async move {
            let command = Command::Prompt { text, attachments: Vec::new(), delivery: Delivery::default() };
            session.command(command).await.unwrap();
        });
    }

    /// Allows the request once, and then again: the second answer is too late.
    async fn decide(&mut self, request: &PermissionRequest) {
        let decide = || Command::Decide {
            request_id: request.id.clone(),
            shown: Some(request.shown.clone()),
            decision: Decision::AllowOnce { updated_input: None },
        };
        self.command(decide()).await.unwrap();
        assert_eq!(self.command(decide()).await.unwrap_err().code, ErrorCode::NoSuchRequest);
    }

    /// The server was killed: its next one holds the prompt, which is sent again.
    async fn go_on(&mut self, n_back: usize, fault: Fault) {
        self.comes_back(n_back, fault).await;
        loop {
            let snapshot = timeout(DEADLINE, self.session.snapshot()).await.expect("a snapshot").unwrap();
            let is_new = snapshot.session.link == SessionLink::Connected && !snapshot.session.alive;
            if let [prompt] = &snapshot.session.queue[..]
                && is_new
                && prompt.cut_off
            {
                let prompt_id = prompt.id.clone();
                while let Ok(waiting) = self.events.try_recv() {
                    self.apply(&waiting.event);
                }
                return self.command(Command::Resend { prompt_id }).await.unwrap();
            }
            self.event().await;
        }
    }

    fn n_back(&self) -> usize {
        self.came_back.lock().unwrap().len()
    }

    async fn comes_back(&self, n_back: usize, after: Fault) {
        let is_back = async || Ok((self.n_back() > n_back).then_some(()));
        let back = eventually("a connection", RETURNS, is_back).await;
        assert!(back.is_ok(), "{after:?}: the link is {:?} after {RETURNS:?}", self.link.state());
    }

    fn texts(&self) -> Vec<String> {
        let answers = self.items.iter().filter(|item| matches!(item.body, Body::Text { .. }));
        let text = |item: &Item| text_of(&serde_json::to_value(&item.body).unwrap()).trim().to_owned();
        answers.map(text).collect()
    }

    /// Stops the agent and its child over a connection that has just broken, and ends everything.
    async fn end(mut self, chance: &mut Chance) {
        // Nothing is missing here, and nothing is here twice. A server that was restarted has the times of the agent's
        // transcript.
        let timeless = |mut items: Vec<Item>| {
            for item in &mut items {
                item.at = 0;
                if let Body::ToolCall(call) = &mut item.body {
                    call.duration_ms = None;
                }
            }
            items
        };
        let here = timeless(std::mem::take(&mut self.items));
        assert_eq!(here, timeless(of_server(&self.world).await.items));
        self.prompt("CHILD 600\nWAIT").await;
        let child = until(&mut self.events, |event| match event {
            Event::ItemChanged { item } | Event::ItemAdded { item } => {
                let body = serde_json::to_value(&item.body).unwrap();
                text_of(&body).trim().parse::<u32>().ok().filter(|_| body["streaming"] == false)
            }
            _ => None,
        });
        let child = child.await;
        let agent = self.session.snapshot().await.unwrap().session.pid.expect("an agent");
        self.make(Fault::Killed, chance).await;
        self.command(Command::Stop).await.unwrap();
        for pid in [child, agent] {
            process::ended(pid, DEADLINE).await.unwrap();
        }
        let Self { world, sshd, network, connections, link, session, events, left: _left, .. } = self;
        drop((session, link, events));
        connections.close().await;
        drop(network);
        let client = world.attach().await;
        let mark = world.mark.clone();
        world.end(client).await;
        drop(sshd);
        nothing_runs(&mark, SOON).await;
    }
}

/// The way of a window to another machine, without questions. It counts the connections.
fn dial(connections: Arc<Connections>, n_dialed: Arc<AtomicU64>) -> Dial {
    Arc::new(move || {
        let (connections, n_dialed) = (connections.clone(), n_dialed.clone());
        Box::pin(async move {
            let far = Far { machine: sshd::HOST.parse().unwrap(), program: Some(relay_program()) };
            let connected = far.attach(&connections, None).await;
            let (reader, writer) = connected.map_err(|error| std::io::Error::other(error.to_string()))?;
            n_dialed.fetch_add(1, Ordering::Relaxed);
            Ok((Box::new(reader) as _, Box::new(writer) as _))
        })
    })
}

/// Measures how long the link is not connected, each time. A link that is back before this task runs again was lost all the
/// same: it has another connection.
async fn measure(
    mut states: watch::Receiver<SessionLink>,
    n_dialed: Arc<AtomicU64>,
    came_back: Arc<Mutex<Vec<Duration>>>,
) {
    let is_up = |state: &SessionLink| *state == SessionLink::Connected;
    if states.wait_for(is_up).await.is_err() {
        return;
    }
    let mut n_seen = n_dialed.load(Ordering::Relaxed);
    let mut lost_at = None;
    while states.changed().await.is_ok() {
        let is_up = is_up(&states.borrow_and_update());
        let n = n_dialed.load(Ordering::Relaxed);
        if !is_up {
            lost_at.get_or_insert_with(Instant::now);
        } else if n > n_seen {
            n_seen = n;
            came_back.lock().unwrap().push(lost_at.take().map_or(Duration::ZERO, |since| since.elapsed()));
        }
    }
}

/// Kills every process of a machine.
pub(super) async fn nothing_survives(mark: &str) {
    let all_dead = async || {
        let left = processes_with(MARK, mark);
        // One of them may end by itself.
        left.iter().for_each(|process| drop(process.kill()));
        Ok(left.is_empty().then_some(()))
    };
    eventually("the end of a machine", DEADLINE, all_dead).await.unwrap();
}

fn words(name: &str, nr: usize) -> String {
    (0..N_WORDS).map(|word| format!("{name}{nr}x{word}")).collect::<Vec<_>>().join(" ")
}

/// Each fault as often as the others, in an order of the seed.
fn order(n_faults: usize, chance: &mut Chance) -> Vec<Fault> {
    let mut faults: Vec<Fault> = FAULTS.iter().copied().cycle().take(n_faults).collect();
    for last in (1..faults.len()).rev() {
        faults.swap(last, chance.below(last + 1));
    }
    faults
}

fn setting(name: &str) -> Option<u64> {
    Some(std::env::var(name).ok()?.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_a_real_connection_lose_and_double_nothing_over_real_ssh() {
    if !sshd::is_installed() {
        return missing("sshd is not installed").unwrap_or_default();
    }
    let n_faults = setting("DESKBELL_FAULTS").map_or(N_FAULTS, |n| n as usize);
    let seed = setting("DESKBELL_FAULT_SEED").unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0);
    let faults = order(n_faults, &mut Chance(seed));
    println!("DESKBELL_FAULTS={n_faults} DESKBELL_FAULT_SEED={seed}");
    println!("{faults:?}");
    let here = LocalSet::new();
    let mut machines = JoinSet::new();
    for (nr, own) in faults.chunks(n_faults.div_ceil(N_MACHINES)).enumerate() {
        let own = own.to_vec();
        let life = async move {
            let mut chance = Chance(seed ^ nr as u64);
            let mut machine = Machine::new().await?;
            let mut survived = Vec::new();
            for fault in own {
                survived.push(machine.survive(fault, &mut chance).await);
            }
            machine.end(&mut chance).await;
            Some(survived)
        };
        machines.spawn_local_on(life, &here);
    }
    let all = here.run_until(machines.join_all()).await;
    // Nothing is built to try it with.
    let Some(survived) = all.into_iter().collect::<Option<Vec<Vec<Survived>>>>() else { return };
    report(survived.into_iter().flatten().collect());
}

/// Prints the times of each kind of fault, and checks those after which the same server was there.
fn report(mut survived: Vec<Survived>) {
    survived.sort_by_key(|one| (one.fault, one.came_back));
    for kind in FAULTS {
        let of_kind: Vec<&Survived> = survived.iter().filter(|one| one.fault == kind).collect();
        let (Some(middle), Some(last)) = (of_kind.get(of_kind.len() / 2), of_kind.last()) else { continue };
        println!(
            "{kind:?}, {} times: attached again after {:?}, at most {:?}; the turn took up to {:?}",
            of_kind.len(),
            middle.came_back,
            last.came_back,
            of_kind.iter().map(|one| one.noticed).max().unwrap_or_default()
        );
    }
    let same = survived.iter().filter(|one| one.fault.spares_server());
    let mut times: Vec<Duration> = same.map(|one| one.came_back).collect();
    times.sort();
    let p95 = times[(times.len() * 95).div_ceil(100) - 1];
    println!("attached again to the same server: median {:?}, p95 {p95:?}", times[times.len() / 2]);
    assert!(p95 < BACK_WITHIN, "{times:?}");
}

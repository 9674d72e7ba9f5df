//! Clients on links that break in every way, and a server that is killed: no event is lost or doubled, and no command
//! counts twice.
//!
//! Each life follows one seed. `DESKBELL_SIM_STEPS` makes it longer, `DESKBELL_SIM_SEED` replays one.

mod every_step;
mod far_machine;
mod window;

use super::client::{Client, Effect as ClientEffect, Link as LinkState, MAX_WAITING};
use super::hub::{Effect, Hub, Identity, Input, line};
use super::{ClientId, Line};
use crate::chance::Chance;
use deskbell_api::server::{Refusal, Request, SessionSummary};
use deskbell_api::{AgentKind, Command, SessionId, Status};
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};

const N_CLIENTS: usize = 3;

/// A fault of the code under test, planted to show that the checks find it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// A line disappears, and the link stays up.
    LoseLine,
    /// A line arrives twice.
    DoubleLine,
    /// A snapshot contains less than it says.
    EarlySnapshot,
    /// A command is carried out for each time it is sent.
    CountEach,
}

/// One link. Bytes that are on their way when it breaks are lost.
struct Link {
    client: ClientId,
    to_client: VecDeque<Line>,
    to_server: VecDeque<Request>,
    /// Nothing moves in either direction.
    is_frozen: bool,
    /// The client has given the link up, and the server does not know.
    is_half_open: bool,
    /// The client waits for `hello`.
    is_new: bool,
}

struct SimClient {
    client: Client,
    link: Option<Link>,
    /// Its driver has been told to connect.
    is_dialling: bool,
    /// The run of the server that greeted it last, and the last event that it applied in it.
    run: String,
    applied: Option<u64>,
    n_sent: u64,
    /// The answer to each command, and whether a restart could have hidden one.
    answers: BTreeMap<String, Option<Refusal>>,
}

struct World {
    chance: Chance,
    fault: Option<Fault>,
    now: u64,
    hub: Hub,
    n_runs: u64,
    n_links: u64,
    /// Effects that were not carried out yet.
    jobs: VecDeque<Effect>,
    /// The last event of the session in this run of the server.
    seq: u64,
    /// How often each command was carried out. This is on disk: it survives the server.
    executed: BTreeMap<String, u32>,
    clients: Vec<SimClient>,
    /// Links that clients gave up, for the server to find out.
    abandoned: Vec<ClientId>,
    n_faults: [u64; 5],
}

fn session() -> SessionId {
    SessionId::new("s")
}

fn new_hub(run: u64, now: u64) -> Hub {
    let identity =
        Identity { version: "1.0.0".into(), host: "h".into(), boot_id: None, run: format!("{run}"), pid: 1 };
    let mut hub = Hub::new(identity, u64::MAX, now);
    let summary = SessionSummary {
        id: session(),
        title: String::new(),
        project: String::new(),
        agent: AgentKind::Demo,
        status: Status::Idle,
        alive: false,
        pid: None,
        n_requests: 0,
        n_queued: 0,
        n_held: 0,
        n_background: 0,
        n_scheduled: 0,
        cost_usd: 0.0,
        changed_at: 0,
        seq: 0,
    };
    hub.step(now, Input::SessionOpened(summary));
    hub
}

impl World {
    fn new(seed: u64, fault: Option<Fault>) -> Self {
        let client = || {
            let mut client = Client::new(0);
            client.follow(session());
            SimClient {
                client,
                link: None,
                is_dialling: false,
                run: String::new(),
                applied: None,
                n_sent: 0,
                answers: BTreeMap::new(),
            }
        };
        Self {
            chance: Chance::new(seed),
            fault,
            now: 0,
            hub: new_hub(0, 0),
            n_runs: 0,
            n_links: 0,
            jobs: VecDeque::new(),
            seq: 0,
            executed: BTreeMap::new(),
            clients: (0..N_CLIENTS).map(|_| client()).collect(),
            abandoned: Vec::new(),
            n_faults: [0; 5],
        }
    }

    fn input(&mut self, input: Input) {
        for effect in self.hub.step(self.now, input) {
            match effect {
                Effect::Wake(_) | Effect::Leave => {}
                Effect::Disconnect(client) => self.close(client),
                job => self.jobs.push_back(job),
            }
        }
    }

    /// The server closed a link: its client sees the end of it.
    fn close(&mut self, client: ClientId) {
        let has_it = |one: &SimClient| one.link.as_ref().is_some_and(|link| link.client == client);
        if let Some(at) = self.clients.iter().position(has_it) {
            self.clients[at].link = None;
            self.broken(at);
        }
        self.abandoned.retain(|one| *one != client);
    }

    /// A client sees the end of its link.
    fn broken(&mut self, at: usize) {
        let effects = self.clients[at].client.broken(self.now);
        self.driven(at, effects);
    }

    /// Carries out what a client wants that is not about a line.
    fn driven(&mut self, at: usize, effects: Vec<ClientEffect>) {
        for effect in effects {
            let client = &mut self.clients[at];
            match effect {
                ClientEffect::Connect => client.is_dialling = true,
                // The server finds out later.
                ClientEffect::Disconnect => {
                    self.abandoned.extend(client.link.take().map(|link| link.client));
                }
                ClientEffect::Write(request) => {
                    if let Some(link) = &mut client.link {
                        link.to_server.push_back(request);
                    }
                }
                _ => {}
            }
        }
    }

    fn event(&mut self) {
        self.seq += 1;
        // Some are so long that the server cannot keep many.
        let pad = if self.chance.one_in(50) { 3 << 20 } else { 10 };
        let text = json!({"type": "e", "sessionId": "s", "seq": self.seq, "pad": "x".repeat(pad)});
        let seq = self.seq;
        self.input(Input::Event { session_id: session(), seq, line: line(&text), summary: None });
    }

    fn carry_out_job(&mut self) {
        match self.jobs.pop_front() {
            Some(Effect::Execute { id, .. }) => {
                *self.executed.entry(id.clone()).or_default() += 1;
                (0..self.chance.below(4)).for_each(|_| self.event());
                self.input(Input::Executed { id, result: Ok(session()) });
            }
            Some(Effect::MakeSnapshot { client, session_id }) => {
                let seq = self.seq;
                let said = if self.fault == Some(Fault::EarlySnapshot) { seq + 1 } else { seq };
                let text = json!({"type": "snapshot", "sessionId": "s", "snapshot": {"seq": seq}});
                self.input(Input::Snapshot { client, session_id, made: Some((said, line(&text))) });
            }
            _ => {}
        }
    }

    fn connect(&mut self, at: usize) {
        self.clients[at].is_dialling = false;
        self.n_links += 1;
        let client = ClientId(self.n_links);
        self.clients[at].link = Some(Link {
            client,
            to_client: VecDeque::new(),
            to_server: VecDeque::new(),
            is_frozen: false,
            is_half_open: false,
            is_new: true,
        });
        self.input(Input::Connected(client));
    }

    /// The server is killed: everything that is not on disk is gone. Some jobs were done and not answered.
    fn restart(&mut self) {
        for _ in 0..self.chance.below(4) {
            if let Some(Effect::Execute { id, .. }) = self.jobs.pop_front() {
                *self.executed.entry(id).or_default() += 1;
            }
        }
        self.n_runs += 1;
        self.jobs.clear();
        self.abandoned.clear();
        self.seq = 0;
        self.hub = new_hub(self.n_runs, self.now);
        for at in 0..N_CLIENTS {
            if self.clients[at].link.take().is_some() {
                self.broken(at);
            }
        }
    }

    /// Something goes wrong on one client's link, or with the server.
    fn go_wrong(&mut self) {
        let at = self.chance.below(N_CLIENTS as u64) as usize;
        let kind = self.chance.below(5) as usize;
        self.n_faults[kind] += 1;
        let client = &mut self.clients[at];
        match kind {
            // Killed: both ends see it.
            0 => {
                if let Some(link) = client.link.take() {
                    self.input(Input::Disconnected(link.client));
                    self.broken(at);
                }
            }
            // Half open: only the client gives it up; the server goes on for a while.
            1 => {
                if let Some(link) = client.link.take() {
                    self.abandoned.push(link.client);
                    self.broken(at);
                }
            }
            2 => client.link.iter_mut().for_each(|link| link.is_frozen = !link.is_frozen),
            // Half open the other way: the client's requests go nowhere.
            3 => client.link.iter_mut().for_each(|link| link.is_half_open = true),
            _ => {
                if self.chance.one_in(10) {
                    self.restart();
                }
            }
        }
    }

    fn send(&mut self, at: usize) {
        let client = &mut self.clients[at];
        let id = format!("{at}.{}", client.n_sent);
        let is_full = client.client.n_waiting() >= MAX_WAITING;
        match client.client.command(id, session(), Command::Interrupt) {
            Ok(mut effects) => {
                client.n_sent += 1;
                // A client may also be unsure and send it twice.
                if let [ClientEffect::Write(request)] = &effects[..]
                    && self.chance.one_in(4)
                {
                    effects.push(ClientEffect::Write(request.clone()));
                }
                self.driven(at, effects);
            }
            Err(error) => assert!(is_full, "{error}"),
        }
    }

    /// The server writes what it has for a client.
    fn write(&mut self, at: usize) {
        let Some(link) = self.clients[at].link.as_mut().filter(|link| !link.is_frozen) else { return };
        // The pipe is full.
        if link.to_client.len() > 20 {
            return;
        }
        let (lines, effects) = self.hub.take(link.client, 2_000);
        for line in lines {
            if self.fault == Some(Fault::LoseLine) && self.chance.one_in(50) {
                continue;
            }
            if self.fault == Some(Fault::DoubleLine) && self.chance.one_in(50) {
                link.to_client.push_back(line.clone());
            }
            link.to_client.push_back(line);
        }
        self.jobs.extend(effects);
    }

    /// The server reads a request of a client.
    fn read(&mut self, at: usize) {
        let Some(link) = self.clients[at].link.as_mut() else { return };
        if link.is_frozen || link.is_half_open {
            return;
        }
        let client = link.client;
        if let Some(mut request) = link.to_server.pop_front() {
            if self.fault == Some(Fault::CountEach)
                && let Request::Command { id, session_id, command, .. } = request
            {
                self.jobs.push_back(Effect::Execute { id: id.clone(), session_id, command });
                request = Request::List;
            }
            self.input(Input::Request(client, request));
        }
    }

    /// A client handles a line.
    fn handle(&mut self, at: usize) -> Result<(), String> {
        let client = &mut self.clients[at];
        let Some(link) = client.link.as_mut().filter(|link| !link.is_frozen) else { return Ok(()) };
        let Some(line) = link.to_client.pop_front() else { return Ok(()) };
        let value: serde_json::Value = serde_json::from_slice(&line).map_err(|error| error.to_string())?;
        if std::mem::take(&mut link.is_new) {
            let run = value["run"].as_str().unwrap_or_default().to_owned();
            if client.run != run {
                client.applied = None;
            }
            client.run = run;
        }
        let effects = client.client.line(self.now, &line);
        for effect in &effects {
            match effect {
                ClientEffect::Event(_) => {
                    let seq = value["seq"].as_u64();
                    if seq != client.applied.map(|applied| applied + 1) {
                        return Err(format!("client {at} got event {seq:?} after {:?}", client.applied));
                    }
                    client.applied = seq;
                }
                ClientEffect::Snapshot(_) => {
                    let seq = value["snapshot"]["seq"].as_u64();
                    if seq < client.applied {
                        return Err(format!("client {at} went back from {:?} to {seq:?}", client.applied));
                    }
                    client.applied = seq;
                }
                ClientEffect::Answered { id, result } => {
                    let refused = result.as_ref().err().map(|refused| refused.reason);
                    if client.answers.insert(id.clone(), refused).is_some() {
                        return Err(format!("{id} was answered twice"));
                    }
                }
                ClientEffect::Write(Request::Attach { .. }) if value["type"] != "hello" => {
                    return Err(format!("client {at} got {value} again"));
                }
                ClientEffect::Gone(_) => return Err("the session is gone".into()),
                _ => {}
            }
        }
        self.driven(at, effects);
        Ok(())
    }

    fn tick(&mut self) -> Result<(), String> {
        self.now += self.chance.below(2_000);
        self.input(Input::Tick);
        for at in 0..N_CLIENTS {
            let effects = self.clients[at].client.tick(self.now);
            self.driven(at, effects);
        }
        let at = self.chance.below(N_CLIENTS as u64) as usize;
        match self.chance.below(12) {
            0 => self.event(),
            1 => self.carry_out_job(),
            2 => self.send(at),
            3 | 4 => self.write(at),
            5 | 6 => self.read(at),
            7 | 8 => self.handle(at)?,
            9 if self.clients[at].is_dialling => {
                // No server listens, now and then.
                if self.chance.one_in(4) {
                    self.clients[at].is_dialling = false;
                    self.broken(at);
                } else {
                    self.connect(at);
                }
            }
            10 if !self.abandoned.is_empty() => {
                let client = self.abandoned.remove(0);
                self.input(Input::Disconnected(client));
            }
            11 if self.chance.one_in(3) => self.go_wrong(),
            _ => {}
        }
        let doubled = self.executed.iter().find(|(_, n)| **n > 1);
        doubled.map_or(Ok(()), |(id, n)| Err(format!("{id} counted {n} times")))
    }

    /// Every link works from now on: everything must arrive.
    fn calm_down(&mut self) -> Result<(), String> {
        for at in 0..N_CLIENTS {
            if let Some(link) = self.clients[at].link.take() {
                self.input(Input::Disconnected(link.client));
                self.broken(at);
            }
        }
        for _ in 0..20_000 {
            self.now += 2;
            for at in 0..N_CLIENTS {
                let effects = self.clients[at].client.tick(self.now);
                self.driven(at, effects);
                if self.clients[at].is_dialling {
                    self.connect(at);
                }
                self.write(at);
                self.read(at);
                self.handle(at)?;
            }
            self.carry_out_job();
        }
        for (at, client) in self.clients.iter().enumerate() {
            if client.applied != Some(self.seq) {
                return Err(format!("client {at} is at {:?} of {}", client.applied, self.seq));
            }
            if client.client.link() != &LinkState::Connected {
                return Err(format!("client {at} is {:?}", client.client.link()));
            }
            if client.client.n_waiting() > 0 || client.answers.len() as u64 != client.n_sent {
                return Err(format!("client {at} has commands without an answer"));
            }
            for (id, refused) in &client.answers {
                let n = self.executed.get(id).copied().unwrap_or_default();
                let is_right = match refused {
                    None => n == 1,
                    // The one answer that leaves it open.
                    Some(Refusal::Restarted) => n <= 1,
                    Some(_) => n == 0,
                };
                if !is_right {
                    return Err(format!("{id} was answered with {refused:?} and counted {n} times"));
                }
            }
        }
        Ok(())
    }
}

/// Lives one life; returns the number of faults of each kind.
fn live(seed: u64, n_steps: u64, fault: Option<Fault>) -> Result<[u64; 5], String> {
    let mut world = World::new(seed, fault);
    for step in 0..n_steps {
        world.tick().map_err(|problem| format!("seed {seed}, step {step}: {problem}"))?;
    }
    world.calm_down().map_err(|problem| format!("seed {seed}, at the end: {problem}"))?;
    Ok(world.n_faults)
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

#[test]
fn no_event_and_no_command_is_lost_or_doubled_by_any_fault() {
    let n_steps = setting("DESKBELL_SIM_STEPS", 40_000);
    let first = setting("DESKBELL_SIM_SEED", 1);
    let mut n_faults = [0; 5];
    for seed in first..first + n_steps.div_ceil(5_000) {
        let faults = live(seed, 5_000, None).unwrap_or_else(|problem| panic!("{problem}"));
        n_faults.iter_mut().zip(faults).for_each(|(sum, n)| *sum += n);
    }
    println!(
        "seeds from {first}: {n_steps} steps with {n_faults:?} faults: killed, half open, frozen, deaf, server"
    );
    assert!(n_faults.iter().all(|n| *n > 100), "{n_faults:?}");
}

#[test]
fn every_planted_fault_is_found() {
    for fault in [Fault::LoseLine, Fault::DoubleLine, Fault::EarlySnapshot, Fault::CountEach] {
        let found = (1..20).find_map(|seed| live(seed, 5_000, Some(fault)).err());
        println!("{fault:?}: {}", found.unwrap_or_else(|| panic!("{fault:?} is not found")));
    }
}

//! A window on another computer, as a model: the client, its link, its copy of the session, and its user.

use super::far_machine::{ENDLESS, MachineChange, MachineState, Pause, Planted, end_of};
use super::session;
use crate::client::{Client, Effect as ClientEffect, Link as LinkState};
use crate::wake::{NetworkWatch, WakeWatch};
use crate::{ClientId, Line};
use deskbell_api::Decision;
use deskbell_api::Delivery;
use deskbell_api::server::{Refusal, Request};
use deskbell_api::{Command, PromptId, RequestId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A client that waits compares its clocks and routes this often, as `engine/src/remote.rs` does, in milliseconds.
const LOOKS_MS: u64 = 1_000;

/// The turns of a life, before the one that is stopped.
const TURNS: [&str; 2] = ["one", "two"];

/// One link. Bytes that are on their way when it breaks are lost.
pub struct SimulatedLink {
    pub client: ClientId,
    pub to_client: VecDeque<Line>,
    pub to_server: VecDeque<Request>,
    /// Nothing moves in either direction until this time.
    pub frozen_until: Option<u64>,
    /// The client's requests go nowhere.
    pub is_deaf: bool,
    /// The server has lines for it.
    pub is_woken: bool,
    /// The client waits for `hello`.
    pub is_new: bool,
}

impl SimulatedLink {
    pub fn is_frozen(&self, now: u64) -> bool {
        self.frozen_until.is_some_and(|until| until > now)
    }

    /// Nothing will arrive any more, and nothing says so.
    pub fn die(&mut self) {
        self.frozen_until = Some(u64::MAX);
    }
}

/// What a user did, and waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    Prompt(String),
    Resend(String),
    Answer(String),
    Stop,
}

pub struct Window {
    nr: usize,
    client: Client,
    pub link: Option<SimulatedLink>,
    /// The driver connects.
    pub is_dialling: bool,
    planted: Option<Planted>,
    wake: WakeWatch,
    network: NetworkWatch,
    pub routes: String,
    looked_at: Option<u64>,
    pub pause: Pause,
    /// When the last line arrived.
    pub heard_at: u64,
    /// The run of the server that greeted it last.
    run: u64,
    /// What it shows: as of this run of the server, and this event.
    pub shown: MachineState,
    pub shown_of: Option<(u64, u64)>,
    /// What the user did and was not answered yet, and what was answered, by the id of the command.
    waits: BTreeMap<String, Act>,
    pub answers: BTreeMap<String, (Act, Option<Refusal>)>,
    pub n_sent: u64,
    /// The requests that it showed, and those that it showed as answered.
    pub saw_asked: BTreeSet<String>,
    pub saw_answered: BTreeSet<String>,
}

impl Window {
    pub fn new(nr: usize, planted: Option<Planted>) -> Self {
        let mut client = Client::new(0);
        client.follow(session());
        Self {
            nr,
            client,
            link: None,
            is_dialling: false,
            planted,
            wake: WakeWatch::default(),
            network: NetworkWatch::default(),
            routes: routes(0),
            looked_at: None,
            pause: Pause::default(),
            heard_at: 0,
            run: 0,
            shown: MachineState::default(),
            shown_of: None,
            waits: BTreeMap::new(),
            answers: BTreeMap::new(),
            n_sent: 0,
            saw_asked: BTreeSet::new(),
            saw_answered: BTreeSet::new(),
        }
    }

    pub fn is_connected(&self) -> bool {
        *self.client.link() == LinkState::Connected
    }

    /// Whether lines arrive in both directions, as far as the link is concerned.
    pub fn is_back(&self, now: u64) -> bool {
        let moves = |link: &SimulatedLink| !link.is_deaf && !link.is_frozen(now);
        self.is_connected() && self.link.as_ref().is_some_and(moves)
    }

    /// The computer sleeps from now on, and finds its link dead.
    pub fn sleep(&mut self, now: u64, until: u64) {
        self.pause.begin(now, until);
        self.link.iter_mut().for_each(SimulatedLink::die);
    }

    /// When it does something by itself.
    pub fn due(&self, now: u64) -> Option<u64> {
        if self.pause.is_on(now) {
            return Some(self.pause.until());
        }
        let looks_at = self.looked_at.map_or(0, |at| at + LOOKS_MS);
        let due = match self.client.link() {
            LinkState::Waiting { at, .. } => looks_at.min(*at),
            _ => self.client.deadline()?,
        };
        Some(self.pause.time_of(due))
    }

    pub fn tick(&mut self, now: u64) -> Vec<ClientId> {
        let mut dropped = self.look(now);
        let effects = self.client.tick(self.pause.clock(now));
        dropped.extend(self.carry_out(effects));
        dropped
    }

    /// Compares its clocks and its routes, at most once a second.
    fn look(&mut self, now: u64) -> Vec<ClientId> {
        let monotonic = self.pause.clock(now);
        if self.looked_at.is_some_and(|at| monotonic < at + LOOKS_MS) {
            return Vec::new();
        }
        self.looked_at = Some(monotonic);
        let slept = self.wake.slept(monotonic, now).is_some();
        let has_moved = self.network.changed(&self.routes);
        if !slept && !has_moved || self.planted == Some(Planted::StayAsleep) {
            return Vec::new();
        }
        // No attempt of the simulation waits for the user.
        let effects = match self.client.link() {
            LinkState::Connecting { .. } => self.client.begin_again(monotonic),
            _ => self.client.woke(monotonic),
        };
        self.carry_out(effects)
    }

    /// The connection broke, or was not made.
    pub fn broken(&mut self, now: u64) -> Vec<ClientId> {
        let effects = self.client.broken(self.pause.clock(now));
        self.carry_out(effects)
    }

    /// Carries out what the client wants that is not about a line; returns the links that it gave up.
    fn carry_out(&mut self, effects: Vec<ClientEffect>) -> Vec<ClientId> {
        let mut dropped = Vec::new();
        for effect in effects {
            match effect {
                ClientEffect::Connect => {
                    dropped.extend(self.link.take().map(|link| link.client));
                    let stays = self.planted == Some(Planted::NeverAgain) && self.shown_of.is_some();
                    self.is_dialling = !stays;
                }
                ClientEffect::Disconnect => {
                    self.is_dialling = false;
                    dropped.extend(self.link.take().map(|link| link.client));
                }
                ClientEffect::Write(request) => {
                    self.link.iter_mut().for_each(|link| link.to_server.push_back(request.clone()));
                }
                _ => {}
            }
        }
        dropped
    }

    /// Takes the next line of the link. `states` is what it should show after each event of this run.
    pub fn handle(&mut self, now: u64, run: u64, states: &[MachineState]) -> Result<Vec<ClientId>, String> {
        let nr = self.nr;
        let Some(link) = &mut self.link else { return Ok(Vec::new()) };
        let Some(line) = link.to_client.pop_front() else { return Ok(Vec::new()) };
        self.heard_at = now;
        let value: serde_json::Value = serde_json::from_slice(&line).map_err(|error| error.to_string())?;
        if std::mem::take(&mut link.is_new) {
            self.run = value["run"].as_str().and_then(|run| run.parse().ok()).unwrap_or_default();
        }
        let effects = self.client.line(self.pause.clock(now), &line);
        for effect in &effects {
            match effect {
                ClientEffect::Event(_) => {
                    let change: MachineChange =
                        serde_json::from_value(value["change"].clone()).map_err(|error| error.to_string())?;
                    let is_hidden = self.planted == Some(Planted::HideAnswer) && nr == 1;
                    match &change {
                        MachineChange::Resolved(_) if is_hidden => {}
                        MachineChange::Resolved(request) => drop(self.saw_answered.insert(request.clone())),
                        _ => {}
                    }
                    if self.planted == Some(Planted::DoubleEvent) {
                        self.shown.apply(change.clone());
                    }
                    self.shown.apply(change);
                    let seq = value["seq"].as_u64().unwrap_or_default();
                    self.shown_of = Some((self.run, seq));
                }
                ClientEffect::Snapshot(_) => {
                    let snapshot = &value["snapshot"];
                    let shown: MachineState = serde_json::from_value(snapshot["state"].clone())
                        .map_err(|error| error.to_string())?;
                    let gone = self.shown.requests.difference(&shown.requests);
                    self.saw_answered.extend(gone.cloned());
                    self.shown = shown;
                    self.shown_of = Some((self.run, snapshot["seq"].as_u64().unwrap_or_default()));
                }
                ClientEffect::Answered { id, result } => {
                    let refused = result.as_ref().err().map(|refused| refused.reason);
                    let Some(act) = self.waits.remove(id) else {
                        return Err(format!("answers: {id} was answered twice"));
                    };
                    self.answers.insert(id.clone(), (act, refused));
                }
                ClientEffect::Gone(_) => return Err("events: the session is gone".into()),
                _ => {}
            }
        }
        self.saw_asked.extend(self.shown.requests.iter().cloned());
        if let Some((of_run, seq)) = self.shown_of
            && of_run == run
            && states.get(seq as usize) != Some(&self.shown)
        {
            return Err(format!("events: window {nr} shows {:?} after event {seq}", self.shown));
        }
        let mut dropped = self.carry_out(effects);
        dropped.extend(self.look(now));
        Ok(dropped)
    }

    /// What the user does next, by what the window shows. A window that has lost its link shows what was last seen.
    pub fn wants(&self) -> Option<Act> {
        // After a restart of the server the user looks first.
        self.shown_of.filter(|(run, _)| *run == self.run)?;
        let act = self.next_act()?;
        (!self.did(&act)).then_some(act)
    }

    /// Whether the user did it already. An answer that was refused because the server was restarted may have to be given
    /// again, as may a prompt that is not held now.
    fn did(&self, act: &Act) -> bool {
        let counted = self.answers.values().filter(|(_, refused)| *refused != Some(Refusal::Restarted));
        // One that was cut off again is held again, and sent again.
        let is_resend = matches!(act, Act::Resend(_));
        let was_done = counted.map(|(one, _)| one).filter(|_| !is_resend);
        was_done.chain(self.waits.values()).any(|one| match (one, act) {
            (Act::Resend(sent), Act::Prompt(prompt)) => sent == prompt,
            _ => one == act,
        })
    }

    fn next_act(&self) -> Option<Act> {
        let shown = &self.shown;
        if let Some(request) = shown.requests.first() {
            // One window answers the first turn, and both the second.
            let answers = request.starts_with(TURNS[1]) || self.nr == 1;
            return answers.then(|| Act::Answer(request.clone()));
        }
        if let Some(prompt) = TURNS.iter().find(|prompt| !shown.items.contains(&end_of(prompt))) {
            let is_held = shown.held.contains(*prompt);
            return (self.nr == 0).then(|| {
                if is_held { Act::Resend((*prompt).into()) } else { Act::Prompt((*prompt).into()) }
            });
        }
        let runs = shown.items.iter().any(|item| item == ENDLESS);
        match (self.nr, runs || shown.held.contains(ENDLESS)) {
            (0, false) => Some(Act::Prompt(ENDLESS.into())),
            (1, true) => Some(Act::Stop),
            _ => None,
        }
    }

    pub fn act(&mut self, act: Act) -> Result<Vec<ClientId>, String> {
        let id = format!("{}.{}", self.nr, self.n_sent);
        let command = match act.clone() {
            Act::Prompt(text) => {
                Command::Prompt { text, attachments: Vec::new(), delivery: Delivery::default() }
            }
            Act::Resend(prompt) => Command::Resend { prompt_id: PromptId::new(prompt) },
            Act::Answer(request) => Command::Decide {
                request_id: RequestId::new(request),
                shown: None,
                decision: Decision::AllowOnce { updated_input: None },
            },
            Act::Stop => Command::Stop,
        };
        let effects = self.client.command(id.clone(), session(), command).map_err(|error| error.message)?;
        self.n_sent += 1;
        self.waits.insert(id, act);
        Ok(self.carry_out(effects))
    }

    /// Whether everything that its user did was answered.
    pub fn is_answered(&self) -> bool {
        self.waits.is_empty() && self.client.n_waiting() == 0
    }

    pub fn was_stopped(&self) -> bool {
        self.answers.values().any(|answer| *answer == (Act::Stop, None))
    }
}

/// The routes of a computer in the network with this number.
pub fn routes(network: u64) -> String {
    format!("Iface Destination Gateway\nwlan0 00000000 {network:08X} 0003 0 0\n")
}

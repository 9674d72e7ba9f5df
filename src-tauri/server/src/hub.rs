//! The server's decisions: clients, sessions, requests, and when to leave. Inputs with their time go in, effects come
//! out; there is no I/O, clock or randomness here.

use super::events::EventLog;
use super::outbox::{Cursor, Outbox};
use super::requests::{MAX_ID_BYTES, RequestIds, Seen};
use super::{ClientId, Line, is_busy, version};
use deskbell_api::server::{
    NewSession, PROTOCOL, Refusal, Reply, Request, RevertRequest, SessionSummary, later_names,
};
use deskbell_api::{Command, CommandError, ErrorCode, SessionId, SessionQuery};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Clients at the same time.
pub const MAX_CLIENTS: usize = 32;

/// A client that sends nothing for this time, in milliseconds, leaves its place to another one: it sends a ping each 5 s.
const MISSES_PINGS_MS: u64 = 15_000;
/// Sessions at the same time, those that are being opened included.
pub const MAX_SESSIONS: usize = 256;
/// Requests that are being carried out at the same time.
pub const MAX_PENDING: usize = 256;
/// Questions of one client that are being answered at the same time.
pub const MAX_QUESTIONS: u32 = 16;
/// The longest answer to a question, in bytes: replies wait in memory until a client reads them.
pub const MAX_ANSWER_BYTES: usize = 2 << 20;
/// A client that sends nothing for this long is disconnected, in milliseconds. Clients send a ping every 5 s.
pub const MAX_SILENCE_MS: u64 = 60_000;
/// Events that are kept for clients that come back, in bytes: of one session, and of all together.
const LOG_BYTES: usize = 8 << 20;
const ALL_LOGS_BYTES: usize = 256 << 20;

/// The facts about the server itself.
#[derive(Clone, Debug)]
pub struct Identity {
    pub version: String,
    pub host: String,
    pub boot_id: Option<String>,
    /// A random value, new with every start of the server.
    pub run: String,
    pub pid: u32,
}

#[derive(Debug)]
pub enum Input {
    Connected(ClientId),
    Disconnected(ClientId),
    Request(ClientId, Request),
    /// A line that is no request, and the `id` or `nr` in it, whose answer the client waits for.
    Unreadable {
        client: ClientId,
        id: Option<String>,
        nr: Option<u64>,
        detail: String,
    },
    /// A session that this server runs.
    SessionOpened(SessionSummary),
    /// A session that another server runs and this one shows: its work keeps that server, and not this one.
    SessionMirrored(SessionSummary),
    SessionRemoved(SessionId),
    /// An event of a session as a line, and the session's summary if the event changed it.
    Event {
        session_id: SessionId,
        seq: u64,
        line: Line,
        summary: Option<SessionSummary>,
    },
    /// The result of an `Execute`, `Open`, `Remove` or `Revert`.
    Executed {
        id: String,
        result: Result<SessionId, CommandError>,
    },
    /// The result of `MakeSnapshot`; `None` if the session is gone.
    Snapshot {
        client: ClientId,
        session_id: SessionId,
        made: Option<(u64, Line)>,
    },
    /// The result of `Ask`.
    Told {
        client: ClientId,
        nr: u64,
        result: Result<Value, CommandError>,
    },
    Tick,
}

impl Input {
    /// A line that is no request.
    pub fn unreadable(client: ClientId, line: &[u8], problem: &str) -> Self {
        // Without these fields, or with others, there is nothing to answer to.
        let fields: Value = serde_json::from_slice(line).unwrap_or_default();
        let id = fields["id"].as_str().map(str::to_owned);
        Self::Unreadable {
            client,
            id,
            nr: fields["nr"].as_u64(),
            detail: problem.chars().take(500).collect(),
        }
    }
}

#[derive(Debug, PartialEq)]
pub enum Effect {
    Open {
        id: String,
        session: NewSession,
    },
    Execute {
        id: String,
        session_id: SessionId,
        command: Command,
    },
    Remove {
        id: String,
        session_id: SessionId,
    },
    Revert {
        id: String,
        session_id: SessionId,
        change: RevertRequest,
    },
    MakeSnapshot {
        client: ClientId,
        session_id: SessionId,
    },
    Ask {
        client: ClientId,
        nr: u64,
        session_id: SessionId,
        question: SessionQuery,
    },
    /// There is something to send: see [`Hub::take`].
    Wake(ClientId),
    Disconnect(ClientId),
    /// Nothing runs and nothing waits: end the server.
    Leave,
}

struct Held {
    summary: SessionSummary,
    runs_here: bool,
    events: EventLog,
    /// It took the place of a session with the same id, whose events had other numbers.
    is_replacement: bool,
}

/// The state of the server.
pub struct Hub {
    identity: Identity,
    /// Idle time in milliseconds after which the server leaves.
    leave_after: u64,
    sessions: BTreeMap<SessionId, Held>,
    clients: BTreeMap<ClientId, Outbox>,
    /// Those that asked this server to leave for a newer one.
    retirers: BTreeSet<ClientId>,
    requests: RequestIds,
    /// The requests that open a session.
    opening: BTreeSet<String>,
    idle_since: Option<u64>,
    is_leaving: bool,
}

/// A value as a line. Only a value that is not JSON could fail, and the protocol has no such value.
pub fn line(value: &impl Serialize) -> Line {
    let mut text = serde_json::to_vec(value).unwrap_or_else(|error| {
        tracing::error!(%error, "could not write a line");
        Vec::new()
    });
    text.push(b'\n');
    text.into()
}

fn problem(message: &str, detail: Option<String>) -> CommandError {
    CommandError { code: ErrorCode::BadCommand, message: message.to_owned(), detail }
}

impl Hub {
    pub fn new(identity: Identity, leave_after: u64, now: u64) -> Self {
        Self {
            identity,
            leave_after,
            sessions: BTreeMap::new(),
            clients: BTreeMap::new(),
            retirers: BTreeSet::new(),
            requests: RequestIds::default(),
            opening: BTreeSet::new(),
            idle_since: Some(now),
            is_leaving: false,
        }
    }

    /// Handles an input.
    pub fn step(&mut self, now: u64, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Connected(client) => self.connected(now, client, &mut effects),
            Input::Disconnected(client) => self.drop_client(client),
            Input::Request(client, request) => {
                if let Some(outbox) = self.clients.get_mut(&client) {
                    outbox.hear(now);
                    self.request(client, request, &mut effects);
                }
            }
            Input::Unreadable { client, id, nr, detail } => {
                if let Some(outbox) = self.clients.get_mut(&client) {
                    outbox.hear(now);
                    self.unreadable(client, id, nr, detail, &mut effects);
                }
            }
            Input::SessionOpened(summary) => self.opened(summary, true, &mut effects),
            Input::SessionMirrored(summary) => self.opened(summary, false, &mut effects),
            Input::SessionRemoved(session_id) => self.removed(&session_id, &mut effects),
            Input::Event { session_id, seq, line, summary } => {
                self.event(&session_id, seq, line, summary, &mut effects);
            }
            Input::Executed { id, result } => self.executed(&id, result, &mut effects),
            Input::Snapshot { client, session_id, made } => {
                if let Some(outbox) = self.clients.get_mut(&client) {
                    match made {
                        Some((seq, line)) => outbox.snapshot(&session_id, seq, line),
                        None => outbox.no_snapshot(&session_id),
                    }
                    effects.push(Effect::Wake(client));
                }
            }
            Input::Told { client, nr, result } => {
                if let Some(outbox) = self.clients.get_mut(&client) {
                    outbox.n_questions = outbox.n_questions.saturating_sub(1);
                    self.tell(client, nr, result, &mut effects);
                }
            }
            Input::Tick => self.tick(now, &mut effects),
        }
        self.retire_if_idle(&mut effects);
        self.note_idle(now);
        effects
    }

    /// The lines to send to a client now: some `budget` bytes, or one larger line.
    pub fn take(&mut self, client: ClientId, budget: usize) -> (Vec<Line>, Vec<Effect>) {
        let (mut lines, mut effects, mut bytes) = (Vec::new(), Vec::new(), 0);
        let Some(outbox) = self.clients.get_mut(&client) else { return (lines, effects) };
        while bytes < budget
            && let Some(line) = outbox.next_reply()
        {
            bytes += line.len();
            lines.push(line);
        }
        for (session_id, cursor) in &mut outbox.attached {
            let Cursor::At { seq, .. } = cursor else { continue };
            let Some(held) = self.sessions.get(session_id) else { continue };
            let Some(events) = held.events.after(*seq) else {
                *cursor = Cursor::NeedsSnapshot;
                continue;
            };
            for (nr, line) in events {
                if bytes >= budget {
                    break;
                }
                bytes += line.len();
                lines.push(line.clone());
                *seq = *nr;
            }
        }
        if let Some(session_id) = outbox.begin_snapshot() {
            effects.push(Effect::MakeSnapshot { client, session_id });
        }
        (lines, effects)
    }

    /// The time at which a `Tick` is due.
    pub fn deadline(&self) -> Option<u64> {
        let leaves = self.idle_since.map(|since| since.saturating_add(self.leave_after));
        let silent = self.clients.values().map(|outbox| outbox.heard_at + MAX_SILENCE_MS).min();
        leaves.into_iter().chain(silent).min()
    }

    pub fn summaries(&self) -> Vec<SessionSummary> {
        let sessions = self.sessions.values();
        sessions.map(|held| SessionSummary { seq: held.events.seq(), ..held.summary.clone() }).collect()
    }

    /// The process of a session's agent, while it runs.
    pub fn pid_of(&self, session_id: &SessionId) -> Option<u32> {
        self.sessions.get(session_id)?.summary.pid
    }

    fn connected(&mut self, now: u64, client: ClientId, effects: &mut Vec<Effect>) {
        if self.is_leaving || self.clients.len() >= MAX_CLIENTS && !self.make_room(now, effects) {
            effects.push(Effect::Disconnect(client));
            return;
        }
        self.clients.insert(client, Outbox::new(now));
        let Identity { version, host, boot_id, run, pid } = self.identity.clone();
        let sessions = self.summaries();
        let questions = later_names().map(str::to_owned).collect();
        let hello =
            Reply::Hello { protocol: PROTOCOL, version, host, boot_id, run, pid, sessions, questions };
        self.reply(client, &hello, effects);
    }

    /// Disconnects the client that is needed least: one that never sent anything, or one that misses its pings.
    fn make_room(&mut self, now: u64, effects: &mut Vec<Effect>) -> bool {
        let mut clients: Vec<_> = self.clients.iter().collect();
        clients.sort_by_key(|(_, outbox)| (outbox.has_spoken, outbox.heard_at));
        let is_idle = |outbox: &Outbox| !outbox.has_spoken || now >= outbox.heard_at + MISSES_PINGS_MS;
        let Some((idle, _)) = clients.first().filter(|(_, outbox)| is_idle(outbox)) else { return false };
        let idle = **idle;
        self.drop_client(idle);
        effects.push(Effect::Disconnect(idle));
        true
    }

    /// A client that waits for an answer gets one: its request may be one of a newer version.
    fn unreadable(
        &mut self,
        client: ClientId,
        id: Option<String>,
        nr: Option<u64>,
        detail: String,
        effects: &mut Vec<Effect>,
    ) {
        let message = "This server could not read the request. It may be older than its client.";
        let error = problem(message, Some(detail));
        match (id.filter(|id| (1..=MAX_ID_BYTES).contains(&id.len())), nr) {
            (Some(id), _) => {
                self.reply(client, &Reply::Refused { id, reason: Refusal::Command, error }, effects);
            }
            (None, Some(nr)) => self.tell(client, nr, Err(error), effects),
            (None, None) => self.reply(client, &Reply::Problem { error }, effects),
        }
    }

    fn drop_client(&mut self, client: ClientId) {
        self.clients.remove(&client);
        self.retirers.remove(&client);
        self.requests.leave(client);
    }

    fn reply(&mut self, client: ClientId, reply: &Reply, effects: &mut Vec<Effect>) {
        self.send(client, line(reply), effects);
    }

    fn send(&mut self, client: ClientId, line: Line, effects: &mut Vec<Effect>) {
        let Some(outbox) = self.clients.get_mut(&client) else { return };
        if outbox.reply(line) {
            effects.push(Effect::Wake(client));
        } else {
            self.drop_client(client);
            effects.push(Effect::Disconnect(client));
        }
    }

    fn request(&mut self, client: ClientId, request: Request, effects: &mut Vec<Effect>) {
        match request {
            Request::Open { id, run, session } => {
                if self.counts(client, &id, run.as_deref(), None, effects) {
                    self.opening.insert(id.clone());
                    effects.push(Effect::Open { id, session });
                }
            }
            Request::Command { id, run, session_id, command } => {
                if self.counts(client, &id, run.as_deref(), Some(&session_id), effects) {
                    effects.push(Effect::Execute { id, session_id, command });
                }
            }
            Request::Remove { id, run, session_id } => {
                if self.counts(client, &id, run.as_deref(), Some(&session_id), effects) {
                    effects.push(Effect::Remove { id, session_id });
                }
            }
            Request::Revert { id, run, session_id, change } => {
                if self.counts(client, &id, run.as_deref(), Some(&session_id), effects) {
                    effects.push(Effect::Revert { id, session_id, change });
                }
            }
            Request::Attach { session_id, after, run } => {
                self.attach(client, session_id, after, run.as_deref(), effects);
            }
            Request::Detach { session_id } => {
                if let Some(outbox) = self.clients.get_mut(&client) {
                    outbox.detach(&session_id);
                }
            }
            Request::Ack { session_id, seq } => self.acknowledged(client, &session_id, seq),
            Request::Ask { nr, session_id, question } => {
                self.ask(client, nr, session_id, question, effects);
            }
            Request::Ping { nr } => self.reply(client, &Reply::Pong { nr }, effects),
            Request::List => {
                let sessions = self.summaries();
                self.reply(client, &Reply::Sessions { sessions }, effects);
            }
            Request::Retire { version } => self.retire(client, &version, effects),
        }
    }

    /// Whether a request with this id is to be carried out. If not, the client gets the reason or the earlier answer.
    fn counts(
        &mut self,
        client: ClientId,
        id: &str,
        run: Option<&str>,
        session_id: Option<&SessionId>,
        effects: &mut Vec<Effect>,
    ) -> bool {
        if id.is_empty() || id.len() > MAX_ID_BYTES {
            let error = problem("An id has 1 to 128 bytes.", None);
            self.reply(client, &Reply::Problem { error }, effects);
            return false;
        }
        if run.is_some_and(|run| run != self.identity.run) {
            let message = "The server was restarted after this was sent. It may have counted before that.";
            self.refuse(client, id, Refusal::Restarted, message, effects);
            return false;
        }
        match self.requests.receive(id, client) {
            Seen::First => {}
            Seen::Pending => return false,
            Seen::Answered(line) => {
                self.send(client, line, effects);
                return false;
            }
        }
        let n_sessions = self.sessions.len() + self.opening.len();
        let refusal = if self.is_leaving {
            Some((Refusal::Leaving, "The server is about to leave."))
        } else if session_id.is_some_and(|id| !self.sessions.contains_key(id)) {
            Some((Refusal::NoSession, "There is no such session."))
        } else if session_id.is_none() && n_sessions >= MAX_SESSIONS {
            Some((Refusal::Limit, "Too many sessions. Remove some first."))
        } else if self.requests.n_pending() > MAX_PENDING {
            Some((Refusal::Limit, "Too many requests at once. Send it again later."))
        } else {
            None
        };
        let Some((reason, message)) = refusal else { return true };
        self.requests.forget(id);
        self.refuse(client, id, reason, message, effects);
        false
    }

    fn refuse(
        &mut self,
        client: ClientId,
        id: &str,
        reason: Refusal,
        message: &str,
        effects: &mut Vec<Effect>,
    ) {
        let error = CommandError { code: ErrorCode::Refused, message: message.to_owned(), detail: None };
        self.reply(client, &Reply::Refused { id: id.to_owned(), reason, error }, effects);
    }

    fn executed(&mut self, id: &str, result: Result<SessionId, CommandError>, effects: &mut Vec<Effect>) {
        let id = id.to_owned();
        self.opening.remove(&id);
        let reply = match result {
            Ok(session_id) => Reply::Accepted { id: id.clone(), session_id },
            Err(error) => Reply::Refused { id: id.clone(), reason: Refusal::Command, error },
        };
        let line = line(&reply);
        for client in self.requests.answer(&id, line.clone()) {
            self.send(client, line.clone(), effects);
        }
    }

    fn attach(
        &mut self,
        client: ClientId,
        session_id: SessionId,
        after: Option<u64>,
        run: Option<&str>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(held) = self.sessions.get(&session_id) else {
            let error = CommandError {
                code: ErrorCode::NoSuchSession,
                message: "There is no such session.".to_owned(),
                detail: Some(session_id.0.chars().take(MAX_ID_BYTES).collect()),
            };
            self.reply(client, &Reply::Problem { error }, effects);
            return;
        };
        // Numbers of another run count other events.
        let is_ours = run == Some(self.identity.run.as_str()) && !held.is_replacement;
        let after = after.filter(|seq| is_ours && held.events.has_after(*seq));
        let cursor = after.map_or(Cursor::NeedsSnapshot, |seq| Cursor::At { seq, acked: seq });
        let Some(outbox) = self.clients.get_mut(&client) else { return };
        outbox.attach(session_id.clone(), cursor);
        self.reply(client, &Reply::Attached { session_id, after }, effects);
    }

    fn ask(
        &mut self,
        client: ClientId,
        nr: u64,
        session_id: SessionId,
        question: SessionQuery,
        effects: &mut Vec<Effect>,
    ) {
        let is_there = self.sessions.contains_key(&session_id);
        let Some(outbox) = self.clients.get_mut(&client) else { return };
        let refusal = if !is_there {
            problem("There is no such session.", None)
        } else if outbox.n_questions >= MAX_QUESTIONS {
            problem("Too many questions at once. Ask again later.", None)
        } else {
            outbox.n_questions += 1;
            effects.push(Effect::Ask { client, nr, session_id, question });
            return;
        };
        self.tell(client, nr, Err(refusal), effects);
    }

    fn tell(
        &mut self,
        client: ClientId,
        nr: u64,
        result: Result<Value, CommandError>,
        effects: &mut Vec<Effect>,
    ) {
        let (answer, error) = match result {
            Ok(answer) => (answer, None),
            Err(error) => (Value::Null, Some(error)),
        };
        let mut told = line(&Reply::Answer { nr, answer, error });
        if told.len() > MAX_ANSWER_BYTES {
            let error = Some(problem("The answer is too long to send.", None));
            told = line(&Reply::Answer { nr, answer: Value::Null, error });
        }
        self.send(client, told, effects);
    }

    fn opened(&mut self, summary: SessionSummary, runs_here: bool, effects: &mut Vec<Effect>) {
        let id = summary.id.clone();
        let is_replacement = self.sessions.contains_key(&id);
        let held = Held { events: EventLog::new(summary.seq), summary, runs_here, is_replacement };
        self.sessions.insert(id.clone(), held);
        if is_replacement {
            let attached =
                self.clients.iter_mut().filter_map(|(client, outbox)| outbox.restart(&id).then_some(*client));
            effects.extend(attached.map(Effect::Wake));
        }
    }

    fn acknowledged(&mut self, client: ClientId, session_id: &SessionId, last: u64) {
        if let Some(outbox) = self.clients.get_mut(&client)
            && let Some(Cursor::At { seq, acked }) = outbox.attached.get_mut(session_id)
        {
            // A client cannot have processed what was not sent.
            *acked = last.min(*seq).max(*acked);
        }
        let cursors = self.clients.values().filter_map(|outbox| outbox.attached.get(session_id));
        let lowest = cursors.map(|cursor| match cursor {
            Cursor::At { acked, .. } => *acked,
            Cursor::NeedsSnapshot => 0,
        });
        if let Some(lowest) = lowest.min()
            && let Some(held) = self.sessions.get_mut(session_id)
        {
            held.events.acknowledged(lowest);
        }
    }

    fn event(
        &mut self,
        session_id: &SessionId,
        seq: u64,
        line: Line,
        summary: Option<SessionSummary>,
        effects: &mut Vec<Effect>,
    ) {
        let limit = LOG_BYTES.min(ALL_LOGS_BYTES / self.sessions.len().max(1));
        let Some(held) = self.sessions.get_mut(session_id) else { return };
        if let Some(summary) = summary {
            held.summary = summary;
        }
        held.events.push(seq, line, limit);
        let attached = self.clients.iter().filter(|(_, outbox)| outbox.attached.contains_key(session_id));
        effects.extend(attached.map(|(client, _)| Effect::Wake(*client)));
    }

    fn removed(&mut self, session_id: &SessionId, effects: &mut Vec<Effect>) {
        // The events that were not sent yet are part of a session that no longer exists.
        self.sessions.remove(session_id);
        let attached: Vec<ClientId> = self
            .clients
            .iter_mut()
            .filter_map(|(client, outbox)| outbox.detach(session_id).then_some(*client))
            .collect();
        for client in attached {
            self.reply(client, &Reply::Removed { session_id: session_id.clone() }, effects);
        }
    }

    fn retire(&mut self, client: ClientId, newer: &str, effects: &mut Vec<Effect>) {
        if version::is_newer(newer, &self.identity.version) {
            self.retirers.insert(client);
        }
        if !self.retirers.contains(&client) || !self.can_retire() {
            self.reply(client, &Reply::Busy, effects);
        }
    }

    /// Leaves for a newer server: at once, or when the last work is done and the last other client has gone.
    fn retire_if_idle(&mut self, effects: &mut Vec<Effect>) {
        if self.is_leaving || !self.can_retire() {
            return;
        }
        for client in self.retirers.clone() {
            self.reply(client, &Reply::Retiring, effects);
        }
        self.leave(effects);
    }

    fn can_retire(&self) -> bool {
        let are_retirers = self.clients.keys().all(|client| self.retirers.contains(client));
        !self.retirers.is_empty() && are_retirers && !self.is_working()
    }

    fn is_working(&self) -> bool {
        self.requests.n_pending() > 0
            || self.sessions.values().any(|held| held.runs_here && is_busy(&held.summary))
    }

    fn note_idle(&mut self, now: u64) {
        if !self.clients.is_empty() || self.is_working() || self.is_leaving {
            self.idle_since = None;
        } else if self.idle_since.is_none() {
            self.idle_since = Some(now);
        }
    }

    fn tick(&mut self, now: u64, effects: &mut Vec<Effect>) {
        let silent: Vec<ClientId> = self
            .clients
            .iter()
            .filter(|(_, outbox)| now >= outbox.heard_at + MAX_SILENCE_MS)
            .map(|(client, _)| *client)
            .collect();
        for client in silent {
            self.drop_client(client);
            effects.push(Effect::Disconnect(client));
        }
        if self.idle_since.is_some_and(|since| now >= since.saturating_add(self.leave_after)) {
            self.leave(effects);
        }
    }

    fn leave(&mut self, effects: &mut Vec<Effect>) {
        if !std::mem::replace(&mut self.is_leaving, true) {
            effects.push(Effect::Leave);
        }
    }
}

#[cfg(test)]
mod tests;

//! The client's half: one link to a server, which breaks and comes back, and the sessions that are followed through it.
//!
//! Like the hub, it has no clock and no I/O. Its driver connects, writes and reads lines, and applies what they mean, in
//! the order of the effects. The link and the sessions are two things: a broken link ends no session, keeps every
//! request that was not answered, and continues each session after its last event.

use super::follower::{Follower, Head, Received};
use super::hub::MAX_ANSWER_BYTES;
use deskbell_api::server::{
    NewSession, PROTOCOL, Refusal, Reply, Request, RevertRequest, SessionSummary, later_names,
};
use deskbell_api::{Command, CommandError, ErrorCode, SessionId, SessionQuery};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};

/// Interval of pings, in milliseconds.
const PING_MS: u64 = 5_000;

/// A link on which nothing arrives for this time, in milliseconds, is given up: three pings without an answer.
const SILENCE_MS: u64 = 3 * PING_MS;

/// Timeout of an attempt to connect, until `hello`, in milliseconds. The server may have to be started first.
const CONNECT_MS: u64 = 30_000;

/// Delay before each attempt, in milliseconds; the last one is repeated.
const BACK_OFF_MS: [u64; 7] = [0, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];

/// Events of a session that are applied before they are acknowledged; a ping acknowledges all of them.
const ACK_AFTER: u64 = 256;

/// Requests that may wait for an answer. While the link is down they wait for it to come back.
pub const MAX_WAITING: usize = 64;

/// The state of the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// The attempt with this number (from 1) is running.
    Connecting {
        attempt: u32,
    },
    Connected,
    /// The attempt with this number begins at this time.
    Waiting {
        attempt: u32,
        at: u64,
    },
    /// The server speaks another protocol. There are no further attempts.
    Incompatible {
        protocol: u32,
        version: String,
    },
}

/// What is to be done outside of the client, in this order.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Connect; then call `connected` or `broken`. An earlier connection is to be dropped.
    Connect,
    /// Drop the connection. Nothing is reported for it any more.
    Disconnect,
    Write(Request),
    /// `link` has another value.
    LinkChanged,
    /// The sessions of the server, when the link came up or when they were listed.
    Listed(Vec<SessionSummary>),
    /// The line is the next event of this session.
    Event(SessionId),
    /// The line is a snapshot of this session, and replaces everything so far.
    Snapshot(SessionId),
    /// The server does not have this session, or no longer.
    Gone(SessionId),
    /// The answer to `ask`.
    Told {
        nr: u64,
        result: Result<Value, CommandError>,
    },
    /// A request was answered: it counted, or it was refused.
    Answered {
        id: String,
        result: Result<SessionId, Refused>,
    },
}

/// A refusal of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    pub reason: Refusal,
    pub error: CommandError,
}

/// A request that was not answered yet.
#[derive(Debug)]
struct Waiting {
    id: String,
    request: Request,
    /// The run of the server to which it was first sent.
    run: Option<String>,
}

/// The client of one server.
#[derive(Debug)]
pub struct Client {
    link: Link,
    /// `hello` was received on this link: the run of the server.
    run: Option<String>,
    /// Those of [`later_names`] that the server answers.
    questions: Vec<&'static str>,
    /// When the link, or the attempt, is given up unless something arrives, and when the next ping is due.
    gives_up_at: u64,
    pings_at: u64,
    n_pings: u64,
    followed: BTreeMap<SessionId, Follower>,
    waiting: VecDeque<Waiting>,
}

impl Client {
    /// A client whose first attempt to connect is due now.
    pub fn new(now: u64) -> Self {
        Self {
            link: Link::Waiting { attempt: 1, at: now },
            run: None,
            questions: Vec::new(),
            gives_up_at: now,
            pings_at: now,
            n_pings: 0,
            followed: BTreeMap::new(),
            waiting: VecDeque::new(),
        }
    }

    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Number of requests without an answer.
    pub fn n_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The time at which `tick` is due.
    pub fn deadline(&self) -> Option<u64> {
        match self.link {
            Link::Waiting { at, .. } => Some(at),
            Link::Connecting { .. } => Some(self.gives_up_at),
            Link::Connected => Some(self.gives_up_at.min(self.pings_at)),
            Link::Incompatible { .. } => None,
        }
    }

    /// Follows a session, from a snapshot on.
    pub fn follow(&mut self, session_id: SessionId) -> Vec<Effect> {
        let follower =
            self.followed.entry(session_id.clone()).or_insert_with(|| Follower::new(session_id.clone()));
        let run = self.run.as_deref().filter(|_| self.link == Link::Connected);
        run.map(|run| Effect::Write(follower.connected(run))).into_iter().collect()
    }

    /// Follows a session no longer.
    pub fn unfollow(&mut self, session_id: SessionId) -> Vec<Effect> {
        let was_followed = self.followed.remove(&session_id).is_some();
        let is_told = was_followed && self.link == Link::Connected;
        is_told.then(|| Effect::Write(Request::Detach { session_id })).into_iter().collect()
    }

    /// Sends a command as soon as there is a link, and again until it is answered. `id` is unique.
    pub fn command(
        &mut self,
        id: String,
        session_id: SessionId,
        command: Command,
    ) -> Result<Vec<Effect>, CommandError> {
        let request = Request::Command { id: id.clone(), run: None, session_id, command };
        self.send(id, request)
    }

    /// Opens a session, like `command`.
    pub fn open(&mut self, id: String, session: NewSession) -> Result<Vec<Effect>, CommandError> {
        self.send(id.clone(), Request::Open { id, run: None, session })
    }

    /// Removes a session, like `command`.
    pub fn remove(&mut self, id: String, session_id: SessionId) -> Result<Vec<Effect>, CommandError> {
        self.send(id.clone(), Request::Remove { id, run: None, session_id })
    }

    /// Reverts a change in a session's folder, like `command`. Needs a link, because the server must know the request.
    pub fn revert(
        &mut self,
        id: String,
        session_id: SessionId,
        change: RevertRequest,
    ) -> Result<Vec<Effect>, CommandError> {
        self.send(id.clone(), Request::Revert { id, run: None, session_id, change })
    }

    /// Asks a session for a text. Nothing is sent without a link or to a server that does not know the question, and the
    /// answer does not come if the link breaks: the caller asks again, or says so.
    pub fn ask(
        &self,
        nr: u64,
        session_id: SessionId,
        question: SessionQuery,
    ) -> Result<Effect, CommandError> {
        if self.run.is_none() {
            return Err(lost());
        }
        let request = Request::Ask { nr, session_id, question };
        if !self.knows(&request) { Err(too_old()) } else { Ok(Effect::Write(request)) }
    }

    /// Whether the server of the last `hello` carries this request out.
    fn knows(&self, request: &Request) -> bool {
        request.later_name().is_none_or(|name| self.questions.contains(&name))
    }

    fn send(&mut self, id: String, request: Request) -> Result<Vec<Effect>, CommandError> {
        let message = match &self.link {
            Link::Incompatible { version, .. } => {
                format!("The sessions run in Deskbell {version}, which this version cannot talk to.")
            }
            // Another server may be there when the link comes back.
            _ if request.later_name().is_some() && self.run.is_none() => return Err(lost()),
            _ if !self.knows(&request) => return Err(too_old()),
            _ if self.waiting.len() >= MAX_WAITING => {
                "Too much waits for the connection to the session. Try again when it is back.".to_owned()
            }
            _ => {
                let mut waiting = Waiting { id, request, run: None };
                let request = self.run.as_deref().map(|run| stamped(&mut waiting, run));
                self.waiting.push_back(waiting);
                return Ok(request.map(Effect::Write).into_iter().collect());
            }
        };
        Err(CommandError { code: ErrorCode::Refused, message, detail: None })
    }

    /// Asks the server for its sessions, if the link is up.
    pub fn list(&self) -> Vec<Effect> {
        let is_up = self.run.is_some() && self.link == Link::Connected;
        is_up.then_some(Effect::Write(Request::List)).into_iter().collect()
    }

    /// The user or a wake-up asks for an attempt now.
    pub fn retry(&mut self, now: u64) -> Vec<Effect> {
        match self.link {
            Link::Waiting { .. } => {
                self.link = Link::Waiting { attempt: 1, at: now };
                self.tick(now)
            }
            _ => Vec::new(),
        }
    }

    /// The computer slept. A link that waits is tried now; one that was up is asked whether it still is, and given up
    /// after one interval of pings.
    pub fn woke(&mut self, now: u64) -> Vec<Effect> {
        if self.link != Link::Connected {
            return self.retry(now);
        }
        self.gives_up_at = now + PING_MS;
        self.pings_at = now;
        self.tick(now)
    }

    /// The computer slept during an attempt to connect, which may hang until its timeout: makes it again at once, as the
    /// same attempt. The caller knows that it does not wait for the user.
    pub fn begin_again(&mut self, now: u64) -> Vec<Effect> {
        let Link::Connecting { attempt } = self.link else { return Vec::new() };
        self.link = Link::Waiting { attempt, at: now };
        let mut effects = vec![Effect::Disconnect];
        effects.extend(self.tick(now));
        effects
    }

    /// A deadline may have been reached.
    pub fn tick(&mut self, now: u64) -> Vec<Effect> {
        match self.link {
            Link::Waiting { attempt, at } if now >= at => {
                self.link = Link::Connecting { attempt };
                self.gives_up_at = now + CONNECT_MS;
                vec![Effect::LinkChanged, Effect::Connect]
            }
            Link::Connecting { .. } | Link::Connected if now >= self.gives_up_at => self.give_up(now),
            Link::Connected if now >= self.pings_at => {
                self.pings_at = now + PING_MS;
                self.n_pings += 1;
                let acks = self.followed.values_mut().filter_map(|follower| follower.ack(0));
                let pings = [Request::Ping { nr: self.n_pings }];
                acks.chain(pings).map(Effect::Write).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The connection broke, was closed, or could not be made.
    pub fn broken(&mut self, now: u64) -> Vec<Effect> {
        self.run = None;
        let attempt = match self.link {
            Link::Connecting { attempt } => attempt + 1,
            Link::Connected => 1,
            Link::Waiting { .. } | Link::Incompatible { .. } => return Vec::new(),
        };
        let delay = BACK_OFF_MS.get(attempt as usize - 1).or(BACK_OFF_MS.last()).copied().unwrap_or_default();
        self.link = Link::Waiting { attempt, at: now + delay };
        let mut effects = vec![Effect::LinkChanged];
        effects.extend(self.tick(now));
        effects
    }

    fn give_up(&mut self, now: u64) -> Vec<Effect> {
        let mut effects = vec![Effect::Disconnect];
        effects.extend(self.broken(now));
        effects
    }

    /// A line of the server. `Event` and `Snapshot` are about this line.
    pub fn line(&mut self, now: u64, line: &[u8]) -> Vec<Effect> {
        let patience = if self.link == Link::Connected { SILENCE_MS } else { CONNECT_MS };
        self.gives_up_at = now + patience;
        // A line that cannot be read is of a newer server; the number of the next event shows what is missing.
        let Ok(head) = serde_json::from_slice::<Head>(line) else { return Vec::new() };
        match head.kind.as_str() {
            "hello" => self.hello(now, line),
            "answer" if line.len() > MAX_ANSWER_BYTES => too_long_answer(line),
            "sessions" | "attached" | "accepted" | "refused" | "removed" | "answer" | "pong" | "retiring"
            | "busy" | "problem" => match serde_json::from_slice::<Reply>(line) {
                Ok(reply) => self.reply(reply),
                Err(_) => Vec::new(),
            },
            _ => self.event(&head),
        }
    }

    fn event(&mut self, head: &Head) -> Vec<Effect> {
        let Some(session_id) = &head.session_id else { return Vec::new() };
        let Some(follower) = self.followed.get_mut(session_id) else { return Vec::new() };
        let effect = match follower.received(head) {
            Received::Event => Effect::Event(session_id.clone()),
            Received::Snapshot => Effect::Snapshot(session_id.clone()),
            Received::Gap => return vec![Effect::Write(follower.attach())],
            Received::Other => return Vec::new(),
        };
        [effect].into_iter().chain(follower.ack(ACK_AFTER).map(Effect::Write)).collect()
    }

    /// The first line. Of another protocol only the two numbers are read.
    fn hello(&mut self, now: u64, line: &[u8]) -> Vec<Effect> {
        #[derive(serde::Deserialize)]
        struct Spoken {
            protocol: u32,
            version: String,
        }
        match serde_json::from_slice(line) {
            Ok(Spoken { protocol, version }) if protocol != PROTOCOL => {
                self.link = Link::Incompatible { protocol, version };
                vec![Effect::Disconnect, Effect::LinkChanged]
            }
            _ => match serde_json::from_slice(line) {
                Ok(Reply::Hello { run, sessions, questions, .. }) => {
                    let is_named = |name: &&str| questions.iter().any(|question| question == name);
                    self.questions = later_names().filter(is_named).collect();
                    self.greeted(now, run, sessions)
                }
                // The attempt ends at its timeout.
                _ => Vec::new(),
            },
        }
    }

    fn reply(&mut self, reply: Reply) -> Vec<Effect> {
        match reply {
            Reply::Hello { .. } => Vec::new(),
            Reply::Sessions { sessions } => vec![Effect::Listed(sessions)],
            Reply::Attached { session_id, .. } => {
                self.followed.get_mut(&session_id).into_iter().for_each(Follower::attached);
                Vec::new()
            }
            Reply::Accepted { id, session_id } => self.answered(id, Ok(session_id)),
            // Nothing happened, and the next server gets it.
            Reply::Refused { id, reason: Refusal::Leaving, .. } => {
                self.waiting.iter_mut().filter(|one| one.id == id).for_each(|one| one.run = None);
                Vec::new()
            }
            Reply::Refused { id, reason, error } => self.answered(id, Err(Refused { reason, error })),
            Reply::Removed { session_id } => self.gone(session_id),
            Reply::Problem { error } if error.code == ErrorCode::NoSuchSession => {
                error.detail.map(SessionId::new).map_or_else(Vec::new, |session_id| self.gone(session_id))
            }
            Reply::Answer { nr, answer, error } => {
                vec![Effect::Told { nr, result: error.map_or(Ok(answer), Err) }]
            }
            Reply::Pong { .. } | Reply::Retiring | Reply::Busy | Reply::Problem { .. } => Vec::new(),
        }
    }

    /// The server has introduced itself: subscribes to every session, and sends what was not answered.
    pub fn greeted(&mut self, now: u64, run: String, sessions: Vec<SessionSummary>) -> Vec<Effect> {
        self.link = Link::Connected;
        self.gives_up_at = now + SILENCE_MS;
        self.pings_at = now + PING_MS;
        let mut effects = vec![Effect::LinkChanged, Effect::Listed(sessions)];
        effects.extend(self.followed.values_mut().map(|follower| Effect::Write(follower.connected(&run))));
        effects.extend(self.unknown_there());
        effects.extend(self.waiting.iter_mut().map(|waiting| Effect::Write(stamped(waiting, &run))));
        self.run = Some(run);
        effects
    }

    /// Answers what waits and what the server does not know: it is older than the one before.
    fn unknown_there(&mut self) -> Vec<Effect> {
        let waiting = std::mem::take(&mut self.waiting);
        let (known, unknown) = waiting.into_iter().partition(|waiting| self.knows(&waiting.request));
        self.waiting = known;
        let unknown: VecDeque<Waiting> = unknown;
        let refused = || Refused { reason: Refusal::Restarted, error: too_old() };
        unknown
            .into_iter()
            .map(|waiting| Effect::Answered { id: waiting.id, result: Err(refused()) })
            .collect()
    }

    fn answered(&mut self, id: String, result: Result<SessionId, Refused>) -> Vec<Effect> {
        let Some(at) = self.waiting.iter().position(|one| one.id == id) else { return Vec::new() };
        self.waiting.remove(at);
        vec![Effect::Answered { id, result }]
    }

    fn gone(&mut self, session_id: SessionId) -> Vec<Effect> {
        self.followed.remove(&session_id).map(|_| Effect::Gone(session_id)).into_iter().collect()
    }
}

/// The error of a call that the link broke.
pub fn lost() -> CommandError {
    refused("The connection to the session is lost. Try again when it is back.")
}

fn too_old() -> CommandError {
    refused(
        "The server of this session is an older Deskbell that does not know this request. A newer one takes its place \
         after its sessions have ended.",
    )
}

fn refused(message: &str) -> CommandError {
    CommandError { code: ErrorCode::Refused, message: message.to_owned(), detail: None }
}

/// An answer that no server of ours sends. Its content is not read.
fn too_long_answer(line: &[u8]) -> Vec<Effect> {
    #[derive(serde::Deserialize)]
    struct Numbered {
        nr: u64,
    }
    let numbered = serde_json::from_slice::<Numbered>(line);
    let error = || refused("The answer of the session is too long.");
    numbered.map_or_else(|_| Vec::new(), |Numbered { nr }| vec![Effect::Told { nr, result: Err(error()) }])
}

/// The request as it is sent, with the run to which it was first sent.
fn stamped(waiting: &mut Waiting, now: &str) -> Request {
    let first = Some(waiting.run.get_or_insert_with(|| now.to_owned()).clone());
    let mut request = waiting.request.clone();
    match &mut request {
        Request::Open { run, .. }
        | Request::Command { run, .. }
        | Request::Remove { run, .. }
        | Request::Revert { run, .. } => *run = first,
        _ => {}
    }
    request
}

#[cfg(test)]
mod tests;

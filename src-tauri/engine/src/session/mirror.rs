//! A session that runs in a server of this user, mirrored here: the same handle, subscribers and events as those of a
//! session that runs in this process.
//!
//! The server owns the session, its agent and its journal. The mirror has a copy of the transcript, so that a window
//! reads and scrolls while the link is down. It sends commands to the server and asks it for what events do not
//! contain. Dropping the last handle, or closing it, ends the mirror and nothing else.

use super::folder::CheckedAnswer;
use super::mailbox::Mailbox;
use super::subscribers::Subscribers;
use super::{Message, SessionHandle, Subscriber, log};
use crate::agent::json::read_value;
use crate::api::*;
use crate::permission::repeats;
use crate::remote::{FromServer, ServerLink, unreadable_session};
use crate::transcript::{Transcript, TranscriptChange};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{mpsc, oneshot, watch};
use tracing::Instrument;

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Lines of the server that may wait for the mirror.
const BACKLOG: usize = 64;

/// Timeout of an answer. A server of an earlier version may not know the query.
pub(super) const ANSWERS: Duration = Duration::from_secs(30);

/// The messages of a mirror.
pub(super) enum MirrorMessage {
    Any(Message),
    /// Asks the server that has the session.
    Ask {
        question: SessionQuery,
        reply: oneshot::Sender<Result<serde_json::Value, CommandError>>,
    },
    /// Ends the session and removes it from its server.
    Discard(oneshot::Sender<Result<(), CommandError>>),
}

impl From<Message> for MirrorMessage {
    fn from(message: Message) -> Self {
        Self::Any(message)
    }
}

/// A handle to a session that runs in a server.
#[derive(Clone)]
pub struct MirroredSession {
    pub(super) mailbox: Mailbox<MirrorMessage>,
}

impl SessionHandle {
    /// Mirrors a session of a server. Calls that need the session wait for its first snapshot.
    pub fn mirror(link: &ServerLink, id: SessionId, project: PathBuf) -> Self {
        Self::Mirror(MirroredSession::follow(link, id, project, None))
    }

    /// Mirrors a session of the server of an older version.
    pub fn mirror_older(link: &ServerLink, id: SessionId, project: PathBuf, version: String) -> Self {
        Self::Mirror(MirroredSession::follow(link, id, project, Some(version)))
    }
}

/// The place of a session.
struct Place {
    id: SessionId,
    project: PathBuf,
    link: ServerLink,
    /// The version of the server, if it is older than this one.
    version: Option<String>,
}

struct Mirror {
    place: Place,
    session: Session,
    transcript: Transcript,
    subscribers: Subscribers,
    /// The user knows that the server sends what this version cannot read.
    has_said_unreadable: bool,
}

async fn run(
    place: Place,
    mut from_server: mpsc::Receiver<FromServer>,
    mut inbox: mpsc::Receiver<MirrorMessage>,
    ending: watch::Receiver<bool>,
) {
    let mut ended = ending.clone();
    let Place { id, project, link, .. } = &place;
    // Messages wait in the inbox meanwhile; a handle that is closed or dropped is not kept waiting.
    let first = async {
        loop {
            match from_server.recv().await {
                Some(FromServer::Snapshot(snapshot)) => return Some(snapshot),
                // The window shows that the session is there, and why it shows nothing of it.
                Some(FromServer::Unreadable { is_snapshot: true, .. }) => {
                    return Some(Box::new(unreadable_session(id, project.display().to_string())));
                }
                Some(FromServer::Gone) | None => return None,
                Some(_) => {}
            }
        }
    };
    let snapshot = tokio::select! {
        snapshot = first => snapshot,
        _ = ended.wait_for(|ending| *ending) => None,
    };
    let (id, link) = (id.clone(), link.clone());
    if let Some(mut snapshot) = snapshot {
        let mut mirror = Mirror {
            transcript: Transcript::mirror(&place.project, &mut snapshot),
            subscribers: Subscribers::new(id.clone(), now(), ending),
            session: snapshot.session,
            place,
            has_said_unreadable: false,
        };
        mirror.complete();
        mirror.serve(from_server, &mut inbox).await;
    }
    link.unfollow(id);
}

impl Mirror {
    async fn serve(
        &mut self,
        mut from_server: mpsc::Receiver<FromServer>,
        inbox: &mut mpsc::Receiver<MirrorMessage>,
    ) {
        loop {
            tokio::select! {
                message = inbox.recv() => match message {
                    Some(MirrorMessage::Any(Message::Close(reply) | Message::Finish(reply))) => {
                        // The caller may be gone.
                        let _ = reply.send(());
                        return;
                    }
                    Some(message) => self.message(message).await,
                    None => return,
                },
                from = from_server.recv() => match from {
                    Some(from) => if !self.received(from).await { return },
                    None => return,
                },
            }
        }
    }

    /// Applies what the server sent. False: the server does not have the session any more.
    async fn received(&mut self, from: FromServer) -> bool {
        match from {
            FromServer::Snapshot(snapshot) => self.replaced(*snapshot).await,
            FromServer::Event(event) => self.event(*event).await,
            FromServer::LinkChanged => {
                let link = Some(self.place.link.state());
                let change = SessionChange { link, ..SessionChange::default() };
                let has_requests = !self.session.requests.is_empty();
                let session = Box::new(change.of(self.session.agent_session_id.clone(), has_requests));
                self.tell(Event::SessionChanged { session }).await;
            }
            FromServer::Unreadable { problem, .. } => self.say_unreadable(problem).await,
            FromServer::Gone => {
                // Windows and dialogs must not wait for answers to it.
                self.withdraw(&[]).await;
                return false;
            }
        }
        true
    }

    async fn event(&mut self, event: Event) {
        match event {
            Event::SessionChanged { mut session } => {
                // What this side knows itself is not taken from the server.
                (session.link, session.older_server) = (None, None);
                self.tell(Event::SessionChanged { session }).await;
            }
            Event::TranscriptReplaced { items, files, tasks } => {
                self.transcript.mirror_again(items, files, tasks);
                self.subscribers.replaced(now(), &self.transcript).await;
            }
            mut event => {
                if let Event::PermissionRequested { request, in_item: true } = &mut event {
                    let item = request.item_id.as_ref().and_then(|id| self.transcript.item(id));
                    repeats::complete(request, item);
                }
                self.transcript.mirror_event(&event);
                self.tell(event).await;
            }
        }
    }

    /// A snapshot replaces everything: the server was restarted, or too much happened while the link was down.
    async fn replaced(&mut self, mut snapshot: Snapshot) {
        self.transcript = Transcript::mirror(&self.place.project, &mut snapshot);
        let known: Vec<RequestId> = self.session.requests.iter().map(|request| request.id.clone()).collect();
        let open = snapshot.session.requests.clone();
        self.withdraw(&open).await;
        self.session = snapshot.session;
        self.complete();
        self.subscribers.replaced(now(), &self.transcript).await;
        self.tell_session().await;
        for request in open.into_iter().filter(|request| !known.contains(&request.id)) {
            self.tell(Event::PermissionRequested { request: Box::new(request), in_item: false }).await;
        }
    }

    /// Reports the requests as closed that are not open any more.
    async fn withdraw(&mut self, open: &[PermissionRequest]) {
        let is_closed = |known: &&PermissionRequest| !open.iter().any(|request| request.id == known.id);
        let closed: Vec<RequestId> =
            self.session.requests.iter().filter(is_closed).map(|request| request.id.clone()).collect();
        for request_id in closed {
            let reason = "It was answered or withdrawn while the connection was lost.".to_owned();
            let resolution = Resolution::Withdrawn { reason };
            self.tell(Event::PermissionResolved { request_id, resolution }).await;
        }
    }

    /// Completes what the server sent about the session. A server speaks only for the session that was asked for: with
    /// the id of another one it would describe a session of this machine.
    fn complete(&mut self) {
        self.session.id = self.place.id.clone();
        self.session.link = self.place.link.state();
        if self.place.version.is_some() {
            self.session.older_server.clone_from(&self.place.version);
        }
    }

    /// Says once in the window that something is missing.
    async fn say_unreadable(&mut self, problem: String) {
        if std::mem::replace(&mut self.has_said_unreadable, true) {
            return;
        }
        let message = "The Deskbell that runs this session sent something that this version cannot read, so it is missing \
                       here. Update Deskbell on this computer."
            .to_owned();
        let detail = Some(problem.chars().take(500).collect());
        let error = CommandError { code: ErrorCode::Internal, message, detail };
        self.tell(Event::CommandFailed { error }).await;
    }

    async fn tell_session(&mut self) {
        let session = Box::new(SessionChange::whole(&self.session));
        self.tell(Event::SessionChanged { session }).await;
    }

    async fn tell(&mut self, event: Event) {
        self.session.apply(&event);
        self.subscribers.tell(now(), TranscriptChange::Event(event), &self.transcript).await;
    }

    async fn message(&mut self, message: MirrorMessage) {
        let id = self.place.id.clone();
        match message {
            MirrorMessage::Ask { question, reply } => self.place.link.ask(id, question, reply),
            MirrorMessage::Discard(reply) => self.place.link.remove(id, reply),
            MirrorMessage::Any(message) => self.any_message(id, message).await,
        }
    }

    async fn any_message(&mut self, id: SessionId, message: Message) {
        match message {
            Message::Command { command, reply } => self.place.link.command(id, command, reply),
            Message::Start => self.place.link.command(id, Command::Start, None),
            Message::Subscribe { subscriber, reply } => self.subscribe(subscriber, reply).await,
            // A caller that has gone away needs no reply, here and below.
            Message::Snapshot(reply) => {
                let total = self.transcript.n_rows();
                let rows = RowRange { end: total, total, ..RowRange::default() };
                drop(reply.send(self.snapshot(rows, self.transcript.items().cloned().collect())));
            }
            Message::Show { feed, show, reply } => {
                feed.show(show, |first, end| self.subscribers.window_items(&self.transcript, first, end));
                let _ = reply.send(());
            }
            Message::Place { item_id, part, reply } => {
                let place = |item| self.subscribers.window_place(item, part, &self.transcript);
                let _ = reply.send(self.transcript.item(&item_id).map(place));
            }
            Message::Sender { item_id, reply } => {
                drop(reply.send(self.transcript.sender(&item_id).cloned()));
            }
            Message::Complain(problem) => {
                let message = "The command could not be read.".to_owned();
                let error = CommandError { code: ErrorCode::BadCommand, message, detail: Some(problem) };
                self.tell(Event::CommandFailed { error }).await;
            }
            // `serve` ends with these.
            Message::Finish(reply) | Message::Close(reply) => drop(reply.send(())),
        }
    }

    async fn subscribe(&mut self, subscriber: Subscriber, reply: oneshot::Sender<Snapshot>) {
        let (rows, items) = self.subscribers.begin(&subscriber, &self.transcript);
        let mut snapshot = self.snapshot(rows, items);
        self.subscribers.place_files(&subscriber, &mut snapshot.files);
        let wants_requests = matches!(subscriber, Subscriber::Summary(_));
        if reply.send(snapshot).is_ok() {
            self.subscribers.add(subscriber);
        }
        // Requests that wait since before this process began are asked again. What changed since the caller asked for the
        // session is in the whole of it.
        if wants_requests {
            self.tell_session().await;
            for request in self.session.requests.clone() {
                self.tell(Event::PermissionRequested { request: Box::new(request), in_item: false }).await;
            }
        }
    }

    fn snapshot(&self, rows: RowRange, items: Vec<Item>) -> Snapshot {
        Snapshot {
            seq: self.subscribers.seq(),
            last_event_at: self.subscribers.last_event_at(),
            session: self.session.clone(),
            rows,
            is_partial: false,
            items,
            files: self.transcript.files().to_vec(),
            tasks: self.transcript.tasks().to_vec(),
            prompts: self.transcript.prompts(),
        }
    }
}

impl MirroredSession {
    fn follow(link: &ServerLink, id: SessionId, project: PathBuf, version: Option<String>) -> Self {
        let (mailbox, inbox, is_ending) = Mailbox::new(id.clone());
        let (sender, from_server) = mpsc::channel(BACKLOG);
        link.follow(id.clone(), sender);
        let place = Place { id: id.clone(), project, link: link.clone(), version };
        tokio::spawn(run(place, from_server, inbox, is_ending).instrument(log::span(&id)));
        Self { mailbox }
    }

    pub fn id(&self) -> &SessionId {
        self.mailbox.id()
    }

    /// Ends the session, and removes it from its server.
    pub async fn discard(&self) -> Result<(), CommandError> {
        self.mailbox.ask(MirrorMessage::Discard).await?
    }

    /// Asks the server that has the session.
    pub async fn query<Q: CheckedAnswer>(&self, query: Q) -> Result<Q::Answer, CommandError> {
        let question = query.clone().into();
        let answer = self.mailbox.ask(|reply| MirrorMessage::Ask { question, reply });
        let answer = tokio::time::timeout(Q::TIMEOUT, answer).await.map_err(|_| CommandError {
            code: ErrorCode::Refused,
            message: "The session did not answer in time.".to_owned(),
            detail: None,
        })?;
        read_value(&answer??).map(|answer| query.check(answer)).map_err(unreadable)
    }
}

fn unreadable(error: serde_json::Error) -> CommandError {
    CommandError {
        code: ErrorCode::Internal,
        message: "The answer of the session could not be read.".to_owned(),
        detail: Some(error.to_string()),
    }
}

//! The actor: the task that owns a session. It carries out the core's actions and makes no decisions itself.

mod files;
mod lines;
mod listing;
mod message;
mod opening;
mod painter;
mod recording;
mod rewind;
mod saves;
mod timers;

use super::core::{Action, Core};
use super::log;
use super::machine::Input;
use super::subscribers::Subscribers;
use super::{LocalMessage, Open};
use crate::agent::AgentEvent;
use crate::api::*;
use crate::disk;
use crate::history::Tail;
use crate::launch::{Launch, Start};
use crate::node;
use crate::options;
use crate::owner::{self, Lock};
use crate::process::{Heard, Output, Process};
use crate::store::{Record, StoreError};
use crate::transcript::colours::Coloured;
use crate::transcript::supplement::Supplement;
use crate::transcript::{Transcript, TranscriptChange};
use lines::Lines;
use saves::Saves;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use timers::Timers;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// Interval between saves of streaming text, in milliseconds. If the app is killed, only text since the last one is
/// lost.
const STREAMING_MS: u64 = 1_000;

/// Milliseconds since the epoch.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

pub async fn run(open: Open, mut inbox: mpsc::Receiver<LocalMessage>, ending: watch::Receiver<bool>) {
    let transcript = Transcript::new(&open.record.project);
    let (painted_sender, painted) = mpsc::unbounded_channel();
    // The value until a process has started: as without a trust decision.
    let restricted = open.record.agent != AgentKind::Demo;
    let mut memory = open.record.memory.clone();
    memory.rewound = memory.rewound.filter(|rewound| !rewound.is_expired(now()));
    let core = Core::new(memory, open.timeouts.clone(), transcript, open.record.changed_at);
    open.recorder.keep_opened(now(), &open.record.project, open.record.agent, &open.record.memory);
    let subscribers = Subscribers::new(open.record.id.clone(), now(), ending);
    let place = PathBuf::from(format!("session {}", open.record.id));
    let mut actor = Actor {
        open,
        core,
        published: None,
        is_partial: false,
        tail: None,
        process: None,
        painted_sender,
        is_painting: false,
        subscribers,
        timers: Timers::new(),
        pid: None,
        restricted,
        lock: None,
        ending: Vec::new(),
        place,
        saves: Saves::default(),
        streaming_due: None,
        lines: Lines::default(),
        refused: None,
        own_copies: None,
    };
    actor.recall_offer();
    actor.expire_undo().await;
    for message in actor.take_over(&mut inbox).await {
        actor.message(message).await;
        actor.settle().await;
    }
    actor.serve(inbox, painted).await;
}

struct Actor {
    open: Open,
    core: Core,
    /// The session as last published, without its open requests; `None` before the first time.
    published: Option<Session>,
    /// Only the end of the transcript has been read so far.
    is_partial: bool,
    /// The part of the agent's file that the transcript has.
    tail: Option<Tail>,
    process: Option<Process>,
    painted_sender: mpsc::UnboundedSender<Coloured>,
    /// A highlighting job is running.
    is_painting: bool,
    subscribers: Subscribers,
    timers: Timers,
    pid: Option<u32>,
    /// Whether the last agent was started without the folder's own settings.
    restricted: bool,
    /// Our lock on the conversation, while its process lives.
    lock: Option<Lock>,
    /// Callers that wait for the end of the session.
    ending: Vec<oneshot::Sender<()>>,
    /// The queue for disk operations of this session's record. No other session waits for it.
    place: PathBuf,
    saves: Saves,
    /// The time of the next save of streaming text.
    streaming_due: Option<u64>,
    /// Lines of the conversation that are not on disk yet.
    lines: Lines,
    /// The refusal of the command that is being executed.
    refused: Option<CommandError>,
    /// The copies for the undo of a rewind, if the session is not saved.
    own_copies: Option<tempfile::TempDir>,
}

impl Actor {
    async fn serve(
        &mut self,
        mut inbox: mpsc::Receiver<LocalMessage>,
        mut painted: mpsc::UnboundedReceiver<Coloured>,
    ) {
        loop {
            let deadline = self.timers.next();
            let streaming_due = self.streaming_due;
            tokio::select! {
                message = inbox.recv() => match message {
                    Some(message) => self.message(message).await,
                    // The last handle was dropped.
                    None => return self.outlive().await,
                },
                output = next_output(&mut self.process) => self.output(output).await,
                Some(coloured) = painted.recv() => {
                    self.is_painting = false;
                    self.core.colour(coloured);
                }
                () = sleep_until(deadline) => self.timers_due().await,
                () = sleep_until(streaming_due) => self.keep_streaming().await,
            }
            self.settle().await;
        }
    }

    /// Drives the shutdown of the process to its end, with no handle left to send messages.
    async fn outlive(&mut self) {
        self.core.abandon();
        self.follow_up().await;
        while self.core.is_alive() {
            let deadline = self.timers.next();
            tokio::select! {
                output = next_output(&mut self.process) => self.output(output).await,
                () = sleep_until(deadline) => self.timers_due().await,
            }
        }
        self.keep_lines().await;
    }

    async fn output(&mut self, output: Output) {
        match output {
            Output::Lines(lines) => {
                let now = now();
                for Heard { mut inbound, recorded } in lines {
                    #[cfg(test)]
                    crate::stages::passed(module_path!(), &inbound);
                    if let Some(line) = recorded {
                        self.open.recorder.keep_heard(now, line);
                    }
                    if let AgentEvent::StoredSessions(listed) = inbound {
                        // They are no part of this session.
                        self.keep_list(listed);
                        continue;
                    }
                    if matches!(inbound, AgentEvent::Stream(_)) && self.streaming_due.is_none() {
                        self.streaming_due = Some(now + STREAMING_MS);
                    }
                    self.read_replaced(&mut inbound).await;
                    self.find_sender(&mut inbound).await;
                    self.step_at(now, Input::Line(inbound)).await;
                }
            }
            Output::StdinBroken(problem) => self.step(Input::StdinBroken(problem)).await,
            Output::Exited(report) => {
                // Tools run in sessions of their own. Dropping the process kills those that are still running.
                drop(self.process.take());
                self.pid = None;
                self.lock = None;
                self.step(Input::Exited(report)).await;
            }
        }
    }

    async fn timers_due(&mut self) {
        let (now, due) = self.timers.due();
        for timer in due {
            if self.timers.take(timer) {
                self.step_at(now, Input::Timer(timer)).await;
            }
        }
    }

    async fn step(&mut self, input: Input) {
        self.step_at(now(), input).await;
    }

    async fn step_at(&mut self, now: u64, input: Input) {
        // Most inputs are streamed lines without consequences: nothing is allocated for them.
        let mut later = VecDeque::new();
        let mut next = Some(input);
        while let Some(input) = next {
            if !matches!(input, Input::Line(_)) {
                self.open.recorder.keep_input(now, &input);
            }
            log::input(&input);
            self.core.tick(self.timers.steady(now));
            self.core.step(now, input);
            while let Some(action) = self.core.next_action() {
                later.extend(self.carry_out(action).await);
            }
            next = later.pop_front();
        }
    }

    /// Runs the inputs that the end of the session calls for.
    async fn follow_up(&mut self) {
        while let Some(input) = self.core.follow_up() {
            self.step(input).await;
        }
    }

    async fn carry_out(&mut self, action: Action) -> Option<Input> {
        log::action(&action);
        match action {
            Action::Spawn(start) => return Some(self.spawn(&start).await),
            Action::Write(command) => {
                let taken = self.process.as_mut().is_some_and(|process| process.send(&command));
                if !taken {
                    return Some(Input::StdinBroken("its stdin is closed".to_owned()));
                }
            }
            Action::CloseStdin => self.process.iter_mut().for_each(Process::close_stdin),
            Action::Terminate => self.process.iter().for_each(Process::terminate),
            Action::Kill => self.process.iter().for_each(Process::kill),
            Action::Arm { timer, at } => self.timers.arm(timer, at),
            Action::Disarm(timer) => self.timers.disarm(timer),
            Action::Save(prompt) => return self.save(prompt).await,
            Action::Append(supplements) => self.append(supplements).await,
            Action::Keep(lines) => self.keep(lines).await,
            Action::Publish(change) => self.publish(change).await,
            Action::Rewind(work) => return self.rewind(work).await,
            Action::Refuse(error) => self.refused = Some(error),
        }
        None
    }

    /// Saves what the agent's own transcript does not contain.
    async fn append(&mut self, supplements: Vec<Supplement>) {
        self.streaming_due = None;
        let Some(store) = self.open.store.clone() else { return };
        let id = self.open.record.id.clone();
        let kept = disk::run(&self.place, disk::DEADLINE, move || store.append(&id, &supplements)).await;
        self.kept("could not save the end of a turn", kept);
    }

    /// Saves streaming text from time to time, so that it survives if the app is killed.
    async fn keep_streaming(&mut self) {
        self.streaming_due = None;
        self.keep_lines().await;
        let streaming = self.core.streaming(now());
        let Some(store) = self.open.store.clone().filter(|_| !streaming.is_empty()) else { return };
        let id = self.open.record.id.clone();
        let kept =
            disk::run(&self.place, disk::DEADLINE, move || store.keep_streaming(&id, &streaming)).await;
        self.kept("could not save streaming text", kept);
    }

    /// Logs a failed save. The conversation continues; only a line of the display after a restart is lost.
    fn kept(&self, problem: &str, kept: Result<Result<(), StoreError>, disk::Unfinished>) {
        match kept {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "{problem}"),
            Err(error) => tracing::warn!(%error, "{problem}"),
        }
    }

    async fn spawn(&mut self, start: &Start) -> Input {
        let failed = |error: CommandError| Input::SpawnFailed(error);
        let launch = match self.prepare(start).await {
            Ok((launch, lock)) => {
                if lock.is_some() {
                    self.lock = lock;
                }
                launch
            }
            Err(error) => return failed(error),
        };
        let (host, recorder) = (self.open.host.clone(), self.open.recorder.clone());
        if let Err(error) = node::check(&*host, &launch).await {
            return failed(error);
        }
        match Process::spawn(host, &launch, start, recorder).await {
            Ok(process) => {
                self.restricted = launch.restricted;
                // From now on its own lines are in the transcript, too.
                self.tail = None;
                self.pid = Some(process.pid());
                self.process = Some(process);
                Input::Spawned
            }
            Err(error) => failed(CommandError {
                code: ErrorCode::SpawnFailed,
                message: format!("The agent could not be started: {}", error.source),
                detail: Some(error.program.display().to_string()),
            }),
        }
    }

    /// Finds the program, checks the folder and locks the conversation before it is resumed. All of this reads files,
    /// so it runs on another thread and has a deadline.
    async fn prepare(&self, start: &Start) -> Result<(Launch, Option<Lock>), CommandError> {
        let (resume, options) = (start.resume.clone(), start.options.clone());
        let launcher = self.open.launcher.clone();
        let (config, locks) = (self.open.agent_config.clone(), self.open.locks.clone());
        let is_ours = resume.as_ref().is_some_and(|id| self.lock.as_ref().is_some_and(|lock| lock.is_of(id)));
        let prepared = disk::run(&self.open.record.project, disk::DEADLINE, move || {
            let mut launch = launcher()?;
            if !launch.project.is_dir() {
                return Err(CommandError {
                    code: ErrorCode::BadProject,
                    message: format!("The folder {} does not exist.", launch.project.display()),
                    detail: None,
                });
            }
            launch.check()?;
            options::apply(&mut launch, &options)?;
            let lock = match resume {
                Some(id) => own(&config, locks.filter(|_| !is_ours).as_deref(), &id)?,
                None => None,
            };
            Ok((launch, lock))
        });
        prepared.await?
    }

    /// Locks a conversation for this session. `Err`: another process has the lock.
    async fn lock_conversation(&mut self, id: &str) -> Result<(), ()> {
        let Some(folder) = self.open.locks.clone() else { return Ok(()) };
        if self.lock.as_ref().is_some_and(|lock| lock.is_of(id)) {
            return Ok(());
        }
        let id = id.to_owned();
        let taken = disk::run(&folder.clone(), disk::DEADLINE, move || mark(&folder, &id)).await;
        match taken {
            Ok(taken) => self.lock = taken?.or(self.lock.take()),
            Err(error) => tracing::warn!(%error, "could not lock the conversation"),
        }
        Ok(())
    }

    async fn save(&mut self, prompt: Option<PromptId>) -> Option<Input> {
        self.keep_lines().await;
        self.open.record.memory = self.core.memory();
        self.open.record.changed_at = self.core.changed_at();
        // A new conversation gets its id only once it runs. No other process can have it open at that point.
        if let Some(id) = self.open.record.memory.agent_session_id.clone().filter(|_| self.process.is_some())
            && self.lock_conversation(&id).await.is_err()
        {
            tracing::warn!("another process has locked a new conversation");
        }
        let saved = match self.open.store.clone() {
            Some(store) => {
                let record: Record = self.open.record.clone();
                let write = self.saves.next(move || store.save(&record));
                let saved = disk::run(&self.place, disk::DEADLINE, write).await;
                saved
                    .map_err(|error| error.to_string())
                    .and_then(|saved| saved.map_err(|error| error.to_string()))
            }
            None => Ok(()),
        };
        match (saved, prompt) {
            (Ok(()), Some(id)) => Some(Input::Saved(id)),
            (Ok(()), None) => None,
            (Err(problem), Some(id)) => Some(Input::SaveFailed(id, problem)),
            (Err(problem), None) => {
                let error = CommandError {
                    code: ErrorCode::Internal,
                    message: "The session could not be saved to disk.".to_owned(),
                    detail: Some(problem),
                };
                self.emit(Event::CommandFailed { error }).await;
                None
            }
        }
    }

    /// Completes the work that remains after an event: what the end of the session calls for, publishing, highlighting.
    async fn settle(&mut self) {
        self.follow_up().await;
        self.flush().await;
        self.paint();
        self.keep_offer();
        if self.core.take_ended() {
            self.keep_lines().await;
            // A caller that has gone away needs no reply.
            self.end_recording().await;
            self.ending.drain(..).for_each(|reply| reply.send(()).unwrap_or_default());
        }
    }

    /// Starts the next highlighting job on the painter thread. Code stays plain until it is done.
    fn paint(&mut self) {
        if !self.is_painting
            && let Some(job) = self.core.uncoloured()
        {
            self.is_painting = painter::begin(job, self.painted_sender.clone());
        }
    }

    async fn flush(&mut self) {
        self.flush_items().await;
        if self.core.take_changed() {
            let session = self.session();
            let change = match &self.published {
                Some(before) => SessionChange::between(before, &session),
                None => SessionChange::whole(&self.whole_session()),
            };
            let change = change.of(session.agent_session_id.clone(), self.core.has_requests());
            self.published = Some(session);
            self.emit(Event::SessionChanged { session: Box::new(change) }).await;
        }
    }

    async fn flush_items(&mut self) {
        for change in self.core.drain_changes() {
            self.publish(change).await;
        }
    }

    async fn emit(&mut self, event: Event) {
        self.publish(TranscriptChange::Event(event)).await;
    }

    async fn publish(&mut self, change: TranscriptChange) {
        self.subscribers.tell(now(), change, self.core.transcript()).await;
    }
}

/// Checks that no other process has this conversation open, and locks it before it is resumed. Takes no lock without a
/// lock folder (`locks` is also `None` if we hold the lock already).
fn own(config: &Path, locks: Option<&Path>, id: &str) -> Result<Option<Lock>, CommandError> {
    let elsewhere = |message: String| CommandError {
        code: ErrorCode::OpenElsewhere,
        message,
        detail: Some(
            "If two processes use one conversation, the work of one of them is lost. Close it there first."
                .to_owned(),
        ),
    };
    if let Some(owner) = owner::lasting_owner(config, id, owner::ENDS_WITHIN) {
        let (pid, cwd) = (owner.pid, owner.cwd.display());
        return Err(elsewhere(format!("The conversation is open elsewhere: process {pid} in {cwd}.")));
    }
    let Some(folder) = locks else { return Ok(None) };
    mark(folder, id)
        .map_err(|()| elsewhere("The conversation is open in another running Deskbell.".to_owned()))
}

/// Locks a conversation for this session. `Err`: another process has the lock. `Ok(None)`: it cannot be locked.
fn mark(folder: &Path, id: &str) -> Result<Option<Lock>, ()> {
    match Lock::take(folder, id) {
        Ok(None) => Err(()),
        Ok(lock) => Ok(lock),
        // A lock that cannot be created protects nothing and is no reason to refuse to work.
        Err(error) => {
            tracing::warn!(%error, "could not lock the conversation");
            Ok(None)
        }
    }
}

/// The next output of the process; without a process there is none.
async fn next_output(process: &mut Option<Process>) -> Output {
    match process {
        Some(process) => process.next_output().await,
        None => std::future::pending().await,
    }
}

/// Sleeps until `at`, in milliseconds since the epoch; forever if it is `None`.
async fn sleep_until(at: Option<u64>) {
    match at {
        Some(at) => {
            tokio::time::sleep_until(Instant::now() + Duration::from_millis(at.saturating_sub(now()))).await
        }
        None => std::future::pending().await,
    }
}

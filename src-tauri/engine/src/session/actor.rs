//! The task that owns a session: it carries out the machine's effects, and decides nothing itself.

mod message;
mod opening;

use super::listeners::Listeners;
use super::log;
use super::machine::{Effect, Input, Machine, Timer};
use super::{Message, Open};
use crate::api::*;
use crate::launch::Start;
use crate::owner::{self, Lock};
use crate::process::{Output, Process};
use crate::store::Record;
use crate::transcript::{News, Transcript};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// Batches of lines that may wait for the session; behind them the agent is held by its own pipe.
const BACKLOG: usize = 4;

/// Milliseconds since the epoch.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

pub async fn run(open: Open, mut inbox: mpsc::Receiver<Message>, ending: watch::Receiver<bool>) {
    let transcript = Transcript::new(&open.record.project);
    let (output_sender, output) = mpsc::channel(BACKLOG);
    // Until one was started: as it would be if nobody decided otherwise.
    let restricted = open.record.agent != AgentKind::Demo;
    let machine = Machine::new(open.record.memory.clone(), open.limits.clone());
    open.recorder.keep_opened(now(), &open.record.project, &open.record.memory);
    let listeners = Listeners::new(open.record.id.clone(), now(), ending);
    let mut actor = Actor {
        open,
        machine,
        transcript,
        is_partial: false,
        process: None,
        output_sender,
        listeners,
        timers: BTreeMap::new(),
        pid: None,
        restricted,
        lock: None,
        finish: Vec::new(),
        close: Vec::new(),
        activity: String::new(),
        refused: None,
    };
    for message in actor.take_over(&mut inbox).await {
        actor.message(message).await;
        actor.settle().await;
    }
    actor.serve(inbox, output).await;
}

struct Actor {
    open: Open,
    machine: Machine,
    transcript: Transcript,
    /// Only the end of it was read so far.
    is_partial: bool,
    process: Option<Process>,
    output_sender: mpsc::Sender<Output>,
    listeners: Listeners,
    timers: BTreeMap<Timer, u64>,
    pid: Option<u32>,
    /// Was the last agent started without the folder's own settings?
    restricted: bool,
    /// Our mark on the conversation, while its process lives.
    lock: Option<Lock>,
    finish: Vec<oneshot::Sender<()>>,
    close: Vec<oneshot::Sender<()>>,
    /// What the agent did when the facts were told last.
    activity: String,
    /// The refusal of the command that is being carried out.
    refused: Option<CommandError>,
}

impl Actor {
    async fn serve(&mut self, mut inbox: mpsc::Receiver<Message>, mut output: mpsc::Receiver<Output>) {
        loop {
            let deadline = self.timers.values().min().copied();
            tokio::select! {
                message = inbox.recv() => match message {
                    Some(message) => self.message(message).await,
                    // The last handle is gone: what runs is ended, then so is this.
                    None if self.machine.is_alive() => {
                        self.step(Input::Command(Command::Stop)).await;
                        self.outlive(&mut output).await;
                        return;
                    }
                    None => return,
                },
                Some(output) = output.recv() => self.output(output).await,
                () = sleep_until(deadline) => self.timers_due().await,
            }
            self.settle().await;
        }
    }

    /// Walks the ladder to its end with nobody left to ask for anything.
    async fn outlive(&mut self, output: &mut mpsc::Receiver<Output>) {
        while self.machine.is_alive() {
            let deadline = self.timers.values().min().copied();
            tokio::select! {
                Some(output) = output.recv() => self.output(output).await,
                () = sleep_until(deadline) => self.timers_due().await,
            }
        }
    }

    async fn output(&mut self, output: Output) {
        match output {
            Output::Lines(lines) => {
                let now = now();
                for mut inbound in lines {
                    self.transcript.line(now, &mut inbound);
                    if self.machine.hears(&inbound) {
                        self.step_at(now, Input::Line(inbound)).await;
                    }
                }
            }
            Output::StdinBroken(problem) => self.step(Input::StdinBroken(problem)).await,
            Output::Exited(report) => {
                // Its tools have sessions of their own: whatever of them outlived it goes with it.
                drop(self.process.take());
                self.pid = None;
                self.lock = None;
                self.step(Input::Exited(report)).await;
            }
        }
    }

    async fn timers_due(&mut self) {
        let now = now();
        let due: Vec<Timer> =
            self.timers.iter().filter(|(_, at)| **at <= now).map(|(timer, _)| *timer).collect();
        for timer in due {
            if self.timers.remove(&timer).is_some() {
                self.step_at(now, Input::Timer(timer)).await;
            }
        }
    }

    async fn step(&mut self, input: Input) {
        self.step_at(now(), input).await;
    }

    async fn step_at(&mut self, now: u64, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            self.open.recorder.keep_input(now, &input);
            log::input(&self.open.record.id, &input);
            for effect in self.machine.step(now, input) {
                if let Some(input) = self.carry_out(now, effect).await {
                    inputs.push_back(input);
                }
            }
        }
    }

    async fn carry_out(&mut self, now: u64, effect: Effect) -> Option<Input> {
        log::effect(&self.open.record.id, &effect);
        match effect {
            Effect::Spawn(start) => return Some(self.spawn(&start).await),
            Effect::Write(line) => {
                let taken = self.process.as_ref().is_some_and(|process| process.write(line));
                if !taken {
                    return Some(Input::StdinBroken("its stdin is closed".to_owned()));
                }
            }
            Effect::CloseStdin => self.process.iter_mut().for_each(Process::close_stdin),
            Effect::Terminate => self.process.iter().for_each(Process::terminate),
            Effect::Kill => self.process.iter().for_each(Process::kill),
            Effect::Arm { timer, at } => {
                self.timers.insert(timer, at);
            }
            Effect::Disarm(timer) => {
                self.timers.remove(&timer);
            }
            Effect::Save(prompt) => return self.save(now, prompt).await,
            Effect::Emit(event) => {
                self.flush_items().await;
                self.emit(event).await;
            }
            Effect::Note(note) => self.transcript.note(now, note),
            Effect::Refuse(error) => self.refused = Some(error),
        }
        None
    }

    async fn spawn(&mut self, start: &Start) -> Input {
        let failed = |error: CommandError| Input::SpawnFailed(error);
        let launch = match (self.open.launcher)() {
            Ok(launch) => launch,
            Err(error) => return failed(error),
        };
        if !launch.project.is_dir() {
            return failed(CommandError {
                code: ErrorCode::BadProject,
                message: format!("The folder {} is not there.", launch.project.display()),
                detail: None,
            });
        }
        if let Err(error) = self.own(start.resume.as_deref()) {
            return failed(error);
        }
        match Process::spawn(&launch, start, self.output_sender.clone(), self.open.recorder.clone()).await {
            Ok(process) => {
                self.restricted = launch.restricted;
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

    /// Makes sure that this conversation is nobody else's before it is resumed.
    fn own(&mut self, agent_session_id: Option<&str>) -> Result<(), CommandError> {
        let Some(id) = agent_session_id else { return Ok(()) };
        let elsewhere = |message: String| CommandError {
            code: ErrorCode::OpenElsewhere,
            message,
            detail: Some(
                "Two processes on one conversation lose what one of them does. Close it there first."
                    .to_owned(),
            ),
        };
        if let Some(owner) = owner::live_processes(&self.open.agent_config, id).first() {
            let (pid, cwd) = (owner.pid, owner.cwd.display());
            return Err(elsewhere(format!("The conversation is open elsewhere: process {pid} in {cwd}.")));
        }
        self.lock_conversation(id)
            .map_err(|()| elsewhere("The conversation is open in another Deskbell.".to_owned()))
    }

    /// Marks a conversation as ours. The error: another has it.
    fn lock_conversation(&mut self, id: &str) -> Result<(), ()> {
        let Some(folder) = &self.open.locks else { return Ok(()) };
        if self.lock.as_ref().is_some_and(|lock| lock.is_of(id)) {
            return Ok(());
        }
        match Lock::take(folder, id) {
            Ok(Some(lock)) => self.lock = Some(lock),
            Ok(None) => return Err(()),
            // A lock that cannot be had protects nobody, and is no reason not to work.
            Err(error) => tracing::warn!(%error, "the conversation could not be marked as open"),
        }
        Ok(())
    }

    async fn save(&mut self, now: u64, prompt: Option<PromptId>) -> Option<Input> {
        self.open.record.memory = self.machine.memory();
        self.open.record.changed_at = now;
        // A new conversation is known by its id only once it runs; nobody else can have it then.
        if let Some(id) = self.open.record.memory.agent_session_id.clone().filter(|_| self.process.is_some())
            && self.lock_conversation(&id).is_err()
        {
            tracing::warn!("a new conversation is marked as open elsewhere");
        }
        let saved = match self.open.store.clone() {
            Some(store) => {
                let record: Record = self.open.record.clone();
                let write = tokio::task::spawn_blocking(move || store.save(&record)).await;
                write
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
                    message: "The session could not be kept on disk.".to_owned(),
                    detail: Some(problem),
                };
                self.emit(Event::CommandFailed { error }).await;
                None
            }
        }
    }

    /// What is left to do once an input has been dealt with.
    async fn settle(&mut self) {
        if !self.finish.is_empty() {
            if self.machine.has_requests() {
                let open: Vec<RequestId> =
                    self.session().requests.into_iter().map(|request| request.id).collect();
                for request_id in open {
                    let message = "Nobody is there to answer.".to_owned();
                    let decision = Decision::Deny { message, interrupt: false };
                    self.step(Input::Command(Command::Decide { request_id, shown: None, decision })).await;
                }
            }
            if self.machine.is_idle() {
                self.step(Input::Command(Command::Stop)).await;
                self.close.append(&mut self.finish);
            }
        }
        self.flush().await;
        if !self.machine.is_alive() {
            // Whoever asked and is gone does not need to know.
            self.close.drain(..).for_each(|reply| reply.send(()).unwrap_or_default());
        }
    }

    async fn flush(&mut self) {
        self.flush_items().await;
        let activity = self.transcript.activity();
        let is_news = activity != self.activity && !self.machine.is_idle();
        if self.machine.take_changed() || is_news {
            self.activity = activity;
            let session = Box::new(self.session());
            self.emit(Event::SessionChanged { session }).await;
        }
    }

    async fn flush_items(&mut self) {
        for news in self.transcript.take_news() {
            self.listeners.tell(now(), news, &self.transcript).await;
        }
    }

    async fn emit(&mut self, event: Event) {
        self.listeners.tell(now(), News::Event(event), &self.transcript).await;
    }
}

/// Until a moment of the wall clock; for ever if there is none.
async fn sleep_until(at: Option<u64>) {
    match at {
        Some(at) => {
            tokio::time::sleep_until(Instant::now() + Duration::from_millis(at.saturating_sub(now()))).await
        }
        None => std::future::pending().await,
    }
}

//! The life of a session as a pure state machine: inputs with the time in them, effects out.
//!
//! No clock, no I/O, no chance in here, so that whole lives can be run in a test. The actor carries out the effects,
//! in their order, and nothing more.

mod switches;

use self::switches::Switches;
use super::outcome;
use crate::api::*;
use crate::launch::{MODES, Start, knows_no_restrictions};
use crate::permission::{self, Closed, OpenRequests, Refusal};
use crate::wire::{self, ControlRequest, Inbound, TurnResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;

/// How long things may take, in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until the answer to `initialize`; 0.4 s were measured, slow MCP servers take longer.
    pub initialize_ms: u64,
    /// Until an interrupt is taken for ignored; 20 to 150 ms were measured.
    pub interrupt_ms: u64,
    /// From end of input to SIGTERM; an idle CLI ends in 0.03 to 0.12 s.
    pub end_of_input_ms: u64,
    /// From SIGTERM to SIGKILL; 1.2 to 1.6 s were measured.
    pub terminate_ms: u64,
    /// Idle until hibernation; 0 is never.
    pub hibernate_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            initialize_ms: 60_000,
            interrupt_ms: 10_000,
            end_of_input_ms: 1_000,
            terminate_ms: 2_500,
            hibernate_ms: 30 * 60_000,
        }
    }
}

/// Crashes that end the restarts, and the span they are counted in.
const CRASHES: usize = 3;
const CRASH_SPAN_MS: u64 = 5 * 60_000;

/// An accepted prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    pub id: PromptId,
    pub text: String,
    #[serde(default)]
    pub images: Vec<Image>,
    /// Goes only when the user says so.
    #[serde(default)]
    pub held: bool,
}

/// What of a machine outlives the app: written to disk before anything that depends on it is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    pub agent_session_id: Option<String>,
    /// Only a finished turn proves that the agent can find the session again (2.1.329).
    pub resumable: bool,
    /// In order; the prompt in flight is the first.
    pub prompts: Vec<Prompt>,
    pub model: Option<String>,
    pub mode: Option<String>,
    pub title: Option<String>,
    pub effort: Option<String>,
    pub thinking_off: bool,
    pub cost_usd: f64,
}

#[derive(Clone, Debug)]
pub enum Input {
    /// Bring the process up, though nothing has to be sent yet.
    Start,
    /// A prompt, with the id it shall have.
    Prompt(Prompt),
    Command(Command),
    /// The record with this prompt in it is on disk.
    Saved(PromptId),
    SaveFailed(PromptId, String),
    Spawned,
    SpawnFailed(CommandError),
    Line(Inbound),
    StdinBroken(String),
    Exited(ExitReport),
    Timer(Timer),
}

/// Named timers: arming one again replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Timer {
    Initialize,
    Interrupt,
    Stop,
    Restart,
    Hibernate,
}

// An effect lives for one step; a box would cost more than its size.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Spawn(Start),
    Write(String),
    CloseStdin,
    Terminate,
    Kill,
    Arm {
        timer: Timer,
        at: u64,
    },
    Disarm(Timer),
    /// Write the record; if a prompt is named, answer with `Saved` or `SaveFailed`.
    Save(Option<PromptId>),
    Emit(Event),
    /// For the transcript.
    Note(Note),
    /// The command that was given cannot be carried out.
    Refuse(CommandError),
}

/// What the transcript learns beside the agent's own lines.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    PromptAccepted(Prompt),
    PromptEdited {
        id: PromptId,
        text: String,
    },
    PromptState {
        id: PromptId,
        state: PromptState,
    },
    Asked {
        tool_use_id: Option<String>,
    },
    Answered {
        tool_use_id: Option<String>,
        allowed: bool,
    },
    Notice {
        level: Level,
        text: String,
        detail: Option<String>,
    },
    TurnEnded(TurnEnd),
    /// Whatever was being written or run is cut off.
    ProcessEnded,
}

/// What is told of `/clear`.
pub const CLEARED: &str = "The conversation was cleared: the agent does not know what is above";

#[derive(Clone, Debug, PartialEq)]
enum Process {
    Absent,
    Starting,
    Ready,
    Stopping { rung: Rung, then: Then },
    BackingOff { attempt: u32, at: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rung {
    EndOfInput,
    Terminate,
    Kill,
}

/// What follows when a process that we end has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// The user stopped it: nothing starts it but the user.
    Stay,
    Hibernate,
    /// It did not do as it was told; the next prompt needs a new one.
    Restart,
    /// It ended of itself, or stopped listening and was ended.
    Crash,
}

#[derive(Clone, Debug, PartialEq)]
enum Turn {
    None,
    Running { prompt: Option<Prompt>, since: u64, interrupting: bool },
}

/// What was asked of the agent and not answered yet.
#[derive(Clone, Debug, PartialEq)]
enum Asked {
    Initialize,
    Interrupt,
    Mode(String),
    Model(String),
    Effort { wish: Option<String>, before: Option<String> },
    Thinking { on: bool },
    Settings,
}

/// How the last turn, or the process, came out.
#[derive(Clone, Debug, PartialEq)]
enum Verdict {
    None,
    Completed,
    Failed(String),
    Stopped,
}

pub struct Machine {
    limits: Limits,
    process: Process,
    turn: Turn,
    verdict: Verdict,
    /// Given, not yet on disk: not accepted.
    saving: VecDeque<Prompt>,
    queue: VecDeque<Prompt>,
    requests: OpenRequests,
    /// In the order in which it was asked.
    asked: Vec<(String, Asked)>,
    n_asked: u64,
    crashes: Vec<u64>,
    agent_session_id: Option<String>,
    resumable: bool,
    /// What this process was started with.
    started: Start,
    /// No turn began in this process: with it nothing would be lost.
    fresh: bool,
    /// Why the process that is starting will end, if it said so.
    start_error: Option<String>,
    title: Option<String>,
    version: Option<String>,
    model: Option<String>,
    wanted_model: Option<String>,
    mode: Option<String>,
    wanted_mode: Option<String>,
    switches: Switches,
    models: Vec<Model>,
    commands: Vec<SlashCommand>,
    usage: Usage,
    /// The agent said that it took up the prompt in flight.
    has_begun: bool,
    /// The interrupt came before that, and is to be given again.
    interrupt_again: bool,
    /// The class of failure that the last reply of this turn reported.
    reply_error: Option<String>,
    n_background_tasks: usize,
    changed: bool,
}

impl Machine {
    /// A session as it was left. Nothing of it goes anywhere until the user says so.
    pub fn new(memory: Memory, limits: Limits) -> Self {
        let queue = memory.prompts.into_iter().map(|prompt| Prompt { held: true, ..prompt }).collect();
        Self {
            limits,
            process: Process::Absent,
            turn: Turn::None,
            verdict: Verdict::None,
            saving: VecDeque::new(),
            queue,
            requests: OpenRequests::default(),
            asked: Vec::new(),
            n_asked: 0,
            crashes: Vec::new(),
            agent_session_id: memory.agent_session_id,
            resumable: memory.resumable,
            started: Start::default(),
            fresh: true,
            start_error: None,
            title: memory.title,
            version: None,
            model: None,
            wanted_model: memory.model,
            mode: None,
            wanted_mode: memory.mode,
            switches: Switches::new(memory.effort, memory.thinking_off),
            models: Vec::new(),
            commands: Vec::new(),
            usage: Usage { cost_usd: memory.cost_usd, ..Usage::default() },
            has_begun: false,
            interrupt_again: false,
            reply_error: None,
            n_background_tasks: 0,
            changed: true,
        }
    }

    /// What has to be on disk now.
    pub fn memory(&self) -> Memory {
        let in_flight = match &self.turn {
            Turn::Running { prompt, .. } => prompt.clone(),
            Turn::None => None,
        };
        let prompts =
            in_flight.into_iter().chain(self.queue.iter().cloned()).chain(self.saving.iter().cloned());
        Memory {
            agent_session_id: self.agent_session_id.clone(),
            resumable: self.resumable,
            prompts: prompts.collect(),
            model: self.wanted_model.clone(),
            mode: self.wanted_mode.clone(),
            effort: self.switches.wanted_effort.clone(),
            thinking_off: self.switches.thinking_off,
            title: self.title.clone().or_else(|| title_of(&self.saving.front()?.text)),
            cost_usd: self.usage.cost_usd,
        }
    }

    /// Did the session's facts change since this was asked last?
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The prompts that wait since an earlier life, as they are to be shown.
    pub fn prompts(&self) -> impl Iterator<Item = &Prompt> {
        self.queue.iter()
    }

    /// Nothing runs, nothing waits to run.
    pub fn is_idle(&self) -> bool {
        matches!(self.turn, Turn::None)
            && self.saving.is_empty()
            && self.queue.iter().all(|prompt| prompt.held)
            && !matches!(self.process, Process::Starting | Process::BackingOff { .. })
    }

    pub fn is_alive(&self) -> bool {
        matches!(self.process, Process::Starting | Process::Ready | Process::Stopping { .. })
    }

    pub fn has_requests(&self) -> bool {
        !self.requests.is_empty()
    }

    /// What is asked and waits for an answer.
    pub fn requests(&self) -> &OpenRequests {
        &self.requests
    }

    /// Fills in what the machine knows of a session.
    pub fn describe(&self, session: &mut Session, activity: &str) {
        session.agent_session_id = self.agent_session_id.clone();
        if let Some(title) = &self.title {
            session.title = title.clone();
        }
        session.alive = self.is_alive();
        session.agent_version = self.version.clone();
        session.model = self.model.clone().or_else(|| self.wanted_model.clone());
        session.mode = self.shown_mode().unwrap_or("default").to_owned();
        session.effort = self.shown_effort();
        session.thinking = self.shown_thinking();
        session.models = self.models.clone();
        session.commands = self.commands.clone();
        session.queue = self
            .queue
            .iter()
            .map(|prompt| QueuedPrompt {
                id: prompt.id.clone(),
                text: prompt.text.clone(),
                n_images: prompt.images.len() as u32,
                held: prompt.held,
            })
            .collect();
        session.requests = self.requests.iter().cloned().collect();
        session.usage = self.usage.clone();
        session.turn_started_at = match &self.turn {
            Turn::Running { since, .. } => Some(*since),
            Turn::None => None,
        };
        session.status = self.status(activity);
    }

    /// The mode that it says it works in, but for a wish that it has yet to answer.
    fn shown_mode(&self) -> Option<&str> {
        let is_told = self.process == Process::Ready && self.asked_mode().is_none();
        let told = self.mode.as_deref().filter(|_| is_told);
        told.or(self.wanted_mode.as_deref()).or(self.mode.as_deref())
    }

    /// The last mode that was asked for and not answered.
    fn asked_mode(&self) -> Option<&str> {
        self.asked.iter().rev().find_map(|(_, asked)| match asked {
            Asked::Mode(mode) => Some(mode.as_str()),
            _ => None,
        })
    }

    fn status(&self, activity: &str) -> Status {
        if let Some(request) = self.requests.iter().next() {
            return Status::NeedsInput { what: permission::wants(request) };
        }
        match (&self.process, &self.turn) {
            (Process::Stopping { then: Then::Hibernate, .. }, _) => self.rest(),
            (Process::Stopping { .. }, _) => Status::Stopping,
            (Process::BackingOff { attempt, at }, _) => Status::Restarting { attempt: *attempt, at: *at },
            (_, Turn::Running { interrupting: true, .. }) => Status::Interrupting,
            (_, Turn::Running { .. }) => Status::Working { activity: activity.to_owned() },
            (Process::Starting, Turn::None) => Status::Starting,
            (Process::Absent | Process::Ready, Turn::None) => self.rest(),
        }
    }

    fn rest(&self) -> Status {
        match &self.verdict {
            Verdict::None => Status::Idle,
            Verdict::Completed => Status::Completed,
            Verdict::Failed(message) => Status::Failed { message: message.clone() },
            Verdict::Stopped => Status::Stopped,
        }
    }

    /// Takes one input at a time `now`, milliseconds since the epoch, and says what is to be done.
    pub fn step(&mut self, now: u64, input: Input) -> Vec<Effect> {
        let mut step = Step { machine: self, now, effects: Vec::new() };
        step.input(input);
        step.effects
    }
}

/// One step under way.
struct Step<'a> {
    machine: &'a mut Machine,
    now: u64,
    effects: Vec<Effect>,
}

impl Step<'_> {
    fn input(&mut self, input: Input) {
        match input {
            Input::Start => self.start(),
            Input::Prompt(prompt) => self.prompt(prompt),
            Input::Command(command) => self.command(command),
            Input::Saved(id) => self.saved(&id),
            Input::SaveFailed(id, problem) => self.save_failed(&id, &problem),
            Input::Spawned => {
                self.ask(Asked::Initialize, wire::initialize());
                let at = self.now + self.machine.limits.initialize_ms;
                self.push(Effect::Arm { timer: Timer::Initialize, at });
            }
            Input::SpawnFailed(error) => self.spawn_failed(error),
            Input::Line(inbound) => self.line(inbound),
            Input::StdinBroken(problem) => self.stdin_broken(&problem),
            Input::Exited(report) => self.exited(report),
            Input::Timer(timer) => self.timer(timer),
        }
    }

    fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    fn emit(&mut self, event: Event) {
        self.push(Effect::Emit(event));
    }

    fn note(&mut self, note: Note) {
        self.push(Effect::Note(note));
    }

    fn notice(&mut self, level: Level, text: impl Into<String>, detail: Option<String>) {
        let detail = detail.filter(|detail| !detail.is_empty());
        self.note(Note::Notice { level, text: text.into(), detail });
    }

    fn prompt_state(&mut self, id: &PromptId, state: PromptState) {
        self.note(Note::PromptState { id: id.clone(), state });
    }

    fn changed(&mut self) {
        self.machine.changed = true;
    }

    fn refuse(&mut self, code: ErrorCode, message: impl Into<String>) {
        self.push(Effect::Refuse(CommandError { code, message: message.into(), detail: None }));
    }

    fn ask(&mut self, asked: Asked, request: Value) {
        self.machine.n_asked += 1;
        let id = format!("deskbell-{}", self.machine.n_asked);
        self.push(Effect::Write(wire::control_request(&id, request)));
        self.machine.asked.push((id, asked));
    }

    // --- the queue -------------------------------------------------------------------------------------------

    fn prompt(&mut self, prompt: Prompt) {
        if prompt.text.trim().is_empty() && prompt.images.is_empty() {
            return self.refuse(ErrorCode::BadCommand, "The prompt is empty.");
        }
        let id = prompt.id.clone();
        self.machine.saving.push_back(prompt);
        self.push(Effect::Save(Some(id)));
    }

    fn saved(&mut self, id: &PromptId) {
        let Some(at) = self.machine.saving.iter().position(|prompt| prompt.id == *id) else { return };
        let Some(prompt) = self.machine.saving.remove(at) else { return };
        if self.machine.title.is_none() {
            self.machine.title = title_of(&prompt.text);
        }
        self.note(Note::PromptAccepted(prompt.clone()));
        self.machine.queue.push_back(prompt);
        self.changed();
        self.advance();
    }

    fn save_failed(&mut self, id: &PromptId, problem: &str) {
        self.machine.saving.retain(|prompt| prompt.id != *id);
        self.push(Effect::Refuse(CommandError {
            code: ErrorCode::Internal,
            message: "The prompt could not be kept safe on disk, so it was not accepted.".to_owned(),
            detail: Some(problem.to_owned()),
        }));
    }

    /// Sends the next prompt if its turn has come; brings the process up if there is something to send.
    fn advance(&mut self) {
        if self.machine.turn != Turn::None {
            return;
        }
        let Some(at) = self.machine.queue.iter().position(|prompt| !prompt.held) else {
            return self.arm_hibernation();
        };
        match self.machine.process {
            Process::Absent => self.spawn(),
            Process::Ready => {
                let Some(prompt) = self.machine.queue.remove(at) else { return };
                self.push(Effect::Write(wire::user(prompt.id.as_str(), &prompt.text, &prompt.images)));
                self.prompt_state(&prompt.id, PromptState::Sent);
                self.begin(Some(prompt));
                self.push(Effect::Save(None));
            }
            // Their ends lead back here.
            Process::Starting | Process::Stopping { .. } | Process::BackingOff { .. } => {}
        }
    }

    fn begin(&mut self, prompt: Option<Prompt>) {
        self.push(Effect::Disarm(Timer::Hibernate));
        let prompt_ids = prompt.iter().map(|prompt| prompt.id.clone()).collect();
        self.emit(Event::TurnStarted { prompt_ids });
        self.machine.turn = Turn::Running { prompt, since: self.now, interrupting: false };
        self.machine.has_begun = false;
        self.machine.interrupt_again = false;
        self.machine.reply_error = None;
        self.changed();
    }

    fn arm_hibernation(&mut self) {
        let limit = self.machine.limits.hibernate_ms;
        if limit > 0 && self.machine.process == Process::Ready {
            self.push(Effect::Arm { timer: Timer::Hibernate, at: self.now + limit });
        }
    }

    fn hold_queue(&mut self) {
        let waiting: Vec<PromptId> = self
            .machine
            .queue
            .iter_mut()
            .filter(|prompt| !prompt.held)
            .map(|prompt| {
                prompt.held = true;
                prompt.id.clone()
            })
            .collect();
        for id in waiting {
            self.prompt_state(&id, PromptState::Held);
        }
    }

    // --- commands --------------------------------------------------------------------------------------------

    fn command(&mut self, command: Command) {
        match command {
            // The caller gives the id; see `Input::Prompt`.
            Command::Prompt { .. } => self.refuse(ErrorCode::Internal, "The prompt has no id."),
            Command::Decide { request_id, shown, decision } => {
                self.decide(&request_id, shown.as_deref(), decision);
            }
            Command::Interrupt => self.interrupt(),
            Command::Withdraw { prompt_id } => self.withdraw(&prompt_id),
            Command::EditQueued { prompt_id, text } => self.edit(&prompt_id, text),
            Command::Resend { prompt_id } => self.resend(&prompt_id),
            Command::SetMode { mode } => self.set_mode(mode),
            Command::SetModel { model } => self.set_model(model),
            Command::SetEffort { effort } => self.set_effort(effort),
            Command::SetThinking { on } => self.set_thinking(on),
            Command::Rename { title } => {
                let title = title.trim();
                if title.is_empty() {
                    return self.refuse(ErrorCode::BadCommand, "The title is empty.");
                }
                self.machine.title = Some(title.to_owned());
                self.push(Effect::Save(None));
                self.changed();
            }
            Command::Stop => self.stop(),
        }
    }

    fn interrupt(&mut self) {
        // Without a turn there is nothing to end: it may have ended a moment ago, which is no error.
        if let Turn::Running { interrupting, .. } = &mut self.machine.turn
            && !*interrupting
            && self.machine.process == Process::Ready
        {
            *interrupting = true;
            self.ask_interrupt();
            let at = self.now + self.machine.limits.interrupt_ms;
            self.push(Effect::Arm { timer: Timer::Interrupt, at });
            self.changed();
        } else if self.machine.turn == Turn::None && self.machine.process != Process::Ready {
            self.hold_next();
        }
    }

    /// Whoever stops what has not begun means the prompt that would begin it.
    fn hold_next(&mut self) {
        let Some(prompt) = self.machine.queue.iter_mut().find(|prompt| !prompt.held) else { return };
        prompt.held = true;
        let id = prompt.id.clone();
        self.prompt_state(&id, PromptState::Held);
        self.push(Effect::Save(None));
        self.changed();
    }

    fn ask_interrupt(&mut self) {
        if self.listens() {
            self.ask(Asked::Interrupt, wire::interrupt());
        }
    }

    fn queued(&mut self, id: &PromptId) -> Option<usize> {
        let at = self.machine.queue.iter().position(|prompt| prompt.id == *id);
        if at.is_none() {
            self.refuse(ErrorCode::NoSuchPrompt, "The prompt is not in the queue any more.");
        }
        at
    }

    fn withdraw(&mut self, id: &PromptId) {
        let Some(at) = self.queued(id) else { return };
        self.machine.queue.remove(at);
        self.prompt_state(id, PromptState::Withdrawn);
        self.push(Effect::Save(None));
        self.changed();
    }

    fn edit(&mut self, id: &PromptId, text: String) {
        let Some(at) = self.queued(id) else { return };
        if text.trim().is_empty() && self.machine.queue[at].images.is_empty() {
            return self.refuse(ErrorCode::BadCommand, "The prompt is empty. Withdraw it instead.");
        }
        self.machine.queue[at].text.clone_from(&text);
        self.note(Note::PromptEdited { id: id.clone(), text });
        self.push(Effect::Save(None));
        self.changed();
    }

    fn resend(&mut self, id: &PromptId) {
        let Some(at) = self.queued(id) else { return };
        self.machine.queue[at].held = false;
        self.prompt_state(id, PromptState::Queued);
        self.push(Effect::Save(None));
        self.changed();
        self.advance();
    }

    fn set_mode(&mut self, mode: String) {
        // 2.1.197 takes any string and then works in a mode that does not exist.
        if !MODES.contains(&mode.as_str()) {
            let known = MODES.join(", ");
            return self
                .refuse(ErrorCode::BadCommand, format!("There is no mode “{mode}”; there are {known}."));
        }
        if self.machine.process == Process::Ready {
            self.ask(Asked::Mode(mode.clone()), wire::set_permission_mode(&mode));
        }
        self.want_mode(Some(mode));
        self.changed();
    }

    fn set_model(&mut self, model: String) {
        if model.trim().is_empty() {
            return self.refuse(ErrorCode::BadCommand, "The model has no name.");
        }
        if self.machine.process == Process::Ready {
            self.ask(Asked::Model(model.clone()), wire::set_model(&model));
        } else {
            self.machine.model = None;
            self.machine.wanted_model = Some(model);
            self.push(Effect::Save(None));
        }
        self.changed();
    }

    // --- permission ------------------------------------------------------------------------------------------

    fn decide(&mut self, id: &RequestId, shown: Option<&str>, decision: Decision) {
        match self.machine.requests.decide(id, shown, decision) {
            Ok(closed) => self.resolved([closed]),
            Err(refusal) => {
                let code = match refusal {
                    Refusal::NotOpen => ErrorCode::NoSuchRequest,
                    Refusal::Unfit(_) => ErrorCode::BadCommand,
                };
                self.refuse(code, refusal.to_string());
            }
        }
    }

    fn resolved(&mut self, closed: impl IntoIterator<Item = Closed>) {
        for Closed { request_id, tool_use_id, line, resolution } in closed {
            if let Some(line) = line {
                self.push(Effect::Write(line));
            }
            let allowed = matches!(resolution, Resolution::Allowed { .. } | Resolution::Answered);
            self.note(Note::Answered { tool_use_id, allowed });
            self.emit(Event::PermissionResolved { request_id, resolution });
            self.changed();
        }
    }

    fn control_request(&mut self, id: String, request: ControlRequest) {
        if !self.listens() {
            // The end of its input is a denial to it.
            return;
        }
        match request {
            ControlRequest::CanUseTool(request) => {
                let tool_use_id = request.tool_use_id.clone();
                let now = self.now;
                let asked = self.machine.requests.ask(RequestId::new(id), *request, now);
                if let Some(request) = asked.cloned().map(Box::new) {
                    self.note(Note::Asked { tool_use_id });
                    self.emit(Event::PermissionRequested { request });
                    self.changed();
                }
            }
            ControlRequest::MalformedCanUseTool { error } => {
                self.notice(
                    Level::Warning,
                    "The agent asked for permission in a way that could not be read, and was denied.",
                    Some(error),
                );
                self.push(Effect::Write(wire::deny(&id, "The permission request could not be read.", false)));
            }
            ControlRequest::Unknown { subtype } => {
                self.push(Effect::Write(wire::refuse(&id, &format!("unsupported request: {subtype}"))));
            }
        }
    }

    /// Denies what is open: whoever could have answered is gone.
    fn deny_all(&mut self, message: &str) {
        let closed = self.machine.requests.deny_all(message);
        self.resolved(closed);
    }

    /// Nobody's answer counts any more.
    fn withdraw_all(&mut self, reason: &str) {
        let closed = self.machine.requests.withdraw_all(reason);
        self.resolved(closed);
    }

    // --- the process -----------------------------------------------------------------------------------------

    fn start(&mut self) {
        if self.machine.process == Process::Absent {
            self.spawn();
        }
    }

    fn spawn(&mut self) {
        let start = Start {
            resume: self.machine.agent_session_id.clone().filter(|_| self.machine.resumable),
            model: self.machine.wanted_model.clone(),
            mode: self.machine.wanted_mode.clone(),
        };
        self.machine.mode.clone_from(&start.mode);
        self.machine.started = start.clone();
        self.machine.fresh = true;
        self.machine.start_error = None;
        self.machine.process = Process::Starting;
        self.machine.verdict = Verdict::None;
        self.push(Effect::Spawn(start));
        self.changed();
    }

    fn spawn_failed(&mut self, error: CommandError) {
        self.machine.process = Process::Absent;
        self.machine.verdict = Verdict::Failed(error.message.clone());
        self.notice(Level::Error, error.message.clone(), error.detail.clone());
        self.emit(Event::CommandFailed { error });
        self.hold_queue();
        self.push(Effect::Save(None));
        self.changed();
    }

    fn stop(&mut self) {
        self.deny_all("The session was stopped before anybody answered.");
        self.hold_queue();
        match self.machine.process {
            Process::Starting | Process::Ready => self.descend(Then::Stay),
            Process::Stopping { rung, .. } => {
                self.machine.process = Process::Stopping { rung, then: Then::Stay }
            }
            Process::BackingOff { .. } | Process::Absent => {
                self.push(Effect::Disarm(Timer::Restart));
                self.machine.process = Process::Absent;
                self.machine.verdict = Verdict::Stopped;
            }
        }
        self.push(Effect::Save(None));
        self.changed();
    }

    /// Begins the ladder.
    fn descend(&mut self, then: Then) {
        self.withdraw_all("The agent is being ended.");
        self.push(Effect::Disarm(Timer::Initialize));
        self.push(Effect::Disarm(Timer::Interrupt));
        self.push(Effect::Disarm(Timer::Hibernate));
        self.push(Effect::CloseStdin);
        // End of input ends an idle agent; a busy one would work on to the end of its turn.
        let busy = self.machine.turn != Turn::None || self.machine.process != Process::Ready;
        let (rung, limit) = if busy {
            self.push(Effect::Terminate);
            (Rung::Terminate, self.machine.limits.terminate_ms)
        } else {
            (Rung::EndOfInput, self.machine.limits.end_of_input_ms)
        };
        self.push(Effect::Arm { timer: Timer::Stop, at: self.now + limit });
        self.machine.process = Process::Stopping { rung, then };
        self.changed();
    }

    /// Can anything be written to it?
    fn listens(&self) -> bool {
        matches!(self.machine.process, Process::Starting | Process::Ready)
    }

    fn stdin_broken(&mut self, problem: &str) {
        if self.listens() {
            // Its exit usually follows at once; one that lives on deaf is of no use.
            self.notice(Level::Warning, "The agent stopped listening.", Some(problem.to_owned()));
            self.descend(Then::Crash);
        }
    }

    fn exited(&mut self, mut report: ExitReport) {
        for timer in [Timer::Initialize, Timer::Interrupt, Timer::Stop, Timer::Hibernate] {
            self.push(Effect::Disarm(timer));
        }
        for (_, asked) in std::mem::take(&mut self.machine.asked) {
            if let Asked::Model(model) = asked {
                // It did not come to answer: the next one is started with it.
                self.machine.model = None;
                self.machine.wanted_model = Some(model);
            }
        }
        self.machine.n_background_tasks = 0;
        self.withdraw_all("The agent's process ended.");
        let then = match std::mem::replace(&mut self.machine.process, Process::Absent) {
            Process::Stopping { then, .. } => then,
            _ => Then::Crash,
        };
        let cannot_resume = self.machine.started.resume.is_some() && self.machine.agent_session_id.is_none();
        report.expected = then != Then::Crash || cannot_resume;
        self.note(Note::ProcessEnded);
        self.emit(Event::AgentExited { report: report.clone() });
        self.changed();

        let words = match then {
            Then::Stay => "Stopped".to_owned(),
            Then::Restart => "The agent did not react, and was ended".to_owned(),
            Then::Hibernate | Then::Crash => self.exit_words(&report),
        };
        self.cut_off(then, &words);
        match then {
            Then::Stay => self.machine.verdict = Verdict::Stopped,
            Then::Restart => self.machine.verdict = Verdict::Failed(words),
            Then::Hibernate => {}
            Then::Crash if cannot_resume => self.start(),
            Then::Crash if knows_no_restrictions(&report.stderr) => self.spawn_failed(CommandError {
                code: ErrorCode::SpawnFailed,
                message:
                    "This version of the agent cannot work without the folder's own settings. Update it, or \
                          trust the folder."
                        .to_owned(),
                detail: Some(report.stderr.clone()),
            }),
            Then::Crash => self.crashed(&report, words),
        }
        // What was asked for while it was being ended.
        self.advance();
        self.push(Effect::Save(None));
    }

    /// Ends the turn that the process took with it. Its prompt is offered again, never sent again by itself.
    fn cut_off(&mut self, then: Then, words: &str) {
        let Turn::Running { prompt, since, interrupting } =
            std::mem::replace(&mut self.machine.turn, Turn::None)
        else {
            return;
        };
        let outcome = match then {
            Then::Stay => Outcome::Interrupted,
            Then::Restart if interrupting => Outcome::Interrupted,
            _ => Outcome::Crashed,
        };
        let prompt_ids = prompt.iter().map(|prompt| prompt.id.clone()).collect();
        if let Some(prompt) = prompt {
            if outcome == Outcome::Interrupted && then == Then::Restart {
                // The user ended this turn; only the agent took a harder push to do so.
                self.prompt_state(&prompt.id, PromptState::Done);
            } else {
                self.prompt_state(&prompt.id, PromptState::Held);
                self.machine.queue.push_front(Prompt { held: true, ..prompt });
            }
        }
        let turn = TurnEnd {
            outcome,
            words: words.to_owned(),
            prompt_ids,
            duration_ms: self.now.saturating_sub(since),
            output_tokens: 0,
            cost_usd: 0.0,
        };
        self.turn_ended(turn);
    }

    fn crashed(&mut self, report: &ExitReport, words: String) {
        let detail = Some(report.stderr.clone()).filter(|stderr| !stderr.is_empty());
        self.notice(Level::Error, words.clone(), detail);
        self.machine.verdict = Verdict::Failed(words.clone());
        self.machine.crashes.retain(|at| at + CRASH_SPAN_MS > self.now);
        self.machine.crashes.push(self.now);
        let n_crashes = self.machine.crashes.len();
        if self.machine.queue.iter().all(|prompt| prompt.held) {
            // Nothing waits for it: the next prompt brings it up again.
        } else if n_crashes >= CRASHES {
            self.hold_queue();
            self.machine.verdict = Verdict::Failed(format!("{words}. It was tried {n_crashes} times."));
            self.machine.crashes.clear();
        } else {
            let attempt = n_crashes as u32;
            let at = self.now + (1000 << (attempt - 1));
            self.machine.process = Process::BackingOff { attempt, at };
            self.push(Effect::Arm { timer: Timer::Restart, at });
        }
    }

    fn exit_words(&self, report: &ExitReport) -> String {
        let how = match (report.code, report.signal) {
            (_, Some(signal)) => format!("was ended by signal {signal}"),
            (Some(code), None) => format!("ended with exit code {code}"),
            (None, None) => "ended".to_owned(),
        };
        let why = self.machine.start_error.clone().or_else(|| {
            let last = report.stderr.lines().rev().find(|line| !line.trim().is_empty());
            last.map(|line| line.trim().chars().take(300).collect())
        });
        match why {
            Some(why) => format!("The agent {how}: {why}"),
            None => format!("The agent {how}"),
        }
    }

    fn timer(&mut self, timer: Timer) {
        match (timer, &self.machine.process) {
            (Timer::Initialize, Process::Starting) => {
                let seconds = self.machine.limits.initialize_ms / 1000;
                self.notice(Level::Error, format!("The agent did not answer within {seconds} s."), None);
                self.hold_queue();
                self.descend(Then::Restart);
            }
            (Timer::Interrupt, Process::Ready) => {
                if matches!(self.machine.turn, Turn::Running { interrupting: true, .. }) {
                    self.notice(Level::Warning, "The agent ignored the interrupt and is being ended.", None);
                    self.descend(Then::Restart);
                }
            }
            (Timer::Stop, Process::Stopping { rung, then }) => {
                let then = *then;
                let (effect, rung, limit) = match rung {
                    Rung::EndOfInput => {
                        (Effect::Terminate, Rung::Terminate, Some(self.machine.limits.terminate_ms))
                    }
                    Rung::Terminate => (Effect::Kill, Rung::Kill, None),
                    Rung::Kill => return,
                };
                self.push(effect);
                self.machine.process = Process::Stopping { rung, then };
                if let Some(limit) = limit {
                    self.push(Effect::Arm { timer: Timer::Stop, at: self.now + limit });
                }
            }
            (Timer::Restart, Process::BackingOff { .. }) => {
                self.machine.process = Process::Absent;
                self.changed();
                self.advance();
            }
            (Timer::Hibernate, Process::Ready) => {
                let quiet = self.machine.turn == Turn::None
                    && self.machine.requests.is_empty()
                    && self.machine.n_background_tasks == 0
                    && (self.machine.resumable || self.machine.fresh);
                if quiet {
                    self.descend(Then::Hibernate);
                } else {
                    self.arm_hibernation();
                }
            }
            // A timer that was overtaken by what it waited for.
            _ => {}
        }
    }

    // --- the agent's lines -----------------------------------------------------------------------------------

    fn line(&mut self, inbound: Inbound) {
        match inbound {
            Inbound::Init(init) => self.init(*init),
            Inbound::Result(result) => self.result(&result),
            Inbound::ControlRequest { request_id, request } => self.control_request(request_id, request),
            Inbound::ControlResponse { request_id, outcome } => self.control_response(&request_id, outcome),
            Inbound::ControlCancel { request_id } => {
                let id = RequestId::new(request_id);
                let closed = self.machine.requests.withdraw(&id, "The agent took the request back.");
                self.resolved(closed);
            }
            Inbound::SessionState { state } if state == "idle" => self.end_unasked(),
            Inbound::Status { permission_mode: Some(mode), .. } => self.works_in_mode(mode),
            Inbound::Assistant(assistant) if assistant.parent_tool_use_id.is_none() => {
                if assistant.error.is_some() {
                    self.machine.reply_error = assistant.error;
                }
                if let Some(usage) = assistant.message.usage
                    && usage.context_tokens() > 0
                {
                    self.machine.usage.context_tokens = usage.context_tokens();
                    self.changed();
                }
            }
            Inbound::BackgroundTasks { n } => self.machine.n_background_tasks = n,
            Inbound::Title { title } if !title.trim().is_empty() => {
                self.machine.title = Some(title);
                self.push(Effect::Save(None));
                self.changed();
            }
            // The transcript shows these; they change nothing in the session's life.
            _ => {}
        }
    }

    fn init(&mut self, init: wire::Init) {
        if self.machine.agent_session_id.as_deref() != Some(init.session_id.as_str())
            && !init.session_id.is_empty()
        {
            if self.machine.agent_session_id.is_some() && !self.machine.fresh {
                // 2.1.197 does not say that it cleared the conversation. Of 2.1.329 this is a repetition, which the
                // transcript leaves out.
                self.notice(Level::Info, CLEARED, None);
            }
            self.machine.agent_session_id = Some(init.session_id);
            self.machine.resumable = false;
            self.push(Effect::Save(None));
        }
        self.machine.fresh = false;
        self.machine.model = init.model.or(self.machine.model.take());
        if let Some(mode) = init.permission_mode {
            if self.machine.wanted_mode.is_some() {
                self.works_in_mode(mode);
            } else {
                self.machine.mode = Some(mode);
            }
        }
        self.machine.version = init.claude_code_version.or(self.machine.version.take());
        self.machine.commands.retain(|command| !init.terminal_slash_commands.contains(&command.name));
        self.changed();
        self.begin_unasked();
        self.turn_begun();
    }

    /// A turn that nobody asked for: a background task woke the agent.
    fn begin_unasked(&mut self) {
        if self.machine.turn == Turn::None && self.machine.process == Process::Ready {
            self.begin(None);
        }
    }

    /// The agent says that nothing runs: what began unasked came to nothing, and has no result.
    fn end_unasked(&mut self) {
        let Turn::Running { prompt: None, since, .. } = self.machine.turn else { return };
        self.machine.turn = Turn::None;
        self.push(Effect::Disarm(Timer::Interrupt));
        self.turn_ended(TurnEnd {
            outcome: Outcome::Done,
            words: "Done".to_owned(),
            prompt_ids: Vec::new(),
            duration_ms: self.now.saturating_sub(since),
            output_tokens: 0,
            cost_usd: 0.0,
        });
        self.advance();
    }

    fn turn_ended(&mut self, turn: TurnEnd) {
        self.note(Note::TurnEnded(turn.clone()));
        self.emit(Event::TurnEnded { turn });
        self.changed();
    }

    /// What the agent says of its mode holds from now on, but for a wish that it has yet to answer.
    fn works_in_mode(&mut self, mode: String) {
        let wanted = self.machine.asked_mode().unwrap_or(&mode).to_owned();
        self.machine.mode = Some(mode);
        // It may be in a mode of its own that cannot be asked for.
        if MODES.contains(&wanted.as_str()) {
            self.want_mode(Some(wanted));
        }
        self.changed();
    }

    fn want_mode(&mut self, mode: Option<String>) {
        if self.machine.wanted_mode != mode {
            self.machine.wanted_mode = mode;
            self.push(Effect::Save(None));
        }
    }

    fn control_response(&mut self, id: &str, outcome: Result<Value, String>) {
        let Some(at) = self.machine.asked.iter().position(|(known, _)| known == id) else { return };
        let (_, asked) = self.machine.asked.remove(at);
        match (asked, outcome) {
            (Asked::Initialize, Ok(response)) => self.ready(&response),
            // It answered, so it is ready; what it offers stays unknown.
            (Asked::Initialize, Err(_)) => self.ready(&Value::Null),
            (Asked::Interrupt, Ok(response)) => self.interrupt_answered(&response),
            // The timer decides.
            (Asked::Interrupt, Err(_)) => {}
            (Asked::Mode(mode), Ok(_)) => self.works_in_mode(mode),
            (Asked::Mode(_), Err(problem)) => {
                let wanted =
                    self.machine.asked_mode().map(str::to_owned).or_else(|| self.machine.mode.clone());
                self.want_mode(wanted.filter(|mode| MODES.contains(&mode.as_str())));
                self.refused("The agent refused the mode.", problem);
            }
            (Asked::Model(model), Ok(response)) => {
                let resolved = response.get("model").and_then(Value::as_str).unwrap_or(&model).to_owned();
                self.machine.model = Some(resolved);
                self.machine.wanted_model = Some(model);
                self.push(Effect::Save(None));
                self.ask_effort();
                self.changed();
            }
            (Asked::Effort { wish, before }, outcome) => self.effort_answered(&wish, before, outcome),
            (Asked::Thinking { on }, outcome) => self.thinking_answered(on, outcome),
            (Asked::Settings, outcome) => self.settings_told(outcome),
            (Asked::Model(_), Err(problem)) => self.refused("The agent refused the model.", problem),
        }
    }

    /// An interrupt right behind a prompt can find it still in the agent's own queue, and then ends nothing (2.1.329): it
    /// is given again once the turn has begun.
    fn interrupt_answered(&mut self, response: &Value) {
        let Turn::Running { prompt: Some(prompt), interrupting: true, .. } = &self.machine.turn else {
            return;
        };
        let queued = response.get("still_queued").and_then(Value::as_array);
        let missed = queued.is_some_and(|uuids| uuids.iter().any(|uuid| uuid == prompt.id.as_str()));
        if missed && self.machine.has_begun {
            self.ask_interrupt();
        } else {
            self.machine.interrupt_again = missed;
        }
    }

    /// The agent took up the prompt.
    fn turn_begun(&mut self) {
        self.machine.has_begun = true;
        if std::mem::take(&mut self.machine.interrupt_again) {
            self.ask_interrupt();
        }
    }

    fn refused(&mut self, message: &str, problem: String) {
        self.notice(Level::Warning, message, Some(problem.clone()));
        let error =
            CommandError { code: ErrorCode::Refused, message: message.to_owned(), detail: Some(problem) };
        self.emit(Event::CommandFailed { error });
        self.changed();
    }

    fn ready(&mut self, response: &Value) {
        if self.machine.process != Process::Starting {
            return;
        }
        self.push(Effect::Disarm(Timer::Initialize));
        self.machine.process = Process::Ready;
        self.machine.models = read_models(response);
        self.machine.commands = read_commands(response);
        let string = |key: &str| response.get(key).and_then(Value::as_str).map(str::to_owned);
        self.machine.version = string("claude_code_version").or(self.machine.version.take());
        self.machine.mode = string("current_permission_mode").or(self.machine.mode.take());
        self.changed();
        // What was chosen while it was coming up.
        if let Some(mode) = self.machine.wanted_mode.clone()
            && self.machine.mode.as_ref() != Some(&mode)
        {
            self.ask(Asked::Mode(mode.clone()), wire::set_permission_mode(&mode));
        }
        if let Some(model) = self.machine.wanted_model.clone()
            && self.machine.started.model.as_ref() != Some(&model)
        {
            self.ask(Asked::Model(model.clone()), wire::set_model(&model));
        }
        self.switch_at_start();
        self.advance();
    }

    fn result(&mut self, result: &TurnResult) {
        let Turn::Running { prompt, since, interrupting } = self.machine.turn.clone() else {
            return self.result_without_turn(result);
        };
        // A turn that nobody asked for may end while our prompt waits its turn in the agent.
        if let Some(prompt) = &prompt
            && !outcome::answers(result, prompt.id.as_str())
        {
            if interrupting && outcome::of(result, true, None) == Outcome::Interrupted {
                // The other turn took the interrupt that was meant for ours.
                self.ask_interrupt();
            }
            return;
        }
        let outcome = outcome::of(result, interrupting, self.machine.reply_error.take().as_deref());
        let failed = !matches!(outcome, Outcome::Done | Outcome::Interrupted);
        let words = outcome::words(&outcome, result);
        let cost_usd = (result.total_cost_usd - self.machine.usage.cost_usd).max(0.0);
        let output_tokens = result.usage.as_ref().map_or(0, |usage| usage.output_tokens);
        self.machine.usage.cost_usd = self.machine.usage.cost_usd.max(result.total_cost_usd);
        self.machine.usage.output_tokens += output_tokens;
        self.machine.usage.context_window = result.context_window().or(self.machine.usage.context_window);
        if let Some(id) = result.session_id.clone().filter(|id| !id.is_empty()) {
            self.machine.agent_session_id = Some(id);
            self.machine.resumable = true;
        }
        let turn = TurnEnd {
            outcome,
            words: words.clone(),
            prompt_ids: prompt.iter().map(|prompt| prompt.id.clone()).collect(),
            duration_ms: self.now.saturating_sub(since),
            output_tokens,
            cost_usd,
        };
        if let Some(prompt) = &prompt {
            self.prompt_state(&prompt.id, if failed { PromptState::Failed } else { PromptState::Done });
        }
        self.machine.turn = Turn::None;
        self.machine.verdict = if failed { Verdict::Failed(words) } else { Verdict::Completed };
        self.turn_ended(turn);
        self.push(Effect::Disarm(Timer::Interrupt));
        self.push(Effect::Save(None));
        self.advance();
    }

    /// Before any turn: the agent says why it cannot begin, and ends.
    fn result_without_turn(&mut self, result: &TurnResult) {
        let Some(words) = result.words().filter(|_| result.is_error) else { return };
        if self.machine.process == Process::Ready {
            return;
        }
        if self.machine.started.resume.is_some() && words.contains("No conversation found") {
            self.machine.agent_session_id = None;
            self.machine.resumable = false;
            self.push(Effect::Save(None));
            self.notice(
                Level::Warning,
                "The agent does not know this conversation any more; it starts afresh and does not know what is above.",
                Some(words),
            );
        } else {
            self.machine.start_error = Some(words);
        }
    }
}

/// A title from a first prompt: its first line, not too long.
fn title_of(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().take(60).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    Some(title)
}

fn read_models(response: &Value) -> Vec<Model> {
    let string = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let flag = |value: &Value, key: &str| value.get(key).and_then(Value::as_bool).unwrap_or(false);
    let levels = |model: &Value| {
        let levels = model.get("supportedEffortLevels").and_then(Value::as_array);
        levels.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let models = response.get("models").and_then(Value::as_array);
    models
        .into_iter()
        .flatten()
        .map(|model| Model {
            name: string(model, "value"),
            label: string(model, "displayName"),
            description: string(model, "description"),
            resolved: model.get("resolvedModel").and_then(Value::as_str).map(str::to_owned),
            effort_levels: levels(model),
            can_stop_thinking: flag(model, "supportsThinkingOff"),
            can_decide: flag(model, "supportsAutoMode"),
        })
        .filter(|model| !model.name.is_empty())
        .collect()
}

fn read_commands(response: &Value) -> Vec<SlashCommand> {
    let string = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let commands = response.get("commands").and_then(Value::as_array);
    commands
        .into_iter()
        .flatten()
        .map(|command| SlashCommand {
            name: string(command, "name"),
            description: string(command, "description"),
            argument_hint: string(command, "argumentHint"),
        })
        .filter(|command| !command.name.is_empty())
        .collect()
}

#[cfg(test)]
mod tests;

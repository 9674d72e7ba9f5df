//! The life of a session as a pure state machine: inputs with the time in them, effects out.
//!
//! No clock, no I/O, no chance in here, so that whole lives can be run in a test. The actor carries out the effects,
//! in their order, and nothing more.

mod agent;
mod bypass;
mod describe;
mod process;
mod queue;
mod requests;
mod switches;
mod timing;
mod turn;
mod watch;

use self::bypass::Bypass;
use self::switches::Switches;
use self::watch::Watch;
pub use super::prompt::Prompt;
use crate::api::*;
use crate::launch::Start;
use crate::permission::OpenRequests;
use crate::wire::{self, Inbound};
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

/// What of a machine outlives the app: written to disk before anything that depends on it is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    pub agent_session_id: Option<String>,
    /// Only a finished turn proves that the agent can find the session again (2.1.329).
    pub resumable: bool,
    /// In order; those in flight are the first.
    pub prompts: Vec<Prompt>,
    pub model: Option<String>,
    pub mode: Option<String>,
    pub title: Option<String>,
    pub effort: Option<String>,
    pub thinking_off: bool,
    /// It ran without asking, which its next process does not.
    pub bypassed: bool,
    pub cost_usd: f64,
}

/// What can happen to a session. All but the agent's own lines is kept as it is when the session is recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Input {
    /// Bring the process up, though nothing has to be sent yet.
    Start,
    /// Bring a process up in a mode that asks nothing, as a person chose for it.
    StartWithoutAsking,
    /// A prompt, with the id it shall have.
    Prompt(Prompt),
    Command(Command),
    /// The record with this prompt in it is on disk.
    Saved(PromptId),
    SaveFailed(PromptId, String),
    Spawned,
    SpawnFailed(CommandError),
    #[serde(skip)]
    Line(Inbound),
    StdinBroken(String),
    Exited(ExitReport),
    Timer(Timer),
}

/// Named timers: arming one again replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
    /// A request is no longer open; denied is one that somebody or nobody answered so, not one that was taken back.
    Answered {
        tool_use_id: Option<String>,
        denied: bool,
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

/// A turn that runs.
#[derive(Clone, Debug, Default, PartialEq)]
struct Turn {
    /// What it answers; empty if nobody asked for it.
    prompts: Vec<Prompt>,
    /// Written into it, and not taken up yet: they join it at its next step, or are the next turn.
    joining: Vec<Prompt>,
    since: u64,
    interrupting: bool,
    /// The agent said that it took up the prompts.
    has_begun: bool,
    /// The interrupt came before that, and is to be given again.
    interrupt_again: bool,
    /// The class of failure that the last reply reported.
    reply_error: Option<String>,
    timing: TurnTiming,
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
    Rules,
    SettingsForRules,
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
    turn: Option<Turn>,
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
    spawned_at: u64,
    /// How long it took to be ready, until the first turn tells.
    spawn_ms: Option<u64>,
    title: Option<String>,
    version: Option<String>,
    model: Option<String>,
    wanted_model: Option<String>,
    mode: Option<String>,
    wanted_mode: Option<String>,
    switches: Switches,
    bypass: Bypass,
    watch: Watch,
    models: Vec<Model>,
    commands: Vec<SlashCommand>,
    usage: Usage,
    /// It tells which prompts it took up, and when.
    tells_prompts: bool,
    n_background_tasks: usize,
    changed: bool,
}

impl Machine {
    /// A session as it was left. Nothing of it goes anywhere until the user says so.
    pub fn new(mut memory: Memory, limits: Limits) -> Self {
        memory.prompts.iter_mut().for_each(Prompt::hold);
        let queue = memory.prompts.into();
        Self {
            limits,
            process: Process::Absent,
            turn: None,
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
            spawned_at: 0,
            spawn_ms: None,
            title: memory.title,
            version: None,
            model: None,
            wanted_model: memory.model,
            mode: None,
            wanted_mode: memory.mode,
            switches: Switches::new(memory.effort, memory.thinking_off),
            bypass: if memory.bypassed { Bypass::Over } else { Bypass::No },
            watch: Watch::default(),
            models: Vec::new(),
            commands: Vec::new(),
            usage: Usage { cost_usd: memory.cost_usd, ..Usage::default() },
            tells_prompts: false,
            n_background_tasks: 0,
            changed: true,
        }
    }

    /// What has to be on disk now.
    pub fn memory(&self) -> Memory {
        let in_flight = self.turn.iter().flat_map(|turn| turn.prompts.iter().chain(&turn.joining));
        let prompts = in_flight.chain(&self.queue).chain(&self.saving).cloned();
        Memory {
            agent_session_id: self.agent_session_id.clone(),
            resumable: self.resumable,
            prompts: prompts.collect(),
            model: self.wanted_model.clone(),
            mode: self.wanted_mode.clone(),
            effort: self.switches.wanted_effort.clone(),
            thinking_off: self.switches.thinking_off,
            bypassed: self.bypass != Bypass::No,
            title: self.title.clone().or_else(|| queue::title_of(&self.saving.front()?.text)),
            cost_usd: self.usage.cost_usd,
        }
    }

    /// Did the session's facts change since this was asked last?
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The agent has a prompt in its transcript that waits since an earlier life: its turn was cut off.
    pub fn found_cut_off(&mut self, id: &PromptId) {
        self.queue.iter_mut().filter(|prompt| prompt.id == *id).for_each(|prompt| prompt.cut_off = true);
    }

    /// The prompts that wait since an earlier life, as they are to be shown.
    pub fn prompts(&self) -> impl Iterator<Item = &Prompt> {
        self.queue.iter()
    }

    /// Nothing runs, nothing waits to run.
    pub fn is_idle(&self) -> bool {
        self.turn.is_none()
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

    /// Takes one input at a time `now`, milliseconds since the epoch, and says what is to be done.
    pub fn step(&mut self, now: u64, input: Input) -> Vec<Effect> {
        let mut step = Step { machine: self, now, effects: Vec::new(), saves: false };
        step.input(input);
        if step.saves {
            // Once for all that changed, and behind what goes to the agent: a disk takes its time.
            step.push(Effect::Save(None));
        }
        step.effects
    }
}

/// One step under way.
struct Step<'a> {
    machine: &'a mut Machine,
    now: u64,
    effects: Vec<Effect>,
    /// What is on disk is not what it should be.
    saves: bool,
}

impl Step<'_> {
    fn input(&mut self, input: Input) {
        match input {
            Input::Start => self.start(),
            Input::StartWithoutAsking => self.start_without_asking(),
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

    /// The record is written when the step is done.
    fn save(&mut self) {
        self.saves = true;
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
            Command::Deliver { prompt_id, delivery } => self.deliver(&prompt_id, delivery),
            Command::Move { prompt_id, before } => self.move_prompt(&prompt_id, before.as_ref()),
            Command::SetMode { mode } => self.set_mode(mode),
            Command::SetModel { model } => self.set_model(model),
            Command::SetEffort { effort } => self.set_effort(effort),
            Command::SetThinking { on } => self.set_thinking(on),
            Command::ListRules => self.list_rules(),
            Command::Rename { title } => {
                let title = title.trim();
                if title.is_empty() {
                    return self.refuse(ErrorCode::BadCommand, "The title is empty.");
                }
                self.machine.title = Some(title.to_owned());
                self.save();
                self.changed();
            }
            Command::Stop => self.stop(),
        }
    }
}

#[cfg(test)]
mod tests;

//! The life of a session as a pure state machine: inputs with their times in, effects out.
//!
//! It has no clock, no I/O and no randomness, so a test can run whole lives. The actor carries out the effects in their
//! order, and does nothing else.
//!
//! Its data belongs to `parts`. The other modules route: they pass an input to the parts that it concerns, and turn what
//! these return into effects.

mod agent;
mod audit;
mod background;
mod bypass;
mod configuration;
mod confirm;
mod context;
mod describe;
mod lacks;
mod messages;
mod naming;
mod options;
mod parts;
mod past;
mod process;
mod queue;
mod requests;
mod rewind;
mod side;
mod switches;
mod timing;
mod turn;

use self::parts::audit::Audit;
use self::parts::background::RunningTasks;
use self::parts::budget::Spent;
#[cfg(test)]
pub(in crate::session) use self::parts::budget::{AT_ONCE, MORE_EACH_MS};
use self::parts::capabilities::Capabilities;
use self::parts::configuration::{ConfigurationChange, ConfigurationReports};
use self::parts::context::Context;
use self::parts::control::{ControlRequests, PendingRequest};
use self::parts::conversation::OwnConversation;
use self::parts::last_result::LastResult;
use self::parts::limits::Limits;
use self::parts::messages::Messages;
use self::parts::mode::WantedMode;
use self::parts::naming::Naming;
use self::parts::options::WantedOptions;
use self::parts::process::{AfterCrash, AfterExit, OwnProcess, ProcessState, Stop};
use self::parts::queue::PromptQueue;
use self::parts::requests::KeptRequests;
use self::parts::rewind::Rewind;
use self::parts::schedules::Schedules;
use self::parts::side::{SideQuestions, UnsentQuestion};
use self::parts::spending::Spending;
use self::parts::turn::RunningTurn;
use crate::agent::{AgentCommand, AgentEvent, HostRequest};
use crate::api::*;
use crate::launch::Start;
use crate::permission::OpenRequests;
use crate::prompt::Prompt;
use crate::rewind::{Done, Job, Work};
use crate::store::Offer;
pub(crate) use crate::store::SavedSession;
use crate::title::Title;
use crate::transcript::{CLEARED, RequestEnd, TranscriptEvent};
use deskbell_acp::ChosenAgent;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Time limits, in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the answer to `initialize`. 0.4 s were measured; slow MCP servers take longer.
    pub initialize_ms: u64,
    /// For an interrupt to take effect. After it the agent is stopped. 20 to 150 ms were measured.
    pub interrupt_ms: u64,
    /// From end of input to SIGTERM. An idle CLI exits within 0.03 to 0.12 s.
    pub end_of_input_ms: u64,
    /// From SIGTERM to SIGKILL. 1.2 to 1.6 s were measured.
    pub terminate_ms: u64,
    /// For the confirmation of a change of mode, model, effort or thinking. 10 to 40 ms were measured. 2.1.329 tests a
    /// new model with an API call.
    pub switch_ms: u64,
    /// For the agent's answer with its cost counter. 1 to 40 ms were measured.
    pub cost_ms: u64,
    /// For the breakdown of the context window. 5 to 27 ms were measured; 2.1.329 may count tokens with API calls.
    pub context_ms: u64,
    /// For the answer to a side question, with all repeated calls of the model. 2.1.332 itself waits so long for one that
    /// another machine asks.
    pub side_ms: u64,
    /// Idle time until hibernation; 0 means never.
    pub hibernate_ms: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            initialize_ms: 60_000,
            interrupt_ms: 10_000,
            end_of_input_ms: 1_000,
            terminate_ms: 2_500,
            switch_ms: 20_000,
            cost_ms: 2_000,
            context_ms: 15_000,
            side_ms: 660_000,
            hibernate_ms: 30 * 60_000,
        }
    }
}

/// An input of the core. The recorder saves all of them as they are, except the agent's own lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Input {
    /// Start the process, even if nothing has to be sent yet.
    Start,
    /// Start a process that skips all permission requests, as the user chose for it.
    StartWithoutAsking,
    /// A new prompt, with its id.
    Prompt(Prompt),
    Command(Command),
    /// The user wants a title for this text, the beginning of the conversation.
    GenerateTitle(String),
    /// A rewind or its preview, with the prompt that the transcript has.
    Rewind(Job),
    /// A step of a rewind on the disk is done.
    RewindWorked(Done),
    /// The record that contains this prompt is on disk.
    Saved(PromptId),
    SaveFailed(PromptId, String),
    Spawned,
    SpawnFailed(CommandError),
    #[serde(skip)]
    Line(AgentEvent),
    StdinBroken(String),
    Exited(ExitReport),
    Timer(Timer),
    /// The plan of an open request as its file has it now.
    PlanRead(RequestId, String),
    /// The user changed the idle time until hibernation, in milliseconds; 0 means never.
    HibernateAfter(u64),
    /// Deskbell has no copy of the earlier messages, and cannot read the agent's.
    LacksPast,
}

/// Named timers. Arming a timer again replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Timer {
    Initialize,
    Interrupt,
    /// The deadline for the confirmation of a change.
    Switch,
    /// The deadline for the breakdown of the context window.
    Context,
    /// The deadline for the reports of what is configured.
    Configuration,
    /// The deadline for a change of a server or of the plugins.
    ConfigurationChange,
    /// The deadline for the answer to the oldest side question that waits.
    Side,
    /// The deadline for an answer to a rewind.
    Rewind,
    Stop,
    Restart,
    Hibernate,
    /// A look at the prompts that wait for the reset of a limit.
    Reset,
}

// An effect lives for one step; a box would cost more than its size.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Spawn(Start),
    Write(AgentCommand),
    CloseStdin,
    Terminate,
    Kill,
    Arm {
        timer: Timer,
        at: u64,
    },
    Disarm(Timer),
    /// Write the record. If a prompt is named, reply with `Saved` or `SaveFailed`.
    Save(Option<PromptId>),
    Emit(Event),
    TranscriptEvent(TranscriptEvent),
    /// A step of a rewind on the disk. Its result is an input.
    Rewind(Work),
    /// Refuse the current command.
    Refuse(CommandError),
}

pub struct Machine {
    timeouts: Timeouts,
    /// The agent, if it speaks ACP.
    acp: Option<ChosenAgent>,
    profile: Option<String>,
    config_folder: Option<PathBuf>,
    process: OwnProcess,
    turn: Option<RunningTurn>,
    last_result: LastResult,
    queue: PromptQueue,
    requests: KeptRequests,
    control: ControlRequests,
    conversation: OwnConversation,
    naming: Naming,
    capabilities: Capabilities,
    mode: WantedMode,
    options: WantedOptions,
    spending: Spending,
    context: Context,
    configuration: ConfigurationReports,
    limits: Limits,
    rewind: Rewind,
    side: SideQuestions,
    audit: Audit,
    background: RunningTasks,
    schedules: Schedules,
    messages: Messages,
    /// The time of the wall clock without its jumps, for durations; `None` in a replay, which has only recorded times.
    steady: Option<u64>,
    changed: bool,
}

impl Machine {
    /// Restores a saved session. Its prompts are held: the user has to send them.
    pub fn new(memory: SavedSession, timeouts: Timeouts) -> Self {
        Self {
            timeouts,
            acp: memory.acp,
            profile: memory.profile,
            config_folder: memory.config_folder,
            process: OwnProcess::default(),
            turn: None,
            last_result: LastResult::default(),
            queue: PromptQueue::restore(memory.prompts),
            requests: KeptRequests::restore(memory.changed_inputs),
            control: ControlRequests::default(),
            conversation: OwnConversation::restore(
                memory.agent_session_id,
                memory.resumable,
                memory.title.as_deref(),
                memory.fork,
                memory.resume_at,
            ),
            naming: Naming::new(memory.renames),
            capabilities: Capabilities::default(),
            mode: WantedMode::restore(memory.mode, memory.bypassed),
            options: WantedOptions::restore(memory.model, memory.effort, memory.thinking_off)
                .with_start(memory.options, memory.renews_system_prompt),
            spending: Spending::restore(memory.cost_usd, memory.ledger, memory.counters),
            context: Context::default(),
            configuration: ConfigurationReports::default(),
            limits: Limits::default(),
            rewind: Rewind::restore(memory.rewound),
            side: SideQuestions::default(),
            audit: Audit::default(),
            background: RunningTasks::default(),
            schedules: Schedules::default(),
            messages: Messages::default(),
            steady: None,
            changed: true,
        }
    }

    pub fn is_in_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// The state that must be on disk now.
    pub fn memory(&self) -> SavedSession {
        let in_flight = self.turn.iter().flat_map(RunningTurn::in_flight);
        let prompts = in_flight.chain(self.queue.all()).cloned();
        let title = self.conversation.title().cloned();
        let title = title.or_else(|| Title::of_prompt(&self.queue.first_saving()?.text));
        SavedSession {
            acp: self.acp.clone(),
            profile: self.profile.clone(),
            config_folder: self.config_folder.clone(),
            agent_session_id: self.conversation.id().map(str::to_owned),
            resumable: self.conversation.is_resumable(),
            fork: self.conversation.fork().cloned(),
            resume_at: self.conversation.resume_at().map(str::to_owned),
            lacks_past: self.conversation.lacks_past(),
            rewound: self.rewind.undo().cloned(),
            prompts: prompts.collect(),
            model: self.options.wanted_model().map(str::to_owned),
            mode: self.mode.wanted(),
            effort: self.options.wanted_effort().map(str::to_owned),
            thinking_off: self.options.is_thinking_off(),
            options: self.options.for_start().clone(),
            renews_system_prompt: self.options.renews_system_prompt(),
            bypassed: self.mode.is_bypass_saved(),
            title: title.map(|title| title.as_str().to_owned()),
            renames: self.naming.is_outdated(),
            cost_usd: self.spending.total_dollars(),
            ledger: self.spending.ledger().clone(),
            counters: self.spending.counters().cloned(),
            changed_inputs: self.requests.changed_inputs(),
        }
    }

    /// What the agent offered in an earlier run is shown until it runs.
    pub fn recall(&mut self, offer: Offer) {
        self.options.recall(offer.models);
        self.capabilities.recall(offer.commands);
    }

    /// What the running agent offers, if it has announced it since the last call.
    pub fn take_offer(&mut self) -> Option<Offer> {
        let is_new = self.options.take_announced() | self.capabilities.take_announced();
        (is_new && !self.options.models().is_empty()).then(|| Offer {
            version: self.capabilities.version().map(str::to_owned),
            models: self.options.models().to_vec(),
            commands: self.capabilities.commands().to_vec(),
        })
    }

    /// Returns whether the session's summary changed since the last call.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Marks a prompt of an earlier process as cut off: the agent has it in its transcript.
    pub fn found_cut_off(&mut self, id: &PromptId) {
        self.queue.found_cut_off(id);
    }

    /// Prompts of an earlier process, which are shown as held.
    pub fn prompts(&self) -> impl Iterator<Item = &Prompt> {
        self.queue.waiting()
    }

    /// The time at which every limit that is reached has reset, in milliseconds since 1970.
    #[cfg(test)]
    pub fn resets_at(&self, now: u64) -> Option<u64> {
        self.limits.resets_at(now)
    }

    /// Nothing runs, and nothing is about to run.
    pub fn is_idle(&self) -> bool {
        self.turn.is_none()
            && self.queue.is_idle()
            && !self.process.is_coming()
            && !self.rewind.is_busy()
            && !self.side.is_any_waiting()
    }

    pub fn is_alive(&self) -> bool {
        self.process.is_alive()
    }

    pub fn has_requests(&self) -> bool {
        !self.requests.open().is_empty()
    }

    /// Permission requests that wait for an answer.
    pub fn requests(&self) -> &OpenRequests {
        self.requests.open()
    }

    /// Sets the time of the clock for durations, in milliseconds.
    pub fn tick(&mut self, steady: u64) {
        self.steady = Some(steady);
    }

    /// Processes one input at time `now`, in milliseconds since the epoch, and returns the effects.
    pub fn step(&mut self, now: u64, input: Input) -> Vec<Effect> {
        #[cfg(test)]
        crate::stages::passed(module_path!(), &input);
        self.run(now, |step| step.input(input))
    }

    /// Like `step` for a line of the agent. The message is only read: the transcript gets it next, and moves its texts
    /// into items.
    pub fn line(&mut self, now: u64, inbound: &AgentEvent) -> Vec<Effect> {
        #[cfg(test)]
        crate::stages::passed(module_path!(), inbound);
        self.run(now, |step| step.line(inbound))
    }

    fn run(&mut self, now: u64, act: impl FnOnce(&mut Step<'_>)) -> Vec<Effect> {
        let mut step = Step { machine: self, now, effects: Vec::new(), saves: false };
        act(&mut step);
        if step.saves {
            // Save once for all changes, and after writing to the agent, because the disk is slow.
            step.push(Effect::Save(None));
        }
        step.effects
    }
}

/// One step in progress.
struct Step<'a> {
    machine: &'a mut Machine,
    now: u64,
    effects: Vec<Effect>,
    /// The record on disk is out of date.
    saves: bool,
}

impl Step<'_> {
    fn input(&mut self, input: Input) {
        if matches!(
            input,
            Input::Start
                | Input::StartWithoutAsking
                | Input::Prompt(_)
                | Input::Command(_)
                | Input::GenerateTitle(_)
                | Input::Rewind(_)
        ) {
            self.machine.control.user_acted();
            if self.refuse_missing(&input) {
                return;
            }
        }
        match input {
            Input::Start => self.start(),
            Input::StartWithoutAsking => self.start_without_asking(),
            Input::Prompt(prompt) => {
                self.messages_again();
                self.prompt(prompt);
            }
            Input::Command(command) => self.command(command),
            Input::GenerateTitle(text) => self.generate_title(text),
            Input::Rewind(job) => self.rewind(job),
            Input::RewindWorked(done) => self.rewind_worked(done),
            Input::Saved(id) => self.saved(&id),
            Input::SaveFailed(id, problem) => self.save_failed(&id, &problem),
            Input::Spawned => {
                let renews_system_prompt = self.machine.options.renews_system_prompt();
                self.ask(PendingRequest::Initialize, HostRequest::Initialize { renews_system_prompt });
                let at = self.now + self.machine.timeouts.initialize_ms;
                self.push(Effect::Arm { timer: Timer::Initialize, at });
            }
            Input::SpawnFailed(error) => self.spawn_failed(error),
            Input::Line(inbound) => self.line(&inbound),
            Input::StdinBroken(problem) => self.stdin_broken(&problem),
            Input::Exited(report) => self.exited(report),
            Input::Timer(timer) => self.timer(timer),
            Input::PlanRead(id, plan) => self.plan_read(&id, &plan),
            Input::HibernateAfter(after_ms) => self.hibernate_after(after_ms),
            Input::LacksPast => self.lacks_past(),
        }
    }

    fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Has the record written at the end of the step.
    fn save(&mut self) {
        self.saves = true;
    }

    fn emit(&mut self, event: Event) {
        self.push(Effect::Emit(event));
    }

    fn note(&mut self, note: TranscriptEvent) {
        self.push(Effect::TranscriptEvent(note));
    }

    fn notice(&mut self, level: Level, text: impl Into<String>, detail: Option<String>) {
        let detail = detail.filter(|detail| !detail.is_empty());
        self.note(TranscriptEvent::Notice { level, text: text.into(), detail });
    }

    fn prompt_state(&mut self, id: &PromptId, state: PromptState) {
        self.note(TranscriptEvent::PromptState { id: id.clone(), state });
    }

    fn changed(&mut self) {
        self.machine.changed = true;
    }

    fn changed_if(&mut self, has_changed: bool) {
        self.machine.changed |= has_changed;
    }

    fn refuse(&mut self, code: ErrorCode, message: impl Into<String>) {
        self.push(Effect::Refuse(CommandError { code, message: message.into(), detail: None }));
    }

    /// Sends a request. Returns whether it was sent.
    fn ask(&mut self, asked: PendingRequest, request: HostRequest) -> bool {
        if !self.listens() {
            // After the end of input nothing can be written, so a late answer must not cause another request.
            return false;
        }
        if let Spent::Refused { is_first } = self.machine.control.spend(&asked, self.now) {
            if is_first {
                let detail = format!("The request is {}.", asked.kind());
                let text = "The agent keeps answering a request so that it has to be sent again. Deskbell \
                            stopped sending it.";
                self.notice(Level::Warning, text, Some(detail));
            }
            return false;
        }
        let waits_ms = self.waits_for(&asked);
        let request_id = self.machine.control.add(asked);
        self.push(Effect::Write(AgentCommand::Request { request_id, request }));
        if let Some(limit) = waits_ms {
            self.confirm_within(limit);
        }
        true
    }

    fn command(&mut self, command: Command) {
        match command {
            // The caller assigns the id; see `Input::Prompt`.
            Command::Prompt { .. } => self.refuse(ErrorCode::Internal, "The prompt has no id."),
            Command::Decide { request_id, shown, decision } => {
                self.decide(&request_id, shown.as_deref(), decision);
            }
            Command::Interrupt => self.halt(),
            Command::InterruptAndContinue => self.interrupt(),
            Command::ContinueQueue => self.continue_queue(),
            Command::Withdraw { prompt_id } => self.withdraw(&prompt_id),
            Command::EditQueued { prompt_id, text } => self.edit(&prompt_id, text),
            Command::Resend { prompt_id } => self.resend(&prompt_id),
            Command::Deliver { prompt_id, delivery } => self.deliver(&prompt_id, delivery),
            Command::Move { prompt_id, before } => self.move_prompt(&prompt_id, before.as_ref()),
            Command::SetMode { mode } => self.set_mode(mode),
            Command::SetModel { model } => self.set_model(model),
            Command::SetOptions { options } => self.set_options(*options),
            Command::SetEffort { effort } => self.set_effort(effort),
            Command::SetAgentOption { id, value } => self.set_agent_option(id, value),
            Command::SetThinking { on } => self.set_thinking(on),
            Command::StopTask { task_id } => self.stop_task(&task_id),
            Command::MoveToBackground => self.move_to_background(),
            Command::ListRules => self.list_rules(),
            Command::SuspendRules { rules, suspended } => self.suspend_rules(&rules, suspended),
            Command::ReadContext => self.read_context(),
            Command::AskSide { id, question, purpose } => self.ask_side(id, question, purpose),
            Command::CancelSide { id } => self.cancel_side(&id),
            Command::ReadConfiguration => self.read_configuration(),
            Command::ReconnectServer { server } => {
                self.change_server(server.clone(), HostRequest::ReconnectServer(server));
            }
            Command::SetServerEnabled { server, enabled } => {
                self.change_server(server.clone(), HostRequest::SetServerEnabled { server, enabled });
            }
            Command::ReloadPlugins => self.reload_plugins(),
            // The caller knows the prompt; see `Input::Rewind`.
            Command::PreviewRewind { .. } | Command::Rewind { .. } => {
                self.refuse(ErrorCode::Internal, "The prompt is not known.");
            }
            Command::UndoRewind { overwrite } => self.undo_rewind(overwrite),
            Command::Rename { title } => self.rename(&title),
            // The caller knows the conversation; see `Input::GenerateTitle`.
            Command::GenerateTitle => self.refuse(ErrorCode::Internal, "The conversation is not known."),
            Command::Start => self.start(),
            Command::Reload => self.reload(),
            Command::Stop => self.stop(),
        }
    }
}

#[cfg(test)]
mod tests;

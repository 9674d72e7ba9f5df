//! The driver that a session of the core uses: its commands and events, over the driver of the protocol.
//!
//! The core knows one request to begin, and the protocol three steps: `initialize`, the session, the mode that asks.
//! They are taken here, and the core's request is answered after the last one. An agent that cannot take them is
//! reported as one that cannot start.

mod changes;
mod listing;
mod past;
mod questions;

use crate::agents::{AcpAgent, AskingHabit, Asks, UNKNOWN};
use crate::command::{AcpCommand, AcpRefusal, PromptPart};
use crate::event::{
    Abilities, AcpAction, AcpEvent, AcpSession, AcpTurnEnd, CallStatus, Failure, Login, RequestKey,
};
use crate::seam::{CoreEvents, request_key, words};
use crate::{ChosenAgent, choices, driver};
use deskbell_agent::driver::{Driver, Output};
use deskbell_agent::{
    AgentCommand, AgentEvent, AgentRequest, Answer, Grant, HostRequest, Init, Initialized, OptionKind,
    Refused, ToolRequest, TurnResult,
};
use deskbell_api::{AgentCapabilities, Attachment, SlashCommand};
use listing::Listing;
use past::RepeatedPast;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The version of Deskbell, which the agent is told.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a process is started for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcpSetup {
    pub agent: ChosenAgent,
    /// The project's folder, absolute.
    pub folder: String,
    /// The agent's id of the conversation to continue.
    pub resume: Option<String>,
    /// Deskbell has no copy of the earlier messages of `resume`, so the agent is asked to repeat them.
    pub wants_past: bool,
}

/// One process of an agent, with one session.
#[derive(Debug)]
pub struct AcpDriver {
    setup: AcpSetup,
    row: &'static AcpAgent,
    name: String,
    driver: driver::AcpClient,
    core: CoreEvents,
    phase: Phase,
    /// The core's request to begin, until it is answered.
    beginning: Option<String>,
    version: Option<String>,
    abilities: Abilities,
    logins: Vec<Login>,
    /// Reported with each prompt, as a session of the core begins each turn.
    init: Init,
    /// The list that the agent reported last. One that comes before the session is usable is reported with the start,
    /// because that replaces the commands of the process before.
    commands: Vec<SlashCommand>,
    /// The agent repeats a conversation that was loaded. Deskbell shows what it kept of it itself.
    is_repeating: bool,
    /// Since the last request of [`Self::outlast_repeat`].
    has_repeated: bool,
    /// How many of them are left.
    n_rounds_left: usize,
    /// The user interrupted the turn.
    is_interrupted: bool,
    /// Commands that the interrupt of this turn did not end.
    left_running: Vec<String>,
    /// The open permission requests.
    open: HashMap<RequestKey, Arc<ToolRequest>>,
    /// Changes that the user chose and the agent has not answered, oldest first, with the core's id of the request.
    changes: Vec<(AcpAction, String)>,
    /// The mode that the user chose last.
    chosen_mode: Option<String>,
    /// The user was warned that the setting that makes it ask has changed.
    warned_of_setting: bool,
    /// The answers to the request for the stored sessions, until the last one came.
    listing: Listing,
    /// The conversation that the agent repeats, if it is wanted.
    past: Option<RepeatedPast>,
}

/// The part of a command that a notice shows, in characters.
const LONGEST_COMMAND: usize = 80;

/// At most so many requests outlast a conversation that is repeated. The newest agents need one.
const MOST_ROUNDS: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// `initialize` was not answered yet.
    Beginning,
    /// The session was asked for.
    Opening,
    /// The mode that asks was set, and is not confirmed yet.
    Switching,
    /// It asks, and may still repeat a conversation.
    Outlasting,
    Ready,
    /// It cannot work.
    Failed,
}

impl AcpDriver {
    pub fn new(setup: AcpSetup) -> Self {
        let row = setup.agent.facts().unwrap_or(&UNKNOWN);
        Self {
            row,
            name: setup.agent.name(),
            driver: driver::AcpClient::new(row.command),
            setup,
            core: CoreEvents::new(row.sums_tokens),
            phase: Phase::Beginning,
            beginning: None,
            version: None,
            abilities: Abilities::default(),
            logins: Vec::new(),
            init: Init::default(),
            commands: Vec::new(),
            is_repeating: false,
            has_repeated: false,
            n_rounds_left: MOST_ROUNDS,
            is_interrupted: false,
            left_running: Vec::new(),
            open: HashMap::new(),
            changes: Vec::new(),
            chosen_mode: None,
            warned_of_setting: false,
            listing: Listing::default(),
            past: None,
        }
    }

    /// What an agent that speaks ACP can do, before it says so itself.
    pub fn capabilities() -> AgentCapabilities {
        AgentCapabilities::default()
    }

    /// Carries out a command of the protocol. A refused one changes nothing and is returned.
    fn command(&mut self, command: AcpCommand, out: &mut Output) -> Result<(), AcpRefusal> {
        let step = self.driver.command(command)?;
        out.lines.extend(step.lines);
        step.events.into_iter().for_each(|event| self.event(event, out));
        Ok(())
    }

    fn event(&mut self, event: AcpEvent, out: &mut Output) {
        match &event {
            // It is being stopped: an answer that was on its way does not make it usable.
            AcpEvent::Ready(_) | AcpEvent::Session(_) if self.phase == Phase::Failed => return,
            AcpEvent::Ready(ready) => {
                self.version = ready.version.clone();
                self.abilities = ready.abilities;
                self.logins = ready.logins.clone();
                self.core.take(event);
                return self.open_session(out);
            }
            AcpEvent::Session(session) => {
                let session = (**session).clone();
                for told in self.core.take(event) {
                    // It is reported with the first prompt. What else there is are messages of a history.
                    if let AgentEvent::Init(init) = told {
                        self.init = *init;
                    }
                }
                return self.check_asking(&session, true, out);
            }
            // Some agents go on with it after their answer.
            _ if self.is_repeating && is_content(&event) => {
                self.has_repeated = true;
                return self.repeated(event);
            }
            // It is of an earlier process as well.
            AcpEvent::Notice { .. } if self.past.is_some() && self.phase == Phase::Opening => {
                return self.repeated(event);
            }
            // No turn is running, so nothing may run.
            AcpEvent::Permission(permission) if self.is_repeating => {
                let request = permission.request;
                return self.cancel(request, out);
            }
            AcpEvent::LoginRequired { message, .. } => {
                let (login, message) = (self.login(), message.clone());
                return self.needs_login(message, login, out);
            }
            AcpEvent::Failed { action, failure } => {
                return self.failed(&action.clone(), &failure.clone(), out);
            }
            AcpEvent::Done(AcpAction::SetMode { .. } | AcpAction::SetOption { .. })
                if self.phase == Phase::Switching =>
            {
                if let Some(session) = self.driver.session().cloned() {
                    self.check_asking(&session, false, out);
                }
                return;
            }
            AcpEvent::Done(AcpAction::SetMode { .. }) if self.phase == Phase::Outlasting => {
                return self.outlast_repeat(out);
            }
            AcpEvent::Done(action) if self.phase == Phase::Ready => {
                return self.change_made(&action.clone(), out);
            }
            AcpEvent::Options(_) if self.phase == Phase::Ready => return self.options_changed(out),
            AcpEvent::Mode { id } if self.phase == Phase::Ready => self.mode_changed(&id.clone(), out),
            AcpEvent::Question(question) if self.is_repeating => {
                let request = question.request;
                return self.cancel(request, out);
            }
            AcpEvent::Withdrawn { request, .. } => {
                self.open.remove(request);
            }
            AcpEvent::Stored { .. } => return self.listed(event, out),
            AcpEvent::Call(call)
                if call.status == Some(CallStatus::Cancelled) && self.row.leaves_commands() =>
            {
                self.left_running.extend(self.core.command(&call.id).map(str::to_owned));
            }
            AcpEvent::TurnEnded { .. } => self.warn_of_commands(out),
            _ => {}
        }
        let event = match event {
            // qwen-code 0.24.4 ends a turn that was interrupted while it asked as any other one.
            AcpEvent::TurnEnded { end: AcpTurnEnd::Done, tokens } if self.is_interrupted => {
                AcpEvent::TurnEnded { end: AcpTurnEnd::Cancelled, tokens }
            }
            event => event,
        };
        for told in self.core.take(event) {
            let told = questions::in_request(self.row.questions, told);
            if let AgentEvent::Request { request_id, request: AgentRequest::Tool(request) } = &told
                && let Some(key) = request_key(request_id)
            {
                self.open.insert(key, request.clone());
            }
            if let AgentEvent::Commands(commands) = &told {
                self.commands.clone_from(commands);
                if self.phase != Phase::Ready {
                    continue;
                }
            }
            out.events.push(told);
        }
    }

    /// Says which commands an interrupt did not end: their rows say that they were interrupted.
    fn warn_of_commands(&mut self, out: &mut Output) {
        let commands = std::mem::take(&mut self.left_running);
        let Some(first) = commands.first() else { return };
        let line: String = first.lines().next().unwrap_or_default().chars().take(LONGEST_COMMAND).collect();
        let others = match commands.len() - 1 {
            0 => String::new(),
            n_others => format!(" and {n_others} more"),
        };
        let words = format!(
            "{} does not end a command when you stop its turn, so “{line}”{others} may go on. Stop the agent to end it.",
            self.name
        );
        notice("warning", words, out);
    }

    fn open_session(&mut self, out: &mut Output) {
        self.phase = Phase::Opening;
        let folder = self.setup.folder.clone();
        let command = match self.setup.resume.clone() {
            None => AcpCommand::NewSession { folder },
            Some(id) if self.abilities.load && self.setup.wants_past => {
                self.is_repeating = true;
                self.request_past(out);
                AcpCommand::LoadSession { id, folder }
            }
            Some(id) if self.abilities.resume => AcpCommand::ResumeSession { id, folder },
            Some(id) if self.abilities.load => {
                self.is_repeating = true;
                AcpCommand::LoadSession { id, folder }
            }
            Some(_) => {
                return self.conversation_lost("the agent cannot continue a conversation", out);
            }
        };
        if let Err(refusal) = self.command(command, out) {
            self.cannot_start(format!("{} could not begin a session.", self.name), Some(why(&refusal)), out);
        }
    }

    /// The session is usable once it asks, as far as the protocol says. `switches`: it can be made to ask.
    fn check_asking(&mut self, session: &AcpSession, switches: bool, out: &mut Output) {
        self.init.permission_mode.clone_from(&session.mode);
        match self.row.asking.of(session) {
            Asks::Yes => {
                self.has_repeated = self.is_repeating && self.row.repeats_late;
                self.outlast_repeat(out);
            }
            Asks::After(command) if switches => {
                self.phase = Phase::Switching;
                if let Err(refusal) = self.command(command, out) {
                    self.does_not_ask(&why(&refusal), out);
                }
            }
            Asks::After(_) => self.does_not_ask("The agent confirmed the change, and did not make it.", out),
            Asks::No => self.does_not_ask("The agent offers no mode that is known to ask.", out),
            Asks::Unknown => {
                let words = format!(
                    "{} does not report whether it asks before it acts. That is up to its own settings.",
                    self.name
                );
                notice("warning", words, out);
                self.ready(out);
            }
        }
    }

    /// Asks for the mode in force again, until an answer comes with nothing repeated before it. Without this the rest of
    /// the conversation would be taken for an answer to the next prompt.
    fn outlast_repeat(&mut self, out: &mut Output) {
        let mode = self.driver.session().and_then(|session| session.mode.clone());
        let is_over = !self.has_repeated || self.n_rounds_left == 0;
        let again = mode.filter(|_| !is_over).map(|id| AcpCommand::SetMode { id });
        self.phase = Phase::Outlasting;
        self.has_repeated = false;
        self.n_rounds_left = self.n_rounds_left.saturating_sub(1);
        if again.is_none_or(|command| self.command(command, out).is_err()) {
            self.ready(out);
        }
    }

    fn does_not_ask(&mut self, why: &str, out: &mut Output) {
        let words = format!("{} cannot be made to ask before it acts, so it was not started.", self.name);
        self.cannot_start(words, Some(why.to_owned()), out);
    }

    fn ready(&mut self, out: &mut Output) {
        self.phase = Phase::Ready;
        let Some(request_id) = self.beginning.take() else { return };
        let models = self.driver.session().map(|session| choices::of(session, self.row).models);
        let initialized = Initialized {
            models: models.unwrap_or_default(),
            version: self.version.clone(),
            permission_mode: self.init.permission_mode.clone(),
            commands: self.commands.clone(),
            capabilities: Some(AgentCapabilities {
                images: self.abilities.images,
                documents: self.abilities.embedded_files,
                cost: self.row.reports.cost,
                ..Self::capabilities()
            }),
            ..Initialized::default()
        };
        self.report_past(out);
        // Before the answer, so that the user's saved choice of a model is compared with the one in force.
        self.report_choices(out);
        let outcome = Ok(Answer::Initialized(Box::new(initialized)));
        out.events.push(AgentEvent::Response { request_id, outcome });
        self.ask_for_list(out);
    }

    /// A command failed. While the session is being made, that ends the start.
    fn failed(&mut self, action: &AcpAction, failure: &Failure, out: &mut Output) {
        let problem = words(failure);
        match action {
            _ if self.phase == Phase::Failed => {}
            AcpAction::ListSessions => self.list_failed(out),
            AcpAction::LoadSession if self.resumes_without_past(&problem, out) => {}
            AcpAction::LoadSession | AcpAction::ResumeSession => self.conversation_lost(&problem, out),
            AcpAction::Initialize | AcpAction::NewSession => {
                let words = match failure {
                    Failure::Refused(_) => format!("{} could not begin a session.", self.name),
                    _ => format!("{} does not speak the protocol that Deskbell knows.", self.name),
                };
                self.cannot_start(words, Some(problem), out);
            }
            _ if self.phase == Phase::Switching => self.does_not_ask(&problem, out),
            // The mode is in force already.
            _ if self.phase == Phase::Outlasting => self.ready(out),
            action if self.change_failed(action, &problem, out) => {}
            _ => notice("warning", format!("{} refused a request.\n\n{problem}", self.name), out),
        }
    }

    fn cannot_start(&mut self, words: String, detail: Option<String>, out: &mut Output) {
        if self.phase != Phase::Failed {
            self.phase = Phase::Failed;
            out.events.push(AgentEvent::CannotStart { words, detail, login: None });
        }
    }

    fn needs_login(&mut self, message: String, login: Option<Vec<String>>, out: &mut Output) {
        if self.phase == Phase::Failed {
            return;
        }
        self.phase = Phase::Failed;
        let words = format!("{} needs a login before it can work.", self.name);
        let command = login.as_ref().map(|login| login.join(" "));
        let detail = match command {
            Some(command) => format!("{message}\n\nLog in by running this in a terminal: {command}"),
            None => message,
        };
        out.events.push(AgentEvent::CannotStart { words, detail: Some(detail), login });
    }

    /// The core knows by this result that the conversation is gone.
    fn conversation_lost(&mut self, problem: &str, out: &mut Output) {
        let result = TurnResult {
            is_error: true,
            words: Some(problem.to_owned()),
            is_conversation_lost: true,
            ..TurnResult::default()
        };
        out.events.push(AgentEvent::TurnEnded(Box::new(result)));
        self.cannot_start("The agent could not continue the conversation.".to_owned(), None, out);
    }

    /// The command that logs in: that of its row, one that the agent reports, or its own program.
    fn login(&self) -> Option<Vec<String>> {
        let agent = &self.setup.agent;
        let terminal = || self.logins.iter().find_map(|login| agent.reported_login(login.terminal.as_ref()?));
        match self.row.login {
            Some(_) => agent.login(),
            None => terminal().or_else(|| agent.login()),
        }
    }

    /// The agent's mode changed. The user is warned of one that does not ask, unless it is the user's own choice.
    fn mode_changed(&mut self, id: &str, out: &mut Output) {
        self.init.permission_mode = Some(id.to_owned());
        self.report_choices(out);
        if let AskingHabit::Mode(asks) = self.row.asking
            && asks != id
            && self.chosen_mode.as_deref() != Some(id)
        {
            let words = format!(
                "{} changed its own mode to “{id}”. In this mode it may act without asking; “{asks}” asks.",
                self.name
            );
            notice("warning", words, out);
        }
    }

    fn prompt(&mut self, text: &str, attachments: &[Attachment], out: &mut Output) {
        self.is_interrupted = false;
        self.is_repeating = false;
        // A turn of the core begins with the agent's report of itself.
        out.events.push(AgentEvent::Init(Box::new(self.init.clone())));
        let mut parts: Vec<PromptPart> = attachments.iter().map(part).collect();
        parts.push(PromptPart::Text(text.to_owned()));
        if let Err(refusal) = self.command(AcpCommand::Prompt(parts), out) {
            let result = TurnResult {
                is_error: true,
                words: Some(match refusal {
                    AcpRefusal::NotOffered => {
                        format!("{} does not take these attachments. The prompt was not sent.", self.name)
                    }
                    refusal => why(&refusal),
                }),
                ..TurnResult::default()
            };
            out.events.push(AgentEvent::TurnEnded(Box::new(result)));
        }
    }

    fn request(&mut self, request_id: &str, request: &HostRequest, out: &mut Output) {
        let outcome = match request {
            HostRequest::Initialize { .. } => {
                self.beginning = Some(request_id.to_owned());
                let command = AcpCommand::Initialize { version: VERSION.to_owned() };
                if let Err(refusal) = self.command(command, out) {
                    self.cannot_start(format!("{} could not begin.", self.name), Some(why(&refusal)), out);
                }
                return;
            }
            HostRequest::Interrupt => match self.interrupt(out) {
                // Without a turn there is nothing to interrupt: it has just ended.
                Ok(()) | Err(AcpRefusal::NoTurn) => Ok(Answer::StillQueued(Vec::new())),
                Err(refusal) => Err(Refused { message: why(&refusal), is_unknown: false }),
            },
            HostRequest::CancelPrompt(_) => Ok(Answer::Cancelled(false)),
            HostRequest::SetModel(_) | HostRequest::SetEffort(_) | HostRequest::SetOption { .. } => {
                return self.change(request_id, request, out);
            }
            HostRequest::ReadSettings => Ok(Answer::Settings(Box::new(self.settings()))),
            _ => Err(Refused { message: format!("{} does not have this.", self.name), is_unknown: true }),
        };
        out.events.push(AgentEvent::Response { request_id: request_id.to_owned(), outcome });
    }

    /// Allows a call with the option that was chosen, or with the one that allows nothing else.
    fn allow(&mut self, request_id: &str, grant: Option<&Grant>, out: &mut Output) {
        let Some((request, asked)) = self.take(request_id) else { return };
        let option = match grant {
            Some(Grant::Option(option)) => Some(option.id.clone()),
            Some(Grant::AcceptEdits) => None,
            None => asked.allow_once().map(|option| option.id.clone()),
        };
        let chosen = match option {
            Some(option) => self.command(AcpCommand::Choose { request, option }, out),
            None => Err(AcpRefusal::NoSuchOption),
        };
        if chosen.is_err() {
            // Nothing that was not chosen is allowed.
            self.cancel(request, out);
            let words = format!("{} offers no such answer, so the call was not allowed.", self.name);
            notice("warning", words, out);
        }
    }

    /// The agent reads no reason. `reject_always` would deny more than the user did.
    fn deny(&mut self, request_id: &str, interrupt: bool, out: &mut Output) {
        if let Some((request, asked)) = self.take(request_id) {
            let option = asked.options.iter().find(|option| option.kind == OptionKind::RejectOnce);
            let denied = match option.map(|option| option.id.clone()) {
                Some(option) => self.command(AcpCommand::Choose { request, option }, out),
                None => Err(AcpRefusal::NoSuchOption),
            };
            if denied.is_err() {
                self.cancel(request, out);
            }
        }
        if interrupt {
            // Refused without a turn: there is nothing to interrupt then.
            let _ = self.interrupt(out);
        }
    }

    /// Answers the questions of a request. To one without questions it is a refusal.
    fn answer(&mut self, request_id: &str, answers: &BTreeMap<String, String>, out: &mut Output) {
        let asked = request_key(request_id).and_then(|key| self.open.get(&key));
        let Some((answers, option)) = asked.and_then(|asked| questions::answered(asked, answers)) else {
            return self.deny(request_id, false, out);
        };
        let Some((request, _)) = self.take(request_id) else { return };
        if self.command(AcpCommand::Answer { request, option, answers }, out).is_err() {
            self.cancel(request, out);
            notice("warning", format!("{} did not take the answer, so it got none.", self.name), out);
        }
    }

    fn fill(&mut self, request_id: &str, values: Option<Map<String, Value>>, out: &mut Output) {
        let Some((request, _)) = self.take(request_id) else { return };
        let answer = match values {
            Some(values) => AcpCommand::Fill { request, values: values.into_iter().collect() },
            None => AcpCommand::Decline { request },
        };
        if self.command(answer, out).is_err() {
            self.cancel(request, out);
            notice("warning", format!("{} did not take the values, so it got no answer.", self.name), out);
        }
    }

    fn interrupt(&mut self, out: &mut Output) -> Result<(), AcpRefusal> {
        self.command(AcpCommand::Interrupt, out)?;
        self.is_interrupted = true;
        Ok(())
    }

    fn take(&mut self, request_id: &str) -> Option<(RequestKey, Arc<ToolRequest>)> {
        let key = request_key(request_id)?;
        Some((key, self.open.remove(&key)?))
    }

    fn cancel(&mut self, request: RequestKey, out: &mut Output) {
        // Refused if it is over: the agent withdrew it meanwhile.
        let _ = self.command(AcpCommand::Cancel { request }, out);
    }
}

/// An attachment in the protocol's terms. One that was not named has a URI all the same.
fn part(attachment: &Attachment) -> PromptPart {
    let Attachment { name, media_type, data } = attachment.clone();
    let uri = || format!("attachment:{}", if name.is_empty() { "document" } else { &name });
    match media_type.as_str() {
        "text/plain" => PromptPart::File { uri: uri(), text: data },
        _ if attachment.is_image() => PromptPart::Image { media_type, data },
        _ => PromptPart::Document { uri: uri(), media_type, data },
    }
}

impl Driver for AcpDriver {
    fn read(&mut self, line: &[u8], out: &mut Output) {
        if !self.may_repeat(line.len(), out) {
            return;
        }
        let step = self.driver.line(line);
        out.lines.extend(step.lines);
        step.events.into_iter().for_each(|event| self.event(event, out));
        if out.events.is_empty() {
            // Each line is a sign of life.
            out.events.push(AgentEvent::Heartbeat);
        }
    }

    fn write(&mut self, command: &AgentCommand, out: &mut Output) {
        match command {
            AgentCommand::Prompt { uuid, text, attachments } => {
                self.core.prompted(uuid);
                self.prompt(text, attachments, out);
            }
            AgentCommand::Request { request_id, request } => self.request(request_id, request, out),
            AgentCommand::Allow { request_id, grant, .. } => self.allow(request_id, grant.as_ref(), out),
            AgentCommand::Deny { request_id, interrupt, .. } => self.deny(request_id, *interrupt, out),
            AgentCommand::Fill { request_id, values } => self.fill(request_id, values.clone(), out),
            AgentCommand::Answer { request_id, answers, .. } => self.answer(request_id, answers, out),
            AgentCommand::Refuse { request_id, .. } => self.deny(request_id, false, out),
            // Only side questions are cancelled, and these are refused.
            AgentCommand::CancelRequest { .. } => {}
        }
    }

    fn close(&mut self, out: &mut Output) {
        // It is refused only if it was sent already. The session has ended for the core, so no event counts.
        if let Ok(step) = self.driver.command(AcpCommand::Stop) {
            out.lines.extend(step.lines);
        }
    }
}

/// Whether an event is a part of the conversation.
fn is_content(event: &AcpEvent) -> bool {
    matches!(
        event,
        AcpEvent::Said { .. }
            | AcpEvent::Call(_)
            | AcpEvent::Plan(_)
            | AcpEvent::Usage(_)
            | AcpEvent::Compaction { .. }
    )
}

fn notice(level: &str, text: String, out: &mut Output) {
    out.events.push(AgentEvent::Informational { level: level.to_owned(), text });
}

/// A refusal in words.
fn why(refusal: &AcpRefusal) -> String {
    match refusal {
        AcpRefusal::NotOffered => "The agent does not offer this.",
        AcpRefusal::NoSession | AcpRefusal::NotNow => "There is no session yet.",
        AcpRefusal::HasSession => "There is a session already.",
        AcpRefusal::TurnRunning => "The agent is still working on the last prompt.",
        AcpRefusal::NoTurn => "The agent is not working.",
        AcpRefusal::NotOpen => "The request is over.",
        AcpRefusal::NoSuchOption => "The request has no such answer.",
        AcpRefusal::NoSuchSetting => "The agent has no such setting.",
        AcpRefusal::WrongField(name) => return format!("The answer does not fit the field “{name}”."),
        AcpRefusal::Empty => "The prompt is empty.",
        AcpRefusal::Stopping => "The agent is being stopped.",
    }
    .to_owned()
}

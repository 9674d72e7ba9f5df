//! The driver: lines of the agent become events, commands become lines. It has no process, file, clock or randomness.

use crate::agents::CommandPlace;
use crate::calls::{Calls, Odd};
use crate::command::{Command, NewValue, PromptPart, Refusal};
use crate::event::{
    Action, Call, Content, Event, Failure, OptionKind, OptionValue, Permission, PermissionOption, Question,
    Ready, RequestKey, RpcError, Session, TurnEnd, Usage, Voice, Withdrawal,
};
use crate::read;
use crate::requests::{Asked, Ours, Theirs, cancelled};
use crate::rpc::{self, Id, Message, shortened};
use agent_client_protocol_schema::{ProtocolVersion, v1};
use deskbell_agent::form;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Requests of an agent that may wait at the same time. One more is cancelled.
pub const MOST_OPEN: usize = 256;

/// What came of a line or of a command.
#[derive(Debug, Default, PartialEq)]
pub struct Step {
    pub events: Vec<Event>,
    /// To write to the agent, in order, each with a newline after it.
    pub lines: Vec<String>,
}

/// One agent process that speaks ACP, and its one session.
#[derive(Debug)]
pub struct Driver {
    ours: Ours,
    theirs: Theirs,
    calls: Calls,
    ready: Option<Ready>,
    session: Option<Session>,
    /// The id of the session that is loaded or resumed: the answer does not repeat it.
    continued: Option<String>,
    /// The last message: chunks of the same voice and id belong to it.
    message: Option<(Voice, Option<String>)>,
    is_in_turn: bool,
    /// The turn was interrupted and has not ended yet.
    is_interrupted: bool,
    is_stopping: bool,
}

impl Driver {
    /// `place`: where this agent has the command of a call, from its row in the table.
    pub fn new(place: CommandPlace) -> Self {
        Self {
            ours: Ours::default(),
            theirs: Theirs::default(),
            calls: Calls::new(place),
            ready: None,
            session: None,
            continued: None,
            message: None,
            is_in_turn: false,
            is_interrupted: false,
            is_stopping: false,
        }
    }

    /// Requests of the agent that wait for an answer.
    pub fn n_requests(&self) -> usize {
        self.theirs.len()
    }

    /// The session with the mode and the settings that it has now.
    pub fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// The newest command that waits for the agent's answer.
    pub(crate) fn last_action(&self) -> Option<Action> {
        self.ours.last().cloned()
    }

    /// Calls that are not over.
    pub fn n_calls(&self) -> usize {
        self.calls.n_open()
    }

    /// Takes one line of the agent's output, without its newline. Never fails: everything is an event.
    pub fn line(&mut self, line: &[u8]) -> Step {
        let mut step = Step::default();
        match rpc::read(line) {
            Ok(messages) => messages.into_iter().for_each(|message| self.message(message, &mut step)),
            Err(unreadable) => step.events.push(Event::Unreadable {
                line: unreadable.line,
                n_bytes: unreadable.n_bytes,
                error: unreadable.error,
            }),
        }
        step
    }

    /// The process ended: everything that is open is over. The lines that would answer it are not made.
    pub fn ended(&mut self) -> Vec<Event> {
        let mut step = Step::default();
        self.withdraw_all(Withdrawal::ProcessEnded, &mut step);
        self.settle(true, &mut step);
        for action in self.ours.close_all() {
            step.events.push(match action {
                Action::Prompt => Event::TurnEnded { end: TurnEnd::Failed(Failure::Ended), tokens: None },
                action => Event::Failed { action, failure: Failure::Ended },
            });
        }
        self.is_in_turn = false;
        self.is_stopping = true;
        step.events
    }

    /// Carries out a command, or says why it cannot be. A refused one changes nothing.
    pub fn command(&mut self, command: Command) -> Result<Step, Refusal> {
        if self.is_stopping {
            return Err(Refusal::Stopping);
        }
        let mut step = Step::default();
        match command {
            Command::Initialize { version } => self.initialize(version, &mut step)?,
            Command::Login { method } => {
                let known = self.ready()?.logins.iter().any(|login| login.id == method);
                known.then_some(()).ok_or(Refusal::NotOffered)?;
                self.ask(Action::Login, "authenticate", &v1::AuthenticateRequest::new(method), &mut step);
            }
            Command::Logout => {
                self.ready()?.abilities.logout.then_some(()).ok_or(Refusal::NotOffered)?;
                self.ask(Action::Logout, "logout", &json!({}), &mut step);
            }
            Command::NewSession { folder } => {
                self.ready()?;
                self.has_no_session()?;
                let params = v1::NewSessionRequest::new(PathBuf::from(folder));
                self.ask(Action::NewSession, "session/new", &params, &mut step);
            }
            Command::LoadSession { id, folder } => {
                self.ready()?.abilities.load.then_some(()).ok_or(Refusal::NotOffered)?;
                self.has_no_session()?;
                let params = v1::LoadSessionRequest::new(id.clone(), PathBuf::from(folder));
                self.continued = Some(id);
                self.ask(Action::LoadSession, "session/load", &params, &mut step);
            }
            Command::ResumeSession { id, folder } => {
                self.ready()?.abilities.resume.then_some(()).ok_or(Refusal::NotOffered)?;
                self.has_no_session()?;
                let params = v1::ResumeSessionRequest::new(id.clone(), PathBuf::from(folder));
                self.continued = Some(id);
                self.ask(Action::ResumeSession, "session/resume", &params, &mut step);
            }
            Command::ListSessions { folder, next } => {
                self.ready()?.abilities.list.then_some(()).ok_or(Refusal::NotOffered)?;
                let params = v1::ListSessionsRequest::new().cwd(folder.map(PathBuf::from)).cursor(next);
                self.ask(Action::ListSessions, "session/list", &params, &mut step);
            }
            Command::DeleteSession { id } => {
                self.ready()?.abilities.delete.then_some(()).ok_or(Refusal::NotOffered)?;
                let params = v1::DeleteSessionRequest::new(id.clone());
                self.ask(Action::DeleteSession { id }, "session/delete", &params, &mut step);
            }
            Command::Prompt(parts) => self.prompt(parts, &mut step)?,
            Command::Interrupt => {
                self.is_in_turn.then_some(()).ok_or(Refusal::NoTurn)?;
                self.interrupt(&mut step);
            }
            Command::SetMode { id } => self.set_mode(id, &mut step)?,
            Command::SetModel { id } => self.set_model(id, &mut step)?,
            Command::SetOption { id, value } => self.set_option(id, value, &mut step)?,
            Command::Choose { request, option } => self.choose(request, option, &mut step)?,
            Command::Fill { request, values } => {
                let Some(Asked::Question(fields)) = self.theirs.get(request) else {
                    return Err(Refusal::NotOpen);
                };
                let content =
                    form::filled(fields, values.into_iter().collect()).map_err(Refusal::WrongField)?;
                self.answer(request, &json!({"action": "accept", "content": content}), &mut step);
            }
            Command::Decline { request } => {
                let Some(Asked::Question(_)) = self.theirs.get(request) else { return Err(Refusal::NotOpen) };
                self.answer(request, &json!({"action": "decline"}), &mut step);
            }
            Command::Cancel { request } => {
                let (id, asked) = self.theirs.close(request).ok_or(Refusal::NotOpen)?;
                self.was_denied(&asked);
                step.lines.push(rpc::answer(&id, &cancelled(&asked)));
            }
            Command::Stop => self.stop(&mut step),
        }
        Ok(step)
    }

    fn ready(&self) -> Result<&Ready, Refusal> {
        self.ready.as_ref().ok_or(Refusal::NotNow)
    }

    fn live_session(&self) -> Result<&Session, Refusal> {
        self.session.as_ref().ok_or(Refusal::NoSession)
    }

    fn has_no_session(&self) -> Result<(), Refusal> {
        let asked = [Action::NewSession, Action::LoadSession, Action::ResumeSession];
        let has = self.session.is_some() || asked.iter().any(|action| self.ours.has(action));
        if has { Err(Refusal::HasSession) } else { Ok(()) }
    }

    fn ask(&mut self, action: Action, method: &str, params: &impl Serialize, step: &mut Step) {
        let id = self.ours.open(action);
        step.lines.push(rpc::request(id, method, params));
    }

    /// Neither files nor terminals are offered: with files the client writes, which no permission request covers.
    fn initialize(&mut self, version: String, step: &mut Step) -> Result<(), Refusal> {
        if self.ready.is_some() || self.ours.has(&Action::Initialize) {
            return Err(Refusal::NotNow);
        }
        let boolean =
            v1::SessionConfigOptionsCapabilities::new().boolean(v1::BooleanConfigOptionCapabilities::new());
        let session = v1::ClientSessionCapabilities::new()
            .compaction(v1::CompactionCapabilities::new())
            .notices(v1::NoticeCapabilities::new())
            .config_options(boolean);
        let capabilities = v1::ClientCapabilities::new()
            .session(session)
            .auth(v1::AuthCapabilities::new().terminal(true))
            .elicitation(v1::ElicitationCapabilities::new().form(v1::ElicitationFormCapabilities::new()));
        let params = v1::InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(capabilities)
            .client_info(v1::Implementation::new("deskbell", version).title("Deskbell".to_owned()));
        self.ask(Action::Initialize, "initialize", &params, step);
        Ok(())
    }

    fn prompt(&mut self, parts: Vec<PromptPart>, step: &mut Step) -> Result<(), Refusal> {
        let session = self.live_session()?.id.clone();
        if self.is_in_turn {
            return Err(Refusal::TurnRunning);
        }
        let abilities = self.ready()?.abilities;
        let mut blocks = Vec::new();
        for part in parts {
            blocks.push(match part {
                PromptPart::Text(text) if text.is_empty() => continue,
                PromptPart::Text(text) => v1::ContentBlock::Text(v1::TextContent::new(text)),
                PromptPart::Image { media_type, data } => {
                    abilities.images.then_some(()).ok_or(Refusal::NotOffered)?;
                    v1::ContentBlock::Image(v1::ImageContent::new(data, media_type))
                }
                PromptPart::Link { uri, name } => {
                    v1::ContentBlock::ResourceLink(v1::ResourceLink::new(name, uri))
                }
                PromptPart::File { uri, text } => {
                    abilities.embedded_files.then_some(()).ok_or(Refusal::NotOffered)?;
                    let file = v1::TextResourceContents::new(text, uri);
                    let file = v1::EmbeddedResourceResource::TextResourceContents(file);
                    v1::ContentBlock::Resource(v1::EmbeddedResource::new(file))
                }
                PromptPart::Document { uri, media_type, data } => {
                    abilities.embedded_files.then_some(()).ok_or(Refusal::NotOffered)?;
                    let file = v1::BlobResourceContents::new(data, uri).mime_type(media_type);
                    let file = v1::EmbeddedResourceResource::BlobResourceContents(file);
                    v1::ContentBlock::Resource(v1::EmbeddedResource::new(file))
                }
            });
        }
        if blocks.is_empty() {
            return Err(Refusal::Empty);
        }
        self.ask(Action::Prompt, "session/prompt", &v1::PromptRequest::new(session, blocks), step);
        self.is_in_turn = true;
        self.is_interrupted = false;
        self.message = None;
        // Version 1 confirms no prompt: its turn begins when it is sent.
        step.events.push(Event::TurnStarted);
        Ok(())
    }

    /// The order matters: an agent that waits for an answer may not read the cancellation before it.
    fn interrupt(&mut self, step: &mut Step) {
        self.withdraw_all(Withdrawal::Cancelled, step);
        if let Some(session) = &self.session {
            let params = v1::CancelNotification::new(session.id.clone());
            step.lines.push(rpc::notification("session/cancel", &params));
        }
        self.is_interrupted = true;
    }

    fn stop(&mut self, step: &mut Step) {
        if self.is_in_turn {
            self.interrupt(step);
        } else {
            self.withdraw_all(Withdrawal::Cancelled, step);
        }
        let closes = self.ready.as_ref().is_some_and(|ready| ready.abilities.close);
        if let (true, Some(session)) = (closes, &self.session) {
            let params = v1::CloseSessionRequest::new(session.id.clone());
            self.ask(Action::CloseSession, "session/close", &params, step);
        }
        self.is_stopping = true;
    }

    fn set_mode(&mut self, mode: String, step: &mut Step) -> Result<(), Refusal> {
        let session = self.live_session()?;
        if !session.modes.iter().any(|known| known.id == mode) {
            return Err(Refusal::NoSuchSetting);
        }
        let option = session.options.iter().find(|option| read::is_mode(option));
        let has = |option: &OptionValue| match option {
            OptionValue::Choice { choices, .. } => choices.iter().any(|choice| choice.id == mode),
            OptionValue::Switch(_) => false,
        };
        // The options replace the modes, and an agent may have both.
        match option.filter(|option| has(&option.value)).map(|option| option.id.clone()) {
            Some(id) => self.set_option(id, NewValue::Choice(mode), step),
            None => {
                let params = v1::SetSessionModeRequest::new(session.id.clone(), mode.clone());
                self.ask(Action::SetMode { id: mode }, "session/set_mode", &params, step);
                Ok(())
            }
        }
    }

    fn set_model(&mut self, model: String, step: &mut Step) -> Result<(), Refusal> {
        let session = self.live_session()?;
        // Models among the options replace those of the older form: codex-acp 2.6.0 has both, with other ids.
        if let Some(option) = session.options.iter().find(|option| read::is_model(option)) {
            let id = option.id.clone();
            return self.set_option(id, NewValue::Choice(model), step);
        }
        session.models.iter().find(|known| known.id == model).ok_or(Refusal::NoSuchSetting)?;
        // Not in the schema. Gemini CLI 0.61.0 has its models in this form only.
        let params = json!({"sessionId": session.id, "modelId": model});
        self.ask(Action::SetModel { id: model }, "session/set_model", &params, step);
        Ok(())
    }

    fn set_option(&mut self, id: String, value: NewValue, step: &mut Step) -> Result<(), Refusal> {
        let session = self.live_session()?;
        let option = session.options.iter().find(|option| option.id == id).ok_or(Refusal::NoSuchSetting)?;
        let (sent, words) = match (&option.value, value) {
            (OptionValue::Choice { choices, .. }, NewValue::Choice(value))
                if choices.iter().any(|choice| choice.id == value) =>
            {
                (v1::SessionConfigOptionValue::value_id(value.clone()), value)
            }
            (OptionValue::Switch(_), NewValue::Switch(on)) => {
                (v1::SessionConfigOptionValue::boolean(on), on.to_string())
            }
            _ => return Err(Refusal::NoSuchSetting),
        };
        let action = if read::is_mode(option) {
            Action::SetMode { id: words }
        } else {
            Action::SetOption { id: id.clone(), value: words }
        };
        let params = v1::SetSessionConfigOptionRequest::new(session.id.clone(), id, sent);
        self.ask(action, "session/set_config_option", &params, step);
        Ok(())
    }

    /// Two options can have the same kind, so only the id counts. The kind says what becomes of the call.
    fn choose(&mut self, request: RequestKey, option: String, step: &mut Step) -> Result<(), Refusal> {
        let Some(Asked::Permission { call, options }) = self.theirs.get(request) else {
            return Err(Refusal::NotOpen);
        };
        let chosen = options.iter().find(|(id, _)| *id == option).ok_or(Refusal::NoSuchOption)?;
        let (call, allows) = (call.clone(), chosen.1);
        self.answer(request, &json!({"outcome": {"outcome": "selected", "optionId": option}}), step);
        if allows {
            step.events.extend(self.calls.allowed(&call).map(|call| Event::Call(Box::new(call))));
        } else {
            self.calls.denied(&call);
        }
        Ok(())
    }

    fn answer(&mut self, request: RequestKey, answer: &Value, step: &mut Step) {
        if let Some((id, _)) = self.theirs.close(request) {
            step.lines.push(rpc::answer(&id, answer));
        }
    }

    fn was_denied(&mut self, asked: &Asked) {
        if let Asked::Permission { call, .. } = asked {
            self.calls.denied(call);
        }
    }

    /// Cancels every open request of the agent.
    fn withdraw_all(&mut self, reason: Withdrawal, step: &mut Step) {
        for (request, id, asked) in self.theirs.close_all() {
            step.lines.push(rpc::answer(&id, &cancelled(&asked)));
            step.events.push(Event::Withdrawn { request, reason });
        }
    }

    fn settle(&mut self, is_cancelled: bool, step: &mut Step) {
        self.message = None;
        let settled = self.calls.settle(is_cancelled);
        step.events.extend(settled.into_iter().map(|call| Event::Call(Box::new(call))));
    }

    fn message(&mut self, message: Message, step: &mut Step) {
        match message {
            Message::Request { id, method, params } => self.request(id, method, params, step),
            Message::Notification { method, params } => self.notification(method, params, step),
            Message::Answer { id, outcome } => match self.ours.close(&id) {
                Some(action) => self.answered(action, outcome, step),
                None => {
                    let json = match outcome {
                        Ok(result) => json!({"id": id.text(), "result": result}),
                        Err(error) => json!({"id": id.text(), "code": error.code, "message": error.message}),
                    };
                    step.events.push(unknown("answer", &json));
                }
            },
            Message::Malformed { waits, json } => {
                if let Some(id) = waits {
                    step.lines.push(rpc::error(&id, rpc::INVALID_REQUEST, "Invalid request"));
                }
                step.events.push(unknown("message", &json));
            }
        }
    }

    fn request(&mut self, id: Id, method: String, params: Value, step: &mut Step) {
        if let Some((request, asked)) = self.theirs.close_id(&id) {
            // An answer to this id could go to either request, so neither is allowed.
            self.was_denied(&asked);
            step.lines.push(rpc::answer(&id, &cancelled(&asked)));
            step.events.push(Event::Withdrawn { request, reason: Withdrawal::Repeated });
            let reason = "the id is that of a request that is open";
            step.lines.push(rpc::error(&id, rpc::INVALID_REQUEST, reason));
            step.events.push(refused(method, reason, &params));
            return;
        }
        let refusal = match method.as_str() {
            "session/request_permission" => self.permission(&id, &params, step),
            "elicitation/create" => self.question(&id, &params, step),
            // Vendors add requests of their own, and some wait for the answer before they go on.
            _ => Err((rpc::METHOD_NOT_FOUND, "Method not found".to_owned())),
        };
        if let Err((code, reason)) = refusal {
            step.lines.push(rpc::error(&id, code, &reason));
            step.events.push(refused(method, &reason, &params));
        }
    }

    fn permission(&mut self, id: &Id, params: &Value, step: &mut Step) -> Result<(), (i64, String)> {
        let invalid = |reason: &str| (rpc::INVALID_PARAMS, reason.to_owned());
        let (options, unusable) = options(params.get("options"));
        if options.is_empty() {
            return Err(invalid("the request has no option that can be chosen"));
        }
        let asked = params.get("toolCall").and_then(|call| self.calls.asked(call));
        let (call, explanation, change, odd) = asked.ok_or_else(|| invalid("the request names no call"))?;
        self.push_call(change, odd, step);
        self.message = None;
        let allows =
            |kind| matches!(kind, OptionKind::AllowOnce | OptionKind::AllowAlways | OptionKind::Other);
        let asked = Asked::Permission {
            call: call.id.clone(),
            options: options.iter().map(|option| (option.id.clone(), allows(option.kind))).collect(),
        };
        let message = ("session/request_permission", params);
        let Some(request) = self.open(id, asked, message, step) else { return Ok(()) };
        let session = params.get("sessionId").and_then(Value::as_str);
        let session = session.filter(|id| self.is_foreign(id)).map(str::to_owned);
        let unusable = unusable.iter().map(shortened).collect();
        let permission = Permission { request, call, explanation, options, unusable, session };
        step.events.push(Event::Permission(Box::new(permission)));
        Ok(())
    }

    fn question(&mut self, id: &Id, params: &Value, step: &mut Step) -> Result<(), (i64, String)> {
        let (call, message, fields) =
            crate::question::read(params).map_err(|reason| (rpc::INVALID_PARAMS, reason))?;
        let place = ("elicitation/create", params);
        let Some(request) = self.open(id, Asked::Question(fields.clone()), place, step) else {
            return Ok(());
        };
        step.events.push(Event::Question(Box::new(Question {
            request,
            call,
            message,
            fields,
            params: params.clone(),
        })));
        Ok(())
    }

    /// Opens a request, or cancels it at once where no answer of the user can count any more.
    fn open(
        &mut self,
        id: &Id,
        asked: Asked,
        (method, params): (&str, &Value),
        step: &mut Step,
    ) -> Option<RequestKey> {
        let reason = if self.is_stopping || (self.is_in_turn && self.is_interrupted) {
            "its turn was cancelled"
        } else if self.theirs.len() >= MOST_OPEN {
            "too many requests are open"
        } else {
            let request = self.theirs.next_key();
            self.theirs.open(request, id.clone(), asked);
            return Some(request);
        };
        self.was_denied(&asked);
        step.lines.push(rpc::answer(id, &cancelled(&asked)));
        step.events.push(refused(method.to_owned(), reason, params));
        None
    }

    fn is_foreign(&self, session: &str) -> bool {
        self.session.as_ref().is_some_and(|ours| ours.id != session)
    }

    fn notification(&mut self, method: String, params: Value, step: &mut Step) {
        match method.as_str() {
            "session/update" => {
                let session = params.get("sessionId").and_then(Value::as_str);
                match params.get("update") {
                    // Before the answer to `session/new` the session has no name here: updates may come first.
                    Some(update) if !session.is_some_and(|id| self.is_foreign(id)) => {
                        self.update(update, step);
                    }
                    _ => step.events.push(unknown("session/update", &params)),
                }
            }
            "$/cancel_request" => {
                let request = params.get("requestId").map(Id::new);
                match request.and_then(|id| Some((self.theirs.close_id(&id)?, id))) {
                    Some(((request, asked), id)) => {
                        self.was_denied(&asked);
                        step.lines.push(rpc::error(&id, rpc::REQUEST_CANCELLED, "Request cancelled"));
                        step.events.push(Event::Withdrawn { request, reason: Withdrawal::ByAgent });
                    }
                    None => step.events.push(unknown("$/cancel_request", &params)),
                }
            }
            _ => step.events.push(unknown(&method, &params)),
        }
    }

    fn answered(&mut self, action: Action, outcome: Result<Value, RpcError>, step: &mut Step) {
        if let Err(error) = &outcome
            && error.code == rpc::LOGIN_REQUIRED
        {
            let logins = self.ready.as_ref().map(|ready| ready.logins.clone()).unwrap_or_default();
            step.events.push(Event::LoginRequired { message: error.message.clone(), logins });
        }
        if action == Action::Prompt {
            return self.turn_ended(outcome, step);
        }
        match outcome {
            Ok(result) => self.succeeded(action, &result, step),
            Err(error) => {
                if matches!(action, Action::LoadSession) {
                    // Calls of a history that was repeated in part.
                    self.settle(true, step);
                }
                step.events.push(Event::Failed { action, failure: Failure::Refused(error) });
            }
        }
    }

    fn succeeded(&mut self, action: Action, result: &Value, step: &mut Step) {
        let unusable = |action, reason| Event::Failed { action, failure: Failure::Unusable(reason) };
        match action {
            Action::Initialize => match read::ready(result) {
                Ok(ready) => {
                    self.ready = Some(ready.clone());
                    step.events.push(Event::Ready(Box::new(ready)));
                }
                Err(reason) => step.events.push(unusable(action, reason)),
            },
            Action::NewSession | Action::LoadSession | Action::ResumeSession => {
                // The calls of a history that was repeated.
                self.settle(false, step);
                // Only a new session is named by its answer.
                let continued = self.continued.take().filter(|_| action != Action::NewSession);
                match read::session(result, continued.as_deref()) {
                    Ok(session) => {
                        let (_, odd) = read::config_options(result.get("configOptions"));
                        step.events.extend(odd.iter().map(|odd| unknown("configOptions", odd)));
                        self.session = Some(session.clone());
                        step.events.push(Event::Session(Box::new(session)));
                    }
                    Err(reason) => step.events.push(unusable(action, reason)),
                }
            }
            Action::ListSessions => {
                let (sessions, next, odd) = read::stored(result);
                step.events.push(Event::Stored { sessions, next });
                step.events.extend(odd.iter().map(|odd| unknown("sessions", odd)));
            }
            Action::SetMode { id } => {
                if result.get("configOptions").is_some() {
                    self.set_options(result.get("configOptions"), step);
                } else {
                    self.mode_is(id.clone(), step);
                }
                step.events.push(Event::Done(Action::SetMode { id }));
            }
            // The answer says what is in force. Without it nothing is known to have changed.
            Action::SetOption { .. } => match result.get("configOptions").filter(|list| list.is_array()) {
                Some(list) => {
                    self.set_options(Some(list), step);
                    step.events.push(Event::Done(action));
                }
                None => {
                    let reason = "the answer does not say what the settings are now".to_owned();
                    step.events.push(unusable(action, reason));
                }
            },
            Action::SetModel { id } => {
                if let Some(session) = &mut self.session {
                    session.model = Some(id.clone());
                }
                step.events.push(Event::Done(Action::SetModel { id }));
            }
            action => step.events.push(Event::Done(action)),
        }
    }

    fn turn_ended(&mut self, outcome: Result<Value, RpcError>, step: &mut Step) {
        let (end, tokens) = match outcome {
            Ok(result) => {
                let reason = result.get("stopReason").unwrap_or(&Value::Null);
                let end = match v1::StopReason::deserialize(reason) {
                    Ok(v1::StopReason::EndTurn) => TurnEnd::Done,
                    Ok(v1::StopReason::MaxTokens) => TurnEnd::MaxTokens,
                    Ok(v1::StopReason::MaxTurnRequests) => TurnEnd::MaxRequests,
                    Ok(v1::StopReason::Refusal) => TurnEnd::Refusal,
                    Ok(v1::StopReason::Cancelled) => TurnEnd::Cancelled,
                    _ => TurnEnd::Other(reason.as_str().map_or_else(|| shortened(reason), str::to_owned)),
                };
                (end, result.get("usage").and_then(read::tokens))
            }
            Err(error) => (TurnEnd::Failed(Failure::Refused(error)), None),
        };
        self.withdraw_all(Withdrawal::TurnEnded, step);
        self.settle(self.is_interrupted || end == TurnEnd::Cancelled, step);
        self.is_in_turn = false;
        self.is_interrupted = false;
        step.events.push(Event::TurnEnded { end, tokens });
    }

    /// One `session/update`.
    fn update(&mut self, update: &Value, step: &mut Step) {
        let Some(kind) = update.get("sessionUpdate").and_then(Value::as_str) else {
            return step.events.push(unknown("session/update", update));
        };
        let known = match kind {
            "agent_message_chunk" => self.chunk(Voice::Agent, update, step),
            "agent_thought_chunk" => self.chunk(Voice::Thinking, update, step),
            "user_message_chunk" => self.chunk(Voice::User, update, step),
            "tool_call" | "tool_call_update" => match self.calls.update(update, kind == "tool_call") {
                Some((call, odd)) => {
                    self.message = None;
                    self.push_call(call, odd, step);
                    true
                }
                None => false,
            },
            "plan" => {
                let (entries, odd) = read::items::<v1::PlanEntry>(update.get("entries"));
                self.message = None;
                step.events.push(Event::Plan(entries.into_iter().map(read::plan_entry).collect()));
                step.events.extend(odd.iter().map(|odd| unknown("plan", odd)));
                true
            }
            "available_commands_update" => {
                let (commands, odd) = read::items::<v1::AvailableCommand>(update.get("availableCommands"));
                step.events.push(Event::Commands(commands.into_iter().map(read::command).collect()));
                step.events.extend(odd.iter().map(|odd| unknown("availableCommands", odd)));
                true
            }
            "current_mode_update" => match read::text(update, "currentModeId") {
                Some(id) => {
                    self.mode_is(id, step);
                    true
                }
                None => false,
            },
            "config_option_update" => {
                self.set_options(update.get("configOptions"), step);
                true
            }
            "session_info_update" => match update.get("title") {
                Some(Value::String(title)) => {
                    step.events.push(Event::Title(Some(title.clone())));
                    true
                }
                Some(Value::Null) => {
                    step.events.push(Event::Title(None));
                    true
                }
                // A time, or a vendor's own state.
                _ => false,
            },
            "usage_update" => match v1::UsageUpdate::deserialize(update) {
                Ok(usage) => {
                    step.events.push(Event::Usage(read::usage(usage)));
                    true
                }
                Err(_) => false,
            },
            "notice" => self.notice(update, step),
            "compaction_update" => self.compaction(update, step),
            _ => false,
        };
        if !known {
            step.events.push(unknown(kind, update));
        }
    }

    fn chunk(&mut self, voice: Voice, update: &Value, step: &mut Step) -> bool {
        let Some(block) = update.get("content") else { return false };
        let content = read::content(block);
        let tokens = update.pointer("/_meta/usage").and_then(read::tokens);
        if let Some(tokens) = tokens {
            step.events.push(Event::Usage(Usage { tokens: Some(tokens), ..Usage::default() }));
        }
        // An empty text carries nothing but such figures.
        if content == Content::Text(String::new()) {
            return true;
        }
        let message = read::text(update, "messageId");
        let this = (voice, message.clone());
        let is_new = self.message.as_ref() != Some(&this);
        self.message = Some(this);
        step.events.push(Event::Said { voice, message, is_new, content });
        true
    }

    fn notice(&self, update: &Value, step: &mut Step) -> bool {
        let Some(title) = read::text(update, "title") else { return false };
        let severity = read::text(update, "severity").unwrap_or_default();
        let description = read::text(update, "description");
        step.events.push(Event::Notice { severity, title, description });
        true
    }

    fn compaction(&self, update: &Value, step: &mut Step) -> bool {
        let Some(id) = read::text(update, "compactionId") else { return false };
        let Some(status) = read::text(update, "status") else { return false };
        step.events.push(Event::Compaction { id, status, error: read::text(update, "error") });
        true
    }

    fn mode_is(&mut self, id: String, step: &mut Step) {
        if let Some(session) = &mut self.session {
            session.mode = Some(id.clone());
        }
        step.events.push(Event::Mode { id });
    }

    fn set_options(&mut self, list: Option<&Value>, step: &mut Step) {
        let (options, odd) = read::config_options(list);
        step.events.extend(odd.iter().map(|odd| unknown("configOptions", odd)));
        let mode = options.iter().find(|option| read::is_mode(option)).map(|option| &option.value);
        if let Some(OptionValue::Choice { value, .. }) = mode {
            let is_new = self.session.as_ref().is_none_or(|session| session.mode.as_ref() != Some(value));
            if is_new {
                self.mode_is(value.clone(), step);
            }
        }
        if let Some(session) = &mut self.session {
            session.options.clone_from(&options);
        }
        step.events.push(Event::Options(options));
    }

    fn push_call(&mut self, call: Call, odd: Vec<Odd>, step: &mut Step) {
        let is_empty = call == Call { id: call.id.clone(), ..Call::default() };
        if !is_empty {
            step.events.push(Event::Call(Box::new(call)));
        }
        step.events.extend(odd.iter().map(|(field, value)| unknown(&format!("tool_call.{field}"), value)));
    }
}

/// The options of a permission request, and those that cannot be chosen.
fn options(list: Option<&Value>) -> (Vec<PermissionOption>, Vec<Value>) {
    let (read, mut unusable) = read::items::<Map<String, Value>>(list);
    let mut options: Vec<(PermissionOption, Value)> = Vec::new();
    for option in read.into_iter().map(Value::Object) {
        match read::text(&option, "optionId") {
            Some(id) => {
                let name = read::text(&option, "name").unwrap_or_else(|| id.clone());
                let kind = option.get("kind").map(v1::PermissionOptionKind::deserialize);
                let kind = match kind {
                    Some(Ok(v1::PermissionOptionKind::AllowOnce)) => OptionKind::AllowOnce,
                    Some(Ok(v1::PermissionOptionKind::AllowAlways)) => OptionKind::AllowAlways,
                    Some(Ok(v1::PermissionOptionKind::RejectOnce)) => OptionKind::RejectOnce,
                    Some(Ok(v1::PermissionOptionKind::RejectAlways)) => OptionKind::RejectAlways,
                    _ => OptionKind::Other,
                };
                options.push((PermissionOption { id, name, kind }, option));
            }
            None => unusable.push(option),
        }
    }
    // “Reject” with the id of “Allow” would allow: with an id that occurs twice the agent cannot know what was chosen.
    let mut n_uses = std::collections::HashMap::<String, usize>::new();
    options.iter().for_each(|(option, _)| *n_uses.entry(option.id.clone()).or_default() += 1);
    let (usable, repeated): (Vec<_>, Vec<_>) =
        options.into_iter().partition(|(option, _)| n_uses.get(&option.id) == Some(&1));
    unusable.extend(repeated.into_iter().map(|(_, json)| json));
    (usable.into_iter().map(|(option, _)| option).collect(), unusable)
}

fn unknown(kind: &str, json: &Value) -> Event {
    Event::Unknown { kind: kind.to_owned(), json: shortened(json) }
}

fn refused(method: String, reason: &str, params: &Value) -> Event {
    Event::Refused { method, reason: reason.to_owned(), params: shortened(params) }
}

//! Commands to the agent as lines. A refused one changes nothing.

use super::{AcpClient, ClientStep};
use crate::command::{AcpCommand, AcpRefusal, NewValue, PromptPart};
use crate::event::{AcpAction, AcpEvent, AcpSession, OptionValue, Ready, RequestKey, Withdrawal};
use crate::read;
use crate::requests::{AskedRequest, cancelled};
use crate::rpc;
use agent_client_protocol_schema::{ProtocolVersion, v1};
use deskbell_agent::form;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

impl AcpClient {
    /// Carries out a command, or says why it cannot be. A refused one changes nothing.
    pub fn command(&mut self, command: AcpCommand) -> Result<ClientStep, AcpRefusal> {
        if self.is_stopping {
            return Err(AcpRefusal::Stopping);
        }
        let mut step = ClientStep::default();
        match command {
            AcpCommand::Initialize { version } => self.initialize(version, &mut step)?,
            AcpCommand::Login { method } => {
                let known = self.ready()?.logins.iter().any(|login| login.id == method);
                known.then_some(()).ok_or(AcpRefusal::NotOffered)?;
                self.ask(AcpAction::Login, "authenticate", &v1::AuthenticateRequest::new(method), &mut step);
            }
            AcpCommand::Logout => {
                self.ready()?.abilities.logout.then_some(()).ok_or(AcpRefusal::NotOffered)?;
                self.ask(AcpAction::Logout, "logout", &json!({}), &mut step);
            }
            AcpCommand::NewSession { folder } => {
                self.ready()?;
                self.has_no_session()?;
                let params = v1::NewSessionRequest::new(PathBuf::from(folder));
                self.ask(AcpAction::NewSession, "session/new", &params, &mut step);
            }
            AcpCommand::LoadSession { id, folder } => {
                self.ready()?.abilities.load.then_some(()).ok_or(AcpRefusal::NotOffered)?;
                self.has_no_session()?;
                let params = v1::LoadSessionRequest::new(id.clone(), PathBuf::from(folder));
                self.continued = Some(id);
                self.ask(AcpAction::LoadSession, "session/load", &params, &mut step);
            }
            AcpCommand::ResumeSession { id, folder } => {
                self.ready()?.abilities.resume.then_some(()).ok_or(AcpRefusal::NotOffered)?;
                self.has_no_session()?;
                let params = v1::ResumeSessionRequest::new(id.clone(), PathBuf::from(folder));
                self.continued = Some(id);
                self.ask(AcpAction::ResumeSession, "session/resume", &params, &mut step);
            }
            AcpCommand::ListSessions { folder, next } => {
                self.ready()?.abilities.list.then_some(()).ok_or(AcpRefusal::NotOffered)?;
                let params = v1::ListSessionsRequest::new().cwd(folder.map(PathBuf::from)).cursor(next);
                self.ask(AcpAction::ListSessions, "session/list", &params, &mut step);
            }
            AcpCommand::DeleteSession { id } => {
                self.ready()?.abilities.delete.then_some(()).ok_or(AcpRefusal::NotOffered)?;
                let params = v1::DeleteSessionRequest::new(id.clone());
                self.ask(AcpAction::DeleteSession { id }, "session/delete", &params, &mut step);
            }
            AcpCommand::Prompt(parts) => self.prompt(parts, &mut step)?,
            AcpCommand::Interrupt => {
                self.is_in_turn.then_some(()).ok_or(AcpRefusal::NoTurn)?;
                self.interrupt(&mut step);
            }
            AcpCommand::SetMode { id } => self.set_mode(id, &mut step)?,
            AcpCommand::SetModel { id } => self.set_model(id, &mut step)?,
            AcpCommand::SetOption { id, value } => self.set_option(id, value, &mut step)?,
            AcpCommand::Choose { request, option } => self.choose(request, option, None, &mut step)?,
            AcpCommand::Answer { request, option, answers } => {
                self.choose(request, option, Some(answers), &mut step)?;
            }
            AcpCommand::Fill { request, values } => {
                let Some(AskedRequest::Question(fields)) = self.theirs.get(request) else {
                    return Err(AcpRefusal::NotOpen);
                };
                let content =
                    form::filled(fields, values.into_iter().collect()).map_err(AcpRefusal::WrongField)?;
                self.answer(request, &json!({"action": "accept", "content": content}), &mut step);
            }
            AcpCommand::Decline { request } => {
                let Some(AskedRequest::Question(_)) = self.theirs.get(request) else {
                    return Err(AcpRefusal::NotOpen);
                };
                self.answer(request, &json!({"action": "decline"}), &mut step);
            }
            AcpCommand::Cancel { request } => {
                let (id, asked) = self.theirs.close(request).ok_or(AcpRefusal::NotOpen)?;
                self.was_denied(&asked);
                step.lines.push(rpc::answer(&id, &cancelled(&asked)));
            }
            AcpCommand::Stop => self.stop(&mut step),
        }
        Ok(step)
    }

    fn ready(&self) -> Result<&Ready, AcpRefusal> {
        self.ready.as_ref().ok_or(AcpRefusal::NotNow)
    }

    fn live_session(&self) -> Result<&AcpSession, AcpRefusal> {
        self.session.as_ref().ok_or(AcpRefusal::NoSession)
    }

    fn has_no_session(&self) -> Result<(), AcpRefusal> {
        let asked = [AcpAction::NewSession, AcpAction::LoadSession, AcpAction::ResumeSession];
        let has = self.session.is_some() || asked.iter().any(|action| self.ours.has(action));
        if has { Err(AcpRefusal::HasSession) } else { Ok(()) }
    }

    fn ask(&mut self, action: AcpAction, method: &str, params: &impl Serialize, step: &mut ClientStep) {
        let id = self.ours.open(action);
        step.lines.push(rpc::request(id, method, params));
    }

    /// Neither files nor terminals are offered: with files the client writes, which no permission request covers.
    fn initialize(&mut self, version: String, step: &mut ClientStep) -> Result<(), AcpRefusal> {
        if self.ready.is_some() || self.ours.has(&AcpAction::Initialize) {
            return Err(AcpRefusal::NotNow);
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
        self.ask(AcpAction::Initialize, "initialize", &params, step);
        Ok(())
    }

    fn prompt(&mut self, parts: Vec<PromptPart>, step: &mut ClientStep) -> Result<(), AcpRefusal> {
        let session = self.live_session()?.id.clone();
        if self.is_in_turn {
            return Err(AcpRefusal::TurnRunning);
        }
        let abilities = self.ready()?.abilities;
        let mut blocks = Vec::new();
        for part in parts {
            blocks.push(match part {
                PromptPart::Text(text) if text.is_empty() => continue,
                PromptPart::Text(text) => v1::ContentBlock::Text(v1::TextContent::new(text)),
                PromptPart::Image { media_type, data } => {
                    abilities.images.then_some(()).ok_or(AcpRefusal::NotOffered)?;
                    v1::ContentBlock::Image(v1::ImageContent::new(data, media_type))
                }
                PromptPart::Link { uri, name } => {
                    v1::ContentBlock::ResourceLink(v1::ResourceLink::new(name, uri))
                }
                // Every agent takes text; the file's name is lost.
                PromptPart::File { text, .. } if !abilities.embedded_files => {
                    v1::ContentBlock::Text(v1::TextContent::new(text))
                }
                PromptPart::File { uri, text } => {
                    let file = v1::TextResourceContents::new(text, uri);
                    let file = v1::EmbeddedResourceResource::TextResourceContents(file);
                    v1::ContentBlock::Resource(v1::EmbeddedResource::new(file))
                }
                PromptPart::Document { uri, media_type, data } => {
                    abilities.embedded_files.then_some(()).ok_or(AcpRefusal::NotOffered)?;
                    let file = v1::BlobResourceContents::new(data, uri).mime_type(media_type);
                    let file = v1::EmbeddedResourceResource::BlobResourceContents(file);
                    v1::ContentBlock::Resource(v1::EmbeddedResource::new(file))
                }
            });
        }
        if blocks.is_empty() {
            return Err(AcpRefusal::Empty);
        }
        self.ask(AcpAction::Prompt, "session/prompt", &v1::PromptRequest::new(session, blocks), step);
        self.is_in_turn = true;
        self.is_interrupted = false;
        self.message = None;
        // Version 1 confirms no prompt: its turn begins when it is sent.
        step.events.push(AcpEvent::TurnStarted);
        Ok(())
    }

    /// The order matters: an agent that waits for an answer may not read the cancellation before it.
    fn interrupt(&mut self, step: &mut ClientStep) {
        self.withdraw_all(Withdrawal::Cancelled, step);
        if let Some(session) = &self.session {
            let params = v1::CancelNotification::new(session.id.clone());
            step.lines.push(rpc::notification("session/cancel", &params));
        }
        self.is_interrupted = true;
    }

    fn stop(&mut self, step: &mut ClientStep) {
        if self.is_in_turn {
            self.interrupt(step);
        } else {
            self.withdraw_all(Withdrawal::Cancelled, step);
        }
        let closes = self.ready.as_ref().is_some_and(|ready| ready.abilities.close);
        if let (true, Some(session)) = (closes, &self.session) {
            let params = v1::CloseSessionRequest::new(session.id.clone());
            self.ask(AcpAction::CloseSession, "session/close", &params, step);
        }
        self.is_stopping = true;
    }

    fn set_mode(&mut self, mode: String, step: &mut ClientStep) -> Result<(), AcpRefusal> {
        let session = self.live_session()?;
        if !session.modes.iter().any(|known| known.id == mode) {
            return Err(AcpRefusal::NoSuchSetting);
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
                self.ask(AcpAction::SetMode { id: mode }, "session/set_mode", &params, step);
                Ok(())
            }
        }
    }

    fn set_model(&mut self, model: String, step: &mut ClientStep) -> Result<(), AcpRefusal> {
        let session = self.live_session()?;
        // Models among the options replace those of the older form: codex-acp 2.6.0 has both, with other ids.
        if let Some(option) = session.options.iter().find(|option| read::is_model(option)) {
            let id = option.id.clone();
            return self.set_option(id, NewValue::Choice(model), step);
        }
        session.models.iter().find(|known| known.id == model).ok_or(AcpRefusal::NoSuchSetting)?;
        // Not in the schema. Gemini CLI 0.61.0 has its models in this form only.
        let params = json!({"sessionId": session.id, "modelId": model});
        self.ask(AcpAction::SetModel { id: model }, "session/set_model", &params, step);
        Ok(())
    }

    fn set_option(&mut self, id: String, value: NewValue, step: &mut ClientStep) -> Result<(), AcpRefusal> {
        let session = self.live_session()?;
        let option =
            session.options.iter().find(|option| option.id == id).ok_or(AcpRefusal::NoSuchSetting)?;
        let (sent, words) = match (&option.value, value) {
            (OptionValue::Choice { choices, .. }, NewValue::Choice(value))
                if choices.iter().any(|choice| choice.id == value) =>
            {
                (v1::SessionConfigOptionValue::value_id(value.clone()), value)
            }
            (OptionValue::Switch(_), NewValue::Switch(on)) => {
                (v1::SessionConfigOptionValue::boolean(on), on.to_string())
            }
            _ => return Err(AcpRefusal::NoSuchSetting),
        };
        let action = if read::is_mode(option) {
            AcpAction::SetMode { id: words }
        } else {
            AcpAction::SetOption { id: id.clone(), value: words }
        };
        let params = v1::SetSessionConfigOptionRequest::new(session.id.clone(), id, sent);
        self.ask(action, "session/set_config_option", &params, step);
        Ok(())
    }

    /// Two options can have the same kind, so only the id counts. The kind says what becomes of the call. `answers` are
    /// those to the questions in the request.
    fn choose(
        &mut self,
        request: RequestKey,
        option: String,
        answers: Option<Vec<(usize, String)>>,
        step: &mut ClientStep,
    ) -> Result<(), AcpRefusal> {
        let Some(AskedRequest::Permission { call, options }) = self.theirs.get(request) else {
            return Err(AcpRefusal::NotOpen);
        };
        let chosen = options.iter().find(|(id, _)| *id == option).ok_or(AcpRefusal::NoSuchOption)?;
        let (call, allows) = (call.clone(), chosen.1);
        let mut answer = json!({"outcome": {"outcome": "selected", "optionId": option}});
        if let Some(answers) = answers {
            // qwen-code 0.24.4 reads them here, by the index of the question.
            let by_index = answers.into_iter().map(|(at, answer)| (at.to_string(), answer.into()));
            answer["answers"] = by_index.collect::<Map<String, Value>>().into();
        }
        self.answer(request, &answer, step);
        if allows {
            step.events.extend(self.calls.allowed(&call).map(|call| AcpEvent::Call(Box::new(call))));
        } else {
            self.calls.denied(&call);
        }
        Ok(())
    }

    fn answer(&mut self, request: RequestKey, answer: &Value, step: &mut ClientStep) {
        if let Some((id, _)) = self.theirs.close(request) {
            step.lines.push(rpc::answer(&id, answer));
        }
    }
}

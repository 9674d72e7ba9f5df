//! Messages sent to a session through its handle, and the replies to them.

use super::Actor;
use crate::acp::ChosenAgent;
use crate::api::*;
use crate::changes::EditedFiles;
use crate::export::Heading;
use crate::launch::{agent_name, resume_command};
use crate::named_files::NamedFiles;
use crate::session::machine::Input;
use crate::session::window_view::item_of_row;
use crate::session::{CallImages, LocalMessage, Message, Subscriber, export, gone};
use std::cell::RefCell;
use std::path::Path;
use tokio::sync::oneshot;

impl Actor {
    /// Handles a message and replies to the caller, if it still waits.
    pub(super) async fn message(&mut self, message: LocalMessage) {
        match message {
            LocalMessage::Any(message) => self.any_message(message).await,
            LocalMessage::HibernateAfter(after_ms) => self.step(Input::HibernateAfter(after_ms)).await,
            LocalMessage::StartWithoutAsking(reply) => {
                let outcome = if self.core.is_ending() {
                    Err(gone())
                } else {
                    self.answered(Input::StartWithoutAsking).await
                };
                // A caller that no longer waits needs no reply.
                drop(reply.send(outcome));
            }
            // A caller that has gone away needs no reply.
            LocalMessage::Slice { first, reply } => drop(reply.send(self.core.transcript().slice(first))),
            LocalMessage::Output { item_id, reply } => {
                drop(reply.send(self.core.transcript().output(&item_id).cloned()))
            }
            LocalMessage::Images { item_id, reply } => {
                let images = self.core.transcript().images(&item_id);
                let id = self.claude_conversation();
                let (config, project) = (&self.open.agent_config, &self.open.record.project);
                let returned = images.map(|(images, stored_id)| CallImages {
                    images,
                    stored_id,
                    transcript: id.map(|id| (config.clone(), project.clone(), id)),
                });
                // A caller that has gone away needs no reply.
                drop(reply.send(returned));
            }
            LocalMessage::TaskOutput { task_id, reply } => {
                drop(reply.send(self.core.task_output(&task_id).map(Path::to_owned)))
            }
            LocalMessage::Edited { since_prompt, reply } => {
                let edited = self.core.conversation().map(|conversation| EditedFiles {
                    config: self.open.agent_config.clone(),
                    project: self.open.record.project.clone(),
                    conversation: conversation.to_owned(),
                    since_prompt: since_prompt
                        .then(|| self.core.transcript().last_prompt().unwrap_or_default()),
                    files: self.core.transcript().files().iter().map(|file| file.path.clone()).collect(),
                });
                // A caller that has gone away needs no reply.
                drop(reply.send(edited));
            }
            LocalMessage::NamedFiles(reply) => {
                let files = NamedFiles {
                    config: self.open.agent_config.clone(),
                    project: self.open.record.project.clone(),
                    conversation: self.claude_conversation(),
                };
                // A caller that has gone away needs no reply.
                drop(reply.send(files));
            }
            LocalMessage::ServerLog { server, reply } => {
                let conversation = self.core.conversation_of_server(&server).map(str::to_owned);
                let place = conversation.map(|id| (self.open.record.project.clone(), id));
                // A caller that has gone away needs no reply.
                drop(reply.send(place));
            }
            LocalMessage::Refresh { is_live, reply } => {
                let is_replaced = self.refresh(is_live).await;
                // A caller that has gone away needs no answer.
                let _ = reply.send(is_replaced);
            }
            LocalMessage::StoredPrompt { item_id, reply } => {
                drop(reply.send(self.core.transcript().stored_prompt(&item_id)));
            }
            LocalMessage::NextStart { options, reply } => {
                let start = self.core.next_start(*options);
                let next = (start, self.open.launcher.clone(), self.open.record.project.clone());
                // A caller that has gone away needs no reply.
                drop(reply.send(next));
            }
            LocalMessage::Export { format, reply } => {
                self.flush_items().await;
                drop(reply.send(self.exported(format)));
            }
            LocalMessage::Copy { copy: CopyOf::ResumeCommand, reply } => {
                let record = &self.open.record;
                // The command is Claude Code's: another agent's conversation is not known to it.
                let is_claude = record.agent != AgentKind::Acp;
                let id = self.session().agent_session_id.filter(|_| is_claude);
                let config = record.memory.config_folder.as_deref();
                drop(reply.send(id.map(|id| resume_command(&record.project, config, &id))));
            }
            LocalMessage::Copy { copy, reply } => {
                drop(reply.send(self.core.transcript().text_of(&self.session().title, &copy)));
            }
            // A caller that has gone away needs no reply.
            LocalMessage::LastAnswer(reply) => drop(reply.send(self.core.transcript().last_answer())),
            // A caller that has gone away needs no reply.
            LocalMessage::Record { file, reply } => drop(reply.send(self.record(file))),
        }
    }

    async fn any_message(&mut self, message: Message) {
        match message {
            Message::Command { command, reply } => self.command(command, reply).await,
            Message::Complain(problem) => {
                let error = CommandError {
                    code: ErrorCode::BadCommand,
                    message: "The command could not be read.".to_owned(),
                    detail: Some(problem),
                };
                self.emit(Event::CommandFailed { error }).await;
            }
            Message::Start if self.core.is_ending() => {}
            Message::Start => self.step(Input::Start).await,
            Message::Subscribe { subscriber, reply } => self.subscribe(subscriber, reply).await,
            Message::Show { feed, show, reply } => {
                self.flush_items().await;
                let near = RefCell::new(Vec::new());
                feed.show(show, |first, end| {
                    let items = self.subscribers.window_items(self.core.transcript(), first, end);
                    items.inspect(|row| near.borrow_mut().push(item_of_row(row).clone()))
                });
                self.core.want_colours(near.into_inner().iter());
                // The caller may be gone; its window receives the events all the same.
                let _ = reply.send(());
            }
            Message::Place { item_id, part, reply } => {
                let transcript = self.core.transcript();
                let place = |item| self.subscribers.window_place(item, part, transcript);
                // A caller that has gone away needs no reply.
                let _ = reply.send(transcript.item(&item_id).map(place));
            }
            // A caller that has gone away needs no reply.
            Message::Sender { item_id, reply } => {
                drop(reply.send(self.core.transcript().sender(&item_id).cloned()));
            }
            Message::Snapshot(reply) => {
                self.flush().await;
                // A caller that has gone away needs no snapshot.
                let total = self.core.transcript().n_rows();
                let rows = RowRange { end: total, total, ..RowRange::default() };
                drop(reply.send(self.snapshot(rows, self.core.transcript().items().cloned().collect())));
            }
            Message::Finish(reply) => {
                self.core.finish();
                self.ending.push(reply);
            }
            Message::Close(reply) => {
                self.core.close();
                self.ending.push(reply);
            }
        }
    }

    /// The conversation as it is now, and the place of the agent's own transcript, which has its images.
    fn exported(&self, format: ExportFormat) -> export::Snapshot {
        let (session, record) = (self.session(), &self.open.record);
        let heading = Heading {
            title: session.title,
            project: session.project,
            agent: session.agent,
            agent_session_id: session.agent_session_id,
        };
        export::Snapshot {
            conversation: self.core.transcript().exported(&heading.title, format),
            heading,
            config: self.open.agent_config.clone(),
            project: record.project.clone(),
        }
    }

    async fn command(&mut self, command: Command, reply: Option<oneshot::Sender<Result<(), CommandError>>>) {
        #[cfg(test)]
        crate::stages::passed(module_path!(), &command);
        let new_id = || PromptId::new(uuid::Uuid::new_v4().to_string());
        self.read_plan(&command).await;
        let outcome = match self.core.accept(command, new_id) {
            Ok(input) => self.answered(input).await,
            Err(error) => Err(error),
        };
        match reply {
            // A caller that no longer waits needs no reply.
            Some(reply) => drop(reply.send(outcome)),
            None => {
                if let Err(error) = outcome {
                    self.emit(Event::CommandFailed { error }).await;
                }
            }
        }
    }

    /// Sends a snapshot to a new subscriber, then adds it: it receives all later events.
    async fn subscribe(&mut self, subscriber: Subscriber, reply: oneshot::Sender<Snapshot>) {
        // Pending events go to the existing subscribers only.
        self.flush().await;
        let (rows, items) = self.subscribers.begin(&subscriber, self.core.transcript());
        match subscriber {
            Subscriber::Merged(_) => self.core.want_colours(items.iter().map(item_of_row)),
            Subscriber::Every(_) => self.core.want_all_colours(),
            Subscriber::Summary(_) => {}
        }
        let mut snapshot = self.snapshot(rows, items);
        self.subscribers.place_files(&subscriber, &mut snapshot.files);
        if reply.send(snapshot).is_ok() {
            self.subscribers.add(subscriber);
        }
    }

    /// Runs a step and returns its refusal, if any.
    async fn answered(&mut self, input: Input) -> Result<(), CommandError> {
        self.refused = None;
        self.step(input).await;
        self.refused.take().map_or(Ok(()), Err)
    }

    /// The current state of the session with the given items, which are those of `rows`.
    fn snapshot(&self, rows: RowRange, items: Vec<Item>) -> Snapshot {
        let transcript = self.core.transcript();
        let (files, tasks) = (transcript.files().to_vec(), transcript.tasks().to_vec());
        let prompts = transcript.prompts();
        Snapshot {
            seq: self.subscribers.seq(),
            last_event_at: self.subscribers.last_event_at(),
            session: self.whole_session(),
            rows,
            is_partial: self.is_partial,
            items,
            files,
            tasks,
            prompts,
        }
    }

    /// The id of the conversation, if it is in the files of Claude Code.
    fn claude_conversation(&self) -> Option<String> {
        let is_claude = self.open.record.agent != AgentKind::Acp;
        self.core.conversation().filter(|_| is_claude).map(str::to_owned)
    }

    pub(super) fn whole_session(&self) -> Session {
        Session { requests: self.core.requests(), ..self.session() }
    }

    /// The session without its open requests.
    pub(super) fn session(&self) -> Session {
        let record = &self.open.record;
        let acp = record.memory.acp.as_ref();
        let (project, agent_name) = (record.project.display().to_string(), agent_name(record.agent, acp));
        let mut session = Session {
            agent_id: acp.and_then(ChosenAgent::row_id),
            profile: record.memory.profile.clone(),
            lacks: acp.map(ChosenAgent::lacks).unwrap_or_default(),
            login: acp.and_then(ChosenAgent::login).map(|words| AgentLogin { words, needed: false }),
            pid: self.pid,
            capabilities: crate::launch::capabilities(record.agent),
            created_at: record.created_at,
            changed_at: self.core.changed_at(),
            restricted: self.restricted,
            ..Session::new(record.id.clone(), project, record.agent, agent_name)
        };
        self.core.describe(&mut session);
        session
    }
}

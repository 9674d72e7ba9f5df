//! The core of a session: its state machine and its transcript, which see every input in the same order.
//!
//! It has no clock, no I/O and no randomness. The actor, a replay and the simulation drive it in the same way:
//!
//! ```text
//! core.step(now, input);
//! while let Some(action) = core.next_action() {
//!     // Carry it out. Its consequences are further inputs.
//! }
//! ```

use super::gone;
use super::machine::{Effect, Input, Machine, SavedSession, Timeouts, Timer};
use crate::agent::{AgentCommand, AgentEvent, Past};
use crate::api::*;
use crate::attachment;
use crate::history::OwnLine;
use crate::launch::Start;
use crate::permission::repeats;
use crate::prompt::Prompt;
use crate::rewind;
use crate::store::Offer;
use crate::transcript::colours::{Coloured, Uncoloured};
use crate::transcript::supplement::{Missing, Supplement};
use crate::transcript::{Transcript, TranscriptChange, TranscriptEvent};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// The number of prompts, and of their characters, that a title is generated for.
const PROMPTS_FOR_TITLE: usize = 3;
const LONGEST_FOR_TITLE: usize = 2_000;

/// What is to be done outside of the core, in this order.
// Like an effect, it lives for one step.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub enum Action {
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
    /// Append to the session's own additions to the transcript.
    Append(Vec<Supplement>),
    /// Keep what was said: the agent's own transcript cannot be read.
    Keep(Vec<OwnLine>),
    Publish(TranscriptChange),
    /// A step of a rewind. Its result, if any, is an input.
    Rewind(rewind::Work),
    /// Refuse the current command.
    Refuse(CommandError),
}

/// How the session is being ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    No,
    /// As soon as it is idle. Until then, requests are denied, because no user is left who could answer them.
    WhenIdle,
    Now,
    /// The agent was stopped, if there was one.
    Stopped,
}

pub struct Core {
    machine: Machine,
    transcript: Transcript,
    /// The agent keeps the conversation where Deskbell cannot read it, so Deskbell keeps it too.
    keeps_lines: bool,
    ending: Ending,
    /// Time of the last accepted prompt or the last end of a turn.
    changed_at: u64,
    /// The same before the prompt that is being saved.
    changed_before: u64,
    /// Lines of earlier messages. They are kept before any other line, with the first record that is written: until then
    /// a session that is only looked at leaves no file.
    unsaved: Vec<OwnLine>,
    /// The agent's activity when the summary was last published.
    activity: String,
    step: Running,
}

/// The step in progress.
#[derive(Default)]
struct Running {
    now: u64,
    /// The exit of a process is not an action of the user or the agent.
    is_exit: bool,
    effects: VecDeque<Effect>,
    /// To be published before the next effect.
    changes: VecDeque<TranscriptChange>,
    /// To be kept before the record is written: a prompt leaves the record when its turn has ended.
    lines: Vec<OwnLine>,
}

impl Core {
    /// Restores a saved session. Its prompts are held: the user has to send them.
    pub fn new(memory: SavedSession, timeouts: Timeouts, transcript: Transcript, changed_at: u64) -> Self {
        Self {
            keeps_lines: memory.acp.is_some(),
            machine: Machine::new(memory, timeouts),
            transcript,
            ending: Ending::No,
            changed_at,
            changed_before: changed_at,
            unsaved: Vec::new(),
            activity: String::new(),
            step: Running::default(),
        }
    }

    /// Sets the time by which durations are measured, in milliseconds.
    pub fn tick(&mut self, steady: u64) {
        self.machine.tick(steady);
    }

    /// Processes one input at time `now`, in milliseconds since the epoch. Its actions follow from `next_action`.
    pub fn step(&mut self, now: u64, input: Input) {
        #[cfg(test)]
        crate::stages::passed(module_path!(), &input);
        debug_assert!(self.step.effects.is_empty() && self.step.changes.is_empty());
        self.step.now = now;
        self.step.is_exit = matches!(input, Input::Exited(_));
        if matches!(input, Input::SaveFailed(..)) {
            // The prompt is not accepted.
            self.changed_at = self.changed_before;
        }
        match input {
            Input::Line(inbound) => self.line(now, inbound),
            input => self.step.effects.extend(self.machine.step(now, input)),
        }
    }

    /// The machine reads the message first, because the transcript takes its texts out of it. What the machine adds to
    /// the transcript still comes after the message.
    fn line(&mut self, now: u64, mut inbound: AgentEvent) {
        self.transcript.identify(&mut inbound);
        if self.machine.is_relevant(&inbound) {
            self.step.effects.extend(self.machine.line(now, &inbound));
        }
        if self.keeps_lines {
            self.step.lines.extend(OwnLine::of_agent(now, &inbound, &self.transcript));
            if let AgentEvent::Past(Past::Whole(past)) = &inbound
                && self.transcript.awaits_past()
            {
                self.unsaved.extend(OwnLine::of_past(past, &self.transcript));
            }
        }
        self.transcript.fold(now, inbound);
    }

    /// The next action of the step; `None` at its end. Changes of the transcript are published before the event that
    /// follows them.
    pub fn next_action(&mut self) -> Option<Action> {
        loop {
            if let Some(change) = self.step.changes.pop_front() {
                return Some(Action::Publish(change));
            }
            let saves = matches!(self.step.effects.front(), None | Some(Effect::Save(_)));
            let keeps_unsaved =
                !self.unsaved.is_empty() && matches!(self.step.effects.front(), Some(Effect::Save(_)));
            if saves && (keeps_unsaved || !self.step.lines.is_empty()) {
                let mut lines = std::mem::take(&mut self.unsaved);
                lines.append(&mut self.step.lines);
                return Some(Action::Keep(lines));
            }
            match self.step.effects.pop_front()? {
                Effect::Emit(mut event) => {
                    self.step.changes.extend(self.transcript.drain_changes());
                    if let Event::PermissionRequested { request, in_item } = &mut event {
                        let item = request.item_id.as_ref().and_then(|id| self.transcript.item(id));
                        *in_item = item.is_some_and(|item| repeats::is_in_item(request, item));
                    }
                    self.step.changes.push_back(TranscriptChange::Event(event));
                }
                Effect::TranscriptEvent(event) => {
                    if matches!(event, TranscriptEvent::TurnEnded(_)) && !self.step.is_exit {
                        self.changed_at = self.step.now;
                    }
                    if self.keeps_lines {
                        let line = OwnLine::of_event(self.step.now, &event, &self.transcript);
                        let lines = match event {
                            TranscriptEvent::PastMissing { .. } => &mut self.unsaved,
                            _ => &mut self.step.lines,
                        };
                        lines.extend(line);
                    }
                    self.transcript.apply(self.step.now, event);
                    let mut supplements = self.transcript.take_supplements();
                    if !supplements.is_empty() {
                        if self.keeps_lines {
                            // It is among the lines, at its place.
                            supplements.retain(|own| !matches!(own.body, Missing::TurnEnd(_)));
                        }
                        return Some(Action::Append(supplements));
                    }
                }
                Effect::Save(prompt) => {
                    if prompt.is_some() {
                        self.changed_before = std::mem::replace(&mut self.changed_at, self.step.now);
                    }
                    return Some(Action::Save(prompt));
                }
                Effect::Spawn(start) => return Some(Action::Spawn(start)),
                Effect::Write(command) => return Some(Action::Write(command)),
                Effect::CloseStdin => return Some(Action::CloseStdin),
                Effect::Terminate => return Some(Action::Terminate),
                Effect::Kill => return Some(Action::Kill),
                Effect::Arm { timer, at } => return Some(Action::Arm { timer, at }),
                Effect::Disarm(timer) => return Some(Action::Disarm(timer)),
                Effect::Rewind(work) => return Some(Action::Rewind(work)),
                Effect::Refuse(error) => return Some(Action::Refuse(error)),
            }
        }
    }

    // --- publishing ------------------------------------------------------------------------------------------

    /// Drains the changes of the transcript that no event has published yet.
    pub fn drain_changes(&mut self) -> Vec<TranscriptChange> {
        self.transcript.drain_changes()
    }

    /// Returns whether the session's summary changed since the last call.
    pub fn take_changed(&mut self) -> bool {
        let activity = self.transcript.activity();
        let is_other_activity = activity != self.activity && !self.machine.is_idle();
        let has_changed = self.machine.take_changed() || is_other_activity;
        if has_changed {
            self.activity = activity;
        }
        has_changed
    }

    /// Fills in the fields of the session that the core knows, without the open requests.
    pub fn describe(&self, session: &mut Session) {
        session.changed_at = self.changed_at;
        self.machine.describe(session, &self.transcript.activity());
    }

    /// The open permission requests, oldest first.
    pub fn requests(&self) -> Vec<PermissionRequest> {
        self.machine.requests().iter().cloned().collect()
    }

    pub fn has_requests(&self) -> bool {
        self.machine.has_requests()
    }

    /// The next start of the agent, if the session had these options.
    pub fn next_start(&self, options: SessionOptions) -> Start {
        self.machine.next_start(options)
    }

    /// What the agent offered in an earlier run is shown until it runs.
    pub fn recall(&mut self, offer: Offer) {
        self.machine.recall(offer);
    }

    /// What the running agent offers, if it has announced it since the last call.
    pub fn take_offer(&mut self) -> Option<Offer> {
        self.machine.take_offer()
    }

    /// The state that must be on disk now.
    pub fn memory(&self) -> SavedSession {
        self.machine.memory()
    }

    pub fn is_in_turn(&self) -> bool {
        self.machine.is_in_turn()
    }

    /// Time of the last accepted prompt or the last end of a turn.
    pub fn changed_at(&self) -> u64 {
        self.changed_at
    }

    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The file that receives the output of a task in the background, as the agent named it.
    pub fn task_output(&self, id: &str) -> Option<&Path> {
        self.machine.task_output(id)
    }

    /// The file with the plan of an open request.
    pub fn plan_file(&self, request: &RequestId) -> Option<PathBuf> {
        self.machine.requests().plan_file(request)
    }

    /// The id of the conversation in the agent's store.
    pub fn conversation(&self) -> Option<&str> {
        self.machine.conversation_id()
    }

    /// The id of the conversation, if the running agent reported an MCP server of this name.
    pub fn conversation_of_server(&self, server: &str) -> Option<&str> {
        self.machine.conversation_of_server(server)
    }

    /// Streamed text that is in no supplement yet.
    pub fn streaming(&self, now: u64) -> Vec<Supplement> {
        self.transcript.streaming(now)
    }

    /// The next code to highlight, if any.
    pub fn uncoloured(&mut self) -> Option<Uncoloured> {
        self.transcript.uncoloured()
    }

    /// These items came near a window: their code gets colours.
    pub fn want_colours<'a>(&mut self, ids: impl Iterator<Item = &'a ItemId>) {
        self.transcript.want_colours(ids);
    }

    /// A subscriber gets every item: all code gets colours.
    pub fn want_all_colours(&mut self) {
        self.transcript.want_all_colours();
    }

    pub fn colour(&mut self, coloured: Coloured) {
        self.transcript.colour(coloured);
    }

    // --- opening ---------------------------------------------------------------------------------------------

    /// Whether prompts of an earlier process wait. The transcript shows what became of them.
    pub fn has_prompts(&self) -> bool {
        self.machine.prompts().next().is_some()
    }

    /// Replaces the transcript with one that was read from disk. Nothing of it is published: subscribers get it in a
    /// snapshot.
    pub fn restore(&mut self, transcript: Transcript) {
        self.transcript = transcript;
        self.transcript.drain_changes();
    }

    /// Extends the transcript with what another process wrote. The changes are published as usual.
    pub fn extend<T>(&mut self, fold: impl FnOnce(&mut Transcript) -> T) -> T {
        fold(&mut self.transcript)
    }

    /// Holds the prompts of an earlier process. The agent's own transcript shows what became of them. Nothing is
    /// published: subscribers get it in a snapshot.
    pub fn take_over(&mut self, now: u64) {
        for prompt in self.machine.prompts().cloned().collect::<Vec<_>>() {
            // The wire id under which the agent received the prompt, if it did.
            let known = prompt.wire_ids().filter(|id| self.transcript.knows(id)).last();
            if known.is_some() {
                self.machine.found_cut_off(&prompt.id);
            }
            let id = known.map_or(prompt.id.clone(), PromptId::new);
            self.transcript.apply(now, TranscriptEvent::PromptAccepted(prompt));
            self.transcript.apply(now, TranscriptEvent::PromptState { id, state: PromptState::Held });
        }
        self.transcript.drain_changes();
    }

    // --- commands and the end --------------------------------------------------------------------------------

    /// Returns the input for a command, or its refusal. `new_id` makes the id of a prompt.
    pub fn accept(&self, command: Command, new_id: impl FnOnce() -> PromptId) -> Result<Input, CommandError> {
        match command {
            Command::Prompt { text, attachments, delivery } => {
                let attachments = attachment::check_all(&attachments)?;
                let mut prompt = Prompt::new(new_id(), text, attachments, delivery);
                if self.is_ending() {
                    // Saved, and offered at the next start. Sending it now would restart the process that is being
                    // stopped.
                    prompt.hold();
                }
                Ok(Input::Prompt(prompt))
            }
            _ if self.is_ending() => Err(gone()),
            Command::GenerateTitle => Ok(Input::GenerateTitle(self.beginning())),
            Command::PreviewRewind { prompt_id } => self.rewind(prompt_id, rewind::Wish::Preview),
            Command::Rewind { prompt_id, files, conversation } => {
                self.rewind(prompt_id, rewind::Wish::Rewind { files, conversation })
            }
            command => Ok(Input::Command(command)),
        }
    }

    fn rewind(&self, item: ItemId, wish: rewind::Wish) -> Result<Input, CommandError> {
        let (wire_id, text) = self.transcript.stored_prompt(&item).ok_or_else(|| CommandError {
            code: ErrorCode::NoSuchPrompt,
            message: "The prompt is not in this conversation.".to_owned(),
            detail: None,
        })?;
        Ok(Input::Rewind(rewind::Job { item, wire_id, text, wish }))
    }

    /// The first known prompts, for a title.
    fn beginning(&self) -> String {
        let prompts = self.transcript.prompts();
        let text = prompts.iter().take(PROMPTS_FOR_TITLE).map(String::as_str).collect::<Vec<_>>().join("\n");
        text.chars().take(LONGEST_FOR_TITLE).collect()
    }

    /// A session that is being stopped starts no process and accepts no command.
    pub fn is_ending(&self) -> bool {
        matches!(self.ending, Ending::Now | Ending::Stopped)
    }

    /// Ends the session as soon as it is idle.
    pub fn finish(&mut self) {
        if self.ending == Ending::No {
            self.ending = Ending::WhenIdle;
        }
    }

    /// Ends the session now.
    pub fn close(&mut self) {
        self.ending = Ending::Now;
    }

    /// The next input that the end of the session calls for. A driver asks for it until there is none, after each event
    /// and its consequences.
    pub fn follow_up(&mut self) -> Option<Input> {
        match self.ending {
            Ending::WhenIdle => {
                if let Some(request) = self.machine.requests().iter().next() {
                    let message = "The relay’s input has ended, so no answer will come.".to_owned();
                    let decision = Decision::Deny { message, interrupt: false };
                    let request_id = request.id.clone();
                    return Some(Input::Command(Command::Decide { request_id, shown: None, decision }));
                }
                self.machine.is_idle().then(|| self.stop())
            }
            // An idle session has nothing to stop. Closing must not change it.
            Ending::Now if !self.machine.is_alive() && self.machine.is_idle() => {
                self.ending = Ending::Stopped;
                None
            }
            Ending::Now => Some(self.stop()),
            Ending::No | Ending::Stopped => None,
        }
    }

    fn stop(&mut self) -> Input {
        self.ending = Ending::Stopped;
        Input::Command(Command::Stop)
    }

    /// The last handle is gone, so nothing will end the session: a process that runs is stopped.
    pub fn abandon(&mut self) {
        self.ending = if self.machine.is_alive() { Ending::Now } else { Ending::Stopped };
    }

    /// Returns whether the end was reached. The session can be used again then.
    pub fn take_ended(&mut self) -> bool {
        let has_ended = self.ending == Ending::Stopped && !self.machine.is_alive();
        if has_ended {
            self.ending = Ending::No;
        }
        has_ended
    }

    pub fn is_alive(&self) -> bool {
        self.machine.is_alive()
    }
}

/// Access for the simulation, which changes the machine's effects to plant a fault.
#[cfg(test)]
impl Core {
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    pub fn machine_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }

    pub fn effects(&mut self) -> &mut VecDeque<Effect> {
        &mut self.step.effects
    }
}

#[cfg(test)]
mod tests;

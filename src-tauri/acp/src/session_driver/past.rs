//! The earlier messages of a conversation, as the agent repeats them for `session/load`.
//!
//! They are collected until the session is usable, and reported at once: nothing of them is a part of a turn. Everything
//! is the agent's, so it is bounded.

use super::{AcpDriver, Phase};
use crate::command::AcpCommand;
use crate::event::{AcpEvent, Content, Voice};
use crate::seam::CoreEvents;
use deskbell_agent::driver::Output;
use deskbell_agent::{AgentEvent, ContentBlock, Past, PastConversation, PastPart, PastPrompt};
use std::collections::{HashMap, VecDeque};

/// Maximum number of parts that are kept. The oldest ones are left out.
const MOST_PARTS: usize = 10_000;

/// Maximum size of the parts that are kept, in bytes of their texts.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Maximum size of one message in bytes. The rest of a longer one is left out.
const LONGEST_MESSAGE: usize = 1024 * 1024;

/// An agent that sends more than this repeats the conversation without an end: lines, and bytes.
const MOST_LINES: usize = 200_000;
const MOST_RECEIVED: usize = 64 * 1024 * 1024;

/// What the agent has repeated so far.
#[derive(Debug, Default)]
pub(super) struct RepeatedPast {
    core: CoreEvents,
    /// Each with its size.
    parts: VecDeque<(PastPart, usize)>,
    n_bytes: usize,
    n_left_out: usize,
    /// The places of the calls and of their results, counted from the first part of all.
    places: HashMap<(String, bool), usize>,
    /// The prompt that is being repeated.
    prompt: Option<PastPrompt>,
    n_prompts: usize,
    /// Bytes of the message that is being repeated.
    n_message: usize,
    n_lines: usize,
    n_received: usize,
}

impl AcpDriver {
    pub(super) fn request_past(&mut self, out: &mut Output) {
        self.past = Some(RepeatedPast::default());
        out.events.push(AgentEvent::Past(Past::Requested));
    }

    /// Takes a part of the conversation that the agent repeats. Without a wish for it, it is dropped.
    pub(super) fn repeated(&mut self, event: AcpEvent) {
        self.core.skip(&event);
        if let Some(past) = &mut self.past {
            past.take(event);
        }
    }

    /// Counts a line. Returns whether it is read: an agent that repeats without an end is stopped.
    pub(super) fn may_repeat(&mut self, n_bytes: usize, out: &mut Output) -> bool {
        let Some(past) = &mut self.past else { return true };
        past.n_lines += 1;
        past.n_received = past.n_received.saturating_add(n_bytes);
        if past.n_lines <= MOST_LINES && past.n_received <= MOST_RECEIVED {
            return true;
        }
        self.past = None;
        let reason = format!("{} repeated them without an end.", self.name);
        out.events.push(AgentEvent::Past(Past::Missing { reason }));
        let words = format!("{} repeats the messages of this conversation without an end.", self.name);
        let detail = "It was stopped. Its next start continues without the earlier messages.";
        self.cannot_start(words, Some(detail.to_owned()), out);
        false
    }

    /// Reports the conversation before the session is used, or why there is none.
    pub(super) fn report_past(&mut self, out: &mut Output) {
        if self.setup.resume.is_none() || !self.setup.wants_past {
            return;
        }
        let reason = match self.past.take().map(RepeatedPast::finish) {
            Some(past) if past.parts.is_empty() && past.n_left_out == 0 => {
                format!("{} repeated none. It may still know them.", self.name)
            }
            Some(past) => return out.events.push(AgentEvent::Past(Past::Whole(past))),
            // The reason was given.
            None if self.abilities.load => return,
            None => {
                format!("{} does not give them to other programs. It still knows them.", self.name)
            }
        };
        out.events.push(AgentEvent::Past(Past::Missing { reason }));
    }

    /// Continues without the earlier messages where the agent can, after it refused to repeat them.
    pub(super) fn resumes_without_past(&mut self, problem: &str, out: &mut Output) -> bool {
        let can_resume = self.past.is_some() && self.abilities.resume && self.phase == Phase::Opening;
        let Some(id) = self.setup.resume.clone().filter(|_| can_resume) else { return false };
        self.past = None;
        let folder = self.setup.folder.clone();
        let resumes = self.command(AcpCommand::ResumeSession { id, folder }, out).is_ok();
        if resumes {
            let reason = format!("{} refused to repeat them: {problem}", self.name);
            out.events.push(AgentEvent::Past(Past::Missing { reason }));
        }
        resumes
    }
}

impl RepeatedPast {
    fn take(&mut self, event: AcpEvent) {
        let AcpEvent::Said { voice, is_new, content, .. } = &event else {
            self.n_message = 0;
            self.end_prompt();
            let events = self.core.take(event);
            return self.add(events);
        };
        if *is_new {
            self.n_message = 0;
        }
        self.n_message = self.n_message.saturating_add(size_of(content));
        if self.n_message > LONGEST_MESSAGE {
            return;
        }
        if *voice == Voice::User {
            return self.prompt(*is_new, content);
        }
        self.end_prompt();
        let events = self.core.take(event);
        self.add(events);
    }

    /// A piece of a prompt. A new prompt ends the turn before it.
    fn prompt(&mut self, is_new: bool, content: &Content) {
        if is_new {
            self.end_prompt();
        }
        let prompt = self.prompt.get_or_insert_default();
        match content {
            Content::Text(text) => prompt.text.push_str(text),
            Content::Image { .. } => prompt.n_images += 1,
            Content::Audio { .. } | Content::Link { .. } | Content::File { .. } | Content::Other(_) => {
                prompt.n_documents += 1;
            }
        }
    }

    fn end_prompt(&mut self) {
        let Some(prompt) = self.prompt.take() else { return };
        self.n_prompts += 1;
        let id = format!("acp-past-{}", self.n_prompts);
        let ended = self.core.end_past_turn(&id);
        self.add(ended);
        let size = prompt.text.len();
        self.push(PastPart::Prompt { id, prompt }, size);
    }

    /// Adds what is complete. A call that is repeated with every change of it replaces itself.
    fn add(&mut self, events: Vec<AgentEvent>) {
        for event in events {
            let (key, size) = match &event {
                AgentEvent::Assistant(assistant) => of_reply(&assistant.message.content),
                AgentEvent::User(user) => match user.results().next() {
                    Some(result) => (Some((result.tool_use_id.clone(), true)), result.text.len()),
                    None => continue,
                },
                AgentEvent::Compacted { .. } => (None, 0),
                AgentEvent::CompactFailed { error } => (None, error.as_ref().map_or(0, String::len)),
                AgentEvent::Informational { text, .. } => (None, text.len()),
                // Pieces of a message that follows.
                _ => continue,
            };
            let place = key.as_ref().and_then(|key| self.places.get(key)?.checked_sub(self.n_left_out));
            match place.and_then(|place| self.parts.get_mut(place)) {
                Some((part, before)) => {
                    *part = PastPart::Event(event);
                    self.n_bytes = self.n_bytes.saturating_sub(*before).saturating_add(size);
                    *before = size;
                    self.leave_out();
                }
                None => {
                    let place = self.n_left_out + self.parts.len();
                    self.places.extend(key.map(|key| (key, place)));
                    self.push(PastPart::Event(event), size);
                }
            }
        }
    }

    fn push(&mut self, part: PastPart, size: usize) {
        self.parts.push_back((part, size));
        self.n_bytes = self.n_bytes.saturating_add(size);
        self.leave_out();
    }

    fn leave_out(&mut self) {
        while self.n_bytes > MOST_BYTES || self.parts.len() > MOST_PARTS {
            let Some((_, size)) = self.parts.pop_front() else { return };
            self.n_bytes = self.n_bytes.saturating_sub(size);
            self.n_left_out += 1;
        }
        // Those of parts that were left out are removed together.
        if self.places.len() > 2 * MOST_PARTS {
            let n_left_out = self.n_left_out;
            self.places.retain(|_, place| *place >= n_left_out);
        }
    }

    /// The whole conversation. If its beginning is left out, it begins with a prompt where there is one.
    fn finish(mut self) -> PastConversation {
        self.end_prompt();
        let ended = self.core.end_past_turn("");
        self.add(ended);
        let is_prompt = |(part, _): &(PastPart, usize)| matches!(part, PastPart::Prompt { .. });
        let first = self.parts.iter().position(is_prompt).filter(|_| self.n_left_out > 0);
        let n_without_prompt = first.unwrap_or_default();
        let parts = self.parts.into_iter().skip(n_without_prompt).map(|(part, _)| part).collect();
        PastConversation { parts, n_left_out: self.n_left_out + n_without_prompt }
    }
}

fn size_of(content: &Content) -> usize {
    match content {
        Content::Text(text) | Content::Other(text) => text.len(),
        Content::File { text, .. } => text.as_ref().map_or(0, |text| text.len()),
        Content::Image { .. } | Content::Audio { .. } | Content::Link { .. } => 0,
    }
}

/// The call in a reply, and the size of the reply.
fn of_reply(content: &[ContentBlock]) -> (Option<(String, bool)>, usize) {
    let mut key = None;
    let mut size = 0_usize;
    for block in content {
        size += match block {
            ContentBlock::Text { text } | ContentBlock::Thinking { text } => text.len(),
            ContentBlock::ToolUse { id, call } => {
                key = Some((id.clone(), false));
                call.input.value().to_string().len()
            }
            ContentBlock::Unknown { raw, .. } => raw.to_string().len(),
            ContentBlock::ToolResult(_) | ContentBlock::Image | ContentBlock::Document => 0,
        };
    }
    (key, size)
}

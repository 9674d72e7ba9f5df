//! The conversation of a session whose agent keeps it where Deskbell cannot read it: as Deskbell saw it, in lines of
//! its own next to the session's record.
//!
//! Each line is one complete event: a prompt that was sent, a finished message, a call, its result, the end of a turn.
//! They go through the fold of the live stream again, so the rows are those that the user saw. Streamed pieces are not
//! kept, because their message follows.

use super::{Colouring, finished};
use crate::acp::Shown;
use crate::agent::tool::{RawInput, ToolKind};
use crate::agent::{
    AgentEvent, Assistant, AssistantMessage, ContentBlock, Exit, PastConversation, PastPart, PastPrompt,
    Rejection, ToolCall, ToolResult, User, UserMessage,
};
use crate::api::{Level, PromptId, PromptState, TurnEnd};
use crate::transcript::past::{MISSING, left_out};
use crate::transcript::supplement::Supplement;
use crate::transcript::{RequestEnd, Transcript, TranscriptEvent};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// One line of a kept conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnLine {
    at: u64,
    entry: Entry,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Entry {
    /// `id` is the id that the agent got, which is another one each time the prompt is sent.
    Prompt {
        prompt: PromptId,
        id: String,
        text: String,
        n_images: u32,
        #[serde(default)]
        n_documents: u32,
    },
    /// The prompt is in the conversation already.
    PromptAgain {
        prompt: PromptId,
        id: String,
    },
    Reply {
        message: String,
        blocks: Vec<Block>,
    },
    Results {
        results: Vec<Outcome>,
    },
    Asked {
        call: Option<String>,
    },
    Answered {
        call: Option<String>,
        end: Answer,
    },
    /// A message of the agent for the user.
    Informational {
        level: String,
        text: String,
    },
    Notice {
        level: Level,
        text: String,
        detail: Option<String>,
    },
    Compacted {
        trigger: String,
        before: Option<u64>,
        after: Option<u64>,
    },
    NotCompacted {
        error: Option<String>,
    },
    Unreadable {
        line: String,
        error: String,
    },
    TurnEnded {
        turn: TurnEnd,
    },
    ProcessEnded,
    /// The beginning was removed, because the file had become too large.
    LeftOut,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Block {
    Text { text: String },
    Thinking { text: String },
    Call { id: String, name: String, kind: Kind, input: RawInput },
    Unknown { kind: String, raw: Value },
}

/// The kinds of calls that agents which speak ACP have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Command,
    Edit,
    Write,
    Read,
    TodoList,
    #[serde(other)]
    Other,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    call: String,
    text: String,
    #[serde(default, skip_serializing_if = "is_false")]
    is_error: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    is_denied: bool,
    /// An interrupt ended it.
    #[serde(default, skip_serializing_if = "is_false")]
    is_cancelled: bool,
    /// The interrupt came before it began.
    #[serde(default, skip_serializing_if = "is_false")]
    has_not_begun: bool,
    /// How its command ended, if the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit: Option<Exit>,
    /// Its images as base64: the first ones, as far as they are not too large.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    images: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Answer {
    Allowed,
    Denied,
    Withdrawn,
}

// The form that serde calls.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !*value
}

impl OwnLine {
    /// The line for a report of the agent; `None` if it is no complete part of the conversation.
    pub fn of_agent(now: u64, event: &AgentEvent, transcript: &Transcript) -> Option<Self> {
        let mut at = now;
        let entry = match event {
            AgentEvent::Assistant(assistant) => {
                let message = &assistant.message;
                // The time at which it began, if it was streamed.
                at = transcript.began(&message.id).unwrap_or(now);
                let blocks: Vec<Block> = message.content.iter().filter_map(block).collect();
                (!blocks.is_empty()).then(|| Entry::Reply { message: message.id.clone(), blocks })?
            }
            AgentEvent::User(user) => {
                let results: Vec<Outcome> = user.results().map(outcome).collect();
                (!results.is_empty()).then_some(Entry::Results { results })?
            }
            AgentEvent::Informational { level, text } => {
                Entry::Informational { level: level.clone(), text: text.clone() }
            }
            AgentEvent::Compacted { trigger, pre_tokens, post_tokens } => {
                Entry::Compacted { trigger: trigger.clone(), before: *pre_tokens, after: *post_tokens }
            }
            AgentEvent::CompactFailed { error } => Entry::NotCompacted { error: error.clone() },
            AgentEvent::Unreadable { line, error } => {
                Entry::Unreadable { line: line.clone(), error: error.clone() }
            }
            _ => return None,
        };
        Some(Self { at, entry })
    }

    /// The line for an event of Deskbell's own, which `transcript` does not have yet.
    pub fn of_event(at: u64, event: &TranscriptEvent, transcript: &Transcript) -> Option<Self> {
        let entry = match event {
            TranscriptEvent::PromptState { id, state: PromptState::Sent } => {
                let prompt = transcript.waiting(id)?;
                let (prompt_id, wire_id) = (id.clone(), prompt.wire_id());
                if transcript.knows(id.as_str()) {
                    Entry::PromptAgain { prompt: prompt_id, id: wire_id }
                } else {
                    let text = prompt.text.clone();
                    let (n_images, n_documents) = prompt.n_attachments();
                    Entry::Prompt { prompt: prompt_id, id: wire_id, text, n_images, n_documents }
                }
            }
            TranscriptEvent::Asked { tool_use_id } => Entry::Asked { call: tool_use_id.clone() },
            TranscriptEvent::Answered { tool_use_id, end } => {
                let end = match end {
                    RequestEnd::Allowed { .. } => Answer::Allowed,
                    RequestEnd::Denied => Answer::Denied,
                    RequestEnd::Withdrawn => Answer::Withdrawn,
                };
                Entry::Answered { call: tool_use_id.clone(), end }
            }
            TranscriptEvent::Notice { level, text, detail } => {
                Entry::Notice { level: *level, text: text.clone(), detail: detail.clone() }
            }
            TranscriptEvent::TurnEnded(turn) => Entry::TurnEnded { turn: turn.clone() },
            TranscriptEvent::PastMissing { reason } => {
                let detail = Some(reason.clone());
                Entry::Notice { level: Level::Warning, text: MISSING.to_owned(), detail }
            }
            TranscriptEvent::ProcessEnded => Entry::ProcessEnded,
            TranscriptEvent::PastAwaited { .. }
            | TranscriptEvent::PromptAccepted(_)
            | TranscriptEvent::PromptEdited { .. }
            | TranscriptEvent::PromptState { .. } => return None,
        };
        Some(Self { at, entry })
    }

    /// The lines for messages that the agent repeated.
    pub fn of_past(past: &PastConversation, transcript: &Transcript) -> Vec<Self> {
        let notice = left_out(past).map(|(text, detail)| {
            let entry = Entry::Notice { level: Level::Warning, text, detail: Some(detail) };
            Self { at: 0, entry }
        });
        let parts = past.parts.iter().filter_map(|part| match part {
            PastPart::Prompt { id, prompt } => {
                let PastPrompt { text, n_images, n_documents } = prompt.clone();
                let prompt = PromptId::new(id);
                let entry = Entry::Prompt { prompt, id: id.clone(), text, n_images, n_documents };
                Some(Self { at: 0, entry })
            }
            PastPart::Event(event) => Self::of_agent(0, event, transcript),
        });
        // Nothing of them goes on.
        notice.into_iter().chain(parts).chain([Self { at: 0, entry: Entry::ProcessEnded }]).collect()
    }

    /// The first line of a file whose beginning was removed.
    pub fn left_out() -> Self {
        Self { at: 0, entry: Entry::LeftOut }
    }
}

fn block(block: &ContentBlock) -> Option<Block> {
    Some(match block {
        ContentBlock::Text { text } => Block::Text { text: text.clone() },
        ContentBlock::Thinking { text } => Block::Thinking { text: text.clone() },
        ContentBlock::ToolUse { id, call } => Block::Call {
            id: id.clone(),
            name: call.name.clone(),
            kind: match call.kind {
                ToolKind::Command => Kind::Command,
                ToolKind::Edit => Kind::Edit,
                ToolKind::Write => Kind::Write,
                ToolKind::Read => Kind::Read,
                ToolKind::TodoList => Kind::TodoList,
                _ => Kind::Other,
            },
            input: call.input.clone(),
        },
        ContentBlock::Unknown { kind, raw } => Block::Unknown { kind: kind.clone(), raw: raw.clone() },
        // A transcript shows neither here.
        ContentBlock::Image | ContentBlock::Document | ContentBlock::ToolResult(_) => return None,
    })
}

fn outcome(result: &ToolResult) -> Outcome {
    Outcome {
        call: result.tool_use_id.clone(),
        text: result.text.clone(),
        is_error: result.is_error,
        is_denied: result.is_denied,
        is_cancelled: result.rejection.is_some(),
        has_not_begun: result.rejection == Some(Rejection::BeforeItRan),
        exit: result.exit.clone(),
        images: images(&result.images),
    }
}

/// The images of a result that are kept, in bytes of base64. The others are only named.
const MOST_IMAGES: usize = 4 << 20;

fn images(images: &[Arc<str>]) -> Vec<String> {
    let mut room = MOST_IMAGES;
    let mut fits = |image: &&Arc<str>| {
        let rest = room.checked_sub(image.len());
        room = rest.unwrap_or_default();
        rest.is_some()
    };
    images.iter().take_while(|image| fits(image)).map(|image| image.to_string()).collect()
}

fn content(block: Block) -> ContentBlock {
    match block {
        Block::Text { text } => ContentBlock::Text { text },
        Block::Thinking { text } => ContentBlock::Thinking { text },
        Block::Call { id, name, kind, input } => {
            ContentBlock::ToolUse { id, call: Box::new(call(name, kind, &input)) }
        }
        Block::Unknown { kind, raw } => ContentBlock::Unknown { kind, raw },
    }
}

fn call(name: String, kind: Kind, input: &RawInput) -> ToolCall {
    let kind = match kind {
        Kind::Command => ToolKind::Command,
        Kind::Edit => ToolKind::Edit,
        Kind::Write => ToolKind::Write,
        Kind::Read => ToolKind::Read,
        Kind::TodoList => ToolKind::TodoList,
        Kind::Other => ToolKind::Other,
    };
    Shown { name, kind, input: input.value().clone() }.call()
}

fn result(outcome: Outcome) -> ContentBlock {
    let rejection = if outcome.has_not_begun { Rejection::BeforeItRan } else { Rejection::Unknown };
    ContentBlock::ToolResult(Box::new(ToolResult {
        tool_use_id: outcome.call,
        raw: outcome.text.clone().into(),
        text: outcome.text,
        is_error: outcome.is_error,
        is_denied: outcome.is_denied,
        rejection: outcome.is_cancelled.then_some(rejection),
        has_run: outcome.is_error && outcome.exit.is_some(),
        exit: outcome.exit,
        n_images: outcome.images.len() as u32,
        images: outcome.images.into_iter().map(Into::into).collect(),
        ..ToolResult::default()
    }))
}

/// The lines of a kept conversation, not yet folded.
#[derive(Debug, Default)]
pub struct Own {
    lines: Vec<OwnLine>,
    /// Lines that could not be read, such as one that a crash tore.
    n_unreadable: usize,
}

impl Own {
    /// Reads the lines of the file.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut own = Self::default();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(line) => own.lines.push(line),
                Err(_) => own.n_unreadable += 1,
            }
        }
        own
    }

    pub fn has_prompt(&self) -> bool {
        self.lines.iter().any(|line| matches!(line.entry, Entry::Prompt { .. }))
    }

    /// Folds the lines into a transcript. `supplements`: what was being written when its process or the app ended.
    pub fn transcript(
        self,
        project: &Path,
        supplements: Vec<Supplement>,
        colouring: Colouring,
    ) -> Transcript {
        // What follows a prompt is found by the last id under which it was sent.
        let mut last_ids: HashMap<PromptId, String> = HashMap::new();
        let mut ids: HashMap<usize, String> = HashMap::new();
        for (nr, line) in self.lines.iter().enumerate().rev() {
            match &line.entry {
                Entry::PromptAgain { prompt, id } => {
                    last_ids.entry(prompt.clone()).or_insert_with(|| id.clone());
                }
                Entry::Prompt { prompt, .. } => {
                    ids.extend(last_ids.remove(prompt).map(|id| (nr, id)));
                }
                _ => {}
            }
        }
        let mut transcript = Transcript::new(project).supplemented_with(supplements);
        transcript.begin_reading(self.lines.len());
        for (nr, OwnLine { at, entry }) in self.lines.into_iter().enumerate() {
            fold(&mut transcript, at, entry, ids.remove(&nr));
        }
        if self.n_unreadable > 0 {
            let text = "A part of this conversation could not be read".to_owned();
            let detail = Some(format!("{} lines of Deskbell’s file are damaged.", self.n_unreadable));
            transcript.apply(0, TranscriptEvent::Notice { level: Level::Warning, text, detail });
        }
        finished(transcript, colouring)
    }
}

fn fold(transcript: &mut Transcript, at: u64, entry: Entry, last_id: Option<String>) {
    let event = match entry {
        Entry::Prompt { id, text, n_images, n_documents, .. } => {
            let prompt = PastPrompt { text, n_images, n_documents };
            return transcript.past_prompt(at, &last_id.unwrap_or(id), prompt);
        }
        Entry::PromptAgain { .. } => return,
        Entry::Reply { message, blocks } => {
            let content = blocks.into_iter().map(content).collect();
            let message = AssistantMessage { id: message, content, ..AssistantMessage::default() };
            let assistant = Assistant { message, ..Assistant::default() };
            return transcript.line(at, AgentEvent::Assistant(Box::new(assistant)));
        }
        Entry::Results { results } => {
            let message = UserMessage { content: results.into_iter().map(result).collect() };
            return transcript.line(at, AgentEvent::User(Box::new(User { message, ..User::default() })));
        }
        Entry::Informational { level, text } => {
            return transcript.line(at, AgentEvent::Informational { level, text });
        }
        Entry::Compacted { trigger, before, after } => {
            let event = AgentEvent::Compacted { trigger, pre_tokens: before, post_tokens: after };
            return transcript.line(at, event);
        }
        Entry::NotCompacted { error } => {
            return transcript.line(at, AgentEvent::CompactFailed { error });
        }
        Entry::Unreadable { line, error } => {
            return transcript.line(at, AgentEvent::Unreadable { line, error });
        }
        Entry::Asked { call } => TranscriptEvent::Asked { tool_use_id: call },
        Entry::Answered { call, end } => {
            let end = match end {
                Answer::Allowed => RequestEnd::Allowed { changed: None },
                Answer::Denied => RequestEnd::Denied,
                Answer::Withdrawn => RequestEnd::Withdrawn,
            };
            TranscriptEvent::Answered { tool_use_id: call, end }
        }
        Entry::Notice { level, text, detail } => TranscriptEvent::Notice { level, text, detail },
        Entry::TurnEnded { turn } => TranscriptEvent::TurnEnded(turn),
        Entry::ProcessEnded => TranscriptEvent::ProcessEnded,
        Entry::LeftOut => TranscriptEvent::Notice {
            level: Level::Warning,
            text: "The beginning of this conversation is not shown: its file had become too large".to_owned(),
            detail: None,
        },
    };
    transcript.apply(at, event);
}

#[cfg(test)]
mod tests;

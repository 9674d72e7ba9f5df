//! Lines of the agent's conversation files, beyond the messages that [`crate::wire`] reads.
//!
//! `<config>/projects/<encoded folder>/<session id>.jsonl` (2.1.329). A field that is missing or has another type is
//! absent and costs nothing else of its line.

use crate::wire::{SYNTHETIC, peer};
use deskbell_agent::{AgentEvent, ContentBlock, PastPrompt, SessionMessage, User, json};
use memchr::memmem::Finder;
use memchr::{memchr, memrchr};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::{self, Formatter};
use std::sync::LazyLock;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The beginning of the message with which the agent marks an interrupted turn.
pub const INTERRUPTED: &str = "[Request interrupted";

/// Whether the text of a user message was written by the agent itself.
pub fn is_by_agent(text: &str) -> bool {
    let marks = ["<local-command", "<command-", INTERRUPTED, "<task-notification"];
    marks.iter().any(|mark| text.starts_with(mark))
}

/// Milliseconds since the epoch; 0 for a missing or invalid timestamp.
pub fn milliseconds(timestamp: Option<&str>) -> u64 {
    let moment = timestamp.and_then(|timestamp| OffsetDateTime::parse(timestamp, &Rfc3339).ok());
    moment.and_then(|moment| u64::try_from(moment.unix_timestamp_nanos() / 1_000_000).ok()).unwrap_or(0)
}

/// A text, or the texts of a list of blocks.
pub(crate) fn texts(content: &Value) -> String {
    let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
    let of_blocks = blocks.iter().filter_map(|block| block.get("text")?.as_str());
    content.as_str().into_iter().chain(of_blocks).collect::<Vec<_>>().join("\n")
}

/// The place of a line in the tree of a conversation. It borrows from the line: a conversation has one for each line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Place<'a> {
    #[serde(borrow)]
    r#type: Option<Text<'a>>,
    subtype: Option<Text<'a>>,
    uuid: Option<Text<'a>>,
    parent_uuid: Option<Text<'a>>,
    /// The last line before a compaction, whose own line has no parent (2.1.197 and 2.1.329).
    logical_parent_uuid: Option<Text<'a>>,
    pub is_sidechain: bool,
    message: Option<MessageHead<'a>>,
    /// The line with the call that this line is the result of.
    #[serde(rename = "sourceToolAssistantUUID")]
    source: Option<Text<'a>>,
    timestamp: Option<Text<'a>>,
    attachment: Option<Box<JoinedPrompt>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageHead<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
}

/// A text of a line, borrowed unless it has escapes. Inside an `Option`, serde always copies a `Cow`.
#[derive(Debug)]
struct Text<'a>(Cow<'a, str>);

impl<'a, 'de: 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Cow<'de, str>;

            fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }
        }
        deserializer.deserialize_str(Reader).map(Self)
    }
}

/// The text of a field, if it is there.
fn as_str<'p>(field: &'p Option<Text<'_>>) -> Option<&'p str> {
    field.as_ref().map(|text| &*text.0)
}

impl<'a> Place<'a> {
    /// Reads it from a line; `None` if the line is no JSON object.
    pub fn read(line: &'a [u8]) -> Option<Self> {
        // Serde would also accept a list for a struct, with its values as fields in order.
        let is_object = line.trim_ascii_start().starts_with(b"{");
        let read = is_object.then(|| serde_json::from_slice(line).ok())?;
        read.or_else(|| Self::of(&StoredLine::read_leniently(line)?))
    }

    /// The same for a line with a field of another type, with two fields of one name, or with text that is no Unicode.
    fn of(line: &StoredLine) -> Option<Self> {
        let text = |name: &str| line.text(name).map(|text| Text(Cow::Owned(text.to_owned())));
        let message_id = line.message_id().map(|id| Text(Cow::Owned(id.to_owned())));
        Some(Self {
            r#type: text("type"),
            subtype: text("subtype"),
            uuid: text("uuid"),
            parent_uuid: text("parentUuid"),
            logical_parent_uuid: text("logicalParentUuid"),
            is_sidechain: line.is_sidechain(),
            message: Some(MessageHead { id: message_id }),
            source: text("sourceToolAssistantUUID"),
            timestamp: text("timestamp"),
            attachment: JoinedPrompt::of(line).map(Box::new),
        })
    }

    fn kind(&self) -> &str {
        as_str(&self.r#type).unwrap_or_default()
    }

    pub fn uuid(&self) -> Option<&str> {
        as_str(&self.uuid)
    }

    pub fn timestamp(&self) -> Option<&str> {
        as_str(&self.timestamp)
    }

    /// The line before this one, which a compaction does not have.
    pub fn parent_uuid(&self) -> Option<&str> {
        as_str(&self.parent_uuid)
    }

    /// The line that this one continues.
    pub fn parent(&self) -> Option<&str> {
        self.parent_uuid().or(as_str(&self.logical_parent_uuid))
    }

    pub fn is_message(&self) -> bool {
        matches!(self.kind(), "user" | "assistant")
    }

    /// The id of the reply that this line is a block of.
    pub fn reply(&self) -> Option<&str> {
        let head = self.message.as_ref().filter(|_| self.kind() == "assistant")?;
        as_str(&head.id).filter(|id| !id.is_empty())
    }

    /// The uuid of the line with the call that this line is the result of.
    pub fn call(&self) -> Option<&str> {
        as_str(&self.source).filter(|_| self.kind() == "user")
    }

    /// The conversation was compacted here. The summary follows.
    pub fn is_compaction(&self) -> bool {
        self.kind() == "system" && as_str(&self.subtype) == Some("compact_boundary")
    }

    /// A kind of line that is a part of the tree (2.1.329).
    pub fn is_known(&self) -> bool {
        matches!(self.kind(), "user" | "assistant" | "attachment" | "system" | "progress")
    }

    /// Whether it is the prompt with this wire id.
    pub fn is_prompt(&self, wire_id: &str) -> bool {
        match &self.attachment {
            Some(joined) => joined.is_prompt() && joined.uuid() == wire_id,
            None => self.kind() == "user" && self.uuid() == Some(wire_id),
        }
    }

    /// A prompt that joined a running turn.
    pub fn joined_prompt(&self) -> Option<&JoinedPrompt> {
        self.attachment.as_deref().filter(|attachment| attachment.is_prompt())
    }

    /// A message of another session that joined a running turn.
    pub fn joined_message(&self) -> Option<SessionMessage> {
        self.attachment.as_deref()?.message()
    }

    /// A message, a prompt or a message of another session that joined a running turn, or a compaction.
    pub fn is_shown(&self) -> bool {
        self.is_message()
            || self.is_compaction()
            || self.attachment.as_deref().is_some_and(JoinedPrompt::is_queued)
    }
}

/// The call that started a subagent, from the file next to its lines (2.1.197 and 2.1.329).
pub fn call_of_subagent(meta: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Meta {
        tool_use_id: String,
    }
    serde_json::from_slice(meta).ok().map(|meta: Meta| meta.tool_use_id)
}

/// A prompt that joined a running turn. It is stored as an attachment, not as a user message (2.1.197 and 2.1.329).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct JoinedPrompt {
    r#type: String,
    #[serde(rename = "commandMode")]
    mode: String,
    source_uuid: Option<String>,
    prompt: Value,
    origin: Value,
    pub timestamp: Option<String>,
}

impl JoinedPrompt {
    /// Reads it from a line.
    pub(crate) fn of(line: &StoredLine) -> Option<Self> {
        Self::deserialize(line.0.get("attachment")?).ok().filter(Self::is_queued)
    }

    fn is_prompt(&self) -> bool {
        self.is_queued() && self.origin["kind"] != "peer"
    }

    fn is_queued(&self) -> bool {
        self.r#type == "queued_command" && self.mode == "prompt" && self.source_uuid.is_some()
    }

    /// The message of another session that this is instead of a prompt (2.1.332).
    pub(crate) fn message(&self) -> Option<SessionMessage> {
        (self.is_queued() && !self.is_prompt()).then(|| SessionMessage {
            uuid: self.source_uuid.clone(),
            timestamp: self.timestamp.clone(),
            ..peer::message(&self.origin, texts(&self.prompt))
        })
    }

    /// The wire id of the prompt.
    pub fn uuid(&self) -> &str {
        self.source_uuid.as_deref().unwrap_or_default()
    }

    /// The prompt's content.
    pub fn content(&self) -> PastPrompt {
        let blocks = self.prompt.as_array().map_or(&[][..], Vec::as_slice);
        let count = |kind: &str| blocks.iter().filter(|block| block["type"] == kind).count() as u32;
        PastPrompt { text: texts(&self.prompt), n_images: count("image"), n_documents: count("document") }
    }
}

/// The content of a prompt. `None` for a message that the agent or a tool wrote.
pub fn prompt(user: &User) -> Option<PastPrompt> {
    if user.is_remark {
        return None;
    }
    let mut texts = Vec::new();
    let (mut n_images, mut n_documents) = (0, 0);
    for block in &user.message.content {
        match block {
            ContentBlock::Text { text } => texts.push(text.as_str()),
            ContentBlock::Image => n_images += 1,
            ContentBlock::Document => n_documents += 1,
            _ => return None,
        }
    }
    let text = texts.join("\n");
    let has_content = n_images > 0 || n_documents > 0 || !text.is_empty();
    (!is_by_agent(&text) && has_content).then_some(PastPrompt { text, n_images, n_documents })
}

/// The end of a background task, which the agent stores as a user message (2.1.197 and 2.1.329).
pub fn task_end(user: &User) -> Option<AgentEvent> {
    let [ContentBlock::Text { text }] = user.message.content.as_slice() else { return None };
    task_end_in(text)
}

/// Reads the text of a user message as the end of a background task.
pub(crate) fn task_end_in(text: &str) -> Option<AgentEvent> {
    let text = text.strip_prefix("<task-notification>")?;
    // The report is free text from the subagent, so fields are only searched before it.
    let (fields, report) = match text.split_once("<result>") {
        Some((fields, behind)) => (fields, behind.rsplit_once("</result>").map(|(report, _)| report)),
        None => (text, None),
    };
    let field = |name: &str| {
        let (_, behind) = fields.split_once(&format!("<{name}>"))?;
        Some(behind.split_once(&format!("</{name}>"))?.0.to_owned())
    };
    Some(AgentEvent::TaskEnded {
        task_id: field("task-id")?,
        tool_use_id: field("tool-use-id"),
        status: field("status").unwrap_or_else(|| "ended".to_owned()),
        summary: field("summary").unwrap_or_default(),
        report: report.map(str::to_owned),
    })
}

/// What a line is, as far as a summary of its conversation needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind<'a> {
    /// The title that the user gave.
    CustomTitle(Option<&'a str>),
    /// The title that the agent made.
    GeneratedTitle(Option<&'a str>),
    Summary(Option<&'a str>),
    LastPrompt(Option<&'a str>),
    /// The folder to which the session moved, such as a worktree that its agent entered.
    Moved(Option<&'a str>),
    /// The session left the worktree that its agent had entered, for the folder in which it began.
    MovedBack,
    /// A message to the agent: a prompt, a tool's result, or one that the agent wrote in the user's name.
    User,
    Assistant,
    Other,
}

/// One line, read for a summary of its conversation or for a search.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredLine(Value);

impl StoredLine {
    /// The lines that may contain a title or another folder, in the order of the file. Most lines do not and need not be
    /// parsed for one.
    pub fn with_titles_or_moves(lines: &[u8]) -> Vec<&[u8]> {
        static MARKS: LazyLock<[Finder<'static>; 4]> = LazyLock::new(|| {
            let types: [&[u8]; 4] = [
                b"-title\"",
                b"\"type\":\"summary\"",
                b"\"type\":\"relocated\"",
                b"\"type\":\"worktree-state\"",
            ];
            types.map(Finder::new)
        });
        let mut found = Vec::new();
        for mark in MARKS.iter() {
            let mut from = 0;
            while let Some(at) = mark.find(&lines[from..]).map(|at| from + at) {
                let start = memrchr(b'\n', &lines[from..at]).map_or(from, |line_end| from + line_end + 1);
                let end = memchr(b'\n', &lines[at..]).map_or(lines.len(), |length| at + length);
                found.push(start..end);
                from = end;
            }
        }
        found.sort_by_key(|line| line.start);
        found.dedup();
        found.into_iter().map(|line| &lines[line]).collect()
    }

    /// Whether a line may contain an image. Most lines do not and need not be parsed for one.
    pub fn may_have_image(line: &[u8]) -> bool {
        memchr::memmem::find(line, b"\"base64\"").is_some()
    }

    pub fn read(line: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(line).ok()?;
        value.is_object().then_some(Self(value))
    }

    /// Reads the beginning of a line that is cut within its message, as far as it goes. The fields after the message are
    /// missing.
    pub fn read_beginning(line: &[u8]) -> Option<Self> {
        // A text, a block of text, the data of an image.
        const ENDS: [&[u8]; 3] = [br#""}}"#, br#""}]}}"#, br#""}}]}}"#];
        // The cut may be within an escape or a character.
        const LONGEST_ESCAPE: usize = 6;
        let cuts = (0..=LONGEST_ESCAPE).filter_map(|n| line.get(..line.len().checked_sub(n)?));
        cuts.flat_map(|cut| ENDS.map(|end| [cut, end].concat())).find_map(|line| Self::read(&line))
    }

    /// Reads also a line with bytes or escapes that are no Unicode; they become U+FFFD.
    pub fn read_leniently(line: &[u8]) -> Option<Self> {
        let value: Value = json::read_leniently(&String::from_utf8_lossy(line)).ok()?;
        value.is_object().then_some(Self(value))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    fn is(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub fn kind(&self) -> LineKind<'_> {
        match self.text("type").unwrap_or_default() {
            "custom-title" => LineKind::CustomTitle(self.text("customTitle")),
            "ai-title" => LineKind::GeneratedTitle(self.text("aiTitle")),
            "summary" => LineKind::Summary(self.text("summary")),
            "last-prompt" => LineKind::LastPrompt(self.text("lastPrompt")),
            "relocated" => LineKind::Moved(self.text("relocatedCwd")),
            // 2.1.197 writes only these. 2.1.332 writes one of the other kind before each of them.
            "worktree-state" => match self.0.get("worktreeSession") {
                Some(Value::Null) => LineKind::MovedBack,
                worktree => {
                    LineKind::Moved(worktree.and_then(|worktree| worktree.get("worktreePath")?.as_str()))
                }
            },
            "user" => LineKind::User,
            "assistant" => LineKind::Assistant,
            _ => LineKind::Other,
        }
    }

    /// The folder in which the session began.
    pub fn cwd(&self) -> Option<&str> {
        self.text("cwd")
    }

    pub fn timestamp(&self) -> Option<&str> {
        self.text("timestamp")
    }

    /// The git branch; without one git says HEAD.
    pub fn branch(&self) -> Option<&str> {
        self.text("gitBranch")
    }

    /// A message of a subagent.
    pub fn is_sidechain(&self) -> bool {
        self.is("isSidechain")
    }

    /// A message in the user's name that is no step of the conversation.
    pub fn is_remark(&self) -> bool {
        ["isMeta", "isSynthetic", "isCompactSummary"].iter().any(|name| self.is(name))
    }

    /// A failure of the API, which the agent stores as a reply.
    pub fn is_api_error(&self) -> bool {
        self.is("isApiErrorMessage")
    }

    /// The wire id of a message.
    /// Who wrote it.
    pub(crate) fn origin(&self) -> Option<&Value> {
        self.0.get("origin")
    }

    pub(crate) fn uuid(&self) -> Option<&str> {
        self.text("uuid")
    }

    /// The id of a reply, which all its lines have.
    pub(crate) fn message_id(&self) -> Option<&str> {
        self.message("id")?.as_str()
    }

    /// The result of a tool as data.
    pub(crate) fn tool_use_result(&self) -> Option<&Value> {
        self.0.get("toolUseResult")
    }

    pub(crate) fn message(&self, name: &str) -> Option<&Value> {
        self.0.get("message")?.get(name)
    }

    /// The model of a reply; `None` if the agent wrote it itself.
    pub fn model(&self) -> Option<&str> {
        self.message("model")?.as_str().filter(|model| *model != SYNTHETIC)
    }

    /// A reply that the agent wrote itself, such as “No response requested.” when a killed session is resumed (2.1.329).
    pub fn is_by_the_agent_itself(&self) -> bool {
        self.message("model").and_then(Value::as_str) == Some(SYNTHETIC)
    }

    /// The blocks of the message; a plain text has none.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Value> {
        self.message("content").and_then(Value::as_array).into_iter().flatten()
    }

    fn block(&self, kind: &str) -> Option<&Value> {
        self.blocks().find(|block| block.get("type").and_then(Value::as_str) == Some(kind))
    }

    /// The data of the line's images as the file has it (base64 of any bytes), each with the id of its prompt or of its
    /// tool call.
    pub fn images(&self) -> Vec<(&str, &str)> {
        let owners = match self.0.get("attachment") {
            Some(attachment) => vec![(attachment.get("source_uuid"), attachment.get("prompt"))],
            None => {
                let results = self.blocks().map(|block| (block.get("tool_use_id"), block.get("content")));
                [(self.0.get("uuid"), self.message("content"))].into_iter().chain(results).collect()
            }
        };
        let images = owners.into_iter().filter_map(|(id, content)| {
            let id = id?.as_str()?;
            Some(images_in(content?).map(move |data| (id, data)))
        });
        images.flatten().collect()
    }

    /// The message has a result of a tool.
    pub fn has_tool_result(&self) -> bool {
        self.block("tool_result").is_some()
    }

    /// The first text of the message.
    pub fn words(&self) -> Option<&str> {
        let content = self.message("content")?;
        content.as_str().or_else(|| self.block("text")?.get("text")?.as_str())
    }

    /// The reply is not the last one of its turn.
    pub fn goes_on(&self) -> bool {
        self.block("tool_use").is_some() || matches!(self.stop_reason(), Some("tool_use" | "pause_turn"))
    }

    /// The reply has a text, or ended although it has none.
    pub fn has_answer(&self) -> bool {
        self.words().is_some() || self.stop_reason() == Some("end_turn")
    }

    fn stop_reason(&self) -> Option<&str> {
        self.message("stop_reason")?.as_str()
    }
}

/// The data of the images in a list of blocks.
fn images_in(content: &Value) -> impl Iterator<Item = &str> {
    let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
    let images = blocks.iter().filter(|block| block.get("type").and_then(Value::as_str) == Some("image"));
    images.filter_map(|image| image.get("source")?.get("data")?.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(value: &Value) -> StoredLine {
        StoredLine::read(value.to_string().as_bytes()).expect("an object")
    }

    #[test]
    fn a_field_of_another_type_costs_nothing_else() {
        let odd = line(&json!({"type": "user", "cwd": 7, "gitBranch": "main", "isMeta": "yes",
            "message": {"content": [7, {"type": "text", "text": 1}, {"type": "text", "text": "later"}]}}));
        assert_eq!((odd.kind(), odd.cwd(), odd.branch()), (LineKind::User, None, Some("main")));
        assert!(!odd.is_remark() && !odd.has_tool_result());
        assert_eq!(odd.words(), None, "the first text counts, as in the agent's own list");
        assert_eq!(StoredLine::read(b"[1]"), None);
        assert_eq!(line(&json!({"type": "ai-title"})).kind(), LineKind::GeneratedTitle(None));
    }

    #[test]
    fn lines_with_titles_or_moves_are_chosen_once_and_in_order() {
        let of = |lines: &str| {
            let found = StoredLine::with_titles_or_moves(lines.as_bytes()).into_iter();
            found.map(|line| String::from_utf8_lossy(line).into_owned()).collect::<Vec<_>>()
        };
        let both = r#"{"type":"summary","of":"ai-title","as":"custom-title"}"#;
        let (title, other) = (r#"{"type":"ai-title"}"#, r#"{"type":"user","title":"no-titles"}"#);
        assert_eq!(of(&[other, both, "", title, other, both].join("\n")), [both, title, both]);
        assert_eq!(of(&format!("{title}\n")), [title]);
        assert_eq!(of(title), [title]);
        assert_eq!(of(&format!("\n{other}\n")), [] as [&str; 0]);
        let moved = r#"{"type":"relocated","relocatedCwd":"/a"}"#;
        let left = r#"{"type":"worktree-state","worktreeSession":null}"#;
        assert_eq!(of(&[moved, other, title, left].join("\n")), [moved, title, left]);
    }

    #[test]
    fn a_reply_goes_on_or_ends() {
        let reply = |message: Value| line(&json!({"type": "assistant", "message": message}));
        let calls = reply(json!({"content": [{"type": "tool_use"}]}));
        assert!(calls.goes_on() && !calls.has_answer());
        let ended = reply(json!({"content": [], "stop_reason": "end_turn"}));
        assert!(!ended.goes_on() && ended.has_answer());
        let own = reply(json!({"model": "<synthetic>", "content": "No response requested."}));
        assert!(own.is_by_the_agent_itself() && own.model().is_none());
    }
    #[test]
    fn an_image_belongs_to_its_prompt_or_to_its_call() {
        let image = |data: &str| json!({"type": "image", "source": {"type": "base64", "data": data}});
        let result = json!({"type": "tool_result", "tool_use_id": "t1", "content": [image("QQ=="), 7]});
        let content = json!([image("Qg=="), {"type": "image", "source": {"data": 7}}, result]);
        let user = line(&json!({"type": "user", "uuid": "u1", "message": {"content": content}}));
        assert_eq!(user.images(), [("u1", "Qg=="), ("t1", "QQ==")]);
        let prompt = json!({"source_uuid": "u2", "prompt": [image("Qw==")]});
        assert_eq!(line(&json!({"uuid": "x", "attachment": prompt})).images(), [("u2", "Qw==")]);
        let unnamed = line(&json!({"type": "user", "message": {"content": [image("RA==")]}}));
        assert_eq!(unnamed.images(), []);
        assert_eq!(line(&json!({"uuid": "u", "message": {"content": "\"base64\""}})).images(), []);
    }
}

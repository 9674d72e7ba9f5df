//! A permission request, the answers to it, and the way it ends.

use super::diff::Diff;
use super::document::Block;
use super::id::{ItemId, RequestId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// Asks whether a tool may do what it is about to do.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    pub id: RequestId,
    pub tool: String,
    /// One line: “Run this command?”
    pub question: String,
    /// What exactly would be run, written or fetched: the raw text, nothing left out.
    pub subject: String,
    /// The whole input as a value, for programs: a number may have lost its spelling, a key that stands twice is here
    /// once.
    pub input: Value,
    /// The whole input as text, for eyes: every token as the agent wrote it, a field to a line.
    pub input_text: String,
    /// Names what is shown here. An answer that lets something happen carries it, so that what was seen is what runs.
    pub shown: String,
    /// The input holds more than `subject` and `diff` show.
    pub has_more: bool,
    /// The host that a fetch would really reach; `null` for anything else.
    pub host: Option<String>,
    /// What may not be what it seems, in the whole of the input.
    pub notices: Vec<Notice>,
    /// All of it for a place that shows no more than plain text; `null` if that would hide something.
    pub plain: Option<String>,
    pub kind: RequestKind,
    /// An edit, as it would change the file; `null` for anything else.
    pub diff: Option<Diff>,
    /// The agent's own choices for “always allow”.
    pub suggestions: Vec<Suggestion>,
    /// The tool call it belongs to.
    pub item_id: Option<ItemId>,
    /// Why it is asked, if the agent said so.
    pub reason: Option<String>,
    pub asked_at: u64,
}

/// Something in a request that may not be what it seems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    pub kind: NoticeKind,
    /// One line: “1 hidden character changes the direction of the text: \u{202E}”.
    pub words: String,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum NoticeKind {
    Direction,
    Invisible,
    Control,
    Blank,
    Combining,
    LookAlike,
    /// Half of a surrogate pair.
    Broken,
    /// A key that stands twice in one object.
    DuplicateKey,
    /// A run of blanks or new lines that puts the rest out of sight.
    Padding,
    Shell,
    Address,
    Path,
    Long,
}

/// What kind of answer is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RequestKind {
    Command,
    Edit,
    Fetch,
    Other,
    /// The agent asks the user something: answer with `Decision::Answer`, or deny to skip.
    Questions {
        questions: Vec<Question>,
    },
    /// The agent proposes a plan.
    Plan {
        blocks: Vec<Block>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    pub text: String,
    pub header: String,
    pub options: Vec<QuestionOption>,
    pub multi_select: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct QuestionOption {
    pub label: String,
    pub description: String,
}

/// A rule that the agent offers to keep.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// Names it in `Decision::AllowAlways`.
    pub id: String,
    /// In words: “Allow `touch b.txt`”.
    pub label: String,
    /// The exact rule, `Bash(touch b.txt)`: to be drawn so that every code point shows.
    pub rule: String,
    /// Where it is kept, in words: “this session”, “this project, for me”.
    pub kept_in: String,
    /// As the agent sent it, and as it goes back.
    pub raw: Value,
}

/// The answer to a permission request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Decision {
    /// Runs it this once. `updatedInput` changes the input; `null` runs exactly what was asked.
    AllowOnce {
        #[serde(default)]
        updated_input: Option<InputChange>,
    },
    /// Runs it and applies one of the request's own suggestions: its `id`, or the suggestion itself, or its `raw`.
    AllowAlways { suggestion: Value },
    /// Does not run it; the agent reads `message` and goes on, or stops its turn if `interrupt`.
    Deny {
        #[serde(default)]
        message: String,
        #[serde(default)]
        interrupt: bool,
    },
    /// Approves a plan, and from then on asks for each edit or lets the agent edit unasked.
    ApprovePlan { accept_edits: bool },
    /// Answers the agent's questions: question text → chosen label, or free text.
    Answer { answers: std::collections::BTreeMap<String, String> },
}

/// An input as a person changed it: sent exactly as it stands here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum InputChange {
    /// The whole of it, as JSON text.
    Whole { json: String },
    /// Another text in one field; everything else goes as it was asked.
    Field { name: String, text: String },
}

/// The way a permission request ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Resolution {
    Allowed {
        /// The suggestion that was applied as well, in its own words.
        always: Option<String>,
    },
    Denied {
        message: String,
    },
    Answered,
    /// Taken back by the agent, or its process ended: nobody's answer counts any more.
    Withdrawn {
        reason: String,
    },
}

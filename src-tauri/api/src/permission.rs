//! Permission requests, their answers, and their outcomes.

use super::diff::Diff;
use super::document::Block;
use super::form::Form;
use super::id::{ItemId, RequestId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// A request for permission to run a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    pub id: RequestId,
    pub tool: String,
    /// For a tool of an MCP server: the server and the tool as displayed, “clock: Time (get_now)”. The name in brackets
    /// is the tool's own, if it differs. Misleading characters are written out.
    pub server_tool: Option<String>,
    /// One line: “Run this command?”
    pub question: String,
    /// Exactly what would be run, written or fetched: the raw text, complete.
    pub subject: String,
    /// The whole input as JSON, to display and for programs: every token as the agent wrote it, one field per line.
    pub input_text: String,
    /// Identifies what is shown. An answer that allows anything must contain it, so that what was seen is what runs.
    pub shown: String,
    /// The input contains more than `subject` and `diff` show.
    pub has_more: bool,
    /// The host that a fetch would really contact; `null` for anything else.
    pub host: Option<String>,
    /// Warnings about misleading content in the whole input.
    pub notices: Vec<Notice>,
    /// The whole request as plain text, for places that can show only that; `null` if it would hide something.
    pub plain: Option<String>,
    pub kind: RequestKind,
    /// An edit as it would change the file; `null` for anything else.
    pub diff: Option<Diff>,
    /// The agent's own suggestions for “always allow”.
    pub suggestions: Vec<Suggestion>,
    /// The id of the suggestion that one click or key may choose: the only one, short and plain. `null`: the user reads
    /// `suggestions` and chooses first.
    #[serde(default)]
    pub always: Option<String>,
    /// The tool call that it belongs to.
    pub item_id: Option<ItemId>,
    /// The reason for the request, if the agent gave one.
    pub reason: Option<String>,
    /// What the agent does not say about the call, in words; `null` if it says what would run.
    pub unreported: Option<String>,
    /// The subagent that asks; `null` for the agent itself.
    pub subagent: Option<Subagent>,
    pub asked_at: u64,
}

/// The subagent that makes a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Subagent {
    /// The agent's id of it.
    pub agent_id: String,
    /// Its task as the agent described it when it started it: one line, misleading characters written out. Empty if
    /// unknown.
    pub description: String,
    /// The tool call that started it, if known.
    pub item_id: Option<ItemId>,
    /// In words, one line: “Asked by the subagent “Explore the parser””.
    pub words: String,
}

/// A warning about content of a request that may be misleading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    pub kind: NoticeKind,
    /// One line: “1 hidden character changes the direction of the text: \u{202E}”.
    pub words: String,
}

/// The subject of a notice.
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
    /// A duplicate key in one object.
    DuplicateKey,
    /// A run of spaces or newlines that moves the rest out of view.
    Padding,
    Shell,
    Address,
    Path,
    Long,
}

/// The kind of answer that a request needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RequestKind {
    Command,
    Edit,
    Fetch,
    Other,
    /// The agent asks the user questions: answer with `Decision::Answer`, or deny to skip.
    Questions {
        questions: Vec<Question>,
    },
    /// The agent proposes a plan.
    Plan {
        blocks: Vec<Block>,
    },
    /// The agent or one of its servers asks for values: answer with `Decision::Fill`, or deny to decline. Its texts have
    /// codes in place of misleading characters.
    Form {
        form: Form,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    pub text: String,
    pub header: String,
    pub options: Vec<QuestionOption>,
    pub multi_select: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct QuestionOption {
    pub label: String,
    pub description: String,
    /// What the option would look like, as text to draw with equal widths, bounded; `null` if the agent shows nothing.
    #[serde(default)]
    pub preview: Option<String>,
}

/// A rule that the agent suggests to save.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// Its id in `Decision::AllowAlways`.
    pub id: String,
    /// In words: “Allow `touch b.txt`”.
    pub label: String,
    /// The exact rule, `Bash(touch b.txt)`. Must be drawn with every code point visible.
    pub rule: String,
    /// Where it is saved, in words: “this session”, “this project, for me”.
    pub kept_in: String,
    /// The suggestion as the agent sent it, and as it is sent back.
    pub raw: Value,
    /// The rules that the agent would write to the folder's local settings. Only for Deskbell itself.
    #[serde(skip)]
    #[ts(skip)]
    pub folder_rules: Vec<String>,
}

/// The answer to a permission request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Decision {
    /// Runs the call once. `updatedInput` changes the input; `null` runs exactly what was requested.
    AllowOnce {
        #[serde(default)]
        updated_input: Option<InputChange>,
    },
    /// Runs the call and applies one of the request's suggestions, given by its `id`, as the suggestion itself, or as
    /// its `raw`.
    AllowAlways { suggestion: Value },
    /// Does not run the call. The agent reads `message` and continues, or ends its turn if `interrupt` is set.
    Deny {
        #[serde(default)]
        message: String,
        #[serde(default)]
        interrupt: bool,
    },
    /// Approves a plan. From then on the agent asks for each edit, or edits without asking if `acceptEdits` is set.
    ApprovePlan { accept_edits: bool },
    /// Answers the agent's questions: question text → chosen label, or free text.
    Answer { answers: std::collections::BTreeMap<String, String> },
    /// Fills in a form: the name of a field → its value. A field that is not required may be absent.
    Fill { values: std::collections::BTreeMap<String, Value> },
}

/// An input changed by the user, sent exactly as given here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum InputChange {
    /// The whole input, as JSON text.
    Whole { json: String },
    /// New text for one field; all other fields are sent as requested.
    Field { name: String, text: String },
}

/// The outcome of a permission request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Resolution {
    Allowed {
        /// The label of the suggestion that was applied as well.
        always: Option<String>,
    },
    Denied {
        message: String,
    },
    Answered,
    /// Withdrawn by the agent, or its process ended: answers are no longer accepted.
    Withdrawn {
        reason: String,
    },
}

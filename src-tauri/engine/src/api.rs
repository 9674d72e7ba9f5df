//! Every type that crosses to the UI and through `deskbell relay`, and nothing else.
//!
//! Conventions: objects are camelCase; a variant is named by its `type`; a missing value is `null`, never absent
//! (on input it may be absent); ids are opaque strings; moments end in `At` and are milliseconds since the Unix
//! epoch; spans end in `Ms`. The TypeScript of these types is `ui/src/lib/bindings/api.ts`; the test
//! `bindings_are_fresh` holds the two together.

mod rules;
mod survivor;

pub use rules::*;
pub use survivor::*;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// Declares an opaque string id, a newtype in Rust and a plain string on the wire.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
        pub struct $name(pub String);

        impl $name {
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A session as Deskbell knows it; stable from its creation, across restarts of app and agent.
    SessionId
);
id!(
    /// One entry of the transcript.
    ItemId
);
id!(
    /// A prompt. It carries this id to the agent when it is sent first, and another each time it is sent again.
    PromptId
);
id!(
    /// A permission request, as the agent named it.
    RequestId
);

// ---------------------------------------------------------------------------------------------------------------
// Commands: what a person asks of one session.

/// What can be asked of a session. One JSON object per line through `deskbell relay`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Command {
    /// Accepts a prompt. It is sent at once if the agent is idle, else as `delivery` says.
    Prompt {
        text: String,
        #[serde(default)]
        images: Vec<Image>,
        #[serde(default)]
        delivery: Delivery,
    },
    /// Answers an open permission request. Only the first answer counts; a later one is refused. `shown` is the
    /// request's own: an answer that carries another is refused, and without any only a denial is taken.
    Decide {
        request_id: RequestId,
        #[serde(default)]
        shown: Option<String>,
        decision: Decision,
    },
    /// Ends the turn, keeps the session.
    Interrupt,
    /// Takes a prompt that is still queued out of the queue.
    Withdraw { prompt_id: PromptId },
    /// Changes the text of a prompt that is still queued.
    EditQueued { prompt_id: PromptId, text: String },
    /// Sends a prompt again that a crash cut off or that was held back. Never done without being asked.
    Resend { prompt_id: PromptId },
    /// Changes when a prompt goes that is still queued. One that is held goes with it.
    Deliver { prompt_id: PromptId, delivery: Delivery },
    /// Puts a queued prompt before another one; before none: behind them all.
    Move { prompt_id: PromptId, before: Option<PromptId> },
    /// `default`, `acceptEdits`, `plan`, `dontAsk`, `auto`: what the agent may do unasked.
    SetMode { mode: String },
    /// A model's name as `Session::models` lists it, or `default`.
    SetModel { model: String },
    /// How hard the model tries: one of its `effortLevels`; `null` is the agent's own.
    SetEffort {
        #[serde(default)]
        effort: Option<String>,
    },
    /// Whether the model thinks before it answers; only a model that `canStopThinking` can be told not to.
    SetThinking { on: bool },
    /// Asks the agent for the rules that it works by; they come in `Session::rules`.
    ListRules,
    /// A title of the user's own.
    Rename { title: String },
    /// Ends the agent's process, by the stop ladder. The session can be prompted again.
    Stop,
}

/// When a prompt goes that is given while the agent works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// When the turn is over and its turn in the queue has come.
    #[default]
    AfterTurn,
    /// The turn is ended for it, and it goes before all that waits.
    Now,
    /// At once: the agent takes it up at its next step. It waits for the end of the turn if the agent cannot say
    /// what it took up (`Session::takes_into_turn`), or is just being interrupted.
    IntoTurn,
}

/// An image that belongs to a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    /// Base64, without a `data:` prefix.
    pub data: String,
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

// ---------------------------------------------------------------------------------------------------------------
// Events: what a session tells.

/// An event with its place in the session's order. `seq` grows by one with each event of a session, without a gap.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    pub seq: u64,
    pub session_id: SessionId,
    #[serde(flatten)]
    pub event: Event,
}

/// What happened in a session.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The session's facts changed; the whole of them is here.
    SessionChanged { session: Box<Session> },
    /// A new item at the end of the transcript.
    ItemAdded { item: Item },
    /// An item changed; the whole of it is here, under the same id.
    ItemChanged { item: Item },
    /// A text item grew: keep its first `keep` blocks, then come `blocks`.
    BlocksChanged { item_id: ItemId, keep: u32, blocks: Vec<Block> },
    /// The last block of a text item, a code block, grew: keep its first `keep` lines, then come `lines`.
    CodeGrew { item_id: ItemId, keep: u32, lines: Vec<CodeLine> },
    /// A text item is whole: nothing more comes to it. To windows only; all others are told the item.
    TextFinished { item_id: ItemId },
    /// An item is void: the first copy of a reply that the agent began again after a retry.
    ItemRemoved { item_id: ItemId },
    /// An edit went through: what the session did to that file so far.
    FileChanged { file: ChangedFile },
    /// The agent's list of tasks, whole.
    TasksChanged { tasks: Vec<Todo> },
    /// The agent began a turn. `promptIds` is empty if nobody asked for it.
    TurnStarted { prompt_ids: Vec<PromptId> },
    /// The agent's turn is over.
    TurnEnded { turn: TurnEnd },
    /// The agent asks; it waits for as long as it takes.
    PermissionRequested { request: Box<PermissionRequest> },
    /// The request is no longer open.
    PermissionResolved { request_id: RequestId, resolution: Resolution },
    /// The agent's process is gone.
    AgentExited { report: ExitReport },
    /// A command could not be carried out.
    CommandFailed { error: CommandError },
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

/// All a window needs to draw a session from nothing; patches with a greater `seq` go on top.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The last event that this snapshot already contains.
    pub seq: u64,
    pub session: Session,
    /// The part of the transcript that was asked for.
    pub rows: Rows,
    /// The items of those rows, in their order.
    pub items: Vec<Item>,
    /// The files that the session changed, the one that changed last at the end.
    pub files: Vec<ChangedFile>,
    pub tasks: Vec<Todo>,
    /// The last prompts, oldest first, to go back to.
    pub prompts: Vec<String>,
}

/// The part of a transcript that a window holds: the rows from `first` up to `end`, of `total`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Rows {
    pub first: u32,
    pub end: u32,
    pub total: u32,
    /// The request that this answers, by its number.
    pub ask: u32,
}

/// The part of a transcript that a window wants. More rows than the engine gives at once are cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Show {
    /// `null`: the end, and whatever is added there.
    pub first: Option<u32>,
    pub count: u32,
    /// A number of the window's own, to know the answer by.
    pub ask: u32,
}

/// A file that a session changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    pub path: String,
    pub added: u32,
    pub removed: u32,
    /// The last edit of it, and where that stands.
    pub item_id: ItemId,
    pub row: u32,
}

/// What can be copied, as the agent wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CopyOf {
    /// The whole session, as Markdown.
    Conversation,
    Message {
        item_id: ItemId,
    },
    /// The whole output of a tool.
    Output {
        item_id: ItemId,
    },
    /// The command that it ran, or all that it was given.
    Input {
        item_id: ItemId,
    },
}

/// Where words stand in a transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// How many items hold the words.
    pub count: u32,
    pub hit: Option<Hit>,
}

/// One of the items that hold the words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// Counted from 0.
    pub index: u32,
    pub item_id: ItemId,
    pub row: u32,
    /// The words stand in what has to be unfolded first.
    pub inside: bool,
    /// In which part of the item they stand first, counted from 0.
    pub part: u32,
}

// ---------------------------------------------------------------------------------------------------------------
// A session's facts.

/// One conversation with one agent in one project.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    pub id: SessionId,
    pub title: String,
    /// The project's folder.
    pub project: String,
    /// Which agent: `claude` or `demo`.
    pub agent: AgentKind,
    /// The agent's own id of this conversation; `null` until it gave one.
    pub agent_session_id: Option<String>,
    pub status: Status,
    /// Is there a process? Not the same as working: an idle session may or may not have one.
    pub alive: bool,
    pub pid: Option<u32>,
    pub agent_version: Option<String>,
    pub model: Option<String>,
    pub mode: String,
    /// The level that counts; `null` where the model has none, or nobody said.
    pub effort: Option<String>,
    pub thinking: bool,
    /// As they were told last; `null` until somebody asked.
    pub rules: Option<RulesInForce>,
    /// The agent did not ask where it must: to be shown for as long as its process lives.
    pub channel_fault: Option<ChannelFault>,
    /// What the agent offers; empty until it said so.
    pub models: Vec<Model>,
    pub commands: Vec<SlashCommand>,
    /// Accepted prompts that were not sent yet, in order.
    pub queue: Vec<QueuedPrompt>,
    /// The turn that runs can take up another prompt: the agent tells which prompts it took.
    pub takes_into_turn: bool,
    /// Open permission requests, oldest first.
    pub requests: Vec<PermissionRequest>,
    pub usage: Usage,
    pub created_at: u64,
    /// The last time anything happened in it.
    pub changed_at: u64,
    /// The turn that runs now began then.
    pub turn_started_at: Option<u64>,
    /// Its agent runs, or ran last, without the folder's own settings: `--setting-sources=user --strict-mcp-config`.
    pub restricted: bool,
}

/// Which program speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AgentKind {
    Claude,
    Demo,
}

/// Whose turn it is, in the words that are shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Status {
    /// Nothing to do; the last turn, if any, was seen.
    Idle,
    /// The process is coming up.
    Starting,
    /// A turn runs. `activity` is what it does just now, in plain words.
    Working { activity: String },
    /// The user asked the turn to end; it has not yet.
    Interrupting,
    /// A person has to answer. `what` is one line: “Wants to run a command”.
    NeedsInput { what: String },
    /// The last turn ended well.
    Completed,
    /// The last turn, or the process, failed. `message` is one line for people.
    Failed { message: String },
    /// The process crashed and comes up again: attempt `attempt` at `at`.
    Restarting { attempt: u32, at: u64 },
    /// The process is being ended.
    Stopping,
    /// The user stopped it.
    Stopped,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// What `setModel` takes.
    pub name: String,
    pub label: String,
    pub description: String,
    /// The full name behind `name`, as `Session::model` has it once a turn began.
    pub resolved: Option<String>,
    /// From the least to the most; empty if it has none.
    pub effort_levels: Vec<String>,
    pub can_stop_thinking: bool,
    /// It can judge by itself what needs asking: the mode `auto`.
    pub can_decide: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SlashCommand {
    /// Without the slash.
    pub name: String,
    pub description: String,
    pub argument_hint: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct QueuedPrompt {
    pub id: PromptId,
    pub text: String,
    pub n_images: u32,
    /// `true`: held back because a crash or a stop came between; it goes only when the user says so.
    pub held: bool,
    /// `true`: it was sent before, and its turn had no end. The agent may have done some of it.
    pub cut_off: bool,
    pub delivery: Delivery,
}

/// Tokens and money. Cost is the agent's own figure in US dollars.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// In the context at the end of the last turn: input, cached or not, and output.
    pub context_tokens: u64,
    /// The model's window; `null` until the agent said so.
    pub context_window: Option<u64>,
    /// Of the whole session.
    pub cost_usd: f64,
    pub output_tokens: u64,
}

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

/// What a turn came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TurnEnd {
    pub outcome: Outcome,
    /// One line for people: “Done”, “Interrupted”, “The API answered 529: overloaded”.
    pub words: String,
    /// The prompts it answered; empty if nobody asked for it.
    pub prompt_ids: Vec<PromptId>,
    pub duration_ms: u64,
    pub output_tokens: u64,
    /// Of this turn alone.
    pub cost_usd: f64,
    #[serde(default)]
    pub timing: TurnTiming,
}

/// What a turn was waited for, each in milliseconds; none of what there was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, rename_all = "camelCase")]
pub struct TurnTiming {
    /// From the start of the agent's process until it was ready; only of the first turn in it.
    pub spawn_ms: Option<u64>,
    /// From the prompt to the agent's first line.
    pub first_line_ms: Option<u64>,
    /// From the prompt to the first piece of text for the user.
    pub first_text_ms: Option<u64>,
}

/// How a turn ended. Judged by `is_error` first: an API failure comes as `subtype: success` (2.1.329).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Outcome {
    Done,
    Interrupted,
    NotLoggedIn,
    UnknownModel,
    ContextExceeded,
    RateLimited,
    MaxTurns,
    BudgetExhausted,
    ApiError {
        status: Option<u16>,
    },
    /// The process ended before the turn did.
    Crashed,
    Failed,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExitReport {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Asked for: by stop, by the end of the app, by hibernation.
    pub expected: bool,
    /// The last lines of its error output.
    pub stderr: String,
}

/// A failure to branch on, to read, and to unfold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct CommandError {
    pub code: ErrorCode,
    pub message: String,
    pub detail: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ErrorCode {
    /// No agent program was found; `detail` lists what was tried, a line each.
    AgentNotFound,
    /// The program was found and could not be started.
    SpawnFailed,
    /// The folder does not exist, or is not a folder.
    BadProject,
    /// Nobody has said yet whether the folder is trusted, or its files changed since.
    NotTrusted,
    NoSuchSession,
    NoSuchPrompt,
    /// The request was answered or withdrawn before.
    NoSuchRequest,
    /// The command could not be read, or makes no sense now.
    BadCommand,
    /// The conversation is open in another window or terminal.
    OpenElsewhere,
    /// The agent refused, in its own words.
    Refused,
    Internal,
}

// ---------------------------------------------------------------------------------------------------------------
// The transcript.

/// One entry of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub id: ItemId,
    /// The tool call whose subagent made this item; `null` for the main thread.
    pub parent: Option<ItemId>,
    /// The row it is drawn in, counted from 0: a run of reads and searches shares one, and what a subagent made is in
    /// that of its call. A row keeps its number for good, and may become empty.
    pub row: u32,
    pub at: u64,
    /// In how many parts a window draws it. More than one: the body is the first of them, and the engine gives the
    /// others. Whoever listens without a window has the whole of it.
    pub parts: u32,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Body {
    Prompt {
        text: String,
        n_images: u32,
        state: PromptState,
    },
    Text {
        blocks: Vec<Block>,
        /// Still being written.
        streaming: bool,
    },
    Thinking {
        text: String,
        streaming: bool,
        duration_ms: Option<u64>,
    },
    ToolCall(Box<ToolCall>),
    Notice {
        level: Level,
        text: String,
        /// More to unfold: stderr, a line that could not be read.
        detail: Option<String>,
        /// When what it tells of is over: a limit resets then.
        until_at: Option<u64>,
    },
    TurnEnd(TurnEnd),
}

/// Where a prompt is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum PromptState {
    Queued,
    Sent,
    Done,
    Failed,
    Withdrawn,
    /// Cut off by a crash or stop: offered again, never sent again by itself.
    Held,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// A tool at work.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The agent's name of the tool: `Bash`, `Edit`, `mcp__server__tool`.
    pub tool: String,
    pub icon: ToolIcon,
    /// “Ran”, “Edited”, “Read”; in the present while it runs: “Running”.
    pub verb: String,
    /// `cargo test`, `src/lib.rs`: one line.
    pub subject: String,
    pub state: ToolState,
    /// How it ended, if that is worth a word: “exit code 1”, “denied”.
    pub note: Option<String>,
    pub duration_ms: Option<u64>,
    pub detail: ToolDetail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ToolIcon {
    Command,
    Edit,
    Read,
    Search,
    Web,
    Agent,
    Todo,
    Question,
    Plan,
    Mcp,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ToolState {
    /// Its input is still being written.
    Preparing,
    Running,
    Waiting,
    Succeeded,
    Failed,
    Denied,
    /// Cut off by an interrupt, a stop or a crash.
    Interrupted,
}

/// What opens below a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToolDetail {
    Command {
        command: String,
        /// Its end.
        output: Output,
    },
    Edit(Diff),
    /// Text with its language, if known.
    Text {
        language: Option<String>,
        /// Its beginning.
        output: Output,
    },
    Todos {
        todos: Vec<Todo>,
    },
    /// Tidy JSON: anything we know no better view for.
    Json {
        input: String,
        /// Its beginning.
        output: Output,
    },
}

/// A part of what a tool put out. The engine has the whole of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// How many lines there are; a very long one counts, and comes, as several.
    pub total: u32,
    /// The number of the first of `lines`, counted from 0.
    pub first: u32,
    pub lines: Vec<CodeLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Todo {
    pub text: String,
    /// `pending`, `inProgress`, `completed`.
    pub state: TodoState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TodoState {
    Pending,
    InProgress,
    Completed,
}

// ---------------------------------------------------------------------------------------------------------------
// Documents: text as data. No HTML string reaches the UI.

/// A block of a document, from Markdown.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Block {
    Paragraph {
        spans: Vec<Span>,
    },
    Heading {
        level: u8,
        spans: Vec<Span>,
    },
    Code {
        language: Option<String>,
        lines: Vec<CodeLine>,
    },
    Quote {
        blocks: Vec<Block>,
    },
    List {
        /// The first number of an ordered list; `null` for bullets.
        start: Option<u64>,
        items: Vec<ListItem>,
    },
    Table {
        align: Vec<Align>,
        head: Vec<Cell>,
        rows: Vec<Vec<Cell>>,
    },
    Rule,
    Footnote {
        label: String,
        blocks: Vec<Block>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListItem {
    /// A task's state; `null` for an ordinary item.
    pub checked: Option<bool>,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Cell {
    pub spans: Vec<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Align {
    None,
    Left,
    Center,
    Right,
}

/// A run of text inside a block.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Span {
    Text {
        text: String,
    },
    Code {
        text: String,
    },
    Emphasis {
        spans: Vec<Span>,
    },
    Strong {
        spans: Vec<Span>,
    },
    Strike {
        spans: Vec<Span>,
    },
    /// `host` is where it really leads; a link that may not be opened comes as text.
    Link {
        url: String,
        host: String,
        spans: Vec<Span>,
    },
    /// A remote image is a chip with its description, never a request.
    /// `host` is where it would come from; `null` if it may not be opened either.
    Image {
        url: String,
        host: Option<String>,
        alt: String,
    },
    /// HTML and anything else that is not rendered, shown as the text it is.
    Raw {
        text: String,
    },
    FootnoteRef {
        label: String,
    },
    Break,
}

/// One line of code or of terminal output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CodeLine {
    pub tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    pub text: String,
    pub style: TokenStyle,
}

/// What a token is; the UI's tokens file gives it a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TokenStyle {
    #[default]
    Plain,
    Keyword,
    String,
    Function,
    Comment,
    Number,
    Type,
    /// ANSI colours and weight, from terminal output.
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
    Dim,
    Bold,
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    pub path: String,
    pub added: u32,
    pub removed: u32,
    pub hunks: Vec<Hunk>,
}

#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    pub lines: Vec<DiffLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffLine {
    pub kind: DiffKind,
    /// 1-based; `null` where the file has no such line, or where the place in the file is not known.
    pub old_line: Option<u32>,
    pub new_line: Option<u32>,
    pub parts: Vec<DiffPart>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DiffKind {
    Context,
    Added,
    Removed,
}

/// A run of a changed line; `strong` marks the words that changed.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffPart {
    pub text: String,
    pub strong: bool,
}

// ---------------------------------------------------------------------------------------------------------------
// A window's facts.

/// What a window draws first: its project and the sessions known there.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    /// The folder, whole.
    pub path: String,
    pub name: String,
    /// The checked-out branch, if the folder is under git.
    pub branch: Option<String>,
    pub sessions: Vec<Session>,
    /// The session that was open last.
    pub open: Option<SessionId>,
    pub agent: AgentView,
    /// The folder cannot be worked in: why.
    pub problem: Option<CommandError>,
    /// What the folder would make its agent do, and what its user decided; `null` where only the demo agent works.
    pub trust: Option<TrustView>,
    /// Processes of an earlier run of the app that are still there, whatever their project.
    pub survivors: Vec<Survivor>,
    pub app_version: String,
}

/// Which agent program a new session would run, and why that one.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AgentView {
    Found {
        kind: AgentKind,
        program: String,
        source: String,
    },
    /// Not found: every place that was looked at, and what was wrong there.
    Missing {
        tried: Vec<Tried>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    /// A path, or the name of a variable.
    pub place: String,
    pub problem: String,
}

/// What the doctor says of the agent.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Checkup {
    /// Which one, and why that one; or what was tried.
    pub agent: AgentView,
    pub version: Option<String>,
    pub channel: PermissionChannel,
}

/// Whether an agent asks before it acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PermissionChannel {
    Asks,
    /// It went on without a word where it must ask.
    NeverAsks,
    /// It could not be seen: why.
    Unknown {
        reason: String,
    },
}

/// Files of the project that fit what was typed, the best first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundFiles {
    pub files: Vec<FoundFile>,
    /// The project has more files than are looked through.
    pub is_cut: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundFile {
    /// From the project, with slashes; a folder ends in one.
    pub path: String,
    /// Which of its characters matched.
    pub matched: Vec<u32>,
}

/// Something that was dropped on a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Dropped {
    /// An image, to go with the prompt.
    Image { name: String, image: Image },
    /// Anything else, to be named in the prompt: from the project if it is in it.
    File { path: String },
    /// Neither, and why, in words.
    Refused { why: String },
}

/// What goes to a window in one Tauri event: the events of one frame, merged.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Batch {
    pub session_id: SessionId,
    /// The batch applies on top of exactly this `seq`; anything else is a gap, and asks for a new snapshot.
    pub after: u64,
    /// The `seq` after it. Merged events leave their numbers out: `seq - after` may exceed their count.
    pub seq: u64,
    /// The rows that the window holds from now on. Items that come into it are added by the events.
    pub rows: Rows,
    pub events: Vec<Event>,
}

/// What a window learns first. Its events come under a name that only it was told.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The Tauri event to listen to, before anything else is asked.
    pub event: String,
    pub project: ProjectView,
    pub preferences: Preferences,
}

/// What the shell tells a window.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WindowEvent {
    /// Events of the one session whose snapshot the window asked for last.
    Batch(Batch),
    /// Any session of the project is new or changed: for the list.
    SessionListed {
        session: Box<Session>,
    },
    SessionRemoved {
        session_id: SessionId,
    },
    /// Bring this session up, and the request if one is named: a notification was clicked, or “Review…”.
    Show {
        session_id: SessionId,
        request_id: Option<RequestId>,
    },
    /// Files are held over the window, or no longer.
    Dragging {
        over: bool,
    },
    /// Files were dropped on the window.
    Dropped {
        dropped: Vec<Dropped>,
    },
    /// The project's facts changed: its branch, its agent.
    ProjectChanged {
        project: Box<ProjectView>,
    },
}

/// What a person chose for all windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Preferences {
    pub theme: Theme,
    /// Ask by native dialog and card, or by the card alone.
    pub ask_by: AskBy,
    /// The agent program; `null` looks in the usual places.
    pub agent_program: Option<String>,
    /// How large everything is drawn, in percent: from 50 to 200.
    pub zoom: u32,
}

impl Default for Preferences {
    fn default() -> Self {
        Self { theme: Theme::default(), ask_by: AskBy::default(), agent_program: None, zoom: 100 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AskBy {
    #[default]
    DialogAndCard,
    Card,
}

// ---------------------------------------------------------------------------------------------------------------
// Trust: what a folder would make its agent do.

/// What a window shows before any agent starts in a folder that is not trusted.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TrustView {
    /// The folder, whole, links resolved.
    pub project: String,
    pub standing: TrustStanding,
    /// What the folder says now, the most dangerous first.
    pub findings: Vec<Finding>,
    /// If it changed since it was trusted: what is new, and what is gone. Both may be empty, if only the writing changed.
    pub added: Vec<Finding>,
    pub removed: Vec<Finding>,
    /// Nothing runs, sends anything elsewhere or widens what the agent may do: ask briefly.
    pub nothing_to_run: bool,
    /// Names exactly what is shown here, and goes back with `trust`. `null`: a file could not be read or shown whole, so
    /// the folder cannot be trusted as it is.
    pub fingerprint: Option<String>,
}

/// What the user decided about a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TrustStanding {
    /// Nothing yet: ask.
    Unknown,
    /// Its settings are loaded.
    Trusted,
    /// Its settings are not loaded, nor its `CLAUDE.md`, skills and agents. Never asked again by itself.
    Restricted,
    /// It was trusted, and its files are not the same any more: ask again.
    Changed,
}

/// The answer to whether a folder is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TrustDecision {
    /// Loads its settings, for as long as they stay the same.
    Trust,
    /// Works without them.
    Restrict,
}

/// One thing that a folder's settings say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    pub kind: FindingKind,
    pub severity: Severity,
    /// The file that says it, from the folder: `.claude/settings.json`, `../.mcp.json`.
    pub file: String,
    /// Where that file really lies, if a link leads there.
    pub link: Option<String>,
    /// In words: “Runs when a session starts”.
    pub title: String,
    /// What it goes by: a server's name, the tools that a hook is for, a setting's key.
    pub name: Option<String>,
    /// The command, address, rule or value, exactly and whole: to be drawn so that every code point shows.
    pub text: String,
    /// Whatever else the entry says.
    pub details: Vec<FindingDetail>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FindingDetail {
    pub name: String,
    pub value: String,
}

/// How bad a finding can be, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// Runs a program as the user, or may: what cannot be judged is here too.
    Runs,
    /// Sends a key or data elsewhere, or changes who is believed.
    Redirects,
    /// Lets the agent do more unasked.
    Allows,
    /// Changes something else.
    Changes,
}

/// What sort of thing a finding is, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FindingKind {
    /// A file that cannot be judged.
    Unreadable,
    /// Where requests to the model go, and the API key with them.
    ApiAddress,
    Hook,
    /// An MCP server.
    Server,
    /// A command that makes a key or logs in.
    Helper,
    StatusLine,
    Plugin,
    Environment,
    /// The permission mode.
    Mode,
    AllowRule,
    /// A folder that is opened beside the project.
    Directory,
    /// Approves or turns off servers.
    ServerApproval,
    Sandbox,
    /// A rule that denies or asks.
    NarrowingRule,
    Setting,
    /// A file that is written in an unusual way.
    Oddity,
}

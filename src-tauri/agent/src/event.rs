//! Events: what an agent reports.

use crate::answer::{Answer, Refused};
use crate::api::{AgentOption, Model, Plugin, SlashCommand};
use crate::hook::HookRun;
use crate::limits::LimitReport;
use crate::message::{Assistant, PastPrompt, SessionMessage, User};
use crate::request::AgentRequest;
use crate::stream::Stream;
use crate::task::Task;
use crate::turn::TurnResult;

/// One report of the agent, live or from its transcript on disk.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEvent {
    /// The agent describes itself. It may do so again with each turn.
    Init(Box<Init>),
    /// A content block of a reply, or all of a short reply.
    Assistant(Box<Assistant>),
    /// A message in the user's name: results of tool calls, or an echo.
    User(Box<User>),
    /// A message of another session of the user. It may have begun the turn.
    Message(Box<SessionMessage>),
    /// A piece of a reply while it is generated.
    Stream(Box<Stream>),
    TurnEnded(Box<TurnResult>),
    /// A request from the agent, which waits for the response.
    Request {
        request_id: String,
        request: AgentRequest,
    },
    /// The response to a request of ours.
    Response {
        request_id: String,
        outcome: Result<Answer, Refused>,
    },
    /// The agent works on a request of ours. `retry`: its call of the model failed, and is repeated.
    RequestProgress {
        request_id: String,
        retry: Option<Retry>,
    },
    /// The agent withdraws a request.
    RequestWithdrawn {
        request_id: String,
    },
    /// `requesting`, `compacting` or none; or a new permission mode.
    Status {
        status: Option<String>,
        permission_mode: Option<String>,
    },
    /// `running`, `requires_action`, `idle`.
    SessionState {
        state: String,
    },
    ApiRetry(Retry),
    Compacted {
        trigger: String,
        pre_tokens: Option<u64>,
        /// Tokens in the context after compaction.
        post_tokens: Option<u64>,
    },
    /// The agent could not compact the conversation.
    CompactFailed {
        error: Option<String>,
    },
    /// The conversation was cleared: the next `Init` has a new session id.
    ConversationReset,
    /// A denial without a permission request.
    PermissionDenied {
        tool: String,
        message: String,
    },
    RateLimit(LimitReport),
    /// A hook began, printed something or ended.
    Hook(Box<HookRun>),
    /// A message of the agent for the user, outside of any reply.
    Informational {
        level: String,
        text: String,
    },
    /// A sign of life without any other content.
    Heartbeat,
    /// What became of a prompt: `queued`, `started`, `completed`, `cancelled`.
    PromptState {
        uuid: String,
        state: String,
    },
    /// The agent begins a turn by itself, at a time that was planned. Its `TurnEnded` may not say so.
    Woken {
        by: WokenBy,
        /// The id of the turn's start, which a `PromptState` reports as over.
        uuid: String,
    },
    /// A background task or subagent ended, with its summary.
    TaskEnded {
        task_id: String,
        /// The tool call that started the task.
        tool_use_id: Option<String>,
        status: String,
        summary: String,
        /// The report of a subagent. If the agent's summary is the report itself, `summary` is empty.
        report: Option<String>,
    },
    /// A command or a subagent began, or a subagent reports its progress. It does not have to be in the background.
    Task(Box<Task>),
    /// The running background tasks.
    BackgroundTasks {
        tasks: Vec<Task>,
    },
    Title {
        title: String,
    },
    /// All slash commands that it has now.
    Commands(Vec<SlashCommand>),
    /// All that can be chosen in the session now, and what is in force.
    Choices(Box<Choices>),
    /// The conversations of the project that the agent has stored.
    StoredSessions(Vec<ListedSession>),
    /// The conversation from before this process, which Deskbell has no copy of.
    Past(Past),
    /// How full the context is, and its size.
    ContextUsed {
        tokens: u64,
        window: u64,
    },
    /// The agent failed outside of any reply; contains its message. No `TurnEnded` follows.
    Error {
        words: String,
    },
    /// The agent cannot work, for example because it needs a login. It is stopped, and prompts wait for the user.
    CannotStart {
        words: String,
        /// What the user can do, or the agent's own message.
        detail: Option<String>,
        /// The command that logs in, if that is what it needs: program and arguments, for a terminal.
        login: Option<Vec<String>>,
    },
    /// Before it exits, the agent reports data that it could not write to disk.
    WritesLost {
        /// `ENOSPC` or `EDQUOT`.
        error_code: String,
        /// What was lost belongs to the conversation, not only to the agent's own settings.
        transcript: bool,
    },
    /// A message of a known kind that needs no action, because another one has the same.
    Ignored,
    /// A message of a kind that is not known. It needs no action.
    Unknown {
        kind: String,
    },
    /// Not a message. `line` is truncated to 4 KiB.
    Unreadable {
        line: String,
        error: String,
    },
}

/// A conversation that the agent has stored, as the agent reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSession {
    pub id: String,
    pub title: Option<String>,
    /// RFC 3339, or whatever the agent sent.
    pub changed_at: Option<String>,
}

/// The earlier messages of a conversation that continues. They are complete, and are no part of a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Past {
    /// The agent was asked to repeat them.
    Requested,
    Whole(PastConversation),
    /// There are none to show. The reason is for the user, in whole sentences.
    Missing {
        reason: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastConversation {
    /// In order. No part has a time.
    pub parts: Vec<PastPart>,
    /// Parts at its beginning that were not kept.
    pub n_left_out: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PastPart {
    Prompt {
        id: String,
        prompt: PastPrompt,
    },
    /// A complete message, a call, or its result.
    Event(AgentEvent),
}

/// What can be chosen in a session while it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// Only the model in force has its effort levels.
    pub models: Vec<Model>,
    /// The model in force.
    pub model: Option<String>,
    /// The effort level in force.
    pub effort: Option<String>,
    pub options: Vec<AgentOption>,
}

/// The plan that woke the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WokenBy {
    /// A job that is repeated, or runs once at a time of day.
    ScheduledJob,
    /// The agent chose when to continue.
    WakeUp,
}

/// What an agent reports of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Init {
    pub session_id: String,
    pub model: Option<String>,
    pub permission_mode: Option<String>,
    pub version: Option<String>,
    /// It uses an API key instead of a login.
    pub has_api_key: bool,
    /// It reports which prompts joined a turn, and when.
    pub reports_prompts: bool,
    /// It reports its tools, and none of them asks the user.
    pub cannot_ask: bool,
    /// Names of slash commands that work only in a terminal.
    pub terminal_commands: Vec<String>,
    /// The plugins that it loaded; absent if it does not report them.
    pub plugins: Option<Vec<Plugin>>,
    /// Folders where the agent keeps its own notes. It writes to them unasked, by design.
    pub own_folders: Vec<String>,
}

/// The agent repeats a request to its API.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retry {
    pub attempt: u32,
    pub max_retries: u32,
    pub retry_delay_ms: f64,
    /// `None`: a network failure instead of an API error.
    pub error_status: Option<u16>,
    pub error: Option<String>,
}

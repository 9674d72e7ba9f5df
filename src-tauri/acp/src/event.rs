//! Events of an agent, in words that name no protocol. Shaped like version 2 of ACP: calls are upserts by id, and the
//! beginning and the end of a turn are events of their own.

pub use deskbell_agent::Exit;
use deskbell_api::FormField;
use serde_json::Value;
use std::sync::Arc;

/// The details of an error that are kept, in bytes.
const KEPT: usize = 4096;

/// Something that happened in the agent. Nothing that it sends is dropped: what is not understood is `Unknown` or
/// `Unreadable`.
#[derive(Clone, Debug, PartialEq)]
pub enum AcpEvent {
    /// The program speaks the protocol and says what it can do.
    Ready(Box<Ready>),
    /// There is a session: prompts can be sent.
    Session(Box<AcpSession>),
    /// The agent needs a login before it works. Its ways are those of `Ready`.
    LoginRequired {
        message: String,
        logins: Vec<Login>,
    },
    /// A command had success. `Prompt`, and commands that make a session, have events of their own.
    Done(AcpAction),
    /// The agent refused a command, or its answer is of no use.
    Failed {
        action: AcpAction,
        failure: Failure,
    },
    TurnStarted,
    /// A part of a message, in order.
    Said {
        voice: Voice,
        /// The agent's id of the message, where it has one.
        message: Option<String>,
        /// It is the first part of its message.
        is_new: bool,
        content: Content,
    },
    Call(Box<AcpCall>),
    Permission(Box<Permission>),
    Question(Box<AcpQuestion>),
    /// An open request is over without the user's answer: withdrawn by the agent, or ended with its turn.
    Withdrawn {
        request: RequestKey,
        reason: Withdrawal,
    },
    TurnEnded {
        end: AcpTurnEnd,
        tokens: Option<AcpTokens>,
    },
    Mode {
        id: String,
    },
    Options(Vec<ConfigOption>),
    Commands(Vec<AcpSlashCommand>),
    Plan(Vec<PlanEntry>),
    Usage(AcpUsage),
    /// The session's title; `None` if it lost it.
    Title(Option<String>),
    Notice {
        severity: String,
        title: String,
        description: Option<String>,
    },
    Compaction {
        id: String,
        status: String,
        error: Option<String>,
    },
    /// Sessions that the agent has stored.
    Stored {
        sessions: Vec<AcpStoredSession>,
        next: Option<String>,
    },
    /// A request of the agent that was refused at once.
    Refused {
        method: String,
        reason: String,
        /// The beginning of its parameters as JSON.
        params: String,
    },
    /// A message, or a part of one, that has no meaning here.
    Unknown {
        kind: String,
        /// The beginning of its JSON.
        json: String,
    },
    Unreadable {
        /// The beginning of the line.
        line: String,
        n_bytes: usize,
        error: String,
    },
}

/// An open request of the agent. Keys are never used twice; the agent's own ids may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(pub u64);

/// A command that the agent answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcpAction {
    Initialize,
    Login,
    Logout,
    NewSession,
    LoadSession,
    ResumeSession,
    CloseSession,
    DeleteSession { id: String },
    ListSessions,
    Prompt,
    SetMode { id: String },
    SetModel { id: String },
    SetOption { id: String, value: String },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The agent's own error.
    Refused(RpcError),
    /// Its answer does not say what it has to.
    Unusable(String),
    /// The process ended before it answered.
    Ended,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl RpcError {
    /// Its message, with what the agent says apart from it: some only say “Internal error” in the message.
    pub fn words(&self) -> String {
        let details = self.data.as_ref().and_then(details).unwrap_or_default();
        let details = details.trim();
        match self.message.trim() {
            message if details.is_empty() || message.contains(details) => message.to_owned(),
            "" => details.to_owned(),
            message => format!("{}: {details}", message.trim_end_matches([':', '.'])),
        }
    }
}

/// The details of an error: a text, a field that has one, or the beginning of its JSON.
fn details(data: &Value) -> Option<String> {
    let text = match data {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let said =
                ["details", "message", "error", "reason"].iter().filter_map(|field| fields.get(*field));
            said.filter(|value| !value.is_null()).find_map(details).unwrap_or_else(|| data.to_string())
        }
        other => other.to_string(),
    };
    Some(text[..text.floor_char_boundary(KEPT)].to_owned())
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ready {
    pub name: Option<String>,
    pub version: Option<String>,
    pub abilities: Abilities,
    pub logins: Vec<Login>,
}

/// What the agent offers. Nothing else is asked of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    pub load: bool,
    pub resume: bool,
    pub list: bool,
    pub delete: bool,
    pub close: bool,
    pub logout: bool,
    pub images: bool,
    pub embedded_files: bool,
}

/// A way to log in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Login {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    pub terminal: Option<TerminalLogin>,
    /// Variables that hold a key. Deskbell never reads their values.
    pub variables: Vec<String>,
}

/// A login in the user's terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalLogin {
    /// `None`: the agent's own program.
    pub command: Option<String>,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AcpSession {
    pub id: String,
    pub modes: Vec<AcpChoice>,
    /// `None`: the agent reports no mode.
    pub mode: Option<String>,
    pub options: Vec<ConfigOption>,
    /// Models that are not in `options`: an older form, which the schema no longer has.
    pub models: Vec<AcpChoice>,
    pub model: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcpChoice {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
}

/// A setting of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigOption {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    /// `mode`, `model`, `thought_level` or a word of the agent.
    pub category: Option<String>,
    pub value: OptionValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    Choice { value: String, choices: Vec<AcpChoice> },
    Switch(bool),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcpSlashCommand {
    pub name: String,
    pub description: String,
    /// What its input is.
    pub hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    Agent,
    Thinking,
    /// A prompt of the user, in a session that is loaded.
    User,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Text(String),
    Image {
        media_type: String,
        /// Base64; `None` if it is too large to be kept.
        data: Option<Arc<str>>,
        n_bytes: u64,
        uri: Option<String>,
    },
    Audio {
        media_type: String,
        n_bytes: u64,
    },
    Link {
        uri: String,
        name: String,
        media_type: Option<String>,
        n_bytes: Option<u64>,
    },
    File {
        uri: String,
        media_type: Option<String>,
        /// `None` if it is not text.
        text: Option<Arc<str>>,
        n_bytes: u64,
    },
    /// The beginning of its JSON.
    Other(String),
}

/// A change of a tool call. A field is `None` where nothing changed; a call that is not known yet begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AcpCall {
    pub id: String,
    /// It is another call than any before, also one with the same id.
    pub is_new: bool,
    pub title: Option<String>,
    /// The tool's own name.
    pub tool: Option<String>,
    pub kind: Option<CallKind>,
    pub status: Option<CallStatus>,
    pub input: Option<CallInput>,
    pub places: Option<Vec<AcpPlace>>,
    pub diffs: Option<Vec<AcpDiff>>,
    /// A note about a call that does not run yet.
    pub note: Option<String>,
    pub output: Option<OutputChange>,
    /// Output that was not kept, in bytes, in all.
    pub output_left_out: Option<u64>,
    /// The text of its content, if its output is that of a terminal.
    pub beside: Option<String>,
    /// Its output in a form that is not known, as text. Of no use where there is another.
    pub raw_output: Option<String>,
    /// Content that is no text.
    pub attachments: Option<Vec<Content>>,
    pub exit: Option<Exit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallStatus {
    /// It does not run yet: its input is written, or it waits for permission.
    Waiting,
    Running,
    Done,
    Failed,
    /// The user denied it.
    Denied,
    /// Its turn was cancelled before the user allowed it.
    NotRun,
    /// Its turn was cancelled.
    Cancelled,
    /// Its turn ended and the agent did not say how the call did.
    Unreported,
}

impl CallStatus {
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }

    /// Nothing says that it did not run.
    pub fn may_have_run(self) -> bool {
        !matches!(self, Self::Denied | Self::NotRun)
    }
}

/// The input of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallInput {
    /// The whole input as JSON; `None` if the agent reports none.
    pub json: Option<Value>,
    /// The command that would run.
    pub command: Option<String>,
    pub command_from: CommandFrom,
}

/// The place that a command was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandFrom {
    /// There is no command.
    None,
    /// The call's input: what would run.
    Input,
    /// The call's title, because this agent reports no input.
    Title,
    /// The text of the call before it ran, which is its input as JSON.
    Text,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcpPlace {
    pub path: String,
    pub line: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcpDiff {
    pub path: String,
    /// `None`: the file is new.
    pub old: Option<String>,
    pub new: String,
}

/// A call's output. Agents that repeat the whole text each time are reported as what was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputChange {
    Added(String),
    Replaced(String),
}

/// The agent asks whether it may do something.
#[derive(Clone, Debug, PartialEq)]
pub struct Permission {
    pub request: RequestKey,
    /// The call as far as it is known, whether it came before or with this request.
    pub call: AcpCall,
    /// The agent's own words about the request.
    pub explanation: Option<String>,
    /// At least one. The ids are unique; kinds are not.
    pub options: Vec<PermissionOption>,
    /// Options that cannot be chosen: without an id, or with an id that occurs twice. The beginning of their JSON.
    pub unusable: Vec<String>,
    /// A session that is not ours, such as a subagent's.
    pub session: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionOption {
    pub id: String,
    pub name: String,
    pub kind: AcpOptionKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcpOptionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    /// A kind that is not known: it may allow.
    Other,
}

/// The agent asks the user something.
#[derive(Clone, Debug, PartialEq)]
pub struct AcpQuestion {
    pub request: RequestKey,
    /// The call that asks.
    pub call: Option<String>,
    pub message: String,
    /// In the agent's order.
    pub fields: Vec<FormField>,
    /// All of the request, as it was sent.
    pub params: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    ByAgent,
    /// Another request came with the same id: an answer could have gone to either, so both were cancelled.
    Repeated,
    TurnEnded,
    /// The user interrupted the turn or stopped the agent.
    Cancelled,
    ProcessEnded,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AcpTurnEnd {
    Done,
    MaxTokens,
    MaxRequests,
    /// The model refused to go on.
    Refusal,
    Cancelled,
    /// A reason that is not known.
    Other(String),
    Failed(Failure),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AcpTokens {
    pub input: u64,
    pub output: u64,
    pub total: u64,
    pub thought: Option<u64>,
    pub cache_read: Option<u64>,
    pub cache_write: Option<u64>,
}

impl AcpTokens {
    /// A number of each kind. A kind that only one of them has is as it is there.
    fn combined(self, other: Self, combine: fn(u64, u64) -> u64) -> Self {
        let optional = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(combine(one, other)),
            (one, other) => one.or(other),
        };
        Self {
            input: combine(self.input, other.input),
            output: combine(self.output, other.output),
            total: combine(self.total, other.total),
            thought: optional(self.thought, other.thought),
            cache_read: optional(self.cache_read, other.cache_read),
            cache_write: optional(self.cache_write, other.cache_write),
        }
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.combined(other, u64::saturating_add)
    }

    /// What was added to a sum since `before`. A sum that goes back has restarted.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        if self.total < before.total { self } else { self.combined(before, u64::saturating_sub) }
    }

    /// The input that was not read from a cache. Agents that count the cache as input have it in no sum of its own.
    pub fn input_without_cache(self) -> u64 {
        let cache = self.cache_read.unwrap_or_default().saturating_add(self.cache_write.unwrap_or_default());
        let is_in_input = self.total <= self.input.saturating_add(self.output);
        if is_in_input { self.input.saturating_sub(cache) } else { self.input }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AcpUsage {
    /// Tokens in the context, and its size.
    pub context: Option<(u64, u64)>,
    /// The session's cost so far, and its currency.
    pub cost: Option<(f64, String)>,
    /// Tokens of one request to the model.
    pub tokens: Option<AcpTokens>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEntry {
    pub text: String,
    pub priority: String,
    pub status: PlanStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanStatus {
    Pending,
    Running,
    Done,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcpStoredSession {
    pub id: String,
    pub folder: String,
    pub title: Option<String>,
    pub updated_at: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_error_says_what_the_agent_says_apart_from_its_message() {
        let words = |message: &str, data: Value| {
            RpcError { code: -32603, message: message.to_owned(), data: Some(data) }.words()
        };
        let full = "Internal error: no such model";
        for data in [
            json!("no such model"),
            json!({"details": "no such model"}),
            json!({"error": {"message": "no such model", "code": 1}}),
            json!({"error": null, "reason": "no such model"}),
        ] {
            assert_eq!(words("Internal error", data.clone()), full, "{data}");
        }
        assert_eq!(words("Internal error.", json!({"status": 500})), r#"Internal error: {"status":500}"#);
        assert_eq!(words("no such model", json!({"details": "no such model"})), "no such model");
        assert_eq!(words("no", json!(null)), "no");
        assert!(words("no", json!("x".repeat(1 << 20))).len() < 5_000);
    }

    #[test]
    fn tokens_of_a_cache_are_counted_once() {
        let tokens =
            |total| AcpTokens { input: 100, output: 10, total, cache_read: Some(60), ..AcpTokens::default() };
        assert_eq!(tokens(110).input_without_cache(), 40, "the cache is a part of the input");
        assert_eq!(tokens(170).input_without_cache(), 100);
        assert_eq!(tokens(170).since(tokens(110)).input, 0);
        assert_eq!(tokens(50).since(tokens(110)), tokens(50), "the sum began again");
    }
}

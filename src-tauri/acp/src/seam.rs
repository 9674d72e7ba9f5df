//! Events of the driver as events of the core. Settings of a session are not among them: the driver of the session
//! reports them, because it knows which ones are offered.

use crate::event::{
    AcpCall, AcpDiff, AcpEvent, AcpOptionKind, AcpPlace, AcpQuestion, AcpSession, AcpTokens, AcpTurnEnd,
    AcpUsage, CallInput, CallKind, CallStatus, CommandFrom, Content, Exit, Failure, OptionValue,
    OutputChange, Permission, PermissionOption, PlanEntry, RequestKey, Voice,
};
use crate::returned::{self, ReturnedParts};
use crate::slash_commands;
use crate::tools::{self, CallFacts, Shown};
use deskbell_agent::{
    AgentEvent, AgentRequest, AnswerOption, AskedCall, Assistant, AssistantMessage, ContentBlock, EndReason,
    Init, Input, ReplyError, Stream, StreamEvent, TokenUsage, ToolRequest, ToolResult, TurnResult, User,
    UserMessage,
};
use deskbell_api::Form;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Translates the events of one process, in order.
#[derive(Debug, Default)]
pub struct CoreEvents {
    version: Option<String>,
    session_id: Option<String>,
    model: Option<String>,
    /// The message that is written.
    message: Option<Message>,
    n_messages: u64,
    /// The prompt that is answered: ids of another process are never the same.
    prompt: String,
    calls: HashMap<String, CallSoFar>,
    /// The names of calls of earlier turns, for late updates.
    earlier: HashMap<String, String>,
    /// Calls of a conversation that the agent repeated. Their rows exist.
    repeated: HashSet<String>,
    dollars: Option<f64>,
    /// The tokens that the agent reports with the end of a turn are those of all turns so far.
    sums_tokens: bool,
    /// The last of these sums.
    last_tokens: AcpTokens,
    /// The tokens of the requests of this turn.
    tokens: Option<AcpTokens>,
}

#[derive(Debug)]
struct Message {
    id: String,
    is_thinking: bool,
    text: String,
}

/// What is known of a call until it is over.
#[derive(Debug, Default)]
struct CallSoFar {
    /// Its name in the core. An agent may use its own id again in another turn or process.
    name: String,
    /// It is of an earlier turn: what it does was said then.
    is_over: bool,
    title: Option<String>,
    tool: Option<String>,
    kind: Option<CallKind>,
    input: Option<CallInput>,
    places: Vec<AcpPlace>,
    diffs: Vec<AcpDiff>,
    /// As the core knows it.
    shown: Option<Shown>,
    output: String,
    left_out: u64,
    beside: Option<String>,
    raw_output: Option<String>,
    note: Option<String>,
    attachments: Vec<Content>,
    exit: Option<Exit>,
    status: Option<CallStatus>,
    /// A part of its result came after the call was over.
    is_late: bool,
}

impl CallSoFar {
    /// Takes what an update says of the result. Returns whether it says anything.
    fn take_result(&mut self, change: &mut AcpCall) -> bool {
        let is_change = change.output.is_some()
            || change.beside.is_some()
            || change.raw_output.is_some()
            || change.attachments.is_some()
            || change.exit.is_some();
        match change.output.take() {
            Some(OutputChange::Added(text)) => self.output.push_str(&text),
            Some(OutputChange::Replaced(text)) => self.output = text,
            None => {}
        }
        self.left_out = change.output_left_out.unwrap_or(self.left_out);
        self.beside = change.beside.take().or(self.beside.take());
        self.raw_output = change.raw_output.take().or(self.raw_output.take());
        self.note = change.note.take().or(self.note.take());
        self.attachments = change.attachments.take().unwrap_or_else(|| std::mem::take(&mut self.attachments));
        self.exit = change.exit.take().or(self.exit.take());
        is_change
    }

    fn result(&self, status: CallStatus) -> AgentEvent {
        let otherwise = self.raw_output.as_deref().or(self.note.as_deref());
        let text = returned::text(&ReturnedParts {
            output: &self.output,
            left_out: self.left_out,
            beside: self.beside.as_deref(),
            // A change says what was done.
            otherwise: otherwise.filter(|_| status.may_have_run() && self.diffs.is_empty()),
            attachments: &self.attachments,
        });
        let image = |content: &Content| match content {
            Content::Image { data, .. } => data.clone(),
            _ => None,
        };
        let images: Vec<Arc<str>> = self.attachments.iter().filter_map(image).collect();
        let ended =
            ToolResult { n_images: images.len() as u32, images, ..tools::ended(status, self.exit.clone()) };
        result_of(self.name.clone(), ended, text)
    }
}

/// Calls of earlier turns whose names are known for late updates.
const MOST_EARLIER: usize = 4_096;

/// The name of a request, for the core.
pub fn request_id(request: RequestKey) -> String {
    format!("acp-{}", request.0)
}

/// The request with this name.
pub fn request_key(id: &str) -> Option<RequestKey> {
    id.strip_prefix("acp-")?.parse().ok().map(RequestKey)
}

impl CoreEvents {
    /// `sums_tokens`: from the agent's row.
    pub fn new(sums_tokens: bool) -> Self {
        Self { sums_tokens, ..Self::default() }
    }

    /// A prompt with this id is sent.
    pub fn prompted(&mut self, uuid: &str) {
        uuid.clone_into(&mut self.prompt);
        self.tokens = None;
    }

    /// The command of a call of this turn.
    pub fn command(&self, call: &str) -> Option<&str> {
        let call = self.calls.get(call).filter(|call| call.kind == Some(CallKind::Execute))?;
        call.input.as_ref()?.command.as_deref()
    }

    /// An event of a conversation that the agent repeats, which is not passed on. What it says of a call later is not
    /// passed on either: Copilot CLI (1.0.102) reports in the next turn that a call failed whose process was killed.
    pub fn skip(&mut self, event: &AcpEvent) {
        let AcpEvent::Call(call) = event else { return };
        if self.repeated.len() >= MOST_EARLIER {
            self.repeated.clear();
        }
        self.repeated.insert(call.id.clone());
    }

    /// The events of the core for one event of the driver.
    pub fn take(&mut self, event: AcpEvent) -> Vec<AgentEvent> {
        let mut out = Vec::new();
        if !matches!(event, AcpEvent::Said { .. } | AcpEvent::Usage(_) | AcpEvent::Commands(_)) {
            self.end_message(&mut out);
        }
        match event {
            AcpEvent::Ready(ready) => self.version = ready.version,
            AcpEvent::Session(session) => {
                // The calls of a history that was repeated.
                self.end_calls(&mut out);
                out.push(self.init(*session));
            }
            AcpEvent::Said { voice, message, is_new, content } => {
                self.said(voice, message, is_new, content, &mut out);
            }
            AcpEvent::Call(call) => self.call(*call, &mut out),
            AcpEvent::Plan(entries) => self.plan(&entries, &mut out),
            AcpEvent::Permission(permission) => self.permission(*permission, &mut out),
            AcpEvent::Withdrawn { request, .. } => {
                out.push(AgentEvent::RequestWithdrawn { request_id: request_id(request) });
            }
            AcpEvent::TurnEnded { end, tokens } => {
                self.end_calls(&mut out);
                let tokens = self.tokens_of_turn(tokens);
                let result = self.result(end, tokens, &mut out);
                out.push(AgentEvent::TurnEnded(Box::new(result)));
            }
            AcpEvent::Mode { id } => {
                out.push(AgentEvent::Status { status: None, permission_mode: Some(id) });
            }
            AcpEvent::Commands(commands) => {
                out.push(AgentEvent::Commands(slash_commands::of_core(commands)));
            }
            AcpEvent::Title(Some(title)) => out.push(AgentEvent::Title { title }),
            AcpEvent::Notice { severity, title, description } => {
                let text =
                    description.map_or(title.clone(), |description| format!("{title}\n\n{description}"));
                out.push(AgentEvent::Informational { level: severity, text });
            }
            AcpEvent::Compaction { status, error, .. } => out.push(compaction(&status, error)),
            AcpEvent::LoginRequired { message, .. } => {
                self.n_messages += 1;
                let id = format!("acp-message-{}-{}", self.prompt, self.n_messages);
                out.push(reply(
                    id,
                    vec![ContentBlock::Text { text: message }],
                    Some(ReplyError::NotLoggedIn),
                ));
            }
            AcpEvent::Failed { failure, .. } => out.push(AgentEvent::Error { words: words(&failure) }),
            AcpEvent::Usage(usage) => self.used(usage, &mut out),
            AcpEvent::Unreadable { line, error, .. } => out.push(AgentEvent::Unreadable { line, error }),
            AcpEvent::Unknown { kind, .. } => out.push(AgentEvent::Unknown { kind }),
            AcpEvent::Refused { method, .. } => out.push(AgentEvent::Unknown { kind: method }),
            AcpEvent::Question(question) => out.push(self.question(*question)),
            // The core has no word for these.
            AcpEvent::TurnStarted
            | AcpEvent::Done(_)
            | AcpEvent::Options(_)
            | AcpEvent::Title(None)
            | AcpEvent::Stored { .. } => {}
        }
        out
    }

    /// A turn of a conversation that is repeated is over, which no message says. `next` is the id of the prompt that
    /// follows.
    pub fn end_past_turn(&mut self, next: &str) -> Vec<AgentEvent> {
        let mut out = Vec::new();
        self.end_message(&mut out);
        self.end_calls(&mut out);
        self.prompted(next);
        out
    }

    /// The tokens of a turn that ended. Without a report of them they are those of its requests.
    fn tokens_of_turn(&mut self, reported: Option<AcpTokens>) -> Option<AcpTokens> {
        let of_requests = self.tokens.take();
        match reported {
            Some(sum) if self.sums_tokens => Some(sum.since(std::mem::replace(&mut self.last_tokens, sum))),
            reported => reported.or(of_requests),
        }
    }

    /// Tokens of one request are no size of a context, so they are not reported as one.
    fn used(&mut self, usage: AcpUsage, out: &mut Vec<AgentEvent>) {
        if let Some((amount, currency)) = usage.cost
            && currency == "USD"
        {
            self.dollars = Some(amount);
        }
        if let Some(tokens) = usage.tokens {
            self.tokens = Some(self.tokens.map_or(tokens, |sum| sum.plus(tokens)));
        }
        out.extend(usage.context.map(|(tokens, window)| AgentEvent::ContextUsed { tokens, window }));
    }

    fn init(&mut self, session: AcpSession) -> AgentEvent {
        let chosen = session.options.iter().find(|option| option.category.as_deref() == Some("model"));
        self.model = match chosen.map(|option| &option.value) {
            Some(OptionValue::Choice { value, .. }) => Some(value.clone()),
            _ => session.model,
        };
        self.session_id = Some(session.id.clone());
        AgentEvent::Init(Box::new(Init {
            session_id: session.id,
            model: self.model.clone(),
            permission_mode: session.mode,
            version: self.version.clone(),
            ..Init::default()
        }))
    }

    fn said(
        &mut self,
        voice: Voice,
        message: Option<String>,
        is_new: bool,
        content: Content,
        out: &mut Vec<AgentEvent>,
    ) {
        let Content::Text(text) = content else {
            self.end_message(out);
            let text = format!("The agent sent this: {}", returned::words(&content));
            return out.push(AgentEvent::Informational { level: "info".to_owned(), text });
        };
        if voice == Voice::User {
            self.end_message(out);
            let content = vec![ContentBlock::Text { text }];
            return out.push(AgentEvent::User(Box::new(User {
                message: UserMessage { content },
                uuid: message,
                ..User::default()
            })));
        }
        let is_thinking = voice == Voice::Thinking;
        if is_new || self.message.is_none() {
            self.end_message(out);
            let id = self.next_message(message);
            out.push(stream(StreamEvent::MessageStart { message_id: id.clone() }));
            let block = match is_thinking {
                true => ContentBlock::Thinking { text: String::new() },
                false => ContentBlock::Text { text: String::new() },
            };
            out.push(stream(StreamEvent::BlockStart { index: 0, block }));
            self.message = Some(Message { id, is_thinking, text: String::new() });
        }
        if let Some(message) = &mut self.message {
            message.text.push_str(&text);
            out.push(stream(match message.is_thinking {
                true => StreamEvent::ThinkingDelta { index: 0, text },
                false => StreamEvent::TextDelta { index: 0, text },
            }));
        }
    }

    /// An id that no other message has. Agents without ids, and those that use one for a thought and a text, get ours.
    fn next_message(&mut self, id: Option<String>) -> String {
        self.n_messages += 1;
        match id {
            Some(id) => format!("{id}-{}-{}", self.prompt, self.n_messages),
            None => format!("acp-message-{}-{}", self.prompt, self.n_messages),
        }
    }

    /// Version 1 does not say where a message ends: the next event that is none of it does.
    fn end_message(&mut self, out: &mut Vec<AgentEvent>) {
        let Some(Message { id, is_thinking, text }) = self.message.take() else { return };
        let block = match is_thinking {
            true => ContentBlock::Thinking { text },
            false => ContentBlock::Text { text },
        };
        out.push(reply(id, vec![block], None));
        out.push(stream(StreamEvent::BlockStop { index: 0 }));
        out.push(stream(StreamEvent::MessageStop));
    }

    /// A call is repeated when what is shown of it changes, and has its result when it is over.
    fn call(&mut self, mut change: AcpCall, out: &mut Vec<AgentEvent>) {
        let begins = change.is_new || change.status.is_some_and(|status| !status.is_over());
        if begins {
            self.repeated.remove(&change.id);
        } else if self.repeated.contains(&change.id) {
            return;
        }
        let call = self.named_call(&change.id, begins);
        let is_of_result = call.take_result(&mut change);
        call.title = change.title.or(call.title.take());
        call.tool = change.tool.or(call.tool.take());
        call.kind = change.kind.or(call.kind);
        call.input = change.input.or(call.input.take());
        call.places = change.places.unwrap_or_else(|| std::mem::take(&mut call.places));
        call.diffs = change.diffs.unwrap_or_else(|| std::mem::take(&mut call.diffs));
        let shown = tools::shown(CallFacts {
            title: call.title.as_deref(),
            tool: call.tool.as_deref(),
            kind: call.kind,
            input: call.input.as_ref(),
            places: &call.places,
            diffs: &call.diffs,
        });
        if call.status.is_none() && !call.is_over && call.shown.as_ref() != Some(&shown) {
            out.push(tool_use(&call.name, &shown));
            call.shown = Some(shown);
        }
        match change.status.filter(|status| status.is_over()) {
            Some(status) => {
                call.status = Some(status);
                call.is_late = false;
                out.push(call.result(status));
            }
            None => call.is_late |= call.status.is_some() && is_of_result,
        }
    }

    /// The call with this id of the agent. `begins`: if it is not one of this turn, it is another call than any before.
    fn named_call(&mut self, id: &str, begins: bool) -> &mut CallSoFar {
        let (prompt, earlier) = (&self.prompt, &mut self.earlier);
        self.calls.entry(id.to_owned()).or_insert_with(|| match earlier.remove(id).filter(|_| !begins) {
            Some(name) => CallSoFar { name, is_over: true, ..CallSoFar::default() },
            None => CallSoFar { name: format!("{id}@{prompt}"), ..CallSoFar::default() },
        })
    }

    /// A plan replaces the one before, as the core's to-do list.
    fn plan(&mut self, entries: &[PlanEntry], out: &mut Vec<AgentEvent>) {
        self.n_messages += 1;
        let id = format!("acp-plan-{}-{}", self.prompt, self.n_messages);
        out.push(tool_use(&id, &tools::plan(entries)));
        out.push(result_of(id, ToolResult::default(), String::new()));
    }

    /// Repeats the results of calls whose output came after their end: once, because the output may be long.
    fn end_calls(&mut self, out: &mut Vec<AgentEvent>) {
        let mut late: Vec<CallSoFar> = Vec::new();
        if self.earlier.len() > MOST_EARLIER {
            self.earlier.clear();
        }
        for (id, call) in std::mem::take(&mut self.calls) {
            self.earlier.insert(id, call.name.clone());
            late.extend(Some(call).filter(|call| call.is_late));
        }
        late.sort_by(|one, other| one.name.cmp(&other.name));
        for call in late {
            out.push(call.result(call.status.unwrap_or(CallStatus::Unreported)));
        }
    }

    /// The call is shown as the request shows it, which may be the first to say what would run.
    fn permission(&mut self, permission: Permission, out: &mut Vec<AgentEvent>) {
        let call = permission.call;
        let shown = tools::shown(CallFacts {
            title: call.title.as_deref(),
            tool: call.tool.as_deref(),
            kind: call.kind,
            input: call.input.as_ref(),
            // A request shows the agent's whole input.
            places: &[],
            diffs: call.diffs.as_deref().unwrap_or_default(),
        });
        self.repeated.remove(&call.id);
        let known = self.named_call(&call.id, true);
        let name_of_call = known.name.clone();
        if known.status.is_none() && known.shown.as_ref() != Some(&shown) {
            known.shown = Some(shown.clone());
            out.push(tool_use(&name_of_call, &shown));
        }
        let asked = shown.asked();
        let has_words = permission.explanation.is_some();
        let unreported =
            unreported(call.input.as_ref(), call.diffs.as_deref().unwrap_or_default(), has_words);
        let Shown { name, input, .. } = shown;
        out.push(AgentEvent::Request {
            request_id: request_id(permission.request),
            request: AgentRequest::Tool(Arc::new(ToolRequest {
                tool_name: name,
                asked,
                input: Input::from(input),
                tool_use_id: Some(name_of_call),
                reason: permission.explanation,
                unreported: unreported.map(str::to_owned),
                options: permission.options.iter().map(answer_option).collect(),
                takes_only_options: true,
                ..ToolRequest::default()
            })),
        });
    }

    /// The call that asks is known already, or is none.
    fn question(&self, question: AcpQuestion) -> AgentEvent {
        let AcpQuestion { request, call, message, fields, params } = question;
        let form = Form { server: None, message, url: None, fields };
        let known = call.and_then(|call| self.calls.get(&call));
        AgentEvent::Request {
            request_id: request_id(request),
            request: AgentRequest::Tool(Arc::new(ToolRequest {
                tool_name: "elicitation".to_owned(),
                asked: AskedCall { form: Some(form), ..AskedCall::default() },
                input: Input::from(params),
                tool_use_id: known.map(|call| call.name.clone()),
                takes_only_options: true,
                ..ToolRequest::default()
            })),
        }
    }

    fn result(&self, end: AcpTurnEnd, tokens: Option<AcpTokens>, out: &mut Vec<AgentEvent>) -> TurnResult {
        let (reason, failure) = match end {
            AcpTurnEnd::Done => (None, None),
            AcpTurnEnd::Cancelled => (Some(EndReason::Interrupted), None),
            AcpTurnEnd::MaxTokens => {
                (Some(EndReason::ContextExceeded), Some("The model's limit of tokens".to_owned()))
            }
            AcpTurnEnd::MaxRequests => {
                (Some(EndReason::MaxTurns), Some("The limit of requests of a turn".to_owned()))
            }
            AcpTurnEnd::Refusal => (None, Some("The model refused to continue".to_owned())),
            AcpTurnEnd::Other(reason) => (None, Some(reason)),
            AcpTurnEnd::Failed(failure) => (Some(EndReason::ApiError), Some(words(&failure))),
        };
        if let Some(failure) = failure.as_ref().filter(|failure| failure.trim().contains('\n')) {
            // The end of a turn shows only one line.
            out.push(AgentEvent::Informational { level: "error".to_owned(), text: failure.clone() });
        }
        let usage = tokens.map(|tokens| TokenUsage {
            input_tokens: tokens.input_without_cache(),
            cache_creation_input_tokens: tokens.cache_write.unwrap_or_default(),
            cache_read_input_tokens: tokens.cache_read.unwrap_or_default(),
            output_tokens: tokens.output,
        });
        TurnResult {
            is_error: failure.is_some(),
            reason,
            words: failure,
            session_id: self.session_id.clone(),
            num_turns: 1,
            total_cost_usd: self.dollars,
            usage,
            ..TurnResult::default()
        }
    }
}

/// What a request does not say about its call.
fn unreported(input: Option<&CallInput>, diffs: &[AcpDiff], has_words: bool) -> Option<&'static str> {
    let has_input = input.and_then(|input| input.json.as_ref()).is_some_and(|json| !json.is_null());
    match input.map(|input| input.command_from) {
        Some(CommandFrom::Title) => {
            Some("The agent does not send the command itself. It is shown as the agent titled the call.")
        }
        Some(CommandFrom::Text) => Some(
            "The agent does not send the command itself. It is shown as the agent wrote it into the text of the call.",
        ),
        _ if has_input || !diffs.is_empty() => None,
        _ if has_words => Some("The agent does not send the input of this call, only words about it."),
        _ => Some("The agent does not say what this call would do beyond its title."),
    }
}

/// An option as the core knows it. Its scope is not in the protocol: only its name says what “always” means.
fn answer_option(option: &PermissionOption) -> AnswerOption {
    AnswerOption {
        id: option.id.clone(),
        kind: match option.kind {
            AcpOptionKind::AllowOnce => deskbell_agent::OptionKind::AllowOnce,
            AcpOptionKind::AllowAlways => deskbell_agent::OptionKind::AllowAlways,
            AcpOptionKind::RejectOnce => deskbell_agent::OptionKind::RejectOnce,
            AcpOptionKind::RejectAlways => deskbell_agent::OptionKind::RejectAlways,
            AcpOptionKind::Other => deskbell_agent::OptionKind::Unknown,
        },
        name: Some(option.name.clone()),
        raw: json!({"optionId": option.id, "name": option.name}),
        ..AnswerOption::default()
    }
}

fn stream(event: StreamEvent) -> AgentEvent {
    AgentEvent::Stream(Box::new(Stream { event, parent_tool_use_id: None }))
}

fn reply(id: String, content: Vec<ContentBlock>, error: Option<ReplyError>) -> AgentEvent {
    let message = AssistantMessage { id, content, ..AssistantMessage::default() };
    AgentEvent::Assistant(Box::new(Assistant { message, error, ..Assistant::default() }))
}

fn tool_use(id: &str, shown: &Shown) -> AgentEvent {
    let block = ContentBlock::ToolUse { id: id.to_owned(), call: Box::new(shown.call()) };
    reply(format!("acp-call-{id}"), vec![block], None)
}

fn result_of(id: String, ended: ToolResult, text: String) -> AgentEvent {
    let text = if text.is_empty() { ended.text.clone() } else { text };
    let result = ToolResult { tool_use_id: id, raw: text.clone().into(), text, ..ended };
    let content = vec![ContentBlock::ToolResult(Box::new(result))];
    AgentEvent::User(Box::new(User { message: UserMessage { content }, ..User::default() }))
}

fn compaction(status: &str, error: Option<String>) -> AgentEvent {
    match status {
        "completed" => {
            AgentEvent::Compacted { trigger: "auto".to_owned(), pre_tokens: None, post_tokens: None }
        }
        "failed" | "cancelled" => AgentEvent::CompactFailed { error },
        _ => AgentEvent::Status { status: Some("compacting".to_owned()), permission_mode: None },
    }
}

pub(crate) fn words(failure: &Failure) -> String {
    match failure {
        Failure::Refused(error) => error.words(),
        Failure::Unusable(reason) => reason.clone(),
        Failure::Ended => "The agent ended before it answered".to_owned(),
    }
}

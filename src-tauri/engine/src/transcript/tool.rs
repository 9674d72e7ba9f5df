//! Views of tool calls: the action, its subject and its result in plain words.

use super::lazy::Late;
use super::output::{self, Part, Source};
use super::{edits, questions, results, tasks, wording};
use crate::agent::tool::{RawInput, ToolInput, ToolKind};
use crate::agent::{Input, NO_REASON, Streams, ToolCall as AgentCall, ToolResult};
use crate::api::*;
use crate::document;
use crate::excerpt::excerpt;
use crate::server_tool::ServerTool;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A tool call that begins.
pub struct Begun {
    pub call: AgentCall,
    pub state: ToolState,
}

/// A tool call: the agent's input and its progress.
pub struct Call {
    /// Number of the call, in the order in which calls started.
    pub number: u64,
    /// The call as the agent makes it, or with the user's input.
    call: AgentCall,
    /// The names to display of a server's tool.
    server_tool: Option<ServerTool>,
    /// The agent's input if the user changed it.
    original: Option<RawInput>,
    pub started_at: u64,
    /// Whether a permission request for it was shown.
    pub asked: bool,
    /// Whether the user allowed it.
    pub allowed: bool,
    pub denied: bool,
    /// Whether it waits for an earlier call of the same reply.
    pub held: bool,
    pub ended: bool,
    /// Whether it continued after its result.
    pub background: bool,
    /// Whether it is unknown if the call had started when it was cut off.
    pub may_not_have_begun: bool,
    /// How it ended, if its result does not say so.
    pub end_note: Option<String>,
    project: PathBuf,
    /// Its complete output.
    output: Option<Source>,
    /// The images that it returned, as base64, if they are kept here.
    images: Vec<Arc<str>>,
    /// Its result as received, if less is shown.
    raw: Option<Value>,
    /// Highlighted lines of the output's beginning, once available.
    coloured: Option<Vec<CodeLine>>,
    /// The diff from the call's input, while it runs. It is computed once: the comparison has a time limit, so a second
    /// run may return another diff.
    requested: OnceLock<Option<Diff>>,
    /// Its diff is plain: the call is one of a stored conversation, and gets colours when a window comes near it.
    pub has_plain_diff: bool,
}

impl Call {
    pub fn new(number: u64, call: AgentCall, started_at: u64, project: &Path) -> Self {
        Self {
            number,
            server_tool: call.server_tool.as_ref().map(ServerTool::of),
            call,
            original: None,
            started_at,
            asked: false,
            allowed: false,
            denied: false,
            held: false,
            ended: false,
            background: false,
            may_not_have_begun: false,
            end_note: None,
            project: project.to_owned(),
            output: None,
            images: Vec::new(),
            raw: None,
            coloured: None,
            requested: OnceLock::new(),
            has_plain_diff: false,
        }
    }

    /// Replaces the input with the user's version, which is the one that runs.
    pub fn change(&mut self, input: RawInput) {
        let asked_for = std::mem::replace(&mut self.call.input, input);
        self.original.get_or_insert(asked_for);
        self.requested = OnceLock::new();
    }

    /// The input and the result as received, as JSON.
    pub fn raw(&self) -> String {
        let result = self.raw.clone().or_else(|| self.output.as_ref().map(|output| output.raw().into()));
        let mut raw = json!({ "tool": self.call.name, "input": self.call.input });
        let original = self.original.as_ref().map(|original| json!(original));
        let also = [("originalInput", original), ("result", result)];
        for (name, value) in also.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            raw[name] = value;
        }
        serde_json::to_string_pretty(&raw).unwrap_or_default()
    }

    pub fn input(&self) -> ToolInput<'_> {
        self.call.typed()
    }

    /// Whether this is the agent's input.
    pub fn has_input(&self, input: &Input) -> bool {
        self.original.as_ref().unwrap_or(&self.call.input).value() == input.value()
    }

    fn kind(&self) -> ToolKind {
        self.call.kind
    }

    /// Its complete output.
    pub fn output(&self) -> Option<&Source> {
        self.output.as_ref()
    }

    /// The images that are kept here.
    pub fn images(&self) -> &[Arc<str>] {
        &self.images
    }

    /// Drops the diff from the call's input after the call's end: its view has the diff.
    pub fn forget_requested(&mut self) {
        self.requested = OnceLock::new();
    }

    /// Drops the images.
    pub fn forget_images(&mut self) {
        self.images.clear();
    }

    /// Applies the result.
    pub fn end(&mut self, outcome: &ToolResult) {
        self.ended = true;
        self.images.clone_from(&outcome.images);
        // A subagent's report is an item of its own; the rest of the result is for the model.
        let is_shown_elsewhere = self.is_agent() && !outcome.is_error;
        // The text of an interrupt is for the model too; the state shows it to the user.
        if is_shown_elsewhere || outcome.rejection.is_some() {
            self.raw = Some(outcome.raw.clone());
            self.output = None;
            return;
        }
        self.coloured = None;
        let output = match self.input() {
            ToolInput::Command { .. } => Source::terminal(&command_output(outcome)),
            ToolInput::Read { path } => match &outcome.file_content {
                Some(content) => Source::code(language_of(path), content),
                None => Source::terminal(&outcome.text),
            },
            ToolInput::Fetch { .. } => Source::code(Some("markdown".to_owned()), &outcome.text),
            ToolInput::SearchWeb { .. } => {
                Source::terminal(&results::found(outcome).unwrap_or_else(|| outcome.text.clone()))
            }
            ToolInput::Server { .. } => match results::indented(&outcome.text) {
                Some(text) => Source::code(Some("json".to_owned()), &text),
                None => Source::terminal(&outcome.text),
            },
            _ => Source::terminal(&outcome.text),
        };
        self.output = Some(output);
    }

    pub fn is_agent(&self) -> bool {
        self.kind() == ToolKind::Subagent
    }

    /// The part of the output that belongs in a view of the call, and that the view lacks.
    pub fn excerpt(&self, view: &ToolCall) -> Option<Late> {
        let part = match view.detail {
            ToolDetail::Command { .. } => Part::End,
            ToolDetail::Text { .. } | ToolDetail::Json { .. } => Part::Beginning,
            _ => return None,
        };
        Some(Late::Output(self.output.clone()?, part))
    }

    /// Applies the colours that the output has to a view with an excerpt.
    pub fn paint(&self, view: &mut ToolCall) {
        if let (Some(coloured), Some(output)) = (&self.coloured, view.detail.output_mut()) {
            output::paint(output, coloured);
        }
    }

    /// The output, if it is code without colours.
    pub fn uncoloured(&self) -> Option<&Source> {
        self.output.as_ref().filter(|output| output.is_code() && self.coloured.is_none())
    }

    /// Applies the colours of the output to the view. Returns whether the view changed.
    pub fn colour(&mut self, coloured: Vec<CodeLine>, view: &mut ToolCall) -> bool {
        let is_changed = view.detail.output_mut().is_some_and(|output| output::paint(output, &coloured));
        self.coloured = Some(coloured);
        is_changed
    }

    /// The call as displayed, without its output.
    pub fn view(&self, state: ToolState, duration_ms: Option<u64>, outcome: Option<&ToolResult>) -> ToolCall {
        let words = wording::of(self.kind());
        let input = self.input();
        let facts = wording::Facts {
            background: self.background,
            asked: self.asked,
            ran: outcome
                .is_some_and(|outcome| outcome.has_run && (words.is_command() || outcome.exit.is_some())),
            may_not_have_begun: self.may_not_have_begun,
        };
        let subject = self.subject(&input);
        let failure = outcome.filter(|_| state == ToolState::Failed).and_then(failure);
        let known = self.end_note.clone().or(failure);
        let detail = self.detail(&input, state, outcome);
        let note = known.or_else(|| {
            let note = words.note(state, facts)?;
            let reason = outcome.filter(|_| state == ToolState::Denied && detail.output().is_none());
            Some(match reason.and_then(denial) {
                Some(reason) => format!("{note}: {reason}"),
                None => note.to_owned(),
            })
        });
        ToolCall {
            tool: self.call.name.clone(),
            icon: words.icon,
            verb: words.verb(state, facts),
            subject,
            state,
            note,
            in_background: self.background,
            original_input: self.original.as_ref().map(|original| beginning(self.input_text(original))),
            duration_ms,
            n_images: outcome.map_or(0, |outcome| outcome.n_images),
            detail,
        }
    }

    /// An input as text: the command, or the whole input.
    fn input_text(&self, input: &RawInput) -> String {
        match self.call.read(input) {
            ToolInput::Command { command } => command.map(str::to_owned),
            ToolInput::Search { .. }
            | ToolInput::FindFiles { .. }
            | ToolInput::ListFolder { .. }
            | ToolInput::Fetch { .. }
            | ToolInput::SearchWeb { .. }
            | ToolInput::ScheduleJob { .. }
            | ToolInput::ListJobs
            | ToolInput::CancelJob { .. }
            | ToolInput::WakeUp { .. } => Some(input.lines()),
            _ => None,
        }
        .unwrap_or_else(|| input.pretty())
    }

    /// What the call acts on, on one line.
    fn subject(&self, input: &ToolInput<'_>) -> String {
        let line = |text: &Option<&str>| first_line(text.unwrap_or_default());
        match input {
            ToolInput::Command { command: text }
            | ToolInput::Search { pattern: text }
            | ToolInput::FindFiles { pattern: text }
            | ToolInput::Fetch { url: text }
            | ToolInput::SearchWeb { query: text }
            | ToolInput::Subagent { description: text } => line(text),
            ToolInput::Edit { path, .. }
            | ToolInput::MultiEdit { path, .. }
            | ToolInput::Write { path, .. }
            | ToolInput::EditNotebook { path, .. }
            | ToolInput::Read { path }
            | ToolInput::ListFolder { path } => first_line(self.relative(path.unwrap_or_default())),
            ToolInput::TodoList { .. } => "the to-do list".to_owned(),
            ToolInput::ListTasks => "the tasks".to_owned(),
            ToolInput::CreateTask(task) | ToolInput::UpdateTask(task) | ToolInput::GetTask(task) => {
                first_line(&tasks::subject(task))
            }
            ToolInput::Questions { questions } => {
                let first = questions.as_ref().and_then(|questions| questions.first());
                let text = first.map(|question| question.text.as_str()).filter(|text| !text.is_empty());
                first_line(text.unwrap_or("a question"))
            }
            ToolInput::Plan { .. } => "a plan".to_owned(),
            ToolInput::Monitor { command, description } => first_line(
                description.filter(|text| !text.trim().is_empty()).or(*command).unwrap_or_default(),
            ),
            ToolInput::ScheduleJob { prompt } => line(prompt),
            ToolInput::ListJobs => "the scheduled jobs".to_owned(),
            ToolInput::CancelJob { id } => {
                first_line(&format!("the scheduled job {}", id.unwrap_or_default()))
            }
            ToolInput::WakeUp { stops: true, .. } => "none, the agent is done".to_owned(),
            ToolInput::WakeUp { reason, .. } => line(reason),
            ToolInput::Server { .. } | ToolInput::Other => {
                self.server_tool.as_ref().map_or_else(|| self.call.name.clone(), ServerTool::words)
            }
        }
    }

    fn relative<'a>(&self, path: &'a str) -> &'a str {
        let inside = Path::new(path).strip_prefix(&self.project).ok().and_then(Path::to_str);
        inside.filter(|inside| !inside.is_empty() && !self.project.as_os_str().is_empty()).unwrap_or(path)
    }

    fn detail(&self, input: &ToolInput<'_>, state: ToolState, outcome: Option<&ToolResult>) -> ToolDetail {
        let known = match input {
            ToolInput::Command { command } | ToolInput::Monitor { command: command @ Some(_), .. } => {
                Some(ToolDetail::Command {
                    command: command.unwrap_or_default().to_owned(),
                    output: Output::default(),
                })
            }
            ToolInput::Edit { path, .. }
            | ToolInput::Write { path, .. }
            | ToolInput::MultiEdit { path, .. } => {
                path.and_then(|path| self.edit(path, input, state, outcome))
            }
            ToolInput::EditNotebook { path, .. } => path
                .filter(|_| outcome.is_none_or(|outcome| !outcome.is_error) || has_not_run(state))
                .and_then(|path| edits::notebook(self.relative(path), input, state, outcome))
                .map(|detail| match detail {
                    ToolDetail::Notebook { cell, diff } => {
                        ToolDetail::Notebook { cell, diff: self.with_colours(diff) }
                    }
                    other => other,
                }),
            ToolInput::Questions { questions: Some(questions) } => {
                let questions = questions::answered(questions, outcome);
                questions.map(|questions| ToolDetail::Questions { questions })
            }
            ToolInput::Read { path } => outcome.and_then(|outcome| self.read(*path, outcome)),
            ToolInput::Plan { plan: Some(plan) } if (1..=MOST_OF_A_PLAN).contains(&plan.trim().len()) => {
                Some(ToolDetail::Plan { blocks: document::markdown(plan) })
            }
            ToolInput::TodoList { todos: Some(todos) } => Some(ToolDetail::Todos { todos: todos.clone() }),
            _ => None,
        };
        known.unwrap_or_else(|| ToolDetail::Json {
            input: self.input_text(&self.call.input),
            output: Output::default(),
        })
    }

    /// The change that was made. One that was denied or cut off before it ran is shown as it was requested; of one that
    /// failed, the error is shown.
    fn edit(
        &self,
        path: &str,
        input: &ToolInput<'_>,
        state: ToolState,
        outcome: Option<&ToolResult>,
    ) -> Option<ToolDetail> {
        let is_error = outcome.is_some_and(|outcome| outcome.is_error);
        if is_error && !has_not_run(state) {
            return None;
        }
        let path = self.relative(path);
        let requested = || self.requested.get_or_init(|| edits::requested(path, input)).clone();
        let diff = outcome
            .filter(|_| !is_error)
            .and_then(|outcome| edits::made(path, outcome))
            .or_else(requested)?;
        Some(ToolDetail::Edit(self.with_colours(diff)))
    }

    fn with_colours(&self, diff: Diff) -> Diff {
        if self.has_plain_diff { diff } else { document::coloured_diff(diff) }
    }

    fn read(&self, path: Option<&str>, outcome: &ToolResult) -> Option<ToolDetail> {
        outcome.file_content.as_ref()?;
        Some(ToolDetail::Text { language: language_of(path), output: Output::default() })
    }
}

fn language_of(path: Option<&str>) -> Option<String> {
    document::language_of_path(path.unwrap_or_default())
}

/// Maximum bytes displayed of an input that did not run. The raw call contains all of it.
const ORIGINAL: usize = 16 * 1024;

/// Longer plans are shown as JSON, in parts, in bytes.
const MOST_OF_A_PLAN: usize = 16 * 1024;

/// Maximum characters of the reason of a denial.
const LONGEST_REASON: usize = 240;

/// Maximum characters of a note and of a subject.
const LONGEST_NOTE: usize = 80;
const LONGEST_SUBJECT: usize = 200;

fn beginning(mut text: String) -> String {
    if text.len() > ORIGINAL {
        text.truncate(text.floor_char_boundary(ORIGINAL));
        text.push_str(" …");
    }
    text
}

/// The exit of a failed command, otherwise the first words of an error's first line.
fn failure(outcome: &ToolResult) -> Option<String> {
    if let Some(exit) = outcome.exit.as_ref().filter(|exit| exit.is_failure()) {
        return Some(exit.words());
    }
    let first = first_line(outcome.text.trim_start_matches("Error: "));
    Some(first).filter(|first| !first.is_empty()).map(|first| excerpt(&first, LONGEST_NOTE))
}

/// Whether a call with this state had no effect.
fn has_not_run(state: ToolState) -> bool {
    matches!(state, ToolState::Denied | ToolState::NotRun)
}

/// The reason of a denial on one line; `None` if the user gave none.
fn denial(outcome: &ToolResult) -> Option<String> {
    let reason = outcome.text.trim_start_matches("Error: ").split_whitespace().collect::<Vec<_>>().join(" ");
    let is_given = !reason.is_empty() && reason != NO_REASON && outcome.rejection.is_none();
    is_given.then(|| excerpt(&reason, LONGEST_REASON))
}

fn command_output(outcome: &ToolResult) -> String {
    let Some(Streams { stdout, stderr }) = &outcome.streams else {
        return outcome.text.trim_end_matches('\n').to_owned();
    };
    let text = match (stdout.is_empty(), stderr.is_empty()) {
        (false, false) => &format!("{}\n{stderr}", stdout.trim_end_matches('\n')),
        (false, true) => stdout,
        (true, false) => stderr,
        // The text for the model, which for a silent success is only a remark.
        (true, true) if outcome.is_error => &outcome.text,
        (true, true) => "",
    };
    text.trim_end_matches('\n').to_owned()
}

fn first_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let line = lines.next().unwrap_or("").trim_end();
    let short = excerpt(line, LONGEST_SUBJECT);
    if short.len() == line.len() && lines.next().is_some() { format!("{short} …") } else { short }
}

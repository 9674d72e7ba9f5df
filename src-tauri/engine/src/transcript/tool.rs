//! A tool call in plain words: what it does, to what, and what came of it.

use super::outcome::Outcome;
use super::output::{Part, Source};
use super::{edits, results, tasks};
use crate::api::*;
use crate::document;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What the agent asked for, and how far it is.
pub struct Call {
    name: String,
    input: Value,
    pub started_at: u64,
    pub denied: bool,
    pub ended: bool,
    project: PathBuf,
    /// All that it put out.
    output: Option<Source>,
}

impl Call {
    pub fn new(name: &str, input: Value, started_at: u64, project: &Path) -> Self {
        let (name, project) = (name.to_owned(), project.to_owned());
        Self { name, input, started_at, denied: false, ended: false, project, output: None }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn input(&self) -> &Value {
        &self.input
    }

    /// All that it put out.
    pub fn output(&self) -> Option<&Source> {
        self.output.as_ref()
    }

    /// Takes in what came of it.
    pub fn end(&mut self, outcome: &Outcome<'_>) {
        self.ended = true;
        self.output = Some(match self.name.as_str() {
            "Bash" | "PowerShell" => Source::terminal(&command_output(outcome)),
            "Read" => match file_content(outcome) {
                Some(content) => Source::code(document::language_of_path(self.text("file_path")), content),
                None => Source::terminal(&outcome.text()),
            },
            "WebFetch" => Source::code(Some("markdown".to_owned()), &outcome.text()),
            "WebSearch" => Source::terminal(&results::found(outcome).unwrap_or_else(|| outcome.text())),
            name if name.starts_with("mcp__") => match results::indented(&outcome.text()) {
                Some(text) => Source::code(Some("json".to_owned()), &text),
                None => Source::terminal(&outcome.text()),
            },
            _ => Source::terminal(&outcome.text()),
        });
    }

    /// The part of its output that an item has.
    fn excerpt(&self, part: Part) -> Output {
        self.output.as_ref().map(|output| output.excerpt(part)).unwrap_or_default()
    }

    fn text(&self, key: &str) -> &str {
        self.input.get(key).and_then(Value::as_str).unwrap_or("")
    }

    /// The call as it is shown.
    pub fn view(
        &self,
        state: ToolState,
        duration_ms: Option<u64>,
        outcome: Option<&Outcome<'_>>,
    ) -> ToolCall {
        let ended = !matches!(state, ToolState::Preparing | ToolState::Running | ToolState::Waiting);
        let words = |now: &str, then: &str| if ended { then.to_owned() } else { now.to_owned() };
        let (icon, verb, subject) = match self.name.as_str() {
            "Bash" | "PowerShell" => {
                (ToolIcon::Command, words("Running", "Ran"), first_line(self.text("command")))
            }
            "Edit" | "MultiEdit" => (ToolIcon::Edit, words("Editing", "Edited"), self.path("file_path")),
            "NotebookEdit" => (ToolIcon::Edit, words("Editing", "Edited"), self.path("notebook_path")),
            "Write" => (ToolIcon::Edit, words("Writing", "Wrote"), self.path("file_path")),
            "Read" => (ToolIcon::Read, words("Reading", "Read"), self.path("file_path")),
            "Grep" => {
                (ToolIcon::Search, words("Searching for", "Searched for"), first_line(self.text("pattern")))
            }
            "Glob" => {
                (ToolIcon::Search, words("Looking for", "Looked for"), first_line(self.text("pattern")))
            }
            "LS" => (ToolIcon::Search, words("Listing", "Listed"), self.path("path")),
            "WebFetch" => (ToolIcon::Web, words("Fetching", "Fetched"), first_line(self.text("url"))),
            "WebSearch" => (
                ToolIcon::Web,
                words("Searching the web for", "Searched the web for"),
                first_line(self.text("query")),
            ),
            // Listed as `Task`, called `Agent` (2.1.329).
            "Agent" | "Task" => {
                (ToolIcon::Agent, words("Delegating", "Delegated"), first_line(self.text("description")))
            }
            "TodoWrite" => (ToolIcon::Todo, words("Updating", "Updated"), "the to-do list".to_owned()),
            "TaskCreate" => (ToolIcon::Todo, words("Adding a task:", "Added a task:"), self.task()),
            "TaskUpdate" => (ToolIcon::Todo, words("Updating", "Updated"), self.task()),
            "AskUserQuestion" => (ToolIcon::Question, words("Asking", "Asked"), self.first_question()),
            "ExitPlanMode" => (ToolIcon::Plan, words("Proposing", "Proposed"), "a plan".to_owned()),
            name => match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
                Some((server, tool)) => {
                    (ToolIcon::Mcp, words("Using", "Used"), format!("{tool} of {server}"))
                }
                None => (ToolIcon::Other, words("Using", "Used"), name.to_owned()),
            },
        };
        ToolCall {
            tool: self.name.clone(),
            icon,
            verb,
            subject,
            state,
            note: note(state, outcome),
            duration_ms,
            detail: self.detail(outcome),
        }
    }

    /// A path as a person would say it: inside the project, without the project's folder.
    fn path(&self, key: &str) -> String {
        first_line(self.relative(self.text(key)))
    }

    fn relative<'a>(&self, path: &'a str) -> &'a str {
        let inside = Path::new(path).strip_prefix(&self.project).ok().and_then(Path::to_str);
        inside.filter(|inside| !inside.is_empty() && !self.project.as_os_str().is_empty()).unwrap_or(path)
    }

    fn task(&self) -> String {
        first_line(&tasks::subject(&self.input))
    }

    fn first_question(&self) -> String {
        let question =
            self.input.get("questions").and_then(|questions| questions.get(0)?.get("question")?.as_str());
        first_line(question.unwrap_or("a question"))
    }

    fn detail(&self, outcome: Option<&Outcome<'_>>) -> ToolDetail {
        let known = match self.name.as_str() {
            "Bash" | "PowerShell" => Some(ToolDetail::Command {
                command: self.text("command").to_owned(),
                output: self.excerpt(Part::End),
            }),
            "Edit" | "Write" | "MultiEdit" => self.edit("file_path", outcome),
            "NotebookEdit" => self.edit("notebook_path", outcome),
            "Read" => outcome.and_then(|outcome| self.read(outcome)),
            "TodoWrite" => todos(&self.input).map(|todos| ToolDetail::Todos { todos }),
            _ => None,
        };
        known.unwrap_or_else(|| ToolDetail::Json {
            input: match self.name.as_str() {
                "Grep" | "Glob" | "LS" | "WebFetch" | "WebSearch" => results::input(&self.input),
                _ => serde_json::to_string_pretty(&self.input).unwrap_or_default(),
            },
            output: self.excerpt(Part::Beginning),
        })
    }

    fn edit(&self, path: &str, outcome: Option<&Outcome<'_>>) -> Option<ToolDetail> {
        if outcome.is_some_and(|outcome| outcome.is_error) {
            return None;
        }
        let path = self.relative(self.input.get(path)?.as_str()?);
        edits::diff(&self.name, path, &self.input, outcome).map(ToolDetail::Edit)
    }

    fn read(&self, outcome: &Outcome<'_>) -> Option<ToolDetail> {
        file_content(outcome)?;
        let language = document::language_of_path(self.text("file_path"));
        Some(ToolDetail::Text { language, output: self.excerpt(Part::Beginning) })
    }
}

fn note(state: ToolState, outcome: Option<&Outcome<'_>>) -> Option<String> {
    match state {
        ToolState::Denied => Some("denied".to_owned()),
        ToolState::Interrupted => Some("interrupted".to_owned()),
        ToolState::Waiting => Some("waits for you".to_owned()),
        ToolState::Failed => {
            let text = outcome?.text();
            let first = first_line(text.trim_start_matches("Error: "));
            Some(first).filter(|first| !first.is_empty()).map(|first| first.chars().take(80).collect())
        }
        ToolState::Preparing | ToolState::Running | ToolState::Succeeded => None,
    }
}

fn file_content<'a>(outcome: &'a Outcome<'_>) -> Option<&'a str> {
    outcome.field("file")?.get("content")?.as_str()
}

fn command_output(outcome: &Outcome<'_>) -> String {
    let stream = |key: &str| outcome.field(key).and_then(Value::as_str).unwrap_or("");
    let (stdout, stderr) = (stream("stdout"), stream("stderr"));
    let text = match (stdout.is_empty(), stderr.is_empty()) {
        (false, false) => format!("{}\n{stderr}", stdout.trim_end_matches('\n')),
        (false, true) => stdout.to_owned(),
        (true, false) => stderr.to_owned(),
        // Nothing as data: the model's text is all there is, and for a silent success it is only a remark.
        (true, true) if outcome.is_error || outcome.structured.is_none() => outcome.text(),
        (true, true) => String::new(),
    };
    text.trim_end_matches('\n').to_owned()
}

fn todos(input: &Value) -> Option<Vec<Todo>> {
    let todos = input.get("todos")?.as_array()?;
    let todo = |todo: &Value| {
        let state = tasks::state(todo.get("status").and_then(Value::as_str).unwrap_or_default());
        Some(Todo { text: todo.get("content")?.as_str()?.to_owned(), state })
    };
    todos.iter().map(todo).collect()
}

fn first_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let line = lines.next().unwrap_or("").trim_end();
    let mut short: String = line.chars().take(200).collect();
    if short.len() < line.len() || lines.next().is_some() {
        short.push_str(" …");
    }
    short
}

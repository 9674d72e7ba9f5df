//! Results of tool calls.

use crate::returned::Exit;
use serde_json::Value;
use std::sync::Arc;

/// The result of a tool call. A field that the agent does not report, or in another form, is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// The call that it belongs to.
    pub tool_use_id: String,
    /// As the agent sent it to its model.
    pub raw: Value,
    /// The text, without marks that are meant for the model.
    pub text: String,
    pub is_error: bool,
    /// Who decided that the call may run; `None` if the agent does not say so.
    pub decision: Option<DecidedBy>,
    /// The user, a rule, a hook or the mode denied the call, so that nothing ran.
    pub is_denied: bool,
    /// How far the call had run, if an interrupt ended it.
    pub rejection: Option<Rejection>,
    /// It is a failure of a command that ran.
    pub has_run: bool,
    /// How the command ended, if the agent reports that apart from the text.
    pub exit: Option<Exit>,
    /// How many images it has.
    pub n_images: u32,
    /// The images as base64, of an agent whose own transcript cannot be read for them. Nothing has checked that they are any.
    pub images: Vec<Arc<str>>,
    /// The two outputs of a command, if they are reported apart from the text. They may be empty.
    pub streams: Option<Streams>,
    /// The content of a file that was read.
    pub file_content: Option<String>,
    /// The change that an editing tool made.
    pub patch: Option<Vec<PatchHunk>>,
    /// The whole notebook before one of its cells was edited, as JSON.
    pub notebook_before: Option<String>,
    /// The user's answers: each question with labels of options, or own words.
    pub answers: Vec<(String, String)>,
    /// The id of a task that the call created.
    pub created_task: Option<String>,
    /// What a web search found.
    pub found: Option<Vec<Found>>,
    /// A subagent's report, if it is not the text itself. It may be empty.
    pub report: Option<String>,
}

/// Who or what decided on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// A hook allowed the call.
    Hook,
    /// A hook denied the call.
    DeniedByHook,
    /// The user allowed the call.
    User,
    /// The mode alone allowed the call, or no reason is given.
    Mode,
    /// Anything else, such as a rule; or the call was denied.
    Other,
}

/// The two outputs of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    pub stdout: String,
    pub stderr: String,
}

/// How far an interrupted call had run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It had not started.
    BeforeItRan,
    /// It had run in part or completely.
    WhileItRan,
    /// The agent does not report it.
    Unknown,
}

/// A hunk of the change that an editing tool reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchHunk {
    /// The number of the first line, before and after the change.
    pub old_start: Option<u32>,
    pub new_start: Option<u32>,
    /// Lines with a patch sign each.
    pub lines: Vec<String>,
}

/// A part of the result of a web search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Words(String),
    Page { title: Option<String>, url: String },
}

impl ToolResult {
    /// The user's answer to a question.
    pub fn answer(&self, question: &str) -> Option<&str> {
        let answer = self.answers.iter().find(|(known, _)| known == question);
        answer.map(|(_, answer)| answer.as_str())
    }

    /// A subagent's report as it wrote it.
    pub fn report(&self) -> Option<String> {
        let own = || self.text.lines().collect::<Vec<_>>().join("\n");
        Some(self.report.clone().unwrap_or_else(own)).filter(|report| !report.trim().is_empty())
    }

    /// The source of a notebook's cell before the call, from the notebook in its format (nbformat 4).
    pub fn cell_before(&self, cell_id: &str) -> Option<String> {
        let notebook: Value = serde_json::from_str(self.notebook_before.as_ref()?).ok()?;
        let cells = notebook.get("cells")?.as_array()?;
        let cell = cells.iter().find(|cell| cell.get("id").and_then(Value::as_str) == Some(cell_id))?;
        match cell.get("source")? {
            Value::String(source) => Some(source.clone()),
            Value::Array(lines) => Some(lines.iter().filter_map(Value::as_str).collect()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_text_is_the_report_unless_there_is_another() {
        let result = |text: &str, report: Option<&str>| ToolResult {
            text: text.to_owned(),
            report: report.map(str::to_owned),
            ..ToolResult::default()
        };
        assert_eq!(result("a\r\nb\n", None).report().as_deref(), Some("a\nb"));
        assert_eq!(result("a", Some("b")).report().as_deref(), Some("b"));
        assert_eq!(result("a", Some(" ")).report(), None);
        assert_eq!(result("\n", None).report(), None);
    }

    #[test]
    fn a_cell_is_found_by_its_id() {
        let notebook = json!({"cells": [{"id": "a", "source": "x"}, {"id": "b", "source": ["y\n", "z"]}]});
        let result = ToolResult { notebook_before: Some(notebook.to_string()), ..ToolResult::default() };
        assert_eq!(result.cell_before("a").as_deref(), Some("x"));
        assert_eq!(result.cell_before("b").as_deref(), Some("y\nz"));
        assert_eq!(result.cell_before("c"), None);
        assert_eq!(ToolResult::default().cell_before("a"), None);
    }
}

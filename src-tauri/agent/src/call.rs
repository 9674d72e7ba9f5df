//! Calls of tools: what a call does, and its input with what reads it.

use crate::tool::{RawInput, ToolInput, ToolKind};
use std::fmt;

/// Reads the inputs of one agent's tools.
///
/// Each call has the reader of its driver. An input is read as often as its call is shown, because what is read borrows
/// from the input, which can be large; and it is read again after the user changed it.
pub trait ReadTool: fmt::Debug + Send + Sync {
    /// Never fails: a field that is missing or has another type is absent.
    fn read<'a>(&self, tool: &'a str, kind: ToolKind, input: &'a RawInput) -> ToolInput<'a>;

    /// What a call acts on, whatever its tool: its command, file or address.
    fn subject<'a>(&self, input: &'a RawInput) -> Option<&'a str>;
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The tool's own name. It is shown, and says nothing of what the tool does.
    pub name: String,
    pub kind: ToolKind,
    /// `None` if it is not a tool of a server.
    pub server_tool: Option<ServerToolNames>,
    /// A call that the mode alone allowed is known to need a request.
    pub needs_request_by_default: bool,
    /// The beginnings of rules that may allow the call without a request.
    pub allowing_rules: &'static [&'static str],
    pub input: RawInput,
    reader: &'static dyn ReadTool,
}

impl ToolCall {
    /// A call of a tool that is read by `reader`. It is of no server and not known to need a request.
    pub fn new(name: String, kind: ToolKind, input: RawInput, reader: &'static dyn ReadTool) -> Self {
        Self {
            name,
            kind,
            server_tool: None,
            needs_request_by_default: false,
            allowing_rules: &[],
            input,
            reader,
        }
    }

    /// The same call before its input is written.
    pub fn without_input(&self) -> Self {
        Self {
            name: self.name.clone(),
            server_tool: self.server_tool.clone(),
            input: RawInput::default(),
            ..*self
        }
    }

    /// The input as a type.
    pub fn typed(&self) -> ToolInput<'_> {
        self.read(&self.input)
    }

    /// Another input of the same call as a type.
    pub fn read<'a>(&'a self, input: &'a RawInput) -> ToolInput<'a> {
        self.reader.read(&self.name, self.kind, input)
    }

    /// What the call acts on, whatever its tool: its command, file or address.
    pub fn subject(&self) -> Option<&str> {
        self.reader.subject(&self.input)
    }
}

/// Calls with the same content are equal: a reader belongs to its agent.
impl PartialEq for ToolCall {
    fn eq(&self, other: &Self) -> bool {
        let Self { name, kind, server_tool, needs_request_by_default, allowing_rules, input, reader: _ } =
            self;
        *name == other.name
            && *kind == other.kind
            && *server_tool == other.server_tool
            && *needs_request_by_default == other.needs_request_by_default
            && *allowing_rules == other.allowing_rules
            && *input == other.input
    }
}

/// The names of a tool of a server, as the server and the agent chose them: not cleaned, and of any length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerToolNames {
    pub server: String,
    /// The tool's exact name.
    pub tool: String,
    /// The name to display, if there is one.
    pub title: Option<String>,
}

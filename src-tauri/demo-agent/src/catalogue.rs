//! The agent's catalogue: models, modes, tools, commands, capabilities.

use serde_json::{Value, json};

/// The default model.
pub const DEFAULT_MODEL: &str = "claude-opus-5-5";

/// The permission modes that can be set.
pub const MODES: &[&str] = &["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"];

const TOOLS: &[&str] = &[
    "Task",
    "AskUserQuestion",
    "Bash",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "NotebookEdit",
    "Read",
    "Skill",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskStop",
    "TaskUpdate",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// The levels of effort of every model.
pub const EFFORT_LEVELS: &[&str] = &["low", "medium", "high"];

/// The tools that run without permission in every mode.
pub const HARMLESS_TOOLS: &[&str] = &[
    "Read",
    "Glob",
    "Grep",
    "LS",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
];

/// The tools that `acceptEdits` allows.
pub const EDIT_TOOLS: &[&str] = &["Edit", "MultiEdit", "NotebookEdit", "Write"];

/// The tools that always ask, because they need an answer from the user.
pub const ASKING_TOOLS: &[&str] = &["AskUserQuestion", "ExitPlanMode"];

const COMMANDS: &[(&str, &str)] = &[
    ("clear", "Start a new conversation with empty context"),
    ("compact", "Summarize the conversation so far to free up context"),
    ("context", "Show what the context window is filled with"),
    ("cost", "Show the cost of the session so far"),
    ("init", "Describe this codebase in a CLAUDE.md file"),
    ("model", "Show or change the model"),
    ("rename", "Rename the session"),
    ("review", "Review the changes in the working tree"),
];

const AGENTS: &[(&str, &str)] = &[
    ("general-purpose", "For searching and for work of several steps"),
    ("Explore", "Fast, read-only exploration of a codebase"),
    ("Plan", "Designs how to build something before it is built"),
];

const CAPABILITIES: &[&str] = &[
    "interrupt_receipt_v1",
    "interrupt_cancel_queued_v1",
    "msg_lifecycle_v1",
    "request_marker_lists_v1",
    "ask_user_question_unanswered_v1",
    "ui_surface_v1",
];

/// The tools; without those that need an answer from the user, unless `can_ask`.
pub fn tools(can_ask: bool) -> Vec<&'static str> {
    let needs_asking = |tool: &&str| ASKING_TOOLS.contains(tool) || *tool == "EnterPlanMode";
    TOOLS.iter().copied().filter(|tool| can_ask || !needs_asking(tool)).collect()
}

/// The names of the slash commands.
pub fn command_names() -> Vec<&'static str> {
    COMMANDS.iter().map(|(name, _)| *name).collect()
}

/// The names of the subagents.
pub fn agent_names() -> Vec<&'static str> {
    AGENTS.iter().map(|(name, _)| *name).collect()
}

/// The capabilities that a host can rely on.
pub fn capabilities() -> &'static [&'static str] {
    CAPABILITIES
}

/// The slash commands with their descriptions.
pub fn commands() -> Value {
    COMMANDS
        .iter()
        .map(|(name, description)| {
            json!({"name": name, "description": description, "argumentHint": "", "builtin": true})
        })
        .collect()
}

/// The subagents with their descriptions.
pub fn agents() -> Value {
    AGENTS.iter().map(|(name, description)| json!({"name": name, "description": description})).collect()
}

/// The models that a host can offer.
pub fn models() -> Value {
    [
        ("default", "Default (recommended)", "The demo agent's default; every model plays the same script"),
        ("opus", "Opus", "The most capable of the demo agent's names"),
        ("sonnet", "Sonnet", "A balanced name"),
        ("haiku", "Haiku", "The quickest name"),
    ]
    .into_iter()
    .map(|(value, name, description)| {
        json!({
            "value": value,
            "resolvedModel": resolve_model(value),
            "displayName": name,
            "description": description,
            "supportsEffort": true,
            "supportedEffortLevels": EFFORT_LEVELS,
            "supportsAdaptiveThinking": true,
            "supportsFastMode": false,
            "supportsAutoMode": false,
            "supportsThinkingOff": value == "haiku",
        })
    })
    .collect()
}

/// The full name of a model, or `None` if there is no such model.
pub fn resolve_model(name: &str) -> Option<&'static str> {
    const FULL: &[&str] = &[DEFAULT_MODEL, "claude-sonnet-5-5", "claude-sonnet-4-6", "claude-haiku-5-5"];
    match name {
        "default" | "opus" => Some(DEFAULT_MODEL),
        "sonnet" => Some("claude-sonnet-5-5"),
        "haiku" => Some("claude-haiku-5-5"),
        full => FULL.iter().copied().find(|known| *known == full),
    }
}

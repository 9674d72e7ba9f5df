//! What an agent can do. A window offers nothing else.

use super::mode::PermissionMode;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What the agent of a session can do, as far as Deskbell uses it. It depends on the agent and its version. What the
/// model in use can do is said by `Model`, and holds only where the agent can do it too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentCapabilities {
    /// The permission modes that it can be switched to while it runs.
    pub modes: Vec<PermissionMode>,
    /// It can be started with permission checks off, for one process.
    pub without_asking: bool,
    /// Its model can be changed.
    pub models: bool,
    /// The effort level can be changed.
    pub effort: bool,
    /// Thinking can be turned off.
    pub thinking: bool,
    /// A prompt can contain images.
    pub images: bool,
    /// A prompt can contain documents, such as PDF files.
    pub documents: bool,
    /// A running turn can take another prompt, and the agent reports which prompts it read.
    pub prompts_into_turn: bool,
    /// A conversation can be continued as a new one.
    pub fork: bool,
    /// Files can be taken back to their state at an earlier prompt.
    pub rewind: bool,
    /// The user's hooks run before and after tools.
    pub hooks: bool,
    /// Commands and subagents can continue after their turn.
    pub background_tasks: bool,
    /// An allowed call can run with an input that the user changed.
    pub edited_input: bool,
    /// The agent reads the reason of a denial.
    pub denial_reasons: bool,
    /// The permission rules that can be listed, and how long an added one is valid.
    pub rules: RulesScope,
    /// The cost of a turn is known.
    pub cost: bool,
    /// It reports what fills its context window.
    pub context: bool,
    /// It answers side questions.
    #[serde(default)]
    pub side_questions: bool,
}

/// The permission rules that an agent has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RulesScope {
    /// It reports none.
    #[default]
    None,
    /// An added rule is valid for the session.
    Session,
    /// An added rule can be saved in a project or for the user.
    Saved,
}

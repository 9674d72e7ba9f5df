//! Runs of hooks: programs that the agent runs at events of its own, such as before each tool call.

/// A report on one run of a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookRun {
    /// The same in all reports on one run. Empty if the agent does not report it.
    pub id: String,
    pub event: String,
    pub name: String,
    pub stage: HookStage,
    /// Both outputs so far.
    pub output: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HookStage {
    #[default]
    Began,
    /// It runs, and has printed more.
    Printed,
    Ended(HookEnd),
}

/// How a run ended, and what the hook decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookEnd {
    pub outcome: HookOutcome,
    pub exit_code: Option<i64>,
    /// The hook's message for the user.
    pub message: Option<String>,
    pub decision: Option<HookDecision>,
    /// The reason of the decision.
    pub reason: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HookOutcome {
    #[default]
    Succeeded,
    Failed,
    /// It was cancelled, or reached its time limit: the agent does not say which (2.1.197 and 2.1.329).
    Cancelled,
}

/// What a hook changed in the agent's work. An allowed call reports that by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookDecision {
    /// The call was denied.
    Denied,
    /// The call needs a permission request.
    Asks,
    /// The call runs with another input.
    ChangedInput,
    /// The step is blocked, or has to be done again.
    Blocked,
    /// The agent stops working.
    Stopped,
}

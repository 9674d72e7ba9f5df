//! What this agent can do.

use crate::api::{AgentCapabilities, PermissionMode, RulesScope};

/// The capabilities as far as Deskbell uses them. `reports_prompts`: the running process reports which prompts joined a
/// turn (2.1.329 does, 2.1.197 does not). `reports_context`: it has not refused to say what fills its context (both
/// versions report it). `rewinds`: it has not refused to take files back (both versions can).
///
/// The agent itself could also continue a conversation as a new one and read documents; Deskbell does neither yet.
pub fn capabilities(reports_prompts: bool, reports_context: bool, rewinds: bool) -> AgentCapabilities {
    AgentCapabilities {
        modes: PermissionMode::ALL.to_vec(),
        without_asking: true,
        models: true,
        effort: true,
        thinking: true,
        images: true,
        documents: false,
        prompts_into_turn: reports_prompts,
        fork: false,
        rewind: rewinds,
        hooks: true,
        background_tasks: true,
        edited_input: true,
        denial_reasons: true,
        rules: RulesScope::Saved,
        cost: true,
        context: reports_context,
    }
}

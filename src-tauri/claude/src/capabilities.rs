//! What this agent can do.

use crate::api::{AgentCapabilities, PermissionMode, RulesScope};

/// The capabilities as far as Deskbell uses them: those of the newest version. A process shows itself
/// which of them it lacks: 2.1.197 does not report which prompts joined a turn. Both versions report what fills the
/// context, can take files back, and answer side questions.
///
/// The agent itself could also continue a conversation as a new one and read documents; Deskbell does neither yet.
pub fn capabilities() -> AgentCapabilities {
    AgentCapabilities {
        modes: PermissionMode::ALL.to_vec(),
        without_asking: true,
        models: true,
        effort: true,
        thinking: true,
        images: true,
        documents: true,
        prompts_into_turn: true,
        fork: false,
        rewind: true,
        hooks: true,
        background_tasks: true,
        edited_input: true,
        denial_reasons: true,
        rules: RulesScope::Saved,
        cost: true,
        context: true,
        side_questions: true,
    }
}

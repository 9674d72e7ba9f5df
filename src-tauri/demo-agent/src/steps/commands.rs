//! The agent's own commands that need no model: clearing, compaction, and rate limits.

use serde_json::json;

use crate::turn::PlayedTurn;
use crate::{clock, usage, wire};

/// Begins a new session in place of this one.
pub fn clear(turn: &PlayedTurn<'_>) {
    let agent = turn.agent;
    // The uuid of the reset is not the id of the session that follows, as in the real CLI.
    let reset = wire::uuid();
    agent.send(json!({
        "type": "conversation_reset",
        "new_conversation_id": reset,
        "uuid": reset,
        "trigger": "clear",
        "timestamp": clock::timestamp(),
    }));
    agent.send(json!({"type": "system", "subtype": "background_tasks_changed", "tasks": []}));
    let mut state = agent.lock();
    let fresh = wire::uuid();
    state.store.begin(&fresh);
    state.store.mark();
    state.session_id = fresh;
    state.usage.clear();
    state.context = 0;
}

/// Reports that compaction starts, and that it has finished.
pub fn announce_compaction(turn: &PlayedTurn<'_>) {
    turn.agent.send(wire::status(Some("compacting")));
    let mut done = wire::status(None);
    done["compact_result"] = "success".into();
    turn.agent.send(done);
}

/// Reports the summary.
pub fn compact(turn: &PlayedTurn<'_>) {
    let agent = turn.agent;
    let before = {
        let mut state = agent.lock();
        std::mem::replace(&mut state.context, 400)
    };
    let mut line = json!({
        "type": "system",
        "subtype": "compact_boundary",
        "compact_metadata": {"trigger": "manual", "pre_tokens": before, "post_tokens": 400, "duration_ms": 20},
    });
    {
        let mut state = agent.lock();
        wire::stamp(&mut line, &state.session_id);
        state.store.compacted(&line);
        agent.output.line(&line);
    }
    let summary = "This session is being continued from a previous conversation that ran out of context. The summary \
                   below covers the earlier portion of the conversation.\n\nSummary:\nThe conversation so far.";
    turn.user(summary.into(), json!({"isReplay": false, "isSynthetic": true}));
    let done = "<local-command-stdout>Compacted </local-command-stdout>";
    turn.user(done.into(), json!({"isReplay": true}));
}

/// An answer that the agent produces itself, without a model.
pub fn synthetic(turn: &mut PlayedTurn<'_>, text: &str) {
    let mut line = json!({
        "type": "assistant",
        "message": {
            "id": wire::uuid(),
            "model": "<synthetic>",
            "role": "assistant",
            "stop_reason": "end_turn",
            "stop_sequence": null,
            "type": "message",
            "usage": usage::TokenCounts::default().of_result(),
            "content": [{"type": "text", "text": text}],
            "context_management": null,
        },
        "parent_tool_use_id": null,
        "local_command_source": format!("<local-command-stdout>{text}</local-command-stdout>"),
    });
    text.clone_into(&mut turn.text);
    let mut state = turn.agent.lock();
    wire::stamp(&mut line, &state.session_id);
    line["timestamp"] = clock::timestamp().into();
    state.store.assistant(&line, usage::TokenCounts::default().of_result(), "end_turn");
    turn.agent.output.line(&line);
}

/// Reports how much of the allowance is used.
pub fn rate_limit(turn: &PlayedTurn<'_>, status: &str) {
    let resets_at = clock::millis() / 1000 + 2 * 60 * 60;
    let utilization = match status {
        "allowed" => 0.5,
        "rejected" => 1.0,
        _ => 0.92,
    };
    turn.agent.send(json!({
        "type": "rate_limit_event",
        "rate_limit_info": {
            "status": status,
            "resetsAt": resets_at,
            "rateLimitType": "five_hour",
            "overageStatus": "rejected",
            "overageDisabledReason": "org_level_disabled",
            "isUsingOverage": false,
            "unifiedWindows": {
                "five_hour": {"utilization": utilization, "resetsAt": resets_at, "status": status},
            },
        },
    }));
}

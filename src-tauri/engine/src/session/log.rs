//! The log of a session, for troubleshooting: `DESKBELL_LOG=debug`, or `trace` for every line and timer.
//!
//! It contains ids, kinds and times, and never the content of a prompt, a tool's input, an answer or a line.

use super::core::Action;
use super::machine::Input;
use crate::api::*;
use crate::launch::StartMode;
use crate::transcript::TranscriptChange;
use serde_json::Value;
use tracing::{debug, info, trace, warn};

/// Logs an input of the core.
pub fn input(session: &SessionId, input: &Input) {
    match input {
        Input::Start | Input::StartWithoutAsking => info!(%session, ?input, "start requested"),
        Input::Prompt(prompt) => {
            info!(%session, prompt = %prompt.id, delivery = ?prompt.delivery, "prompt given");
        }
        Input::Command(command) => info!(%session, command = kind(command), "command received"),
        Input::GenerateTitle(_) => info!(%session, "title requested"),
        Input::Saved(prompt) => debug!(%session, %prompt, "prompt saved"),
        Input::SaveFailed(prompt, problem) => warn!(%session, %prompt, problem, "prompt could not be saved"),
        Input::Spawned => info!(%session, "agent started"),
        Input::SpawnFailed(error) => warn!(%session, code = ?error.code, "agent could not be started"),
        Input::StdinBroken(problem) => warn!(%session, problem, "the agent's stdin is closed"),
        // Logged by `action`: only the machine knows whether the exit was expected.
        Input::Exited(_) => {}
        Input::Timer(timer) => debug!(%session, ?timer, "timer expired"),
        Input::HibernateAfter(after_ms) => debug!(%session, after_ms, "idle time until hibernation changed"),
        Input::Line(_) => trace!(%session, "line read"),
    }
}

/// Logs an action of the core.
pub fn action(session: &SessionId, action: &Action) {
    match action {
        Action::Spawn(start) => {
            info!(%session, resume = start.resume, fork_of = start.fork.as_ref().map(|fork| fork.of.as_str()), model = start.model, mode = start.mode.map(StartMode::name), "starting the agent");
        }
        Action::CloseStdin | Action::Terminate | Action::Kill => {
            info!(%session, how = ?action, "ending the agent")
        }
        Action::Publish(TranscriptChange::Event(event)) => published(session, event),
        Action::Refuse(error) => info!(%session, code = ?error.code, "command refused"),
        Action::Write(_) => trace!(%session, "line written"),
        Action::Arm { timer, .. } => trace!(%session, ?timer, "timer set"),
        Action::Disarm(timer) => trace!(%session, ?timer, "timer disarmed"),
        Action::Save(_) => trace!(%session, "saving the record"),
        Action::Append(_) | Action::Publish(TranscriptChange::Finished { .. }) => {}
    }
}

fn published(session: &SessionId, event: &Event) {
    match event {
        Event::TurnStarted { prompt_ids } => info!(%session, prompts = prompt_ids.len(), "turn started"),
        Event::TurnEnded { turn } => {
            let TurnTiming { spawn_ms, first_line_ms, first_text_ms } = turn.timing;
            info!(
                %session, outcome = ?turn.outcome, ms = turn.duration_ms, spawn_ms, first_line_ms, first_text_ms,
                "turn ended"
            );
        }
        Event::PermissionRequested { request } => {
            info!(%session, request = %request.id, tool = request.tool, "permission requested");
        }
        Event::PermissionResolved { request_id, resolution } => {
            info!(%session, request = %request_id, resolution = kind(resolution), "permission resolved");
        }
        Event::AgentExited { report: ExitReport { code, signal, expected, .. } } => {
            if *expected {
                info!(%session, code, signal, "agent ended");
            } else {
                warn!(%session, code, signal, "agent ended unexpectedly");
            }
        }
        _ => {}
    }
}

/// The `type` tag of a serialized value, without its content.
fn kind(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    value["type"].as_str().unwrap_or("unnamed").to_owned()
}

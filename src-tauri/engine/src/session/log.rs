//! The log of a session, for troubleshooting: `DESKBELL_LOG=debug`, or `trace` for every line and timer.
//!
//! Everything that the session's task logs is in the span `session`, whose `id` is the session's. It contains ids, kinds
//! and times, and never the content of a prompt, a tool's input, an answer or a line.

use super::core::Action;
use super::machine::Input;
use crate::api::*;
use crate::launch::StartMode;
use crate::transcript::TranscriptChange;
use serde_json::Value;
use tracing::{Span, debug, error_span, info, trace, warn};

/// The span of a session's task. It counts at every level, so that warnings name their session too.
pub fn span(id: &SessionId) -> Span {
    error_span!("session", %id)
}

/// Logs an input of the core.
pub fn input(input: &Input) {
    match input {
        Input::Start | Input::StartWithoutAsking => info!(?input, "start requested"),
        Input::Prompt(prompt) => {
            info!(prompt = %prompt.id, delivery = ?prompt.delivery, "prompt given");
        }
        Input::Command(command) => info!(command = kind(command), "command received"),
        Input::GenerateTitle(_) => info!("title requested"),
        Input::Saved(prompt) => debug!(%prompt, "prompt saved"),
        Input::SaveFailed(prompt, problem) => warn!(%prompt, problem, "prompt could not be saved"),
        Input::Spawned => info!("agent started"),
        Input::Rewind(job) => info!(prompt = job.wire_id, wish = ?job.wish, "rewind requested"),
        Input::RewindWorked(_) => debug!("a step of a rewind is done"),
        Input::SpawnFailed(error) => warn!(code = ?error.code, "agent could not be started"),
        Input::StdinBroken(problem) => warn!(problem, "the agent's stdin is closed"),
        // Logged by `action`: only the machine knows whether the exit was expected.
        Input::Exited(_) => {}
        Input::Timer(timer) => debug!(?timer, "timer expired"),
        Input::PlanRead(request, _) => debug!(%request, "the file of a plan was read"),
        Input::LacksPast => debug!("no copy of the earlier messages"),
        Input::HibernateAfter(after_ms) => debug!(after_ms, "idle time until hibernation changed"),
        Input::Line(_) => trace!("line read"),
    }
}

/// Logs an action of the core.
pub fn action(action: &Action) {
    match action {
        Action::Spawn(start) => {
            info!(
                resume = start.resume,
                resume_at = start.resume_at,
                fork_of = start.fork.as_ref().map(|fork| fork.of.as_str()),
                model = start.model,
                mode = start.mode.map(StartMode::name),
                "starting the agent"
            );
        }
        Action::CloseStdin | Action::Terminate | Action::Kill => {
            info!(how = ?action, "ending the agent")
        }
        Action::Publish(TranscriptChange::Event(event)) => published(event),
        Action::Refuse(error) => info!(code = ?error.code, "command refused"),
        Action::Write(_) => trace!("line written"),
        Action::Arm { timer, .. } => trace!(?timer, "timer set"),
        Action::Disarm(timer) => trace!(?timer, "timer disarmed"),
        Action::Save(_) => trace!("saving the record"),
        Action::Rewind(_) => debug!("a step of a rewind"),
        Action::Append(_) | Action::Keep(_) | Action::Publish(TranscriptChange::Finished { .. }) => {}
    }
}

fn published(event: &Event) {
    match event {
        Event::TurnStarted { prompt_ids } => info!(prompts = prompt_ids.len(), "turn started"),
        Event::TurnEnded { turn } => {
            let TurnTiming { spawn_ms, first_line_ms, first_text_ms } = turn.timing;
            info!(
                outcome = ?turn.outcome, ms = turn.duration_ms, spawn_ms, first_line_ms, first_text_ms,
                "turn ended"
            );
        }
        Event::PermissionRequested { request, .. } => {
            info!(request = %request.id, tool = request.tool, "permission requested");
        }
        Event::PermissionResolved { request_id, resolution } => {
            info!(request = %request_id, resolution = kind(resolution), "permission resolved");
        }
        Event::AgentExited { report: ExitReport { code, signal, expected, .. } } => {
            if *expected {
                info!(code, signal, "agent ended");
            } else {
                warn!(code, signal, "agent ended unexpectedly");
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

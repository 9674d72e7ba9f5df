//! What happens in a session, for whoever is asked for help: with `DESKBELL_LOG=debug`, or `trace` for every line and
//! timer. It tells of ids, kinds and times, and never what a prompt, a tool's input, an answer or a line says.

use super::machine::{Effect, Input};
use crate::api::*;
use serde_json::Value;
use tracing::{debug, info, trace, warn};

/// Something happened to the session.
pub fn input(session: &SessionId, input: &Input) {
    match input {
        Input::Start | Input::StartWithoutAsking => info!(%session, ?input, "asked to start"),
        Input::Prompt(prompt) => {
            info!(%session, prompt = %prompt.id, delivery = ?prompt.delivery, "prompt given");
        }
        Input::Command(command) => info!(%session, command = kind(command), "command given"),
        Input::Saved(prompt) => debug!(%session, %prompt, "prompt is on disk"),
        Input::SaveFailed(prompt, problem) => warn!(%session, %prompt, problem, "prompt is not on disk"),
        Input::Spawned => info!(%session, "agent started"),
        Input::SpawnFailed(error) => warn!(%session, code = ?error.code, "agent could not be started"),
        Input::StdinBroken(problem) => warn!(%session, problem, "agent reads no more"),
        // Whether that was expected is the machine's to say.
        Input::Exited(_) => {}
        Input::Timer(timer) => debug!(%session, ?timer, "timer ran out"),
        Input::Line(_) => trace!(%session, "line read"),
    }
}

/// The session does something about it.
pub fn effect(session: &SessionId, effect: &Effect) {
    match effect {
        Effect::Spawn(start) => {
            info!(%session, resume = start.resume, model = start.model, mode = start.mode, "starting the agent");
        }
        Effect::CloseStdin | Effect::Terminate | Effect::Kill => {
            info!(%session, how = ?effect, "ending the agent")
        }
        Effect::Emit(Event::TurnStarted { prompt_ids }) => {
            info!(%session, prompts = prompt_ids.len(), "turn started");
        }
        Effect::Emit(Event::TurnEnded { turn }) => {
            let TurnTiming { spawn_ms, first_line_ms, first_text_ms } = turn.timing;
            info!(
                %session, outcome = ?turn.outcome, ms = turn.duration_ms, spawn_ms, first_line_ms, first_text_ms,
                "turn ended"
            );
        }
        Effect::Emit(Event::PermissionRequested { request }) => {
            info!(%session, request = %request.id, tool = request.tool, "permission asked");
        }
        Effect::Emit(Event::PermissionResolved { request_id, resolution }) => {
            info!(%session, request = %request_id, resolution = kind(resolution), "permission resolved");
        }
        Effect::Emit(Event::AgentExited { report: ExitReport { code, signal, expected, .. } }) => {
            if *expected {
                info!(%session, code, signal, "agent ended");
            } else {
                warn!(%session, code, signal, "agent ended unexpectedly");
            }
        }
        Effect::Refuse(error) => info!(%session, code = ?error.code, "command refused"),
        Effect::Write(_) => trace!(%session, "line written"),
        Effect::Arm { timer, .. } => trace!(%session, ?timer, "timer set"),
        Effect::Disarm(timer) => trace!(%session, ?timer, "timer taken back"),
        Effect::Save(_) => trace!(%session, "record to be written"),
        Effect::Emit(_) | Effect::Note(_) => {}
    }
}

/// The name that something has on the wire, without what is in it.
fn kind(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    value["type"].as_str().unwrap_or("unnamed").to_owned()
}

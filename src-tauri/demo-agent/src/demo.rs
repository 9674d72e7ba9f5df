//! The demo: the agent's reply to a prompt that is not a script. It only pretends to run commands and edit files.

mod parts;
mod pretend;
mod tour;

use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::Cut;
use crate::call::PlayedCall;
use crate::permission::Permit;
use crate::reply::words;
use crate::turn::PlayedTurn;

/// The pause between deltas, in milliseconds: fast enough to read comfortably, slow enough to be visibly streamed.
const DELTA_MS: u64 = 32;

/// The duration of a pretended command, in milliseconds.
const COMMAND_MS: u64 = 900;

/// The decision of a call that ran without the user's permission: allowed by configuration.
fn by_config() -> Value {
    // Nothing real happens, so no permission is needed; the mode is not the reason.
    json!({"decision": "accept", "source": "config", "reason_type": "other"})
}

/// Plays the tour for the first prompt, and a part of it for a later one.
pub fn play(turn: &mut PlayedTurn<'_>, prompt: &str, first: bool) -> Result<(), Cut> {
    if first {
        tour::play(turn)?;
    } else {
        parts::play(turn, prompt)?;
    }
    let folded = std::mem::take(&mut turn.folded);
    if let Some(last) = folded.last() {
        say(
            turn,
            &format!("I also saw what you wrote meanwhile: “{last}”. Send it again to see me act on it."),
        )?;
    }
    Ok(())
}

impl PlayedTurn<'_> {
    fn pace(&self) -> Duration {
        self.agent.environment.paced(DELTA_MS)
    }
}

/// A message of one text, streamed.
fn say(turn: &mut PlayedTurn<'_>, text: &str) -> Result<(), Cut> {
    turn.say(text, 3, turn.pace())
}

/// A message of a text and a call.
fn say_and_call(turn: &mut PlayedTurn<'_>, text: &str, name: &str, input: Value) -> Result<PlayedCall, Cut> {
    turn.open_message()?;
    let pace = turn.pace();
    if !text.is_empty() {
        turn.text(&words(text, 3), pace)?;
    }
    let call = turn.tool_use(name, input, pace)?;
    turn.close_message("tool_use");
    Ok(call)
}

/// Runs a pretended command that needs no permission; `Err` is the output of one that fails.
fn command(turn: &mut PlayedTurn<'_>, call: &PlayedCall, outcome: Result<&str, &str>) -> Result<(), Cut> {
    run(turn, call, outcome, &by_config())
}

/// Asks permission for a pretended command and runs it; returns whether it ran.
fn asked_command(turn: &mut PlayedTurn<'_>, call: &PlayedCall, output: &str) -> Result<bool, Cut> {
    match turn.permit(call)? {
        Permit::Run { decision, .. } => run(turn, call, Ok(output), &decision).map(|()| true),
        Permit::Denied => Ok(false),
    }
}

fn run(
    turn: &mut PlayedTurn<'_>,
    call: &PlayedCall,
    outcome: Result<&str, &str>,
    decision: &Value,
) -> Result<(), Cut> {
    turn.agent.pause(turn.agent.environment.paced(COMMAND_MS))?;
    match outcome {
        Ok(output) => {
            let structured = json!({
                "stdout": output,
                "stderr": "",
                "interrupted": false,
                "isImage": false,
                "noOutputExpected": false,
            });
            turn.tool_result(call, output, structured, decision);
        }
        Err(output) => turn.tool_error(call, output, decision),
    }
    Ok(())
}

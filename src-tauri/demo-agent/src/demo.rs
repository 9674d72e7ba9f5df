//! The demo: what the agent says to a prompt that is no script. Nothing in it is real but the words.

mod parts;
mod pretend;
mod tour;

use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::Cut;
use crate::permission::{Call, Permit};
use crate::reply::words;
use crate::turn::Turn;

/// A reading pace: quick enough not to bore, slow enough to be seen to stream.
const DELTA_MS: u64 = 32;

/// How long a pretended command takes.
const COMMAND_MS: u64 = 900;

/// What a person did not ask to be let run is marked as allowed by configuration.
fn by_config() -> Value {
    // Nothing real happens, so nobody need be asked: it is not the mode that lets it through.
    json!({"decision": "accept", "source": "config", "reason_type": "other"})
}

/// Plays the tour for the first prompt, and a part of it for a later one.
pub fn play(turn: &mut Turn<'_>, prompt: &str, first: bool) -> Result<(), Cut> {
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

impl Turn<'_> {
    fn pace(&self) -> Duration {
        self.agent.environment.paced(DELTA_MS)
    }
}

/// A message of one text, streamed.
fn say(turn: &mut Turn<'_>, text: &str) -> Result<(), Cut> {
    turn.say(text, 3, turn.pace())
}

/// A message of a text and a call.
fn say_and_call(turn: &mut Turn<'_>, text: &str, name: &str, input: Value) -> Result<Call, Cut> {
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
fn command(turn: &mut Turn<'_>, call: &Call, outcome: Result<&str, &str>) -> Result<(), Cut> {
    run(turn, call, outcome, &by_config())
}

/// Asks permission for a pretended command and runs it; says whether it ran.
fn asked_command(turn: &mut Turn<'_>, call: &Call, output: &str) -> Result<bool, Cut> {
    match turn.permit(call)? {
        Permit::Run { decision, .. } => run(turn, call, Ok(output), &decision).map(|()| true),
        Permit::Denied => Ok(false),
    }
}

fn run(turn: &mut Turn<'_>, call: &Call, outcome: Result<&str, &str>, decision: &Value) -> Result<(), Cut> {
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

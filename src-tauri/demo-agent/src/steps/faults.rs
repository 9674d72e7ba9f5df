//! The steps that misbehave on purpose.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::agent::Cut;
use crate::turn::PlayedTurn;

const NOW: Duration = Duration::ZERO;

/// Messages and a content block of types that do not exist.
pub fn unknown_messages(turn: &mut PlayedTurn<'_>) -> Result<(), Cut> {
    turn.agent.send(json!({"type": "holographic_event", "depth": 3}));
    turn.agent
        .send(json!({"type": "system", "subtype": "not_yet_invented", "detail": {"a": [1, null, "b"]}}));
    turn.agent.output.line(&json!({"no_type_at_all": true}));
    turn.agent.output.line(&json!([1, 2, 3]));
    turn.agent.output.line(&json!("just a string"));
    turn.open_message()?;
    turn.whole_block(json!({"type": "smell", "scent": "rain"}));
    turn.close_message("end_turn");
    Ok(())
}

/// Writes the lines of a file as if they were its own.
pub fn lines(turn: &mut PlayedTurn<'_>, file: &Path) -> Result<(), Cut> {
    match std::fs::read(file) {
        Ok(lines) => turn.agent.output.bytes(lines),
        Err(error) => turn.say(&format!("{} can not be read: {error}", file.display()), 4, NOW)?,
    }
    Ok(())
}

/// Writes this many lines of a file per second. Late lines are written at once, so that the pace is kept.
pub fn paced(turn: &mut PlayedTurn<'_>, per_second: u32, file: &Path) -> Result<(), Cut> {
    let lines = match std::fs::read(file) {
        Ok(lines) => lines,
        Err(error) => return turn.say(&format!("{} can not be read: {error}", file.display()), 4, NOW),
    };
    let begun = Instant::now();
    for (line, nr) in lines.split_inclusive(|byte| *byte == b'\n').zip(0u32..) {
        let due = begun + Duration::from_secs(1) * nr / per_second;
        turn.agent.pause(due.saturating_duration_since(Instant::now()))?;
        turn.agent.output.bytes(line.to_vec());
    }
    Ok(())
}

/// Writes this many bytes to the standard error, in lines.
pub fn flood_stderr(bytes: usize) {
    let line = "the quick brown fox jumps over the lazy dog, again and again\n";
    let mut err = std::io::stderr().lock();
    for _ in 0..bytes.div_ceil(line.len()) {
        if err.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}

/// Ends the process by a signal, by number or name.
#[cfg(unix)]
pub fn kill(turn: &mut PlayedTurn<'_>, signal: &str) -> Result<(), Cut> {
    use nix::sys::signal::{Signal, raise};
    let name = if signal.starts_with("SIG") { signal.to_owned() } else { format!("SIG{signal}") };
    let by_number = signal.parse::<i32>().ok().and_then(|number| Signal::try_from(number).ok());
    let Some(signal) = by_number.or_else(|| name.parse().ok()) else {
        return turn.say(&format!("not a signal: {signal}"), 4, NOW);
    };
    turn.agent.output.flush();
    // Twice, because Rust's own handler catches the first SIGSEGV or SIGBUS, and then restores the default.
    match raise(signal).and_then(|()| raise(signal)) {
        Ok(()) => Ok(()),
        Err(error) => turn.say(&format!("{signal} can not be raised: {error}"), 4, NOW),
    }
}

/// Says that there are no signals.
#[cfg(not(unix))]
pub fn kill(turn: &mut PlayedTurn<'_>, _signal: &str) -> Result<(), Cut> {
    turn.say("there are no signals here", 4, NOW)
}

/// Leaves a child in its own session that keeps the standard output open.
#[cfg(unix)]
pub fn child(turn: &mut PlayedTurn<'_>, seconds: u64) -> Result<(), Cut> {
    use std::process::{Command, Stdio};
    let mut command = Command::new("sleep");
    command.arg(seconds.to_string()).stdin(Stdio::null()).stdout(Stdio::inherit()).stderr(Stdio::null());
    leave(turn, command)
}

/// Leaves processes that never wait, each in its own session, as an agent's compilers are. They end with this process.
#[cfg(unix)]
pub fn busy(turn: &mut PlayedTurn<'_>, number: u64) -> Result<(), Cut> {
    use std::process::{Command, Stdio};
    let script = format!("while kill -0 {}; do :; done", std::process::id());
    (0..number).try_for_each(|_| {
        let mut command = Command::new("sh");
        command.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        leave(turn, command)
    })
}

/// Starts a command in its own session, and says its pid.
#[cfg(unix)]
fn leave(turn: &mut PlayedTurn<'_>, mut command: std::process::Command) -> Result<(), Cut> {
    in_own_session(&mut command);
    match command.spawn() {
        Ok(child) => turn.say(&child.id().to_string(), 4, NOW),
        Err(error) => turn.say(&format!("no child: {error}"), 4, NOW),
    }
}

/// The command starts in a session of its own.
#[cfg(unix)]
pub fn in_own_session(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: between fork and exec only `setsid` is called, which is async-signal-safe.
    unsafe { command.pre_exec(|| nix::unistd::setsid().map(drop).map_err(std::io::Error::from)) };
}

#[cfg(not(unix))]
pub fn in_own_session(_command: &mut std::process::Command) {}

/// Says that this system has no process sessions.
#[cfg(not(unix))]
pub fn child(turn: &mut PlayedTurn<'_>, _seconds: u64) -> Result<(), Cut> {
    turn.say("there are no sessions of processes here", 4, NOW)
}

/// Says that this system has no process sessions.
#[cfg(not(unix))]
pub fn busy(turn: &mut PlayedTurn<'_>, _number: u64) -> Result<(), Cut> {
    child(turn, 0)
}

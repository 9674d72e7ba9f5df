//! Deskbell as the program that ssh asks through (`SSH_ASKPASS`): it passes the question to the window's process, and the
//! answer back to ssh. It is selected by variables in the environment, because ssh gives it nothing but the question.

use super::secret::Secret;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

/// The variables that the window's process gives to ssh: its socket, and the word that a question begins with.
pub const SOCKET: &str = "DESKBELL_ASK_SOCKET";
pub const WORD: &str = "DESKBELL_ASK_WORD";

/// The longest question and the longest answer, in bytes.
pub const MAX_QUESTION: u64 = 16 << 10;
pub const MAX_ANSWER: u64 = 4 << 10;

/// The byte before an answer. Without it the question was refused.
pub const ANSWERED: u8 = b'+';

/// A question on its way to the window's process, as one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub struct Message {
    pub word: String,
    /// `SSH_ASKPASS_PROMPT`: `confirm` for yes or no, `none` for a notice.
    pub hint: Option<String>,
    pub text: String,
}

/// Whether ssh has started this process to ask something.
pub fn is_asked(args: &[OsString]) -> bool {
    args.len() == 1 && std::env::var_os(SOCKET).is_some() && std::env::var_os(WORD).is_some()
}

/// Passes the question on. ssh reads the answer from stdout; another exit code than 0 is a refusal.
pub fn main(args: &[OsString]) -> ExitCode {
    let text = args.first().map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    match ask(text) {
        Ok(Some(answer)) => answer,
        Ok(None) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("deskbell: the question of ssh could not be shown: {error}");
            ExitCode::FAILURE
        }
    }
}

fn ask(text: String) -> io::Result<Option<ExitCode>> {
    let variable = |name| std::env::var(name).map_err(io::Error::other);
    let hint = std::env::var("SSH_ASKPASS_PROMPT").ok();
    let mut message = serde_json::to_vec(&Message { word: variable(WORD)?, hint, text })?;
    message.push(b'\n');
    let mut socket = UnixStream::connect(variable(SOCKET)?)?;
    socket.write_all(&message)?;
    let mut answer = Secret::default();
    socket.take(MAX_ANSWER).read_to_end(answer.bytes_mut())?;
    let Some((&ANSWERED, answer)) = answer.bytes().split_first() else { return Ok(None) };
    let mut stdout = io::stdout().lock();
    stdout.write_all(answer)?;
    stdout.write_all(b"\n")?;
    stdout.flush()?;
    Ok(Some(ExitCode::SUCCESS))
}

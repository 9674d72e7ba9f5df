//! What a subcommand prints: its result on stdout, and an error as one line on stderr.

use anyhow::anyhow;
use deskbell_engine::api::CommandError;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// The end of a subcommand. An error is printed.
pub fn ended(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("deskbell: {}", plain(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

/// Prints a result.
pub fn print(text: &[u8]) -> io::Result<()> {
    match io::stdout().lock().write_all(text) {
        // The reader, such as `head`, has enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// The error with its detail.
pub fn words(error: CommandError) -> anyhow::Error {
    let detail = error.detail.map_or_else(String::new, |detail| format!(" ({})", plain(&detail)));
    anyhow!("{}{detail}", error.message)
}

/// A text without characters that a terminal would act on.
pub fn plain(text: &str) -> String {
    let is_odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if is_odd(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

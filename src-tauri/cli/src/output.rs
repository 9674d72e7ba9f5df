//! What a subcommand prints: its result on stdout, and an error as one line on stderr.

use crate::exit::Exit;
use anyhow::anyhow;
use deskbell_engine::api::CommandError;
use std::io::{self, ErrorKind, IsTerminal, StdoutLock, Write};
use std::process::ExitCode;

/// The end of a subcommand. An error is printed.
pub fn ended(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("deskbell: {}", plain(&format!("{error:#}")));
            Exit::of(&error).into()
        }
    }
}

/// Prints a result.
pub fn print(text: &[u8]) -> io::Result<()> {
    let mut stdout = stdout();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
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

/// Stdout. A file or a program gets each byte.
pub fn stdout() -> Output<StdoutLock<'static>> {
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    Output { to: stdout.lock(), is_terminal, rest: Vec::new() }
}

/// A way out. If it is a terminal, it gets no commands: they are made visible.
pub struct Output<W> {
    to: W,
    is_terminal: bool,
    /// The start of a character that was cut.
    rest: Vec<u8>,
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.to.write(bytes);
        }
        self.rest.extend_from_slice(bytes);
        let n_whole = whole(&self.rest);
        let text = visible(&String::from_utf8_lossy(&self.rest[..n_whole]));
        self.rest.drain(..n_whole);
        self.to.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        self.to.write_all(String::from_utf8_lossy(&rest).as_bytes())?;
        self.to.flush()
    }
}

/// The number of bytes without an incomplete character at the end.
pub fn whole(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

/// A line without characters that a terminal would act on, or that change the order of its letters.
pub fn plain(text: &str) -> String {
    visible(&text.replace('\n', "\\u{a}").replace('\t', "\\u{9}"))
}

/// The same of a text with lines.
pub fn visible(text: &str) -> String {
    let is_odd = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    if !text.contains(is_odd) {
        return text.to_owned();
    }
    text.chars().map(|c| if is_odd(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_commands_and_a_file_gets_each_byte() {
        let sent = "a\u{1b}]52;c;aGk=\u{7}\u{1b}[2J\u{9b}1m \u{202e}\r\n\ttext ü".as_bytes();
        for n_bytes in [1, 2, 3, 100] {
            for (is_terminal, expected) in [
                (true, "a\\u{1b}]52;c;aGk=\\u{7}\\u{1b}[2J\\u{9b}1m \\u{202e}\\u{d}\n\ttext ü".as_bytes()),
                (false, sent),
            ] {
                let mut output = Output { to: Vec::new(), is_terminal, rest: Vec::new() };
                sent.chunks(n_bytes).for_each(|piece| output.write_all(piece).unwrap());
                output.flush().unwrap();
                assert_eq!(output.to, expected);
            }
        }
        let mut output = Output { to: Vec::new(), is_terminal: true, rest: Vec::new() };
        output.write_all(b"torn \xc3").unwrap();
        output.flush().unwrap();
        assert_eq!(output.to, "torn \u{fffd}".as_bytes());
        assert_eq!(plain("a\nb\t\u{1b}"), "a\\u{a}b\\u{9}\\u{1b}");
    }
}

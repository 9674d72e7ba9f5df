//! The start of Deskbell on another machine: its program is copied there over the connection if it is not there yet, and
//! runs a command. What varies goes over stdin, so that no shell there ever reads it as code.

use super::machine::in_login_shell;
use super::program::Copy;
use super::shown;
use deskbell_server::lines::{ReadLine, next_line};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};

/// The script of `/bin/sh` that runs there. One line, without a single quote, a backslash at its end or an exclamation
/// mark: each would mean something to one of the login shells that read it first.
pub fn script() -> String {
    include_str!("far.sh").lines().collect::<Vec<_>>().join(" ")
}

/// Timeout of each answer before the command runs. A password can be asked for before the first one.
pub const LIMIT: Duration = Duration::from_secs(120);

/// The longest line, in bytes, and the number of lines that a machine may print before Deskbell's own.
const MAX_LINE: usize = 4 << 10;
const MAX_LINES: usize = 2_000;

/// The number of last lines before Deskbell's own that an error has.
const SHOWN_LINES: usize = 5;

/// The bytes of the copy that are sent at once. Between two pieces its answer is read.
const PIECE: usize = 64 << 10;

/// The system of another machine, as `uname` names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// `Linux`.
    pub name: String,
    /// `x86_64`.
    pub processor: String,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// With the last lines that the machine printed, if it printed any.
    #[error("the connection ended before Deskbell could start there{}", after(.0))]
    Ended(Vec<String>),
    #[error("there was no answer within {LIMIT:?}{}", after(.0))]
    Slow(Vec<String>),
    #[error("the machine printed more than {MAX_LINES} lines before Deskbell could start there{}", after(.0))]
    Noisy(Vec<String>),
    /// In words of the script there.
    #[error("Deskbell could not start there: {0}")]
    Failed(String),
    #[error(transparent)]
    Copy(io::Error),
    #[error("the connection broke")]
    Broken(#[from] io::Error),
}

/// A failure of the script there, with what the user can do about it.
fn with_way_out(words: String) -> StartError {
    let is_about_disk = words.starts_with("could not make") || words.starts_with("could not write to");
    StartError::Failed(match is_about_disk {
        true => format!(
            "{words}. Free space on that machine, or set XDG_DATA_HOME there to a folder that can be written to"
        ),
        false => words,
    })
}

fn after(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!(". It printed:\n  {}", lines.join("\n  "))
}

/// Lines of the machine, with the last ones that are not Deskbell's own.
struct Lines<'a, R> {
    reader: &'a mut R,
    n_read: usize,
    last: Vec<String>,
}

impl<R: AsyncBufRead + Unpin> Lines<'_, R> {
    /// Reads until a line that begins with one of these words. Returns the word and the rest of the line.
    async fn until(&mut self, words: &[&'static str]) -> Result<(&'static str, String), StartError> {
        let reading = tokio::time::timeout(LIMIT, self.next_of(words)).await;
        reading.unwrap_or_else(|_| Err(StartError::Slow(std::mem::take(&mut self.last))))
    }

    async fn next_of(&mut self, words: &[&'static str]) -> Result<(&'static str, String), StartError> {
        let mut line = Vec::new();
        loop {
            match next_line(self.reader, &mut line, MAX_LINE).await? {
                ReadLine::End => return Err(StartError::Ended(std::mem::take(&mut self.last))),
                ReadLine::TooLong => line = b"(a long line)".to_vec(),
                ReadLine::Line => {}
            }
            let text = shown(&String::from_utf8_lossy(&line));
            let text = text.trim();
            let first = text.split(' ').next().unwrap_or_default();
            if let Some(word) = words.iter().find(|word| **word == first) {
                return Ok((word, text[word.len()..].trim().to_owned()));
            }
            self.n_read += 1;
            if self.n_read > MAX_LINES {
                return Err(StartError::Noisy(std::mem::take(&mut self.last)));
            }
            if !text.is_empty() {
                if self.last.len() == SHOWN_LINES {
                    self.last.remove(0);
                }
                self.last.push(text.to_owned());
            }
        }
    }
}

/// Starts a command there: afterwards stdin and stdout are the command's. `copy` gives the program for a system; `None`
/// uses the one that is installed there. No argument has a line feed.
pub async fn start<R, W>(
    reader: &mut R,
    writer: &mut W,
    copy: impl AsyncFnOnce(System) -> io::Result<Option<Copy>>,
    command: &[Vec<u8>],
) -> Result<(), StartError>
where
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut lines = Lines { reader, n_read: 0, last: Vec::new() };
    match exchange(&mut lines, writer, copy, command).await {
        // Nothing reads there any more: what it printed says why.
        Err(StartError::Broken(error)) => Err(match lines.until(&["DESKBELL-FAILED"]).await {
            Ok((_, words)) => with_way_out(words),
            Err(StartError::Ended(printed)) => StartError::Ended(printed),
            Err(_) => StartError::Broken(error),
        }),
        done => done,
    }
}

async fn exchange<R, W>(
    lines: &mut Lines<'_, R>,
    writer: &mut W,
    copy: impl AsyncFnOnce(System) -> io::Result<Option<Copy>>,
    command: &[Vec<u8>],
) -> Result<(), StartError>
where
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin,
{
    // A login shell whose start file runs another shell reads its commands from stdin: it finds the script here. The
    // script itself passes over this line.
    writer.write_all(format!("{}\n", in_login_shell(&script())).as_bytes()).await?;
    writer.flush().await?;
    let (_, system) = lines.until(&["DESKBELL-FAR"]).await?;
    let system = system.strip_prefix("1 ").and_then(|system| system.split_once(' '));
    let (name, processor) = system.unwrap_or_default();
    let system = System { name: name.to_owned(), processor: processor.to_owned() };
    let copy = copy(system).await.map_err(StartError::Copy)?;
    let (hash, size) = match &copy {
        Some(copy) => (copy.hash.as_str(), copy.size),
        None => ("installed", 0),
    };
    writer.write_all(format!("deskbell-run {hash} {size} {}\n", command.len()).as_bytes()).await?;
    writer.flush().await?;
    let answers = ["DESKBELL-NEED", "DESKBELL-HAVE", "DESKBELL-FAILED"];
    if let Some(copy) = &copy
        && lines.until(&answers).await.and_then(failed)? == "DESKBELL-NEED"
    {
        let bytes = copy.bytes().await.map_err(StartError::Copy)?;
        send(lines, writer, &bytes).await?;
    }
    // Only now, because a program there that takes the copy might take more than it.
    for argument in command {
        writer.write_all(argument).await?;
        writer.write_all(b"\n").await?;
    }
    writer.flush().await?;
    lines.until(&["DESKBELL-BEGIN", "DESKBELL-FAILED"]).await.and_then(failed).map(drop)
}

fn failed((word, rest): (&'static str, String)) -> Result<&'static str, StartError> {
    if word == "DESKBELL-FAILED" { Err(with_way_out(rest)) } else { Ok(word) }
}

/// Sends the copy, and waits until it is whole there. An answer before that is a failure, which is read although not all
/// was sent.
async fn send<R, W>(lines: &mut Lines<'_, R>, writer: &mut W, bytes: &[u8]) -> Result<(), StartError>
where
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let sending = async {
        for piece in bytes.chunks(PIECE) {
            writer.write_all(piece).await?;
        }
        writer.flush().await
    };
    // A full disk there ends the connection; its reason is in the answer.
    let (sent, answer) = tokio::join!(sending, lines.answer_to_copy());
    match (answer, sent) {
        (Ok(word), _) => failed(word).map(drop),
        (Err(error), _) => Err(error),
    }
}

impl<R: AsyncBufRead + Unpin> Lines<'_, R> {
    /// The answer after the copy, however long a slow connection takes for it.
    async fn answer_to_copy(&mut self) -> Result<(&'static str, String), StartError> {
        self.next_of(&["DESKBELL-HAVE", "DESKBELL-FAILED"]).await
    }
}

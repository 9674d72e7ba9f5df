//! `deskbell on`: a command of Deskbell on another machine, over the user's own ssh or into a container. See docs/guide/other-machines.md.

use crate::args::on::OnOptions;
use crate::exit::Exit;
use crate::output::whole;
use anyhow::Context;
use deskbell_sessions::far::{self, Connection, MachineCommand, Way, shown};
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Timeout for the last words of a program that could not connect.
const LAST_WORDS: Duration = Duration::from_secs(2);

pub fn main(options: OnOptions) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("deskbell: could not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let machine = options.machine.to_string();
    let done = runtime.block_on(run(options));
    // Reading stdin blocks a thread that cannot be woken.
    runtime.shutdown_background();
    done.unwrap_or_else(|error| {
        eprintln!("deskbell: {machine}: {error:#}");
        Exit::NoConnection.into()
    })
}

async fn run(options: OnOptions) -> anyhow::Result<ExitCode> {
    let program = options.machine.program();
    // ssh asks on the terminal.
    let connection = Connection::open(&options.machine, &Way::default())
        .with_context(|| format!("{program} could not be started"))?;
    let Connection { mut child, mut reader, mut writer, problems } = connection;
    let is_terminal = std::io::stderr().is_terminal();
    let problems = tokio::spawn(pass(problems, tokio::io::stderr(), is_terminal));
    let started = far::start(&mut reader, &mut writer, options.program.as_deref(), &options.command);
    if let Err(error) = started.await {
        // First what the program itself said, then what it means here.
        drop((reader, writer));
        if tokio::time::timeout(LAST_WORDS, problems).await.is_err() {
            tracing::debug!("stderr of {program} is still open");
        }
        return Err(error.into());
    }
    let is_terminal = std::io::stdout().is_terminal();
    let output = pass(reader, tokio::io::stdout(), is_terminal);
    let input = async move {
        let mut stdin = tokio::io::stdin();
        // A program that no longer reads says why on its own.
        if let Err(error) = tokio::io::copy(&mut stdin, &mut writer).await {
            tracing::debug!(%error, "the input was not taken whole");
        }
        drop(writer);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        passed = output => passed.context("passing the output on")?,
        () = input => {}
    }
    let status = child.wait().await.with_context(|| format!("waiting for {program}"))?;
    problems.await.context("passing errors on")?.context("passing errors on")?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(Exit::NoConnection.into(), ExitCode::from))
}

/// Passes bytes on as they come. For a terminal, control characters are replaced: another machine must not write
/// commands for it.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    is_terminal: bool,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    let mut rest = Vec::new();
    loop {
        let n_read = from.read(&mut buffer).await?;
        if n_read == 0 {
            to.write_all(&rest).await?;
            return to.flush().await;
        }
        if is_terminal {
            rest.extend_from_slice(&buffer[..n_read]);
            // A character can be cut in two at the end.
            let n_whole = whole(&rest);
            let text = shown(&String::from_utf8_lossy(&rest[..n_whole]));
            rest.drain(..n_whole);
            to.write_all(text.as_bytes()).await?;
        } else {
            to.write_all(&buffer[..n_read]).await?;
        }
        to.flush().await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::BufReader;

    #[tokio::test]
    async fn a_terminal_gets_no_commands() {
        let sent = "a\u{1b}[2J\u{9b}1m é\u{202e}\r\n\ttext ü".as_bytes();
        for capacity in [1, 2, 3, 100] {
            let mut got = Vec::new();
            pass(BufReader::with_capacity(capacity, sent), &mut got, true).await.unwrap();
            assert_eq!(String::from_utf8(got).unwrap(), "a\u{fffd}[2J\u{fffd}1m é\u{fffd}\n\ttext ü");
        }
        let mut got = Vec::new();
        pass(sent, &mut got, false).await.unwrap();
        assert_eq!(got, sent, "a program gets what was sent");
        let mut got = Vec::new();
        pass(&b"torn \xc3"[..], &mut got, true).await.unwrap();
        assert_eq!(got, b"torn \xc3");
    }
}

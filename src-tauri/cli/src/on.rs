//! `deskbell on`: a command of Deskbell on another machine, over the user's own ssh or into a container. See docs/guide/other-machines.md.

mod handshake;

use crate::args::on::OnOptions;
use anyhow::Context;
use deskbell_engine::disk;
use handshake::{Copy, System};
use sha2::{Digest, Sha256};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

/// The exit code of a connection that could not be made, or broke. ssh has the same.
const NO_CONNECTION: u8 = 255;

/// The largest program that is copied, in bytes.
const MAX_PROGRAM: u64 = 256 << 20;

/// Timeout for reading the program from this disk.
const READ: Duration = Duration::from_secs(30);

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
        ExitCode::from(NO_CONNECTION)
    })
}

async fn run(options: OnOptions) -> anyhow::Result<ExitCode> {
    let program = options.machine.program();
    let mut child = tokio::process::Command::new(program)
        .args(options.machine.arguments(&handshake::script()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("{program} could not be started"))?;
    let (Some(mut writer), Some(reader), Some(problems)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        anyhow::bail!("{program} has no pipes");
    };
    let mut reader = BufReader::with_capacity(64 << 10, reader);
    let is_terminal = std::io::stderr().is_terminal();
    let problems = tokio::spawn(pass(problems, tokio::io::stderr(), is_terminal));
    let command: Vec<Vec<u8>> = options.command.into_iter().map(String::into_bytes).collect();
    let copy = async |system: System| copy_for(options.program.as_deref(), &system).await;
    if let Err(error) = handshake::start(&mut reader, &mut writer, copy, &command).await {
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
        .map_or(ExitCode::from(NO_CONNECTION), ExitCode::from))
}

/// The program for this system: the given one, one that came with Deskbell, or Deskbell itself where it needs no desktop
/// and the systems are equal.
async fn copy_for(given: Option<&Path>, system: &System) -> io::Result<Option<Copy>> {
    let here = std::env::current_exe()?;
    let (given, system, from) = (given.map(Path::to_owned), system.clone(), here.clone());
    let read = disk::run(&from, READ, move || {
        let path = match given {
            Some(path) => path,
            None => match candidates(&here, &system).into_iter().find(|path| path.is_file()) {
                Some(path) => path,
                None => return Ok(None),
            },
        };
        let bytes = disk::read_regular(&path, MAX_PROGRAM)
            .map_err(|error| io::Error::other(format!("{} could not be read: {error}", path.display())))?;
        let hash = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Some(Copy { bytes, hash }))
    });
    read.await.map_err(io::Error::other)?
}

/// Where the program for a system can be, the first one that exists counts.
fn candidates(here: &Path, system: &System) -> Vec<PathBuf> {
    let System { name, processor } = system;
    let is_plain =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let folder = here.parent().unwrap_or(Path::new("/"));
    if !is_plain(name) || !is_plain(processor) {
        return Vec::new();
    }
    let shipped = format!("../lib/deskbell/relay/{}-{processor}", name.to_ascii_lowercase());
    let mut candidates = vec![folder.join(shipped)];
    let same_name = name.eq_ignore_ascii_case(std::env::consts::OS)
        || (name == "Darwin" && std::env::consts::OS == "macos");
    let same_processor =
        processor == std::env::consts::ARCH || (processor == "arm64" && std::env::consts::ARCH == "aarch64");
    if same_name && same_processor {
        candidates.push(folder.join("deskbell-relay"));
    }
    candidates
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

/// The number of bytes without an incomplete character at the end.
fn whole(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

/// A text without characters that could rewrite a terminal or the order of what is read.
fn shown(text: &str) -> String {
    let is_plain = |c: char| {
        matches!(c, '\n' | '\t')
            || !(c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
    };
    text.chars().filter(|c| *c != '\r').map(|c| if is_plain(c) { c } else { '\u{fffd}' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn the_program_is_that_of_the_other_system() {
        let of = |name: &str, processor: &str| {
            let system = System { name: name.to_owned(), processor: processor.to_owned() };
            candidates(Path::new("/usr/bin/deskbell"), &system)
        };
        assert_eq!(of("Linux", "riscv64"), [Path::new("/usr/bin/../lib/deskbell/relay/linux-riscv64")]);
        assert!(of("../..", "x86_64").is_empty());
        assert!(of("Linux", "a/b").is_empty());
        let own = if cfg!(target_os = "macos") { "Darwin" } else { std::env::consts::OS };
        let own = of(own, std::env::consts::ARCH);
        assert_eq!(own.last(), Some(&PathBuf::from("/usr/bin/deskbell-relay")));
    }
}

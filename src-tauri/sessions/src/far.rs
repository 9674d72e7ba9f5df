//! Deskbell on another machine: the user's own ssh or container program is the connection, and runs Deskbell's own
//! program there. `deskbell on` passes its terminal through; for a window, ssh asks through Deskbell itself.

mod ask;
mod asked;
#[cfg(unix)]
pub mod askpass;
mod connections;
mod handshake;
pub mod hosts;
mod machine;
mod program;
#[cfg(unix)]
mod questions;
mod secret;
mod sessions;
#[cfg(unix)]
mod shared;
mod terminal;

pub use ask::{Far, FarError, FarLines, FarReader};
pub use asked::{AskWindow, Asked, Unanswered};
pub use connections::Connections;
pub use connections::Way;
pub use machine::MachineCommand;
pub use secret::Secret;

use deskbell_engine::api::RemoteMachine;
use deskbell_engine::disk;
use handshake::System;
use program::Copy;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::BufReader;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// Timeout for reading the program from this disk.
const READ: Duration = Duration::from_secs(30);

/// A program that reaches a machine, and its pipes. It ends with this value.
pub struct Connection {
    pub child: Child,
    pub reader: BufReader<ChildStdout>,
    pub writer: ChildStdin,
    /// What the program itself says, and then what Deskbell says there.
    pub problems: ChildStderr,
}

impl Connection {
    /// Starts the program.
    pub fn open(machine: &RemoteMachine, way: &Way) -> io::Result<Self> {
        let mut child = Command::new(machine.program())
            .args(machine.arguments(&handshake::script(), &way.options))
            .envs(way.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let no_pipes = || io::Error::other("it has no pipes");
        let writer = child.stdin.take().ok_or_else(no_pipes)?;
        let reader = BufReader::with_capacity(64 << 10, child.stdout.take().ok_or_else(no_pipes)?);
        let problems = child.stderr.take().ok_or_else(no_pipes)?;
        Ok(Self { child, reader, writer, problems })
    }
}

/// Starts a command of Deskbell there: afterwards the pipes are the command's. `program` is copied there, instead of the
/// one for its system that came with Deskbell.
pub async fn start(
    reader: &mut BufReader<ChildStdout>,
    writer: &mut ChildStdin,
    program: Option<&Path>,
    command: &[String],
) -> Result<(), handshake::StartError> {
    let command: Vec<Vec<u8>> = command.iter().map(|argument| argument.clone().into_bytes()).collect();
    let copy = async |system: System| copy_for(program, &system).await;
    handshake::start(reader, writer, copy, &command).await
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
        Copy::of(path).map(Some)
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

/// Replaces characters that could clear or rewrite a terminal, or change the order of the letters on it.
pub fn shown(text: &str) -> String {
    let is_plain = |c: char| {
        matches!(c, '\n' | '\t')
            || !(c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
    };
    text.chars().filter(|c| *c != '\r').map(|c| if is_plain(c) { c } else { '\u{fffd}' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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

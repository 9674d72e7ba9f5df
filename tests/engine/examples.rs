//! The engine's examples, run with the demo agent as a user would run them.

use crate::program::demo_agent;
use deskbell_tests::suite::missing;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const TOUCH: &str = r#"TOOL Bash {"command": "touch a.txt"}"#;

/// The example's program, next to the demo agent; `None` if the examples were not built.
fn example(name: &str) -> Option<PathBuf> {
    let program = demo_agent().with_file_name("examples").join(name);
    if program.is_file() {
        return Some(program);
    }
    missing(&format!("{} is not there: run `cargo build -p deskbell-engine --examples`", program.display()))
}

/// A project, and the agent's own folder.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        Self(folder)
    }

    fn project(&self) -> PathBuf {
        self.0.path().join("project")
    }

    /// Whether a command was allowed. The demo agent runs none, but its store has a result of each that it may run.
    fn ran_a_command(&self) -> bool {
        stored(&self.0.path().join("config")).contains(r#""stdout":"ok""#)
    }

    fn start(&self, program: PathBuf, arguments: &[&str]) -> Child {
        let mut command = Command::new(program);
        command.arg(demo_agent()).arg(self.project()).args(arguments);
        command.env("CLAUDE_CONFIG_DIR", self.0.path().join("config"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

/// The texts of all conversations in a folder of the agent.
fn stored(folder: &Path) -> String {
    let Ok(entries) = std::fs::read_dir(folder) else { return String::new() };
    let texts = entries.map(|entry| entry.unwrap().path()).map(|path| match path.is_dir() {
        true => stored(&path),
        false if path.extension().is_some_and(|extension| extension == "jsonl") => {
            std::fs::read_to_string(&path).unwrap()
        }
        false => String::new(),
    });
    texts.collect()
}

#[test]
fn the_bot_denies_what_it_may_not_do_and_prints_the_conversation() {
    let Some(bot) = example("headless_bot") else { return };
    let place = Place::new();
    let output =
        place.start(bot, &[&format!("{TOUCH}\nSAY Finished without it.")]).wait_with_output().unwrap();
    let (shown, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{log}");
    assert!(shown.contains("Finished without it."), "{shown}");
    assert!(log.contains("touch a.txt") && !place.ran_a_command(), "{log}");
}

#[test]
fn a_client_of_the_service_allows_a_request() {
    let Some(service) = example("approval_service") else { return };
    let place = Place::new();
    let socket = place.0.path().join("socket");
    let mut running = place.start(service, &[TOUCH, socket.to_str().unwrap()]);
    let mut lines = BufReader::new(running.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    // One that leaves, one that says nonsense, and one that allows.
    drop(UnixStream::connect(&socket).unwrap());
    let mut client = UnixStream::connect(&socket).unwrap();
    let mut request = String::new();
    BufReader::new(client.try_clone().unwrap()).read_line(&mut request).unwrap();
    let request: serde_json::Value = serde_json::from_str(&request).unwrap();
    assert_eq!(request["subject"], "touch a.txt");
    writeln!(client, "allow nothing\nallow {}", request["id"].as_str().unwrap()).unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "Done");
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(place.ran_a_command() && !socket.exists());
}

#[test]
fn the_terminal_client_asks_and_shows_the_answer() {
    let Some(client) = example("terminal_client") else { return };
    let place = Place::new();
    let mut running = place.start(client, &[]);
    let mut input = running.stdin.take().unwrap();
    let mut output = BufReader::new(running.stdout.take().unwrap());
    let mut shown = String::new();
    let mut until = |text: &str| {
        let mut line = Vec::new();
        while !shown.contains(text) {
            line.clear();
            // The prompt of the terminal client has no line break, so each read ends at its `>`.
            assert_ne!(output.read_until(b'>', &mut line).unwrap(), 0, "no {text} in {shown}");
            shown.push_str(&String::from_utf8_lossy(&line));
        }
        std::mem::take(&mut shown)
    };
    until(">");
    writeln!(input, "{TOUCH}").unwrap();
    assert!(until("y/n>").contains("touch a.txt"));
    writeln!(input, "y").unwrap();
    until("— Done\n>");
    assert!(place.ran_a_command());
    writeln!(input, "SAY Hello from the agent.").unwrap();
    assert!(until("— Done\n>").contains("Hello from the agent."));
    writeln!(input, "/quit").unwrap();
    let rest = running.wait_with_output().unwrap();
    assert!(rest.status.success(), "{}", String::from_utf8_lossy(&rest.stderr));
}

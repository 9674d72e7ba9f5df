//! `deskbell sessions attach` in a pseudo-terminal: the conversation is printed, and only a typed answer allows anything.

use super::world::World;
use crate::life::DEADLINE;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Instant;

/// A program in a pseudo-terminal, and what it has written so far.
struct Terminal {
    child: tokio::process::Child,
    keyboard: File,
    screen: mpsc::Receiver<String>,
    seen: String,
}

impl Terminal {
    fn run(mut command: tokio::process::Command) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let its = || Stdio::from(OpenOptions::new().read(true).write(true).open(&name).unwrap());
        let child = command.stdin(its()).stdout(its()).stderr(its()).spawn().unwrap();
        let keyboard = File::from(ours);
        let mut reader = keyboard.try_clone().unwrap();
        let (sender, screen) = mpsc::channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // Reading fails when the program has closed the terminal.
            while let Ok(n_read) = reader.read(&mut buffer) {
                if n_read == 0
                    || sender.send(String::from_utf8_lossy(&buffer[..n_read]).into_owned()).is_err()
                {
                    return;
                }
            }
        });
        Self { child, keyboard, screen, seen: String::new() }
    }

    fn type_line(&mut self, line: &str) {
        self.keyboard.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Waits for a text after what was seen before, and forgets everything up to it.
    fn until(&mut self, text: &str) -> String {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(more) => self.seen.push_str(&more),
                Err(_) => panic!("no “{text}” in {:?}", self.seen),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_prompted_answered_and_left_from_a_terminal() {
    let Some(world) = World::new() else { return };
    let mut client = world.attach().await;
    let session = client.open().await;
    client.attach(&session, None).await;
    client.prompt(&session, "p", "SAY before the terminal").await;
    client.until("end of the turn", |line| line["type"] == "turnEnded").await;

    let mut terminal = Terminal::run(world.app(&["sessions", "attach", &session]));
    terminal.until("before the terminal");
    let made = world.root().join("project/made.txt");
    let prompt = format!("TOOL Bash {{\"command\": \"touch {}\"}}", made.display());
    // An answer that was typed ahead is none: it is a prompt, or it is dropped.
    terminal.type_line(&prompt);
    terminal.until("?? Bash");
    let shown = terminal.until("Enter alone answers nothing.");
    assert!(shown.contains(&format!("touch {}", made.display())), "the whole input: {shown}");
    terminal.type_line("y");
    let said = terminal.until("type it again");
    assert!(said.contains("typed before the request could be read"), "{said}");
    // What comes too early is only refused again, and each refusal is an answer to wait for.
    let deadline = Instant::now() + DEADLINE;
    for line in ["", "yes"] {
        terminal.type_line(line);
    }
    loop {
        assert!(Instant::now() < deadline && !made.exists(), "only y allows it");
        // The terminal's echo of it can have lines of the program between its letters.
        terminal.type_line("maybe");
        let said = terminal.until("answer");
        if said.contains("the agent waits for an") {
            break;
        }
    }
    let open = client.until("a request", |line| line["type"] == "permissionRequested").await;
    assert_eq!(open["request"]["tool"], "Bash");
    terminal.type_line("y");
    terminal.until("allowed");
    terminal.until("end: done");

    // Another client answers: the terminal sees it.
    terminal.type_line(&prompt);
    terminal.until("Enter alone answers nothing.");
    let asked = client.until("the next request", |line| {
        line["type"] == "permissionRequested" && line["request"]["id"] != open["request"]["id"]
    });
    let id = asked.await["request"]["id"].clone();
    let deny = serde_json::json!({"type": "decide", "requestId": id, "decision": {"type": "deny", "message": "not now"}});
    client.command(&session, "deny", deny).await;
    terminal.until("denied: not now");
    terminal.type_line(":quit");
    terminal.until("the session continues");
    assert!(terminal.child.wait().await.unwrap().success());
    client.ping().await;
    world.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_does_not_exist_is_said_to_be_missing() {
    let Some(world) = World::new() else { return };
    let client = world.attach().await;
    let output = world.app(&["sessions", "attach", "x"]).output().await.unwrap();
    assert_eq!(output.status.code(), Some(90), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no session x"), "{output:?}");
    world.end(client).await;
}

/// What an agent wrote is no command for the terminal that shows it later.
#[tokio::test(flavor = "multi_thread")]
async fn a_recording_and_an_export_give_no_commands_to_a_terminal() {
    let Some(world) = World::new() else { return };
    let hostile = "before \u{1b}]52;c;aGk=\u{7}\u{1b}[2J\u{9b}1m\u{202e} after";
    let id = "00000000-0000-4000-8000-000000000001";
    let said = serde_json::json!({"type": "assistant", "uuid": "a", "parentUuid": "p", "sessionId": id, "cwd": "/p",
        "timestamp": "2026-11-22T10:00:00.000Z",
        "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": hostile}]}});
    let asked = serde_json::json!({"type": "user", "uuid": "p", "parentUuid": null, "sessionId": id, "cwd": "/p",
        "timestamp": "2026-11-22T09:59:00.000Z", "message": {"role": "user", "content": hostile}});
    let recording = world.root().join("recording.ndjson");
    let recorded = |ms, line| serde_json::json!({"ms": ms, "dir": "out", "line": line}).to_string() + "\n";
    // A long line is cut in the view of lines.
    let odd = serde_json::json!({"type": "odd", "text": hostile});
    std::fs::write(&recording, recorded(1, odd) + &recorded(2, said.clone())).unwrap();
    let stored = world.root().join(".config/projects/-p");
    std::fs::create_dir_all(&stored).unwrap();
    std::fs::write(stored.join(format!("{id}.jsonl")), format!("{asked}\n{said}\n")).unwrap();
    let recording = recording.to_str().unwrap();
    for arguments in [
        &["replay", recording][..],
        &["replay", recording, "--lines"],
        &["replay", recording, "--events"],
        &["sessions", "export", id],
        &["sessions", "export", id, "--format=json"],
        &["sessions", "watch", id],
    ] {
        let mut terminal = Terminal::run(world.app(arguments));
        terminal.until("before ");
        let shown = terminal.until(" after");
        let commands = ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}'];
        assert!(!shown.contains(commands), "{arguments:?}: {shown:?}");
        // An export as Markdown has none of them to begin with.
        assert!(shown.contains("202e") || arguments[1] == "export", "{arguments:?}: {shown:?}");
        terminal.child.start_kill().unwrap();
        terminal.child.wait().await.unwrap();
    }
    let output = world.app(&["replay", recording]).output().await.unwrap();
    assert!(
        String::from_utf8_lossy(&output.stdout).contains(hostile),
        "a program gets each byte: {output:?}"
    );
}

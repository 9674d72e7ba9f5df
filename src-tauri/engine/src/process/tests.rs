//! A process on a host that a test plays: faults that no real process shows on demand.

use super::*;
use crate::agent::{AgentCommand, AgentEvent, Driver, HostRequest, driver};
use crate::api::Priority;
use crate::api::{AgentKind, ExitReport};
use crate::host::fake::{Asked, FakeHost, FakeProcess};
use std::path::PathBuf;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn launch() -> Launch {
    Launch {
        kind: AgentKind::Demo,
        acp: None,
        program: PathBuf::from("/agent"),
        first_args: Vec::new(),
        project: std::env::temp_dir(),
        restricted: true,
        snapshot: None,
        env: vec![("ONLY".into(), Some("this".into()))],
        run_token: "run.1".to_owned(),
        priority: Priority::Normal,
    }
}

async fn spawned() -> (Process, FakeProcess, Arc<FakeHost>) {
    let (host, mut processes) = FakeHost::new();
    let host = Arc::new(host);
    let spawned = Process::spawn(host.clone(), &launch(), &Start::default(), Recorder::default()).await;
    (spawned.unwrap(), processes.recv().await.unwrap(), host)
}

async fn lines(process: &mut Process) -> Vec<String> {
    let Output::Lines(lines) = process.next_output().await else { panic!("no lines") };
    let kind = |inbound| match inbound {
        AgentEvent::Unknown { kind } => kind,
        other => panic!("{other:?}"),
    };
    lines.into_iter().map(|heard| kind(heard.inbound)).collect()
}

fn exited(code: i32) -> Exited {
    Exited { code: Some(code), signal: None }
}

#[tokio::test]
async fn a_program_gets_its_arguments_its_folder_and_its_token() {
    let (process, _played, host) = spawned().await;
    let asked = host.asked();
    let [Asked::Spawn(program)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((&program.path, &program.folder), (&launch().program, &launch().project));
    assert_eq!(program.args, launch().args(&Start::default()));
    let has = |name: &str, value: &str| {
        program.environment.iter().any(|(known, text)| known == name && text == value)
    };
    assert!(has("ONLY", "this") && has(crate::launch::Launch::RUN_TOKEN, "run.1"), "{program:?}");
    drop(process);
    let kill = [Asked::Kill, Asked::KillTagged("run.1".to_owned())];
    assert_eq!(host.asked()[1..], kill, "a dropped process is killed, with all that it started");
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_named() {
    let (mut host, _processes) = FakeHost::new();
    host.refuses = Some(std::io::ErrorKind::PermissionDenied);
    let spawned = Process::spawn(Arc::new(host), &launch(), &Start::default(), Recorder::default()).await;
    let Err(error) = spawned else { panic!("it was started") };
    assert_eq!(error.program, launch().program);
    assert_eq!(error.source.kind(), std::io::ErrorKind::PermissionDenied);
}

#[tokio::test]
async fn the_stages_of_a_stop_reach_the_process_in_order() {
    let (mut process, mut played, host) = spawned().await;
    assert!(process.write("one".to_owned()) && process.write("two".to_owned()));
    process.close_stdin();
    assert!(!process.write("three".to_owned()), "stdin is closed");
    let mut written = String::new();
    played.stdin.read_to_string(&mut written).await.unwrap();
    assert_eq!(written, "one\ntwo\n", "everything before the end arrives");
    process.terminate();
    process.kill();
    let stages = [Asked::Terminate, Asked::Kill, Asked::KillTagged("run.1".to_owned())];
    assert_eq!(host.asked()[1..], stages);
}

/// Answers a line at once, makes two events of it, and knows no request.
struct Polite;

impl Driver for Polite {
    fn read(&mut self, line: &[u8], out: &mut driver::Output) {
        let kind = String::from_utf8_lossy(line).into_owned();
        out.lines.push(format!("thanks for {kind}"));
        out.events.extend([AgentEvent::Unknown { kind: kind.clone() }, AgentEvent::Unknown { kind }]);
    }

    fn write(&mut self, command: &AgentCommand, out: &mut driver::Output) {
        match command {
            AgentCommand::Prompt { text, .. } => out.lines.extend(["prompt".to_owned(), text.clone()]),
            _ => out.events.push(AgentEvent::Unknown { kind: "not known".to_owned() }),
        }
    }
}

#[tokio::test]
async fn what_a_driver_writes_and_reports_by_itself_arrives_in_order() {
    let (mut process, mut played, _host) = spawned().await;
    process.driver = Box::new(Polite);
    let (uuid, text, attachments) = ("u".to_owned(), "fix it".to_owned(), Vec::new());
    assert!(process.send(&AgentCommand::Prompt { uuid, text, attachments }));
    let (request_id, request) = ("r".to_owned(), HostRequest::ListRules);
    assert!(process.send(&AgentCommand::Request { request_id, request }), "an answer needs no line");
    assert_eq!(lines(&mut process).await, ["not known"]);
    played.stdout.write_all(b"a\n").await.unwrap();
    assert_eq!(lines(&mut process).await, ["a", "a"]);
    process.close_stdin();
    let mut written = String::new();
    played.stdin.read_to_string(&mut written).await.unwrap();
    assert_eq!(written, "prompt\nfix it\nthanks for a\n");
    played.stdout.write_all(b"b\n").await.unwrap();
    assert_eq!(lines(&mut process).await, ["b", "b"], "its thanks are lost, its events are not");
}

/// The process is gone at once, a part of its output comes later: the exit is the last event all the same.
#[tokio::test]
async fn an_exit_waits_for_the_output_and_the_error_output() {
    let (mut process, mut played, _host) = spawned().await;
    played.exit.send(Exited { code: None, signal: Some(11) }).unwrap();
    played.stdout.write_all(b"{\"type\":\"a\"}\n{\"type\":").await.unwrap();
    assert_eq!(lines(&mut process).await, ["a"]);
    played.stdout.write_all(b"\"b\"}").await.unwrap();
    drop(played.stdout);
    assert_eq!(lines(&mut process).await, ["b"]);
    played.stderr.write_all(b" last words \n").await.unwrap();
    drop(played.stderr);
    let Output::Exited(report) = process.next_output().await else { panic!("no exit") };
    let stderr = "last words".to_owned();
    assert_eq!(report, ExitReport { code: None, signal: Some(11), expected: false, stderr });
}

/// A write fails. If the exit follows at once, it says more than the broken pipe.
#[tokio::test]
async fn a_broken_stdin_is_reported_unless_the_process_has_exited() {
    let (mut process, played, _host) = spawned().await;
    drop(played.stdin);
    assert!(process.write("lost".to_owned()));
    assert!(matches!(process.next_output().await, Output::StdinBroken(_)));

    let (mut process, played, _host) = spawned().await;
    drop(played.stdin);
    assert!(process.write("lost".to_owned()));
    played.exit.send(exited(3)).unwrap();
    drop((played.stdout, played.stderr));
    let Output::Exited(report) = process.next_output().await else { panic!("no exit") };
    assert_eq!(report.code, Some(3));
}

/// Nothing is read ahead: a process that writes more than its pipe holds waits for its session.
#[tokio::test]
async fn a_process_waits_until_its_output_is_asked_for() {
    let (mut process, mut played, _host) = spawned().await;
    let n_lines = 500;
    let line = format!("{{\"type\":\"a\",\"pad\":\"{}\"}}\n", "p".repeat(1_000));
    let writer = tokio::spawn(async move {
        for _ in 0..n_lines {
            played.stdout.write_all(line.as_bytes()).await.unwrap();
        }
        drop(played.stderr);
        played.exit.send(exited(0)).unwrap();
    });
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert!(!writer.is_finished(), "half a megabyte was taken without being asked for");
    let mut n_read = 0;
    while n_read < n_lines {
        n_read += lines(&mut process).await.len();
    }
    assert_eq!(n_read, n_lines);
    assert!(matches!(process.next_output().await, Output::Exited(_)));
}

//! `deskbell relay --serve` with real processes: sessions that outlive their clients, and faults of both.

#![cfg(target_os = "linux")]

mod connections;
mod containers;
mod cost;
mod far;
mod faults;
mod folder;
mod hostile;
mod hosts;
mod mirror;
mod older;
mod scripted;
mod terminal;
mod versions;
pub mod world;

use crate::app_killed::SOON;
use crate::leftovers::nothing_runs;
use crate::life::{DEADLINE, MARK};
use deskbell_tests::real_cli::process;
use deskbell_tests::relay::text_of;
use deskbell_tests::suite::skipped;
use deskbell_tests::window::processes_with;
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::time::{Duration, Instant};
use tokio::time::timeout;
use world::{Client, World};

/// The goal for a client that comes back, at the 95th percentile, and the limit here: a debug build on a busy machine.
const BACK_WITHIN: Duration = Duration::from_secs(20);

/// The goal for the throughput of the server, as a share of the plain relay's, and the rounds to reach it in.
const LEAST_RATIO: f64 = 0.8;
const ROUNDS: usize = 3;

fn is_turn_end(value: &Value) -> bool {
    value["type"] == "turnEnded"
}

fn is_answer(value: &Value) -> bool {
    value["item"]["body"]["type"] == "text" && value["item"]["body"]["streaming"] == false
}

fn expect_contiguous(events: &[Value], after: u64) {
    for (nr, event) in (after + 1..).zip(events) {
        assert_eq!(event["seq"].as_u64(), Some(nr), "lost or doubled: {event}");
    }
}

/// What is left of [`killed_again_and_again`]: the last client and the session that it has attached to.
struct Survived {
    client: Client,
    session: String,
    /// How long each client took to come back.
    took: Vec<Duration>,
}

/// Kills the client `n_kills` times in one streamed answer.
async fn killed_again_and_again(n_kills: usize, attach: impl AsyncFn() -> Client) -> Survived {
    let mut client = attach().await;
    let session = client.open().await;
    let run = client.run.clone();
    client.attach(&session, None).await;
    let first = client.until("snapshot", |line| line["type"] == "snapshot").await;
    let mut seq = first["snapshot"]["seq"].as_u64().unwrap();
    let begun_after = seq;
    client.prompt(&session, "p", &format!("SLOW 20 {} word", 60 * n_kills)).await;
    let mut events = Vec::new();
    let mut took = Vec::new();
    for _ in 0..n_kills {
        for _ in 0..12 {
            let event = client.event().await;
            seq = event["seq"].as_u64().unwrap();
            events.push(event);
        }
        client.kill().await;
        let began_at = Instant::now();
        client = attach().await;
        assert_eq!(client.run, run, "the same server");
        client.attach(&session, Some(seq)).await;
        took.push(began_at.elapsed());
    }
    let mut answer = String::new();
    while !events.last().is_some_and(is_turn_end) {
        let event = client.event().await;
        if is_answer(&event) {
            answer = text_of(&event["item"]["body"]);
        }
        events.push(event);
    }
    expect_contiguous(&events, begun_after);
    for nr in 0..60 * n_kills {
        assert!(answer.contains(&format!("word{nr} ")) || answer.ends_with(&format!("word{nr}")), "word{nr}");
    }
    assert_eq!(events.iter().filter(|event| is_turn_end(event)).count(), 1);
    Survived { client, session, took }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_killed_in_an_answer_gets_all_of_it_exactly_once() {
    let Some(world) = World::new() else { return };
    let survived = killed_again_and_again(1, || world.attach()).await;
    world.end(survived.client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_kills_in_one_session_lose_nothing() {
    let Some(world) = World::new() else { return };
    let survived = killed_again_and_again(20, || world.attach()).await;
    came_back_in_time(survived.took);
    world.end(survived.client).await;
}

fn came_back_in_time(mut took: Vec<Duration>) {
    took.sort();
    let p95 = took[(took.len() * 95).div_ceil(100) - 1];
    println!(
        "attached again: median {:?}, p95 {p95:?}, worst {:?}",
        took[took.len() / 2],
        took[took.len() - 1]
    );
    assert!(p95 < BACK_WITHIN, "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_looks_at_the_lines_of_the_agent() {
    let Some(world) = World::new() else { return };
    let mut client = world.attach().await;
    let session = client.open().await;
    client.attach(&session, None).await;
    client.prompt(&session, "p", "UNKNOWN_MESSAGE\nSAY done").await;
    client.until("the end of the turn", is_turn_end).await;
    let question = json!({"type": "rawLines", "after": 0});
    client.send(json!({"type": "ask", "nr": 1, "sessionId": session, "question": question})).await;
    let answer = client.until("lines", |line| line["type"] == "answer" && line["nr"] == 1).await;
    let lines = answer["answer"]["lines"].as_array().expect("there are lines");
    let unknown: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "unknown").collect();
    assert!(!unknown.is_empty(), "{answer}");
    assert_eq!(answer["answer"]["nUnknown"], unknown.len());
    assert!(lines.iter().any(|line| line["direction"] == "toAgent"), "{answer}");
    world.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_client_answers_and_the_other_sees_it() {
    let Some(world) = World::new() else { return };
    let (mut one, mut other) = (world.attach().await, world.attach().await);
    let session = one.open().await;
    one.attach(&session, None).await;
    other.attach(&session, None).await;
    one.prompt(&session, "p", "TOOL Bash {\"command\": \"touch a.txt\"}\nSAY done").await;
    let is_request = |line: &Value| line["type"] == "permissionRequested";
    let asked = one.until("request", is_request).await;
    assert_eq!(other.until("request", is_request).await["request"]["id"], asked["request"]["id"]);
    // The client that asked goes away; the request waits.
    one.kill().await;
    let (request_id, shown) = (&asked["request"]["id"], &asked["request"]["shown"]);
    let decide = json!({"type": "decide", "requestId": request_id, "shown": shown,
        "decision": {"type": "allowOnce"}});
    let mut third = world.attach().await;
    third.attach(&session, None).await;
    let snapshot = third.until("snapshot", |line| line["type"] == "snapshot").await;
    assert_eq!(snapshot["snapshot"]["session"]["requests"][0]["id"], *request_id);
    third.command(&session, "answer", decide.clone()).await;
    let is_resolved = |line: &Value| line["type"] == "permissionResolved";
    let (answer, resolved) =
        third.until_both("answer and resolution", |line| line["id"] == "answer", is_resolved).await;
    assert_eq!((&answer["type"], &resolved["requestId"]), (&json!("accepted"), request_id));
    assert_eq!(other.until("resolution", is_resolved).await["requestId"], *request_id);
    // The same answer under another id is a second answer.
    other.command(&session, "late", decide).await;
    let (late, _) =
        other.until_both("late answer and end of the turn", |line| line["id"] == "late", is_turn_end).await;
    assert_eq!((&late["type"], &late["error"]["code"]), (&json!("refused"), &json!("noSuchRequest")));
    drop(third);
    world.end(other).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_sent_again_counts_once() {
    let Some(world) = World::new() else { return };
    let (mut one, mut other) = (world.attach().await, world.attach().await);
    let session = one.open().await;
    one.attach(&session, None).await;
    for _ in 0..3 {
        one.prompt(&session, "first", "RECALL").await;
        other.prompt(&session, "first", "RECALL").await;
    }
    for client in [&mut one, &mut other] {
        assert_eq!(client.answer_to("first").await["type"], "accepted");
    }
    one.until("end of the turn", is_turn_end).await;
    one.prompt(&session, "second", "RECALL").await;
    let answer = one.until("answer", is_answer).await;
    assert_eq!(text_of(&answer["item"]["body"]).matches("RECALL").count(), 1, "{answer}");
    one.until("end of the turn", is_turn_end).await;
    drop(other);
    world.end(one).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_leaves_no_process_and_its_prompts_are_held() {
    let Some(world) = World::new() else { return };
    let mut client = world.attach().await;
    let (session, run) = (client.open().await, client.run.clone());
    client.attach(&session, None).await;
    client.prompt(&session, "first", "CHILD 600\nWAIT").await;
    client.until("answer", is_answer).await;
    client.prompt(&session, "second", "SAY second").await;
    assert_eq!(client.answer_to("second").await["type"], "accepted");
    // The client, the server, its guard, the agent and the agent's child.
    assert!(world.processes() >= 5, "{}", world.processes());
    process::kill(client.server_pid).unwrap();
    assert_eq!(client.exit_code().await, Some(255));
    nothing_runs(&world.mark, SOON).await;

    let mut client = world.attach().await;
    assert_ne!(client.run, run);
    let listed = client.hello["sessions"][0].clone();
    assert_eq!(
        (&listed["id"], &listed["nHeld"], &listed["alive"]),
        (&json!(session), &json!(2), &json!(false))
    );
    // Sent again with the run that it was sent to: the server cannot know whether it counted.
    client.prompt_for(&run, &session, "second", "SAY second").await;
    assert_eq!(client.answer_to("second").await["reason"], "restarted");
    client.attach(&session, None).await;
    let snapshot = client.until("snapshot", |line| line["type"] == "snapshot").await;
    let queue = &snapshot["snapshot"]["session"]["queue"];
    assert_eq!((&queue[0]["cutOff"], &queue[1]["text"]), (&json!(true), &json!("SAY second")));
    client.command(&session, "go", json!({"type": "resend", "promptId": queue[1]["id"]})).await;
    assert_eq!(text_of(&client.until("answer", is_answer).await["item"]["body"]), "second");
    client.until("end of the turn", is_turn_end).await;
    world.end(client).await;
}

/// The agent and its child ignore what ends them in order, and the guard that would kill them is gone.
#[tokio::test(flavor = "multi_thread")]
async fn the_next_server_ends_what_a_server_left_that_was_killed_with_its_guard() {
    let Some(world) = World::new() else { return };
    let mut client = world.attach().await;
    let session = client.open().await;
    client.attach(&session, None).await;
    client.prompt(&session, "p", "CHILD 600\nWAIT").await;
    let child: u32 = text_of(&client.until("answer", is_answer).await["item"]["body"]).parse().unwrap();
    let guards: Vec<u32> = processes_with(MARK, &world.mark)
        .into_iter()
        .filter(|process| process.command_line.split(' ').nth(1) == Some("guard"))
        .map(|process| process.pid)
        .collect();
    assert_eq!(guards.len(), 1, "the server has one guard");
    // First the guard, which would end them otherwise.
    for pid in [guards[0], client.server_pid] {
        process::kill(pid).unwrap();
        process::ended(pid, DEADLINE).await.unwrap();
    }
    drop(client);
    assert!(process::is_running(child), "nothing ended it");
    let next = world.attach().await;
    process::ended(child, DEADLINE).await.unwrap();
    world.end(next).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_server_runs_for_a_version() {
    let Some(world) = World::new() else { return };
    let (mut one, two) = tokio::join!(world.attach(), world.attach());
    assert_eq!(one.server_pid, two.server_pid, "two clients that start a server find the same one");
    let second = world.command(&["--serve"]).output().await.unwrap();
    assert_eq!(second.status.code(), Some(91));
    assert!(String::from_utf8_lossy(&second.stderr).contains("already running"));
    one.ping().await;
    drop(two);
    world.end(one).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unsafe_folder_is_refused_with_its_reason() {
    let Some(world) = World::new() else { return };
    let folder = world.folder();
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    let refused = async |reason: &str| {
        for arguments in [&["--serve"][..], &["--attach"]] {
            let output = world.command(arguments).output().await.unwrap();
            let problem = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && problem.contains(reason), "{arguments:?}: {problem}");
        }
    };
    let elsewhere = world.data.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    refused("symbolic link").await;
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    refused("its mode is 755").await;
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    if chown(&folder, Some(65_534), None).is_ok() {
        refused("belongs to user 65534").await;
    } else {
        eprintln!("skipped in part: only the superuser can give a folder away");
    }
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    nothing_runs(&world.mark, SOON).await;
}

/// The folder keeps other users out. Here it is opened, so that the check of the peer itself is tried.
#[tokio::test(flavor = "multi_thread")]
async fn another_user_cannot_connect() {
    let Some(world) = World::new() else { return };
    let mut client = world.attach().await;
    let socket = world.folder().join("socket");
    let script = r#"socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die; $SIG{PIPE} = "IGNORE";
        connect($s, sockaddr_un($ARGV[0])) or die "refused: $!\n"; syswrite($s, "{\"type\":\"list\"}\n");
        my $n = sysread($s, my $b, 100); print "received ", $n // 0, "\n""#;
    let as_other = async || {
        let mut command = tokio::process::Command::new("setpriv");
        command.args(["--reuid=65534", "--clear-groups", "perl", "-MSocket", "-e", script]).arg(&socket);
        command.env("LC_ALL", "C").output().await
    };
    let closed = match as_other().await {
        Ok(output) if !String::from_utf8_lossy(&output.stderr).contains("setpriv:") => output,
        other => return skipped(&format!("no second user to try it with: {other:?}")).unwrap_or_default(),
    };
    assert!(String::from_utf8_lossy(&closed.stderr).contains("refused: Permission denied"), "{closed:?}");
    for path in socket.ancestors().take_while(|path| path.starts_with(world.root())) {
        let mode = if path == socket { 0o666 } else { 0o755 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let open = as_other().await.unwrap();
    assert_eq!(String::from_utf8_lossy(&open.stdout), "received 0\n", "{open:?}");
    client.ping().await;
    world.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_and_long_lines_hurt_only_their_sender() {
    let Some(world) = World::new() else { return };
    let (mut client, mut hostile) = (world.attach().await, world.attach().await);
    let session = client.open().await;
    client.attach(&session, None).await;
    let long = format!("{{\"type\":\"{}\"}}", "x".repeat(10 << 20));
    let too_long = "y".repeat(20 << 20);
    let deep = "[".repeat(100_000);
    for line in ["garbage", "{}", "\u{0}\u{1}", "{\"type\":\"decide\"}", &long, &too_long, &deep] {
        hostile.send_raw(line.as_bytes()).await;
        let problem = hostile.until("problem", |line| line["type"] == "problem").await;
        assert_eq!(problem["error"]["code"], "badCommand");
        assert!(problem.to_string().len() < 2_000);
        client.ping().await;
    }
    // One that never reads, and never ends its line.
    hostile.send_unfinished(&vec![b'z'; 1 << 20]).await;
    client.prompt(&session, "p", "SAY fine").await;
    client.until("end of the turn", is_turn_end).await;
    drop(hostile);
    world.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_server_leaves_and_a_working_one_stays() {
    let Some(mut world) = World::new() else { return };
    world.idle = "1";
    let mut client = world.attach().await;
    let session = client.open().await;
    client.attach(&session, None).await;
    let prompted_at = Instant::now();
    client.prompt(&session, "p", "SAY on it\nPAUSE 4000\nSAY done").await;
    client.until("answer", is_answer).await;
    let (run, pid) = (client.run.clone(), client.server_pid);
    client.kill().await;
    process::ended(pid, DEADLINE).await.unwrap();
    // The idle time is a quarter of the work: the server left only after the work.
    assert!(prompted_at.elapsed() >= Duration::from_secs(4), "{:?}", prompted_at.elapsed());
    nothing_runs(&world.mark, SOON).await;
    assert!(world.run(&["--list"]).await.contains(&session), "saved sessions are listed without a server");
    let mut client = world.attach().await;
    assert_ne!(client.run, run);
    client.attach(&session, None).await;
    let snapshot = client.until("snapshot", |line| line["type"] == "snapshot").await.to_string();
    assert!(snapshot.contains("on it") && snapshot.contains("done"), "{snapshot}");
    world.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_leaves_no_process_of_an_agent() {
    let Some(world) = World::new() else { return };
    let mut client = world.attach().await;
    let session = client.open().await;
    client.attach(&session, None).await;
    client.prompt(&session, "p", "CHILD 600\nWAIT").await;
    let child: u32 = text_of(&client.until("answer", is_answer).await["item"]["body"]).parse().unwrap();
    assert!(process::is_running(child));
    world.run(&[&format!("--stop={session}")]).await;
    process::ended(child, DEADLINE).await.unwrap();
    // The client, the server and its guard.
    assert_eq!(world.processes(), 3);
    world.run(&[&format!("--remove={session}")]).await;
    client.until("removal", |line| line["type"] == "removed").await;
    assert!(!world.run(&["--list"]).await.contains(&session));
    world.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_codes_say_why_there_is_no_link() {
    let Some(world) = World::new() else { return };
    let nothing = world.command(&["--attach", "--no-start"]).output().await.unwrap();
    assert_eq!(nothing.status.code(), Some(90), "{nothing:?}");
    let mut client = world.attach().await;
    let missing = world.command(&["--attach=none", "--no-start"]).output().await.unwrap();
    assert_eq!(missing.status.code(), Some(90), "{missing:?}");
    client.ping().await;
    process::kill(client.server_pid).unwrap();
    assert_eq!(client.exit_code().await, Some(255));
    nothing_runs(&world.mark, SOON).await;
}

/// A relay of one session: plain commands in, events out.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_followed_as_a_relay() {
    let Some(world) = World::new() else { return };
    let mut client = world.attach().await;
    let session = client.open().await;
    let mut relay = Client::spawn(world.command(&[&format!("--attach={session}")]));
    relay.send(json!({"type": "prompt", "text": "SAY through the relay"})).await;
    let answer = relay.until("answer", is_answer).await;
    assert_eq!(text_of(&answer["item"]["body"]), "through the relay");
    relay.until("end of the turn", is_turn_end).await;
    relay.close_input();
    assert_eq!(relay.exit_code().await, Some(0));
    client.ping().await;
    // Without a server, the session is saved, and following it starts one.
    let pid = client.server_pid;
    process::kill(pid).unwrap();
    assert_eq!(client.exit_code().await, Some(255));
    nothing_runs(&world.mark, SOON).await;
    let mut relay = Client::spawn(world.command(&[&format!("--attach={session}")]));
    let snapshot = relay.until("snapshot", |line| line["type"] == "snapshot").await;
    assert!(snapshot.to_string().contains("through the relay"));
    let client = world.attach().await;
    world.end(client).await;
}

/// A flood of pieces through the server and through the plain relay, in turn. `DESKBELL_EVENTS=100000` measures more.
#[tokio::test(flavor = "multi_thread")]
async fn the_server_keeps_up_with_the_plain_relay() {
    let Some(world) = World::new() else { return };
    let client = keeps_up(&world, || world.attach()).await;
    world.end(client).await;
}

/// Compares clients that connect in this way with the plain relay of the world. Returns the last client.
async fn keeps_up(world: &World, attach: impl AsyncFn() -> Client) -> Client {
    let n_pieces = std::env::var("DESKBELL_EVENTS").map_or(20_000, |n| n.parse().unwrap());
    let mut ratios = Vec::new();
    // One undisturbed round is enough: other processes can only slow the server down.
    while ratios.len() < ROUNDS && ratios.iter().all(|ratio| *ratio < LEAST_RATIO) {
        let script = format!("STREAM {n_pieces} \\n\\nx");
        let mut plain = Client::spawn(world.relay());
        plain.send(json!({"type": "prompt", "text": script})).await;
        let plain_took = until_turn_end(&mut plain).await;
        plain.close_input();
        assert_eq!(plain.exit_code().await, Some(0));
        let mut client = attach().await;
        let session = client.open().await;
        client.attach(&session, None).await;
        client.until("snapshot", |line| line["type"] == "snapshot").await;
        client.prompt(&session, &session, &script).await;
        let served_took = until_turn_end(&mut client).await;
        client.kill().await;
        ratios.push(plain_took.as_secs_f64() / served_took.as_secs_f64());
    }
    println!("{n_pieces} pieces through the server, compared with the plain relay: {ratios:.2?}");
    assert!(ratios.iter().any(|ratio| *ratio >= LEAST_RATIO), "{ratios:?}");
    attach().await
}

async fn until_turn_end(client: &mut Client) -> Duration {
    let began_at = Instant::now();
    let end = timeout(Duration::from_secs(500), async { while !is_turn_end(&client.next().await) {} });
    end.await.unwrap();
    began_at.elapsed()
}

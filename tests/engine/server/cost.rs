//! The cost of a connection over real ssh: latency of events beside a client on the same machine, and wake-ups at rest.
//!
//! `cargo xtask bench ssh` runs these with the throughput of 100,000 events.

use super::far::Far;
use super::is_turn_end;
use crate::life::{DEADLINE, MARK};
use crate::server::world::Client;
use deskbell_tests::window::{eventually, holds_for, processes_with};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The latency that ssh may add at the 95th percentile: one frame.
const FRAME: Duration = Duration::from_micros(16_667);

/// Rounds for the latency. One undisturbed round is enough: other processes can only make it worse.
const ROUNDS: usize = 3;

/// How long the connection is at rest, and the pings after that.
const REST: Duration = Duration::from_secs(10);
const N_PINGS: u64 = 10;

/// A connection that was used is at rest after this time.
const SETTLES: Duration = Duration::from_secs(11);

/// The voluntary context switches that a ping may cost in one process.
const MOST_PER_PING: u64 = 30;

/// Reads events until the end of the turn. Returns when each arrived.
async fn arrivals(mut client: Client) -> (Client, BTreeMap<u64, Instant>) {
    let mut arrived = BTreeMap::new();
    loop {
        let line = client.next().await;
        if let Some(seq) = line["seq"].as_u64() {
            arrived.insert(seq, Instant::now());
        }
        if is_turn_end(&line) {
            return (client, arrived);
        }
    }
}

fn quantile(sorted: &[Duration], part: usize) -> Duration {
    sorted[(sorted.len() * part).div_ceil(100) - 1]
}

#[tokio::test(flavor = "multi_thread")]
async fn events_arrive_within_a_frame_of_a_near_client_over_real_ssh() {
    let Some(far) = Far::by_ssh("").await else { return };
    let (mut near, mut there) = (far.world.attach().await, far.attach().await);
    let session = near.open().await;
    near.attach(&session, None).await;
    there.attach(&session, None).await;
    let mut p95 = Vec::new();
    while p95.len() < ROUNDS && p95.iter().all(|one| *one > FRAME) {
        near.prompt(&session, &format!("p{}", p95.len()), "SLOW 5 600 word").await;
        let both = async { tokio::join!(tokio::spawn(arrivals(near)), tokio::spawn(arrivals(there))) };
        let (one, other) = timeout(DEADLINE, both).await.expect("the turn ends");
        let (here, over_ssh);
        ((near, here), (there, over_ssh)) = (one.unwrap(), other.unwrap());
        let added = |seq: &u64, at: &Instant| Some(over_ssh.get(seq)?.saturating_duration_since(*at));
        let mut later: Vec<Duration> = here.iter().filter_map(|(seq, at)| added(seq, at)).collect();
        later.sort();
        assert!(later.len() >= 200, "both got the events: {}", later.len());
        println!(
            "{} events over ssh arrive later by {:?} (median), {:?} (p95)",
            later.len(),
            quantile(&later, 50),
            quantile(&later, 95)
        );
        p95.push(quantile(&later, 95));
    }
    assert!(p95.iter().any(|one| *one <= FRAME), "{p95:?}");
    drop(near);
    far.end(there).await;
}

/// The voluntary context switches of each thread of Deskbell's processes there, by the job of the process.
type Switches = BTreeMap<(&'static str, u32), u64>;

fn switches(mark: &str) -> Switches {
    let mut found = Switches::new();
    for process in processes_with(MARK, mark) {
        let job = match process.command_line.as_str() {
            line if line.contains("--serve") => "server",
            line if line.contains("--attach") => "attached",
            _ => continue,
        };
        let tasks = std::fs::read_dir(format!("/proc/{}/task", process.pid)).into_iter().flatten().flatten();
        for task in tasks {
            let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
            let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            let name = task.file_name().to_str().and_then(|name| name.parse().ok());
            if let (Some(thread), Some(count)) = (name, count.and_then(|count| count.trim().parse().ok())) {
                found.insert((job, thread), count);
            }
        }
    }
    found
}

/// Waits until the switches are the same for so long, at least in two looks, and returns them.
async fn unchanged_for(span: Duration, mark: &str) -> Switches {
    let (mut last, mut since) = (switches(mark), Instant::now());
    let is_unchanged = async || {
        let now = switches(mark);
        if now == last {
            return Ok((since.elapsed() >= span).then_some(now));
        }
        (last, since) = (now, Instant::now());
        Ok(None)
    };
    eventually("no thread there is woken any more", DEADLINE.max(span * 4), is_unchanged).await.unwrap()
}

/// How often threads of this job were woken between the two.
fn woken(before: &Switches, after: &Switches, job: &str) -> u64 {
    let own = after.iter().filter(|((of, _), _)| *of == job);
    own.map(|(thread, count)| count - before.get(thread).unwrap_or(&0)).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_at_rest_wakes_nothing_but_for_pings_over_real_ssh() {
    let Some(far) = Far::by_ssh("").await else { return };
    let mut client = far.attach().await;
    let session = client.open().await;
    client.attach(&session, None).await;
    client.prompt(&session, "p", "SAY done").await;
    client.until("the end of the turn", is_turn_end).await;
    let mark = far.world.mark.clone();
    // Threads for files end 10 s after their last one.
    let rested = unchanged_for(SETTLES, &mark).await;
    let is_at_rest = async || Ok(switches(&mark) == rested);
    holds_for("no thread there is woken", REST, is_at_rest).await.unwrap();
    let mut pinged = rested.clone();
    for _ in 0..N_PINGS {
        client.ping().await;
        // What one ping woke is over before the next.
        pinged = unchanged_for(Duration::ZERO, &mark).await;
    }
    for job in ["server", "attached"] {
        let by_pings = woken(&rested, &pinged, job);
        println!("{job}: no wake-up in {REST:?} at rest, {by_pings} for {N_PINGS} pings");
        assert!(by_pings > 0 && by_pings <= N_PINGS * MOST_PER_PING, "{job}: {by_pings}");
    }
    far.end(client).await;
}

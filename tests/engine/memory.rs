//! Memory for a very long line, measured on the app as a process of its own.

#![cfg(target_os = "linux")]

use crate::app_killed::{App, app};
use crate::life::MARK;
use crate::program::install_shell_agent;
use deskbell_tests::window::processes_with;
use serde_json::{Value, json};
use std::time::Duration;

const LINE: usize = 63 << 20;

/// The peak memory of the process so far, in bytes.
fn peak(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// The memory for a line with this beginning and end, as a multiple of its bytes.
async fn cost(head: &str, tail: &str) -> Option<f64> {
    let app = app()?;
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("agent");
    let script = format!(
        r#"ready; hear; hear; result; hear
        printf '%s' '{head}'; head -c {LINE} /dev/zero | tr '\0' x; printf '%s\n' '{tail}'
        say behind; result; until_end_of_input"#
    );
    install_shell_agent(&agent, &script);
    let mut app = App::start(app, agent, &[]).await;
    let pid = app.child.id().unwrap();
    app.prompt("a short turn").await;
    app.until("end of a turn", |event| event["type"] == "turnEnded").await;
    let before = peak(pid);
    app.prompt("a long line").await;
    app.until("line behind", |event| event.to_string().contains("behind")).await;
    app.until("end of a turn", |event| event["type"] == "turnEnded").await;
    let cost = (peak(pid) - before) as f64 / LINE as f64;
    app.child.kill().await.unwrap();
    Some(cost)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_line_costs_little_more_than_itself() {
    let Some(cost) = cost(r#"{"type":"of_no_use","text":""#, r#""}"#).await else { return };
    println!("a line of {LINE} bytes costs {cost:.2} times its bytes");
    assert!(cost <= 2.2, "{cost:.2}");
}

/// The line is shown, too: read, kept and sent to subscribers.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_costs_little_more_than_itself_twice() {
    let head = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":""#;
    let Some(cost) = cost(head, r#""}]}}"#).await else { return };
    println!("an answer of {LINE} bytes costs {cost:.2} times its bytes");
    assert!(cost <= 2.2, "{cost:.2}");
}

/// A request with a large input costs its bytes a few times, in events and in memory: the row has the content as lines, and the
/// request has the input as the agent wrote it.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_request_costs_its_bytes_a_few_times() {
    const INPUT: usize = 4 << 20;
    /// Bytes of events for each byte of the input: 2.1 at 30 MB, as at 6 MB.
    const MOST_TIMES: f64 = 3.0;
    /// Bytes of memory at the peak for each byte of the input, with lines of about 40 bytes: 27 at 6 MB.
    const MOST_MEMORY: f64 = 45.0;
    let Some(app) = app() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (agent, lines) = (folder.path().join("agent"), folder.path().join("lines"));
    let content = "    let value = next(values)?; // a line\n".repeat(INPUT / 40);
    let input = json!({"file_path": "/a/long.txt", "content": content});
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Write", "input": input}]);
    let said = json!({"type": "assistant", "message": {"id": "m1", "content": call}});
    let asked = json!({"subtype": "can_use_tool", "tool_name": "Write", "input": input, "tool_use_id": "t1"});
    let asked = json!({"type": "control_request", "request_id": "r1", "request": asked});
    std::fs::write(&lines, format!("{said}\n{asked}\n")).unwrap();
    let script = format!(
        r#"up_to() {{ while hear; do case "$heard" in *"$1"*) break;; esac; done; }}
        ready; up_to greeting; result; up_to errand; cat '{}'; up_to allow; result; until_end_of_input"#,
        lines.display()
    );
    install_shell_agent(&agent, &script);
    let mut app = App::start(app, agent, &[]).await;
    let pid = app.child.id().unwrap();
    app.prompt("greeting").await;
    app.until("end of a turn", |event| event["type"] == "turnEnded").await;
    let before = peak(pid);
    app.prompt("errand").await;
    let mut n_bytes = 0;
    loop {
        let line = app.line().await;
        n_bytes += line.len();
        let is_kind = |kind: &str| line.contains(&format!(r#""type":"{kind}""#));
        if is_kind("permissionRequested") {
            let (_, shown) = line.split_once(r#""shown":""#).expect("it says what was shown");
            let shown = shown.split('"').next();
            let decision = json!({"type": "allowOnce"});
            let command = json!({"type": "decide", "requestId": "r1", "shown": shown, "decision": decision});
            app.send(&command).await;
        }
        if is_kind("turnEnded") {
            break;
        }
    }
    let times = n_bytes as f64 / INPUT as f64;
    let memory = (peak(pid) - before) as f64 / INPUT as f64;
    println!(
        "a request of {INPUT} bytes costs {times:.2} times its bytes in events, {memory:.1} times in memory"
    );
    assert!(times <= MOST_TIMES, "{times:.2} times its bytes in events");
    assert!(memory <= MOST_MEMORY, "{memory:.1} times its bytes in memory");
    app.child.kill().await.unwrap();
}

/// Bytes that the processes of this app have written so far.
fn written(mark: &str) -> u64 {
    let of = |pid: u32| {
        // A process may be gone by now.
        let io = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
        io.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse::<u64>().ok()).unwrap_or(0)
    };
    processes_with(MARK, mark).iter().map(|process| of(process.pid)).sum()
}

/// With an unread relay the queue is bounded, the agent blocks on its own pipe, and later all of the output arrives.
#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_reader_costs_little_and_loses_nothing() {
    const BACKLOG: usize = 4 << 20;
    const DELTAS: usize = 40_000;
    let Some(app) = app() else { return };
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("agent");
    let event = |event: &str| format!(r#"{{"type":"stream_event","event":{event}}}"#);
    let begin = event(r#"{"type":"message_start","message":{"id":"m"}}"#);
    let block = event(r#"{"type":"content_block_start","index":0,"content_block":{"type":"text"}}"#);
    let delta =
        event(r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word\n\n"}}"#);
    let stop = event(r#"{"type":"message_stop"}"#);
    let script = format!(
        r#"ready; hear; hear; result; hear
        printf '%s\n' '{begin}' '{block}'; yes '{delta}' | head -n {DELTAS}; printf '%s\n' '{stop}'
        result; until_end_of_input"#
    );
    install_shell_agent(&agent, &script);
    let mut app = App::start(app, agent, &[]).await;
    let pid = app.child.id().unwrap();
    app.prompt("a short turn").await;
    app.until("end of a turn", |event| event["type"] == "turnEnded").await;
    let before = peak(pid);
    app.prompt("a flood").await;
    // Idle in the middle of the flood: nothing moved for a second.
    let (mut last, mut n_still) = (0, 0);
    while n_still < 5 {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let now = written(&app.mark);
        n_still = if now == last { n_still + 1 } else { 0 };
        last = now;
    }
    let backlog = peak(pid) - before;
    println!("a stalled reader costs {:.1} MiB", backlog as f64 / (1 << 20) as f64);
    assert!(backlog <= BACKLOG, "{backlog}");
    let whole = |event: &Value| event["type"] == "itemChanged" && event["item"]["body"]["streaming"] == false;
    let item = app.until("whole answer", whole).await;
    assert_eq!(item["item"]["body"]["blocks"].as_array().unwrap().len(), DELTAS);
    app.until("end of a turn", |event| event["type"] == "turnEnded").await;
    app.child.kill().await.unwrap();
}

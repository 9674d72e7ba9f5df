//! What a very long line costs, measured on the app as a process of its own.

#![cfg(target_os = "linux")]

use crate::app_killed::{App, app};
use crate::program::install_shell_agent;

const LINE: usize = 63 << 20;

/// The most memory that the process has had so far, in bytes.
fn peak(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// How many times its bytes a line costs that begins and ends like this.
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

/// It is shown, too: read, kept, and told to whoever listens.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_costs_little_more_than_itself_twice() {
    let head = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":""#;
    let Some(cost) = cost(head, r#""}]}}"#).await else { return };
    println!("an answer of {LINE} bytes costs {cost:.2} times its bytes");
    assert!(cost <= 2.2, "{cost:.2}");
}

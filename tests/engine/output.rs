//! Reading the output of a process.

use crate::life::{DEADLINE, Setup};
use crate::process_output;
use deskbell_agent::AgentEvent;
use deskbell_engine::process::Output;
use tokio::time::timeout;

fn kinds(lines: Vec<AgentEvent>) -> Vec<String> {
    let kind = |line| match line {
        AgentEvent::Unknown { kind } => kind,
        AgentEvent::Unreadable { line, .. } => format!("unreadable: {line}"),
        other => panic!("{other:?}"),
    };
    lines.into_iter().map(kind).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn line_ends_blank_lines_and_a_last_line_without_an_end() {
    let said = b"{\"type\":\"a\"}\r\n\r\n \n\n{\"type\":\"b\"}\n\0\n{\"type\":\"c\"}";
    let setup = Setup::shell("exec cat said").file("said", said);
    let (lines, report) = process_output::all(&mut process_output::start(&setup.launch()()).await).await;
    assert_eq!(kinds(lines), ["a", "b", "unreadable: \0", "c"]);
    assert_eq!(report.code, Some(0));
}

/// A session waits for its agent and for much else: it asks for the next output and is interrupted, again and again.
#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_is_abandoned_loses_nothing() {
    // Lines of up to 150 KB, more than two reads.
    let line = |n: usize| format!("{{\"type\":\"n{n}\",\"pad\":\"{}\"}}\n", "p".repeat(n * n * 15));
    let said: String = (0..100).map(line).collect();
    let expected: Vec<String> = (0..100).map(|n| format!("n{n}")).collect();
    let setup = Setup::shell("exec cat said").file("said", said.as_bytes());
    let mut process = process_output::start(&setup.launch()()).await;
    let (mut lines, mut n_abandoned) = (Vec::new(), 0);
    let report = timeout(DEADLINE, async {
        loop {
            let output = tokio::select! {
                output = process.next_output() => output,
                () = tokio::task::yield_now() => {
                    n_abandoned += 1;
                    continue;
                }
            };
            match output {
                Output::Lines(more) => lines.extend(more.into_iter().map(|heard| heard.inbound)),
                Output::StdinBroken(_) => {}
                Output::Exited(report) => return report,
            }
        }
    });
    let report = report.await.expect("the process ends");
    assert_eq!((report.code, kinds(lines)), (Some(0), expected));
    assert!(n_abandoned > 0, "every wait was at once over");
}

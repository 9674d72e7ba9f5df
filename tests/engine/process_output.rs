//! Output of a process without a session.

use deskbell_agent::AgentEvent;
use deskbell_engine::LocalHost;
use deskbell_engine::api::ExitReport;
use deskbell_engine::launch::{Launch, Start};
use deskbell_engine::process::{Output, Process};
use deskbell_engine::recorder::Recorder;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::life::DEADLINE;

pub async fn start(launch: &Launch) -> Process {
    Process::spawn(Arc::new(LocalHost), launch, &Start::default(), Recorder::default()).await.unwrap()
}

/// All its output, to the end.
pub async fn all(process: &mut Process) -> (Vec<AgentEvent>, ExitReport) {
    let mut lines = Vec::new();
    let ended = timeout(DEADLINE, async {
        loop {
            match process.next_output().await {
                Output::Lines(more) => lines.extend(more.into_iter().map(|heard| heard.inbound)),
                Output::StdinBroken(_) => {}
                Output::Exited(report) => return report,
            }
        }
    });
    let report = ended.await.expect("the exit is told");
    (lines, report)
}

/// Runs each of these to its end, a few in parallel; `judge` checks the output of each. Returns their number.
pub async fn by_each<K: Send + 'static>(
    launches: impl IntoIterator<Item = (K, Launch)>,
    judge: impl Fn(K, Vec<AgentEvent>, ExitReport) + Send + Sync + 'static,
) -> usize {
    let (slots, judge) = (Arc::new(Semaphore::new(8)), Arc::new(judge));
    let mut running = JoinSet::new();
    for (key, launch) in launches {
        let (slots, judge) = (slots.clone(), judge.clone());
        running.spawn(async move {
            let _slot = slots.acquire_owned().await.expect("the slots are never closed");
            let (lines, report) = all(&mut start(&launch).await).await;
            judge(key, lines, report);
        });
    }
    running.join_all().await.len()
}

//! Polling for conditions that have no event: repeated until the condition is true or its deadline passes.

use std::time::Duration;

use anyhow::{Result, bail};
use tokio::time::{Instant, sleep};

/// How long a test waits for a reaction that a user expects at once, before it fails. It promises no time: a machine that
/// does other things may delay each reaction by many seconds, and a test that passes does not wait.
pub const SHORT: Duration = Duration::from_secs(30);
/// The same for the start of an app, the exit of its processes, and turns.
pub const LONG: Duration = Duration::from_secs(90);

/// The first pause between two polls; each is 1.5 times the previous one, up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LAST_PAUSE: Duration = Duration::from_millis(100);

/// Polls `probe` until it returns a value. `what` names it in the failure.
pub async fn eventually<T>(
    what: &str,
    deadline: Duration,
    mut probe: impl AsyncFnMut() -> Result<Option<T>>,
) -> Result<T> {
    let end = Instant::now() + deadline;
    let mut pause = FIRST_PAUSE;
    let mut last = None;
    loop {
        match probe().await {
            Ok(Some(value)) => return Ok(value),
            Ok(None) => {}
            Err(error) => last = Some(error),
        }
        if Instant::now() >= end {
            match last {
                Some(error) => return Err(error.context(format!("not within {deadline:?}: {what}"))),
                None => bail!("not within {deadline:?}: {what}"),
            }
        }
        sleep(pause).await;
        pause = LAST_PAUSE.min(pause.mul_f64(1.5));
    }
}

/// Fails if `probe` returns false at any time during `span`: for events that must not happen.
pub async fn holds_for(
    what: &str,
    span: Duration,
    mut probe: impl AsyncFnMut() -> Result<bool>,
) -> Result<()> {
    let end = Instant::now() + span;
    while Instant::now() < end {
        if !probe().await? {
            bail!("did not hold: {what}");
        }
        sleep(LAST_PAUSE).await;
    }
    Ok(())
}

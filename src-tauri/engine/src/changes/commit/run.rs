//! The run of `git commit` with the user's hooks: its output as it comes, its end, and its cancelling.

use super::super::git::Git;
use crate::api::CommitProblem;
use crate::host::{BoxFuture, Child, Reader};
use crate::probe::Unanswered;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// Bytes of the end of the output that are kept.
const MOST_KEPT: usize = 64 * 1024;

/// Bytes of output that are passed on.
const MOST_SAID: usize = 4 * 1024 * 1024;

/// Time that git has to remove its locks after it was asked to end.
const GRACE: Duration = Duration::from_secs(3);

/// Time that the outputs are read after the exit: a process of a hook may keep them open.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The end of a run.
pub(super) struct GitRun {
    /// Whether git ended with exit code 0.
    pub succeeded: bool,
    pub is_cancelled: bool,
    /// The end of the output.
    pub output: String,
}

/// The output so far: its last bytes, and the number of bytes that were passed on.
struct HookOutput<'a> {
    said: &'a (dyn Fn(&str) + Send + Sync),
    kept: Vec<u8>,
    n_said: usize,
}

impl HookOutput<'_> {
    fn take(&mut self, bytes: &[u8]) {
        if self.n_said < MOST_SAID {
            (self.said)(&String::from_utf8_lossy(bytes));
            self.n_said += bytes.len();
        }
        self.kept.extend_from_slice(bytes);
        let n_over = self.kept.len().saturating_sub(MOST_KEPT);
        self.kept.drain(..n_over);
    }
}

/// Runs git with these arguments and this input until its end or the cancelling. `token` is the run token in its
/// environment, by which a cancelled run ends every process of its hooks.
pub(super) async fn run(
    git: &Git<'_>,
    args: &[&str],
    input: &[u8],
    token: &str,
    said: &(dyn Fn(&str) + Send + Sync),
    cancelled: BoxFuture<'_, ()>,
) -> Result<GitRun, CommitProblem> {
    let failed = |error: std::io::Error| CommitProblem::Git { said: Unanswered::Spawn(error).to_string() };
    let Child { mut stdin, stdout, stderr, signals, mut exit, .. } =
        git.host().spawn(git.started_with(args)).await.map_err(failed)?;
    let mut heard = HookOutput { said, kept: Vec::new(), n_said: 0 };
    let mut talking = Box::pin(async {
        let writing = async move {
            // Git may end before it has read everything; its output has the reason.
            let _ = stdin.write_all(input).await;
            let _ = stdin.shutdown().await;
        };
        tokio::join!(writing, listen(stdout, stderr, &mut heard))
    });
    let mut cancelled = cancelled;
    let mut is_cancelled = false;
    let mut has_talked = false;
    let exited = loop {
        tokio::select! {
            exited = &mut exit => break exited.map_err(failed)?,
            _ = &mut talking, if !has_talked => has_talked = true,
            () = &mut cancelled, if !is_cancelled => {
                is_cancelled = true;
                signals.terminate();
                if let Ok(exited) = timeout(GRACE, &mut exit).await {
                    break exited.map_err(failed)?;
                }
                signals.kill();
            }
        }
    };
    if !has_talked {
        // If the outputs stay open, the part that was read is used.
        let _ = timeout(LAST_WORDS, &mut talking).await;
    }
    drop(talking);
    if is_cancelled {
        git.host().kill_tagged(token);
    }
    let output = String::from_utf8_lossy(&heard.kept).trim_end().to_owned();
    Ok(GitRun { succeeded: exited.code == Some(0), is_cancelled, output })
}

/// Reads both outputs to their ends.
async fn listen(mut stdout: Reader, mut stderr: Reader, heard: &mut HookOutput<'_>) {
    let (mut out, mut err) = (vec![0; 16 * 1024], vec![0; 16 * 1024]);
    let (mut out_ended, mut err_ended) = (false, false);
    while !(out_ended && err_ended) {
        // A broken pipe counts as its end: the exit status has the reason.
        tokio::select! {
            n = stdout.read(&mut out), if !out_ended => match n {
                Ok(n) if n > 0 => heard.take(&out[..n]),
                _ => out_ended = true,
            },
            n = stderr.read(&mut err), if !err_ended => match n {
                Ok(n) if n > 0 => heard.take(&err[..n]),
                _ => err_ended = true,
            },
        }
    }
}

//! Short questions to a program: its output and its exit, within a deadline.
//!
//! The program may hang, print without end, or leave a process with its pipes. None of that delays the caller for
//! longer than the deadline, at which the program and its process group are killed.

use crate::host::{Exited, Host, Program, Reader};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// Bytes that are kept of each output.
const MOST_OUTPUT: usize = 1024 * 1024;

/// How long the outputs are read after the exit: a process that was left may keep them open.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What a program printed before it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub exited: Exited,
    /// At most 1 MiB, also of the error output, unless the caller of [`ask_with`] set another limit.
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// The reason why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    #[error("it could not be started: {0}")]
    Spawn(io::Error),
    #[error("it did not answer within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
}

/// Runs a program to its end, without input.
pub async fn ask(host: &dyn Host, program: Program, limit: Duration) -> Result<Answer, Unanswered> {
    ask_with(host, program, &[], MOST_OUTPUT, limit).await
}

/// Runs a program to its end with this input, and keeps `most_output` bytes of its output.
pub async fn ask_with(
    host: &dyn Host,
    program: Program,
    input: &[u8],
    most_output: usize,
    limit: Duration,
) -> Result<Answer, Unanswered> {
    let asking = async {
        let child = host.spawn(program).await.map_err(Unanswered::Spawn)?;
        let mut stdin = child.stdin;
        let writing = async move {
            // A program that does not read all of its input says so in its answer.
            let _ = stdin.write_all(input).await;
            let _ = stdin.shutdown().await;
        };
        let _end = EndGroup(child.signals);
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut exit = child.exit;
        let exited = {
            let reading = async {
                tokio::join!(
                    writing,
                    read(child.stdout, &mut stdout, most_output),
                    read(child.stderr, &mut stderr, MOST_OUTPUT)
                )
            };
            tokio::pin!(reading);
            tokio::select! {
                _ = &mut reading => exit.await,
                exited = &mut exit => {
                    // Without the end of the outputs, what was read so far is the answer.
                    let _ = timeout(LAST_WORDS, &mut reading).await;
                    exited
                }
            }
        };
        Ok(Answer { exited: exited.map_err(Unanswered::Spawn)?, stdout, stderr })
    };
    timeout(limit, asking).await.unwrap_or(Err(Unanswered::TimedOut(limit)))
}

/// Kills the process group of a program that has not ended when the question is over.
struct EndGroup(std::sync::Arc<dyn crate::host::Signals>);

impl Drop for EndGroup {
    fn drop(&mut self) {
        self.0.kill();
    }
}

/// Reads to the end and keeps the beginning: a full pipe would stop the program.
async fn read(mut from: Reader, kept: &mut Vec<u8>, most: usize) {
    let mut chunk = vec![0; 32 * 1024];
    // An error of a pipe says less than the exit.
    while let Ok(n) = from.read(&mut chunk).await
        && n > 0
    {
        let room = most - kept.len();
        kept.extend_from_slice(&chunk[..n.min(room)]);
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::api::Priority;
    use crate::host::LocalHost;

    const LIMIT: Duration = Duration::from_secs(20);

    async fn sh(script: &str, limit: Duration) -> Result<Answer, Unanswered> {
        let program = Program {
            path: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            folder: "/".into(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            priority: Priority::Normal,
        };
        ask(&LocalHost, program, limit).await
    }

    #[tokio::test]
    async fn both_outputs_and_the_exit_are_the_answer() {
        let answer = sh("echo out; echo err >&2; exit 3", LIMIT).await.unwrap();
        assert_eq!((answer.stdout, answer.stderr), (b"out\n".to_vec(), b"err\n".to_vec()));
        assert_eq!(answer.exited, Exited { code: Some(3), signal: None });
    }

    #[tokio::test]
    async fn input_has_ended_and_output_is_bounded() {
        let answer = sh("cat; head -c 3000000 /dev/zero", LIMIT).await.unwrap();
        assert_eq!(answer.stdout.len(), MOST_OUTPUT);
    }

    #[tokio::test]
    async fn more_input_than_a_pipe_holds_comes_back_whole() {
        let program = Program {
            path: "/bin/cat".into(),
            args: vec![],
            folder: "/".into(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            priority: Priority::Normal,
        };
        let input = vec![b'x'; 3_000_000];
        let answer = ask_with(&LocalHost, program, &input, 2_000_000, LIMIT).await.unwrap();
        assert_eq!(answer.stdout, input[..2_000_000]);
    }

    #[tokio::test]
    async fn a_process_that_keeps_the_output_open_delays_nothing() {
        let answer = sh("echo said; sleep 6 &", Duration::from_secs(5)).await.unwrap();
        assert_eq!(answer.stdout, b"said\n");
    }

    #[tokio::test]
    async fn a_program_that_hangs_is_ended_at_the_limit() {
        let limit = Duration::from_millis(300);
        assert!(matches!(sh("exec sleep 600", limit).await, Err(Unanswered::TimedOut(_))));
    }

    #[tokio::test]
    async fn a_program_that_does_not_exist_says_so() {
        let program = Program {
            path: "/no/such".into(),
            args: vec![],
            folder: "/".into(),
            environment: vec![],
            priority: Priority::Normal,
        };
        assert!(matches!(ask(&LocalHost, program, LIMIT).await, Err(Unanswered::Spawn(_))));
    }
}

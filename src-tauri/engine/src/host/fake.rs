//! A host without processes, for tests: the test plays the part of the process.

use super::{BoxFuture, Child, Exited, Host, Program, Signals};
use std::io;
use std::sync::Arc;
use tokio::io::{DuplexStream, duplex};
use tokio::sync::{mpsc, oneshot, watch};

/// Bytes that a pipe holds.
const PIPE: usize = 64 * 1024;

/// What was asked of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    Spawn(Program),
    Terminate,
    Kill,
    KillTagged(String),
}

/// A process as its own side sees it.
pub struct FakeProcess {
    pub stdin: DuplexStream,
    pub stdout: DuplexStream,
    pub stderr: DuplexStream,
    pub exit: oneshot::Sender<Exited>,
}

type Log = Arc<watch::Sender<Vec<Asked>>>;

/// A host whose processes are played by the receiver of [`FakeHost::new`].
pub struct FakeHost {
    log: Log,
    processes: mpsc::UnboundedSender<FakeProcess>,
    /// A spawn fails with this error.
    pub refuses: Option<io::ErrorKind>,
}

impl FakeHost {
    pub fn new() -> (Self, mpsc::UnboundedReceiver<FakeProcess>) {
        let (processes, spawned) = mpsc::unbounded_channel();
        (Self { log: Log::default(), processes, refuses: None }, spawned)
    }

    /// Everything that was asked, in order.
    pub fn asked(&self) -> Vec<Asked> {
        self.log.borrow().clone()
    }

    /// Waits until this has been asked.
    pub async fn until(&self, asked: &Asked) {
        let mut log = self.log.subscribe();
        log.wait_for(|log| log.contains(asked)).await.expect("the host is there");
    }
}

fn note(log: &Log, asked: Asked) {
    log.send_modify(|log| log.push(asked));
}

impl Host for FakeHost {
    fn spawn(&self, program: Program) -> BoxFuture<'_, io::Result<Child>> {
        Box::pin(async move {
            note(&self.log, Asked::Spawn(program));
            if let Some(kind) = self.refuses {
                return Err(kind.into());
            }
            let (stdin, their_stdin) = duplex(PIPE);
            let (stdout, their_stdout) = duplex(PIPE);
            let (stderr, their_stderr) = duplex(PIPE);
            let (exit, exited) = oneshot::channel();
            let process =
                FakeProcess { stdin: their_stdin, stdout: their_stdout, stderr: their_stderr, exit };
            self.processes.send(process).map_err(|_| io::Error::other("nothing plays the process"))?;
            Ok(Child {
                pid: 1,
                stdin: Box::new(stdin),
                stdout: Box::new(stdout),
                stderr: Box::new(stderr),
                signals: Arc::new(FakeSignals(self.log.clone())),
                exit: Box::pin(async { exited.await.map_err(io::Error::other) }),
            })
        })
    }

    fn kill_tagged(&self, run_token: &str) -> usize {
        note(&self.log, Asked::KillTagged(run_token.to_owned()));
        0
    }
}

struct FakeSignals(Log);

impl Signals for FakeSignals {
    fn terminate(&self) {
        note(&self.0, Asked::Terminate);
    }

    fn kill(&self) {
        note(&self.0, Asked::Kill);
    }
}

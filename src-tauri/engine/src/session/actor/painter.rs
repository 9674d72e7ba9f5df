//! The painter: one thread that highlights code for all sessions. Sessions never wait for it.

use crate::host::local::lower_thread_priority;
use crate::transcript::colours::{Coloured, Uncoloured};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use std::sync::mpsc as blocking;
use tokio::sync::mpsc;

/// A job and the channel for its result. Each session has at most one job in the queue, so jobs do not pile up and
/// sessions take turns.
type Work = (Uncoloured, mpsc::UnboundedSender<Coloured>);

static PAINTER: LazyLock<blocking::Sender<Work>> = LazyLock::new(|| {
    let (sender, receiver) = blocking::channel::<Work>();
    let spawned = std::thread::Builder::new().name("painter".to_owned()).spawn(move || paint(&receiver));
    if let Err(error) = spawned {
        tracing::warn!(%error, "could not start the highlighting thread: code stays plain");
    }
    sender
});

/// Queues a job. `false`: it will never have a result.
pub fn begin(job: Uncoloured, done: mpsc::UnboundedSender<Coloured>) -> bool {
    PAINTER.send((job, done)).is_ok()
}

fn paint(jobs: &blocking::Receiver<Work>) {
    // Text is drawn without colours before they are there, so windows that draw come first.
    lower_thread_priority();
    while let Ok((job, done)) = jobs.recv() {
        let failed = job.failed();
        let coloured = catch_unwind(AssertUnwindSafe(|| job.colour())).unwrap_or_else(|_| {
            tracing::warn!("a highlighter panicked: the code stays plain");
            failed
        });
        // A session that has gone away needs no colours.
        drop(done.send(coloured));
    }
}

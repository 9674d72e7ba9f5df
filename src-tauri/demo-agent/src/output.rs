//! The standard output: one thread writes it from an unbounded queue.
//!
//! Like the real CLI, the agent never blocks on a host that does not read, and a host that is gone does not stop a
//! turn: output that can no longer be written is dropped.

use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use serde_json::Value;

enum WriterTask {
    Bytes(Vec<u8>),
    Flushed(SyncSender<()>),
}

/// A handle for writing lines, shared by all threads.
pub struct LineWriter {
    queue: Sender<WriterTask>,
}

impl LineWriter {
    /// Starts the thread that writes.
    pub fn start() -> Self {
        let (queue, messages) = mpsc::channel();
        thread::spawn(move || write_all(&messages));
        Self { queue }
    }

    /// Writes one value as one line.
    pub fn line(&self, value: &Value) {
        let mut bytes = value.to_string().into_bytes();
        bytes.push(b'\n');
        self.bytes(bytes);
    }

    /// Writes bytes as they are.
    pub fn bytes(&self, bytes: Vec<u8>) {
        // The writer ends only with the process.
        let _ = self.queue.send(WriterTask::Bytes(bytes));
    }

    /// Returns once all earlier output has been passed to the system, or the host is gone.
    pub fn flush(&self) {
        let (done, wait) = mpsc::sync_channel(1);
        if self.queue.send(WriterTask::Flushed(done)).is_ok() {
            let _ = wait.recv();
        }
    }
}

fn write_all(messages: &Receiver<WriterTask>) {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut broken = false;
    while let Ok(first) = messages.recv() {
        let mut next = Some(first);
        // All waiting messages are written at once.
        while let Some(message) = next {
            match message {
                WriterTask::Bytes(bytes) => broken = broken || out.write_all(&bytes).is_err(),
                WriterTask::Flushed(done) => {
                    broken = broken || out.flush().is_err();
                    let _ = done.send(());
                }
            }
            next = messages.try_recv().ok();
        }
        broken = broken || out.flush().is_err();
    }
}

//! The way of the engine's own client to a server: through a process, as over ssh.

use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use deskbell_engine::remote::Dial;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// The line after which a client passes on what the server says.
const CONNECTED: &str = "DESKBELL-RELAY 1";

/// A way to a server, and the ids of the processes that made its connections.
pub struct Dialed {
    pub dial: Dial,
    pub pids: Arc<Mutex<Vec<u32>>>,
}

/// Connects by this command, which is `deskbell relay --attach` in some environment.
pub fn dialed_by(command: impl Fn() -> Command + Send + Sync + 'static) -> Dialed {
    let pids = Arc::<Mutex<Vec<u32>>>::default();
    let known = pids.clone();
    let dial: Dial = Arc::new(move || {
        let child = command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        if let Some(pid) = child.as_ref().ok().and_then(Child::id) {
            known.lock().unwrap_or_else(PoisonError::into_inner).push(pid);
        }
        Box::pin(async move {
            let mut child = child?;
            let (Some(stdout), Some(writer)) = (child.stdout.take(), child.stdin.take()) else {
                return Err(io::Error::other("the client has no pipes"));
            };
            let mut reader = BufReader::new(stdout);
            let mut line = String::new();
            while line.trim_end() != CONNECTED {
                line.clear();
                if reader.read_line(&mut line).await? == 0 {
                    return Err(io::Error::other("the client ended"));
                }
            }
            // It ends with its stdin.
            tokio::spawn(async move { child.wait().await });
            Ok((Box::new(reader) as _, Box::new(writer) as _))
        })
    });
    Dialed { dial, pids }
}

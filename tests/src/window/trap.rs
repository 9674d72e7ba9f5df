//! A listening address that records its connections: for requests that must never be made.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A listener on the loopback interface. It never answers, and ends when it is dropped.
#[derive(Debug)]
pub struct Trap {
    address: SocketAddr,
    caught: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Trap {
    pub async fn set() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let caught: Arc<Mutex<Vec<String>>> = Arc::default();
        let task = tokio::spawn(listen(listener, caught.clone()));
        Ok(Self { address, caught, task })
    }

    /// Its host and port.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// The first line of each connection, in order.
    pub fn caught(&self) -> Vec<String> {
        self.caught.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(listener: TcpListener, caught: Arc<Mutex<Vec<String>>>) {
    let push = |line: String| caught.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    loop {
        let mut connection = match listener.accept().await {
            Ok((connection, _)) => connection,
            // A connection without a readable first line counts as well.
            Err(error) => {
                push(format!("unknown: {error}"));
                continue;
            }
        };
        let mut start = [0; 256];
        // A connection counts even if it sends nothing.
        let len = connection.read(&mut start).await.unwrap_or(0);
        let said = String::from_utf8_lossy(&start[..len]);
        push(said.lines().next().unwrap_or("(silent)").to_owned());
    }
}

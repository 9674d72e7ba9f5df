//! A server in this process that writes the same lines at every connection.

use deskbell_engine::remote::Dial;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{Notify, watch};

/// What the server waits for between two lines.
#[derive(Clone)]
pub enum Pause {
    /// A request of this type.
    Until(&'static str),
    /// The test's word.
    Gate(watch::Receiver<bool>),
}

/// Returns the way to connect to it, and the requests that it has heard. Each pause comes after so many lines.
pub fn server(lines: Vec<Vec<u8>>, pauses: Vec<(usize, Pause)>) -> (Dial, Arc<Mutex<Vec<Value>>>) {
    let heard = Arc::<Mutex<Vec<Value>>>::default();
    let hears = heard.clone();
    let dial: Dial = Arc::new(move || {
        let (near, far) = tokio::io::duplex(64 << 10);
        let (lines, pauses, hears) = (lines.clone(), pauses.clone(), hears.clone());
        let (reader, mut writer) = tokio::io::split(far);
        let is_asked = Arc::new(Notify::new());
        let awaited: Vec<&str> = pauses.iter().filter_map(|(_, pause)| pause.request()).collect();
        let asked = is_asked.clone();
        tokio::spawn(async move {
            for (n_written, line) in lines.into_iter().enumerate() {
                for (_, pause) in pauses.iter().filter(|(after, _)| *after == n_written) {
                    pause.end(&is_asked).await;
                }
                // The client may have given the connection up.
                if writer.write_all(&[line.as_slice(), b"\n"].concat()).await.is_err() {
                    return;
                }
            }
            std::future::pending::<()>().await
        });
        tokio::spawn(async move {
            let mut reader = BufReader::new(reader).lines();
            while let Ok(Some(line)) = reader.next_line().await {
                let request: Value = serde_json::from_str(&line).expect("the client writes JSON");
                if awaited.iter().any(|kind| request["type"] == *kind) {
                    asked.notify_one();
                }
                hears.lock().unwrap().push(request);
            }
        });
        let (reader, writer) = tokio::io::split(near);
        Box::pin(async move { Ok((Box::new(reader) as _, Box::new(writer) as _)) })
    });
    (dial, heard)
}

impl Pause {
    fn request(&self) -> Option<&'static str> {
        match self {
            Self::Until(kind) => Some(kind),
            Self::Gate(_) => None,
        }
    }

    async fn end(&self, is_asked: &Notify) {
        match self {
            Self::Until(_) => is_asked.notified().await,
            // A test that ends without opening it ends the server too.
            Self::Gate(gate) => drop(gate.clone().wait_for(|is_open| *is_open).await),
        }
    }
}

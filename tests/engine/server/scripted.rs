//! A server in this process that writes the same lines at every connection, whatever it is asked.

use deskbell_engine::remote::Dial;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// Returns the way to connect to it, and the requests that it has heard.
pub fn server(lines: Vec<Vec<u8>>) -> (Dial, Arc<Mutex<Vec<Value>>>) {
    let heard = Arc::<Mutex<Vec<Value>>>::default();
    let hears = heard.clone();
    let dial: Dial = Arc::new(move || {
        let (near, far) = tokio::io::duplex(64 << 10);
        let (lines, hears) = (lines.clone(), hears.clone());
        let (reader, mut writer) = tokio::io::split(far);
        tokio::spawn(async move {
            for line in lines {
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
                hears.lock().unwrap().push(serde_json::from_str(&line).expect("the client writes JSON"));
            }
        });
        let (reader, writer) = tokio::io::split(near);
        Box::pin(async move { Ok((Box::new(reader) as _, Box::new(writer) as _)) })
    });
    (dial, heard)
}

//! A connection to a server of this user, as a client has it.

use anyhow::Context;
use deskbell_engine::api::server::{Reply, Request};
use deskbell_server::lines::{MAX_SERVER_LINE, next_server_line};
use deskbell_server::socket::{ReadHalf, Stream, WriteHalf};
use tokio::io::{AsyncWriteExt, BufReader};

/// A connection to a server, by lines.
pub struct Link {
    reader: BufReader<ReadHalf>,
    writer: WriteHalf,
    line: Vec<u8>,
}

impl Link {
    pub fn new(stream: Stream) -> Self {
        let (reader, writer) = stream.into_split();
        Self { reader: BufReader::with_capacity(64 << 10, reader), writer, line: Vec::new() }
    }

    pub async fn send(&mut self, request: &Request) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec(request)?;
        text.push(b'\n');
        self.writer.write_all(&text).await.context("writing to the server")
    }

    /// The next line; `None` after the last one. A future that is dropped keeps what it has read.
    pub async fn next(&mut self) -> anyhow::Result<Option<&[u8]>> {
        let read = next_server_line(&mut self.reader, &mut self.line, MAX_SERVER_LINE).await;
        Ok(read.context("reading from the server")?.then_some(self.line.as_slice()))
    }

    /// The next line that is a reply, and not an event.
    pub async fn reply(&mut self) -> anyhow::Result<Reply> {
        loop {
            let line = self.next().await?.context("the server closed the connection")?;
            if let Ok(reply) = serde_json::from_slice(line) {
                return Ok(reply);
            }
        }
    }
}

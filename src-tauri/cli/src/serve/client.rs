//! One connection of the server: requests in, replies and events out. A slow client holds up only itself.

use super::{Server, lock};
use deskbell_engine::api::server::Request;
use deskbell_server::ClientId;
use deskbell_server::hub::Input;
use deskbell_server::lines::{MAX_LINE, ReadLine, next_line};
use deskbell_server::socket::{ReadHalf, Stream, WriteHalf};
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncWriteExt, BufReader, BufWriter};
use tokio::sync::{Notify, watch};

/// Bytes that are taken for a client at once.
const BUDGET: usize = 64 << 10;

/// Serves a client until it goes, or until the server disconnects it by dropping the sender of `ended`.
pub async fn run(
    server: Arc<Server>,
    client: ClientId,
    stream: Stream,
    more: Arc<Notify>,
    mut ended: watch::Receiver<()>,
) {
    let (reader, writer) = stream.into_split();
    let served = tokio::select! {
        read = read(&server, client, reader) => read,
        written = write(&server, client, writer, &more) => written,
        // An error is the wanted end: the sender was dropped.
        _ = ended.changed() => Ok(()),
    };
    if let Err(error) = served {
        tracing::debug!(%error, ?client, "a connection broke");
    }
    server.disconnected(client);
}

async fn read(server: &Arc<Server>, client: ClientId, reader: ReadHalf) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(BUDGET, reader);
    let mut buffer = Vec::new();
    loop {
        let input = match next_line(&mut reader, &mut buffer, MAX_LINE).await? {
            ReadLine::End => return Ok(()),
            ReadLine::TooLong => {
                Input::unreadable(client, &[], &format!("a line has at most {MAX_LINE} bytes"))
            }
            ReadLine::Line if buffer.trim_ascii().is_empty() => continue,
            ReadLine::Line => match serde_json::from_slice::<Request>(&buffer) {
                Ok(request) => Input::Request(client, request),
                Err(problem) => Input::unreadable(client, &buffer, &problem.to_string()),
            },
        };
        server.step(input);
    }
}

async fn write(server: &Arc<Server>, client: ClientId, writer: WriteHalf, more: &Notify) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(BUDGET, writer);
    loop {
        let (lines, effects) = lock(&server.hub).take(client, BUDGET);
        server.carry_out(effects);
        if lines.is_empty() {
            writer.flush().await?;
            if server.is_leaving() {
                return Ok(());
            }
            more.notified().await;
        }
        for line in lines {
            writer.write_all(&line).await?;
        }
    }
}

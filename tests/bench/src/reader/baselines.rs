//! Other readers of an agent's output, as found in other projects, from the cheapest possible to the most expensive.

use std::borrow::Cow;
use std::io::Read;

use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::sync::mpsc;

/// The needed parts of a line, and no more: borrowed where possible.
#[derive(Deserialize)]
pub struct Flat<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub event: Option<FlatEvent<'a>>,
    #[serde(borrow, default)]
    pub message: Option<FlatMessage<'a>>,
}

#[derive(Deserialize)]
pub struct FlatEvent<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub delta: Option<FlatText<'a>>,
}

#[derive(Deserialize)]
pub struct FlatMessage<'a> {
    #[serde(borrow)]
    pub content: Vec<FlatText<'a>>,
}

#[derive(Deserialize)]
pub struct FlatText<'a> {
    #[serde(borrow, default)]
    pub text: Cow<'a, str>,
}

impl Flat<'_> {
    /// Bytes of text, read so that they are not optimised away.
    pub fn n_text(&self) -> usize {
        let event = self
            .event
            .as_ref()
            .map_or(0, |event| event.kind.len() + event.delta.as_ref().map_or(0, |delta| delta.text.len()));
        let whole = self
            .message
            .as_ref()
            .map_or(0, |message| message.content.iter().map(|part| part.text.len()).sum());
        self.kind.len() + event + whole
    }
}

/// Splits the input into lines, with one buffer for all.
pub fn split(mut from: impl Read, mut each: impl FnMut(&[u8])) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    let mut rest: Vec<u8> = Vec::new();
    loop {
        let n = from.read(&mut buffer)?;
        if n == 0 {
            return Ok(());
        }
        let mut bytes = &buffer[..n];
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            if rest.is_empty() {
                each(&bytes[..end]);
            } else {
                rest.extend_from_slice(&bytes[..end]);
                each(&rest);
                rest.clear();
            }
            bytes = &bytes[end + 1..];
        }
        rest.extend_from_slice(bytes);
    }
}

/// One line per wake-up, each parsed to a `Value` and sent separately.
pub async fn line_by_line(from: impl AsyncRead + Unpin + Send + 'static) -> std::io::Result<usize> {
    let (sender, mut received) = mpsc::channel::<Value>(100);
    let reader = tokio::spawn(async move {
        let mut lines = BufReader::new(from).lines();
        while let Some(line) = lines.next_line().await? {
            if let Ok(value) = serde_json::from_str(&line)
                && sender.send(value).await.is_err()
            {
                break;
            }
        }
        std::io::Result::Ok(())
    });
    let mut n_events = 0;
    while let Some(value) = received.recv().await {
        n_events += usize::from(value.is_object());
    }
    reader.await.map_err(std::io::Error::other)??;
    Ok(n_events)
}

/// `buffer += chunk; split`: an incomplete line is searched again with every chunk.
pub async fn concatenated(mut from: impl AsyncRead + Unpin) -> std::io::Result<usize> {
    let mut chunk = vec![0; 64 * 1024];
    let mut buffer = String::new();
    let mut n_events = 0;
    loop {
        let n = from.read(&mut chunk).await?;
        if n == 0 {
            return Ok(n_events);
        }
        buffer += &String::from_utf8_lossy(&chunk[..n]);
        let mut lines: Vec<String> = buffer.split('\n').map(str::to_owned).collect();
        buffer = lines.pop().unwrap_or_default();
        for line in lines {
            n_events += usize::from(serde_json::from_str::<Value>(&line).is_ok());
        }
    }
}

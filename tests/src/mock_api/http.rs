//! The subset of HTTP/1.1 that the CLI uses: requests with a length or in chunks, kept-open connections, replies in one
//! piece or in chunks.

use std::io::{self, Error, ErrorKind, Write as _};

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::Request;

/// Reads one request; `None` if the peer closed the connection instead.
pub(crate) async fn read_request(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Request>> {
    let Some(start) = read_line(input).await? else { return Ok(None) };
    let mut words = start.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Err(Error::new(ErrorKind::InvalidData, format!("not a request line: {start:?}")));
    };
    let mut headers = Vec::new();
    loop {
        let line = read_line(input).await?.ok_or(ErrorKind::UnexpectedEof)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or(ErrorKind::InvalidData)?;
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request =
        Request { method: method.to_owned(), path: path.to_owned(), headers, body: Value::Null };
    let body = read_body(input, &request).await?;
    request.body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Some(request))
}

async fn read_body(input: &mut (impl AsyncBufRead + Unpin), request: &Request) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if request.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        loop {
            let size = read_line(input).await?.ok_or(ErrorKind::UnexpectedEof)?;
            let size = size.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(size, 16).map_err(|_| ErrorKind::InvalidData)?;
            read_exactly(input, size, &mut body).await?;
            // The line's end after a chunk; after the last one, the end of the (empty) trailer.
            read_line(input).await?;
            if size == 0 {
                return Ok(body);
            }
        }
    }
    if let Some(length) = request.header("content-length") {
        let length = length.parse().map_err(|_| ErrorKind::InvalidData)?;
        read_exactly(input, length, &mut body).await?;
    }
    Ok(body)
}

async fn read_exactly(input: &mut (impl AsyncBufRead + Unpin), n: u64, body: &mut Vec<u8>) -> io::Result<()> {
    let n_read = input.take(n).read_to_end(body).await?;
    if n_read as u64 == n { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

/// A line without its end; `None` at the end of the input.
async fn read_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<String>> {
    let mut line = String::new();
    if input.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(Some(line))
}

/// Sends a whole JSON reply.
pub(crate) async fn send_json(
    output: &mut (impl AsyncWrite + Unpin),
    status: u16,
    headers: &[(&str, String)],
    body: &Value,
) -> io::Result<()> {
    let body = body.to_string();
    let mut reply = Vec::with_capacity(body.len() + 256);
    write!(reply, "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\n", reason(status))?;
    for (name, value) in headers {
        write!(reply, "{name}: {value}\r\n")?;
    }
    write!(reply, "content-length: {}\r\n\r\n{body}", body.len())?;
    output.write_all(&reply).await?;
    output.flush().await
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        529 => "Overloaded",
        _ => "Status",
    }
}

/// A reply of server-sent events, in chunks. Events are buffered until [`EventStream::flush`], or until there are many:
/// a burst of thousands of deltas must not cost a system call each.
pub(crate) struct EventStream<'a, W> {
    output: &'a mut W,
    gathered: Vec<u8>,
}

impl<'a, W: AsyncWrite + Unpin> EventStream<'a, W> {
    const MANY: usize = 64 * 1024;

    pub(crate) async fn begin(output: &'a mut W, headers: &[(&str, String)]) -> io::Result<Self> {
        let mut head = Vec::from(
            *b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n",
        );
        for (name, value) in headers {
            write!(head, "{name}: {value}\r\n")?;
        }
        head.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
        output.write_all(&head).await?;
        Ok(Self { output, gathered: Vec::new() })
    }

    /// Adds an event; its name is its data's `type`, as in the real API.
    pub(crate) async fn push(&mut self, data: &Value) -> io::Result<()> {
        let name = data["type"].as_str().unwrap_or("message");
        write!(self.gathered, "event: {name}\ndata: {data}\n\n")?;
        if self.gathered.len() >= Self::MANY { self.flush().await } else { Ok(()) }
    }

    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        if !self.gathered.is_empty() {
            let size = format!("{:x}\r\n", self.gathered.len());
            self.output.write_all(size.as_bytes()).await?;
            self.gathered.extend_from_slice(b"\r\n");
            self.output.write_all(&self.gathered).await?;
            self.gathered.clear();
        }
        self.output.flush().await
    }

    pub(crate) async fn end(mut self) -> io::Result<()> {
        self.flush().await?;
        self.output.write_all(b"0\r\n\r\n").await?;
        self.output.flush().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[tokio::test]
    async fn requests_follow_each_other_on_one_connection() {
        let mut input: &[u8] =
            b"POST /a?b HTTP/1.1\r\nX-Api-Key: dummy\r\nContent-Length: 7\r\n\r\n{\"a\":1}\
            POST /c HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n4\r\n[1,2\r\n1\r\n]\r\n0\r\n\r\n\
            GET / HTTP/1.1\r\n\r\n";
        let first = read_request(&mut input).await.unwrap().unwrap();
        assert_eq!((first.path.as_str(), first.header("x-api-key")), ("/a?b", Some("dummy")));
        assert_eq!(first.body, json!({"a": 1}));
        assert_eq!(read_request(&mut input).await.unwrap().unwrap().body, json!([1, 2]));
        assert_eq!(read_request(&mut input).await.unwrap().unwrap().body, Value::Null);
        assert!(read_request(&mut input).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_body_cut_short_is_an_error() {
        let mut input: &[u8] = b"POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\n{}";
        assert!(read_request(&mut input).await.is_err());
    }

    #[tokio::test]
    async fn events_are_sent_in_chunks() {
        let mut output = Vec::new();
        let mut events =
            EventStream::begin(&mut output, &[("request-id", "req_1".to_owned())]).await.unwrap();
        events.push(&json!({"type": "ping"})).await.unwrap();
        events.end().await.unwrap();
        let output = String::from_utf8(output).unwrap();
        let (_, body) = output.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, "23\r\nevent: ping\ndata: {\"type\":\"ping\"}\n\n\r\n0\r\n\r\n");
    }
}

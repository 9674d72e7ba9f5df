//! The standard error of MCP servers, in the logs that the agent keeps of them.
//!
//! Each process of the agent writes one file for each server: `<cache>/claude-cli-nodejs/<encoded folder>/mcp-logs-<encoded
//! server>/<time>.jsonl`. A line has `error` or `debug`, `timestamp`, `sessionId` and `cwd` (2.1.197 and 2.1.329). Once a
//! server is connected, the agent drops what it writes.

use serde::Deserialize;

/// The beginnings of the texts that quote a server. 2.1.329 starts a server again that ends before it answers.
const MARKS: [&str; 2] = ["Server stderr: ", "stderr of the stdio server before restarting it: "];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line {
    error: Option<String>,
    debug: Option<String>,
    session_id: Option<String>,
}

/// What a log says about one conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerLog {
    /// No line of it is about the conversation.
    Other,
    /// The last text of the server's standard error; empty if the server wrote none.
    Stderr(String),
}

/// Reads a log, or the end of one. Lines that cannot be read are skipped.
pub fn read(log: &[u8], conversation: &str) -> ServerLog {
    let lines = log.split(|byte| *byte == b'\n').rev();
    let read = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok());
    let mut own = read.filter(|line| line.session_id.as_deref() == Some(conversation)).peekable();
    if own.peek().is_none() {
        return ServerLog::Other;
    }
    let quoted = |text: String| MARKS.iter().find_map(|mark| text.strip_prefix(mark).map(str::to_owned));
    ServerLog::Stderr(own.find_map(|line| quoted(line.error.or(line.debug)?)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = concat!(
        r#"{"debug":"Starting connection with timeout of 30000ms","sessionId":"a","cwd":"/p"}"#,
        "\n",
        r#"{"debug":"stderr of the stdio server before restarting it: first\n","sessionId":"a","cwd":"/p"}"#,
        "\n",
        r#"{"error":"Server stderr: no \u001b[31mkey\u001b[0m\n","sessionId":"a","cwd":"/p"}"#,
        "\n",
        r#"{"error":"Connection failed (CONNECTION_CLOSED): Connection closed","sessionId":"a","cwd":"/p"}"#,
        "\n",
        r#"{"debug":"Starting connection","sessionId":"b","cwd":"/p"}"#,
        "\n{\"error\":\"Server stderr: cut",
    );

    #[test]
    fn the_last_text_of_the_conversation_is_read() {
        let stderr = |text: &str| ServerLog::Stderr(text.to_owned());
        assert_eq!(read(LOG.as_bytes(), "a"), stderr("no \u{1b}[31mkey\u{1b}[0m\n"));
        assert_eq!(read(LOG.as_bytes(), "b"), stderr(""), "the server wrote nothing");
        assert_eq!(read(LOG.as_bytes(), "c"), ServerLog::Other);
        let second_line_last = LOG.lines().take(2).collect::<Vec<_>>().join("\n");
        assert_eq!(read(second_line_last.as_bytes(), "a"), stderr("first\n"));
        for broken in ["", "{", "\u{0}", "[]\n7\nnull", r#"{"error":7,"sessionId":"a"}"#] {
            assert_eq!(read(broken.as_bytes(), "a"), ServerLog::Other, "{broken:?}");
        }
    }
}

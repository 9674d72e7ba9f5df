//! A bare child of the CLI on pipes, without Deskbell: the reference for the mock API and the world, and the baseline
//! for measurements of Deskbell.

use std::process::{ExitStatus, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::World;
use crate::wait::LONG;

/// A running child and all its output so far.
pub struct CliChild {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: JoinHandle<String>,
    /// Every line, in order.
    pub heard: Vec<Value>,
}

impl CliChild {
    /// Starts it as Deskbell does, followed by `arguments`.
    pub fn spawn(world: &World, arguments: &[&str]) -> Result<Self> {
        let mut command = world.command(&world.cli.program);
        command.args(["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]);
        command.args(["--include-partial-messages", "--permission-prompt-tool", "stdio"]);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("starting the CLI")?;
        let stdout = child.stdout.take().context("its stdout is a pipe")?;
        let mut stderr = child.stderr.take().context("its stderr is a pipe")?;
        let stderr = tokio::spawn(async move {
            let mut text = Vec::new();
            // Best effort: the text is used only in messages.
            let _ = stderr.read_to_end(&mut text).await;
            String::from_utf8_lossy(&text).into_owned()
        });
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, stdout: BufReader::new(stdout).lines(), stderr, heard: Vec::new() })
    }

    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    pub async fn send(&mut self, line: &Value) -> Result<()> {
        let stdin = self.stdin.as_mut().context("its stdin is closed")?;
        stdin.write_all(format!("{line}\n").as_bytes()).await?;
        stdin.flush().await.context("writing to the CLI")
    }

    pub async fn prompt(&mut self, text: &str) -> Result<()> {
        let message = json!({"role": "user", "content": text});
        let uuid = uuid::Uuid::new_v4();
        self.send(&json!({"type": "user", "uuid": uuid, "origin": {"kind": "human"}, "message": message}))
            .await
    }

    /// Sends a control request and returns the reply's `response`.
    pub async fn ask(&mut self, request_id: &str, request: Value) -> Result<Value> {
        self.send(&json!({"type": "control_request", "request_id": request_id, "request": request})).await?;
        let is_reply =
            |line: &Value| line["type"] == "control_response" && line["response"]["request_id"] == request_id;
        let reply = self.next(&format!("the reply to {request_id}"), is_reply).await?;
        Ok(reply["response"].clone())
    }

    /// Answers a permission request.
    pub async fn answer(&mut self, request_id: &Value, answer: Value) -> Result<()> {
        let response = json!({"subtype": "success", "request_id": request_id, "response": answer});
        self.send(&json!({"type": "control_response", "response": response})).await
    }

    /// Reads up to the next line that matches.
    pub async fn next(&mut self, what: &str, matching: impl Fn(&Value) -> bool) -> Result<Value> {
        let found = timeout(LONG, async {
            while let Some(line) = self.stdout.next_line().await? {
                let line: Value = serde_json::from_str(&line).with_context(|| format!("not JSON: {line}"))?;
                self.heard.push(line.clone());
                if matching(&line) {
                    return Ok(Some(line));
                }
            }
            anyhow::Ok(None)
        });
        match found.await {
            Ok(Ok(Some(line))) => Ok(line),
            Ok(Ok(None)) => {
                let stderr = (&mut self.stderr).await.unwrap_or_default();
                bail!("the CLI ended before {what}; stderr:\n{stderr}")
            }
            Ok(Err(error)) => Err(error),
            Err(_) => bail!("no {what} within {LONG:?}; heard:\n{}", self.transcript()),
        }
    }

    /// Reads up to the end of the turn.
    pub async fn result(&mut self) -> Result<Value> {
        self.next("the result of the turn", |line| line["type"] == "result").await
    }

    /// Closes its stdin and waits for its exit. An error of the last turn is the exit code of the process.
    pub async fn close(mut self) -> Result<ExitStatus> {
        drop(self.stdin.take());
        let ended = async {
            while self.stdout.next_line().await?.is_some() {}
            anyhow::Ok(self.child.wait().await?)
        };
        timeout(LONG, ended).await.context("the CLI did not end when its input did")?
    }

    fn transcript(&self) -> String {
        let lines: Vec<String> =
            self.heard.iter().map(|line| line.to_string().chars().take(300).collect()).collect();
        lines.join("\n")
    }
}

//! A client of a server in a world of the real CLI.

use anyhow::{Context, Result, ensure};
use deskbell_tests::real_cli::{World, process};
use deskbell_tests::relay::{DEADLINE, app};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::timeout;

/// A client of a server in a world.
pub struct Client {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    server: u32,
}

impl Client {
    pub async fn start(world: &World) -> Result<Self> {
        let mut command = world.command(&app()?);
        command.args(["relay", "--attach"]).env("XDG_DATA_HOME", world.root().join("data"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take().context("a pipe")?;
        let lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
        let mut client = Self { child, stdin, lines, server: 0 };
        let hello = client.line(|line| line["type"] == "hello").await?;
        client.server = hello["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).context("a pid")?;
        Ok(client)
    }

    pub async fn send(&mut self, line: &Value) -> Result<()> {
        Ok(self.stdin.write_all(format!("{line}\n").as_bytes()).await?)
    }

    /// The next line of this kind.
    pub async fn line(&mut self, is_it: impl Fn(&Value) -> bool) -> Result<Value> {
        let mut passed = Vec::new();
        let found = timeout(DEADLINE, async {
            loop {
                let text = self.lines.next_line().await?.context("the client ended")?;
                let Ok(line) = serde_json::from_str::<Value>(&text) else { continue };
                passed.push(text);
                ensure!(line["type"] != "refused", "{line}");
                if is_it(&line) {
                    return Ok(line);
                }
            }
        });
        found.await.with_context(|| format!("no such line in time, but:\n{}", passed.join("\n")))?
    }

    /// Ends the server, too.
    pub async fn end(mut self) -> Result<()> {
        let server = i32::try_from(self.server).ok().and_then(Pid::from_raw).context("a pid")?;
        kill_process(server, Signal::TERM)?;
        process::ended(self.server, DEADLINE).await?;
        self.child.wait().await?;
        Ok(())
    }
}

//! Downloads by the system's `curl`, because no crate of Deskbell opens connections to other computers. The user's proxy
//! and certificates are those of curl: its environment stays, without what is meant for Deskbell.

use crate::output::plain;
use anyhow::{Context, bail};
use deskbell_engine::launch::Launch;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// Timeout for a connection.
const CONNECT: Duration = Duration::from_secs(30);

/// A transfer ends if it is slower than one byte a second for this time.
const STALL: Duration = Duration::from_secs(60);

/// Curl has its own timeout. After this additional time it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// Maximum length of curl's error, in bytes.
const LONGEST_ERROR: u64 = 1_000;

/// The program.
pub struct Curl {
    program: PathBuf,
}

impl Curl {
    /// Finds it in absolute folders of PATH: a program of the current folder is never started.
    pub fn find(path: Option<&OsStr>) -> Option<Self> {
        let folders = std::env::split_paths(path?).filter(|folder| folder.is_absolute());
        let mut programs = folders.map(|folder| folder.join("curl"));
        programs.find(|program| program.is_file()).map(|program| Self { program })
    }

    /// The file at an address, complete. More than `limit` bytes are an error, whatever the server says before.
    pub async fn fetch(&self, url: &str, limit: u64, timeout: Duration) -> anyhow::Result<Vec<u8>> {
        let timeout = timeout_of(timeout);
        let seconds = |duration: Duration| duration.as_secs().max(1).to_string();
        let mut command = Command::new(&self.program);
        command
            // Only as the first argument it keeps ~/.curlrc out, which could turn the checks of TLS off.
            .arg("--disable")
            .args(["--proto", "=https", "--proto-redir", "=https", "--tlsv1.2", "--globoff"])
            .args(["--fail", "--silent", "--show-error", "--location", "--max-redirs", "5"])
            .args(["--connect-timeout", &seconds(CONNECT.min(timeout)), "--max-time", &seconds(timeout)])
            .args(["--speed-limit", "1", "--speed-time", &seconds(STALL.min(timeout))])
            .args(["--max-filesize", &limit.to_string()])
            .args(["--url", url])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        for (name, _) in std::env::vars_os() {
            if Launch::is_private(&name) {
                command.env_remove(&name);
            }
        }
        let fetched = async {
            let mut child = command.spawn()?;
            let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
                return Err(std::io::Error::other("curl has no pipes"));
            };
            let (mut bytes, mut error) = (Vec::new(), Vec::new());
            // Older versions of curl apply --max-filesize only to a length that the server has announced. The pipes are
            // closed after their limits, so a curl with more to write ends.
            let read = async { stdout.take(limit.saturating_add(1)).read_to_end(&mut bytes).await };
            let read_error = async { stderr.take(LONGEST_ERROR).read_to_end(&mut error).await };
            let (read, read_error) = tokio::join!(read, read_error);
            read?;
            read_error?;
            Ok((child.wait().await?, bytes, String::from_utf8_lossy(&error).into_owned()))
        };
        let Ok(fetched) = tokio::time::timeout(timeout + GRACE, fetched).await else {
            bail!("{url} could not be downloaded: curl did not end in time.");
        };
        let (status, bytes, error) =
            fetched.with_context(|| format!("{} could not be started", self.program.display()))?;
        if bytes.len() as u64 > limit {
            bail!("{url} could not be downloaded: it has more than {limit} bytes.");
        }
        if !status.success() {
            let said = error.trim().strip_prefix("curl: ").unwrap_or(error.trim()).trim_end_matches('.');
            bail!("{url} could not be downloaded, because curl failed: {}.", plain(said));
        }
        Ok(bytes)
    }
}

/// The timeout of a download. Only a debug build can have another one, for tests.
fn timeout_of(timeout: Duration) -> Duration {
    #[cfg(debug_assertions)]
    if let Some(seconds) =
        std::env::var("DESKBELL_TEST_UPDATE_SECONDS").ok().and_then(|seconds| seconds.parse().ok())
    {
        return Duration::from_secs(seconds);
    }
    timeout
}

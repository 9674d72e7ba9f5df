//! The standard error of an MCP server that is not connected, from the agent's log of it.

use crate::api::{CommandError, ErrorCode, TaskOutput};
use crate::claude::server_log::{self, ServerLog};
use crate::disk::{self, ReadError};
use crate::history::encoded;
use crate::transcript::output::terminal_lines;
use std::path::{Path, PathBuf};

/// The end of a log that is read, in bytes. The text of a server is one line of it.
const READ: u64 = 1 << 20;
/// The end of a server's text that is shown, in bytes.
const SHOWN: usize = 64 << 10;
/// Entries of the folder of logs. The agent keeps one file for each of its processes.
const MOST_LOGS: usize = 10_000;
/// The newest logs that are read: as many agents may work in the folder at once.
const NEWEST: usize = 8;

/// Reads the log of the newest process of this conversation.
pub async fn read(
    project: PathBuf,
    conversation: String,
    server: String,
) -> Result<Option<TaskOutput>, CommandError> {
    let Some(cache) = cache() else { return Ok(None) };
    read_below(cache, project, conversation, server).await
}

async fn read_below(
    cache: PathBuf,
    project: PathBuf,
    conversation: String,
    server: String,
) -> Result<Option<TaskOutput>, CommandError> {
    let failed = |problem: String| CommandError {
        code: ErrorCode::Refused,
        message: "The agent's log of this server could not be read.".to_owned(),
        detail: Some(problem),
    };
    let place = cache.clone();
    let find = move || {
        let project = dunce::canonicalize(&project).unwrap_or(project);
        let folder = cache
            .join(encoded(&project.to_string_lossy()).0)
            .join(format!("mcp-logs-{}", encoded(&server).0));
        last_text(&folder, &conversation)
    };
    let text = disk::run(&place, disk::DEADLINE, find).await?.map_err(|error| failed(error.to_string()))?;
    let Some(text) = text else { return Ok(None) };
    let begin = begin_of_end(&text);
    let lines = tokio::task::spawn_blocking(move || terminal_lines(&text[begin..])).await;
    Ok(Some(TaskOutput { lines: lines.map_err(|error| failed(error.to_string()))?, is_cut: begin > 0 }))
}

/// The text of the newest log that is about the conversation; `None` if there is none.
fn last_text(folder: &Path, conversation: &str) -> Result<Option<String>, ReadError> {
    let listing = match disk::list(folder, MOST_LOGS) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        listing => listing?,
    };
    // The names are times, so their order is that of the processes.
    let mut logs = listing.paths;
    logs.sort_unstable_by(|one, other| other.cmp(one));
    for log in logs.into_iter().take(NEWEST) {
        match disk::read_own_end(&log, READ) {
            Ok(end) => {
                if let ServerLog::Stderr(text) = server_log::read(&end.bytes, conversation) {
                    return Ok(Some(text));
                }
            }
            // It was removed meanwhile.
            Err(error) if error.is_missing() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Where the shown end of a text begins: at a line, if it is cut.
fn begin_of_end(text: &str) -> usize {
    let Some(cut) = text.len().checked_sub(SHOWN).filter(|cut| *cut > 0) else { return 0 };
    let cut = text.ceil_char_boundary(cut);
    text[cut..].find('\n').map_or(cut, |line| cut + line + 1)
}

/// The folder of the agent's logs (env-paths 3, as 2.1.197 and 2.1.329 have it).
fn cache() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || folder("HOME");
    const NAME: &str = "claude-cli-nodejs";
    if cfg!(windows) {
        Some(folder("LOCALAPPDATA")?.join(NAME).join("Cache"))
    } else if cfg!(target_os = "macos") {
        Some(home()?.join("Library/Caches").join(NAME))
    } else {
        Some(folder("XDG_CACHE_HOME").or_else(|| Some(home()?.join(".cache")))?.join(NAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct World {
        scratch: tempfile::TempDir,
    }

    impl World {
        fn new() -> Self {
            let world = Self { scratch: tempfile::tempdir().unwrap() };
            fs::create_dir(world.project()).unwrap();
            fs::create_dir_all(world.logs()).unwrap();
            world
        }

        fn project(&self) -> PathBuf {
            dunce::canonicalize(self.scratch.path()).unwrap().join("project")
        }

        fn cache(&self) -> PathBuf {
            self.scratch.path().join("cache")
        }

        fn logs(&self) -> PathBuf {
            self.cache().join(encoded(&self.project().to_string_lossy()).0).join("mcp-logs-my-db")
        }

        fn write(&self, time: &str, conversation: &str, stderr: &str) {
            let line =
                serde_json::json!({"error": format!("Server stderr: {stderr}"), "sessionId": conversation});
            fs::write(self.logs().join(format!("{time}.jsonl")), format!("{line}\n")).unwrap();
        }

        async fn read(&self, conversation: &str) -> Result<Option<(Vec<String>, bool)>, CommandError> {
            let (cache, project) = (self.cache(), self.project());
            let read = read_below(cache, project, conversation.to_owned(), "my db".to_owned()).await?;
            Ok(read.map(|TaskOutput { lines, is_cut }| {
                let text = |line: crate::api::CodeLine| {
                    line.tokens.iter().map(|token| token.text.as_str()).collect::<String>()
                };
                (lines.into_iter().map(text).collect(), is_cut)
            }))
        }
    }

    #[tokio::test]
    async fn the_newest_log_of_the_conversation_is_shown() {
        let world = World::new();
        assert_eq!(world.read("a").await, Ok(None));
        world.write("2026-11-25T10-00-00-000Z", "a", "earlier");
        world.write("2026-11-25T11-00-00-000Z", "a", "\u{1b}[31mno key\u{1b}[0m\r\nset KEY\u{7}");
        world.write("2026-11-25T12-00-00-000Z", "b", "another session");
        let (lines, is_cut) = world.read("a").await.unwrap().unwrap();
        assert_eq!((lines[0].as_str(), is_cut), ("no key", false), "colours are no text");
        assert!(lines[1].starts_with("set KEY"), "{lines:?}");
        assert_eq!(world.read("c").await, Ok(None));
        assert_eq!(world.read("b").await.unwrap().unwrap().0, ["another session"]);
    }

    #[tokio::test]
    async fn only_the_end_of_a_long_text_is_shown() {
        let world = World::new();
        let text: String = (0..20_000).map(|nr| format!("line {nr} é\n")).collect();
        world.write("2026-11-25T10-00-00-000Z", "a", &text);
        let (lines, is_cut) = world.read("a").await.unwrap().unwrap();
        assert!(is_cut && lines.len() < 6_000, "{}", lines.len());
        assert!(lines[0].starts_with("line ") && lines[0].ends_with('é'), "{}", lines[0]);
        assert_eq!(lines.last().map(String::as_str), Some("line 19999 é"));
    }

    /// A name of a server is no way out of the folder of logs, and a link is not followed.
    #[cfg(unix)]
    #[tokio::test]
    async fn nothing_else_is_read() {
        let world = World::new();
        let secret = world.scratch.path().join("secret");
        let line = serde_json::json!({"error": "Server stderr: secret", "sessionId": "a"}).to_string();
        fs::write(&secret, line).unwrap();
        std::os::unix::fs::symlink(&secret, world.logs().join("2026-11-25T10-00-00-000Z.jsonl")).unwrap();
        let error = world.read("a").await.unwrap_err();
        assert_eq!(error.message, "The agent's log of this server could not be read.");
        let (cache, project) = (world.cache(), world.project());
        let out = read_below(cache, project, "a".to_owned(), "../../../../secret".to_owned()).await;
        assert_eq!(out, Ok(None));
    }
}

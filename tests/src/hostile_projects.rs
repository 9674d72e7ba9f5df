//! Hostile project folders: they run something, send a key elsewhere or widen permissions as soon as an agent starts
//! there.
//!
//! They are in `tests/hostile/projects`. Files that version control cannot carry (a pipe, a link out of the folder, a
//! very large file) are made here. Their commands do no harm: each creates a file `ran-…` in its working folder.
//! Addresses in them name `TRAP`, which is replaced by a listening one.
//!
//! The engine's own tests include this file, so it uses only the standard library.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The host of every address in the corpus.
const TRAP: &str = "trap.invalid";

/// A folder and its expected effects.
pub struct HostileProject {
    pub name: &'static str,
    /// The folder to open, relative to the one that is built.
    pub open: &'static str,
    /// The findings of a survey: kinds in the order in which they are shown, each once.
    pub finds: &'static [&'static str],
    /// Can all of it be judged?
    pub is_judged: bool,
    /// The effects of the CLI without limits there when it is given `prompts`, a turn for each (2.1.329).
    pub unlimited: Effect,
    pub prompts: &'static [&'static str],
    /// The folders of a group can be one: their settings and servers add up.
    pub group: Option<&'static str>,
    make: fn(&Path) -> io::Result<()>,
}

/// A visible effect of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A file `ran-…` appears.
    Runs,
    /// A request reaches an address that the folder names.
    Calls,
    /// The session starts in this permission mode.
    Mode(&'static str),
    /// Nothing: the CLI ignores it as well, or needs more than `-p` for it.
    Nothing,
}

/// Every folder.
pub fn all() -> Vec<HostileProject> {
    let hook = |name| project(name, &["hook"], Effect::Runs);
    let odd_hook = |name, effect| project(name, &["hook", "oddity"], effect);
    let server = |name, effect| project(name, &["server"], effect);
    vec![
        hook("hook-session-start").among(HOOKS),
        hook("hook-session-end").among(HOOKS),
        hook("hook-user-prompt-submit").among(HOOKS),
        hook("hook-pre-tool-use").asked(&["BASH true\nSAY hello"]).among(HOOKS),
        hook("hook-post-tool-use").asked(&["BASH true\nSAY hello"]).among(HOOKS),
        hook("hook-post-tool-use-failure").asked(&["BASH false\nSAY hello"]).among(HOOKS),
        hook("hook-stop").among(HOOKS),
        hook("hook-pre-compact").asked(&["SAY hello", "/compact"]).among(HOOKS),
        hook("hook-subagent-start").asked(&[SUBAGENT]).among(HOOKS),
        hook("hook-subagent-stop").asked(&[SUBAGENT]).among(HOOKS),
        hook("hook-message-display").among(HOOKS),
        hook("hook-permission-request").asked(&["WRITE unasked.txt hello\nSAY hello"]).among(HOOKS),
        hook("hook-with-arguments").among(HOOKS),
        hook("hook-in-background").among(HOOKS),
        odd_hook("hook-of-unknown-type", Effect::Runs),
        project("hook-notification", &["hook"], Effect::Nothing).among(IGNORED),
        project("hook-unknown-event", &["hook"], Effect::Nothing).among(IGNORED),
        project("hook-http", &["hook"], Effect::Calls).among(HOOKS),
        project("hook-prompt", &["hook"], Effect::Nothing).among(IGNORED),
        project("hook-agent", &["hook"], Effect::Nothing).among(IGNORED),
        project("hook-mcp-tool", &["hook"], Effect::Nothing).among(IGNORED),
        odd_hook("hook-outside-of-a-group", Effect::Nothing),
        project("hooks-turned-off", &["hook", "setting"], Effect::Nothing),
        hook("local-settings-only"),
        hook("both-settings"),
        server("server-stdio", Effect::Runs).among(SERVERS),
        server("server-http", Effect::Calls).among(SERVERS),
        server("server-sse", Effect::Calls).among(SERVERS),
        server("server-ws", Effect::Calls).among(SERVERS),
        server("server-above", Effect::Runs).opened_at("inner"),
        project("server-with-headers-helper", &["helper", "server"], Effect::Calls),
        project("server-approved", &["server", "serverApproval"], Effect::Runs),
        project("server-turned-off", &["server", "serverApproval"], Effect::Nothing),
        project("key-helper", &["helper"], Effect::Runs),
        // Without credentials 2.1.197 would try again for more than a minute, so these two allow no further try.
        project("aws-helpers", &["helper", "apiAddress", "environment"], Effect::Runs),
        project("google-helper", &["helper", "apiAddress", "environment"], Effect::Runs),
        project("telemetry-helper", &["helper", "environment"], Effect::Nothing).among(IGNORED),
        project("status-line", &["statusLine"], Effect::Nothing).among(IGNORED),
        project("env-base-url", &["apiAddress"], Effect::Calls),
        project("env-base-url-local", &["apiAddress"], Effect::Calls),
        project("env-proxy", &["environment"], Effect::Calls),
        project("env-key", &["environment"], Effect::Nothing).among(IGNORED),
        project("env-node-options", &["environment"], Effect::Nothing).among(IGNORED),
        project("allow-rules", &["allowRule", "directory", "narrowingRule"], Effect::Nothing)
            .asked(&["BASH touch ran-allowed\nSAY hello"])
            .among(IGNORED),
        project("mode-accept-edits", &["mode"], Effect::Mode("acceptEdits")),
        project("mode-dont-ask", &["mode"], Effect::Mode("dontAsk")),
        project("mode-bypass", &["setting", "mode"], Effect::Nothing),
        project("sandbox-opened", &["sandbox"], Effect::Nothing).among(IGNORED),
        project("plugins", &["plugin"], Effect::Nothing).among(IGNORED),
        project("unknown-settings", &["setting"], Effect::Nothing).among(IGNORED),
        project("skills-and-agents", &["hook", "setting"], Effect::Nothing).among(IGNORED),
        odd_hook("byte-order-mark", Effect::Runs),
        odd_hook("utf-16", Effect::Runs),
        project("not-utf-8", &["hook", "setting", "oddity"], Effect::Runs),
        odd_hook("comments", Effect::Nothing),
        odd_hook("duplicate-keys", Effect::Runs),
        odd_hook("duplicate-keys-hidden", Effect::Nothing),
        hook("escaped-key"),
        hook("invisible-text"),
        project("invalid-json", &["unreadable"], Effect::Nothing),
        project("no-object", &["unreadable"], Effect::Nothing),
        project("empty-files", &[], Effect::Nothing),
        project("nested-settings", &[], Effect::Nothing).among(IGNORED),
        project("harmless", &[], Effect::Nothing).among(IGNORED),
        project("harmless-settings", &["mode", "setting"], Effect::Nothing).among(IGNORED),
        #[cfg(unix)]
        hook("linked-folder").made(unix::linked_folder),
        #[cfg(unix)]
        hook("linked-file").made(unix::linked_file),
        #[cfg(unix)]
        server("linked-servers", Effect::Runs).made(unix::linked_servers),
        #[cfg(unix)]
        project("dead-link", &["oddity"], Effect::Nothing).made(unix::dead_link),
        #[cfg(unix)]
        project("pipe", &["unreadable"], Effect::Nothing).made(unix::pipe).unjudged(),
        #[cfg(unix)]
        project("device", &["unreadable"], Effect::Nothing).made(unix::device).unjudged(),
        project("folder-for-a-file", &["unreadable"], Effect::Nothing).made(folder_for_a_file).unjudged(),
        project("huge", &["unreadable"], Effect::Nothing).made(huge).unjudged(),
        hook("repository-local").made(repository_local).opened_at("inner"),
        hook("worktree-of-another").made(worktree_of_another).opened_at("worktree"),
    ]
}

/// Hooks of the usual form, each with a trace of its own.
const HOOKS: &str = "hooks";
/// Servers of the usual form.
pub const SERVERS: &str = "servers";
/// Settings and files that the CLI ignores as well.
const IGNORED: &str = "ignored";

const SUBAGENT: &str = "TOOL Agent {\"description\":\"Look\",\"prompt\":\"SAY looked\",\
                        \"subagent_type\":\"general-purpose\"}\nSAY hello";

fn project(name: &'static str, finds: &'static [&'static str], unlimited: Effect) -> HostileProject {
    HostileProject {
        name,
        open: "",
        finds,
        is_judged: true,
        unlimited,
        prompts: &["SAY hello"],
        group: None,
        make: |_| Ok(()),
    }
}

impl HostileProject {
    fn asked(self, prompts: &'static [&'static str]) -> Self {
        Self { prompts, ..self }
    }

    fn among(self, group: &'static str) -> Self {
        Self { group: Some(group), ..self }
    }

    fn opened_at(self, open: &'static str) -> Self {
        Self { open, ..self }
    }

    fn made(self, make: fn(&Path) -> io::Result<()>) -> Self {
        Self { make, ..self }
    }

    fn unjudged(self) -> Self {
        Self { is_judged: false, ..self }
    }

    /// Builds it below `into`, with its addresses at `trap` (`127.0.0.1:80`), and returns the folder to open.
    pub fn build(&self, into: &Path, trap: &str) -> io::Result<PathBuf> {
        let folder = into.join(self.name);
        let original = corpus()?.join(self.name);
        if original.is_dir() {
            copy(&original, &folder, trap)?;
        } else {
            fs::create_dir(&folder)?;
        }
        (self.make)(&folder)?;
        Ok(folder.join(self.open))
    }
}

/// The files `ran-…` in a folder and all folders below it.
pub fn traces(folder: &Path) -> io::Result<Vec<String>> {
    let mut traces = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            traces.extend(self::traces(&entry.path())?);
        } else if name.starts_with("ran-") {
            traces.push(name);
        }
    }
    traces.sort();
    Ok(traces)
}

/// The path of the folders, for every package that includes this file.
fn corpus() -> io::Result<PathBuf> {
    let places =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|up| up.join("tests/hostile/projects"));
    places.into_iter().find(|place| place.is_dir()).ok_or_else(|| io::Error::other("the corpus is not there"))
}

fn copy(from: &Path, to: &Path, trap: &str) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to, trap)?;
            continue;
        }
        let bytes = fs::read(entry.path())?;
        match String::from_utf8(bytes) {
            Ok(text) => fs::write(to, text.replace(TRAP, trap))?,
            Err(error) => fs::write(to, error.into_bytes())?,
        }
    }
    Ok(())
}

/// Settings with one hook that leaves this trace.
fn settings(trace: &str) -> String {
    let hook = format!(r#"{{"type":"command","command":"touch {trace}"}}"#);
    format!(r#"{{"hooks":{{"SessionStart":[{{"hooks":[{hook}]}}]}}}}"#)
}

fn folder_for_a_file(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join(".claude/settings.json"))
}

/// Settings of an unrealistic size, with a hook in the middle.
fn huge(folder: &Path) -> io::Result<()> {
    let space = " ".repeat(3 * 1024 * 1024);
    fs::create_dir(folder.join(".claude"))?;
    fs::write(folder.join(".claude/settings.json"), format!("{space}{}{space}", settings("ran-huge")))
}

/// The opened folder is inside a repository whose root has settings of its own.
fn repository_local(folder: &Path) -> io::Result<()> {
    repository(folder)?;
    fs::create_dir(folder.join("inner"))?;
    fs::create_dir(folder.join(".claude"))?;
    // These do not count.
    fs::write(folder.join(".claude/settings.json"), settings("ran-repository-shared"))?;
    fs::write(folder.join(".claude/settings.local.json"), settings("ran-repository-local"))
}

/// The opened folder is a linked worktree: the main one's settings apply.
fn worktree_of_another(folder: &Path) -> io::Result<()> {
    let (main, worktree) = (folder.join("main"), folder.join("worktree"));
    repository(&main)?;
    let kept = main.join(".git/worktrees/worktree");
    fs::create_dir_all(&kept)?;
    fs::write(kept.join("HEAD"), "ref: refs/heads/other\n")?;
    fs::write(kept.join("commondir"), "../..\n")?;
    fs::write(kept.join("gitdir"), format!("{}\n", worktree.join(".git").display()))?;
    fs::create_dir(&worktree)?;
    fs::write(worktree.join(".git"), format!("gitdir: {}\n", kept.display()))?;
    fs::create_dir(main.join(".claude"))?;
    fs::write(main.join(".claude/settings.local.json"), settings("ran-main-worktree"))
}

/// An empty repository, as git would make it.
fn repository(folder: &Path) -> io::Result<()> {
    let git = folder.join(".git");
    fs::create_dir_all(git.join("objects"))?;
    fs::create_dir_all(git.join("refs/heads"))?;
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
    fs::write(git.join("config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
}

#[cfg(unix)]
mod unix {
    use super::settings;
    use std::fs;
    use std::io;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// A folder next to the project's.
    fn outside(folder: &Path) -> io::Result<PathBuf> {
        let outside = folder.with_extension("outside");
        fs::create_dir(&outside)?;
        Ok(outside)
    }

    pub fn linked_folder(folder: &Path) -> io::Result<()> {
        let outside = outside(folder)?;
        fs::write(outside.join("settings.json"), settings("ran-linked-folder"))?;
        symlink(outside, folder.join(".claude"))
    }

    pub fn linked_file(folder: &Path) -> io::Result<()> {
        let outside = outside(folder)?;
        fs::write(outside.join("theirs.json"), settings("ran-linked-file"))?;
        fs::create_dir(folder.join(".claude"))?;
        symlink("../../linked-file.outside/theirs.json", folder.join(".claude/settings.json"))
    }

    pub fn linked_servers(folder: &Path) -> io::Result<()> {
        let outside = outside(folder)?;
        let servers = r#"{"mcpServers":{"theirs":{"command":"touch","args":["ran-linked-servers"]}}}"#;
        fs::write(outside.join("servers"), servers)?;
        symlink(outside.join("servers"), folder.join(".mcp.json"))
    }

    pub fn dead_link(folder: &Path) -> io::Result<()> {
        symlink("not-there", folder.join(".claude"))
    }

    /// A named pipe: opening it for reading blocks until it is opened for writing.
    pub fn pipe(folder: &Path) -> io::Result<()> {
        fs::create_dir(folder.join(".claude"))?;
        for name in [".claude/settings.json", ".mcp.json"] {
            let made = Command::new("mkfifo").arg(folder.join(name)).status()?;
            if !made.success() {
                return Err(io::Error::other("mkfifo failed"));
            }
        }
        Ok(())
    }

    /// It has no end.
    pub fn device(folder: &Path) -> io::Result<()> {
        symlink("/dev/zero", folder.join(".mcp.json"))
    }
}

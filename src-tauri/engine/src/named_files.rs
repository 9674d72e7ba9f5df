//! Files that texts of an agent name: which of them exist in the session's folder, and the lines of one.
//!
//! The agent writes the paths, so they are those of a program that is not trusted. Only regular files whose real path is
//! in the folder are found and read; a path that leads elsewhere is not looked up at all.

use crate::api::{CodeLine, CommandError, ErrorCode, FileText};
use crate::disk::{self, FileKind, ReadError};
use crate::document::{highlight, language_of_path, plain};
use crate::history;
use std::path::{Component, Path, PathBuf};

/// Maximum number of paths of one question, and the length of one in bytes.
pub(crate) const MOST_PATHS: usize = 100;
pub(crate) const LONGEST_PATH: usize = 4 << 10;
/// Maximum size of a file that is shown.
const MOST_BYTES: u64 = 8 << 20;
/// A text is coloured from its beginning if no more bytes than this come before the shown lines.
const COLOURED_BEFORE: usize = 128 << 10;
/// Maximum number of lines that are shown at once, of bytes of a line, and of bytes of all lines.
pub(crate) const MOST_LINES: usize = 1_000;
const LONGEST_LINE: usize = 2_000;
const MOST_TEXT: usize = 128 << 10;
/// Lines and bytes before the wanted line.
const LINES_BEFORE: usize = 200;
const TEXT_BEFORE: usize = 32 << 10;
/// Maximum size of lines with their colours, as JSON. A server's answer has at most 2 MiB.
const MOST_JSON: usize = 1536 << 10;

/// A session's folder, and where its agent is in it.
pub(crate) struct NamedFiles {
    /// The agent's configuration folder.
    pub config: PathBuf,
    pub project: PathBuf,
    /// The agent's id of the conversation, if the agent is Claude Code.
    pub conversation: Option<String>,
}

impl NamedFiles {
    /// Returns for each path the file that it names, relative to the session's folder and with slashes.
    pub async fn find(self, paths: Vec<String>) -> Result<Vec<Option<String>>, CommandError> {
        if paths.len() > MOST_PATHS {
            return Err(refused(&format!("At most {MOST_PATHS} paths are looked for at once.")));
        }
        let place = self.project.clone();
        let found = move || match Folder::of(&self) {
            Some(folder) => paths.iter().map(|path| Some(folder.find(path)?.name)).collect(),
            None => vec![None; paths.len()],
        };
        Ok(disk::run(&place, disk::DEADLINE, found).await?)
    }

    /// Returns the lines of a file around a line, which is counted from 1.
    pub async fn read(self, path: String, line: Option<u32>) -> Result<FileText, CommandError> {
        let place = self.project.clone();
        let read = move || {
            let file = Folder::of(&self).and_then(|folder| folder.find(&path));
            let file = file.ok_or_else(|| refused("There is no such file in the session's folder."))?;
            let bytes = disk::read_regular(&file.real, MOST_BYTES).map_err(|error| unread(&error))?;
            Ok::<_, CommandError>((file.name, bytes))
        };
        let (name, bytes) = disk::run(&place, disk::DEADLINE, read).await??;
        let shown = tokio::task::spawn_blocking(move || shown(name, &bytes, line)).await;
        shown.map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The file could not be shown.".to_owned(),
            detail: Some(error.to_string()),
        })?
    }
}

fn refused(message: &str) -> CommandError {
    CommandError { code: ErrorCode::Refused, message: message.to_owned(), detail: None }
}

fn unread(error: &ReadError) -> CommandError {
    let message = match error {
        ReadError::TooLarge { size, .. } => {
            format!("The file is too large to show: {size} bytes, and at most {MOST_BYTES} are shown.")
        }
        _ => "The file could not be read.".to_owned(),
    };
    CommandError { detail: Some(error.to_string()), ..refused(&message) }
}

struct Found {
    /// Relative to the session's folder, with slashes.
    name: String,
    real: PathBuf,
}

struct Folder<'a> {
    given: &'a Path,
    real: PathBuf,
    /// Where relative paths are looked for, in this order.
    bases: Vec<PathBuf>,
}

impl<'a> Folder<'a> {
    /// `None` if the folder is gone.
    fn of(NamedFiles { config, project, conversation }: &'a NamedFiles) -> Option<Self> {
        let real = project.canonicalize().ok()?;
        let worktree = conversation.as_ref().and_then(|id| history::worktree_of(config, project, id));
        let bases = worktree.into_iter().chain([real.clone()]).collect();
        Some(Self { given: project, real, bases })
    }

    fn find(&self, path: &str) -> Option<Found> {
        if path.len() > LONGEST_PATH || path.contains(char::is_control) {
            return None;
        }
        let path = Path::new(path);
        if path.has_root() {
            let tops = [self.given, &self.real, dunce::simplified(&self.real)];
            let below = tops.into_iter().find_map(|top| path.strip_prefix(top).ok())?;
            return self.file(&self.real, &plain_path(below)?);
        }
        let below = plain_path(path)?;
        self.bases.iter().find_map(|base| self.file(base, &below))
    }

    fn file(&self, base: &Path, below: &Path) -> Option<Found> {
        let real = base.join(below).canonicalize().ok()?;
        let parts = real.strip_prefix(&self.real).ok()?.iter();
        let parts: Vec<&str> = parts.map(|part| part.to_str()).collect::<Option<_>>()?;
        let is_file = matches!(disk::kind(&real), Ok(FileKind::Regular));
        let name = parts.join("/");
        (is_file && !name.contains(char::is_control)).then_some(Found { name, real })
    }
}

/// The path without `.` and `..`; `None` if it leads out of the folder, or is on another drive or machine.
fn plain_path(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => plain.pop().then_some(())?,
            Component::Normal(name) => plain.push(name),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain).filter(|plain| !plain.as_os_str().is_empty())
}

fn shown(path: String, bytes: &[u8], line: Option<u32>) -> Result<FileText, CommandError> {
    // Git's own rule.
    if bytes[..bytes.len().min(8_000)].contains(&0) {
        return Err(refused(&format!("The file is not text: {} bytes.", bytes.len())));
    }
    let language = language_of_path(&path);
    let all = plain(&String::from_utf8_lossy(bytes));
    let lengths: Vec<usize> = all.iter().map(|line| text_of(line).len().min(LONGEST_LINE)).collect();
    let range = window(&lengths, line);
    // A comment that begins before them colours them too.
    let is_near = lengths[..range.start].iter().sum::<usize>() <= COLOURED_BEFORE;
    let from = if is_near { 0 } else { range.start };
    let text: String = all[from..range.end].iter().map(|line| cut(&text_of(line)) + "\n").collect();
    let mut lines = highlight(language.as_deref(), &text).split_off(range.start - from);
    // Colours of a text that is made of single marks.
    if serde_json::to_vec(&lines).map_or(usize::MAX, |json| json.len()) > MOST_JSON {
        lines = plain(&text).split_off(range.start - from);
    }
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let is_cut = |line: &&CodeLine| text_of(line).len() > LONGEST_LINE;
    Ok(FileText {
        path,
        lines,
        first: number(range.start + 1),
        n_lines: number(all.len()),
        n_cut: number(all[range].iter().filter(is_cut).count()),
    })
}

fn text_of(line: &CodeLine) -> String {
    line.tokens.iter().map(|token| token.text.as_str()).collect()
}

/// The lines that are shown: those before the wanted one, and those from it on.
fn window(lengths: &[usize], line: Option<u32>) -> std::ops::Range<usize> {
    let wanted = line.map_or(0, |line| usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX));
    let wanted = wanted.min(lengths.len().saturating_sub(1));
    let fitting = |lengths: &mut dyn Iterator<Item = &usize>, mut room: usize| {
        let fits = |length: &&usize| {
            let fits = **length <= room;
            room = room.saturating_sub(**length);
            fits
        };
        lengths.take_while(fits).count()
    };
    let before = fitting(&mut lengths[..wanted].iter().rev().take(LINES_BEFORE), TEXT_BEFORE);
    let start = wanted - before;
    let len = fitting(&mut lengths[start..].iter().take(MOST_LINES), MOST_TEXT);
    start..start + len
}

/// A line of at most [`LONGEST_LINE`] bytes, and a sign that there is more.
fn cut(line: &str) -> String {
    if line.len() <= LONGEST_LINE {
        return line.to_owned();
    }
    let end = (0..=LONGEST_LINE).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::TokenStyle;
    use crate::traps::{self, Trap};
    use std::fs;

    struct World {
        scratch: tempfile::TempDir,
    }

    impl World {
        /// A folder with these files, beside a file that is not in it.
        fn new(files: &[(&str, &str)]) -> Self {
            let world = Self { scratch: tempfile::tempdir().unwrap() };
            fs::write(world.path("secret.txt"), "secret").unwrap();
            for (path, text) in files {
                let path = world.path("my proj [1] é").join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            world
        }

        fn path(&self, name: &str) -> PathBuf {
            dunce::canonicalize(self.scratch.path()).unwrap().join(name)
        }

        fn files(&self) -> NamedFiles {
            NamedFiles {
                config: self.path("config"),
                project: self.path("my proj [1] é"),
                conversation: Some("c".to_owned()),
            }
        }

        async fn find(&self, path: &str) -> Option<String> {
            self.files().find(vec![path.to_owned()]).await.unwrap().remove(0)
        }

        async fn read(&self, path: &str, line: Option<u32>) -> Result<FileText, CommandError> {
            self.files().read(path.to_owned(), line).await
        }
    }

    #[tokio::test]
    async fn files_of_the_folder_are_found() {
        let world =
            World::new(&[("src/plain.rs", ""), ("src/a b.md", ""), ("src/100%.md", ""), ("a/b/c", "")]);
        let absolute = world.path("my proj [1] é/src/a b.md").display().to_string();
        for (path, found) in [
            ("src/plain.rs", "src/plain.rs"),
            ("./src/plain.rs", "src/plain.rs"),
            ("a/../src/plain.rs", "src/plain.rs"),
            ("src/a b.md", "src/a b.md"),
            ("src/100%.md", "src/100%.md"),
            (&absolute, "src/a b.md"),
        ] {
            assert_eq!(world.find(path).await.as_deref(), Some(found), "{path}");
        }
        let asked = ["src/plain.rs", "src/nope.rs", "src/a b.md"].map(str::to_owned);
        let found = world.files().find(asked.to_vec()).await.unwrap();
        assert_eq!(found, [Some("src/plain.rs".to_owned()), None, Some("src/a b.md".to_owned())]);
    }

    #[tokio::test]
    async fn nothing_outside_of_the_folder_is_found_or_read() {
        let world = World::new(&[("src/plain.rs", "")]);
        let long = "x/".repeat(LONGEST_PATH);
        let secret = world.path("secret.txt").display().to_string();
        let up = world.path("my proj [1] é/../secret.txt").display().to_string();
        let beside = format!("{}x/a", world.path("my proj [1] é").display());
        for path in [
            "../secret.txt",
            "src/../../secret.txt",
            &secret,
            &up,
            &beside,
            "/etc/passwd",
            "//server/share/a.rs",
            "\\\\server\\share\\a.rs",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "src",
            "src/",
            ".",
            "..",
            "",
            "src/nope.rs",
            "src/plain.rs\0",
            "src/plain.rs\n",
            "src/\u{1b}[2Jplain.rs",
            "src/\u{202e}plain.rs",
            &long,
        ] {
            assert_eq!(world.find(path).await, None, "{path:?}");
            let error = world.read(path, None).await.unwrap_err();
            assert_eq!(error.message, "There is no such file in the session's folder.", "{path:?}");
        }
        let many = vec!["a".to_owned(); MOST_PATHS + 1];
        assert_eq!(world.files().find(many).await.unwrap_err().code, ErrorCode::Refused);
        let gone = NamedFiles { project: world.path("gone"), ..world.files() };
        assert_eq!(gone.find(vec!["a".to_owned()]).await.unwrap(), [None]);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn links_lead_nowhere_else_and_what_is_no_file_is_not_opened() {
        use std::os::unix::fs::symlink;
        let world = World::new(&[("src/plain.rs", "text")]);
        let project = world.path("my proj [1] é");
        symlink(world.path("secret.txt"), project.join("secret.rs")).unwrap();
        symlink(world.path(""), project.join("up")).unwrap();
        symlink("/dev/zero", project.join("zero.rs")).unwrap();
        symlink("loop.rs", project.join("loop.rs")).unwrap();
        symlink("src/plain.rs", project.join("inside.rs")).unwrap();
        for path in ["secret.rs", "up/secret.txt", "zero.rs", "loop.rs"] {
            assert_eq!(world.find(path).await, None, "{path}");
            assert!(world.read(path, None).await.is_err(), "{path}");
        }
        assert_eq!(world.find("inside.rs").await.as_deref(), Some("src/plain.rs"));
        let of_link = NamedFiles { project: world.path("link"), ..world.files() };
        symlink(&project, world.path("link")).unwrap();
        let absolute = [world.path("link/src/plain.rs"), project.join("src/plain.rs")];
        let asked = absolute.iter().map(|path| path.display().to_string()).collect();
        assert_eq!(of_link.find(asked).await.unwrap(), vec![Some("src/plain.rs".to_owned()); 2]);
    }

    #[tokio::test]
    async fn what_no_reader_should_open_is_not_opened() {
        let world = World::new(&[]);
        for trap in traps::all() {
            let path = format!("{trap:?}.rs");
            trap.put_at(&world.path("my proj [1] é").join(&path));
            let is_file = matches!(trap, Trap::Huge | Trap::Unreadable);
            assert_eq!(world.find(&path).await.is_some(), is_file, "{path}");
            let error = world.read(&path, None).await.unwrap_err();
            assert_eq!(error.message.contains("too large"), trap == Trap::Huge, "{path}: {error:?}");
        }
    }

    #[tokio::test]
    async fn a_path_is_one_of_the_worktree_that_the_agent_is_in() {
        let world = World::new(&[("src/a.rs", "main"), (".claude/worktrees/w/src/a.rs", "worktree")]);
        let in_worktree = ".claude/worktrees/w/src/a.rs";
        assert_eq!(world.find("src/a.rs").await.as_deref(), Some("src/a.rs"));
        // The agent moves the file of the conversation with it.
        let worktree = world.path("my proj [1] é/.claude/worktrees/w");
        let stored = history::project_folder(&world.path("config"), &worktree);
        fs::create_dir_all(&stored).unwrap();
        fs::write(stored.join("c.jsonl"), "{}").unwrap();
        assert_eq!(world.find("src/a.rs").await.as_deref(), Some(in_worktree));
        assert_eq!(world.read("src/a.rs", None).await.unwrap().path, in_worktree);
        let other = NamedFiles { conversation: Some("d".to_owned()), ..world.files() };
        assert_eq!(other.find(vec!["src/a.rs".to_owned()]).await.unwrap(), [Some("src/a.rs".to_owned())]);
    }

    #[tokio::test]
    async fn the_lines_around_a_line_are_read_in_colour() {
        let text: String = (1..=1_500).map(|nr| format!("let x = {nr};\n")).collect();
        let world =
            World::new(&[("a.rs", &text), ("empty.rs", ""), ("b.bin", "a\0b"), ("odd.rs", "a\u{202e}b")]);
        let read = world.read("a.rs", None).await.unwrap();
        assert_eq!((read.first, read.lines.len(), read.n_lines), (1, MOST_LINES, 1_500));
        assert!(read.lines[0].tokens.iter().any(|token| token.style == TokenStyle::Keyword));
        let read = world.read("./a.rs", Some(400)).await.unwrap();
        assert_eq!((read.path.as_str(), read.first, read.lines.len()), ("a.rs", 200, MOST_LINES));
        assert_eq!(text_of(&read.lines[200]), "let x = 400;");
        for line in [1_500, u32::MAX] {
            let read = world.read("a.rs", Some(line)).await.unwrap();
            assert_eq!((read.first, read.lines.len()), (1_300, 201), "{line}");
        }
        let empty = world.read("empty.rs", Some(7)).await.unwrap();
        assert_eq!((empty.first, empty.lines.len(), empty.n_lines), (1, 0, 0));
        assert_eq!(world.read("b.bin", None).await.unwrap_err().message, "The file is not text: 3 bytes.");
        // The window shows what is hidden in it.
        assert_eq!(text_of(&world.read("odd.rs", None).await.unwrap().lines[0]), "a\u{202e}b");
    }

    #[test]
    fn what_is_shown_of_a_huge_file_is_bounded() {
        let marks = "+-(){}[];,.".repeat(200);
        for line in ["x".repeat(1 << 20), marks, "\u{1}".repeat(3_000), "é\"\\".repeat(3_000)] {
            let text = format!("{line}\n").repeat((1 << 20) / line.len() + 2);
            let text = shown("a.js".to_owned(), text.as_bytes(), Some(2)).unwrap();
            assert!(!text.lines.is_empty() && text.first <= 2, "{}", &line[..20]);
            let json = serde_json::to_vec(&text).unwrap().len();
            assert!(json < 2 << 20, "{}: {json}", &line[..20]);
        }
        let long = shown("a.txt".to_owned(), "y".repeat(10_000).as_bytes(), None).unwrap();
        assert_eq!((long.n_cut, text_of(&long.lines[0])), (1, format!("{}…", "y".repeat(LONGEST_LINE))));
    }
}

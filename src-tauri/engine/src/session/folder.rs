//! The answers of a server to queries. They are those of another program, which may be on another machine: what is about
//! the files of a folder is bounded and checked before it is passed on.

use super::mirror::ANSWERS;
use crate::api::*;
use crate::misleading::written_out;
use crate::named_files::MOST_LINES as MOST_TEXT_LINES;
use std::time::Duration;

/// Timeout of the list for `@`. The server itself reads a folder for at most 8 s.
const LISTS: Duration = Duration::from_secs(15);
/// Maximum number of changed files, and of lines of a diff: as many as a window of this machine gets.
const MOST_CHANGES: usize = 10_000;
const MOST_LINES: usize = 3_000;
/// Maximum length of the name of a file's version, in bytes.
const LONGEST_VERSION: usize = 256;
/// Maximum number of characters of a sentence.
const LONGEST_WORDS: usize = 1_000;
/// Maximum number of prompts to compare with, and of characters that name one: more than a server has.
const MOST_MOMENTS: usize = 100;
const MOST_OF_A_PROMPT: usize = 100;
/// Maximum number of files that are taken from a list, and of bytes of a path.
const MOST_FILES: usize = 100;
const LONGEST_PATH: usize = 4 << 10;

/// A query whose answer comes from a server, which may be on another machine.
pub trait CheckedAnswer: TypedQuery {
    const TIMEOUT: Duration = ANSWERS;

    /// Bounds and checks the answer to this query.
    fn check(self, answer: Self::Answer) -> Self::Answer {
        answer
    }
}

// The conversation and its agent are shown as the server describes them.
impl CheckedAnswer for OutputQuery {}
impl CheckedAnswer for ImagesQuery {}
impl CheckedAnswer for TaskOutputQuery {}
impl CheckedAnswer for ServerLogQuery {}
impl CheckedAnswer for RawLinesQuery {}
impl CheckedAnswer for CopyQuery {}
impl CheckedAnswer for FindQuery {}
impl CheckedAnswer for LastAnswerQuery {}
impl CheckedAnswer for StoredPromptQuery {}
impl CheckedAnswer for ReviewOptionsQuery {}
impl CheckedAnswer for ExportQuery {}
impl CheckedAnswer for ProcessesQuery {}

impl CheckedAnswer for FilesQuery {
    const TIMEOUT: Duration = LISTS;

    fn check(self, answer: FoundFiles) -> FoundFiles {
        checked(answer)
    }
}

impl CheckedAnswer for ChangesQuery {
    fn check(self, answer: Changes) -> Changes {
        bounded(answer)
    }
}

impl CheckedAnswer for FileDiffQuery {
    fn check(self, answer: FileDiff) -> FileDiff {
        bounded_diff(answer)
    }
}

impl CheckedAnswer for PromptMomentsQuery {
    fn check(self, answer: Vec<PromptMoment>) -> Vec<PromptMoment> {
        let short = |text: String| plain(text.chars().take(MOST_OF_A_PROMPT).collect());
        let moments = answer.into_iter().take(MOST_MOMENTS);
        moments.map(|PromptMoment { since, text }| PromptMoment { since, text: short(text) }).collect()
    }
}

impl CheckedAnswer for NamedFilesQuery {
    fn check(self, answer: Vec<Option<String>>) -> Vec<Option<String>> {
        named(answer, self.paths.len())
    }
}

impl CheckedAnswer for FileTextQuery {
    fn check(self, answer: FileText) -> FileText {
        bounded_text(answer)
    }
}

impl CheckedAnswer for EditsQuery {
    fn check(self, answer: Option<Changes>) -> Option<Changes> {
        answer.map(bounded)
    }
}

impl CheckedAnswer for EditDiffQuery {
    fn check(self, answer: Option<FileDiff>) -> Option<FileDiff> {
        answer.map(bounded_diff)
    }
}

impl CheckedAnswer for PatchQuery {
    fn check(self, Patch { text, n_files, left_out }: Patch) -> Patch {
        Patch { text, n_files, left_out: left_out.into_iter().take(MOST_FILES).map(plain).collect() }
    }
}

fn bounded(changes: Changes) -> Changes {
    let is_short = |path: &String| path.len() <= LONGEST_PATH;
    let mut files = changes.files;
    files.retain(|file| is_short(&file.path) && file.old_path.as_ref().is_none_or(is_short));
    let n_cut = files.len().saturating_sub(MOST_CHANGES);
    files.truncate(MOST_CHANGES);
    let base = match changes.base {
        ChangesBase::Commit { id } => ChangesBase::Commit { id: id.chars().take(64).collect() },
        base => base,
    };
    let n_more = changes.n_more.saturating_add(u32::try_from(n_cut).unwrap_or(u32::MAX));
    Changes { base, files, n_more, problem: changes.problem.map(plain), ..changes }
}

fn named(found: Vec<Option<String>>, n_asked: usize) -> Vec<Option<String>> {
    let mut found: Vec<Option<String>> =
        found.into_iter().map(|path| path.filter(|path| is_inside(path) && !path.ends_with('/'))).collect();
    found.resize(n_asked, None);
    found
}

fn bounded_text(mut text: FileText) -> FileText {
    // Whatever the name says, the lines are shown and nothing is opened.
    text.path = plain(text.path);
    text.lines.truncate(MOST_TEXT_LINES);
    text
}

fn bounded_diff(FileDiff { diff, note, n_more_lines, version }: FileDiff) -> FileDiff {
    let n_lines = |diff: &Diff| diff.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>();
    let is_long = diff.as_ref().is_some_and(|diff| n_lines(diff) > MOST_LINES);
    let note =
        if is_long { Some("This change is too long to be shown.".to_owned()) } else { note.map(plain) };
    // What is not shown is not reverted either. The server compares the version with the file.
    let version = version.filter(|version| !is_long && version.len() <= LONGEST_VERSION);
    FileDiff { diff: diff.filter(|_| !is_long), note, n_more_lines, version }
}

/// A sentence of another program: short, and with every character visible.
fn plain(words: String) -> String {
    written_out(&words.chars().take(LONGEST_WORDS).collect::<String>())
}

/// The files that can be in the folder, as far as a list has room for them.
fn checked(FoundFiles { files, is_cut }: FoundFiles) -> FoundFiles {
    let mut files: Vec<FoundFile> =
        files.into_iter().filter(|file| is_inside(&file.path)).take(MOST_FILES).collect();
    for FoundFile { path, matched } in &mut files {
        let n_letters = path.chars().count();
        matched.retain(|at| usize::try_from(*at).is_ok_and(|at| at < n_letters));
        matched.truncate(n_letters);
    }
    FoundFiles { files, is_cut }
}

fn is_inside(path: &str) -> bool {
    let parts = path.strip_suffix('/').unwrap_or(path).split('/');
    path.len() <= LONGEST_PATH
        && !path.contains(char::is_control)
        && parts.into_iter().all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, matched: &[u32]) -> FoundFile {
        FoundFile { path: path.to_owned(), matched: matched.to_vec() }
    }

    #[test]
    fn a_hostile_list_is_bounded_and_names_nothing_outside_of_the_folder() {
        let long = "x".repeat(LONGEST_PATH + 1);
        let outside =
            ["../a", "a/../b", "/etc/passwd", "a//b", ".", "", "/", "a\nb", "a\u{1b}[2Jb", "a/./b", &long];
        let mut files: Vec<FoundFile> = outside.map(|path| found(path, &[])).into();
        files.push(found("a/b\u{202e}c.rs", &[0, 5, 6, 7, 8, u32::MAX]));
        files.push(found("..a/b../", &[1; 1_000]));
        files.extend((0..1_000).map(|nr| found(&format!("f{nr}"), &[])));
        let files = checked(FoundFiles { files, is_cut: true }).files;
        assert_eq!(files.len(), MOST_FILES);
        assert_eq!(files[0], found("a/b\u{202e}c.rs", &[0, 5, 6, 7]));
        assert_eq!(files[1], found("..a/b../", &[1; 8]));
        assert_eq!(files[2].path, "f0");
    }

    #[test]
    fn hostile_answers_about_named_files_name_nothing_outside_of_the_folder() {
        let given = ["/etc/passwd", "../a", "a/../b", "a\nb", "a/", "a/b.rs", "c", "d"];
        let found = named(given.map(|path| Some(path.to_owned())).into(), 7);
        let expected = [None, None, None, None, None, Some("a/b.rs".to_owned()), Some("c".to_owned())];
        assert_eq!(found, expected);
        assert_eq!(named(Vec::new(), 2), [None, None]);
        let text = FileText {
            path: "a\u{202e}b".to_owned(),
            lines: vec![CodeLine::default(); MOST_TEXT_LINES + 1],
            first: 1,
            n_lines: 1,
            n_cut: 0,
        };
        let text = bounded_text(text);
        assert_eq!((text.path.as_str(), text.lines.len()), ("a\\u{202E}b", MOST_TEXT_LINES));
    }

    #[test]
    fn hostile_changes_are_bounded_and_what_is_not_shown_cannot_be_reverted() {
        let file = |path: String| FileChange {
            path,
            old_path: None,
            state: FileState::Modified,
            content: FileContent::Text,
            added: None,
            removed: None,
        };
        let mut changes = Changes::empty(ChangesBase::Commit { id: "f".repeat(1_000) });
        changes.files = (0..MOST_CHANGES + 7).map(|nr| file(format!("f{nr}"))).collect();
        changes.files.insert(0, file("x".repeat(LONGEST_PATH + 1)));
        changes.problem = Some(format!("\u{202e}\u{1b}[2J{}", "x".repeat(5_000)));
        let changes = bounded(changes);
        assert_eq!((changes.files.len(), changes.n_more), (MOST_CHANGES, 7));
        assert_eq!(changes.base, ChangesBase::Commit { id: "f".repeat(64) });
        let problem = changes.problem.unwrap();
        assert!(problem.len() < 2_000 && !problem.contains(['\u{202e}', '\u{1b}']), "{problem}");

        let line = DiffLine { kind: DiffKind::Added, old_line: None, new_line: Some(1), parts: Vec::new() };
        let hunks = vec![Hunk { lines: vec![line; MOST_LINES + 1] }];
        let diff = Some(Diff { path: "a".to_owned(), added: 1, removed: 0, hunks });
        let version = Some("v".to_owned());
        let shown = bounded_diff(FileDiff { diff, note: None, n_more_lines: 0, version });
        assert!(shown.diff.is_none() && shown.version.is_none() && shown.note.is_some());
        let of =
            |version: String| FileDiff { diff: None, note: None, n_more_lines: 0, version: Some(version) };
        assert_eq!(bounded_diff(of("v".to_owned())).version.as_deref(), Some("v"));
        assert_eq!(bounded_diff(of("v".repeat(LONGEST_VERSION + 1))).version, None);
    }
}

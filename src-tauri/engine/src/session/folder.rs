//! The files of the folder of a session that runs in a server, which may be on another machine.
//!
//! The answers are those of another program: each is bounded and checked before it is passed on.

use super::SessionHandle;
use crate::api::server::Question;
use crate::api::*;
use std::time::Duration;

/// Timeout of the list for `@`. The server itself reads a folder for at most 8 s.
const LISTS: Duration = Duration::from_secs(15);
/// Maximum number of files that are taken from a list, and of bytes of a path.
const MOST_FILES: usize = 100;
const LONGEST_PATH: usize = 4 << 10;

impl SessionHandle {
    /// Asks the session's server for the files of its folder that match a partly typed name. Only for a session that
    /// runs in a server.
    pub async fn find_files(&self, query: String) -> Result<FoundFiles, CommandError> {
        Ok(checked(self.ask_within(LISTS, Question::Files { query }).await?))
    }
}

/// The files that can be in the folder, as far as a list has room for them.
fn checked(FoundFiles { files, is_cut }: FoundFiles) -> FoundFiles {
    let mut files: Vec<FoundFile> = files.into_iter().filter(is_inside).take(MOST_FILES).collect();
    for FoundFile { path, matched } in &mut files {
        let n_letters = path.chars().count();
        matched.retain(|at| usize::try_from(*at).is_ok_and(|at| at < n_letters));
        matched.truncate(n_letters);
    }
    FoundFiles { files, is_cut }
}

fn is_inside(FoundFile { path, .. }: &FoundFile) -> bool {
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
}

//! Files outside of a folder that its instructions import.
//!
//! A `CLAUDE.md` imports another file by `@path`. What it imports is sent to the model without a question. The CLI imports a
//! file outside of the working folder only if the user allowed that in a terminal, for all such files of the folder
//! (2.1.197 and 2.1.332). 2.1.197 also imports it through a link in the folder. So each such file is shown, and is a part of
//! the fingerprint: of all other instructions only their effects on the agent's permissions count, and they have none.

use super::files::{self, extension_folders};
use crate::api::{Finding, FindingKind, Severity};
use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};

/// Files of instructions that are read.
const MOST_FILES: usize = 2000;

/// Paths in them that are looked for.
const MOST_PATHS: usize = 20_000;

/// Imports of imported files are followed this many times: Claude Code's documentation says five at most.
const MOST_DEPTH: usize = 5;

/// A file of instructions to read.
struct Waiting {
    /// The file for display.
    label: String,
    path: PathBuf,
    depth: usize,
}

/// One finding for each file outside. The folder's path must contain no links.
pub(super) fn findings(project: &Path) -> Vec<Finding> {
    findings_of_user(project, dirs::home_dir())
}

fn findings_of_user(project: &Path, home: Option<PathBuf>) -> Vec<Finding> {
    let mut search = Search {
        project,
        home,
        n_paths: 0,
        looked_for: HashSet::new(),
        known: HashSet::new(),
        findings: Vec::new(),
    };
    // The nearest first, because the CLI follows imports only so far.
    let mut waiting = VecDeque::new();
    for (n_up, folder) in extension_folders(project) {
        let up = "../".repeat(n_up);
        for path in files::instructions(folder) {
            let relative = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            let label = format!("{up}{relative}");
            if let Ok(real) = dunce::canonicalize(&path)
                && !real.starts_with(folder)
            {
                search.outside(&label, &real);
            }
            waiting.push_back(Waiting { label, path, depth: 0 });
        }
    }
    let mut n_files = 0;
    while let Some(file) = waiting.pop_front() {
        n_files += 1;
        waiting.extend(search.imported_by(&file));
        if n_files > MOST_FILES || search.n_paths > MOST_PATHS {
            let title = "Imports more files than can be checked, so it counts as dangerous";
            search.add(&file.label, FindingKind::Unreadable, Severity::Runs, title, String::new());
            break;
        }
    }
    search.findings.sort_by(|a, b| (&a.file, &a.text).cmp(&(&b.file, &b.text)));
    search.findings
}

struct Search<'a> {
    project: &'a Path,
    home: Option<PathBuf>,
    n_paths: usize,
    looked_for: HashSet<PathBuf>,
    /// The real paths of the files that were found.
    known: HashSet<PathBuf>,
    findings: Vec<Finding>,
}

impl Search<'_> {
    /// Adds a file that the instructions in the file of this label bring in from outside.
    fn outside(&mut self, label: &str, real: &Path) {
        let title = "Brings a file outside of the folder into its instructions";
        let text = real.display().to_string();
        self.add(label, FindingKind::Directory, Severity::Allows, title, text);
    }

    fn add(&mut self, label: &str, kind: FindingKind, severity: Severity, title: &str, text: String) {
        let (file, title) = (label.to_owned(), title.to_owned());
        self.findings.push(Finding {
            kind,
            severity,
            file,
            link: None,
            title,
            name: None,
            text,
            details: Vec::new(),
        });
    }

    /// The files that this one imports. Those outside are added to the findings.
    fn imported_by(&mut self, file: &Waiting) -> Vec<Waiting> {
        let mut found = Vec::new();
        let real = dunce::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
        for path in files::imported_paths(&file.path, MOST_PATHS + 1) {
            self.n_paths += 1;
            if is_on_share(&path) {
                if self.looked_for.insert(PathBuf::from(&path)) {
                    self.outside(&file.label, Path::new(&path));
                }
                continue;
            }
            for path in self.places(&path, &[&file.path, &real]) {
                if !self.looked_for.insert(path.clone()) {
                    continue;
                }
                let Ok(real) = dunce::canonicalize(&path) else { continue };
                if !real.is_file() || !self.known.insert(real.clone()) {
                    continue;
                }
                if !real.starts_with(self.project) {
                    self.outside(&file.label, &real);
                }
                if file.depth < MOST_DEPTH {
                    found.push(Waiting { label: file.label.clone(), path, depth: file.depth + 1 });
                }
            }
        }
        found
    }

    /// The places of an imported path: versions take it from the folder of the file or of the target of a link there.
    fn places(&self, path: &str, from: &[&Path]) -> Vec<PathBuf> {
        if let (Some(rest), Some(home)) = (path.strip_prefix("~/"), &self.home) {
            return vec![home.join(rest)];
        }
        let mut places: Vec<PathBuf> =
            from.iter().filter_map(|file| Some(file.parent()?.join(path))).collect();
        places.dedup();
        places
    }
}

/// Whether a path is that of a share on another computer. It is shown without a look at it: Windows would send the user's name and
/// a hash of the password there.
fn is_on_share(path: &str) -> bool {
    cfg!(windows) && path.len() > 1 && path.chars().take(2).all(std::path::is_separator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_file_outside_is_shown_however_it_is_reached() {
        let root = tempfile::tempdir().unwrap();
        let root = dunce::canonicalize(root.path()).unwrap();
        let project = root.join("project");
        put(&project.join(".git/HEAD"), "x");
        put(&root.join("outside.md"), "secret");
        put(&project.join("inside.md"), "See @docs/more.md.");
        put(&project.join("docs/more.md"), "- **@../../outside.md**");
        assert_eq!(findings(&project), []);
        for (file, text) in [
            ("CLAUDE.md", "@../outside.md".to_owned()),
            ("CLAUDE.local.md", format!("# Read @{}#part", root.join("outside.md").display())),
            (".claude/CLAUDE.md", "@../inside.md @../docs/more.md".to_owned()),
            (".claude/rules/a/b.md", "<b>@../../../../outside.md</b>".to_owned()),
        ] {
            put(&project.join(file), &text);
            let found = findings(&project);
            let shown: Vec<_> = found.iter().map(|finding| (&*finding.file, &*finding.text)).collect();
            assert_eq!(shown, [(file, &*root.join("outside.md").display().to_string())]);
            fs::remove_file(project.join(file)).unwrap();
        }
        put(&project.join("CLAUDE.md"), "@~/outside.md");
        let found = findings_of_user(&project, Some(root.clone()));
        assert_eq!(found[0].text, root.join("outside.md").display().to_string());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_outside_is_shown() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let root = dunce::canonicalize(root.path()).unwrap();
        let project = root.join("project");
        put(&project.join(".git/HEAD"), "x");
        put(&root.join("outside.md"), "secret");
        put(&project.join("AGENTS.md"), "x");
        symlink("AGENTS.md", project.join("CLAUDE.md")).unwrap();
        assert_eq!(findings(&project), []);
        symlink("../outside.md", project.join("CLAUDE.local.md")).unwrap();
        assert_eq!(findings(&project).len(), 1);
        fs::remove_file(project.join("CLAUDE.local.md")).unwrap();
        symlink("../outside.md", project.join("link.md")).unwrap();
        put(&project.join("AGENTS.md"), "@link.md");
        assert_eq!(findings(&project)[0].file, "CLAUDE.md");
    }

    #[test]
    fn more_imports_than_can_be_checked_count_as_dangerous() {
        let root = tempfile::tempdir().unwrap();
        let project = dunce::canonicalize(root.path()).unwrap();
        put(&project.join(".git/HEAD"), "x");
        let text: String = (0..=MOST_PATHS).map(|nr| format!("@{nr} ")).collect();
        put(&project.join("CLAUDE.md"), &text);
        let kinds: Vec<_> = findings(&project).iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::Unreadable]);
    }
}

//! File search for prompts: the files of a project that git does not ignore, best match first.
//!
//! The project is read once and cached. Queries are answered from the cache at once; an old cache is refreshed in the
//! background, so that typing never waits for the disk.

mod ignored;

use crate::api::{CommandError, ErrorCode, FoundFile, FoundFiles};
use crate::disk;
use ignore::{WalkBuilder, WalkState};
use ignored::Ignored;
pub(crate) use ignored::user_file;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::cmp::Reverse;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Maximum number of files and folders known per project; the rest are not offered.
const LIMIT: usize = 300_000;
/// After this long the cache is refreshed.
const FRESH: Duration = Duration::from_secs(5);
/// Maximum time to read a project; what was found until then is kept.
const LONGEST_READ: Duration = Duration::from_secs(8);
/// Number of threads that read a project.
const READERS: usize = 2;
/// Maximum number of files in the list for `@` in a prompt.
const MOST_OFFERED: usize = 30;
/// Maximum length of a query in bytes; a longer one has no matches.
const LONGEST_QUERY: usize = 256;

/// File index of one project, shared by its clones.
#[derive(Clone)]
pub struct Files(Arc<Shared>);

struct Shared {
    project: PathBuf,
    index: Mutex<Option<Arc<Index>>>,
    is_reading: AtomicBool,
    /// Locked during the first read; other callers wait for it.
    first: Mutex<()>,
    limit: usize,
}

/// The files found by one read of the project.
struct Index {
    /// Paths relative to the project, with slashes; a folder's path ends with a slash.
    paths: Vec<Box<str>>,
    is_cut: bool,
    read_at: Instant,
}

impl Files {
    pub fn of(project: &Path) -> Self {
        Self::limited(project, LIMIT)
    }

    fn limited(project: &Path, limit: usize) -> Self {
        let (project, index, is_reading) = (project.to_owned(), Mutex::default(), AtomicBool::new(false));
        Self(Arc::new(Shared { project, index, is_reading, first: Mutex::default(), limit }))
    }

    /// Returns the list for a partly typed name after `@` in a prompt.
    pub async fn offered(&self, query: String) -> Result<FoundFiles, CommandError> {
        let files = self.clone();
        let find = move || files.find(&query, MOST_OFFERED, Instant::now());
        disk::run(&self.0.project, disk::DEADLINE, find).await.map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The files of the project could not be searched.".to_owned(),
            detail: Some(error.to_string()),
        })
    }

    /// Returns the best `n_most` matches. Blocks while the project is read for the first time.
    pub fn find(&self, query: &str, n_most: usize, now: Instant) -> FoundFiles {
        let known = self.0.lock().clone();
        let index = match known {
            Some(index) => {
                if now.duration_since(index.read_at) >= FRESH
                    && !self.0.is_reading.swap(true, Ordering::AcqRel)
                {
                    let shared = self.0.clone();
                    std::thread::spawn(move || {
                        shared.read(now);
                        shared.is_reading.store(false, Ordering::Release);
                    });
                }
                index
            }
            None => {
                let _first = self.0.first.lock().unwrap_or_else(PoisonError::into_inner);
                let known = self.0.lock().clone();
                known.unwrap_or_else(|| self.0.read(now))
            }
        };
        index.find(query, n_most)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Index>>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, now: Instant) -> Arc<Index> {
        let index = Arc::new(Index::read(&self.project, self.limit, now));
        *self.lock() = Some(index.clone());
        index
    }
}

impl Index {
    /// Reads the project without ignored files and without `.git` itself.
    fn read(project: &Path, limit: usize, now: Instant) -> Self {
        let until = Instant::now() + LONGEST_READ;
        let ignored = Ignored::of(project);
        let n_found = Arc::new(AtomicUsize::new(0));
        let is_cut = Arc::new(AtomicBool::new(false));
        // Called for every entry while its folder is listed, so that the limit applies before a huge folder or project
        // is in memory.
        let is_wanted = {
            let (n_found, is_cut) = (n_found.clone(), is_cut.clone());
            move |path: &Path, is_folder: bool| {
                if is_cut.load(Ordering::Relaxed) || Instant::now() >= until {
                    is_cut.store(true, Ordering::Relaxed);
                    return false;
                }
                if path.file_name().is_some_and(|name| name == ".git") || ignored.is_ignored(path, is_folder)
                {
                    return false;
                }
                let is_over = n_found.fetch_add(1, Ordering::Relaxed) >= limit;
                is_cut.fetch_or(is_over, Ordering::Relaxed);
                !is_over
            }
        };
        let walk = WalkBuilder::new(project)
            // Keep hidden files: `.github` and `.env.example` are part of a project.
            .standard_filters(false)
            .follow_links(false)
            .filter_entry(move |entry| {
                entry.depth() == 0
                    || is_wanted(entry.path(), entry.file_type().is_some_and(|kind| kind.is_dir()))
            })
            .threads(READERS)
            .build_parallel();
        let (send, receive) = mpsc::channel();
        walk.run(|| {
            let send = send.clone();
            Box::new(move |entry| {
                // Skip entries that cannot be read.
                let Ok(entry) = entry else { return WalkState::Continue };
                let Some(path) =
                    name(project, entry.path(), entry.file_type().is_some_and(|kind| kind.is_dir()))
                else {
                    return WalkState::Continue;
                };
                if send.send(path).is_err() { WalkState::Quit } else { WalkState::Continue }
            })
        });
        drop(send);
        let mut paths: Vec<Box<str>> = receive.into_iter().collect();
        let is_cut = is_cut.load(Ordering::Relaxed);
        // The threads find paths in random order. Sort them, so that the order of equal matches stays the same while
        // the user types.
        paths.sort_unstable_by(|a, b| (depth(a), &**a).cmp(&(depth(b), &**b)));
        Self { paths, is_cut, read_at: now }
    }

    fn find(&self, query: &str, n_most: usize) -> FoundFiles {
        let mut found = FoundFiles { files: Vec::new(), is_cut: self.is_cut };
        if query.len() > LONGEST_QUERY {
            return found;
        }
        if query.is_empty() {
            found.files = self.paths.iter().take(n_most).map(|path| file(path, Vec::new())).collect();
            return found;
        }
        let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let mut letters = Vec::new();
        let mut best: Vec<(Reverse<u32>, usize)> = Vec::new();
        for (at, path) in self.paths.iter().enumerate() {
            if let Some(score) = pattern.score(Utf32Str::new(path, &mut letters), &mut matcher) {
                best.push((Reverse(score), at));
            }
        }
        if best.len() > n_most && n_most > 0 {
            best.select_nth_unstable(n_most - 1);
        }
        best.truncate(n_most);
        best.sort_unstable();
        for (_, at) in best {
            let mut matched = Vec::new();
            pattern.indices(Utf32Str::new(&self.paths[at], &mut letters), &mut matcher, &mut matched);
            matched.sort_unstable();
            matched.dedup();
            found.files.push(file(&self.paths[at], matched));
        }
        found
    }
}

fn file(path: &str, matched: Vec<u32>) -> FoundFile {
    FoundFile { path: path.to_owned(), matched }
}

fn depth(path: &str) -> usize {
    path.trim_end_matches('/').bytes().filter(|byte| *byte == b'/').count()
}

/// The path as it is named in a prompt. `None` for the project itself and for a path that is not valid UTF-8.
fn name(project: &Path, path: &Path, is_folder: bool) -> Option<Box<str>> {
    let inside = path.strip_prefix(project).ok()?.to_str()?;
    if inside.is_empty() || inside.chars().any(char::is_control) {
        return None;
    }
    let mut name = inside.replace(MAIN_SEPARATOR, "/");
    if is_folder {
        name.push('/');
    }
    Some(name.into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn project(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    fn found(files: &Files, query: &str) -> Vec<String> {
        let found = files.find(query, 10, Instant::now());
        found.files.into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn what_is_ignored_is_not_offered() {
        let folder =
            project(&["src/main.rs", "target/main.rs", "a.log", ".git/config", ".github/ci.yml", "keep.log"]);
        fs::write(folder.path().join(".gitignore"), "target/\n*.log\n!keep.log\n").unwrap();
        fs::write(folder.path().join(".ignore"), "").unwrap();
        let files = Files::of(folder.path());
        assert_eq!(
            found(&files, ""),
            [".github/", ".gitignore", ".ignore", "keep.log", "src/", ".github/ci.yml", "src/main.rs"]
        );
        assert_eq!(found(&files, "main"), ["src/main.rs"]);
    }

    #[test]
    fn the_best_match_comes_first_and_says_what_matched() {
        let folder = project(&["src/session/machine.rs", "src/main.rs", "docs/mail.md", "ui/src/main.ts"]);
        let files = Files::of(folder.path());
        assert_eq!(found(&files, "main.rs")[0], "src/main.rs");
        assert_eq!(found(&files, "smach")[0], "src/session/machine.rs");
        assert_eq!(found(&files, "ui main"), ["ui/src/main.ts"]);
        let best = files.find("mail", 1, Instant::now()).files.remove(0);
        assert_eq!((best.path.as_str(), best.matched), ("docs/mail.md", vec![5, 6, 7, 8]));
        assert!(found(&files, "nothing like it").is_empty());
        assert!(found(&files, &"a".repeat(LONGEST_QUERY + 1)).is_empty());
    }

    #[test]
    fn no_link_leads_out_and_no_name_breaks_a_line() {
        let folder = project(&["a b.txt", "ü/ñ.txt"]);
        #[cfg(unix)]
        {
            let outside = project(&["secret.txt"]);
            std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
            fs::write(folder.path().join("two\nlines"), "").unwrap();
        }
        let names = found(&Files::of(folder.path()), "");
        assert!(names.contains(&"a b.txt".to_owned()) && names.contains(&"ü/ñ.txt".to_owned()), "{names:?}");
        assert!(!names.iter().any(|name| name.contains("secret") || name.contains('\n')), "{names:?}");
    }

    #[test]
    fn what_is_old_is_read_again_behind_the_answer() {
        let folder = project(&["one.txt"]);
        let files = Files::of(folder.path());
        assert_eq!(found(&files, "txt"), ["one.txt"]);
        fs::write(folder.path().join("two.txt"), "").unwrap();
        assert_eq!(found(&files, "txt"), ["one.txt"], "fresh enough");
        let later = Instant::now() + FRESH;
        let deadline = Instant::now() + Duration::from_secs(20);
        while files.find("txt", 10, later).files.len() < 2 {
            assert!(Instant::now() < deadline, "the new file is not found");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_huge_project_is_bounded() {
        let names: Vec<String> = (0..500).map(|n| format!("f{}/x{n}.rs", n % 7)).collect();
        let folder = project(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let files = Files::limited(folder.path(), 100);
        let found = files.find("x", 10, Instant::now());
        assert!(found.is_cut);
        assert_eq!(found.files.len(), 10);
        assert!(files.0.lock().as_ref().unwrap().paths.len() <= 100);
    }
}

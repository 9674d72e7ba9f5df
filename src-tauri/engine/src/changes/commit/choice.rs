//! The chosen files and hunks, and the index of the commit that is made of them.

use super::super::content::shown;
use super::super::git::{Git, MOST_LISTED};
use super::super::listing::{Blob, GitPath, attributes, records};
use super::super::revert::place;
use super::super::versions::{Versions, versions};
use super::super::{Repository, WorkingTree, read};
use super::entries::write;
use super::place::{RepositoryFolders, line, problem};
use crate::api::{
    Changes, ChangesBase, CommitFile, CommitFiles, CommitProblem, DiffKind, FileChange, FileContent,
    FileState, HunkPlace,
};
use crate::document::line_hunks;
use std::collections::{BTreeSet, HashMap};

/// The attribute that names the filter of a file.
const FILTER: &str = "filter";

/// The part of a file that is committed.
pub(super) enum ChosenPart {
    Whole,
    /// The content with only the chosen hunks, and its mode.
    Content(Vec<u8>, u32),
}

/// A path of the commit, from the root.
pub(super) struct ChosenPath {
    pub path: GitPath,
    pub part: ChosenPart,
}

/// Reads the choice. `git` is asked in the folder of the project.
pub(super) async fn chosen(
    tree: &WorkingTree<'_>,
    git: &Git<'_>,
    folders: &RepositoryFolders,
    files: &CommitFiles,
) -> Result<Vec<ChosenPath>, CommitProblem> {
    let changes = read(tree).await.map_err(problem)?;
    if changes.base == ChangesBase::NoRepository {
        return Err(CommitProblem::NoRepository);
    }
    let wanted = wanted(&changes, files)?;
    let raw = raw_paths(git, &wanted).await?;
    let mut all = Vec::new();
    for (file, change) in &wanted {
        committable(change)?;
        let part = part(git, file, change).await?;
        let mut add = |path: &str, part| {
            let own = match raw.get(path) {
                Some(Some(bytes)) => bytes.clone(),
                None if !path.contains("\\x") => path.as_bytes().to_vec(),
                _ => return Err(refused(path, "its name is not clear")),
            };
            // An untracked folder with a slash at its end is a repository, which is refused.
            all.push(ChosenPath { path: [folders.prefix.as_bytes(), &own].concat(), part });
            Ok(())
        };
        if let Some(old) = &change.old_path {
            add(old, ChosenPart::Whole)?;
        }
        add(&change.path, part)?;
    }
    Ok(all)
}

/// The chosen changes.
fn wanted<'a>(
    changes: &'a Changes,
    files: &CommitFiles,
) -> Result<Vec<(CommitFile, &'a FileChange)>, CommitProblem> {
    let CommitFiles::Only(files) = files else {
        if let Some(said) = &changes.problem {
            return Err(CommitProblem::Git { said: said.clone() });
        }
        return match changes.n_more + changes.n_not_compared {
            0 => {
                let whole =
                    |change: &FileChange| CommitFile { path: change.path.clone(), ..CommitFile::default() };
                Ok(changes.files.iter().map(|change| (whole(change), change)).collect())
            }
            n => Err(CommitProblem::TooMany { n }),
        };
    };
    let by_path: HashMap<&str, &FileChange> =
        changes.files.iter().map(|change| (change.path.as_str(), change)).collect();
    let mut seen = BTreeSet::new();
    let find = |file: &CommitFile| match by_path.get(file.path.as_str()) {
        Some(change) => Ok((file.clone(), *change)),
        None => Err(CommitProblem::NotChanged { path: file.path.clone() }),
    };
    files.iter().filter(|file| seen.insert(file.path.as_str())).map(find).collect()
}

fn refused(path: &str, why: &str) -> CommitProblem {
    CommitProblem::NotCommittable { path: path.to_owned(), why: why.to_owned() }
}

fn committable(change: &FileChange) -> Result<(), CommitProblem> {
    match (change.state, change.content) {
        (FileState::Conflicted, _) => Err(CommitProblem::Conflicts { files: vec![change.path.clone()] }),
        (_, FileContent::Special) => Err(refused(&change.path, "it is not a file")),
        // Git would keep only the name of its commit, which no clone has.
        (FileState::Untracked, FileContent::Repository) => {
            Err(refused(&change.path, "it is a repository of its own; add it as a submodule"))
        }
        _ => Ok(()),
    }
}

async fn part(git: &Git<'_>, file: &CommitFile, change: &FileChange) -> Result<ChosenPart, CommitProblem> {
    if file.hunks.is_none() && file.version.is_none() {
        return Ok(ChosenPart::Whole);
    }
    let repository = Repository::of(git).await.map_err(problem)?.ok_or(CommitProblem::NoRepository)?;
    let found = versions(git, &repository, None, &[&file.path]).await.map_err(problem)?.pop();
    let found = match found {
        Some(Ok(found)) => found,
        Some(Err(why)) => return Err(refused(&file.path, &why)),
        None => return Err(CommitProblem::NotChanged { path: file.path.clone() }),
    };
    if file.version.as_ref().is_some_and(|version| *version != found.fingerprint()) {
        return Err(CommitProblem::ChangedSince { path: file.path.clone() });
    }
    let Some(hunks) = &file.hunks else { return Ok(ChosenPart::Whole) };
    if change.old_path.is_some() || !found.is_there() || found.has_link() {
        return Err(refused(&file.path, "its change has no parts"));
    }
    let content =
        with_hunks(&found, hunks).ok_or_else(|| CommitProblem::ChangedSince { path: file.path.clone() })?;
    let mode =
        [&found.old, &found.now].into_iter().flatten().next().map_or(0o100_644, |version| version.mode);
    Ok(ChosenPart::Content(content, mode))
}

/// The earlier content with only these hunks of the change. `None` if one of them does not exist.
fn with_hunks(found: &Versions, hunks: &[HunkPlace]) -> Option<Vec<u8>> {
    let (before, after) = found.texts()?;
    let all = line_hunks(&before, &after);
    let old: Vec<&[u8]> = found.before().split_inclusive(|byte| *byte == b'\n').collect();
    let now: Vec<&[u8]> = found.now().split_inclusive(|byte| *byte == b'\n').collect();
    let lines = |of: &[&[u8]], range: std::ops::Range<usize>| of.get(range).unwrap_or_default().concat();
    let chosen: Vec<_> = all.iter().filter(|hunk| hunks.contains(&place(hunk))).collect();
    let places: Vec<HunkPlace> = all.iter().map(place).collect();
    if chosen.is_empty() || hunks.iter().any(|hunk| !places.contains(hunk)) {
        return None;
    }
    let (mut content, mut at) = (Vec::new(), 0);
    for hunk in chosen {
        content.extend(lines(&old, at..hunk.old.start));
        for (kind, range) in &hunk.runs {
            match kind {
                DiffKind::Context | DiffKind::Added => content.extend(lines(&now, range.clone())),
                DiffKind::Removed => {}
            }
        }
        at = hunk.old.end;
    }
    content.extend(lines(&old, at..old.len()));
    Some(content)
}

/// The bytes of the names that are shown with escaped bytes; `None` for a name that several files have.
async fn raw_paths(
    git: &Git<'_>,
    wanted: &[(CommitFile, &FileChange)],
) -> Result<HashMap<String, Option<GitPath>>, CommitProblem> {
    let mut found = HashMap::new();
    let names = wanted.iter().flat_map(|(_, change)| [Some(&change.path), change.old_path.as_ref()]);
    let escaped: BTreeSet<&String> = names.flatten().filter(|name| name.contains("\\x")).collect();
    if escaped.is_empty() {
        return Ok(found);
    }
    let mut listed = git.ask(&["ls-files", "--cached", "--others", "-z"]).await.map_err(problem)?;
    // Without a commit it fails, and there is no earlier file.
    listed.extend(git.ask(&["ls-tree", "-r", "-z", "--name-only", "HEAD"]).await.unwrap_or_default());
    let all: BTreeSet<&[u8]> = records(&listed).collect();
    for path in all {
        let name = shown(path);
        if escaped.contains(&name) {
            let is_second = found.contains_key(&name);
            found.insert(name, (!is_second).then(|| path.to_vec()));
        }
    }
    Ok(found)
}

/// Refuses files that a filter converts, because without the filter their stored content would be wrong. `git` is asked
/// at the root.
pub(super) async fn no_filters(git: &Git<'_>, chosen: &[ChosenPath]) -> Result<(), CommitProblem> {
    let input: Vec<u8> = chosen.iter().flat_map(|chosen| chosen.path.iter().copied().chain([0])).collect();
    let args = ["check-attr", "-z", "--stdin", FILTER];
    let found = attributes(&git.ask_with(&args, &input, MOST_LISTED).await.map_err(problem)?);
    let names = found.iter().filter_map(|(path, values)| Some((path, values.get(FILTER)?)));
    match names.filter(|(_, name)| !matches!(name.as_str(), "unspecified" | "unset")).min() {
        Some((path, name)) => {
            Err(refused(&shown(path), &format!("the filter “{name}” converts it, and nothing may run here")))
        }
        None => Ok(()),
    }
}

/// Puts the chosen files into the index of `git`, which runs the filters of `git`.
pub(super) async fn add(git: &Git<'_>, closed: &Git<'_>, chosen: &[ChosenPath]) -> Result<(), CommitProblem> {
    let whole = chosen.iter().filter(|chosen| matches!(chosen.part, ChosenPart::Whole));
    let input: Vec<u8> = whole.flat_map(|chosen| chosen.path.iter().copied().chain([0])).collect();
    if !input.is_empty() {
        let args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
        git.ask_with(&args, &input, MOST_LISTED).await.map_err(problem)?;
    }
    let mut parts = Vec::new();
    for ChosenPath { path, part } in chosen {
        let ChosenPart::Content(content, mode) = part else { continue };
        let args = ["hash-object", "-w", "-t", "blob", "--stdin"];
        let id = line(&closed.ask_with(&args, content, MOST_LISTED).await.map_err(problem)?);
        parts.push((path.clone(), Some(Blob { mode: *mode, id })));
    }
    write(closed, &parts).await
}

//! Entries of an index as records that `git update-index --index-info` takes.

use super::super::git::Git;
use super::super::listing::{Blob, GitPath, IndexEntry, index, tree};
use super::place::problem;
use crate::api::CommitProblem;
use std::collections::BTreeMap;

/// Files with their blobs, by their paths from the root.
pub(super) type Blobs = BTreeMap<GitPath, Blob>;

/// The difference of two trees: each path with its earlier and its later blob.
pub(super) type Difference = BTreeMap<GitPath, (Option<Blob>, Option<Blob>)>;

/// The files of a commit; none without one.
pub(super) async fn of_commit(git: &Git<'_>, commit: Option<&str>) -> Result<Blobs, CommitProblem> {
    match commit {
        Some(id) => Ok(tree(&git.ask(&["ls-tree", "-r", "-z", "--full-tree", id]).await.map_err(problem)?)),
        None => Ok(Blobs::new()),
    }
}

/// The entries of the index of `git`.
pub(super) async fn of_index(git: &Git<'_>) -> Result<BTreeMap<GitPath, IndexEntry>, CommitProblem> {
    Ok(index(&git.ask(&["ls-files", "--stage", "--debug", "-z"]).await.map_err(problem)?))
}

/// The entries that have content.
pub(super) fn blobs(entries: &BTreeMap<GitPath, IndexEntry>) -> Blobs {
    let with_content = entries.iter().filter(|(_, entry)| !entry.is_intended);
    with_content.filter_map(|(path, entry)| Some((path.clone(), entry.blob.clone()?))).collect()
}

pub(super) fn difference(before: &Blobs, after: &Blobs) -> Difference {
    let paths = before.keys().chain(after.keys());
    paths
        .map(|path| (path.clone(), (before.get(path).cloned(), after.get(path).cloned())))
        .filter(|(_, (before, after))| before != after)
        .collect()
}

/// Makes these entries of the index of `git` these blobs, in one step.
pub(super) async fn write(git: &Git<'_>, entries: &[(GitPath, Option<Blob>)]) -> Result<(), CommitProblem> {
    if entries.is_empty() {
        return Ok(());
    }
    let format = git.ask(&["rev-parse", "--show-object-format"]).await.map_err(problem)?;
    let none = "0".repeat(if format.starts_with(b"sha256") { 64 } else { 40 });
    let mut input = Vec::new();
    // A file makes room first for a folder of its name.
    let (gone, kept): (Vec<_>, Vec<_>) = entries.iter().partition(|(_, blob)| blob.is_none());
    for (path, blob) in gone.into_iter().chain(kept) {
        match blob {
            Some(Blob { mode, id }) => input.extend_from_slice(format!("{mode:o} {id}\t").as_bytes()),
            None => input.extend_from_slice(format!("0 {none}\t").as_bytes()),
        }
        input.extend_from_slice(path);
        input.push(0);
    }
    let args = ["update-index", "--replace", "-z", "--index-info"];
    git.ask_with(&args, &input, super::super::git::MOST_LISTED).await.map_err(problem)?;
    Ok(())
}

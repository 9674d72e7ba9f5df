//! `deskbell folders`: lists the folders in a folder, for a window that chooses one on this machine.

use crate::output::{ended, print};
use anyhow::Context;
use deskbell_engine::api::FolderListing;
use deskbell_engine::disk;
use std::path::Path;
use std::process::ExitCode;

/// Entries of a folder that are looked at, and folders that are listed.
const MOST_ENTRIES: usize = 20_000;
const MOST_FOLDERS: usize = 2_000;

pub fn main(folder: &Path) -> ExitCode {
    ended(run(folder))
}

fn run(folder: &Path) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listed = folder.to_owned();
    let listing = runtime.block_on(disk::run(folder, disk::DEADLINE, move || list(&listed)));
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    let mut line = serde_json::to_vec(&listing??)?;
    line.push(b'\n');
    Ok(print(&line)?)
}

fn list(folder: &Path) -> anyhow::Result<FolderListing> {
    let listing = disk::list(folder, MOST_ENTRIES).context("listing the folder")?;
    let name_of = |path: &std::path::PathBuf| {
        let name = path.file_name()?.to_str()?;
        let is_shown = !name.starts_with('.') && !name.chars().any(char::is_control);
        (is_shown && path.is_dir()).then(|| name.to_owned())
    };
    let mut folders: Vec<String> = listing.paths.iter().filter_map(name_of).collect();
    folders.sort_by_key(|name| name.to_lowercase());
    let is_cut = listing.is_cut || folders.len() > MOST_FOLDERS;
    folders.truncate(MOST_FOLDERS);
    let path = folder.to_str().context("the name of the folder is not valid Unicode")?.to_owned();
    let parent = folder.parent().and_then(Path::to_str).map(str::to_owned);
    Ok(FolderListing { path, parent, folders, is_cut })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_are_listed_without_hidden_ones() {
        let root = tempfile::tempdir().unwrap();
        for name in ["b", "A", ".git", "x\u{1b}[2J"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        std::fs::write(root.path().join("file"), "").unwrap();
        let listing = list(root.path()).unwrap();
        assert_eq!(listing.folders, ["A", "b"]);
        assert_eq!(listing.parent.as_deref(), root.path().parent().unwrap().to_str());
        assert!(!listing.is_cut);
        assert!(list(&root.path().join("gone")).is_err());
    }
}

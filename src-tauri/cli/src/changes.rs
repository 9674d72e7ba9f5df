//! `deskbell changes`: lists the files of a working tree that differ from its last commit, prints them as a patch, and
//! reverts them. See docs/relay.md.

use crate::args::changes::{ChangesAction, ChangesOptions};
use crate::output::{plain, print, words};
use anyhow::{anyhow, bail};
use deskbell_engine::LocalHost;
use deskbell_engine::api::{Changes, ChangesBase, FileChange, FileContent, FileState, HunkPlace};
use deskbell_engine::changes::{Reverts, WorkingTree};
use deskbell_sessions::folders;
use deskbell_sessions::opener::now_ms;
use std::path::Path;
use std::process::ExitCode;

/// Fails if there is no repository, or if the list or the patch is not complete.
pub fn main(options: &ChangesOptions) -> ExitCode {
    match run(options) {
        Ok(is_complete) if is_complete => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("deskbell: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &ChangesOptions) -> anyhow::Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let project = &options.project;
    let done = runtime.block_on(async {
        match &options.action {
            ChangesAction::List { json } => list(project, *json).await,
            ChangesAction::Patch(paths) => patch(project, paths).await,
            ChangesAction::Revert { path, hunk } => revert(project, path, *hunk).await,
            ChangesAction::UndoRevert => {
                Reverts::new(&LocalHost, project, &folders::data()).undo(None).await.map_err(words)?;
                Ok(true)
            }
        }
    });
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    done
}

async fn list(project: &Path, json: bool) -> anyhow::Result<bool> {
    let changes = read(project).await?;
    let mut text = Vec::new();
    for file in &changes.files {
        match json {
            true => serde_json::to_writer(&mut text, file)?,
            false => text.extend(line(file).into_bytes()),
        }
        text.push(b'\n');
    }
    print(&text)?;
    Ok(report(&missing(&changes)))
}

async fn patch(project: &Path, paths: &[String]) -> anyhow::Result<bool> {
    let patch =
        WorkingTree::new(&LocalHost, project, None).patch(paths).await.map_err(|why| anyhow!("{why}"))?;
    print(patch.text.as_bytes())?;
    Ok(report(&patch.left_out))
}

async fn revert(project: &Path, path: &str, hunk: Option<HunkPlace>) -> anyhow::Result<bool> {
    let changes = read(project).await?;
    let Some(file) = changes.files.iter().find(|file| file.path == path) else {
        bail!("{} has no changes", plain(path));
    };
    let reverts = Reverts::new(&LocalHost, project, &folders::data());
    let old_path = file.old_path.as_deref();
    reverts.revert(None, path, old_path, None, hunk, now_ms()).await.map_err(words)?;
    Ok(true)
}

async fn read(project: &Path) -> anyhow::Result<Changes> {
    let changes = WorkingTree::new(&LocalHost, project, None).changes().await;
    if changes.base == ChangesBase::NoRepository {
        match &changes.problem {
            Some(problem) => bail!("{problem}"),
            None => bail!("{} is not in a git repository", project.display()),
        }
    }
    Ok(changes)
}

/// Prints what is missing, and returns whether nothing is.
fn report(missing: &[String]) -> bool {
    missing.iter().for_each(|missing| eprintln!("deskbell: {}", plain(missing)));
    missing.is_empty()
}

/// What the list lacks.
fn missing(changes: &Changes) -> Vec<String> {
    let more =
        (changes.n_more > 0).then(|| format!("{} more files changed and are not listed", changes.n_more));
    let n = changes.n_not_compared;
    let rest = (n > 0).then(|| format!("{n} files were not compared: they are too large, or too many"));
    changes.problem.clone().into_iter().chain(more).chain(rest).collect()
}

fn line(file: &FileChange) -> String {
    let state = match file.state {
        FileState::Added => 'A',
        FileState::Untracked => '?',
        FileState::Modified => 'M',
        FileState::Deleted => 'D',
        FileState::Renamed => 'R',
        FileState::Conflicted => 'U',
    };
    let counts = match (file.added, file.removed, file.content) {
        (Some(added), Some(removed), _) => format!("+{added} -{removed}"),
        (_, _, FileContent::Binary) => "binary".to_owned(),
        (_, _, FileContent::Large) => "large".to_owned(),
        (_, _, FileContent::Repository) => "repository".to_owned(),
        (_, _, FileContent::Special) => "not a file".to_owned(),
        (_, _, FileContent::Converted) => "converted".to_owned(),
        _ => "not counted".to_owned(),
    };
    let old = file.old_path.as_ref().map_or_else(String::new, |old| format!("{} -> ", plain(old)));
    format!("{state}  {old}{}  {counts}", plain(&file.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_change_and_no_name_breaks_it() {
        let file = FileChange {
            path: "b\n\u{202e}c".to_owned(),
            old_path: Some("a".to_owned()),
            state: FileState::Renamed,
            content: FileContent::Text,
            added: Some(0),
            removed: Some(2),
        };
        assert_eq!(line(&file), "R  a -> b\\u{a}\\u{202e}c  +0 -2");
        let binary =
            FileChange { old_path: None, content: FileContent::Binary, added: None, removed: None, ..file };
        assert_eq!(line(&binary), "R  b\\u{a}\\u{202e}c  binary");
    }
}

//! `deskbell worktrees`: lists the worktrees of a repository, adds one for a branch, and removes one that holds nothing of
//! its own. See docs/relay.md.

use crate::args::worktrees::{WorktreesAction, WorktreesOptions};
use crate::output::{ended, plain, print};
use deskbell_engine::LocalHost;
use deskbell_engine::api::{Checkout, Worktree, WorktreePlan, WorktreeRemoval};
use deskbell_engine::changes::WorkingTree;
use deskbell_engine::disk;
use deskbell_engine::worktrees::Worktrees;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

pub fn main(options: &WorktreesOptions) -> ExitCode {
    ended(run(options))
}

fn run(options: &WorktreesOptions) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let done = runtime.block_on(async {
        let worktrees = Worktrees::new(&LocalHost, &options.folder);
        let json = options.json;
        let text = match &options.action {
            WorktreesAction::List => {
                let mut text = String::new();
                for worktree in worktrees.list().await? {
                    text += &said(json, &worktree, line)?;
                }
                text
            }
            WorktreesAction::Current => {
                let folder = options.folder.clone();
                let read = disk::run(&options.folder, disk::DEADLINE, move || WorkingTree::checkout(&folder));
                said(json, &read.await??, current)?
            }
            WorktreesAction::Plan(branch) => said(json, &worktrees.plan(branch).await?, planned)?,
            WorktreesAction::Add(branch) => said(json, worktrees.add(branch).await?.as_path(), shown)?,
            WorktreesAction::Folder { name } => {
                said(json, worktrees.folder_in(name).await?.as_path(), shown)?
            }
            WorktreesAction::Review { name } => said(json, &worktrees.review(name).await?, reviewed)?,
            WorktreesAction::Remove { name, with_ignored } => {
                said(json, &worktrees.remove(name, *with_ignored).await?, removed)?
            }
        };
        Ok(print(text.as_bytes())?)
    });
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    done
}

/// A line for a terminal, or of JSON.
fn said<T: Serialize + ?Sized>(
    json: bool,
    value: &T,
    line: impl FnOnce(&T) -> String,
) -> anyhow::Result<String> {
    Ok((if json { serde_json::to_string(value)? } else { line(value) }) + "\n")
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn current(checkout: &Checkout) -> String {
    let of = |name: &String| format!("  worktree of {}", plain(name));
    let branch = checkout.branch.as_deref().map_or_else(|| "no repository".to_owned(), plain);
    branch + &checkout.worktree_of.as_ref().map_or_else(String::new, of)
}

fn planned(plan: &WorktreePlan) -> String {
    format!("{}  {}", plain(&plan.path), if plan.is_new { "new branch" } else { "branch exists" })
}

fn reviewed(review: &WorktreeRemoval) -> String {
    let path = plain(&review.worktree.path);
    match &review.kept {
        Some(why) => format!("{path} is kept: {}", plain(why)),
        None if review.ignored.is_empty() => format!("{path} has nothing that is nowhere else"),
        None => {
            let more = match review.n_more_ignored {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            let named: Vec<String> = review.ignored.iter().map(|file| plain(file)).collect();
            format!("{path} has files that git ignores: {}{more}", named.join(", "))
        }
    }
}

fn removed(worktree: &Worktree) -> String {
    let is_there = |branch: &String| format!("; the branch {} is still there", plain(branch));
    let branch = worktree.branch.as_ref().map_or_else(String::new, is_there);
    format!("removed {}{branch}", plain(&worktree.path))
}

fn line(worktree: &Worktree) -> String {
    let commit = || worktree.commit.as_deref().and_then(|id| id.get(..8)).unwrap_or("no commit").to_owned();
    let mut line = format!(
        "{} {}  {}",
        if worktree.is_current { '*' } else { ' ' },
        worktree.branch.as_deref().map_or_else(commit, plain),
        plain(&worktree.path)
    );
    let states = [(worktree.is_missing, "  missing"), (worktree.is_locked, "  locked")];
    line.extend(states.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word));
    match worktree.n_changed {
        Some(0) => {}
        Some(1) => line += "  1 changed file",
        Some(n) => line += &format!("  {n} changed files"),
        None if worktree.is_missing => {}
        None => line += "  changes unknown",
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_branch_the_folder_and_the_state() {
        let worktree = Worktree {
            path: "/w\u{202e}".to_owned(),
            branch: Some("main".to_owned()),
            commit: Some("0123456789".to_owned()),
            is_main: true,
            is_current: true,
            is_locked: false,
            is_missing: false,
            n_changed: Some(2),
        };
        assert_eq!(line(&worktree), "* main  /w\\u{202e}  2 changed files");
        let other =
            Worktree { branch: None, is_current: false, is_missing: true, n_changed: None, ..worktree };
        assert_eq!(line(&other), "  01234567  /w\\u{202e}  missing");
        let of = |branch: Option<&str>, main: Option<&str>| Checkout {
            branch: branch.map(str::to_owned),
            worktree_of: main.map(str::to_owned),
        };
        assert_eq!(current(&of(Some("fix/a"), Some("ledger"))), "fix/a  worktree of ledger");
        assert_eq!(current(&of(None, None)), "no repository");
        let mut review = WorktreeRemoval {
            worktree: other,
            kept: Some("it is locked".to_owned()),
            ignored: Vec::new(),
            n_more_ignored: 0,
        };
        assert_eq!(reviewed(&review), "/w\\u{202e} is kept: it is locked");
        review =
            WorktreeRemoval { kept: None, ignored: vec!["target/".to_owned()], n_more_ignored: 2, ..review };
        assert_eq!(reviewed(&review), "/w\\u{202e} has files that git ignores: target/ and 2 more");
        assert_eq!(said(true, Path::new("/a b"), shown).unwrap(), "\"/a b\"\n");
    }
}

//! `deskbell worktrees`: lists the worktrees of a repository, adds one for a branch, and removes one that holds nothing of
//! its own. See docs/relay.md.

use crate::args::worktrees::{WorktreesAction, WorktreesOptions};
use crate::changes::{plain, print};
use deskbell_engine::LocalHost;
use deskbell_engine::api::Worktree;
use deskbell_engine::worktrees::Worktrees;
use std::process::ExitCode;

pub fn main(options: &WorktreesOptions) -> ExitCode {
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("deskbell: {}", plain(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

fn run(options: &WorktreesOptions) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let done = runtime.block_on(async {
        let worktrees = Worktrees::new(&LocalHost, &options.folder);
        let text = match &options.action {
            WorktreesAction::List { json } => {
                let mut text = String::new();
                for worktree in worktrees.list().await? {
                    text += &if *json { serde_json::to_string(&worktree)? } else { line(&worktree) };
                    text.push('\n');
                }
                text
            }
            WorktreesAction::Add(branch) => format!("{}\n", worktrees.add(branch).await?.display()),
            WorktreesAction::Remove { name, with_ignored } => {
                let removed = worktrees.remove(name, *with_ignored).await?;
                let branch = removed.branch.map_or_else(String::new, |branch| {
                    format!("; the branch {} is still there", plain(&branch))
                });
                format!("removed {}{branch}\n", plain(&removed.path))
            }
        };
        Ok(print(text.as_bytes())?)
    });
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    done
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
    }
}

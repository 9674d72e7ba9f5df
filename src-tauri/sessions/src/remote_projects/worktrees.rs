//! The worktrees of a repository on another machine: Deskbell there lists, adds, reviews and removes them, with the code
//! that a window on its machine uses.

use super::{MachineClient, bad_folder, project_on};
use crate::far::FarError;
use deskbell_engine::api::*;
use deskbell_engine::title::Title;
use serde::de::DeserializeOwned;

/// Worktrees that are listed, and files that a review names.
const MOST_WORKTREES: usize = 500;
const MOST_NAMED: usize = 20;

/// Longest name of a branch or a file, and longest reason, in user-perceived characters.
const LONGEST: usize = 300;

/// The repository that a project on another machine is in.
pub struct FarWorktrees {
    client: MachineClient,
    folder: RemoteFolder,
}

impl FarWorktrees {
    pub fn new(client: MachineClient, folder: RemoteFolder) -> Self {
        Self { client, folder }
    }

    /// The project of a folder there.
    pub fn project(&self, folder: &str) -> Result<ProjectRef, CommandError> {
        project_on(self.client.machine(), folder).map(ProjectRef::from)
    }

    /// The main one first.
    pub async fn list(&self) -> Result<Vec<Worktree>, CommandError> {
        let asked = self.client.ask_lines(&self.command(&[])).await;
        let listed = asked.map_err(|error| self.client.for_window(error))?;
        if listed.code != Some(0) {
            return Err(self.client.for_window(FarError::Failed { lines: listed.problems }));
        }
        let known = listed.values.into_iter().filter_map(checked);
        Ok(known.take(MOST_WORKTREES).collect())
    }

    /// What is checked out in the folder.
    pub async fn current(&self) -> Result<Checkout, CommandError> {
        let Checkout { branch, worktree_of } = self.ask(&["--current".to_owned()]).await?;
        // As the name of a project there.
        let named = |name| format!("{} ({})", line(name), self.client.machine());
        Ok(Checkout { branch: branch.map(line), worktree_of: worktree_of.map(named) })
    }

    /// What [`Self::add`] would create.
    pub async fn plan(&self, branch: &str) -> Result<WorktreePlan, CommandError> {
        let plan: WorktreePlan = self.ask(&[option("plan", branch)?]).await?;
        project_on(self.client.machine(), &plan.path).map(|_| plan)
    }

    /// Creates a worktree of a branch. Returns the folder in it that corresponds to the project's.
    pub async fn add(&self, branch: &str) -> Result<String, CommandError> {
        self.folder(&[option("add", branch)?]).await
    }

    /// The folder in a worktree that corresponds to the project's.
    pub async fn folder_in(&self, path: &str) -> Result<String, CommandError> {
        self.folder(&[option("folder", path)?]).await
    }

    /// Why a worktree would be kept, or else what would be lost with it.
    pub async fn review(&self, path: &str) -> Result<WorktreeRemoval, CommandError> {
        let review: WorktreeRemoval = self.ask(&[option("review", path)?]).await?;
        let n_cut = review.ignored.len().saturating_sub(MOST_NAMED);
        Ok(WorktreeRemoval {
            worktree: checked(review.worktree).ok_or_else(bad_folder)?,
            kept: review.kept.map(line),
            ignored: review.ignored.into_iter().take(MOST_NAMED).map(line).collect(),
            n_more_ignored: review.n_more_ignored.saturating_add(n_cut),
        })
    }

    /// Removes a worktree, unless something in it is nowhere else.
    pub async fn remove(&self, path: &str, with_ignored: bool) -> Result<(), CommandError> {
        let with = with_ignored.then(|| "--with-ignored".to_owned());
        let options: Vec<String> = [option("remove", path)?].into_iter().chain(with).collect();
        self.ask::<Worktree>(&options).await.map(drop)
    }

    async fn folder(&self, options: &[String]) -> Result<String, CommandError> {
        let folder: String = self.ask(options).await?;
        project_on(self.client.machine(), &folder).map(|_| folder)
    }

    async fn ask<T: DeserializeOwned>(&self, options: &[String]) -> Result<T, CommandError> {
        self.client.ask(&self.command(options)).await.map_err(|error| self.client.for_window(error))
    }

    fn command(&self, options: &[String]) -> Vec<String> {
        let command = ["worktrees".to_owned(), self.folder.to_string(), "--json".to_owned()];
        command.into_iter().chain(options.iter().cloned()).collect()
    }
}

/// An option with a branch or a folder. It is one argument and one line there.
fn option(name: &str, value: &str) -> Result<String, CommandError> {
    if value.contains(char::is_control) {
        return Err(CommandError {
            code: ErrorCode::BadCommand,
            message: "This is not the name of a branch.".to_owned(),
            detail: None,
        });
    }
    Ok(format!("--{name}={value}"))
}

fn line(text: String) -> String {
    Title::one_line(&text, LONGEST)
}

/// A worktree as far as it can be one.
fn checked(worktree: Worktree) -> Option<Worktree> {
    let is_one = worktree.path.parse::<RemoteFolder>().is_ok();
    is_one.then(|| Worktree {
        branch: worktree.branch.map(line),
        commit: worktree.commit.map(line),
        ..worktree
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_worktree_is_a_folder_there_with_short_names() {
        let worktree = |path: &str| Worktree {
            path: path.to_owned(),
            branch: Some("a\u{1b}[2J\n".repeat(1_000)),
            commit: None,
            is_main: false,
            is_current: false,
            is_locked: false,
            is_missing: false,
            n_changed: None,
        };
        for path in ["", "app", "../x", "/a\0b", "/a\nb", "--remove=/"] {
            assert_eq!(checked(worktree(path)), None, "{path:?}");
        }
        let branch = checked(worktree("/app")).unwrap().branch.unwrap();
        assert!(branch.chars().count() <= LONGEST && !branch.contains(char::is_control), "{branch:?}");
    }

    #[test]
    fn a_name_is_one_argument() {
        assert_eq!(option("add", "-x y").unwrap(), "--add=-x y");
        for name in ["a\nb", "a\0b", "\u{1b}"] {
            assert!(option("add", name).is_err(), "{name:?}");
        }
    }
}

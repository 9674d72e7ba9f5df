//! The command line of `deskbell worktrees`.

use super::{Problem, folder_named};
use clap::ValueHint;
use clap::builder::NonEmptyStringValueParser;
use std::path::{Path, PathBuf};

/// A folder of a repository, and what to do with its worktrees.
#[derive(Debug, PartialEq, Eq)]
pub struct WorktreesOptions {
    pub folder: PathBuf,
    pub action: WorktreesAction,
    /// Prints JSON.
    pub json: bool,
}

/// `name`: a branch or a folder.
#[derive(Debug, PartialEq, Eq)]
pub enum WorktreesAction {
    List,
    /// Print what is checked out in the folder.
    Current,
    /// Print what `Add` would create.
    Plan(String),
    /// Create one for this branch.
    Add(String),
    /// Print the folder in a worktree that corresponds to the given one.
    Folder {
        name: String,
    },
    /// Print why `Remove` would keep it, or what would be lost.
    Review {
        name: String,
    },
    Remove {
        name: String,
        with_ignored: bool,
    },
}

/// The arguments after `worktrees`.
#[derive(Debug, clap::Args)]
pub struct WorktreesArgs {
    /// A folder of the repository, by default the current one
    #[arg(id = "in", value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    folder: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    action: ActionArgs,
    /// With --remove: files that git ignores are lost too
    #[arg(long, requires = "remove", conflicts_with_all = ["current", "plan", "add", "folder", "review"])]
    with_ignored: bool,
}

#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct ActionArgs {
    /// Print what is checked out in FOLDER
    #[arg(long)]
    current: bool,
    /// Print what --add would make
    #[arg(long, value_name = "BRANCH", value_parser = NonEmptyStringValueParser::new())]
    plan: Option<String>,
    /// Make a worktree of a branch, next to the repository, and print its folder; a new branch begins at the current
    /// commit
    #[arg(long, value_name = "BRANCH", value_parser = NonEmptyStringValueParser::new())]
    add: Option<String>,
    /// Print the folder in a worktree that corresponds to FOLDER
    #[arg(long, value_name = "BRANCH|DIR", value_parser = NonEmptyStringValueParser::new())]
    folder: Option<String>,
    /// Print what --remove would lose, or why it would not remove
    #[arg(long, value_name = "BRANCH|DIR", value_parser = NonEmptyStringValueParser::new())]
    review: Option<String>,
    /// Remove a worktree, unless something in it is nowhere else; the branch stays
    #[arg(long, value_name = "BRANCH|DIR", value_parser = NonEmptyStringValueParser::new())]
    remove: Option<String>,
}

impl ActionArgs {
    fn action(self, with_ignored: bool) -> WorktreesAction {
        let Self { current, plan, add, folder, review, remove } = self;
        let listed = if current { WorktreesAction::Current } else { WorktreesAction::List };
        plan.map(WorktreesAction::Plan)
            .or(add.map(WorktreesAction::Add))
            .or(folder.map(|name| WorktreesAction::Folder { name }))
            .or(review.map(|name| WorktreesAction::Review { name }))
            .or(remove.map(|name| WorktreesAction::Remove { name, with_ignored }))
            .unwrap_or(listed)
    }
}

impl WorktreesArgs {
    pub fn checked(self, cwd: &Path) -> Result<WorktreesOptions, Problem> {
        let folder = folder_named(cwd, self.folder.as_deref())?;
        Ok(WorktreesOptions { folder, action: self.action.action(self.with_ignored), json: self.json })
    }
}

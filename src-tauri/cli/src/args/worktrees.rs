//! The command line of `deskbell worktrees`.

use super::{Problem, folder_named, split};
use deskbell_engine::projects::ProjectStore;
use std::ffi::OsString;
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

/// Parses the arguments after `worktrees`.
pub fn parse(args: &[OsString], cwd: &Path) -> Result<WorktreesOptions, Problem> {
    let (mut folder, mut action, mut with_ignored, mut json) = (None, None, false, false);
    for arg in args {
        let (name, value) = split(arg);
        let text = || value.as_ref().and_then(|value| value.to_str()).filter(|value| !value.is_empty());
        let value_of = || text().map(str::to_owned).ok_or(Problem::NoValue(name.clone()));
        let next = match name.as_str() {
            "--json" if value.is_none() => {
                json = true;
                continue;
            }
            "--with-ignored" if value.is_none() => {
                with_ignored = true;
                continue;
            }
            "--current" if value.is_none() => WorktreesAction::Current,
            "--plan" => WorktreesAction::Plan(value_of()?),
            "--add" => WorktreesAction::Add(value_of()?),
            "--folder" => WorktreesAction::Folder { name: value_of()? },
            "--review" => WorktreesAction::Review { name: value_of()? },
            "--remove" => WorktreesAction::Remove { name: value_of()?, with_ignored: false },
            _ if name.starts_with('-') => {
                return Err(Problem::UnknownOption(arg.to_string_lossy().into_owned()));
            }
            _ if folder.is_some() => return Err(Problem::SecondFolder(arg.into())),
            _ => {
                folder = Some(folder_named(cwd, arg)?);
                continue;
            }
        };
        if action.replace(next).is_some() {
            return Err(Problem::WorktreesActions);
        }
    }
    let action = match (action.unwrap_or(WorktreesAction::List), with_ignored) {
        (WorktreesAction::Remove { name, .. }, with_ignored) => {
            WorktreesAction::Remove { name, with_ignored }
        }
        (_, true) => return Err(Problem::WorktreesActions),
        (action, false) => action,
    };
    let folder = folder.map_or_else(|| ProjectStore::check_folder(cwd), Ok)?;
    Ok(WorktreesOptions { folder, action, json })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<WorktreesOptions, Problem> {
        parse(&args.iter().map(OsString::from).collect::<Vec<_>>(), Path::new("/"))
    }

    #[test]
    fn worktrees_are_listed_looked_at_added_or_removed() {
        let of = |action, json| Ok(WorktreesOptions { folder: "/".into(), action, json });
        assert_eq!(parsed(&[]), of(WorktreesAction::List, false));
        assert_eq!(parsed(&["/", "--json"]), of(WorktreesAction::List, true));
        assert_eq!(parsed(&["--add=a/b"]), of(WorktreesAction::Add("a/b".to_owned()), false));
        assert_eq!(parsed(&["--json", "--plan=a"]), of(WorktreesAction::Plan("a".to_owned()), true));
        assert_eq!(parsed(&["--current"]), of(WorktreesAction::Current, false));
        let name = || "../x".to_owned();
        assert_eq!(parsed(&["--folder=../x"]), of(WorktreesAction::Folder { name: name() }, false));
        assert_eq!(parsed(&["--review=../x"]), of(WorktreesAction::Review { name: name() }, false));
        let remove = |with_ignored| of(WorktreesAction::Remove { name: name(), with_ignored }, false);
        assert_eq!(parsed(&["--remove=../x"]), remove(false));
        assert_eq!(parsed(&["--with-ignored", "--remove=../x"]), remove(true));
        for args in
            [&["--add=a", "--remove=a"][..], &["--add=a", "--with-ignored"], &["--current", "--add=a"]]
        {
            assert_eq!(parsed(args), Err(Problem::WorktreesActions), "{args:?}");
        }
        assert_eq!(parsed(&["--add"]), Err(Problem::NoValue("--add".into())));
        assert_eq!(parsed(&["--remove="]), Err(Problem::NoValue("--remove".into())));
        assert_eq!(parsed(&["--force"]), Err(Problem::UnknownOption("--force".into())));
        assert_eq!(parsed(&["/", "/"]), Err(Problem::SecondFolder("/".into())));
    }
}

//! The command line of `deskbell worktrees`.

use super::{Problem, split};
use deskbell_engine::projects::ProjectStore;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A folder of a repository, and what to do with its worktrees.
#[derive(Debug, PartialEq, Eq)]
pub struct WorktreesOptions {
    pub folder: PathBuf,
    pub action: WorktreesAction,
}

#[derive(Debug, PartialEq, Eq)]
pub enum WorktreesAction {
    List {
        json: bool,
    },
    /// Create one for this branch.
    Add(String),
    Remove {
        /// A branch or a folder.
        name: String,
        with_ignored: bool,
    },
}

/// Parses the arguments after `worktrees`.
pub fn parse(args: &[OsString], cwd: &Path) -> Result<WorktreesOptions, Problem> {
    let (mut folder, mut action, mut with_ignored) = (None, None, false);
    for arg in args {
        let (name, value) = split(arg);
        let text = || value.as_ref().and_then(|value| value.to_str()).filter(|value| !value.is_empty());
        let value_of = || text().map(str::to_owned).ok_or(Problem::NoValue(name.clone()));
        let next = match name.as_str() {
            "--json" if value.is_none() => WorktreesAction::List { json: true },
            "--with-ignored" if value.is_none() => {
                with_ignored = true;
                continue;
            }
            "--add" => WorktreesAction::Add(value_of()?),
            "--remove" => WorktreesAction::Remove { name: value_of()?, with_ignored: false },
            _ if name.starts_with('-') => {
                return Err(Problem::UnknownOption(arg.to_string_lossy().into_owned()));
            }
            _ if folder.is_some() => return Err(Problem::SecondFolder(arg.into())),
            _ => {
                folder = Some(ProjectStore::check_folder(&cwd.join(arg))?);
                continue;
            }
        };
        if action.replace(next).is_some() {
            return Err(Problem::WorktreesActions);
        }
    }
    let action = match (action.unwrap_or(WorktreesAction::List { json: false }), with_ignored) {
        (WorktreesAction::Remove { name, .. }, with_ignored) => {
            WorktreesAction::Remove { name, with_ignored }
        }
        (_, true) => return Err(Problem::WorktreesActions),
        (action, false) => action,
    };
    let folder = folder.map_or_else(|| ProjectStore::check_folder(cwd), Ok)?;
    Ok(WorktreesOptions { folder, action })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<WorktreesOptions, Problem> {
        parse(&args.iter().map(OsString::from).collect::<Vec<_>>(), Path::new("/"))
    }

    #[test]
    fn worktrees_are_listed_added_or_removed() {
        let of = |action| Ok(WorktreesOptions { folder: "/".into(), action });
        assert_eq!(parsed(&[]), of(WorktreesAction::List { json: false }));
        assert_eq!(parsed(&["/", "--json"]), of(WorktreesAction::List { json: true }));
        assert_eq!(parsed(&["--add=a/b"]), of(WorktreesAction::Add("a/b".to_owned())));
        let remove = |with_ignored| of(WorktreesAction::Remove { name: "../x".to_owned(), with_ignored });
        assert_eq!(parsed(&["--remove=../x"]), remove(false));
        assert_eq!(parsed(&["--with-ignored", "--remove=../x"]), remove(true));
        for args in [&["--add=a", "--remove=a"][..], &["--add=a", "--with-ignored"], &["--json", "--add=a"]] {
            assert_eq!(parsed(args), Err(Problem::WorktreesActions), "{args:?}");
        }
        assert_eq!(parsed(&["--add"]), Err(Problem::NoValue("--add".into())));
        assert_eq!(parsed(&["--remove="]), Err(Problem::NoValue("--remove".into())));
        assert_eq!(parsed(&["--force"]), Err(Problem::UnknownOption("--force".into())));
        assert_eq!(parsed(&["/", "/"]), Err(Problem::SecondFolder("/".into())));
    }
}

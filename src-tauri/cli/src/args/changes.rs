//! The command line of `deskbell changes`.

use super::{Problem, split};
use deskbell_engine::api::HunkPlace;
use deskbell_engine::projects::ProjectStore;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A working tree, and what to do with its changes.
#[derive(Debug, PartialEq, Eq)]
pub struct ChangesOptions {
    pub project: PathBuf,
    pub action: ChangesAction,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ChangesAction {
    List {
        json: bool,
    },
    /// Print a patch of these files; without files of all.
    Patch(Vec<String>),
    Revert {
        path: String,
        hunk: Option<HunkPlace>,
    },
    UndoRevert,
}

/// Parses the arguments after `changes`.
pub fn parse(args: &[OsString], cwd: &Path) -> Result<ChangesOptions, Problem> {
    let (mut folder, mut hunk, mut action) = (None, None, None);
    for arg in args {
        let (name, value) = split(arg);
        let text = || value.as_ref().and_then(|value| value.to_str()).filter(|value| !value.is_empty());
        let next = match name.as_str() {
            "--json" if value.is_none() => ChangesAction::List { json: true },
            "--undo-revert" if value.is_none() => ChangesAction::UndoRevert,
            "--patch" if value.is_none() => ChangesAction::Patch(Vec::new()),
            "--patch" => {
                let path = text().ok_or(Problem::NoValue(name.clone()))?.to_owned();
                let mut paths = match action.take() {
                    Some(ChangesAction::Patch(paths)) if !paths.is_empty() => paths,
                    None => Vec::new(),
                    Some(_) => return Err(Problem::ChangesActions),
                };
                paths.push(path);
                ChangesAction::Patch(paths)
            }
            "--revert" => {
                let path = text().ok_or(Problem::NoValue(name.clone()))?.to_owned();
                ChangesAction::Revert { path, hunk: None }
            }
            "--hunk" => {
                hunk = Some(text().and_then(place).ok_or(Problem::BadHunk)?);
                continue;
            }
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
            return Err(Problem::ChangesActions);
        }
    }
    let action = match (action.unwrap_or(ChangesAction::List { json: false }), hunk) {
        (ChangesAction::Revert { path, .. }, hunk) => ChangesAction::Revert { path, hunk },
        (_, Some(_)) => return Err(Problem::ChangesActions),
        (action, None) => action,
    };
    let project = folder.map_or_else(|| ProjectStore::check_folder(cwd), Ok)?;
    Ok(ChangesOptions { project, action })
}

/// `@@ -12,4 +12,5 @@`, as in a patch. Git leaves out a count of 1.
fn place(header: &str) -> Option<HunkPlace> {
    let (old, new) = header.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
    let side = |text: &str| {
        let (start, n) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, n.parse().ok()?))
    };
    let ((old_start, n_old), (new_start, n_new)) = (side(old)?, side(new)?);
    Some(HunkPlace { old_start, n_old, new_start, n_new })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<ChangesOptions, Problem> {
        parse(&args.iter().map(OsString::from).collect::<Vec<_>>(), Path::new("/"))
    }

    #[test]
    fn changes_are_those_of_one_folder() {
        let of = |action| Ok(ChangesOptions { project: "/".into(), action });
        assert_eq!(parsed(&[]), of(ChangesAction::List { json: false }));
        assert_eq!(parsed(&["/", "--json"]), of(ChangesAction::List { json: true }));
        assert_eq!(parsed(&["/", "/"]), Err(Problem::SecondFolder("/".into())));
        assert_eq!(parsed(&["--all"]), Err(Problem::UnknownOption("--all".into())));
        assert_eq!(parsed(&["--patch"]), of(ChangesAction::Patch(vec![])));
        let two = ["a".to_owned(), "b=c".to_owned()];
        assert_eq!(parsed(&["--patch=a", "/", "--patch=b=c"]), of(ChangesAction::Patch(two.to_vec())));
        assert_eq!(parsed(&["--undo-revert"]), of(ChangesAction::UndoRevert));
    }

    #[test]
    fn a_hunk_is_named_by_its_line_in_the_patch() {
        let revert = |hunk| {
            let action = ChangesAction::Revert { path: "a".to_owned(), hunk };
            Ok(ChangesOptions { project: "/".into(), action })
        };
        assert_eq!(parsed(&["--revert=a"]), revert(None));
        let hunk = HunkPlace { old_start: 12, n_old: 4, new_start: 12, n_new: 1 };
        assert_eq!(parsed(&["--hunk=@@ -12,4 +12 @@ fn x()", "--revert=a"]), revert(Some(hunk)));
        for hunk in ["--hunk", "--hunk=", "--hunk=1", "--hunk=@@ -a +1 @@", "--hunk=@@ -1,-1 +1 @@"] {
            assert_eq!(parsed(&["--revert=a", hunk]), Err(Problem::BadHunk), "{hunk}");
        }
        for args in [
            &["--json", "--patch"][..],
            &["--patch", "--patch=a"],
            &["--patch=a", "--patch"],
            &["--revert=a", "--revert=b"],
            &["--hunk=@@ -1 +1 @@"],
            &["--undo-revert", "--revert=a"],
        ] {
            assert_eq!(parsed(args), Err(Problem::ChangesActions), "{args:?}");
        }
        assert_eq!(parsed(&["--revert="]), Err(Problem::NoValue("--revert".into())));
    }
}

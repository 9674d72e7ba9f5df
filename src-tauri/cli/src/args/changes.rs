//! The command line of `deskbell changes`.

use super::values::hunk;
use super::{Problem, folder_named};
use clap::ValueHint;
use clap::builder::NonEmptyStringValueParser;
use deskbell_engine::api::HunkPlace;
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

/// The arguments after `changes`.
#[derive(Debug, clap::Args)]
pub struct ChangesArgs {
    /// The folder, by default the current one
    #[arg(value_hint = ValueHint::DirPath)]
    folder: Option<PathBuf>,
    #[command(flatten)]
    action: ActionArgs,
    /// With --revert: only this hunk, named by its @@ line in the patch
    #[arg(long, value_name = "HEADER", value_parser = hunk, requires = "revert", conflicts_with_all = ["json", "patch", "undo_revert"])]
    hunk: Option<HunkPlace>,
}

#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct ActionArgs {
    /// Print one JSON object per file
    #[arg(long)]
    json: bool,
    /// Print the changes as a patch for git apply: those of this file, which can be repeated, or of all files
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::FilePath)]
    patch: Option<Vec<String>>,
    /// Make a file what it was at the last commit
    #[arg(long, value_name = "FILE", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::FilePath)]
    revert: Option<String>,
    /// Undo the last revert
    #[arg(long)]
    undo_revert: bool,
}

impl ChangesArgs {
    pub fn checked(self, cwd: &Path) -> Result<ChangesOptions, Problem> {
        let ActionArgs { json, patch, revert, undo_revert } = self.action;
        let action = match (patch, revert) {
            (Some(paths), _) => ChangesAction::Patch(paths),
            (_, Some(path)) => ChangesAction::Revert { path, hunk: self.hunk },
            _ if undo_revert => ChangesAction::UndoRevert,
            _ => ChangesAction::List { json },
        };
        Ok(ChangesOptions { project: folder_named(cwd, self.folder.as_deref())?, action })
    }
}

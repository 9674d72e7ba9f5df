//! The command line of `deskbell commit`.

use super::values::hunk;
use super::{Problem, folder_named};
use clap::ValueHint;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use deskbell_engine::api::{CommitFile, CommitFiles, CommitPrograms, CommitRequest, HunkPlace};
use std::path::{Path, PathBuf};

/// A working tree, and the commit to make or to undo.
#[derive(Debug, PartialEq, Eq)]
pub struct CommitOptions {
    pub project: PathBuf,
    pub action: CommitAction,
    /// Prints JSON.
    pub json: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum CommitAction {
    /// Print the commit that `Make` would make.
    Plan(CommitRequest),
    /// `None` runs hooks in a trusted folder, and asks in others.
    Make(CommitRequest, Option<CommitPrograms>),
    Undo,
}

/// The arguments after `commit`.
#[derive(Debug, clap::Args)]
pub struct CommitArgs {
    /// The files to commit, as deskbell changes lists them
    #[arg(value_name = "FILE", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::FilePath)]
    files: Vec<String>,
    /// The folder, by default the current one
    #[arg(long = "in", value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    folder: Option<PathBuf>,
    /// Commit every changed file below the folder
    #[arg(long, conflicts_with = "files")]
    all: bool,
    /// Commit only this hunk of the one FILE, named by its @@ line in the patch; can be repeated
    #[arg(long = "hunk", value_name = "HEADER", value_parser = hunk, conflicts_with = "all", requires = "files")]
    hunks: Vec<HunkPlace>,
    /// The message
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    /// Add a Signed-off-by line
    #[arg(long)]
    signoff: bool,
    /// Replace the last commit, if it is yours and on no remote branch; without a message its own stays
    #[arg(long)]
    amend: bool,
    /// In a folder that is not trusted: run the hooks, filters and signing of the repository, or leave out hooks and
    /// signing
    #[arg(long, value_name = "CHOICE", value_parser = programs())]
    hooks: Option<CommitPrograms>,
    /// Print the commit that would be made, and make none
    #[arg(long, conflicts_with = "hooks")]
    plan: bool,
    /// Undo the last commit if Deskbell made it and it is on no remote branch; the files stay as they are
    #[arg(long, conflicts_with_all = ["files", "all", "hunks", "message", "signoff", "amend", "hooks", "plan"])]
    undo: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn programs() -> impl TypedValueParser<Value = CommitPrograms> {
    PossibleValuesParser::new(["run", "skip"]).map(|name| match name.as_str() {
        "run" => CommitPrograms::Run,
        _ => CommitPrograms::Skip,
    })
}

impl CommitArgs {
    pub fn checked(self, cwd: &Path) -> Result<CommitOptions, Problem> {
        if !self.hunks.is_empty() && self.files.len() != 1 {
            return Err(Problem::HunksOfFiles);
        }
        let hunks = (!self.hunks.is_empty()).then_some(self.hunks);
        let file = |path| CommitFile { path, hunks: hunks.clone(), version: None };
        let files = match self.all {
            true => CommitFiles::All,
            false => CommitFiles::Only(self.files.into_iter().map(file).collect()),
        };
        let Self { message, signoff, amend, .. } = self;
        let request = CommitRequest { files, message, signoff, amend, head: None };
        let action = match (self.undo, self.plan) {
            (true, _) => CommitAction::Undo,
            (_, true) => CommitAction::Plan(request),
            _ => CommitAction::Make(request, self.hooks),
        };
        Ok(CommitOptions { project: folder_named(cwd, self.folder.as_deref())?, action, json: self.json })
    }
}

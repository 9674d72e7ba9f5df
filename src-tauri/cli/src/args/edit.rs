//! The command line of `deskbell edit`.

use clap::ValueHint;
use std::path::{Path, PathBuf};

/// A file to open in the user's editor.
#[derive(Debug, PartialEq, Eq, clap::Args)]
pub struct EditOptions {
    /// The file; after --, whatever its name
    // The absolute path, once it was checked.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// The line, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub line: Option<u32>,
}

impl EditOptions {
    pub fn within(self, cwd: &Path) -> Self {
        Self { file: cwd.join(self.file), ..self }
    }
}

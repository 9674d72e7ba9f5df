//! The command line of `deskbell recordings`.

use crate::recordings::RecordingsMode;
use clap::builder::NonEmptyStringValueParser;

/// The arguments after `recordings`.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
pub struct RecordingsArgs {
    /// Print JSON, which is also what the command prints without it
    #[arg(long)]
    json: bool,
    /// Remove this recording
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    remove: Option<String>,
    /// Remove all of them
    #[arg(long)]
    clear: bool,
}

impl RecordingsArgs {
    pub fn mode(self) -> RecordingsMode {
        match self.remove {
            Some(name) => RecordingsMode::Remove(name),
            None if self.clear => RecordingsMode::Clear,
            None => RecordingsMode::List,
        }
    }
}

//! The command line of `deskbell rules`.

use super::{Problem, folder_named};
use clap::builder::NonEmptyStringValueParser;
use clap::{Subcommand, ValueEnum, ValueHint};
use deskbell_engine::api::{RuleEffect, RuleOrigin};
use std::path::{Path, PathBuf};

/// A folder, and what to do with the rules for it.
#[derive(Debug, PartialEq, Eq)]
pub struct RulesOptions {
    pub folder: PathBuf,
    pub action: RulesAction,
}

#[derive(Debug, PartialEq, Eq)]
pub enum RulesAction {
    List { json: bool },
    Remove { rule: String, effect: Option<RuleEffect>, from: Option<RuleOrigin> },
}

/// The arguments after `rules`.
#[derive(Debug, clap::Args)]
pub struct RulesArgs {
    /// The folder, by default the current one
    #[arg(value_hint = ValueHint::DirPath)]
    folder: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    action: Option<RulesCommand>,
}

#[derive(Debug, Subcommand)]
enum RulesCommand {
    /// Remove a rule from its file; everything else in the file stays as it is
    Remove {
        /// The rule as it is listed: 'Bash(npm run *)'
        #[arg(allow_hyphen_values = true, value_parser = NonEmptyStringValueParser::new())]
        rule: String,
        /// The folder, by default the current one
        #[arg(value_hint = ValueHint::DirPath)]
        folder: Option<PathBuf>,
        /// The list of the rule, if it is in several
        #[arg(long)]
        effect: Option<ListedEffect>,
        /// The file of the rule, if it is in several: your own in this folder, the folder's, or yours for all folders
        #[arg(long)]
        from: Option<ListedFile>,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ListedEffect {
    Allow,
    Ask,
    Deny,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ListedFile {
    Local,
    Project,
    User,
}

impl RulesArgs {
    pub fn checked(self, cwd: &Path) -> Result<RulesOptions, Problem> {
        let Some(RulesCommand::Remove { rule, folder, effect, from }) = self.action else {
            let folder = folder_named(cwd, self.folder.as_deref())?;
            return Ok(RulesOptions { folder, action: RulesAction::List { json: self.json } });
        };
        let effect = effect.map(|effect| match effect {
            ListedEffect::Allow => RuleEffect::Allow,
            ListedEffect::Ask => RuleEffect::Ask,
            ListedEffect::Deny => RuleEffect::Deny,
        });
        let from = from.map(|file| match file {
            ListedFile::Local => RuleOrigin::Local,
            ListedFile::Project => RuleOrigin::Project,
            ListedFile::User => RuleOrigin::User,
        });
        let folder = folder_named(cwd, folder.as_deref())?;
        Ok(RulesOptions { folder, action: RulesAction::Remove { rule, effect, from } })
    }
}

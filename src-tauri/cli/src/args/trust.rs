//! The command line of `deskbell trust`.

use super::values::{agent, decision};
use super::{Problem, folder_named};
use clap::ValueHint;
use clap::builder::NonEmptyStringValueParser;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::TrustDecision;
use std::path::{Path, PathBuf};

/// A folder, and what to do with its trust.
#[derive(Debug, PartialEq, Eq)]
pub struct TrustOptions {
    pub folder: PathBuf,
    pub of: Of,
    /// `None` only shows it.
    pub decision: Option<TrustDecision>,
    /// The fingerprint that was shown.
    pub fingerprint: Option<String>,
    pub json: bool,
}

/// The agent that a decision is about.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Of {
    #[default]
    ClaudeCode,
    Agent(ChosenAgent),
    /// That of the profile with this name.
    Profile(String),
}

/// The arguments after `trust`.
#[derive(Debug, clap::Args)]
pub struct TrustArgs {
    /// The folder, by default the current one
    #[arg(value_hint = ValueHint::DirPath)]
    folder: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Decide it; trust and keep need the fingerprint that was shown, so that nothing unseen is trusted
    #[arg(long, value_name = "DECISION", value_parser = decision())]
    decide: Option<TrustDecision>,
    /// The fingerprint that was shown
    #[arg(long, value_name = "F", requires = "decide", value_parser = NonEmptyStringValueParser::new())]
    fingerprint: Option<String>,
    /// About another agent: each has a decision of its own
    #[arg(long, value_name = "NAME", value_parser = agent)]
    agent: Option<ChosenAgent>,
    /// About the agent of a profile
    #[arg(long, value_name = "NAME", conflicts_with = "agent", value_parser = NonEmptyStringValueParser::new())]
    profile: Option<String>,
}

impl TrustArgs {
    pub fn checked(self, cwd: &Path) -> Result<TrustOptions, Problem> {
        let Self { folder, json, decide: decision, fingerprint, agent, profile } = self;
        let needs_one = matches!(decision, Some(TrustDecision::Trust | TrustDecision::Keep));
        if needs_one != fingerprint.is_some() {
            return Err(Problem::Fingerprint);
        }
        let of = agent.map(Of::Agent).or(profile.map(Of::Profile)).unwrap_or_default();
        Ok(TrustOptions { folder: folder_named(cwd, folder.as_deref())?, of, decision, fingerprint, json })
    }
}

//! The command line of `deskbell trust`.

use super::values::{agent, decision};
use super::{Problem, folder_named};
use clap::ValueHint;
use clap::builder::NonEmptyStringValueParser;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::TrustDecision;
use std::collections::BTreeSet;
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
    /// Settings with unknown effects to load.
    pub load: BTreeSet<String>,
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
    /// Load a setting that is left out because its effects are not known; repeat it for each. Only with --decide trust
    #[arg(long, value_name = "SETTING", requires = "decide", value_parser = NonEmptyStringValueParser::new())]
    load: Vec<String>,
    /// About another agent: each has a decision of its own
    #[arg(long, value_name = "NAME", value_parser = agent)]
    agent: Option<ChosenAgent>,
    /// About the agent of a profile
    #[arg(long, value_name = "NAME", conflicts_with = "agent", value_parser = NonEmptyStringValueParser::new())]
    profile: Option<String>,
}

impl TrustArgs {
    pub fn checked(self, cwd: &Path) -> Result<TrustOptions, Problem> {
        let Self { folder, json, decide: decision, fingerprint, load, agent, profile } = self;
        let needs_one = matches!(decision, Some(TrustDecision::Trust | TrustDecision::Keep));
        if needs_one != fingerprint.is_some() {
            return Err(Problem::Fingerprint);
        }
        if !load.is_empty() && decision != Some(TrustDecision::Trust) {
            return Err(Problem::Load);
        }
        let of = agent.map(Of::Agent).or(profile.map(Of::Profile)).unwrap_or_default();
        let folder = folder_named(cwd, folder.as_deref())?;
        let load = load.into_iter().collect();
        Ok(TrustOptions { folder, of, decision, fingerprint, load, json })
    }
}

//! The values of options: names that are known, and texts that have a form.

use super::Problem;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::{ExportFormat, HunkPlace, PermissionMode, SessionId, TrustDecision};
use deskbell_engine::launch::Launch;
use deskbell_engine::usage::By;
use std::ffi::OsStr;
use std::time::Duration;

/// A text from the command line, for a message.
fn quoted(text: &str) -> String {
    text.escape_debug().take(80).collect()
}

/// Parses the id of a conversation. Claude Code uses UUIDs, which are also valid file names.
pub fn conversation(id: &str) -> Result<String, Problem> {
    let uuid = uuid::Uuid::try_parse(id).ok().filter(|_| id.len() == 36);
    uuid.map(|uuid| uuid.to_string()).ok_or_else(|| Problem::BadConversation(quoted(id)))
}

pub fn session(id: &str) -> Result<SessionId, Problem> {
    if id.is_empty() { Err(Problem::NoSession) } else { Ok(SessionId::new(id)) }
}

pub fn model(name: &str) -> Result<String, Problem> {
    match Launch::bad_model(name) {
        Some(problem) => Err(Problem::BadModel(problem)),
        None => Ok(name.to_owned()),
    }
}

pub fn seconds(text: &str) -> Result<Duration, Problem> {
    let seconds = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| Problem::BadIdle(quoted(text)))
}

/// An agent that speaks ACP, by its name.
pub fn agent(name: &str) -> Result<ChosenAgent, Problem> {
    ChosenAgent::row_of(name).ok_or_else(|| Problem::NoSuchAgent(quoted(name)))
}

/// `@@ -12,4 +12,5 @@`, as in a patch. Git leaves out a count of 1.
pub fn hunk(header: &str) -> Result<HunkPlace, Problem> {
    let place = || {
        let (old, new) = header.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
        let side = |text: &str| {
            let (start, n) = text.split_once(',').unwrap_or((text, "1"));
            Some((start.parse().ok()?, n.parse().ok()?))
        };
        let ((old_start, n_old), (new_start, n_new)) = (side(old)?, side(new)?);
        Some(HunkPlace { old_start, n_old, new_start, n_new })
    };
    place().ok_or(Problem::BadHunk)
}

pub fn decision() -> impl TypedValueParser<Value = TrustDecision> {
    PossibleValuesParser::new(["trust", "restrict", "keep"]).map(|name| match name.as_str() {
        "trust" => TrustDecision::Trust,
        "keep" => TrustDecision::Keep,
        _ => TrustDecision::Restrict,
    })
}

pub fn format() -> impl TypedValueParser<Value = ExportFormat> {
    let names = [PossibleValue::new("md").alias("markdown"), "json".into(), "html".into()];
    PossibleValuesParser::new(names).map(|name| format_of(&name))
}

/// The format of a name, or of a file's extension.
pub fn format_of(name: &str) -> ExportFormat {
    match name {
        "json" => ExportFormat::Json,
        "html" => ExportFormat::Html,
        _ => ExportFormat::Markdown,
    }
}

pub fn by() -> impl TypedValueParser<Value = By> {
    PossibleValuesParser::new(["session", "day", "model", "project", "all"])
        .try_map(|name| name.parse::<By>())
}

pub fn mode() -> impl TypedValueParser<Value = PermissionMode> {
    ModeParser
}

/// Says why a mode cannot be chosen, and offers those that can be.
#[derive(Clone)]
struct ModeParser;

impl TypedValueParser for ModeParser {
    type Value = PermissionMode;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<PermissionMode, clap::Error> {
        let parser = StringValueParser::new().try_map(|name| name.parse::<PermissionMode>());
        parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(PermissionMode::ALL.into_iter().map(|mode| PossibleValue::new(mode.name()))))
    }
}

//! The command lines of `deskbell trust`, `deskbell agents` and `deskbell folders`.

use super::{Mode, Problem, folder_named, split};
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::TrustDecision;
use std::ffi::OsString;
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

/// Parses the arguments after `trust`.
pub fn parse(args: &[OsString], cwd: &Path) -> Result<TrustOptions, Problem> {
    let (mut folder, mut decision, mut fingerprint, mut json) = (None, None, None, false);
    let mut of = Of::default();
    for arg in args {
        let (name, value) = split(arg);
        let text = || {
            let text = value.as_ref().and_then(|value| value.to_str()).filter(|value| !value.is_empty());
            text.map(str::to_owned).ok_or(Problem::NoValue(name.clone()))
        };
        match name.as_str() {
            "--json" if value.is_none() => json = true,
            "--decide" => decision = Some(decided(&text()?)?),
            "--agent" | "--profile" if of != Of::ClaudeCode => return Err(Problem::ProfileAndAgent),
            "--agent" => of = Of::Agent(agent(&text()?)?),
            "--profile" => of = Of::Profile(text()?),
            "--fingerprint" => fingerprint = Some(text()?),
            _ if name.starts_with('-') => {
                return Err(Problem::UnknownOption(arg.to_string_lossy().into_owned()));
            }
            _ if folder.is_some() => return Err(Problem::SecondFolder(arg.into())),
            _ => folder = Some(folder_named(cwd, arg)?),
        }
    }
    let needs_one = matches!(decision, Some(TrustDecision::Trust | TrustDecision::Keep));
    if needs_one != fingerprint.is_some() {
        return Err(Problem::Fingerprint);
    }
    let folder = folder.map_or_else(|| folder_named(cwd, &OsString::from(".")), Ok)?;
    Ok(TrustOptions { folder, of, decision, fingerprint, json })
}

fn agent(name: &str) -> Result<ChosenAgent, Problem> {
    ChosenAgent::row_of(name).ok_or_else(|| Problem::NoSuchAgent(name.escape_debug().take(80).collect()))
}

/// Parses the arguments after `agents`.
pub fn agents(args: &[OsString]) -> Result<Mode, Problem> {
    match args {
        [] => Ok(Mode::Agents { json: false }),
        [json] if json == "--json" => Ok(Mode::Agents { json: true }),
        [first, ..] => Err(Problem::UnknownOption(first.to_string_lossy().into_owned())),
    }
}

fn decided(text: &str) -> Result<TrustDecision, Problem> {
    match text {
        "trust" => Ok(TrustDecision::Trust),
        "restrict" => Ok(TrustDecision::Restrict),
        "keep" => Ok(TrustDecision::Keep),
        _ => Err(Problem::BadDecision(text.escape_debug().take(80).collect())),
    }
}

/// Parses the arguments after `folders`.
pub fn folder(args: &[OsString], cwd: &Path) -> Result<PathBuf, Problem> {
    match args {
        [] => folder_named(cwd, &OsString::from(".")),
        [folder] if !folder.to_string_lossy().starts_with('-') => folder_named(cwd, folder),
        [option] => Err(Problem::UnknownOption(option.to_string_lossy().into_owned())),
        [_, second, ..] => Err(Problem::SecondFolder(second.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<TrustOptions, Problem> {
        parse(&args.iter().map(OsString::from).collect::<Vec<_>>(), Path::new("/"))
    }

    #[test]
    fn what_was_not_seen_cannot_be_trusted() {
        let shown = parsed(&["--json", "/"]).unwrap();
        assert_eq!((shown.decision, shown.json), (None, true));
        let trusted = parsed(&["/", "--decide=trust", "--fingerprint=f"]).unwrap();
        assert_eq!((trusted.decision, trusted.fingerprint), (Some(TrustDecision::Trust), Some("f".into())));
        assert_eq!(parsed(&["--decide=restrict"]).unwrap().decision, Some(TrustDecision::Restrict));
        for args in [&["--decide=trust"][..], &["--decide=keep"], &["--fingerprint=f"]] {
            assert_eq!(parsed(args), Err(Problem::Fingerprint), "{args:?}");
        }
        assert_eq!(parsed(&["--decide=yes"]), Err(Problem::BadDecision("yes".into())));
        assert!(matches!(parsed(&["--all"]), Err(Problem::UnknownOption(_))));
    }

    #[test]
    fn a_decision_is_about_one_agent() {
        let codex = ChosenAgent::row_of("codex").unwrap();
        assert_eq!(parsed(&[]).unwrap().of, Of::ClaudeCode);
        assert_eq!(parsed(&["--agent=codex"]).unwrap().of, Of::Agent(codex));
        assert_eq!(parsed(&["--profile=Work"]).unwrap().of, Of::Profile("Work".into()));
        assert_eq!(parsed(&["--agent=claude2"]), Err(Problem::NoSuchAgent("claude2".into())));
        assert_eq!(parsed(&["--agent=codex", "--profile=Work"]), Err(Problem::ProfileAndAgent));
        assert_eq!(parsed(&["--agent="]), Err(Problem::NoValue("--agent".into())));
    }

    #[test]
    fn a_tilde_is_the_home_folder() {
        let home = dunce::canonicalize(dirs::home_dir().unwrap()).unwrap();
        for named in ["~", "~/"] {
            assert_eq!(folder(&[named.into()], Path::new("/")), Ok(home.clone()), "{named}");
        }
        assert_eq!(folder(&[], Path::new("/")), Ok(PathBuf::from("/")));
        assert!(folder(&["~root/no".into()], Path::new("/")).is_err());
        assert!(matches!(folder(&["/".into(), "/".into()], Path::new("/")), Err(Problem::SecondFolder(_))));
    }
}

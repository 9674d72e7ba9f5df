//! The command line of `deskbell sessions`.

use super::on::{self, OnOptions};
use super::search::{self, SearchOptions};
use super::server::Which;
use super::usage::{self, UsageOptions};
use super::{Problem, conversation, split};
use deskbell_engine::api::{ExportFormat, SessionId, SessionMark};
use deskbell_engine::projects::ProjectStore;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What to do with sessions.
#[derive(Debug, PartialEq, Eq)]
pub enum SessionsMode {
    Stored(StoredMode),
    /// Lists what the servers of this user have.
    Running {
        json: bool,
    },
    /// Shows one of these sessions in a terminal.
    Attach(SessionId),
    /// One of the three on another machine.
    On(OnOptions),
    /// Ends agents that run in these servers.
    Stop(Which),
}

/// What to do with stored sessions.
#[derive(Debug, PartialEq, Eq)]
pub enum StoredMode {
    List(ListOptions),
    Export(ExportOptions),
    Search(SearchOptions),
    /// Follows a session that another program works on.
    Watch {
        session: String,
    },
    /// Prints what sessions cost.
    Usage(UsageOptions),
    /// Sets the mark of a session in Deskbell's list, or removes it.
    Mark {
        session: String,
        mark: Option<SessionMark>,
    },
}

/// The stored sessions to list.
#[derive(Debug, PartialEq, Eq)]
pub struct ListOptions {
    pub project: PathBuf,
    /// Words that all of them contain.
    pub filter: String,
}

/// The session to export, of any project.
#[derive(Debug, PartialEq, Eq)]
pub struct ExportOptions {
    pub session: String,
    pub format: ExportFormat,
    /// The file; stdout without it.
    pub output: Option<PathBuf>,
    /// Replaces an existing file.
    pub force: bool,
}

/// Parses the arguments after `sessions`.
pub fn parse(args: &[OsString], cwd: &Path) -> Result<SessionsMode, Problem> {
    let [action, rest @ ..] = args else { return Err(Problem::NoAction) };
    if let Some("running" | "attach" | "stop") = action.to_str()
        && let Some(mode) = on_host(action, rest, cwd)
    {
        return mode;
    }
    match action.to_str() {
        Some("running") => running(rest),
        Some("attach") => attach(rest),
        Some("stop") => stop(rest).map(SessionsMode::Stop),
        _ => stored(action, rest, cwd).map(SessionsMode::Stored),
    }
}

/// `--host=MACHINE`: the same command on that machine. `None` without it.
fn on_host(action: &OsString, rest: &[OsString], cwd: &Path) -> Option<Result<SessionsMode, Problem>> {
    let is_host = |arg: &&OsString| split(arg).0 == "--host";
    let (name, machine) = split(rest.iter().find(is_host)?);
    let without: Vec<OsString> = rest.iter().filter(|arg| !is_host(arg)).cloned().collect();
    let Some(machine) = machine.filter(|machine| !machine.is_empty()) else {
        return Some(Err(Problem::NoValue(name)));
    };
    // A mistake is said here, before anything connects.
    let checked = match action.to_str() {
        Some("running") => running(&without),
        Some("attach") => attach(&without),
        _ => stop(&without).map(SessionsMode::Stop),
    };
    let there: Vec<OsString> =
        [machine, "sessions".into(), action.clone()].into_iter().chain(without).collect();
    Some(checked.and_then(|_| on::parse(&there, cwd).map(SessionsMode::On)))
}

fn stored(action: &OsString, rest: &[OsString], cwd: &Path) -> Result<StoredMode, Problem> {
    match action.to_str() {
        Some("list") => list(rest, cwd).map(StoredMode::List),
        Some("export") => export(rest, cwd).map(StoredMode::Export),
        Some("search") => search::parse(rest, cwd).map(StoredMode::Search),
        Some("watch") => Ok(StoredMode::Watch { session: one_session(rest)? }),
        Some("usage") => usage::parse(rest, cwd).map(StoredMode::Usage),
        Some("pin") => mark(rest, Some(SessionMark::Pinned)),
        Some("archive") => mark(rest, Some(SessionMark::Archived)),
        Some("unpin" | "unarchive") => mark(rest, None),
        _ => Err(Problem::NoAction),
    }
}

fn list(args: &[OsString], cwd: &Path) -> Result<ListOptions, Problem> {
    let (mut project, mut filter) = (None, String::new());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let (name, value) = split(arg);
        match name.as_str() {
            "--filter" => {
                let value = value.or_else(|| rest.next().cloned()).ok_or(Problem::NoValue(name))?;
                filter = value.to_string_lossy().into_owned();
            }
            _ if name.starts_with('-') => return Err(Problem::UnknownOption(name)),
            _ if project.is_some() => return Err(Problem::SecondFolder(arg.into())),
            _ => project = Some(ProjectStore::check_folder(&cwd.join(arg))?),
        }
    }
    let project = project.map_or_else(|| ProjectStore::check_folder(cwd), Ok)?;
    Ok(ListOptions { project, filter })
}

fn export(args: &[OsString], cwd: &Path) -> Result<ExportOptions, Problem> {
    let (mut session, mut format, mut output, mut force) = (None, None, None, false);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let (name, value) = split(arg);
        let mut value = || {
            let value = value.clone().or_else(|| rest.next().cloned()).filter(|value| !value.is_empty());
            value.ok_or(Problem::NoValue(name.clone()))
        };
        match name.as_str() {
            "--format" => format = Some(format_named(&value()?.to_string_lossy())?),
            "--output" => output = Some(cwd.join(value()?)),
            "--force" => force = true,
            _ if name.starts_with('-') => return Err(Problem::UnknownOption(name)),
            _ if session.is_some() => return Err(Problem::SecondSession(name)),
            _ => session = Some(conversation(&name)?),
        }
    }
    let session = session.ok_or(Problem::NoSession)?;
    let of_file = || format_named(output.as_ref()?.extension()?.to_str()?).ok();
    let format = format.or_else(of_file).unwrap_or(ExportFormat::Markdown);
    Ok(ExportOptions { session, format, output, force })
}

fn mark(args: &[OsString], mark: Option<SessionMark>) -> Result<StoredMode, Problem> {
    Ok(StoredMode::Mark { session: one_session(args)?, mark })
}

fn running(args: &[OsString]) -> Result<SessionsMode, Problem> {
    match args {
        [] => Ok(SessionsMode::Running { json: false }),
        [only] if only == "--json" => Ok(SessionsMode::Running { json: true }),
        [other, ..] => Err(Problem::UnknownOption(split(other).0)),
    }
}

/// The id is Deskbell's own, as `running` lists it.
fn attach(args: &[OsString]) -> Result<SessionsMode, Problem> {
    match args {
        [] => Err(Problem::NoSession),
        [only] if only.to_string_lossy().starts_with('-') => Err(Problem::UnknownOption(split(only).0)),
        [id] => Ok(SessionsMode::Attach(SessionId::new(id.to_string_lossy()))),
        [_, second, ..] => Err(Problem::SecondSession(second.to_string_lossy().into_owned())),
    }
}

/// The ids here are Deskbell's own, as `running` lists them. Stopping all is said, not assumed.
fn stop(args: &[OsString]) -> Result<Which, Problem> {
    match args {
        [] => Err(Problem::NoSession),
        [only] if only == "--all" => Ok(Which::All),
        [only] if only.to_string_lossy().starts_with('-') => Err(Problem::UnknownOption(split(only).0)),
        [id] => Ok(Which::One(SessionId::new(id.to_string_lossy()))),
        [_, second, ..] => Err(Problem::SecondSession(second.to_string_lossy().into_owned())),
    }
}

fn one_session(args: &[OsString]) -> Result<String, Problem> {
    match args {
        [] => Err(Problem::NoSession),
        [id] => conversation(&id.to_string_lossy()),
        [_, second, ..] => Err(Problem::SecondSession(second.to_string_lossy().into_owned())),
    }
}

fn format_named(name: &str) -> Result<ExportFormat, Problem> {
    match name {
        "md" | "markdown" => Ok(ExportFormat::Markdown),
        "json" => Ok(ExportFormat::Json),
        "html" => Ok(ExportFormat::Html),
        _ => Err(Problem::BadFormat(name.escape_debug().take(60).collect())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::projects::FolderProblem;

    const ID: &str = "0c0f2a5e-5d2b-4e8e-9a6b-0123456789ab";

    fn parsed(args: &[&str]) -> Result<SessionsMode, Problem> {
        parse(&args.iter().map(OsString::from).collect::<Vec<_>>(), Path::new("/"))
    }

    /// The mode of stored sessions.
    fn stored(args: &[&str]) -> Result<StoredMode, Problem> {
        parsed(args).map(|mode| match mode {
            SessionsMode::Stored(mode) => mode,
            mode => panic!("{mode:?}"),
        })
    }

    #[test]
    fn what_servers_run_is_listed_and_stopped_by_its_own_id() {
        assert_eq!(parsed(&["running"]), Ok(SessionsMode::Running { json: false }));
        assert_eq!(parsed(&["running", "--json"]), Ok(SessionsMode::Running { json: true }));
        assert_eq!(parsed(&["running", "x"]), Err(Problem::UnknownOption("x".into())));
        assert_eq!(parsed(&["attach", "s"]), Ok(SessionsMode::Attach(SessionId::new("s"))));
        assert_eq!(parsed(&["attach"]), Err(Problem::NoSession));
        assert_eq!(parsed(&["attach", "--all"]), Err(Problem::UnknownOption("--all".into())));
        assert_eq!(parsed(&["attach", "a", "b"]), Err(Problem::SecondSession("b".into())));
        assert_eq!(parsed(&["stop", "--all"]), Ok(SessionsMode::Stop(Which::All)));
        assert_eq!(parsed(&["stop", "s"]), Ok(SessionsMode::Stop(Which::One(SessionId::new("s")))));
        assert_eq!(parsed(&["stop"]), Err(Problem::NoSession));
        assert_eq!(parsed(&["stop", "--al"]), Err(Problem::UnknownOption("--al".into())));
        assert_eq!(parsed(&["stop", "a", "b"]), Err(Problem::SecondSession("b".into())));
    }

    #[test]
    fn the_sessions_of_another_machine_are_listed_and_stopped_there() {
        let on = |machine: &str, command: &[&str]| {
            let machine = machine.parse().unwrap();
            let command = command.iter().map(|&word| word.to_owned()).collect();
            Ok(SessionsMode::On(OnOptions { machine, program: None, command }))
        };
        assert_eq!(parsed(&["running", "--host=box"]), on("box", &["sessions", "running"]));
        assert_eq!(
            parsed(&["running", "--host=docker:web", "--json"]),
            on("docker:web", &["sessions", "running", "--json"])
        );
        assert_eq!(parsed(&["stop", "--all", "--host=me@box"]), on("me@box", &["sessions", "stop", "--all"]));
        assert_eq!(parsed(&["attach", "--host=box", "s"]), on("box", &["sessions", "attach", "s"]));
        assert_eq!(parsed(&["running", "--host"]), Err(Problem::NoValue("--host".into())));
        assert_eq!(parsed(&["stop", "--host=box"]), Err(Problem::NoSession));
        assert!(parsed(&["running", "--host=-oProxyCommand=x"]).is_err());
    }

    #[test]
    fn sessions_are_listed_for_a_folder() {
        let list = |project: &str, filter: &str| {
            Ok(StoredMode::List(ListOptions { project: project.into(), filter: filter.into() }))
        };
        assert_eq!(stored(&["list"]), list("/", ""));
        assert_eq!(stored(&["list", "/proc", "--filter=a b"]), list("/proc", "a b"));
        assert_eq!(stored(&["list", "--filter", "-x"]), list("/", "-x"));
        assert_eq!(stored(&[]), Err(Problem::NoAction));
        assert_eq!(stored(&["delete"]), Err(Problem::NoAction));
        assert_eq!(stored(&["list", "-l"]), Err(Problem::UnknownOption("-l".into())));
        assert_eq!(stored(&["list", "/", "/"]), Err(Problem::SecondFolder("/".into())));
        assert_eq!(stored(&["list", "/no/such"]), Err(FolderProblem::Missing("/no/such".into()).into()));
    }

    #[test]
    fn a_mark_is_set_or_removed_by_the_sessions_id() {
        let mark = |mark| Ok(StoredMode::Mark { session: ID.into(), mark });
        assert_eq!(stored(&["pin", ID]), mark(Some(SessionMark::Pinned)));
        assert_eq!(stored(&["unpin", ID]), mark(None));
        assert_eq!(stored(&["archive", ID]), mark(Some(SessionMark::Archived)));
        assert_eq!(stored(&["unarchive", ID]), mark(None));
        assert_eq!(stored(&["watch", ID]), Ok(StoredMode::Watch { session: ID.into() }));
        assert_eq!(stored(&["pin"]), Err(Problem::NoSession));
        assert_eq!(stored(&["pin", ID, "x"]), Err(Problem::SecondSession("x".into())));
        assert!(matches!(stored(&["pin", "x"]), Err(Problem::BadConversation(_))));
    }

    #[test]
    fn an_export_names_its_session_format_and_file() {
        let export = |format, output: Option<&str>, force| {
            let output = output.map(Into::into);
            Ok(StoredMode::Export(ExportOptions { session: ID.into(), format, output, force }))
        };
        use ExportFormat::{Html, Json, Markdown};
        assert_eq!(stored(&["export", ID]), export(Markdown, None, false));
        assert_eq!(stored(&["export", ID, "--format=json"]), export(Json, None, false));
        assert_eq!(stored(&["export", "--output=a.html", ID]), export(Html, Some("/a.html"), false));
        let both = ["export", ID, "--format", "md", "--output", "/x.html", "--force"];
        assert_eq!(stored(&both), export(Markdown, Some("/x.html"), true));
        assert_eq!(stored(&["export"]), Err(Problem::NoSession));
        assert_eq!(stored(&["export", ID, ID]), Err(Problem::SecondSession(ID.into())));
        assert_eq!(stored(&["export", ID, "--format=pdf"]), Err(Problem::BadFormat("pdf".into())));
        assert_eq!(stored(&["export", ID, "--output="]), Err(Problem::NoValue("--output".into())));
        assert!(matches!(stored(&["export", "../x"]), Err(Problem::BadConversation(_))));
    }
}

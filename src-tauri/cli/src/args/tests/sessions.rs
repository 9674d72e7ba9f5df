//! `deskbell sessions`.

use super::super::on::OnOptions;
use super::super::server::Which;
use super::super::sessions::{
    ExportOptions, ListOptions, SearchOptions, SessionsMode, StoredMode, UsageOptions,
};
use super::*;
use deskbell_engine::api::{ExportFormat, SessionId, SessionMark};
use deskbell_engine::usage::By;

fn sessions(args: &[&str]) -> Result<SessionsMode, Problem> {
    parsed(&[&["sessions"][..], args].concat()).map(|mode| match mode {
        Mode::Sessions(mode) => mode,
        mode => panic!("{mode:?}"),
    })
}

fn stored(args: &[&str]) -> StoredMode {
    match sessions(args) {
        Ok(SessionsMode::Stored(mode)) => mode,
        other => panic!("{args:?}: {other:?}"),
    }
}

fn refusal(args: &[&str]) -> ErrorKind {
    kind(&[&["sessions"][..], args].concat())
}

#[test]
fn something_is_done_with_sessions() {
    assert_eq!(refusal(&[]), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    assert_eq!(refusal(&["delete"]), ErrorKind::InvalidSubcommand);
}

#[test]
fn what_servers_run_is_listed_and_stopped_by_its_own_id() {
    assert_eq!(sessions(&["running"]).unwrap(), SessionsMode::Running { json: false });
    assert_eq!(sessions(&["running", "--json"]).unwrap(), SessionsMode::Running { json: true });
    assert_eq!(sessions(&["attach", "s"]).unwrap(), SessionsMode::Attach(SessionId::new("s")));
    assert_eq!(sessions(&["stop", "--all"]).unwrap(), SessionsMode::Stop(Which::All));
    assert_eq!(sessions(&["stop", "s"]).unwrap(), SessionsMode::Stop(Which::One(SessionId::new("s"))));
    for extra in [&["running", "x"][..], &["attach", "--all"], &["attach", "a", "b"], &["stop", "a", "b"]] {
        assert_eq!(refusal(extra), ErrorKind::UnknownArgument, "{extra:?}");
    }
    for missing in ["attach", "stop"] {
        assert_eq!(refusal(&[missing]), ErrorKind::MissingRequiredArgument, "{missing}");
    }
    assert_eq!(refusal(&["stop", "--al"]), ErrorKind::UnknownArgument);
    assert_eq!(refusal(&["stop", "a", "--all"]), ErrorKind::ArgumentConflict);
}

#[test]
fn the_sessions_of_another_machine_are_listed_and_stopped_there() {
    let on = |machine: &str, command: &[&str]| {
        let machine = machine.parse().unwrap();
        let command = command.iter().map(|&word| word.to_owned()).collect();
        SessionsMode::On(OnOptions { machine, program: None, command })
    };
    assert_eq!(sessions(&["running", "--host=box"]).unwrap(), on("box", &["sessions", "running"]));
    assert_eq!(
        sessions(&["running", "--host", "docker:web", "--json"]).unwrap(),
        on("docker:web", &["sessions", "running", "--json"])
    );
    let all = on("me@box", &["sessions", "stop", "--all"]);
    assert_eq!(sessions(&["stop", "--all", "--host=me@box"]).unwrap(), all);
    assert_eq!(sessions(&["stop", "s", "--host=box"]).unwrap(), on("box", &["sessions", "stop", "s"]));
    assert_eq!(sessions(&["attach", "--host=box", "s"]).unwrap(), on("box", &["sessions", "attach", "s"]));
    assert_eq!(refusal(&["running", "--host"]), ErrorKind::InvalidValue);
    assert_eq!(refusal(&["stop", "--host=box"]), ErrorKind::MissingRequiredArgument);
    assert_eq!(refusal(&["running", "--host=-oProxyCommand=x"]), ErrorKind::ValueValidation);
}

#[test]
fn sessions_are_listed_for_a_folder() {
    let list = |project: &str, filter: &str| {
        StoredMode::List(ListOptions { project: project.into(), filter: filter.into() })
    };
    assert_eq!(stored(&["list"]), list("/", ""));
    assert_eq!(stored(&["list", "/proc", "--filter=a b"]), list("/proc", "a b"));
    assert_eq!(stored(&["list", "--filter", "-x", "--json"]), list("/", "-x"));
    assert_eq!(refusal(&["list", "-l"]), ErrorKind::UnknownArgument);
    assert_eq!(refusal(&["list", "/", "/"]), ErrorKind::UnknownArgument);
    assert!(matches!(sessions(&["list", "/no/such"]), Err(Problem::Folder(FolderProblem::Missing(_)))));
}

#[test]
fn a_mark_is_set_or_removed_by_the_sessions_id() {
    let mark = |mark| StoredMode::Mark { session: ID.into(), mark };
    assert_eq!(stored(&["pin", ID]), mark(Some(SessionMark::Pinned)));
    assert_eq!(stored(&["unpin", ID]), mark(None));
    assert_eq!(stored(&["archive", ID]), mark(Some(SessionMark::Archived)));
    assert_eq!(stored(&["unarchive", ID]), mark(None));
    assert_eq!(stored(&["watch", ID]), StoredMode::Watch { session: ID.into() });
    assert_eq!(refusal(&["pin"]), ErrorKind::MissingRequiredArgument);
    assert_eq!(refusal(&["pin", ID, "x"]), ErrorKind::UnknownArgument);
    for wrong in ["x", "", "../x"] {
        assert!(matches!(sessions(&["pin", wrong]), Err(Problem::Clap(_))), "{wrong}");
    }
}

#[test]
fn an_export_names_its_session_format_and_file() {
    let export = |format, output: Option<&str>, force| {
        let output = output.map(Into::into);
        StoredMode::Export(ExportOptions { session: ID.into(), format, output, force })
    };
    use ExportFormat::{Html, Json, Markdown};
    assert_eq!(stored(&["export", ID]), export(Markdown, None, false));
    assert_eq!(stored(&["export", ID, "--format=json"]), export(Json, None, false));
    assert_eq!(stored(&["export", "--output=a.html", ID]), export(Html, Some("/a.html"), false));
    assert_eq!(stored(&["export", "--output=a.txt", ID]), export(Markdown, Some("/a.txt"), false));
    let both = ["export", ID, "--format", "markdown", "--output", "/x.html", "--force"];
    assert_eq!(stored(&both), export(Markdown, Some("/x.html"), true));
    assert_eq!(refusal(&["export"]), ErrorKind::MissingRequiredArgument);
    assert_eq!(refusal(&["export", ID, ID]), ErrorKind::UnknownArgument);
    assert_eq!(refusal(&["export", ID, "--format=pdf"]), ErrorKind::InvalidValue);
    assert_eq!(refusal(&["export", ID, "--output="]), ErrorKind::InvalidValue);
    assert_eq!(refusal(&["export", "../x"]), ErrorKind::ValueValidation);
}

#[test]
fn words_are_a_query_and_options_choose_what_is_searched() {
    let options = |query: &str, project: Option<&str>, json| {
        StoredMode::Search(SearchOptions { query: query.to_owned(), project: project.map(Into::into), json })
    };
    assert_eq!(stored(&["search", "fix", "login"]), options("fix login", Some("/"), false));
    let phrase = "\"fix login\" tool:Bash";
    assert_eq!(stored(&["search", phrase, "--all"]), options(phrase, None, false));
    assert_eq!(stored(&["search", "--project=/proc", "x", "--json"]), options("x", Some("/proc"), true));
    assert_eq!(stored(&["search", "--", "-x", "--all"]), options("-x --all", Some("/"), false));
    assert_eq!(refusal(&["search", "--all"]), ErrorKind::MissingRequiredArgument);
    assert_eq!(refusal(&["search", "x", "--project"]), ErrorKind::InvalidValue);
    assert_eq!(refusal(&["search", "x", "--every"]), ErrorKind::UnknownArgument);
}

#[test]
fn costs_are_shown_for_all_projects_or_one() {
    let usage = |project: Option<&str>, by, csv| {
        StoredMode::Usage(UsageOptions { project: project.map(PathBuf::from), by, csv })
    };
    assert_eq!(stored(&["usage"]), usage(None, By::All, false));
    assert_eq!(stored(&["usage", "/proc", "--by=day", "--csv"]), usage(Some("/proc"), By::Day, true));
    assert_eq!(stored(&["usage", "--json", "--by", "model"]), usage(None, By::Model, false));
    assert_eq!(refusal(&["usage", "--by=year"]), ErrorKind::InvalidValue);
    assert_eq!(refusal(&["usage", "--by"]), ErrorKind::InvalidValue);
    assert_eq!(refusal(&["usage", "--json", "--csv"]), ErrorKind::ArgumentConflict);
    assert_eq!(refusal(&["usage", "/", "/"]), ErrorKind::UnknownArgument);
}

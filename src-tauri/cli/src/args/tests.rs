use super::*;
use clap::error::ErrorKind;
use deskbell_engine::api::PermissionMode;

mod folders;
mod relay;
mod sessions;

/// A conversation of Claude Code.
const ID: &str = "0c0f2a5e-5d2b-4e8e-9a6b-0123456789ab";

fn parsed(args: &[&str]) -> Result<Mode, Problem> {
    parsed_in(args, Path::new("/"))
}

fn parsed_in(args: &[&str], cwd: &Path) -> Result<Mode, Problem> {
    parse(&args.iter().map(OsString::from).collect::<Vec<_>>(), cwd)
}

/// What the parser has against these arguments.
fn refused(args: &[&str]) -> (ErrorKind, String) {
    match parsed(args) {
        Err(Problem::Clap(error)) => (error.kind(), error.to_string()),
        other => panic!("{args:?}: {other:?}"),
    }
}

fn kind(args: &[&str]) -> ErrorKind {
    refused(args).0
}

#[test]
fn the_command_line_is_one_that_clap_can_parse() {
    command().debug_assert();
}

#[test]
fn every_command_and_option_is_described() {
    fn check(command: &clap::Command, path: &str) {
        assert!(command.get_about().is_some(), "{path}");
        for arg in command.get_arguments() {
            assert!(arg.get_help().is_some(), "{path} {}", arg.get_id());
        }
        command.get_subcommands().for_each(|sub| check(sub, &format!("{path} {}", sub.get_name())));
    }
    check(&command(), "deskbell");
}

#[test]
fn help_and_version_are_texts_that_were_asked_for() {
    assert_eq!(refused(&["--version"]).1, format!("deskbell {}\n", env!("CARGO_PKG_VERSION")));
    for args in [&["--help"][..], &["help"], &["-h"]] {
        let (kind, text) = refused(args);
        assert_eq!(kind, ErrorKind::DisplayHelp, "{args:?}");
        assert!(text.contains("command-line coding agents on call") && text.contains("worktrees"), "{text}");
    }
    let (_, of_sub) = refused(&["help", "relay"]);
    assert!(of_sub.contains("--fork") && of_sub == refused(&["relay", "--help"]).1, "{of_sub}");
    assert!(refused(&["help", "sessions", "list"]).1.contains("--filter"));
    assert!(!refused(&["help", "relay"]).1.contains('\u{1b}'), "a text has no escapes");
}

#[test]
fn a_mistyped_command_is_named_with_its_neighbour() {
    for (word, neighbour) in [
        ("realy", "relay"),
        ("session", "sessions"),
        ("worktree", "worktrees"),
        ("docter", "doctor"),
        ("hlep", "help"),
    ] {
        let (kind, text) = refused(&[word, "--project=/"]);
        assert_eq!(kind, ErrorKind::InvalidSubcommand, "{word}");
        assert!(text.contains(&format!("'{neighbour}'")), "{word}: {text}");
    }
    let (kind, text) = refused(&["sessions", "lsit"]);
    assert!(kind == ErrorKind::InvalidSubcommand && text.contains("'list'"), "{text}");
    let (kind, text) = refused(&["changes", "--jsn"]);
    assert!(kind == ErrorKind::UnknownArgument && text.contains("'--json'"), "{text}");
    assert_eq!(self::kind(&["settings", "--json", "get"]), ErrorKind::ArgumentConflict);
    // A word that is like none is a folder.
    assert!(matches!(parsed(&["zzz"]), Err(Problem::Folder(_))));
    for path in ["./realy", "/realy", "realy/"] {
        assert!(matches!(parsed(&[path]), Err(Problem::Folder(_))), "{path}");
    }
}

#[test]
fn a_folder_with_the_name_of_almost_a_command_is_opened() {
    let root = tempfile::tempdir().unwrap();
    let root = dunce::canonicalize(root.path()).unwrap();
    for name in ["realy", "relay"] {
        std::fs::create_dir(root.join(name)).unwrap();
    }
    let window = |name: &str| Mode::Window(Args { folder: Some(root.join(name)), ..Args::default() });
    assert_eq!(parsed_in(&["realy"], &root).unwrap(), window("realy"));
    assert_eq!(parsed_in(&["./relay"], &root).unwrap(), window("relay"));
    assert!(parsed_in(&["relay"], &root).is_err(), "a command");
}

#[test]
fn a_folder_that_is_not_one_is_named() {
    let problem = |args: &[&str]| parsed(args).unwrap_err().to_string();
    assert_eq!(problem(&["/no/such"]), "the folder /no/such does not exist");
    assert_eq!(problem(&["/proc/version"]), "/proc/version is a file, not a folder");
    assert_eq!(problem(&["--open", "/no/such"]), "the folder /no/such does not exist");
    assert_eq!(problem(&["relay", "--project=/dev/null"]), "/dev/null is a device, not a folder");
}

#[test]
fn values_may_stand_behind_or_beside() {
    let window = |prompt: &str| {
        Mode::Window(Args {
            folder: Some("/".into()),
            demo: true,
            prompt: Some(prompt.into()),
            ..Args::default()
        })
    };
    assert_eq!(parsed(&["--demo", "--prompt=a=b", "/"]).unwrap(), window("a=b"));
    assert_eq!(parsed(&["/", "--prompt", "-x", "--demo"]).unwrap(), window("-x"));
    assert_eq!(kind(&["--prompt"]), ErrorKind::InvalidValue);
    let same =
        [&["relay", "--project=/", "--agent=demo"][..], &["relay", "--project", "/", "--agent", "demo"]];
    let [one, other] = same.map(|args| parsed(args).unwrap());
    assert_eq!(one, other);
}

#[test]
fn settings_are_read_and_written() {
    let action = |args: &[&str]| parsed(&[&["settings"][..], args].concat()).unwrap();
    assert_eq!(action(&[]), Mode::Settings(SettingsAction::Get(None)));
    assert_eq!(action(&["get", "zoom"]), Mode::Settings(SettingsAction::Get(Some("zoom".to_owned()))));
    let set = SettingsAction::Set { key: "zoom".to_owned(), value: "-1".to_owned() };
    assert_eq!(action(&["set", "zoom", "-1"]), Mode::Settings(set));
    assert_eq!(action(&["get", "--json"]), Mode::Settings(SettingsAction::Json));
    assert_eq!(kind(&["settings", "set", "zoom"]), ErrorKind::MissingRequiredArgument);
    assert_eq!(kind(&["settings", "reset"]), ErrorKind::InvalidSubcommand);
    assert_eq!(kind(&["settings", "path", "x"]), ErrorKind::UnknownArgument);
}

#[test]
fn a_launcher_names_at_most_a_folder() {
    let window = |folder: Option<&str>| {
        Mode::Window(Args { folder: folder.map(Into::into), launcher: true, ..Args::default() })
    };
    assert_eq!(parsed(&["--open"]).unwrap(), window(None));
    assert_eq!(parsed(&["--open", "/"]).unwrap(), window(Some("/")));
    assert!(parsed(&["--open", "relay"]).unwrap_err().to_string().contains("does not exist"));
    assert!(is_launcher(&["--open".into(), "/no/such".into()]));
    assert!(!is_launcher(&["/".into(), "--open".into()]));
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("--prompt=x")).unwrap();
    assert_eq!(
        parsed_in(&["--open", "--prompt=x"], &root).unwrap(),
        window(root.join("--prompt=x").to_str())
    );
    // A desktop that can also pass a link passes a folder as an address.
    let address = format!("file://{}/--prompt%3Dx", root.display());
    assert_eq!(parsed(&["--open", &address]).unwrap(), window(root.join("--prompt=x").to_str()));
    for other in ["file://server/share", "file:///%zz", "file:/x", "file:///a%00b"] {
        assert!(matches!(parsed(&["--open", other]), Err(Problem::Folder(_))), "{other}");
    }
}

#[test]
fn a_start_at_login_names_nothing() {
    let hidden = Args { hidden: true, ..Args::default() };
    assert_eq!(parsed(&["--background"]).unwrap(), Mode::Window(hidden));
    for others in [["--background", "/"], ["--demo", "--background"], ["--background", "--prompt=x"]] {
        assert_eq!(kind(&others), ErrorKind::ArgumentConflict, "{others:?}");
    }
}

#[test]
fn a_window_opens_one_folder() {
    for second in ["/", "relay"] {
        assert!(matches!(parsed(&["/", second]), Err(Problem::SecondFolder(_))), "{second}");
    }
    assert_eq!(kind(&["--demo=1"]), ErrorKind::TooManyValues);
    assert_eq!(kind(&["--nonsense"]), ErrorKind::UnknownArgument);
    assert_eq!(kind(&[""]), ErrorKind::InvalidValue);
    // After an option of the window a word is a folder.
    assert!(matches!(parsed(&["--demo", "relay"]), Err(Problem::Folder(_))));
}

#[test]
fn the_doctor_may_be_told_whom_to_look_at() {
    let of = |agent: Option<&str>, form| Mode::Doctor { agent: agent.map(Into::into), form };
    assert_eq!(parsed(&["doctor", "--json"]).unwrap(), of(None, ReportForm::Json));
    assert_eq!(parsed(&["doctor", "--log"]).unwrap(), of(None, ReportForm::WithLog));
    assert_eq!(parsed(&["doctor"]).unwrap(), of(None, ReportForm::Text));
    assert_eq!(parsed(&["doctor", "--agent=/x"]).unwrap(), of(Some("/x"), ReportForm::Text));
    assert_eq!(kind(&["doctor", "--log", "--json"]), ErrorKind::ArgumentConflict);
    assert_eq!(kind(&["doctor", "--agent"]), ErrorKind::InvalidValue);
    assert_eq!(kind(&["doctor", "now"]), ErrorKind::UnknownArgument);
}

#[test]
fn replay_needs_a_recording() {
    let replay = |view| Mode::Replay(ReplayOptions { file: "/a".into(), view });
    assert_eq!(parsed(&["replay", "a"]).unwrap(), replay(ReplayView::Conversation));
    assert_eq!(parsed(&["replay", "--lines", "a"]).unwrap(), replay(ReplayView::Lines));
    assert_eq!(parsed(&["replay", "/a", "--events"]).unwrap(), replay(ReplayView::Events));
    assert_eq!(kind(&["replay"]), ErrorKind::MissingRequiredArgument);
    assert_eq!(kind(&["replay", "-x", "a"]), ErrorKind::UnknownArgument);
    assert_eq!(kind(&["replay", "a", "b"]), ErrorKind::UnknownArgument);
}

#[test]
fn a_recording_is_removed_only_by_its_name() {
    let mode = |args: &[&str]| parsed(&[&["recordings"][..], args].concat());
    assert_eq!(mode(&[]).unwrap(), Mode::Recordings(RecordingsMode::List));
    assert_eq!(mode(&["--json"]).unwrap(), Mode::Recordings(RecordingsMode::List));
    assert_eq!(mode(&["--clear"]).unwrap(), Mode::Recordings(RecordingsMode::Clear));
    assert_eq!(mode(&["--remove=a"]).unwrap(), Mode::Recordings(RecordingsMode::Remove("a".to_owned())));
    for wrong in [&["--remove"][..], &["--remove="], &["--clear=1"], &["a"], &["--clear", "--remove=a"]] {
        assert!(mode(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn an_update_takes_no_address_and_no_version() {
    let all = update::UpdateOptions { check: true, json: true };
    assert_eq!(parsed(&["update"]).unwrap(), Mode::Update(update::UpdateOptions::default()));
    assert_eq!(parsed(&["update", "--json", "--check"]).unwrap(), Mode::Update(all));
    for wrong in ["--url=https://example.org", "--check=1", "0.2.0", "--force"] {
        assert!(matches!(parsed(&["update", wrong]), Err(Problem::Clap(_))), "{wrong}");
    }
}

#[test]
fn one_file_is_opened_at_a_line() {
    let of = |file: &str, line| Mode::Edit(edit::EditOptions { file: file.into(), line });
    let edit = |args: &[&str]| parsed_in(&[&["edit"][..], args].concat(), Path::new("/p"));
    assert_eq!(edit(&["a=b"]).unwrap(), of("/p/a=b", None));
    assert_eq!(edit(&["--line=7", "/a b"]).unwrap(), of("/a b", Some(7)));
    assert_eq!(edit(&["--line", "7", "--", "--line=8"]).unwrap(), of("/p/--line=8", Some(7)));
    assert_eq!(edit(&["--", "--"]).unwrap(), of("/p/--", None));
    for line in ["--line", "--line=", "--line=0", "--line=-1", "--line=x", "--line=4294967296"] {
        assert!(edit(&["a", line]).is_err(), "{line}");
    }
    for args in [&[][..], &["--line=1"], &[""], &["--"], &["a", "b"], &["-x"]] {
        assert!(edit(args).is_err(), "{args:?}");
    }
}

#[test]
fn everything_after_the_machine_is_the_command() {
    let on = |args: &[&str]| match parsed_in(&[&["on"][..], args].concat(), Path::new("/p")) {
        Ok(Mode::On(on)) => on,
        other => panic!("{args:?}: {other:?}"),
    };
    let named = on(&["--program=relay", "docker:web", "sessions", "--program=x", "list"]);
    assert_eq!(named.machine.to_string(), "docker:web");
    assert_eq!(named.program, Some(PathBuf::from("/p/relay")));
    assert_eq!(named.command, ["sessions", "--program=x", "list"]);
    assert_eq!(on(&["box", "doctor", ""]).command, ["doctor", ""]);
    assert_eq!(on(&["box", "--help"]).command, ["--help"], "the help of the other machine");
}

#[test]
fn what_cannot_be_sent_to_a_machine_is_refused() {
    assert_eq!(kind(&["on"]), ErrorKind::MissingRequiredArgument);
    assert_eq!(kind(&["on", "box"]), ErrorKind::TooFewValues);
    assert_eq!(kind(&["on", "--program=", "box", "doctor"]), ErrorKind::InvalidValue);
    assert_eq!(kind(&["on", "-x", "box", "doctor"]), ErrorKind::UnknownArgument);
    assert!(matches!(parsed(&["on", "a b", "doctor"]), Err(Problem::BadMachine(_))));
    for argument in ["a\nb", "a\rb", "a\0b", &"x".repeat(on::MAX_BYTES + 1)] {
        assert!(matches!(parsed(&["on", "box", argument]), Err(Problem::BadArgument)));
    }
    let many = [&["on", "box"][..], &["x"; on::MAX_ARGUMENTS + 1]].concat();
    assert!(matches!(parsed(&many), Err(Problem::BadArgument)));
}

use super::*;

fn parsed(args: &[&str]) -> Result<Mode, Problem> {
    parse(&args.iter().map(OsString::from).collect::<Vec<_>>(), Path::new("/"))
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
        Ok(Mode::Window(Args {
            folder: Some("/".into()),
            demo: true,
            prompt: Some(prompt.into()),
            ..Args::default()
        }))
    };
    assert_eq!(parsed(&["--demo", "--prompt=a=b", "/"]), window("a=b"));
    assert_eq!(parsed(&["/", "--prompt", "-x", "--demo"]), window("-x"));
    assert_eq!(parsed(&["--prompt"]), Err(Problem::NoValue("--prompt".into())));
}

#[test]
fn settings_are_read_and_written() {
    let action = |args: &[&str]| parsed(&[&["settings"][..], args].concat());
    assert_eq!(action(&[]), Ok(Mode::Settings(SettingsAction::Get(None))));
    let set = SettingsAction::Set { key: "zoom".to_owned(), value: "-1".to_owned() };
    assert_eq!(action(&["set", "zoom", "-1"]), Ok(Mode::Settings(set)));
    for args in [&["set", "zoom"][..], &["reset"], &["path", "x"]] {
        assert_eq!(action(args), Err(Problem::NoSettingsAction), "{args:?}");
    }
}

#[test]
fn a_launcher_names_at_most_a_folder() {
    let window = |folder: Option<&str>| {
        let folder = folder.map(Into::into);
        Ok(Mode::Window(Args { folder, launcher: true, ..Args::default() }))
    };
    assert_eq!(parsed(&["--open"]), window(None));
    assert_eq!(parsed(&["--open", "/"]), window(Some("/")));
    assert!(parsed(&["--open", "relay"]).unwrap_err().to_string().contains("does not exist"));
    assert!(is_launcher(&["--open".into(), "/no/such".into()]));
    assert!(!is_launcher(&["/".into(), "--open".into()]));
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("--prompt=x")).unwrap();
    let odd = parse(&["--open".into(), "--prompt=x".into()], &root).unwrap();
    assert_eq!(odd, window(root.join("--prompt=x").to_str()).unwrap());
    // A desktop that can also pass a link passes a folder as an address.
    let address = format!("file://{}/--prompt%3Dx", root.display());
    assert_eq!(parsed(&["--open", &address]), window(root.join("--prompt=x").to_str()));
    for other in ["file://server/share", "file:///%zz", "file:/x", "file:///a%00b"] {
        assert!(matches!(parsed(&["--open", other]), Err(Problem::Folder(_))), "{other}");
    }
}

#[test]
fn a_start_at_login_names_nothing() {
    let hidden = Args { hidden: true, ..Args::default() };
    assert_eq!(parsed(&["--background"]), Ok(Mode::Window(hidden)));
    for others in [["--background", "/"], ["--demo", "--background"], ["--background", "--prompt=x"]] {
        assert_eq!(parsed(&others), Err(Problem::BackgroundWithOthers), "{others:?}");
    }
}

#[test]
fn the_list_of_projects_is_changed_by_one_option() {
    let change = |change| Ok(Mode::Projects(Some(change)));
    assert_eq!(parsed(&["projects"]), Ok(Mode::Projects(None)));
    assert_eq!(parsed(&["projects", "--clear"]), change(Change::Clear));
    assert_eq!(parsed(&["projects", "--pin=/"]), change(Change::Pin { path: "/".into(), pinned: true }));
    assert_eq!(parsed(&["projects", "--unpin=/"]), change(Change::Pin { path: "/".into(), pinned: false }));
    let gone = Change::Remove { path: "/no/such".into() };
    assert_eq!(parsed(&["projects", "--remove=/no/such"]), change(gone));
    assert_eq!(parsed(&["projects", "--remove="]), Err(Problem::NoValue("--remove".into())));
    assert!(matches!(parsed(&["projects", "now"]), Err(Problem::UnknownOption(_))));
    assert!(matches!(parsed(&["projects", "--clear", "--pin=/"]), Err(Problem::UnknownOption(_))));
}

#[test]
fn the_doctor_may_be_told_whom_to_look_at() {
    let doctor =
        |agent: Option<&str>| Ok(Mode::Doctor { agent: agent.map(Into::into), form: ReportForm::Text });
    let of = |form| Ok(Mode::Doctor { agent: None, form });
    assert_eq!(parsed(&["doctor", "--json"]), of(ReportForm::Json));
    assert_eq!(parsed(&["doctor", "--log"]), of(ReportForm::WithLog));
    assert_eq!(parsed(&["doctor", "--log", "--json"]), Err(Problem::LogAndJson));
    assert_eq!(parsed(&["doctor", "--json", "--log"]), Err(Problem::LogAndJson));
    assert_eq!(parsed(&["doctor"]), doctor(None));
    assert_eq!(parsed(&["doctor", "--agent=/x"]), doctor(Some("/x")));
    assert_eq!(parsed(&["doctor", "--agent"]), Err(Problem::NoValue("--agent".into())));
    assert_eq!(parsed(&["doctor", "now"]), Err(Problem::UnknownOption("now".into())));
}

#[test]
fn replay_needs_a_recording() {
    let replay = |view| Ok(Mode::Replay(ReplayOptions { file: "/a".into(), view }));
    assert_eq!(parsed(&["replay", "a"]), replay(ReplayView::Conversation));
    assert_eq!(parsed(&["replay", "--lines", "a"]), replay(ReplayView::Lines));
    assert_eq!(parsed(&["replay", "/a", "--events"]), replay(ReplayView::Events));
    assert_eq!(parsed(&["replay"]), Err(Problem::NoRecording));
    assert_eq!(parsed(&["replay", "-x", "a"]), Err(Problem::UnknownOption("-x".into())));
}

#[test]
fn relay_takes_only_what_can_be_asked_for() {
    let relay = |argument: &str| parsed(&["relay", "--project=/", argument]);
    let problem = |argument: &str| relay(argument).unwrap_err().to_string();
    for mode in PermissionMode::ALL {
        let options = RelayOptions { project: "/".into(), mode: Some(mode), ..RelayOptions::default() };
        assert_eq!(relay(&format!("--mode={mode}")), Ok(Mode::Relay(options)));
    }
    let bypass = problem("--mode=bypassPermissions");
    assert!(bypass.contains("chosen before the agent starts"), "{bypass}");
    for mode in ["nonsense", "Plan", "plan ", "manual", "\u{1b}[31m"] {
        let problem = problem(&format!("--mode={mode}"));
        assert!(problem.contains("Available: default, acceptEdits, plan, dontAsk, auto."), "{problem}");
        assert!(!problem.contains('\u{1b}'), "{problem:?}");
    }
    let id = "0c0f2a5e-5d2b-4e8e-9a6b-0123456789ab";
    let options =
        RelayOptions { project: "/".into(), resume: Some(id.to_owned()), ..RelayOptions::default() };
    assert_eq!(relay(&format!("--resume={id}")), Ok(Mode::Relay(options)));
    let prompt = "1c0f2a5e-5d2b-4e8e-9a6b-0123456789ab";
    let options = RelayOptions {
        project: "/".into(),
        fork: Some(id.to_owned()),
        before: Some(prompt.to_owned()),
        ..RelayOptions::default()
    };
    let (fork, before) = (format!("--fork={id}"), format!("--before={prompt}"));
    assert_eq!(parsed(&["relay", "--project=/", &fork, &before]), Ok(Mode::Relay(options)));
    let resume = format!("--resume={id}");
    assert_eq!(parsed(&["relay", "--project=/", &fork, &resume]), Err(Problem::ForkAndResume));
    assert_eq!(relay(&before), Err(Problem::BeforeWithoutFork));
    let path = "../../../../../../../../../../etc/passw";
    for resume in ["x", "-p", path, "0c0f2a5e5d2b4e8e9a6b0123456789ab", "\u{202e}", "last one"] {
        assert!(matches!(relay(&format!("--resume={resume}")), Err(Problem::BadConversation(_))), "{resume}");
    }
    for model in ["two words", "line\nbreak", " ", "\u{0}"] {
        assert!(matches!(relay(&format!("--model={model}")), Err(Problem::BadModel(_))), "{model:?}");
    }
}

#[test]
fn relay_needs_a_project() {
    assert_eq!(parsed(&["relay"]), Err(Problem::NoProject));
    assert_eq!(parsed(&["relay", "--nonsense=1"]), Err(Problem::UnknownOption("--nonsense".into())));
    let options = RelayOptions { project: "/".into(), agent: Some("demo".into()), ..RelayOptions::default() };
    assert_eq!(parsed(&["relay", "--project=/", "--agent=demo"]), Ok(Mode::Relay(options)));
}

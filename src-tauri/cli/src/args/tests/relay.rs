//! `deskbell relay`: a session, or the server and its clients.

use super::super::server::{AttachOptions, IDLE, ServeOptions, ServerMode, Which};
use super::*;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::{Priority, SessionId};
use std::time::Duration;

/// A relay in `/`.
fn relay(args: &[&str]) -> Result<Mode, Problem> {
    parsed(&[&["relay", "--project=/"][..], args].concat())
}

fn options() -> RelayOptions {
    RelayOptions { project: "/".into(), ..RelayOptions::default() }
}

#[test]
fn relay_takes_only_what_can_be_asked_for() {
    let problem = |argument: &str| relay(&[argument]).unwrap_err().to_string();
    for mode in PermissionMode::ALL {
        let expected = RelayOptions { mode: Some(mode), ..options() };
        assert_eq!(relay(&[&format!("--mode={mode}")]).unwrap(), Mode::Relay(expected));
    }
    let bypass = problem("--mode=bypassPermissions");
    assert!(bypass.contains("chosen before the agent starts"), "{bypass}");
    for mode in ["nonsense", "Plan", "plan ", "manual"] {
        let problem = problem(&format!("--mode={mode}"));
        assert!(problem.contains("Available: default, acceptEdits, plan, dontAsk, auto."), "{problem}");
    }
    let low = RelayOptions { priority: Priority::Low, trust: true, ..options() };
    assert_eq!(relay(&["--low-priority", "--trust"]).unwrap(), Mode::Relay(low));
    for model in ["two words", "line\nbreak", " ", ""] {
        assert!(matches!(relay(&[&format!("--model={model}")]), Err(Problem::Clap(_))), "{model:?}");
    }
}

#[test]
fn a_conversation_is_continued_or_copied_by_its_id() {
    let resumed = RelayOptions { resume: Some(ID.to_owned()), ..options() };
    assert_eq!(relay(&[&format!("--resume={ID}")]).unwrap(), Mode::Relay(resumed));
    let prompt = "1c0f2a5e-5d2b-4e8e-9a6b-0123456789ab";
    let (fork, before) = (format!("--fork={ID}"), format!("--before={prompt}"));
    let expected = RelayOptions { fork: Some(ID.to_owned()), before: Some(prompt.to_owned()), ..options() };
    assert_eq!(relay(&[&fork, &before]).unwrap(), Mode::Relay(expected));
    let both = ["relay", "--project=/", &fork, "--resume", ID];
    assert_eq!(kind(&both), ErrorKind::ArgumentConflict);
    assert_eq!(kind(&["relay", "--project=/", &before]), ErrorKind::MissingRequiredArgument);
    let path = "../../../../../../../../../../etc/passw";
    for id in ["x", path, "0c0f2a5e5d2b4e8e9a6b0123456789ab", "\u{202e}", "last one"] {
        let resume = relay(&[&format!("--resume={id}")]);
        assert!(matches!(resume, Err(Problem::BadConversation(_))), "{id}");
        assert!(matches!(relay(&[&format!("--fork={id}")]), Err(Problem::Clap(_))), "{id}");
    }
    // Other agents have ids of other forms.
    for of_other in ["--agent=gemini", "--profile=Work"] {
        assert!(relay(&[of_other, "--resume=session_1"]).is_ok(), "{of_other}");
        assert!(relay(&[of_other, "--resume=../x"]).is_err(), "{of_other}");
    }
}

#[test]
fn relay_needs_a_project() {
    assert_eq!(kind(&["relay"]), ErrorKind::MissingRequiredArgument);
    assert_eq!(kind(&["relay", "--nonsense=1"]), ErrorKind::UnknownArgument);
    assert_eq!(kind(&["relay", "--project="]), ErrorKind::InvalidValue);
    let demo = RelayOptions { agent: Some("demo".into()), ..options() };
    assert_eq!(relay(&["--agent=demo"]).unwrap(), Mode::Relay(demo));
}

#[test]
fn an_agent_is_a_name_a_path_or_a_command() {
    let acp = |acp| Mode::Relay(RelayOptions { acp: Some(acp), ..options() });
    let gemini = ChosenAgent::row_of("gemini").unwrap();
    assert_eq!(relay(&["--agent=gemini"]).unwrap(), acp(gemini));
    let path = RelayOptions { agent: Some("./gemini".into()), ..options() };
    assert_eq!(relay(&["--agent", "./gemini"]).unwrap(), Mode::Relay(path));
    let command = |program: &str, arguments: &[&str]| ChosenAgent::Command {
        program: program.into(),
        arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
    };
    let named = relay(&["--agent-command=x", "--agent-argument=--acp", "--agent-argument", "-v"]);
    assert_eq!(named.unwrap(), acp(command("x", &["--acp", "-v"])));
    assert_eq!(relay(&["--agent-command=a/x"]).unwrap(), acp(command("/a/x", &[])));
    for both in [["--agent=qwen", "--agent-command=x"], ["--agent=qwen", "--profile=W"]] {
        assert_eq!(kind(&[&["relay", "--project=/"][..], &both].concat()), ErrorKind::ArgumentConflict);
    }
    let alone = ["relay", "--project=/", "--agent-argument=x"];
    assert_eq!(kind(&alone), ErrorKind::MissingRequiredArgument);
    for of_claude in ["--mode=plan", "--options=x", &format!("--fork={ID}")] {
        assert!(matches!(relay(&["--agent=qwen", of_claude]), Err(Problem::OnlyClaude(_))), "{of_claude}");
    }
}

#[test]
fn each_mode_of_the_server_takes_its_own_options() {
    let server = |args: &[&str]| match parsed(&[&["relay"][..], args].concat()) {
        Ok(Mode::Server(mode)) => mode,
        other => panic!("{args:?}: {other:?}"),
    };
    let serve = |idle, detached| ServerMode::Serve(ServeOptions { idle, detached });
    let attach = |session: Option<&str>, start| {
        ServerMode::Attach(AttachOptions { session: session.map(SessionId::new), start, idle: IDLE })
    };
    assert_eq!(server(&["--serve"]), serve(IDLE, false));
    assert_eq!(server(&["--serve", "--idle=0.5", "--detached"]), serve(Duration::from_millis(500), true));
    assert_eq!(server(&["--idle", "1", "--serve"]), serve(Duration::from_secs(1), false));
    assert_eq!(server(&["--attach"]), attach(None, true));
    assert_eq!(server(&["--attach=x", "--no-start"]), attach(Some("x"), false));
    assert_eq!(server(&["--list", "--json"]), ServerMode::List { json: true });
    assert_eq!(server(&["--stop=all"]), ServerMode::Stop(Which::All));
    assert_eq!(server(&["--stop=x"]), ServerMode::Stop(Which::One(SessionId::new("x"))));
    assert_eq!(server(&["--remove=x"]), ServerMode::Remove(SessionId::new("x")));
}

#[test]
fn what_does_not_belong_to_a_mode_of_the_server_is_refused() {
    let refused = |args: &[&str]| kind(&[&["relay"][..], args].concat());
    for empty in ["--stop", "--remove=", "--attach="] {
        assert!(matches!(parsed(&["relay", empty]), Err(Problem::Clap(_))), "{empty}");
    }
    assert_eq!(refused(&["--serve", "--idle"]), ErrorKind::InvalidValue);
    assert_eq!(refused(&["--serve", "--no-start"]), ErrorKind::ArgumentConflict);
    for conflict in [["--list", "--idle=1"], ["--serve", "--list"], ["--attach", "--project=/"]] {
        assert_eq!(refused(&conflict), ErrorKind::ArgumentConflict, "{conflict:?}");
    }
    assert_eq!(refused(&["--project=/", "--idle=1"]), ErrorKind::ArgumentConflict);
    assert!(matches!(parsed(&["relay", "--attach", "--trust"]), Err(Problem::Clap(_))));
    for idle in ["x", "-1", "inf", "1e300"] {
        assert_eq!(refused(&["--serve", &format!("--idle={idle}")]), ErrorKind::ValueValidation, "{idle}");
    }
}

#[test]
fn what_an_option_needs_is_not_replaced_by_what_excludes_it() {
    let id = format!("--resume={ID}");
    let before = format!("--before={ID}");
    for wrong in
        [&["--agent=qwen", "--agent-argument=x"][..], &["--profile=W", "--agent-argument=x"], &[&id, &before]]
    {
        assert!(matches!(relay(wrong), Err(Problem::Clap(_))), "{wrong:?}");
    }
    for wrong in [["--attach", "--detached"], ["--serve", "--json"], ["--stop=all", "--no-start"]] {
        assert_eq!(kind(&[&["relay"][..], &wrong].concat()), ErrorKind::ArgumentConflict, "{wrong:?}");
    }
    assert!(matches!(parsed(&["changes", "--json", "--hunk=@@ -1 +1 @@"]), Err(Problem::Clap(_))));
}

//! Sessions with an agent that speaks ACP: the demo agent's other wire, in the place of an agent of the table.

#![cfg(target_os = "linux")]

use crate::app_killed::app;
use crate::leftovers::nothing_runs;
use crate::life::{DEADLINE, Life, MARK, Setup};
use crate::program::demo_agent;
use crate::transcript::tool_states;
use deskbell_engine::api::*;
use deskbell_tests::relay::complete_sessions;
use deskbell_tests::window::processes_with;
use serde_json::{Value, json};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command as Program, Stdio};

/// An agent whose mode that asks is `default`, as the demo agent's.
fn agent() -> Setup {
    Setup::acp("qwen", "").trusted()
}

fn allow() -> Decision {
    Decision::AllowOnce { updated_input: None }
}

fn deny(interrupt: bool) -> Decision {
    Decision::Deny { message: "no".to_owned(), interrupt }
}

async fn decide(life: &Life, request: &PermissionRequest, decision: Decision) -> Result<(), CommandError> {
    let (request_id, shown) = (request.id.clone(), Some(request.shown.clone()));
    life.command(Command::Decide { request_id, shown, decision }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_has_its_texts_calls_and_end() {
    let mut life = agent().open().await;
    life.prompt("THINK first\nSAY one \nRUN ls -l\nEDIT src/sum.rs\nPLAN\nSAY two").await;
    let command = life.request().await;
    assert_eq!((&command.subject[..], &command.kind), ("ls -l", &RequestKind::Command));
    assert!(!command.has_more && command.notices.is_empty(), "{command:?}");
    decide(&life, &command, allow()).await.unwrap();
    let edit = life.request().await;
    assert_eq!((&edit.subject[..], &edit.kind), ("src/sum.rs", &RequestKind::Edit));
    assert!(edit.diff.is_some());
    decide(&life, &edit, allow()).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Done);
    let items = life.items().await;
    assert_eq!(tool_states(&items), [ToolState::Succeeded; 3]);
    assert_eq!(life.answers().await, ["one", "two"]);
    let thinks = |item: &Item| matches!(&item.body, Body::Thinking { .. });
    assert_eq!(items.iter().filter(|item| thinks(item)).count(), 1);
    let session = life.snapshot().await.session;
    assert_eq!((session.agent, &session.agent_name[..]), (AgentKind::Acp, "Qwen Code"));
    assert_eq!(session.agent_version.as_deref(), Some(env!("CARGO_PKG_VERSION")));
    assert_eq!(session.mode, "default", "the mode that asks was set before the prompt");
    assert_eq!(session.missed_prompt, None);
    // The second turn has the same session.
    life.turn("SAY again").await;
    assert!(life.snapshot().await.session.agent_session_id.is_some());
    let command = life.session().query(CopyQuery { copy: CopyOf::ResumeCommand }).await.unwrap();
    assert_eq!(command, None, "`claude --resume` knows no conversation of another agent");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_does_not_run_and_the_turn_goes_on_or_ends_as_was_said() {
    for (interrupt, outcome, answers) in
        [(false, Outcome::Done, &["done"][..]), (true, Outcome::Interrupted, &[])]
    {
        let mut life = agent().open().await;
        life.prompt(if interrupt { "RUN rm a\nHANG" } else { "RUN rm a\nSAY done" }).await;
        let request = life.request().await;
        decide(&life, &request, deny(interrupt)).await.unwrap();
        assert_eq!(life.turn_end().await.outcome, outcome);
        assert_eq!(tool_states(&life.items().await), [ToolState::Denied]);
        assert_eq!(life.answers().await, answers);
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn always_is_the_agents_own_option_and_an_edited_input_is_refused() {
    let mut life = agent().open().await;
    life.prompt("RUN ls").await;
    let request = life.request().await;
    let [always] = &request.suggestions[..] else { panic!("{:?}", request.suggestions) };
    assert_eq!(always.label, "Always allow this");
    let json = json!({"command": "rm -rf /"}).to_string();
    let edited = Decision::AllowOnce { updated_input: Some(InputChange::Whole { json }) };
    assert_eq!(decide(&life, &request, edited).await.unwrap_err().code, ErrorCode::BadCommand);
    decide(&life, &request, Decision::AllowAlways { suggestion: json!(always.id) }).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Done);
    assert_eq!(life.answers().await, ["From now on."]);
    life.close().await;
}

/// “Allow” is no answer of such an agent: it is refused, and the request stays open.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_can_only_be_allowed_forever_is_not_allowed_once() {
    let mut life = Setup::acp("qwen", "forever").trusted().open().await;
    life.prompt("RUN ls").await;
    let request = life.request().await;
    assert_eq!(decide(&life, &request, allow()).await.unwrap_err().code, ErrorCode::BadCommand);
    assert_eq!(life.snapshot().await.session.requests.len(), 1);
    decide(&life, &request, deny(false)).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Done);
    assert_eq!(tool_states(&life.items().await), [ToolState::Denied]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_cancelled_while_it_works_and_while_it_asks() {
    let mut life = agent().open().await;
    life.prompt("SAY before\nHANG").await;
    let said = |event: &Event| match event {
        Event::ItemAdded { item } => matches!(item.body, Body::Text { .. }).then_some(()),
        _ => None,
    };
    life.next("text", said).await;
    life.command(Command::Interrupt).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
    life.prompt("RUN ls\nSAY never").await;
    let request = life.request().await;
    life.command(Command::Interrupt).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
    assert_eq!(decide(&life, &request, allow()).await.unwrap_err().code, ErrorCode::NoSuchRequest);
    let items = life.items().await;
    assert!(!tool_states(&items).contains(&ToolState::Succeeded), "{:?}", tool_states(&items));
    assert_eq!(life.answers().await, ["before"]);
    // The session goes on.
    life.turn("SAY after").await;
    life.close().await;
}

fn command_names(session: &Session) -> Vec<&str> {
    session.commands.iter().map(|command| command.name.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agents_slash_commands_are_offered_and_its_next_list_replaces_them() {
    // The second continues its conversation by repeating it.
    for faults in ["", "load"] {
        let mut life = Setup::acp("qwen", faults).trusted().open().await;
        life.turn("SAY one").await;
        let session = life.snapshot().await.session;
        assert_eq!(command_names(&session), ["review", "explain"], "{faults}");
        assert_eq!(session.commands[1].argument_hint, "[path]");
        life.turn("COMMANDS deploy deploy").await;
        assert_eq!(command_names(&life.snapshot().await.session), ["deploy", "deploy"], "{faults}");
        life.turn("COMMANDS").await;
        assert_eq!(command_names(&life.snapshot().await.session), [""; 0], "{faults}");
        life.command(Command::Stop).await.unwrap();
        life.exit().await;
        life.turn("SAY two").await;
        assert_eq!(command_names(&life.snapshot().await.session), ["review", "explain"], "{faults}");
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_shown_and_the_next_turn_works() {
    let mut life = agent().open().await;
    life.prompt("FAIL the service is down").await;
    let end = life.turn_end().await;
    assert_ne!(end.outcome, Outcome::Done);
    assert!(end.words.contains("the service is down"), "{end:?}");
    life.turn("GARBAGE not json\nVENDOR").await;
    assert_eq!(life.answers().await, ["refused with -32601"]);
    life.turn("MODE yolo\nSAY on").await;
    let notices = life.notices().await.join("\n");
    assert!(notices.contains("changed its own mode to “yolo”"), "{notices}");
    assert_eq!(life.snapshot().await.session.mode, "yolo");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_filled_in_declined_or_withdrawn_with_its_turn() {
    let mut life = agent().open().await;
    let fill = |name: serde_json::Value| Decision::Fill { values: [("name".to_owned(), name)].into() };
    let decline = Decision::Deny { message: String::new(), interrupt: false };
    for (decision, action) in [(fill(json!("Ada")), "accept"), (decline, "decline")] {
        life.prompt("QUESTION").await;
        let request = life.request().await;
        let RequestKind::Form { form } = &request.kind else { panic!("{:?}", request.kind) };
        assert_eq!((form.message.as_str(), form.fields[0].name.as_str()), ("Which name?", "name"));
        for unfit in [fill(json!(1)), allow()] {
            assert_eq!(decide(&life, &request, unfit).await.unwrap_err().code, ErrorCode::BadCommand);
        }
        decide(&life, &request, decision).await.unwrap();
        assert_eq!(life.turn_end().await.outcome, Outcome::Done);
        assert_eq!(life.answers().await.last(), Some(&format!("answered with \"{action}\"")));
    }
    life.prompt("QUESTION").await;
    life.request().await;
    life.command(Command::Interrupt).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
    assert!(life.snapshot().await.session.requests.is_empty());
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_the_conversation_continues_in_a_new_process() {
    let mut life = agent().open().await;
    life.turn("SAY one").await;
    life.prompt("CRASH 3").await;
    assert_eq!(life.exit().await.code, Some(3));
    assert_eq!(life.turn_end().await.outcome, Outcome::Crashed);
    life.turn("SAY two").await;
    assert_eq!(life.answers().await, ["one", "two"]);
    let setup = life.close().await;
    assert_eq!(setup.record()["memory"]["acp"], json!({"type": "row", "id": "qwen"}));
    assert_eq!(setup.record()["agent"], "acp");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_cannot_be_continued_holds_the_prompts() {
    for fault in ["no-resume", "lost"] {
        let mut life = Setup::acp("qwen", fault).trusted().open().await;
        life.turn("SAY one").await;
        life.command(Command::Stop).await.unwrap();
        life.exit().await;
        life.prompt("SAY two").await;
        let session = life.facts("held prompt", |session| session.queue.iter().any(|one| one.held)).await;
        assert_eq!(session.queue.len(), 1, "{fault}");
        life.exit().await;
        let notices = life.notices().await.join("\n");
        assert!(notices.contains("no longer has this conversation"), "{fault}: {notices}");
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_cannot_work_says_why_and_keeps_the_prompt() {
    for (fault, words) in [
        ("login", "Qwen Code needs a login before it can work."),
        ("old-protocol", "Qwen Code does not speak the protocol that Deskbell knows."),
        ("no-mode", "Qwen Code cannot be made to ask before it acts, so it was not started."),
    ] {
        let mut life = Setup::acp("qwen", fault).trusted().open().await;
        life.prompt("SAY one").await;
        assert_eq!(life.failure().await.message, words, "{fault}");
        life.exit().await;
        let session = life.snapshot().await.session;
        assert!(session.queue.iter().all(|prompt| prompt.held) && session.queue.len() == 1, "{fault}");
        assert_eq!(session.status, Status::Failed { message: words.to_owned() }, "{fault}");
        assert!(!session.alive);
        // The demo agent reports a login in the user's terminal. The program of the row is the other way.
        let login = |words: &[&str], needed| {
            Some(AgentLogin { words: words.iter().map(|word| (*word).to_owned()).collect(), needed })
        };
        let expected =
            if fault == "login" { login(&["qwen", "login"], true) } else { login(&["qwen"], false) };
        assert_eq!(session.login, expected, "{fault}");
        life.close().await;
    }
}

/// It confirms the change and takes it back at once: the protocol has nothing that would show it earlier.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_goes_back_to_a_mode_that_does_not_ask_is_shown_so() {
    let mut life = Setup::acp("qwen", "keeps-mode").trusted().open().await;
    life.turn("SAY one").await;
    let notices = life.notices().await.join("\n");
    assert!(notices.contains("changed its own mode to “auto”"), "{notices}");
    assert_eq!(life.snapshot().await.session.mode, "auto");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_does_not_have_is_refused_in_words() {
    let mut life = agent().open().await;
    life.turn("SAY one").await;
    let session = life.snapshot().await.session;
    assert_eq!(session.capabilities, AgentCapabilities::default());
    for command in [
        Command::SetMode { mode: PermissionMode::Plan },
        Command::SetModel { model: "opus".to_owned() },
        Command::SetEffort { effort: Some("high".to_owned()) },
        Command::SetThinking { on: false },
        Command::SetOptions { options: Box::default() },
        Command::ListRules,
        Command::ReadContext,
        Command::AskSide { id: "1".to_owned(), question: "why?".to_owned(), purpose: SidePurpose::Reading },
        Command::GenerateTitle,
        Command::StopTask { task_id: "t".to_owned() },
        Command::MoveToBackground,
    ] {
        let refusal = life.command(command.clone()).await.unwrap_err();
        assert!(refusal.message.starts_with("Qwen Code does not have "), "{command:?}: {refusal:?}");
    }
    // A title of the user's is Deskbell's own.
    life.command(Command::Rename { title: "Mine".to_owned() }).await.unwrap();
    assert_eq!(life.snapshot().await.session.title, "Mine");
    assert_eq!(life.notices().await, [""; 0]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_nothing_restricts_starts_only_in_a_trusted_folder() {
    let mut life = Setup::acp("opencode", "").open().await;
    life.prompt("SAY one").await;
    let failure = life.failure().await;
    assert_eq!(failure.code, ErrorCode::NotTrusted);
    assert_eq!(failure.message, "opencode starts only in a folder that you trust.");
    assert!(failure.detail.is_some_and(|detail| detail.contains("plugins")));
    let session = life.snapshot().await.session;
    assert!(!session.alive && session.queue.iter().all(|prompt| prompt.held), "{:?}", session.queue);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_an_agent_that_is_stopped_with_a_tool_running() {
    for nr in 0..50 {
        let mut life = agent().open().await;
        life.prompt("CHILD").await;
        let runs = |event: &Event| match event {
            Event::ItemAdded { item } | Event::ItemChanged { item } => {
                matches!(&item.body, Body::ToolCall(call) if call.subject == "sleep 600").then_some(())
            }
            _ => None,
        };
        life.next("tool", runs).await;
        let mark = life.setup.mark.clone();
        assert!(!processes_with(MARK, &mark).is_empty());
        match nr % 3 {
            0 => drop(life.close().await),
            1 => {
                life.command(Command::Stop).await.unwrap();
                life.exit().await;
                life.close().await;
            }
            _ => {
                life.command(Command::Interrupt).await.unwrap();
                assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
                life.close().await;
            }
        }
        nothing_runs(&mark, DEADLINE).await;
    }
}

/// A relay with this agent on its PATH.
struct Relay {
    folder: tempfile::TempDir,
    arguments: Vec<String>,
    faults: &'static str,
}

impl Relay {
    fn new(arguments: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("engine").tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        let script = format!("#!/bin/sh\nexec '{}' \"$@\" --acp\n", demo_agent().display());
        for name in ["qwen", "opencode"] {
            let path = folder.path().join("bin").join(name);
            std::fs::write(&path, &script).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { folder, arguments: arguments.iter().map(|one| (*one).to_owned()).collect(), faults: "" }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        Path::join(self.folder.path(), name)
    }

    /// The settings of its user have these profiles.
    fn has_profiles(&self, profiles: &Value) {
        let folder = self.path(".config/deskbell");
        std::fs::create_dir_all(&folder).unwrap();
        let settings = json!({"agent": {"profiles": profiles}});
        std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    }

    /// All events of a run with these commands, and what it wrote to stderr; `None` without a built app.
    fn events(&self, commands: &[Value]) -> Option<(Vec<Value>, String)> {
        let mut relay = Program::new(app()?)
            .arg("relay")
            .arg(format!("--project={}", self.path("project").display()))
            .args(&self.arguments)
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()))
            .env("HOME", self.folder.path())
            .env("XDG_DATA_HOME", self.path("data"))
            .env_remove("XDG_CONFIG_HOME")
            .env("DESKBELL_DEMO_ACP", self.faults)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = relay.stdin.take().unwrap();
        for command in commands {
            // A relay that ended at once says why on stderr.
            if writeln!(stdin, "{command}").is_err() {
                break;
            }
        }
        drop(stdin);
        let done = relay.wait_with_output().unwrap();
        let events = String::from_utf8(done.stdout).unwrap();
        let mut events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        complete_sessions(events.iter_mut());
        Some((events, String::from_utf8(done.stderr).unwrap()))
    }
}

fn of<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

#[test]
fn a_relay_runs_an_agent_of_the_table_by_its_name() {
    let relay = Relay::new(&["--agent=qwen", "--trust"]);
    let prompt = json!({"type": "prompt", "text": "SAY hello\nRUN ls\nSAY end"});
    let Some((events, stderr)) = relay.events(&[prompt]) else { return };
    let [end] = of(&events, "turnEnded")[..] else { panic!("{events:#?}\n{stderr}") };
    assert_eq!(end["turn"]["outcome"]["type"], "done", "{stderr}");
    // The relay denies a request at the end of its input.
    let resolved = of(&events, "permissionResolved");
    assert_eq!(resolved[0]["resolution"]["type"], "denied", "{resolved:?}");
    let sessions = of(&events, "sessionChanged");
    assert_eq!(sessions.last().unwrap()["session"]["agentName"], "Qwen Code");
}

#[test]
fn a_relay_begins_with_the_model_of_its_command_line() {
    let relay = Relay { faults: "options", ..Relay::new(&["--agent=qwen", "--trust", "--model=small"]) };
    let Some((events, stderr)) = relay.events(&[json!({"type": "prompt", "text": "MODEL"})]) else { return };
    let last = of(&events, "sessionChanged").pop().unwrap().clone();
    assert_eq!(last["session"]["model"], "small", "{stderr}");
    assert!(format!("{events:?}").contains("model small effort low"), "{events:#?}");
}

#[test]
fn a_relay_starts_any_command_only_in_a_trusted_folder() {
    let demo = demo_agent();
    let command = format!("--agent-command={}", demo.display());
    let prompt = json!({"type": "prompt", "text": "SAY hello"});
    let restricted = Relay::new(&[&command, "--agent-argument=--acp"]);
    let Some((events, _)) = restricted.events(std::slice::from_ref(&prompt)) else { return };
    assert_eq!(of(&events, "commandFailed")[0]["error"]["code"], "notTrusted");
    assert!(of(&events, "turnStarted").is_empty());
    let trusted = Relay::new(&[&command, "--agent-argument=--acp", "--trust"]);
    let (events, stderr) = trusted.events(&[prompt]).unwrap();
    assert_eq!(of(&events, "turnEnded")[0]["turn"]["outcome"]["type"], "done", "{stderr}");
    let text = format!("{events:?}");
    assert!(text.contains("does not report whether it asks"), "{text}");
}

/// Two accounts at the same time: each agent has the variables of its own profile, and none of the other's.
#[test]
fn two_profiles_side_by_side_have_their_own_variables_and_models() {
    let command = json!({"program": demo_agent(), "args": ["--acp"]});
    let profile = |name: &str, model: &str| {
        let environment = json!([{"name": format!("WORD_{model}"), "value": format!("of {name}")}]);
        json!({"name": name, "command": command, "model": model, "environment": environment})
    };
    let profiles = json!([profile("Work", "small"), profile("Home", "large")]);
    let run = |name: &'static str| {
        let profiles = profiles.clone();
        std::thread::spawn(move || {
            let arguments = [format!("--profile={name}"), "--trust".to_owned()];
            let relay = Relay { faults: "options", ..Relay::new(&arguments.each_ref().map(String::as_str)) };
            relay.has_profiles(&profiles);
            relay.events(&[json!({"type": "prompt", "text": "MODEL\nENV WORD_small\nENV WORD_large"})])
        })
    };
    let (work, home) = (run("Work"), run("Home"));
    let (Some(work), Some(home)) = (work.join().unwrap(), home.join().unwrap()) else { return };
    for ((events, stderr), name, words) in [
        (work, "Work", ["model small", "WORD_small is of Work", "WORD_large is not set"]),
        (home, "Home", ["model large", "WORD_small is not set", "WORD_large is of Home"]),
    ] {
        let text = format!("{events:?}");
        assert!(words.iter().all(|words| text.contains(words)), "{name}: {text}\n{stderr}");
        let last = of(&events, "sessionChanged").pop().unwrap().clone();
        assert_eq!(last["session"]["profile"], name);
    }
}

#[test]
fn a_profile_is_no_way_around_trust_and_an_unknown_one_is_said() {
    let command = json!({"program": demo_agent(), "args": ["--acp"]});
    let profiles = json!([{"name": "Mine", "command": command}, {"name": "Table", "agent": "qwen"}]);
    let relay = |arguments: &[&str], profiles: &Value| {
        let relay = Relay::new(arguments);
        relay.has_profiles(profiles);
        relay.events(&[json!({"type": "prompt", "text": "SAY hello"})])
    };
    let Some((events, _)) = relay(&["--profile=Mine"], &profiles) else { return };
    assert_eq!(of(&events, "commandFailed")[0]["error"]["code"], "notTrusted");
    assert!(of(&events, "turnStarted").is_empty());
    let (events, stderr) = relay(&["--profile=Table"], &profiles).unwrap();
    let last = of(&events, "sessionChanged").pop().unwrap().clone();
    assert_eq!(last["session"]["agentName"], "Qwen Code", "{stderr}");
    let wrong = json!([{"name": "Mine", "agent": "wombat"}]);
    for (arguments, profiles, words) in [
        (
            &["--profile=Other"][..],
            &profiles,
            "There is no profile “Other”. The settings have “Mine”, “Table”.",
        ),
        (&["--profile=Mine"], &wrong, "see `deskbell settings check`"),
        (&["--profile=Table", "--mode=plan"], &profiles, "are for Claude Code"),
        (
            &["--profile=Table", "--agent=qwen"],
            &profiles,
            "'--profile <NAME>' cannot be used with '--agent <PATH|NAME>'",
        ),
    ] {
        let (events, stderr) = relay(arguments, profiles).unwrap();
        assert!(events.is_empty() && stderr.contains(words), "{stderr}");
    }
}

#[test]
fn a_relay_says_what_is_wrong_with_its_agent() {
    for (arguments, words) in [
        (&["--agent=gemini"][..], "Gemini CLI was not found."),
        (&["--agent=opencode"], "opencode starts only in a folder that you trust."),
    ] {
        let relay = Relay::new(arguments);
        let Some((events, _)) = relay.events(&[json!({"type": "prompt", "text": "SAY hello"})]) else {
            return;
        };
        assert_eq!(of(&events, "commandFailed")[0]["error"]["message"], words);
    }
    for (arguments, words) in [
        (&["--agent=qwen", "--mode=plan"][..], "--mode is for Claude Code"),
        (
            &["--agent=qwen", "--agent-command=x"],
            "'--agent <PATH|NAME>' cannot be used with '--agent-command <PROGRAM>'",
        ),
        (&["--agent-argument=x"], "--agent-command <PROGRAM>"),
    ] {
        let Some((events, stderr)) = Relay::new(arguments).events(&[]) else { return };
        assert!(events.is_empty() && stderr.contains(words), "{stderr}");
    }
}

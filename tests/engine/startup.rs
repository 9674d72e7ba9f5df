//! Agents that fail to start.

use crate::life::{Life, Setup};
use crate::program::demo_agent;
use deskbell_engine::api::*;
use deskbell_engine::launch::Launch;
use deskbell_engine::locate::Places;
use deskbell_engine::store::SavedSession;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

fn is_failed(session: &Session) -> bool {
    matches!(session.status, Status::Failed { .. }) && !session.alive
}

/// Prompts an agent that cannot be started; the prompt is kept, and the failure is reported once.
async fn cannot_start(life: &mut Life) -> CommandError {
    life.prompt("SAY hello").await;
    let error = life.failure().await;
    let session = life.facts("failed session", is_failed).await;
    assert_eq!(session.status, Status::Failed { message: error.message.clone() });
    assert_eq!(session.queue.iter().map(|prompt| prompt.held).collect::<Vec<_>>(), [true]);
    error
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_cannot_be_run_is_a_failure_to_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let programs = [
        folder.path().join("missing"),
        folder.path().to_owned(),
        file("not-executable", "#!/bin/sh\n", 0o644),
        file("no-interpreter", "#!/no/such/interpreter\n", 0o755),
    ];
    for program in programs {
        let mut life = Setup::program(program.clone()).open().await;
        let error = cannot_start(&mut life).await;
        assert_eq!(error.code, ErrorCode::SpawnFailed, "{error:?}");
        assert_eq!(error.detail.as_deref(), program.to_str());
        life.close().await;
    }
}

/// The system's shell runs every executable file that is not a program as a script; here that fails.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_program_is_not_run_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken");
    fs::write(&broken, "\x7fELF and no more").unwrap();
    fs::set_permissions(&broken, fs::Permissions::from_mode(0o755)).unwrap();
    let mut life = Setup::program(broken).open().await;
    life.prompt("SAY hello").await;
    let session = life.facts("end of the restarts", is_failed).await;
    assert_eq!(session.queue.iter().map(|prompt| prompt.held).collect::<Vec<_>>(), [true]);
    life.close().await;
}

/// As the app finds its agent: a wrong choice is reported with its problem.
fn found(setup: Setup, chosen: &Path) -> Setup {
    let (launch, chosen) = (setup.launch(), chosen.to_owned());
    setup.launcher(Arc::new(move || {
        let located = Places::from_environment(Some(chosen.clone()), None).locate();
        let program = located.map(|located| located.program).map_err(|error| CommandError {
            code: ErrorCode::AgentNotFound,
            message: error.to_string(),
            detail: error.tried.first().map(|tried| tried.problem.clone()),
        })?;
        Ok(Launch { program, ..launch() })
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_not_found_can_be_installed_later() {
    let setup = Setup::demo();
    let chosen = setup.folder.path().join("claude");
    let mut life = found(setup, &chosen).open().await;
    let error = cannot_start(&mut life).await;
    assert_eq!((error.code, error.detail.as_deref()), (ErrorCode::AgentNotFound, Some("does not exist")));

    symlink(demo_agent(), &chosen).unwrap();
    let prompt_id = life.snapshot().await.session.queue[0].id.clone();
    life.command(Command::Resend { prompt_id }).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Done);
    assert_eq!(life.answers().await, ["hello"]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_deleted_or_replaced_under_a_living_agent_matters_at_the_next_start() {
    let setup = Setup::demo();
    let chosen = setup.folder.path().join("claude");
    symlink(demo_agent(), &chosen).unwrap();
    let mut life = found(setup, &chosen).open().await;
    life.turn("SAY one").await;

    fs::remove_file(&chosen).unwrap();
    life.turn("SAY two").await;
    life.command(Command::Stop).await.unwrap();
    life.exit().await;
    assert_eq!(cannot_start(&mut life).await.code, ErrorCode::AgentNotFound);
    let prompt_id = life.snapshot().await.session.queue[0].id.clone();
    life.command(Command::Withdraw { prompt_id }).await.unwrap();

    fs::write(&chosen, "").unwrap();
    let error = cannot_start(&mut life).await;
    assert_eq!((error.code, error.detail.as_deref()), (ErrorCode::AgentNotFound, Some("is empty")));

    let next = life.setup.folder.path().join("next");
    symlink(demo_agent(), &next).unwrap();
    fs::rename(&next, &chosen).unwrap();
    let prompt_id = life.snapshot().await.session.queue[0].id.clone();
    life.command(Command::Resend { prompt_id }).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Done);
    assert_eq!(life.answers().await, ["one", "two", "hello"]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_that_is_gone_is_a_failure_of_its_own() {
    let setup = Setup::demo();
    fs::remove_dir(setup.project()).unwrap();
    let mut life = setup.open().await;
    assert_eq!(cannot_start(&mut life).await.code, ErrorCode::BadProject);
    life.close().await;
}

/// The behaviour of the npm package's placeholder when its native program was not installed.
#[tokio::test(flavor = "multi_thread")]
async fn a_stub_that_says_why_and_ends_is_told_in_its_words() {
    let script = "echo 'Error: native binary not installed.' >&2; exit 1";
    let mut life = Setup::shell(script).open().await;
    life.session().start().await.unwrap();
    assert_eq!(life.exit().await.code, Some(1));
    let session = life.facts("failed session", is_failed).await;
    let message =
        "The agent stopped unexpectedly (exit code 1): Error: native binary not installed.".to_owned();
    assert_eq!(session.status, Status::Failed { message });
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_no_agent_and_succeeds_is_reported_as_such() {
    let mut life = Setup::shell("cat > /dev/null & exit 0").open().await;
    life.session().start().await.unwrap();
    assert_eq!(life.exit().await.code, Some(0));
    let session = life.facts("failed session", is_failed).await;
    let Status::Failed { message } = &session.status else { unreachable!() };
    assert!(message.starts_with("This program did not answer like Claude Code"), "{message}");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_never_answers_is_ended() {
    for faults in ["never-initialize", "never-initialize,ignore-eof,ignore-sigterm"] {
        let setup = Setup::faulty(faults).short_ladder().timeouts(|timeouts| timeouts.initialize_ms = 500);
        let mut life = setup.open().await;
        life.prompt("SAY hello").await;
        let report = life.exit().await;
        assert!(report.signal.is_some(), "{report:?}");
        let session = life.facts("failed session", is_failed).await;
        assert!(session.queue[0].held);
        let notices = life.notices().await;
        assert!(notices.iter().any(|notice| notice.contains("did not answer")), "{notices:?}");
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_meant_for_a_conversation_that_is_lost_is_held() {
    let lost = uuid::Uuid::new_v4().to_string();
    let mut setup = Setup::demo();
    setup.memory =
        SavedSession { agent_session_id: Some(lost.clone()), resumable: true, ..SavedSession::default() };
    let mut life = setup.open().await;
    life.prompt("SAY here I am").await;
    let session = life.facts("the failure", is_failed).await;
    assert!(session.queue[0].held && !session.alive, "it does not go into another conversation unasked");
    let notices = life.notices().await;
    assert!(notices.iter().any(|notice| notice.contains("no longer has this conversation")), "{notices:?}");
    assert_eq!(life.answers().await, [""; 0]);

    life.command(Command::Resend { prompt_id: session.queue[0].id.clone() }).await.unwrap();
    assert_eq!(life.turn_end().await.prompt_ids, [session.queue[0].id.clone()]);
    assert_eq!(life.answers().await, ["here I am"]);
    let agent_session_id = life.snapshot().await.session.agent_session_id.unwrap();
    assert_ne!(agent_session_id, lost);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_given_while_the_agent_starts_wait_for_it() {
    let script = "hear; while ! [ -e go ]; do sleep 0.02; done; ready; hear; say one; result; hear; say two; result; until_end_of_input";
    let mut life = Setup::shell(script).open().await;
    life.prompt("first").await;
    life.prompt("second").await;
    let session = life.snapshot().await.session;
    assert_eq!(session.status, Status::Starting);
    assert_eq!(session.queue.iter().map(|prompt| &prompt.text[..]).collect::<Vec<_>>(), ["first", "second"]);
    fs::write(life.path("go"), "").unwrap();
    life.turn_end().await;
    life.turn_end().await;
    assert_eq!(life.answers().await, ["one", "two"]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_cannot_be_restricted_is_refused_not_started_without_limits() {
    let script = r#"
echo started >> starts
for flag in "$@"; do
    case "$flag" in
    --setting-sources=*) echo "error: unknown option '$flag'" >&2; exit 1 ;;
    esac
done
ready"#;
    let mut life = Setup::shell(script).open().await;
    let error = cannot_start(&mut life).await;
    assert_eq!(error.code, ErrorCode::SpawnFailed);
    assert!(
        error.message.contains("cannot be prevented from loading settings that you did not trust"),
        "{error:?}"
    );
    assert!(error.detail.unwrap().contains("--setting-sources"));
    // Once: every try would fail in the same way.
    assert_eq!(fs::read_to_string(life.path("starts")).unwrap(), "started\n");
    life.close().await;
}

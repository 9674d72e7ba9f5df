//! The options of a session, with a real process: they are in its arguments, and bad ones start nothing.

use crate::life::Setup;
use deskbell_engine::api::*;

fn options() -> SessionOptions {
    SessionOptions {
        system_prompt: Some(SystemPrompt { text: "Be brief.\n--settings=x".to_owned(), replace: false }),
        max_turns: Some(7),
        environment: vec![EnvironmentVariable { name: "DESK_TEST".to_owned(), value: "x=1 2".to_owned() }],
        ..SessionOptions::default()
    }
}

fn set(options: SessionOptions) -> Command {
    Command::SetOptions { options: Box::new(options) }
}

#[tokio::test(flavor = "multi_thread")]
async fn options_reach_the_agent_and_stay_for_the_next_process() {
    let mut life = Setup::demo().open().await;
    life.command(set(options())).await.unwrap();
    let restarts = "ARGS\nENV DESK_TEST";
    life.turn(restarts).await;
    life.command(Command::Stop).await.unwrap();
    life.facts("a stopped agent", |session| !session.alive).await;
    life.turn(restarts).await;
    let answers = life.answers().await;
    for (arguments, variable) in [(&answers[0], &answers[1]), (&answers[2], &answers[3])] {
        assert!(arguments.contains(r#""--append-system-prompt=Be brief.\n--settings=x""#), "{arguments}");
        assert!(arguments.contains(r#""--max-turns=7""#), "{arguments}");
        assert_eq!(variable, "x=1 2");
    }
    let setup = life.close().await;
    assert_eq!(setup.record()["memory"]["options"]["maxTurns"], 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_turns_is_named_with_its_origin() {
    let mut life = Setup::demo().open().await;
    life.command(set(SessionOptions { max_turns: Some(1), ..SessionOptions::default() })).await.unwrap();
    life.prompt("TOOL Read {\"file_path\":\"a\"}\nSAY not reached").await;
    let turn = life.turn_end().await;
    assert_eq!(turn.outcome, Outcome::MaxTurns);
    assert_eq!(turn.words, "Stopped after 1 turn of the model, the limit in this session's options");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_options_are_refused_and_nothing_starts() {
    let mut life = Setup::demo().open().await;
    for argument in
        ["--dangerously-skip-permissions", "--permission-mode=bypassPermissions", "-p", "--settings={}"]
    {
        let arguments = vec![argument.to_owned()];
        let refused = life.command(set(SessionOptions { arguments, ..SessionOptions::default() })).await;
        assert_eq!(refused.unwrap_err().code, ErrorCode::BadCommand, "{argument}");
    }
    assert_eq!(life.snapshot().await.session.options, SessionOptions::default());

    // A folder may be removed between the choice and the start.
    let folder = life.setup.folder.path().join("gone");
    let folders = vec![folder.display().to_string()];
    life.command(set(SessionOptions { folders, ..SessionOptions::default() })).await.unwrap();
    life.command(Command::Start).await.unwrap();
    let error = life.failure().await;
    assert!(error.message.contains("folders[0]: The folder does not exist."), "{error:?}");
    assert!(!life.snapshot().await.session.alive);
    std::fs::create_dir(&folder).unwrap();
    life.turn("SAY hello").await;
    life.close().await;
}

/// A record that another program changed is no way around the checks.
#[tokio::test(flavor = "multi_thread")]
async fn saved_options_are_checked_at_the_start() {
    let mut setup = Setup::demo();
    setup.memory.options.arguments = vec!["--dangerously-skip-permissions".to_owned()];
    setup.memory.options.environment =
        vec![EnvironmentVariable { name: "LD_PRELOAD".to_owned(), value: "/x".to_owned() }];
    let mut life = setup.open().await;
    life.command(Command::Start).await.unwrap();
    let error = life.failure().await;
    assert!(error.message.contains("LD_PRELOAD"), "{error:?}");
    assert!(error.detail.unwrap().contains("--dangerously-skip-permissions is not possible"));
    assert!(!life.snapshot().await.session.alive);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_shows_the_next_start_and_changes_nothing() {
    let mut life = Setup::demo().open().await;
    let servers = life.setup.folder.path().join("servers.json");
    std::fs::write(&servers, r#"{"mcpServers": {"mine": {"command": "sh", "args": ["-c", "x y"]}}}"#)
        .unwrap();
    let reviewed = SessionOptions {
        model: Some("haiku".to_owned()),
        allowed_tools: vec!["Bash".to_owned()],
        mcp_config: Some(servers.display().to_string()),
        ..options()
    };
    let review = life.session().query(ReviewOptionsQuery { options: Box::new(reviewed) }).await.unwrap();
    assert_eq!((review.problems, review.obstacle), (Vec::new(), None));
    assert_eq!(review.warnings[0].field, OptionField::AllowedTools);
    assert_eq!(review.servers[0].command, "sh -c 'x y'");
    for argument in
        ["--model=haiku", "--max-turns=7", "--allowedTools=Bash", "--permission-prompt-tool=stdio"]
    {
        assert!(review.arguments.iter().any(|one| one == argument), "{argument} in {:?}", review.arguments);
    }
    let bad = SessionOptions { folders: vec!["/no/such".to_owned()], ..SessionOptions::default() };
    let review = life.session().query(ReviewOptionsQuery { options: Box::new(bad) }).await.unwrap();
    assert_eq!((review.problems[0].field, review.problems[0].index), (OptionField::Folders, Some(0)));
    assert_eq!(life.snapshot().await.session.options, SessionOptions::default());
    life.turn("SAY hello").await;
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_has_no_values_of_variables() {
    let (setup, recording) = Setup::demo().recorded();
    let mut life = setup.open().await;
    let environment = vec![EnvironmentVariable { name: "DESK_TEST".to_owned(), value: "hush".to_owned() }];
    life.command(set(SessionOptions { environment, ..SessionOptions::default() })).await.unwrap();
    life.turn("SAY hello").await;
    let _setup = life.close().await;
    let text = std::fs::read_to_string(recording).unwrap();
    assert!(text.contains("DESK_TEST") && !text.contains("hush"));
}

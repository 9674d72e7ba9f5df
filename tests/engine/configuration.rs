//! MCP servers, hooks, plugins and skills, from a real process.

use crate::life::Setup;
use deskbell_engine::api::*;

fn server(session: &Session, name: &str) -> Option<McpServer> {
    session.configuration.servers.iter().flatten().find(|server| server.name == name).cloned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_reports_what_is_configured_and_a_server_is_turned_off() {
    let mut life = Setup::faulty("").open().await;
    let refused = life.command(Command::ReadConfiguration).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::BadCommand, "no process runs");
    life.turn("SAY hello").await;
    let off = Command::SetServerEnabled { server: "tracker".to_owned(), enabled: false };
    assert_eq!(life.command(off.clone()).await.unwrap_err().code, ErrorCode::BadCommand, "not reported yet");
    life.command(Command::ReadConfiguration).await.unwrap();
    let is_read = |session: &Session| {
        session.configuration.pending.is_empty() && session.configuration.memory.is_some()
    };
    let session = life.facts("the configuration", is_read).await;
    let read = &session.configuration;
    assert!(read.problems.is_empty() && read.requested_at.is_some(), "{read:?}");
    let failed = server(&session, "database").expect("it is configured");
    assert_eq!((failed.status, failed.error.as_deref()), (McpStatus::Failed, Some("Connection closed")));
    assert_eq!(server(&session, "tracker").expect("it is configured").n_tools, 2);
    assert_eq!(read.hooks.as_ref().map(|hooks| hooks.hooks.len()), Some(1));
    assert_eq!(read.skills.as_ref().map(|skills| skills[0].name.clone()).as_deref(), Some("ship"));
    assert!(read.subagents.iter().flatten().any(|subagent| subagent.description.is_some()));

    life.command(off).await.unwrap();
    let is_off = |session: &Session| {
        server(session, "tracker").is_some_and(|server| server.status == McpStatus::Disabled)
    };
    life.facts("the server is off", is_off).await;
    life.command(Command::ReconnectServer { server: "database".to_owned() }).await.unwrap();
    let session = life.facts("it fails again", |session| !session.configuration.failures.is_empty()).await;
    assert!(session.configuration.failures[0].text.ends_with(": Connection closed"));
    life.command(Command::ReloadPlugins).await.unwrap();
    let has_plugin = |session: &Session| session.configuration.plugins.iter().flatten().next().is_some();
    life.facts("the plugins", has_plugin).await;
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_agent_says_what_it_does_not_report() {
    let mut life = Setup::faulty("old").open().await;
    life.turn("SAY hello").await;
    life.command(Command::ReadConfiguration).await.unwrap();
    let session = life
        .facts("the answers", |session| {
            session.configuration.requested_at.is_some() && session.configuration.pending.is_empty()
        })
        .await;
    let [problem] = &session.configuration.problems[..] else { panic!("{:?}", session.configuration) };
    assert_eq!(problem.part, ConfigurationPart::Hooks);
    assert!(server(&session, "tracker").is_some());
    life.close().await;
}

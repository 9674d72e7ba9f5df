//! The doctor with agents that never call a tool.

use crate::life::Setup;
use deskbell_engine::api::PermissionChannel;
use deskbell_engine::doctor::Trial;
use std::time::Duration;

async fn tried(script: &str, limit: Duration) -> Trial {
    let setup = Setup::shell(script);
    Trial::of(setup.launch()(), limit).await
}

fn reason(trial: Trial) -> String {
    match trial.channel {
        PermissionChannel::Unknown { reason } => reason,
        channel => panic!("the channel is {channel:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_ends_is_no_agent_that_asks() {
    let said = reason(tried("echo 'no licence' >&2; exit 3", Duration::from_secs(30)).await);
    assert_eq!(said, "The agent exited: no licence");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_calls_no_tool_shows_nothing() {
    let said = reason(tried("ready; hear; hear; result; until_end_of_input", Duration::from_secs(30)).await);
    assert_eq!(said, "The agent called no tool. Done.");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_never_answers_is_given_up() {
    let said = reason(tried("ready; until_end_of_input", Duration::from_millis(300)).await);
    assert!(said.contains("did not finish the test within"), "{said}");
}

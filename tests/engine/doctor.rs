//! The doctor with agents that never call a tool.

use crate::leftovers::nothing_runs;
use crate::life::{DEADLINE, Setup};
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::{AgentTrial, LoginState, PermissionChannel};
use deskbell_engine::doctor::Trial;
use std::time::Duration;

/// Timeout of a start on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

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

/// The demo agent in the place of qwen-code. The second start has none of the variables, and so none of the faults.
#[tokio::test(flavor = "multi_thread")]
async fn another_agent_says_itself_whether_it_needs_a_login() {
    for (fault, login) in [
        ("login", "Needed { command: \"qwen login\" }"),
        ("", "NotAskedFor"),
        (
            "no-mode",
            "Unknown { reason: \"Qwen Code cannot be made to ask before it acts, so it was not started. ",
        ),
    ] {
        let setup = Setup::acp("qwen", fault);
        let trial = setup.launch()().trial_of_other(LIMIT).await;
        let found = format!("{:?}", trial.login);
        assert!(found.starts_with(login), "{found}");
        // The demo agent asks without a model.
        assert_eq!(trial.asks, Some(PermissionChannel::Asks), "{fault}");
        nothing_runs(&setup.mark, DEADLINE).await;
    }
    // Nothing is known of a command of the user, so it is not sent to a model on loopback.
    let mut setup = Setup::shell("exit 1");
    setup.memory.acp = Some(ChosenAgent::Command { program: "/bin/sh".into(), arguments: Vec::new() });
    let trial = setup.launch()().trial_of_other(LIMIT).await;
    let login = LoginState::Unknown { reason: "it ended before it began a session".to_owned() };
    let ports = Some(Vec::new()).filter(|_| cfg!(target_os = "linux"));
    assert_eq!(trial, AgentTrial { login, asks: None, ports, writes: Vec::new() });
}

/// Read from the system while the agent runs. The demo agent opens a port in its first start only.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn the_ports_of_another_agent_are_those_of_its_processes() {
    let elsewhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    for (fault, n_ports) in [("listens", 1), ("", 0)] {
        let setup = Setup::acp("opencode", fault);
        let trial = setup.launch()().trial_of_other(LIMIT).await;
        let ports = trial.ports.unwrap();
        assert_eq!(ports.len(), n_ports, "{ports:?}");
        assert!(ports.iter().all(|port| port.ip().is_loopback()), "{ports:?}");
        assert!(!ports.contains(&elsewhere.local_addr().unwrap()), "a port of this process");
        nothing_runs(&setup.mark, DEADLINE).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_agent_that_never_answers_is_given_up() {
    let mut setup = Setup::shell("exec sleep 1000");
    setup.memory.acp = ChosenAgent::row_of("goose");
    let trial = setup.launch()().trial_of_other(Duration::from_millis(300)).await;
    assert_eq!(trial.login, LoginState::Unknown { reason: "it began no session within 0 s".to_owned() });
    nothing_runs(&setup.mark, DEADLINE).await;
}

//! The agent check: which agent runs here, why that one, and whether it asks before acting. Used by the window and by
//! `deskbell doctor`.

use crate::agent::{self, Run};
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::doctor::try_agent;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Timeout of the check. A cold start of the CLI takes a second; a slow machine must not count as a broken channel.
const LIMIT: Duration = Duration::from_secs(60);

/// Searches for the agent as a session would, and tests it.
pub async fn check(chosen: Option<PathBuf>, data: PathBuf, run: Run) -> Checkup {
    let agent = agent::view(false, chosen.clone(), disk::DEADLINE).await;
    let launcher =
        agent::launcher(AgentKind::Claude, PathBuf::new(), data, move || chosen.clone(), |_| Ok(None), run);
    let launch = disk::run(Path::new("PATH"), disk::DEADLINE, move || launcher()).await;
    match launch.unwrap_or_else(|unfinished| Err(unfinished.into())) {
        Ok(launch) => {
            let trial = try_agent(launch, LIMIT).await;
            Checkup { agent, version: trial.version, channel: trial.channel }
        }
        Err(error) => {
            Checkup { agent, version: None, channel: PermissionChannel::Unknown { reason: error.message } }
        }
    }
}

/// Runs `deskbell doctor`: succeeds if the agent is found and asks for permission.
pub fn main(chosen: Option<PathBuf>, data: PathBuf) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("deskbell: could not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let run = Run::begin(&data);
    let checkup = runtime.block_on(check(chosen, data, run.clone()));
    run.end();
    print!("{}", words(&checkup));
    if checkup.channel == PermissionChannel::Asks { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn words(checkup: &Checkup) -> String {
    let mut words = String::new();
    let mut line = |name: &str, value: &str| words.push_str(&format!("{name:<12}{value}\n"));
    match &checkup.agent {
        AgentView::Found { program, source, .. } => line("Agent", &format!("{program} ({source})")),
        AgentView::Missing { tried } => {
            line("Agent", "not found");
            for tried in tried {
                line("", &format!("{}: {}", tried.place, tried.problem));
            }
        }
    }
    if let Some(version) = &checkup.version {
        line("Version", version);
    }
    match &checkup.channel {
        PermissionChannel::Asks => line("Permission", "asks before acting"),
        PermissionChannel::NeverAsks => {
            line("Permission", "ACTS WITHOUT ASKING: do not use this version");
        }
        PermissionChannel::Unknown { reason } => line(
            "Permission",
            &format!(
                "the test has no result: \
            {reason}"
            ),
        ),
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_tried_is_told_line_by_line() {
        let tried = vec![Tried { place: "PATH".to_owned(), problem: "no program named claude".to_owned() }];
        let channel = PermissionChannel::Unknown { reason: "there is no agent".to_owned() };
        let checkup = Checkup { agent: AgentView::Missing { tried }, version: None, channel };
        let expected = "\
Agent       not found
            PATH: no program named claude
Permission  the test has no result: there is no agent
";
        assert_eq!(words(&checkup), expected);
    }
}

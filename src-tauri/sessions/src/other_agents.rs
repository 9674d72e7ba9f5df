//! The agents other than Claude Code that this computer has. Used by the window's list of agents, `deskbell agents` and the
//! doctor.

use crate::agent::{self, Chosen, Run};
use crate::trust::Allowed;
use deskbell_engine::LocalHost;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::acp::agents::{AGENTS, AcpAgent, DEMO, Proof, Restriction};
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::launch::Launch;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Timeout of each of the two starts of a trial. opencode needs 10 s for its first session on a slow machine.
const TRIAL_LIMIT: Duration = Duration::from_secs(60);

/// Returns every agent of the table with what is found of it. Each program that is found is asked for its version, all at
/// the same time: it takes at most half a minute, however many there are.
pub async fn of_table(data: &Path, run: &Run) -> Vec<OtherAgent> {
    let asked: Vec<_> =
        AGENTS.iter().map(|row| (row, tokio::spawn(state(row, data.to_owned(), run.clone())))).collect();
    let mut agents = Vec::with_capacity(asked.len());
    for (row, state) in asked {
        let state = state.await.unwrap_or_else(|error| OtherAgentState::Broken {
            program: String::new(),
            problem: error.to_string(),
        });
        agents.push(described(row, state));
    }
    agents
}

/// Returns what a new session on this machine can have: every agent of the table, the demo agent, and these profiles, with
/// the names of their variables only, because a value can be a key.
pub async fn choices(profiles: Vec<Profile>, data: &Path, run: &Run) -> MachineAgents {
    let mut agents = of_table(data, run).await;
    agents.push(described(&DEMO, OtherAgentState::BuiltIn));
    MachineAgents { agents, profiles: profiles.into_iter().map(without_values).collect() }
}

fn without_values(profile: Profile) -> Profile {
    let without_value = |one: EnvironmentVariable| EnvironmentVariable { value: String::new(), ..one };
    Profile { environment: profile.environment.into_iter().map(without_value).collect(), ..profile }
}

/// An agent of the table as a window shows it.
pub fn described(row: &AcpAgent, state: OtherAgentState) -> OtherAgent {
    let trusted_only = match row.restriction {
        Restriction::TrustedOnly(reason) => Some(reason.to_owned()),
        Restriction::ByItself => None,
    };
    let untested = row.id != DEMO.id && row.proof == Proof::NotRun;
    let (id, name) = (row.id.to_owned(), row.name.to_owned());
    OtherAgent { id, name, state, trusted_only, untested, lacks: row.lacks() }
}

/// Tries every agent that is found: whether it needs a login and asks before it acts. All at the same time, and in no
/// project.
pub async fn trials(agents: &[OtherAgent], data: &Path, run: &Run) -> BTreeMap<String, AgentTrial> {
    let found = agents.iter().filter(|agent| matches!(agent.state, OtherAgentState::Found { .. }));
    let rows = found.filter_map(|agent| AGENTS.iter().find(|row| row.id == agent.id));
    let tried: Vec<_> = rows
        .map(|row| {
            let (data, run) = (data.to_owned(), run.clone());
            let trial = async move {
                let launch = launch(row, data, run).await.ok()?.ok()?;
                Some((row.id.to_owned(), launch.trial_of_other(TRIAL_LIMIT).await))
            };
            tokio::spawn(trial)
        })
        .collect();
    let mut trials = BTreeMap::new();
    for trial in tried {
        // Without a trial, the report says that nothing was tried.
        trials.extend(trial.await.ok().flatten());
    }
    trials
}

/// Searches for the program of a row as a session would.
async fn launch(
    row: &'static AcpAgent,
    data: PathBuf,
    run: Run,
) -> Result<Result<Launch, CommandError>, disk::Unfinished> {
    let launcher = agent::launcher(
        AgentKind::Acp,
        ChosenAgent::row_of(row.id),
        PathBuf::new(),
        data,
        || Ok(Chosen::default()),
        |_, _| Ok(Allowed::Restricted),
        run,
    );
    disk::run(Path::new("PATH"), disk::DEADLINE, move || launcher()).await
}

/// An agent that was not found, with the command that installs it.
pub fn missing(row: &AcpAgent) -> OtherAgentState {
    let command = row.package.map(|package| format!("npm install -g {package}"));
    let install = command.map(|command| SetupCommand { label: "npm".to_owned(), command });
    OtherAgentState::Missing { install }
}

/// Searches for the program of a row, and asks it for its version.
async fn state(row: &'static AcpAgent, data: PathBuf, run: Run) -> OtherAgentState {
    match launch(row, data, run).await {
        Ok(Ok(launch)) => launch.state_of_other(&LocalHost).await,
        Ok(Err(_)) => missing(row),
        Err(unfinished) => {
            OtherAgentState::Broken { program: "PATH".to_owned(), problem: unfinished.to_string() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_variables_stay_on_their_machine() {
        let variable = EnvironmentVariable { name: "KEY".into(), value: "secret".into() };
        let profile = Profile { name: "Work".into(), environment: vec![variable], ..Profile::default() };
        let line = serde_json::to_string(&without_values(profile)).unwrap();
        assert!(line.contains("KEY") && !line.contains("secret"), "{line}");
    }
}

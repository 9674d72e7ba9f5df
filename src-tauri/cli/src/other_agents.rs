//! The agents other than Claude Code that this computer has. Used by the window's list of agents and by the doctor.

use crate::agent::{self, Chosen, Run};
use crate::trust::Allowed;
use deskbell_engine::LocalHost;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::acp::agents::{AGENTS, Agent, DEMO, Proof, Restriction};
use deskbell_engine::api::*;
use deskbell_engine::disk;
use std::path::{Path, PathBuf};

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

/// The demo agent, which is a part of Deskbell.
pub fn demo() -> OtherAgent {
    described(&DEMO, OtherAgentState::BuiltIn)
}

fn described(row: &Agent, state: OtherAgentState) -> OtherAgent {
    let trusted_only = match row.restriction {
        Restriction::TrustedOnly(reason) => Some(reason.to_owned()),
        Restriction::ByItself => None,
    };
    let untested = row.id != DEMO.id && row.proof == Proof::NotRun;
    let (id, name) = (row.id.to_owned(), row.name.to_owned());
    OtherAgent { id, name, state, trusted_only, untested, lacks: row.lacks() }
}

/// Searches for the program of a row as a session would, and asks it for its version.
async fn state(row: &'static Agent, data: PathBuf, run: Run) -> OtherAgentState {
    let chosen = ChosenAgent::row_of(row.id);
    let launcher = agent::launcher(
        AgentKind::Acp,
        chosen,
        PathBuf::new(),
        data,
        || Ok(Chosen::default()),
        |_, _| Ok(Allowed::Restricted),
        run,
    );
    let missing = || {
        let command = row.package.map(|package| format!("npm install -g {package}"));
        let install = command.map(|command| SetupCommand { label: "npm".to_owned(), command });
        OtherAgentState::Missing { install }
    };
    match disk::run(Path::new("PATH"), disk::DEADLINE, move || launcher()).await {
        Ok(Ok(launch)) => launch.state_of_other(&LocalHost).await,
        Ok(Err(_)) => missing(),
        Err(unfinished) => {
            OtherAgentState::Broken { program: "PATH".to_owned(), problem: unfinished.to_string() }
        }
    }
}

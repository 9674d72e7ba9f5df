//! `deskbell agents`: the agents that a new session can have on this machine, and the profiles of its settings. A window on
//! another machine lists the same through it.

use crate::output::{ended, plain, print};
use deskbell_engine::api::{MachineAgents, OtherAgent, OtherAgentState};
use deskbell_engine::disk;
use deskbell_sessions::agent::{self, Run};
use deskbell_sessions::{folders, other_agents, profiles};
use std::process::ExitCode;

pub fn main(json: bool) -> ExitCode {
    ended(run(json))
}

fn run(json: bool) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let data = folders::data();
    let run = Run::begin(&data);
    let choices = runtime.block_on(async {
        let settings = disk::run(&folders::config(), disk::DEADLINE, profiles::settings).await?;
        agent::ask_login_shell(&run).await;
        anyhow::Ok(other_agents::choices(settings.profiles, &data, &run).await)
    });
    run.end();
    // A thread that waits for a dead mount must not hold up the end.
    runtime.shutdown_background();
    let choices = choices?;
    let text = if json { format!("{}\n", serde_json::to_string(&choices)?) } else { shown(&choices) };
    Ok(print(text.as_bytes())?)
}

/// The choices for a terminal.
fn shown(MachineAgents { agents, profiles }: &MachineAgents) -> String {
    let mut text: String = agents.iter().map(line).collect();
    for profile in profiles {
        let agent = match (&profile.agent, &profile.command) {
            (Some(id), _) => id.as_str(),
            (None, Some(command)) => command.program.as_str(),
            (None, None) => "claude",
        };
        text += &format!("profile “{}”  {}\n", plain(&profile.name), plain(agent));
    }
    text
}

fn line(OtherAgent { id, name, state, .. }: &OtherAgent) -> String {
    let state = match state {
        OtherAgentState::BuiltIn => "built in".to_owned(),
        OtherAgentState::Found { program, version } => {
            format!(
                "{}{}",
                version.as_ref().map_or_else(String::new, |version| format!("{version}  ")),
                program
            )
        }
        OtherAgentState::Broken { problem, .. } => format!("cannot run: {problem}"),
        OtherAgentState::Missing { install: Some(install) } => format!("not found; {}", install.command),
        OtherAgentState::Missing { install: None } => "not found".to_owned(),
    };
    format!("{id}  {name}  {}\n", plain(&state))
}

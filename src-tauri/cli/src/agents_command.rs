//! `deskbell agents`: the agents that a new session can have on this machine, and the profiles of its settings. A window on
//! another machine lists the same through it. With `--models`: the models that they offered in their last runs.

use crate::output::{ended, plain, print};
use crate::serve::place::session_folders;
use deskbell_engine::api::{MachineAgents, OtherAgent, OtherAgentState};
use deskbell_engine::disk;
use deskbell_engine::store::KnownModels;
use deskbell_sessions::agent::{self, Run};
use deskbell_sessions::{folders, other_agents, profiles};
use serde::Serialize;
use std::process::ExitCode;

pub fn main(models: bool, json: bool) -> ExitCode {
    ended(if models { list_models(json) } else { run(json) })
}

/// The models that a window and a relay know before an agent runs.
#[derive(Serialize)]
struct KnownLists {
    known: Vec<KnownModels>,
}

fn list_models(json: bool) -> anyhow::Result<()> {
    let known = KnownModels::read(&session_folders(&folders::data()));
    let text = if json {
        format!("{}\n", serde_json::to_string(&KnownLists { known })?)
    } else {
        known.iter().map(models_of).collect()
    };
    Ok(print(text.as_bytes())?)
}

/// One line for each model: the value for `--model`, its label and its effort levels.
fn models_of(KnownModels { agent, profile, version, models }: &KnownModels) -> String {
    let mut text = plain(agent);
    if let Some(version) = version {
        text += &format!("  {}", plain(version));
    }
    if let Some(profile) = profile {
        text += &format!("  profile “{}”", plain(profile));
    }
    text.push('\n');
    for model in models {
        text += &format!("  {}  {}", plain(&model.name), plain(&model.label));
        if !model.effort_levels.is_empty() {
            text += &format!("  effort: {}", plain(&model.effort_levels.join(", ")));
        }
        text.push('\n');
    }
    text
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

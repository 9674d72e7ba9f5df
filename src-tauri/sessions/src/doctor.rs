//! The agent check for the window and `deskbell doctor`: the agent that runs here, the reason for it, and whether it
//! asks before acting.

use crate::agent::{self, Chosen, Run};
use crate::trust::Allowed;
use crate::{desktop, folders, other_agents};
use deskbell_engine::LocalHost;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::doctor::Trial;
use deskbell_engine::doctor::report::{Facts, Folder, FolderState};
use deskbell_engine::launch::Launch;
use deskbell_engine::log_files::LogFiles;
use deskbell_engine::readiness;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Timeout of the check. A cold start of the CLI takes a second; a slow machine must not count as a broken channel.
const LIMIT: Duration = Duration::from_secs(60);

/// Decides how to start the agent that is found, in no project.
async fn launch(chosen: Option<PathBuf>, data: PathBuf, run: Run) -> Result<Launch, CommandError> {
    let launcher = agent::launcher(
        AgentKind::Claude,
        None,
        PathBuf::new(),
        data,
        move || Ok(Chosen { program: chosen.clone(), ..Chosen::default() }),
        |_, _| Ok(Allowed::Restricted),
        run,
    );
    disk::run(Path::new("PATH"), disk::DEADLINE, move || launcher()).await?
}

/// Searches for the agent as a session would, and asks it whether it can work. The demo agent always can.
pub async fn readiness(demo: bool, chosen: Option<PathBuf>, data: PathBuf, run: Run) -> Readiness {
    let agent = agent::view(demo, chosen.clone(), disk::DEADLINE).await;
    if demo {
        return readiness::unasked(agent, None);
    }
    match launch(chosen, data, run).await {
        Ok(launch) => launch.readiness(&LocalHost, agent).await,
        // It is missing, or was removed between the two searches.
        Err(error) => readiness::unasked(agent, Some(error.message)),
    }
}

/// Finds out whether the agent can work, and whether it asks.
async fn claude(chosen: Option<PathBuf>, data: PathBuf, run: Run) -> (Readiness, Trial) {
    let readiness = readiness(false, chosen.clone(), data.clone(), run.clone()).await;
    let trial = match launch(chosen, data, run).await {
        Ok(launch) => Trial::of(launch, LIMIT).await,
        Err(error) => Trial::without_result(error.message),
    };
    (readiness, trial)
}

/// Searches for the agent as a session would, tests it, and reports what it, the other agents and the desktop are. `gpu`
/// is whether windows are drawn with a GPU; `None` if that is not known.
pub async fn check(chosen: Option<PathBuf>, data: PathBuf, run: Run, gpu: Option<bool>) -> Checkup {
    let login_shell = agent::ask_login_shell(&run).await;
    let others = async {
        let agents = other_agents::of_table(&data, &run).await;
        let trials = other_agents::trials(&agents, &data, &run).await;
        (agents, trials)
    };
    let ((readiness, trial), (other_agents, trials)) =
        tokio::join!(claude(chosen, data.clone(), run.clone()), others);
    let version = readiness.version.clone().or(trial.version);
    let (notifications, tray) = desktop::services().await;
    let mut folders = Vec::new();
    for (name, path) in [
        ("Data", data.clone()),
        ("Log", LogFiles::folder(&data)),
        ("Settings", folders::config()),
        ("Agent data", agent::config_folder(AgentKind::Claude, &data)),
    ] {
        let looked_at = path.clone();
        let state = disk::run(&path, disk::DEADLINE, move || FolderState::of(&looked_at)).await;
        let state = state.unwrap_or_else(|unfinished| FolderState::Wrong(unfinished.to_string()));
        folders.push(Folder { name, path, state });
    }
    let facts = Facts {
        app_version: env!("CARGO_PKG_VERSION"),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        readiness: Readiness { version, ..readiness },
        login_shell,
        channel: trial.channel,
        capabilities: trial.capabilities,
        notifications,
        tray,
        display: desktop::display(),
        gpu,
        folders,
        other_agents,
        trials,
    };
    facts.checkup()
}

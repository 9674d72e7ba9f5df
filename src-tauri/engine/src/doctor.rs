//! Permission check: tests with the real program, without an account or a network, whether the agent asks before it
//! acts.
//!
//! The permission channel depends on a hidden flag of the CLI. If the CLI ignores the flag, that shows only after
//! something has run without permission. So the agent is started in an empty folder, with default settings only, and
//! with an API on loopback that makes it call a tool that requires permission. The request is always denied.

mod agent_trial;
mod api;
mod other_agents;
pub mod report;

use crate::api::*;
use crate::host::LocalHost;
use crate::launch::Launch;
use crate::recorder::Recorder;
use crate::session::machine::{SavedSession, Timeouts};
use crate::session::{Open, SessionHandle, Subscriber};
use crate::store::Record;
use api::LoopbackApi;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Variables that would send the agent's requests elsewhere, or change the account or model.
const ELSEWHERE: &[&str] = &[
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_MODEL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_VERTEX",
    "ALL_PROXY",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
];

/// Result of the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// As reported by the agent.
    pub version: Option<String>,
    pub channel: PermissionChannel,
    /// `None` if the agent did not get ready.
    pub capabilities: Option<AgentCapabilities>,
}

impl Trial {
    /// Checks the agent that `launch` names; its folder and environment are replaced. Takes at most `limit`, plus the time
    /// to end the process.
    pub async fn of(launch: Launch, limit: Duration) -> Self {
        match trial(launch, limit).await {
            Ok(trial) => trial,
            Err(error) => Self::without_result(format!("The test could not start: {error}")),
        }
    }

    /// The check did not begin, for this reason.
    pub fn without_result(reason: String) -> Self {
        Self { version: None, channel: unknown(reason), capabilities: None }
    }
}

async fn trial(launch: Launch, limit: Duration) -> io::Result<Trial> {
    let folder = tempfile::Builder::new().prefix("deskbell-doctor-").tempdir()?;
    let (project, config) = (folder.path().join("project"), folder.path().join("config"));
    std::fs::create_dir_all(&project)?;
    std::fs::create_dir_all(&config)?;
    let api = LoopbackApi::start().await?;
    let launch = Launch {
        env: environment(&launch, &config, &api),
        project: dunce::canonicalize(project)?,
        restricted: true,
        snapshot: None,
        ..launch
    };
    let session = open(&launch, config);
    let mut seen = Seen::default();
    let channel = tokio::time::timeout(limit, watch(&session, &api, &mut seen)).await;
    let channel = match channel {
        Ok(Ok(channel)) => channel,
        Ok(Err(error)) => unknown(error.message),
        Err(_) => unknown(format!("The agent did not finish the test within {} s.", limit.as_secs())),
    };
    close(&session).await;
    Ok(Trial { version: seen.version, channel, capabilities: seen.capabilities })
}

/// A session of the check, which no file keeps.
fn open(launch: &Launch, agent_config: PathBuf) -> SessionHandle {
    let record = Record {
        id: SessionId::new("doctor"),
        project: launch.project.clone(),
        agent: launch.kind,
        created_at: 0,
        changed_at: 0,
        memory: SavedSession { acp: launch.acp.clone(), ..SavedSession::default() },
    };
    let launch = launch.clone();
    SessionHandle::open(Open {
        record,
        launcher: Arc::new(move || Ok(launch.clone())),
        host: Arc::new(LocalHost),
        store: None,
        agent_config,
        locks: None,
        agent_sessions: None,
        timeouts: Timeouts::default(),
        recorder: Recorder::default(),
    })
}

async fn close(session: &SessionHandle) {
    if let Err(error) = session.close().await {
        tracing::debug!(%error, "the session of the permission check was already closed");
    }
}

/// Extends the launch's environment: all requests go to the API on loopback, and the user's own settings are not used.
fn environment(launch: &Launch, config: &Path, api: &LoopbackApi) -> Vec<(OsString, Option<OsString>)> {
    let mut env = launch.env.clone();
    env.extend(ELSEWHERE.iter().map(|name| (OsString::from(name), None)));
    let ours: [(&str, OsString); 6] = [
        ("CLAUDE_CONFIG_DIR", config.into()),
        ("ANTHROPIC_BASE_URL", api.url().into()),
        ("ANTHROPIC_API_KEY", "deskbell-doctor".into()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        ("DISABLE_AUTOUPDATER", "1".into()),
        ("DISABLE_TELEMETRY", "1".into()),
    ];
    env.extend(ours.map(|(name, value)| (OsString::from(name), Some(value))));
    env
}

/// What the agent reported of itself.
#[derive(Default)]
struct Seen {
    version: Option<String>,
    capabilities: Option<AgentCapabilities>,
}

/// Runs until it is known whether the agent asks.
async fn watch(
    session: &SessionHandle,
    api: &LoopbackApi,
    seen: &mut Seen,
) -> Result<PermissionChannel, CommandError> {
    let (sender, mut events) = mpsc::channel(64);
    let mut known = session.subscribe(Subscriber::Every(sender)).await?.session;
    session
        .command(Command::Prompt {
            text: "Check the permission channel.".to_owned(),
            attachments: Vec::new(),
            delivery: Delivery::AfterTurn,
        })
        .await?;
    while let Some(envelope) = events.recv().await {
        known.apply(&envelope.event);
        match envelope.event {
            Event::SessionChanged { .. } if known.agent_version.is_some() => {
                let version = known.agent_version.clone();
                *seen = Seen { version, capabilities: Some(known.capabilities.clone()) };
            }
            Event::PermissionRequested { .. } => return Ok(PermissionChannel::Asks),
            Event::TurnEnded { .. } if api.saw_tool_result() => return Ok(PermissionChannel::NeverAsks),
            Event::TurnEnded { turn } => {
                return Ok(unknown(format!("The agent called no tool. {}.", turn.words)));
            }
            Event::AgentExited { report } => {
                let said = report.stderr.lines().last().unwrap_or("it said nothing").to_owned();
                return Ok(unknown(format!("The agent exited: {said}")));
            }
            Event::CommandFailed { error } => return Err(error),
            _ => {}
        }
    }
    Ok(unknown("The session ended.".to_owned()))
}

fn unknown(reason: String) -> PermissionChannel {
    PermissionChannel::Unknown { reason }
}

//! Does the agent ask before it acts? Tried with the real program, without an account and without a network.
//!
//! The permission channel hangs on a hidden flag of the CLI, and one that is ignored is not seen until something has run
//! unasked. So the agent is started in an empty folder, with no settings but its own defaults and with an API on loopback
//! that has it call a tool for which it must ask. It is always denied.

mod api;

use crate::api::*;
use crate::launch::Launch;
use crate::recorder::Recorder;
use crate::session::machine::{Limits, Memory};
use crate::session::{Open, SessionHandle, Subscriber};
use crate::store::Record;
use api::LoopbackApi;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// What would send the agent's requests anywhere else, or under another name.
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

/// What the trial showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// As the agent told it.
    pub version: Option<String>,
    pub channel: PermissionChannel,
}

/// Tries the agent that `launch` names; its folder and environment are replaced. Takes at most `limit`, and the time to
/// end the process.
pub async fn try_agent(launch: Launch, limit: Duration) -> Trial {
    match trial(launch, limit).await {
        Ok(trial) => trial,
        Err(error) => {
            Trial { version: None, channel: unknown(format!("The trial could not begin: {error}")) }
        }
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
        ..launch
    };
    let session = SessionHandle::open(Open {
        record: Record {
            id: SessionId::new("doctor"),
            project: launch.project.clone(),
            agent: launch.kind,
            created_at: 0,
            changed_at: 0,
            memory: Memory::default(),
        },
        launcher: Arc::new(move || Ok(launch.clone())),
        store: None,
        agent_config: config,
        locks: None,
        limits: Limits::default(),
        recorder: Recorder::default(),
    });
    let mut version = None;
    let channel = tokio::time::timeout(limit, watch(&session, &api, &mut version)).await;
    let channel = match channel {
        Ok(Ok(channel)) => channel,
        Ok(Err(error)) => unknown(error.message),
        Err(_) => unknown(format!("The agent did not get there within {} s.", limit.as_secs())),
    };
    if let Err(error) = session.close().await {
        tracing::debug!(%error, "the trial's session was gone already");
    }
    Ok(Trial { version, channel })
}

/// On top of what the launch sets: everything leads to the API on loopback, and nothing to the user's own settings.
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

/// Until it is known whether the agent asks.
async fn watch(
    session: &SessionHandle,
    api: &LoopbackApi,
    version: &mut Option<String>,
) -> Result<PermissionChannel, CommandError> {
    let (sender, mut events) = mpsc::channel(64);
    session.subscribe(Subscriber::Every(sender)).await?;
    session
        .command(Command::Prompt {
            text: "Check the permission channel.".to_owned(),
            images: Vec::new(),
            delivery: Delivery::AfterTurn,
        })
        .await?;
    while let Some(envelope) = events.recv().await {
        match envelope.event {
            Event::SessionChanged { session } => *version = session.agent_version.or(version.take()),
            Event::PermissionRequested { .. } => return Ok(PermissionChannel::Asks),
            Event::TurnEnded { .. } if api.saw_tool_result() => return Ok(PermissionChannel::NeverAsks),
            Event::TurnEnded { turn } => {
                return Ok(unknown(format!("The agent called no tool. {}.", turn.words)));
            }
            Event::AgentExited { report } => {
                let said = report.stderr.lines().last().unwrap_or("it said nothing").to_owned();
                return Ok(unknown(format!("The agent ended: {said}")));
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

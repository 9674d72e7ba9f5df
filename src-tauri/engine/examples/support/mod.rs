//! What the examples share: a session with an agent, and its events.

use deskbell_engine::LocalHost;
use deskbell_engine::api::{AgentKind, Event, Priority, SessionId};
use deskbell_engine::launch::Launch;
use deskbell_engine::recorder::Recorder;
use deskbell_engine::session::Timeouts;
use deskbell_engine::session::{Open, SessionHandle, Subscriber};
use deskbell_engine::store::{Record, SavedSession};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;

pub type Failed = Box<dyn Error + Send + Sync>;

/// Opens a session of the agent program `agent` in the folder `project`. Nothing is saved, and the folder's own settings
/// are not loaded. The agent starts with the first prompt.
pub fn open(agent: PathBuf, project: PathBuf) -> Result<SessionHandle, Failed> {
    let project = project.canonicalize()?;
    let id = uuid::Uuid::new_v4().to_string();
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
    // The agent's own files: its settings and its transcripts.
    let config = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let config = config.or_else(|| Some(dirs::home_dir()?.join(".claude"))).ok_or("no home folder")?;
    let launch = Launch {
        kind: AgentKind::Claude,
        acp: None,
        program: agent,
        first_args: Vec::new(),
        project: project.clone(),
        restricted: true,
        snapshot: None,
        env: Vec::new(),
        // Every process of the agent has it in its environment, so that none is left.
        run_token: id.clone(),
        priority: Priority::Normal,
    };
    Ok(SessionHandle::open(Open {
        record: Record {
            id: SessionId::new(id),
            project,
            agent: AgentKind::Claude,
            created_at: now,
            changed_at: now,
            memory: SavedSession::default(),
        },
        launcher: Arc::new(move || Ok(launch.clone())),
        host: Arc::new(LocalHost),
        store: None,
        agent_config: config,
        locks: None,
        agent_sessions: None,
        timeouts: Timeouts::default(),
        recorder: Recorder::default(),
    }))
}

/// The events of a session. They are taken at once: a session waits for a subscriber that does not read.
pub async fn events(session: &SessionHandle) -> Result<mpsc::UnboundedReceiver<Event>, Failed> {
    let (sender, mut envelopes) = mpsc::channel(64);
    session.subscribe(Subscriber::Every(sender)).await?;
    let (forward, events) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(envelope) = envelopes.recv().await {
            if forward.send(envelope.event).is_err() {
                break;
            }
        }
    });
    Ok(events)
}

//! One session from its opening to its end, with all its events.

use crate::program::{SHELL_AGENT, demo_agent};
use crate::transcript;
use deskbell_engine::LocalHost;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::*;
use deskbell_engine::launch::Launch;
use deskbell_engine::patch;
use deskbell_engine::recorder::Recorder;
use deskbell_engine::session::Timeouts;
use deskbell_engine::session::{Launcher, Open, SessionHandle, Subscriber};
use deskbell_engine::store::{Record, SavedSession, Store};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The deadline for everything: only a hang takes this long, however busy the machine is.
pub const DEADLINE: Duration = Duration::from_secs(90);

/// Marks all processes of one session, whatever run token they carry.
pub const MARK: &str = "ENGINE_TEST_LIFE";

/// The options of a session. Everything it touches is in one temporary folder.
pub struct Setup {
    pub folder: TempDir,
    pub mark: String,
    pub memory: SavedSession,
    pub timeouts: Timeouts,
    program: PathBuf,
    first_args: Vec<OsString>,
    env: Vec<(OsString, Option<OsString>)>,
    launcher: Option<Launcher>,
    recorder: Recorder,
    restricted: bool,
}

impl Setup {
    /// The demo agent without faults.
    pub fn demo() -> Self {
        Self::program(demo_agent())
    }

    /// The demo agent with these faults.
    pub fn faulty(faults: &str) -> Self {
        Self::demo().env("DESKBELL_DEMO_FAULT", faults)
    }

    /// The demo agent over ACP, in the place of the agent with this row, with these faults.
    pub fn acp(row: &str, faults: &str) -> Self {
        let mut setup = Self::demo().env("DESKBELL_DEMO_ACP", faults);
        setup.first_args = vec!["--acp".into()];
        setup.memory.acp = ChosenAgent::row_of(row);
        setup
    }

    /// An agent of a few lines of shell, which works in the project's folder.
    pub fn shell(script: &str) -> Self {
        // The script is an argument and not a file: a file that was just written can be “busy” for a moment.
        let mut setup = Self::program("/bin/sh".into());
        setup.first_args = vec!["-c".into(), format!("{SHELL_AGENT}\n{script}").into()];
        setup
    }

    pub fn program(program: PathBuf) -> Self {
        let folder = tempfile::Builder::new().prefix("engine").tempdir().unwrap();
        for name in ["project", "config", "store", "locks"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let setup = Self {
            folder,
            mark: uuid::Uuid::new_v4().to_string(),
            memory: SavedSession::default(),
            timeouts: Timeouts::default(),
            program,
            first_args: Vec::new(),
            env: Vec::new(),
            launcher: None,
            recorder: Recorder::default(),
            restricted: true,
        };
        let (config, mark) = (setup.folder.path().join("config"), setup.mark.clone());
        setup.env("CLAUDE_CONFIG_DIR", config).env(MARK, mark)
    }

    /// The saved record of the session. Its turns are in another file of the same folder.
    pub fn record(&self) -> serde_json::Value {
        let path = self.folder.path().join("store").join(format!("{}.json", self.mark));
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    pub fn timeouts(mut self, change: impl FnOnce(&mut Timeouts)) -> Self {
        change(&mut self.timeouts);
        self
    }

    /// The user trusts the folder.
    pub fn trusted(mut self) -> Self {
        self.restricted = false;
        self
    }

    /// Short timeouts of the stop stages, for agents that ignore them.
    pub fn short_ladder(self) -> Self {
        self.timeouts(|timeouts| {
            timeouts.interrupt_ms = 300;
            timeouts.end_of_input_ms = 300;
            timeouts.terminate_ms = 300;
        })
    }

    pub fn launcher(mut self, launcher: Launcher) -> Self {
        self.launcher = Some(launcher);
        self
    }

    /// Records the session in this file.
    pub fn recorded(self) -> (Self, PathBuf) {
        let path = self.folder.path().join("recording.ndjson");
        self.recorder.begin(&path).unwrap();
        (self, path)
    }

    /// A file in the project's folder, for a shell agent.
    pub fn file(self, name: &str, bytes: &[u8]) -> Self {
        std::fs::write(self.project().join(name), bytes).unwrap();
        self
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The folder of the lists of the sessions that agents have stored.
    pub fn agent_sessions(&self) -> PathBuf {
        self.folder.path().join("agent-sessions")
    }

    fn kind(&self) -> AgentKind {
        if self.memory.acp.is_some() { AgentKind::Acp } else { AgentKind::Claude }
    }

    /// The launch of the agent, each time with a run token of its own as in the app.
    pub fn launch(&self) -> impl Fn() -> Launch + Send + Sync + 'static {
        let launch = Launch {
            kind: self.kind(),
            acp: self.memory.acp.clone(),
            program: self.program.clone(),
            first_args: self.first_args.clone(),
            project: self.project(),
            restricted: self.restricted,
            snapshot: None,
            env: self.env.clone(),
            run_token: String::new(),
            priority: Priority::Normal,
        };
        let (mark, n_started) = (self.mark.clone(), AtomicU64::new(0));
        move || {
            let n = n_started.fetch_add(1, Ordering::Relaxed);
            Launch { run_token: format!("{mark}.{n}"), ..launch.clone() }
        }
    }

    /// Opens the session and subscribes; no process runs yet.
    pub async fn open(self) -> Life {
        let (session, setup) = self.unheard();
        let (sender, mut received) = mpsc::channel(64);
        let facts = session.subscribe(Subscriber::Every(sender)).await.unwrap().session;
        let (forward, events) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(envelope) = received.recv().await {
                if forward.send(envelope).is_err() {
                    break;
                }
            }
        });
        Life { session: Some(session), events, seq: 0, heard: Vec::new(), items: Vec::new(), facts, setup }
    }

    /// Opens the session without a subscriber.
    pub fn unheard(mut self) -> (SessionHandle, Self) {
        let launch = self.launch();
        let launcher = self.launcher.take().unwrap_or_else(|| Arc::new(move || Ok(launch())));
        let record = Record {
            id: SessionId::new(self.mark.clone()),
            project: self.project(),
            agent: self.kind(),
            created_at: 1,
            changed_at: 1,
            memory: self.memory.clone(),
        };
        let store = Store::open(self.folder.path().join("store")).unwrap();
        let agent_config = self.folder.path().join("config");
        let open = Open {
            record,
            launcher,
            host: Arc::new(LocalHost),
            store: Some(store),
            agent_config,
            locks: Some(self.folder.path().join("locks")),
            agent_sessions: Some(self.agent_sessions()),
            timeouts: self.timeouts.clone(),
            recorder: self.recorder.clone(),
        };
        (SessionHandle::open(open), self)
    }
}

/// A running session. Events are taken in order, each once.
pub struct Life {
    session: Option<SessionHandle>,
    events: mpsc::UnboundedReceiver<Envelope>,
    seq: u64,
    heard: Vec<Event>,
    items: Vec<Item>,
    /// What the events made of the session.
    facts: Session,
    pub setup: Setup,
}

impl Life {
    pub fn session(&self) -> &SessionHandle {
        self.session.as_ref().expect("the handle is dropped at the end of a test only")
    }

    pub async fn command(&self, command: Command) -> Result<(), CommandError> {
        timeout(DEADLINE, self.session().command(command)).await.expect("a command is answered")
    }

    pub async fn prompt(&self, text: &str) {
        self.give(text, Delivery::AfterTurn).await;
    }

    pub async fn give(&self, text: &str, delivery: Delivery) {
        let prompt = Command::Prompt { text: text.to_owned(), attachments: Vec::new(), delivery };
        self.command(prompt).await.unwrap();
    }

    /// The first result of `find` for a following event.
    pub async fn next<T>(&mut self, what: &str, find: impl Fn(&Event) -> Option<T>) -> T {
        let found = timeout(DEADLINE, async {
            while let Some(envelope) = self.events.recv().await {
                assert_eq!(envelope.seq, self.seq + 1, "events without a gap");
                self.seq = envelope.seq;
                patch::apply(&mut self.items, &envelope.event);
                self.facts.apply(&envelope.event);
                let found = find(&envelope.event);
                self.heard.push(envelope.event);
                if found.is_some() {
                    return found;
                }
            }
            None
        });
        match found.await {
            Ok(Some(found)) => found,
            Ok(None) => panic!("the session ended before {what}:\n{}", self.heard()),
            Err(_) => panic!("no {what} within {DEADLINE:?}:\n{}", self.heard()),
        }
    }

    pub async fn turn_end(&mut self) -> TurnEnd {
        let ended = |event: &Event| match event {
            Event::TurnEnded { turn } => Some(turn.clone()),
            _ => None,
        };
        self.next("end of a turn", ended).await
    }

    /// Prompts, and waits for the successful end of the turn.
    pub async fn turn(&mut self, text: &str) -> TurnEnd {
        self.prompt(text).await;
        let turn = self.turn_end().await;
        assert_eq!(turn.outcome, Outcome::Done, "{turn:?}");
        turn
    }

    pub async fn turn_started(&mut self) -> Vec<PromptId> {
        let started = |event: &Event| match event {
            Event::TurnStarted { prompt_ids } => Some(prompt_ids.clone()),
            _ => None,
        };
        self.next("begin of a turn", started).await
    }

    pub async fn exit(&mut self) -> ExitReport {
        let exited = |event: &Event| match event {
            Event::AgentExited { report } => Some(report.clone()),
            _ => None,
        };
        self.next("exit of the agent", exited).await
    }

    pub async fn request(&mut self) -> PermissionRequest {
        let requested = |event: &Event| match event {
            Event::PermissionRequested { request, .. } => Some((**request).clone()),
            _ => None,
        };
        self.next("permission request", requested).await
    }

    pub async fn failure(&mut self) -> CommandError {
        let failed = |event: &Event| match event {
            Event::CommandFailed { error } => Some(error.clone()),
            _ => None,
        };
        self.next("failure", failed).await
    }

    /// Waits until the session's facts meet a condition.
    pub async fn facts(&mut self, what: &str, are_so: impl Fn(&Session) -> bool) -> Session {
        loop {
            let changed = |event: &Event| matches!(event, Event::SessionChanged { .. }).then_some(());
            self.next(what, changed).await;
            if are_so(&self.facts) {
                return self.facts.clone();
            }
        }
    }

    /// Waits for an answer of the agent, and returns its text.
    pub async fn answer(&mut self) -> String {
        let answered = |event: &Event| match event {
            Event::ItemAdded { item } | Event::ItemChanged { item } => transcript::answer(item),
            _ => None,
        };
        self.next("answer", answered).await
    }

    pub async fn snapshot(&self) -> Snapshot {
        timeout(DEADLINE, self.session().snapshot()).await.expect("a snapshot is given").unwrap()
    }

    /// The transcript; the events so far must fold to the same.
    pub async fn items(&mut self) -> Vec<Item> {
        let snapshot = self.snapshot().await;
        while self.seq < snapshot.seq {
            self.next("event before the snapshot", |_| Some(())).await;
        }
        assert!(self.items == snapshot.items, "the events and the snapshot tell different transcripts");
        snapshot.items
    }

    pub async fn answers(&mut self) -> Vec<String> {
        self.items().await.iter().filter_map(transcript::answer).collect()
    }

    pub async fn notices(&mut self) -> Vec<String> {
        self.items().await.iter().filter_map(transcript::notice).collect()
    }

    /// Ends the session as the app does.
    pub async fn close(mut self) -> Setup {
        let session = self.session.take().unwrap();
        timeout(DEADLINE, session.close()).await.expect("a session can be closed").unwrap();
        self.setup
    }

    /// Drops the handle without closing the session.
    pub fn drop_handle(mut self) -> Setup {
        self.session = None;
        self.setup
    }

    pub fn path(&self, name: &str) -> PathBuf {
        Path::join(&self.setup.project(), name)
    }

    /// The events so far, each on a line.
    pub fn heard(&self) -> String {
        let lines = self.heard.iter().map(|event| format!("{event:?}").chars().take(400).collect());
        lines.collect::<Vec<String>>().join("\n")
    }
}

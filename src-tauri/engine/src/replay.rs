//! Replay of a recording: drives the same core as a session, with the recording instead of the agent, the user and
//! the clock. `text` formats the result.

mod text;

use crate::agent::driver::{Driver, Output};
use crate::agent::json::read_value;
use crate::agent::{AgentCommand, AgentEvent, Answer, HostRequest};
use crate::api::*;
use crate::launch::{Start, driver};
use crate::recorder::{Direction, Opened, Recorded};
use crate::session::core::{Action, Core};
use crate::session::machine::{Input, Timeouts};
use crate::transcript::{Transcript, TranscriptChange};
use deskbell_acp::ChosenAgent;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

/// Result of a replay.
pub struct Replayed {
    /// Events in the order in which the session published them.
    pub events: Vec<Event>,
    /// The final transcript.
    pub items: Vec<Item>,
    /// Start of the recording in milliseconds since the epoch; 0 if it is not recorded.
    pub began_at: u64,
    /// The recording began within a turn: its beginning is missing.
    pub is_in_turn: bool,
}

impl Replayed {
    /// Replays a recorded session. Missing lines are missing in the result; a replay never fails.
    pub fn of(recording: &[Recorded]) -> Self {
        let opened = recording.iter().find(|recorded| recorded.dir == Direction::Opened);
        let (ms, opened) = opened
            .and_then(|recorded| Some((recorded.ms, read_value::<Opened>(&recorded.line).ok()?)))
            .unwrap_or_default();
        let transcript =
            Transcript::with_changed_inputs(Path::new(&opened.project), &opened.memory.changed_inputs);
        let (acp, project) = (opened.memory.acp.clone(), PathBuf::from(&opened.project));
        let mut replay = Replay {
            core: Core::new(opened.memory, Timeouts::default(), transcript, opened.at),
            driver: driver(acp.as_ref(), &project, &Start::default()),
            acp,
            project,
            events: Vec::new(),
            unanswered: None,
            shown: HashMap::new(),
        };
        let (began_at, is_in_turn) = (opened.at.saturating_sub(ms), opened.is_in_turn);
        replay.core.take_over(opened.at);
        if opened.is_running {
            replay.agent_runs(opened.at);
        }
        for recorded in recording {
            replay.line(began_at + recorded.ms, recorded);
            replay.flush();
        }
        Self {
            events: replay.events,
            items: replay.core.transcript().items().cloned().collect(),
            began_at,
            is_in_turn,
        }
    }
}

struct Replay {
    core: Core,
    driver: Box<dyn Driver>,
    /// The agent, if it speaks ACP. Recordings do not say whether another one is Claude Code or the demo agent.
    acp: Option<ChosenAgent>,
    project: PathBuf,
    events: Vec<Event>,
    /// The requests to an agent that ran before the recording, and whether each is the one that it answers first.
    unanswered: Option<Vec<(String, bool)>>,
    /// Fingerprint of each permission request that was published.
    shown: HashMap<RequestId, String>,
}

impl Replay {
    fn line(&mut self, now: u64, recorded: &Recorded) {
        match recorded.dir {
            Direction::Out => {
                let mut out = Output::default();
                match &recorded.line {
                    Value::String(text) => self.driver.read(text.as_bytes(), &mut out),
                    value => self.driver.read(value.to_string().as_bytes(), &mut out),
                }
                out.events.into_iter().for_each(|event| self.step(now, Input::Line(event)));
            }
            Direction::Input => {
                if let Ok(mut input) = read_value::<Input>(&recorded.line) {
                    self.show_again(&mut input);
                    self.step(now, input);
                }
            }
            Direction::Opened | Direction::Start | Direction::In | Direction::Err => {}
        }
    }

    /// Brings the core to the state of a session whose agent was ready when the recording began.
    fn agent_runs(&mut self, now: u64) {
        self.unanswered = Some(Vec::new());
        self.step(now, Input::Start);
        self.step(now, Input::Spawned);
        // A prompt would wait for these answers, which came before the recording.
        while let Some((request_id, is_initialize)) = self.unanswered.as_mut().and_then(Vec::pop) {
            let answer = if is_initialize { Answer::Initialized(Box::default()) } else { Answer::Done };
            self.step(now, Input::Line(AgentEvent::Response { request_id, outcome: Ok(answer) }));
        }
        self.unanswered = None;
        self.flush();
        self.events.clear();
    }

    /// Updates the fingerprint in a decision. It is computed from the exact text of the request, which redaction may
    /// have changed.
    fn show_again(&self, input: &mut Input) {
        if let Input::Command(Command::Decide { request_id, shown, .. }) = input
            && let (Some(shown), Some(again)) = (shown, self.shown.get(request_id))
        {
            shown.clone_from(again);
        }
    }

    /// Makes a step and collects its events. Other actions are ignored, and so are lines to the agent: their consequences
    /// are in the recording.
    fn step(&mut self, now: u64, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            self.core.step(now, input);
            while let Some(action) = self.core.next_action() {
                match action {
                    Action::Publish(change) => self.published(&change),
                    // The driver has to know what the next lines answer.
                    Action::Write(command) => {
                        if let (Some(unanswered), AgentCommand::Request { request_id, request }) =
                            (&mut self.unanswered, &command)
                        {
                            let is_initialize = matches!(request, HostRequest::Initialize { .. });
                            unanswered.push((request_id.clone(), is_initialize));
                        }
                        let mut out = Output::default();
                        self.driver.write(&command, &mut out);
                        inputs.extend(out.events.into_iter().map(Input::Line));
                    }
                    Action::Spawn(start) => {
                        self.driver = driver(self.acp.as_ref(), &self.project, &start);
                    }
                    _ => {}
                }
            }
        }
    }

    fn flush(&mut self) {
        for change in self.core.drain_changes() {
            self.published(&change);
        }
    }

    fn published(&mut self, change: &TranscriptChange) {
        let Some(event) = change.whole(self.core.transcript()) else { return };
        if let Event::PermissionRequested { request, .. } = &event {
            self.shown.insert(request.id.clone(), request.shown.clone());
        }
        self.events.push(event);
    }
}

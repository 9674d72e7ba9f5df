//! One turn: its beginning and its state. Its contents are in [`crate::reply`] and [`crate::permission`], its end in
//! [`crate::ending`].

use std::time::Instant;

use serde_json::{Value, json};

use crate::agent::{DemoAgent, ReceivedPrompt};
use crate::call::PlayedCall;
use crate::message::MessageDraft;
use crate::usage::{self, ByModel, TokenCounts};
use crate::{catalogue, clock, environment, wire};

/// A turn in progress.
pub struct PlayedTurn<'a> {
    pub agent: &'a DemoAgent,
    /// The message that is being written.
    pub message: Option<MessageDraft>,
    /// The calls that have no result yet.
    pub calls: Vec<PlayedCall>,
    pub denials: Vec<Value>,
    /// The texts of prompts that arrived during the turn and were folded into it.
    pub folded: Vec<String>,
    /// The text of the last message, which is the turn's result.
    pub text: String,
    /// The number of requests to the model.
    pub requests: u32,
    pub usage: ByModel,
    /// Milliseconds from the start of the turn to the first line of a message.
    pub first_frame_ms: Option<u64>,
    pub uuids: Vec<String>,
    pub folded_uuids: Vec<String>,
    pub origin: Option<Value>,
    pub local_command: Option<&'static str>,
    started: Instant,
}

impl<'a> PlayedTurn<'a> {
    /// Begins a turn for the prompts, merged; with no prompts for a turn that begins by itself.
    pub fn begin(agent: &'a DemoAgent, prompts: &[ReceivedPrompt]) -> Self {
        let mut turn = Self {
            agent,
            message: None,
            calls: Vec::new(),
            denials: Vec::new(),
            folded: Vec::new(),
            text: String::new(),
            requests: 0,
            usage: ByModel::new(),
            first_frame_ms: None,
            uuids: Vec::new(),
            folded_uuids: Vec::new(),
            origin: prompts.is_empty().then(|| json!({"kind": "task-notification"})),
            local_command: None,
            started: Instant::now(),
        };
        agent.tell_state("running");
        for prompt in prompts.iter().filter(|prompt| prompt.named) {
            agent.tell_life(&prompt.uuid, "started");
            turn.uuids.push(prompt.uuid.clone());
        }
        turn
    }

    /// Reports the configuration of the turn. Lines that precede it, such as those of a cleared conversation, are
    /// written first.
    pub fn init(&self) {
        let agent = self.agent;
        let line = {
            let state = agent.lock();
            let mut line = json!({
                "type": "system",
                "subtype": "init",
                "cwd": environment::cwd(),
                "session_id": state.session_id,
                "tools": catalogue::tools(agent.options.can_ask),
                "mcp_servers": [],
                "model": state.model,
                "permissionMode": state.mode,
                "slash_commands": catalogue::command_names(),
                "terminal_slash_commands": [],
                "apiKeySource": "demo",
                "claude_code_version": agent.environment.version(),
                "output_style": "default",
                "agents": catalogue::agent_names(),
                "skills": [],
                "plugins": [],
            });
            if !agent.old() {
                line["capabilities"] = json!(catalogue::capabilities());
            }
            line["analytics_disabled"] = true.into();
            line["served_by_anthropic"] = false.into();
            line["fast_mode_state"] = "off".into();
            line
        };
        agent.send(line);
    }

    /// Stores the prompts, as one if they were merged, under the uuid of the last.
    pub fn remember(&self, prompts: &[ReceivedPrompt]) {
        let Some(last) = prompts.last() else { return };
        let (text, content) = merged(prompts);
        let replay = {
            let mut state = self.agent.lock();
            for _ in prompts {
                state.store.queue_operation("dequeue", None);
            }
            let mode = state.mode.clone();
            state.context += usage::tokens(&text);
            state.store.prompt(&last.uuid, &text, &content, &mode);
            self.agent.options.replay
        };
        if replay {
            self.agent.send(replayed(&last.uuid, &content));
        }
    }

    /// Folds the prompts that have arrived into this turn, as the real CLI does after a tool's result.
    pub fn fold_queued(&mut self) {
        let prompts = self.agent.take_queued();
        for prompt in prompts {
            if self.agent.options.replay {
                self.agent.send(replayed(&prompt.uuid, &prompt.content));
            }
            if prompt.named {
                self.agent.tell_life(&prompt.uuid, "started");
                self.uuids.push(prompt.uuid.clone());
                self.folded_uuids.push(prompt.uuid.clone());
            }
            let mut state = self.agent.lock();
            state.store.queue_operation("remove", None);
            let mode = state.mode.clone();
            state.store.prompt(&prompt.uuid, &prompt.text, &prompt.content, &mode);
            drop(state);
            self.folded.push(prompt.text);
        }
    }

    /// Marks the turn as a command that the agent answers itself.
    pub fn local(&mut self, command: &'static str) {
        self.local_command = Some(command);
    }

    /// Writes a `user` line of the agent's own and stores it.
    pub fn user(&self, content: Value, extra: Value) {
        let mut line = json!({"type": "user", "message": {"role": "user", "content": content}});
        line["parent_tool_use_id"] = Value::Null;
        let mut state = self.agent.lock();
        wire::stamp(&mut line, &state.session_id);
        line["timestamp"] = clock::timestamp().into();
        if let (Some(line), Value::Object(extra)) = (line.as_object_mut(), extra) {
            line.extend(extra);
        }
        state.store.user(&line);
        self.agent.output.line(&line);
    }

    /// Adds tokens to the turn and to the session.
    pub fn spend(&mut self, model: &str, spent: TokenCounts) {
        self.usage.entry(model.to_owned()).or_default().add(spent);
        let mut state = self.agent.lock();
        state.usage.entry(model.to_owned()).or_default().add(spent);
        state.context += spent.input + spent.output;
    }

    /// Milliseconds since the turn began.
    pub fn elapsed_ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }
}

fn replayed(uuid: &str, content: &Value) -> Value {
    json!({
        "type": "user",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": null,
        "uuid": uuid,
        "timestamp": clock::timestamp(),
        "isReplay": true,
    })
}

/// The text and content of merged prompts. A single prompt keeps its own content.
pub fn merged(prompts: &[ReceivedPrompt]) -> (String, Value) {
    let text = prompts.iter().map(|prompt| prompt.text.as_str()).collect::<Vec<_>>().join("\n");
    let content = match prompts {
        [only] => only.content.clone(),
        _ => text.clone().into(),
    };
    (text, content)
}

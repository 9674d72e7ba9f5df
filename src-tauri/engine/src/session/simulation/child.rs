//! Model of the agent process, as measured on the real one, with all of its faults.

mod habits;
mod speech;

pub use habits::{Habits, Initialize};

use crate::agent::{AgentCommand, AgentEvent, AgentRequest};
use crate::api::BYPASS;
use crate::api::{ExitReport, PermissionMode, PromptId};
use crate::chance::Chance;
use crate::claude::ClaudeDriver;
use crate::launch::Start;
use crate::session::tests::response;
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};

/// State that the agent keeps outside of any process.
#[derive(Default)]
pub struct AgentDisk {
    /// Names of the prompts that the agent knows. It ignores a repeated name silently.
    heard: BTreeSet<String>,
    /// Conversations that can be resumed.
    pub conversations: BTreeSet<String>,
    n_names: u64,
}

impl AgentDisk {
    fn name(&mut self, kind: &str) -> String {
        self.n_names += 1;
        format!("{kind}-{}", self.n_names)
    }
}

/// Inputs of the child's behaviour: randomness, the time, and the agent's own state.
pub struct Ground<'a> {
    pub chance: &'a mut Chance,
    pub now: u64,
    pub disk: &'a mut AgentDisk,
}

/// Output of a process.
pub enum Out {
    /// A line, and the prompts that really end with it, independently of its content.
    Line {
        inbound: AgentEvent,
        ended: Vec<PromptId>,
    },
    StdinBroken(String),
    Exited(ExitReport),
}

struct Turn {
    /// Prompt names on the wire.
    prompts: Vec<String>,
    /// A background task started this turn, not a prompt.
    unasked: bool,
    /// The prompt is `/clear`.
    clears: bool,
    /// The agent has reported the start of the turn.
    begun: bool,
}

pub struct Child {
    pub habits: Habits,
    /// Between us and the agent. It writes what the agent reads, and reads the agent's answers.
    driver: ClaudeDriver,
    stdin: VecDeque<Value>,
    /// Our end of stdin is open.
    stdin_open: bool,
    /// The agent reads its stdin.
    listens: bool,
    broken_told: bool,
    pub out: VecDeque<Out>,
    resume: Option<String>,
    booted: bool,
    session_id: String,
    pub mode: String,
    pub model: String,
    effort: Option<String>,
    /// The agent has reported its mode; its model.
    pub mode_told: bool,
    pub model_told: bool,
    turn: Option<Turn>,
    /// Prompts read during a turn.
    waiting: Vec<String>,
    /// Open permission requests.
    asking: Vec<(String, AgentRequest)>,
    /// Closed requests.
    closed: Vec<String>,
    /// Control requests that the agent received and did not answer.
    pub unanswered: Vec<String>,
    /// The same for the previous process. A late response to one of these must be ignored.
    ghosts: Vec<String>,
    last_failed: bool,
    cost_usd: f64,
    n_tasks: usize,
    busy_until: u64,
    terminated: bool,
    gone: bool,
}

/// The prompt id that belongs to a name on the wire.
pub fn prompt_of(name: &str) -> PromptId {
    PromptId::new(name.split_once('.').map_or(name, |(id, _)| id))
}

/// The model that a short name resolves to.
pub fn resolved(model: &str) -> String {
    if model.starts_with("claude-") { model.to_owned() } else { format!("claude-{model}") }
}

impl Child {
    pub fn new(start: &Start, habits: Habits, ghosts: Vec<String>, ground: &mut Ground<'_>) -> Self {
        let session_id = start.resume.clone().unwrap_or_else(|| ground.disk.name("conversation"));
        // The agent silently replaces an unsupported mode with the default one.
        let mode = start.mode.map(|mode| mode.name().to_owned()).filter(|mode| habits.has_mode(mode));
        Self {
            driver: ClaudeDriver::default(),
            stdin: VecDeque::new(),
            stdin_open: true,
            listens: true,
            broken_told: false,
            out: VecDeque::new(),
            resume: start.resume.clone(),
            booted: false,
            session_id,
            mode: mode.unwrap_or_else(|| "default".to_owned()),
            model: resolved(start.model.as_deref().unwrap_or("sonnet")),
            effort: None,
            mode_told: false,
            model_told: false,
            turn: None,
            waiting: Vec::new(),
            asking: Vec::new(),
            closed: Vec::new(),
            unanswered: Vec::new(),
            ghosts,
            last_failed: false,
            cost_usd: 0.0,
            n_tasks: 0,
            busy_until: ground.now,
            terminated: false,
            gone: false,
            habits,
        }
    }

    // --- called by the world ---------------------------------------------------------------------------------

    /// Writes a command to the child's stdin. Returns `false` if stdin is closed.
    pub fn write(&mut self, command: &AgentCommand, chance: &mut Chance) -> bool {
        if let AgentCommand::Request { request_id, .. } = command {
            self.unanswered.push(request_id.clone());
        }
        let line = serde_json::from_str(&self.driver.line(command)).unwrap();
        if self.listens && !self.gone {
            self.stdin.push_back(line);
            return true;
        }
        if self.broken_told {
            return false;
        }
        // The write is asynchronous: its failure is reported later, and before the exit if at all.
        if !self.gone || chance.one_in(2) {
            self.broken_told = true;
            let behind = usize::from(self.gone);
            let place = self.out.len() - behind;
            self.out.insert(place, Out::StdinBroken("broken pipe".to_owned()));
        }
        true
    }

    pub fn close_stdin(&mut self) {
        self.stdin_open = false;
    }

    pub fn terminate(&mut self) {
        self.terminated = true;
    }

    pub fn kill(&mut self) {
        if !self.gone {
            self.exit(None, Some(9), "");
        }
    }

    /// The end of the current pause, if the process pauses.
    pub fn pauses_until(&self, now: u64) -> Option<u64> {
        (!self.gone && self.busy_until > now).then_some(self.busy_until)
    }

    /// All input was read and all output was received.
    pub fn is_caught_up(&self, now: u64) -> bool {
        self.stdin.is_empty() && self.out.is_empty() && self.busy_until <= now && self.listens
    }

    /// A turn is running, and the agent has reported it.
    pub fn is_visibly_busy(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.begun)
    }

    pub fn is_busy(&self) -> bool {
        self.turn.is_some()
    }

    /// The process will act as soon as it is scheduled.
    pub fn has_work(&self) -> bool {
        let is_leaving = self.terminated || !self.stdin_open;
        !self.gone && (is_leaving || !self.booted || !self.stdin.is_empty() || self.turn.is_some())
    }

    pub fn become_calm(&mut self) {
        self.habits = self.habits.calm();
        if !self.listens && !self.gone {
            // The process lost some of its input and cannot report that.
            return self.exit(Some(1), None, "");
        }
        self.n_tasks = 0;
        self.say(AgentEvent::BackgroundTasks { tasks: Vec::new() });
    }

    // --- behaviour -------------------------------------------------------------------------------------------

    /// Performs at most one action.
    pub fn act(&mut self, ground: &mut Ground<'_>) {
        if self.gone {
            return;
        }
        if self.busy_until > ground.now {
            return;
        }
        if self.terminated && !self.habits.deaf_to_terminate {
            return self.exit(Some(143), None, "");
        }
        if ground.chance.one_in(self.habits.crash_one_in) {
            let (code, signal) =
                *ground.chance.pick(&[(Some(1), None), (Some(0), None), (None, Some(11))]).unwrap();
            return self.exit(code, signal, "panicked\n\n");
        }
        if self.habits.pause_ms > 0 && ground.chance.one_in(12) {
            self.busy_until = ground.now + ground.chance.below(self.habits.pause_ms);
            return;
        }
        if !self.booted {
            return self.boot(ground);
        }
        if self.habits.closes_stdin && ground.chance.one_in(40) {
            self.listens = false;
            self.stdin.clear();
        }
        if !self.stdin.is_empty() && !ground.chance.one_in(4) {
            let line = self.stdin.pop_front().unwrap();
            return self.read(&line, ground);
        }
        if !self.stdin_open && self.stdin.is_empty() {
            // The agent treats the end of input as a denial of all open requests.
            self.asking.clear();
            if self.turn.is_none() && !self.habits.deaf_to_end_of_input {
                return self.exit(Some(i32::from(self.last_failed)), None, "");
            }
        }
        match &self.turn {
            Some(_) => self.work(ground),
            None => self.idle(ground),
        }
    }

    fn boot(&mut self, ground: &mut Ground<'_>) {
        if self.habits.fails_to_start {
            return self.exit(Some(1), None, "error: unknown option\n");
        }
        if let Some(id) = &self.resume
            && !ground.disk.conversations.contains(id)
        {
            let words = format!("No conversation found with session ID: {id}");
            self.resume = None;
            self.say(speech::start_failure(&words));
            if !self.habits.lingers {
                return self.exit(Some(1), None, &words);
            }
            self.session_id = ground.disk.name("conversation");
        }
        self.booted = true;
    }

    fn exit(&mut self, code: Option<i32>, signal: Option<i32>, stderr: &str) {
        self.gone = true;
        self.stdin.clear();
        self.out.push_back(Out::Exited(ExitReport {
            code,
            signal,
            expected: false,
            stderr: stderr.to_owned(),
        }));
    }

    fn say(&mut self, inbound: AgentEvent) {
        self.out.push_back(Out::Line { inbound, ended: Vec::new() });
    }

    fn take_back(&mut self, request_id: String) {
        self.closed.push(request_id.clone());
        self.say(AgentEvent::RequestWithdrawn { request_id });
    }

    fn state(&mut self, state: &str) {
        if self.habits.tells_state {
            self.say(AgentEvent::SessionState { state: state.to_owned() });
        }
    }

    fn idle(&mut self, ground: &mut Ground<'_>) {
        if self.habits.is_calm {
            return;
        }
        if self.n_tasks > 0 && ground.chance.one_in(8) {
            self.n_tasks -= 1;
            self.say(speech::tasks(self.n_tasks));
            self.say(speech::task_ended());
            self.begin(Vec::new(), true, false);
        } else if self.habits.tells_state && ground.chance.one_in(60) {
            // The agent reports a state change without a turn.
            self.state("running");
            self.state("idle");
        } else if ground.chance.one_in(20) {
            let noise = speech::noise(ground.chance, ground.now);
            self.say(noise);
        }
    }

    fn begin(&mut self, prompts: Vec<String>, unasked: bool, clears: bool) {
        self.turn = Some(Turn { prompts, unasked, clears, begun: false });
    }

    fn work(&mut self, ground: &mut Ground<'_>) {
        let Some(turn) = &mut self.turn else { return };
        if !turn.begun {
            turn.begun = true;
            let clears = turn.clears;
            self.state("running");
            if clears {
                self.say(AgentEvent::ConversationReset);
                self.session_id = ground.disk.name("conversation");
            }
            self.mode_told = true;
            self.model_told = true;
            return self.init();
        }
        let is_unasked = turn.unasked && turn.prompts.is_empty();
        let blocked = !self.asking.is_empty();
        match ground.chance.below(24) {
            0..5 if !blocked && !self.habits.hangs => self.end(End::Done, ground),
            5 if !blocked && !self.habits.hangs && !self.habits.is_calm => self.end(End::Failed, ground),
            6 | 7 if self.asking.len() < 4 && self.stdin_open => {
                for _ in 0..=ground.chance.below(3) {
                    let id = ground.disk.name("request");
                    let request = speech::can_use_tool(ground.chance, &id);
                    self.asking.push((id.clone(), request.clone()));
                    self.state("requires_action");
                    self.say(AgentEvent::Request { request_id: id, request });
                }
            }
            8 if blocked => {
                // A hook answered the request, or the subagent that sent it has ended.
                let at = ground.chance.below(self.asking.len() as u64) as usize;
                let (request_id, _) = self.asking.remove(at);
                self.take_back(request_id);
            }
            9 if blocked && ground.chance.one_in(4) => {
                // The turn ends while a background subagent still waits for its request.
                self.end(End::Done, ground);
            }
            _ if self.habits.is_calm => {}
            9 if !blocked && is_unasked && self.habits.tells_state && ground.chance.one_in(2) => {
                // The turn ends without a result.
                self.turn = None;
                self.rest();
            }
            10 => {
                let request_id = ground.disk.name("odd");
                let request = speech::odd_request(ground.chance);
                self.say(AgentEvent::Request { request_id, request });
            }
            11 => {
                if let Some((id, request)) = ground.chance.pick(&self.asking).cloned() {
                    self.say(AgentEvent::Request { request_id: id, request });
                }
            }
            12 => {
                self.n_tasks = ground.chance.below(3) as usize;
                self.say(speech::tasks(self.n_tasks));
            }
            13 => {
                let stale = speech::stale(&self.closed, &self.ghosts, ground.chance);
                self.say(stale);
            }
            14 => self.init(),
            22 if self.habits.slips => {
                self.mode = BYPASS.to_owned();
                self.mode_told = true;
                self.say(speech::mode_changed(BYPASS));
            }
            20 | 21 if !self.habits.is_old => self.take_up(ground),
            15..18 => {
                let noise = speech::noise(ground.chance, ground.now);
                self.say(noise);
            }
            18 | 19 => {
                let id = ground.disk.name("reply");
                speech::reply(&id, ground.chance).into_iter().for_each(|line| self.say(line));
            }
            23 => {
                let id = ground.disk.name("reply");
                speech::tool_call(&id, ground.chance).into_iter().for_each(|line| self.say(line));
            }
            _ => {}
        }
    }

    fn init(&mut self) {
        let init = speech::init(&self.session_id, &self.mode, &self.model, !self.habits.is_old);
        self.say(init);
    }

    /// After a tool's result: prompts that were written during the turn join it.
    fn take_up(&mut self, ground: &mut Ground<'_>) {
        let Some(turn) = &mut self.turn else { return };
        let waiting = std::mem::take(&mut self.waiting);
        turn.prompts.extend(waiting.iter().cloned());
        for uuid in waiting {
            // The result lists the prompt in any case.
            if !ground.chance.one_in(4) {
                self.say(AgentEvent::PromptState { uuid, state: "started".to_owned() });
            }
        }
    }

    fn end(&mut self, end: End, ground: &mut Ground<'_>) {
        let Some(turn) = self.turn.take() else { return };
        if !turn.begun {
            self.init();
        }
        self.cost_usd += 0.01;
        self.last_failed = !matches!(end, End::Done);
        if matches!(end, End::Failed) {
            self.say(speech::failed_reply());
        }
        let result = speech::Said {
            end,
            session_id: &self.session_id,
            cost_usd: self.cost_usd,
            unasked: turn.unasked,
            prompts: (!self.habits.is_old).then_some(&turn.prompts),
        };
        let inbound = speech::result(&result, ground.chance);
        ground.disk.conversations.insert(self.session_id.clone());
        let ended = turn.prompts.iter().map(|name| prompt_of(name)).collect();
        self.out.push_back(Out::Line { inbound, ended });
        self.rest();
    }

    /// Ends the turn. Prompts read during it start the next one.
    fn rest(&mut self) {
        if self.waiting.is_empty() {
            self.state("idle");
        } else {
            // All waiting prompts are merged into one turn.
            let waiting = std::mem::take(&mut self.waiting);
            self.begin(waiting, false, false);
        }
    }

    // --- reading stdin ---------------------------------------------------------------------------------------

    fn read(&mut self, line: &Value, ground: &mut Ground<'_>) {
        match line["type"].as_str() {
            Some("user") => self.prompt(line, ground),
            Some("control_request") => self.asked(line, ground),
            _ => self.answered(line, ground),
        }
    }

    fn prompt(&mut self, line: &Value, ground: &mut Ground<'_>) {
        let name = line["uuid"].as_str().unwrap().to_owned();
        if !ground.disk.heard.insert(name.clone()) {
            return;
        }
        let clears = line["message"]["content"] == "/clear";
        match &self.turn {
            None => self.begin(vec![name], false, clears),
            Some(_) => self.waiting.push(name),
        }
    }

    fn respond(&mut self, line: &Value, outcome: Result<Value, String>) {
        let request_id = line["request_id"].as_str().unwrap().to_owned();
        self.unanswered.retain(|id| *id != request_id);
        let answer = self.driver.event(response(&request_id, outcome).as_bytes());
        self.say(answer);
    }

    fn asked(&mut self, line: &Value, ground: &mut Ground<'_>) {
        let request = &line["request"];
        match request["subtype"].as_str().unwrap() {
            "initialize" => match self.habits.initialize {
                Initialize::Never => {}
                Initialize::Refuses => self.respond(line, Err("not now".to_owned())),
                Initialize::Answers if self.habits.is_old => self.respond(line, Ok(json!({"commands": []}))),
                Initialize::Answers => {
                    self.mode_told = true;
                    let reply = speech::initialized(&self.mode);
                    self.respond(line, Ok(reply));
                }
            },
            "interrupt" => self.interrupted(line, ground),
            "cancel_async_message" => {
                let uuid = request["message_uuid"].as_str().unwrap().to_owned();
                let place = self.waiting.iter().position(|name| *name == uuid);
                let reply = Ok(json!({"cancelled": place.is_some()}));
                if let Some(place) = place {
                    self.waiting.remove(place);
                    self.say(AgentEvent::PromptState { uuid, state: "cancelled".to_owned() });
                }
                self.respond(line, reply);
            }
            "set_permission_mode" => {
                let mode = request["mode"].as_str().unwrap().to_owned();
                assert!(mode.parse::<PermissionMode>().is_ok(), "an unknown mode was asked for");
                if self.habits.never_confirms {
                    return;
                }
                if !self.habits.has_mode(&mode) {
                    return self.respond(line, Err("invalid_mode".to_owned()));
                }
                if self.habits.slips && self.mode == BYPASS {
                    // It confirms the change and stays in its mode.
                    self.respond(line, Ok(json!({"mode": mode})));
                    self.mode_told = true;
                    return self.say(speech::mode_changed(BYPASS));
                }
                self.mode = mode;
                self.mode_told = true;
                let status = speech::mode_changed(&self.mode);
                let reply = Ok(json!({"mode": self.mode}));
                // Both orders occur in practice.
                if ground.chance.one_in(2) {
                    self.say(status);
                    self.respond(line, reply);
                } else {
                    self.respond(line, reply);
                    self.say(status);
                }
            }
            "set_model" => {
                let model = request["model"].as_str().unwrap();
                if model == "unknown" && !self.habits.is_old {
                    return self.respond(line, Err("not_found".to_owned()));
                }
                self.model = resolved(model);
                self.model_told = true;
                let reply = json!({"model": self.model});
                self.respond(line, Ok(reply));
            }
            "apply_flag_settings" => {
                let level = request["settings"]["effortLevel"].as_str().map(str::to_owned);
                if self.habits.never_confirms {
                    return;
                }
                // The agent confirms any value.
                self.effort = level.filter(|level| level != "unknown");
                self.respond(line, Ok(json!({})));
            }
            "get_settings" => {
                let applied = json!({"applied": {"effort": self.effort.as_deref().unwrap_or("low")}});
                self.respond(line, Ok(applied));
            }
            "get_usage" if self.habits.is_old && ground.chance.one_in(2) => {
                self.respond(line, Err("Unsupported control request subtype".to_owned()));
            }
            "get_usage" => {
                let usage = json!({"session": {"total_cost_usd": self.cost_usd}});
                self.respond(line, Ok(usage));
            }
            "rename_session" if self.habits.is_old && ground.chance.one_in(2) => {
                self.respond(line, Err("Unsupported control request subtype".to_owned()));
            }
            "rename_session" => {
                let title = request["title"].as_str().unwrap().to_owned();
                self.respond(line, Ok(json!({})));
                self.say(AgentEvent::Title { title });
            }
            "get_context_usage" => match ground.chance.below(4) {
                0 => {}
                1 => self.respond(line, Err("Unsupported control request subtype".to_owned())),
                2 => self.respond(line, Ok(json!({"categories": 7}))),
                _ => self.respond(line, Ok(speech::context_usage())),
            },
            "rewind_files" => match ground.chance.below(6) {
                0 => {}
                1 => self.respond(line, Err("Unsupported control request subtype".to_owned())),
                2 => self.respond(line, Err("not now".to_owned())),
                3 => self.respond(line, Ok(json!({"canRewind": true, "filesChanged": []}))),
                _ => self.respond(line, Ok(json!({"canRewind": true, "filesChanged": ["/a"]}))),
            },
            "mcp_status" => match ground.chance.below(4) {
                0 => {}
                1 => self.respond(line, Err("not now".to_owned())),
                2 => self.respond(line, Ok(json!({"mcpServers": 7}))),
                _ => self.respond(line, Ok(speech::servers())),
            },
            "get_hooks_listing" if ground.chance.one_in(2) => {
                self.respond(line, Err("Unsupported control request subtype".to_owned()));
            }
            "get_hooks_listing" => self.respond(line, Ok(json!({"hooks": []}))),
            "mcp_reconnect" | "mcp_toggle" | "reload_plugins" => match ground.chance.below(3) {
                0 => {}
                1 => self.respond(line, Err("Connection closed".to_owned())),
                _ => self.respond(line, Ok(json!({"plugins": [], "error_count": 1}))),
            },
            "stop_task" if ground.chance.one_in(3) => {
                self.respond(line, Err("it is not to be stopped".to_owned()));
            }
            "stop_task" => {
                let task_id = request["task_id"].as_str().unwrap().to_owned();
                self.respond(line, Ok(json!({})));
                self.say(speech::task_stopped(task_id));
            }
            "generate_session_title" => {
                let title = if ground.chance.one_in(3) { json!(null) } else { json!("Made") };
                self.respond(line, Ok(json!({ "title": title })));
            }
            other => panic!("the machine asked for {other}"),
        }
    }

    fn interrupted(&mut self, line: &Value, ground: &mut Ground<'_>) {
        if self.habits.deaf_to_interrupt {
            if ground.chance.one_in(2) {
                self.respond(line, Ok(json!({"still_queued": []})));
            }
            return;
        }
        if self.habits.denies_interrupt {
            // It always claims that no prompt has begun.
            let turn = self.turn.iter().flat_map(|turn| turn.prompts.iter());
            let queued: Vec<&String> = turn.chain(&self.waiting).collect();
            let reply = Ok(json!({"still_queued": queued}));
            return self.respond(line, reply);
        }
        let mut still_queued: Vec<&str> = self.waiting.iter().map(String::as_str).collect();
        let is_begun = self.turn.as_ref().is_some_and(|turn| turn.begun);
        if let Some(turn) = self.turn.as_ref().filter(|turn| !turn.begun) {
            // The interrupt arrived directly after the prompt, and ends nothing.
            still_queued.extend(turn.prompts.iter().map(String::as_str));
        }
        let reply = Ok(json!({"still_queued": still_queued}));
        for (request_id, _) in std::mem::take(&mut self.asking) {
            self.take_back(request_id);
        }
        self.respond(line, reply);
        if is_begun {
            self.end(End::Aborted, ground);
        }
    }

    fn answered(&mut self, line: &Value, ground: &mut Ground<'_>) {
        let response = &line["response"];
        let id = response["request_id"].as_str().unwrap();
        let Some(at) = self.asking.iter().position(|(known, _)| known == id) else { return };
        let (id, request) = self.asking.remove(at);
        self.closed.push(id);
        let answer = &response["response"];
        if answer["behavior"] == "allow" {
            let ends_plan =
                matches!(&request, AgentRequest::Tool(request) if request.tool_name == "ExitPlanMode");
            let sets = answer["updatedPermissions"][0]["mode"].as_str();
            // Sometimes a mode that `set_permission_mode` cannot request.
            let next = if ground.chance.one_in(4) { "manual" } else { "default" };
            if let Some(mode) = sets.or(ends_plan.then_some(next)) {
                self.mode = mode.to_owned();
                self.mode_told = true;
                let status = speech::mode_changed(mode);
                self.say(status);
            }
        }
        if self.turn.is_none() {
            return;
        }
        if answer["interrupt"] == true {
            for (request_id, _) in std::mem::take(&mut self.asking) {
                self.take_back(request_id);
            }
            self.end(End::Aborted, ground);
        } else {
            self.state("running");
        }
    }
}

/// How a turn ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    Done,
    Failed,
    Aborted,
}

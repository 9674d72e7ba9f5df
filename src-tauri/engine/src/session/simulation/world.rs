//! The environment of one session: the agent, the disk, the timers, the user, and an app that can crash at any moment.

use super::acp_child::AcpChild;
use super::child::{AgentDisk, Ground, Habits, Out, SimulatedChild, resolved};
use super::fault::Fault;
use super::process::SimulatedProcess;
use super::rules::{Phase, RuleResult, Rules, Scene, describe, hold};
use super::seen::SeenKinds;
use super::user::{self, SimulatedUser};
use super::windows::SimulatedWindows;
use crate::acp::ChosenAgent;
use crate::agent::AgentEvent;
use crate::api::*;
use crate::chance::Chance;
use crate::launch::{Start, StartMode};
use crate::rewind::{self, Copied, Done, UndoFault, Undone, Work};
use crate::session::core::{Action, Core};
use crate::session::machine::{Effect, Input, SavedSession, Timeouts, Timer};
use crate::transcript::TranscriptEvent;
use crate::transcript::{Transcript, TranscriptChange};
use crate::wire;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

/// The session record on disk.
#[derive(Default)]
struct Disk {
    memory: SavedSession,
    is_full: bool,
    /// The content of the disk is known: no failed write has replaced it.
    is_certain: bool,
    /// The last save succeeded, and the app has not crashed since.
    is_synced: bool,
}

pub struct World {
    chance: Chance,
    now: u64,
    timeouts: Timeouts,
    core: Core,
    windows: SimulatedWindows,
    child: Option<Box<dyn SimulatedProcess>>,
    agent_disk: AgentDisk,
    /// The agent, if it speaks ACP.
    acp: Option<ChosenAgent>,
    disk: Disk,
    timers: BTreeMap<Timer, u64>,
    user: SimulatedUser,
    rules: Rules,
    fault: Option<Fault>,
    /// No more faults; the user only answers requests.
    is_calm: bool,
    /// The session ends as soon as it is idle.
    is_finishing: bool,
    /// Request ids that the previous process received and never answered.
    ghosts: Vec<String>,
    pub n_steps: u64,
    pub seen: SeenKinds,
    /// The last inputs and effects, if they are recorded.
    pub trace: Option<VecDeque<String>>,
}

/// A session as it is opened after a start of the app.
fn opened(memory: SavedSession, timeouts: Timeouts, now: u64) -> Core {
    let mut core = Core::new(memory, timeouts, Transcript::new(Path::new("/project")), now);
    core.take_over(now);
    core
}

impl World {
    pub fn new(seed: u64, acp: Option<ChosenAgent>, fault: Option<Fault>) -> Self {
        let mut chance = Chance::new(seed);
        let hibernate_ms = *chance.pick(&[0, 60_000, 30 * 60_000]).unwrap();
        let timeouts = Timeouts { hibernate_ms, ..Timeouts::default() };
        let mut rules = Rules::new(&timeouts);
        // One session in four starts with a saved conversation.
        let mut agent_disk = AgentDisk::default();
        let mut memory = SavedSession { acp: acp.clone(), ..SavedSession::default() };
        if chance.one_in(4) {
            memory.agent_session_id = Some("past".to_owned());
            memory.resumable = true;
            rules.process.remember(&memory);
            if !chance.one_in(3) {
                agent_disk.conversations.insert("past".to_owned());
            }
        }
        let now = 1_700_000_000_000;
        let core = opened(memory.clone(), timeouts.clone(), now);
        Self {
            chance,
            now,
            windows: SimulatedWindows::open(core.transcript()),
            core,
            timeouts,
            child: None,
            agent_disk,
            acp,
            disk: Disk { memory, is_full: false, is_certain: true, is_synced: true },
            timers: BTreeMap::new(),
            user: SimulatedUser::default(),
            rules,
            fault,
            is_calm: false,
            is_finishing: false,
            ghosts: Vec::new(),
            n_steps: 0,
            seen: SeenKinds::nothing(),
            trace: None,
        }
    }

    fn tell(&mut self, words: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            let mut line = format!("{:>10.3} s  {}", (self.now - 1_700_000_000_000) as f64 / 1000.0, words());
            if line.len() > 240 {
                line = line.chars().take(240).collect();
            }
            trace.push_back(line);
            if trace.len() > 40 {
                trace.pop_front();
            }
        }
    }

    // --- the next event --------------------------------------------------------------------------------------

    /// Makes one random event happen.
    pub fn tick(&mut self) -> RuleResult {
        let due = self.due();
        if due.is_none() {
            self.now += self.chance.below(20);
        }
        match self.chance.below(100) {
            0..30 => {
                if let Some(timer) = due {
                    self.fire(timer)?;
                }
            }
            30..65 => self.hear()?,
            65..89 => self.child_acts(),
            89..94 => {
                let input = self.user.act(&mut self.chance, &self.rules);
                self.step(input, &[])?;
            }
            94..98 if due.is_none() => self.time_passes(),
            98 if self.disk.is_full => self.disk.is_full = false,
            98 => self.disk.is_full = self.chance.one_in(40),
            99 if self.chance.one_in(4) => {
                self.seen.saw("a window that scrolls");
                self.windows.scroll(&mut self.chance, self.core.transcript());
            }
            99 if self.chance.one_in(40) => {
                // The agent's own store is cleaned up.
                self.agent_disk.conversations.clear();
            }
            _ => {}
        }
        Ok(())
    }

    fn due(&self) -> Option<Timer> {
        self.timers.iter().find(|(_, at)| **at <= self.now).map(|(timer, _)| *timer)
    }

    fn fire(&mut self, timer: Timer) -> RuleResult {
        self.timers.remove(&timer);
        self.seen.saw(match timer {
            Timer::Initialize => "an agent that does not answer",
            Timer::Interrupt => "an interrupt ignored",
            Timer::Switch => "a change that is not confirmed",
            Timer::Context | Timer::Configuration | Timer::ConfigurationChange => {
                "a report of the context that does not come"
            }
            Timer::Side => "a side question without an answer",
            Timer::Rewind => "an agent that does not answer",
            Timer::Stop => "a stage of the ladder",
            Timer::Restart => "a restart",
            Timer::Reset => "a look for the reset of a limit",
            Timer::Hibernate => "the end of patience with an idle agent",
        });
        self.step(Input::Timer(timer), &[])
    }

    /// Processes the next output of the process.
    fn hear(&mut self) -> RuleResult {
        let Some(out) = self.child.as_mut().and_then(|child| child.hear()) else { return Ok(()) };
        match out {
            Out::Line { inbound, ended } => {
                match &inbound {
                    AgentEvent::TurnEnded(result) if result.session_id.is_none() => {
                        self.seen.saw("a conversation that is gone");
                    }
                    AgentEvent::Stream(_) => self.seen.saw("a reply in pieces"),
                    AgentEvent::Assistant(assistant) if !assistant.message.content.is_empty() => {
                        self.seen.saw("a reply at once");
                    }
                    _ => {}
                }
                self.step(Input::Line(inbound), &ended)
            }
            Out::StdinBroken(problem) => {
                self.seen.saw("a broken pipe");
                self.step(Input::StdinBroken(problem), &[])
            }
            Out::Exited(report) => {
                self.seen.saw("an exit");
                if let Some(child) = self.child.take() {
                    self.ghosts = child.unanswered().to_vec();
                }
                self.step(Input::Exited(report), &[])
            }
        }
    }

    fn has_words(&self) -> bool {
        self.child.as_ref().is_some_and(|child| child.has_words())
    }

    fn child_acts(&mut self) {
        if let Some(child) = &mut self.child {
            let mut ground = Ground { chance: &mut self.chance, now: self.now, disk: &mut self.agent_disk };
            child.act(&mut ground);
        }
    }

    /// Advances the clock by a random moment, or to the next due time.
    fn time_passes(&mut self) {
        let timer = self.timers.values().min().copied();
        let pause = self.child.as_ref().and_then(|child| child.pauses_until(self.now));
        let next = timer.into_iter().chain(pause).min();
        let moment = self.now + self.chance.below(3_000);
        let at = if self.chance.one_in(2) { next.unwrap_or(moment) } else { moment };
        self.now = timer.map_or(at, |timer| at.min(timer)).max(self.now);
    }

    // --- a step, as the actor makes it -----------------------------------------------------------------------

    fn step(&mut self, input: Input, ended: &[PromptId]) -> RuleResult {
        let mut inputs = VecDeque::from([input]);
        loop {
            let Some(cause) = inputs.pop_front().or_else(|| self.core.follow_up()) else { break };
            self.finishing(&cause)?;
            self.n_steps += 1;
            self.tell(|| format!("<- {cause:?}"));
            let scene = Scene { now: self.now, cause: &cause, ended, ends_process: false };
            if self.rules.prompts.ends_turn(&cause) {
                self.seen.saw("a prompt that goes now");
            }
            self.rules.input(&scene)?;
            let effects = self.effects(&cause);
            let ends_process = effects.contains(&Effect::CloseStdin);
            let scene = Scene { ends_process, ..scene };
            for effect in effects {
                // The core carries out one effect at a time, so that the app can crash before the next.
                if !self.is_calm && self.chance.one_in(1500) {
                    return self.app_crashes();
                }
                self.tell(|| format!("   -> {effect:?}"));
                let line = match &effect {
                    Effect::Write(command) => serde_json::from_str::<Value>(&wire::line(command)).ok(),
                    _ => None,
                };
                self.rules.effect(&scene, &effect, line.as_ref())?;
                self.see(&cause, &effect);
                self.core.effects().push_back(effect);
                while let Some(action) = self.core.next_action() {
                    inputs.extend(self.carry_out(&cause, action, line.as_ref())?);
                }
            }
            self.rules.end_of_step(&scene, self.core.machine())?;
        }
        for change in self.core.drain_changes() {
            self.publish(change);
        }
        self.settled()
    }

    /// A session that finishes is stopped when nothing is left to do.
    fn finishing(&mut self, cause: &Input) -> RuleResult {
        if self.is_finishing && matches!(cause, Input::Command(Command::Stop)) {
            let next = self.rules.prompts.next();
            hold!(next.is_none(), Stop, "{next:?} waits, and the session finishes");
            hold!(self.rules.turns.running.is_none(), Stop, "a turn runs, and the session finishes");
        }
        Ok(())
    }

    fn publish(&mut self, change: TranscriptChange) {
        if !self.fault.is_some_and(|fault| fault.loses(&change)) {
            self.windows.publish(change, self.core.transcript());
        }
    }

    fn effects(&mut self, cause: &Input) -> Vec<Effect> {
        let Some(fault) = self.fault else {
            self.core.step(self.now, cause.clone());
            return self.core.effects().drain(..).collect();
        };
        if let Some(effects) = fault.swallows(cause) {
            return effects;
        }
        let cause = &fault.changed(cause);
        let waiting = self
            .core
            .machine()
            .prompts()
            .filter(|prompt| !prompt.held)
            .nth(1)
            .map(|prompt| prompt.id.clone());
        self.core.step(self.now, cause.clone());
        let mut effects: Vec<Effect> = self.core.effects().drain(..).collect();
        if let Some(id) = fault.forgets(cause, &effects) {
            self.core.machine_mut().step(self.now, Input::Command(Command::Withdraw { prompt_id: id }));
        }
        if fault == Fault::ForgetChange {
            self.core.take_changed();
        }
        for line in fault.pretended(&effects) {
            effects.extend(self.core.machine_mut().step(self.now, Input::Line(line)));
        }
        fault.tamper(self.now, cause, waiting, &mut effects);
        effects
    }

    fn carry_out(
        &mut self,
        cause: &Input,
        action: Action,
        line: Option<&Value>,
    ) -> Result<Option<Input>, super::rules::Violation> {
        match action {
            Action::Spawn(start) => return Ok(Some(self.spawn(&start))),
            Action::Write(command) => {
                if line.and_then(|line| line["uuid"].as_str()).is_some_and(|name| name.contains('.')) {
                    self.seen.saw("a prompt under another name");
                }
                let taken = self.child.as_mut().is_some_and(|child| child.write(&command, &mut self.chance));
                if !taken {
                    self.seen.saw("a failed write");
                    return Ok(Some(Input::StdinBroken("its stdin is closed".to_owned())));
                }
            }
            Action::CloseStdin => self.child.iter_mut().for_each(|child| child.close_stdin()),
            Action::Terminate => {
                if let Some(child) = &mut self.child {
                    let Habits { deaf_to_interrupt, denies_interrupt, .. } = *child.habits();
                    let is_deaf = deaf_to_interrupt || denies_interrupt || !child.is_visibly_busy();
                    let obeys = !is_deaf && child.is_caught_up(self.now);
                    let is_unjust = obeys && matches!(cause, Input::Timer(Timer::Interrupt));
                    hold!(!is_unjust, Turns, "an agent is ended that did as it was told");
                    child.terminate();
                }
            }
            Action::Kill => {
                self.seen.saw("a kill");
                self.child.iter_mut().for_each(|child| child.kill());
            }
            Action::Arm { timer, at } => {
                self.timers.insert(timer, at);
            }
            Action::Disarm(timer) => {
                self.timers.remove(&timer);
            }
            Action::Save(prompt) => return self.save(prompt),
            Action::Publish(change) => self.publish(change),
            Action::Rewind(work) => return Ok(self.rewind_worked(work)),
            Action::Append(_) | Action::Keep(_) | Action::Refuse(_) => {}
        }
        Ok(None)
    }

    /// Counts what the effect shows.
    fn see(&mut self, cause: &Input, effect: &Effect) {
        match effect {
            Effect::Emit(Event::Rewound { text, .. }) => {
                self.seen.saw(if text.is_some() { "a conversation rewound" } else { "files rewound" });
            }
            Effect::Emit(Event::TurnStarted { prompt_ids }) if prompt_ids.len() > 1 => {
                self.seen.saw("prompts that made the next turn");
            }
            Effect::Emit(Event::TurnEnded { turn }) if turn.prompt_ids.len() > 1 => {
                self.seen.saw("a turn of several prompts");
            }
            Effect::Emit(Event::TurnEnded { turn }) => self.seen.saw(match turn.outcome {
                Outcome::Done if turn.prompt_ids.is_empty() => "a turn that nobody asked for",
                Outcome::Done => "a turn done",
                Outcome::Interrupted => "a turn interrupted",
                Outcome::Crashed => "a turn cut off",
                _ => "a turn failed",
            }),
            Effect::Emit(Event::PermissionResolved { resolution, .. }) => self.seen.saw(match resolution {
                Resolution::Allowed { always: Some(_) } => "a rule kept",
                Resolution::Allowed { always: None } => "a request allowed",
                Resolution::Denied { .. } => "a request denied",
                Resolution::Answered => "a question answered",
                Resolution::Withdrawn { .. } => "a request withdrawn",
            }),
            Effect::TranscriptEvent(TranscriptEvent::PromptState { state: PromptState::Held, .. })
                if matches!(cause, Input::Line(AgentEvent::PromptState { .. })) =>
            {
                self.seen.saw("a prompt given back");
            }
            _ => {}
        }
    }

    fn spawn(&mut self, start: &Start) -> Input {
        if !self.is_calm && self.chance.one_in(25) {
            self.seen.saw("a failed start");
            let message = "The agent could not be started".to_owned();
            return Input::SpawnFailed(CommandError { code: ErrorCode::SpawnFailed, message, detail: None });
        }
        if start.mode == Some(StartMode::WithoutAsking) {
            self.seen.saw("a process that asks nothing");
        }
        self.seen.saw(if start.resume.is_some() { "a resumed start" } else { "a fresh start" });
        let habits = Habits::draw(&mut self.chance);
        let habits = if self.is_calm { habits.calm() } else { habits };
        let mut ground = Ground { chance: &mut self.chance, now: self.now, disk: &mut self.agent_disk };
        let ghosts = std::mem::take(&mut self.ghosts);
        self.child = Some(match self.acp.clone() {
            None => Box::new(SimulatedChild::new(start, habits, ghosts, &mut ground)),
            Some(agent) => Box::new(AcpChild::new(agent, start, habits, ground.now)),
        });
        Input::Spawned
    }

    fn save(&mut self, prompt: Option<PromptId>) -> Result<Option<Input>, super::rules::Violation> {
        let memory = self.core.memory();
        self.rules.prompts.saving(&memory)?;
        if self.fault == Some(Fault::ForgetSave) && prompt.is_some() {
            return Ok(prompt.map(Input::Saved));
        }
        if !self.disk.is_full {
            self.disk.memory = memory;
            self.disk.is_certain = true;
            self.disk.is_synced = true;
            self.rules.prompts.saved_well();
            return Ok(prompt.map(Input::Saved));
        }
        self.seen.saw("a failed save");
        self.disk.is_synced = false;
        if self.chance.one_in(4) {
            // The record was written, but the write was not confirmed.
            self.disk.memory = memory;
            self.disk.is_certain = false;
        }
        Ok(prompt.map(|id| Input::SaveFailed(id, "the disk is full".to_owned())))
    }

    /// The app and its agent die; the app restarts from the record on disk.
    fn app_crashes(&mut self) -> RuleResult {
        self.tell(|| "-- the app crashes --".to_owned());
        self.seen.saw("a crash of the app");
        self.child = None;
        self.ghosts.clear();
        self.timers.clear();
        self.now += self.chance.below(3_600_000);
        let text = serde_json::to_string(&self.disk.memory).unwrap();
        let memory: SavedSession = serde_json::from_str(&text).unwrap();
        self.rules.restarted(&memory, self.disk.is_certain, &self.timeouts)?;
        self.core = opened(memory, self.timeouts.clone(), self.now);
        self.windows = SimulatedWindows::open(self.core.transcript());
        self.disk.is_synced = false;
        self.settled()
    }

    /// Compares the machine with the model after an input and everything that followed from it.
    fn settled(&mut self) -> RuleResult {
        self.rules.settled(self.now, self.core.machine(), &self.timers)?;
        self.windows.check(self.core.transcript())?;
        if self.disk.is_synced && self.n_steps.is_multiple_of(4) {
            let mut memory = self.core.memory();
            // A crash resets these two fields, so they are not compared: every prompt comes back as held.
            memory.prompts.iter_mut().zip(&self.disk.memory.prompts).for_each(|(now, then)| {
                now.held = then.held;
                now.sends_at = then.sends_at;
                now.delivery = then.delivery;
            });
            hold!(
                memory == self.disk.memory,
                Disk,
                "on disk is\n{:?}\nand not\n{memory:?}",
                self.disk.memory
            );
        }
        if self.n_steps.is_multiple_of(64) {
            self.windows.check_whole(self.core.transcript())?;
        }
        let is_shown = self.n_steps.is_multiple_of(16);
        if is_shown {
            self.rules.shown(&mut self.core)?;
        }
        if let Some(child) = &self.child
            && self.rules.process.phase == Phase::Ready
            && child.is_caught_up(self.now)
        {
            match &self.rules.turns.running {
                Some(ids) => hold!(child.is_busy(), Turns, "the turn of {ids:?} runs on without the agent"),
                None => hold!(!child.is_visibly_busy(), Turns, "the agent works, and nobody sees it"),
            }
            if is_shown {
                let session = describe(&self.core);
                if let Some(mode) = child.reported_mode() {
                    hold!(session.mode == mode, Facts, "the mode is {mode}, shown is {}", session.mode);
                }
                if let Some(reported) = child.reported_model() {
                    let model = session.model.as_deref().map(resolved);
                    hold!(
                        model.as_deref() == Some(reported),
                        Facts,
                        "the model is {reported}, shown is {model:?}"
                    );
                }
            }
        }
        Ok(())
    }

    // --- the end of a lifetime -------------------------------------------------------------------------------

    /// Stops the session in any state; the process must end within the timeouts.
    pub fn stop(&mut self) -> RuleResult {
        let (began, crashes) = (self.now, self.seen.times("a crash of the app"));
        self.step(Input::Command(Command::Stop), &[])?;
        for _ in 0..10_000 {
            if self.child.is_none() {
                let limit = self.timeouts.end_of_input_ms + self.timeouts.terminate_ms;
                let took = self.now - began;
                let app_crashed = self.seen.times("a crash of the app") != crashes;
                hold!(took <= limit + 5_000 || app_crashed, Stop, "it took {took} ms to stop");
                self.rules.shown(&mut self.core)?;
                hold!(
                    !self.core.is_alive() && self.core.machine().is_idle(),
                    Stop,
                    "a stopped session is not at rest"
                );
                return Ok(());
            }
            match self.due() {
                Some(timer) => self.fire(timer)?,
                None if !self.has_words() && self.chance.one_in(3) => self.time_passes(),
                None => self.child_acts(),
            }
            self.hear()?;
        }
        hold!(false, Stop, "the process does not end");
        Ok(())
    }

    /// Removes all faults and lets the user only answer: everything must finish, and the session must become idle.
    pub fn calm_down(&mut self) -> RuleResult {
        self.is_calm = true;
        self.disk.is_full = false;
        if let Some(child) = &mut self.child {
            child.become_calm();
        }
        if self.chance.one_in(3) {
            self.finish()?;
        }
        for _ in 0..20_000 {
            let has_work = self
                .child
                .as_ref()
                .is_some_and(|child| child.pauses_until(self.now).is_none() && child.has_work());
            if let Some(timer) = self.due() {
                self.fire(timer)?;
            } else if self.has_words() {
                self.hear()?;
            } else if let Some((id, _)) = self.rules.requests.open.first() {
                let request_id = id.clone();
                let decision = user::decision(&mut self.chance, &request_id);
                let shown = self.rules.requests.shown(&request_id);
                let command = Command::Decide { request_id, shown, decision };
                self.step(Input::Command(command), &[])?;
            } else if has_work {
                self.child_acts();
            } else if let Some(at) = self
                .timers
                .values()
                .copied()
                .chain(self.child.as_ref().and_then(|child| child.pauses_until(self.now)))
                .min()
            {
                self.now = at.max(self.now);
            } else {
                return self.rests();
            }
        }
        hold!(false, Progress, "it does not come to rest");
        Ok(())
    }

    fn rests(&mut self) -> RuleResult {
        self.seen.saw("a session that came to rest");
        let prompts = &self.rules.prompts;
        hold!(prompts.in_flight.is_empty(), Progress, "{:?} never ends", prompts.in_flight);
        hold!(prompts.next().is_none(), Progress, "{:?} never goes", prompts.next());
        hold!(self.core.machine().is_idle(), Progress, "it is not idle, and nothing happens");
        if std::mem::take(&mut self.is_finishing) {
            hold!(self.core.take_ended(), Stop, "it is to finish, and does not end");
        }
        hold!(self.timeouts.hibernate_ms == 0 || self.child.is_none(), Progress, "it never hibernates");
        self.rules.shown(&mut self.core)
    }

    /// No user is left: what is queued runs, requests are denied, then the agent is stopped.
    fn finish(&mut self) -> RuleResult {
        self.seen.saw("a session that finishes");
        self.is_finishing = true;
        match self.fault {
            Some(Fault::FinishTooSoon) => self.core.close(),
            _ => self.core.finish(),
        }
        match self.core.follow_up() {
            Some(input) => self.step(input, &[]),
            None => Ok(()),
        }
    }

    /// The disk of a simulated rewind: it may fail at each step, and nothing is read again.
    fn rewind_worked(&mut self, work: Work) -> Option<Input> {
        let fails = self.chance.one_in(8);
        let fault = || "the disk is full".to_owned();
        let files = || vec!["a".to_owned()];
        Some(Input::RewindWorked(match work {
            Work::Place { .. } if fails => Done::Placed(Err(fault())),
            Work::Place { .. } => Done::Placed(Ok(Some("m".to_owned()))),
            Work::Preview { .. } => Done::Previewed,
            Work::Copy { .. } if fails => Done::Copied(Err(fault())),
            Work::Copy { .. } => Done::Copied(Ok(Copied { n_copied: 1, left_out: Vec::new() })),
            Work::Check { .. } if fails => Done::Checked(Err(fault())),
            Work::Check { .. } => {
                Done::Checked(Ok(rewind::Checked { changed: files(), unexpected: Vec::new() }))
            }
            Work::Undo { overwrite: false, .. } if fails => Done::Undone(Err(UndoFault::Changed(files()))),
            Work::Undo { .. } => {
                self.seen.saw("a rewind of files undone");
                Done::Undone(Ok(Undone { restored: files() }))
            }
            Work::Discard { .. } | Work::Reread => return None,
        }))
    }
}

//! The life of the agent process: start, restart with backoff, and guaranteed shutdown.

use super::*;
use crate::launch::knows_no_restrictions;

/// Signals that end a process because another one sent them, as a user or the kernel without memory does: SIGHUP,
/// SIGINT, SIGKILL and SIGTERM. All others are faults of the process itself.
const SENT_BY_OTHERS: [i32; 4] = [1, 2, 9, 15];

impl Step<'_> {
    pub(super) fn start(&mut self) {
        if self.machine.process == Process::Absent {
            self.spawn();
        }
    }

    pub(super) fn spawn(&mut self) {
        let mode = self.mode_to_start_in();
        self.restart_audit();
        let start = Start {
            resume: self.machine.agent_session_id.clone().filter(|_| self.machine.resumable),
            model: self.machine.wanted_model.clone(),
            mode,
        };
        self.machine.mode = start.mode.map(|mode| mode.name().to_owned());
        self.machine.n_bypass_undone = 0;
        self.machine.control.process_started();
        self.machine.cost.process_starts(start.resume.is_some());
        self.machine.started = start.clone();
        self.machine.fresh = true;
        self.machine.reloads = false;
        self.machine.reports_prompts = false;
        self.machine.start_error = None;
        self.machine.spawned_at = self.now;
        self.machine.spawn_ms = None;
        self.machine.process = Process::Starting;
        self.machine.last_result = LastResult::None;
        self.push(Effect::Spawn(start));
        self.changed();
    }

    pub(super) fn spawn_failed(&mut self, error: CommandError) {
        self.machine.process = Process::Absent;
        self.bypass_over();
        self.machine.last_result = LastResult::Failed(error.message.clone());
        self.notice(Level::Error, error.message.clone(), error.detail.clone());
        self.emit(Event::CommandFailed { error });
        self.hold_queue();
        self.save();
        self.changed();
    }

    pub(super) fn stop(&mut self) {
        self.deny_all("The session was stopped before the user answered.");
        self.hold_queue();
        match self.machine.process {
            Process::Starting | Process::Ready => self.advance_shutdown(AfterExit::Stay),
            Process::Stopping { stage, .. } => {
                self.machine.process = Process::Stopping { stage, after: AfterExit::Stay }
            }
            Process::BackingOff { .. } | Process::Absent => {
                self.push(Effect::Disarm(Timer::Restart));
                self.machine.process = Process::Absent;
                self.machine.last_result = LastResult::Stopped;
            }
        }
        self.save();
        self.changed();
    }

    /// Begins the shutdown: end of input, SIGTERM, SIGKILL.
    pub(super) fn advance_shutdown(&mut self, after: AfterExit) {
        self.withdraw_all("The agent is being stopped.");
        self.push(Effect::Disarm(Timer::Initialize));
        self.push(Effect::Disarm(Timer::Interrupt));
        self.push(Effect::Disarm(Timer::Hibernate));
        self.confirmation_over();
        self.push(Effect::CloseStdin);
        // End of input stops an idle agent; a busy one would work on to the end of its turn.
        let busy = self.machine.turn.is_some() || self.machine.process != Process::Ready;
        let (stage, limit) = if busy {
            self.push(Effect::Terminate);
            (StopStage::Terminate, self.machine.timeouts.terminate_ms)
        } else {
            (StopStage::EndOfInput, self.machine.timeouts.end_of_input_ms)
        };
        self.push(Effect::Arm { timer: Timer::Stop, at: self.now + limit });
        self.machine.process = Process::Stopping { stage, after };
        self.changed();
    }

    /// Returns whether the process accepts input.
    pub(super) fn listens(&self) -> bool {
        matches!(self.machine.process, Process::Starting | Process::Ready)
    }

    pub(super) fn stdin_broken(&mut self, problem: &str) {
        if self.listens() {
            // Its exit usually follows at once. An agent without stdin is of no use, so it is stopped.
            self.notice(
                Level::Warning,
                "The agent closed its input. It is being stopped.",
                Some(problem.to_owned()),
            );
            self.advance_shutdown(AfterExit::Crash);
        }
    }

    pub(super) fn exited(&mut self, mut report: ExitReport) {
        for timer in [Timer::Initialize, Timer::Interrupt, Timer::Stop, Timer::Hibernate] {
            self.push(Effect::Disarm(timer));
        }
        self.confirmation_over();
        for asked in self.machine.control.process_ended() {
            if let PendingRequest::Model(model) = asked {
                // The agent exited without an answer: the next process is started with this model.
                self.machine.model = None;
                self.machine.wanted_model = Some(model);
            }
        }
        self.machine.background.process_ended();
        self.bypass_over();
        self.end_audit();
        self.withdraw_all("The agent's process ended.");
        let was_ready = self.machine.process != Process::Starting;
        let after = match std::mem::replace(&mut self.machine.process, Process::Absent) {
            Process::Stopping { after, .. } => after,
            _ => AfterExit::Crash,
        };
        let cannot_resume = self.machine.started.resume.is_some() && self.machine.agent_session_id.is_none();
        report.expected = after != AfterExit::Crash || cannot_resume;
        self.note(TranscriptEvent::ProcessEnded);
        self.emit(Event::AgentExited { report: report.clone() });
        self.changed();

        let words = match after {
            AfterExit::Stay => "Stopped".to_owned(),
            AfterExit::Restart => "The agent did not respond and was stopped".to_owned(),
            AfterExit::Hibernate => "The agent stopped".to_owned(),
            AfterExit::Crash => self.exit_words(&report, was_ready),
        };
        self.cut_off(after, &words);
        match after {
            AfterExit::Stay => self.machine.last_result = LastResult::Stopped,
            AfterExit::Restart => self.machine.last_result = LastResult::Failed(words),
            AfterExit::Hibernate if self.machine.reloads => self.spawn(),
            AfterExit::Hibernate => {}
            AfterExit::Crash if cannot_resume => {
                // The next conversation is a new one: prompts for this one must not go there.
                self.hold_queue();
                self.machine.last_result =
                    LastResult::Failed("The agent no longer has this conversation".to_owned());
            }
            AfterExit::Crash if knows_no_restrictions(&report.stderr) => self.spawn_failed(CommandError {
                code: ErrorCode::SpawnFailed,
                message:
                    "This version of Claude Code cannot be prevented from loading settings that you did \
                          not trust. Update Claude Code."
                        .to_owned(),
                detail: Some(report.stderr.clone()),
            }),
            AfterExit::Crash => self.crashed(&report, words),
        }
        // Starts what was requested during the shutdown.
        self.advance();
        self.save();
    }

    pub(super) fn crashed(&mut self, report: &ExitReport, words: String) {
        let detail = Some(report.stderr.clone()).filter(|stderr| !stderr.is_empty());
        self.notice(Level::Error, words.clone(), detail);
        self.machine.last_result = LastResult::Failed(words.clone());
        self.machine.crashes.retain(|at| at + CRASH_SPAN_MS > self.now);
        self.machine.crashes.push(self.now);
        let n_crashes = self.machine.crashes.len();
        if self.machine.queue.is_held() {
            // No prompt waits: the next one starts the agent again.
        } else if n_crashes >= CRASHES {
            self.hold_queue();
            self.machine.last_result =
                LastResult::Failed(format!("{words}. Deskbell tried {n_crashes} times."));
            self.machine.crashes.clear();
        } else {
            let attempt = n_crashes as u32;
            let at = self.now + (1000 << (attempt - 1));
            self.machine.process = Process::BackingOff { attempt, at };
            self.push(Effect::Arm { timer: Timer::Restart, at });
        }
    }

    /// What to call an exit that Deskbell did not ask for. `was_ready`: the agent had answered before.
    fn exit_words(&self, report: &ExitReport, was_ready: bool) -> String {
        let how = match (report.code, report.signal) {
            (_, Some(signal)) if SENT_BY_OTHERS.contains(&signal) => format!("was killed (signal {signal})"),
            (_, Some(signal)) => format!("crashed (signal {signal})"),
            (Some(0), None) if !was_ready && self.machine.start_error.is_none() => {
                return "This program did not answer like Claude Code. Choose another one in the settings"
                    .to_owned();
            }
            (Some(code), None) => format!("stopped unexpectedly (exit code {code})"),
            (None, None) => "stopped unexpectedly".to_owned(),
        };
        let why = self.machine.start_error.clone().or_else(|| {
            let last = report.stderr.lines().rev().find(|line| !line.trim().is_empty());
            last.map(|line| line.trim().chars().take(300).collect())
        });
        match why {
            Some(why) => format!("The agent {how}: {why}"),
            None => format!("The agent {how}"),
        }
    }

    pub(super) fn timer(&mut self, timer: Timer) {
        match (timer, &self.machine.process) {
            (Timer::Initialize, Process::Starting) => {
                let seconds = self.machine.timeouts.initialize_ms / 1000;
                self.notice(
                    Level::Error,
                    format!(
                        "The agent did not answer within {seconds} s. It is being \
                                                   stopped."
                    ),
                    None,
                );
                self.hold_queue();
                self.advance_shutdown(AfterExit::Restart);
            }
            (Timer::Interrupt, Process::Ready)
                if self.machine.turn.as_ref().is_some_and(Turn::is_interrupting) =>
            {
                self.notice(Level::Warning, "The agent ignored the interrupt. It is being stopped.", None);
                self.advance_shutdown(AfterExit::Restart);
            }
            (Timer::Switch, Process::Ready) => self.not_confirmed(),
            (Timer::Stop, Process::Stopping { stage, after }) => {
                let after = *after;
                let (effect, stage, limit) = match stage {
                    StopStage::EndOfInput => {
                        (Effect::Terminate, StopStage::Terminate, Some(self.machine.timeouts.terminate_ms))
                    }
                    StopStage::Terminate => (Effect::Kill, StopStage::Kill, None),
                    StopStage::Kill => return,
                };
                self.push(effect);
                self.machine.process = Process::Stopping { stage, after };
                if let Some(limit) = limit {
                    self.push(Effect::Arm { timer: Timer::Stop, at: self.now + limit });
                }
            }
            (Timer::Restart, Process::BackingOff { .. }) => {
                self.machine.process = Process::Absent;
                self.changed();
                self.advance();
            }
            (Timer::Hibernate, Process::Ready) => {
                let quiet = self.machine.turn.is_none()
                    && self.machine.requests.is_empty()
                    && self.machine.background.count() == 0
                    && self.machine.queue.is_held()
                    && (self.machine.resumable || self.machine.fresh);
                if quiet {
                    self.advance_shutdown(AfterExit::Hibernate);
                } else {
                    self.arm_hibernation();
                }
            }
            // The timer is obsolete: the event it waited for has happened.
            _ => {}
        }
    }

    /// Restarts the agent at the next idle moment. A stopped agent needs nothing: it reads its settings when it starts.
    pub(super) fn reload(&mut self) {
        if self.listens() {
            self.machine.reloads = true;
            if self.machine.turn.is_none() {
                self.arm_hibernation();
            }
        }
    }

    pub(super) fn arm_hibernation(&mut self) {
        let limit = if self.machine.reloads { RELOAD_MS } else { self.machine.timeouts.hibernate_ms };
        if limit > 0 && self.machine.process == Process::Ready {
            self.push(Effect::Arm { timer: Timer::Hibernate, at: self.now + limit });
        }
    }
}

//! The life of the agent process: start, restart with backoff, and guaranteed shutdown.

use super::parts::spending::Beginning;
use super::*;
use crate::launch::{allowed_by, knows_no_restrictions, unknown_option};

impl Step<'_> {
    pub(super) fn start(&mut self) {
        if self.machine.process.is_absent() {
            self.spawn();
        }
    }

    pub(super) fn spawn(&mut self) {
        let mode = self.mode_to_start_in();
        self.machine.audit.on_spawn(allowed_by(self.machine.options.for_start()));
        let options = self.machine.options.for_start().clone();
        let start = Start { mode, ..self.machine.next_start(options) };
        self.machine.control.process_started();
        self.machine.spending.on_spawn(match (&start.resume, &start.fork) {
            (Some(id), _) => Beginning::Resumed(id),
            (None, Some(_)) => Beginning::Forked,
            (None, None) => Beginning::New,
        });
        self.machine.capabilities.on_spawn();
        self.machine.context.on_spawn();
        self.machine.configuration.on_spawn();
        self.machine.rewind.on_spawn();
        self.machine.side.on_spawn();
        self.machine.process.on_spawn(self.now, start.clone());
        self.machine.last_result.on_spawn();
        self.push(Effect::Spawn(start));
        self.changed();
    }

    pub(super) fn spawn_failed(&mut self, error: CommandError) {
        self.machine.process.on_spawn_failed();
        self.machine.mode.on_exit();
        self.machine.last_result.failed(&error.message);
        self.notice(Level::Error, error.message.clone(), error.detail.clone());
        let problem = error.message.clone();
        self.emit(Event::CommandFailed { error });
        self.hold_queue();
        // After the queue is held, because prompts wait for the end of a rewind.
        self.no_answer(problem.clone());
        self.side_fails(&problem);
        self.save();
        self.changed();
    }

    pub(super) fn stop(&mut self) {
        self.deny_all("The session was stopped before the user answered.");
        self.hold_queue();
        match self.machine.process.on_stop() {
            Stop::ShutDown => self.advance_shutdown(AfterExit::Stay),
            Stop::Underway => {}
            Stop::NoProcess => {
                self.push(Effect::Disarm(Timer::Restart));
                self.machine.last_result.stopped();
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
        let is_in_turn = self.machine.turn.is_some();
        let Machine { process, timeouts, .. } = &mut *self.machine;
        self.effects.extend(process.shut_down(self.now, after, is_in_turn, timeouts));
        self.changed();
    }

    /// Returns whether the process accepts input.
    pub(super) fn listens(&self) -> bool {
        self.machine.process.listens()
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
                self.machine.options.on_model_for_start(model);
            }
        }
        self.context_process_ended();
        self.side_fails("The agent stopped before it answered.");
        self.configuration_process_ended();
        self.machine.background.process_ended();
        self.machine.schedules.process_ended();
        self.machine.requests.process_ended();
        self.machine.naming.on_exit();
        self.machine.mode.on_exit();
        self.machine.audit.on_exit();
        self.withdraw_all("The agent's process ended.");
        let (state, after) = self.machine.process.on_exit();
        self.past_process_ended(after == AfterExit::Stay);
        let was_ready = state != ProcessState::Starting;
        let cannot_resume =
            self.machine.process.started().resume.is_some() && self.machine.conversation.id().is_none();
        let could_start = self.machine.process.why_not_started().is_none();
        report.expected = after != AfterExit::Crash || cannot_resume || !could_start;
        self.note(TranscriptEvent::ProcessEnded);
        self.emit(Event::AgentExited { report: report.clone() });
        self.changed();

        let words = match after {
            AfterExit::Stay => "Stopped".to_owned(),
            AfterExit::Restart => "The agent did not respond and was stopped".to_owned(),
            AfterExit::Hibernate => "The agent stopped".to_owned(),
            AfterExit::Crash => {
                let agent = self.machine.acp.as_ref().map(ChosenAgent::name);
                self.machine.process.exit_words(&report, was_ready, agent.as_deref())
            }
        };
        self.cut_off(after, &words);
        match after {
            AfterExit::Stay => self.machine.last_result.stopped(),
            AfterExit::Restart => self.machine.last_result.failed(&words),
            AfterExit::Hibernate if self.machine.process.reloads() => self.spawn(),
            AfterExit::Hibernate => {}
            AfterExit::Crash if cannot_resume => {
                // The next conversation is a new one: prompts for this one must not go there.
                self.hold_queue();
                self.machine.last_result.failed("The agent no longer has this conversation");
            }
            AfterExit::Crash if self.machine.process.why_not_started().is_some() => {
                let words = self.machine.process.why_not_started().unwrap_or_default().to_owned();
                self.machine.last_result.failed(&words);
            }
            AfterExit::Crash if knows_no_restrictions(&report.stderr) => self.spawn_failed(CommandError {
                code: ErrorCode::SpawnFailed,
                message:
                    "This version of Claude Code cannot be prevented from loading settings that you did \
                          not trust. Update Claude Code."
                        .to_owned(),
                detail: Some(report.stderr.clone()),
            }),
            AfterExit::Crash if self.does_not_know(&report.stderr).is_some() => {
                let argument = self.does_not_know(&report.stderr).unwrap_or_default();
                let version = "This version of Claude Code does not know the argument";
                self.spawn_failed(CommandError {
                    code: ErrorCode::SpawnFailed,
                    message: format!(
                        "{version} {argument}. Remove it from the session's options, or update Claude Code."
                    ),
                    detail: Some(report.stderr.clone()),
                });
            }
            AfterExit::Crash => self.crashed(&report, words),
        }
        self.rewind_process_ended();
        // Starts what was requested during the shutdown.
        self.advance();
        self.save();
    }

    /// The argument of the session's options that the agent does not know, as its error output says.
    fn does_not_know(&self, stderr: &str) -> Option<String> {
        unknown_option(&self.machine.process.started().options, stderr)
    }

    pub(super) fn crashed(&mut self, report: &ExitReport, words: String) {
        let detail = Some(report.stderr.clone()).filter(|stderr| !stderr.is_empty());
        self.notice(Level::Error, words.clone(), detail);
        self.machine.last_result.failed(&words);
        let waits = !self.machine.queue.is_held();
        match self.machine.process.on_crash(self.now, waits) {
            AfterCrash::Stay => {}
            AfterCrash::RestartAt(at) => self.push(Effect::Arm { timer: Timer::Restart, at }),
            AfterCrash::GiveUp { n_crashes } => {
                self.hold_queue();
                self.machine.last_result.failed(&format!("{words}. Deskbell tried {n_crashes} times."));
            }
        }
    }

    pub(super) fn timer(&mut self, timer: Timer) {
        match (timer, self.machine.process.state()) {
            (Timer::Initialize, ProcessState::Starting) => {
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
            (Timer::Interrupt, ProcessState::Ready)
                if self.machine.turn.as_ref().is_some_and(RunningTurn::is_interrupting) =>
            {
                self.notice(Level::Warning, "The agent ignored the interrupt. It is being stopped.", None);
                self.advance_shutdown(AfterExit::Restart);
            }
            (Timer::Switch, ProcessState::Ready) => self.not_confirmed(),
            (Timer::Context, _) => self.context_timed_out(),
            (Timer::Configuration, _) => self.configuration_timed_out(),
            (Timer::ConfigurationChange, _) => self.changes_timed_out(),
            (Timer::Reset, _) => self.reset_timer(),
            (Timer::Side, _) => self.side_timed_out(),
            (Timer::Rewind, _) => self.rewind_timed_out(),
            (Timer::Stop, ProcessState::Stopping { .. }) => {
                let Machine { process, timeouts, .. } = &mut *self.machine;
                self.effects.extend(process.on_stop_timer(self.now, timeouts));
            }
            (Timer::Restart, _) if self.machine.process.on_restart_timer() => {
                self.changed();
                self.advance();
            }
            (Timer::Hibernate, ProcessState::Ready) => {
                let quiet = self.machine.turn.is_none()
                    && !self.machine.has_requests()
                    && !self.machine.background.keep_awake(self.now)
                    && !self.machine.schedules.keep_awake(self.now)
                    // Its turn begins with the next line.
                    && !self.machine.schedules.has_begun()
                    && !self.machine.rewind.is_busy()
                    && !self.machine.side.is_any_waiting()
                    && self.machine.queue.is_held()
                    && (self.machine.conversation.is_resumable() || self.machine.process.is_fresh());
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

    pub(super) fn reload(&mut self) {
        if self.machine.process.on_reload() && self.machine.turn.is_none() {
            self.arm_hibernation();
        }
    }

    /// The time counts from now on.
    pub(super) fn hibernate_after(&mut self, after_ms: u64) {
        if std::mem::replace(&mut self.machine.timeouts.hibernate_ms, after_ms) == after_ms {
            return;
        }
        self.push(Effect::Disarm(Timer::Hibernate));
        if self.machine.turn.is_none() {
            self.arm_hibernation();
        }
    }

    pub(super) fn arm_hibernation(&mut self) {
        let after_ms = self.machine.hibernate_ms();
        if let Some(at) = self.machine.process.hibernates_at(self.now, after_ms) {
            self.push(Effect::Arm { timer: Timer::Hibernate, at });
        }
    }
}

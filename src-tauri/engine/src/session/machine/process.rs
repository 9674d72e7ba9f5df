//! The life of the process: started for a reason, restarted with patience, ended for certain.

use super::*;
use crate::launch::knows_no_restrictions;

impl Step<'_> {
    pub(super) fn start(&mut self) {
        if self.machine.process == Process::Absent {
            self.spawn();
        }
    }

    pub(super) fn spawn(&mut self) {
        let mode = self.mode_to_start_in();
        self.watch_anew();
        let start = Start {
            resume: self.machine.agent_session_id.clone().filter(|_| self.machine.resumable),
            model: self.machine.wanted_model.clone(),
            mode,
        };
        self.machine.mode.clone_from(&start.mode);
        self.machine.started = start.clone();
        self.machine.fresh = true;
        self.machine.tells_prompts = false;
        self.machine.start_error = None;
        self.machine.spawned_at = self.now;
        self.machine.spawn_ms = None;
        self.machine.process = Process::Starting;
        self.machine.verdict = Verdict::None;
        self.push(Effect::Spawn(start));
        self.changed();
    }

    pub(super) fn spawn_failed(&mut self, error: CommandError) {
        self.machine.process = Process::Absent;
        self.bypass_over();
        self.machine.verdict = Verdict::Failed(error.message.clone());
        self.notice(Level::Error, error.message.clone(), error.detail.clone());
        self.emit(Event::CommandFailed { error });
        self.hold_queue();
        self.save();
        self.changed();
    }

    pub(super) fn stop(&mut self) {
        self.deny_all("The session was stopped before anybody answered.");
        self.hold_queue();
        match self.machine.process {
            Process::Starting | Process::Ready => self.descend(Then::Stay),
            Process::Stopping { rung, .. } => {
                self.machine.process = Process::Stopping { rung, then: Then::Stay }
            }
            Process::BackingOff { .. } | Process::Absent => {
                self.push(Effect::Disarm(Timer::Restart));
                self.machine.process = Process::Absent;
                self.machine.verdict = Verdict::Stopped;
            }
        }
        self.save();
        self.changed();
    }

    /// Begins the ladder.
    pub(super) fn descend(&mut self, then: Then) {
        self.withdraw_all("The agent is being ended.");
        self.push(Effect::Disarm(Timer::Initialize));
        self.push(Effect::Disarm(Timer::Interrupt));
        self.push(Effect::Disarm(Timer::Hibernate));
        self.push(Effect::CloseStdin);
        // End of input ends an idle agent; a busy one would work on to the end of its turn.
        let busy = self.machine.turn.is_some() || self.machine.process != Process::Ready;
        let (rung, limit) = if busy {
            self.push(Effect::Terminate);
            (Rung::Terminate, self.machine.limits.terminate_ms)
        } else {
            (Rung::EndOfInput, self.machine.limits.end_of_input_ms)
        };
        self.push(Effect::Arm { timer: Timer::Stop, at: self.now + limit });
        self.machine.process = Process::Stopping { rung, then };
        self.changed();
    }

    /// Can anything be written to it?
    pub(super) fn listens(&self) -> bool {
        matches!(self.machine.process, Process::Starting | Process::Ready)
    }

    pub(super) fn stdin_broken(&mut self, problem: &str) {
        if self.listens() {
            // Its exit usually follows at once; one that lives on deaf is of no use.
            self.notice(Level::Warning, "The agent stopped listening.", Some(problem.to_owned()));
            self.descend(Then::Crash);
        }
    }

    pub(super) fn exited(&mut self, mut report: ExitReport) {
        for timer in [Timer::Initialize, Timer::Interrupt, Timer::Stop, Timer::Hibernate] {
            self.push(Effect::Disarm(timer));
        }
        for (_, asked) in std::mem::take(&mut self.machine.asked) {
            if let Asked::Model(model) = asked {
                // It did not come to answer: the next one is started with it.
                self.machine.model = None;
                self.machine.wanted_model = Some(model);
            }
        }
        self.machine.n_background_tasks = 0;
        self.bypass_over();
        self.watch_over();
        self.withdraw_all("The agent's process ended.");
        let then = match std::mem::replace(&mut self.machine.process, Process::Absent) {
            Process::Stopping { then, .. } => then,
            _ => Then::Crash,
        };
        let cannot_resume = self.machine.started.resume.is_some() && self.machine.agent_session_id.is_none();
        report.expected = then != Then::Crash || cannot_resume;
        self.note(Note::ProcessEnded);
        self.emit(Event::AgentExited { report: report.clone() });
        self.changed();

        let words = match then {
            Then::Stay => "Stopped".to_owned(),
            Then::Restart => "The agent did not react, and was ended".to_owned(),
            Then::Hibernate | Then::Crash => self.exit_words(&report),
        };
        self.cut_off(then, &words);
        match then {
            Then::Stay => self.machine.verdict = Verdict::Stopped,
            Then::Restart => self.machine.verdict = Verdict::Failed(words),
            Then::Hibernate => {}
            Then::Crash if cannot_resume => {
                // A fresh conversation is another one: nothing goes there that was not meant for it.
                self.hold_queue();
                self.machine.verdict =
                    Verdict::Failed("The agent does not know this conversation any more".to_owned());
            }
            Then::Crash if knows_no_restrictions(&report.stderr) => self.spawn_failed(CommandError {
                code: ErrorCode::SpawnFailed,
                message:
                    "This version of the agent cannot work without the folder's own settings. Update it, or \
                          trust the folder."
                        .to_owned(),
                detail: Some(report.stderr.clone()),
            }),
            Then::Crash => self.crashed(&report, words),
        }
        // What was asked for while it was being ended.
        self.advance();
        self.save();
    }

    pub(super) fn crashed(&mut self, report: &ExitReport, words: String) {
        let detail = Some(report.stderr.clone()).filter(|stderr| !stderr.is_empty());
        self.notice(Level::Error, words.clone(), detail);
        self.machine.verdict = Verdict::Failed(words.clone());
        self.machine.crashes.retain(|at| at + CRASH_SPAN_MS > self.now);
        self.machine.crashes.push(self.now);
        let n_crashes = self.machine.crashes.len();
        if self.machine.queue.iter().all(|prompt| prompt.held) {
            // Nothing waits for it: the next prompt brings it up again.
        } else if n_crashes >= CRASHES {
            self.hold_queue();
            self.machine.verdict = Verdict::Failed(format!("{words}. It was tried {n_crashes} times."));
            self.machine.crashes.clear();
        } else {
            let attempt = n_crashes as u32;
            let at = self.now + (1000 << (attempt - 1));
            self.machine.process = Process::BackingOff { attempt, at };
            self.push(Effect::Arm { timer: Timer::Restart, at });
        }
    }

    pub(super) fn exit_words(&self, report: &ExitReport) -> String {
        let how = match (report.code, report.signal) {
            (_, Some(signal)) => format!("was ended by signal {signal}"),
            (Some(code), None) => format!("ended with exit code {code}"),
            (None, None) => "ended".to_owned(),
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
                let seconds = self.machine.limits.initialize_ms / 1000;
                self.notice(Level::Error, format!("The agent did not answer within {seconds} s."), None);
                self.hold_queue();
                self.descend(Then::Restart);
            }
            (Timer::Interrupt, Process::Ready)
                if self.machine.turn.as_ref().is_some_and(|turn| turn.interrupting) =>
            {
                self.notice(Level::Warning, "The agent ignored the interrupt and is being ended.", None);
                self.descend(Then::Restart);
            }
            (Timer::Stop, Process::Stopping { rung, then }) => {
                let then = *then;
                let (effect, rung, limit) = match rung {
                    Rung::EndOfInput => {
                        (Effect::Terminate, Rung::Terminate, Some(self.machine.limits.terminate_ms))
                    }
                    Rung::Terminate => (Effect::Kill, Rung::Kill, None),
                    Rung::Kill => return,
                };
                self.push(effect);
                self.machine.process = Process::Stopping { rung, then };
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
                    && self.machine.n_background_tasks == 0
                    && (self.machine.resumable || self.machine.fresh);
                if quiet {
                    self.descend(Then::Hibernate);
                } else {
                    self.arm_hibernation();
                }
            }
            // A timer that was overtaken by what it waited for.
            _ => {}
        }
    }

    pub(super) fn arm_hibernation(&mut self) {
        let limit = self.machine.limits.hibernate_ms;
        if limit > 0 && self.machine.process == Process::Ready {
            self.push(Effect::Arm { timer: Timer::Hibernate, at: self.now + limit });
        }
    }
}

//! Rewinding to a prompt: the files by the agent, from its checkpoints; the conversation by resuming it at the message
//! before the prompt. Each can be undone.

use super::parts::rewind::Stage;
use super::*;
use crate::agent::{Answer, HostRequest, Refused, RewindReport};
use crate::rewind::{Checked, Copied, SavedRewind, UndoFault, Undone, Wish};

/// For an answer of the agent, in milliseconds. 5 to 40 ms were measured with some files.
const ANSWER_MS: u64 = 30_000;

const UNKNOWN: &str = "This agent has no checkpoints of files.";

impl Step<'_> {
    /// Begins a preview or a rewind.
    pub(super) fn rewind(&mut self, job: Job) {
        if matches!(job.wish, Wish::Rewind { files: false, conversation: false }) {
            return self.refuse(ErrorCode::BadCommand, "Choose the files, the conversation or both.");
        }
        let Some(conversation) = self.rewindable() else { return };
        let wire_id = job.wire_id.clone();
        self.machine.rewind.begin(self.now, Some(job.clone()));
        self.changed();
        if let Wish::Rewind { conversation: true, .. } = job.wish {
            // First, so that nothing has changed if the conversation cannot be rewound.
            return self.push(Effect::Rewind(Work::Place { conversation, wire_id }));
        }
        self.ask_files();
    }

    /// Returns the agent's id of the conversation; refuses the command if files or the conversation may be changing.
    fn rewindable(&mut self) -> Option<String> {
        let refusal = if self.machine.rewind.is_busy() {
            "Another rewind is being carried out."
        } else if self.machine.turn.is_some() || !self.machine.queue.is_idle() {
            "The agent is working. Stop it first."
        } else if self.machine.has_requests() {
            "The agent waits for your answer. Answer it first."
        } else if self.machine.background.count() > 0 {
            "Work in the background may change files. Stop it first."
        } else if matches!(
            self.machine.process.state(),
            ProcessState::Stopping { .. } | ProcessState::BackingOff { .. }
        ) {
            "The agent is being stopped or restarted. Try again when that is done."
        } else {
            match self.machine.conversation.id() {
                Some(id) if self.machine.conversation.is_resumable() => return Some(id.to_owned()),
                _ => "The agent has not stored this conversation yet.",
            }
        };
        self.refuse(ErrorCode::BadCommand, refusal);
        None
    }

    /// Asks the agent which files change. Starts its process if necessary.
    fn ask_files(&mut self) {
        if !self.machine.process.is_ready() {
            return self.start();
        }
        if !self.machine.rewind.is_known() {
            return self.files_listed(Err(UNKNOWN.to_owned()));
        }
        self.ask_rewind(Stage::DryRun);
    }

    /// The agent has started.
    pub(super) fn rewind_at_start(&mut self) {
        if self.machine.rewind.waits_for(Stage::Start).is_some_and(|running| running.job.is_some()) {
            self.ask_files();
        }
    }

    fn ask_rewind(&mut self, stage: Stage) {
        let Some(running) = self.machine.rewind.running() else { return };
        let Some(job) = &running.job else { return };
        running.stage = stage;
        let (at, is_dry) = (running.at, stage == Stage::DryRun);
        let request = HostRequest::RewindFiles { uuid: job.wire_id.clone(), is_dry };
        self.ask(PendingRequest::RewindFiles { at, is_dry }, request);
        self.push(Effect::Arm { timer: Timer::Rewind, at: self.now + ANSWER_MS });
    }

    pub(super) fn rewind_answered(&mut self, at: u64, is_dry: bool, outcome: Result<&Answer, &Refused>) {
        let stage = if is_dry { Stage::DryRun } else { Stage::Restore };
        if self.machine.rewind.waits_for(stage).is_none_or(|running| running.at != at) {
            // It came too late.
            return;
        }
        self.push(Effect::Disarm(Timer::Rewind));
        let answer = match outcome {
            Ok(Answer::Rewind(RewindReport { files, problem: None })) => Ok(files.clone()),
            Ok(Answer::Rewind(RewindReport { problem: Some(problem), .. })) if !problem.is_empty() => {
                Err(problem.clone())
            }
            Ok(_) => Err(UNKNOWN.to_owned()),
            Err(refused) if refused.is_unknown => {
                self.machine.rewind.on_unknown();
                Err(UNKNOWN.to_owned())
            }
            Err(refused) => Err(refused.message.clone()),
        };
        if is_dry {
            return self.files_listed(answer);
        }
        if let (Err(problem), Some(running)) = (answer, self.machine.rewind.running()) {
            // The check shows what it did all the same.
            running.warnings.push(format!("The agent reported a problem: {problem}"));
        }
        self.push(Effect::Rewind(Work::Check { at }));
    }

    /// The agent said which files change, or why it cannot rewind them.
    fn files_listed(&mut self, files: Result<Vec<String>, String>) {
        let Some(conversation) = self.machine.conversation.id().map(str::to_owned) else {
            return self.rewind_failed("The conversation is gone.");
        };
        let Some(running) = self.machine.rewind.running() else { return };
        let Some(job) = running.job.clone() else { return };
        let at = running.at;
        match (job.wish, files) {
            (Wish::Preview, files) => {
                self.push(Effect::Rewind(Work::Preview { conversation, job, files }));
            }
            (Wish::Rewind { .. }, Err(problem)) => {
                self.rewind_failed(format!("The agent cannot rewind the files: {problem}"));
            }
            (Wish::Rewind { conversation: false, .. }, Ok(files)) if files.is_empty() => {
                self.rewind_failed("The files are as they were before this prompt.");
            }
            (Wish::Rewind { .. }, Ok(files)) if files.is_empty() => self.rewind_conversation(),
            (Wish::Rewind { .. }, Ok(files)) => {
                self.push(Effect::Rewind(Work::Copy { conversation, wire_id: job.wire_id, at, files }));
            }
        }
    }

    /// A step on the disk is done.
    pub(super) fn rewind_worked(&mut self, done: Done) {
        match done {
            Done::Placed(Ok(place)) => {
                let Some(running) = self.machine.rewind.running() else { return };
                running.place = place;
                let has_files = running
                    .job
                    .as_ref()
                    .is_some_and(|job| matches!(job.wish, Wish::Rewind { files: true, .. }));
                if has_files { self.ask_files() } else { self.rewind_conversation() }
            }
            Done::Placed(Err(problem)) => self.rewind_failed(problem),
            Done::Previewed => self.rewind_over(),
            Done::Copied(Ok(copied)) => self.copied(copied),
            Done::Copied(Err(problem)) => {
                let text = "The files could not be copied for an undo, so nothing was changed";
                self.rewind_failed(format!("{text}: {problem}"));
            }
            Done::Checked(checked) => self.checked(checked),
            Done::Undone(undone) => self.files_undone(undone),
        }
    }

    fn copied(&mut self, copied: Copied) {
        if self.machine.turn.is_some() || !self.machine.process.is_ready() {
            if let Some(running) = self.machine.rewind.running() {
                let at = running.at;
                self.push(Effect::Rewind(Work::Discard { at }));
            }
            return self.rewind_failed("The agent began to work, so nothing was changed. Stop it first.");
        }
        let Some(running) = self.machine.rewind.running() else { return };
        let left_out = copied.left_out.iter().map(|file| format!("Cannot be undone: {file}"));
        running.warnings.extend(left_out);
        let at = running.at;
        let prompt = running.job.as_ref().map(beginning).unwrap_or_default();
        let undo = SavedRewind { at, prompt, n_files: copied.n_copied, conversation: None };
        self.machine.rewind.on_copied(undo);
        // Before the files change, so that a crash does not lose the undo.
        self.push(Effect::Save(None));
        self.ask_rewind(Stage::Restore);
    }

    fn checked(&mut self, checked: Result<Checked, String>) {
        let Some(running) = self.machine.rewind.running() else { return };
        match checked {
            Ok(checked) => {
                let odd = checked.unexpected.iter();
                running
                    .warnings
                    .extend(odd.map(|file| format!("Not as the agent's checkpoint has it: {file}")));
                running.files = checked.changed;
            }
            Err(problem) => {
                running.warnings.push(format!("The result could not be checked: {problem}"));
            }
        }
        let (at, failed) = (running.at, running.files.is_empty() && !running.warnings.is_empty());
        if failed {
            let problem = format!("The files were not changed. {}", running.warnings.join(" "));
            return self.rewind_failed_at(at, problem);
        }
        self.rewind_conversation();
    }

    /// The files are done. Rewinds the conversation, if that is wished.
    fn rewind_conversation(&mut self) {
        let Some(running) = self.machine.rewind.running() else { return };
        let Some(job) = running.job.clone() else { return };
        let (at, place) = (running.at, running.place.clone());
        if !matches!(job.wish, Wish::Rewind { conversation: true, .. }) {
            return self.rewound();
        }
        if self.machine.turn.is_some() {
            let text = "The agent began to work, so the conversation stays as it is.";
            running.warnings.push(text.to_owned());
            return self.rewound();
        }
        let Some(before) = self.machine.conversation.rewind(place) else {
            let text = "The agent no longer has this conversation, so it cannot be rewound.";
            if running.files.is_empty() {
                return self.rewind_failed(text);
            }
            running.warnings.push(text.to_owned());
            return self.rewound();
        };
        self.machine.rewind.on_conversation(at, beginning(&job), before);
        self.leave_conversation();
    }

    /// The next process resumes the conversation at another message, so this one ends.
    fn leave_conversation(&mut self) {
        // At once, because the conversation is read again where the record says.
        self.push(Effect::Save(None));
        if let Some(running) = self.machine.rewind.running() {
            running.stage = Stage::Exit;
        }
        match self.machine.process.state() {
            ProcessState::Starting | ProcessState::Ready => self.advance_shutdown(AfterExit::Hibernate),
            // The user stopped it, or it closed its stdin, while the rewind waited for an answer or the disk.
            ProcessState::Stopping { .. } => {}
            ProcessState::Absent | ProcessState::BackingOff { .. } => self.reread(),
        }
    }

    fn reread(&mut self) {
        self.machine.context.on_cleared();
        self.push(Effect::Rewind(Work::Reread));
        self.rewound();
    }

    /// Says what was done.
    fn rewound(&mut self) {
        let Some(running) = self.machine.rewind.end() else { return };
        let has_conversation = running.stage == Stage::Exit;
        let files = match running.files.len() {
            0 => None,
            1 => Some("1 file".to_owned()),
            n => Some(format!("{n} files")),
        };
        let what = match (files, has_conversation) {
            (Some(files), true) => format!("{files} and the conversation"),
            (Some(files), false) => files,
            (None, true) => "the conversation".to_owned(),
            (None, false) => "nothing".to_owned(),
        };
        let text = match &running.job {
            Some(job) => format!("Rewound {what} to before “{}”", beginning(job)),
            None => format!("Undid the rewind of {what}"),
        };
        let level = if running.warnings.is_empty() { Level::Info } else { Level::Warning };
        let detail = running.warnings.iter().chain(&running.files).cloned().collect::<Vec<_>>().join("\n");
        self.notice(level, text, Some(detail));
        if let Some(SavedRewind { at, n_files: 1.., .. }) = running.replaced {
            self.push(Effect::Rewind(Work::Discard { at }));
        }
        if let Some(job) = running.job {
            let text = Some(job.text).filter(|_| has_conversation);
            self.emit(Event::Rewound { prompt_id: job.item, text });
        }
        self.rewind_over();
    }

    fn rewind_over(&mut self) {
        self.machine.rewind.end();
        self.changed();
        // Prompts waited for the end.
        self.advance();
    }

    fn rewind_failed(&mut self, problem: impl Into<String>) {
        let Some(at) = self.machine.rewind.running().map(|running| running.at) else { return };
        self.rewind_failed_at(at, problem.into());
    }

    fn rewind_failed_at(&mut self, at: u64, problem: String) {
        self.push(Effect::Disarm(Timer::Rewind));
        let error = CommandError { code: ErrorCode::Refused, message: problem.clone(), detail: None };
        if self.machine.rewind.fail(problem) == Some(at) {
            self.push(Effect::Rewind(Work::Discard { at }));
            self.save();
        }
        self.emit(Event::CommandFailed { error });
        self.rewind_over();
    }

    // --- undo ------------------------------------------------------------------------------------------------

    pub(super) fn undo_rewind(&mut self, overwrite: bool) {
        let Some(undo) = self.machine.rewind.undo().cloned() else {
            return self.refuse(ErrorCode::BadCommand, "There is no rewind that can be undone.");
        };
        if !self.can_undo(&undo) {
            return;
        }
        self.machine.rewind.begin(self.now, None);
        self.changed();
        if undo.n_files > 0 {
            self.push(Effect::Rewind(Work::Undo { at: undo.at, overwrite }));
        } else {
            self.undo_conversation();
        }
    }

    /// Refuses the command if the undo has to wait.
    fn can_undo(&mut self, undo: &SavedRewind) -> bool {
        // A rewind to the first prompt leaves no conversation, which returns.
        let returns = self.machine.conversation.id().is_none() && undo.conversation.is_some();
        let is_quiet = self.machine.is_idle() && !self.machine.has_requests();
        (returns && is_quiet) || self.rewindable().is_some()
    }

    fn files_undone(&mut self, undone: Result<Undone, UndoFault>) {
        let problem = match undone {
            Ok(undone) => {
                if let Some(running) = self.machine.rewind.running() {
                    running.files = undone.restored;
                }
                return self.undo_conversation();
            }
            Err(UndoFault::Changed(files)) => {
                self.machine.rewind.end();
                self.changed();
                self.push(Effect::Refuse(CommandError {
                    code: ErrorCode::ChangedSince { files },
                    message: "Files have changed since the rewind. Its undo would overwrite them.".to_owned(),
                    detail: None,
                }));
                return self.advance();
            }
            Err(UndoFault::Unusable(problem)) => {
                format!("The rewind cannot be undone, and nothing was changed: {problem}")
            }
            Err(UndoFault::Partly(files)) => {
                let files: Vec<String> = files.iter().map(|file| format!("“{file}”")).collect();
                format!(
                    "The rewind was undone in part. These files could not be restored: {}.",
                    files.join(", ")
                )
            }
        };
        self.rewind_failed(problem);
    }

    fn undo_conversation(&mut self) {
        let Some(undo) = self.machine.rewind.undo().cloned() else { return self.rewind_over() };
        self.machine.rewind.on_undone();
        if undo.n_files > 0 {
            self.push(Effect::Rewind(Work::Discard { at: undo.at }));
        }
        match undo.conversation {
            Some(before) => {
                self.machine.conversation.return_to(before);
                self.leave_conversation();
            }
            None => {
                self.save();
                self.rewound();
            }
        }
    }

    // --- what happens meanwhile ------------------------------------------------------------------------------

    pub(super) fn rewind_timed_out(&mut self) {
        let text = format!("The agent did not answer within {} s.", ANSWER_MS / 1000);
        self.no_answer(text);
    }

    pub(super) fn rewind_process_ended(&mut self) {
        if self.machine.rewind.waits_for(Stage::Exit).is_some() {
            return self.reread();
        }
        self.no_answer("The agent stopped before it answered.".to_owned());
    }

    /// The agent's answer will not come.
    pub(super) fn no_answer(&mut self, text: String) {
        let Some(running) = self.machine.rewind.running() else { return };
        self.effects.push(Effect::Disarm(Timer::Rewind));
        match running.stage {
            Stage::Start | Stage::DryRun => self.rewind_failed(text),
            Stage::Restore => {
                let at = running.at;
                running.warnings.push(text);
                self.push(Effect::Rewind(Work::Check { at }));
            }
            Stage::Exit => {}
        }
    }

    /// The conversation cannot return: a turn begins, so the agent's store continues on this branch, or the agent no
    /// longer has the conversation.
    pub(super) fn rewind_outdated(&mut self) {
        self.saves |= self.machine.rewind.on_turn();
    }
}

/// The beginning of the prompt.
fn beginning(job: &Job) -> String {
    Title::of_prompt(&job.text).map_or_else(|| "…".to_owned(), |title| title.as_str().to_owned())
}

//! The rewind in progress, and the last one that can be undone.

use crate::api::{RewindState, RewindUndo};
use crate::rewind::{ConversationBefore, Job, SavedRewind};

/// What a rewind waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The start of the agent.
    Start,
    /// The agent's list of files.
    DryRun,
    /// The agent's rewind of the files.
    Restore,
    /// The exit of the agent, which then resumes at another message.
    Exit,
}

/// A rewind in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    pub at: u64,
    pub stage: Stage,
    /// `None`: an undo.
    pub job: Option<Job>,
    /// The message before the prompt; `None` if it is the first one.
    pub place: Option<String>,
    /// The files that were restored.
    pub files: Vec<String>,
    /// What the user has to know about it afterwards.
    pub warnings: Vec<String>,
    /// The undo that this one replaces.
    pub replaced: Option<SavedRewind>,
}

#[derive(Debug, Default)]
pub struct Rewind {
    running: Option<Running>,
    problem: Option<String>,
    undo: Option<SavedRewind>,
    /// The agent does not know the request.
    is_unknown: bool,
}

impl Rewind {
    pub fn restore(undo: Option<SavedRewind>) -> Self {
        Self { undo, ..Self::default() }
    }

    pub fn undo(&self) -> Option<&SavedRewind> {
        self.undo.as_ref()
    }

    /// The agent can rewind files, as far as known.
    pub fn is_known(&self) -> bool {
        !self.is_unknown
    }

    /// Another process may be another version of the agent.
    pub fn on_spawn(&mut self) {
        self.is_unknown = false;
    }

    pub fn on_unknown(&mut self) {
        self.is_unknown = true;
    }

    pub fn state(&self) -> RewindState {
        let undo = self.undo.as_ref().map(|undo| RewindUndo {
            at: undo.at,
            prompt: undo.prompt.clone(),
            n_files: undo.n_files,
            conversation: undo.conversation.is_some(),
        });
        RewindState { is_pending: self.is_busy(), problem: self.problem.clone(), undo }
    }

    pub fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// Begins a rewind, a preview or, without a job, an undo.
    pub fn begin(&mut self, at: u64, job: Option<Job>) {
        self.problem = None;
        self.running = Some(Running {
            at,
            stage: Stage::Start,
            job,
            place: None,
            files: Vec::new(),
            warnings: Vec::new(),
            replaced: None,
        });
    }

    pub fn running(&mut self) -> Option<&mut Running> {
        self.running.as_mut()
    }

    /// The one in progress, if it waits for this.
    pub fn waits_for(&mut self, stage: Stage) -> Option<&mut Running> {
        self.running.as_mut().filter(|running| running.stage == stage)
    }

    /// The files are about to change and can be restored.
    pub fn on_copied(&mut self, undo: SavedRewind) {
        if let Some(running) = &mut self.running {
            running.replaced = self.undo.take();
        }
        self.undo = Some(undo);
    }

    /// Adds the conversation to the undo. A rewind without files begins one.
    pub fn on_conversation(&mut self, at: u64, prompt: String, before: ConversationBefore) {
        match &mut self.undo {
            Some(undo) if undo.at == at => undo.conversation = Some(before),
            undo => {
                let new = SavedRewind { at, prompt, n_files: 0, conversation: Some(before) };
                let replaced = undo.replace(new);
                if let Some(running) = &mut self.running {
                    running.replaced = replaced;
                }
            }
        }
    }

    /// It changed nothing. Returns the time of its copies, if it has some.
    pub fn fail(&mut self, problem: String) -> Option<u64> {
        let running = self.running.take()?;
        self.problem = Some(problem);
        let has_copies = self.undo.as_ref().is_some_and(|undo| undo.at == running.at);
        if has_copies {
            self.undo = running.replaced;
        }
        has_copies.then_some(running.at)
    }

    /// It is done. Returns it.
    pub fn end(&mut self) -> Option<Running> {
        self.running.take()
    }

    /// The last rewind was undone.
    pub fn on_undone(&mut self) {
        self.undo = None;
    }

    /// The agent works on a new turn, so the conversation cannot return. Returns whether that changed something.
    pub fn on_turn(&mut self) -> bool {
        let Some(undo) = self.undo.as_mut().filter(|undo| undo.conversation.is_some()) else { return false };
        undo.conversation = None;
        if undo.n_files == 0 {
            self.undo = None;
        }
        true
    }
}

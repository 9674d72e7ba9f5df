//! The steps of a rewind that need the disk: where the conversation continues, the preview, copies, and the undo.

use super::{Actor, now};
use crate::api::*;
use crate::disk;
use crate::history::{self, Kept, PromptPlace};
use crate::rewind::copies;
use crate::rewind::preview::CheckpointFiles;
use crate::rewind::{Done, Job, UndoFault, Work};
use crate::session::machine::Input;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

/// Time limit for reading or writing the files of a rewind.
const DEADLINE: Duration = Duration::from_secs(60);

impl Actor {
    /// Carries out a step. Returns its result, if the machine waits for it.
    pub(super) async fn rewind(&mut self, work: Work) -> Option<Input> {
        let done = match work {
            Work::Place { conversation, wire_id } => Done::Placed(self.place(conversation, wire_id).await),
            Work::Preview { conversation, job, files } => {
                self.preview(conversation, job, files).await;
                Done::Previewed
            }
            Work::Copy { conversation, wire_id, at, files } => {
                let root = match self.copies() {
                    Ok(root) => root,
                    Err(problem) => return Some(Input::RewindWorked(Done::Copied(Err(problem)))),
                };
                let (config, project) = self.agent_files();
                Done::Copied(
                    self.on_disk(move || {
                        let files_then =
                            CheckpointFiles::of_prompt(&config, &project, &conversation, &wire_id);
                        copies::copy(&root, at, &files, |path| files_then.expected(path)).map_err(text)
                    })
                    .await,
                )
            }
            Work::Check { at } => Done::Checked(match self.copies() {
                Ok(root) => self.on_disk(move || copies::check(&root, at).map_err(text)).await,
                Err(problem) => Err(problem),
            }),
            Work::Undo { at, overwrite } => Done::Undone(match self.copies() {
                Ok(root) => {
                    let undo = move || copies::undo(&root, at, overwrite);
                    let undone = disk::run(&self.place, DEADLINE, undo).await;
                    undone.unwrap_or_else(|error| Err(UndoFault::Unusable(error.to_string())))
                }
                Err(problem) => Err(UndoFault::Unusable(problem)),
            }),
            Work::Discard { at } => {
                if let Ok(root) = self.copies()
                    && let Err(error) =
                        disk::run(&self.place, DEADLINE, move || copies::discard(&root, at)).await
                {
                    tracing::warn!(%error, "could not remove the copies of a rewind");
                }
                return None;
            }
            Work::Reread => {
                self.reread().await;
                return None;
            }
        };
        Some(Input::RewindWorked(done))
    }

    /// The session's folder of copies. Without a store it is removed with the session.
    fn copies(&mut self) -> Result<PathBuf, String> {
        if let Some(store) = &self.open.store {
            return Ok(store.copies(&self.open.record.id));
        }
        if self.own_copies.is_none() {
            let folder = tempfile::Builder::new().prefix("deskbell-rewind-").tempdir();
            self.own_copies = Some(folder.map_err(text)?);
        }
        let folder = self.own_copies.as_ref().map(|folder| folder.path().to_owned());
        folder.ok_or_else(|| "there is no folder for copies".to_owned())
    }

    /// The agent's configuration folder, and the project.
    fn agent_files(&self) -> (PathBuf, PathBuf) {
        (self.open.agent_config.clone(), self.open.record.project.clone())
    }

    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        disk::run(&self.place, DEADLINE, work).await.map_err(text)?
    }

    async fn place(&self, conversation: String, wire_id: String) -> Result<Option<String>, String> {
        let (config, project) = self.agent_files();
        let find = move || {
            let kept = Kept::load(&history::transcript_path(&config, &project, &conversation));
            match kept.map_err(text)?.place_of(&wire_id) {
                Some(PromptPlace::After(message)) => Ok(Some(message)),
                Some(PromptPlace::Beginning) => Ok(None),
                None => {
                    Err("The agent has not stored this prompt, so the conversation cannot be rewound to it."
                        .to_owned())
                }
            }
        };
        self.on_disk(find).await
    }

    async fn preview(&mut self, conversation: String, job: Job, files: Result<Vec<String>, String>) {
        let place = self.place(conversation.clone(), job.wire_id.clone()).await;
        let (config, project) = self.agent_files();
        let shown = match files {
            Ok(files) => {
                let wire_id = job.wire_id;
                let compare = move || {
                    let then = CheckpointFiles::of_prompt(&config, &project, &conversation, &wire_id);
                    Ok(then.preview(&files))
                };
                self.on_disk(compare).await
            }
            Err(problem) => Err(problem),
        };
        let (shown, files_problem) = match shown {
            Ok(shown) => (shown, None),
            Err(problem) => (Default::default(), Some(problem)),
        };
        let (files, n_more) = shown;
        let preview = RewindPreview {
            prompt_id: job.item,
            prompt: job.text,
            files_problem,
            conversation_problem: place.err(),
            files,
            n_more,
        };
        self.emit(Event::RewindPreviewed { preview: Box::new(preview) }).await;
    }

    /// Shows the conversation as the agent continues it.
    async fn reread(&mut self) {
        self.flush_items().await;
        let transcript = self.read_again().await;
        self.core.restore(transcript);
        self.core.take_over(now());
        self.subscribers.replaced(now(), self.core.transcript()).await;
    }

    /// Removes an undo that has expired, with its copies.
    pub(super) async fn expire_undo(&mut self) {
        let Some(rewound) = &self.open.record.memory.rewound else { return };
        if rewound.is_expired(now()) {
            let at = rewound.at;
            self.open.record.memory.rewound = None;
            self.rewind(Work::Discard { at }).await;
        }
    }
}

fn text(error: impl Display) -> String {
    error.to_string()
}

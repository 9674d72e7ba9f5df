//! The working tree at the prompts of each session, to compare it with later. In memory of the app, or of the server that
//! has the session: after its restart, the next prompt is the first.

use crate::opener::now_ms;
use deskbell_engine::LocalHost;
use deskbell_engine::api::{Against, CommandError, ErrorCode, PromptMoment, SessionId};
use deskbell_engine::changes::Snapshot;
use deskbell_engine::title::Title;
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of prompts of a session, without the first.
const MOST_PROMPTS: usize = 40;
/// Maximum bytes of their snapshots. The last one is kept in any case.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// Maximum characters of a prompt that name it.
const MOST_CHARACTERS: usize = 80;

/// Shared by its clones.
#[derive(Clone, Default)]
pub struct PromptSnapshots(Arc<Mutex<HashMap<SessionId, Snapshots>>>);

#[derive(Default)]
struct Snapshots {
    project: PathBuf,
    first: Option<Arc<Snapshot>>,
    /// The state at the last prompt is not known.
    lacks_last: bool,
    /// The last prompts, the oldest first.
    prompts: VecDeque<(Arc<Snapshot>, String)>,
}

impl PromptSnapshots {
    /// Reads the working tree now, while the agent gets the prompt. The agent takes longer to change something.
    pub fn take(&self, project: &Path, id: &SessionId, prompt: &str) {
        let (all, project, id, text) =
            (self.clone(), project.to_owned(), id.clone(), Title::one_line(prompt, MOST_CHARACTERS));
        tokio::spawn(async move {
            let made = Snapshot::take(&LocalHost, &project, now_ms()).await.unwrap_or_else(|error| {
                tracing::info!(%error, "the working tree was not read at the prompt");
                None
            });
            let mut all = all.lock();
            let of = all.entry(id).or_insert_with(|| Snapshots { project, ..Snapshots::default() });
            of.keep(made, text);
        });
    }

    /// Returns the working tree to compare with, or an error if that at a prompt is not known.
    pub fn known(&self, id: &SessionId, against: Against) -> Result<Option<Arc<Snapshot>>, CommandError> {
        let since = self.get(id, against);
        if against != Against::Commit && since.is_none() {
            // They are in memory, and a restart loses them.
            let message = "The files at that prompt are no longer known.".to_owned();
            return Err(CommandError { code: ErrorCode::Refused, message, detail: None });
        }
        Ok(since)
    }

    pub fn get(&self, id: &SessionId, against: Against) -> Option<Arc<Snapshot>> {
        let all = self.lock();
        let of = all.get(id)?;
        match against {
            Against::Commit => None,
            Against::Session => of.first.clone(),
            Against::Prompt => {
                of.prompts.back().filter(|_| !of.lacks_last).map(|(snapshot, _)| snapshot.clone())
            }
            Against::At(since) => {
                of.prompts.iter().map(|(snapshot, _)| snapshot).find(|one| one.since == since).cloned()
            }
        }
    }

    /// The prompts whose working tree is known, the newest first.
    pub fn moments(&self, project: &Path, id: &SessionId) -> Vec<PromptMoment> {
        let all = self.lock();
        let of = all.get(id).filter(|of| of.project == project);
        let prompts = of.into_iter().flat_map(|of| of.prompts.iter().rev());
        prompts.map(|(snapshot, text)| PromptMoment { since: snapshot.since, text: text.clone() }).collect()
    }

    pub fn forget(&self, id: &SessionId) {
        self.lock().remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Snapshots>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Snapshots {
    fn keep(&mut self, made: Option<Snapshot>, text: String) {
        self.lacks_last = made.is_none();
        let Some(mut made) = made else { return };
        // The time is also its name.
        if let Some((last, _)) = self.prompts.back() {
            made.since = made.since.max(last.since + 1);
        }
        let made = Arc::new(made);
        self.first.get_or_insert_with(|| made.clone());
        self.prompts.push_back((made, text));
        let n_bytes = |prompts: &VecDeque<(Arc<Snapshot>, String)>| {
            prompts.iter().map(|(snapshot, _)| snapshot.n_bytes()).sum::<usize>()
        };
        while self.prompts.len() > MOST_PROMPTS
            || (self.prompts.len() > 1 && n_bytes(&self.prompts) > MOST_BYTES)
        {
            self.prompts.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(since: u64) -> Snapshot {
        let text = serde_json::json!({ "since": since, "commit": null, "files": {}, "isCut": false });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn every_prompt_is_a_base_until_there_are_too_many() {
        let all = PromptSnapshots::default();
        let id = SessionId::new("s");
        for n in 0..50 {
            // Two prompts in one moment are two.
            all.lock().entry(id.clone()).or_default().keep(Some(snapshot(n / 2)), format!("prompt {n}"));
        }
        let moments = all.moments(Path::new(""), &id);
        assert_eq!((moments.len(), moments[0].text.as_str()), (MOST_PROMPTS, "prompt 49"));
        assert!(moments.windows(2).all(|pair| pair[0].since > pair[1].since), "{moments:?}");
        let of = |against| all.get(&id, against).map(|snapshot| snapshot.since);
        assert_eq!(all.moments(Path::new("/other"), &id), []);
        assert_eq!(of(Against::Prompt), Some(moments[0].since));
        assert_eq!(of(Against::At(moments[7].since)), Some(moments[7].since));
        assert_eq!(
            (of(Against::Session), of(Against::At(9_999)), of(Against::Commit)),
            (Some(0), None, None)
        );
        all.lock().entry(id.clone()).or_default().keep(None, String::new());
        assert_eq!(of(Against::Prompt), None, "the last prompt's files are not known");
    }
}

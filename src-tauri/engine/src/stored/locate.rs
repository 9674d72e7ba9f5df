//! Finding one stored session by its id, in any project.

use super::files::{self, Found};
use super::several::Store;
use crate::api::StoredSession;
use crate::disk::{self, ReadError};
use std::path::{Path, PathBuf};

/// Maximum number of projects' folders that are looked through.
const MOST_FOLDERS: usize = 100_000;

/// A stored session of some project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Its file in the agent's store.
    pub path: PathBuf,
    /// The folder in which it began, if the file says so.
    pub project: Option<PathBuf>,
    pub session: StoredSession,
}

impl Located {
    /// Looks for a session in these stores, one after the other, and returns the store that has it.
    pub fn find_in(stores: &[Store], agent_session_id: &str) -> Result<Option<(Store, Self)>, ReadError> {
        for store in stores {
            if let Some(mut located) = Self::find(&store.config, agent_session_id)? {
                located.session.profile.clone_from(&store.profile);
                return Ok(Some((store.clone(), located)));
            }
        }
        Ok(None)
    }

    /// Looks for a session in all projects of the store. If several files have its id, the last changed one counts.
    pub fn find(config: &Path, agent_session_id: &str) -> Result<Option<Self>, ReadError> {
        let name = format!("{agent_session_id}.jsonl");
        let listing = match disk::list(&config.join("projects"), MOST_FOLDERS) {
            Ok(listing) => listing,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let found = listing.paths.iter().filter_map(|folder| files::look(&folder.join(&name)));
        let Some(found) = found.max_by_key(|found| found.modified) else { return Ok(None) };
        let summary = files::read(&found)?;
        let live = super::catalogue::live(config).remove(agent_session_id);
        let Found { id, path, modified, .. } = found;
        let session = super::catalogue::row(&id, modified, &summary, live);
        Ok(Some(Self { path, project: summary.cwd.map(PathBuf::from), session }))
    }
}

//! The lists for `@` in a prompt, made on the machine of the session by the search that a window of this machine uses.

use super::lock;
use deskbell_engine::api::{CommandError, ErrorCode};
use deskbell_engine::files::Files;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Maximum number of folders whose names are in memory. Another one takes the place of the one that was used first.
const MOST_KNOWN: usize = 4;

/// The folders that were searched last, the last one at the end.
#[derive(Default)]
pub struct SearchedFolders(Mutex<Vec<(PathBuf, Files)>>);

impl SearchedFolders {
    /// The files of a folder that match a partly typed name, as an answer.
    pub async fn find(&self, folder: &Path, query: String) -> Result<Value, CommandError> {
        let found = self.of(folder).offered(query).await?;
        serde_json::to_value(found).map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The list could not be written.".to_owned(),
            detail: Some(error.to_string()),
        })
    }

    fn of(&self, folder: &Path) -> Files {
        let mut known = lock(&self.0);
        let at = known.iter().position(|(of, _)| of == folder);
        let one = at.map_or_else(|| (folder.to_owned(), Files::of(folder)), |at| known.remove(at));
        if known.len() >= MOST_KNOWN {
            known.remove(0);
        }
        known.push(one.clone());
        one.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_folders_are_kept_the_last_ones() {
        let searched = SearchedFolders::default();
        for name in ["a", "b", "c", "d", "a", "e"] {
            searched.of(Path::new(name));
        }
        let known: Vec<PathBuf> = lock(&searched.0).iter().map(|(of, _)| of.clone()).collect();
        assert_eq!(known, ["c", "d", "a", "e"].map(PathBuf::from));
    }
}

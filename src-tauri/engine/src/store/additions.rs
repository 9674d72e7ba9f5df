//! What Deskbell stores about the agent's conversations, for readers of the agent's own store. Nothing is written.

use super::{MOST_BYTES, MOST_FILES, Offers, Record, Store, StoreError, failed, read_lines};
use crate::disk::{ReadError, list, read_regular};
use crate::history::Additions;
use crate::transcript::changed_inputs::ChangedInput;
use memchr::memmem;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// A record with inputs that the user changed has this field.
const CHANGED: &[u8] = b"\"tool_use_id\"";

impl Additions {
    /// The additions to a conversation of the agent, from folders of Deskbell's sessions.
    pub fn of_conversation(folders: &[PathBuf], agent_session_id: &str) -> Result<Self, StoreError> {
        let mut additions = Self::default();
        for folder in folders {
            let store = Store { folder: folder.clone(), offers: Offers::default() };
            for record in records(folder, agent_session_id.as_bytes())? {
                if record.memory.agent_session_id.as_deref() == Some(agent_session_id) {
                    additions.supplements.extend(read_lines(&store.log_path(&record.id))?);
                    additions.supplements.extend(read_lines(&store.streaming_path(&record.id))?);
                    additions.changed_inputs.extend(record.memory.changed_inputs);
                }
            }
        }
        Ok(additions)
    }
}

/// The inputs that the user changed, by the agent's ids of the conversations.
pub(crate) fn changed_inputs(folders: &[PathBuf]) -> Result<HashMap<String, Vec<ChangedInput>>, StoreError> {
    let mut changed: HashMap<String, Vec<ChangedInput>> = HashMap::new();
    for folder in folders {
        for record in records(folder, CHANGED)? {
            if let Some(id) = record.memory.agent_session_id {
                changed.entry(id).or_default().extend(record.memory.changed_inputs);
            }
        }
    }
    changed.retain(|_, inputs| !inputs.is_empty());
    Ok(changed)
}

/// The records that contain this text, in a folder that may be missing. One that cannot be read is reported when the app
/// loads it.
fn records(sessions: &Path, text: &[u8]) -> Result<Vec<Record>, StoreError> {
    let listing = match list(sessions, MOST_FILES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listing => listing.map_err(failed("read", sessions))?,
    };
    let is_record = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut records = Vec::new();
    for path in listing.paths.iter().filter(is_record) {
        match read_regular(path, MOST_BYTES) {
            Ok(bytes) if memmem::find(&bytes, text).is_some() => {
                records.extend(serde_json::from_slice::<Record>(&bytes))
            }
            Ok(_) | Err(ReadError::Missing) => {}
            Err(error) => tracing::warn!(path = %path.display(), %error, "a session could not be read"),
        }
    }
    Ok(records)
}

//! Exporting a session that is open, as it is at that moment.

use super::{LocalMessage, LocalSession, gone};
use crate::api::{CommandError, ErrorCode, ExportFormat};
use crate::disk;
use crate::export::{Conversation, Heading, Images};
use crate::history::{self, Kept};
use std::path::PathBuf;
use std::time::Duration;

/// Time limit for reading the images of a long conversation.
const READ_DEADLINE: Duration = Duration::from_secs(20);

/// A session at the moment of an export.
pub(crate) struct Snapshot {
    pub heading: Heading,
    pub conversation: Conversation,
    /// The agent's configuration folder, and the project's folder.
    pub config: PathBuf,
    pub project: PathBuf,
}

impl LocalSession {
    /// The session is busy only while its items are collected.
    pub(super) async fn export(&self, format: ExportFormat) -> Result<Vec<u8>, CommandError> {
        let Snapshot { heading, conversation, config, project } =
            self.mailbox.ask(|reply| LocalMessage::Export { format, reply }).await?;
        let images = match heading.agent_session_id.clone() {
            Some(id) if format != ExportFormat::Markdown => images(config, project, id).await,
            _ => Images::default(),
        };
        let render = move || conversation.render(format, &heading, &images);
        let rendered = tokio::task::spawn_blocking(render).await.map_err(|_| gone())?;
        rendered.map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The session could not be exported.".to_owned(),
            detail: Some(error.to_string()),
        })
    }
}

/// The images in the agent's own transcript. If it cannot be read, the export says that they are missing.
pub(super) async fn images(config: PathBuf, project: PathBuf, id: String) -> Images {
    let of = project.clone();
    let read = move || Kept::load(&history::transcript_path(&config, &of, &id));
    let read = disk::run(&project, READ_DEADLINE, read).await;
    let problem = match read {
        Ok(Ok(kept)) => {
            return tokio::task::spawn_blocking(move || Images::of(&kept)).await.unwrap_or_default();
        }
        Ok(Err(error)) => error.to_string(),
        Err(unfinished) => unfinished.to_string(),
    };
    tracing::warn!(problem, "could not read the images of a session");
    Images::default()
}

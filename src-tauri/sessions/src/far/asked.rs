//! A question of ssh, as a window gets it.

use super::secret::Secret;
use deskbell_engine::api::ConnectionQuestion;
use tokio::sync::{mpsc, oneshot};

/// A question that a window is to show.
pub struct Asked {
    pub question: ConnectionQuestion,
    /// `None` ends the connection, and so does a reply that is dropped.
    pub reply: oneshot::Sender<Option<Secret>>,
    /// Resolves when the question is over, answered or not.
    pub gone: oneshot::Receiver<()>,
}

/// Where the questions of a connection go.
pub type AskWindow = mpsc::UnboundedSender<Asked>;

/// The reason why a connection that asked something was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    Cancelled,
    Slow,
}

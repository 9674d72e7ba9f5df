//! The reasons for no environment.

use crate::probe::Unanswered;

/// The reason why the environment is not known.
#[derive(Debug, thiserror::Error)]
pub enum NoEnvironment {
    #[error(transparent)]
    Unanswered(#[from] Unanswered),
    #[error("it did not print its environment")]
    Unreadable,
}

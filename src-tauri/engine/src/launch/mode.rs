//! The permission mode at the start of an agent.

use crate::api::{BYPASS, PermissionMode};

/// The permission mode that a process is started in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartMode {
    Asking(PermissionMode),
    /// Without permission requests; the user chose this for this one process.
    WithoutAsking,
}

impl StartMode {
    /// The agent's name for the mode.
    pub fn name(self) -> &'static str {
        match self {
            Self::Asking(mode) => mode.name(),
            Self::WithoutAsking => BYPASS,
        }
    }
}

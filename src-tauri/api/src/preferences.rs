//! The user's preferences for all windows.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The user's preferences for all windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Preferences {
    pub theme: Theme,
    /// Show requests in a native dialog and a card, or only in a card.
    pub ask_by: AskBy,
    /// Path of the agent program; `null` searches the usual places.
    pub agent_program: Option<String>,
    /// Zoom in percent, from 50 to 200.
    pub zoom: u32,
}

impl Default for Preferences {
    fn default() -> Self {
        Self { theme: Theme::default(), ask_by: AskBy::default(), agent_program: None, zoom: 100 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AskBy {
    #[default]
    DialogAndCard,
    Card,
}

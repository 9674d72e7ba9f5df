//! What a person chose for all windows.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a person chose for all windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Preferences {
    pub theme: Theme,
    /// Ask by native dialog and card, or by the card alone.
    pub ask_by: AskBy,
    /// The agent program; `null` looks in the usual places.
    pub agent_program: Option<String>,
    /// How large everything is drawn, in percent: from 50 to 200.
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

//! The menu of a window, for a system that has one menu bar for all windows.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// An entry of a window's menu, as its page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MenuEntry {
    /// The page gets it back when the entry is chosen.
    pub id: String,
    pub label: String,
    /// The keys that the page has for it, as the table of actions writes them: `Ctrl+Shift+F`. On macOS, `Ctrl` is the
    /// command key.
    pub chord: Option<String>,
    pub enabled: bool,
    /// Whether this choice is the current one; `null` for an action.
    pub checked: Option<bool>,
    /// A line separates it from the entries before.
    pub separated: bool,
    /// The entries of its submenu. An entry with a submenu is not chosen itself.
    pub items: Option<Vec<MenuEntry>>,
}

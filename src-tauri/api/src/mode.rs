//! Permission modes: what an agent may do without asking.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;
use std::str::FromStr;
use ts_rs::TS;

/// The name of the mode in which the agent asks for no permission. It is set only when a process starts, if the user
/// chose it for that process; it is never set on a running agent.
pub const BYPASS: &str = "bypassPermissions";

/// A permission mode that a running agent can be switched to. Running without asking is not one of them: it is chosen
/// before an agent starts, for that process only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// Ask before anything that changes a file, runs a command or accesses the network.
    Default,
    /// Change files without asking.
    AcceptEdits,
    /// Read and plan, and change nothing.
    Plan,
    /// Deny what would otherwise be asked.
    DontAsk,
    /// The model decides what needs permission.
    Auto,
}

/// The error for a name that is not a [`PermissionMode`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadMode {
    #[error("“Skip all permissions” can only be chosen before the agent starts.")]
    WithoutAsking,
    #[error("Unknown permission mode “{name}”. Available: {known}.", known = PermissionMode::names())]
    Unknown { name: String },
}

impl PermissionMode {
    pub const ALL: [Self; 5] = [Self::Default, Self::AcceptEdits, Self::Plan, Self::DontAsk, Self::Auto];

    /// The agent's name of the mode.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::DontAsk => "dontAsk",
            Self::Auto => "auto",
        }
    }

    fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for PermissionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PermissionMode {
    type Err = BadMode;

    fn from_str(name: &str) -> Result<Self, BadMode> {
        if name == BYPASS {
            return Err(BadMode::WithoutAsking);
        }
        let known = Self::ALL.into_iter().find(|mode| mode.name() == name);
        known.ok_or_else(|| BadMode::Unknown { name: name.escape_debug().take(60).collect() })
    }
}

impl<'de> Deserialize<'de> for PermissionMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Command;

    #[test]
    fn only_a_mode_that_can_be_asked_for_is_read() {
        for mode in PermissionMode::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.name());
        }
        for name in ["", "Default", "acceptedits", "plan ", "manual", "bypass", "default\n", "\u{202e}nalp"] {
            assert!(matches!(name.parse::<PermissionMode>(), Err(BadMode::Unknown { .. })), "{name}");
        }
        assert_eq!("bypassPermissions".parse::<PermissionMode>(), Err(BadMode::WithoutAsking));
        let command =
            |mode: &str| serde_json::from_str::<Command>(&format!(r#"{{"type":"setMode","mode":{mode}}}"#));
        assert_eq!(command(r#""plan""#).unwrap(), Command::SetMode { mode: PermissionMode::Plan });
        let problem = command(r#""bypassPermissions""#).unwrap_err().to_string();
        assert!(problem.contains("chosen before the agent starts"), "{problem}");
        assert!(command("7").is_err() && command("null").is_err());
    }
}

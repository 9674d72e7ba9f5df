//! The agent of a session: a row of the table, or a command of the user.

use crate::agents::{self, Agent};
use deskbell_api::AgentLacks;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// As it is saved with its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ChosenAgent {
    /// The row with this id.
    Row { id: String },
    /// An agent that has no row. Nothing is known about it, so nothing is assumed.
    Command { program: PathBuf, arguments: Vec<String> },
}

impl ChosenAgent {
    /// The row with this id, if the table has one.
    pub fn row_of(id: &str) -> Option<Self> {
        agents::agent(id).map(|row| Self::Row { id: row.id.to_owned() })
    }

    /// The id of its row; `None` for a command of the user.
    pub fn row_id(&self) -> Option<String> {
        match self {
            Self::Row { id } => Some(id.clone()),
            Self::Command { .. } => None,
        }
    }

    /// What is known of it; `None` if the table has no such row: a newer version of Deskbell may have saved it.
    pub fn facts(&self) -> Option<&'static Agent> {
        match self {
            Self::Row { id } => agents::agent(id),
            Self::Command { .. } => Some(&agents::UNKNOWN),
        }
    }

    /// What it does not report or offer, as far as it is known.
    pub fn lacks(&self) -> AgentLacks {
        self.facts().unwrap_or(&agents::UNKNOWN).lacks()
    }

    /// Its name for the user.
    pub fn name(&self) -> String {
        match self {
            Self::Row { id } => agents::agent(id).map_or_else(|| id.clone(), |row| row.name.to_owned()),
            Self::Command { program, .. } => {
                let name = Path::new(program).file_name().unwrap_or(program.as_os_str());
                name.to_string_lossy().into_owned()
            }
        }
    }

    /// The arguments that make it speak ACP.
    pub fn arguments(&self) -> Vec<String> {
        match self {
            Self::Row { .. } => {
                let arguments = self.facts().map_or(&[][..], |row| row.arguments);
                arguments.iter().map(|argument| (*argument).to_owned()).collect()
            }
            Self::Command { arguments, .. } => arguments.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_agent_is_read_again_and_one_without_a_row_has_no_facts() {
        let command = ChosenAgent::Command { program: "/opt/my agent".into(), arguments: vec!["acp".into()] };
        for agent in [ChosenAgent::row_of("gemini").unwrap(), command.clone()] {
            let text = serde_json::to_string(&agent).unwrap();
            assert_eq!(serde_json::from_str::<ChosenAgent>(&text).unwrap(), agent, "{text}");
            assert!(agent.facts().is_some());
        }
        assert_eq!((command.name(), command.arguments()), ("my agent".to_owned(), vec!["acp".to_owned()]));
        assert_eq!(ChosenAgent::row_of("gemini").unwrap().name(), "Gemini CLI");
        let gone = ChosenAgent::Row { id: "gone".to_owned() };
        assert_eq!((gone.facts(), gone.name()), (None, "gone".to_owned()));
        assert_eq!(ChosenAgent::row_of("gone"), None);
    }
}

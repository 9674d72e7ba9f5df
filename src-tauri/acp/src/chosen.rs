//! The agent of a session: a row of the table, or a command of the user.

use crate::agents::{self, AcpAgent};
use crate::event::TerminalLogin;
use crate::slash_commands::is_unseen;
use deskbell_api::AgentLacks;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The longest command that logs in, in bytes.
const MAX_LOGIN: usize = 2048;

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
    pub fn facts(&self) -> Option<&'static AcpAgent> {
        match self {
            Self::Row { id } => agents::agent(id),
            Self::Command { .. } => Some(&agents::UNKNOWN),
        }
    }

    /// What it does not report or offer, as far as it is known.
    pub fn lacks(&self) -> AgentLacks {
        self.facts().unwrap_or(&agents::UNKNOWN).lacks()
    }

    /// The command that logs in to it, for a terminal: that of its row, or its program. `None` for a command of the user:
    /// only the agent itself can report a way then.
    pub fn login(&self) -> Option<Vec<String>> {
        let row = self.row_id().and_then(|_| self.facts())?;
        // A program that speaks ACP without an argument has no other way.
        let program = row.programs.first().copied().filter(|_| !row.arguments.is_empty());
        let line = row.login.or(program)?;
        Some(line.split(' ').map(str::to_owned).collect())
    }

    /// The words of a login that it reported, with the variables that it sets. `None` if they are too long for a window to
    /// show, or have characters that a window would not show as they are.
    pub(crate) fn reported_login(&self, login: &TerminalLogin) -> Option<Vec<String>> {
        let program = login.command.as_deref().or(self.program())?;
        let variables = login.environment.iter().map(|(name, value)| format!("{name}={value}"));
        let env = (!login.environment.is_empty()).then(|| "env".to_owned());
        let mut words: Vec<String> = env.into_iter().chain(variables).collect();
        words.push(program.to_owned());
        words.extend(login.arguments.iter().cloned());
        let is_short = words.iter().map(String::len).sum::<usize>() <= MAX_LOGIN;
        let is_shown = words.iter().all(|word| !word.is_empty() && !word.contains(is_unseen));
        (is_short && is_shown).then_some(words)
    }

    /// The name or the path of its program; `None` if that is not valid UTF-8.
    pub fn program(&self) -> Option<&str> {
        match self {
            Self::Row { .. } => self.facts()?.programs.first().copied(),
            Self::Command { program, .. } => program.to_str(),
        }
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
        assert_eq!((command.login(), command.program()), (None, Some("/opt/my agent")));
        let words = |id: &str| ChosenAgent::row_of(id).unwrap().login();
        assert_eq!(words("codex"), Some(vec!["codex".to_owned(), "login".to_owned()]));
        assert_eq!(words("gemini"), Some(vec!["gemini".to_owned()]), "it logs in where it begins");
        assert_eq!(words("demo-acp"), None);
        let reported = |words: &[&str], environment: &[(&str, &str)]| {
            let environment = environment.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            let arguments = words.iter().map(|word| (*word).to_owned()).collect();
            command.reported_login(&TerminalLogin { command: None, arguments, environment })
        };
        assert_eq!(reported(&["log in"], &[]).unwrap(), ["/opt/my agent", "log in"]);
        assert_eq!(reported(&["a"], &[("B", "c d")]).unwrap(), ["env", "B=c d", "/opt/my agent", "a"]);
        for bad in ["a\u{202e}b", "a\nb", "", &"x".repeat(3000)] {
            assert_eq!(reported(&[bad], &[]), None, "{bad:?}");
        }
        let gone = ChosenAgent::Row { id: "gone".to_owned() };
        assert_eq!((gone.facts(), gone.name()), (None, "gone".to_owned()));
        assert_eq!(ChosenAgent::row_of("gone"), None);
    }
}

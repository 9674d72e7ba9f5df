//! The agent or profile of a new session on another machine, and its open trust question.

use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::*;
use deskbell_engine::title::Title;

/// The longest name of a profile: that of the settings.
const LONGEST_NAME: usize = 60;

/// What a new session there begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    Agent(ChosenAgent),
    /// A profile of the settings there.
    Profile(String),
}

impl Wanted {
    /// The agent of this id in the table.
    pub fn agent(id: &str) -> Result<Self, CommandError> {
        ChosenAgent::row_of(id)
            .map(Self::Agent)
            .ok_or_else(|| bad_command("Deskbell does not know this agent."))
    }

    pub fn profile(name: String) -> Result<Self, CommandError> {
        if is_name(&name) {
            Ok(Self::Profile(name))
        } else {
            Err(bad_command("This is not the name of a profile."))
        }
    }

    /// The option of `deskbell trust`.
    pub fn option(&self) -> Option<String> {
        match self {
            Self::Agent(agent) => Some(format!("--agent={}", agent.row_id()?)),
            Self::Profile(name) => Some(format!("--profile={name}")),
        }
    }
}

/// A decision that a window asks for.
#[derive(Clone, Debug)]
pub struct AgentQuestion {
    pub wanted: Wanted,
    pub view: TrustView,
}

/// Whether this can be the name of a profile. It is one argument there.
pub fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && Title::one_line(name, LONGEST_NAME) == name
}

pub fn bad_command(message: &str) -> CommandError {
    CommandError { code: ErrorCode::BadCommand, message: message.to_owned(), detail: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_argument() {
        for name in ["", " ", "a\nb", "a\0b", "\u{1b}", "a\u{202e}b", "a\u{200b}b"] {
            assert!(Wanted::profile(name.to_owned()).is_err(), "{name:?}");
        }
        assert!(Wanted::agent("--all").is_err());
        assert_eq!(Wanted::agent("opencode").unwrap().option().as_deref(), Some("--agent=opencode"));
        assert_eq!(Wanted::profile("-x".to_owned()).unwrap().option().as_deref(), Some("--profile=-x"));
    }
}

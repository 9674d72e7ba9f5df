//! The agent or profile of a new session on another machine, and its open trust question.

use deskbell_engine::acp::agents::{AcpAgent, DEMO, agent};
use deskbell_engine::api::*;
use deskbell_engine::title::Title;

/// The longest name of a profile: that of the settings.
pub const LONGEST_NAME: usize = 60;

/// What a new session there begins with.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// One of the table.
    Agent(&'static AcpAgent),
    /// A profile of the settings there.
    Profile(String),
}

impl Wanted {
    /// The agent of this id in the table.
    pub fn agent(id: &str) -> Result<Self, CommandError> {
        agent(id).map(Self::Agent).ok_or_else(|| bad_command("Deskbell does not know this agent."))
    }

    pub fn profile(name: String) -> Result<Self, CommandError> {
        if is_name(&name) {
            Ok(Self::Profile(name))
        } else {
            Err(bad_command("This is not the name of a profile."))
        }
    }

    /// The option of `deskbell trust`.
    pub fn option(&self) -> String {
        match self {
            Self::Agent(agent) => format!("--agent={}", agent.id),
            Self::Profile(name) => format!("--profile={name}"),
        }
    }

    /// The demo agent reads and runs nothing in a folder.
    pub fn is_demo(&self) -> bool {
        *self == Self::Agent(&DEMO)
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
        assert_eq!(Wanted::agent("opencode").unwrap().option(), "--agent=opencode");
        assert!(Wanted::agent(DEMO.id).unwrap().is_demo() && !Wanted::agent("opencode").unwrap().is_demo());
        assert_eq!(Wanted::profile("-x".to_owned()).unwrap().option(), "--profile=-x");
    }
}

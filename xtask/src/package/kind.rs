//! The two packages: the app, and the program without windows for other machines.

use super::Source;
use super::shipped::Shipped;
use crate::project::APP;

/// One of the packages of each format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    App,
    Relay,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::App, Self::Relay];

    /// The name of the package, and of its program.
    pub fn name(self) -> &'static str {
        match self {
            Self::App => APP,
            Self::Relay => "deskbell-relay",
        }
    }

    pub fn summary(self) -> &'static str {
        match self {
            Self::App => "keep command-line coding agents on call",
            Self::Relay => "Deskbell without windows, for other machines",
        }
    }

    /// The paragraphs that package managers show.
    pub fn description(self) -> &'static [&'static str] {
        match self {
            Self::App => &[
                "Deskbell opens a window for each project. It runs a command-line coding agent as one persistent \
                 process per session, shows what the agent does, asks for permission before the agent acts, and \
                 notifies the user when it is their turn.",
                "A built-in demo agent works without an account and without a network.",
            ],
            Self::Relay => &[
                "The command line of Deskbell as one program that needs no library and no desktop. `deskbell on` copies it to \
                 a machine and runs a command there. Installed on a machine, it keeps sessions of coding agents running \
                 for clients that connect by ssh.",
            ],
        }
    }

    /// Packages that it works without.
    pub fn recommends(self) -> &'static [&'static str] {
        match self {
            Self::App => &["xdg-utils", "deskbell-relay"],
            Self::Relay => &[],
        }
    }

    /// What is compiled into its program.
    pub fn shipped(self, source: &Source) -> &[Shipped] {
        match self {
            Self::App => &source.shipped,
            Self::Relay => &source.shipped_in_relay,
        }
    }
}

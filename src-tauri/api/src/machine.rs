//! Other machines, as the user names them.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use ts_rs::TS;

/// How a machine is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// The user's OpenSSH, with their configuration, keys and known hosts.
    Ssh,
    Docker,
    Podman,
    /// A dev container, by the command line of dev containers: it is named by its folder on this machine.
    DevContainer,
    Kubernetes,
    /// A Linux system in Windows.
    Wsl,
    /// The computer outside of the Flatpak sandbox that Deskbell runs in. It has one name, `host`.
    Flatpak,
}

impl Transport {
    pub const ALL: [Self; 7] = [
        Self::Ssh,
        Self::Docker,
        Self::Podman,
        Self::DevContainer,
        Self::Kubernetes,
        Self::Wsl,
        Self::Flatpak,
    ];

    /// What precedes the name of such a machine.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Ssh => "ssh",
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::DevContainer => "devcontainer",
            Self::Kubernetes => "kubectl",
            Self::Wsl => "wsl",
            Self::Flatpak => "flatpak",
        }
    }

    /// The transport that a text names, and the rest of the text.
    fn named(text: &str) -> Option<(Self, &str)> {
        let (prefix, name) = text.split_once(':')?;
        Self::ALL
            .into_iter()
            .find(|transport| transport.prefix() == prefix)
            .map(|transport| (transport, name))
    }
}

/// The name of the computer outside of a sandbox.
const HOST: &str = "host";

/// The longest name, in bytes. Names in the DNS have at most 253; a user is added.
const MAX_NAME: usize = 300;

/// A machine, as the user names it: `box` or `ssh:me@box`, `docker:NAME`, `podman:NAME`, `devcontainer:FOLDER`,
/// `kubectl:NAMESPACE/POD`, `wsl:NAME`, `flatpak:host`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(try_from = "String", into = "String")]
#[ts(type = "string")]
pub struct RemoteMachine {
    transport: Transport,
    name: String,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadMachine {
    #[error("the name of the machine is missing")]
    NoName,
    /// A program could read it as an option, or a terminal as a command.
    #[error("“{0}” is not the name of a machine: a name begins with a letter or a digit and has no spaces")]
    BadName(String),
    /// A relative path would depend on the folder that Deskbell was started in.
    #[error(
        "“{0}” is not the folder of a dev container: write its whole path, as in devcontainer:/home/me/app"
    )]
    BadFolder(String),
    #[error("the name of the machine is longer than {MAX_NAME} bytes")]
    TooLong,
}

impl RemoteMachine {
    /// The computer outside of the Flatpak sandbox.
    pub fn outside_sandbox() -> Self {
        Self { transport: Transport::Flatpak, name: HOST.to_owned() }
    }

    pub fn transport(&self) -> Transport {
        self.transport
    }

    /// Its name for the program that reaches it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name for ssh; `None` if ssh does not reach it.
    pub fn ssh_name(&self) -> Option<&str> {
        self.is_ssh().then_some(self.name.as_str())
    }

    /// Whether the user's ssh reaches it.
    pub fn is_ssh(&self) -> bool {
        self.transport == Transport::Ssh
    }

    /// Whether its programs run on this computer: in a container, or outside of Deskbell's sandbox. A container engine
    /// that was set up to use another computer cannot be recognized.
    pub fn is_this_computer(&self) -> bool {
        match self.transport {
            Transport::Docker
            | Transport::Podman
            | Transport::DevContainer
            | Transport::Wsl
            | Transport::Flatpak => true,
            Transport::Ssh | Transport::Kubernetes => false,
        }
    }
}

impl FromStr for RemoteMachine {
    type Err = BadMachine;

    fn from_str(text: &str) -> Result<Self, BadMachine> {
        let (transport, name) = Transport::named(text).unwrap_or((Transport::Ssh, text));
        if name.is_empty() {
            return Err(BadMachine::NoName);
        }
        if name.len() > MAX_NAME {
            return Err(BadMachine::TooLong);
        }
        if transport == Transport::Flatpak && name != HOST {
            return Err(BadMachine::BadName(name.escape_debug().take(80).collect()));
        }
        let is_folder = transport == Transport::DevContainer;
        let begins_well =
            name.starts_with(|first: char| if is_folder { first == '/' } else { first.is_alphanumeric() });
        // `ssh://host:port` and addresses in brackets are for the configuration of ssh.
        let is_name = |c: char| {
            let is_in_folder = is_folder && matches!(c, ' ' | ',' | '(' | ')' | '~' | '=' | '#');
            c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '@' | ':' | '/' | '%' | '+') || is_in_folder
        };
        if !begins_well || !name.chars().all(is_name) {
            let shown = name.escape_debug().take(80).collect();
            return Err(if is_folder { BadMachine::BadFolder(shown) } else { BadMachine::BadName(shown) });
        }
        Ok(Self { transport, name: name.to_owned() })
    }
}

impl fmt::Display for RemoteMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.transport {
            // A name for ssh that reads like one of another transport keeps its prefix.
            Transport::Ssh if Transport::named(&self.name).is_none() => f.write_str(&self.name),
            transport => write!(f, "{}:{}", transport.prefix(), self.name),
        }
    }
}

impl TryFrom<String> for RemoteMachine {
    type Error = BadMachine;

    fn try_from(text: String) -> Result<Self, BadMachine> {
        text.parse()
    }
}

/// By the names that are shown.
impl Ord for RemoteMachine {
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_string().cmp(&other.to_string())
    }
}

impl PartialOrd for RemoteMachine {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<RemoteMachine> for String {
    fn from(machine: RemoteMachine) -> Self {
        machine.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(text: &str) -> RemoteMachine {
        text.parse().unwrap()
    }

    #[test]
    fn a_machine_is_shown_as_it_is_named() {
        for text in [
            "box",
            "me@box",
            "docker:web",
            "kubectl:shop/web-0",
            "wsl:Debian",
            "flatpak:host",
            "host:22",
            "ünï",
            "devcontainer:/a b/ü",
            "ssh:docker:web",
            "ssh:ssh:box",
        ] {
            assert_eq!(machine(text).to_string(), text);
        }
        assert_eq!(machine("ssh:box").to_string(), "box");
        // Not a prefix of ours, so a name for ssh.
        assert_eq!(machine("host:22").transport, Transport::Ssh);
    }

    #[test]
    fn no_name_is_an_option_or_a_command() {
        for name in
            ["flatpak:other", "-oProxyCommand=x", "docker:--privileged", "ssh:-x", "@box", "/box", ".box"]
        {
            assert!(matches!(name.parse::<RemoteMachine>(), Err(BadMachine::BadName(_))), "{name}");
        }
        for name in
            ["a b", "a;b", "a\nb", "a'b", "a\"b", "a$b", "a`b", "a\u{1b}[2J", "a\\b", "a\u{202e}b", "[::1]"]
        {
            assert!(matches!(name.parse::<RemoteMachine>(), Err(BadMachine::BadName(_))), "{name:?}");
        }
        for folder in ["app", "./app", "-x", "~/app", "/a\nb", "/a\u{202e}b", "/a$b", "/a;b", "/a'b", "/a`b"]
        {
            let machine = format!("devcontainer:{folder}").parse::<RemoteMachine>();
            assert!(matches!(machine, Err(BadMachine::BadFolder(_))), "{folder:?}");
        }
        for name in ["", "ssh:", "docker:", "devcontainer:"] {
            assert_eq!(name.parse::<RemoteMachine>(), Err(BadMachine::NoName), "{name}");
        }
        assert_eq!("x".repeat(301).parse::<RemoteMachine>(), Err(BadMachine::TooLong));
    }
}

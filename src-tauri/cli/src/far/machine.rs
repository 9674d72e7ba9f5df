//! Machines that `deskbell on` reaches, each through a program of the user that runs a command there and passes its stdin
//! and stdout.

use deskbell_engine::projects::ProjectStore;
use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;

/// How a machine is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A row for each transport: its prefix, its program, the arguments before the machine's name and those after it. The
/// command is appended.
struct Row {
    transport: Transport,
    prefix: &'static str,
    program: &'static str,
    before: &'static [&'static str],
    /// Instead of `before`, for a terminal.
    in_terminal: &'static [&'static str],
    after: &'static [&'static str],
    /// One argument for the login shell of the machine, in place of a program and its arguments.
    has_login_shell: bool,
}

const ROWS: [Row; 7] = [
    Row {
        transport: Transport::Ssh,
        prefix: "ssh",
        program: "ssh",
        // No terminal there. A link that is frozen ends after 15 s. Nothing of the user's configuration is forwarded.
        before: &[
            "-T",
            "-oServerAliveInterval=5",
            "-oServerAliveCountMax=3",
            "-oClearAllForwardings=yes",
            "-oForwardX11=no",
            "-oPermitLocalCommand=no",
        ],
        in_terminal: &["-t", "-oClearAllForwardings=yes", "-oForwardX11=no", "-oPermitLocalCommand=no"],
        after: &[],
        has_login_shell: true,
    },
    Row {
        transport: Transport::Docker,
        prefix: "docker",
        program: "docker",
        before: &["exec", "-i"],
        in_terminal: &["exec", "-it"],
        after: &[],
        has_login_shell: false,
    },
    Row {
        transport: Transport::Podman,
        prefix: "podman",
        program: "podman",
        before: &["exec", "-i"],
        in_terminal: &["exec", "-it"],
        after: &[],
        has_login_shell: false,
    },
    Row {
        transport: Transport::DevContainer,
        prefix: "devcontainer",
        program: "devcontainer",
        before: &["exec", "--workspace-folder"],
        in_terminal: &["exec", "--workspace-folder"],
        after: &[],
        has_login_shell: false,
    },
    Row {
        transport: Transport::Kubernetes,
        prefix: "kubectl",
        program: "kubectl",
        before: &["exec", "-i"],
        in_terminal: &["exec", "-it"],
        after: &["--"],
        has_login_shell: false,
    },
    Row {
        transport: Transport::Wsl,
        prefix: "wsl",
        program: "wsl.exe",
        before: &["-d"],
        in_terminal: &["-d"],
        after: &["--exec"],
        has_login_shell: false,
    },
    Row {
        transport: Transport::Flatpak,
        prefix: "flatpak",
        program: "flatpak-spawn",
        // Ends the command there together with this program. A server there has a session of its own and goes on.
        before: &["--host", "--watch-bus"],
        in_terminal: &["--host", "--watch-bus"],
        after: &[],
        has_login_shell: false,
    },
];

/// The name of the computer outside of a sandbox.
const HOST: &str = "host";

/// A machine, as the user names it: `box` or `ssh:me@box`, `docker:NAME`, `podman:NAME`, `devcontainer:FOLDER`,
/// `kubectl:NAMESPACE/POD`, `wsl:NAME`, `flatpak:host`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    transport: Transport,
    name: String,
}

/// The longest name, in bytes. Names in the DNS have at most 253; a user is added.
const MAX_NAME: usize = 300;

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

impl Machine {
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

impl FromStr for Machine {
    type Err = BadMachine;

    fn from_str(text: &str) -> Result<Self, BadMachine> {
        let row = |prefix: &str| ROWS.iter().find(|row| row.prefix == prefix);
        let (transport, name) = match text.split_once(':') {
            Some((prefix, name)) if row(prefix).is_some() => {
                (row(prefix).map_or(Transport::Ssh, |row| row.transport), name)
            }
            _ => (Transport::Ssh, text),
        };
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

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.transport {
            Transport::Ssh => f.write_str(&self.name),
            _ => write!(f, "{}:{}", self.row().prefix, self.name),
        }
    }
}

impl Machine {
    /// The computer outside of the Flatpak sandbox that this process runs in; `None` outside of one. Accesses the disk.
    pub fn outside_sandbox() -> Option<Self> {
        ProjectStore::is_in_sandbox().then(|| Self { transport: Transport::Flatpak, name: HOST.to_owned() })
    }

    fn row(&self) -> &'static Row {
        // Every transport has a row; a test holds it.
        ROWS.iter().find(|row| row.transport == self.transport).unwrap_or(&ROWS[0])
    }

    /// Its name for the program.
    #[cfg(unix)]
    pub(super) fn name(&self) -> &str {
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

    /// The program that reaches it.
    pub fn program(&self) -> &'static str {
        self.row().program
    }

    /// The arguments of the program, which runs this script of `/bin/sh` there. The script has no single quote.
    /// `options`: further ones of ssh.
    pub fn arguments(&self, script: &str, options: &[OsString]) -> Vec<OsString> {
        let row = self.row();
        let mut arguments = self.up_to_name(row.before, options);
        if row.has_login_shell {
            arguments.push(OsString::from(in_login_shell(script)));
        } else {
            arguments.extend(["/bin/sh", "-c", script].map(OsString::from));
        }
        arguments
    }

    /// The arguments before a script that runs on a terminal.
    pub(super) fn before_script(&self) -> Vec<OsString> {
        self.up_to_name(self.row().in_terminal, &[])
    }

    /// Whether a login shell there reads the script.
    pub(super) fn has_login_shell(&self) -> bool {
        self.row().has_login_shell
    }

    fn up_to_name(&self, before: &[&str], options: &[OsString]) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = before.iter().map(OsString::from).collect();
        if self.is_ssh() {
            arguments.extend_from_slice(options);
            arguments.push("--".into());
        }
        match (self.transport, self.name.split_once('/')) {
            (Transport::Kubernetes, Some((namespace, pod))) => {
                arguments.extend(["-n", namespace, pod].map(OsString::from));
            }
            (Transport::Flatpak, _) => {}
            _ => arguments.push(OsString::from(&self.name)),
        }
        arguments.extend(self.row().after.iter().map(OsString::from));
        arguments
    }
}

/// The script as one command of a login shell, which may be bash, zsh, fish or csh.
pub fn in_login_shell(script: &str) -> String {
    format!("exec /bin/sh -c '{script}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(text: &str) -> Machine {
        text.parse().unwrap()
    }

    #[test]
    fn every_transport_has_its_command_line() {
        let ssh = "-T -oServerAliveInterval=5 -oServerAliveCountMax=3 -oClearAllForwardings=yes -oForwardX11=no \
                   -oPermitLocalCommand=no --";
        for (text, program, expected) in [
            ("box", "ssh", format!("{ssh} box|exec /bin/sh -c 'S'")),
            ("ssh:me@box.example", "ssh", format!("{ssh} me@box.example|exec /bin/sh -c 'S'")),
            ("docker:web_1", "docker", "exec -i web_1|/bin/sh|-c|S".to_owned()),
            ("podman:web", "podman", "exec -i web|/bin/sh|-c|S".to_owned()),
            (
                "devcontainer:/home/me/app",
                "devcontainer",
                "exec --workspace-folder /home/me/app|/bin/sh|-c|S".to_owned(),
            ),
            ("kubectl:web-0", "kubectl", "exec -i web-0 --|/bin/sh|-c|S".to_owned()),
            ("kubectl:shop/web-0", "kubectl", "exec -i -n shop web-0 --|/bin/sh|-c|S".to_owned()),
            ("wsl:Debian", "wsl.exe", "-d Debian --exec|/bin/sh|-c|S".to_owned()),
            ("flatpak:host", "flatpak-spawn", "--host --watch-bus|/bin/sh|-c|S".to_owned()),
        ] {
            let machine = machine(text);
            let expected = expected.split_once('|').map(|(first, rest)| {
                first.split(' ').chain(rest.split('|')).map(OsString::from).collect::<Vec<_>>()
            });
            assert_eq!((machine.program(), Some(machine.arguments("S", &[]))), (program, expected), "{text}");
        }
    }

    #[test]
    fn options_are_those_of_ssh_and_come_before_the_name() {
        let options = ["-oBatchMode=yes".into()];
        let arguments = machine("box").arguments("S", &options);
        assert_eq!(arguments[arguments.len() - 4..][..3], ["-oBatchMode=yes", "--", "box"]);
        assert_eq!(machine("docker:web").arguments("S", &options), machine("docker:web").arguments("S", &[]));
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
            assert!(matches!(name.parse::<Machine>(), Err(BadMachine::BadName(_))), "{name}");
        }
        for name in
            ["a b", "a;b", "a\nb", "a'b", "a\"b", "a$b", "a`b", "a\u{1b}[2J", "a\\b", "a\u{202e}b", "[::1]"]
        {
            assert!(matches!(name.parse::<Machine>(), Err(BadMachine::BadName(_))), "{name:?}");
        }
        for folder in ["app", "./app", "-x", "~/app", "/a\nb", "/a\u{202e}b", "/a$b", "/a;b", "/a'b", "/a`b"]
        {
            let machine = format!("devcontainer:{folder}").parse::<Machine>();
            assert!(matches!(machine, Err(BadMachine::BadFolder(_))), "{folder:?}");
        }
        for name in ["", "ssh:", "docker:", "devcontainer:"] {
            assert_eq!(name.parse::<Machine>(), Err(BadMachine::NoName), "{name}");
        }
        assert_eq!("x".repeat(301).parse::<Machine>(), Err(BadMachine::TooLong));
    }
}

//! The command lines that reach a machine: a program of the user runs a command there and passes its stdin and stdout.

use super::terminal;
use deskbell_engine::api::{RemoteFolder, RemoteMachine, Transport};
use std::ffi::OsString;

/// A row for each transport: its program, the arguments before the machine's name and those after it. The
/// command is appended.
struct Row {
    transport: Transport,
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
        program: "docker",
        before: &["exec", "-i"],
        in_terminal: &["exec", "-it"],
        after: &[],
        has_login_shell: false,
    },
    Row {
        transport: Transport::Podman,
        program: "podman",
        before: &["exec", "-i"],
        in_terminal: &["exec", "-it"],
        after: &[],
        has_login_shell: false,
    },
    Row {
        transport: Transport::DevContainer,
        program: "devcontainer",
        before: &["exec", "--workspace-folder"],
        in_terminal: &["exec", "--workspace-folder"],
        after: &[],
        has_login_shell: false,
    },
    Row {
        transport: Transport::Kubernetes,
        program: "kubectl",
        before: &["exec", "-i"],
        in_terminal: &["exec", "-it"],
        after: &["--"],
        has_login_shell: false,
    },
    Row {
        transport: Transport::Wsl,
        program: "wsl.exe",
        before: &["-d"],
        in_terminal: &["-d"],
        after: &["--exec"],
        has_login_shell: false,
    },
    Row {
        transport: Transport::Flatpak,
        program: "flatpak-spawn",
        // Ends the command there together with this program. A server there has a session of its own and goes on.
        before: &["--host", "--watch-bus"],
        in_terminal: &["--host", "--watch-bus"],
        after: &[],
        has_login_shell: false,
    },
];

fn row(machine: &RemoteMachine) -> &'static Row {
    // Every transport has a row; a test holds it.
    ROWS.iter().find(|row| row.transport == machine.transport()).unwrap_or(&ROWS[0])
}

/// What is started on this machine to reach another one.
pub trait MachineCommand {
    /// The program that reaches it.
    fn program(&self) -> &'static str;

    /// The arguments of the program, which runs this script of `/bin/sh` there. The script has no single quote.
    /// `options`: further ones of ssh.
    fn arguments(&self, script: &str, options: &[OsString]) -> Vec<OsString>;

    /// The program and its arguments, which run these words on the terminal that it is started in: in a folder there, or
    /// in the home folder.
    ///
    /// Nothing of the words and the folder is in it as they are. Some terminals join their arguments and give them to a
    /// shell of this machine, and others split them at semicolons.
    fn in_terminal(&self, folder: Option<&RemoteFolder>, words: &[String]) -> Vec<OsString>;
}

impl MachineCommand for RemoteMachine {
    fn program(&self) -> &'static str {
        row(self).program
    }

    fn arguments(&self, script: &str, options: &[OsString]) -> Vec<OsString> {
        let row = row(self);
        let mut arguments = up_to_name(self, row.before, options);
        if row.has_login_shell {
            arguments.push(OsString::from(in_login_shell(script)));
        } else {
            arguments.extend(["/bin/sh", "-c", script].map(OsString::from));
        }
        arguments
    }

    fn in_terminal(&self, folder: Option<&RemoteFolder>, words: &[String]) -> Vec<OsString> {
        let row = row(self);
        let script = terminal::script(folder, words);
        let mut whole = vec![OsString::from(row.program)];
        whole.extend(up_to_name(self, row.in_terminal, &[]));
        if row.has_login_shell {
            whole.push(in_login_shell(&script).into());
        } else {
            whole.extend(["/bin/sh", "-c", &script].map(OsString::from));
        }
        whole
    }
}

fn up_to_name(machine: &RemoteMachine, before: &[&str], options: &[OsString]) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = before.iter().map(OsString::from).collect();
    if machine.is_ssh() {
        arguments.extend_from_slice(options);
        arguments.push("--".into());
    }
    match (machine.transport(), machine.name().split_once('/')) {
        (Transport::Kubernetes, Some((namespace, pod))) => {
            arguments.extend(["-n", namespace, pod].map(OsString::from));
        }
        (Transport::Flatpak, _) => {}
        _ => arguments.push(OsString::from(machine.name())),
    }
    arguments.extend(row(machine).after.iter().map(OsString::from));
    arguments
}

/// The script as one command of a login shell, which may be bash, zsh, fish or csh.
pub(super) fn in_login_shell(script: &str) -> String {
    format!("exec /bin/sh -c '{script}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(text: &str) -> RemoteMachine {
        text.parse().unwrap()
    }

    #[test]
    fn every_transport_has_its_command_line() {
        assert!(Transport::ALL.iter().all(|one| ROWS.iter().any(|row| row.transport == *one)));
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
}

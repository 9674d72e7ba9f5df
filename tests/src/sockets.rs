//! The socket calls of a program and of everything that it starts, recorded by strace.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::suite::Requirement;

/// The recorded calls: those that name an address, and the one that chooses the family.
const CALLS: &str = "socket,connect,bind,listen,sendto,sendmsg,sendmmsg";

/// A program that runs another one and records its socket calls.
pub struct SocketWatch {
    program: PathBuf,
    log: PathBuf,
}

impl SocketWatch {
    /// Writes the program into the folder. Its arguments are those of `watched`.
    pub fn on(watched: &Path, folder: &Path) -> Result<Self> {
        let (program, log) = (folder.join("watched"), folder.join("sockets.log"));
        let script = format!(
            "#!/bin/sh\nexec strace --follow-forks --seccomp-bpf --quiet=all --trace={CALLS} --string-limit=64 --output='{}' -- '{}' \"$@\"\n",
            log.display(),
            watched.display()
        );
        fs::write(&program, script)?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        Ok(Self { program, log })
    }

    /// Whether strace is installed.
    pub fn requirement() -> Requirement {
        let path = env::var_os("PATH").unwrap_or_default();
        let is_there = env::split_paths(&path).any(|folder| folder.join("strace").is_file());
        if is_there { Requirement::Met } else { Requirement::Missing("strace is not installed".to_owned()) }
    }

    /// The program to start in the place of the watched one.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Fails if a call could reach another computer, or if there are fewer calls than that.
    pub fn check(&self, at_least: usize) -> Result<()> {
        let calls = fs::read_to_string(&self.log).context("strace has written nothing")?;
        let n_calls = calls.lines().filter(|line| line.contains("socket(")).count();
        ensure!(n_calls >= at_least, "only {n_calls} sockets were seen:\n{calls}");
        let foreign: Vec<&str> = calls.lines().filter(|line| !is_local(line)).collect();
        ensure!(foreign.is_empty(), "these calls leave the computer:\n{}", foreign.join("\n"));
        Ok(())
    }

    /// The kinds and addresses of the sockets, without what differs between two runs of a program: `names` replaces texts,
    /// such as a temporary folder, and a number in the path of a socket is `#`.
    pub fn used(&self, names: &[(String, &str)]) -> Result<BTreeSet<String>> {
        let calls = fs::read_to_string(&self.log).context("strace has written nothing")?;
        ensure!(calls.contains("socket("), "no socket was seen:\n{calls}");
        Ok(calls.lines().filter_map(|call| used(call, names)).collect())
    }

    /// Fails if a port was opened.
    pub fn opens_no_port(&self) -> Result<()> {
        let calls = fs::read_to_string(&self.log).context("strace has written nothing")?;
        let ports: Vec<&str> = calls.lines().filter(|line| is_port(line)).collect();
        ensure!(ports.is_empty(), "these calls open a port:\n{}", ports.join("\n"));
        Ok(())
    }
}

/// The kind of a new socket, or the call and the address. `None` for a call without an address.
fn used(call: &str, names: &[(String, &str)]) -> Option<String> {
    let (before, arguments) = call.split_once('(')?;
    let name = before.rsplit(' ').next()?;
    if name == "socket" {
        // strace ends the first half of an interrupted call with `<unfinished ...>`.
        return Some(format!("socket {}", arguments.split([')', '<']).next()?.trim_end()));
    }
    let address = arguments.split_once("{sa_family=")?.1.split('}').next()?;
    let address = names.iter().fold(address.to_owned(), |address, (text, name)| address.replace(text, name));
    if !address.starts_with("AF_UNIX") {
        return Some(format!("{name} {address}"));
    }
    let mut digits = address.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let mut address: &str = &address;
    let mut shown = String::new();
    while let Some((before, after)) = digits.next().and_then(|digits| address.split_once(digits)) {
        shown.push_str(before);
        shown.push('#');
        address = after;
    }
    Some(format!("{name} {shown}{address}"))
}

/// Whether a call binds an address of the internet, loopback included: other users of the computer reach that too.
fn is_port(call: &str) -> bool {
    call.contains("bind(") && call.contains("sa_family=AF_INET")
}

/// Whether a call stays on this computer: its address is a path, a part of the kernel, or loopback.
fn is_local(call: &str) -> bool {
    let address = call.split("sa_family=").nth(1);
    match (address, call.split_once("socket(")) {
        (Some(address), _) if address.starts_with("AF_INET,") => address.contains("inet_addr(\"127."),
        (Some(address), _) if address.starts_with("AF_INET6,") => address.contains("\"::1\""),
        (Some(address), _) => ["AF_UNIX", "AF_NETLINK", "AF_UNSPEC"].iter().any(|f| address.starts_with(f)),
        // A stream or a datagram of the internet names its address when it is used.
        (None, Some((_, family))) => {
            let is_named_later = ["SOCK_STREAM", "SOCK_DGRAM"].iter().any(|kind| family.contains(kind));
            ["AF_UNIX", "AF_NETLINK"].iter().any(|known| family.starts_with(known))
                || (family.starts_with("AF_INET") && is_named_later)
        }
        // Sent over a connection that was seen, or the second half of an interrupted call.
        (None, None) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_computer_are_local() {
        for (call, expected) in [
            ("7 socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0) = 5", true),
            ("7 socket(AF_NETLINK, SOCK_RAW|SOCK_CLOEXEC, NETLINK_ROUTE) = 5", true),
            ("7 socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 5", true),
            ("7 socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) = 5", false),
            ("7 socket(AF_PACKET, SOCK_RAW, 0) = 5", false),
            (r#"7 connect(5, {sa_family=AF_UNIX, sun_path="/tmp/.X11-unix/X1"}, 20) = 0"#, true),
            (
                r#"7 connect(5, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0"#,
                true,
            ),
            (
                r#"7 connect(5, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.1")}, 16) = 0"#,
                false,
            ),
            (
                r#"7 bind(5, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("0.0.0.0")}, 16) = 0"#,
                false,
            ),
            (
                r#"7 connect(5, {sa_family=AF_INET6, sin6_port=htons(1), inet_pton(AF_INET6, "::1", &sin6_addr)}, 28) = 0"#,
                true,
            ),
            (
                r#"7 connect(5, {sa_family=AF_INET6, sin6_port=htons(1), inet_pton(AF_INET6, "2001:db8::1", &sin6_addr)}, 28) = -1"#,
                false,
            ),
            (
                r#"7 sendto(5, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("9.9.9.9")}, 16 <unfinished ...>"#,
                false,
            ),
            (r#"7 sendto(5, "x", 1, MSG_NOSIGNAL, NULL, 0) = 1"#, true),
            ("7 <... connect resumed>) = 0", true),
        ] {
            assert_eq!(is_local(call), expected, "{call}");
        }
    }

    #[test]
    fn what_differs_between_runs_is_left_out() {
        let names = [("/tmp/dbx1Y".to_owned(), "ROOT"), ("htons(4711)".to_owned(), "API")];
        let used = |call: &str| used(call, &names);
        for (call, expected) in [
            (
                "7 socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 5",
                Some("socket AF_INET, SOCK_STREAM, IPPROTO_TCP"),
            ),
            ("7 socket(AF_UNIX, SOCK_STREAM, 0 <unfinished ...>", Some("socket AF_UNIX, SOCK_STREAM, 0")),
            (
                r#"7 bind(5, {sa_family=AF_UNIX, sun_path="/tmp/dbx1Y/12/a34.sock"}, 20) = 0"#,
                Some(r##"bind AF_UNIX, sun_path="ROOT/#/a#.sock""##),
            ),
            (
                r#"7 connect(5, {sa_family=AF_INET, sin_port=htons(4711), sin_addr=inet_addr("127.0.0.1")}, 16) = 0"#,
                Some(r#"connect AF_INET, sin_port=API, sin_addr=inet_addr("127.0.0.1")"#),
            ),
            (r#"7 sendto(5, "x", 1, MSG_NOSIGNAL, NULL, 0) = 1"#, None),
            ("7 <... connect resumed>) = 0", None),
        ] {
            assert_eq!(used(call).as_deref(), expected, "{call}");
        }
    }

    #[test]
    fn a_bound_address_of_the_internet_is_a_port() {
        let bound = |address: &str| format!("7 bind(5, {{sa_family={address}}}, 16) = 0");
        let inet = "AF_INET, sin_port=htons(4096), sin_addr=inet_addr(\"127.0.0.1\")";
        assert!(is_port(&bound(inet)));
        assert!(is_port(&bound("AF_INET6, sin6_port=htons(1)")));
        assert!(!is_port(&bound("AF_UNIX, sun_path=\"/run/x\"")));
        assert!(!is_port(&bound(inet).replace("bind", "connect")));
    }
}

//! A real sshd on loopback, whose user has an environment of its own: another machine.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// Its name for ssh.
pub const HOST: &str = "box";

const PROGRAM: &str = "/usr/sbin/sshd";

/// The server, which ends with this value.
pub struct Sshd {
    bin: PathBuf,
    port: u16,
    folder: TempDir,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "it ends with this value"))]
    server: Child,
}

/// Whether it can be started here.
pub fn is_installed() -> bool {
    Path::new(PROGRAM).is_file()
}

impl Sshd {
    /// Starts it with keys of its own. Each connection has these variables, which have no spaces.
    pub async fn start<N: AsRef<str>, V: AsRef<str>>(environment: &[(N, V)]) -> Result<Self> {
        Self::start_with(environment, "", "accept-new").await
    }

    /// In the same way, but ssh does not know the host, and the user's key has a passphrase.
    pub async fn start_asking<N: AsRef<str>, V: AsRef<str>>(
        environment: &[(N, V)],
        passphrase: &str,
    ) -> Result<Self> {
        Self::start_with(environment, passphrase, "ask").await
    }

    async fn start_with<N: AsRef<str>, V: AsRef<str>>(
        environment: &[(N, V)],
        passphrase: &str,
        unknown_hosts: &str,
    ) -> Result<Self> {
        let folder = tempfile::tempdir().context("making a temporary folder")?;
        let at = |name: &str| folder.path().join(name).display().to_string();
        for (key, passphrase) in [("host", ""), ("key", passphrase)] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", passphrase, "-f", &at(key)])
                .status();
            ensure!(made.await.context("starting ssh-keygen")?.success(), "ssh-keygen failed");
        }
        fs::copy(at("key.pub"), at("authorized"))?;
        // sshd that root has started wants this folder, which its service makes.
        if rustix::process::geteuid().is_root() {
            fs::create_dir_all("/run/sshd")?;
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let variables: Vec<String> =
            environment.iter().map(|(name, value)| format!("{}={}", name.as_ref(), value.as_ref())).collect();
        let (host, authorized, variables) = (at("host"), at("authorized"), variables.join(" "));
        let settings = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {host}\nAuthorizedKeysFile {authorized}\nPidFile none\n\
             UsePAM no\nStrictModes no\nPasswordAuthentication no\nSetEnv {variables}\n",
        );
        fs::write(at("sshd_config"), settings)?;
        let server = run(folder.path())?;
        // It may not listen yet at the first connection: ssh tries again after a second.
        let (key, known) = (at("key"), at("known"));
        let settings = format!(
            "Host {HOST}\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {key}\n  IdentitiesOnly yes\n  \
             UserKnownHostsFile {known}\n  StrictHostKeyChecking {unknown_hosts}\n  ConnectionAttempts 20\n",
        );
        fs::write(at("ssh_config"), settings)?;
        let ssh = folder.path().join("bin/ssh");
        fs::create_dir(folder.path().join("bin"))?;
        fs::write(&ssh, format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", at("ssh_config")))?;
        fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755))?;
        Ok(Self { bin: folder.path().join("bin"), port, folder, server })
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The file that makes ssh know the host. It is an argument of each ssh that leads there.
    pub fn configuration(&self) -> PathBuf {
        self.folder.path().join("ssh_config")
    }

    /// Makes ssh connect to another port, whose listener passes on what it gets.
    pub fn reach_through(&self, port: u16) -> Result<()> {
        let configuration = fs::read_to_string(self.configuration())?;
        let (from, to) = (format!("Port {}\n", self.port), format!("Port {port}\n"));
        Ok(fs::write(self.configuration(), configuration.replace(&from, &to))?)
    }

    /// Kills the server with all of its connections, and starts it again with the same keys.
    #[cfg(target_os = "linux")]
    pub async fn restart(&mut self) -> Result<()> {
        let pid = self.server.id().context("sshd runs")?;
        let connections = descendants(pid);
        self.server.kill().await.context("killing sshd")?;
        for process in connections {
            // It may have ended with the server.
            let _ = crate::real_cli::process::kill(process);
        }
        self.server = run(self.folder.path())?;
        Ok(())
    }

    /// The folder with an `ssh` that knows the host, for the PATH of the near machine.
    pub fn bin(&self) -> &Path {
        &self.bin
    }
}

fn run(folder: &Path) -> Result<Child> {
    let mut command = Command::new(PROGRAM);
    command.arg("-D").arg("-f").arg(folder.join("sshd_config")).arg("-E").arg(folder.join("log"));
    command.stdin(Stdio::null()).kill_on_drop(true).spawn().context("starting sshd")
}

/// The processes below this one that have not been given another parent.
#[cfg(target_os = "linux")]
fn descendants(pid: u32) -> Vec<u32> {
    let children = |pid: u32| {
        let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        listed.split_whitespace().filter_map(|child| child.parse().ok()).collect::<Vec<u32>>()
    };
    let mut found = children(pid);
    let mut at = 0;
    while let Some(next) = found.get(at) {
        found.extend(children(*next));
        at += 1;
    }
    found
}

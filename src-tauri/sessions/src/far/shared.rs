//! Shared connections: one of ssh for each machine, which further ones join. So the user is asked once, and a folder is
//! listed without another login.

use deskbell_engine::api::RemoteMachine;
use deskbell_engine::disk;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// ssh keeps the connection for this long after its last use, in seconds.
const PERSIST: &str = "-oControlPersist=60";
const MASTER: &str = "-oControlMaster=auto";

/// Timeout of ssh when it only prints its configuration or closes a shared connection.
const LOCAL: Duration = Duration::from_secs(5);

/// The longest configuration that is read, in bytes.
const MAX_CONFIGURATION: u64 = 1 << 20;

/// The shared connections of one app, by machine.
#[derive(Default)]
pub(super) struct SharedConnections(Mutex<HashMap<String, Arc<tokio::sync::Mutex<Slot>>>>);

impl SharedConnections {
    /// The slot of a machine. It is locked while a connection is made: the second of two windows joins the first one's.
    pub fn slot(&self, machine: &RemoteMachine) -> Arc<tokio::sync::Mutex<Slot>> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.entry(machine.to_string()).or_default().clone()
    }

    /// Closes what is shared. A slot that is locked is being connected; ssh closes that one when its time is over.
    pub async fn close(&self, environment: &[(&'static str, OsString)]) {
        let slots: Vec<(String, Arc<tokio::sync::Mutex<Slot>>)> = {
            let slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            slots.iter().map(|(name, slot)| (name.clone(), slot.clone())).collect()
        };
        let mut closing = tokio::task::JoinSet::new();
        for (name, slot) in slots {
            let (Ok(mut slot), Ok(machine)) = (slot.try_lock(), name.parse()) else { continue };
            slot.is_up = false;
            if let Some(folder) = slot.folder.take() {
                closing.spawn(end("exit", machine, folder, environment.to_vec()));
            }
        }
        while closing.join_next().await.is_some() {}
    }
}

/// How the connections of a machine are shared.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sharing {
    /// By a socket of Deskbell.
    Own,
    /// By the one of the user's configuration, with these options in addition.
    OfUser(Vec<&'static str>),
    /// Not at all: this ssh does not print its configuration.
    None,
}

/// The shared connection of one machine.
#[derive(Default)]
pub(super) struct Slot {
    sharing: Option<Sharing>,
    /// The folder of the socket. A connection that fails leaves it, so that the next one is a new one.
    pub folder: Option<PathBuf>,
    /// A connection was made through it, so the next one joins it.
    pub is_up: bool,
    /// A connection was begun and did not succeed yet; also one whose caller gave up.
    pub is_in_doubt: bool,
    /// A connection that used it did not answer and was given up.
    pub is_doubtful: Arc<AtomicBool>,
}

impl Slot {
    /// The options that share the connection. `parent` is where the folders of sockets are.
    pub async fn options(
        &mut self,
        machine: &RemoteMachine,
        parent: &Path,
        environment: &[(&'static str, OsString)],
    ) -> Vec<OsString> {
        if self.sharing.is_none() {
            self.sharing = Some(sharing_in(configuration(machine, environment).await.as_deref()));
        }
        if self.is_in_doubt {
            self.renew(machine, environment);
        }
        match &self.sharing {
            Some(Sharing::Own) => match self.folder_in(parent) {
                Ok(folder) => vec![MASTER.into(), PERSIST.into(), path_in(&folder)],
                Err(error) => {
                    tracing::warn!(%error, "the connection is not shared");
                    Vec::new()
                }
            },
            Some(Sharing::OfUser(options)) => options.iter().map(OsString::from).collect(),
            Some(Sharing::None) | None => Vec::new(),
        }
    }

    fn folder_in(&mut self, parent: &Path) -> std::io::Result<PathBuf> {
        if let Some(folder) = &self.folder {
            return Ok(folder.clone());
        }
        let folder = new_folder(parent)?;
        Ok(self.folder.insert(folder).clone())
    }

    /// The folder of another socket, and the options that share a connection by it.
    pub fn replacement(&self, parent: &Path) -> Option<(PathBuf, Vec<OsString>)> {
        match new_folder(parent) {
            Ok(folder) => {
                let options = vec![MASTER.into(), PERSIST.into(), path_in(&folder)];
                Some((folder, options))
            }
            Err(error) => {
                tracing::warn!(%error, "no second connection is made");
                None
            }
        }
    }

    /// Closes the shared connection of a folder, as [`end`] does.
    pub fn leave(
        &self,
        folder: Option<PathBuf>,
        how: &'static str,
        machine: &RemoteMachine,
        environment: &[(&'static str, OsString)],
    ) {
        if let Some(folder) = folder {
            tokio::spawn(end(how, machine.clone(), folder, environment.to_vec()));
        }
    }

    /// Leaves the connection, which may be dead, to itself: the next one has another socket.
    pub fn renew(&mut self, machine: &RemoteMachine, environment: &[(&'static str, OsString)]) {
        (self.is_up, self.is_in_doubt) = (false, false);
        let folder = self.folder.take();
        // What it carries goes on, if it is alive.
        self.leave(folder, "stop", machine, environment);
    }

    /// The options of a connection that joins one of Deskbell's; `None` if there is none to join.
    ///
    /// The joined one may be dead; then a new socket is better. By itself ssh would make a connection of its own then, and
    /// not share it if the socket is still there (OpenSSH 9.2), so that one is made to fail. The socket is named as it is:
    /// `ProxyCommand` would make `%C` another name for a machine that is reached by a `ProxyJump`.
    pub fn joins(&self) -> Option<Vec<OsString>> {
        if !self.is_up || self.sharing != Some(Sharing::Own) {
            return None;
        }
        let sockets = disk::list(self.folder.as_ref()?, 2).ok()?.paths;
        let mut path = OsString::from("-oControlPath=");
        path.push(sockets.first()?);
        Some(vec!["-oControlMaster=no".into(), path, "-oProxyCommand=false".into()])
    }

    /// Whether connections wait for each other.
    pub fn is_shared(&self) -> bool {
        !matches!(self.sharing, Some(Sharing::None))
    }
}

fn new_folder(parent: &Path) -> std::io::Result<PathBuf> {
    let name = uuid::Uuid::new_v4().simple().to_string();
    let folder = parent.join(&name[..4]);
    deskbell_server::socket::own_folder(&folder).map_err(std::io::Error::other)?;
    Ok(folder)
}

/// `%C` is a hash of the connection's address and user. The name of the folder is random and has plain characters only.
fn path_in(folder: &Path) -> OsString {
    let mut path = OsString::from("-oControlPath=");
    path.push(folder.join("%C"));
    path
}

/// Reads ssh's configuration for a machine: a user who shares connections already keeps their own way.
fn sharing_in(configuration: Option<&str>) -> Sharing {
    let Some(configuration) = configuration else { return Sharing::None };
    let value = |name: &str| {
        let line = configuration.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map(str::trim).filter(|value| !matches!(*value, "none" | "no" | "false"))
    };
    if value("controlpath").is_none() {
        return Sharing::Own;
    }
    let missing = [("controlmaster", MASTER), ("controlpersist", PERSIST)];
    Sharing::OfUser(
        missing.iter().filter(|(name, _)| value(name).is_none()).map(|(_, option)| *option).collect(),
    )
}

/// What ssh's configuration says about a machine; `None` if this ssh does not print it.
async fn configuration(machine: &RemoteMachine, environment: &[(&'static str, OsString)]) -> Option<String> {
    let mut ssh = ssh(environment);
    ssh.args(["-G", "--", machine.name()]).stdout(Stdio::piped());
    let reading = async {
        let mut child = ssh.spawn()?;
        let mut text = String::new();
        let stdout = child.stdout.take().ok_or_else(|| std::io::Error::other("it has no pipe"))?;
        stdout.take(MAX_CONFIGURATION).read_to_string(&mut text).await?;
        std::io::Result::Ok(child.wait().await?.success().then_some(text))
    };
    match tokio::time::timeout(LOCAL, reading).await {
        // Every ssh that knows the option prints this line.
        Ok(Ok(text)) => text.filter(|text| text.lines().any(|line| line.starts_with("hostname "))),
        Ok(Err(error)) => {
            tracing::debug!(%error, "ssh did not print its configuration");
            None
        }
        Err(_) => None,
    }
}

/// Closes the shared connection of a folder (`exit`), or to further ones (`stop`), and removes the folder.
async fn end(
    how: &'static str,
    machine: RemoteMachine,
    folder: PathBuf,
    environment: Vec<(&'static str, OsString)>,
) {
    let mut ssh = ssh(&environment);
    ssh.arg(path_in(&folder)).args(["-O", how, "--", machine.name()]).stdout(Stdio::null());
    match tokio::time::timeout(LOCAL, ssh.status()).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a shared connection could not be closed"),
        // It ends by itself: its machine does not answer, or nothing uses it.
        Err(_) => tracing::debug!("a shared connection does not answer"),
    }
    if let Err(error) = std::fs::remove_dir_all(&folder) {
        tracing::debug!(%error, "the folder of a shared connection could not be removed");
    }
}

fn ssh(environment: &[(&'static str, OsString)]) -> Command {
    let mut ssh = Command::new("ssh");
    ssh.envs(environment.iter().map(|(name, value)| (name, value)));
    ssh.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    ssh
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_who_shares_connections_keeps_their_way() {
        let none = "hostname box\ncontrolmaster false\ncontrolpersist no\n";
        assert_eq!(sharing_in(Some(none)), Sharing::Own);
        assert_eq!(sharing_in(Some(&format!("{none}controlpath none\n"))), Sharing::Own);
        let path = "controlpath /home/me/.ssh/%C\n";
        assert_eq!(sharing_in(Some(&format!("{none}{path}"))), Sharing::OfUser(vec![MASTER, PERSIST]));
        let all = format!("controlmaster auto\ncontrolpersist 3600\n{path}");
        assert_eq!(sharing_in(Some(&all)), Sharing::OfUser(Vec::new()));
        assert_eq!(sharing_in(None), Sharing::None);
    }
}

//! The connections of one app to other machines: the folder of their sockets, and what ssh is started with.

#[cfg(unix)]
use super::questions::Listener;
#[cfg(unix)]
use super::shared::SharedConnections;
use super::{AskWindow, Unanswered};
#[cfg(unix)]
use deskbell_engine::api::RemoteMachine;
use deskbell_server::socket;
use std::ffi::OsString;
#[cfg(unix)]
use std::io;
use std::path::PathBuf;
#[cfg(unix)]
use std::sync::{Mutex, PoisonError};

/// Without a window ssh asks nothing: it would ask through whatever dialog the desktop has, and wait for it.
const NO_QUESTIONS: &str = "-oBatchMode=yes";

/// For the connection itself. A question has a timeout of its own.
const TIMEOUT: &str = "-oConnectTimeout=15";

/// The longest folder of sockets, in bytes: the path of a socket in it has up to 63 more, with what
/// ssh appends while it makes one, and a path at most 103.
#[cfg(unix)]
const MAX_FOLDER: usize = 40;

/// The connections of one app.
#[derive(Default)]
pub struct Connections {
    /// Deskbell, as the program that ssh asks through; this program unless a test names another one.
    program: Option<PathBuf>,
    /// Further variables of ssh.
    environment: Vec<(&'static str, OsString)>,
    /// Made for the first connection that needs it.
    #[cfg(unix)]
    folder: Mutex<Option<PathBuf>>,
    #[cfg(unix)]
    pub(super) shared: SharedConnections,
}

/// What the program of one connection is started with.
#[derive(Default)]
pub struct Way {
    pub options: Vec<OsString>,
    pub environment: Vec<(&'static str, OsString)>,
    #[cfg(unix)]
    listener: Option<Listener>,
}

impl Way {
    /// Waits until a question of ssh was not answered.
    pub async fn unanswered(&self) -> Unanswered {
        #[cfg(unix)]
        if let Some(listener) = &self.listener {
            return listener.unanswered().await;
        }
        std::future::pending().await
    }
}

impl Connections {
    /// `program`: Deskbell, as the program that ssh asks through. `path`: the folders in which ssh is searched.
    pub fn through(program: PathBuf, path: OsString) -> Self {
        let mut connections = Self::default();
        connections.program = Some(program);
        connections.environment.push(("PATH", path));
        connections
    }

    /// How a machine is reached. Its questions go to the window; without one nothing is asked.
    pub(super) fn way(&self, machine: &RemoteMachine, window: Option<AskWindow>) -> Way {
        let mut way = Way { environment: self.environment.clone(), ..Way::default() };
        if !machine.is_ssh() {
            return way;
        }
        way.options.push(TIMEOUT.into());
        #[cfg(unix)]
        if let Some(window) = window {
            match self.listener(machine, window) {
                Ok(listener) => {
                    way.environment.extend(listener.environment());
                    way.listener = Some(listener);
                    return way;
                }
                Err(error) => tracing::error!(%error, "the questions of ssh cannot be received"),
            }
        }
        // Windows has no such socket for it yet.
        #[cfg(not(unix))]
        drop(window);
        way.options.push(NO_QUESTIONS.into());
        way
    }
}

#[cfg(not(unix))]
impl Connections {
    /// Nothing is shared on this system.
    pub async fn close(&self) {}
}

#[cfg(unix)]
impl Connections {
    fn listener(&self, machine: &RemoteMachine, window: AskWindow) -> io::Result<Listener> {
        let program = self.program.clone().map_or_else(std::env::current_exe, Ok)?;
        Listener::open(&self.folder()?, program, machine.to_string(), window)
    }

    pub(super) fn environment(&self) -> &[(&'static str, OsString)] {
        &self.environment
    }

    /// Closes the shared connections. Those that are left end when nothing has used them for a minute.
    pub async fn close(&self) {
        self.shared.close(&self.environment).await;
        self.remove_folder();
    }

    /// The folder of the sockets, which only this user can enter. Its name is random.
    pub(super) fn folder(&self) -> io::Result<PathBuf> {
        let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = folder.as_ref() {
            return Ok(folder.clone());
        }
        let made = free_folder(dirs::runtime_dir());
        socket::own_folder(&made).map_err(io::Error::other)?;
        Ok(folder.insert(made).clone())
    }
}

#[cfg(unix)]
impl Connections {
    fn remove_folder(&self) {
        let folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(folder) = folder
            && let Err(error) = std::fs::remove_dir(&folder)
        {
            tracing::debug!(%error, "the folder of sockets is not empty");
        }
    }
}

#[cfg(unix)]
impl Drop for Connections {
    fn drop(&mut self) {
        self.remove_folder();
    }
}

/// A new name in the folder of this login, or in the one for temporary files where that is missing, too long for a
/// socket, or has characters that mean something to ssh.
#[cfg(unix)]
fn free_folder(runtime: Option<PathBuf>) -> PathBuf {
    let name = uuid::Uuid::new_v4().simple().to_string();
    let name = format!("deskbell-{}", &name[..8]);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    let fits = |folder: &PathBuf| {
        let is_short = folder.as_os_str().len() <= MAX_FOLDER;
        is_short && folder.to_str().is_some_and(|text| text.chars().all(is_plain))
    };
    let in_runtime = runtime.map(|runtime| runtime.join(&name)).filter(fits);
    in_runtime.unwrap_or_else(|| PathBuf::from("/tmp").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_asked_where_there_is_no_window() {
        let way = Connections::default().way(&"box".parse().unwrap(), None);
        assert_eq!(way.options, [TIMEOUT, NO_QUESTIONS]);
        assert!(way.environment.is_empty());
        let container = Connections::default().way(&"docker:web".parse().unwrap(), None);
        assert!(container.options.is_empty() && container.environment.is_empty());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn with_a_window_ssh_asks_through_deskbell() {
        let connections = Connections::through("/usr/bin/deskbell".into(), "/usr/bin".into());
        let (window, _questions) = tokio::sync::mpsc::unbounded_channel();
        let way = connections.way(&"box".parse().unwrap(), Some(window));
        assert_eq!(way.options, [TIMEOUT]);
        let of =
            |name: &str| way.environment.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
        assert_eq!(of("SSH_ASKPASS").unwrap(), "/usr/bin/deskbell");
        assert_eq!(of("SSH_ASKPASS_REQUIRE").unwrap(), "force");
        let folder = connections.folder().unwrap();
        drop(way);
        drop(connections);
        assert!(!folder.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_socket_has_room_in_its_folder() {
        assert!(free_folder(Some("/run/user/1000".into())).starts_with("/run/user/1000"));
        for odd in
            [None, Some("/a b".into()), Some("/%h".into()), Some(format!("/{}", "x".repeat(30)).into())]
        {
            assert!(free_folder(odd).starts_with("/tmp"));
        }
    }
}

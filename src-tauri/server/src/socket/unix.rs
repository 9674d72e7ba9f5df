//! A Unix socket: in a folder and with a mode that only its user can open.
//!
//! tokio's Unix sockets suffice: they report the peer's user (SO_PEERCRED, getpeereid), and no other crate is needed.

use super::{SocketError, failed};
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use tokio::net::{UnixListener, UnixStream};

pub use tokio::net::UnixStream as Stream;
pub use tokio::net::unix::{OwnedReadHalf as ReadHalf, OwnedWriteHalf as WriteHalf};

/// The longest path of a socket: 108 bytes on Linux and 104 on macOS, with the final zero.
const MAX_PATH: usize = 103;

fn user() -> u32 {
    // SAFETY: geteuid has no preconditions and cannot fail.
    unsafe { libc::geteuid() }
}

/// Creates the folder if it is missing. Refuses one that another user owns or can enter.
pub fn own_folder(folder: &Path) -> Result<(), SocketError> {
    let made = fs::DirBuilder::new().mode(0o700).recursive(true).create(folder);
    match made {
        // What is there is judged by `check`; a link or a file is not a folder of ours.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(folder)(error)),
        _ => {}
    }
    check(folder, "a folder", fs::FileType::is_dir)
}

/// Checks that something of this kind is at the path itself, is owned by this user, and is closed to all others.
fn check(path: &Path, kind: &str, is_kind: impl Fn(&fs::FileType) -> bool) -> Result<(), SocketError> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(SocketError::NoServer),
        found => found.map_err(failed(path))?,
    };
    let mode = found.permissions().mode() & 0o777;
    let problem = if found.file_type().is_symlink() {
        "it is a symbolic link".to_owned()
    } else if !is_kind(&found.file_type()) {
        format!("it is not {kind}")
    } else if found.uid() != user() {
        format!("it belongs to user {}, not to you", found.uid())
    } else if mode & 0o077 != 0 {
        format!("its mode is {mode:o}, so other users can open it; `chmod go=` closes it")
    } else {
        return Ok(());
    };
    Err(SocketError::Unsafe { path: path.to_owned(), problem })
}

fn check_length(path: &Path) -> Result<(), SocketError> {
    let length = path.as_os_str().len();
    if length <= MAX_PATH {
        return Ok(());
    }
    let problem = format!("the path of a socket has at most {MAX_PATH} bytes, and this one has {length}");
    Err(SocketError::Unsafe { path: path.to_owned(), problem })
}

/// Accepts connections.
pub struct Listener(UnixListener);

impl Listener {
    /// The next connection. Its user is not checked yet ([`is_same_user`]).
    pub async fn accept(&mut self) -> io::Result<UnixStream> {
        Ok(self.0.accept().await?.0)
    }
}

/// Listens at the path, with mode 0600 in a checked folder. The caller has the lock of the server, so a socket that is
/// there was left by a server that was killed.
pub fn listen(path: &Path) -> Result<Listener, SocketError> {
    check_length(path)?;
    if let Some(folder) = path.parent() {
        own_folder(folder)?;
    }
    match check(path, "a socket", fs::FileType::is_socket) {
        Ok(()) => fs::remove_file(path).map_err(failed(path))?,
        Err(SocketError::NoServer) => {}
        Err(error) => return Err(error),
    }
    let listener = UnixListener::bind(path).map_err(failed(path))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed(path))?;
    Ok(Listener(listener))
}

/// Connects to the server at the path, if it is this user's.
pub async fn connect(path: &Path) -> Result<UnixStream, SocketError> {
    check_length(path)?;
    if let Some(folder) = path.parent() {
        check(folder, "a folder", fs::FileType::is_dir)?;
    }
    check(path, "a socket", fs::FileType::is_socket)?;
    let stream = match UnixStream::connect(path).await {
        Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {
            return Err(SocketError::NoServer);
        }
        stream => stream.map_err(failed(path))?,
    };
    if is_same_user(&stream).map_err(failed(path))? {
        Ok(stream)
    } else {
        let problem = "another user listens there".to_owned();
        Err(SocketError::Unsafe { path: path.to_owned(), problem })
    }
}

/// Whether the process at the other end belongs to this user. The superuser is not this user either.
pub fn is_same_user(stream: &UnixStream) -> io::Result<bool> {
    Ok(stream.peer_cred()?.uid() == user())
}

/// The name of this machine.
pub fn host_name() -> Option<String> {
    let mut name = [0_u8; 256];
    // SAFETY: the buffer is as long as the call is given, less the last byte, which stays zero.
    let failed = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } != 0;
    let length = name.iter().position(|byte| *byte == 0)?;
    let name = String::from_utf8_lossy(&name[..length]).into_owned();
    Some(name).filter(|name| !failed && !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn problem(result: Result<impl Sized, SocketError>) -> String {
        match result {
            Err(error) => error.to_string(),
            Ok(_) => "no problem".to_owned(),
        }
    }

    #[tokio::test]
    async fn only_a_socket_of_this_user_in_a_closed_folder_is_used() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("a/b");
        let path = folder.join("s");
        assert!(matches!(connect(&path).await, Err(SocketError::NoServer)));
        let listener = listen(&path).unwrap();
        assert_eq!(fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::symlink_metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(is_same_user(&connect(&path).await.unwrap()).unwrap());
        drop(listener);
        assert!(matches!(connect(&path).await, Err(SocketError::NoServer)), "nothing listens");
        drop(listen(&path).unwrap());

        fs::set_permissions(&path, fs::Permissions::from_mode(0o660)).unwrap();
        assert!(problem(connect(&path).await).contains("its mode is 660"));
        assert!(problem(listen(&path)).contains("its mode is 660"));
        fs::remove_file(&path).unwrap();
        symlink(temp.path().join("elsewhere"), &path).unwrap();
        assert!(problem(connect(&path).await).contains("symbolic link"));
        assert!(problem(listen(&path)).contains("symbolic link"));
        assert!(!temp.path().join("elsewhere").exists());
        fs::remove_file(&path).unwrap();
        fs::write(&path, "kept").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(problem(listen(&path)).contains("not a socket"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
    }

    #[tokio::test]
    async fn a_folder_that_others_can_enter_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("f");
        own_folder(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o750)).unwrap();
        assert!(problem(listen(&folder.join("s"))).contains("its mode is 750"));
        assert!(problem(connect(&folder.join("s")).await).contains("its mode is 750"));
        let link = temp.path().join("link");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        symlink(&folder, &link).unwrap();
        assert!(problem(listen(&link.join("s"))).contains("symbolic link"));
        let long = folder.join("x".repeat(120));
        assert!(problem(listen(&long)).contains("at most 103 bytes"));
    }

    /// Needs the superuser, who can give a file away.
    #[tokio::test]
    async fn a_folder_of_another_user_is_refused() {
        if user() != 0 {
            eprintln!("skipped: only the superuser can make a folder of another user");
            return;
        }
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("f");
        own_folder(&folder).unwrap();
        std::os::unix::fs::chown(&folder, Some(65_534), None).unwrap();
        assert!(problem(listen(&folder.join("s"))).contains("belongs to user 65534"));
        assert!(problem(connect(&folder.join("s")).await).contains("belongs to user 65534"));
    }
}

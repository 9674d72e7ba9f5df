//! Traps for tests: things that a path may contain instead of a readable file.

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// A thing in place of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    #[cfg_attr(not(unix), expect(dead_code))]
    Pipe,
    #[cfg_attr(not(unix), expect(dead_code))]
    Socket,
    /// A link to an endless device.
    #[cfg_attr(not(unix), expect(dead_code))]
    Device,
    Folder,
    #[cfg_attr(not(unix), expect(dead_code))]
    DanglingLink,
    /// A sparse file of 1 GiB.
    Huge,
    #[cfg_attr(not(unix), expect(dead_code))]
    Unreadable,
}

/// The traps that this system can create: root can read every file, and other systems lack some file kinds.
pub fn all() -> Vec<Trap> {
    let mut traps = vec![Trap::Folder, Trap::Huge];
    #[cfg(unix)]
    {
        traps.extend([Trap::Pipe, Trap::Socket, Trap::Device, Trap::DanglingLink]);
        // SAFETY: geteuid cannot fail.
        if unsafe { libc::geteuid() } == 0 {
            eprintln!("skipped: a file that may not be read, because root may read every file");
        } else {
            traps.push(Trap::Unreadable);
        }
    }
    traps
}

impl Trap {
    /// Creates the trap and its parent folders.
    pub fn put_at(self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match self {
            Self::Folder => fs::create_dir(path).unwrap(),
            Self::Huge => fs::File::create(path).unwrap().set_len(1 << 30).unwrap(),
            #[cfg(unix)]
            Self::Pipe => {
                let path = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
                // SAFETY: the path is a C string.
                assert_eq!(
                    unsafe { libc::mkfifo(path.as_ptr(), 0o600) },
                    0,
                    "{}",
                    std::io::Error::last_os_error()
                );
            }
            #[cfg(unix)]
            Self::Socket => drop(std::os::unix::net::UnixListener::bind(path).unwrap()),
            #[cfg(unix)]
            Self::Device => std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
            #[cfg(unix)]
            Self::DanglingLink => std::os::unix::fs::symlink("nowhere", path).unwrap(),
            #[cfg(unix)]
            Self::Unreadable => {
                fs::write(path, "secret").unwrap();
                fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
            }
            #[cfg(not(unix))]
            other => unreachable!("{other:?} cannot be made here"),
        }
    }

    /// Is the trap at the path?
    pub fn is_at(self, path: &Path) -> bool {
        let Ok(metadata) = fs::symlink_metadata(path) else { return false };
        match self {
            Self::Folder => metadata.is_dir(),
            Self::Huge => metadata.len() == 1 << 30,
            Self::Device | Self::DanglingLink => metadata.is_symlink(),
            Self::Unreadable => metadata.is_file(),
            #[cfg(unix)]
            Self::Pipe => std::os::unix::fs::FileTypeExt::is_fifo(&metadata.file_type()),
            #[cfg(unix)]
            Self::Socket => std::os::unix::fs::FileTypeExt::is_socket(&metadata.file_type()),
            #[cfg(not(unix))]
            Self::Pipe | Self::Socket => false,
        }
    }
}

/// Runs work that must not block; panics after 20 s.
pub fn in_time<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, done) = mpsc::channel();
    let worker = std::thread::spawn(move || drop(sender.send(work())));
    match done.recv_timeout(Duration::from_secs(20)) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{name} hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => match worker.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => panic!("{name} gave nothing"),
        },
    }
}

//! A new Debian in a folder: made by debootstrap, with its mounts, its users, and the commands that run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{find, run};
use crate::scratch::Scratch;
use crate::{Outcome, system};

const MIRROR: &str = "http://deb.debian.org/debian";

/// The sockets of displays.
const SOCKETS: &str = "/tmp/.X11-unix";
/// Variables of a virtual display that name folders of this system.
const NOT_THERE: [&str; 6] = [
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// The folder that stands for the root of a system. It is unmounted and removed with its owner.
pub struct CleanRoot {
    folder: PathBuf,
    mounted: Vec<PathBuf>,
    /// Removed last.
    scratch: Scratch,
}

impl CleanRoot {
    /// The reason why no new system can be made here, if there is one.
    pub fn obstacle() -> Option<&'static str> {
        if !system::is_root() {
            return Some("a new system can only be made by root");
        }
        find("debootstrap").is_none().then_some("debootstrap is not installed")
    }

    /// Makes the smallest system of a release, with its processes and its shared memory.
    pub fn make(release: &str) -> Outcome<Self> {
        let scratch = Scratch::new()?;
        let mut root = Self { folder: scratch.path().join("root"), mounted: Vec::new(), scratch };
        // Root's programs must be able to enter it as another user.
        run(Command::new("chmod").arg("755").arg(root.scratch.path()))?;
        run(Command::new("debootstrap").args(["--variant=minbase", release]).arg(&root.folder).arg(MIRROR))?;
        root.mount(&["-t", "proc", "proc"], "/proc")?;
        // WebKit shares memory between its processes.
        root.mount(&["-t", "tmpfs", "-o", "mode=1777", "tmpfs"], "/dev/shm")?;
        Ok(root)
    }

    /// Shows the sockets of this system's displays there. They are among the temporary files.
    pub fn mount_displays(&mut self) -> Outcome {
        self.bind(Path::new(SOCKETS), SOCKETS)
    }

    /// Shows a folder of this system there, which nothing there can change.
    pub fn bind(&mut self, folder: &Path, place: &str) -> Outcome {
        self.mount(&["-o", "bind,ro", &folder.to_string_lossy()], place)
    }

    fn mount(&mut self, arguments: &[&str], place: &str) -> Outcome {
        let place = self.path(place);
        fs::create_dir_all(&place).map_err(|error| format!("could not make {}: {error}", place.display()))?;
        run(Command::new("mount").args(arguments).arg(&place))?;
        self.mounted.push(place);
        Ok(())
    }

    /// The path here of a file there.
    pub fn path(&self, there: &str) -> PathBuf {
        self.folder.join(there.trim_start_matches('/'))
    }

    /// A temporary folder of this system that is removed with the new one.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Makes a user with a home and an empty folder in it, and returns the folder's path there.
    pub fn add_user(&self, user: &str, folder: &str) -> Outcome<String> {
        run(self.command("useradd").args(["--create-home", user]))?;
        let folder = format!("/home/{user}/{folder}");
        run(self.as_user(user).args(["mkdir", &folder]))?;
        Ok(folder)
    }

    /// A program of the new system, as its root.
    pub fn command(&self, program: &str) -> Command {
        // By its path, because the user there may not have the folder in `PATH`.
        let mut command = Command::new(find("chroot").unwrap_or_else(|| "chroot".into()));
        command.arg(&self.folder).arg(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("XDG_")) {
            command.env_remove(name);
        }
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C.UTF-8");
        command
    }

    /// A command there without rights: the program and its arguments are still to be added.
    pub fn as_user(&self, user: &str) -> Command {
        // It becomes the program, so that a signal reaches that; `runuser` stays as its parent.
        let mut command = self.command("setpriv");
        command.args([&format!("--reuid={user}"), &format!("--regid={user}"), "--init-groups", "--"]);
        command.env("HOME", format!("/home/{user}")).current_dir("/");
        command
    }

    /// The same for a program with a window on a virtual display of this system: the home is the user's own.
    pub fn with_window(&self, user: &str) -> Command {
        let mut command = self.as_user(user);
        command.arg("env");
        for name in NOT_THERE {
            command.arg(format!("--unset={name}"));
        }
        command.arg(format!("HOME=/home/{user}"));
        command
    }

    /// apt, which asks nothing.
    pub fn apt(&self) -> Command {
        let mut apt = self.command("env");
        apt.args([
            "DEBIAN_FRONTEND=noninteractive",
            "apt-get",
            "--quiet=2",
            "--option=Dpkg::Use-Pty=0",
            "--yes",
        ]);
        apt
    }
}

impl Drop for CleanRoot {
    fn drop(&mut self) {
        for place in self.mounted.iter().rev() {
            // The folder is removed afterwards: what stays mounted must not be emptied with it.
            let unmounted = Command::new("umount").arg(place).status();
            if !unmounted.is_ok_and(|status| status.success()) {
                eprintln!("xtask: {} is still mounted", place.display());
            }
        }
    }
}

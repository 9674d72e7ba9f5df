//! `cargo xtask package --install`: installs the built .deb in each supported Debian, new and with nothing else. Runs it
//! there as a user without rights, starts it from its desktop entry, upgrades it over an earlier version, and purges it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Checked;
use super::desktop_entry::DesktopEntry;
use super::installed_relay::ends_a_turn;
use super::kind::Kind;
use super::profile::Profile;
use crate::command::{find, read, run};
use crate::json::Json;
use crate::packages::Need;
use crate::process::Guarded;
use crate::project::APP;
use crate::scratch::Scratch;
use crate::{Outcome, demo, project, system};

/// The releases of Debian, 12 and 13, and where they come from.
const RELEASES: [&str; 2] = ["bookworm", "trixie"];
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

/// The users in the new system: one with a session that keeps running, and one who starts the app for the first time.
const USER: &str = "someone";
const NEW_USER: &str = "newcomer";
const PROJECT: &str = "/home/someone/project";
const FIRST_PROJECT: &str = "/home/newcomer/project";

/// Timeout for a line of the server.
const LIMIT: Duration = Duration::from_secs(60);

/// Checks the .deb that was built last.
pub fn check() -> Outcome<Checked> {
    if !system::is_root() {
        return Ok(Checked::Skipped("a new system can only be made by root".to_owned()));
    }
    if find("debootstrap").is_none() {
        return Ok(Checked::Skipped("debootstrap is not installed".to_owned()));
    }
    system::ensure(&[Need::Display])?;
    let package = super::built_package(Profile::Release, Kind::App, "deb")?;
    for release in RELEASES {
        println!("\n==== {release} ====");
        check_in(release, &package)?;
    }
    Ok(Checked::Works)
}

fn check_in(release: &'static str, package: &Path) -> Outcome {
    let scratch = Scratch::new()?;
    let mut root = Root { release, folder: scratch.path().join("root"), mounted: Vec::new() };
    // Root's programs must be able to enter it as another user.
    run(Command::new("chmod").arg("755").arg(scratch.path()))?;
    run(Command::new("debootstrap").args(["--variant=minbase", release]).arg(&root.folder).arg(MIRROR))?;
    root.mount(&["-t", "proc", "proc"], "proc")?;
    // WebKit shares memory between its processes, and the display has its socket among the temporary files.
    root.mount(&["-t", "tmpfs", "-o", "mode=1777", "tmpfs"], "dev/shm")?;
    root.mount(&["-o", "bind,ro", SOCKETS], SOCKETS.trim_start_matches('/'))?;
    root.check(package, &scratch)
}

/// The folder that stands for the root of a system. What is mounted in it is unmounted with its owner.
struct Root {
    release: &'static str,
    folder: PathBuf,
    mounted: Vec<PathBuf>,
}

impl Root {
    fn mount(&mut self, arguments: &[&str], place: &str) -> Outcome {
        let place = self.folder.join(place);
        fs::create_dir_all(&place).map_err(|error| format!("could not make {}: {error}", place.display()))?;
        run(Command::new("mount").args(arguments).arg(&place))?;
        self.mounted.push(place);
        Ok(())
    }

    fn check(&self, package: &Path, scratch: &Scratch) -> Outcome {
        for (user, project) in [(USER, PROJECT), (NEW_USER, FIRST_PROJECT)] {
            run(self.command("useradd").args(["--create-home", user]))?;
            run(self.as_one(user).args(["mkdir", project]))?;
        }

        let older = self.older(package, scratch)?;
        self.install(&older)?;
        let session = self.open_session()?;
        println!("The older version has the session {session}");

        self.install(&self.copy(package)?)?;
        let version = read(self.as_user().args([APP, "--version"]))?;
        if !version.contains(env!("CARGO_PKG_VERSION")) {
            return Err(format!("the installed app says that it is {version}"));
        }
        let listed = read(self.as_user().args([APP, "relay", "--list", "--json"]))?;
        if !listed.contains(&session) {
            return Err(format!("the session {session} was lost by the upgrade: {listed}"));
        }
        self.demo()?;
        self.start()?;
        run(self.as_user().args([APP, "relay", "--stop=all"]))?;

        let files = read(self.command("dpkg-query").args(["--listfiles", APP]))?;
        run(self.apt().args(["purge", APP]))?;
        let in_root = |file: &str| self.folder.join(file.trim_start_matches('/'));
        let left: Vec<&str> = files
            .lines()
            .filter(|file| fs::symlink_metadata(in_root(file)).is_ok_and(|data| !data.is_dir()))
            .collect();
        if !left.is_empty() || in_root("/usr/share/doc/deskbell").exists() {
            return Err(format!("purging left {left:?}"));
        }
        if !in_root("/home/someone/.local/share/deskbell").is_dir() {
            return Err("purging removed the user's own files".to_owned());
        }
        println!("Installed, upgraded with its session, started and purged in a new {}", self.release);
        Ok(())
    }

    /// The package as if it were of an earlier version.
    fn older(&self, package: &Path, scratch: &Scratch) -> Outcome<PathBuf> {
        let folder = scratch.path().join("older");
        run(Command::new("dpkg-deb").arg("--raw-extract").arg(package).arg(&folder))?;
        let control = folder.join("DEBIAN/control");
        let text = super::tree::read(&control)?;
        let line =
            text.lines().find(|line| line.starts_with("Version: ")).ok_or("the package has no version")?;
        fs::write(&control, text.replace(line, "Version: 0.0.1-1"))
            .map_err(|error| format!("could not write {}: {error}", control.display()))?;
        let older = scratch.path().join("older.deb");
        run(Command::new("dpkg-deb")
            .args(["--root-owner-group", "-Znone", "--build"])
            .arg(&folder)
            .arg(&older))?;
        self.copy(&older)
    }

    /// Copies a package into the system, and returns its path there.
    fn copy(&self, package: &Path) -> Outcome<PathBuf> {
        let name = package.file_name().ok_or("a package without a name")?;
        fs::copy(package, self.folder.join("root").join(name))
            .map_err(|error| format!("could not copy {}: {error}", package.display()))?;
        Ok(Path::new("/root").join(name))
    }

    fn install(&self, package: &Path) -> Outcome {
        run(self.apt().args(["--no-install-recommends", "install"]).arg(package))
    }

    /// Opens a session on a server of the user's own, and ends the server with it still saved.
    fn open_session(&self) -> Outcome<String> {
        let mut client = self.as_user();
        client.args([APP, "relay", "--attach", "--idle=1"]);
        let mut client = Guarded::spawn(client.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        let mut input = client.input()?;
        let mut lines = client.lines()?;
        let open =
            format!(r#"{{"type":"open","id":"1","session":{{"project":"{PROJECT}","agent":"demo"}}}}"#);
        writeln!(input, "{open}").map_err(|error| format!("could not write to the relay: {error}"))?;
        let found = lines.wait_for(Instant::now() + LIMIT, |line| line.contains(r#""type":"accepted""#));
        let line =
            found.map_err(|why| format!("the relay opened no session ({why:?}): {:?}", lines.seen()))?;
        drop(input);
        let session = Json::parse(&line)?.text("sessionId").to_owned();
        if session.is_empty() { Err(format!("the relay named no session: {line}")) } else { Ok(session) }
    }

    /// A turn of the demo agent.
    fn demo(&self) -> Outcome {
        let script = format!(
            r#"printf '%s\n' '{{"type":"prompt","text":"SAY hello"}}' | {APP} relay --project={PROJECT} --agent=demo"#
        );
        let events = read(self.as_user().args(["sh", "-c", &script]))?;
        ends_a_turn(&events)
    }

    /// Starts the window as a launcher would, and plays a conversation in it.
    fn start(&self) -> Outcome {
        let entries = self.folder.join("usr/share/applications/Deskbell.desktop");
        let words = DesktopEntry::read(&entries)?.exec(&demo::arguments(Path::new(FIRST_PROJECT)))?;
        println!("Starting {}", words.join(" "));
        let mut app = self.as_one(NEW_USER);
        app.arg("env");
        // Those of the display are folders of this system.
        for name in NOT_THERE {
            app.arg(format!("--unset={name}"));
        }
        app.arg(format!("HOME=/home/{NEW_USER}")).args(words);
        let screenshot = project::target().join(format!("deskbell-{}.png", self.release));
        let played = demo::play(&mut app, screenshot)?;
        for report in &played.reports {
            println!("  {report}");
        }
        println!("A picture of it lies at {}", played.screenshot.display());
        Ok(())
    }

    /// A program of the new system, as its root.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("chroot");
        command.arg(&self.folder).arg(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("XDG_")) {
            command.env_remove(name);
        }
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C.UTF-8");
        command
    }

    fn as_user(&self) -> Command {
        self.as_one(USER)
    }

    fn as_one(&self, user: &str) -> Command {
        // It becomes the program, so that a signal reaches that; `runuser` stays as its parent.
        let mut command = self.command("setpriv");
        command.args([&format!("--reuid={user}"), &format!("--regid={user}"), "--init-groups", "--"]);
        command.env("HOME", format!("/home/{user}")).current_dir("/");
        command
    }

    fn apt(&self) -> Command {
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

impl Drop for Root {
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

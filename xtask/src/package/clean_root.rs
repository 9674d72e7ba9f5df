//! `cargo xtask package --install`: installs the built .deb in a new Debian with nothing else, runs it there as a user
//! without rights, upgrades it over an earlier version, and purges it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Checked;
use super::installed_relay::ends_a_turn;
use super::kind::Kind;
use crate::command::{find, read, run};
use crate::json::Json;
use crate::process::Guarded;
use crate::project::APP;
use crate::scratch::Scratch;
use crate::{Outcome, system};

/// The release of Debian, and where it comes from.
const RELEASE: &str = "bookworm";
const MIRROR: &str = "http://deb.debian.org/debian";

/// The user in the new system.
const USER: &str = "someone";
const PROJECT: &str = "/home/someone/project";

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
    let package = super::built_package(Kind::App, "deb")?;
    let scratch = Scratch::new()?;
    let root = Root(scratch.path().join("root"));
    // Root's programs must be able to enter it as another user.
    run(Command::new("chmod").arg("755").arg(scratch.path()))?;
    run(Command::new("debootstrap").args(["--variant=minbase", RELEASE]).arg(&root.0).arg(MIRROR))?;
    root.mount()?;
    root.check(&package, &scratch)?;
    Ok(Checked::Works)
}

/// The folder that stands for the root of a system. What is mounted in it is unmounted with its owner.
struct Root(PathBuf);

impl Root {
    fn mount(&self) -> Outcome {
        run(Command::new("mount").args(["-t", "proc", "proc"]).arg(self.0.join("proc")))
    }

    fn check(&self, package: &Path, scratch: &Scratch) -> Outcome {
        run(self.command("useradd").args(["--create-home", USER]))?;
        run(self.as_user().args(["mkdir", PROJECT]))?;

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
        run(self.as_user().args([APP, "relay", "--stop=all"]))?;

        let files = read(self.command("dpkg-query").args(["--listfiles", APP]))?;
        run(self.apt().args(["purge", APP]))?;
        let in_root = |file: &str| self.0.join(file.trim_start_matches('/'));
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
        println!("Installed, upgraded with its session, and purged in a new Debian");
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
        fs::copy(package, self.0.join("root").join(name))
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

    /// A program of the new system, as its root.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("chroot");
        command.arg(&self.0).arg(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("XDG_")) {
            command.env_remove(name);
        }
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C.UTF-8");
        command
    }

    fn as_user(&self) -> Command {
        let mut command = self.command("runuser");
        command.args(["-u", USER, "--"]).env("HOME", format!("/home/{USER}")).current_dir("/");
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
        // Unless it was never mounted; the folder is removed afterwards.
        let _ = Command::new("umount").arg(self.0.join("proc")).stderr(Stdio::null()).status();
    }
}

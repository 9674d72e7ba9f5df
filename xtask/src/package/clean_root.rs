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
use crate::command::{read, run};
use crate::packages::Need;
use crate::process::Guarded;
use crate::project::APP;
use crate::root::CleanRoot;
use crate::{Outcome, demo, project, system};
use serde_json::Value;

/// The releases of Debian, 12 and 13.
const RELEASES: [&str; 2] = ["bookworm", "trixie"];

/// The users in the new system: one with a session that keeps running, and one who starts the app for the first time.
const USER: &str = "someone";
const NEW_USER: &str = "newcomer";

/// Timeout for a line of the server.
const LIMIT: Duration = Duration::from_secs(180);

/// Checks the .deb that was built last.
pub fn check() -> Outcome<Checked> {
    if let Some(obstacle) = CleanRoot::obstacle() {
        return Ok(Checked::Skipped(obstacle.to_owned()));
    }
    system::ensure(&[Need::Display])?;
    let package = super::built_package(Profile::Release, Kind::App, "deb")?;
    for release in RELEASES {
        println!("\n==== {release} ====");
        let mut root = CleanRoot::make(release)?;
        root.mount_displays()?;
        let project = root.add_user(USER, "project")?;
        let first_project = root.add_user(NEW_USER, "project")?;
        Installed { release, root, project, first_project }.check(&package)?;
    }
    Ok(Checked::Works)
}

/// A new system to install in, with the folders of its two users.
struct Installed {
    release: &'static str,
    root: CleanRoot,
    project: String,
    first_project: String,
}

impl Installed {
    fn check(&self, package: &Path) -> Outcome {
        let older = self.older(package)?;
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

        let files = read(self.root.command("dpkg-query").args(["--listfiles", APP]))?;
        run(self.root.apt().args(["purge", APP]))?;
        let left: Vec<&str> = files
            .lines()
            .filter(|file| fs::symlink_metadata(self.root.path(file)).is_ok_and(|data| !data.is_dir()))
            .collect();
        if !left.is_empty() || self.root.path("/usr/share/doc/deskbell").exists() {
            return Err(format!("purging left {left:?}"));
        }
        if !self.root.path("/home/someone/.local/share/deskbell").is_dir() {
            return Err("purging removed the user's own files".to_owned());
        }
        println!("Installed, upgraded with its session, started and purged in a new {}", self.release);
        Ok(())
    }

    /// The package as if it were of an earlier version.
    fn older(&self, package: &Path) -> Outcome<PathBuf> {
        let folder = self.root.scratch().join("older");
        run(Command::new("dpkg-deb").arg("--raw-extract").arg(package).arg(&folder))?;
        let control = folder.join("DEBIAN/control");
        let text = super::tree::read(&control)?;
        let line =
            text.lines().find(|line| line.starts_with("Version: ")).ok_or("the package has no version")?;
        fs::write(&control, text.replace(line, "Version: 0.0.1-1"))
            .map_err(|error| format!("could not write {}: {error}", control.display()))?;
        let older = self.root.scratch().join("older.deb");
        run(Command::new("dpkg-deb")
            .args(["--root-owner-group", "-Znone", "--build"])
            .arg(&folder)
            .arg(&older))?;
        self.copy(&older)
    }

    /// Copies a package into the system, and returns its path there.
    fn copy(&self, package: &Path) -> Outcome<PathBuf> {
        let name = package.file_name().ok_or("a package without a name")?;
        fs::copy(package, self.root.path("/root").join(name))
            .map_err(|error| format!("could not copy {}: {error}", package.display()))?;
        Ok(Path::new("/root").join(name))
    }

    fn install(&self, package: &Path) -> Outcome {
        run(self.root.apt().args(["--no-install-recommends", "install"]).arg(package))
    }

    /// Opens a session on a server of the user's own, and ends the server with it still saved.
    fn open_session(&self) -> Outcome<String> {
        let mut client = self.as_user();
        client.args([APP, "relay", "--attach", "--idle=1"]);
        let mut client = Guarded::spawn(client.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        let mut input = client.input()?;
        let mut lines = client.lines()?;
        let open = format!(
            r#"{{"type":"open","id":"1","session":{{"project":"{}","agent":"demo"}}}}"#,
            self.project
        );
        writeln!(input, "{open}").map_err(|error| format!("could not write to the relay: {error}"))?;
        let found = lines.wait_for(Instant::now() + LIMIT, |line| line.contains(r#""type":"accepted""#));
        let line =
            found.map_err(|why| format!("the relay opened no session ({why:?}): {:?}", lines.seen()))?;
        drop(input);
        let answer: Value = serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
        let session = answer["sessionId"].as_str().map(str::to_owned);
        session.ok_or_else(|| format!("the relay named no session: {line}"))
    }

    /// A turn of the demo agent.
    fn demo(&self) -> Outcome {
        let script = format!(
            r#"printf '%s\n' '{{"type":"prompt","text":"SAY hello"}}' | {APP} relay --project={} --agent=demo"#,
            self.project
        );
        let events = read(self.as_user().args(["sh", "-c", &script]))?;
        ends_a_turn(&events)
    }

    /// Starts the window as a launcher would, and plays a conversation in it.
    fn start(&self) -> Outcome {
        let entries = self.root.path("/usr/share/applications/Deskbell.desktop");
        let words = DesktopEntry::read(&entries)?.exec(&demo::arguments(Path::new(&self.first_project)))?;
        println!("Starting {}", words.join(" "));
        let mut app = self.root.with_window(NEW_USER);
        app.args(words);
        let screenshot = project::target().join(format!("deskbell-{}.png", self.release));
        let played = demo::play(&mut app, screenshot)?;
        for report in &played.reports {
            println!("  {report}");
        }
        println!("A picture of it lies at {}", played.screenshot.display());
        Ok(())
    }

    fn as_user(&self) -> Command {
        self.root.as_user(USER)
    }
}

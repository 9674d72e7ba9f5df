//! A private desktop for one test: display, window manager, buses and home folder, removed when it is dropped.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use super::accessible::Extents;
use super::bus::{self, Bus};
use super::child::Owned;
use super::monitors::Monitors;
use super::pointer::Pointer;
use super::processes::{Process, processes_with};
use super::wayland::Compositor;
use crate::suite::Body;
use crate::wait::{LONG, SHORT, eventually};

/// Marks the app and everything that it starts. Not `DESKBELL_…`, because the app passes none of those to its children.
const APP_RUN: &str = "TEST_APP_RUN";

/// A private desktop. Everything on it ends with it.
#[derive(Debug)]
pub struct Desktop {
    // Drop order: programs with windows before the display.
    _accessibility: Option<Owned>,
    _window_manager: Option<Owned>,
    bus: Bus,
    _display: Owned,
    environment: BTreeMap<OsString, OsString>,
    run: String,
    root: TempDir,
}

impl Desktop {
    /// The width and height of its display.
    pub const SIZE: (i32, i32) = (1400, 1000);

    /// Starts a display of [`Desktop::SIZE`], the test's window manager, a session bus and an accessibility bus.
    pub async fn start() -> Result<Self> {
        Self::sized(Self::SIZE).await
    }

    /// The same with a display of another width and height.
    pub async fn sized(size: (i32, i32)) -> Result<Self> {
        Self::with_display(async |environment, _| start_display(size, environment)).await
    }

    /// The same with a display of two monitors.
    pub async fn of_two_monitors() -> Result<(Self, Monitors)> {
        let mut monitors = None;
        let desktop = Self::with_display(async |environment, folder| {
            let (display, both) = Monitors::start(environment, folder).await?;
            monitors = Some(both);
            Ok(display)
        });
        Ok((desktop.await?, monitors.context("the display has monitors")?))
    }

    async fn with_display(
        start: impl AsyncFnOnce(&mut BTreeMap<OsString, OsString>, &Path) -> Result<Owned>,
    ) -> Result<Self> {
        let manager = WindowManager::of_this_test();
        let root = tempfile::Builder::new().prefix("deskbell-").tempdir()?;
        let run = uuid::Uuid::new_v4().to_string();
        let mut environment = base_environment(root.path())?;
        environment.insert("XDG_CURRENT_DESKTOP".into(), manager.desktop().into());
        let display = start(&mut environment, root.path()).await?;

        let bus = Bus::start(root.path(), |program| command(program, &environment))?;
        environment.insert("DBUS_SESSION_BUS_ADDRESS".into(), bus.address().into());
        // It is the bus of the system, too, whose own services a test must not reach.
        environment.insert("DBUS_SYSTEM_BUS_ADDRESS".into(), bus.address().into());

        let window_manager = manager.start(&environment)?;
        let launcher = bus::accessibility_launcher().context("at-spi2-core is not installed")?;
        let mut launcher = command(launcher, &environment);
        launcher.args(["--launch-immediately", "--a11y=1"]);
        let accessibility = bus::start_accessibility(&bus, &mut launcher).await?;

        let desktop = Self {
            _accessibility: Some(accessibility),
            _window_manager: Some(window_manager),
            bus,
            _display: display,
            environment,
            run,
            root,
        };
        is_managed(&Pointer::on(&desktop)).await?;
        Ok(desktop)
    }

    /// Starts another display of the same user and session, as `ssh -X` does, with openbox on it.
    pub async fn another_display(&self) -> Result<OtherDisplay> {
        let mut environment = self.environment.clone();
        let server = start_display(Self::SIZE, &mut environment)?;
        let manager = WindowManager::Openbox.start(&environment)?;
        let pointer = Pointer::with(environment.clone());
        is_managed(&pointer).await?;
        let name = environment.get(OsStr::new("DISPLAY")).context("it has a name")?.to_owned();
        Ok(OtherDisplay { name, pointer, _window_manager: manager, _server: server })
    }

    /// Starts a Wayland compositor without a screen, and a session bus.
    pub async fn wayland() -> Result<(Self, Compositor)> {
        let root = tempfile::Builder::new().prefix("deskbell-").tempdir()?;
        let mut environment = base_environment(root.path())?;
        environment.insert("XDG_CURRENT_DESKTOP".into(), "sway".into());
        let (compositor, display) = Compositor::start(&environment).await?;
        environment.insert("WAYLAND_DISPLAY".into(), compositor.socket().into());
        let bus = Bus::start(root.path(), |program| command(program, &environment))?;
        environment.insert("DBUS_SESSION_BUS_ADDRESS".into(), bus.address().into());
        environment.insert("DBUS_SYSTEM_BUS_ADDRESS".into(), bus.address().into());
        let desktop = Self {
            _accessibility: None,
            _window_manager: None,
            bus,
            _display: display,
            environment,
            run: uuid::Uuid::new_v4().to_string(),
            root,
        };
        Ok((desktop, compositor))
    }

    /// The environment for programs on this desktop; of the caller's, only the variables that a program needs to run.
    pub fn env(&self) -> BTreeMap<OsString, OsString> {
        self.environment.clone()
    }

    /// The name of its X display, such as `:99`.
    pub(super) fn display(&self) -> Result<String> {
        let name = self.environment.get(OsStr::new("DISPLAY")).context("there is a display")?;
        Ok(name.to_str().context("a display has a name")?.to_owned())
    }

    /// A command that runs on this desktop.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        command(program, &self.environment)
    }

    /// A command for the app: [`Desktop::app_processes`] finds it and everything that it starts.
    pub fn app_command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.command(program);
        command.env(APP_RUN, &self.run);
        command
    }

    /// The living processes that the app started on this desktop, itself included.
    pub fn app_processes(&self) -> Vec<Process> {
        processes_with(APP_RUN, &self.run)
    }

    /// Sets the keyboard's layouts; the first one is active.
    pub async fn layout(&self, layouts: &str) -> Result<()> {
        let mut command = tokio::process::Command::from(self.command("setxkbmap"));
        let status = command.args(["-layout", layouts]).status().await?;
        ensure!(status.success(), "setxkbmap -layout {layouts}: {status}");
        Ok(())
    }

    /// The session bus.
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// The throw-away home folder.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// A folder of the desktop for a test's files.
    pub fn scratch(&self) -> &Path {
        self.root.path()
    }

    /// Makes a project folder with this name, and returns its path.
    pub fn project(&self, name: &str) -> Result<PathBuf> {
        let folder = self.root.path().join("projects").join(name);
        fs::create_dir_all(&folder)?;
        // The app shows and compares real paths.
        Ok(folder.canonicalize()?)
    }

    /// Saves a screenshot of the whole desktop in the artefacts folder, as `name.png`.
    pub async fn screenshot(&self, name: &str) -> Result<PathBuf> {
        let file = artefacts()?.join(format!("{name}.png"));
        let mut command = tokio::process::Command::from(self.command("import"));
        let output = command.args(["-window", "root"]).arg(&file).kill_on_drop(true).output().await?;
        if !output.status.success() {
            bail!("no picture of the desktop: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(file)
    }

    /// The pixels of a part of the display: three bytes each, line by line.
    pub async fn pixels(&self, area: Extents) -> Result<Vec<u8>> {
        let Extents { x, y, width, height } = area;
        let crop = format!("{width}x{height}+{x}+{y}");
        let mut command = tokio::process::Command::from(self.command("import"));
        command.args(["-window", "root", "-crop", &crop, "+repage", "-depth", "8", "rgb:-"]);
        let output = command.stdout(Stdio::piped()).kill_on_drop(true).output().await?;
        let expected = usize::try_from(width * height * 3)?;
        ensure!(
            output.status.success() && output.stdout.len() == expected,
            "{crop} is not all on the display: {} of {expected} bytes. {}",
            output.stdout.len(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(output.stdout)
    }

    /// Waits until a page is drawn in a part of the display. An empty window has few colours.
    pub async fn painted(&self, area: Extents) -> Result<()> {
        const FEW: usize = 40;
        eventually(&format!("more than {FEW} colours in {area:?}"), LONG, async || {
            Ok((n_colours(&self.pixels(area).await?) > FEW).then_some(()))
        })
        .await
    }
}

/// Starts an X server of this width and height, and sets it in the environment.
fn start_display(
    (width, height): (i32, i32),
    environment: &mut BTreeMap<OsString, OsString>,
) -> Result<Owned> {
    let mut display = command("Xvfb", environment);
    display.args(["-displayfd", "1", "-screen", "0", &format!("{width}x{height}x24")]);
    // `-r`: no key repeats. A busy machine can hold up xdotool between the press and the release of a key for so long that
    // the server would repeat the key.
    display.args(["-nolisten", "tcp", "-noreset", "-r"]);
    started_display("Xvfb", &mut display, environment)
}

/// Starts an X server that prints its number on stdout, and sets it in the environment.
pub(super) fn started_display(
    name: &str,
    server: &mut Command,
    environment: &mut BTreeMap<OsString, OsString>,
) -> Result<Owned> {
    let mut display = Owned::start(name, server.stdout(Stdio::piped()))?;
    let stdout = display.child_mut().stdout.take().context("the display's number is on stdout")?;
    let mut number = String::new();
    BufReader::new(stdout).read_line(&mut number)?;
    ensure!(!number.trim().is_empty(), "the display did not start");
    environment.insert("DISPLAY".into(), format!(":{}", number.trim()).into());
    Ok(display)
}

async fn is_managed(pointer: &Pointer) -> Result<()> {
    eventually("the window manager is there", SHORT, async || {
        Ok(pointer.window_manager_runs().await?.then_some(()))
    })
    .await
}

tokio::task_local! {
    static MANAGER: WindowManager;
}

/// A window manager of X11.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowManager {
    Openbox,
    /// GNOME's.
    Mutter,
    /// KDE's.
    Kwin,
}

impl WindowManager {
    /// Runs a test with this window manager on all its desktops.
    pub fn around(self, body: Body) -> Body {
        Box::pin(MANAGER.scope(self, body))
    }

    fn of_this_test() -> Self {
        MANAGER.try_with(|manager| *manager).unwrap_or(Self::Openbox)
    }

    /// The name of its program.
    pub fn program(self) -> &'static str {
        match self {
            Self::Openbox => "openbox",
            Self::Mutter => "mutter",
            Self::Kwin => "kwin_x11",
        }
    }

    fn start(self, environment: &BTreeMap<OsString, OsString>) -> Result<Owned> {
        let mut manager = command(self.program(), environment);
        match self {
            Self::Openbox => {}
            Self::Mutter => drop(manager.arg("--x11")),
            // It would draw by OpenGL, which the processor computes here.
            Self::Kwin => drop(manager.env("KWIN_COMPOSE", "N")),
        }
        Ok(Owned::start(self.program(), &mut manager)?)
    }

    /// The desktop's name for programs (`XDG_CURRENT_DESKTOP`).
    fn desktop(self) -> &'static str {
        match self {
            Self::Openbox => "openbox",
            Self::Mutter => "GNOME",
            Self::Kwin => "KDE",
        }
    }
}

/// A second display of a desktop. It ends with this value.
#[derive(Debug)]
pub struct OtherDisplay {
    name: OsString,
    pointer: Pointer,
    _window_manager: Owned,
    _server: Owned,
}

impl OtherDisplay {
    /// Its name, for `DISPLAY`.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Its pointer, its keyboard and its windows.
    pub fn pointer(&self) -> &Pointer {
        &self.pointer
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        // A leftover process of the app must not outlive the test that found it.
        for process in self.app_processes() {
            // It may have exited since.
            let _ = process.kill();
        }
    }
}

/// The number of different colours in these pixels.
fn n_colours(pixels: &[u8]) -> usize {
    pixels.chunks_exact(3).collect::<HashSet<_>>().len()
}

/// The folder for screenshots: `DESKBELL_TEST_ARTEFACTS`, else `target/test-artefacts`.
pub fn artefacts() -> Result<PathBuf> {
    let folder = std::env::var_os("DESKBELL_TEST_ARTEFACTS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/test-artefacts"),
        PathBuf::from,
    );
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder.canonicalize()?)
}

/// A command with exactly this environment, which ends with the thread that starts it, so that a killed test leaves no
/// processes.
pub(super) fn command(program: impl AsRef<OsStr>, environment: &BTreeMap<OsString, OsString>) -> Command {
    let mut command = Command::new(find("setpriv"));
    command.arg("--pdeathsig=TERM").arg(find(program.as_ref()));
    command.env_clear().envs(environment).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(home) = environment.get(OsStr::new("HOME")) {
        command.current_dir(home);
    }
    command
}

/// The path of a program; a test can give its programs another `PATH`.
fn find(program: impl AsRef<OsStr>) -> PathBuf {
    let program = Path::new(program.as_ref());
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .unwrap_or_else(|| program.to_owned())
}

fn base_environment(root: &Path) -> Result<BTreeMap<OsString, OsString>> {
    let mut environment = BTreeMap::<OsString, OsString>::new();
    for (name, folder) in [
        ("HOME", "home"),
        ("XDG_CONFIG_HOME", "home/.config"),
        ("XDG_DATA_HOME", "home/.local/share"),
        ("XDG_STATE_HOME", "home/.local/state"),
        ("XDG_CACHE_HOME", "home/.cache"),
        ("XDG_RUNTIME_DIR", "runtime"),
        ("TMPDIR", "tmp"),
    ] {
        let folder = root.join(folder);
        fs::create_dir_all(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        environment.insert(name.into(), folder.into());
    }
    for (name, value) in [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("LANG", "C.UTF-8"),
        ("SHELL", "/bin/sh"),
        // Desktop settings of the machine must not reach the app, and the app's must not reach the machine.
        ("GSETTINGS_BACKEND", "memory"),
        ("GTK_THEME", "Adwaita"),
        // Otherwise GTK uses the module of an installed framework.
        ("GTK_IM_MODULE", "gtk-im-context-simple"),
        ("XDG_CURRENT_DESKTOP", "openbox"),
    ] {
        environment.insert(name.into(), value.into());
    }
    Ok(environment)
}

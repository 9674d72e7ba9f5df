//! A Wayland display without a screen: sway, its windows, and a keyboard.
//!
//! sway has no pointer here, except while files are dragged: clicks go through the page's driver.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::child::Owned;
use super::desktop::{artefacts, command};
use crate::wait::{SHORT, eventually};

/// The width and height of the display, in pixels.
pub(super) const SCREEN: (u32, u32) = (1400, 1000);
/// Floating windows with title bars, as on most desktops. No key repeats, however long a busy machine takes to release it.
const CONFIGURATION: &str = "output * resolution 1400x1000\nxwayland disable\ninput * repeat_rate 0\n\
                             for_window [app_id=\".*\"] floating enable\n";
/// A user without rights, by its usual number: sway refuses to run as root.
const NOBODY: u32 = 65534;

/// The time that the keyboard is there, in milliseconds: longer than any test.
const KEYBOARD_MS: &str = "1000000";
/// The time between the arrival of a keyboard and its first key, in milliseconds. Each run of wtype is a new keyboard,
/// and a program that does not know its layout yet loses the key.
const FIRST_KEY_MS: &str = "100";

/// The compositor of a desktop.
#[derive(Debug)]
pub struct Compositor {
    _keyboard: Owned,
    socket: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    _folder: TempDir,
}

/// A window as the compositor sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaylandWindow {
    pub id: i64,
    pub title: String,
    /// The program's name, by which the desktop finds its entry in the menu and with it the icon.
    pub app_id: String,
    pub is_focused: bool,
    /// The middle of its content on the display, in pixels.
    pub middle: (i32, i32),
}

impl Compositor {
    /// Starts it. `environment` is that of the desktop.
    pub(super) async fn start(environment: &BTreeMap<OsString, OsString>) -> Result<(Self, Owned)> {
        // Not below the desktop's folder, into which only the user of the tests may look.
        let folder = tempfile::Builder::new().prefix("deskbell-sway-").tempdir()?;
        let file = folder.path().join("config");
        fs::write(&file, CONFIGURATION)?;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700))?;
        let mut environment = environment.clone();
        environment.insert("XDG_RUNTIME_DIR".into(), folder.path().into());
        environment.insert("HOME".into(), folder.path().into());
        for (name, value) in
            [("WLR_BACKENDS", "headless"), ("WLR_LIBINPUT_NO_DEVICES", "1"), ("WLR_RENDERER", "pixman")]
        {
            environment.insert(name.into(), value.into());
        }
        let mut sway = if rustix::process::geteuid().is_root() {
            chown(folder.path(), Some(NOBODY), Some(NOBODY))?;
            let mut sway = command("setpriv", &environment);
            sway.arg(format!("--reuid={NOBODY}"))
                .arg(format!("--regid={NOBODY}"))
                .arg("--clear-groups")
                .arg("sway");
            sway
        } else {
            command("sway", &environment)
        };
        sway.arg("--config").arg(&file);
        let sway = Owned::start("sway", &mut sway)?;
        let named = |start: &str| -> Result<Option<PathBuf>> {
            let mut files = fs::read_dir(folder.path())?.filter_map(|file| Some(file.ok()?.path()));
            let is_named = |path: &Path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(start) && !name.ends_with(".lock")
            };
            Ok(files.find(|path| is_named(path)))
        };
        let sockets = async || Ok(named("wayland-")?.zip(named("sway-ipc.")?));
        let (socket, control) = eventually("sway listens", SHORT, sockets).await?;
        environment.insert("WAYLAND_DISPLAY".into(), socket.clone().into());
        environment.insert("SWAYSOCK".into(), control.into());
        // Without a keyboard no window has the focus.
        let mut keyboard = command("wtype", &environment);
        keyboard.args(["-s", KEYBOARD_MS]);
        let keyboard = Owned::start("wtype", &mut keyboard)?;
        Ok((Self { _keyboard: keyboard, socket, environment, _folder: folder }, sway))
    }

    /// The socket for programs with windows, as a value of `WAYLAND_DISPLAY`.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// All windows.
    pub async fn windows(&self) -> Result<Vec<WaylandWindow>> {
        let tree: Value = serde_json::from_str(&self.run("swaymsg", &["-r", "-t", "get_tree"]).await?)?;
        let mut windows = Vec::new();
        collect(&tree, &mut windows);
        Ok(windows)
    }

    /// Waits for the window whose title contains `title`.
    pub async fn window(&self, title: &str) -> Result<WaylandWindow> {
        eventually(&format!("a window titled “{title}”"), SHORT, async || {
            Ok(self.windows().await?.into_iter().find(|window| window.title.contains(title)))
        })
        .await
    }

    /// Gives a window the keyboard.
    pub async fn focus(&self, window: &WaylandWindow) -> Result<()> {
        self.run("swaymsg", &[&format!("[con_id={}]", window.id), "focus"]).await?;
        eventually("the window has the keyboard", SHORT, async || {
            let windows = self.windows().await?;
            Ok(windows.iter().any(|other| other.id == window.id && other.is_focused).then_some(()))
        })
        .await
    }

    /// Asks a window to close, as its title bar's button does.
    pub async fn close(&self, window: &WaylandWindow) -> Result<()> {
        self.run("swaymsg", &[&format!("[con_id={}]", window.id), "kill"]).await.map(drop)
    }

    /// Moves a window to the scratchpad, where it is not drawn until it is focused. sway has no minimised windows.
    pub async fn hide(&self, window: &WaylandWindow) -> Result<()> {
        self.run("swaymsg", &[&format!("[con_id={}]", window.id), "move", "scratchpad"]).await.map(drop)
    }

    /// Moves the top left corner of a window.
    pub async fn place(&self, window: &WaylandWindow, (x, y): (i32, i32)) -> Result<()> {
        let to = ["move", "position", &x.to_string(), &y.to_string()];
        self.run("swaymsg", &[&[format!("[con_id={}]", window.id).as_str()], &to[..]].concat())
            .await
            .map(drop)
    }

    /// Shows another workspace.
    pub async fn workspace(&self, name: &str) -> Result<()> {
        self.run("swaymsg", &["workspace", name]).await.map(drop)
    }

    /// Types into the window with the keyboard.
    pub async fn type_text(&self, text: &str) -> Result<()> {
        self.run("wtype", &["-s", FIRST_KEY_MS, "-d", "2", "--", text]).await.map(drop)
    }

    /// Types a line into the window with the keyboard, then presses a chord every half second until the value is
    /// dropped. All of it comes from one keyboard: the focus goes with a keyboard that is taken away.
    pub fn type_line_and_press(&self, line: &str, modifier: &str, key: &str) -> Result<Owned> {
        let mut keys = self.command("wtype");
        keys.args(["-s", FIRST_KEY_MS, "-d", "2", line, "-k", "Return"]);
        for _ in 0..100 {
            keys.args(["-s", "500", "-M", modifier, "-k", key, "-m", modifier]);
        }
        Ok(Owned::start("wtype", &mut keys)?)
    }

    /// Presses a key, with a modifier if one is named: `Return`, `a`.
    pub async fn key(&self, modifier: Option<&str>, key: &str) -> Result<()> {
        let arguments: Vec<&str> = match modifier {
            Some(modifier) => vec!["-s", FIRST_KEY_MS, "-M", modifier, "-k", key, "-m", modifier],
            None => vec!["-s", FIRST_KEY_MS, "-k", key],
        };
        self.run("wtype", &arguments).await.map(drop)
    }

    /// Puts a picture into the clipboard.
    pub async fn copy_picture(&self, file: &Path) -> Result<()> {
        let mut command = self.command("wl-copy");
        command.args(["--type", "image/png"]).stdin(fs::File::open(file)?);
        let status = tokio::process::Command::from(command).kill_on_drop(true).status().await?;
        ensure!(status.success(), "wl-copy: {status}");
        Ok(())
    }

    /// Saves a picture of the display in the artefacts folder, as `name.png`.
    pub async fn screenshot(&self, name: &str) -> Result<PathBuf> {
        let file = artefacts()?.join(format!("{name}.png"));
        self.run("grim", &[&file.to_string_lossy()]).await?;
        Ok(file)
    }

    /// The number of different colours on the display.
    pub async fn colours(&self) -> Result<usize> {
        let mut command = self.command("grim");
        command.args(["-t", "ppm", "-"]).stdout(Stdio::piped());
        let output = tokio::process::Command::from(command).kill_on_drop(true).output().await?;
        ensure!(output.status.success(), "no picture of the display");
        // The header has three lines: the kind, the size, the largest value.
        let mut lines = output.stdout.splitn(4, |byte| *byte == b'\n');
        let pixels = lines.nth(3).context("the picture has pixels")?;
        let colours: std::collections::HashSet<&[u8]> = pixels.chunks_exact(3).collect();
        Ok(colours.len())
    }

    fn command(&self, program: &str) -> Command {
        command(program, &self.environment)
    }

    async fn run(&self, program: &str, arguments: &[&str]) -> Result<String> {
        let mut command = self.command(program);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = tokio::process::Command::from(command).kill_on_drop(true).output().await?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            bail!("{program} {}: {}", arguments.join(" "), stderr.trim());
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}

fn collect(node: &Value, windows: &mut Vec<WaylandWindow>) {
    if let Some(app_id) = node["app_id"].as_str() {
        let title = node["name"].as_str().unwrap_or_default().to_owned();
        let id = node["id"].as_i64().unwrap_or_default();
        let app_id = app_id.to_owned();
        let part = |name: &str| {
            node["rect"][name].as_i64().and_then(|part| i32::try_from(part).ok()).unwrap_or_default()
        };
        let middle = (part("x") + part("width") / 2, part("y") + part("height") / 2);
        windows.push(WaylandWindow { id, title, app_id, is_focused: node["focused"] == true, middle });
    }
    for children in ["nodes", "floating_nodes"] {
        for child in node[children].as_array().into_iter().flatten() {
            collect(child, windows);
        }
    }
}

//! The real pointer and keyboard of a desktop, and its windows as the window manager sees them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, MapState};
use x11rb::rust_connection::RustConnection;

use super::accessible::Extents;
use super::desktop::Desktop;
use crate::wait::{SHORT, eventually};

/// A window of the display, by its X id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct XWindow(pub u64);

/// The pointer and keyboard of one desktop.
#[derive(Clone, Debug)]
pub struct Pointer {
    environment: BTreeMap<OsString, OsString>,
}

impl Pointer {
    /// The pointer and keyboard of `desktop`.
    pub fn on(desktop: &Desktop) -> Self {
        Self::with(desktop.env())
    }

    /// The pointer and keyboard of the display that this environment names.
    pub(super) fn with(environment: BTreeMap<OsString, OsString>) -> Self {
        Self { environment }
    }

    /// Whether a window manager manages the display.
    pub(super) async fn window_manager_runs(&self) -> Result<bool> {
        Ok(self.run("xprop", &["-root", "_NET_SUPPORTING_WM_CHECK"]).await?.contains("window id"))
    }

    /// The managed windows whose title contains `title`, bottom first.
    pub async fn windows(&self, title: &str) -> Result<Vec<XWindow>> {
        let list = self.run("xprop", &["-root", "_NET_CLIENT_LIST_STACKING"]).await?;
        let ids = list.split_once('#').map_or("", |(_, ids)| ids);
        let mut found = Vec::new();
        for id in ids.split(',').filter_map(|id| parse_id(id.trim())) {
            // A window that closed between the two queries has no title.
            if self.title(XWindow(id)).await.is_ok_and(|name| name.contains(title)) {
                found.push(XWindow(id));
            }
        }
        Ok(found)
    }

    /// The windows of this class that are displayed, also those that no window manager manages: notifications and menus.
    pub fn displayed(&self, class: &str) -> Result<Vec<XWindow>> {
        let display = self.environment.get(OsStr::new("DISPLAY")).and_then(|name| name.to_str());
        let (connection, screen) = RustConnection::connect(display)?;
        let root = connection.setup().roots.get(screen).context("the display has a screen")?.root;
        let mut found = Vec::new();
        for window in connection.query_tree(root)?.reply()?.children {
            let state = connection.get_window_attributes(window)?;
            let names =
                connection.get_property(false, window, AtomEnum::WM_CLASS, AtomEnum::STRING, 0, 64)?;
            // A window that closed since then has neither.
            let (Ok(state), Ok(names)) = (state.reply(), names.reply()) else { continue };
            let is_of_class = names.value.split(|byte| *byte == 0).any(|name| name == class.as_bytes());
            if is_of_class && state.map_state == MapState::VIEWABLE {
                found.push(XWindow(window.into()));
            }
        }
        Ok(found)
    }

    /// Waits for the one window whose title contains `title`.
    pub async fn window(&self, title: &str) -> Result<XWindow> {
        eventually(&format!("a window titled “{title}”"), SHORT, async || {
            Ok(self.windows(title).await?.last().copied())
        })
        .await
    }

    /// A window's title.
    pub async fn title(&self, window: XWindow) -> Result<String> {
        Ok(self.xdotool(&["getwindowname", &window.0.to_string()]).await?.trim_end().to_owned())
    }

    /// The process that a window belongs to.
    pub async fn pid(&self, window: XWindow) -> Result<u32> {
        Ok(self.xdotool(&["getwindowpid", &window.0.to_string()]).await?.trim().parse()?)
    }

    /// The window in front, if any.
    pub async fn active(&self) -> Result<Option<XWindow>> {
        let answer = self.run("xprop", &["-root", "_NET_ACTIVE_WINDOW"]).await?;
        let id = answer.rsplit_once('#').and_then(|(_, id)| parse_id(id.trim()));
        Ok(id.filter(|id| *id != 0).map(XWindow))
    }

    /// Brings a window to the front and waits until it is there.
    pub async fn activate(&self, window: XWindow) -> Result<()> {
        self.xdotool(&["windowactivate", &window.0.to_string()]).await?;
        self.wait_active(window).await
    }

    /// Minimises a window and waits until it is no longer in front.
    pub async fn minimise(&self, window: XWindow) -> Result<()> {
        self.xdotool(&["windowminimize", &window.0.to_string()]).await?;
        eventually("the window is minimised", SHORT, async || {
            Ok((self.active().await? != Some(window)).then_some(()))
        })
        .await
    }

    /// Waits until a window is in front.
    pub async fn wait_active(&self, window: XWindow) -> Result<()> {
        eventually("the window is in front", SHORT, async || {
            Ok((self.active().await? == Some(window)).then_some(()))
        })
        .await
    }

    /// Asks a window to close, as its title bar's button does.
    pub async fn close(&self, window: XWindow) -> Result<()> {
        self.run("wmctrl", &["-i", "-c", &format!("{:#x}", window.0)]).await.map(drop)
    }

    /// Ends the maximised state of a window, if it is maximised.
    pub async fn restore(&self, window: XWindow) -> Result<()> {
        let states = "remove,maximized_vert,maximized_horz";
        self.run("wmctrl", &["-i", "-r", &format!("{:#x}", window.0), "-b", states]).await.map(drop)
    }

    /// Moves a window to a place on the screen.
    pub async fn place(&self, window: XWindow, x: i32, y: i32) -> Result<()> {
        self.xdotool(&["windowmove", &window.0.to_string(), &x.to_string(), &y.to_string()]).await.map(drop)
    }

    /// Resizes a window.
    pub async fn resize(&self, window: XWindow, width: i32, height: i32) -> Result<()> {
        self.xdotool(&["windowsize", &window.0.to_string(), &width.to_string(), &height.to_string()])
            .await
            .map(drop)
    }

    /// The place of a window's content on the screen.
    pub async fn extents(&self, window: XWindow) -> Result<Extents> {
        let answer = self.run("xwininfo", &["-id", &window.0.to_string()]).await?;
        let value = |name: &str| -> Result<i32> {
            let line = answer.lines().find(|line| line.trim_start().starts_with(name));
            let value = line.and_then(|line| line.rsplit_once(':')).context("xwininfo tells extents")?.1;
            Ok(value.trim().parse()?)
        };
        Ok(Extents {
            x: value("Absolute upper-left X")?,
            y: value("Absolute upper-left Y")?,
            width: value("Width")?,
            height: value("Height")?,
        })
    }

    /// Moves the pointer to a place on the screen.
    pub async fn move_to(&self, x: i32, y: i32) -> Result<()> {
        self.xdotool(&["mousemove", "--sync", &x.to_string(), &y.to_string()]).await.map(drop)
    }

    /// Presses the first button of the pointer at a place on the screen.
    pub async fn click(&self, x: i32, y: i32) -> Result<()> {
        // Not `--sync`: that waits forever if the pointer is already there.
        self.xdotool(&["mousemove", &x.to_string(), &y.to_string(), "click", "1"]).await.map(drop)
    }

    /// Presses the right button of the pointer at a place on the screen.
    pub async fn right_click(&self, x: i32, y: i32) -> Result<()> {
        self.xdotool(&["mousemove", &x.to_string(), &y.to_string(), "click", "3"]).await.map(drop)
    }

    /// Turns the wheel up at a place on the screen.
    pub async fn wheel_up(&self, x: i32, y: i32, notches: usize) -> Result<()> {
        let (x, y, notches) = (x.to_string(), y.to_string(), notches.to_string());
        // X11 reports the wheel as buttons: 4 is up.
        self.xdotool(&["mousemove", &x, &y, "click", "--repeat", &notches, "--delay", "20", "4"])
            .await
            .map(drop)
    }

    /// Presses a key or a chord in the window in front: `Return`, `ctrl+b`.
    pub async fn key(&self, key: &str) -> Result<()> {
        self.xdotool(&["key", "--clearmodifiers", key]).await.map(drop)
    }

    /// Types into the window in front; a new line is typed as Shift+Enter, which breaks the line in a composer.
    pub async fn type_text(&self, text: &str) -> Result<()> {
        for (n, line) in text.split('\n').enumerate() {
            if n > 0 {
                self.key("shift+Return").await?;
            }
            if !line.is_empty() {
                self.type_at(line, Duration::from_millis(2)).await?;
            }
        }
        Ok(())
    }

    /// Types a line into the window in front, a key each `pace`, by one process: more of them would take their time from the
    /// window that is measured.
    pub(super) async fn type_at(&self, line: &str, pace: Duration) -> Result<()> {
        let pace = pace.as_millis().to_string();
        self.xdotool(&["type", "--clearmodifiers", "--delay", &pace, "--", line]).await.map(drop)
    }

    /// Performs many actions in a row, as fast as possible: `mousemove X Y`, `click 1`, `key K`, `windowactivate W`.
    pub async fn many(&self, things: &[&str]) -> Result<()> {
        self.xdotool(things).await.map(drop)
    }

    /// Saves what the display shows of a window.
    pub(super) async fn picture(&self, window: XWindow, file: &Path) -> Result<()> {
        let file = file.to_str().context("a path in Unicode")?;
        self.run("import", &["-window", &window.0.to_string(), file]).await.map(drop)
    }

    async fn xdotool(&self, arguments: &[&str]) -> Result<String> {
        self.run("xdotool", arguments).await
    }

    async fn run(&self, program: &str, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.environment).args(arguments);
        let output = tokio::process::Command::from(command).kill_on_drop(true).output().await?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            bail!("{program} {}: {}", arguments.join(" "), stderr.trim());
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}

fn parse_id(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

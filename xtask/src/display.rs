//! A desktop for one program: a virtual display, a window manager, a message bus and a separate home.
//!
//! Nothing that runs on it can reach the user's session, and all of it is removed when the value is dropped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::command::{command, read};
use crate::process::{Guarded, NoLine};
use crate::scratch::Scratch;

/// Timeout for a part of the desktop to start.
const READY: Duration = Duration::from_secs(60);
/// How long the picture may keep changing before it is saved as it is.
const SETTLED: Duration = Duration::from_secs(30);
/// The size of the screen, and its depth.
const SCREEN: &str = "1440x900x24";
/// A part of the screen that belongs to the content of a window in its middle: below the title bar, and above the place
/// of a dialog, which another program paints.
const CONTENT: &str = "1000x260+220+70";
/// The upper half of a page, with a heading in its middle, and without the prompt box, whose caret blinks.
const PAGE: &str = "1000x380+220+70";
/// Smooth text has many colours; a window that has not painted has one, or two with another's edge.
const COLOURS_OF_TEXT: usize = 16;

/// The pixels of a page, to be compared.
#[derive(PartialEq, Eq)]
pub struct Page(Vec<u8>);

/// The running desktop. Its parts end in this order.
pub struct VirtualDisplay {
    _window_manager: Guarded,
    _bus: Guarded,
    _server: Guarded,
    name: String,
    bus_address: String,
    home: PathBuf,
    scratch: Scratch,
}

impl VirtualDisplay {
    /// Starts the desktop.
    pub fn start() -> Outcome<Self> {
        let scratch = Scratch::new()?;
        // It picks a free number itself, and writes it when it is ready.
        let mut server = quiet("Xvfb");
        // `-r`: no key repeats, however long a busy machine takes to release it.
        server.args(["-displayfd", "1", "-screen", "0", SCREEN, "-nolisten", "tcp", "-noreset", "-r"]);
        let (server, number) = first_line(&mut server)?;
        let name = format!(":{number}");

        let configuration = scratch.path().join("bus.conf");
        fs::write(&configuration, bus_configuration(scratch.path()))
            .map_err(|error| format!("could not write {}: {error}", configuration.display()))?;
        let mut bus = quiet("dbus-daemon");
        bus.args(["--nofork", "--nopidfile", "--print-address=1", "--config-file"]).arg(configuration);
        let (bus, bus_address) = first_line(&mut bus)?;

        let home = scratch.folder("home")?;
        let mut window_manager = quiet("openbox");
        window_manager.arg("--sm-disable").env("DISPLAY", &name).env("HOME", &home).stdout(Stdio::null());
        let window_manager = Guarded::spawn(&mut window_manager)?;
        Ok(Self {
            _window_manager: window_manager,
            _bus: bus,
            _server: server,
            name,
            bus_address,
            home,
            scratch,
        })
    }

    /// The name of its screen, as in `DISPLAY`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes the command run on this desktop and in this home.
    pub fn put_on(&self, command: &mut Command) -> Outcome {
        for (variable, folder) in [
            ("XDG_CONFIG_HOME", "home/.config"),
            ("XDG_DATA_HOME", "home/.local/share"),
            ("XDG_STATE_HOME", "home/.local/state"),
            ("XDG_CACHE_HOME", "home/.cache"),
            ("XDG_RUNTIME_DIR", "run"),
        ] {
            command.env(variable, self.scratch.folder(folder)?);
        }
        command
            .env("HOME", &self.home)
            .env("DISPLAY", &self.name)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus_address)
            .env("GDK_BACKEND", "x11")
            .env("XDG_SESSION_TYPE", "x11")
            // The bus offers no accessibility service, and looking for one takes seconds.
            .env("NO_AT_BRIDGE", "1")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("XAUTHORITY");
        Ok(())
    }

    /// Waits until the screen shows a painted window that no longer changes, and saves a picture of it.
    pub fn screenshot(&self, file: &Path) -> Outcome {
        let settled = self.settle();
        self.save(file)?;
        settled.map_err(|reason| format!("{reason}; see {}", file.display()))
    }

    /// Saves a picture of the screen as it is.
    pub fn save(&self, file: &Path) -> Outcome {
        self.capture(&[&file.to_string_lossy()]).map(drop)
    }

    /// Waits until the screen shows a painted window that no longer changes.
    pub fn settle(&self) -> Outcome {
        let deadline = Instant::now() + SETTLED;
        let mut before = self.part(CONTENT)?;
        loop {
            thread::sleep(Duration::from_millis(250));
            let now = self.part(CONTENT)?;
            let is_painted = n_colours(&now) >= COLOURS_OF_TEXT;
            if is_painted && now == before || Instant::now() > deadline {
                return if is_painted { Ok(()) } else { Err("the window was still blank".to_owned()) };
            }
            before = now;
        }
    }

    /// The page that the window shows.
    pub fn page(&self) -> Outcome<Page> {
        self.part(PAGE).map(Page)
    }

    /// Waits until the window shows another page, which no longer changes.
    pub fn turn_from(&self, earlier: &Page) -> Outcome {
        let deadline = Instant::now() + SETTLED;
        while self.page()? == *earlier {
            if Instant::now() > deadline {
                return Err(format!("after {} s the window showed the same page", SETTLED.as_secs()));
            }
            thread::sleep(Duration::from_millis(100));
        }
        self.settle()
    }

    /// Types a text on the keyboard.
    pub fn type_text(&self, text: &str) -> Outcome {
        self.keyboard(&["type", "--delay", "20", "--", text])
    }

    /// Presses a key, named as X11 does.
    pub fn press(&self, key: &str) -> Outcome {
        self.keyboard(&["key", "--delay", "100", key])
    }

    fn keyboard(&self, arguments: &[&str]) -> Outcome {
        read(quiet("xdotool").args(arguments).env("DISPLAY", &self.name)).map(drop)
    }

    fn part(&self, part: &str) -> Outcome<Vec<u8>> {
        self.capture(&["-crop", part, "-depth", "8", "rgb:-"])
    }

    fn capture(&self, options: &[&str]) -> Outcome<Vec<u8>> {
        let output = quiet("import")
            .args(["-silent", "-window", "root"])
            .args(options)
            .env("DISPLAY", &self.name)
            .stderr(Stdio::piped())
            .output()
            .map_err(|error| format!("could not start `import`, a part of ImageMagick: {error}"))?;
        if !output.status.success() {
            return Err(format!("`import` failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        Ok(output.stdout)
    }
}

fn quiet(program: &str) -> Command {
    let mut command = command(program);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// Starts a program that prints its address in its first line.
fn first_line(command: &mut Command) -> Outcome<(Guarded, String)> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut running = Guarded::spawn(command.stdout(Stdio::piped()))?;
    let line = running.lines()?.wait_for(Instant::now() + READY, |line| !line.is_empty());
    match line {
        Ok(line) => Ok((running, line)),
        Err(NoLine::OutputEnded) => Err(format!("`{program}` ended at once")),
        Err(NoLine::TimeIsUp) => Err(format!("`{program}` was not ready after {} s", READY.as_secs())),
    }
}

/// A bus without service folders: it starts nothing that would outlive it.
fn bus_configuration(folder: &Path) -> String {
    format!(
        r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:dir={}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#,
        folder.display()
    )
}

/// The number of different colours of the pixels, counted only up to the limit of interest.
fn n_colours(rgb: &[u8]) -> usize {
    let mut colours: Vec<&[u8]> = Vec::new();
    for pixel in rgb.chunks_exact(3) {
        if !colours.contains(&pixel) {
            colours.push(pixel);
        }
        if colours.len() >= COLOURS_OF_TEXT {
            break;
        }
    }
    colours.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_counted_by_pixel() {
        assert_eq!(n_colours(&[0; 300]), 1);
        assert_eq!(n_colours(&[0, 0, 0, 0, 0, 9, 0, 0, 0]), 2);
        let many: Vec<u8> = (0..=255).flat_map(|shade| [shade; 3]).collect();
        assert_eq!(n_colours(&many), COLOURS_OF_TEXT);
    }
}

//! A display with two monitors side by side: Xorg with the driver that draws into memory, whose outputs are those of a
//! graphics card. Xvfb has one output, and GTK (3.24) shows no monitor without an output of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use super::accessible::Extents;
use super::child::Owned;
use super::desktop::{command, started_display};
use crate::suite::Requirement;

const CONFIGURATION: &str = r#"Section "ServerFlags"
  Option "AutoAddDevices" "false"
  Option "AutoEnableDevices" "false"
  Option "AutoAddGPU" "false"
  Option "DontVTSwitch" "true"
EndSection
Section "Device"
  Identifier "memory"
  Driver "dummy"
  VideoRam 64000
EndSection
Section "Monitor"
  Identifier "monitor"
  HorizSync 5.0-1000.0
  VertRefresh 5.0-200.0
EndSection
Section "Screen"
  Identifier "screen"
  Device "memory"
  Monitor "monitor"
  DefaultDepth 24
  SubSection "Display"
    Depth 24
    Modes "1280x960"
  EndSubSection
EndSection
"#;

/// The outputs of the driver.
const OUTPUTS: [&str; 2] = ["DUMMY0", "DUMMY1"];

/// A mode of the driver, for both monitors.
const MODE: &str = "1280x960";

/// The places of the Xorg driver that draws into memory.
const DRIVERS: [&str; 3] = [
    "/usr/lib/xorg/modules/drivers/dummy_drv.so",
    "/usr/lib64/xorg/modules/drivers/dummy_drv.so",
    "/usr/lib/x86_64-linux-gnu/xorg/modules/drivers/dummy_drv.so",
];

/// The two monitors of a display, the second one on the right.
#[derive(Debug)]
pub struct Monitors {
    environment: BTreeMap<OsString, OsString>,
}

impl Monitors {
    pub const LEFT: Extents = Extents { x: 0, y: 0, width: 1280, height: 960 };
    pub const RIGHT: Extents = Extents { x: 1280, ..Self::LEFT };

    /// Whether this machine has the X server and its driver.
    pub fn requirement() -> Requirement {
        let driver = match DRIVERS.iter().any(|file| Path::new(file).is_file()) {
            true => Requirement::Met,
            false => Requirement::Missing("not installed: xserver-xorg-video-dummy".to_owned()),
        };
        Requirement::all([Requirement::programs(&["Xorg", "xrandr"]), driver])
    }

    /// Starts an X server whose outputs can be turned on and off, with two of them, and sets it in the environment.
    pub(super) async fn start(
        environment: &mut BTreeMap<OsString, OsString>,
        folder: &Path,
    ) -> Result<(Owned, Self)> {
        let file = folder.join("xorg.conf");
        fs::write(&file, CONFIGURATION)?;
        let mut server = command("Xorg", environment);
        server.arg("-config").arg(&file).arg("-logfile").arg(folder.join("xorg.log"));
        server.args(["-displayfd", "1", "-nolisten", "tcp", "-noreset", "-r"]);
        let display = started_display("Xorg", &mut server, environment)?;
        let monitors = Self { environment: environment.clone() };
        monitors.xrandr(&["--output", OUTPUTS[0], "--mode", MODE, "--primary"]).await?;
        monitors.xrandr(&["--addmode", OUTPUTS[1], MODE]).await?;
        monitors.plug_right_in().await?;
        Ok((display, monitors))
    }

    /// Takes the right monitor away.
    pub async fn unplug_right(&self) -> Result<()> {
        self.xrandr(&["--output", OUTPUTS[1], "--off"]).await
    }

    /// Brings the right monitor back.
    pub async fn plug_right_in(&self) -> Result<()> {
        self.xrandr(&["--output", OUTPUTS[1], "--mode", MODE, "--right-of", OUTPUTS[0]]).await?;
        // The driver (0.4.0) says that an output is connected once a program asks again after it was turned on, and GTK does
        // not ask.
        self.xrandr(&["--query"]).await
    }

    async fn xrandr(&self, arguments: &[&str]) -> Result<()> {
        let mut command = tokio::process::Command::from(command("xrandr", &self.environment));
        let output = command.args(arguments).stderr(std::process::Stdio::piped()).output().await?;
        if !output.status.success() {
            bail!("xrandr {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }
}

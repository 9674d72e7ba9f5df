//! A session bus without service folders, and its accessibility bus: only services that a test started itself answer
//! there.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::child::Owned;
use crate::wait::{SHORT, eventually};

/// The launcher of the accessibility bus; it is not on `PATH`, and its place differs between systems.
pub(super) fn accessibility_launcher() -> Option<&'static Path> {
    ["/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi-bus-launcher"]
        .into_iter()
        .map(Path::new)
        .find(|file| file.exists())
}

const CONFIGURATION: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=SOCKET</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

/// The program that a bus starts for a service name.
pub fn service_program(name: &str) -> Result<PathBuf> {
    let file = format!("/usr/share/dbus-1/services/{name}.service");
    let service = fs::read_to_string(&file).with_context(|| file.clone())?;
    let program = service.lines().find_map(|line| line.strip_prefix("Exec=")).context(file)?;
    Ok(program.trim().into())
}

/// A private session bus.
#[derive(Debug)]
pub struct Bus {
    address: String,
    _daemon: Owned,
}

impl Bus {
    /// Starts a bus with socket and configuration in `folder`; `command` makes commands with the run's environment.
    pub fn start(folder: &Path, command: impl Fn(&str) -> Command) -> Result<Self> {
        let socket = folder.join("bus");
        let file = folder.join("bus.conf");
        fs::write(&file, CONFIGURATION.replace("SOCKET", &socket.to_string_lossy()))?;
        let mut daemon = command("dbus-daemon");
        daemon.arg("--config-file").arg(&file).args(["--nofork", "--nopidfile", "--print-address=1"]);
        let mut daemon = Owned::start("dbus-daemon", daemon.stdout(Stdio::piped()))?;
        let stdout = daemon.child_mut().stdout.take().context("its address is on stdout")?;
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address)?;
        if address.trim().is_empty() {
            bail!("the session bus did not start");
        }
        Ok(Self { address: address.trim().to_owned(), _daemon: daemon })
    }

    /// The address, for `DBUS_SESSION_BUS_ADDRESS`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Waits until a program has this name on the bus.
    pub async fn has_name(&self, name: &str) -> Result<()> {
        let connection = self.connect().await?;
        let names = zbus::fdo::DBusProxy::new(&connection).await?;
        eventually(&format!("{name} is on the bus"), SHORT, async || {
            Ok(names.name_has_owner(name.try_into()?).await?.then_some(()))
        })
        .await
    }

    /// Connects to the bus.
    pub async fn connect(&self) -> Result<zbus::Connection> {
        Ok(zbus::connection::Builder::address(self.address.as_str()).build().await?)
    }
}

/// Starts the accessibility bus of a session bus, and returns when it answers.
pub(super) async fn start_accessibility(bus: &Bus, command: &mut Command) -> Result<Owned> {
    let launcher = Owned::start("at-spi-bus-launcher", command)?;
    let connection = bus.connect().await?;
    eventually("the accessibility bus is there", SHORT, async || {
        Ok(Some(accessibility_address(&connection).await?))
    })
    .await?;
    Ok(launcher)
}

/// The address of the accessibility bus that belongs to a session bus.
pub(super) async fn accessibility_address(connection: &zbus::Connection) -> Result<String> {
    let reply = connection
        .call_method(Some("org.a11y.Bus"), "/org/a11y/bus", Some("org.a11y.Bus"), "GetAddress", &())
        .await?;
    Ok(reply.body().deserialize()?)
}

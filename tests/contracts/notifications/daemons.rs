//! Notification daemons, and what a user does at them: our doubles, GNOME Shell's service, dunst, mako and xfce4-notifyd.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use deskbell_tests::suite::Requirement;
use deskbell_tests::window::{
    Compositor, Desktop, Dunst, Manners, Notification, Notifications, Owned, SHORT, eventually,
};
use serde_json::Value;

use super::xfce::XfceNotifyd;
use crate::last_runs::version_of;

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Double,
    BroadcastingDouble,
    /// The service of GNOME Shell (43) that applications talk to. The shell behind it is a double.
    Gnome,
    Dunst,
    Mako,
    Xfce,
}

impl Kind {
    pub const ALL: [Self; 6] =
        [Self::Double, Self::BroadcastingDouble, Self::Gnome, Self::Dunst, Self::Mako, Self::Xfce];

    pub fn name(self) -> &'static str {
        match self {
            Self::Double => "the_double",
            Self::BroadcastingDouble => "the_broadcasting_double",
            Self::Gnome => "gnome_shell",
            Self::Dunst => "dunst",
            Self::Mako => "mako",
            Self::Xfce => "xfce4_notifyd",
        }
    }

    pub fn requirement(self) -> Requirement {
        match self {
            Self::Double | Self::BroadcastingDouble => Requirement::Met,
            Self::Gnome => Requirement::all([
                Requirement::programs(&["gjs"]),
                Requirement::from(&gnome_shell().map(drop)),
            ]),
            Self::Dunst => Requirement::programs(&["dunst"]),
            Self::Mako => Requirement::programs(&["mako", "makoctl"]),
            Self::Xfce => XfceNotifyd::requirement(),
        }
    }
}

/// The folder with the scripts of GNOME Shell: that of its package, or a copy that was only unpacked.
fn gnome_shell() -> Result<PathBuf> {
    let unpacked =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools/gnome-shell/usr/share/gnome-shell");
    let folders = [Path::new("/usr/share/gnome-shell").to_owned(), unpacked];
    let found = folders.into_iter().find(|folder| folder.join(SERVICE).is_file());
    found.context("the scripts of gnome-shell are neither installed nor unpacked: `cargo xtask test window` unpacks them")
}

/// The scripts of the service, in the folder of GNOME Shell.
const SERVICE: &str = "org.gnome.Shell.Notifications.src.gresource";

/// A daemon on a desktop.
pub struct Daemon {
    kind: Kind,
    process: Option<Owned>,
    /// The double, or what stands behind the service of GNOME Shell.
    recorder: Option<Notifications>,
    dunst: Option<Dunst>,
    xfce: Option<XfceNotifyd>,
    bus: zbus::Connection,
    address: String,
    _compositor: Option<Compositor>,
}

impl Daemon {
    /// Starts a desktop with the daemon.
    pub async fn start(kind: Kind) -> Result<(Desktop, Self)> {
        let (desktop, compositor) = match kind {
            Kind::Mako => {
                let (desktop, compositor) = Desktop::wayland().await?;
                (desktop, Some(compositor))
            }
            _ => (Desktop::start().await?, None),
        };
        let bus = desktop.bus().connect().await?;
        let address = desktop.bus().address().to_owned();
        let mut daemon = Self {
            kind,
            process: None,
            recorder: None,
            dunst: None,
            xfce: None,
            bus,
            address,
            _compositor: compositor,
        };
        daemon.start_again(&desktop).await?;
        Ok((desktop, daemon))
    }

    pub async fn start_again(&mut self, desktop: &Desktop) -> Result<()> {
        match self.kind {
            Kind::Double => self.recorder = Some(Notifications::on(desktop, Manners::Polite).await?),
            Kind::BroadcastingDouble => {
                self.recorder = Some(Notifications::on(desktop, Manners::Broadcasting).await?);
            }
            Kind::Gnome => {
                let shell = Notifications::named(desktop, Manners::Broadcasting, "org.gnome.Shell").await?;
                self.recorder = Some(shell);
                let mut service = desktop.command("gjs");
                service.env("GNOME_SHELL_DATADIR", gnome_shell()?).arg("-c").arg(format!(
                    "imports.gi.Gio.Resource.load('{}')._register();\
                     imports.searchPath.unshift('resource:///org/gnome/Shell/Notifications/js');\
                     imports.main.main();",
                    gnome_shell()?.join(SERVICE).display()
                ));
                self.process = Some(Owned::start("gjs", &mut service)?);
            }
            Kind::Dunst => self.dunst = Some(Dunst::on(desktop).await?),
            Kind::Mako => {
                let mut mako = desktop.command("mako");
                mako.args(["--default-timeout=0", "--max-visible=-1"]);
                self.process = Some(Owned::start("mako", &mut mako)?);
            }
            Kind::Xfce => self.xfce = Some(XfceNotifyd::on(desktop).await?),
        }
        desktop.bus().has_name(NAME).await?;
        // GNOME Shell's service takes its name before it has its object.
        eventually("the daemon answers", SHORT, async || {
            let answer = self.bus.call_method(Some(NAME), PATH, Some(NAME), "GetCapabilities", &()).await;
            Ok(answer.is_ok().then_some(()))
        })
        .await
    }

    pub async fn stop(&mut self) -> Result<()> {
        self.process = None;
        self.dunst = None;
        self.xfce = None;
        match self.recorder.take() {
            Some(recorder) => recorder.leave().await,
            None => Ok(()),
        }
    }

    /// The version of a real daemon; `None` for a double, and where the system has no record of it.
    pub fn version(&self) -> Result<Option<String>> {
        match self.kind {
            Kind::Double | Kind::BroadcastingDouble => Ok(None),
            Kind::Gnome => {
                let scripts = fs::read(gnome_shell()?.join(SERVICE))?;
                let scripts = String::from_utf8_lossy(&scripts);
                let version =
                    scripts.split_once("PACKAGE_VERSION = '").and_then(|(_, rest)| rest.split_once('\''));
                Ok(version.map(|(version, _)| version.to_owned()))
            }
            Kind::Dunst => Ok(version_of("dunst")),
            // It does not know its own version (1.7.1).
            Kind::Mako => Ok(version_of("mako-notifier")),
            Kind::Xfce => Ok(version_of("xfce4-notifyd")),
        }
    }

    fn recorder(&self) -> Result<&Notifications> {
        self.recorder.as_ref().context("the daemon runs")
    }

    fn dunst(&self) -> Result<&Dunst> {
        self.dunst.as_ref().context("dunst runs")
    }

    fn xfce(&self) -> Result<&XfceNotifyd> {
        self.xfce.as_ref().context("xfce4-notifyd runs")
    }

    /// The notifications that the double displays.
    fn recorded(&self) -> Result<Vec<Notification>> {
        let mut all = self.recorder()?.all();
        all.retain(|notification| notification.open);
        Ok(all)
    }

    fn the_recorded(&self) -> Result<u32> {
        match self.recorded()?.as_slice() {
            [one] => Ok(one.id),
            all => bail!("not one: {all:?}"),
        }
    }

    pub async fn n_displayed(&self) -> Result<usize> {
        match self.kind {
            Kind::Double | Kind::BroadcastingDouble => Ok(self.recorded()?.len()),
            Kind::Gnome => {
                let n_recorded = self.recorded()?.len();
                // The service asks the shell in order. After this answer it knows each notification that the shell has,
                // and passes on what the user does to it.
                self.bus.call_method(Some(NAME), PATH, Some(NAME), "GetCapabilities", &()).await?;
                Ok(n_recorded)
            }
            Kind::Dunst => self.dunst()?.n_displayed().await,
            Kind::Mako => Ok(self.listed().await?.len()),
            Kind::Xfce => self.xfce()?.n_displayed(),
        }
    }

    /// Clicks the displayed notification, or presses one of its buttons.
    pub async fn act(&self, action: &str) -> Result<()> {
        match self.kind {
            Kind::Double | Kind::BroadcastingDouble | Kind::Gnome => {
                self.recorder()?.act(self.the_recorded()?, action).await
            }
            Kind::Dunst => self.dunst()?.act(action).await,
            Kind::Mako => self.mako(&["invoke", action]).await.map(drop),
            Kind::Xfce => self.xfce()?.act(action).await,
        }
    }

    /// Whether a test can have it send a token with a click. mako sends one only with a click of a pointer, and GNOME Shell's
    /// service (43) passes none on. dunst (1.9.0) and xfce4-notifyd (0.7.3) know none.
    pub fn has_tokens(&self) -> bool {
        matches!(self.kind, Kind::Double | Kind::BroadcastingDouble)
    }

    pub async fn click_with_token(&self, token: &str) -> Result<()> {
        self.recorder()?.click_with_token(self.the_recorded()?, token).await
    }

    /// Dismisses the displayed notification.
    pub async fn dismiss(&self) -> Result<()> {
        match self.kind {
            Kind::Double | Kind::BroadcastingDouble | Kind::Gnome => {
                self.recorder()?.dismiss(self.the_recorded()?).await
            }
            Kind::Dunst => self.dunst()?.dismiss().await,
            Kind::Mako => self.mako(&["dismiss"]).await.map(drop),
            Kind::Xfce => self.xfce()?.dismiss().await,
        }
    }

    /// What mako displays.
    async fn listed(&self) -> Result<Vec<Value>> {
        let listed: Value = serde_json::from_str(&self.mako(&["list"]).await?)?;
        Ok(listed["data"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|group| group.as_array())
            .flatten()
            .cloned()
            .collect())
    }

    async fn mako(&self, arguments: &[&str]) -> Result<String> {
        let mut command = tokio::process::Command::new("makoctl");
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.address).args(arguments).stderr(Stdio::piped());
        let output = command.kill_on_drop(true).output().await?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "makoctl {}: {}", arguments.join(" "), said.trim());
        Ok(String::from_utf8(output.stdout)?)
    }
}

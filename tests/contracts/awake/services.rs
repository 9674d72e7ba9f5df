//! Services that keep a computer awake: our doubles, xdg-desktop-portal and systemd-logind, each on its own bus.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use deskbell_tests::suite::Requirement;
use deskbell_tests::window::{Desktop, Inhibitor, Owned, PortalManners, eventually, service_program};

const PORTAL: &str = "org.freedesktop.portal.Desktop";
const LOGIND: &str = "org.freedesktop.login1";

/// The name of our backend for the real portal.
const BACKEND: &str = "org.freedesktop.impl.portal.desktop.deskbell_test";

/// The path of systemd's logind.
const LOGIND_PROGRAM: &str = "/lib/systemd/systemd-logind";

/// A namespace in which a user may mount. It hides devices and the real logind's runtime files.
const NAMESPACE: [&str; 4] = ["--user", "--map-root-user", "--mount", "--propagation=private"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceKind {
    PortalDouble,
    /// The real portal with a double of its desktop backend.
    Portal,
    LogindDouble,
    Logind,
}

impl ServiceKind {
    /// The services that can run here. Some systems, such as Ubuntu since 24.04, let no user create a namespace.
    pub fn all() -> Vec<Self> {
        let mut kinds = vec![Self::PortalDouble, Self::Portal, Self::LogindDouble];
        match makes_namespaces() && Path::new(LOGIND_PROGRAM).is_file() {
            true => kinds.push(Self::Logind),
            false => println!("left out: awake::systemd_logind, which needs systemd and a mount namespace"),
        }
        kinds
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::PortalDouble => "the_double_of_the_portal",
            Self::Portal => "xdg_desktop_portal",
            Self::LogindDouble => "the_double_of_logind",
            Self::Logind => "systemd_logind",
        }
    }

    pub fn requirement(self) -> Requirement {
        match self {
            Self::Portal => Requirement::from(&service_program(PORTAL).map(drop)),
            Self::PortalDouble | Self::LogindDouble | Self::Logind => Requirement::Met,
        }
    }

    /// The package of Debian with a real service.
    pub fn package(self) -> Option<&'static str> {
        match self {
            Self::PortalDouble | Self::LogindDouble => None,
            Self::Portal => Some("xdg-desktop-portal"),
            Self::Logind => Some("systemd"),
        }
    }

    pub fn is_portal(self) -> bool {
        matches!(self, Self::PortalDouble | Self::Portal)
    }
}

fn makes_namespaces() -> bool {
    let mut command = Command::new("unshare");
    let command = command.args(NAMESPACE).arg("true").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// A running service.
pub struct AwakeService {
    /// The double, or the portal's backend.
    recorder: Option<Inhibitor>,
    bus: zbus::Connection,
    _process: Option<Owned>,
}

impl AwakeService {
    pub async fn start(kind: ServiceKind, desktop: &Desktop) -> Result<Self> {
        let (recorder, process) = match kind {
            ServiceKind::PortalDouble => {
                (Some(Inhibitor::portal(desktop.bus(), PortalManners::Holds).await?), None)
            }
            ServiceKind::LogindDouble => (Some(Inhibitor::logind(desktop.bus()).await?), None),
            ServiceKind::Portal => {
                let recorder = Inhibitor::behind_portal(desktop.bus(), BACKEND).await?;
                (Some(recorder), Some(start_portal(desktop).await?))
            }
            ServiceKind::Logind => (None, Some(start_logind(desktop).await?)),
        };
        Ok(Self { recorder, bus: desktop.bus().connect().await?, _process: process })
    }

    /// Waits for this number of active requests, and returns what each inhibits and why.
    pub async fn holds(&self, n: usize, deadline: Duration) -> Result<Vec<(String, String)>> {
        let mut last = Vec::new();
        let held = eventually("so many requests hold", deadline, async || {
            last = self.held().await?;
            Ok((last.len() == n).then_some(()))
        });
        held.await.with_context(|| format!("{last:?} hold, not {n}"))?;
        Ok(last)
    }

    async fn held(&self) -> Result<Vec<(String, String)>> {
        if let Some(recorder) = &self.recorder {
            let held = recorder.held().await?.into_iter();
            return Ok(held.map(|one| (one.what, one.reason)).collect());
        }
        let (path, interface) = ("/org/freedesktop/login1", Some("org.freedesktop.login1.Manager"));
        let reply = self.bus.call_method(Some(LOGIND), path, interface, "ListInhibitors", &()).await?;
        let all: Vec<(String, String, String, String, u32, u32)> = reply.body().deserialize()?;
        Ok(all.into_iter().map(|(what, _, why, mode, ..)| (format!("{what} {mode}"), why)).collect())
    }
}

async fn start_portal(desktop: &Desktop) -> Result<Owned> {
    let folder = desktop.scratch().join("portals");
    fs::create_dir_all(&folder)?;
    let interface = "org.freedesktop.impl.portal.Inhibit";
    let backend = format!("[portal]\nDBusName={BACKEND}\nInterfaces={interface};\nUseIn=deskbell-test\n");
    fs::write(folder.join("deskbell-test.portal"), backend)?;
    let mut portal = desktop.command(service_program(PORTAL)?);
    portal.env("XDG_DESKTOP_PORTAL_DIR", &folder).env("XDG_CURRENT_DESKTOP", "deskbell-test");
    let portal = Owned::start("xdg-desktop-portal", &mut portal)?;
    desktop.bus().has_name(PORTAL).await?;
    Ok(portal)
}

async fn start_logind(desktop: &Desktop) -> Result<Owned> {
    let script = format!(
        "mount -t tmpfs run /run && mount -t tmpfs dev /dev && mkdir -p /run/systemd/system && exec {LOGIND_PROGRAM}"
    );
    let mut logind = desktop.command("unshare");
    let logind = Owned::start("systemd-logind", logind.args(NAMESPACE).args(["sh", "-c", &script]))?;
    desktop.bus().has_name(LOGIND).await?;
    Ok(logind)
}

//! dunst on a desktop, with the user's actions.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::Result;
use zbus::OwnedVariant;

use super::child::Owned;
use super::desktop::Desktop;
use crate::wait::{SHORT, eventually};

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// dunst's own interface, which `dunstctl` uses too.
const INTERFACE: &str = "org.dunstproject.cmd0";

/// The key of a click among a notification's actions.
const CLICK: &str = "default";

/// A running dunst. It ends with this value.
#[derive(Debug)]
pub struct Dunst {
    bus: zbus::Connection,
    /// The file with the part of the menu line to choose.
    chosen: PathBuf,
    _process: Owned,
}

impl Dunst {
    /// Starts dunst on `desktop`, and returns when it answers.
    pub async fn on(desktop: &Desktop) -> Result<Self> {
        let folder = desktop.scratch();
        let (chosen, chooser) = (folder.join("chosen"), folder.join("chooser"));
        // dunst shows the buttons in a menu of another program, which prints the chosen line.
        fs::write(&chooser, format!("#!/bin/sh\nexec grep -F -f '{}'\n", chosen.display()))?;
        fs::set_permissions(&chooser, fs::Permissions::from_mode(0o755))?;
        let configuration = folder.join("dunstrc");
        let limit = "notification_limit = 20\n    idle_threshold = 0";
        fs::write(&configuration, format!("[global]\n    dmenu = {}\n    {limit}\n", chooser.display()))?;
        let mut dunst = desktop.command("dunst");
        let process = Owned::start("dunst", dunst.arg("-conf").arg(&configuration))?;
        let bus = desktop.bus().connect().await?;
        desktop.bus().has_name(NAME).await?;
        Ok(Self { bus, chosen, _process: process })
    }

    /// The number of displayed and waiting notifications.
    pub async fn n_displayed(&self) -> Result<usize> {
        Ok(self.count("displayedLength").await? + self.count("waitingLength").await?)
    }

    /// Waits until it displays that many notifications.
    pub async fn displays(&self, n: usize) -> Result<()> {
        eventually(&format!("dunst displays {n}"), SHORT, async || {
            Ok((self.n_displayed().await? == n).then_some(()))
        })
        .await
    }

    /// Clicks the displayed notification, or presses one of its buttons.
    pub async fn act(&self, action: &str) -> Result<()> {
        if action == CLICK {
            return self.call("NotificationAction", &0_u32).await;
        }
        // A line of the menu is `#Deny (Deskbell) [1,deny]`.
        fs::write(&self.chosen, format!(",{action}]\n"))?;
        self.call("ContextMenuCall", &()).await
    }

    /// Dismisses the displayed notification.
    pub async fn dismiss(&self) -> Result<()> {
        self.call("NotificationCloseLast", &()).await
    }

    async fn count(&self, property: &str) -> Result<usize> {
        let properties = Some("org.freedesktop.DBus.Properties");
        let body = (INTERFACE, property);
        let reply = self.bus.call_method(Some(NAME), PATH, properties, "Get", &body).await?;
        let count: OwnedVariant = reply.body().deserialize()?;
        Ok(usize::try_from(u32::try_from(&*count)?)?)
    }

    async fn call(&self, method: &str, body: &(impl serde::Serialize + zbus::DynamicType)) -> Result<()> {
        self.bus.call_method(Some(NAME), PATH, Some(INTERFACE), method, body).await?;
        Ok(())
    }
}

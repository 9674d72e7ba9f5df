//! A tray that reads the icons which programs register, and chooses from their menus for a test.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::watch;
use zbus::OwnedVariant;

use super::desktop::Desktop;
use crate::wait::eventually;

const MENU: &str = "/MenuBar";

/// A tray on the bus of a desktop.
#[derive(Debug)]
pub struct Tray {
    connection: zbus::Connection,
    registered: watch::Receiver<Vec<String>>,
}

/// An icon as the tray reads it.
#[derive(Clone, Debug)]
pub struct TrayIcon {
    pub status: String,
    /// The entries of its menu with their ids, without separators.
    pub entries: Vec<(i32, String)>,
}

impl Tray {
    /// Starts a tray on `desktop`.
    pub async fn on(desktop: &Desktop) -> Result<Self> {
        let (store, registered) = watch::channel(Vec::new());
        let connection = zbus::connection::Builder::address(desktop.bus().address())
            .serve_at("/StatusNotifierWatcher", Watcher { store })
            .name("org.kde.StatusNotifierWatcher")
            .method_timeout(crate::wait::SHORT)
            .build()
            .await?;
        Ok(Self { connection, registered })
    }

    /// Waits for an icon that `wanted` accepts. The tray has at most one.
    pub async fn wait_for(&self, wanted: impl Fn(&TrayIcon) -> bool, deadline: Duration) -> Result<TrayIcon> {
        let mut last = None;
        let found = eventually("the tray has such an icon", deadline, async || {
            last = self.icon().await.ok();
            Ok(last.clone().filter(&wanted))
        })
        .await;
        found.with_context(|| format!("last: {last:#?}"))
    }

    /// Chooses an entry of the menu.
    pub async fn choose(&self, id: i32) -> Result<()> {
        let service = self.service()?;
        let body = (id, "clicked", OwnedVariant::from(0), 0u32);
        let menu = Some("com.canonical.dbusmenu");
        self.connection.call_method(Some(service.as_str()), MENU, menu, "Event", &body).await?;
        Ok(())
    }

    /// Waits until the program has taken its icon away.
    pub async fn wait_gone(&self, deadline: Duration) -> Result<()> {
        let service = self.service()?;
        eventually("the icon is gone", deadline, async || {
            let bus = Some("org.freedesktop.DBus");
            let reply = self
                .connection
                .call_method(bus, "/org/freedesktop/DBus", bus, "NameHasOwner", &(service.as_str(),))
                .await?;
            let there: bool = reply.body().deserialize()?;
            Ok((!there).then_some(()))
        })
        .await
    }

    fn service(&self) -> Result<String> {
        self.registered.borrow().last().cloned().context("no icon was registered")
    }

    async fn icon(&self) -> Result<TrayIcon> {
        let service = self.service()?;
        let properties = Some("org.freedesktop.DBus.Properties");
        let body = ("org.kde.StatusNotifierItem", "Status");
        let status = self
            .connection
            .call_method(Some(service.as_str()), "/StatusNotifierItem", properties, "Get", &body)
            .await?;
        let status: OwnedVariant = status.body().deserialize()?;
        let menu = Some("com.canonical.dbusmenu");
        let body = (Vec::<i32>::new(), vec!["label"]);
        let reply = self
            .connection
            .call_method(Some(service.as_str()), MENU, menu, "GetGroupProperties", &body)
            .await?;
        let items: Vec<(i32, HashMap<String, OwnedVariant>)> = reply.body().deserialize()?;
        let label = |(id, mut properties): (i32, HashMap<String, OwnedVariant>)| {
            Some((id, String::try_from(properties.remove("label")?).ok()?))
        };
        let entries = items.into_iter().filter_map(label).filter(|(_, label)| !label.is_empty()).collect();
        Ok(TrayIcon { status: String::try_from(status)?, entries })
    }
}

struct Watcher {
    store: watch::Sender<Vec<String>>,
}

#[zbus::interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    fn register_status_notifier_item(&self, service: String) {
        self.store.send_modify(|all| all.push(service));
    }

    fn register_status_notifier_host(&self, _service: String) {}

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        self.store.borrow().clone()
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }
}

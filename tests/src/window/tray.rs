//! A tray that draws the registered icons and chooses from their menus. `tests/contracts/tray.rs` compares it with a
//! real tray.

use std::collections::HashMap;
use std::pin::Pin;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use zbus::export::futures_core::Stream;
use zbus::{Connection, MatchRule, Message, MessageStream, OwnedVariant};

use super::desktop::Desktop;
use crate::wait::{SHORT, eventually};

const ITEM: &str = "/StatusNotifierItem";
const ITEM_INTERFACE: &str = "org.kde.StatusNotifierItem";
const MENU: &str = "/MenuBar";
const NEEDS_ATTENTION: &str = "NeedsAttention";

/// A tray on the bus of a desktop.
#[derive(Debug)]
pub struct Tray {
    connection: Connection,
    registered: watch::Receiver<Vec<String>>,
    drawn: watch::Receiver<Pictures>,
    task: JoinHandle<()>,
}

/// Pictures in each size: width, height and pixels.
type Pixmaps = Vec<(i32, i32, Vec<u8>)>;

/// The drawn state of an icon. Like xfce4-panel 4.18, the tray reads a picture again only after that picture's signal,
/// and takes the status only from the status signal.
#[derive(Clone, Debug, Default)]
struct Pictures {
    status: String,
    usual: Pixmaps,
    attention: Pixmaps,
}

/// An icon as the tray draws it.
#[derive(Clone, Debug)]
pub struct TrayIcon {
    pub status: String,
    /// The pixels of its picture.
    pub picture: Vec<u8>,
    /// The entries of its menu with their ids, without separators.
    pub entries: Vec<(i32, String)>,
}

impl Tray {
    /// Starts a tray on `desktop`.
    pub async fn on(desktop: &Desktop) -> Result<Self> {
        let (store, registered) = watch::channel(Vec::new());
        let (draw, drawn) = watch::channel(Pictures::default());
        // Signals have their own connection, which listens before any icon is registered.
        let reader = desktop.bus().connect().await?;
        let rule =
            MatchRule::builder().msg_type(zbus::message::Type::Signal).interface(ITEM_INTERFACE).build()?;
        let signals = MessageStream::for_match_rule(rule, &reader, None).await?;
        let task = tokio::spawn(follow(reader, signals, registered.clone(), draw));
        let connection = zbus::connection::Builder::address(desktop.bus().address())
            .serve_at("/StatusNotifierWatcher", Watcher { store })
            .name("org.kde.StatusNotifierWatcher")
            .method_timeout(SHORT)
            .build()
            .await?;
        Ok(Self { connection, registered, drawn, task })
    }

    /// Clicks the icon.
    pub async fn click(&self) -> Result<()> {
        let service = self.service()?;
        let interface = Some(ITEM_INTERFACE);
        self.connection.call_method(Some(service.as_str()), ITEM, interface, "Activate", &(0, 0)).await?;
        Ok(())
    }

    /// Waits for an icon that `wanted` accepts.
    pub async fn wait_for(&self, wanted: impl Fn(&TrayIcon) -> bool, deadline: Duration) -> Result<TrayIcon> {
        let mut last = None;
        let found = eventually("the tray has such an icon", deadline, async || {
            last = self.icon().await?;
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
            Ok((!self.is_running(&service).await?).then_some(()))
        })
        .await
    }

    fn service(&self) -> Result<String> {
        self.registered.borrow().last().cloned().context("no icon was registered")
    }

    /// The icon; `None` if no running program has one. The tray has at most one.
    pub async fn icon(&self) -> Result<Option<TrayIcon>> {
        let Some(service) = self.registered.borrow().last().cloned() else { return Ok(None) };
        if !self.is_running(&service).await? {
            return Ok(None);
        }
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
        let Pictures { status, usual, attention } = self.drawn.borrow().clone();
        let shown = if status == NEEDS_ATTENTION { attention } else { usual };
        let picture = shown.into_iter().next().map(|(_, _, pixels)| pixels);
        Ok(picture.map(|picture| TrayIcon { status, picture, entries }))
    }

    async fn is_running(&self, service: &str) -> Result<bool> {
        let names = zbus::fdo::DBusProxy::new(&self.connection).await?;
        Ok(names.name_has_owner(service.try_into()?).await?)
    }
}

impl Drop for Tray {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads each registered icon, then the properties that its signals name.
async fn follow(
    connection: Connection,
    mut signals: MessageStream,
    mut registered: watch::Receiver<Vec<String>>,
    draw: watch::Sender<Pictures>,
) {
    loop {
        let result = tokio::select! {
            changed = registered.changed() => match changed {
                Ok(()) => read_all(&connection, &registered, &draw).await,
                Err(_) => return,
            },
            signal = next(&mut signals) => match signal {
                Some(Ok(signal)) => read_again(&connection, &signal, &draw).await,
                Some(Err(error)) => Err(error.into()),
                None => return,
            },
        };
        // The program may have exited with its icon.
        if let Err(error) = result {
            eprintln!("the tray could not read an icon: {error:#}");
        }
    }
}

async fn next(signals: &mut MessageStream) -> Option<zbus::Result<Message>> {
    std::future::poll_fn(|context| Pin::new(&mut *signals).poll_next(context)).await
}

async fn read_all(
    connection: &Connection,
    registered: &watch::Receiver<Vec<String>>,
    draw: &watch::Sender<Pictures>,
) -> Result<()> {
    let service = registered.borrow().last().cloned().context("something was registered")?;
    let pictures = Pictures {
        status: String::try_from(property(connection, &service, "Status").await?)?,
        usual: property(connection, &service, "IconPixmap").await?.try_into()?,
        attention: property(connection, &service, "AttentionIconPixmap").await?.try_into()?,
    };
    draw.send_replace(pictures);
    Ok(())
}

async fn read_again(connection: &Connection, signal: &Message, draw: &watch::Sender<Pictures>) -> Result<()> {
    let header = signal.header();
    let (Some(member), Some(sender)) = (header.member(), header.sender()) else { return Ok(()) };
    match member.as_str() {
        "NewStatus" => {
            let status: String = signal.body().deserialize()?;
            draw.send_modify(|pictures| pictures.status = status);
        }
        "NewIcon" => {
            let usual = property(connection, sender, "IconPixmap").await?.try_into()?;
            draw.send_modify(|pictures| pictures.usual = usual);
        }
        "NewAttentionIcon" => {
            let attention = property(connection, sender, "AttentionIconPixmap").await?.try_into()?;
            draw.send_modify(|pictures| pictures.attention = attention);
        }
        _ => {}
    }
    Ok(())
}

async fn property(connection: &Connection, service: &str, name: &str) -> Result<OwnedVariant> {
    let properties = Some("org.freedesktop.DBus.Properties");
    let reply =
        connection.call_method(Some(service), ITEM, properties, "Get", &(ITEM_INTERFACE, name)).await?;
    Ok(reply.body().deserialize()?)
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

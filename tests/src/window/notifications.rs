//! A notification daemon that records the requested notifications, and clicks them for a test. Its contract with real
//! daemons is `tests/contracts/notifications.rs`.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::watch;
use zbus::OwnedVariant;
use zbus::message::Header;
use zbus::names::{BusName, OwnedUniqueName};
use zbus::object_server::SignalEmitter;

use super::desktop::Desktop;

const PATH: &str = "/org/freedesktop/Notifications";
const NAME: &str = "org.freedesktop.Notifications";

/// The behaviour of the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manners {
    /// Shows every requested notification. Like GNOME Shell and dunst, it sends the answers to a notification only to its
    /// sender, and lets only the sender replace and withdraw it.
    Polite,
    /// The same, but it sends answers to everybody and obeys everybody, as the specification of 1.2 allows.
    Broadcasting,
    /// Accepts every call and never answers one.
    Mute,
    /// Is absent.
    Absent,
}

/// A notification as requested.
#[derive(Clone, Debug)]
pub struct Notification {
    pub id: u32,
    pub app: String,
    pub summary: String,
    pub body: String,
    /// Name and label of each action.
    pub actions: Vec<(String, String)>,
    /// The names of its hints, with a text for those that have one.
    pub hints: HashMap<String, Option<String>>,
    /// Whether it is still shown.
    pub open: bool,
    sender: Option<OwnedUniqueName>,
}

/// A notification daemon on the bus of a desktop.
#[derive(Debug)]
pub struct Notifications {
    connection: zbus::Connection,
    seen: watch::Receiver<Vec<Notification>>,
    store: watch::Sender<Vec<Notification>>,
    manners: Manners,
}

impl Notifications {
    /// Starts a daemon on `desktop`.
    pub async fn on(desktop: &Desktop, manners: Manners) -> Result<Self> {
        Self::named(desktop, manners, NAME).await
    }

    /// Starts a daemon with another name, to which a service with the usual name passes its calls on.
    pub async fn named(desktop: &Desktop, manners: Manners, name: &str) -> Result<Self> {
        let (store, seen) = watch::channel(Vec::new());
        let builder = zbus::connection::Builder::address(desktop.bus().address())
            .serve_at(PATH, Daemon { store: store.clone(), manners });
        let connection = match manners {
            Manners::Polite | Manners::Broadcasting | Manners::Mute => {
                builder.name(name.to_owned()).build().await?
            }
            Manners::Absent => builder.build().await?,
        };
        Ok(Self { connection, seen, store, manners })
    }

    /// Every notification so far, oldest first.
    pub fn all(&self) -> Vec<Notification> {
        self.seen.borrow().clone()
    }

    /// Waits for a notification that `wanted` accepts, earlier ones included.
    pub async fn wait_for(
        &self,
        wanted: impl Fn(&Notification) -> bool,
        deadline: Duration,
    ) -> Result<Notification> {
        let mut seen = self.seen.clone();
        let found = tokio::time::timeout(deadline, async {
            let seen = seen.wait_for(|all| all.iter().any(&wanted)).await?;
            seen.iter().find(|notification| wanted(notification)).cloned().context("it was just seen")
        });
        found.await.map_err(|_| anyhow::anyhow!("no such notification; seen: {:#?}", self.all()))?
    }

    /// Clicks a notification, as a user does on its text.
    pub async fn click(&self, id: u32) -> Result<()> {
        self.act(id, "default").await
    }

    /// Presses a button of a notification.
    pub async fn act(&self, id: u32, action: &str) -> Result<()> {
        Daemon::action_invoked(&self.emitter(id)?, id, action).await?;
        self.end(id, 2).await
    }

    /// Clicks a notification on a desktop whose windows need a token to take the focus.
    pub async fn click_with_token(&self, id: u32, token: &str) -> Result<()> {
        Daemon::activation_token(&self.emitter(id)?, id, token).await?;
        self.click(id).await
    }

    /// Dismisses a notification.
    pub async fn dismiss(&self, id: u32) -> Result<()> {
        self.end(id, 2).await
    }

    /// Ends the daemon: its name is free, and no call is answered.
    pub async fn leave(&self) -> Result<()> {
        Ok(self.connection.clone().close().await?)
    }

    async fn end(&self, id: u32, reason: u32) -> Result<()> {
        close(&self.store, id);
        Ok(Daemon::notification_closed(&self.emitter(id)?, id, reason).await?)
    }

    /// Emits the signals about a notification.
    fn emitter(&self, id: u32) -> Result<SignalEmitter<'static>> {
        let emitter = SignalEmitter::new(&self.connection, PATH)?;
        Ok(addressed(emitter, &self.store, self.manners, id).into_owned())
    }
}

/// With the addressee of the signals about a notification.
fn addressed<'a>(
    emitter: SignalEmitter<'a>,
    store: &watch::Sender<Vec<Notification>>,
    manners: Manners,
    id: u32,
) -> SignalEmitter<'a> {
    match sender_of(store, id) {
        Some(sender) if manners == Manners::Polite => emitter.set_destination(BusName::from(sender)),
        _ => emitter,
    }
}

fn sender_of(store: &watch::Sender<Vec<Notification>>, id: u32) -> Option<OwnedUniqueName> {
    store.borrow().iter().rev().find(|notification| notification.id == id)?.sender.clone()
}

fn close(store: &watch::Sender<Vec<Notification>>, id: u32) {
    store.send_modify(|all| {
        for notification in all.iter_mut().filter(|notification| notification.id == id) {
            notification.open = false;
        }
    });
}

/// A hint that is a text or a byte, as the urgency is.
fn text_of(value: OwnedVariant) -> Option<String> {
    u8::try_from(&*value).map(|byte| byte.to_string()).ok().or_else(|| String::try_from(value).ok())
}

struct Daemon {
    store: watch::Sender<Vec<Notification>>,
    manners: Manners,
}

impl Daemon {
    async fn hold_back(&self) {
        if self.manners == Manners::Mute {
            std::future::pending::<()>().await;
        }
    }

    /// An error unless the caller may replace or withdraw this notification.
    fn check(&self, id: u32, caller: &Option<OwnedUniqueName>) -> zbus::fdo::Result<()> {
        match sender_of(&self.store, id) {
            Some(sender) if self.manners == Manners::Polite && Some(&sender) != caller.as_ref() => {
                Err(zbus::fdo::Error::InvalidArgs("Invalid notification ID".to_owned()))
            }
            _ => Ok(()),
        }
    }
}

fn caller(header: &Header<'_>) -> Option<OwnedUniqueName> {
    header.sender().map(|name| name.to_owned().into())
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Daemon {
    async fn get_capabilities(&self) -> Vec<&'static str> {
        self.hold_back().await;
        vec!["body", "body-markup", "actions"]
    }

    async fn get_server_information(&self) -> (&'static str, &'static str, &'static str, &'static str) {
        self.hold_back().await;
        ("recorder", "deskbell-tests", "1", "1.2")
    }

    #[expect(clippy::too_many_arguments, reason = "the interface is the specification's")]
    async fn notify(
        &self,
        app_name: String,
        replaces_id: u32,
        _app_icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        hints: HashMap<String, OwnedVariant>,
        _expire_timeout: i32,
        #[zbus(header)] header: Header<'_>,
    ) -> zbus::fdo::Result<u32> {
        let sender = caller(&header);
        self.check(replaces_id, &sender)?;
        let (mut id, open) = (replaces_id, true);
        let actions = actions.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        let hints = hints.into_iter().map(|(name, value)| (name, text_of(value))).collect();
        self.store.send_modify(|all| {
            if id == 0 {
                id = u32::try_from(all.len()).expect("a test shows few notifications") + 1;
            }
            all.push(Notification { id, app: app_name, summary, body, actions, hints, open, sender });
        });
        self.hold_back().await;
        Ok(id)
    }

    async fn close_notification(
        &self,
        id: u32,
        #[zbus(header)] header: Header<'_>,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
    ) -> zbus::fdo::Result<()> {
        self.hold_back().await;
        self.check(id, &caller(&header))?;
        close(&self.store, id);
        let emitter = addressed(emitter, &self.store, self.manners, id);
        // A failure of the daemon's own close signal is ignored: it may have no receiver.
        let _ = Self::notification_closed(&emitter, id, 3).await;
        Ok(())
    }

    #[zbus(signal)]
    async fn action_invoked(emitter: &SignalEmitter<'_>, id: u32, action_key: &str) -> zbus::Result<()>;

    #[zbus(signal)]
    async fn activation_token(emitter: &SignalEmitter<'_>, id: u32, token: &str) -> zbus::Result<()>;

    #[zbus(signal)]
    async fn notification_closed(emitter: &SignalEmitter<'_>, id: u32, reason: u32) -> zbus::Result<()>;
}

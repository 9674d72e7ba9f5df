//! The portal and logind, as far as they keep a computer awake: they record who wants that. Their contract is
//! `tests/contracts/awake.rs`.

use std::collections::HashMap;

use anyhow::{Context, Result};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use zbus::message::Header;
use zbus::names::OwnedUniqueName;
use zbus::object_server::SignalEmitter;
use zbus::{ObjectServer, OwnedFd, OwnedObjectPath, OwnedVariant};

use super::bus::Bus;
use crate::wait::{SHORT, eventually};

const PORTAL: &str = "org.freedesktop.portal.Desktop";
const PORTAL_PATH: &str = "/org/freedesktop/portal/desktop";

/// The behaviour of the portal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortalManners {
    Holds,
    /// Takes each request, and answers that the desktop behind it cannot.
    Refuses,
    /// Accepts every call and never answers one.
    Mute,
}

/// A request as it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inhibition {
    /// The portal's flags or logind's kind, and its mode.
    pub what: String,
    pub reason: String,
    /// It holds until it is closed or its connection leaves, and with logind until its descriptor is closed.
    pub held: bool,
    /// The connection that a request to the portal ends with.
    sender: Option<OwnedUniqueName>,
}

/// All requests so far, oldest first.
type Store = watch::Sender<Vec<Inhibition>>;

/// A portal or a logind on a bus.
#[derive(Debug)]
pub struct Inhibitor {
    seen: watch::Receiver<Vec<Inhibition>>,
    connection: zbus::Connection,
}

impl Inhibitor {
    /// Starts a portal.
    pub async fn portal(bus: &Bus, manners: PortalManners) -> Result<Self> {
        let (store, seen) = watch::channel(Vec::new());
        let builder = zbus::connection::Builder::address(bus.address());
        let builder = builder.serve_at(PORTAL_PATH, Portal { store, manners });
        Ok(Self { seen, connection: builder.name(PORTAL).build().await? })
    }

    /// Starts logind.
    pub async fn logind(bus: &Bus) -> Result<Self> {
        let (store, seen) = watch::channel(Vec::new());
        let builder = zbus::connection::Builder::address(bus.address());
        let builder = builder.serve_at("/org/freedesktop/login1", Manager { store });
        Ok(Self { seen, connection: builder.name("org.freedesktop.login1").build().await? })
    }

    /// Starts the desktop's backend of a real portal.
    pub async fn behind_portal(bus: &Bus, name: &str) -> Result<Self> {
        let (store, seen) = watch::channel(Vec::new());
        let builder = zbus::connection::Builder::address(bus.address());
        let builder = builder.serve_at(PORTAL_PATH, PortalBackend { store });
        Ok(Self { seen, connection: builder.name(name.to_owned()).build().await? })
    }

    /// Every request so far, oldest first.
    pub fn all(&self) -> Vec<Inhibition> {
        self.seen.borrow().clone()
    }

    /// Waits until so many requests hold.
    pub async fn holds(&self, n: usize) -> Result<()> {
        let mut last = Vec::new();
        let held = eventually("so many requests hold", SHORT, async || {
            last = self.held().await?;
            Ok((last.len() == n).then_some(()))
        });
        held.await.with_context(|| format!("{last:#?} hold, not {n}"))
    }

    /// The active requests.
    pub async fn held(&self) -> Result<Vec<Inhibition>> {
        let names = zbus::fdo::DBusProxy::new(&self.connection).await?;
        let mut held = Vec::new();
        for one in self.all().into_iter().filter(|one| one.held) {
            let is_there = match one.sender.clone() {
                Some(sender) => names.name_has_owner(sender.into()).await?,
                None => true,
            };
            if is_there {
                held.push(one);
            }
        }
        Ok(held)
    }

    /// Ends it: its name is free, and what it held is gone.
    pub async fn leave(self) -> Result<()> {
        Ok(self.connection.close().await?)
    }
}

/// Adds a request, and returns its place.
fn add(store: &Store, what: String, reason: String, sender: Option<OwnedUniqueName>) -> usize {
    let mut at = 0;
    store.send_modify(|all| {
        at = all.len();
        all.push(Inhibition { what, reason, held: true, sender });
    });
    at
}

fn release(store: &Store, at: usize) {
    store.send_modify(|all| all[at].held = false);
}

struct Portal {
    store: Store,
    manners: PortalManners,
}

#[zbus::interface(name = "org.freedesktop.portal.Inhibit")]
impl Portal {
    #[zbus(property, name = "version")]
    async fn version(&self) -> u32 {
        3
    }

    async fn inhibit(
        &self,
        _window: String,
        flags: u32,
        options: HashMap<String, OwnedVariant>,
        #[zbus(header)] header: Header<'_>,
        #[zbus(connection)] connection: &zbus::Connection,
        #[zbus(object_server)] objects: &ObjectServer,
    ) -> zbus::fdo::Result<OwnedObjectPath> {
        let reason = options.get("reason").and_then(|reason| String::try_from(reason.clone()).ok());
        let sender = header.sender().expect("a bus names the sender").to_owned();
        let caller = Some(sender.clone().into());
        let at = add(&self.store, flags.to_string(), reason.unwrap_or_default(), caller);
        let of = sender.trim_start_matches(':').replace('.', "_");
        let path = format!("{PORTAL_PATH}/request/{of}/t{at}");
        let request = Request { store: self.store.clone(), at };
        objects.at(path.as_str(), request).await?;
        match self.manners {
            PortalManners::Holds => {}
            PortalManners::Refuses => {
                release(&self.store, at);
                let emitter = SignalEmitter::new(connection, path.as_str())?;
                let emitter = emitter.set_destination(sender.into());
                Request::response(&emitter, 2, HashMap::new()).await?;
            }
            PortalManners::Mute => std::future::pending().await,
        }
        Ok(OwnedObjectPath::try_from(path).expect("it is a path"))
    }
}

struct Request {
    store: Store,
    at: usize,
}

#[zbus::interface(name = "org.freedesktop.portal.Request")]
impl Request {
    async fn close(&self) {
        release(&self.store, self.at);
    }

    #[zbus(signal)]
    async fn response(
        emitter: &SignalEmitter<'_>,
        response: u32,
        results: HashMap<&str, OwnedVariant>,
    ) -> zbus::Result<()>;
}

struct PortalBackend {
    store: Store,
}

#[zbus::interface(name = "org.freedesktop.impl.portal.Inhibit")]
impl PortalBackend {
    async fn inhibit(
        &self,
        handle: OwnedObjectPath,
        _app: String,
        _window: String,
        flags: u32,
        options: HashMap<String, OwnedVariant>,
        #[zbus(object_server)] objects: &ObjectServer,
    ) -> zbus::fdo::Result<()> {
        let reason = options.get("reason").and_then(|reason| String::try_from(reason.clone()).ok());
        let at = add(&self.store, flags.to_string(), reason.unwrap_or_default(), None);
        objects.at(handle, BackendRequest { store: self.store.clone(), at }).await?;
        Ok(())
    }
}

struct BackendRequest {
    store: Store,
    at: usize,
}

#[zbus::interface(name = "org.freedesktop.impl.portal.Request")]
impl BackendRequest {
    async fn close(&self) {
        release(&self.store, self.at);
    }
}

struct Manager {
    store: Store,
}

#[zbus::interface(name = "org.freedesktop.login1.Manager")]
impl Manager {
    async fn inhibit(
        &self,
        what: String,
        _who: String,
        why: String,
        mode: String,
    ) -> zbus::fdo::Result<OwnedFd> {
        let failed = |error: std::io::Error| zbus::fdo::Error::IOError(error.to_string());
        let (theirs, mut ours) = pipe::pipe().map_err(failed)?;
        let at = add(&self.store, format!("{what} {mode}"), why, None);
        let store = self.store.clone();
        tokio::spawn(async move {
            // The end of the pipe: nothing is ever written to it.
            let _ = ours.read(&mut [0]).await;
            release(&store, at);
        });
        Ok(theirs.into_blocking_fd().map_err(failed)?.into())
    }
}

//! Keeping a desktop with D-Bus awake: by the portal, or else by logind. Only idleness is inhibited: logind's locks of
//! `sleep`, and the portal's of suspending, would hold up the lid and what the user asks for.

use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use futures_core::Stream;
use zbus::connection::Builder;
use zbus::message::Type;
use zbus::{Connection, MatchRule, Message, MessageStream, OwnedFd, OwnedObjectPath, Variant};

use crate::{Buses, REASON, Wanted};

/// The desktop portal's name, its object, and the interface of its requests.
const PORTAL: &str = "org.freedesktop.portal.Desktop";
const PORTAL_PATH: &str = "/org/freedesktop/portal/desktop";
const PORTAL_REQUEST: &str = "org.freedesktop.portal.Request";

/// The portal's flag for idleness (version 3 of `org.freedesktop.portal.Inhibit`).
const IDLE: u32 = 8;

/// Time limit for each of the two services, including its start by the bus.
const DEADLINE: Duration = Duration::from_secs(5);

/// Time limit for telling the portal of the release. After it the connection is closed, which releases as well.
const RELEASE: Duration = Duration::from_millis(500);

/// Holds the computer awake while that is wanted, as long as the app runs.
pub async fn carry_out(mut wanted: Wanted, buses: Buses) {
    while wanted.becomes(true).await.is_ok() {
        let mut held = None;
        let ended = tokio::select! {
            () = hold(&buses, &mut held) => wanted.becomes(false).await,
            ended = wanted.becomes(false) => ended,
        };
        // A request that has no answer yet ends with its connection.
        if let Some(portal) = held {
            portal.release().await;
        }
        if ended.is_err() {
            return;
        }
    }
}

/// Keeps the computer awake until this is dropped; the portal's request is in `held`. Returns if no service can.
async fn hold(buses: &Buses, held: &mut Option<Portal>) {
    match within_deadline(Portal::ask(buses)).await {
        Ok(portal) => {
            let lost = held.insert(portal).lost().await;
            tracing::info!(%lost, "the portal no longer keeps the computer awake");
            *held = None;
        }
        Err(error) => tracing::debug!(%error, "the portal does not keep the computer awake"),
    }
    match within_deadline(lock_of_logind(buses)).await {
        Ok(_lock) => std::future::pending().await,
        Err(error) => tracing::info!(%error, "the computer may fall asleep while an agent works"),
    }
}

#[derive(Debug, thiserror::Error)]
enum BusError {
    #[error(transparent)]
    Bus(#[from] zbus::Error),
    #[error("no answer within {} s", DEADLINE.as_secs())]
    NoAnswer,
}

async fn within_deadline<T>(asked: impl Future<Output = zbus::Result<T>>) -> Result<T, BusError> {
    Ok(tokio::time::timeout(DEADLINE, asked).await.map_err(|_| BusError::NoAnswer)??)
}

/// A request that the portal has taken.
struct Portal {
    connection: Connection,
    request: OwnedObjectPath,
    responses: MessageStream,
    owners: MessageStream,
}

/// The reason why a request has ended.
enum Lost {
    /// The desktop behind the portal cannot, or the user has refused it to this app.
    Refused(u32),
    Left,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(response) => write!(f, "it answered {response}"),
            Self::Left => f.write_str("it has ended"),
        }
    }
}

impl Portal {
    /// The connection is this request's own: with its end the request is gone, whatever the portal does.
    async fn ask(buses: &Buses) -> zbus::Result<Self> {
        let builder = match buses {
            Buses::Own => Builder::session(),
            Buses::At { session, .. } => Builder::address(session.as_str()),
        };
        let connection = builder.build().await?;
        let signals = || MatchRule::builder().msg_type(Type::Signal);
        let responses = signals().sender(PORTAL).interface(PORTAL_REQUEST).member("Response");
        let responses = MessageStream::for_match_rule(responses.build()?, &connection, None).await?;
        let bus = "org.freedesktop.DBus";
        let owners = signals().sender(bus).interface(bus).member("NameOwnerChanged").add_arg(PORTAL);
        let owners = MessageStream::for_match_rule(owners.build()?, &connection, None).await?;
        let options = HashMap::from([("reason", Variant::from(REASON))]);
        let body = ("", IDLE, options);
        let interface = Some("org.freedesktop.portal.Inhibit");
        let reply = connection.call_method(Some(PORTAL), PORTAL_PATH, interface, "Inhibit", &body).await?;
        let request = reply.body().deserialize()?;
        Ok(Self { connection, request, responses, owners })
    }

    /// Waits until the portal no longer keeps the computer awake.
    async fn lost(&mut self) -> Lost {
        poll_fn(|context| {
            loop {
                match Pin::new(&mut self.responses).poll_next(context) {
                    // Success is answered with 0, by some versions.
                    Poll::Ready(Some(Ok(message))) => match response(&message) {
                        Some(code) if code != 0 => return Poll::Ready(Lost::Refused(code)),
                        _ => {}
                    },
                    Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(Lost::Left),
                    Poll::Pending => break,
                }
            }
            loop {
                match Pin::new(&mut self.owners).poll_next(context) {
                    Poll::Ready(Some(Ok(message))) if !has_left(&message) => {}
                    Poll::Ready(_) => return Poll::Ready(Lost::Left),
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
        .await
    }

    async fn release(self) {
        let (request, interface) = (self.request.as_str(), Some(PORTAL_REQUEST));
        let closed = self.connection.call_method(Some(PORTAL), request, interface, "Close", &());
        if !matches!(tokio::time::timeout(RELEASE, closed).await, Ok(Ok(_))) {
            tracing::debug!("the portal did not answer the release");
        }
        if let Err(error) = self.connection.close().await {
            tracing::debug!(%error, "the connection to the portal was closed already");
        }
    }
}

fn response(message: &Message) -> Option<u32> {
    let (code, _results): (u32, HashMap<String, zbus::OwnedVariant>) = message.body().deserialize().ok()?;
    Some(code)
}

/// Whether the owner of the name has given it up. It gets one when the bus starts it.
fn has_left(message: &Message) -> bool {
    let owners: Option<(String, String, String)> = message.body().deserialize().ok();
    owners.is_none_or(|(_name, before, _after)| !before.is_empty())
}

/// A lock of logind, which holds as long as the descriptor is open.
async fn lock_of_logind(buses: &Buses) -> zbus::Result<OwnedFd> {
    let builder = match buses {
        Buses::Own => Builder::system(),
        Buses::At { system, .. } => Builder::address(system.as_str()),
    };
    let connection = builder.build().await?;
    let (name, interface) = ("org.freedesktop.login1", "org.freedesktop.login1.Manager");
    let body = ("idle", "Deskbell", REASON, "block");
    let path = "/org/freedesktop/login1";
    let reply = connection.call_method(Some(name), path, Some(interface), "Inhibit", &body).await?;
    reply.body().deserialize()
}

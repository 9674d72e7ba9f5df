//! Notifications of a desktop with D-Bus: all calls and all signals pass over one connection. GNOME Shell (43) and dunst
//! (1.9) send the signals of a notification only to the connection that sent it, and let only that one withdraw it.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use deskbell_api::BellUrgency;
use futures_core::Stream;
use notify_rust::Hint;
use zbus::connection::Builder;
use zbus::message::Type;
use zbus::{Connection, MatchRule, Message, MessageStream, Variant};

use crate::register::{Place, Step};
use crate::{DesktopNotification, NotificationAnswer, SessionBus, Shared, compose};

/// The daemon's name and interface, and its object.
const DAEMON: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// The desktop's sound for a message.
pub const SOUND: &str = "message-new-instant";

/// Longest wait for an answer of the bus or the daemon: D-Bus' own, during which the bus also starts a daemon.
const DEADLINE: Duration = Duration::from_secs(25);

#[derive(Debug, thiserror::Error)]
enum BusError {
    #[error(transparent)]
    Bus(#[from] zbus::Error),
    #[error("no answer within {} s", DEADLINE.as_secs())]
    NoAnswer,
    #[error("the session bus is gone")]
    Gone,
}

/// Carries out the steps of the register and reports the user's answers, as long as the app runs.
pub async fn carry_out<T: Clone + Send + 'static>(
    shared: Arc<Shared<T>>,
    session: SessionBus,
    mut answered: impl FnMut(NotificationAnswer<T>) + Send + 'static,
) {
    let mut bus: Option<DaemonConnection> = None;
    loop {
        if let Some(step) = shared.next_step() {
            take(&shared, &session, &mut bus, step).await;
        } else if let Some(listening) = &mut bus {
            tokio::select! {
                signal = listening.signal() => listening.early.push(signal),
                () = shared.has_step.notified() => {}
            }
        } else {
            shared.has_step.notified().await;
        }
        let signals = bus.as_mut().map(|bus| std::mem::take(&mut bus.early)).unwrap_or_default();
        for signal in signals {
            if matches!(signal, DaemonSignal::BusLeft) {
                bus = None;
            }
            if let Some(answer) = report(&shared, signal) {
                answered(answer);
            }
        }
    }
}

fn report<T: Clone>(shared: &Shared<T>, signal: DaemonSignal) -> Option<NotificationAnswer<T>> {
    let mut register = shared.lock();
    match signal {
        DaemonSignal::Invoked(place, action) => return register.invoked(&place, action),
        DaemonSignal::Token(place, token) => register.activates(&place, token),
        DaemonSignal::Closed(place) => register.closed(&place),
        DaemonSignal::DaemonLeft(daemon) => register.left(Some(&daemon)),
        DaemonSignal::BusLeft => register.left(None),
        DaemonSignal::Unrelated => {}
    }
    None
}

/// Carries out one step and reports its result to the register.
async fn take<T: Clone>(
    shared: &Shared<T>,
    session: &SessionBus,
    bus: &mut Option<DaemonConnection>,
    step: Step,
) {
    let connected = match bus.take() {
        Some(bus) => Ok(bus),
        None => DaemonConnection::connect(session).await,
    };
    let bus = match connected {
        Ok(connected) => Ok(bus.insert(connected)),
        Err(problem) => Err(problem),
    };
    match step {
        Step::Close(place) => {
            let closed = match bus {
                Ok(bus) => bus.close(&place).await,
                Err(problem) => Err(problem),
            };
            if let Err(error) = closed {
                tracing::debug!(%error, "the notification was gone already");
            }
            shared.lock().withdrawn();
        }
        Step::Show { key, number, notification } => {
            let shown = match bus {
                Ok(bus) => bus.show(&notification).await,
                Err(problem) => Err(problem),
            };
            match shown {
                Ok(place) => shared.lock().appeared(&key, number, place),
                Err(error) => {
                    tracing::warn!(%error, "could not show the notification");
                    shared.lock().not_shown(&key, number);
                }
            }
        }
    }
}

/// The connection to the session bus, which is opened with the first notification.
struct DaemonConnection {
    connection: Connection,
    answers: MessageStream,
    owners: MessageStream,
    /// Signals that arrived during a call. Those about the notification that the call shows have a meaning only after it.
    early: Vec<DaemonSignal>,
}

enum DaemonSignal {
    Invoked(Place, String),
    Token(Place, String),
    Closed(Place),
    /// A daemon has given the name up. Its notifications are gone.
    DaemonLeft(String),
    BusLeft,
    Unrelated,
}

impl DaemonConnection {
    async fn connect(session: &SessionBus) -> Result<Self, BusError> {
        tokio::time::timeout(DEADLINE, async {
            let builder = match session {
                SessionBus::Own => Builder::session(),
                SessionBus::At(address) => Builder::address(address.as_str()),
            };
            let connection = builder.build().await?;
            let signals =
                MatchRule::builder().msg_type(Type::Signal).sender(DAEMON).path(PATH).interface(DAEMON);
            let answers = MessageStream::for_match_rule(signals.build()?, &connection, None).await?;
            let bus = "org.freedesktop.DBus";
            let owners = MatchRule::builder().msg_type(Type::Signal).sender(bus).interface(bus);
            let owners = owners.member("NameOwnerChanged").add_arg(DAEMON);
            let owners = MessageStream::for_match_rule(owners.build()?, &connection, None).await?;
            Ok(Self { connection, answers, owners, early: Vec::new() })
        })
        .await
        .map_err(|_| BusError::NoAnswer)?
    }

    /// Shows a notification.
    async fn show(&mut self, notification: &DesktopNotification) -> Result<Place, BusError> {
        let reply = self.call("GetCapabilities", &()).await?;
        let capabilities: Vec<String> = reply.body().deserialize()?;
        let can = |name: &str| capabilities.iter().any(|capability| capability == name);
        let body = &notification.body;
        let body = if can("body-markup") { escaped(body) } else { body.clone() };
        let mut composed = compose(notification, &body, can("actions"));
        composed.icon("deskbell").hint(Hint::DesktopEntry("Deskbell".to_owned()));
        composed.urgency(match notification.urgency {
            BellUrgency::Low => notify_rust::Urgency::Low,
            BellUrgency::Normal => notify_rust::Urgency::Normal,
            BellUrgency::Critical => notify_rust::Urgency::Critical,
        });
        let reply = self
            .call(
                "Notify",
                &(
                    &composed.appname,
                    0_u32,
                    &composed.icon,
                    &composed.summary,
                    &composed.body,
                    &composed.actions,
                    hints(&composed),
                    i32::from(composed.timeout),
                ),
            )
            .await?;
        let id = reply.body().deserialize()?;
        let daemon = reply.header().sender().map(ToString::to_string).unwrap_or_default();
        Ok(Place { daemon, id })
    }

    /// Withdraws a notification. The daemon that shows it is addressed, because its successor may use the id, too.
    async fn close(&mut self, place: &Place) -> Result<(), BusError> {
        self.call_at(&place.daemon, "CloseNotification", &place.id).await.map(drop)
    }

    async fn call(
        &mut self,
        method: &str,
        body: &(impl serde::Serialize + zbus::DynamicType),
    ) -> Result<Message, BusError> {
        self.call_at(DAEMON, method, body).await
    }

    /// Calls the daemon, and takes the signals that arrive meanwhile: a stream that is not read holds up the connection.
    async fn call_at(
        &mut self,
        daemon: &str,
        method: &str,
        body: &(impl serde::Serialize + zbus::DynamicType),
    ) -> Result<Message, BusError> {
        let connection = self.connection.clone();
        let call = connection.call_method(Some(daemon), PATH, Some(DAEMON), method, body);
        let mut call = pin!(tokio::time::timeout(DEADLINE, call));
        loop {
            tokio::select! {
                reply = &mut call => return Ok(reply.map_err(|_| BusError::NoAnswer)??),
                signal = self.signal() => {
                    let is_gone = matches!(signal, DaemonSignal::BusLeft);
                    self.early.push(signal);
                    if is_gone {
                        return Err(BusError::Gone);
                    }
                }
            }
        }
    }

    /// Waits for the next signal.
    async fn signal(&mut self) -> DaemonSignal {
        poll_fn(|context| {
            let answer = next(&mut self.answers, context).map(|message| signal(message, answer_of));
            if answer.is_ready() {
                answer
            } else {
                next(&mut self.owners, context).map(|message| signal(message, left))
            }
        })
        .await
    }
}

/// The next message of a stream, or `None` when the bus is gone.
fn next(stream: &mut MessageStream, context: &mut Context<'_>) -> Poll<Option<Message>> {
    Pin::new(stream).poll_next(context).map(|message| message?.ok())
}

fn signal(message: Option<Message>, read: impl FnOnce(&Message) -> Option<DaemonSignal>) -> DaemonSignal {
    message.map_or(DaemonSignal::BusLeft, |message| read(&message).unwrap_or(DaemonSignal::Unrelated))
}

fn answer_of(message: &Message) -> Option<DaemonSignal> {
    let header = message.header();
    let place = |id| Some(Place { daemon: header.sender()?.to_string(), id });
    match header.member()?.as_str() {
        "ActionInvoked" => {
            let (id, action) = message.body().deserialize().ok()?;
            Some(DaemonSignal::Invoked(place(id)?, action))
        }
        "ActivationToken" => {
            let (id, token) = message.body().deserialize().ok()?;
            Some(DaemonSignal::Token(place(id)?, token))
        }
        "NotificationClosed" => {
            let (id, _reason): (u32, u32) = message.body().deserialize().ok()?;
            Some(DaemonSignal::Closed(place(id)?))
        }
        _ => None,
    }
}

fn left(message: &Message) -> Option<DaemonSignal> {
    let (_name, before, _after): (String, String, String) = message.body().deserialize().ok()?;
    (!before.is_empty()).then_some(DaemonSignal::DaemonLeft(before))
}

/// The hints that [`compose`] and [`DaemonConnection::show`] set. notify-rust (4.19) keeps its own conversion private.
fn hints(composed: &notify_rust::Notification) -> HashMap<&str, Variant<'_>> {
    let hint = |hint| match hint {
        &Hint::Urgency(urgency) => Some(("urgency", Variant::from(urgency as u8))),
        Hint::DesktopEntry(entry) => Some(("desktop-entry", Variant::from(entry.as_str()))),
        Hint::SoundName(name) => Some(("sound-name", Variant::from(name.as_str()))),
        _ => None,
    };
    composed.hints.iter().filter_map(hint).collect()
}

/// Escapes the body, because some daemons interpret it as markup: text from the agent must stay text.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

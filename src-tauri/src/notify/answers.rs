//! The user's answers to notifications, as the daemon reports them over D-Bus.
//!
//! Listening begins before the notification is shown. notify-rust (4.19) begins afterwards, and hears nothing while it
//! handles another signal, so that a click in that moment would do nothing.

use std::future::poll_fn;
use std::pin::Pin;

use futures_core::Stream;
use zbus::message::Type;
use zbus::{Connection, MatchRule, Message, MessageStream};

use super::{DAEMON, PATH};

/// Signals of the daemon, from the time of its creation on.
pub struct Answers(MessageStream);

impl Answers {
    /// Begins to listen.
    pub async fn listen() -> zbus::Result<Self> {
        let bus = Connection::session().await?;
        let signals = MatchRule::builder().msg_type(Type::Signal).sender(DAEMON).path(PATH).interface(DAEMON);
        Ok(Self(MessageStream::for_match_rule(signals.build()?, &bus, None).await?))
    }

    /// Waits for the answer to the notification with this number: the name of the action. `None` if it was closed
    /// without one, or the bus has ended.
    pub async fn to(mut self, id: u32) -> Option<String> {
        loop {
            let message = poll_fn(|context| Pin::new(&mut self.0).poll_next(context)).await?.ok()?;
            match signal(&message) {
                Some(Signal::Invoked(of, action)) if of == id => return Some(action),
                Some(Signal::Closed(of)) if of == id => return None,
                _ => {}
            }
        }
    }
}

enum Signal {
    Invoked(u32, String),
    Closed(u32),
}

fn signal(message: &Message) -> Option<Signal> {
    let header = message.header();
    match header.member()?.as_str() {
        "ActionInvoked" => {
            let (id, action) = message.body().deserialize().ok()?;
            Some(Signal::Invoked(id, action))
        }
        "NotificationClosed" => {
            let (id, _): (u32, u32) = message.body().deserialize().ok()?;
            Some(Signal::Closed(id))
        }
        _ => None,
    }
}

//! What a screen reader would read out by itself: the changes in live regions, and announcements.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use tokio::task::JoinHandle;
use zbus::export::futures_core::Stream;
use zbus::{MatchRule, Message, MessageStream, OwnedObjectPath, OwnedVariant};

use super::accessible::Accessibility;
use super::desktop::Desktop;

/// The events by which a screen reader learns that something was said or changed.
const EVENTS: [&str; 3] =
    ["object:announcement", "object:text-changed:insert", "object:children-changed:add"];

/// What changed, two numbers, its new value, and what differs from toolkit to toolkit.
type Change<T> = (String, i32, i32, OwnedVariant, T);

/// The events so far.
#[derive(Clone, Debug, Default)]
struct Told {
    read_out: Vec<String>,
    silent: usize,
}

/// Listens on the accessibility bus of a desktop until it is dropped.
#[derive(Debug)]
pub struct Listener {
    told: Arc<Mutex<Told>>,
    task: JoinHandle<()>,
}

impl Listener {
    /// Listens from now on; programs send no events before somebody does.
    pub async fn on(desktop: &Desktop) -> Result<Self> {
        let accessibility = Accessibility::on(desktop).await?;
        // WebKit tells only of what somebody has looked at; a screen reader looks at all of a page when it comes up. What it tells meanwhile is no news.
        for program in accessibility.programs().await? {
            program.tree().await;
        }
        let rule = MatchRule::builder()
            .msg_type(zbus::message::Type::Signal)
            .interface("org.a11y.atspi.Event.Object")
            .build()?;
        let stream = MessageStream::for_match_rule(rule, accessibility.connection(), None).await?;
        for event in EVENTS {
            accessibility
                .connection()
                .call_method(
                    Some("org.a11y.atspi.Registry"),
                    "/org/a11y/atspi/registry",
                    Some("org.a11y.atspi.Registry"),
                    "RegisterEvent",
                    &(event,),
                )
                .await?;
        }
        let told = Arc::new(Mutex::new(Told::default()));
        let task = tokio::spawn(listen(accessibility, stream, told.clone()));
        Ok(Self { told, task })
    }

    /// What was read out, in order.
    pub fn read_out(&self) -> Vec<String> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).read_out.clone()
    }

    /// How many changes were told that are not read out.
    pub fn silent(&self) -> usize {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).silent
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(accessibility: Accessibility, mut stream: MessageStream, told: Arc<Mutex<Told>>) {
    let mut live: HashMap<(String, String), bool> = HashMap::new();
    while let Some(message) = std::future::poll_fn(|cx| Pin::new(&mut stream).poll_next(cx)).await {
        let Some(event) = message.ok().as_ref().and_then(Event::of) else { continue };
        let is_read = event.announced || {
            let key = (event.bus_name.clone(), event.path.to_string());
            match live.get(&key) {
                Some(live) => *live,
                None => {
                    let object = accessibility.object(&event.bus_name, event.path.clone());
                    // Of what is gone already nothing more can be learnt, nor read out.
                    let Ok(attributes) = object.attributes().await else { continue };
                    let value = attributes.get("container-live").or(attributes.get("live"));
                    let is_live = value.is_some_and(|live| live != "off");
                    live.insert(key, is_live);
                    is_live
                }
            }
        };
        let text = match (is_read, <(String, OwnedObjectPath)>::try_from(event.value.clone())) {
            (false, _) => String::new(),
            // One that is gone already has nothing to say.
            (true, Ok((name, path))) => accessibility.object(&name, path).text().await.unwrap_or_default(),
            (true, Err(_)) => String::try_from(event.value).unwrap_or_default(),
        };
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        if is_read {
            told.read_out.push(text);
        } else {
            told.silent += 1;
        }
    }
}

/// A change, and the object that it happened in.
struct Event {
    bus_name: String,
    path: OwnedObjectPath,
    announced: bool,
    /// The text that came, or the object.
    value: OwnedVariant,
}

impl Event {
    fn of(message: &Message) -> Option<Self> {
        let header = message.header();
        let member = header.member()?.to_string();
        let body = message.body();
        let (detail, value) = match body.deserialize::<Change<HashMap<String, OwnedVariant>>>() {
            Ok((detail, _, _, value, _)) => (detail, value),
            // As GTK tells it, and WebKit of what is no text.
            Err(_) => {
                let (detail, _, _, value, _) =
                    body.deserialize::<Change<(String, OwnedObjectPath)>>().ok()?;
                (detail, value)
            }
        };
        let wanted = match member.as_str() {
            "Announcement" => true,
            "TextChanged" => detail.starts_with("insert"),
            "ChildrenChanged" => detail.starts_with("add"),
            _ => false,
        };
        wanted.then_some(())?;
        Some(Self {
            bus_name: header.sender()?.to_string(),
            path: OwnedObjectPath::from(header.path()?.to_owned()),
            announced: member == "Announcement",
            value,
        })
    }
}

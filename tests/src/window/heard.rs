//! Announcements of a screen reader: the changes in live regions, and explicit announcements.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use tokio::task::JoinHandle;
use zbus::export::futures_core::Stream;
use zbus::{MatchRule, Message, MessageStream, OwnedObjectPath, OwnedVariant};

use super::accessible::Accessibility;
use super::desktop::Desktop;

/// The events that report an announcement or a change to a screen reader.
const EVENTS: [&str; 3] =
    ["object:announcement", "object:text-changed:insert", "object:children-changed:add"];

/// The change, two numbers, its new value, and a part that differs between toolkits.
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
    /// Listens from now on; programs send no events before the first listener.
    pub async fn on(desktop: &Desktop) -> Result<Self> {
        let accessibility = Accessibility::on(desktop).await?;
        // WebKit reports changes only of objects that were read; a screen reader reads the whole page when it
        // appears. Events during that are not announcements.
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

    /// The announcements, in order.
    pub fn read_out(&self) -> Vec<String> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).read_out.clone()
    }

    /// The number of reported changes that are not read out.
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
                    // Nothing can be read from an object that is gone.
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
            // An object that is gone has no text.
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

/// A change, and its object.
struct Event {
    bus_name: String,
    path: OwnedObjectPath,
    announced: bool,
    /// The added text, or the object.
    value: OwnedVariant,
}

impl Event {
    fn of(message: &Message) -> Option<Self> {
        let header = message.header();
        let member = header.member()?.to_string();
        let body = message.body();
        let (detail, value) = match body.deserialize::<Change<HashMap<String, OwnedVariant>>>() {
            Ok((detail, _, _, value, _)) => (detail, value),
            // The form of GTK's events, and of WebKit's for objects without text.
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

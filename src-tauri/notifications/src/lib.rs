//! Desktop notifications with answers: at most one for each subject, replaced by a newer one and withdrawn when its cause
//! is gone.
//!
//! The caller changes what should be shown and never waits. One task carries the changes out, one call at a time, so a
//! daemon that never answers costs one call and nothing else: no thread, no connection and no count per notification.

#[cfg(all(unix, not(target_os = "macos")))]
#[path = "dbus.rs"]
mod desktop;
#[cfg(not(all(unix, not(target_os = "macos"))))]
#[path = "system.rs"]
mod desktop;
mod register;

use std::future::Future;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deskbell_api::BellUrgency;
use register::{NotificationRegister, Step};
use tokio::sync::oneshot;

/// The name of the action of a click on the notification itself (Desktop Notifications Specification 1.2).
pub const CLICK: &str = "default";

/// A notification as plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesktopNotification {
    pub summary: String,
    pub body: String,
    pub urgency: BellUrgency,
    pub has_sound: bool,
    /// Buttons, where the daemon has some: the name that an answer carries, and the label.
    pub buttons: Vec<(&'static str, &'static str)>,
}

/// The user's answer to a notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationAnswer<T> {
    pub subject: T,
    /// [`CLICK`], or the name of a button.
    pub action: String,
    /// Lets a window take the focus, where the compositor demands it.
    pub activation_token: Option<String>,
}

/// The bus on which a notification daemon is looked for, where the desktop has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionBus {
    /// The bus of the session in which the program runs.
    Own,
    /// A bus by its address.
    At(String),
}

/// The notifications of an app.
pub struct Notifier<T>(Arc<Shared<T>>);

struct Shared<T> {
    register: Mutex<NotificationRegister<T>>,
    /// The register has changed: there may be a step to carry out.
    has_step: tokio::sync::Notify,
    /// Nothing is left to carry out.
    is_idle: Condvar,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, NotificationRegister<T>> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_step(&self) -> Option<Step> {
        let step = self.lock().next_step();
        if step.is_none() {
            self.is_idle.notify_all();
        }
        step
    }
}

impl<T: Clone + Send + 'static> Notifier<T> {
    /// The notifier, and its task, which the caller spawns. The task calls `answered` for each answer of the user.
    pub fn new(
        bus: SessionBus,
        answered: impl FnMut(NotificationAnswer<T>) + Send + 'static,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let shared = Arc::new(Shared {
            register: Mutex::default(),
            has_step: tokio::sync::Notify::new(),
            is_idle: Condvar::new(),
        });
        (Self(shared.clone()), desktop::carry_out(shared, bus, answered))
    }

    /// Shows a notification in place of an earlier one with this key. Does nothing after [`Self::end`].
    pub fn show(&self, key: &str, notification: DesktopNotification, subject: T) {
        self.0.lock().show(key, notification, subject, None);
        self.0.has_step.notify_one();
    }

    /// Shows a notification, as [`Self::show`] does. Resolves to whether the daemon accepted it; a notification that is replaced
    /// or withdrawn before is not accepted.
    pub fn show_and_hear(
        &self,
        key: &str,
        notification: DesktopNotification,
        subject: T,
    ) -> impl Future<Output = bool> + Send + 'static {
        let (accepted, is_accepted) = oneshot::channel();
        self.0.lock().show(key, notification, subject, Some(accepted));
        self.0.has_step.notify_one();
        async move { is_accepted.await.unwrap_or(false) }
    }

    /// Withdraws the notification with this key, if there is one.
    pub fn withdraw(&self, key: &str) {
        self.0.lock().withdraw(key);
        self.0.has_step.notify_one();
    }

    /// Whether a notification with this key is shown, or will be.
    pub fn has(&self, key: &str) -> bool {
        self.0.lock().has(key)
    }

    /// Withdraws every notification and accepts no more. `false`: the daemon has not answered within this time.
    pub fn end(&self, at_most: Duration) -> bool {
        let mut register = self.0.lock();
        register.end();
        self.0.has_step.notify_one();
        let waited = self.0.is_idle.wait_timeout_while(register, at_most, |register| !register.is_idle());
        waited.unwrap_or_else(PoisonError::into_inner).0.is_idle()
    }
}

/// A notification as notify-rust has it. `body` is escaped where the daemon reads markup.
fn compose(notification: &DesktopNotification, body: &str, has_buttons: bool) -> notify_rust::Notification {
    let mut composed = notify_rust::Notification::new();
    composed.appname("Deskbell").summary(&notification.summary).body(body).action(CLICK, "Show");
    if notification.has_sound {
        composed.sound_name(desktop::SOUND);
    }
    if has_buttons {
        for (name, label) in &notification.buttons {
            composed.action(name, label);
        }
    }
    composed
}

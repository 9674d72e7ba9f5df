//! Keeps the computer from falling asleep by itself, as long as the app wants it. A closed lid, a shutdown and a sleep that
//! the user asks for are never held up.
//!
//! The caller says what it wants and never waits. One task asks the system, so a system that never answers holds up nothing
//! else.

#[cfg(all(unix, not(target_os = "macos")))]
#[path = "dbus.rs"]
mod desktop;
#[cfg(not(all(unix, not(target_os = "macos"))))]
#[path = "system.rs"]
mod desktop;

use std::future::Future;
use tokio::sync::watch;

/// Shown by the tools of a desktop that list what keeps it awake.
const REASON: &str = "An agent works";

/// The buses on which the portal and logind are looked for, where the system has buses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buses {
    /// Those of the user's session and of the system.
    Own,
    /// Buses by their addresses.
    At { session: String, system: String },
}

/// What the app wants, for the task that asks the system.
#[derive(Debug)]
pub struct KeepAwake(watch::Sender<bool>);

impl KeepAwake {
    /// Wants nothing yet. The caller spawns the task, which ends when this is dropped.
    pub fn new(buses: Buses) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (wish, wanted) = watch::channel(false);
        (Self(wish), desktop::carry_out(Wanted(wanted), buses))
    }

    /// Whether the computer is to stay awake from now on.
    pub fn set(&self, is_wanted: bool) {
        self.0.send_if_modified(|wanted| std::mem::replace(wanted, is_wanted) != is_wanted);
    }
}

/// What the app wants now, and changes of it.
struct Wanted(watch::Receiver<bool>);

/// The app is ending.
struct Ended;

impl Wanted {
    async fn becomes(&mut self, wanted: bool) -> Result<(), Ended> {
        self.0.wait_for(|now| *now == wanted).await.map(drop).map_err(|_| Ended)
    }
}

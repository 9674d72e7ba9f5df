//! Notifications of macOS and Windows, by notify-rust (4.19): it reports no urgency and no answer there, and names no
//! notification by which it could be withdrawn.

use std::sync::Arc;

use crate::register::Step;
use crate::{NotificationAnswer, SessionBus, Shared, compose};

/// The system's sound for a message.
#[cfg(target_os = "macos")]
pub const SOUND: &str = "default";
#[cfg(windows)]
pub const SOUND: &str = "Default";

/// Shows the notifications of the register, as long as the app runs.
pub async fn carry_out<T: Clone + Send + 'static>(
    shared: Arc<Shared<T>>,
    _bus: SessionBus,
    _answered: impl FnMut(NotificationAnswer<T>) + Send + 'static,
) {
    loop {
        match shared.next_step() {
            Some(Step::Show { key, number, notification }) => {
                // The call waits for another process.
                let shown = tokio::task::spawn_blocking(move || {
                    compose(&notification, &notification.body, false).show().map(drop)
                });
                match shown.await {
                    Ok(Ok(())) => shared.lock().answered(&key, number, true),
                    Ok(Err(error)) => tracing::warn!(%error, "could not show the notification"),
                    Err(error) => tracing::error!(%error, "could not show the notification"),
                }
                shared.lock().not_shown(&key, number);
            }
            Some(Step::Close(_)) => shared.lock().withdrawn(),
            None => shared.has_step.notified().await,
        }
    }
}

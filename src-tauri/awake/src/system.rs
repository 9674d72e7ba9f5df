//! Keeping macOS and Windows awake, by keepawake.

use std::sync::mpsc;
use std::thread;
use tokio::sync::oneshot;

use crate::{Buses, REASON, Wanted};

/// Holds the computer awake while that is wanted, as long as the app runs.
pub async fn carry_out(mut wanted: Wanted, _buses: Buses) {
    while wanted.becomes(true).await.is_ok() {
        let hold = Hold::take().await;
        if let Err(error) = &hold {
            tracing::warn!(%error, "the computer may fall asleep while an agent works");
        }
        let ended = wanted.becomes(false).await;
        drop(hold);
        if ended.is_err() {
            return;
        }
    }
}

/// A thread that holds the computer awake until this is dropped: Windows counts what the thread wants that said it.
struct Hold(#[expect(dead_code, reason = "its end is the message")] mpsc::Sender<()>);

impl Hold {
    async fn take() -> Result<Self, String> {
        let (release, released) = mpsc::channel();
        let (held, is_held) = oneshot::channel();
        let hold = move || {
            let builder = keepawake::Builder::default()
                .idle(true)
                .reason(REASON)
                .app_name("Deskbell")
                .app_reverse_domain("dev.deskbell.Deskbell")
                .create();
            let (hold, result) = match builder {
                Ok(hold) => (Some(hold), Ok(())),
                Err(error) => (None, Err(error.to_string())),
            };
            // The app may be ending.
            let _ = held.send(result);
            // Nothing is sent: the end of the channel is the release.
            let _ = released.recv();
            drop(hold);
        };
        thread::Builder::new().name("awake".to_owned()).spawn(hold).map_err(|error| error.to_string())?;
        is_held.await.map_err(|error| error.to_string())??;
        Ok(Self(release))
    }
}

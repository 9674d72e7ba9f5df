//! Counts the pixels that a window draws, by the reports of the X server (its DAMAGE extension).

use anyhow::{Context, Result};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::damage::{ConnectionExt as _, ReportLevel};
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use super::desktop::Desktop;
use super::pointer::XWindow;

/// Records each rectangle that is drawn in a window.
pub struct DrawnWatch {
    connection: RustConnection,
    pixels: u64,
}

impl DrawnWatch {
    /// Watches this window from now on.
    pub fn on(desktop: &Desktop, window: XWindow) -> Result<Self> {
        let (connection, _) = RustConnection::connect(Some(&desktop.display()?))?;
        connection.damage_query_version(1, 1)?.reply().context("the display reports no damage")?;
        let window = u32::try_from(window.0)?;
        let size = connection.get_geometry(window)?.reply()?;
        connection.damage_create(connection.generate_id()?, window, ReportLevel::RAW_RECTANGLES)?.check()?;
        let watch = Self { connection, pixels: area(size.width, size.height) };
        // At first the server reports all of the window.
        watch.windows()?;
        Ok(watch)
    }

    /// How much was drawn since the last call, in pixels of the whole window: 2.0 is each of them twice.
    pub fn windows(&self) -> Result<f64> {
        // The server has sent all events from before this answer.
        self.connection.get_input_focus()?.reply()?;
        let mut drawn = 0;
        while let Some(event) = self.connection.poll_for_event()? {
            match event {
                Event::DamageNotify(event) => drawn += area(event.area.width, event.area.height),
                Event::Error(error) => anyhow::bail!("the display reports {error:?}"),
                _ => {}
            }
        }
        Ok(drawn as f64 / self.pixels as f64)
    }
}

fn area(width: u16, height: u16) -> u64 {
    u64::from(width) * u64::from(height)
}

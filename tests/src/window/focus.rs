//! A watch of the keyboard focus, by the events of the X server.

use anyhow::{Context, Result};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, NotifyMode,
};
use x11rb::rust_connection::RustConnection;

use super::desktop::Desktop;
use super::pointer::XWindow;

x11rb::atom_manager! {
    Atoms: AtomsCookie {
        _NET_ACTIVE_WINDOW,
    }
}

/// Records each move of the focus into or out of some windows, and each change of the window in front.
pub struct FocusWatch {
    connection: RustConnection,
    root: u32,
    active: u32,
}

impl FocusWatch {
    /// Watches these windows and the window manager from now on.
    pub fn on(desktop: &Desktop, windows: &[XWindow]) -> Result<Self> {
        let (connection, screen) = RustConnection::connect(Some(&desktop.display()?))?;
        let root = connection.setup().roots.get(screen).context("the display has a screen")?.root;
        let active = Atoms::new(&connection)?.reply()?._NET_ACTIVE_WINDOW;
        let select = |window, mask| {
            let events = ChangeWindowAttributesAux::new().event_mask(mask);
            anyhow::Ok(connection.change_window_attributes(window, &events)?.check()?)
        };
        select(root, EventMask::PROPERTY_CHANGE | EventMask::FOCUS_CHANGE)?;
        for window in windows {
            select(u32::try_from(window.0)?, EventMask::FOCUS_CHANGE)?;
        }
        Ok(Self { connection, root, active })
    }

    /// What has moved since the last call, one text for each event.
    pub fn moves(&self) -> Result<Vec<String>> {
        // The server has sent all events from before this answer.
        self.connection.get_input_focus()?.reply()?;
        let mut moves = Vec::new();
        while let Some(event) = self.connection.poll_for_event()? {
            match event {
                // A key that the window manager grabs moves nothing.
                Event::FocusIn(event) if !is_grab(event.mode) => {
                    moves.push(format!("into {:#x}, {:?}", event.event, event.detail));
                }
                Event::FocusOut(event) if !is_grab(event.mode) => {
                    moves.push(format!("out of {:#x}, {:?}", event.event, event.detail));
                }
                Event::PropertyNotify(event) if event.atom == self.active => {
                    moves.push(format!("in front: {:#x}", self.in_front()?));
                }
                Event::Error(error) => anyhow::bail!("the display reports {error:?}"),
                _ => {}
            }
        }
        Ok(moves)
    }

    fn in_front(&self) -> Result<u32> {
        let (root, active) = (self.root, self.active);
        let property = self.connection.get_property(false, root, active, AtomEnum::WINDOW, 0, 1)?;
        Ok(property.reply()?.value32().and_then(|mut values| values.next()).unwrap_or_default())
    }
}

fn is_grab(mode: NotifyMode) -> bool {
    matches!(mode, NotifyMode::GRAB | NotifyMode::UNGRAB)
}

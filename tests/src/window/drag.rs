//! A drop of files from another program, by the protocol that desktops use for it on X11 (XDND, version 5).

use std::path::Path;
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use url::Url;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::desktop::Desktop;
use super::pointer::{Pointer, XWindow};
use crate::wait::{SHORT, eventually};

/// The version of the protocol, in the highest byte of a word.
const VERSION: u32 = 5 << 24;

x11rb::atom_manager! {
    Atoms: AtomsCookie {
        XdndSelection,
        XdndEnter,
        XdndPosition,
        XdndStatus,
        XdndDrop,
        XdndFinished,
        XdndActionCopy,
        List: b"text/uri-list",
        TARGETS,
    }
}

/// Drops files or folders on the middle of a window, and waits until its program has taken them.
pub async fn drop_on(desktop: &Desktop, window: XWindow, paths: &[&Path]) -> Result<()> {
    let display = desktop.display()?;
    let list = uris(paths)?;
    let extents = Pointer::on(desktop).extents(window).await?;
    let (x, y) = extents.middle();
    let target = u32::try_from(window.0)?;
    // The answers of a program that hangs never come, so nothing here waits for the thread.
    let drag = thread::spawn(move || Drag::new(&display, target, list)?.drop_at(x, y));
    eventually("the program takes what is dropped", SHORT, async || Ok(drag.is_finished().then_some(())))
        .await?;
    drag.join().unwrap_or_else(|_| bail!("the drag panicked"))
}

/// The paths as `text/uri-list`.
pub(super) fn uris(paths: &[&Path]) -> Result<Vec<u8>> {
    let mut list = String::new();
    for path in paths {
        let uri = Url::from_file_path(path).map_err(|()| anyhow!("{} is not absolute", path.display()))?;
        list += &format!("{uri}\r\n");
    }
    Ok(list.into_bytes())
}

/// The source of a drag.
struct Drag {
    x: RustConnection,
    atoms: Atoms,
    source: u32,
    target: u32,
    list: Vec<u8>,
}

impl Drag {
    fn new(display: &str, target: u32, list: Vec<u8>) -> Result<Self> {
        let (x, screen) = x11rb::connect(Some(display))?;
        let atoms = Atoms::new(&x)?.reply()?;
        let root = x.setup().roots.get(screen).context("the display has a screen")?.root;
        let source = x.generate_id()?;
        let plain = CreateWindowAux::new();
        x.create_window(0, source, root, 0, 0, 1, 1, 0, WindowClass::INPUT_OUTPUT, 0, &plain)?;
        x.set_selection_owner(source, atoms.XdndSelection, x11rb::CURRENT_TIME)?;
        x.flush()?;
        Ok(Self { x, atoms, source, target, list })
    }

    fn send(&self, kind: u32, [a, b, c, d]: [u32; 4]) -> Result<()> {
        let message = ClientMessageEvent::new(32, self.target, kind, [self.source, a, b, c, d]);
        self.x.send_event(false, self.target, EventMask::NO_EVENT, message)?;
        Ok(self.x.flush()?)
    }

    fn move_to(&self, x: i32, y: i32) -> Result<()> {
        let place = u32::try_from(x)? << 16 | u32::try_from(y)?;
        self.send(self.atoms.XdndPosition, [0, place, x11rb::CURRENT_TIME, self.atoms.XdndActionCopy])
    }

    fn drop_at(&self, x: i32, y: i32) -> Result<()> {
        self.send(self.atoms.XdndEnter, [VERSION, self.atoms.List, 0, 0])?;
        self.move_to(x, y)?;
        let mut is_dropped = false;
        loop {
            match self.x.wait_for_event()? {
                Event::SelectionRequest(asked) => self.give(&asked)?,
                Event::ClientMessage(message) if message.type_ == self.atoms.XdndStatus && !is_dropped => {
                    // A program may say no until it has read what is dragged.
                    if message.data.as_data32()[1] & 1 == 1 {
                        is_dropped = true;
                        self.send(self.atoms.XdndDrop, [0, x11rb::CURRENT_TIME, 0, 0])?;
                    } else {
                        self.move_to(x, y)?;
                    }
                }
                Event::ClientMessage(message) if message.type_ == self.atoms.XdndFinished => return Ok(()),
                _ => {}
            }
        }
    }

    /// Answers a request for what is dragged.
    fn give(&self, asked: &SelectionRequestEvent) -> Result<()> {
        let SelectionRequestEvent { requestor, property, target, selection, time, .. } = *asked;
        let is_known = target == self.atoms.List || target == self.atoms.TARGETS;
        if target == self.atoms.List {
            self.x.change_property8(PropMode::REPLACE, requestor, property, target, &self.list)?;
        } else if target == self.atoms.TARGETS {
            let targets = [self.atoms.List];
            self.x.change_property32(PropMode::REPLACE, requestor, property, AtomEnum::ATOM, &targets)?;
        }
        let given = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time,
            requestor,
            selection,
            target,
            property: if is_known { property } else { x11rb::NONE },
        };
        self.x.send_event(false, requestor, EventMask::NO_EVENT, given)?;
        Ok(self.x.flush()?)
    }
}

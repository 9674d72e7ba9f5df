//! A drag of files from another program on Wayland: the program with its window, and a pointer that the compositor gets.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow, bail};
use tokio::sync::watch;
use tokio::time::timeout;
use wayland_client::globals::{GlobalList, GlobalListContents, registry_queue_init};
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_compositor::WlCompositor;
use wayland_client::protocol::wl_data_device::{EVT_DATA_OFFER_OPCODE, WlDataDevice};
use wayland_client::protocol::wl_data_device_manager::{DndAction, WlDataDeviceManager};
use wayland_client::protocol::wl_data_offer::WlDataOffer;
use wayland_client::protocol::wl_data_source::{Event as SourceEvent, WlDataSource};
use wayland_client::protocol::wl_pointer::{ButtonState, Event as PointerEvent, WlPointer};
use wayland_client::protocol::wl_registry::WlRegistry;
use wayland_client::protocol::wl_seat::WlSeat;
use wayland_client::protocol::wl_shm::{Format, WlShm};
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{
    Connection, Dispatch, EventQueue, Proxy, QueueHandle, WEnum, delegate_noop, event_created_child,
};
use wayland_protocols::xdg::shell::client::xdg_surface::{Event as ShellSurfaceEvent, XdgSurface};
use wayland_protocols::xdg::shell::client::xdg_toplevel::XdgToplevel;
use wayland_protocols::xdg::shell::client::xdg_wm_base::{Event as ShellEvent, XdgWmBase};
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_manager_v1::ZwlrVirtualPointerManagerV1;
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_v1::ZwlrVirtualPointerV1;

use super::drag::uris;
use super::wayland::{Compositor, SCREEN};
use crate::wait::{SHORT, eventually};

const TITLE: &str = "Files to drag";
const LIST: &str = "text/uri-list";
/// The width and height of the program's window.
const SIZE: i32 = 120;
/// The left button, as Linux numbers it.
const BUTTON: u32 = 0x110;

/// Files of another program that are held over a window.
pub struct HeldFiles {
    pointer: Pointer,
    source: Source,
}

impl HeldFiles {
    /// Drags files or folders from a program of their own to the middle of a window. Moves the window away from the corner
    /// of the display, where the program's is.
    ///
    /// Once a window has accepted a drag, GTK accepts the next ones before it has read what they are. A drop in that moment
    /// is faster than any user's, and gets lost: wait until the window shows that it takes them.
    pub async fn over(compositor: &Compositor, title: &str, paths: &[&Path]) -> Result<Self> {
        // A program learns of a pointer from the compositor, and only then listens to it.
        let mut pointer = Pointer::on(compositor.socket())?;
        let source = Source::start(compositor.socket(), uris(paths)?)?;
        compositor.place(&compositor.window(TITLE).await?, (0, 0)).await?;
        compositor.place(&compositor.window(title).await?, (2 * SIZE, 2 * SIZE)).await?;
        let at = compositor.window(TITLE).await?.middle;
        let (x, y) = compositor.window(title).await?.middle;

        pointer.move_to(at)?;
        source.reached(Step::Entered).await?;
        pointer.press(ButtonState::Pressed)?;
        source.reached(Step::Begun).await?;
        // A program may say no until it has read what is dragged, and then answers the next movement.
        let mut beside = 0;
        eventually("the program accepts the files", SHORT, async || {
            beside = 1 - beside;
            pointer.move_to((x - beside, y))?;
            Ok((*source.step.borrow() >= Step::Accepted).then_some(()))
        })
        .await?;
        Ok(Self { pointer, source })
    }

    /// Lets go of them, and waits until the program has taken them.
    pub async fn drop(mut self) -> Result<()> {
        self.pointer.press(ButtonState::Released)?;
        self.source.reached(Step::Taken).await?;
        self.source.end()
    }
}

/// A pointer of the compositor, until it is dropped.
struct Pointer {
    queue: EventQueue<Nothing>,
    pointer: ZwlrVirtualPointerV1,
    /// The time of its next event, in milliseconds.
    time: u32,
}

/// A program that hears nothing.
struct Nothing;

/// A program that does not follow which interfaces come and go.
macro_rules! follow_no_globals {
    ($program:ty) => {
        impl Dispatch<WlRegistry, GlobalListContents> for $program {
            fn event(
                _: &mut Self,
                _: &WlRegistry,
                _: <WlRegistry as Proxy>::Event,
                _: &GlobalListContents,
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
            }
        }
    };
}

follow_no_globals!(Nothing);
delegate_noop!(Nothing: ZwlrVirtualPointerManagerV1);
delegate_noop!(Nothing: ZwlrVirtualPointerV1);

impl Pointer {
    fn on(socket: &Path) -> Result<Self> {
        let connection = Connection::from_socket(UnixStream::connect(socket)?)?;
        let (globals, mut queue) = registry_queue_init::<Nothing>(&connection)?;
        let handle = queue.handle();
        let manager: ZwlrVirtualPointerManagerV1 = globals.bind(&handle, 1..=1, ())?;
        let pointer = manager.create_virtual_pointer(None, &handle, ());
        queue.roundtrip(&mut Nothing)?;
        Ok(Self { queue, pointer, time: 1 })
    }

    fn move_to(&mut self, (x, y): (i32, i32)) -> Result<()> {
        let (x, y) = (u32::try_from(x)?, u32::try_from(y)?);
        self.pointer.motion_absolute(self.time, x, y, SCREEN.0, SCREEN.1);
        self.frame()
    }

    fn press(&mut self, state: ButtonState) -> Result<()> {
        self.pointer.button(self.time, BUTTON, state);
        self.frame()
    }

    /// Ends an event, and waits until the compositor has it.
    fn frame(&mut self) -> Result<()> {
        self.pointer.frame();
        self.time += 1;
        self.queue.roundtrip(&mut Nothing)?;
        Ok(())
    }
}

/// How far a drag is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Opened,
    /// The pointer is in the program's window.
    Entered,
    Begun,
    /// The program below the pointer takes files.
    Accepted,
    /// It has read them and ended the drag.
    Taken,
}

/// The program whose files are dragged.
struct Source {
    step: watch::Receiver<Step>,
    ended: JoinHandle<Result<()>>,
}

impl Source {
    fn start(socket: &Path, list: Vec<u8>) -> Result<Self> {
        let connection = Connection::from_socket(UnixStream::connect(socket)?)?;
        let (steps, step) = watch::channel(Step::Opened);
        // A compositor that hangs never sends the end, so nothing waits for the thread before that.
        let ended = thread::spawn(move || Program::run(&connection, list, steps));
        Ok(Self { step, ended })
    }

    /// Waits until the drag is that far.
    async fn reached(&self, step: Step) -> Result<()> {
        let mut steps = self.step.clone();
        let is_reached = steps.wait_for(|now| *now >= step);
        let result = timeout(SHORT, is_reached).await;
        match result {
            Ok(Ok(_)) => Ok(()),
            // The program ended; `end` says why.
            Ok(Err(_)) | Err(_) => bail!("the drag got to {:?} instead of {step:?}", *self.step.borrow()),
        }
    }

    fn end(self) -> Result<()> {
        self.ended.join().unwrap_or_else(|_| bail!("the program with the files panicked"))
    }
}

/// What the program hears and does.
struct Program {
    list: Vec<u8>,
    surface: WlSurface,
    buffer: WlBuffer,
    device: WlDataDevice,
    files: WlDataSource,
    steps: watch::Sender<Step>,
    /// What the program below the pointer said last.
    takes_files: bool,
    copies: bool,
    /// Why the drag came to nothing.
    problem: Option<anyhow::Error>,
}

impl Program {
    fn run(connection: &Connection, list: Vec<u8>, steps: watch::Sender<Step>) -> Result<()> {
        let (globals, mut queue) = registry_queue_init::<Self>(connection)?;
        let handle = queue.handle();
        let seat: WlSeat = globals.bind(&handle, 1..=5, ())?;
        seat.get_pointer(&handle, ());
        let devices: WlDataDeviceManager = globals.bind(&handle, 3..=3, ())?;
        let files = devices.create_data_source(&handle, ());
        files.offer(LIST.to_owned());
        files.set_actions(DndAction::Copy);
        let compositor: WlCompositor = globals.bind(&handle, 1..=4, ())?;
        let surface = compositor.create_surface(&handle, ());
        let shell: XdgWmBase = globals.bind(&handle, 1..=1, ())?;
        let frame = shell.get_xdg_surface(&surface, &handle, ());
        let window = frame.get_toplevel(&handle, ());
        window.set_title(TITLE.to_owned());
        // The compositor lists windows of programs with a name.
        window.set_app_id("files".to_owned());
        surface.commit();
        let buffer = white(&globals, &handle)?;
        let device = devices.get_data_device(&seat, &handle, ());
        let (takes_files, copies, problem) = (false, false, None);
        let mut program = Self { list, surface, buffer, device, files, steps, takes_files, copies, problem };
        while *program.steps.borrow() != Step::Taken {
            queue.blocking_dispatch(&mut program)?;
            if let Some(problem) = program.problem.take() {
                return Err(problem);
            }
        }
        Ok(())
    }

    /// Notes how far the drag is; it does not go back.
    fn is_at(&self, step: Step) {
        self.steps.send_if_modified(|now| {
            let is_later = step > *now;
            *now = step.max(*now);
            is_later
        });
    }
}

/// The picture of the program's window.
fn white(globals: &GlobalList, handle: &QueueHandle<Program>) -> Result<WlBuffer> {
    let shm: WlShm = globals.bind(handle, 1..=1, ())?;
    let mut pixels: File = tempfile::tempfile()?;
    let bytes = usize::try_from(SIZE * SIZE * 4).context("the window is small")?;
    pixels.write_all(&vec![0xff; bytes])?;
    let pool = shm.create_pool(pixels.as_fd(), SIZE * SIZE * 4, handle, ());
    Ok(pool.create_buffer(0, SIZE, SIZE, SIZE * 4, Format::Xrgb8888, handle, ()))
}

fn give(list: &[u8], to: OwnedFd) -> Result<()> {
    File::from(to).write_all(list).context("giving the files")
}

impl Dispatch<WlPointer, ()> for Program {
    fn event(
        program: &mut Self,
        _: &WlPointer,
        event: PointerEvent,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            PointerEvent::Enter { .. } => program.is_at(Step::Entered),
            PointerEvent::Button { serial, state: WEnum::Value(ButtonState::Pressed), .. } => {
                program.device.start_drag(Some(&program.files), &program.surface, None, serial);
                program.is_at(Step::Begun);
            }
            _ => {}
        }
    }
}

impl Dispatch<WlDataSource, ()> for Program {
    fn event(
        program: &mut Self,
        _: &WlDataSource,
        event: SourceEvent,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            SourceEvent::Target { mime_type } => program.takes_files = mime_type.as_deref() == Some(LIST),
            SourceEvent::Action { dnd_action: WEnum::Value(action) } => {
                program.copies = action.contains(DndAction::Copy);
            }
            SourceEvent::Send { fd, .. } => program.problem = give(&program.list, fd).err(),
            SourceEvent::DndFinished => program.is_at(Step::Taken),
            // sway sends it after the end of each drag, too.
            SourceEvent::Cancelled if *program.steps.borrow() < Step::Taken => {
                program.problem = Some(anyhow!("the compositor cancelled the drag"));
            }
            _ => {}
        }
        if program.takes_files && program.copies {
            program.is_at(Step::Accepted);
        }
    }
}

impl Dispatch<XdgSurface, ()> for Program {
    fn event(
        program: &mut Self,
        frame: &XdgSurface,
        event: ShellSurfaceEvent,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let ShellSurfaceEvent::Configure { serial } = event {
            frame.ack_configure(serial);
            program.surface.attach(Some(&program.buffer), 0, 0);
            program.surface.damage(0, 0, SIZE, SIZE);
            program.surface.commit();
        }
    }
}

impl Dispatch<XdgWmBase, ()> for Program {
    fn event(
        _: &mut Self,
        shell: &XdgWmBase,
        event: ShellEvent,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let ShellEvent::Ping { serial } = event {
            shell.pong(serial);
        }
    }
}

impl Dispatch<WlDataDevice, ()> for Program {
    fn event(
        _: &mut Self,
        _: &WlDataDevice,
        _: <WlDataDevice as Proxy>::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }

    event_created_child!(Program, WlDataDevice, [EVT_DATA_OFFER_OPCODE => (WlDataOffer, ())]);
}

follow_no_globals!(Program);
delegate_noop!(Program: ignore WlBuffer);
delegate_noop!(Program: ignore WlCompositor);
delegate_noop!(Program: ignore WlDataDeviceManager);
delegate_noop!(Program: ignore WlDataOffer);
delegate_noop!(Program: ignore WlSeat);
delegate_noop!(Program: ignore WlShm);
delegate_noop!(Program: ignore WlShmPool);
delegate_noop!(Program: ignore WlSurface);
delegate_noop!(Program: ignore XdgToplevel);

//! A start while Deskbell may run already, with a limit for each wait: the first process may hang, and so may the session
//! bus. tauri-plugin-single-instance (2.5) waits for both without a limit, so it is used only where nothing hangs, and
//! only to be found by later starts.

use anyhow::Context;
use deskbell_engine::disk;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::time::Duration;
use zbus::fdo::DBusProxy;
use zbus::names::BusName;

/// Longest wait for the session bus. A bus that is only slow must be waited for: without it the first process is not
/// found, and a second one opens the same sessions.
const BUS_DEADLINE: Duration = Duration::from_secs(6);

/// Longest wait for the first process. It answers before it opens anything.
const HAND_OVER_DEADLINE: Duration = Duration::from_secs(10);

/// Longest environment that is read.
const ENVIRONMENT_LIMIT: u64 = 1 << 20;

/// The name and the object of the plugin, which it makes of the app's identifier.
const NAME: &str = "dev.deskbell.Deskbell.SingleInstance";
const PATH: &str = "/dev/deskbell/Deskbell/SingleInstance";
const INTERFACE: &str = "org.SingleInstance.DBus";

/// The address of a bus that nothing connects to.
const NO_BUS: &str = "disabled:";

const BUS_VARIABLE: &str = "DBUS_SESSION_BUS_ADDRESS";

/// What is known before a window opens.
#[derive(Debug, PartialEq, Eq)]
pub enum SecondStart {
    /// No other process of this user and session is known.
    First,
    /// The first process opens what was asked for.
    HandedOver,
    /// The bus accepts connections and does not answer.
    SilentBus,
}

/// Why nothing opens.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refusal {
    #[error(
        "Deskbell is running as process {pid} and does not answer. What was asked for opens once it answers. If it does \
         not, end it with `kill {pid}` and start Deskbell again."
    )]
    NoAnswer { pid: u32 },
    #[error(
        "Deskbell is already running on display {theirs} as process {pid}, and opens its windows there. This is display \
         {ours}, so nothing was opened. Use it there, or quit it there and start it here."
    )]
    OtherDisplay { pid: u32, theirs: String, ours: String },
}

/// Finds the first process and hands the arguments over to it.
pub async fn hand_over() -> Result<SecondStart, Refusal> {
    let found = tokio::time::timeout(BUS_DEADLINE, first_process()).await;
    let (bus, pid) = match found {
        Ok(Ok(Some(found))) => found,
        Ok(Ok(None)) => return Ok(SecondStart::First),
        Ok(Err(error)) => {
            // Without a bus no other process can be found.
            tracing::debug!(%error, "looking for another process of Deskbell");
            return Ok(SecondStart::First);
        }
        Err(_) => return Ok(SecondStart::SilentBus),
    };
    let ours = Display::of_this_process();
    if let Some(theirs) = Display::of_process(pid).filter(|theirs| !theirs.is_same(&ours)) {
        return Err(Refusal::OtherDisplay { pid, theirs: theirs.name(), ours: ours.name() });
    }
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let folder = std::env::current_dir().unwrap_or_default();
    let body = (arguments, folder.to_string_lossy().into_owned());
    let call = bus.call_method(Some(NAME), PATH, Some(INTERFACE), "ExecuteCallback", &body);
    match tokio::time::timeout(HAND_OVER_DEADLINE, call).await {
        Ok(Ok(_)) => Ok(SecondStart::HandedOver),
        // It has just ended, or it is not ready: the plugin finds out which.
        Ok(Err(error)) => {
            tracing::info!(%error, "the other process of Deskbell did not take the arguments");
            Ok(SecondStart::First)
        }
        Err(_) => Err(Refusal::NoAnswer { pid }),
    }
}

/// The process that has the name, if there is one.
async fn first_process() -> zbus::Result<Option<(zbus::Connection, u32)>> {
    let bus = zbus::Connection::session().await?;
    let names = DBusProxy::new(&bus).await?;
    let name = BusName::try_from(NAME)?;
    if !names.name_has_owner(name.clone()).await? {
        return Ok(None);
    }
    let pid = names.get_connection_unix_process_id(name).await?;
    Ok(Some((bus, pid)))
}

/// Starts this program again without a session bus, because GTK would wait for it too. Returns only if that fails.
#[must_use]
pub fn without_bus() -> anyhow::Error {
    use std::os::unix::process::CommandExt;
    let again = std::env::current_exe().context("finding this program");
    match again {
        Ok(program) => {
            let arguments = std::env::args_os().skip(1);
            let error = std::process::Command::new(program).args(arguments).env(BUS_VARIABLE, NO_BUS).exec();
            anyhow::Error::from(error).context("starting without the session bus")
        }
        Err(error) => error,
    }
}

/// The displays that a process was started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Display {
    x11: Option<OsString>,
    wayland: Option<OsString>,
}

impl Display {
    fn of_this_process() -> Self {
        let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self { x11: value("DISPLAY"), wayland: value("WAYLAND_DISPLAY") }
    }

    /// `None` if the process may not be looked at, as in a sandbox.
    fn of_process(pid: u32) -> Option<Self> {
        let file = format!("/proc/{pid}/environ");
        let environment = disk::read_regular(Path::new(&file), ENVIRONMENT_LIMIT).ok()?;
        let display = Self::in_environment(&environment);
        (display != Self::default()).then_some(display)
    }

    fn in_environment(environment: &[u8]) -> Self {
        let value = |name: &[u8]| {
            let found = environment.split(|byte| *byte == 0).find_map(|one| one.strip_prefix(name));
            found.filter(|value| !value.is_empty()).map(|value| OsString::from_vec(value.to_vec()))
        };
        Self { x11: value(b"DISPLAY="), wayland: value(b"WAYLAND_DISPLAY=") }
    }

    /// A desktop with Wayland has an X display too, and a program may have been started with one of them only.
    fn is_same(&self, other: &Self) -> bool {
        let is_equal = |one: &Option<OsString>, other: &Option<OsString>, of: fn(&OsStr) -> String| {
            Some(of(one.as_deref()?) == of(other.as_deref()?))
        };
        let wayland = is_equal(&self.wayland, &other.wayland, |name| name.to_string_lossy().into_owned());
        // `:0` and `:0.0` are two screens of one display.
        let x11 = is_equal(&self.x11, &other.x11, |name| without_screen(&name.to_string_lossy()).to_owned());
        wayland.or(x11).unwrap_or(true)
    }

    fn name(&self) -> String {
        let name = self.wayland.as_ref().or(self.x11.as_ref());
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

fn without_screen(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((_, number)) => match number.rfind('.') {
            Some(dot) => &name[..name.len() - number.len() + dot],
            None => name,
        },
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn display(x11: Option<&str>, wayland: Option<&str>) -> Display {
        Display { x11: x11.map(OsString::from), wayland: wayland.map(OsString::from) }
    }

    #[test]
    fn a_display_is_known_by_what_both_processes_have() {
        let seat = display(Some(":0"), Some("wayland-0"));
        assert!(seat.is_same(&seat));
        assert!(seat.is_same(&display(Some(":0.0"), None)));
        assert!(seat.is_same(&display(Some(":7"), Some("wayland-0"))), "an X server of another program");
        assert!(!seat.is_same(&display(Some(":1"), None)));
        assert!(!seat.is_same(&display(None, Some("wayland-1"))));
        assert!(!display(Some(":0"), None).is_same(&display(Some("localhost:10.0"), None)), "ssh -X");
        assert!(
            display(Some(":0"), None).is_same(&display(None, Some("wayland-0"))),
            "they have nothing in common"
        );
    }

    #[test]
    fn the_displays_are_read_from_an_environment() {
        let environment = b"HOME=/home/me\0DISPLAY=:71\0WAYLAND_DISPLAY=\0XDG_SEAT_DISPLAY=:9\0";
        assert_eq!(Display::in_environment(environment), display(Some(":71"), None));
        assert_eq!(Display::in_environment(b""), Display::default());
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        let refusal =
            Refusal::OtherDisplay { pid: 7, theirs: ":0".to_owned(), ours: "localhost:10.0".to_owned() };
        assert!(refusal.to_string().contains("process 7") && refusal.to_string().contains("quit it there"));
        assert!(Refusal::NoAnswer { pid: 7 }.to_string().contains("kill 7"));
    }
}

//! The desktop that Deskbell runs on, for the doctor: display, GPU, notification daemon and tray.

use deskbell_engine::doctor::report::Service;
use std::time::Duration;

/// Timeout for the session bus and its services.
const LIMIT: Duration = Duration::from_secs(2);

/// The display that windows are opened on; `None` if there is none.
pub fn display() -> Option<String> {
    if cfg!(not(target_os = "linux")) {
        return Some(std::env::consts::OS.to_owned());
    }
    let value = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    display_of(value("WAYLAND_DISPLAY"), value("DISPLAY"), value("XDG_CURRENT_DESKTOP"))
}

fn display_of(wayland: Option<String>, x11: Option<String>, desktop: Option<String>) -> Option<String> {
    let displays: Vec<String> = [("Wayland", wayland), ("X11", x11)]
        .into_iter()
        .filter_map(|(kind, name)| Some(format!("{kind} ({})", name?)))
        .collect();
    let desktop = desktop.map(|desktop| format!(" on {desktop}")).unwrap_or_default();
    (!displays.is_empty()).then(|| displays.join(" and ") + &desktop)
}

/// The notification daemon and the tray. Takes at most 2 s.
pub async fn services() -> (Service, Service) {
    let unknown = |why: String| (Service::Unknown(why.clone()), Service::Unknown(why));
    match tokio::time::timeout(LIMIT, bus::services()).await {
        Ok(Ok(services)) => services,
        Ok(Err(error)) => unknown(format!("not known: {error}")),
        Err(_) => unknown(format!("not known: the desktop did not answer within {} s", LIMIT.as_secs())),
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
mod bus {
    use super::Service;

    pub async fn services() -> zbus::Result<(Service, Service)> {
        let bus = zbus::Connection::session().await?;
        let (path, name) = ("/org/freedesktop/Notifications", "org.freedesktop.Notifications");
        let asked = bus.call_method(Some(name), path, Some(name), "GetServerInformation", &()).await;
        let notifications = match asked {
            Ok(answer) => {
                let (daemon, _, version, _): (String, String, String, String) =
                    answer.body().deserialize()?;
                Service::Present(format!("{daemon} {version}"))
            }
            // No such service on the bus.
            Err(zbus::Error::MethodError(..)) => Service::Absent,
            Err(error) => return Err(error),
        };
        let (path, name) = ("/org/freedesktop/DBus", "org.freedesktop.DBus");
        let watcher = "org.kde.StatusNotifierWatcher";
        let owned = bus.call_method(Some(name), path, Some(name), "NameHasOwner", &watcher).await?;
        let tray = if owned.body().deserialize()? {
            Service::Present("the desktop has one".to_owned())
        } else {
            Service::Absent
        };
        Ok((notifications, tray))
    }
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
mod bus {
    use super::Service;

    pub async fn services() -> std::io::Result<(Service, Service)> {
        let of_the_system = || Service::Unknown("part of the system".to_owned());
        Ok((of_the_system(), of_the_system()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_display_is_named_with_its_desktop() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(display_of(None, None, text("GNOME")), None);
        assert_eq!(display_of(None, text(":0"), None), text("X11 (:0)"));
        let both = display_of(text("wayland-0"), text(":1"), text("sway"));
        assert_eq!(both, text("Wayland (wayland-0) and X11 (:1) on sway"));
    }
}

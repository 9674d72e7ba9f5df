//! xfce4-notifyd on a desktop, with the pointer of the user. It draws each notification as a window that no window manager
//! manages, and has no other way to answer one.

use std::fs;

use anyhow::{Result, bail};
use deskbell_notifications::CLICK;
use deskbell_tests::suite::Requirement;
use deskbell_tests::window::{
    Accessibility, Desktop, Owned, Pointer, Role, SHORT, XWindow, eventually, service_program,
};

/// The class of its windows, and the name of its bus service's file.
const CLASS: &str = "xfce4-notifyd";
const SERVICE: &str = "org.xfce.xfce4-notifyd.Notifications";

/// The settings service of Xfce, which has the daemon's settings.
const SETTINGS: &str = "org.xfce.Xfconf";

/// Notifications disappear at once, and none by itself.
const CHANNEL: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-notifyd" version="1.0">
  <property name="do-fadeout" type="bool" value="false"/>
  <property name="do-slideout" type="bool" value="false"/>
  <property name="expire-timeout" type="int" value="-1"/>
  <property name="initial-opacity" type="double" value="1.0"/>
</channel>
"#;

/// A running xfce4-notifyd. It ends with this value.
#[derive(Debug)]
pub struct XfceNotifyd {
    pointer: Pointer,
    accessibility: Accessibility,
    // Drop order: the daemon before its settings.
    _process: Owned,
    _settings: Owned,
}

impl XfceNotifyd {
    /// Whether this machine has the daemon and its settings service.
    pub fn requirement() -> Requirement {
        Requirement::all([SERVICE, SETTINGS].map(|name| Requirement::from(&service_program(name).map(drop))))
    }

    /// Starts it on `desktop`.
    pub async fn on(desktop: &Desktop) -> Result<Self> {
        let settings = Owned::start("xfconfd", &mut desktop.command(service_program(SETTINGS)?))?;
        desktop.bus().has_name(SETTINGS).await?;
        let channels = desktop.home().join(".config/xfce4/xfconf/xfce-perchannel-xml");
        fs::create_dir_all(&channels)?;
        fs::write(channels.join(format!("{CLASS}.xml")), CHANNEL)?;
        let process = Owned::start(CLASS, &mut desktop.command(service_program(SERVICE)?))?;
        let (pointer, accessibility) = (Pointer::on(desktop), Accessibility::on(desktop).await?);
        Ok(Self { pointer, accessibility, _process: process, _settings: settings })
    }

    pub fn n_displayed(&self) -> Result<usize> {
        Ok(self.pointer.displayed(CLASS)?.len())
    }

    /// Presses a button of the displayed notification. 0.7.3 takes a click outside of its buttons for a dismissal, and shows a
    /// button for the action of a click.
    pub async fn act(&self, action: &str) -> Result<()> {
        let label = match action {
            CLICK => "Show",
            "deny" => "Deny",
            "review" => "Review…",
            other => bail!("no notification of the contract has “{other}”"),
        };
        let button = eventually("it has the button", SHORT, async || {
            self.accessibility.displayed(Role::BUTTON, |name| name == label).await
        });
        let (x, y) = button.await?.extents().await?.middle();
        self.pointer.click(x, y).await
    }

    /// Clicks the displayed notification outside of its buttons.
    pub async fn dismiss(&self) -> Result<()> {
        const BESIDE: i32 = 8;
        let place = self.pointer.extents(self.the_displayed()?).await?;
        self.pointer.click(place.x + BESIDE, place.y + BESIDE).await
    }

    fn the_displayed(&self) -> Result<XWindow> {
        let [one] = self.pointer.displayed(CLASS)?[..] else { bail!("not one notification") };
        Ok(one)
    }
}

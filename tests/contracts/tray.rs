//! The contract of trays, by the app's icon: it appears, is marked only while a session waits, opens the board on a
//! click, brings the session up that waits, and quits the app, whose icon disappears.

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deskbell_tests::suite::{Requirement, Test, test};
use deskbell_tests::window::{
    App, Desktop, Extents, LONG, Launch, Owned, Pointer, SHORT, Tray, eventually, lacking, service_program,
};

use crate::last_runs;

const PROJECT: &str = "lighthouse";

/// Asks for permission.
const ASKS: &str = "TOOL Bash {\"command\":\"echo a_tray\"}\nSAY Allowed.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrayKind {
    Double,
    /// The tray of xfce4-panel. Its picture is the whole panel.
    Xfce,
}

impl TrayKind {
    const ALL: [Self; 2] = [Self::Double, Self::Xfce];

    fn name(self) -> &'static str {
        match self {
            Self::Double => "the_double",
            Self::Xfce => "xfce4_panel",
        }
    }

    fn requirement(self) -> Requirement {
        let app = lacking().map_or(Requirement::Met, Requirement::Missing);
        match self {
            Self::Double => app,
            Self::Xfce => Requirement::all([app, Requirement::programs(&["xfce4-panel"])]),
        }
    }
}

pub fn all() -> Vec<Test> {
    let one = |kind: TrayKind| {
        test(format!("tray::{}", kind.name()), move || keeps_the_contract(kind))
            .needing(kind.requirement())
            .within(Duration::from_secs(300))
    };
    TrayKind::ALL.map(one).into_iter().collect()
}

/// A tray, and its user.
enum TrayHost {
    Double(Tray),
    Xfce { pointer: Pointer, area: Extents, _panel: Owned, _settings: Owned },
}

impl TrayHost {
    async fn start(kind: TrayKind, desktop: &Desktop) -> Result<Self> {
        if kind == TrayKind::Double {
            return Ok(Self::Double(Tray::on(desktop).await?));
        }
        let settings = Owned::start("xfconfd", &mut desktop.command(service_program("org.xfce.Xfconf")?))?;
        desktop.bus().has_name("org.xfce.Xfconf").await?;
        let channels = desktop.home().join(".config/xfce4/xfconf/xfce-perchannel-xml");
        fs::create_dir_all(&channels)?;
        fs::write(channels.join("xfce4-panel.xml"), PANEL)?;
        let panel = Owned::start("xfce4-panel", desktop.command("xfce4-panel").arg("--disable-wm-check"))?;
        desktop.bus().has_name("org.kde.StatusNotifierWatcher").await?;
        let pointer = Pointer::on(desktop);
        let window = pointer.window("xfce4-panel").await?;
        let area = pointer.extents(window).await?;
        Ok(Self::Xfce { pointer, area, _panel: panel, _settings: settings })
    }

    /// The visible state of the icon; `None` without an icon.
    async fn picture(&self, desktop: &Desktop) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Double(tray) => Ok(tray.icon().await?.map(|icon| icon.picture)),
            Self::Xfce { area, .. } => {
                let pixels = desktop.pixels(*area).await?;
                let colours: HashSet<&[u8]> = pixels.chunks_exact(3).collect();
                Ok((colours.len() > COLOURS_OF_A_PANEL).then_some(pixels))
            }
        }
    }

    async fn click(&self) -> Result<()> {
        match self {
            Self::Double(tray) => tray.click().await,
            Self::Xfce { pointer, .. } => {
                pointer.click(ICON.0, ICON.1).await?;
                pointer.move_to(AWAY.0, AWAY.1).await
            }
        }
    }

    /// Opens the menu of the icon, closes it, and returns its width in pixels; `None` if it is not to be seen.
    async fn menu_width(&self) -> Result<Option<i32>> {
        let Self::Xfce { pointer, .. } = self else { return Ok(None) };
        let menu = open_menu(pointer).await?;
        close_menu(pointer).await?;
        Ok(Some(menu.width))
    }

    /// Opens the menu of the icon once it is wider than this, and chooses an entry.
    async fn choose(&self, entry: TrayEntry, wider_than: Option<i32>) -> Result<()> {
        match self {
            Self::Double(tray) => {
                let wanted = |(id, label): &(i32, String)| label.starts_with(entry.start()).then_some(*id);
                let id = eventually("the menu has the entry", SHORT, async || {
                    Ok(tray.icon().await?.and_then(|icon| icon.entries.iter().find_map(wanted)))
                });
                tray.choose(id.await?).await
            }
            Self::Xfce { pointer, .. } => {
                let menu = eventually("the menu has the entry", LONG, async || {
                    let menu = open_menu(pointer).await?;
                    if menu.width > wider_than.unwrap_or_default() {
                        return Ok(Some(menu));
                    }
                    close_menu(pointer).await?;
                    Ok(None)
                });
                let menu = menu.await?;
                let y = match entry {
                    TrayEntry::WaitingSession => menu.y + HALF_AN_ENTRY,
                    TrayEntry::Quit => menu.y + menu.height - HALF_AN_ENTRY,
                };
                pointer.click(menu.x + menu.width / 2, y).await?;
                pointer.move_to(AWAY.0, AWAY.1).await
            }
        }
    }
}

/// An entry of the menu.
#[derive(Clone, Copy, Debug)]
enum TrayEntry {
    /// The first one while a session waits.
    WaitingSession,
    /// The last one.
    Quit,
}

impl TrayEntry {
    /// How its text begins.
    fn start(self) -> &'static str {
        match self {
            Self::WaitingSession => "Wants to run a command: ",
            Self::Quit => "Quit Deskbell",
        }
    }
}

/// The program of the panel that shows the menu, and the class of its windows. Its menus have no accessible names.
const MENU_CLASS: &str = "wrapper-2.0";

async fn open_menu(pointer: &Pointer) -> Result<Extents> {
    pointer.right_click(ICON.0, ICON.1).await?;
    let menu = eventually("the menu of the icon", SHORT, async || {
        Ok(pointer.displayed(MENU_CLASS)?.first().copied())
    });
    pointer.extents(menu.await?).await
}

async fn close_menu(pointer: &Pointer) -> Result<()> {
    pointer.key("Escape").await?;
    // The tooltip of an icon below the pointer is a window of the same class.
    pointer.move_to(AWAY.0, AWAY.1).await?;
    eventually("the menu is closed", SHORT, async || {
        Ok(pointer.displayed(MENU_CLASS)?.is_empty().then_some(()))
    })
    .await
}

async fn keeps_the_contract(kind: TrayKind) -> Result<()> {
    let desktop = Desktop::start().await?;
    let kept = keeps_all(kind, &desktop).await;
    if kept.is_err() {
        desktop.screenshot(&format!("failed-tray-{}", kind.name())).await?;
    }
    kept.with_context(|| format!("with {}", kind.name()))?;
    match kind {
        TrayKind::Double => Ok(()),
        TrayKind::Xfce => last_runs::version_of("xfce4-panel")
            .map_or(Ok(()), |version| last_runs::kept(kind.name(), &version)),
    }
}

async fn keeps_all(kind: TrayKind, desktop: &Desktop) -> Result<()> {
    let host = TrayHost::start(kind, desktop).await?;
    ensure!(host.picture(desktop).await?.is_none(), "there is an icon before the app");
    let app = App::start(desktop, &Launch::demo(&desktop.project(PROJECT)?)).await?;
    let window = app.window(PROJECT).await?;
    let calm = eventually("an icon", SHORT, async || host.picture(desktop).await).await?;
    let becomes = async |what: &str, is_wanted: &dyn Fn(&[u8]) -> bool| {
        eventually(what, SHORT, async || {
            Ok(host.picture(desktop).await?.filter(|picture| is_wanted(picture)))
        })
        .await
    };
    let mut marked = None;
    for _ in 0..3 {
        window.prompt(ASKS).await?;
        let now = becomes("the icon is marked", &|picture| picture != calm).await?;
        desktop.screenshot(&format!("tray-{}", kind.name())).await?;
        ensure!(marked.get_or_insert_with(|| now.clone()) == &now, "it is marked in another way");
        window.click("button", "Allow once").await?;
        window.wait_idle(SHORT).await?;
        becomes("the icon is as it was before", &|picture| picture == calm).await?;
    }
    let narrow = host.menu_width().await?;
    host.click().await?;
    let board = app.window("All projects").await?;
    let pointer = Pointer::on(desktop);
    pointer.wait_active(board.frame()).await?;
    window.prompt(ASKS).await?;
    becomes("the icon is marked", &|picture| picture != calm).await?;
    // The session's name makes the menu wider.
    host.choose(TrayEntry::WaitingSession, narrow).await?;
    pointer.wait_active(window.frame()).await?;
    window.click("button", "Allow once").await?;
    window.wait_idle(SHORT).await?;
    becomes("the icon is as it was before", &|picture| picture == calm).await?;
    host.choose(TrayEntry::Quit, None).await?;
    app.ended(desktop, LONG).await?;
    eventually("the icon is gone", SHORT, async || Ok(host.picture(desktop).await?.is_none().then_some(())))
        .await
}

/// The middle of the only icon in the panel.
const ICON: (i32, i32) = (24, 24);

/// A place outside of panel and menu: a panel highlights the icon under the pointer.
const AWAY: (i32, i32) = (700, 500);

/// Less than half the height of an entry, in pixels.
const HALF_AN_ENTRY: i32 = 12;

/// A panel without an icon has fewer colours than this.
const COLOURS_OF_A_PANEL: usize = 8;

/// A panel in the upper left corner that has a tray only.
const PANEL: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=0;x=0;y=0"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="48"/>
      <property name="icon-size" type="uint" value="32"/>
      <property name="length" type="double" value="20"/>
      <property name="length-adjust" type="bool" value="false"/>
      <property name="plugin-ids" type="array"><value type="int" value="1"/></property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="systray">
      <property name="square-icons" type="bool" value="true"/>
    </property>
  </property>
</channel>
"#;

//! The contract of trays, by the app's icon: it appears, is marked only while a session waits, opens the board on a
//! click, and disappears with the app.

use std::collections::HashSet;
use std::fs;

use anyhow::{Context, Result, ensure};
use deskbell_tests::suite::{Requirement, Test, test};
use deskbell_tests::window::{
    App, Desktop, Extents, LONG, Launch, Owned, Pointer, SHORT, Tray, eventually, lacking, service_program,
};

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
        test(format!("tray::{}", kind.name()), move || keeps_the_contract(kind)).needing(kind.requirement())
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
                // A panel highlights the icon under the pointer.
                pointer.move_to(700, 500).await
            }
        }
    }
}

async fn keeps_the_contract(kind: TrayKind) -> Result<()> {
    let desktop = Desktop::start().await?;
    let kept = keeps_all(kind, &desktop).await;
    if kept.is_err() {
        desktop.screenshot(&format!("failed-tray-{}", kind.name())).await?;
    }
    kept.with_context(|| format!("with {}", kind.name()))
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
    host.click().await?;
    let board = app.window("All projects").await?;
    app.close(board.frame()).await?;
    app.close(window.frame()).await?;
    app.ended(desktop, LONG).await?;
    eventually("the icon is gone", SHORT, async || Ok(host.picture(desktop).await?.is_none().then_some(())))
        .await
}

/// The middle of the only icon in the panel.
const ICON: (i32, i32) = (24, 24);

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

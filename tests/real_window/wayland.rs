//! The app on Wayland: it draws, the keyboard reaches it, requests are asked in a dialog, images are pasted, the bell
//! rings, and the tray has its icon.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{
    App, Compositor, Desktop, HeldFiles, LONG, Launch, Manners, Notification, Notifications, SHORT, Tray,
    TrayIcon, WaylandWindow, Window, eventually, holds_for,
};
use serde_json::json;

use crate::stage::{Gate, PROJECT};
use crate::tray::entry;

/// More than a white window with a title bar has, and far fewer than any page.
const FEW_COLOURS: usize = 40;

/// The title of the window with all projects.
const BOARD: &str = "All projects";

/// A place of the project's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Front,
    /// In sight, and another window of the app has the keyboard.
    BehindOurs,
    OtherWorkspace,
    /// In the scratchpad, which sway has instead of minimised windows.
    Hidden,
}

struct Stage {
    app: App,
    window: Window,
    notifications: Notifications,
    compositor: Compositor,
    desktop: Desktop,
}

/// Runs a test with the app and the demo agent in one project; if it fails, saves a picture.
async fn play(name: &str, test: impl AsyncFnOnce(&Stage) -> Result<()>) -> Result<()> {
    let (desktop, compositor) = Desktop::wayland().await?;
    let folder = desktop.project(PROJECT)?;
    let notifications = Notifications::on(&desktop, Manners::Polite).await?;
    let app = App::start(&desktop, &Launch::demo(&folder)).await?;
    let stage = Stage { window: app.page().await?, app, notifications, compositor, desktop };
    let Err(error) = test(&stage).await else { return Ok(()) };
    let picture = match stage.compositor.screenshot(&format!("failed-{name}")).await {
        Ok(file) => file.display().to_string(),
        Err(error) => format!("none ({error})"),
    };
    Err(error.context(format!("picture: {picture}; the app wrote:\n{}", stage.app.log())))
}

impl Stage {
    /// Types a prompt and sends it.
    async fn prompt(&self, text: &str) -> Result<()> {
        self.window.click("textbox", "Prompt").await?;
        self.compositor.type_text(text).await?;
        self.compositor.key(None, "Return").await
    }

    /// Sends a prompt that goes on when the window is on another workspace, out of sight. Returns the window.
    async fn prompt_out_of_sight(&self, text: &str) -> Result<WaylandWindow> {
        self.prompt_at(Place::OtherWorkspace, text).await
    }

    /// Sends a prompt that goes on when the window is at that place. Returns the window.
    async fn prompt_at(&self, place: Place, text: &str) -> Result<WaylandWindow> {
        let frame = self.compositor.window(PROJECT).await?;
        self.compositor.focus(&frame).await?;
        self.window.click("textbox", "Prompt").await?;
        let gate = Gate::closed(&self.desktop)?;
        self.compositor.type_text(&gate.step()).await?;
        self.compositor.key(Some("shift"), "Return").await?;
        self.prompt(text).await?;
        match place {
            Place::Front => {}
            Place::BehindOurs => self.compositor.focus(&self.compositor.window(BOARD).await?).await?,
            Place::OtherWorkspace => self.compositor.workspace("2").await?,
            Place::Hidden => self.compositor.hide(&frame).await?,
        }
        if place != Place::Front {
            self.window.wait_unfocused().await?;
        }
        gate.open()?;
        Ok(frame)
    }

    /// Drops files or folders of another program on the project's window.
    async fn drop(&self, paths: &[&Path]) -> Result<()> {
        let held = HeldFiles::over(&self.compositor, PROJECT, paths).await?;
        eventually("the prompt box shows that it takes them", SHORT, async || {
            let marked = "return document.querySelector('.box.dropping') !== null";
            Ok((self.window.run(marked, Vec::new()).await? == true).then_some(()))
        })
        .await?;
        held.drop().await
    }

    /// The texts of windows other than the project's.
    async fn others(&self) -> Result<Vec<String>> {
        let windows = self.compositor.windows().await?;
        let titles = windows.into_iter().map(|window| window.title);
        Ok(titles.filter(|title| !title.contains(PROJECT)).collect())
    }
}

pub async fn a_prompt_is_answered_and_a_request_allowed_by_keyboard() -> Result<()> {
    play("wayland", async |stage| {
        let frame = stage.compositor.window(PROJECT).await?;
        stage.compositor.focus(&frame).await?;
        // `StartupWMClass` of its entry in the menu.
        ensure!(frame.app_id == "deskbell", "the desktop finds no entry and no icon for “{}”", frame.app_id);
        stage.window.find("textbox", "Prompt").await?;
        eventually("the page is drawn", SHORT, async || {
            Ok((stage.compositor.colours().await? > FEW_COLOURS).then_some(()))
        })
        .await?;
        stage.prompt("SAY good morning").await?;
        stage.window.wait_text("log", "Conversation", "good morning", SHORT).await?;
        stage.window.wait_idle(SHORT).await?;

        // The card allows once it has been in sight for a moment, and nothing covers it.
        stage.window.click("textbox", "Prompt").await?;
        let line = r#"TOOL Bash {"command": "touch a.txt"}"#;
        let keys = stage.compositor.type_line_and_press(line, "alt", "a")?;
        stage.window.wait_text("log", "Conversation", "Ran touch a.txt", LONG).await?;
        ensure!(stage.others().await?.is_empty(), "a dialog came up: {:?}", stage.others().await?);
        drop(keys);
        stage.window.wait_idle(SHORT).await?;
        stage.compositor.screenshot("wayland").await?;

        let frame = stage.compositor.window(PROJECT).await?;
        stage.compositor.close(&frame).await?;
        stage.app.ended(&stage.desktop, LONG).await
    })
    .await
}

pub async fn files_and_folders_of_another_program_are_dropped() -> Result<()> {
    play("wayland-drop", async |stage| {
        stage.window.click("textbox", "Prompt").await?;
        stage.compositor.type_text("look at ").await?;
        // Files that are dropped before the last key has arrived are named in the middle of the text.
        eventually("all is typed", SHORT, async || {
            Ok((stage.window.value("Prompt").await? == "look at ").then_some(()))
        })
        .await?;
        let project = stage.desktop.project(PROJECT)?;
        let (text, lamps) = (project.join("tide tables.txt"), project.join("lamps"));
        fs::write(&text, "high\nlow\n")?;
        fs::create_dir_all(&lamps)?;
        let named = async |words: &str| {
            eventually("the files are named", SHORT, async || {
                let prompt = stage.window.value("Prompt").await?;
                Ok((prompt.starts_with("look at ") && prompt.contains(words)).then_some(()))
            })
            .await
        };
        stage.drop(&[&text]).await?;
        named("tide tables.txt").await?;
        stage.drop(&[&lamps, &text]).await?;
        named("@lamps/").await?;
        stage.compositor.screenshot("wayland-drop").await?;
        let other = stage.desktop.project("harbour")?;
        stage.drop(&[&other]).await?;
        stage.compositor.window("harbour").await.map(drop)
    })
    .await
}

pub async fn a_request_out_of_sight_has_a_dialog() -> Result<()> {
    play("wayland-dialog", async |stage| {
        stage.prompt_out_of_sight(r#"TOOL Bash {"command": "touch a.txt"}"#).await?;
        let dialog = stage.compositor.window("Run this command?").await?;
        eventually("the dialog is drawn", SHORT, async || {
            Ok((stage.compositor.colours().await? > FEW_COLOURS).then_some(()))
        })
        .await?;
        stage.compositor.screenshot("wayland-dialog").await?;
        // Closed, it decides nothing: the card asks on.
        stage.compositor.close(&dialog).await?;
        eventually("the dialog is closed", SHORT, async || {
            Ok(stage.others().await?.is_empty().then_some(()))
        })
        .await?;
        stage.window.find("group", "Permission request").await?;
        Ok(())
    })
    .await
}

pub async fn an_image_is_pasted() -> Result<()> {
    play("wayland-paste", async |stage| {
        let frame = stage.compositor.window(PROJECT).await?;
        stage.compositor.focus(&frame).await?;
        stage.window.click("textbox", "Prompt").await?;
        let picture = stage.compositor.screenshot("wayland-pasted").await.context("the picture to paste")?;
        stage.compositor.copy_picture(&picture).await?;
        stage.window.click("button", "Commands").await?;
        stage.window.find("combobox", "Search commands and sessions").await?;
        stage.compositor.type_text("Paste image").await?;
        stage.window.click("option", "Paste image").await?;
        eventually("the image is attached", SHORT, async || {
            let images = "return document.querySelectorAll('[data-part=\"composer\"] img').length;";
            Ok((stage.window.run(images, Vec::new()).await? == 1).then_some(()))
        })
        .await
    })
    .await
}

pub async fn the_bell_rings_is_clicked_and_is_withdrawn() -> Result<()> {
    play("wayland-bell", async |stage| {
        let frame = stage.prompt_out_of_sight("SAY The fog has gone.").await?;
        let rung =
            stage.notifications.wait_for(|seen| seen.body.contains("The fog has gone."), SHORT).await?;
        ensure!(rung.summary.contains(PROJECT), "{rung:?}");

        // A click has no activation token of the compositor here, so it may only ask for attention.
        stage.notifications.click(rung.id).await?;
        stage.window.wait_said("The fog has gone.", SHORT).await?;
        stage.compositor.focus(&frame).await?;
        eventually("nothing is shown that was seen", SHORT, async || {
            Ok(stage.notifications.all().iter().all(|seen| !seen.open).then_some(()))
        })
        .await
    })
    .await
}

/// What rings: a script, what the conversation says then, and what the notification says.
const KINDS: [(&str, &str, &str); 3] = [
    ("SAY The fog has gone.", "The fog has gone.", "The fog has gone."),
    ("FAIL 529 overloaded", "529", "overloaded"),
    (r#"TOOL Bash {"command": "make harbour"}"#, "make harbour", "make harbour"),
];

pub async fn each_kind_rings_wherever_the_window_is_unless_it_is_in_front() -> Result<()> {
    play("wayland-bell-places", async |stage| {
        let opened = stage.window.invoke("open_board", json!({})).await?;
        ensure!(opened.is_ok(), "the board was refused: {opened:?}");
        stage.compositor.window(BOARD).await?;
        for place in [Place::Front, Place::BehindOurs, Place::OtherWorkspace, Place::Hidden] {
            for (script, said, rung) in KINDS {
                rings_at(stage, place, (script, said, rung))
                    .await
                    .with_context(|| format!("{script} with the window at {place:?}"))?;
            }
        }
        Ok(())
    })
    .await
}

async fn rings_at(stage: &Stage, place: Place, (script, said, rung): (&str, &str, &str)) -> Result<()> {
    let shown = || stage.notifications.all().into_iter().filter(|seen| seen.open).count();
    let asks = script.starts_with("TOOL");
    let n_before = stage.notifications.all().len();
    let frame = stage.prompt_at(place, script).await?;
    if place == Place::Front {
        if asks {
            stage.window.find("group", "Permission request").await?;
        } else {
            stage.window.wait_text("log", "Conversation", said, LONG).await?;
            stage.window.wait_idle(SHORT).await?;
        }
        holds_for("nothing rings", Duration::from_secs(1), async || {
            Ok(stage.notifications.all().len() == n_before)
        })
        .await?;
        if asks {
            stage.window.click("button", "Deny").await?;
        }
        return stage.window.wait_idle(SHORT).await;
    }
    let is_new = |seen: &Notification| seen.open && format!("{} {}", seen.summary, seen.body).contains(rung);
    let seen = stage.notifications.wait_for(is_new, LONG).await?;
    ensure!(seen.summary.contains(PROJECT), "the project is named: {seen:?}");
    let windows = stage.compositor.windows().await?;
    ensure!(
        !windows.iter().any(|window| window.id == frame.id && window.is_focused),
        "the bell took the keyboard: {windows:?}"
    );
    if asks {
        // The board has the focus in the two other places: over a window of the app a request has no dialog.
        if place == Place::OtherWorkspace {
            stage.compositor.window("Run this command?").await?;
        }
        stage.notifications.act(seen.id, "deny").await?;
    }
    stage.compositor.focus(&frame).await?;
    eventually("nothing is shown that was seen", SHORT, async || Ok((shown() == 0).then_some(()))).await?;
    stage.window.wait_idle(SHORT).await
}

pub async fn the_tray_has_the_session_that_waits_and_opens_the_board() -> Result<()> {
    play("wayland-tray", async |stage| {
        let tray = Tray::on(&stage.desktop).await?;
        let none = |icon: &TrayIcon| entry(icon, "No session works or waits").is_some();
        tray.wait_for(|icon| icon.status == "Active" && none(icon), SHORT).await?;
        let frame = stage.compositor.window(PROJECT).await?;
        stage.compositor.focus(&frame).await?;
        stage.prompt(r#"TOOL Bash {"command": "touch a.txt"}"#).await?;
        let waits = |icon: &TrayIcon| entry(icon, "Wants to run a command").is_some();
        let icon = tray.wait_for(|icon| icon.status == "NeedsAttention" && waits(icon), SHORT).await?;
        tray.choose(entry(&icon, "All projects").context("it is always there")?).await?;
        stage.compositor.window(BOARD).await.map(drop)
    })
    .await
}

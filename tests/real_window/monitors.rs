//! Two monitors: windows, their dialogs and their menus are on the monitor of their window, also after a restart, and
//! come back on the screen when it is gone.

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{
    Accessibility, Desktop, Extents, Launch, Manners, Monitors, Role, SHORT, eventually,
};

use crate::stage::{PROJECT, Stage};

/// The places of the window: wholly on the right monitor.
const PLACE: (i32, i32) = (1420, 90);
const SIZE: (i32, i32) = (900, 700);

async fn stage() -> Result<(Stage, Monitors)> {
    let (desktop, monitors) = Desktop::of_two_monitors().await?;
    let folder = desktop.project(PROJECT)?;
    let launch = Launch::demo(&folder);
    Ok((Stage::on(desktop, folder, Manners::Polite, launch).await?, monitors))
}

/// Moves the window to the right monitor, and returns its place there.
async fn move_right(stage: &Stage) -> Result<Extents> {
    let frame = stage.window.frame();
    // mutter (43) maximises a new window that covers most of its monitor.
    stage.pointer.restore(frame).await?;
    stage.pointer.resize(frame, SIZE.0, SIZE.1).await?;
    stage.pointer.place(frame, PLACE.0, PLACE.1).await?;
    eventually("the window is on the right monitor", SHORT, async || {
        let now = stage.pointer.extents(frame).await?;
        Ok(((now.width, now.height) == SIZE && is_on(now, Monitors::RIGHT)).then_some(now))
    })
    .await
}

fn is_on(place: Extents, monitor: Extents) -> bool {
    place.x >= monitor.x
        && place.y >= monitor.y
        && place.x + place.width <= monitor.x + monitor.width
        && place.y + place.height <= monitor.y + monitor.height
}

/// Waits until the window is at this place, or satisfies this condition.
async fn window_is(stage: &Stage, what: &str, condition: impl Fn(Extents) -> bool) -> Result<()> {
    let mut last = None;
    let reached = eventually(what, SHORT, async || {
        let now = stage.pointer.extents(stage.window.frame()).await?;
        last = Some(now);
        Ok(condition(now).then_some(()))
    });
    reached.await.with_context(|| format!("it is at {last:?}"))
}

pub async fn window_menu_and_dialog_are_on_the_monitor_of_the_window() -> Result<()> {
    let (stage, _monitors) = stage().await?;
    stage
        .play("two-monitors", async |stage| {
            let place = move_right(stage).await?;
            stage.restart().await?;
            window_is(stage, "the window is where it was", |now| now == place).await?;

            stage.window.right_click_at("textbox", "Prompt").await?;
            let menu = shown_menu(stage).await?;
            ensure!(is_on(menu, Monitors::RIGHT), "the menu of the field is at {menu:?}");
            stage.pointer.key("Escape").await?;

            stage.window.prompt("TOOL Bash {\"command\":\"make harbour\"}").await?;
            // The other program is on the left monitor.
            let _elsewhere = stage.step_aside().await?;
            let dialog = stage.dialogs().await?.one().await?;
            // It has a place a moment after it is there.
            eventually("the dialog is on the right monitor", SHORT, async || {
                let place = dialog.extents().await?;
                ensure!(is_on(place, Monitors::RIGHT), "the dialog is at {place:?}");
                Ok(Some(()))
            })
            .await?;
            stage.desktop.screenshot("two-monitors").await?;
            dialog.click("Deny").await?;
            dialog.gone().await
        })
        .await
}

/// The place of the open menu of the toolkit.
async fn shown_menu(stage: &Stage) -> Result<Extents> {
    let accessibility = Accessibility::on(&stage.desktop).await?;
    let menu =
        eventually("a menu shows", SHORT, async || accessibility.displayed(Role::MENU, |_| true).await);
    menu.await?.extents().await
}

pub async fn a_window_whose_monitor_is_gone_comes_back_on_the_screen() -> Result<()> {
    let (stage, monitors) = stage().await?;
    stage
        .play("monitor-gone", async |stage| {
            let place = move_right(stage).await?;
            // While the app runs.
            monitors.unplug_right().await?;
            window_is(stage, "the window is on the left monitor", |now| is_on(now, Monitors::LEFT)).await?;
            monitors.plug_right_in().await?;
            move_right(stage).await?;
            // Between two starts.
            stage.end().await?;
            monitors.unplug_right().await?;
            stage.start_again().await?;
            let is_whole = |now| is_on(now, Monitors::LEFT);
            window_is(stage, "the whole window is on the left monitor", is_whole).await?;
            ensure!((place.width, place.height) == SIZE);
            window_is(stage, "it has its size", |now| (now.width, now.height) == SIZE).await
        })
        .await
}

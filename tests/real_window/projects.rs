//! One window per project folder, restored after a restart.

use std::path::Path;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, ensure};
use deskbell_tests::chance;
use deskbell_tests::window::{App, Desktop, LONG, Launch, Owned, SHORT, Window, eventually};
use serde_json::json;

use crate::copying::pasted;
use crate::stage::{PROJECT, Stage};

pub const SECOND: &str = "windmill";

/// Starts the app once more, while it is running, and returns how that start ended.
pub async fn start_again(desktop: &Desktop, launch: &Launch) -> Result<ExitStatus> {
    hand_over(&mut launch.command(desktop)).await
}

async fn hand_over(command: &mut Command) -> Result<ExitStatus> {
    let mut second = Owned::start("deskbell", command)?;
    eventually("the second start hands over and ends", SHORT, async || {
        Ok(second.wait(std::time::Duration::ZERO)?)
    })
    .await
}

pub async fn a_second_start_opens_a_second_window() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("second", async |stage| {
            let folder = stage.desktop.project(SECOND)?;
            let status = start_again(&stage.desktop, &Launch::demo(&folder)).await?;
            ensure!(status.success(), "the second start ended with {status}");
            let second = stage.app.window(SECOND).await?;
            ensure!(stage.app.count().await? == 2, "two folders, two windows");
            stage.threads_are_ordinary(3).await?;
            let first = stage.app.window(PROJECT).await?;

            first.prompt("SAY Light on the water.\nCWD").await?;
            first.wait_said("Light on the water.", SHORT).await?;
            first.wait_said(&stage.folder.to_string_lossy(), SHORT).await?;
            second.prompt("SAY Wind in the sails.\nCWD").await?;
            second.wait_said("Wind in the sails.", SHORT).await?;
            second.wait_said(&folder.to_string_lossy(), SHORT).await?;
            first.wait_idle(SHORT).await?;
            second.wait_idle(SHORT).await?;
            first.drawn().await?;
            second.drawn().await?;
            stage.desktop.screenshot("two-windows").await?;

            ensure!(
                !first.all_text().await?.contains("sails"),
                "the first window shows the second's session"
            );
            ensure!(
                !second.all_text().await?.contains("water"),
                "the second window shows the first's session"
            );

            // One window closes, the other continues.
            stage.app.close(second.frame()).await?;
            eventually("one window is left", LONG, async || {
                Ok((stage.pointer.windows(SECOND).await?.is_empty()).then_some(()))
            })
            .await?;
            let first = stage.app.window(PROJECT).await?;
            first.prompt("SAY Still lit.").await?;
            first.wait_said("Still lit.", SHORT).await.map(drop)
        })
        .await
}

pub async fn a_link_shows_its_session() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("app-link", async |stage| {
            let window = &stage.window;
            window.prompt("SAY Light on the water.").await?;
            window.wait_said("Light on the water.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.click("button", "More").await?;
            window.point_at("menuitem", "Copy link").await?;
            pasted(window, "deskbell://open?folder=").await?;
            let link = window.value("Prompt").await?;
            window.key("ctrl+a").await?;
            window.key("Delete").await?;
            stage.pointer.key("ctrl+n").await?;
            window.prompt("SAY Wind in the sails.").await?;
            window.wait_said("Wind in the sails.", SHORT).await?;

            let open = |link: &str| Launch::folder(Path::new("--open")).argument(link);
            let status = start_again(&stage.desktop, &open(&link)).await?;
            ensure!(status.success(), "the start with {link} ended with {status}");
            window.wait_said("Light on the water.", SHORT).await?;
            ensure!(stage.app.count().await? == 1, "the link opened another window");
            ensure!(window.value("Prompt").await?.is_empty(), "the link wrote a prompt");

            // A session that is gone opens nothing, and the start page says so.
            let gone = format!("{link}0");
            let status = start_again(&stage.desktop, &open(&gone)).await?;
            ensure!(status.success(), "the start with {gone} ended with {status}");
            let page = stage.app.window("Open a project").await?;
            page.wait_shows("The session of the link is not in its folder.", SHORT).await.map(drop)
        })
        .await
}

pub async fn a_relative_folder_is_seen_from_where_it_was_named() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("relative", async |stage| {
            let folder = stage.desktop.project(SECOND)?;
            let launch = Launch::demo(Path::new(SECOND));
            let mut command = launch.command(&stage.desktop);
            command.current_dir(folder.parent().context("a project lies somewhere")?);
            let status = hand_over(&mut command).await?;
            ensure!(status.success(), "the second start ended with {status}");
            let second = stage.app.window(SECOND).await?;
            second.prompt("CWD").await?;
            second.wait_said(&folder.to_string_lossy(), SHORT).await.map(drop)
        })
        .await
}

pub async fn a_window_is_where_it_was() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("place", async |stage| {
            let frame = stage.window.frame();
            let first = stage.pointer.extents(frame).await?;
            stage.pointer.resize(frame, 900, 700).await?;
            stage.pointer.place(frame, 140, 90).await?;
            let before = eventually("the window has moved", SHORT, async || {
                let now = stage.pointer.extents(frame).await?;
                Ok(((now.width, now.height) == (900, 700) && now.x != first.x).then_some(now))
            })
            .await?;
            stage.restart().await?;
            let frame = stage.window.frame();
            let mut after = None;
            let same = eventually("the window is where it was", SHORT, async || {
                let now = stage.pointer.extents(frame).await?;
                after = Some(now);
                Ok((now == before).then_some(()))
            });
            same.await.with_context(|| format!("it was at {before:?} and is at {after:?}"))
        })
        .await
}

/// Without a GPU the processes of all pages but one were seen to end at such a start, and their windows stayed white.
pub async fn several_windows_come_back_painted_each_as_it_was() -> Result<()> {
    const PLACES: [(i32, i32, i32, i32); 4] =
        [(20, 40, 660, 420), (710, 60, 640, 400), (30, 520, 640, 440), (700, 510, 670, 450)];
    let mut stage = Stage::demo().await?;
    let names: Vec<String> = [PROJECT, SECOND, "ledger", "tide"].map(str::to_owned).into();
    let said = |name: &str| format!("The place is {name}.");
    let typed = |name: &str| format!("more about {name}");
    for name in names.iter().skip(1) {
        let folder = stage.desktop.project(name)?;
        let status = start_again(&stage.desktop, &Launch::demo(&folder)).await?;
        ensure!(status.success(), "the start for {name} ended with {status}");
        // It opens a moment later, and then takes the focus.
        stage.app.window(name).await?;
    }
    let mut before = Vec::new();
    for (name, (x, y, width, height)) in names.iter().zip(PLACES) {
        let window = stage.app.window(name).await?;
        window.prompt(&format!("SAY {}", said(name))).await?;
        window.wait_said(&said(name), LONG).await?;
        window.wait_idle(SHORT).await?;
        window.type_into("Prompt", &typed(name)).await?;
        stage.pointer.resize(window.frame(), width, height).await?;
        stage.pointer.place(window.frame(), x, y).await?;
        before.push(stage.pointer.extents(window.frame()).await?);
    }
    stage.pointer.key("ctrl+q").await?;
    stage.app.ended(&stage.desktop, LONG).await?;
    stage.app = App::start(&stage.desktop, &stage.launch().again()).await?;
    stage
        .play("several-windows", async |stage| {
            for (name, before) in names.iter().zip(before) {
                let frame = stage.pointer.window(name).await?;
                stage.pointer.activate(frame).await?;
                eventually(&format!("{name} is where it was, at {before:?}"), SHORT, async || {
                    Ok((stage.pointer.extents(frame).await? == before).then_some(()))
                })
                .await?;
                stage.desktop.painted(before).await.with_context(|| format!("{name} stays empty"))?;
            }
            for name in &names {
                let window = stage.app.window(name).await?;
                window.wait_said(&said(name), LONG).await?;
                ensure!(window.value("Prompt").await? == typed(name), "{name} has lost its draft");
                window.drawn().await?;
            }
            stage.desktop.screenshot("several-windows").await.map(drop)
        })
        .await
}

/// One window, two, four and eight: a restart paints each of them. A whole run restarts ten times with each number.
pub async fn all_windows_of_a_restart_are_painted() -> Result<()> {
    let n_restarts = if chance::is_whole() { 10 } else { 1 };
    let stage = Stage::demo().await?;
    stage
        .play("painted", async |stage| {
            stage.window.prompt("SAY The tide is low.").await?;
            stage.window.wait_said("The tide is low.", LONG).await?;
            let mut names = vec![PROJECT.to_owned()];
            for n_windows in [1, 2, 4, 8] {
                for nr in names.len()..n_windows {
                    let name = format!("bay-{nr}");
                    let folder = stage.desktop.project(&name)?;
                    let status = start_again(&stage.desktop, &Launch::demo(&folder)).await?;
                    ensure!(status.success(), "the start for {name} ended with {status}");
                    let window = stage.app.window(&name).await?;
                    window.prompt("SAY The tide is high.").await?;
                    window.wait_said("The tide is high.", LONG).await?;
                    names.push(name);
                }
                for nr in 0..n_restarts {
                    stage.pointer.key("ctrl+q").await?;
                    stage.app.ended(&stage.desktop, LONG).await?;
                    stage.app = App::start(&stage.desktop, &stage.launch().again()).await?;
                    for name in &names {
                        let frame = stage.pointer.window(name).await?;
                        stage.pointer.activate(frame).await?;
                        let area = stage.pointer.extents(frame).await?;
                        let painted = stage.desktop.painted(area).await;
                        painted.with_context(|| {
                            format!("{name} of {n_windows} windows stays empty after restart {nr}")
                        })?;
                    }
                }
            }
            Ok(())
        })
        .await
}

pub async fn the_same_folder_again_brings_its_window_up() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("same", async |stage| {
            let _elsewhere = stage.look_away().await?;
            let status = start_again(&stage.desktop, &Launch::demo(&stage.folder)).await?;
            ensure!(status.success(), "the second start ended with {status}");
            stage.pointer.wait_active(stage.window.frame()).await?;
            ensure!(stage.app.count().await? == 1, "one folder, one window");
            Ok(())
        })
        .await
}

pub async fn a_restart_brings_sessions_back_and_resumes() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("restart", async |stage| {
            stage.window.prompt("SAY The first watch is over.").await?;
            stage.window.wait_said("The first watch is over.", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            stage.restart().await?;
            let window = &stage.window;
            window.wait_said("The first watch is over.", SHORT).await?;
            window.prompt("RECALL\nARGS").await?;
            window.wait_idle(LONG).await?;
            let said = window.wait_said("--resume=", SHORT).await?;
            ensure!(
                said.matches("The first watch is over.").count() >= 2,
                "the past is not recalled:\n{said}"
            );
            window.screenshot("restarted").await.map(drop)
        })
        .await
}

/// Pastes an image into the box, by the page's own paste event.
const PASTE: &str = "
    const base64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([bytes], 'lamp.png', { type: 'image/png' }));
    const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    document.querySelector('textarea').dispatchEvent(paste);";

pub async fn a_renamed_folder_has_its_sessions() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("renamed-folder", async |stage| {
            stage.window.prompt("SAY Light on the water.").await?;
            stage.window.wait_said("Light on the water.", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            let sessions = stage.session_ids()?;
            stage.end().await?;
            let renamed = stage.folder.with_file_name("renamed");
            std::fs::rename(&stage.folder, &renamed)?;
            stage.app = App::start(&stage.desktop, &Launch::demo(&renamed)).await?;
            stage.window = stage.app.window("renamed").await?;
            stage.window.wait_said("Light on the water.", LONG).await?;
            stage.window.prompt("RECALL").await?;
            stage.window.wait_idle(SHORT).await?;
            ensure!(
                stage.window.all_text().await?.matches("Light on the water.").count() > 1,
                "it was forgotten"
            );
            ensure!(stage.session_ids()? == sessions, "the conversation is another session");
            let listed =
                std::fs::read_to_string(stage.desktop.home().join(".local/share/deskbell/projects.json"))?;
            let listed: serde_json::Value = serde_json::from_str(&listed)?;
            let known = listed["projects"].as_array().context("there is a list")?;
            ensure!(known.len() == 1 && known[0]["path"] == json!(renamed), "{listed}");
            // The last run's window of the old path has nothing to show.
            eventually(
                "one window is left",
                SHORT,
                async || Ok((stage.app.count().await? == 1).then_some(())),
            )
            .await
        })
        .await
}

pub async fn a_draft_and_the_zoom_survive_a_restart() -> Result<()> {
    const DRAFT: &str = "half a thought about the lamp";
    let stage = Stage::demo().await?;
    stage
        .play("draft", async |stage| {
            stage.window.prompt("SAY Aye.").await?;
            stage.window.wait_said("Aye.", SHORT).await?;
            stage.window.wait_idle(SHORT).await?;
            stage.window.type_into("Prompt", DRAFT).await?;
            // An image of one pixel, pasted as from another program.
            stage.window.run(PASTE, Vec::new()).await?;
            stage.window.find("button", "Remove lamp.png").await?;
            let usual = width(&stage.window).await?;
            stage.window.key("ctrl+plus").await?;
            stage.window.key("ctrl+plus").await?;
            // The window keeps its width; at 1.25 times the size the content has less room.
            let zoomed =
                async |window: &Window| anyhow::Ok((width(window).await? * 1.25 - usual).abs() < 2.0);
            eventually("the page is zoomed", SHORT, async || Ok(zoomed(&stage.window).await?.then_some(())))
                .await?;
            stage.window.reload().await?;
            eventually("the draft is there after a reload", SHORT, async || {
                Ok((stage.window.value("Prompt").await? == DRAFT).then_some(()))
            })
            .await?;
            stage.window.find("button", "Remove lamp.png").await?;
            stage.restart().await?;
            stage.window.find("button", "Remove lamp.png").await?;
            eventually("the draft is there after a restart", SHORT, async || {
                Ok((stage.window.value("Prompt").await? == DRAFT).then_some(()))
            })
            .await?;
            ensure!(zoomed(&stage.window).await?, "the page is {} wide", width(&stage.window).await?);

            // The zoom is this project's own, and the setting is for the others.
            let other = stage.desktop.project("windmill")?;
            start_again(&stage.desktop, &Launch::demo(&other)).await?;
            let second = stage.app.window("windmill").await?;
            let factor = "return Math.round(100 * window.outerWidth / window.innerWidth) / 100;";
            let scaled = async |window: &Window, to: f64| {
                let scale = window.run(factor, Vec::new()).await?.as_f64().context("a factor")?;
                anyhow::Ok((scale - to).abs() < 0.03)
            };
            ensure!(scaled(&second, 1.0).await?, "another project is zoomed too");
            let set = second.invoke("set_setting", json!({ "key": "zoom", "value": 150 })).await?;
            ensure!(set.is_ok(), "the setting was refused: {set:?}");
            eventually("the other window follows the setting", SHORT, async || {
                Ok(scaled(&second, 1.5).await?.then_some(()))
            })
            .await?;
            ensure!(scaled(&stage.window, 1.25).await?, "the project lost its zoom");
            stage.window.key("ctrl+0").await?;
            eventually("the project follows the setting again", SHORT, async || {
                Ok(scaled(&stage.window, 1.5).await?.then_some(()))
            })
            .await?;
            Ok(())
        })
        .await
}

/// The size of the page, in its own pixels.
async fn width(window: &Window) -> Result<f64> {
    window.run("return window.innerWidth;", Vec::new()).await?.as_f64().context("a width")
}

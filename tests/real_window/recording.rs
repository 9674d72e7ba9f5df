//! The recording of a session: begun, stopped, shown in the file manager and deleted, and ended by a folder that is removed.

use std::fs;

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{LONG, SHORT, Window, eventually};
use tokio::sync::watch;

use crate::stage::Stage;

const NOTE: &str = "Recording of this session";

/// The file manager of the desktop.
struct FileManager(watch::Sender<Vec<String>>);

#[zbus::interface(name = "org.freedesktop.FileManager1")]
impl FileManager {
    fn show_items(&self, uris: Vec<String>, _startup_id: &str) {
        self.0.send_modify(|shown| shown.extend(uris));
    }
}

async fn record(stage: &Stage) -> Result<()> {
    let (window, keys) = (&stage.window, &stage.pointer);
    keys.key("ctrl+k").await?;
    window.find("combobox", "Search commands and sessions").await?;
    keys.type_text("Record this session").await?;
    window.wait_text("listbox", "Results", "Record this session", SHORT).await?;
    keys.key("Return").await?;
    window.wait_text("note", NOTE, "This session is being recorded.", SHORT).await.map(drop)
}

async fn turn(window: &Window, words: &str) -> Result<()> {
    window.prompt(&format!("SAY {words}")).await?;
    window.wait_said(words, SHORT).await?;
    window.wait_idle(SHORT).await
}

pub async fn a_recording_is_stopped_and_shown_in_the_file_manager() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("recording", async |stage| {
            let (shown, mut requests) = watch::channel(Vec::new());
            let _file_manager = zbus::connection::Builder::address(stage.desktop.bus().address())
                .serve_at("/org/freedesktop/FileManager1", FileManager(shown))
                .name("org.freedesktop.FileManager1")
                .build()
                .await?;
            turn(&stage.window, "Ready.").await?;
            record(stage).await?;
            turn(&stage.window, "The tide has turned.").await?;
            stage.window.screenshot("recording").await?;
            stage.window.click("button", "Stop recording").await?;
            stage.window.wait_text("note", NOTE, "Read it before you attach it", SHORT).await?;
            stage.window.drawn().await?;
            stage.window.screenshot("recording-complete").await?;
            stage.window.click("button", "Show in its folder").await?;
            let shown =
                tokio::time::timeout(LONG, requests.wait_for(|shown| !shown.is_empty())).await??.clone();
            let path = shown[0].strip_prefix("file://").context("a file is shown")?;
            let text = fs::read_to_string(path)?;
            ensure!(text.contains("The tide has turned.") && text.lines().count() > 5, "{text}");
            turn(&stage.window, "Unrecorded.").await?;
            ensure!(fs::read_to_string(path)? == text, "the recording went on");
            stage.window.click("button", "Delete…").await?;
            stage.window.find("button", "Keep it").await?;
            stage.window.drawn().await?;
            stage.window.screenshot("recording-delete").await?;
            ensure!(fs::exists(path)?, "it was deleted without a confirmation");
            stage.window.click("button", "Delete the file").await?;
            stage.window.gone("note", NOTE).await?;
            ensure!(!fs::exists(path)?, "the recording is still there");
            Ok(())
        })
        .await
}

pub async fn a_recording_whose_folder_is_removed_ends_in_the_window_at_once() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("recording-removed", async |stage| {
            turn(&stage.window, "Ready.").await?;
            record(stage).await?;
            let folder = stage.desktop.home().join(".local/share/deskbell/recordings");
            eventually("the file is there", SHORT, async || {
                Ok(fs::read_dir(&folder).ok().and_then(|mut all| all.next()))
            })
            .await??;
            fs::remove_dir_all(&folder)?;
            stage.window.prompt("SAY Still here.\nWAIT").await?;
            let said = stage.window.wait_text("note", NOTE, "The recording has ended: ", SHORT).await?;
            ensure!(said.contains("its file was removed or moved. Nothing of it was kept."), "{said}");
            stage.window.wait_said("Still here.", SHORT).await?;
            stage.window.drawn().await?;
            stage.window.screenshot("recording-removed").await?;
            ensure!(!stage.window.has("button", "Stop recording").await?, "it can be stopped again");
            // Also for a page that was loaded since.
            stage.window.reload().await?;
            stage.window.wait_text("note", NOTE, "its file was removed or moved.", LONG).await?;
            stage.window.key("Escape").await?;
            stage.window.wait_idle(SHORT).await?;
            record(stage).await
        })
        .await
}

//! The clipboard of the desktop goes into the prompt: images, files, and long texts as attachments.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Result, ensure};
use deskbell_tests::window::{Owned, SHORT, eventually};

use crate::stage::Stage;

/// Puts a file on the clipboard; the returned program provides it to applications that paste.
fn copied(stage: &Stage, file: &Path, format: &str) -> Result<Owned> {
    let mut command = stage.desktop.command("xclip");
    // In the foreground: it ends with the test.
    command.args(["-quiet", "-selection", "clipboard", "-t", format, "-i"]).arg(file);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(Owned::start("xclip", &mut command)?)
}

/// The formats that the clipboard offers, once it has an owner.
async fn offers(stage: &Stage, format: &str) -> Result<()> {
    eventually("the clipboard offers the image", SHORT, async || {
        let mut command = tokio::process::Command::from(stage.desktop.command("xclip"));
        let output = command.args(["-selection", "clipboard", "-t", "TARGETS", "-o"]).output().await?;
        Ok(String::from_utf8_lossy(&output.stdout).lines().any(|line| line == format).then_some(()))
    })
    .await
}

async fn attached(stage: &Stage, n: usize) -> Result<()> {
    eventually("the image is attached", SHORT, async || {
        let names = stage
            .window
            .run("return [...document.querySelectorAll('[data-part=\"composer\"] img')].length;", Vec::new());
        Ok((names.await?.as_u64() == Some(n as u64)).then_some(()))
    })
    .await
}

pub async fn an_image_is_pasted_by_key_and_by_command() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("pasted-image", async |stage| {
            let icon = Path::new(env!("CARGO_MANIFEST_DIR")).join("../icons/128x128.png");
            let _owner = copied(stage, &icon, "image/png")?;
            offers(stage, "image/png").await?;
            stage.window.type_into("Prompt", "SAY seen").await?;
            stage.pointer.key("ctrl+v").await?;
            attached(stage, 1).await?;
            stage.pointer.key("ctrl+k").await?;
            stage.pointer.type_text("Paste image").await?;
            stage.pointer.key("Return").await?;
            attached(stage, 2).await?;
            stage.window.click("button", "Send").await?;
            stage.window.wait_said("seen", SHORT).await?;
            let record = stage.window.all_text().await?;
            let n_shown = record.matches("Pasted image").count();
            ensure!(n_shown == 2, "{n_shown} chips below the prompt: {record}");
            Ok(())
        })
        .await
}

pub async fn an_image_that_cannot_be_read_is_told() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("unread-image", async |stage| {
            let file = stage.desktop.home().join("damaged.png");
            std::fs::write(&file, "no image")?;
            let _owner = copied(stage, &file, "image/png")?;
            offers(stage, "image/png").await?;
            stage.window.type_into("Prompt", "still").await?;
            stage.pointer.key("ctrl+v").await?;
            stage.window.wait_shows("Not attached.", SHORT).await?;
            stage.window.wait_shows("is not a PNG", SHORT).await?;
            ensure!(stage.window.value("Prompt").await? == "still");
            Ok(())
        })
        .await
}

pub async fn an_image_in_a_format_that_no_agent_takes_is_told() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("unknown-image", async |stage| {
            let icon = Path::new(env!("CARGO_MANIFEST_DIR")).join("../icons/icon.ico");
            let _owner = copied(stage, &icon, "image/x-icon")?;
            offers(stage, "image/x-icon").await?;
            stage.window.type_into("Prompt", "look").await?;
            stage.pointer.key("ctrl+v").await?;
            stage.window.wait_shows("image/x-icon", SHORT).await.map(drop)
        })
        .await
}

pub async fn files_of_a_file_manager_are_attached_or_named() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("pasted-files", async |stage| {
            let icon = Path::new(env!("CARGO_MANIFEST_DIR")).join("../icons/128x128.png").canonicalize()?;
            let named = stage.folder.join("a file.rs");
            std::fs::write(&named, "fn main() {}")?;
            let address = |path: &Path| format!("file://{}", path.display()).replace(' ', "%20");
            let list = stage.desktop.home().join("list");
            std::fs::write(&list, format!("{}\r\n{}\r\n", address(&icon), address(&named)))?;
            let _owner = copied(stage, &list, "text/uri-list")?;
            offers(stage, "text/uri-list").await?;
            stage.window.type_into("Prompt", "see").await?;
            stage.pointer.key("ctrl+v").await?;
            attached(stage, 1).await?;
            let text = stage.window.value("Prompt").await?;
            ensure!(text == "see @\"a file.rs\" ", "{text}");
            Ok(())
        })
        .await
}

pub async fn ten_thousand_lines_are_attached_kept_and_sent() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("pasted-text", async |stage| {
            let file = stage.desktop.home().join("log.txt");
            let lines: String = (0..10_000).map(|i| format!("line {i}: a few words of a log\n")).collect();
            std::fs::write(&file, lines)?;
            let _owner = copied(stage, &file, "UTF8_STRING")?;
            offers(stage, "UTF8_STRING").await?;
            stage.window.type_into("Prompt", "SAY seen").await?;
            stage.pointer.key("ctrl+v").await?;
            let chip = "10,000 lines · “line 0: a few words of a log”";
            stage.window.wait_shows(chip, SHORT).await?;
            ensure!(stage.window.value("Prompt").await? == "SAY seen");
            stage.restart().await?;
            stage.window.wait_shows(chip, SHORT).await?;
            // By keys from the box: to the attachment, and open.
            stage.pointer.key("ctrl+l").await?;
            stage.pointer.key("Home").await?;
            stage.pointer.key("BackSpace").await?;
            stage.pointer.key("Return").await?;
            stage.window.wait_shows("line 0: a few words of a log", SHORT).await?;
            stage.window.wait_shows("It is too long for the box", SHORT).await?;
            stage.pointer.key("Escape").await?;
            stage.window.click("button", "Send").await?;
            stage.window.wait_said("seen", SHORT).await?;
            stage.window.wait_shows(chip, SHORT).await?;
            Ok(())
        })
        .await
}

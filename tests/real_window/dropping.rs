//! Files that are dropped on a conversation from another program: attached, named in the prompt, or refused with why.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use deskbell_tests::window::{SHORT, drop_on, eventually};

use crate::stage::{PROJECT, Stage};

pub async fn images_and_pdfs_are_attached_and_other_files_are_named() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("dropped", async |stage| {
            let (window, desktop) = (&stage.window, &stage.desktop);
            window.type_into("Prompt", "SAY Seen.").await?;
            let frame = window.frame();
            // A PDF and an image are attached; a text is named, with its path because it is outside of the project.
            let outside = desktop.scratch().join("papers");
            fs::create_dir_all(&outside)?;
            let (pdf, text) = (outside.join("tide.pdf"), outside.join("tide.txt"));
            fs::write(
                &pdf,
                "%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n",
            )?;
            fs::write(&text, "high\nlow\n")?;
            let icon = Path::new(env!("CARGO_MANIFEST_DIR")).join("../icons/128x128.png").canonicalize()?;
            drop_on(desktop, frame, &[&pdf, &icon, &text]).await?;
            window.wait_shows("tide.pdf", SHORT).await?;
            for name in ["tide.pdf", "128x128.png"] {
                window.find("button", &format!("Remove {name}")).await?;
            }
            let named = async |words: String| {
                eventually("the files are named", SHORT, async || {
                    Ok(window.value("Prompt").await?.contains(&words).then_some(()))
                })
                .await
            };
            named(format!("@{}", text.display())).await?;

            // The files of a folder of the project, and a folder of it.
            let lamps = stage.folder.join("lamps");
            fs::create_dir_all(&lamps)?;
            for name in ["red.txt", "green.txt"] {
                fs::write(lamps.join(name), "")?;
            }
            drop_on(desktop, frame, &[&lamps.join("red.txt"), &lamps.join("green.txt"), &lamps]).await?;
            for name in ["@lamps/red.txt", "@lamps/green.txt", "@lamps/"] {
                named(name.to_owned()).await?;
            }
            window.wait_focus("textbox “Prompt”").await?;
            window.drawn().await?;
            desktop.screenshot("dropped").await?;

            // What cannot be attached is said, and the draft stays.
            let pipe = outside.join("pipe");
            ensure!(std::process::Command::new("mkfifo").arg(&pipe).status()?.success(), "no pipe was made");
            drop_on(desktop, frame, &[&pipe]).await?;
            window.wait_shows("neither a file nor a folder", SHORT).await?;
            named("@lamps/red.txt".to_owned()).await?;

            window.key("Return").await?;
            window.wait_said("Seen.", SHORT).await?;
            for name in ["tide.pdf", "128x128.png"] {
                window.wait_shows(name, SHORT).await?;
            }
            ensure!(window.title().await?.contains(PROJECT), "another project was opened");
            ensure!(stage.app.count().await? == 1, "a file opened a window");
            Ok(())
        })
        .await
}

//! How much of the window a small change draws again. WebKit draws on the processor here, and a whole conversation for each key
//! made typing slow beside busy processes.

use anyhow::{Result, ensure};
use deskbell_tests::window::{DrawnWatch, SHORT};

use crate::stage::Stage;

pub async fn a_key_draws_its_line() -> Result<()> {
    // On one line of the prompt box.
    const TYPED: &str = "a line of letters, no longer";
    let stage = Stage::demo().await?;
    stage
        .play("key-draws", async |stage| {
            let window = &stage.window;
            window.prompt("SAY Read this.").await?;
            window.wait_said("Read this.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            // With the first letter the session list shows a draft.
            window.type_into("Prompt", "x").await?;
            window.drawn().await?;
            let watch = DrawnWatch::on(&stage.desktop, window.frame())?;
            stage.pointer.type_text(TYPED).await?;
            window.wait_typed("Prompt", TYPED).await?;
            window.drawn().await?;
            let drawn = watch.windows()?;
            println!("{} keys drew {drawn:.2} windows", TYPED.len());
            ensure!(drawn > 0.0, "no key was drawn");
            // Each draws a line of the prompt box, 1.5 % of the window. It was 80 %.
            ensure!(drawn < 0.05 * TYPED.len() as f64, "{} keys drew {drawn:.2} windows", TYPED.len());
            Ok(())
        })
        .await
}

pub async fn a_piece_of_an_answer_draws_its_line() -> Result<()> {
    const PIECES: usize = 30;
    let stage = Stage::demo().await?;
    stage
        .play("piece-draws", async |stage| {
            let window = &stage.window;
            window.prompt(&format!("SLOW 100 {} w", PIECES + 20)).await?;
            window.wait_said("w9 ", SHORT).await?;
            let watch = DrawnWatch::on(&stage.desktop, window.frame())?;
            window.wait_said(&format!("w{} ", PIECES + 9), SHORT).await?;
            let drawn = watch.windows()?;
            println!("{PIECES} pieces drew {drawn:.2} windows");
            ensure!(drawn > 0.0, "no piece was drawn");
            // A line each, and the marks of a working agent: 5 % of the window. It was 80 %.
            ensure!(drawn < 0.15 * PIECES as f64, "{PIECES} pieces drew {drawn:.2} windows");
            window.wait_idle(SHORT).await
        })
        .await
}

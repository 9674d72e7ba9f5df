//! Pictures of the window, light and dark, to be looked at; and that the two differ as they should.

use anyhow::{Result, ensure};
use deskbell_tests::window::{Manners, SHORT, Window};

use crate::stage::Stage;

pub async fn light_and_dark() -> Result<()> {
    let light = brightness("light", "Adwaita").await?;
    let dark = brightness("dark", "Adwaita:dark").await?;
    ensure!(light > 0.8, "the light window's ground is not light: {light}");
    ensure!(dark < 0.2, "the dark window's ground is not dark: {dark}");
    Ok(())
}

/// Takes the pictures under a desktop theme and gives the brightness of the page's ground, 0 to 1.
async fn brightness(name: &str, theme: &str) -> Result<f64> {
    let stage = Stage::with(Manners::Polite, |launch| launch.env("GTK_THEME", theme)).await?;
    let mut ground = 0.0;
    stage
        .play(name, async |stage| {
            let window = &stage.window;
            window.screenshot(&format!("{name}-empty")).await?;
            window
                .prompt("SAY # Tides\\n\\nHigh water at **six**; see `tides.rs`.\\n\\n- ebb\\n- flow")
                .await?;
            window.wait_said("High water at", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.screenshot(&format!("{name}-conversation")).await?;
            window.prompt("TOOL Bash {\"command\":\"cargo test -p tides\"}\nSAY Done.").await?;
            let dialog = stage.dialogs().await?.one().await?;
            window.find("group", "Permission request").await?;
            window.screenshot(&format!("{name}-asking")).await?;
            stage.desktop.screenshot(&format!("{name}-desktop")).await?;
            ground = ground_of(window).await?;
            dialog.press("Deny").await
        })
        .await?;
    Ok(ground)
}

async fn ground_of(window: &Window) -> Result<f64> {
    let script = "let element = document.body;
        for (; element; element = element.parentElement) {
            const parts = getComputedStyle(element).backgroundColor.match(/[\\d.]+/g).map(Number);
            if (parts.length < 4 || parts[3] > 0) return (parts[0] + parts[1] + parts[2]) / 765;
        }
        return 1;";
    Ok(window.run(script, Vec::new()).await?.as_f64().unwrap_or(-1.0))
}

//! The page of servers, hooks and skills: opened and read, and a server turned off, by mouse and by keyboard.

use anyhow::{Result, ensure};
use deskbell_tests::window::SHORT;

use crate::stage::Stage;

const DIALOG: &str = "Servers, hooks and skills";

pub async fn it_is_opened_with_keys_and_a_server_is_turned_off() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("configuration", async |stage| {
            let (window, keys) = (&stage.window, &stage.pointer);
            window.prompt("SAY Ready.").await?;
            window.wait_said("Ready.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            keys.key("ctrl+k").await?;
            window.find("combobox", "Search commands and sessions").await?;
            keys.type_text(DIALOG).await?;
            window.wait_text("listbox", "Results", DIALOG, SHORT).await?;
            keys.key("Return").await?;
            window.find("dialog", DIALOG).await?;
            window.wait_shows("Connection closed", SHORT).await?;
            window.wait_shows("./scripts/check.sh", SHORT).await?;
            window.screenshot("configuration").await?;
            window.click("button", "Reconnect database").await?;
            window.wait_shows("The agent could not do it: Connection closed", SHORT).await?;
            window.click("button", "Turn off tracker").await?;
            window.find("button", "Turn on tracker").await?;
            let servers = window.names("button").await?;
            ensure!(!servers.iter().any(|name| name == "Reconnect tracker"), "{servers:?}");
            window.screenshot("configuration-off").await?;
            keys.key("Escape").await?;
            window.gone("dialog", DIALOG).await
        })
        .await
}

//! The board: what works or waits in any project, in a window of its own.

use anyhow::{Result, ensure};
use deskbell_tests::window::{Launch, SHORT, eventually};

use crate::projects::start_again;
use crate::stage::Stage;

const SECOND: &str = "windmill";
const BOARD: &str = "All projects";

/// The height that thirty rows leave free, in pixels of the page.
const ROOM_BELOW_THIRTY: &str =
    "const rows = [...document.querySelectorAll('ul[aria-label=\"Sessions\"] li')];
    const [first, second] = rows.map((row) => row.getBoundingClientRect());
    return innerHeight - first.y - 30 * (second.y - first.y);";

pub async fn the_board_shows_who_waits_and_brings_the_window_up() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("board", async |stage| {
            stage.window.prompt("SLOW 200 200 tick").await?;
            let folder = stage.desktop.project(SECOND)?;
            let status = start_again(&stage.desktop, &Launch::demo(&folder)).await?;
            ensure!(status.success(), "the second start ended with {status}");
            let second = stage.app.window(SECOND).await?;
            second.prompt("TOOL Bash {\"command\":\"echo board\"}\nSAY Allowed.").await?;
            second.wait_shows("echo board", SHORT).await?;

            stage.pointer.key("ctrl+shift+b").await?;
            let board = stage.app.window(BOARD).await?;
            // What waits for the user is on top, and both projects are named.
            let rows = "return [...document.querySelectorAll('ul[aria-label=\"Sessions\"] button')]
                .map((row) => row.textContent);";
            eventually("the board has a session that waits, then one that works", SHORT, async || {
                let rows: Vec<String> = serde_json::from_value(board.run(rows, Vec::new()).await?)?;
                let [waits, works] = &rows[..] else { return Ok(None) };
                Ok((waits.contains(SECOND) && waits.contains("echo board") && !works.contains(SECOND))
                    .then_some(()))
            })
            .await?;
            board.drawn().await?;
            let room = board.run(ROOM_BELOW_THIRTY, Vec::new()).await?;
            ensure!(room.as_f64().is_some_and(|room| room >= 0.0), "thirty sessions do not fit: {room}");
            stage.desktop.screenshot("board").await?;

            // The keyboard begins in the list.
            stage.pointer.key("Return").await?;
            stage.pointer.wait_active(second.frame()).await
        })
        .await
}

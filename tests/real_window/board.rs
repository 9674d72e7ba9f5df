//! The board: what works or waits in any project, in a window of its own.

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{Launch, SHORT, Window, eventually};
use serde_json::{Value, json};

use crate::projects::start_again;
use crate::stage::Stage;

const SECOND: &str = "windmill";
/// The name of its window.
pub const BOARD: &str = "All projects";

/// The texts of the rows, in their order.
const ROWS: &str = "return [...document.querySelectorAll('.groups li')].map((row) => row.textContent);";

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
            eventually("the board has a session that waits, then one that works", SHORT, async || {
                let rows: Vec<String> = serde_json::from_value(board.run(ROWS, Vec::new()).await?)?;
                let [waits, works] = &rows[..] else { return Ok(None) };
                Ok((waits.contains(SECOND) && waits.contains("echo board") && !works.contains(SECOND))
                    .then_some(()))
            })
            .await?;
            board.drawn().await?;
            stage.desktop.screenshot("board").await?;

            // The keyboard begins in the list.
            stage.pointer.key("Return").await?;
            stage.pointer.wait_active(second.frame()).await
        })
        .await
}

/// Waits until the button of the only request on the board may be pressed.
async fn wait_armed(board: &Window, command: &str, answer: &str) -> Result<()> {
    let script = "const [command, answer] = arguments;
        const row = [...document.querySelectorAll('.groups li')].find((row) => row.textContent.includes(command));
        return row?.querySelector(`[data-answer=\"${answer}\"]`)?.dataset.armed === 'true';";
    eventually(&format!("“{answer}” of {command} is armed"), SHORT, async || {
        let is_armed = board.run(script, vec![json!(command), json!(answer)]).await?;
        Ok((is_armed == true).then_some(()))
    })
    .await
}

/// The arguments of an answer to the request of the first row. The page itself gets no more events then.
async fn answer_to_first_row(board: &Window, answer: Value) -> Result<Value> {
    let connection = board.invoke("connect_board", json!({})).await?;
    let connection = connection.map_err(|error| anyhow::anyhow!("the board was refused: {error}"))?;
    let row = connection.pointer("/board/rows/0").context("the board has a row")?;
    let request = row.get("request").filter(|request| !request.is_null()).context("the row has a request")?;
    Ok(json!({
        "sessionId": row["sessionId"], "requestId": request["id"], "shown": request["shown"], "answer": answer,
    }))
}

pub async fn requests_are_answered_on_the_board_by_key_and_by_mouse() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("board-answers", async |stage| {
            stage
                .window
                .prompt(
                    "TOOL Bash {\"command\":\"echo by key\"}\nTOOL Bash {\"command\":\"echo by mouse\"}\n\
                     TOOL Bash {\"command\":\"echo not at all\"}\nSAY Sailed.",
                )
                .await?;
            stage.window.wait_shows("echo by key", SHORT).await?;
            stage.pointer.key("ctrl+shift+b").await?;
            let board = stage.app.window(BOARD).await?;
            board.wait_text("list", "Needs you", "echo by key", SHORT).await?;
            // The first key shows where the keyboard is.
            stage.pointer.key("Down").await?;
            wait_armed(&board, "echo by key", "allow").await?;
            board.drawn().await?;
            board.screenshot("board-answers").await?;
            stage.pointer.key("alt+a").await?;
            board.wait_text("list", "Needs you", "echo by mouse", SHORT).await?;
            wait_armed(&board, "echo by mouse", "allow").await?;
            board.point_at("button", "Allow once").await?;
            board.wait_text("list", "Needs you", "echo not at all", SHORT).await?;
            let late = answer_to_first_row(&board, json!({ "type": "allowOnce" })).await?;
            board.reload().await?;
            board.wait_text("list", "Needs you", "echo not at all", SHORT).await?;
            stage.pointer.key("Down").await?;
            wait_armed(&board, "echo not at all", "deny").await?;
            stage.pointer.key("alt+d").await?;
            board.wait_text("list", "Done today", "Sailed.", SHORT).await?;
            board.screenshot("board-answered").await?;

            // An answer that comes too late is refused. A project's window may not answer so at all.
            let error = board.invoke("answer_board_request", late.clone()).await?.err();
            let error = error.context("a late answer was accepted")?;
            ensure!(
                error["code"] == "noSuchRequest",
                "a late answer was refused for another reason: {error}"
            );
            ensure!(error["message"] == "Already answered in the window.", "{error}");
            let error = stage.window.invoke("answer_board_request", late).await?.err();
            let error = error.context("a project's window answered on the board")?;
            ensure!(error.to_string().contains("not allowed"), "refused for another reason: {error}");
            stage.window.wait_said("Sailed.", SHORT).await?;
            let text = stage.window.all_text().await?;
            for outcome in ["Ran echo by key", "Ran echo by mouse", "Did not run echo not at all"] {
                ensure!(text.contains(outcome), "the conversation does not say “{outcome}”: {text}");
            }
            Ok(())
        })
        .await
}

pub async fn a_command_that_hides_something_is_only_reviewed_from_the_board() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("board-hidden", async |stage| {
            stage.window.prompt("TOOL Bash {\"command\":\"echo \\u202e tac; rm -rf .\"}\nSAY Done.").await?;
            stage.window.find("button", "Deny").await?;
            stage.pointer.key("ctrl+shift+b").await?;
            let board = stage.app.window(BOARD).await?;
            let row = board.wait_text("list", "Needs you", "202E", SHORT).await?;
            ensure!(!row.contains('\u{202e}'), "the hidden character is drawn: {row:?}");
            board.find("button", "Review").await?;
            ensure!(!board.has("button", "Allow once").await?, "it can be allowed unseen");
            board.screenshot("board-hidden").await?;
            // The engine refuses it too, whatever the page offers.
            let allow = answer_to_first_row(&board, json!({ "type": "allowOnce" })).await?;
            let error = board.invoke("answer_board_request", allow).await?.err();
            let error = error.context("it was allowed unseen")?;
            ensure!(error["code"] == "badCommand", "refused for another reason: {error}");
            board.reload().await?;
            board.wait_text("list", "Needs you", "202E", SHORT).await?;
            board.point_at("button", "Review").await?;
            stage.pointer.wait_active(stage.window.frame()).await?;
            stage.window.click("button", "Deny").await?;
            stage.window.wait_said("Done.", SHORT).await?;
            Ok(())
        })
        .await
}

pub async fn a_failure_stays_on_the_board_over_a_restart_until_it_is_cleared() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("board-failure", async |stage| {
            stage.window.prompt("FAIL 529 overloaded_error").await?;
            stage.window.wait_idle(SHORT).await?;
            let board = open_board(stage).await?;
            board.wait_text("list", "Done today", "Failed:", SHORT).await?;
            stage.app.close(board.frame()).await?;

            stage.restart().await?;
            let board = open_board(stage).await?;
            board.wait_text("list", "Done today", "Failed:", SHORT).await?;
            stage.pointer.key("Down").await?;
            stage.pointer.key("Delete").await?;
            board.wait_shows("Cleared 1 row", SHORT).await?;
            board.wait_shows("Nothing needs you.", SHORT).await?;
            board.point_at("button", "Undo").await?;
            board.wait_text("list", "Done today", "Failed:", SHORT).await?;
            board.point_at("button", "Clear").await?;
            board.wait_shows("Cleared 1 row", SHORT).await?;
            board.gone("list", "Done today").await?;
            board.screenshot("board-cleared").await?;
            Ok(())
        })
        .await
}

pub async fn a_failure_of_a_session_that_is_gone_opens_no_session() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("board-gone", async |stage| {
            stage.window.prompt("FAIL 529 overloaded_error").await?;
            stage.window.wait_idle(SHORT).await?;
            let board = open_board(stage).await?;
            board.wait_text("list", "Done today", "Failed:", SHORT).await?;
            // The user removes it: the board forgets it.
            stage.window.click("button", "More").await?;
            stage.window.click("menuitem", "Remove session").await?;
            stage.window.click("button", "Remove session").await?;
            board.wait_shows("Nothing needs you.", SHORT).await?;
            board.gone("list", "Done today").await?;
            stage.app.close(board.frame()).await?;

            stage.new_session(SHORT).await?;
            stage.window.prompt("FAIL 529 overloaded_error").await?;
            stage.window.wait_idle(SHORT).await?;
            // Its file is lost while the app does not run.
            stage.end().await?;
            let sessions = stage.desktop.home().join(".local/share/deskbell/sessions");
            for id in stage.session_ids()? {
                std::fs::remove_file(sessions.join(format!("{id}.json")))?;
            }
            stage.start_again().await?;
            let board = open_board(stage).await?;
            board.wait_text("list", "Done today", "Failed:", SHORT).await?;
            stage.pointer.key("Return").await?;
            board.wait_shows("The session no longer exists.", SHORT).await?;
            stage.pointer.wait_active(stage.window.frame()).await?;
            stage.new_session(SHORT).await?;
            stage.window.prompt("SAY It works.").await?;
            stage.window.wait_said("It works.", SHORT).await?;
            Ok(())
        })
        .await
}

async fn open_board(stage: &Stage) -> Result<Window> {
    let opened = stage.window.invoke("open_board", json!({})).await?;
    ensure!(opened.is_ok(), "{opened:?}");
    let board = stage.app.window(BOARD).await?;
    stage.pointer.wait_active(board.frame()).await?;
    Ok(board)
}

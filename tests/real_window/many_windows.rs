//! Twenty windows: turns that end, fail and ask in the background move no focus, and one quit closes all.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{FocusWatch, LONG, Launch, Process, Window, eventually};
use serde_json::{Value, json};

use crate::projects::start_again;
use crate::stage::{Gate, PROJECT, Stage};

const N_WINDOWS: usize = 20;

/// For the page of one window, while those of up to nineteen others are there and the machine is busy.
const PAGE_STARTS: Duration = Duration::from_secs(60);

/// What the user types meanwhile.
const TYPED: &str = "The light turns twice a minute, and the keeper writes it down.";

/// The end of the turn in the nth window: finished, failed, or a request that waits.
fn script(n: usize) -> String {
    match n % 3 {
        0 => format!("SAY Bay {n} is clear."),
        1 => "FAIL 529 overloaded".to_owned(),
        _ => format!("TOOL Bash {{\"command\": \"echo bay {n}\"}}"),
    }
}

/// Waits until the marks of the working agent in this window have that state. A mark that turns in a window behind others
/// costs as much as one in front.
async fn turning(window: &Window, state: &str) -> Result<()> {
    let script = "return document.getAnimations().map((one) => one.playState)";
    eventually("the state of the turning marks", LONG, async || {
        let states = window.run(script, vec![]).await?;
        let all = states.as_array().filter(|all| !all.is_empty());
        Ok(all.is_some_and(|all| all.iter().all(|one: &Value| *one == json!(state))).then_some(()))
    })
    .await
}

pub async fn the_focus_of_twenty_windows_never_moves_by_itself() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("twenty-windows", async |stage| {
            let gate = Gate::closed(&stage.desktop)?;
            let mut others = Vec::new();
            for n in 1..N_WINDOWS {
                let name = format!("bay-{n:02}");
                let folder = stage.desktop.project(&name)?;
                let status = start_again(&stage.desktop, &Launch::demo(&folder)).await?;
                ensure!(status.success(), "start {n} ended with {status}");
                let window = stage.app.window(&name).await?;
                eventually("the page of the window", PAGE_STARTS, async || {
                    Ok(window.has("textbox", "Prompt").await?.then_some(()))
                })
                .await
                .with_context(|| format!("window {n}"))?;
                window.paste_prompt(&gate.before(&script(n))).await?;
                window.wait_text("log", "Conversation", &gate.step(), LONG).await?;
                turning(&window, "running").await.with_context(|| format!("window {n}"))?;
                others.push(window);
            }
            ensure!(stage.app.count().await? == N_WINDOWS, "not every folder has a window");
            let front = stage.app.window(PROJECT).await?;
            front.type_into("Prompt", "So: ").await?;
            for (n, window) in (1..).zip(&others) {
                turning(window, "paused").await.with_context(|| format!("window {n}"))?;
            }

            let frames: Vec<_> = others.iter().chain([&front]).map(Window::frame).collect();
            let focus = FocusWatch::on(&stage.desktop, &frames)?;
            gate.open()?;
            stage.pointer.type_text(TYPED).await?;
            for (n, window) in (1..).zip(&others) {
                let shown = match n % 3 {
                    0 => format!("Bay {n} is clear."),
                    1 => "overloaded".to_owned(),
                    _ => format!("echo bay {n}"),
                };
                window.wait_shows(&shown, LONG).await.with_context(|| format!("window {n}"))?;
            }
            let waiting = (1..N_WINDOWS).filter(|n| n % 3 == 2).count();
            let said = format!("{waiting} sessions wait for you");
            stage.notifications.wait_for(|seen| seen.summary.contains(&said), LONG).await?;
            stage.pointer.type_text(TYPED).await?;
            eventually("every key went where it was meant", LONG, async || {
                Ok((front.value("Prompt").await? == format!("So: {TYPED}{TYPED}")).then_some(()))
            })
            .await?;
            let moves = focus.moves()?;
            ensure!(moves.is_empty(), "the focus moved: {moves:#?}");
            ensure!(stage.pointer.active().await? == Some(front.frame()), "another window is in front");

            let processes = stage.app.processes(&stage.desktop);
            let memory: u64 = processes.iter().map(Process::memory).sum();
            let app = stage.app.process(&stage.desktop)?.memory();
            println!(
                "{N_WINDOWS} windows: {} processes, {} MiB in all, {} MiB of them the app's own process",
                processes.len(),
                memory / 1024,
                app / 1024
            );

            // The watch sees what a user does.
            stage.pointer.activate(others[0].frame()).await?;
            let moves = focus.moves()?;
            ensure!(moves.iter().any(|one| one.starts_with("into")), "the watch saw nothing: {moves:?}");

            stage.pointer.activate(front.frame()).await?;
            stage.pointer.key("ctrl+q").await?;
            let question = stage.pointer.window("Quit Deskbell").await?;
            stage.app.answer_close(question).await?;
            stage.app.ended(&stage.desktop, LONG).await
        })
        .await
}

//! A working day: many turns in the background, with dunst as the notification daemon. Checks that the app's
//! descriptors, threads, connections and memory stay the same. Prints the page's memory, which has no limit yet.

use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use deskbell_notifications::CLICK;
use deskbell_tests::window::{Dunst, Holdings, Manners, SHORT, eventually};
use serde_json::json;

use crate::stage::{Elsewhere, Stage};

/// The number of turns.
const DAY: u32 = 500;

/// Turns before the first measurement, for the bus connection and caches.
const MORNING: u32 = 50;

/// Maximum memory of the app at the end, in percent of the first measurement.
const GROWTH: u64 = 120;

/// The app's holdings, and the memory of app and page in KiB.
#[derive(Debug)]
struct DayCost {
    holdings: Holdings,
    app: u64,
    page: u64,
}

impl DayCost {
    async fn of(stage: &Stage) -> Result<Self> {
        let app = stage.app.process(&stage.desktop)?;
        let holdings = Holdings::of(app.pid, stage.desktop.bus()).await?;
        let page = stage.page_process()?;
        Ok(Self { holdings, app: app.memory(), page: page.memory() })
    }
}

pub async fn nothing_is_left_of_five_hundred_notifications() -> Result<()> {
    let stage = Stage::with(Manners::Absent, |launch| launch).await?;
    stage
        .play("working-day", async |stage| {
            let dunst = Dunst::on(&stage.desktop).await?;
            let window = &stage.window;
            window.prompt("SAY Good morning.").await?;
            window.wait_said("Good morning.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            let session = stage.session_ids()?.pop().context("there is a session")?;
            let elsewhere = stage.look_away().await?;
            let began = Instant::now();
            let mut measured = Vec::new();
            for n in 1..=DAY {
                turn(stage, &dunst, &session, &elsewhere, n).await.with_context(|| format!("turn {n}"))?;
                if [1, MORNING].contains(&n) {
                    measured.push(DayCost::of(stage).await?);
                }
            }
            let [first, morning] = &measured[..] else { bail!("a day has a morning") };
            let mut evening = DayCost::of(stage).await?;
            let settled = eventually("the app holds open what it did", SHORT, async || {
                evening = DayCost::of(stage).await?;
                Ok(evening.holdings.is_like(&first.holdings).then_some(()))
            });
            settled.await.with_context(|| format!("{first:?}, and after {DAY} turns {evening:?}"))?;
            println!("{DAY} turns in {:?}", began.elapsed());
            for (n, one) in [(1, first), (MORNING, morning), (DAY, &evening)] {
                println!("after turn {n}: {:?}, app {} KiB, page {} KiB", one.holdings, one.app, one.page);
            }
            let (before, after) = (morning.app, evening.app);
            ensure!(after * 100 <= before * GROWTH, "the app grew from {before} to {after} KiB");
            Ok(())
        })
        .await
}

/// A turn in the background, some with a request, and the user's answer to its notification.
async fn turn(stage: &Stage, dunst: &Dunst, session: &str, elsewhere: &Elsewhere, n: u32) -> Result<()> {
    let window = &stage.window;
    let asks = n % 10 == 7;
    let said = format!("Turn {n} is over.");
    let tool = if asks { "TOOL Bash {\"command\":\"make harbour\"}\n" } else { "" };
    let prompt = json!({ "type": "prompt", "text": format!("{tool}SAY {said}"), "images": [] });
    let taken = window.invoke("command", json!({ "sessionId": session, "command": prompt })).await?;
    ensure!(taken.is_ok(), "the prompt was refused: {taken:?}");
    if asks {
        dunst.displays(1).await?;
        dunst.act("deny").await?;
    }
    window.wait_said(&said, SHORT).await?;
    dunst.displays(1).await?;
    match n % 10 {
        0 => dunst.act(CLICK).await?,
        5 => stage.pointer.activate(window.frame()).await?,
        _ => {
            dunst.dismiss().await?;
            return dunst.displays(0).await;
        }
    }
    stage.pointer.wait_active(window.frame()).await?;
    dunst.displays(0).await?;
    stage.pointer.activate(elsewhere.frame).await?;
    window.wait_unfocused().await
}

//! A working day: many turns in the background, with dunst as the notification daemon. Checks that the app's
//! descriptors, threads, connections and memory stay the same, and the page's memory without its garbage.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use deskbell_notifications::CLICK;
use deskbell_tests::window::{Dunst, Holdings, LONG, Manners, Process, SHORT, eventually};
use serde_json::json;

use crate::stage::{Elsewhere, Stage};

/// The number of turns.
const DAY: u32 = 500;

/// Turns before the first measurement, for the bus connection and caches. WebKit opens files about the memory of the
/// system some seconds after its start, and compiles the code of the page in about 100 turns.
const MORNING: u32 = 100;

/// Turns between two measurements that are printed.
const STEP: u32 = 50;

/// Maximum memory of the app and of the page at the end, in percent of the first measurement.
const GROWTH: u64 = 120;

/// WebKit (2.50) returns free memory to the system this often, several times in a row.
const RETURNED_WITHIN: Duration = Duration::from_secs(2);

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
        stage.window.collect_garbage().await?;
        let page = settled_memory(&stage.page_process()?).await?;
        Ok(Self { holdings, app: app.resident_memory(), page })
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
                if n % STEP == 0 {
                    let now = DayCost::of(stage).await?;
                    println!(
                        "after turn {n}: {:?}, app {} KiB, page {} KiB",
                        now.holdings, now.app, now.page
                    );
                    if n >= MORNING {
                        measured.push(now);
                    }
                }
            }
            println!("{DAY} turns in {:?}", began.elapsed());
            let [morning, .., evening] = &measured[..] else { bail!("a day has a morning") };
            let mut holdings = evening.holdings.clone();
            let settled = eventually("the app holds open what it did", SHORT, async || {
                holdings = DayCost::of(stage).await?.holdings;
                Ok(holdings.is_like(&morning.holdings).then_some(()))
            });
            settled.await.with_context(|| format!("{morning:?}, and after {DAY} turns {holdings:?}"))?;
            for (what, before, after) in
                [("app", morning.app, evening.app), ("page", morning.page, evening.page)]
            {
                ensure!(after * 100 <= before * GROWTH, "the {what} grew from {before} to {after} KiB");
            }
            Ok(())
        })
        .await
}

/// The memory of a process once it has given back what it does not need: when it has not become less for some time.
async fn settled_memory(process: &Process) -> Result<u64> {
    let (mut least, mut since) = (process.resident_memory(), Instant::now());
    eventually("the memory is settled", LONG, async || {
        let now = process.resident_memory();
        if now < least {
            (least, since) = (now, Instant::now());
        }
        Ok((since.elapsed() >= RETURNED_WITHIN).then_some(least))
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
